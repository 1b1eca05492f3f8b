"""Ticks of synchronous systems inside a module: the same bits as many threads of this machine."""

from __future__ import annotations

import pytest

from tocsin import Simulation
from tocsin.cli._subject import find_subject
from tocsin.export._host import WasmHost
from tocsin.export._module import with_room

from ..agents import _bugs, test_messages


def both(simulation: Simulation, until: float, room: int = 0) -> tuple[str, str]:
    """Return the state hashes of a native run with three threads and of a module."""
    simulation = with_room(simulation, room)
    simulation.threads = 3
    host = WasmHost(simulation)
    stop = host.run(until=until)
    assert simulation.run(until=until).stopped == stop
    found = host.state()
    assert found.counts == simulation.counts
    assert str(found.observe()) == str(simulation.observe())
    return simulation.state_hash(), found.state_hash()


@pytest.mark.parametrize("breed", [False, True])
def test_births_deaths_alarms_and_observed_rows(breed: bool) -> None:
    """Rows that are spawned, removed, touched and observed, over several blocks of rows."""
    native, wasm = both(Simulation(_bugs.MODEL, _bugs.nest(3000, breed), seed=11), 6.0, room=30_000)
    assert native == wasm


def test_messages_spaces_and_reductions() -> None:
    """Notes are emptied, sent, sorted into buckets and cells, and summed in blocks."""
    native, wasm = both(Simulation(test_messages.MODEL, test_messages.net(5000), seed=3), 3.0, room=40_000)
    assert native == wasm


def test_many_rows_are_visited_by_place() -> None:
    """So many birds that they are listed by cell: no bit differs."""
    subject = find_subject(
        "flocking", [(("init", "n_birds"), 60_000), (("init", "width"), 600.0), (("init", "height"), 600.0)]
    )
    native, wasm = both(Simulation(subject.model, subject.world, seed=3), 2.0)
    assert native == wasm


def test_a_tick_without_rows_changes_nothing() -> None:
    """No bugs at all, then one."""
    for n in (0, 1):
        native, wasm = both(Simulation(_bugs.MODEL, _bugs.nest(n, True), seed=1), 4.0, room=64)
        assert native == wasm


def test_a_state_taken_from_the_module_goes_on_natively() -> None:
    """Half of the ticks there, half here."""
    simulation = Simulation(_bugs.MODEL, _bugs.nest(500, True), seed=2)
    host = WasmHost(simulation, room=4096)
    host.run(until=3.0)
    taken = host.state()
    taken.run(until=5.0)
    simulation.run(until=5.0)
    assert taken.state_hash() == with_room(simulation, 4096).state_hash()
