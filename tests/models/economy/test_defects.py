"""Defects of an older simulator, by number, each shown not to be here.

Others have tests elsewhere: shares that are not normalised and formulas that never end (`test_sandtable`), effects that cannot
show and seeds that overlap (`test_answers`), retention by age and loot that nothing draws from (`test_economy`). The 14th is
that nobody measured its speed: `tocsin bench economy` does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tocsin.experiment import optimise
from tocsin.kernel import sample_without_replacement
from tocsin.models.economy import compare, pulls_to_hit, run, sensitivity
from tocsin.models.economy.compare import Point, recommend
from tocsin.models.economy.config import ClassTable
from tocsin.models.economy.exact import chance_at
from tocsin.models.economy.result import EconomyResult
from tocsin.stats import interval, t_quantile, verdict

MINE: dict[str, Any] = {
    "resources": {"ore": {}, "energy": {"start": 10, "cap": 10, "per_hour": 1}},
    "personas": {"p": {"sessions": 2, "minutes": 30, "hours": [[0, 24, 1]]}},
    "activities": {"dig": {"cost": {"energy": 1}, "gain": {"ore": "a * b"}}},
    "parameters": {"a": 300, "b": 200},
}


def one(design: Any, players: int = 200, days: int = 4, **more: Any) -> EconomyResult:
    found = run(design, players, days, 3, threads=1, **more)
    assert isinstance(found, EconomyResult)
    return found


def test_1_a_design_is_data() -> None:
    """Resources, sources and sinks of any name and number, each amount a formula: nothing of a genre is built in."""
    design = {
        "resources": {"seeds": {"start": 2}, "corn": {}},
        "activities": {"sow": {"at": "day", "cost": {"seeds": 1}, "gain": {"corn": "3 if day == 1 else 5"}}},
    }
    rows = {r["resource"]: r["amount"] for r in one(design, 10, 3).flow_rows()}
    assert rows == {"seeds": 20, "corn": 80}


def test_2_players_differ_in_skill_schedule_and_spending() -> None:
    """Within one persona: how often they play, and so what they hold, is spread; and who is there does not play every day."""
    design = {
        **MINE,
        "traits": {"habit": {"kind": "lognormal", "a": -0.5, "b": 0.8}},
        "personas": {"p": {"sessions": "min(habit, 6)", "minutes": 30}},
    }
    result = one(design, 1000, 10)
    row = next(r for r in result.distribution_rows() if r["day"] == 10 and r["resource"] == "ore")
    assert row["p90"] > 3 * row["p10"] > 0
    days = result.day_rows()
    assert days[-1]["active"] < 0.8 * days[-1]["alive"] == 800.0  # nobody leaves: retention is not survival
    mean = math.exp(-0.5 + 0.32)  # of the lognormal law; the cut at 6 takes little
    sessions = sum(r["sessions"] for r in days[1:]) / 9 / 1000
    assert abs(sessions - mean) < 4.5 * mean * math.sqrt(math.exp(0.64) - 1 + 1 / (9 * mean)) / math.sqrt(1000) + 0.02


def test_4_means_are_of_those_who_are_there() -> None:
    """Who has left holds nothing in the figures of a day."""
    result = one({**MINE, "churn": {"rate": 0.5}}, 400, 5)
    last = result.day_rows()[-1]
    row = next(r for r in result.distribution_rows() if r["day"] == 5 and r["resource"] == "ore")
    assert row["players"] == last["alive"] < 100
    assert row["mean"] == last["ore_supply"] / last["alive"]


def test_7_soft_pity_starts_at_the_stated_pull() -> None:
    """From pull 74, counted from 1; 0 is none, whatever the step."""
    one_class = ClassTable(name="ssr", rate=0.006, soft_start=74, soft_step=0.06, hard=90)
    assert [chance_at(one_class, misses) for misses in (72, 73, 74)] == pytest.approx([0.006, 0.066, 0.126])
    assert pulls_to_hit(0.02, soft_step=0.5).mean == pytest.approx(50.0)


def test_7_a_sample_takes_from_all() -> None:
    """Each of ten is among three drawn without replacement equally often, and at each of the three places."""
    n = 3000
    places = np.stack([sample_without_replacement(seed, 10, 3) for seed in range(n)])
    assert all(len(set(row)) == 3 for row in places.tolist())
    share = np.stack([np.bincount(place, minlength=10) for place in places.T]) / n
    assert np.abs(share - 0.1).max() < 4.5 * math.sqrt(0.1 * 0.9 / n)


def test_9_elasticities_hold_all_others_where_they_are() -> None:
    """Ore is a times b: one per cent of either is one per cent of it, wherever the other stands."""
    for b in (200, 5000):
        design = {**MINE, "parameters": {"a": 300, "b": b}}
        found = sensitivity(design, ["parameters.a", "parameters.b"], ["ore_mean"], n=2, players=30, days=2, threads=1)
        assert [e.elasticity.mean for e in found] == pytest.approx([1.0, 1.0])


def test_9_a_region_has_as_many_axes_as_the_grid() -> None:
    """Three axes, and a corner that fails is not in it."""
    points = [
        Point({"x": x, "y": y, "z": z}, {}, {"m": "FAIL" if x + y + z == 6 else "PASS"})
        for x in range(3) for y in range(3) for z in range(3)
    ]  # fmt: skip
    box = recommend(points)
    assert len(box) == 3
    assert sum(high for _, high in box.values()) < 6


def test_10_one_run_passes_nothing() -> None:
    """One replicate has no interval, and 41 have that of their own degrees of freedom."""
    assert verdict(interval([0.5]), 0.0, 1.0) == "BORDERLINE"
    assert t_quantile(40) == pytest.approx(2.0210753903)
    low, high = interval([0.0, 1.0] * 20 + [0.5]).low, interval([0.0, 1.0] * 20 + [0.5]).high
    assert high - low == pytest.approx(2 * 2.0210753903 * 0.5 * math.sqrt(40 / 40) / math.sqrt(41))


def test_11_a_search_builds_on_what_it_has_found() -> None:
    """Later candidates are better than the first ones, at random; the finalists run again with other draws."""
    given = {"model": "economy", "init": {"design": MINE, "players": 10, "days": 1}, "run": {"until": 1.0}}
    axes = {f"init.design.parameters.{name}": {"range": [1, 1000]} for name in "ab"}
    found = optimise(
        given,
        axes,
        "maximise ore_mean",
        trials=60,
        batch=5,
        replicates=1,
        finalists=2,
        confirm=2,
        seed=1,
        sampler="tpe",
    )
    tried = found.results.to_pandas()
    score = tried.groupby("candidate")["ore_mean"].mean().to_numpy()
    assert score[45:60].mean() > 1.5 * score[:10].mean()
    assert tried[tried["candidate"] == found.best.candidate]["replicate"].nunique() == 3


def test_12_distributions_milestones_and_attribution() -> None:
    """Level and currency by quantile with their Gini, days to a milestone, gold by source and sink."""
    result = one({**MINE, "milestones": {"rich": "ore >= 1000000"}}, 200, 6)
    assert {"p10", "p50", "p90", "p99", "gini"} <= result.distribution_rows()[0].keys()
    (row,) = result.milestone_rows()
    assert row["share"] > 0.5
    assert 0 <= row["days_p50"] <= row["days_p90"] < 6
    assert {(r["by"], r["kind"]) for r in result.flow_rows()} == {
        ("dig", "source"),
        ("dig", "sink"),
        ("growth", "source"),
    }


def test_13_the_day_has_hours() -> None:
    """Energy that comes back between two sessions of a day is spent in the second: more than a full bar a day."""
    spent = {r["by"]: r["amount"] for r in one(MINE, 300, 1).flow_rows() if r["kind"] == "sink"}["dig"]
    assert 10 * 300 < spent <= (10 + 24) * 300


def test_15_any_parameter_can_be_compared() -> None:
    """A list entry, a formula, a trait: whatever has a path."""
    changes = {"personas.p.hours": [[0, 12, 1]], "activities.dig.gain.ore": "2 * a * b"}
    (answer,) = compare(MINE, changes=changes, metrics=["ore_mean"], n=3, players=50, days=2, threads=1)
    assert answer.saying == "B higher"
