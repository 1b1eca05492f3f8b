"""Lifetimes and processivity: event by event against a loop by hand, and against their laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.errors import InputError
from tocsin.models.extrusion import MODEL, make_fibre
from tocsin.models.extrusion.analysis import LifetimeTally, draw_lifetimes, lifetimes_of, write_lifetimes

N_LEFS = 8


def crowded(seed: int = 1) -> Simulation:
    """LEFs among CTCF sites, which evict some."""
    ctcfs = np.arange(20, 400, 40)
    sides = ["left", "right"] * 5
    fibre = make_fibre(400, N_LEFS, ctcf_sites=ctcfs, captures_from=sides, strength=0.7, seed=seed)
    return Simulation(MODEL, fibre, seed=seed)


def by_hand(simulation: Simulation, until: float):
    """Step through the run and note (duration, loop size, LEF, evicted, time) at each unloading."""
    rows, landed, world = [], np.zeros(N_LEFS), simulation.world
    while simulation.next_event().time <= until:
        before = world.legs["site"].copy()
        event = simulation.step()
        if event.action != "Step":
            lef = event.index if event.action == "Respawn" else int(world.legs["lef"][event.index])
            size = before[world.lefs["right"][lef]] - before[world.lefs["left"][lef]]
            rows.append((event.time - landed[lef], size, lef, event.action == "Evict", event.time))
            landed[lef] = event.time
    return rows


def test_equal_a_loop_by_hand() -> None:
    """Durations, extruded sites, LEFs and ends are those seen stepping through; time bound is all time."""
    found = lifetimes_of(crowded(), until=2_000.0)
    rows = by_hand(crowded(), 2_000.0)
    assert len(found) == len(rows) > 50
    assert found.duration.tolist() == [row[0] for row in rows]
    assert found.extruded.tolist() == [row[1] for row in rows]
    assert found.lef.tolist() == [row[2] for row in rows]
    assert found.is_evicted.tolist() == [row[3] for row in rows]
    assert found.is_evicted.any()
    assert found.time_bound.tolist() == pytest.approx([N_LEFS * 2_000.0])
    assert found.mean == pytest.approx([N_LEFS * 2_000.0 / len(rows)])


def test_batches_compose() -> None:
    """Many small recordings, one after another, give the lifetimes of one long one."""
    whole, simulation = lifetimes_of(crowded(), until=1_000.0), crowded()
    tally = LifetimeTally(simulation)
    for k in range(1, 101):
        for batch in simulation.record_events(until=10.0 * k):
            tally.add(batch)
    parts = tally.result()
    assert np.array_equal(parts.duration, whole.duration)
    assert np.array_equal(parts.extruded, whole.extruded)


def test_what_began_before_is_left_out() -> None:
    """Started in the middle of a run, the first unloading of each LEF counts, but has no known length."""
    simulation = crowded()
    simulation.run(until=500.0)
    found = lifetimes_of(simulation, until=2_000.0)
    late = [row for row in by_hand(crowded(), 2_000.0) if row[4] > 500.0]
    assert found.n_unloaded.sum() == len(late)
    assert len(late) - len(found) == len({row[2] for row in late})
    assert found.duration.tolist() == [row[0] for row in late if row[4] - row[0] > 500.0]
    assert found.time_bound.tolist() == pytest.approx([N_LEFS * 1_500.0])


def test_a_free_lef_lives_exponentially() -> None:
    """A LEF that meets nothing: mean life 1/respawn, mean extrusion 2 step/respawn, both exponential-like."""
    respawn = 0.05
    fibre = make_fibre(20_000, 20, rates={"respawn": respawn, "respawn_blocked": respawn}, seed=2)
    found = lifetimes_of(Simulation(MODEL, fibre, seed=2), until=8_000.0)
    n = found.n_unloaded[0]
    assert abs(found.mean[0] * respawn - 1) < 4.5 / np.sqrt(n)
    assert abs(found.duration.mean() * respawn - 1) < 4.5 / np.sqrt(len(found)) + 1 / (respawn * 8_000.0)
    spread = np.sqrt((2 / respawn) ** 2 + 2 / respawn)  # a geometric number of steps
    assert abs(found.extruded.mean() - 2 / respawn) < 4.5 * spread / np.sqrt(len(found)) + 2 / respawn / 400
    longer = (found.duration > 2 / respawn).mean()
    wanted = np.exp(-2)
    assert abs(longer - wanted) < 4.5 * np.sqrt(wanted * (1 - wanted) / len(found)) + 1 / 400


def test_file_and_picture(tmp_path: Path) -> None:
    """The table has a row a lifetime; times read back to the same bits."""
    found = lifetimes_of(crowded(), until=1_000.0)
    write_lifetimes(tmp_path / "l.tsv", found)
    header, *rows = (tmp_path / "l.tsv").read_text().splitlines()
    assert header == "lef\tspecies\tduration\textruded\tend"
    assert [float(row.split("\t")[2]) for row in rows] == found.duration.tolist()
    assert sum(row.endswith("evicted") for row in rows) == found.is_evicted.sum()
    draw_lifetimes(tmp_path / "l.png", found)
    assert (tmp_path / "l.png").stat().st_size > 1000


def test_refuses(tmp_path: Path) -> None:
    """No lifetime to draw, and a model that has none."""
    none = lifetimes_of(crowded(), until=1e-6)
    assert len(none) == 0
    assert none.mean.tolist() == [np.inf]
    with pytest.raises(InputError, match="no lifetime to draw"):
        draw_lifetimes(tmp_path / "l.png", none)
