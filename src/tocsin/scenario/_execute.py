"""Run a scenario into a folder."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tocsin.errors import InputError, OutputError, SimulationError, Stop
from tocsin.run import Simulation
from tocsin.scenario._drive import Drive, interrupts_noted
from tocsin.scenario._recorder import Events, ParquetFile, States
from tocsin.scenario._scenario import Scenario


@dataclass
class Outcome:
    """What became of a run."""

    simulation: Simulation[Any]
    context: Any
    started: datetime
    stopped: str = "running"
    """reached_time, reached_events, exhausted, interrupted or failed."""
    error: SimulationError | OutputError | None = None
    ended: datetime | None = None
    cpu_seconds: float = 0.0
    files: dict[str, int | None] = field(default_factory=dict)
    """Files written, with their rows where there are rows."""


def prepare_folder(folder: Path) -> None:
    """Make a folder and try to write in it. Raises InputError if either is refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".tocsin-"):
            pass
    except OSError as error:
        raise InputError(
            f"cannot write into {str(folder)!r}: {error.strerror}; choose another folder with --out"
        ) from None


def execute(
    scenario: Scenario,
    folder: Path,
    *,
    progress: Callable[[Simulation[Any]], None] | None = None,
    plot: bool = False,
) -> Outcome:
    """Run a scenario and write its recordings, reports and picture into `folder`.

    Ctrl-C and a failing model end the run, not this function: what was done is written, and
    the outcome says so. Raises InputError and ModelError before the run.
    """
    simulation, context = scenario.start()
    outcome = Outcome(simulation, context, datetime.now(UTC))
    files = _open(scenario, simulation, folder)
    begun = time.process_time()
    _simulate(scenario, outcome, files, progress)
    outcome.cpu_seconds = time.process_time() - begun
    outcome.ended = datetime.now(UTC)
    for file in files:
        _close(file, outcome)
    if outcome.error is None:
        _write_reports(scenario, outcome, folder, plot)
    return outcome


def _open(scenario: Scenario, simulation: Simulation[Any], folder: Path) -> list[ParquetFile]:
    files: list[ParquetFile] = []
    snapshots = scenario.record.snapshots
    if scenario.record.events:
        files.append(Events(folder, simulation))
    if snapshots is not None:
        table = snapshots.table or next(iter(simulation.model.schema.tables()))
        files.append(States(folder, simulation, table, snapshots.columns))
    return files


def _simulate(
    scenario: Scenario,
    outcome: Outcome,
    files: list[ParquetFile],
    progress: Callable[[Simulation[Any]], None] | None,
) -> None:
    try:
        with interrupts_noted() as interrupt:

            def watch(simulation: Simulation[Any]) -> None:
                if progress is not None:
                    progress(simulation)
                interrupt.check()

            drive = Drive(outcome.simulation, scenario.run, watch)
            outcome.stopped = _go(scenario, drive, files).name.lower()
    except KeyboardInterrupt:
        outcome.stopped = "interrupted"
    except (SimulationError, OutputError) as error:
        outcome.stopped, outcome.error = "failed", error


def _go(scenario: Scenario, drive: Drive, files: list[ParquetFile]) -> Stop:
    """Burn in, then run to the end, recording into the files that are open."""
    stop = drive.burn_in()
    if stop is Stop.REACHED_EVENTS:
        return stop
    drive.on_events = next((file.write for file in files if isinstance(file, Events)), None)
    take = next((file.take for file in files if isinstance(file, States)), None)
    snapshots = scenario.record.snapshots
    if snapshots is None or take is None:
        return drive.to_end()
    return drive.to_end_with(snapshots, take)


def _close(file: ParquetFile, outcome: Outcome) -> None:
    try:
        file.close()
    except OutputError as error:
        file.discard()
        outcome.stopped, outcome.error = "failed", outcome.error or error
    else:
        outcome.files[file.path.name] = file.n_rows


def _write_reports(scenario: Scenario, outcome: Outcome, folder: Path, plot: bool) -> None:
    preset = scenario.preset
    wanted = [(r.file, r.write) for r in preset.reports if getattr(scenario.record, r.name)]
    if plot and preset.plot is not None:
        wanted.append(("plot.png", preset.plot))
    for name, write in wanted:
        try:
            write(outcome.simulation, outcome.context, folder / name)
        except OutputError as error:
            outcome.stopped, outcome.error = "failed", error
            return
        outcome.files[name] = None
