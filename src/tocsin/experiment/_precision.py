"""How many replicates: a fixed number, or as many as the targets of precision need.

'auto' is Stein's two-stage rule (1945, doi:10.1214/aoms/1177731088): `least` replicates tell the
deviation, from which follows how many are needed in all. Those are run, and the interval keeps the
deviation of the first stage, so that its confidence is exact for normal values. A relative target
looks again at the mean after each stage. What is run depends on results alone, never on their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.experiment._intervals import replicates_needed
from tocsin.experiment._plan import Plan, Run
from tocsin.experiment._work import Row
from tocsin.schema._annotations import nearest

if TYPE_CHECKING:
    from tocsin.experiment._sweep import Sweep


class Precision:
    """The stages of an experiment: iterate it for the runs of each, and `note` their rows.

    Parameters
    ----------
    tables : rows that are there already; their runs are left out
    """

    def __init__(self, sweep: Sweep, plan: Plan, tables: Sequence[Any]) -> None:
        from tocsin.experiment._run import held

        self._plan, self._targets, self._settings = plan, sweep.targets, sweep.settings
        s = sweep.settings
        first = s.replicates if isinstance(s.replicates, int) else s.least
        self._wanted = [first] * len(plan)
        self._begun = [0] * len(plan)
        self._held = held(tables)
        self.n_held = len(self._held)
        self._values: list[dict[str, dict[int, float]]] = [{} for _ in range(len(plan) if sweep.targets else 0)]
        self._known: set[str] = set()
        for table in tables if sweep.targets else ():
            for row in table.to_pylist():
                if row["candidate"] < len(plan):
                    self.note({**row, "metrics": row})

    @property
    def n_planned(self) -> int:
        """Runs of all stages so far."""
        return sum(self._wanted)

    @property
    def n_done(self) -> int:
        """Runs that were there at the start."""
        return self.n_held

    def __iter__(self) -> Iterator[Iterator[Run]]:
        while True:
            yield self._stage()
            self._begun = list(self._wanted)
            if not self._targets or not self._raise():
                return

    def note(self, row: Row) -> None:
        """Take the targets' values out of a row."""
        if not self._targets:
            return
        metrics = row["metrics"]
        if row["error"] is None:
            self._known |= metrics.keys()
        for target in self._targets:
            value = metrics.get(target.metric)
            if value is not None and value == value:
                self._values[row["candidate"]].setdefault(target.metric, {})[row["replicate"]] = value

    def _stage(self) -> Iterator[Run]:
        """Yield the runs of this stage that are not there yet, replicate by replicate."""
        low, high = min(self._begun, default=0), max(self._wanted, default=0)
        for replicate in range(low, high):
            for candidate in range(len(self._plan)):
                is_due = self._begun[candidate] <= replicate < self._wanted[candidate]
                if is_due and not self._is_held(candidate, replicate):
                    yield self._plan.run(candidate, replicate)

    def _is_held(self, candidate: int, replicate: int) -> bool:
        if not len(self._held):
            return False
        key = candidate << 32 | replicate
        place = int(self._held.searchsorted(key))
        return place < len(self._held) and int(self._held[place]) == key

    def _raise(self) -> bool:
        """Ask for more replicates where a target needs them; say whether any does."""
        self._check_names()
        before = self.n_planned
        for candidate, found in enumerate(self._values):
            needed = [self._needed(found.get(target.metric, {}), target) for target in self._targets]
            self._wanted[candidate] = max(self._wanted[candidate], min(self._settings.most, max(needed)))
        return self.n_planned > before

    def _needed(self, values: dict[int, float], target: Any) -> int:
        ordered = [values[r] for r in sorted(values)]
        least = self._settings.least
        if len(ordered) < min(2, least):
            return 0  # its runs fail: more of them would not help
        mean = sum(ordered) / len(ordered)
        return replicates_needed(ordered, least, target.allowed(mean), self._settings.confidence)

    def _check_names(self) -> None:
        for target in self._targets:
            if self._known and target.metric not in self._known:
                known = sorted(self._known)
                raise InputError(
                    f"target: there is no metric {target.metric!r}.{nearest(target.metric, known)} There are: {', '.join(known)}."
                )
