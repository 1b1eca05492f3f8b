"""Every block of every page runs, and every link leads somewhere."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ._pages import PAGES, ROOT, Page

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)


def name_of(path: Path) -> str:
    """Return how a page is called in the list of tests."""
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [path for path in PAGES if Page(path).blocks], ids=name_of)
def test_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in order, and print what the page says."""
    for folder in ("scenarios", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    Page(path).run()


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_resolve(path: Path) -> None:
    """Every link of a page that leads into this repository leads to a file, and to a heading of it."""
    lost = [target for target in links_of(path) if not leads_somewhere(path, target)]
    assert lost == []


def test_every_page_is_on_the_map() -> None:
    """docs/index.md links to every page below docs."""
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in links_of(index)}
    assert {path for path in PAGES if index.parent in path.parents} - linked == {index}


def test_no_path_of_a_machine() -> None:
    """No page names a folder of the machine on which it was written."""
    found = re.compile(r"(?<![\w.])/(?:home|tmp|work|Users|root)/")
    assert [name_of(path) for path in PAGES if found.search(path.read_text(encoding="utf-8"))] == []


def links_of(path: Path) -> Iterator[str]:
    """Yield the targets of the links of a page that are not addresses on the web."""
    for match in _LINK.finditer(_CODE.sub("", path.read_text(encoding="utf-8"))):
        if not match[1].startswith(("https://", "http://")):
            yield match[1]


def leads_somewhere(path: Path, target: str) -> bool:
    """Say whether a link's file exists, and has the heading that it names."""
    name, _, heading = target.partition("#")
    file = (path.parent / name).resolve() if name else path
    if not file.exists():
        return False
    return not heading or heading in headings_of(file)


def headings_of(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
