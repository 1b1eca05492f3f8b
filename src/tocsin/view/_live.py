"""A native simulation that a page steers: what `static/worker.js` does in the browser, at this machine's speed."""

from __future__ import annotations

import json
import math
import struct
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError, TocsinError
from tocsin.export.marks import View
from tocsin.run._save import to_bytes
from tocsin.view._frames import Frames
from tocsin.view._log import LOG_ROWS, with_log

if TYPE_CHECKING:
    from tocsin.run import Simulation

SLICE = 0.03
"""Seconds that a page waits for an answer at most, but for events that take longer."""
MOST_EVENTS = 5_000_000
MOST_LISTED = 200
MOST_BINS = 40


def packed(facts: dict[str, Any], arrays: list[Any] | None = None) -> bytes:
    """Return a message: the length of its facts, the facts as JSON padded to 4 bytes, then its arrays of float32.

    `sizes` among the facts says how many numbers (or bytes, of what is no array) each has.
    """
    arrays = arrays or []
    facts = {**facts, "sizes": [len(a) if isinstance(a, bytes) else a.size for a in arrays]}
    head = json.dumps(_plain(facts), allow_nan=False).encode()
    head += b" " * (-len(head) % 4)
    return b"".join([struct.pack("<I", len(head)), head, *(a if isinstance(a, bytes) else a.tobytes() for a in arrays)])


def _plain(value: Any) -> Any:
    """Return the same without NaN and infinities, which JSON lacks: they become None."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value


class Live:
    """One simulation, played for one page."""

    def __init__(self, simulation: Simulation[Any], view: View, speed: float) -> None:
        self.initial, self.view, self.speed = simulation.copy(), view, speed
        self.is_playing, self.is_late, self.target, self.batch = False, False, math.inf, 20
        self.is_logging, self.fired = False, 0
        self.listed: deque[list[Any]] = deque(maxlen=MOST_LISTED)
        self._begin(simulation.copy())
        self._reanchor()

    def _begin(self, simulation: Simulation[Any]) -> None:
        self.simulation = simulation
        simulation._driver.advance(math.inf, 0)
        self.frames = Frames(with_log(simulation), self.view)

    def _reanchor(self) -> None:
        self.anchor = time.perf_counter(), self.simulation.now

    def slice(self) -> Iterator[bytes]:
        """Run for a moment, as far as the speed asks; yield what there is to say."""
        begun, wanted = time.perf_counter(), math.inf
        if self.speed < math.inf:
            wanted = self.anchor[1] + (begun - self.anchor[0]) * self.speed
        wanted = min(wanted, self.target)
        while self.simulation.now < wanted:
            if self._few(wanted) == 0 and self.simulation.now < min(wanted, self.frames.next):
                yield from self._log()
                yield from self._pause("No clock will ever ring again.")
                return
            if time.perf_counter() - begun > SLICE:
                break
        yield from self._log()
        self.is_late = self.simulation.now < wanted
        if self.simulation.now >= self.target:
            self.target = math.inf
            yield from self._pause("")
        elif self.is_late and wanted < math.inf:
            self._reanchor()  # it cannot go as fast: no debt is kept

    def _few(self, wanted: float) -> int:
        """Run a batch; return its events. The batch is made to last some milliseconds."""
        before, had = time.perf_counter(), self.simulation.n_events
        with self._listing() as most:
            self.frames.run(wanted, min(self.batch, most))
        spent, fired = time.perf_counter() - before, self.simulation.n_events - had
        if fired and (spent > 0.005 or fired >= self.batch):
            self.batch = max(1, min(2 * self.batch, MOST_EVENTS, round(0.005 * fired / max(spent, 1e-6))))
        return fired

    @contextmanager
    def _listing(self) -> Iterator[int]:
        """List the events that are fired meanwhile, if the page wants them; they may be this many at most."""
        kernel = self.simulation._kernel
        kernel.n_log, kernel.is_logging = 0, int(self.is_logging)
        try:
            yield LOG_ROWS - 1 if self.is_logging else MOST_EVENTS
        finally:
            kernel.is_logging = 0
            self.fired += kernel.n_log
            self.listed.extend(row.tolist()[:3] for row in kernel.log.rows[: kernel.n_log][-MOST_LISTED:])

    def _log(self) -> Iterator[bytes]:
        """Yield the events since the last time, the newest ones of many."""
        if self.listed:
            yield packed({"kind": "log", "events": list(self.listed), "skipped": self.fired - len(self.listed)})
        self.listed.clear()
        self.fired = 0

    def answer(self, message: dict[str, Any]) -> Iterator[bytes]:
        """Do what the page asks; yield the answers. What it cannot ask is answered by an error, as is a failed run."""
        kind = message.get("kind")
        handler = getattr(self, f"_on_{kind}", None) if isinstance(kind, str) and kind.isidentifier() else None
        try:
            if handler is None:
                raise InputError(f"there is no message of kind {kind!r}")
            yield from handler(message)
        except (TocsinError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            yield from self._fail(error)

    def played(self) -> Iterator[bytes]:
        """As `slice`, with a failed run as an answer."""
        try:
            yield from self.slice()
        except TocsinError as error:
            yield from self._fail(error)

    def _fail(self, error: Exception) -> Iterator[bytes]:
        text = str(error) if isinstance(error, TocsinError) else f"a message that makes no sense: {error!r}"
        yield packed({"kind": "error", "message": text})
        yield from self._pause("")

    def _pause(self, note: str) -> Iterator[bytes]:
        self.is_playing = False
        if note:
            yield packed({"kind": "note", "message": note})
        yield packed({"kind": "state", "playing": False})

    def _on_begin(self, message: dict[str, Any]) -> Iterator[bytes]:
        yield packed({"kind": "ready"})

    def _on_play(self, message: dict[str, Any]) -> Iterator[bytes]:
        self.is_playing = True
        self._reanchor()
        yield packed({"kind": "state", "playing": True})

    def _on_pause(self, message: dict[str, Any]) -> Iterator[bytes]:
        yield from self._pause("")

    def _on_step(self, message: dict[str, Any]) -> Iterator[bytes]:
        before = self.simulation.counts
        with self._listing():
            self.simulation.run(events=1)
        yield from self._log()
        fired = [name for name, n in self.simulation.counts.items() if n != before[name]]
        note = f"{fired[0]} at t = {self.simulation.now:.8g}" if fired else "No clock will ever ring again."
        yield from self._pause(note)

    def _on_unit(self, message: dict[str, Any]) -> Iterator[bytes]:
        yield from self._on_until({"time": self.simulation.now + 1.0})

    def _on_until(self, message: dict[str, Any]) -> Iterator[bytes]:
        self.target = float(message["time"])
        yield from self._on_play(message)

    def _on_speed(self, message: dict[str, Any]) -> Iterator[bytes]:
        value = message["value"]
        self.speed = math.inf if value is None else float(value)
        self._reanchor()
        yield from ()

    def _on_restart(self, message: dict[str, Any]) -> Iterator[bytes]:
        values = [self._param(k) for k in range(len(self._specs()))]
        seed = int(message["seed"])
        fresh = self.initial.copy() if seed == self.initial.seed else self.initial.copy(seed=seed)
        for (block, name), value in zip(self._specs(), values, strict=True):
            setattr(getattr(fresh.world, block), name, value)
        self._begin(fresh)
        self._reanchor()
        yield packed({"kind": "restarted", "seed": str(self.simulation.seed)})

    def _specs(self) -> list[tuple[str, str]]:
        params = self.simulation.world.schema().params
        return [(block, name) for block, cls in params.items() for name in cls.fields()]

    def _param(self, k: int) -> Any:
        block, name = self._specs()[k]
        return getattr(getattr(self.simulation.world, block), name)

    def _set(self, k: int, value: Any) -> None:
        """Set a parameter; if it is another value, every clock is asked again from now on."""
        block, name = self._specs()[k]
        if self._param(k) != value:
            kind = type(self._param(k))
            setattr(getattr(self.simulation.world, block), name, kind(value))
            self.simulation._kernel.started = 0
            self.simulation._driver.advance(math.inf, 0)

    def _on_parameter(self, message: dict[str, Any]) -> Iterator[bytes]:
        self._set(int(message["index"]), message["value"])
        yield from ()

    def _on_log(self, message: dict[str, Any]) -> Iterator[bytes]:
        self.is_logging = bool(message["on"])
        yield from ()

    def _on_frame(self, message: dict[str, Any]) -> Iterator[bytes]:
        facts, arrays = self.frames.take()
        yield packed({**facts, "playing": self.is_playing}, arrays)

    def _on_inspect(self, message: dict[str, Any]) -> Iterator[bytes]:
        entity = self.simulation.world.schema().tables()[message["table"]]
        table, row = self.simulation.world._tables[entity.name], int(message["row"])
        found = None
        if 0 <= row < len(table):
            fields = {name: self._field(table.rows[name][row], spec) for name, spec in entity.fields.items()}
            found = {"isLive": not entity.pooled or bool(table.is_live(row)), "fields": fields}
        yield packed({"kind": "inspected", "table": message["table"], "row": row, "found": found})

    @staticmethod
    def _field(value: Any, spec: Any) -> Any:
        number = value.item()
        return (number & 0xFFFFFFFF if number >= 0 else -1) if spec.kind == "ref" and spec.keyed else number

    def _on_histogram(self, message: dict[str, Any]) -> Iterator[bytes]:
        import numpy as np

        values = self.frames.rows(message["table"], (message["column"],))["data"][:, 0]
        values = values[np.isfinite(values)]
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        high = high if high > low else low + 1.0
        counts = np.histogram(values, MOST_BINS, (low, high))[0].tolist()
        facts = {"table": message["table"], "column": message["column"], "low": low, "high": high, "counts": counts}
        yield packed({"kind": "histogram", **facts, "n": len(values)})

    def _on_save(self, message: dict[str, Any]) -> Iterator[bytes]:
        yield packed({"kind": "saved"}, [to_bytes(self.simulation)])

    def _on_events(self, message: dict[str, Any]) -> Iterator[bytes]:
        left = int(message["n"])
        while left > 0:
            with self._listing() as most:
                report = self.simulation.run(events=min(left, most))
            left -= report.n_events
            if not report.n_events:
                break
        yield from self._log()
        yield packed({"kind": "done", "nEvents": self.simulation.n_events})
