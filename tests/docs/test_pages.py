"""Every block of every page runs, every link leads somewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ._pages import PAGES, ROOT, Page


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in order, and print what the page says."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    Page(path).run()
