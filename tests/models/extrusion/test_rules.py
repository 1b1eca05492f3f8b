"""Every rule of loop extrusion, each in a scene built by hand; what no fibre may be is refused."""

import numpy as np
import pytest

from tocsin import InputError, Simulation
from tocsin.kernel._loop import ring
from tocsin.models.extrusion import Fibre, Rates, fibre_from_legs, make_fibre
from tocsin.models.extrusion.model import ACTIONS, OBSERVABLES

from ...oracle.extrusion import NotingModel, stale, violations

RATES = {"step": 2.0, "respawn": 0.01, "respawn_blocked": 0.05, "respawn_captured": 0.002}


class Scene:
    """Legs and CTCFs put by hand: what the clocks are set to, and what one event changes."""

    def __init__(self, n_sites, *lefs, ctcfs=None, captured=(), seed=0):
        """`lefs` are (left, right), `ctcfs` {site: (captures_from, strength)}, `captured` leg numbers."""
        ctcfs = ctcfs or {}
        held = np.isin(np.arange(2 * len(lefs)), captured).reshape(-1, 2)
        fibre = fibre_from_legs(
            n_sites, np.array(list(ctcfs), int), [s for s, _ in ctcfs.values()], [p for _, p in ctcfs.values()],
            [left for left, _ in lefs], [right for _, right in lefs],
            captured_left=held[:, 0], captured_right=held[:, 1], rates=RATES,
        )  # fmt: skip
        model = NotingModel(Fibre, ACTIONS, observables=OBSERVABLES, tie="entity")
        self.run = Simulation(model, fibre, seed=seed, jit=False)
        self.run.next_event()
        assert stale(self.run) == []

    def rates(self, lef):
        """Return the rates of a LEF: Step and Evict of its left leg, of its right leg, Respawn."""
        drawn = self.run.model.drawn
        return (*(drawn[kind, 2 * lef + k] for k in (0, 1) for kind in ("Step", "Evict")), drawn["Respawn", lef])

    def fire(self, kind, row):
        """Make a clock ring now."""
        kernel, number = self.run._kernel, self.run.model.action_number(kind)
        state = kernel.actions[number]
        assert ring(self.run.model, self.run.world, kernel, state.base + row * state.stride, self.run.now)
        assert stale(self.run) == []
        assert violations(self.run.world, len(self.run.world.lefs)) == []

    @property
    def legs(self):
        """Positions of all legs."""
        return self.run.world.legs["site"].tolist()

    @property
    def captured(self):
        """Numbers of the captured legs."""
        return np.flatnonzero(self.run.world.legs["captured"]).tolist()

    @property
    def blocked(self):
        """Numbers of the blocked legs."""
        world = self.run.world
        return [k for k in range(len(world.legs)) if world.is_blocked(world.legs[k])]


def test_free_legs_step_at_rate_step():
    """A leg with an empty plain site ahead steps at rate step and is never evicted."""
    assert Scene(9, (3, 5)).rates(0) == (2.0, 0.0, 2.0, 0.0, 0.01)


def test_a_facing_ctcf_ahead_is_free_way():
    """A CTCF that the leg would meet from its capture side does not slow the leg, whatever its strength."""
    for strength in (0.0, 0.4, 1.0):
        scene = Scene(9, (3, 5), ctcfs={2: ("right", strength), 6: ("left", strength)})
        assert scene.rates(0) == (2.0, 0.0, 2.0, 0.0, 0.01)


def test_a_bare_ctcf_met_from_behind_lets_by_or_evicts():
    """From behind, a leg steps at (1 - p) step and is evicted at p step; its LEF is not blocked."""
    scene = Scene(9, (3, 5), ctcfs={2: ("left", 0.25), 6: ("right", 0.75)})
    assert scene.rates(0) == (1.5, 0.5, 0.5, 1.5, 0.01)
    assert scene.blocked == []


@pytest.mark.parametrize(("strength", "rates"), [(0.0, (2.0, 0.0)), (1.0, (0.0, 2.0))])
def test_a_coin_of_zero_or_one_stops_the_other_clock(strength, rates):
    """From behind, strength 0 never evicts and strength 1 never lets by."""
    scene = Scene(9, (3, 5), ctcfs={2: ("left", strength), 6: ("right", strength)})
    assert scene.rates(0) == (*rates, *rates, 0.01)


def test_a_leg_ahead_blocks():
    """A leg before another leg does not move, and its LEF unloads at respawn_blocked."""
    scene = Scene(9, (1, 4), (5, 7))
    assert scene.rates(0) == (2.0, 0.0, 0.0, 0.0, 0.05)
    assert scene.rates(1) == (0.0, 0.0, 2.0, 0.0, 0.05)
    assert scene.blocked == [1, 2]


def test_lattice_ends_block():
    """A leg at an end that faces out stays there and counts as blocked."""
    scene = Scene(9, (0, 4), (6, 8))
    assert (scene.rates(0)[0], scene.rates(1)[2]) == (0.0, 0.0)
    assert (scene.rates(0)[4], scene.rates(1)[4]) == (0.05, 0.05)
    assert scene.blocked == [0, 3]


def test_a_captured_leg_stays_and_protects_its_partner():
    """Captured: no step, no evict; its partner passes a bare CTCF from behind at full rate."""
    scene = Scene(9, (2, 5), ctcfs={2: ("right", 0.5), 6: ("right", 0.75)}, captured=[0])
    assert scene.rates(0) == (0.0, 0.0, 2.0, 0.0, 0.002)


def test_a_held_ctcf_evicts_at_rate_step():
    """Behind a CTCF that a captured leg holds: evicted at rate step, and not blocked."""
    scene = Scene(12, (1, 4), (5, 8), ctcfs={5: ("right", 0.3)}, captured=[2])
    assert scene.rates(0) == (2.0, 0.0, 0.0, 2.0, 0.01)
    assert scene.blocked == []


def test_a_protected_leg_waits_behind_a_held_ctcf():
    """With its partner captured, a leg behind a held CTCF is blocked, and its LEF unloads as captured."""
    scene = Scene(12, (1, 4), (5, 8), ctcfs={5: ("right", 0.3), 1: ("right", 1.0)}, captured=[0, 2])
    assert scene.rates(0) == (0.0, 0.0, 0.0, 0.0, 0.002)
    assert scene.blocked == [1]


def test_a_moving_leg_on_a_ctcf_blocks_like_any_other():
    """A CTCF met from behind under a leg that is not captured is an obstacle, not held."""
    scene = Scene(12, (1, 4), (5, 8), ctcfs={5: ("right", 0.3)})
    assert scene.rates(0) == (2.0, 0.0, 0.0, 0.0, 0.05)
    assert scene.blocked == [1, 2]


def test_a_captured_leg_blocks_who_comes_from_the_capture_side():
    """A captured leg on a CTCF that is met from its capture side is an obstacle, not held."""
    scene = Scene(12, (2, 4), (0, 5), ctcfs={5: ("left", 1.0)}, captured=[3])
    assert scene.rates(0) == (2.0, 0.0, 0.0, 0.0, 0.05)
    assert scene.blocked == [1, 2]


def test_unloading_is_captured_before_blocked_before_free():
    """Respawn takes the first of its classes that applies."""
    ctcfs = {2: ("right", 1.0)}
    assert Scene(9, (2, 8), ctcfs=ctcfs, captured=[0]).rates(0)[4] == 0.002
    assert Scene(9, (2, 8), ctcfs=ctcfs).rates(0)[4] == 0.05
    assert Scene(9, (2, 7), ctcfs=ctcfs).rates(0)[4] == 0.01


def test_a_ctcf_of_strength_one_captures_what_faces_it():
    """Arriving from the capture side at strength 1, every leg is captured, left and right alike."""
    for seed in range(20):
        scene = Scene(9, (3, 5), ctcfs={2: ("right", 1.0), 6: ("left", 1.0)}, seed=seed)
        scene.fire("Step", 0)
        assert (scene.legs, scene.captured) == ([2, 5], [0])
        assert scene.rates(0) == (0.0, 0.0, 2.0, 0.0, 0.002)
        scene.fire("Step", 1)
        assert scene.captured == [0, 1]
        assert scene.rates(0) == (0.0, 0.0, 0.0, 0.0, 0.002)


def test_a_ctcf_of_strength_zero_captures_nothing():
    """At strength 0 legs walk over the CTCF."""
    for seed in range(20):
        scene = Scene(9, (3, 5), ctcfs={2: ("right", 0.0), 6: ("left", 0.0)}, seed=seed)
        scene.fire("Step", 0)
        scene.fire("Step", 0)
        scene.fire("Step", 1)
        assert (scene.legs, scene.captured) == ([1, 6], [])


def test_capture_is_rolled_once_on_landing():
    """A leg that was not captured on landing walks on, and no other event captures it."""
    for seed in range(20):
        scene = Scene(9, (3, 5), ctcfs={6: ("left", 0.5)}, seed=seed)
        scene.fire("Step", 1)
        caught = scene.captured
        scene.fire("Step", 0)
        assert scene.captured == caught
        assert scene.rates(0)[2] == (0.0 if caught else 2.0)


def test_from_behind_nothing_is_captured():
    """A leg that steps onto a CTCF from behind stays moving, at any strength."""
    for seed in range(20):
        scene = Scene(9, (3, 5), ctcfs={6: ("right", 0.99)}, seed=seed)
        scene.fire("Step", 1)
        assert (scene.legs, scene.captured) == ([3, 6], [])


def test_legs_of_a_new_lef_share_a_site_and_part():
    """Just placed, both legs stand on one site, both step; the one that stays keeps the site."""
    scene = Scene(9, (4, 4), (6, 6))
    assert scene.rates(0) == (2.0, 0.0, 2.0, 0.0, 0.01)
    scene.fire("Step", 1)
    assert (scene.legs[:2], scene.run.world.sites["leg"][4], scene.run.world.sites["leg"][5]) == ([4, 5], 0, 1)
    scene.fire("Step", 0)
    assert (scene.run.world.sites["leg"][4], scene.run.world.sites["leg"][3]) == (-1, 0)
    scene = Scene(9, (4, 4))
    scene.fire("Step", 0)
    assert (scene.run.world.sites["leg"][4], scene.run.world.sites["leg"][3]) == (1, 0)


def test_a_shared_site_blocks_until_both_have_left():
    """The neighbour of a shared site is freed when the second leg leaves, not by the first."""
    scene = Scene(9, (1, 3), (4, 4))
    assert scene.blocked == [1, 2]
    scene.fire("Step", 3)
    assert scene.blocked == [1, 2]
    scene = Scene(9, (1, 3), (4, 4), (5, 7))
    assert scene.blocked == [1, 2, 3, 4]
    scene.fire("Respawn", 1)
    assert scene.rates(0)[2] == (0.0 if 4 in scene.legs[2:4] else 2.0)


def test_a_shared_ctcf_is_held_by_the_leg_that_is_captured():
    """Two legs put by hand on one CTCF: the captured one holds it, before and after the other leaves."""
    scene = Scene(12, (6, 6), (7, 10), ctcfs={6: ("left", 1.0)}, captured=[1])
    assert scene.rates(1)[:2] == (0.0, 2.0)
    scene.fire("Step", 0)
    assert scene.rates(1)[:2] == (0.0, 2.0)


def test_a_step_frees_who_stood_behind_and_blocks_who_comes():
    """A step changes the rates of the leg behind it and of the leg it walks up to."""
    scene = Scene(12, (1, 3), (4, 4), (8, 10))
    scene.fire("Step", 3)
    scene.fire("Step", 3)
    scene.fire("Step", 3)  # leg 3 at 7, before leg 4 at 8
    assert scene.legs[2:4] == [4, 7]
    assert scene.blocked == [1, 2, 3, 4]
    scene.fire("Respawn", 0)
    assert scene.rates(1)[0] == (0.0 if 3 in scene.legs[:2] else 2.0)


def test_capture_turns_a_block_into_a_hold():
    """When a leg is captured on a CTCF, who waits behind that CTCF is evicted at rate step."""
    scene = Scene(12, (1, 4), (7, 9), ctcfs={5: ("left", 1.0), 6: ("left", 0.2)})
    assert scene.rates(1)[:2] == (1.6, 0.4)  # leg 2 meets 6 from behind
    scene.fire("Step", 2)
    assert scene.rates(1)[:2] == (0.0, 2.0)  # leg 2 at 6 meets 5 from behind: bare, strength 1
    scene.fire("Step", 1)
    assert scene.captured == [1]
    assert scene.rates(1)[:2] == (0.0, 2.0)  # the same CTCF, held


@pytest.mark.parametrize("kind", ["Evict", "Respawn"])
def test_a_lef_lands_with_both_legs_on_a_free_plain_site(kind):
    """Evict and Respawn put both legs, moving, on any plain empty site, its own old ones among them."""
    landed = set()
    scene = Scene(11, (2, 5), (1, 8), ctcfs={6: ("right", 0.5), 2: ("right", 1.0)})
    for _ in range(100):
        scene.fire(kind, 1 if kind == "Evict" else 0)
        left, right = scene.legs[:2]
        assert left == right
        landed.add(left)
        assert (scene.legs[2:], scene.captured) == ([1, 8], [])
    assert landed == {0, 3, 4, 5, 7, 9, 10}


def test_unloading_ends_capture():
    """A captured LEF lands moving, and the CTCF that it leaves is bare again."""
    scene = Scene(12, (1, 4), (5, 8), ctcfs={5: ("right", 0.25)}, captured=[2])
    scene.fire("Respawn", 1)
    assert scene.captured == []
    assert scene.rates(0)[2:4] == (1.5, 0.5)


BAD_RATES = [
    ({"step": 0.0}, "Rates.step must be > 0, got 0.0"),
    ({"respawn": -0.2}, "Rates.respawn must be > 0, got -0.2"),
    ({"respawn_blocked": np.inf}, "Rates.respawn_blocked must be finite, got inf"),
    ({"respawn_captured": np.nan}, "Rates.respawn_captured must be finite, got nan"),
    ({"respwan": 1.0}, "Rates has no parameter 'respwan'. Did you mean 'respawn'?"),
]
C = "captures_from"
BAD_FIBRES = [
    ({"n_sites": 0}, "n_sites must be >= 1, got 0"),
    ({"n_lefs": -1}, "n_lefs must be >= 0, got -1"),
    ({"n_lefs": 6}, "6 LEFs need at least 11 sites without a CTCF, but the lattice has 10"),
    ({"ctcf_sites": [3, 10], C: "left"}, "CTCF 1 is at site 10, outside the lattice 0..9"),
    ({"ctcf_sites": [-1], C: "left"}, "CTCF 0 is at site -1, outside the lattice 0..9"),
    ({"ctcf_sites": [4, 2, 4], C: "left"}, "site 4 has two CTCFs; at most one is allowed"),
    ({"ctcf_sites": [1.5], C: "left"}, "ctcf_sites must be whole numbers, got float64"),
    ({"ctcf_sites": [1, 2], C: ["left"]}, "captures_from has 1 entries for 2 CTCFs"),
    ({"ctcf_sites": [1], C: "up"}, "CTCF 0: captures_from must be 'left' or 'right', got 'up'"),
    ({"ctcf_sites": [1, 2], C: "left", "strength": [0.5, 1.5]}, "CTCF 1: strength must be in 0..1, got 1.5"),
    ({"ctcf_sites": [1, 2], C: "left", "strength": np.nan}, "CTCF 0: strength must be in 0..1, got nan"),
    ({"ctcf_sites": [1, 2], C: "left", "strength": [0.5]}, "strength has 1 entries for 2 CTCFs"),
]  # fmt: skip
BAD_LEGS = [
    ({"left": [5], "right": [4]}, "LEF 0: left leg is right of its right leg"),
    ({"left": [-1], "right": [4]}, "legs must stand on sites 0..9"),
    ({"left": [1], "right": [10]}, "legs must stand on sites 0..9"),
    ({"left": [1, 3], "right": [5, 5]}, "two LEFs stand on site 5; at most one leg a site"),
    ({"left": [1, 3], "right": [5]}, "left has 2 entries and right 1; one a LEF each"),
    ({"left": [1.5], "right": [5]}, "left must be whole numbers, got float64"),
    ({"captured_left": [True, False]}, "captured has 2 entries for 1 LEFs"),
    ({"captured_left": True}, "LEF 0: the leg at site 2 cannot be captured: no CTCF there faces it"),
    ({"captured_right": True}, "LEF 0: the leg at site 6 cannot be captured: no CTCF there faces it"),
    ({"left": range(6), "right": range(6)}, "6 LEFs need at least 11 sites without a CTCF, but the lattice has 9"),
    ({"ctcf_sites": [20]}, "CTCF 0 is at site 20, outside the lattice 0..9"),
    ({"sides": [0]}, "CTCF 0: captures_from must be 'left' or 'right', got 0"),
    ({"strengths": [-0.1]}, "CTCF 0: strength must be in 0..1, got -0.1"),
]  # fmt: skip


def refuses(make, text, **kw):
    """Assert that `make` raises InputError with this text."""
    with pytest.raises(InputError) as caught:
        make(**kw)
    assert text in str(caught.value)


@pytest.mark.parametrize(("given", "text"), BAD_RATES)
def test_bad_rates_are_refused(given, text):
    """Rates are finite and > 0, as an object and as a mapping."""
    refuses(Rates, text, **given)
    refuses(make_fibre, text, n_sites=10, n_lefs=1, rates=given)


@pytest.mark.parametrize(("given", "text"), BAD_FIBRES)
def test_bad_fibres_are_refused(given, text):
    """`make_fibre` names the CTCF, the number and the rule."""
    refuses(make_fibre, text, **{"n_sites": 10, "n_lefs": 1, **given})


@pytest.mark.parametrize(("given", "text"), BAD_LEGS)
def test_bad_legs_are_refused(given, text):
    """`fibre_from_legs` refuses legs and CTCFs that no fibre has."""
    good = {"n_sites": 10, "ctcf_sites": [6], "sides": ["right"], "strengths": 1.0, "left": [2], "right": [6]}
    fibre_from_legs(**good)
    refuses(fibre_from_legs, text, **{**good, **given})
