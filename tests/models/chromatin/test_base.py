"""With all options off, chromatin goes through the events of `tocsin.models.extrusion`, bit for bit."""

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.models import extrusion
from tocsin.models.chromatin import BARE, MODEL, LefSpecies, chromatin_of, make_chromatin
from tocsin.models.chromatin.world import CAPTURED

RATES = {"step": 1.0, "respawn": 0.02, "respawn_blocked": 0.07, "respawn_captured": 0.03}
SETUPS = {
    # name: (sites, LEFs, CTCFs, rates)
    "no CTCF": (300, 12, 0, RATES),
    "crowded": (40, 10, 12, RATES),
    "all sites taken but one": (21, 10, 2, RATES),
    "other rates": (120, 9, 20, {"step": 3.0, "respawn": 0.3, "respawn_blocked": 0.04, "respawn_captured": 0.6}),
    "defaults": (500, 20, 25, {}),
    "nobody": (10, 0, 3, {}),
}


def both(name, seed, *, species=None):
    """Return the same set-up in both models."""
    n_sites, n_lefs, n_ctcfs, rates = SETUPS[name]
    rng = np.random.default_rng(seed)
    ctcfs = {
        "ctcf_sites": rng.choice(n_sites, n_ctcfs, replace=False),
        "captures_from": rng.choice([-1, 1], n_ctcfs),
        "strength": rng.choice([0.0, 0.3, 0.8, 1.0], n_ctcfs),
    }
    fibre = extrusion.make_fibre(n_sites, n_lefs, rates=rates, seed=seed, **ctcfs)
    species = [LefSpecies(**rates)] if species is None else species
    return fibre, make_chromatin(n_sites, n_lefs, species=species, seed=seed, **ctcfs)


def times(simulation):
    """Return the pending times of Step, Evict and Respawn of every row."""
    kernel, world, found = simulation._kernel, simulation.world, []
    for state, n in zip(kernel.actions.rows[:3], (len(world.legs), len(world.legs), len(world.lefs)), strict=True):
        found.append(kernel.clocks["time"][state["base"] + np.arange(n) * state["stride"]])
    return np.concatenate(found)


def same(base, wide):
    """Assert that both stand at the same time in the same state, with the same clocks pending."""
    assert (base.now, base.n_events) == (wide.now, wide.n_events)
    assert list(base.counts.values()) == list(wide.counts.values())[:3]
    assert np.array_equal(base.world.legs["site"], wide.world.legs["site"])
    assert np.array_equal(base.world.legs["captured"], wide.world.legs["state"] == CAPTURED)
    assert np.array_equal(base.world.sites["leg"], wide.world.sites["leg"])
    assert np.array_equal(times(base), times(wide))


@pytest.mark.parametrize("method", ["next-reaction", "composition-rejection"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", SETUPS)
def test_the_same_events_as_the_base_model(name, seed, method):
    """Positions, captures, times and pending times are equal at every stop, and so are the averages."""
    fibre, chromatin = both(name, seed)
    base = Simulation(extrusion.MODEL, fibre, seed=seed, method=method)
    wide = Simulation(MODEL, chromatin, seed=seed, method=method)
    for events in (0, 1, 10, 500, 2000, 4000):
        for simulation in (base, wide):
            simulation.run(events=events)
        same(base, wide)
    ours, theirs = wide.observe(), base.observe()
    for name in theirs:
        assert ours[name].value == theirs[name].value
        assert np.isclose(ours[name].mean, theirs[name].mean, rtol=1e-9, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETUPS)
def test_the_bare_model_goes_the_same_way(name):
    """With nothing observed, the events are the same, over 100,000 of them."""
    fibre, chromatin = both(name, 5)
    base, bare = Simulation(extrusion.MODEL, fibre, seed=5), Simulation(BARE, chromatin, seed=5)
    for simulation in (base, bare):
        simulation.run(events=100_000)
    same(base, bare)


@pytest.mark.parametrize("name", ["crowded", "other rates"])
def test_species_with_equal_rates_are_one_species(name):
    """Three species of equal rates go through the same events as one: they differ in name only."""
    rates = SETUPS[name][3]
    species = [LefSpecies(name=word, share=share, **rates) for word, share in (("a", 1.0), ("b", 2.5), ("c", 0.4))]
    fibre, chromatin = both(name, 3, species=species)
    assert len(set(chromatin.lefs["species"].tolist())) == 3
    base, wide = Simulation(extrusion.MODEL, fibre, seed=1), Simulation(MODEL, chromatin, seed=1)
    for simulation in (base, wide):
        simulation.run(events=20_000)
    same(base, wide)


def test_sites_of_a_file_make_the_same_chromatin():
    """The shipped map gives the events of the base model."""
    sites = extrusion.read_example(resolution=5000)
    base = Simulation(extrusion.MODEL, extrusion.fibre_of(sites, 200, seed=4), seed=4)
    wide = Simulation(MODEL, chromatin_of(sites, 200, seed=4), seed=4)
    for simulation in (base, wide):
        simulation.run(events=20_000)
    same(base, wide)
