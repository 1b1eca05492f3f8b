"""Markets: nothing is lost but the fee, the cheapest offer goes first, and players who meet run in one shard."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tocsin import InputError, Simulation
from tocsin.models.economy import load, meeting, run
from tocsin.models.economy.build import Plan, arrivals, plan_of, world_of
from tocsin.models.economy.config import Design
from tocsin.models.economy.model import MODEL

BAZAAR: dict[str, Any] = {
    "resources": {"gold": {"start": 100}, "ore": {"start": 4, "cap": 30}, "tool": {}},
    "traits": {"greed": {"kind": "uniform", "a": 0.5, "b": 3.0}},
    "personas": {"p": {"sessions": "1 + greed", "minutes": 8, "hours": [[0, 24, 1]]}},
    "activities": {
        "mine": {"weight": 2, "gain": {"ore": 2}},
        "offer": {"sell": {"market": "bazaar", "amount": "ore / 2", "price": "bazaar_price * greed"}},
        "haggle": {"buy": {"market": "bazaar", "amount": 5, "price": "1.5 * bazaar_price + 1"}},
        "forge": {"cost": {"ore": 6}, "gain": {"tool": 1, "gold": 9}},
    },
    "markets": {"bazaar": {"item": "ore", "money": "gold", "fee": 0.05, "price": 4, "days": 2}},
    "churn": {"rate": 0.03},
}


def started(design: dict[str, Any], n: int, n_days: int, **more: Any) -> tuple[Plan, Simulation[Any]]:
    loaded = load(design)
    assert isinstance(loaded, Design)
    plan = plan_of(loaded)
    personas, days = arrivals(plan.design, n, 3)
    return plan, Simulation(MODEL, world_of(plan, personas, np.minimum(days, n_days - 1), 0, n_days), seed=3, **more)


def flow(plan: Plan, world: Any, resource: str) -> int:
    """Return all sources of a resource less all sinks."""
    words = world.flows.values.sum(axis=0).astype(object)
    chosen = [(k, 1 if f.is_source else -1) for k, f in enumerate(plan.flows) if f.resource == resource]
    return int(sum(sign * (words[k, 0] + words[k, 1] * (1 << 32)) for k, sign in chosen))


def test_nothing_is_lost_but_the_fee() -> None:
    """At any time what is held and offered is what there was at the start, and sources less sinks; the fee is 5 %, rounded up."""
    n = 60
    plan, simulation = started(BAZAAR, n, 12)
    for until in (0.7, 3.0, 7.4, 12.0):
        simulation.run(until=until)
        world = simulation.world
        offered = world.offers["amount"].sum()
        for name, start in (("gold", 100), ("ore", 4), ("tool", 0)):
            held = world.own.values[:, plan.names.columns[name]].sum() + (offered if name == "ore" else 0.0)
            assert held == n * start + flow(plan, world, name), (name, until)
    result = run(BAZAAR, n, 12, 3)
    rows = result.market_rows()  # type: ignore[union-attr]
    paid, sales = sum(r["paid"] for r in rows), sum(r["sales"] for r in rows)
    fee = next(r["amount"] for r in result.flow_rows() if r["by"] == "bazaar" and r["resource"] == "gold")  # type: ignore[union-attr]
    assert sales > 50
    assert 0.05 * paid <= fee <= 0.05 * paid + sales


def test_the_queue_is_in_order() -> None:
    """The offers of a market are a heap whose first is the cheapest and oldest; what formulas read says the same."""
    plan, simulation = started(BAZAAR, 80, 8)
    entry = plan.names.shared["bazaar_price"]
    for until in np.linspace(0.3, 8.0, 23):
        simulation.run(until=float(until))
        world = simulation.world
        offers, n = world.offers, int(world.markets["n_offers"][0])
        queue = world.queues.values[0, :n].tolist()
        assert sorted(queue) == np.flatnonzero(offers["amount"] > 0).tolist()
        assert [int(offers["place"][row]) for row in queue] == list(range(n))
        keys = [(offers["price"][row], offers["number"][row]) for row in queue]
        assert all(keys[(k - 1) // 2] < keys[k] for k in range(1, n))
        shared = world.shared.values
        assert shared[entry + 1] == (min(keys)[0] if keys else 0.0)
        assert shared[entry + 2] == offers["amount"].sum()


def test_interpreted_and_audited() -> None:
    """Plain Python gives the bits of compiled code, and a sale disturbs no clock of the seller."""
    runs = [started(BAZAAR, 6, 3, **more)[1] for more in ({}, {"jit": False, "audit": True})]
    for simulation in runs:
        simulation.run(until=3.0)
    assert runs[0].state_hash() == runs[1].state_hash()


def test_one_shard_whatever_is_asked() -> None:
    """Threads and shards change nothing; the plan says that players meet."""
    reports = [run(BAZAAR, 50, 5, 1, threads=t, shards=s) for t, s in ((1, 1), (2, 5), (4, 50))]
    assert len({str([r.summary(), r.market_rows(), r.day_rows()]) for r in reports}) == 1  # type: ignore[union-attr]
    assert meeting(load(BAZAAR)) == "players meet in bazaar: they run in one shard"


def test_buyers_take_the_cheapest_within_their_limit() -> None:
    """Ten sellers ask 1 to 10; a buyer who pays at most 6 gets six, for 21; the fee is rounded in favour of the house."""
    design: dict[str, Any] = {
        "resources": {"gold": {"start": 0}, "ore": {}},
        "traits": {"asks": {"kind": "constant", "a": 1}},
        "personas": {
            **{f"s{k}": {"traits": {"asks": k, "brings": 1}, "hours": [[1, 2, 1]]} for k in range(1, 11)},
            "buyer": {"traits": {"asks": 0, "brings": 0}, "hours": [[10, 11, 1]], "share": 1},
        },
        "activities": {
            "find": {"at": "day", "gain": {"ore": "brings", "gold": "100 * (1 - brings)"}},
            "offer": {"at": "session", "sell": {"market": "m", "price": "asks"}},
            "buy": {"at": "session", "when": "asks == 0", "buy": {"market": "m", "amount": 100, "price": 6}},
        },
        "markets": {"m": {"item": "ore", "money": "gold", "fee": 0.1}},
    }
    plan, _ = started(design, 1, 1)
    world = world_of(plan, np.arange(11, dtype=np.int32), np.zeros(11, np.int32), 0, 1)
    simulation = Simulation(MODEL, world, seed=5)
    simulation.run(until=1.0)
    own = simulation.world.own.values
    gold, ore = own[:, plan.names.columns["gold"]], own[:, plan.names.columns["ore"]]
    assert ore.tolist() == [0.0] * 6 + [0.0] * 4 + [6.0]
    assert gold.tolist() == [math.floor(0.9 * k) if k <= 6 else 0 for k in range(1, 11)] + [79]
    assert simulation.world.offers["amount"].tolist() == [0.0] * 6 + [1.0] * 4 + [0.0]


def test_what_is_not_sold_goes_back() -> None:
    """An offer at a price that nobody pays returns after `days` days; what passes the cap is counted as lost."""
    design = {
        "resources": {"gold": {}, "ore": {"start": 10, "cap": 10}},
        "activities": {"offer": {"at": "session", "in_total": 1, "sell": {"market": "m", "amount": 9, "price": 7}},
                       "mine": {"at": "day", "gain": {"ore": 2}}},
        "markets": {"m": {"item": "ore", "money": "gold", "days": 2}},
    }  # fmt: skip
    result = run(design, 3, 4, 1)
    offered = [row["offered"] for row in result.market_rows()]  # type: ignore[union-attr]
    assert offered == [27, 0, 0, 0]
    rows = {(r["by"], r["kind"]): r["amount"] for r in result.flow_rows() if r["resource"] == "ore"}  # type: ignore[union-attr]
    assert rows["m", "sink"] > 0
    assert 30 + rows["mine", "source"] - rows["m", "sink"] == result.day_rows()[-1]["ore_supply"]  # type: ignore[union-attr]


def test_supply_and_demand_set_the_price() -> None:
    """With ten times the money about, the price is higher (law of one price, by paired runs)."""
    poor, rich = (run(BAZAAR, 200, 10, 2, changes={"resources.gold.start": g}).summary() for g in (20, 2000))
    assert rich["bazaar_price_mean"] > 1.5 * poor["bazaar_price_mean"]


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"markets.bazaar.item": "oar"}, "markets.bazaar.item: there is no resource 'oar'. Did you mean 'ore'"),
        ({"markets.bazaar.money": "ore"}, "markets.bazaar: item and money must be two resources"),
        ({"markets.bazaar.fee": 1.5}, "markets.bazaar.fee: must be less than or equal to 1, got 1.5"),
        ({"activities.offer.sell.market": "bazar"}, "activities.offer.sell.market: there is no market 'bazar'"),
        ({"activities.offer.sell.price": 0}, "activities.offer.sell.price: must be in 1"),
        ({"activities.haggle.buy.amount": -1}, "activities.haggle.buy.amount: must be in 0"),
        ({"activities.haggle.sell": {"market": "bazaar", "price": 1}}, "activities.haggle: sell and buy"),
        ({"activities.haggle.at": "automatic"}, "activities.haggle: .* automatically"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], rule: str) -> None:
    """A market that cannot be is refused with path, value and rule."""
    with pytest.raises(InputError, match=rule):
        load(BAZAAR, changes)
