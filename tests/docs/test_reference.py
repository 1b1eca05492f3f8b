"""The reference pages say what the code says."""

from __future__ import annotations

import importlib.util
import inspect
from types import ModuleType

import pytest

import tocsin
from tocsin.cli import app

from ._pages import ROOT

FOLDER = ROOT / "docs" / "reference"


def generator() -> ModuleType:
    """Return docs/reference/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("reference_generate", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = generator().PAGES


@pytest.mark.parametrize("name", PAGES)
def test_page_is_fresh(name: str) -> None:
    """A page is what `python docs/reference/generate.py` writes now."""
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "run: python docs/reference/generate.py"


def test_every_public_name_is_there() -> None:
    """api.md has a heading for every name in `tocsin.__all__`, and every class there has a docstring."""
    page = (FOLDER / "api.md").read_text(encoding="utf-8")
    assert [name for name in tocsin.__all__ if f"\n### `{name}`" not in page] == []
    classes = [thing for thing in map(vars(tocsin).get, tocsin.__all__) if inspect.isclass(thing)]
    assert [cls.__name__ for cls in classes if not cls.__doc__] == []


def test_every_command_is_there() -> None:
    """cli.md has a heading for every command of the program."""
    page = (FOLDER / "cli.md").read_text(encoding="utf-8")
    assert [c.name for c in app.registered_commands if f"\n## `tocsin {c.name} " not in page] == []
