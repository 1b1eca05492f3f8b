"""Every example prints what is recorded beside it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ._pages import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`python examples/X.py` prints examples/X.out, to the last digit."""
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out == path.with_suffix(".out").read_text(encoding="utf-8")
