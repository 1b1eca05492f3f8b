"""The command line as a whole: help, version, usage, and what it costs to start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tocsin as library

HEAVY = "[m for m in ('numba', 'pyarrow', 'matplotlib', 'pydantic', 'rich') if m in sys.modules]"


def python(code: str, *args: str) -> str:
    """Run code in a fresh interpreter, on the same Tocsin, and return its output."""
    where = {**os.environ, "PYTHONPATH": str(Path(library.__file__).parent.parent)}
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=where).stdout


def test_the_version_is_the_packages(tocsin):
    """`tocsin --version` prints one line."""
    assert tocsin("--version").stdout == f"tocsin {library.__version__}\n"


def test_help_names_every_command_and_the_exit_codes(tocsin):
    """`tocsin --help` fits one screen."""
    result = tocsin("--help")
    assert result.exit_code == 0
    assert all(f"\n  {name} " in result.stdout for name in ("run", "models", "new", "bench"))
    assert "0 done, 1 the run failed, 2 bad usage or bad input, 130 Ctrl-C" in result.stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("run", ["SCENARIO", "--seed", "--until", "--events", "--set", "PATH=VALUE", "--out", "--plot", "--no-progress", "--json"]),
        ("models", ["NAME", "--json"]),
        ("new", ["NAME"]),
        ("bench", ["NAME", "--json"]),
    ],
)  # fmt: skip
def test_the_help_of_a_command_names_its_arguments(tocsin, command, words):
    """Arguments and options of a command stand in its help."""
    text = tocsin(command, "--help").stdout
    assert all(word.lower() in text.lower() for word in words)


@pytest.mark.parametrize("args", [["rn"], ["run"], ["run", "--sed", "1"], ["run", "x.toml", "--seed", "x"], ["new"]])
def test_bad_usage_is_exit_code_2(tocsin, args):
    """Unknown commands and options, and missing or wrong arguments, are bad usage."""
    result = tocsin(*args)
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert result.stdout == ""


def test_importing_the_command_line_imports_nothing_heavy():
    """`import tocsin.cli` leaves Numba, pyarrow, Matplotlib, pydantic and rich alone."""
    assert python(f"import sys, tocsin.cli; print({HEAVY})") == "[]\n"


def test_a_warm_run_imports_no_compiler(tocsin, gate):
    """With the machine code on disk, a run without recordings needs neither Numba nor pyarrow."""
    assert tocsin("run", gate).exit_code == 0
    code = (
        "import sys\nfrom tocsin.cli import main\n"
        f"try: main()\nexcept SystemExit: print({HEAVY.replace(chr(39) + 'pydantic' + chr(39) + ', ', '')})"
    )
    assert python(code, "run", gate).endswith("[]\n")


def test_an_unknown_exception_keeps_its_traceback(tocsin, gate, monkeypatch):
    """What is not ours to explain is shown as it is."""
    monkeypatch.setattr("tocsin.scenario.load_scenario", lambda *a: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tocsin("run", gate)
