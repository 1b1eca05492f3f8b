"""What makes two models the same to a save: declarations and functions, wherever they come from.

Unlike the key of the machine code (`compile/_fingerprint.py`) it does not depend on the platform, on
Tocsin's own sources (the minor version stands for those), or on the name of the module that a model
is in: a script's model, saved as `__main__`, is loaded by another script that imports it.
"""

from __future__ import annotations

import enum
from typing import Any

from tocsin.compile._fingerprint import _Walk, _way, turns_of
from tocsin.schema import Model
from tocsin.schema._model import Member

_OURS = ("tocsin.schema.", "tocsin.kernel.")


class _Rules(_Walk):
    """Follow a model's own functions, and what they mention."""

    def cls(self, cls: type) -> None:
        """Methods, properties and constants of a class and its bases, Tocsin's own left out."""
        for base in cls.__mro__[:-1]:
            if base.__module__.startswith(_OURS):
                continue
            for name, value in sorted(vars(base).items()):
                if isinstance(value, property):
                    value = value.fget
                if (callable(value) or isinstance(value, (bool, int, float))) and name[:2] != "__":
                    self.text(name)
                    self.value(value)

    def value(self, value: Any) -> None:
        if isinstance(value, type) and not issubclass(value, enum.Enum):
            self.text("class", value.__qualname__)
        else:
            super().value(value)


def rules_hash(model: Model) -> str:
    """Return 64 hexadecimal digits that change with the declarations or the functions of a model.

    The same on every machine with the same minor version of Python (it reads byte code).
    """
    walk = _Rules()
    walk.schema(model.schema)
    for member in (*model.actions, *model.observables):
        walk.text(member.name, member.key or "", str(member.rows), *_way(member), *_pace(member))
        walk.cls(member.cls)
    walk.text(*turns_of(model))
    return walk.digest.hexdigest()


def _pace(member: Member) -> tuple[str, ...]:
    return (repr(float(member.cls.every)),) if hasattr(member.cls, "every") else ()
