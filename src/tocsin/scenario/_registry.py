"""Find the preset that a scenario names: a shipped one, or one in a user's file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

from tocsin.errors import InputError
from tocsin.models._preset import Preset
from tocsin.schema import Model
from tocsin.schema._annotations import nearest

AnyPreset = Preset[Any, Any, Any]


def find_preset(name: str, folder: Path) -> AnyPreset:
    """Return the preset called `name`, or made of "file.py:name" (relative to `folder`).

    Imports that one model only. Raises InputError if there is none.
    """
    if ".py:" in name or name.endswith(".py"):
        from tocsin.scenario._userfile import preset_from_file

        return preset_from_file(name, folder)
    places = shipped_modules()
    preset = _preset_in(places[name]) if name in places else None
    if preset is not None:
        return preset
    known = [preset.name for preset in shipped()]
    raise InputError(
        f"there is no model {name!r}.{nearest(name, known)} Shipped models: "
        f'{", ".join(known) or "none"}; a model of your own is named "file.py:name".'
    )


def shipped() -> Iterator[AnyPreset]:
    """Yield the preset of every shipped model, in order of name. Imports them all."""
    for module in shipped_modules().values():
        preset = _preset_in(module)
        if preset is not None:
            yield preset


def shipped_modules() -> dict[str, str]:
    """Return the modules that may hold a preset, by the name of the model.

    These are `tocsin.models.<name>`, or its `preset` if it is a package with one; a package
    without is a folder of models, one a file. Imports no model.
    """
    from tocsin import models

    found: dict[str, str] = {}
    for name in _names(list(models.__path__)):
        inner = _names([str(Path(folder) / name) for folder in models.__path__])
        if "preset" in inner:
            found[name] = f"tocsin.models.{name}.preset"
        elif inner:
            found |= {one: f"tocsin.models.{name}.{one}" for one in inner}
        else:
            found[name] = f"tocsin.models.{name}"
    return dict(sorted(found.items()))


def _names(folders: list[str]) -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(folders))
    return [name for name in names if not name.startswith("_")]


def _preset_in(name: str) -> AnyPreset | None:
    """Return the module's WORLD; or a preset of its MODEL and `make_world`, if it has both."""
    from tocsin.scenario._userfile import seen
    from tocsin.scenario._wrap import preset_of_builder

    module = importlib.import_module(name)
    world, model = getattr(module, "WORLD", None), getattr(module, "MODEL", None)
    if isinstance(world, Preset):
        return world
    build = getattr(module, "make_world", None)
    if not (isinstance(model, Model) and isinstance(build, FunctionType)):
        return None
    preset = preset_of_builder(build, [model], Path(module.__file__ or name))
    return seen(replace(preset, summary=(module.__doc__ or "").split("\n")[0]), module)
