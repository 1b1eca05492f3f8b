"""`check` finds what is wrong, says where, and lets what is right pass."""

from __future__ import annotations

import math

import pytest

from tocsin import Action, Entity, InputError, Model, Pool, Rng, Touched, World, int32, int64
from tocsin.check import check
from tocsin.check._audits import extremes
from tocsin.check._trial import Trial
from tocsin.check._twins import _difference, check_slices
from tocsin.run import Simulation
from tocsin.schema import FieldSpec, ParamSpec
from tocsin.space import Grid

from . import _small as small

ALLOW = {"Customer.before": "it is there to be looked at"}
NAMES = [
    "compiles", "lints", "audit, next-reaction", "audit, composition-rejection", "compiled = interpreted, next-reaction",
    "compiled = interpreted, composition-rejection", "rerun", "slices", "save and load", "copy", "pickle", "recordings",
    "time advances", "numbers", "references", "extreme parameters",
]  # fmt: skip


def checked(wrong=0, **options):
    """Return the report on the shop, with something wrong."""
    return check(small.SHOP, small.shop(wrong), **{"events": 300, "seed": 1, "allow": ALLOW, **options})


def test_a_model_that_is_right_passes():
    """All verdicts are there, in order, and none is a finding; the world that was given is as it was."""
    world, told = small.shop(), []
    report = check(small.SHOP, world, events=300, seed=1, allow=ALLOW, tell=told.append)
    assert report.is_clean, str(report)
    assert [verdict.name for verdict in report.verdicts] == NAMES
    assert {verdict.status for verdict in report.verdicts} == {"pass"}
    assert report["audit, next-reaction"].detail == "300 events, in 1 run"
    assert report["lints"].detail == "allowed: Customer.before (it is there to be looked at)"
    assert report["references"].detail.startswith("2 fields looked at")
    assert report["extreme parameters"].detail.startswith("6 settings")
    assert set(NAMES) - {"compiles"} <= set(told)
    assert world.n_here == 0
    assert world.settings == small.Settings()
    assert report.to_dict()["is_clean"] is True
    assert str(report).count("\n") == len(NAMES) - 1


@pytest.mark.parametrize(
    ("wrong", "name", "said"),
    [
        (small.STALE_REF, "references", "points to rows that were removed: Till.last of 1 row"),
        (small.NOT_A_NUMBER, "numbers", "there is NaN in Till.takings"),
        (small.NAN_RATE, "run", r"Come().rate returned NaN or a negative or infinite rate, at t="),
        (
            small.NAN_RATE,
            "audit, composition-rejection",
            r"Come().rate returned NaN or a negative or infinite rate, at t=",
        ),
        (small.ENDLESS, "time advances", r"without time advancing; the next would be Leave(customer "),
    ],
)
def test_what_is_wrong_is_found(wrong, name, said):
    """A reference to a removed row, NaN in the world, a rate that is NaN, events without end."""
    report = checked(wrong)
    assert not report.is_clean
    assert report[name].status == "finding"
    assert said in report[name].detail
    assert report[name] in report.findings


def test_a_missing_touch_is_found_twice():
    """By the lints, which name the label to allow it by, and by the audit, which names rows and time."""
    report = check(small.STREET, small.Street(lamps=3), events=200)
    assert "[Dusk.fire/Light.rate] Dusk.fire writes night" in report["lints"].detail
    for method in ("next-reaction", "composition-rejection"):
        found = report[f"audit, {method}"]
        assert found.status == "finding"
        assert "Dusk() changed what Light(lamp 0) depends on" in found.detail
    allowed = dict.fromkeys(["Dusk.fire/Light.rate", "Dusk.fire/Glow.value", "Lamp.size", "Wait.fire"], "for the test")
    assert check(small.STREET, small.Street(lamps=3), events=50, allow=allowed)["lints"].status == "pass"


def test_a_function_that_is_not_pure_is_the_only_verdict():
    """A model that does not compile is a finding, with the compiler's sentence; nothing else can be said."""
    report = check(small.IMPURE, small.Street())
    assert [verdict.status for verdict in report.verdicts] == ["finding"]
    assert "Sneak.rate writes night: it may only read the world" in report["compiles"].detail


def test_a_world_in_which_nothing_happens_is_a_finding():
    """Nothing is checked then, and it says what to give instead."""
    world = small.Shop(customers=0, tills=0, settings={"rate": 1e-300, "most": 1})
    world.n_here = 1
    report = check(small.SHOP, world, allow=ALLOW)
    assert not report.is_clean
    assert report["audit, next-reaction"].status == "finding"
    assert "a function that makes the world" in report["audit, next-reaction"].detail
    assert report["run"].status == "skipped"
    assert "nothing happens in this world" in report["run"].detail


def test_a_model_that_comes_to_rest_is_run_again():
    """The audit goes on with the next seed until it has seen as many events as were asked for."""
    customers = {"colour": [1] * 7, "leaves_at": [1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    world = small.Shop(customers=customers, n_here=100)
    report = check(small.SHOP, world, events=50, allow=ALLOW)
    assert report.is_clean, str(report)
    assert report["audit, next-reaction"].detail == "50 events, in 8 runs"
    assert report["rerun"].detail == "7 events"


def test_a_model_that_is_no_global_is_not_pickled():
    """It cannot be, and the report says why."""
    model = small.Model(small.Shop, [small.Come, small.Leave], observables=[small.Takings, small.Here], name="shop")
    verdict = check(model, small.shop(), events=20, allow=ALLOW)["pickle"]
    assert verdict.status == "skipped"
    assert "is not a global of a module" in verdict.detail


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"events": 0}, "events and seconds must be > 0"),
        ({"seconds": 0.0}, "events and seconds must be > 0"),
        ({"allow": {"Lamp.size": " "}}, "allow 'Lamp.size' needs a reason"),
    ],
)
def test_bad_arguments_are_refused(options, said):
    """With a sentence, before anything is compiled."""
    with pytest.raises(InputError, match=said):
        check(small.SHOP, small.shop(), **options)
    with pytest.raises(InputError, match="model shop runs on Shop, got Street"):
        check(small.SHOP, small.Street())


@pytest.mark.parametrize(
    ("spec", "dtype", "kind", "wanted"),
    [
        (ParamSpec(1.0, gt=0), "f8", "float", (5e-324, 1e300)),
        (ParamSpec(1.0, ge=0, le=1), "f8", "float", (0.0,)),
        (ParamSpec(0.5, ge=0, lt=1), "f8", "float", (0.0, math.nextafter(1.0, 0.0))),
        (ParamSpec(2.0), "f8", "float", (-1e300, 1e300)),
        (ParamSpec(2.0), "f4", "float", (-3e38, 3e38)),
        (ParamSpec(3, gt=0), "i8", "int", (1, 30)),
        (ParamSpec(0), "i8", "int", (-10, 10)),
        (ParamSpec(5, ge=-2, lt=9), "i4", "int", (-2, 8)),
    ],
)
def test_extremes_are_at_the_bounds(spec, dtype, kind, wanted):
    """The least and the largest value that is allowed, other than the default."""
    found = extremes(spec, FieldSpec("x", dtype, kind))
    assert found == wanted
    assert all(spec.breach(value) is None for value in found)


def test_a_difference_is_named():
    """Where two runs part: time, the part of the world and the row, or the draws."""
    one, other = (Simulation(small.SHOP, small.shop(), seed=1) for _ in range(2))
    one.run(events=5)
    assert _difference(one, other).startswith("now is ")
    other.run(events=5)
    other.world.tills[0].takings = -1.0
    assert _difference(one, other) == "tills.takings in row 0"


@pytest.mark.parametrize("n", range(1, 60, 5))
def test_pieces_of_time_end_where_the_whole_ends(n):
    """Whatever the last event's time, cutting the run into twelfths of it ends at that time to the last bit."""
    trial = Trial(small.SHOP, small.shop, n, n, n, math.inf)
    base = trial.simulation()
    base.run(events=n)
    verdict = check_slices(trial, base)
    assert verdict.status == "pass", verdict.detail


class Rabbit(Entity):
    """It sits on a cell."""

    cell: int32


class Meadow(World):
    """Rabbits on a grid, which leave it before they die, or do not."""

    rabbits: Pool[Rabbit]
    grid: Grid[Rabbit]
    is_tidy: int64 = 1


class Die(Action):
    """A rabbit is no more."""

    rabbit: Rabbit

    def rate(self, world: Meadow) -> float:
        return 1.0

    def fire(self, world: Meadow, now: float, rng: Rng, touched: Touched) -> None:
        if world.is_tidy == 1:
            world.grid.remove(self.rabbit)
        world.rabbits.remove(self.rabbit)


@pytest.mark.parametrize(("is_tidy", "status"), [(1, "pass"), (0, "finding")])
def test_rows_that_haunt_a_grid(is_tidy, status):
    """A row that is removed from its pool but not from its grid is found."""
    world = Meadow(rabbits={"cell": range(9)}, grid=Grid(3, 3), is_tidy=is_tidy)
    verdict = check(Model(Meadow, [Die]), world, events=9, seed=1)["grids"]
    assert verdict.status == status
    assert "9 rows of Rabbit on grid" in verdict.detail or is_tidy
