"""A run ten times as long allocates no more."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest

from tocsin import Simulation
from tocsin.models.classic import phold

STATUS = Path("/proc/self/statm")


def resident():
    """Return the bytes of this process that are in memory now."""
    import resource

    return int(STATUS.read_text().split()[1]) * resource.getpagesize()


def growth(action):
    """Return (bytes that Python kept, highest it held, growth of the process) by an action."""
    gc.collect()
    tracemalloc.start()
    before = resident()
    action()
    gc.collect()
    kept, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept, highest, resident() - before


def machine():
    """Return a simulation that has warmed up."""
    simulation = Simulation(phold.MODEL, phold.make_world(1000), seed=1)
    simulation.run(events=100_000)
    return simulation


@pytest.mark.skipif(not STATUS.exists(), reason="reads /proc")
def test_a_longer_run_allocates_no_more():
    """The loop allocates nothing: ten times the events keep and hold what the first run did."""
    simulation = machine()
    growth(lambda: simulation.run(events=1000))
    first = growth(lambda: simulation.run(events=300_000))
    longer = growth(lambda: simulation.run(events=3_000_000))
    page = 4096
    assert longer[0] <= first[0] + page
    assert longer[1] <= first[1] + page
    assert longer[2] <= max(first[2], 0) + 64 * page


@pytest.mark.skipif(not STATUS.exists(), reason="reads /proc")
def test_a_longer_recording_allocates_no_more(tmp_path):
    """Events go to a file batch by batch: ten times the events hold what the first recording did.

    Each batch holds 65,536 events; the first recording is three batches, which sets the bound.
    """
    simulation = machine()

    def record(n_events):
        return lambda: simulation.record_events(events=n_events).to_parquet(tmp_path / "events.parquet")

    growth(record(200_000))
    first = growth(record(200_000))
    longer = growth(record(2_000_000))
    batch = 65_536 * 16
    assert longer[0] <= first[0] + batch
    assert longer[1] <= first[1] + batch
    assert longer[2] <= max(first[2], 0) + 8 * batch


@pytest.mark.skipif(not STATUS.exists(), reason="reads /proc")
def test_longer_snapshots_allocate_no_more(tmp_path):
    """Snapshots go to a file batch by batch."""
    simulation = machine()

    def record(n_snapshots):
        end = simulation.now + 0.01 * n_snapshots
        return lambda: simulation.record(0.01, end, "places").to_parquet(tmp_path / "rows.parquet")

    growth(record(140))
    first = growth(record(140))
    longer = growth(record(1400))
    batch = 65_536 * 28
    assert longer[1] <= first[1] + batch
    assert longer[2] <= max(first[2], 0) + 8 * batch


def test_a_simulation_that_is_dropped_is_freed():
    """Nothing keeps the world of a simulation that nobody holds any more."""
    import weakref

    simulation = machine()
    world = weakref.ref(simulation.world)
    del simulation
    gc.collect()
    assert world() is None
