"""Observables at equal times, as a stream of Arrow record batches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.run._record import SnapshotStream
from tocsin.schema import Model
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from tocsin.run._simulation import Simulation


class ObservableStream(SnapshotStream):
    """The values of some observables at equal intervals of time: one row a time."""

    def __init__(
        self, simulation: Simulation[Any], every: float, until: float, names: Sequence[str] | None = None
    ) -> None:
        self._names = known_observables(simulation.model, names)
        super().__init__(simulation, every, until, None)

    def _select(self, columns: Any) -> None:
        """Leave the tables alone: a world may have none."""

    @cached_property
    def schema(self) -> pa.Schema:
        """time float64, then a float64 for each observable."""
        import pyarrow as pa

        return pa.schema([(name, pa.float64()) for name in ("time", *self._names)])

    def _snapshot(self, time: float) -> pa.RecordBatch:
        return observed_batch(self._simulation, self._names, self.schema, time)


def known_observables(model: Model, names: Sequence[str] | None) -> list[str]:
    """Return `names`, or those of all observables. Raises InputError for an unknown one, or if there are none."""
    known = [member.name for member in model.observables]
    if not known:
        raise InputError(f"model {model.name} has no observables to record")
    wanted = known if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in known:
            raise InputError(
                f"there is no observable {name!r}.{nearest(name, known)} The model has: {', '.join(known)}."
            )
    return wanted


def observed_batch(simulation: Simulation[Any], names: Sequence[str], schema: pa.Schema, time: float) -> pa.RecordBatch:
    """Return one row: the time, and the values of observables as they are now."""
    import pyarrow as pa

    seen = simulation.observe()
    values = [time, *(seen[name].value for name in names)]
    return pa.RecordBatch.from_arrays([pa.array([value], pa.float64()) for value in values], schema=schema)
