"""`[params]`: from nested or dotted keys to Params instances, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tocsin.errors import InputError
from tocsin.scenario._explain import Origin
from tocsin.schema import Params
from tocsin.schema._annotations import nearest


def read_params(
    given: Mapping[str, Any], blocks: Mapping[str, type[Params]], origin: Origin
) -> tuple[dict[str, Params], frozenset[str]]:
    """Return an instance for each block, and which parameters were given, as 'rates.step'.

    Raises InputError for an unknown block or parameter, a wrong type, or a broken bound.
    """
    values: dict[str, dict[str, Any]] = {block: {} for block in blocks}
    for path, value in _leaves(given):
        block, name = _place(path, blocks, origin)
        try:
            values[block][name] = blocks[block].check(name, value)
        except InputError as error:
            text = str(error).replace(f"{blocks[block].__name__}.{name} ", f"{block}.{name} ", 1)
            raise InputError(f"{origin.of(('params', *path))}: {text}.") from None
    names = frozenset(f"{block}.{name}" for block, own in values.items() for name in own)
    return {block: cls(**values[block]) for block, cls in blocks.items()}, names


def _leaves(given: Mapping[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in given.items():
        head = tuple(key.split("."))
        if isinstance(value, Mapping):
            found += [((*head, *path), leaf) for path, leaf in _leaves(value)]
        else:
            found.append((head, value))
    return found


def _place(path: tuple[str, ...], blocks: Mapping[str, type[Params]], origin: Origin) -> tuple[str, str]:
    known = [f"{block}.{name}" for block, cls in blocks.items() for name in cls.fields()]
    full = ".".join(path)
    if full in known:
        return path[0], path[1]
    has = f"It has: {', '.join(known)}." if known else "This model has no parameters."
    hint = nearest(full, known) or _by_last_name(path[-1], known)
    raise InputError(f"{origin.of(('params', *path))}: unknown parameter {full!r}.{hint} {has}")


def _by_last_name(name: str, known: list[str]) -> str:
    match = [k for k in known if k.endswith(f".{name}")]
    return f" Did you mean {match[0]!r}?" if match else ""
