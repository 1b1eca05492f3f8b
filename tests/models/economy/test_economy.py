"""Declared economies: laws, the same bits however the work is divided, and pulls against exact answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tocsin import InputError, Simulation
from tocsin.models.economy import world as w
from tocsin.models.economy.build import arrivals, plan_of, world_of
from tocsin.models.economy.exact import pulls_to_featured, pulls_to_hit
from tocsin.models.economy.model import MODEL
from tocsin.models.economy.read import DESIGNS, design_hash, read_design
from tocsin.models.economy.result import EconomyResult
from tocsin.models.economy.run import load, run

EXAMPLES = ("hero-collector", "idle-prestige", "battle-pass")
SMALL: dict[str, Any] = {
    "resources": {"gold": {"start": 10}, "energy": {"start": 5, "cap": 5, "per_hour": 1}},
    "activities": {"dig": {"cost": {"energy": 1}, "gain": {"gold": 3}}},
}


def example(name: str) -> str:
    return f"package:{name}"


def one(design: Any, players: int = 50, days: int = 5, seed: int = 1, **more: Any) -> EconomyResult:
    found = run(design, players, days, seed, threads=1, **more)
    assert isinstance(found, EconomyResult)
    return found


def tables(result: EconomyResult) -> list[Any]:
    return [result.summary(), result.day_rows(), result.flow_rows(), result.cohort_rows(), result.distribution_rows(),
            result.milestone_rows(), result.persona_rows()]  # fmt: skip


@pytest.mark.parametrize("name", [*EXAMPLES, "trading-post"])
def test_shards_and_threads_do_not_matter(name: str) -> None:
    """Any number of shards and threads gives the same report."""
    design = load(example(name))
    whole = tables(one(design, 60, 6, shards=1))
    for threads, shards in ((1, 7), (2, 3), (4, 60)):
        assert tables(run(design, 60, 6, 1, threads=threads, shards=shards)) == whole  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*EXAMPLES, "trading-post"])
def test_interpreted_and_audited(name: str) -> None:
    """Plain Python gives the bits of compiled code, and no event leaves a clock untouched that it disturbs."""
    plan = plan_of(read_design(example(name)))  # type: ignore[arg-type]
    personas, days = arrivals(plan.design, 3, 4)
    start = world_of(plan, personas, np.minimum(days, 1), 0, 2)
    runs = [Simulation(MODEL, start, seed=4, jit=True), Simulation(MODEL, start, seed=4, jit=False, audit=True)]
    for simulation in runs:
        simulation.run(until=2.0)
    assert runs[0].state_hash() == runs[1].state_hash()


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_is_lost(name: str) -> None:
    """What all players hold is what they began with, and all sources less all sinks."""
    plan = plan_of(read_design(example(name)))  # type: ignore[arg-type]
    n, n_days = 40, 30
    personas, days = arrivals(plan.design, n, 2)
    simulation = Simulation(MODEL, world_of(plan, personas, np.minimum(days, n_days - 1), 0, n_days), seed=2)
    simulation.run(until=float(n_days))
    world = simulation.world
    for name_, stock in plan.stocks.items():
        row = plan.tables["stocks"][stock]
        held = int(world.own.values[:, row["column"]].sum())
        flows = [(k, f) for k, f in enumerate(plan.flows) if f.resource == name_]
        words = world.flows.values.sum(axis=0).astype(object)
        change = sum((1 if f.is_source else -1) * (words[k, 0] + words[k, 1] * (1 << 32)) for k, f in flows)
        assert held == n * int(row["start"]) + change, name_


def test_energy_paces_play() -> None:
    """One unit an hour from 5 on: a player cannot do more than 5 + 24 times the days, and cap means what it says."""
    result = one({**SMALL, "personas": {"p": {"sessions": 20, "minutes": 60, "hours": [[0, 24, 1]]}}}, 100, 4)
    rows = {(r["resource"], r["kind"]): r["amount"] for r in result.flow_rows()}
    assert rows["energy", "sink"] * 3 == rows["gold", "source"]
    assert 0.6 * 100 * 24 * 4 < rows["energy", "sink"] <= 100 * (5 + 24 * 4)
    assert max(r["p99"] for r in result.distribution_rows() if r["resource"] == "energy") <= 5


def test_retention_is_the_industrys() -> None:
    """Leaving with probability 0.2 a day played: D-n is 0.8^n of those installed, D-0 all (4.5 standard errors)."""
    n = 4000
    design = {**SMALL, "churn": {"rate": 0.2}, "installs": [1.0, 1.0]}
    result = one(design, n, 6)
    found = {row["day"]: row for row in result.retention()}
    assert found[0]["retention"] == 1.0
    for age in (1, 3, 5):
        p, size = 0.8**age, found[age]["installed"]
        assert abs(found[age]["retention"] - p) < 4.5 * math.sqrt(p * (1 - p) / size)
    assert found[5]["installed"] < found[4]["installed"] == n  # only who could have been there so long
    calendar = {row["day"]: row["retention"] for row in result.retention("calendar")}
    assert calendar[1] == 1.0
    assert abs(calendar[2] - 0.8) < 4.5 * math.sqrt(0.16 / (n / 2 * 0.9))


@pytest.mark.parametrize(("pity", "mean"), [({"rate": 0.02, "hard": 50}, 31.7920), ({"rate": 0.02}, 50.0),
    ({"rate": 0.006, "soft_start": 74, "soft_step": 0.06, "hard": 90}, 62.297)])  # fmt: skip
def test_expected_pulls(pity: dict[str, float], mean: float) -> None:
    """Closed forms and published expectations."""
    law = pulls_to_hit(**pity)  # type: ignore[arg-type]
    assert law.mean == pytest.approx(mean, abs=6e-4)
    assert law.probability.sum() == pytest.approx(1.0)


def test_featured_pulls() -> None:
    """Half the hits are featured: 1.5 hits with carry-over, 2 without; copies add up."""
    hit = pulls_to_hit(0.02, hard=50)
    assert pulls_to_featured(hit, 0.5).mean == pytest.approx(1.5 * hit.mean)
    assert pulls_to_featured(hit, 0.5, carry_over=False).mean == pytest.approx(2.0 * hit.mean)
    assert pulls_to_featured(hit, 0.5, copies=3).mean == pytest.approx(4.5 * hit.mean)
    assert hit.within(50) == pytest.approx(1.0)
    assert hit.pulls_for(0.5) == 35  # 1 - 0.98^35 > 0.5 > 1 - 0.98^34


def pull_design(cls: dict[str, Any], per_player: int) -> dict[str, Any]:
    return {
        "resources": {"ticket": {"start": per_player}, "hit": {}, "star": {}, "rest": {}},
        "personas": {"p": {"minutes": 1440, "hours": [[0, 1, 1]]}},
        "activities": {"pull": {"cost": {"ticket": 1}, "loot": "box", "minutes": 0.05}},
        "loot": {"box": {"classes": [{"name": "ssr", **cls}], "entries": [
            {"class": "ssr", "featured": True, "gain": {"hit": 1, "star": 1}}, {"class": "ssr", "gain": {"hit": 1}},
            {"gain": {"rest": 1}}]}},
    }  # fmt: skip


@pytest.mark.parametrize("cls", [{"rate": 0.02, "hard": 50, "featured_share": 0.5},
                                 {"rate": 0.01, "soft_start": 10, "soft_step": 0.05, "featured_share": 0.3, "carry_over": False}])  # fmt: skip
def test_simulated_pulls(cls: dict[str, Any]) -> None:
    """Hits and featured hits within n pulls have the exact probability (4.5 standard errors)."""
    n = 2000
    hit = pulls_to_hit(**{k: v for k, v in cls.items() if k not in ("featured_share", "carry_over")})
    star = pulls_to_featured(hit, cls["featured_share"], carry_over=cls.get("carry_over", True))
    for pulls in (5, 30):
        design = {**pull_design(cls, pulls), "milestones": {"hit": "hit >= 1", "star": "star >= 1"}}
        found = {row["milestone"]: row["share"] for row in one(design, n, 1).milestone_rows()}
        for name, law in (("hit", hit), ("star", star)):
            p = law.within(pulls)
            assert abs(found[name] - p) < 4.5 * math.sqrt(p * (1 - p) / n), (name, pulls)


def test_every_so_many_pulls() -> None:
    """`every` comes on each n-th pull, hit or not in between."""
    result = one(pull_design({"rate": 0.0, "every": 4}, 10), 20, 1)
    rows = {row["resource"]: row["amount"] for row in result.flow_rows() if row["kind"] == "source"}
    assert (rows["hit"], rows["rest"]) == (40, 160)


def test_nested_tables_and_a_rate_multiplier() -> None:
    """A table may lead to another, and what it gives follows the calendar (defect: loot that nothing draws from)."""
    design = {
        "resources": {"ticket": {"start": 8}, "a": {}, "b": {}},
        "personas": {"p": {"minutes": 1440, "hours": [[0, 1, 1]]}},
        "activities": {"open": {"cost": {"ticket": 1}, "loot": "outer", "draws": 2}},
        "loot": {"outer": {"entries": [{"loot": "inner"}]}, "inner": {"entries": [{"gain": {"a": 1}}, {"weight": 0, "gain": {"b": 1}}]}},
        "calendar": {"twice": {"first_day": 1, "last_day": 1, "multiply": {"a": 2}}},
    }  # fmt: skip
    rows = {row["resource"]: row["amount"] for row in one(design, 10, 1).flow_rows() if row["kind"] == "source"}
    assert rows == {"a": 10 * 8 * 2 * 2, "b": 0}


def test_limits_and_purchases() -> None:
    """At most so often a day and in all; money is counted to the cent."""
    design = {
        "resources": {"gold": {}},
        "personas": {"p": {"sessions": 4, "hours": [[0, 24, 1]]}},
        "activities": {
            "pack": {"at": "session", "price": 4.99, "in_total": 2, "gain": {"gold": 1}},
            "ad": {"at": "session", "per_day": 3, "gain": {"gold": 1}},
            "bonus": {"at": "day", "gain": {"gold": "streak"}},
        },
    }
    result = one(design, 10, 3)
    rows = {row["by"]: row["amount"] for row in result.flow_rows()}
    assert rows == {"pack": 20, "ad": 90, "bonus": 10 * (1 + 2 + 3)}
    assert result.summary()["revenue_per_install"] == pytest.approx(2 * 4.99)
    assert result.summary()["payer_share"] == 1.0


def test_sessions_lie_at_their_hours() -> None:
    """Players play within the hours of their persona, spread by weight (4.5 standard errors)."""
    design = {
        "resources": {"early": {}, "late": {}},
        "personas": {"p": {"sessions": 2.5, "hours": [[6, 8, 3], [20, 21, 2]]}},
        "activities": {"note": {"at": "session", "gain": {"early": "6 <= hour <= 8", "late": "20 <= hour <= 21"}}},
    }
    result = one(design, 2000, 1)
    rows = {row["resource"]: row["amount"] for row in result.flow_rows()}
    n = int(result.counts["days"][0, w.SESSIONS])
    assert rows["early"] + rows["late"] == n
    assert abs(rows["early"] / n - 0.75) < 4.5 * math.sqrt(0.75 * 0.25 / n)
    assert abs(n / 2000 - 2.5) < 4.5 * math.sqrt(0.25 / 2000)


def test_traits_vary() -> None:
    """Traits are drawn from their distributions, by persona."""
    design = {
        "resources": {"total": {}},
        "traits": {"skill": {"kind": "normal", "a": 100, "b": 10, "least": 0}},
        "personas": {"p": {}, "q": {"share": 1e-9, "traits": {"skill": 5}}},
        "activities": {"test": {"at": "day", "gain": {"total": "1000 * skill"}}},
    }
    n = 4000
    total = one(design, n, 1).flow_rows()[0]["amount"]
    assert abs(total / 1000 / n - 100) < 4.5 * 10 / math.sqrt(n)


def test_pairs_share_their_draws() -> None:
    """A change that touches nothing else leaves all else as it was: who comes when, and every other roll."""
    a, b = (one(example("hero-collector"), 100, 7, changes={"activities.train.gain.xp": x}) for x in (30, 31))
    assert a.counts["days"][0, w.SESSIONS] == b.counts["days"][0, w.SESSIONS]
    assert a.counts["by_persona"][:, w.INSTALLS].tolist() == b.counts["by_persona"][:, w.INSTALLS].tolist()
    apart = abs(a.summary()["heroes_ssr_mean"] - b.summary()["heroes_ssr_mean"])
    assert apart < 0.05


def test_hash_is_of_the_content() -> None:
    """Defaults written out and another order of keys give the same hash; another value another."""
    long = {**SMALL, "name": "economy", "churn": {"rate": 0.0}}
    short = dict(reversed(SMALL.items()))
    assert design_hash(read_design(long)) == design_hash(read_design(short))
    assert design_hash(read_design(SMALL, {"resources.gold.start": 11})) != design_hash(read_design(SMALL))


def test_yaml_aliases_cannot_make_a_design_without_end(tmp_path):
    """A few hundred bytes that stand for a billion values are refused, at once."""
    path = tmp_path / "bomb.yaml"
    lines = ["a: &a [x]", "b: &b [*a,*a,*a,*a,*a,*a,*a,*a]"]
    for i in range(9):
        inner = ",".join([f"*{'b' if i == 0 else f'c{i - 1}'}"] * 9)
        lines.append(f"c{i}: &c{i} [{inner}]")
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match="more than 500,000 values"):
        read_design(path)


def test_a_name_that_no_file_can_have():
    """One sentence, as for a file that is not there."""
    with pytest.raises(InputError, match="cannot read"):
        read_design("a\0.toml")


def test_a_byte_order_mark_is_no_error(tmp_path):
    """Some editors write one."""
    path = tmp_path / "marked.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (DESIGNS / "hero-collector.toml").read_bytes())
    assert read_design(path) == read_design("package:hero-collector")


def test_progress_counts_from_what_a_player_begins_with() -> None:
    """Who starts at level 5 and never rises has made no progress, on the first day either; and a loss that shrinks is progress."""
    design = {
        "resources": {"level": {"start": 5}, "gold": {}},
        "activities": {"dig": {"at": "day", "gain": {"gold": 1}}},
    }
    for progress, stuck in (("level", [0, 20, 20, 20]), ("gold - 100", [0, 0, 0, 0]), ("0 - 7", [0, 20, 20, 20])):
        result = run({**design, "churn": {"progress": progress, "stuck_days": 2}}, 20, 4, 1, threads=1)
        assert [row["stuck"] for row in result.day_rows()] == stuck


def test_a_session_has_as_many_activities_as_fit() -> None:
    """Ten minutes hold ten activities of one minute, on any day and at any hour."""
    design = {"resources": {"gold": {}}, "activities": {"dig": {"gain": {"gold": 1}}}}
    result = run(
        {**design, "personas": {"p": {"sessions": 2, "minutes": 10, "hours": [[0, 20, 1]]}}}, 300, 9, 1, threads=1
    )
    days = result.day_rows()
    assert sum(row["activities"] for row in days) == 10 * sum(row["sessions"] for row in days) == 10 * 300 * 9 * 2
