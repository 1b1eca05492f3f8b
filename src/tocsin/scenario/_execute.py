"""Run a scenario into a folder."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tocsin.errors import InputError, OutputError, SimulationError, Stop
from tocsin.run import Simulation
from tocsin.scenario._checkpoint import Checkpoints
from tocsin.scenario._drive import Drive, interrupts_noted
from tocsin.scenario._recorder import Curves, Events, Recording, Sampled, States
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
    checkpoints: Checkpoints | None = None

    def finish(self) -> None:
        """Remove the checkpoints of a run that came to its end; call it when all is written."""
        if self.checkpoints is not None and self.error is None and self.stopped != "interrupted":
            self.checkpoints.remove()


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
    films: Sequence[str] = (),
    checkpoint: float | None = None,
    resume: bool = False,
) -> Outcome:
    """Run a scenario and write its recordings, reports and picture into `folder`.

    Parameters
    ----------
    progress : called some times a second
    plot : whether to draw the picture
    films : kinds of films to write, "gif" or "mp4"; the run is run again for them
    checkpoint : seconds of wall time between checkpoints, > 0; None makes none, except on
        Ctrl-C in a run that was resumed
    resume : go on from the newest checkpoint in the folder, if there is one

    Ctrl-C and a failing model end the run, not this function: what was done is written, and
    the outcome says so. Raises InputError and ModelError before the run.
    """
    outcome = _started(scenario, folder, checkpoint, resume)
    files = _open(scenario, outcome, folder)
    begun = time.process_time()
    try:
        _simulate(scenario, outcome, files, progress)
    except BaseException:  # not ours to handle, such as an error in `progress`
        for file in files:
            file.discard()
        raise
    outcome.cpu_seconds = time.process_time() - begun
    if outcome.checkpoints is not None:
        outcome.cpu_seconds += outcome.checkpoints.position.cpu_seconds
    outcome.ended = datetime.now(UTC)
    for file in files:
        _close(file, outcome)
    if outcome.error is None:
        _write_reports(scenario, outcome, folder, plot, films)
    return outcome


def _started(scenario: Scenario, folder: Path, checkpoint: float | None, resume: bool) -> Outcome:
    """Return the run before its first event, or as it stands in its newest checkpoint."""
    if checkpoint is not None and not 0.0 < checkpoint < float("inf"):
        raise InputError(f"checkpoints must be more than 0 apart, got {checkpoint / 60.0:g} minutes")
    if checkpoint is None and not resume:
        return Outcome(*scenario.start(), datetime.now(UTC))
    checkpoints = Checkpoints(folder, scenario.hash(), checkpoint)
    simulation = None
    if resume:
        simulation = checkpoints.resume(scenario.variant().model)
    else:
        checkpoints.begin()
    simulation, context = scenario.start() if simulation is None else (simulation, scenario.build()[1])
    return Outcome(simulation, context, datetime.now(UTC), checkpoints=checkpoints)


def _open(scenario: Scenario, outcome: Outcome, folder: Path) -> list[Recording]:
    files: list[Recording] = []
    simulation, keep = outcome.simulation, outcome.checkpoints
    snapshots, observables = scenario.record.snapshots, scenario.record.observables
    parts, done = (None, {}) if keep is None else (keep.folder, keep.position.parts)
    if scenario.record.events:
        files.append(Events(folder, simulation, parts, done.get("events", 0)))
    if snapshots is not None:
        files.append(States(folder, simulation, snapshots, parts, done.get("snapshots", 0)))
    if observables is not None:
        files.append(Curves(folder, simulation, observables, parts, done.get("observables", 0)))
    return files


def _simulate(
    scenario: Scenario,
    outcome: Outcome,
    files: list[Recording],
    progress: Callable[[Simulation[Any]], None] | None,
) -> None:
    keep = outcome.checkpoints
    try:
        with interrupts_noted() as interrupt:

            def watch(simulation: Simulation[Any]) -> None:
                if progress is not None:
                    progress(simulation)
                if keep is not None and (interrupt.is_asked or keep.is_due()):
                    _checkpoint(keep, drive, files)
                interrupt.check()

            sampled = [file for file in files if isinstance(file, Sampled)]
            drive = Drive(outcome.simulation, scenario.run, watch, sampled=sampled)
            if keep is not None:
                drive.is_burnt_in = keep.position.is_burnt_in
                for file in sampled:
                    file.n_taken = keep.position.taken.get(file.name, 0)
            outcome.stopped = _go(drive, files).name.lower()
    except KeyboardInterrupt:
        outcome.stopped = "interrupted"
    except (SimulationError, OutputError) as error:
        outcome.stopped, outcome.error = "failed", error


def _checkpoint(keep: Checkpoints, drive: Drive, files: list[Recording]) -> None:
    """End the parts of the recordings here, and save the state that belongs to them."""
    for file in files:
        file.cut()
    keep.position.parts = {file.name: file.n_parts for file in files}
    keep.position.is_burnt_in = drive.is_burnt_in
    keep.position.taken = {file.name: file.n_taken for file in drive.sampled}
    keep.save(drive.simulation)


def _go(drive: Drive, files: list[Recording]) -> Stop:
    """Burn in, then run to the end, recording into the files that are open."""
    stop = drive.burn_in()
    if stop is Stop.REACHED_EVENTS:
        return stop
    drive.on_events = next((file.write for file in files if isinstance(file, Events)), None)
    return drive.to_end()


def _close(file: Recording, outcome: Outcome) -> None:
    try:
        file.close()
    except OutputError as error:
        file.discard()
        outcome.stopped, outcome.error = "failed", outcome.error or error
    else:
        outcome.files[file.path.name] = file.n_rows


def _film_of(scenario: Scenario) -> Callable[[Simulation[Any], Any, Path], object]:
    """Return what writes a film, as a report is written."""
    film = scenario.preset.film
    if film is None:
        raise InputError(f"the model {scenario.preset.name!r} has no film")
    return lambda simulation, context, path: film(simulation, lambda: scenario.start()[0], path)


def _write_reports(scenario: Scenario, outcome: Outcome, folder: Path, plot: bool, films: Sequence[str]) -> None:
    preset = scenario.preset
    wanted = [(r.file, r.write) for r in preset.reports if getattr(scenario.record, r.name)]
    if plot and preset.plot is not None:
        wanted.append(("plot.png", preset.plot))
    wanted += [(f"film.{kind}", _film_of(scenario)) for kind in films]
    for name, write in wanted:
        try:
            write(outcome.simulation, outcome.context, folder / name)
        except OutputError as error:
            outcome.stopped, outcome.error = "failed", error
            return
        outcome.files[name] = None
