"""A state that is copied from the last one of its model is the state that would be made afresh."""

from __future__ import annotations

import pytest

from tocsin import Simulation
from tocsin.kernel import _assemble
from tocsin.models.classic.mm1 import MODEL, Rates, make_world
from tocsin.models.extrusion import make_fibre
from tocsin.models.extrusion.model import MODEL as EXTRUSION


def memory(kernel):
    """Return all of a kernel's state but for the addresses of rows."""
    tables = {name: kernel.__dict__[name].rows for name in kernel.schema().tables() if name != "actions"}
    actions = {name: kernel.actions[name].tolist() for name in kernel.actions.schema.fields if name != "rows_at"}
    arrays = {name: kernel.__dict__[name].values for name in kernel.schema().arrays}
    counts = {name: kernel.__dict__[name]._counts[1:].tolist() for name in kernel.schema().tables()}
    return {
        **{name: (part.shape, part.tobytes()) for name, part in {**tables, **arrays}.items()},
        "actions": actions, "globals": kernel._globals.tobytes(), "counts": counts,
    }  # fmt: skip


WORLDS = {
    "mm1": (MODEL, lambda: make_world(rates=Rates(arrival=0.5))),
    "extrusion": (EXTRUSION, lambda: make_fibre(50, 4, ctcf_sites=[10], captures_from="right")),
    "extrusion, larger": (EXTRUSION, lambda: make_fibre(60, 5)),
}
OPTIONS = [{}, {"start": 3.0}, {"audit": True}, {"source": "pcg64"}, {"method": "composition-rejection"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", WORLDS)
def test_a_copied_state_is_a_fresh_one(monkeypatch, name, options):
    """Whatever was made before: the same, another size, another start, audit, source or method."""
    model, make = WORLDS[name]

    def state(**chosen):
        return memory(Simulation(model, make(), seed=7, jit=False, **chosen)._kernel)

    monkeypatch.setattr(_assemble, "_last", {})
    fresh = state(**options)
    for before in (options, *OPTIONS):
        state(**before)
        assert state(**options) == fresh


def test_a_copied_state_points_at_its_own_rows_and_is_not_kept():
    """Addresses are those of the simulation's world; what one simulation does, the next does not see."""
    first, second = (Simulation(EXTRUSION, make_fibre(50, 4), seed=1) for _ in range(2))
    at = {m.code: n for n, m in enumerate(EXTRUSION.actions)}
    for simulation in (first, second):
        for entity, table in zip(EXTRUSION.schema.entities, simulation.world._tables.values(), strict=True):
            if entity.code in at:
                assert simulation._kernel.actions["rows_at"][at[entity.code]] == table.rows.ctypes.data
    first.run(until=5.0)
    third = Simulation(EXTRUSION, make_fibre(50, 4), seed=1)
    assert memory(third._kernel) == memory(second._kernel)
    third.run(until=5.0)
    assert third.state_hash() == first.state_hash()


def test_large_worlds_are_not_kept(monkeypatch):
    """A pattern of many clocks would hold memory that no one asked for."""
    monkeypatch.setattr(_assemble, "_last", {})
    monkeypatch.setattr(_assemble, "MOST_KEPT", 8)
    Simulation(EXTRUSION, make_fibre(50, 4), jit=False)
    assert _assemble._last == {}
