"""The same loop as WebAssembly: how much of native speed is left, in wasmtime and in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from tocsin.cli._benchmarks._clocks import PHOLD, Clocks
from tocsin.cli._benchmarks._comparison import Comparison, alternated, faster, require, speed
from tocsin.errors import SimulationError
from tocsin.run import Simulation

GOAL = 0.6
EVENTS, WARM_UP = 1_000_000, 300_000
NODE = """
const { Engine } = require(process.argv[1]), fs = require("fs"), folder = process.argv[2];
const config = JSON.parse(fs.readFileSync(folder + "/config.json"));
Engine.make(config, fs.readFileSync(folder + "/code"), new Uint8Array(fs.readFileSync(folder + "/image"))).then((engine) => {
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const before = process.cpuUsage(), start = engine.nEvents;
    engine.run(Infinity, Number(line));
    const { user, system } = process.cpuUsage(before);
    console.log(JSON.stringify([engine.nEvents - start, (user + system) / 1e6, engine.now]));
  });
});
"""


def wasm() -> Iterator[Comparison]:
    """WebAssembly against native: extrusion and PHOLD, in Node (if it is there) and in wasmtime."""
    for name, make in _cases():
        if shutil.which("node"):
            yield _compared(f"{name}, Node", make(), _in_node)
        require("wasmtime", "wasmtime")
        yield _compared(f"{name}, wasmtime", make(), _in_wasmtime)


def _cases() -> Iterator[tuple[str, Callable[[], Simulation[Any]]]]:
    from tocsin.cli._subject import find_subject

    subject = find_subject("extrusion")
    yield "extrusion", lambda: Simulation(subject.model, subject.world, seed=1)
    for n in (1_000, 100_000):
        yield f"PHOLD, {n:,} clocks", lambda n=n: Simulation(PHOLD, Clocks(clocks=n), seed=1)  # type: ignore[misc]


Host = Callable[[Simulation[Any]], Callable[[int], tuple[float, float]]]
"""Gives, for a simulation, a function of a number of events: (CPU seconds, time reached)."""


def _compared(name: str, simulation: Simulation[Any], host: Host) -> Comparison:
    run = host(simulation)
    run(WARM_UP)
    simulation.run(events=WARM_UP)

    def native() -> float:
        return speed(lambda: simulation.run(events=EVENTS).n_events)

    def module() -> float:
        seconds, now = run(EVENTS)
        ahead.append(now)
        return EVENTS / seconds

    ahead: list[float] = []
    theirs, ours = alternated(native, module)
    if ahead[-1] != simulation.now:
        raise SimulationError(f"{name}: the module is at t={ahead[-1]!r}, native at t={simulation.now!r}; no figure")
    return faster(f"{name} against native", ours, theirs, GOAL)


def _in_wasmtime(simulation: Simulation[Any]) -> Callable[[int], tuple[float, float]]:
    from tocsin.export._host import WasmHost

    host = WasmHost(simulation)

    def run(events: int) -> tuple[float, float]:
        per_second = speed(lambda: (host.run(events=events), events)[1])
        return events / per_second, host.state().now

    return run


def _in_node(simulation: Simulation[Any]) -> Callable[[int], tuple[float, float]]:
    from tocsin.export import export_module
    from tocsin.export.marks import View
    from tocsin.view._describe import description

    program = export_module(simulation)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(description(simulation, program, View())))
        Path(folder, "code").write_bytes(program.code)
        Path(folder, "image").write_bytes(program.image.data)
        engine = resources.files("tocsin.view") / "static" / "engine.js"
        command = [shutil.which("node") or "node", "-e", NODE, str(engine), folder]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        run = _asker(child)
        run(0)  # it has read the files
    return run


def _asker(child: subprocess.Popen[str]) -> Callable[[int], tuple[float, float]]:
    def run(events: int) -> tuple[float, float]:
        if child.stdin is None or child.stdout is None:
            raise SimulationError("Node has no input or output")
        child.stdin.write(f"{events}\n")
        child.stdin.flush()
        n_events, seconds, now = json.loads(child.stdout.readline())
        if n_events != events:
            raise SimulationError(f"the module in Node fired {n_events} events, expected {events}")
        return seconds, now

    return run
