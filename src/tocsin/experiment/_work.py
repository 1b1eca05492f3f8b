"""One run, wherever it happens: from the plan's plain values to one row of plain values."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tocsin.errors import SimulationError, TocsinError
from tocsin.experiment._plan import Job, Run
from tocsin.run import Simulation
from tocsin.scenario import AnyPreset, Scenario, execute, find_preset, prepare_folder, summarise, write_summary
from tocsin.scenario._drive import Drive

Row = dict[str, Any]
"""candidate, replicate, seed, stop, error, time, n_events, state_hash, wall_seconds, cpu_seconds, metrics by name."""
FAILED, REFUSED, KILLED = "failed", "refused", "killed"
"""What `stop` says beside the reasons of a run that went well."""
_STATISTICS = ("value", "mean", "variance", "low", "high")
_COLUMNS = (
    "candidate", "replicate", "seed", "stop", "error", "time", "n_events", "state_hash", "wall_seconds", "cpu_seconds",
)  # fmt: skip
_lock = threading.Lock()
_presets: dict[tuple[str, str], AnyPreset] = {}


class Stopped(BaseException):
    """The experiment was interrupted while this run was under way."""


def run_one(job: Job, run: Run, is_stopped: Callable[[], bool] = lambda: False) -> Row:
    """Run one replicate of one candidate and return its row; whatever goes wrong is said in it.

    `is_stopped` is asked some times a second; raises Stopped when it says so.
    """
    wall, cpu = time.perf_counter(), time.thread_time()
    row = empty_row(run)
    try:
        scenario = job.scenario(run, _preset(job))
        _simulate(scenario, row, job, run, is_stopped)
    except SimulationError as error:
        row["stop"], row["error"] = FAILED, str(error)
    except TocsinError as error:
        row["stop"], row["error"] = REFUSED, str(error)
    except (Exception, RecursionError) as error:  # a user's own function may raise anything
        row["stop"], row["error"] = FAILED, f"{type(error).__name__}: {error}"
    row["wall_seconds"], row["cpu_seconds"] = time.perf_counter() - wall, time.thread_time() - cpu
    return row


def empty_row(run: Run) -> Row:
    """Return the row of a run of which nothing is known yet."""
    return {
        "candidate": run.candidate, "replicate": run.replicate, "seed": run.seed, "stop": "", "error": None,
        "time": None, "n_events": None, "state_hash": None, "wall_seconds": None, "cpu_seconds": None, "metrics": {},
    }  # fmt: skip


def _preset(job: Job) -> AnyPreset:
    """Return the model of a job; a user's file is read once a process."""
    key = (str(job.values["model"]), str(Path(job.file).parent))
    with _lock:
        if key not in _presets:
            _presets[key] = find_preset(key[0], Path(key[1]))
        return _presets[key]


def _simulate(scenario: Scenario, row: Row, job: Job, run: Run, is_stopped: Callable[[], bool]) -> None:
    def watch(simulation: Simulation[Any]) -> None:
        if is_stopped():
            raise Stopped

    if job.keep:
        _recorded(scenario, row, Path(job.folder) / "runs" / f"{run.candidate:06}-{run.replicate:06}", watch)
        return
    simulation, context = scenario.start()
    drive = Drive(simulation, scenario.run, watch)
    drive.burn_in()
    row["stop"] = drive.to_end().name.lower()
    _measure(scenario, simulation, context, row)


def _recorded(scenario: Scenario, row: Row, folder: Path, watch: Any) -> None:
    """Run with all recordings, into a folder of its own."""
    prepare_folder(folder)
    outcome = execute(scenario, folder, progress=watch)
    write_summary(folder, summarise(scenario, outcome))
    if outcome.error is not None:
        raise outcome.error
    row["stop"] = outcome.stopped
    _measure(scenario, outcome.simulation, outcome.context, row)


def _measure(scenario: Scenario, simulation: Simulation[Any], context: Any, row: Row) -> None:
    row["time"], row["n_events"], row["state_hash"] = simulation.now, simulation.n_events, simulation.state_hash()
    metrics = row["metrics"]
    for name, seen in simulation.observe().items():
        metrics |= {f"{name}.{part}": getattr(seen, part) for part in _STATISTICS}
    metrics |= {f"n.{name}": float(n) for name, n in simulation.counts.items()}
    if scenario.preset.summarise is not None:
        metrics |= _numbers(scenario.preset.summarise(simulation, context))


def _numbers(found: Mapping[str, Any]) -> dict[str, float]:
    """Keep what is a number: text is the same in all runs, or of no use in a table of numbers."""
    plain = {str(name): value.item() if hasattr(value, "item") else value for name, value in found.items()}
    return {_free(name): float(value) for name, value in plain.items() if isinstance(value, (int, float))}


def _free(name: str) -> str:
    """Keep a model's own number apart from the columns that every row has."""
    return f"summary.{name}" if name in _COLUMNS else name
