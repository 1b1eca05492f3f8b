"""Read the annotations of a model class, and say clearly what is wrong with them."""

from __future__ import annotations

import difflib
import inspect
import sys
import typing
from types import FrameType
from typing import Annotated, Any, ClassVar, get_args, get_origin

from tocsin.errors import ModelError
from tocsin.schema._fields import BUILTIN_SCALARS, Scalar

RESERVED = frozenset({"index", "key"})


def defining_locals(frame: FrameType) -> dict[str, Any] | None:
    """Return the local names where a class body stands, if it is inside a function."""
    return None if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def hints(cls: type, extra: dict[str, Any]) -> dict[str, Any]:
    """Return the resolved annotations of `cls` and its bases, without class variables.

    Names are looked up in the class's module, in the function that defined it, and in
    `extra` (the entities of the world, by name). Raises ModelError for an unknown name.
    """
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        own = base.__dict__.get("_own_names")
        if own is None:
            continue
        names = {**extra, **(base.__dict__.get("_locals") or {}), base.__name__: base}
        for name, value in _own_hints(base, names).items():
            if name in own and get_origin(value) is not ClassVar and value is not ClassVar:
                found[name] = value
    return found


def _own_hints(cls: type, names: dict[str, Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, localns=names, include_extras=True)
    except NameError as error:
        raise ModelError(
            f"{where(cls)}: the annotation {error.name!r} is not known here. An entity that "
            f"is referred to must be in an Arena or a Pool of the world, or be defined above."
        ) from None
    except TypeError as error:
        raise ModelError(f"{where(cls)}: {error}") from None


def own_annotations(cls: type) -> list[str]:
    """Return the names annotated in the body of `cls`, in order, without class variables."""
    return list(raw_annotations(cls))


def raw_annotations(cls: type) -> dict[str, Any]:
    """Return the annotations in the body of `cls` as they stand there, without class variables."""
    if sys.version_info >= (3, 14):
        import annotationlib

        notes = annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    else:
        notes = inspect.get_annotations(cls)
    return {n: note for n, note in notes.items() if "ClassVar" not in str(note)}


def as_scalar(hint: Any) -> Scalar | None:
    """Return the machine type that an annotation stands for, or None."""
    if get_origin(hint) is Annotated:
        return next((m for m in get_args(hint)[1:] if isinstance(m, Scalar)), None)
    return BUILTIN_SCALARS.get(hint)


def unknown_annotation(cls: type, name: str, hint: Any, allowed: str) -> ModelError:
    """Return the error for an annotation that means nothing in this kind of class."""
    shown = getattr(hint, "__name__", None) or str(hint).replace("typing.", "")
    return ModelError(f"{where(cls)}.{name}: {shown} is not a field type here. Use {allowed}.")


def where(cls: type) -> str:
    """Return the class's name with its module, for a message."""
    return f"{cls.__module__}.{cls.__qualname__}"


def nearest(name: str, known: typing.Iterable[str]) -> str:
    """Return ' Did you mean X?' for the known name closest to `name`, or ''."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""
