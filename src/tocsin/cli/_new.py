"""`tocsin new`: a model to start from."""

from __future__ import annotations

import keyword
import sys
from importlib.machinery import PathFinder
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from tocsin.cli._errors import explained
from tocsin.errors import InputError

_TEMPLATES = {".py": "model.py.txt", ".toml": "scenario.toml.txt"}


@explained
def new(
    name: Annotated[str, typer.Argument(help="Name of the model, as a Python module.", show_default=False)],
) -> None:
    """Write NAME.py, a small commented model, and NAME.toml, a scenario that runs it."""
    _check_name(name)
    paths = [Path(f"{name}{suffix}") for suffix in _TEMPLATES]
    taken = [str(path) for path in paths if path.exists()]
    if taken:
        raise InputError(f"{' and '.join(taken)} already here; take another name or move it away")
    for path, template in zip(paths, _TEMPLATES.values(), strict=True):
        _write(path, _text(template).replace("NAME", name))
        typer.echo(f"wrote {path}")
    typer.echo(f"run it: tocsin run {name}.toml")


def _check_name(name: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(f"name must be a Python name such as my_model, got {name!r}")
    if name in sys.stdlib_module_names or name == "tocsin":
        raise InputError(f"{name!r} is the name of a module that Python needs; take another")
    elsewhere = [folder for folder in sys.path if folder and Path(folder).resolve() != Path.cwd()]
    if PathFinder.find_spec(name, elsewhere) is not None:
        raise InputError(f"{name!r} is the name of an installed module, which {name}.py would hide; take another")


def _text(template: str) -> str:
    return (files("tocsin.cli") / "_templates" / template).read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
