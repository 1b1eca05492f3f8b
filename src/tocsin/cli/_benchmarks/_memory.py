"""Peak memory of a recorded run, and of one ten times as long."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tocsin.cli._benchmarks._children import needs_linux, run
from tocsin.cli._benchmarks._comparison import Comparison, alternated, check_events
from tocsin.errors import SimulationError

N_CLOCKS, EVENTS, LONGER, ROUNDS = 10_000, 1_000_000, 10, 3
GOAL = 0.95
"""Peaks of equal runs differ by some megabytes in a hundred or so."""
_RECORDED = """
import sys
from pathlib import Path
from tocsin.cli._benchmarks._clocks import PHOLD, Clocks
from tocsin.run import Simulation
n_clocks, n_events, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
simulation = Simulation(PHOLD, Clocks(clocks=n_clocks), seed=1)
print(simulation.record_events(events=n_events).to_parquet(path))
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")))
"""


def memory() -> Iterator[Comparison]:
    """Peak memory of recording all events to Parquet, and of a run ten times as long."""
    needs_linux()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        _peak(path, EVENTS)  # compiles
        long, short = alternated(lambda: _peak(path, LONGER * EVENTS), lambda: _peak(path, EVENTS), ROUNDS)
    ratios = tuple(before / after for after, before in zip(long, short, strict=True))
    yield Comparison(
        f"peak memory, {LONGER} times the events", statistics.median(long), statistics.median(short), "MB", GOAL, ratios
    )


def _peak(path: Path, n_events: int) -> float:
    """Return the peak memory in MB of a process that records so many events."""
    n_rows, peak_kb = map(int, run(_RECORDED, str(N_CLOCKS), str(n_events), str(path)).split())
    check_events(n_rows, n_events, "the recorded run")
    if not path.stat().st_size > n_events:
        raise SimulationError(f"{path} is too small to hold {n_events} events")
    return peak_kb / 1024
