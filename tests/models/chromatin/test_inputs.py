"""What is said of a world is checked where it is said, and what it becomes."""

import math

import numpy as np
import pytest
from scipy import stats

from tocsin import InputError
from tocsin.models.chromatin import LefSpecies, RateChange, make_chromatin
from tocsin.models.chromatin.world import ANCHORED, MOVING, UNBOUND

from ._worlds import LIMIT, everything, violations

POOL = LefSpecies(load=0.1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: make_chromatin(0, 0), "n_sites must be >= 1 for each chromosome"),
        (lambda: make_chromatin([], 0), "n_sites must be >= 1 for each chromosome"),
        (lambda: make_chromatin([5, -1], 0), "n_sites must be >= 1 for each chromosome, got .*-1"),
        (lambda: make_chromatin(2.5, 0), "n_sites must be whole numbers"),
        (lambda: make_chromatin([2**30, 2**30], 0), "at most 2,147,483,646 sites, got 2,147,483,648"),
        (lambda: make_chromatin([9, 2], 1, is_ring=True), "chromosome 1 is a ring of 2 sites; a ring has at least 3"),
        (lambda: make_chromatin([9, 5], 1, is_ring=[True]), "is_ring must be true or false, for all or each of 2"),
        (lambda: make_chromatin(9, 1, is_ring=1), "is_ring must be true or false"),
        (lambda: make_chromatin(9, -1), "n_lefs must be a whole number >= 0, got -1"),
        (lambda: make_chromatin(9, 2.5), "n_lefs must be a whole number >= 0, got 2.5"),
        (lambda: make_chromatin([4, 4], 5), "5 LEFs need at least 9 sites without a CTCF"),
        (lambda: make_chromatin([4, 4], 1, ctcf_sites=[8], captures_from="left"), "CTCF 0 is at site 8, outside"),
        (lambda: make_chromatin(9, 1, ctcf_sites=[3], captures_from="up"), "must be 'left' or 'right' or 'both', got 'up'"),
        (lambda: make_chromatin(9, 1, ctcf_sites=[3], captures_from="both", strength=1.5), "CTCF 0: strength must be in 0..1"),
        (lambda: make_chromatin(9, 1, ctcf_sites=[3], captures_from="both", ctcf_bound=-0.1), "CTCF 0: ctcf_bound must be in 0..1"),
        (lambda: make_chromatin(9, 1, ctcf_sites=[3], captures_from="both", ctcf_residence=0), "ctcf_residence must be > 0, got 0"),
        (lambda: make_chromatin(9, 1, ctcf_sites=[3], captures_from="both", ctcf_residence=[1, 2]), "2 entries for 1 CTCFs"),
        (lambda: make_chromatin(9, 1, when_unbound="keep"), "when_unbound must be 'release' or 'hold', got 'keep'"),
        (lambda: make_chromatin(9, 1, loading=[1.0] * 8), r"one weight a lattice site, 9, got shape \(8,\)"),
        (lambda: make_chromatin(3, 1, loading=[1, math.nan, 1]), "finite and >= 0, got nan at site 1"),
        (lambda: make_chromatin(3, 1, loading=[0, 0, 0]), "loading is too concentrated"),
        (lambda: make_chromatin(9, 2, loading=[1, 1, 0, 0, 0, 0, 0, 0, 0]), "legs of 2 LEFs may take 2 sites"),
        (lambda: make_chromatin(9, 1, species=[POOL, POOL]), "two species are called 'LEF'"),
        (lambda: make_chromatin(9, 2, places=[1]), "places has 1 entries for 2 LEFs"),
        (lambda: make_chromatin(9, 1, places=[9]), "LEF 0: its place must be a lattice site without a CTCF, or -1, got 9"),
        (lambda: make_chromatin(9, 1, ctcf_sites=[3], captures_from="both", places=[3]), "without a CTCF, or -1, got 3"),
        (lambda: make_chromatin(9, 2, places=[4, 4]), "two LEFs stand on site 4"),
        (lambda: make_chromatin(9, 1, places=[-1]), "LEF 0 cannot start unbound: its species has load = inf"),
        (lambda: LefSpecies(share=0.0), "species 'LEF': share must be > 0"),
        (lambda: LefSpecies(name="x", step=-1.0), "species 'x': step must be a finite number >= 0, got -1.0"),
        (lambda: LefSpecies(slide=math.inf), "slide must be a finite number >= 0, got inf"),
        (lambda: LefSpecies(pause="often"), "pause must be a finite number >= 0, got 'often'"),
        (lambda: LefSpecies(anchor="both"), "anchor must be one of none, left, right, either, got 'both'"),
        (lambda: LefSpecies(bound=1.5), r"bound must be in 0..1, got 1.5"),
        (lambda: LefSpecies(bound=0.5), "bound < 1 needs a finite load"),
        (lambda: RateChange(at=math.nan), "at must be a finite time"),
        (lambda: RateChange(at=1.0, multiply={"stp": 2.0}), "there is no rate 'stp' to change. Did you mean 'step'"),
        (lambda: RateChange(at=1.0, set={"ctcf_binding": 2.0}), "there is no rate 'ctcf_binding' to change"),
        (lambda: RateChange(at=1.0, species="a", multiply={"ctcf_binding": 2.0}), "there is no rate 'ctcf_binding'"),
        (lambda: RateChange(at=1.0, multiply={"step": -2.0}), "step must be a finite number >= 0, got -2.0"),
        (lambda: make_chromatin(9, 1, changes=[RateChange(at=1.0, species="LAF")]), "no species 'LAF'. Did you mean 'LEF'"),
        (lambda: make_chromatin(9, 1, changes=[RateChange(at=1.0, set={"load": 0.0})]), "load is inf, so no LEF ever waits"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(make, text):
    """An impossible argument raises InputError that names it, the rule and what was given."""
    with pytest.raises(InputError, match=text):
        make()


@pytest.mark.parametrize("seed", range(10))
def test_worlds_start_in_a_state_that_can_be(seed):
    """A new world breaks no rule."""
    assert violations(everything(seed)) == []


def test_shares_are_met_to_the_nearest_lef():
    """LEFs are shared out by largest remainders, in all."""
    species = [LefSpecies(name=name, share=share) for name, share in (("a", 1.0), ("b", 1.0), ("c", 0.5))]
    counts = np.bincount(make_chromatin(100, 8, species=species).lefs["species"])
    assert counts.tolist() == [3, 3, 2]


def test_lefs_start_bound_as_said():
    """Of each species the share `bound` starts on the chromatin; one leg of each one-sided LEF is anchored."""
    species = [LefSpecies(name="a", load=1.0, bound=0.25), LefSpecies(name="b", anchor="either")]
    world = make_chromatin(4000, 800, species=species, seed=2)
    state = world.legs["state"].reshape(-1, 2)
    assert (state[:400] == UNBOUND).all(axis=1).sum() == 300
    assert (np.sort(state[400:], axis=1) == [MOVING, ANCHORED]).all()
    n_left = (state[400:, 0] == ANCHORED).sum()
    assert abs(n_left - 200) < LIMIT * 10


def test_first_places_follow_the_weights():
    """Where LEFs start goes by loading weight: sites of weight 3 hold three times as many as those of weight 1."""
    n = 20_000
    weights = np.tile([3.0, 1.0, 0.0, 1.0], n)
    world = make_chromatin(4 * n, 2000, loading=weights, seed=3)
    counts = np.bincount(world.legs["site"][::2] % 4, minlength=4)
    assert counts[2] == 0
    p = stats.chi2.sf(((counts - 2000 * weights[:4] / 5)[[0, 1, 3]] ** 2 / (400 * weights[:4][[0, 1, 3]])).sum(), 2)
    assert stats.norm.isf(p) < LIMIT


def test_changes_add_up():
    """Each change starts from the rates before it: factors multiply, `set` replaces, others stay."""
    species = [LefSpecies(name="a", step=2.0, load=1.0), LefSpecies(name="b")]
    changes = [
        RateChange(at=9.0, multiply={"step_left": 0.5}),
        RateChange(at=3.0, species="a", multiply={"step": 3.0}, set={"load": 0.0}),
        RateChange(at=5.0, multiply={"ctcf_binding": 0.5}),
        RateChange(at=7.0, multiply={"ctcf_binding": 0.5, "ctcf_unbinding": 4.0}),
    ]
    world = make_chromatin(50, 4, species=species, changes=changes)
    table, rates = world.changes, world.rates
    assert table["at"].tolist() == [3.0, 5.0, 5.0, 7.0, 7.0, 9.0, 9.0]
    assert table["binding"].tolist() == [1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    assert table["unbinding"].tolist() == [1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0]
    assert table["species"].tolist() == [0, 0, 1, 0, 1, 0, 1]
    last = [{name: rates[name][row] for name in ("step_left", "step_right", "load")} for row in table["rates"][-2:]]
    assert last == [
        {"step_left": 3.0, "step_right": 6.0, "load": 0.0},
        {"step_left": 0.5, "step_right": 1.0, "load": math.inf},
    ]


def test_exchange_rates_give_share_and_residence():
    """off = 1 / residence and on / (on + off) = bound; a site that is always or never bound has no clock."""
    world = make_chromatin(
        9, 1, ctcf_sites=[1, 2, 3, 4], captures_from="left", ctcf_bound=[0.25, 1.0, 0.0, 0.5],
        ctcf_residence=[4.0, 4.0, 4.0, math.inf],
    )  # fmt: skip
    on, off = world.ctcfs["binding"], world.ctcfs["unbinding"]
    assert off.tolist() == [0.25, 0.0, 0.0, 0.0]
    assert on[0] / (on[0] + off[0]) == pytest.approx(0.25)
    assert not on[1:].any()
    assert world.ctcfs["is_on"][1:3].tolist() == [True, False]
