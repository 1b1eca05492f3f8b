"""Call the command line in this process, on the tiny world of tests/scenario/gate.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tocsin.cli import app

GATE = (Path(__file__).parent.parent / "scenario" / "gate.py").as_posix()


@pytest.fixture
def tocsin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run `tocsin ARGS` in an empty folder; the result has exit_code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, [str(a) for a in args], prog_name="tocsin", catch_exceptions=False)


@pytest.fixture
def gate(tmp_path: Path) -> str:
    """A scenario file in that folder, which runs the preset of gate.py."""
    (tmp_path / "gate.toml").write_text(f'model = "{GATE}:WORLD"\n[run]\nseed = 1\nuntil = 20.0\n')
    return "gate.toml"


@pytest.fixture
def refused(tocsin: Callable[..., Any]) -> Callable[..., str]:
    """Run a command that must end with an exit code and one paragraph on stderr; return that."""

    def run(code: int, *args: Any) -> str:
        result = tocsin(*args)
        assert result.exit_code == code, result.output
        assert result.stderr.startswith("tocsin: ")
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.stderr
        return str(result.stderr)

    return run
