"""Without the packages of the extras, what needs none works, and the rest says what to install."""

import subprocess
import sys

import pytest

BLOCKED = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in ('scipy', 'arviz', 'pandas', 'SALib', 'optuna', 'duckdb', 'matplotlib'):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
"""


def run(code):
    """Run code in an interpreter in which the packages cannot be imported; return (exit code, output)."""
    done = subprocess.run([sys.executable, "-c", BLOCKED + code], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_a_sweep_needs_no_extra(tmp_path):
    """Intervals of the mean are part of the package as it is installed."""
    scenario = tmp_path / "birth.toml"
    scenario.write_text(
        'model = "birth_death"\n[run]\nuntil = 2.0\n[sweep]\nreplicates = 3\n[sweep.axes]\n'
        '"params.rates.departure" = [0.5, 1.0]\n'
    )
    code, said = run(
        f"sys.argv[1:] = ['sweep', {str(scenario)!r}, '--out', {str(tmp_path / 'out')!r}]; "
        "from tocsin.cli import main; main()"
    )
    assert code == 0, said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("from tocsin.models.sampling import Gaussian; Gaussian([[1.0]])", "sampling"),
        ("from tocsin.models.sampling import sample; sample(None)", "sampling"),
        ("from tocsin.experiment._designs import uniforms; uniforms('sobol', 4, 2, 0)", "experiment"),
    ],
)
def test_what_is_missing_is_told(code, extra):
    """One sentence names the package and the extra."""
    code, said = run(code)
    assert code == 1
    assert said.strip().splitlines()[-1].endswith(f"which is not installed; run: pip install 'tocsin[{extra}]'")
