"""A model in a user's own Python file: import it, and make a preset of what it names.

"file.py:name" may name a Preset; a Model, whose world is then made from the keywords in
[init]; or a world builder: a function whose arguments are the keys of [init] and which returns
a World, run by the Model in the same file that has this world.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tocsin.errors import InputError, TocsinError
from tocsin.export.marks import View
from tocsin.models._preset import Preset
from tocsin.schema import Model
from tocsin.schema._annotations import nearest

AnyPreset = Preset[Any, Any, Any]


def preset_from_file(text: str, folder: Path) -> AnyPreset:
    """Return the preset for "file.py:name". Raises InputError in one paragraph."""
    from tocsin.scenario._wrap import preset_of_builder, preset_of_model

    file, _, name = text.rpartition(":")
    if not file or not name.isidentifier():
        raise InputError(f'a model in a file is named "file.py:name", got {text!r}')
    path = (folder / Path(file).expanduser()).resolve()
    module = load_module(path)
    found = getattr(module, name, None)
    if isinstance(found, Preset):
        return found
    if isinstance(found, Model):
        return seen(preset_of_model(found, path), module)
    if isinstance(found, FunctionType):
        return seen(preset_of_builder(found, _models(module), path), module)
    raise InputError(_not_found(path, name, found, module))


def seen(preset: AnyPreset, module: ModuleType) -> AnyPreset:
    """Return the preset with the picture that its module declares as VIEW, if it does."""
    view = getattr(module, "VIEW", None)
    return replace(preset, view=view) if isinstance(view, View) else preset


def load_module(path: Path) -> ModuleType:
    """Run a Python file as a module named after it, afresh each time, and return it.

    Raises InputError, with the line, for whatever the file raises.
    """
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}")
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(spec.name, None)
        raise InputError(explain(error, path)) from None
    finally:
        sys.path.remove(str(path.parent))
    return module


def _module_name(path: Path) -> str:
    """Return the file's name, unless a module of another file has that name."""
    name = path.stem
    other = sys.modules.get(name)
    is_taken = other is not None and getattr(other, "__file__", None) != str(path)
    is_safe = name.isidentifier() and name not in sys.stdlib_module_names
    return name if is_safe and not is_taken else f"_user_{name}"


def explain(error: BaseException, path: Path) -> str:
    """Say where in the file an exception came from, and what it was, in one paragraph."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path.name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    where = f"{path.name}, line {lines[-1]}" if lines else path.name
    what = str(error) if isinstance(error, TocsinError) else f"{type(error).__name__}: {error}"
    return f"{where}: {what}"


def _models(module: ModuleType) -> list[Model]:
    found = [value for value in vars(module).values() if isinstance(value, Model)]
    return list(dict.fromkeys(found))


def _not_found(path: Path, name: str, found: Any, module: ModuleType) -> str:
    known = [n for n, v in vars(module).items() if isinstance(v, (Model, Preset))]
    has = f" It has: {', '.join(known)}." if known else " It has no Model."
    if found is None:
        return f"{path.name} has no {name!r}.{nearest(name, known)}{has}"
    return (
        f"{path.name}:{name} is a {type(found).__name__}, and must be a Model, a Preset or a "
        f"function that returns a World.{has}"
    )
