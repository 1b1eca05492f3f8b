"""What a picture needs of a native simulation, as arrays: what `static/frames.js` does in a page, for many rows at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.export.marks import (
    Along,
    Arcs,
    Bars,
    Cells,
    Circles,
    Histogram,
    Marginals,
    Network,
    Points,
    Ticks,
    Trajectory,
    View,
)
from tocsin.view._names import PLACE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tocsin.run import Simulation

    Column = NDArray[Any]

N_BINS, MOST_BARS, MOST_SAMPLES, MOST_POINTS, MOST_PAIRS = 48, 400, 1 << 16, 200_000, 20_000
Numbers = dict[str, Any]
"""A mark's numbers: `data` (float32), `count`, `width`, and what else its picture needs."""


class Frames:
    """Takes frames of one simulation, and samples of what its picture follows over time."""

    def __init__(self, simulation: Simulation[Any], view: View) -> None:
        self.simulation, self.view = simulation, view
        self.world: Any = simulation.world
        places: list[Along] = []
        for mark in view.marks:
            if isinstance(mark, Trajectory):
                places += [mark.x, mark.y]
            if isinstance(mark, Marginals):
                places += mark.values
        self.places = places
        self.samples: list[list[float]] = [[] for _ in places]
        self.every = view.every
        self.next = simulation.now + self.every if places else math.inf

    def run(self, until: float, events: int) -> None:
        """Run, stopping on the way to take samples; at most `events` events and one sample."""
        end = min(until, self.next)
        self.simulation.run(until=end if end < math.inf else None, events=events)
        if self.simulation.now >= self.next:
            for place, samples in zip(self.places, self.samples, strict=True):
                samples.append(self.along(place))
                del samples[:-MOST_SAMPLES]
            self.next += self.every

    def value(self, path: str) -> float:
        """Return a value of the world by its path; NaN for a place that is not there."""
        found = PLACE.fullmatch(path)
        if found is None:
            owner, _, name = path.rpartition(".")
            return float(getattr(getattr(self.world, owner) if owner else self.world, name))
        places = tuple(map(int, found[2].split(",")))
        if found[1] in self.world.schema().arrays:
            values = self._array(found[1])
            return float(values[places]) if all(k < n for k, n in zip(places, values.shape, strict=True)) else math.nan
        column = self.column(found[1], found[3] or "")
        return float(column[places[0]]) if places[0] < len(column) else math.nan

    def along(self, spec: Along) -> float:
        """Return where something that moves between events is now."""
        z = self.value(spec.place)
        v = self.value(spec.velocity) if spec.velocity else 0.0
        t = self.simulation.now - (self.value(spec.since) if spec.since else 0.0)
        if v != 0.0:
            is_circle = bool(spec.circle) and self.value(spec.circle) != 0.0
            z = z * math.cos(t) + v * math.sin(t) if is_circle else z + v * t
        centre, scale = (self.value(n) if isinstance(n, str) else n for n in (spec.centre, spec.scale))
        return centre + scale * z

    def column(self, table: str, path: str) -> Column:
        """Return a column of all rows; it follows references, NaN behind an empty one."""
        entity = self.world.schema().tables()[table]
        rows = np.arange(len(self.world._tables[entity.name]))
        return self._follow(entity, path, rows)

    def _follow(self, entity: Any, path: str, rows: Column) -> Column:
        if not path:
            return rows
        head, _, rest = path.partition(".")
        values = self.world._tables[entity.name].rows[head][np.maximum(rows, 0)]
        field = entity.fields[head]
        if field.target is not None:
            values = np.where(values < 0, -1, values & 0xFFFFFFFF if field.keyed else values)
            if rest:
                values = self._follow(self.world.schema().entity(field.target), rest, values)
        return (
            np.where(rows < 0, np.nan if rest or field.target is None else -1, values) if (rows < 0).any() else values
        )

    def take(self) -> tuple[dict[str, Any], list[Column]]:
        """Return the frame's facts, and the arrays of its marks."""
        simulation, view = self.simulation, self.view
        marks, self._at = [], 0
        for mark in view.marks:
            marks.append(_MAKERS[type(mark)](self, mark))
        with np.errstate(over="ignore"):  # an instant move has a velocity beyond float32: infinite, as in a page
            arrays = [np.ascontiguousarray(m.pop("data"), np.float32) for m in marks]
        shape: dict[str, Any] = {}
        if view.line:
            shape["line"] = len(self.world.__dict__[view.line])
        if view.box:
            shape["box"] = [self.value(name) for name in view.box]
        totals = [float(t) for t in simulation._kernel.series["total"][: len(simulation.model.observables)]]
        facts = {
            "kind": "frame", "marks": marks, "shape": shape, "now": simulation.now, "nEvents": simulation.n_events,
            "observables": [*totals, *(self.value(path) for _, path in view.series)],
            "counts": list(simulation.counts.values()),
        }  # fmt: skip
        return facts, arrays

    def _array(self, name: str) -> Column:
        values: Column = self.world.__dict__[name].values
        return values

    def live(self, table: str) -> Column:
        """Return the numbers of the live rows; of very many every so many."""
        entity = self.world.schema().tables()[table]
        rows = self.world._tables[entity.name]
        n = len(rows)
        found = np.flatnonzero(rows.rows["_generation"][:n] & 1) if entity.pooled else np.arange(n)
        return found[:: -(-len(found) // MOST_POINTS)] if len(found) > MOST_POINTS else found

    def rows(self, table: str, paths: tuple[str, ...], seen: Callable[[list[Column]], Column] | None = None) -> Numbers:
        """Return columns of the live rows and their numbers, one row after the other."""
        live = self.live(table)
        columns = [self.column(table, path)[live].astype(float) for path in paths]
        data = np.column_stack([*columns, live]) if columns else live[:, None]
        if seen is not None:
            data = data[seen(columns)]
        return {"data": data, "count": len(data), "width": data.shape[1]}

    def sampled(self, n: int) -> list[list[float]]:
        """Return the samples of the next n places, in the order of the marks."""
        self._at += n
        return self.samples[self._at - n : self._at]


def _arcs(frames: Frames, mark: Arcs) -> Numbers:
    if mark.colour:
        return frames.rows(mark.table, (mark.start, mark.end, mark.colour))
    found = frames.rows(mark.table, (mark.start, mark.end))
    data = np.insert(found["data"], 2, 0.0, axis=1)
    return {"data": data, "count": len(data), "width": 4}


def _ticks(frames: Frames, mark: Ticks) -> Numbers:
    if not mark.value:
        found = frames.rows(mark.table, (mark.x,))
        return {**found, "data": np.insert(found["data"], 1, 1.0, axis=1), "width": 3}
    return frames.rows(mark.table, (mark.x, mark.value), lambda c: ((c[1] != 0.0) | mark.zeros) & ~np.isnan(c[1]))


def _circles(frames: Frames, mark: Circles) -> Numbers:
    return frames.rows(mark.table, (mark.x, mark.y, mark.radius))


def _points(frames: Frames, mark: Points) -> Numbers:
    live = frames.live(mark.table)
    data = np.zeros((len(live), 7 if mark.motion else 4))

    def column(path: str) -> Column:
        return frames.column(mark.table, path)[live].astype(float)

    if mark.cell and frames.view.box:
        cell, width = column(mark.cell), frames.value(frames.view.box[0])
        data[:, 0], data[:, 1] = np.where(cell < 0, np.nan, cell % width), np.where(cell < 0, np.nan, cell // width)
    else:
        for k, path in enumerate((mark.x, mark.y)):
            data[:, k] = column(path) if path else 0.0
    data[:, 2] = (column(mark.colour) if mark.colour else 0.0) + mark.shade
    data[:, 3] = live
    if mark.motion is not None:
        _move(frames, mark, data, column)
    return {"data": data, "count": len(data), "width": data.shape[1]}


def _move(frames: Frames, mark: Points, data: Column, column: Callable[[str], Column]) -> None:
    """Move points to where they are now, and write down their velocities and for how long these hold."""
    motion, now = mark.motion, frames.simulation.now
    assert motion is not None
    begun = float(frames.simulation._kernel.begun_at)
    since = column(motion.since) if motion.since else begun + (now - begun) // motion.every * motion.every
    moves = column(motion.only[0]) == motion.only[1] if motion.only else np.ones(len(data), bool)
    t, by, left = now - since, np.zeros((len(data), 2)), np.full(len(data), np.inf)
    if motion.goal:
        pace = column(motion.pace) if motion.pace else np.ones(len(data))
        share = np.minimum(1.0, t * pace)
        for k, path in enumerate(motion.goal):
            way = column(path) - data[:, k]
            data[moves, k] += (share * way)[moves]
            by[:, k] = np.where(share < 1.0, pace * way, 0.0)
        left = np.where(share < 1.0, (1.0 - share) / np.maximum(pace, 1e-300), np.inf)
    else:
        times = frames.value(motion.times) if motion.times else 1.0
        for k, path in enumerate(motion.velocity):
            by[:, k] = times * column(path)
            data[moves, k] += (by[:, k] * t)[moves]
    data[:, 4:6], data[:, 6] = np.where(moves[:, None], by, 0.0), left


def _cells(frames: Frames, mark: Cells) -> Numbers:
    values = frames._array(mark.array) if mark.array else frames.column(mark.table, mark.value)
    flat, n, box = values.reshape(-1).astype(float), values.size, frames.view.box
    columns = values.shape[0 if mark.by_column else 1] if values.ndim > 1 else mark.columns
    if not columns and box and frames.value(box[0]) * frames.value(box[1]) == n:
        columns = int(frames.value(box[0]))
    columns = columns or math.ceil(math.sqrt(n)) or 1
    lines = -(-n // columns)
    if mark.by_column:
        flat = flat.reshape(columns, lines).T[::-1].reshape(-1)
    elif box:
        flat = flat.reshape(lines, columns)[::-1].reshape(-1)
    return {"data": flat, "count": n, "width": 1, "columns": columns}


def _network(frames: Frames, mark: Network) -> Numbers:
    found = frames.rows(mark.table, (mark.colour,)) if mark.colour else frames.rows(mark.table, ())
    first, others = frames._array(mark.first), frames._array(mark.neighbours)
    one = np.repeat(np.arange(len(first) - 1), np.diff(first))
    other = others[: len(one)]
    pairs = np.column_stack([one, other])[other > one][: MOST_PAIRS // 2]
    return {**found, "width": 2, "pairs": pairs.reshape(-1).tolist()}


def _trajectory(frames: Frames, mark: Trajectory) -> Numbers:
    xs, ys = (samples[-mark.trail :] for samples in frames.sampled(2))
    data = np.column_stack([[*xs, frames.along(mark.x)], [*ys, frames.along(mark.y)]])
    return {"data": data, "count": len(data), "width": 2}


def _marginals(frames: Frames, mark: Marginals) -> Numbers:
    samples = frames.sampled(len(mark.values))
    found = [_binned(np.array(values)) for values in samples]
    data = np.concatenate([counts for counts, _ in found])
    return {"data": data, "count": len(found), "width": N_BINS, "spans": [s for _, s in found], "n": len(samples[0])}


def _histogram(frames: Frames, mark: Histogram) -> Numbers:
    values = frames.rows(mark.table, (mark.value,))["data"][:, 0]
    counts, span = _binned(values[np.isfinite(values)])
    return {"data": counts, "count": 1, "width": N_BINS, "spans": [span], "n": len(values)}


def _binned(values: Column) -> tuple[Column, list[float]]:
    """Return counts of N_BINS bins, and [low, high, bins used]; few whole numbers have a bin each."""
    counts, used = np.zeros(N_BINS), N_BINS
    if not len(values):
        return counts, [0.0, 1.0, N_BINS]
    low, high = float(values.min()), float(values.max())
    if (values == np.floor(values)).all():
        step = math.ceil((high - low + 1) / N_BINS)
        used = math.ceil((high - low + 1) / step)
        low -= 0.5
        high = low + used * step
    elif high == low:
        high = low + 1.0
    places = np.minimum(used - 1, ((values - low) / (high - low) * used).astype(int))
    counts[:used] = np.bincount(places, minlength=used)
    return counts, [low, high, used]


def _bars(frames: Frames, mark: Bars) -> Numbers:
    if mark.table:
        values = frames.rows(mark.table, (mark.value,))["data"][:MOST_BARS, 0]
    elif mark.array:
        values = frames._array(mark.array)[:, mark.column].astype(float)
    else:
        values = np.array([frames.value(path) for path in mark.values])
    return {"data": values, "count": len(values), "width": 1}


_MAKERS: dict[type, Callable[[Frames, Any], Numbers]] = {
    Arcs: _arcs, Ticks: _ticks, Circles: _circles, Points: _points, Cells: _cells, Network: _network,
    Trajectory: _trajectory, Marginals: _marginals, Histogram: _histogram, Bars: _bars,
}  # fmt: skip
