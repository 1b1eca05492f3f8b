"""How long LEFs stay on the fibre, and how far they extrude: from the stream of events.

A lifetime runs from landing to unloading, whatever ends it: `Respawn` or `Evict`. One that began
before the recording, or is not over at its end, has no known length; leaving those out makes the
plain mean of the others too short. `mean` is free of that: time on the fibre by number of
unloadings, which is the mean lifetime of a stationary run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath, write_text
from tocsin.run import Simulation

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
STEP, UNLOAD, LAND = 0, 1, 2
_KINDS = {"Step": STEP, "Evict": UNLOAD, "Respawn": UNLOAD, "Load": LAND}
_BY_LEG = ("Step", "Evict")  # actions of legs; the others are of LEFs


@dataclass(frozen=True, eq=False)
class Lifetimes:
    """Complete lifetimes, in order of unloading; arrays of shape (n,).

    Attributes
    ----------
    duration : float64
        Time from landing to unloading.
    extruded : int64
        Steps of both legs in that time: realised processivity, sites.
    lef : int64
    species : int64
        Row of the LEF's species; 0 where the model has none.
    is_evicted : bool
        Whether a CTCF met from behind ended it.
    time_bound : float64, shape (n_species,)
        Time on the fibre, summed over LEFs, of complete and cut lifetimes.
    n_unloaded : int64, shape (n_species,)
        Unloadings, of complete and cut lifetimes.
    """

    duration: Floats
    extruded: Ints
    lef: Ints
    species: Ints
    is_evicted: NDArray[np.bool_]
    time_bound: Floats
    n_unloaded: Ints

    def __len__(self) -> int:
        return len(self.duration)

    @property
    def mean(self) -> Floats:
        """Mean lifetime of each species, float64, shape (n_species,); inf where none ended."""
        n = self.n_unloaded
        found: Floats = np.divide(self.time_bound, n, out=np.full(len(n), np.inf), where=n > 0)
        return found


def lifetimes_of(simulation: Simulation[Any], until: float) -> Lifetimes:
    """Run to `until` and return the lifetimes seen on the way.

    Raises InputError for a time that is not finite, or a model that is not of loop extrusion;
    SimulationError as `Simulation.run`.
    """
    tally = LifetimeTally(simulation)
    for batch in simulation.record_events(until):
        tally.add(batch)
    return tally.result()


class LifetimeTally:
    """Follows landing and unloading of every LEF through the batches of `record_events`.

    Memory is a row an unloading.

    Parameters
    ----------
    simulation : at the start of the recording
    start : of a recording that was made earlier: its first time; the simulation is then at its end

    Raises InputError if the model has no actions Step and Respawn, no legs or no LEFs.
    """

    def __init__(self, simulation: Simulation[Any], *, start: float | None = None) -> None:
        names = [action.name for action in simulation.model.actions]
        tables = simulation.model.schema.tables()
        if not {"Step", "Respawn"} <= set(names) or not {"legs", "lefs"} <= set(tables):
            raise InputError(f"lifetimes need a model of loop extrusion, got {simulation.model.name!r}")
        self._simulation = simulation
        self._lef_of_leg = simulation.world.legs["lef"].astype(np.int64)
        n, has_species = len(simulation.world.lefs), "species" in tables["lefs"].fields
        self._species = simulation.world.lefs["species"].astype(np.int64) if has_species else np.zeros(n, np.int64)
        # its landing was seen; a LEF of the pool lands by `Load`, and until then adds nothing
        self._is_whole = np.full(n, start is None and simulation.n_events == 0)
        self._landed = np.full(n, simulation.now if start is None else start)
        self._walked = np.zeros(n, np.int64)
        n_species = int(self._species.max(initial=0)) + 1
        self._time_bound, self._n_unloaded = np.zeros(n_species), np.zeros(n_species, np.int64)
        self._rows: list[tuple[float, int, int, int, bool]] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Follow a batch of events: columns time, action, index, in order of time."""
        action, names = batch.column("action").indices.to_numpy(), batch.column("action").dictionary.to_pylist()
        index, time = batch.column("index").to_numpy(), batch.column("time").to_numpy()
        kind = np.array([_KINDS.get(name, -1) for name in names], np.int64)[action]
        is_leg = np.array([name in _BY_LEG for name in names])[action]
        known = np.flatnonzero(kind >= 0)
        kind, action, time, index, is_leg = kind[known], action[known], time[known], index[known], is_leg[known]
        lef = index.astype(np.int64)
        lef[is_leg] = self._lef_of_leg[lef[is_leg]]
        before = _steps_before(lef, kind)
        base = np.zeros(len(self._walked), np.int64)
        evict = names.index("Evict") if "Evict" in names else -1
        for i in np.flatnonzero(kind != STEP).tolist():
            self._walked[lef[i]] += before[i] - base[lef[i]]
            base[lef[i]] = before[i]
            self._turn(int(lef[i]), float(time[i]), int(kind[i]), bool(action[i] == evict))
        self._walked += np.bincount(lef[kind == STEP], minlength=len(base)) - base

    def _turn(self, lef: int, time: float, kind: int, is_evicted: bool) -> None:
        """A LEF unloads, or lands out of the pool."""
        if kind == UNLOAD:
            species, duration = int(self._species[lef]), time - float(self._landed[lef])
            self._time_bound[species] += duration
            self._n_unloaded[species] += 1
            if self._is_whole[lef]:
                self._rows.append((duration, int(self._walked[lef]), lef, species, is_evicted))
        self._landed[lef], self._walked[lef], self._is_whole[lef] = time, 0, True

    def result(self) -> Lifetimes:
        """What was seen up to the simulation's present time, at which the last batch must end."""
        world = self._simulation.world
        bound = world.legs["site"][world.lefs["left"]] >= 0
        open_time = self._simulation.now - self._landed
        still = np.bincount(self._species[bound], open_time[bound], minlength=len(self._time_bound))
        rows = np.array(self._rows, dtype=np.float64).reshape(-1, 5)
        return Lifetimes(
            duration=rows[:, 0], extruded=rows[:, 1].astype(np.int64), lef=rows[:, 2].astype(np.int64),
            species=rows[:, 3].astype(np.int64), is_evicted=rows[:, 4] > 0,
            time_bound=self._time_bound + still, n_unloaded=self._n_unloaded.copy(),
        )  # fmt: skip


def _steps_before(lef: Ints, kind: Ints) -> Ints:
    """For each event, the Steps of the same LEF earlier in the batch, int64, shape (n_events,)."""
    order = np.argsort(lef, kind="stable")
    is_step = kind[order] == STEP
    seen = np.cumsum(is_step) - is_step
    first = np.flatnonzero(np.diff(lef[order], prepend=-1))
    start = np.repeat(seen[first], np.diff(np.append(first, len(lef))))
    found = np.empty(len(lef), np.int64)
    found[order] = seen - start
    return found


def write_lifetimes(path: StrPath, lifetimes: Lifetimes) -> None:
    """Write one row a complete lifetime: lef, species, duration, extruded, end. Raises OutputError."""
    ends = np.where(lifetimes.is_evicted, "evicted", "unloaded").tolist()
    columns = (lifetimes.lef.tolist(), lifetimes.species.tolist(), lifetimes.duration.tolist())
    rows = zip(*columns, lifetimes.extruded.tolist(), ends, strict=True)
    lines = [f"{lef}\t{species}\t{time!r}\t{steps}\t{end}\n" for lef, species, time, steps, end in rows]
    write_text(path, "lef\tspecies\tduration\textruded\tend\n" + "".join(lines))
