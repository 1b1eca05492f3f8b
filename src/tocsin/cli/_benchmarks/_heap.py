"""The C peer of the queue benchmarks (heap.c): compiled when it is needed, one process a case."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

from tocsin.cli._benchmarks._comparison import check_events
from tocsin.errors import InputError, SimulationError

FLAGS = ("-O3", "-march=native")


class Fired(NamedTuple):
    """What one request to the C program did."""

    n_events: int
    cpu_seconds: float
    now: float
    n_queued: int


class Heap:
    """One running C program: a case with its n clocks, in the state that it has reached."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, n_events: int) -> Fired:
        """Fire events. Raises SimulationError if the program fired others than asked for."""
        if self._process.stdin is None or self._process.stdout is None:
            raise SimulationError("the C heap has no pipes")
        with suppress(BrokenPipeError):  # then it has ended, which the next line tells
            self._process.stdin.write(f"{n_events}\n")
            self._process.stdin.flush()
        words = self._process.stdout.readline().split()
        if len(words) != 4:
            raise SimulationError("the C heap of the benchmark ended early")
        fired = Fired(int(words[0]), float(words[1]), float(words[2]), int(words[3]))
        check_events(fired.n_events, n_events, "the C heap")
        return fired

    def speed(self, n_events: int) -> float:
        """Fire events; return how many a CPU second of the event loop."""
        return n_events / max(self.run(n_events).cpu_seconds, 1e-9)


@contextmanager
def compiled() -> Iterator[Path]:
    """Compile heap.c for this machine into a folder that goes away. Raises InputError without gcc."""
    with tempfile.TemporaryDirectory() as folder, as_file(files(__package__) / "heap.c") as source:
        program = Path(folder) / "heap"
        try:
            command = ["gcc", *FLAGS, "-o", str(program), str(source), "-lm"]
            subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        except FileNotFoundError:
            raise InputError("this benchmark needs gcc, which is not here; install a C compiler") from None
        except subprocess.CalledProcessError as error:
            raise InputError(f"gcc could not compile heap.c: {error.stderr}") from None
        yield program


@contextmanager
def started(program: Path, case: str, n: int) -> Iterator[Heap]:
    """Start the program on one case; it ends with the block."""
    pipe = subprocess.PIPE
    with subprocess.Popen([program, case, str(n)], stdin=pipe, stdout=pipe, text=True) as process:  # noqa: S603
        try:
            yield Heap(process)
        finally:
            process.terminate()
            if process.stdin is not None:
                with suppress(BrokenPipeError):
                    process.stdin.close()
