"""Find the preset that a scenario names: a shipped one, or one in a user's file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tocsin.errors import InputError
from tocsin.models._preset import Preset
from tocsin.schema._annotations import nearest

AnyPreset = Preset[Any, Any, Any]


def find_preset(name: str, folder: Path) -> AnyPreset:
    """Return the preset called `name`, or made of "file.py:name" (relative to `folder`).

    Imports that one model only. Raises InputError if there is none.
    """
    if ".py:" in name or name.endswith(".py"):
        from tocsin.scenario._userfile import preset_from_file

        return preset_from_file(name, folder)
    if name in module_names():
        preset = _preset_of(name)
        if preset is not None:
            return preset
    known = [preset.name for preset in shipped()]
    raise InputError(
        f"there is no model {name!r}.{nearest(name, known)} Shipped models: "
        f'{", ".join(known) or "none"}; a model of your own is named "file.py:name".'
    )


def shipped() -> Iterator[AnyPreset]:
    """Yield the preset of every shipped model, in order of name. Imports them all."""
    for name in module_names():
        preset = _preset_of(name)
        if preset is not None:
            yield preset


def module_names() -> list[str]:
    """Return the modules among `tocsin.models` that may hold a preset. Imports none of them."""
    from tocsin import models

    found = [module.name for module in pkgutil.iter_modules(models.__path__)]
    return sorted(name for name in found if not name.startswith("_"))


def _preset_of(name: str) -> AnyPreset | None:
    for module in (f"tocsin.models.{name}.preset", f"tocsin.models.{name}"):
        try:
            found = getattr(importlib.import_module(module), "WORLD", None)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            continue
        if isinstance(found, Preset):
            return found
    return None
