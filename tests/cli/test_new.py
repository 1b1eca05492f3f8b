"""`tocsin new`: what it writes runs, type-checks, and overwrites nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tocsin as library


def test_what_is_written_runs(tocsin):
    """The new scenario runs the new model, with recordings and a finite answer."""
    result = tocsin("new", "shop")
    assert result.exit_code == 0
    assert result.stdout == "wrote shop.py\nwrote shop.toml\nrun it: tocsin run shop.toml\n"
    found = json.loads(tocsin("run", "shop.toml", "--json").stdout)
    assert found["stopped"] == "reached_time"
    assert found["files"].keys() == {"events.parquet", "snapshots.parquet"}
    assert 0 < found["observables"]["Down"]["mean"] < 10
    assert "NAME" not in Path("shop.py").read_text() + Path("shop.toml").read_text()


def test_it_is_short_enough_to_read(tocsin):
    """The model fits on a screen and a half."""
    tocsin("new", "shop")
    assert len(Path("shop.py").read_text().splitlines()) < 85


@pytest.mark.parametrize("name", ["shop.py", "shop.toml"])
def test_nothing_is_overwritten(refused, tmp_path, name):
    """If either file is there, neither is written."""
    (tmp_path / name).write_text("mine")
    assert f"{name} already here; take another name or move it away" in refused(2, "new", "shop")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my-model", "name must be a Python name such as my_model, got 'my-model'"),
        ("a/b", "name must be a Python name"),
        ("class", "name must be a Python name"),
        ("random", "'random' is the name of a module that Python needs; take another"),
        ("numpy", "'numpy' is the name of an installed module, which numpy.py would hide; take another"),
        ("tocsin", "'tocsin' is the name of a module"),
    ],
)
def test_a_name_that_python_cannot_import_is_refused(refused, name, message):
    """The name has to serve as a module."""
    assert message in refused(2, "new", name)


@pytest.mark.slow
def test_what_is_written_type_checks(tocsin, tmp_path):
    """mypy --strict finds nothing in the new model."""
    pytest.importorskip("mypy")
    tocsin("new", "shop")
    root = Path(library.__file__).parent.parent
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--ignore-missing-imports",
        "shop.py",
    ]
    result = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={"MYPYPATH": str(root), "PATH": ""}
    )
    assert result.returncode == 0, result.stdout + result.stderr
