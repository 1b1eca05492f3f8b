"""What it costs to begin: importing the package, and the first and second run of a scenario."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tocsin.cli._benchmarks._children import cpu_seconds, run
from tocsin.cli._benchmarks._comparison import ROUNDS, Comparison, within
from tocsin.errors import InputError, SimulationError

IMPORT_LIMIT, COLD_LIMIT, WARM_LIMIT = 0.25, 10.0, 1.0
SCENARIO = Path("scenarios") / "extrusion-chr21.toml"
UNTIL = 100.0
COLD_ROUNDS = 3
_CLI = "from tocsin.cli import main; main()"
_TO_FIRST_EVENT = """
import os, sys, time
from tocsin.run._driver import Driver
def begin(*args, **kwargs):
    print(time.process_time(), flush=True)
    os._exit(0)
Driver.advance = begin
from tocsin.cli import main
main()
"""


def import_() -> Iterator[Comparison]:
    """CPU seconds of `python -c "import tocsin"`, the interpreter's own start included."""
    code = "import tocsin"
    cpu_seconds(code)  # the first one writes bytecode
    yield within(code, [cpu_seconds(code) for _ in range(ROUNDS)], IMPORT_LIMIT, "CPU s")


def cold() -> Iterator[Comparison]:
    """CPU seconds that compiling adds to the first `tocsin run`; those before a warm one simulates."""
    if not SCENARIO.exists():
        raise InputError(f"this benchmark runs {SCENARIO}, which is not here; run it from a checkout of Tocsin")
    first, later = [], []
    for _ in range(COLD_ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            cold_cpu = _whole_run(Path(folder))
            entries = _entries(Path(folder))
            first.append(cold_cpu - _whole_run(Path(folder)))
            later.append(_to_first_event(Path(folder)))
            if not entries or _entries(Path(folder)) != entries:
                raise SimulationError("the second run compiled again: were Tocsin's files changed meanwhile?")
    yield within("first run less a second one", first, COLD_LIMIT, "CPU s")
    yield within("second run until it simulates", later, WARM_LIMIT, "CPU s")


def _arguments(folder: Path) -> list[str]:
    return ["run", str(SCENARIO), "--set", "run.burn_in=0.0", "--until", str(UNTIL), "--out", str(folder / "out")]


def _environment(folder: Path) -> dict[str, str]:
    return {"TOCSIN_CACHE_DIR": str(folder / "cache")}


def _entries(folder: Path) -> set[str]:
    return {entry.name for entry in (folder / "cache").iterdir()}


def _whole_run(folder: Path) -> float:
    spent = cpu_seconds(_CLI, *_arguments(folder), env=_environment(folder))
    if not (folder / "out" / "summary.json").exists():
        raise SimulationError("the run of the benchmark wrote no summary")
    return spent


def _to_first_event(folder: Path) -> float:
    return float(run(_TO_FIRST_EVENT, *_arguments(folder), env=_environment(folder)))
