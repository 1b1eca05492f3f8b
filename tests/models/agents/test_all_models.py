"""Laws that hold for every model of agents: the same seed gives the same bits, however it is run."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin import Simulation

GOLDEN = Path(__file__).parent / "golden.json"
SMALL = {
    "flocking": {"n_birds": 60, "width": 40.0, "height": 40.0}, "forest_fire": {"width": 14, "height": 9},
    "life": {"width": 12, "height": 9}, "schelling": {"width": 12, "height": 9, "n_agents": 90},
    "sir_space": {"n_people": 60, "width": 10.0, "height": 10.0}, "sugarscape": {"width": 12, "height": 10, "n_agents": 40},
    "wealth": {"n_agents": 50}, "wolf_sheep": {"width": 9, "height": 8},
}  # fmt: skip
LARGE = {
    "flocking": {"n_birds": 3000, "width": 200.0, "height": 200.0}, "forest_fire": {"width": 90, "height": 80},
    "life": {"width": 90, "height": 80}, "schelling": {}, "sir_space": {"n_people": 5000, "width": 100.0, "height": 90.0},
    "sugarscape": {"width": 80, "height": 70, "n_agents": 3000}, "wealth": {}, "wolf_sheep": {"width": 40, "height": 30},
}  # fmt: skip
CHILD = """
import importlib, sys
from tocsin import Simulation
module = importlib.import_module("tocsin.models.agents." + sys.argv[1])
simulation = Simulation(module.MODEL, module.make_world(**eval(sys.argv[2])), seed=5, threads=int(sys.argv[3]))
simulation.run(until=200.0)
print(simulation.state_hash())
"""


@pytest.fixture(scope="module", params=sorted(SMALL))
def module(request):
    """Each model in turn."""
    return importlib.import_module(f"tocsin.models.agents.{request.param}")


def ran(module, arguments, until, **options):
    """Return a simulation that has run."""
    simulation = Simulation(module.MODEL, module.make_world(**arguments), seed=5, **options)
    simulation.run(until=until)
    return simulation


def test_two_hundred_ticks_are_those_on_record(module):
    """At 1, 2 and 4 threads 200 ticks end in the state on record (TOCSIN_UPDATE_GOLDEN=1 records it anew)."""
    name = module.MODEL.name
    hashes = {ran(module, LARGE[name], 200.0, threads=n).state_hash() for n in (1, 2, 4)}
    assert len(hashes) == 1
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if os.environ.get("TOCSIN_UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps({**known, name: hashes.copy().pop()}, indent=1, sort_keys=True) + "\n")
        return
    assert hashes == {known[name]}


def test_compiled_interpreted_and_audited_agree(module):
    """Plain Python leaves the same bits, and so does a run whose clocks are all asked again after each event."""
    small = SMALL[module.MODEL.name]
    runs = [ran(module, small, 8.0, **options) for options in ({}, {"jit": False}, {"jit": False, "audit": True})]
    assert len({simulation.state_hash() for simulation in runs}) == 1
    assert len({str(simulation.observe()) for simulation in runs}) == 1


def test_collectors_change_nothing(module):
    """With snapshots, events and observables taken, the run is the one without."""
    small = SMALL[module.MODEL.name]
    plain = ran(module, small, 30.0)
    seen = Simulation(module.MODEL, module.make_world(**small), seed=5)
    n_rows = sum(batch.num_rows for batch in seen.record(every=0.7, until=15.0))
    n_rows += sum(batch.num_rows for batch in seen.record_events(until=30.0))
    seen.observe()
    assert n_rows > 30
    assert seen.state_hash() == plain.state_hash()


def test_saved_copied_and_sliced_go_on_alike(module, tmp_path):
    """A run in pieces, from a save or a copy half way, ends as the run in one go."""
    small = SMALL[module.MODEL.name]
    half = ran(module, small, 12.5)
    half.save(tmp_path / "half")
    others = [half.copy(), Simulation.load(tmp_path / "half", module.MODEL), half]
    for other in others:
        for _ in range(7):
            other.run(events=1)
        other.run(until=30.0)
    assert {other.state_hash() for other in others} == {ran(module, small, 30.0).state_hash()}


@pytest.mark.slow
def test_another_process_agrees(module):
    """200 ticks in a fresh process with another number of threads end in the same state."""
    name = module.MODEL.name
    arguments = [sys.executable, "-c", CHILD, name, repr(LARGE[name]), "3"]
    said = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=300)
    assert said.stdout.strip() == json.loads(GOLDEN.read_text())[name]
