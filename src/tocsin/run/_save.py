"""Save, load, copy and pickle a simulation; what is loaded continues bit for bit.

A save is an archive (`_archive.py`) of the world and the kernel (`_members.py`), and a table of
facts: who wrote it, for which model, with which seed. It belongs to one minor version of Tocsin
and to one model: same tables, same actions, same rules.
"""

from __future__ import annotations

import importlib
import inspect
import io
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import IO, TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.kernel._state import N_DRAWS
from tocsin.run._archive import Archive, damaged, write_archive, write_whole
from tocsin.run._members import kernel_members, restore_kernel, restored_world, world_members
from tocsin.schema import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.run._archive import Shape
    from tocsin.run._simulation import Simulation

FORMAT = 1
_KINDS: dict[str, Any] = {
    "format": int, "tocsin": str, "python": str, "model": dict, "seed": int, "start": (int, float),
    "options": dict, "extra": dict,
}  # fmt: skip
PathLike = str | Path


def rules_hash(model: Model) -> str:
    """Return 64 hexadecimal digits that change with a model's rules (see `_rules.py`)."""
    from tocsin.run import _rules  # imports the compiler's room: only when it is needed

    return _rules.rules_hash(model)


def write_save(simulation: Simulation[Any], path: PathLike, extra: Mapping[str, Any] | None = None) -> None:
    """Save to a file, with plain values of the caller's own. Raises OutputError."""
    simulation._come_to_rest()
    write_whole(Path(path), lambda file: _write(simulation, file, extra or {}))


def to_bytes(simulation: Simulation[Any]) -> bytes:
    """Return a save as bytes."""
    simulation._come_to_rest()
    file = io.BytesIO()
    _write(simulation, file, {})
    return file.getvalue()


def save_facts(simulation: Simulation[Any]) -> dict[str, Any]:
    """Return the plain values of a save: who wrote it, for which model, with which seed."""
    return {
        "format": FORMAT, "tocsin": _tocsin(), "python": _python(), "model": _model_facts(simulation.model),
        "seed": simulation.seed, "start": simulation.start, "options": simulation._options(), "extra": {},
    }  # fmt: skip


def _write(simulation: Simulation[Any], file: IO[bytes], extra: Mapping[str, Any]) -> None:
    facts = {**save_facts(simulation), "extra": dict(extra)}
    write_archive(file, facts, {**world_members(simulation.world), **_of_kernel(simulation)})


def _of_kernel(simulation: Simulation[Any]) -> dict[str, NDArray[Any]]:
    return kernel_members(simulation._kernel, simulation.source.is_keyed)


def read_save(
    cls: type[Simulation[Any]], source: PathLike | IO[bytes], model: Model, jit: bool
) -> tuple[Simulation[Any], dict[str, Any]]:
    """Return the simulation in a file, and the plain values that were saved with it.

    Raises InputError: no such file, damaged, of another version or another model.
    """
    if not isinstance(model, Model):
        raise InputError(f"model must be the Model that was saved, got {model!r}")
    if not isinstance(source, (str, Path)):
        return _read(cls, source, "the pickle", model, jit)
    try:
        with Path(source).open("rb") as file:
            return _read(cls, file, repr(str(source)), model, jit)
    except OSError as error:
        raise InputError(f"cannot read {str(source)!r}: {error.strerror or error}") from None


def _read(
    cls: type[Simulation[Any]], file: IO[bytes], label: str, model: Model, jit: bool
) -> tuple[Simulation[Any], dict[str, Any]]:
    archive = Archive(file, label)
    facts = archive.facts()
    _check_facts(facts, label, model)
    _check_options(cls, facts["options"], label)
    world = restored_world(model.world, archive.take, label)
    try:
        simulation = cls(model, world, seed=facts["seed"], start=facts["start"], jit=jit, **facts["options"])
    except InputError as error:
        raise damaged(label, str(error)) from None
    with_rngs = not simulation.source.is_keyed
    restore_kernel(model, simulation.world, simulation._kernel, archive.take, label, with_rngs=with_rngs)
    archive.expect_no_more()
    if simulation.now < simulation.start:
        raise damaged(label, f"its time {simulation.now!r} is before its start {simulation.start!r}")
    return simulation, facts["extra"]


def _check_facts(facts: dict[str, Any], label: str, model: Model) -> None:
    """Refuse what another version wrote, or what belongs to another model."""
    for name, kind in _KINDS.items():
        if not isinstance(facts.get(name), kind) or isinstance(facts[name], bool):
            raise damaged(label, f"{name} is missing or of another type")
    if facts["format"] != FORMAT or _minor(facts["tocsin"]) != _minor(_tocsin()):
        raise InputError(
            f"{label} was saved by Tocsin {facts['tocsin']} in format {facts['format']}, and this is "
            f"{_tocsin()} with format {FORMAT}: a save belongs to one minor version. Load it with that one, "
            f"or run it anew."
        )
    if not 0 <= facts["seed"] < 1 << 64 or not math.isfinite(facts["start"]):
        raise damaged(label, "its seed or its start cannot be")
    _check_model(facts, label, model)


def _check_options(cls: type[Simulation[Any]], options: dict[str, Any], label: str) -> None:
    """Refuse what is not an argument of `Simulation`."""
    arguments = inspect.signature(cls).parameters.values()
    known = {a.name for a in arguments if a.kind is a.KEYWORD_ONLY} - {"seed", "start", "jit", "threads"}
    if options.keys() != known or not all(isinstance(v, (str, int, float, NoneType)) for v in options.values()):
        raise damaged(label, f"its options are {sorted(options)}, not {sorted(known)}")


def _check_model(facts: dict[str, Any], label: str, model: Model) -> None:
    found, wanted = facts["model"], _model_facts(model)
    for part in ("world", "actions", "observables", "tie"):
        if found.get(part) != wanted[part]:
            raise InputError(
                f"{label} is of another model: its {part} is {found.get(part)!r}, that of {model.name} is "
                f"{wanted[part]!r}. Load it with the model that it was saved with."[:1000]
            )
    if facts["python"] == _python() and found.get("rules") != wanted["rules"]:
        raise InputError(
            f"{label} was saved with other rules: a function or a declaration of {model.name} has changed since. "
            f"Load it with the model as it was, or start a new Simulation."
        )


def _model_facts(model: Model) -> dict[str, Any]:
    return {
        "world": model.world.__name__, "actions": [m.name for m in model.actions],
        "observables": [m.name for m in model.observables], "tie": model.tie, "rules": rules_hash(model),
    }  # fmt: skip


def forked(simulation: Simulation[Any], seed: int | None) -> Simulation[Any]:
    """Return an independent copy, with fresh randomness if a seed is given."""
    simulation._come_to_rest()
    held = _of_kernel(simulation)

    def take(name: str, dtype: Any, shape: Shape) -> NDArray[Any]:
        return held[name]

    new = simulation.seed if seed is None else seed
    is_fresh = new != simulation.seed
    if is_fresh and simulation.audit:
        raise InputError("with audit=True a copy keeps its seed: the audit draws again what clocks have drawn")
    other = type(simulation)(
        simulation.model, simulation.world, seed=new, start=simulation.start, jit=simulation.jit, threads=simulation.threads,
        **simulation._options(),
    )  # fmt: skip
    restore_kernel(
        simulation.model, other.world, other._kernel, take, "this simulation",
        with_rngs=not simulation.source.is_keyed and not is_fresh,
    )  # fmt: skip
    if is_fresh:
        other._kernel.n_drawn = N_DRAWS  # what was drawn ahead is of the old seed
    return other


def place_of(model: Model) -> str:
    """Return where a model can be imported from: 'package.module:NAME'.

    Raises TypeError if it is not a global of a module.
    """
    members = (*model.actions, *model.observables)
    near = [model.world.__module__, *(m.cls.__module__ for m in members)]
    for module in dict.fromkeys([*near, *sys.modules]):
        for name, value in list(getattr(sys.modules.get(module), "__dict__", {}).items()):
            if value is model:
                return f"{module}:{name}"
    raise TypeError(
        f"the model {model.name} is not a global of a module, so a pickle cannot say where it is; give it a "
        f"name at the top of a module, or use simulation.save(path) and Simulation.load(path, model)"
    )


def unpickled(cls: type[Simulation[Any]], place: str, jit: bool, content: bytes) -> Simulation[Any]:
    """Return the simulation that was pickled; the other half of `Simulation.__reduce__`."""
    module, _, name = place.partition(":")
    model = getattr(importlib.import_module(module), name)
    return read_save(cls, io.BytesIO(content), model, jit)[0]


def _tocsin() -> str:
    from tocsin import __version__

    return __version__


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _python() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"
