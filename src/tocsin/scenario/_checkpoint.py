"""Checkpoints of a run: its state every so often, so that it can go on after a crash.

They lie in `checkpoint/` of the results' folder: the two newest states, and the recordings in
parts that end at a checkpoint. A part after the checkpoint that a run resumes from is thrown away
and recorded again, with the same bits. The folder is removed once the results are complete.
"""

from __future__ import annotations

import logging
import shutil
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError, OutputError
from tocsin.run import Simulation
from tocsin.run._save import read_save, write_save

if TYPE_CHECKING:
    from tocsin.schema import Model

_log = logging.getLogger("tocsin")
FOLDER = "checkpoint"
KEPT = 2
"""States that are kept: one, and one more in case the disk spoils it."""


@dataclass
class Position:
    """How far a run is, beside the simulation itself."""

    scenario: str
    """Hash of the scenario."""
    is_burnt_in: bool = False
    taken: dict[str, int] = field(default_factory=dict)
    """Times at which each recording at equal times was taken."""
    parts: dict[str, int] = field(default_factory=dict)
    """Whole parts of each recording."""
    cpu_seconds: float = 0.0


class Checkpoints:
    """The checkpoints of one run.

    Parameters
    ----------
    results : the run's folder
    scenario : the scenario's hash
    every : seconds of wall time between two; None saves on Ctrl-C only
    """

    def __init__(self, results: Path, scenario: str, every: float | None) -> None:
        self.folder = results / FOLDER
        self.position = Position(scenario)
        self._every = every
        self._saved_at = time.monotonic()
        self._begun = time.process_time()
        self._number = 0

    def begin(self) -> None:
        """Make the folder. Raises InputError if it holds the checkpoints of an unfinished run."""
        if self._states():
            raise InputError(
                f"{str(self.folder)!r} holds checkpoints of a run that has not ended; go on with --resume, "
                f"or remove that folder to start anew"
            )
        self.remove()
        self._make()

    def resume(self, model: Model) -> Simulation[Any] | None:
        """Return the newest simulation that is whole, or None if there is no checkpoint.

        Raises InputError if all are damaged, or belong to another scenario or model.
        """
        found, first = self._states(), None
        for path in found:
            try:
                simulation, extra = read_save(Simulation, path, model, True)
                self.position = self._checked(extra, path)
            except InputError as error:
                first = first or error
                continue
            self._number = int(path.stem.rpartition("-")[2])
            _log.info("going on at t=%g, after %d events", simulation.now, simulation.n_events)
            return simulation
        if first is not None:
            raise first
        self.remove()
        self._make()
        return None

    def is_due(self) -> bool:
        """Say whether it is time for the next one."""
        return self._every is not None and time.monotonic() - self._saved_at >= self._every

    def save(self, simulation: Simulation[Any]) -> None:
        """Write a checkpoint and drop the oldest. Raises OutputError."""
        self._number += 1
        write_save(simulation, self.folder / f"state-{self._number:06}.tocsin", self._now())
        for path in self._states()[KEPT:]:
            path.unlink(missing_ok=True)
        self._saved_at = time.monotonic()

    def cpu_seconds(self) -> float:
        """Return the CPU time of the run, that before a resume included."""
        return self.position.cpu_seconds + time.process_time() - self._begun

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _now(self) -> dict[str, Any]:
        return {**asdict(self.position), "cpu_seconds": self.cpu_seconds()}

    def _states(self) -> list[Path]:
        """Return the saved states, newest first."""
        return sorted(self.folder.glob("state-[0-9]*.tocsin"), reverse=True)

    def _make(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make {str(self.folder)!r}: {error.strerror}") from None

    def _checked(self, extra: dict[str, Any], path: Path) -> Position:
        if extra.get("scenario") != self.position.scenario:
            raise InputError(
                f"{str(path)!r} is a checkpoint of another scenario: something in it, its parameters, its seed or "
                f"its end was changed since. Resume with the scenario as it was, or choose another folder with --out."
            )
        try:
            found = Position(**extra)
        except TypeError:
            raise InputError(f"{str(path)!r} is a save, but not a checkpoint of a run") from None
        counts = [n for d in (found.taken, found.parts) for n in (d.values() if isinstance(d, dict) else [-1])]
        is_whole = all(isinstance(n, int) and 0 <= n < 1 << 31 for n in counts)
        if not (is_whole and isinstance(found.is_burnt_in, bool) and isinstance(found.cpu_seconds, (int, float))):
            raise InputError(f"{str(path)!r} says what cannot be about its run; take an older one")
        for name, n_parts in found.parts.items():
            for k in range(n_parts):
                if not part_path(self.folder, name, k).exists():
                    raise InputError(f"{str(part_path(self.folder, name, k))!r} is gone; without it nothing can go on")
        return found


def part_path(folder: Path, name: str, number: int) -> Path:
    """Return the file of one part of a recording."""
    return folder / f"{name}-{number:06}.parquet"
