"""Detectors, comparisons, sensitivities and grids; and designs that no one would write by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tocsin.errors import InputError
from tocsin.experiment import Results
from tocsin.models.economy import compare, findings, load, recommend, run, sensitivity, sweep
from tocsin.models.economy.compare import Point, seeds_of
from tocsin.models.economy.read import read_design

BASE: dict[str, Any] = {
    "resources": {"gold": {}, "level": {"start": 1}},
    "personas": {"p": {"sessions": 2.5, "minutes": 5}},
    "activities": {
        "dig": {"chance": 0.5, "gain": {"gold": 10}},
        "up": {"at": "automatic", "cost": {"gold": "20 * level"}, "gain": {"level": 1}},
    },
    "churn": {"rate": "0.1 / level"},
    "milestones": {"tenth": "level >= 10"},
}


def changed(**parts: Any) -> dict[str, Any]:
    found = {key: dict(value) for key, value in BASE.items()}
    for path, value in parts.items():
        first, _, rest = path.partition("__")
        found[first] = {**found.get(first, {}), rest: value} if rest else value
    return found


def kinds(design: dict[str, Any], days: int = 20) -> dict[tuple[str, str], int]:
    return {(f.kind, f.subject): f.day for f in findings(run(design, 100, days, 1, threads=1))}


def test_a_difference_is_seen() -> None:
    """More gold gives higher levels, in every pair; the interval says so."""
    answers = {
        a.metric: a
        for a in compare(BASE, changes={"activities.dig.gain.gold": 12}, n=6, players=200, days=6, threads=1)
    }
    assert answers["level_mean"].saying == "B higher"
    assert answers["level_mean"].difference.difference.low > 0.0


def test_an_effect_that_cannot_show_is_said_to_be_one() -> None:
    """A change that never reaches a metric is no draw (defect: an A/B whose difference is exactly 0, unsaid)."""
    answers = compare(BASE, changes={"activities.dig.gain.gold": 11}, metrics=["payer_share", "sessions_per_active"], n=3, players=50,
                      days=1, threads=1)  # fmt: skip
    assert answers[0].saying == "no effect at all"
    assert "cannot show" in answers[0].note
    assert "bound" in answers[0].note


def test_pairs_beat_independent_runs() -> None:
    """The paired interval is far narrower than that of the two arms (defect: pairing ignored)."""
    (answer,) = compare(
        BASE, changes={"activities.dig.gain.gold": 11}, metrics=["level_mean"], n=8, players=100, days=6, threads=1
    )
    d = answer.difference
    assert d.difference.high - d.difference.low < 0.7 * (d.a.high - d.a.low + d.b.high - d.b.low)


def test_figures_that_neither_design_can_have_are_left_out() -> None:
    """Without prices nobody pays: no revenue is compared unless it is asked for, or one of the two has a shop."""
    shop = {"activities.dig.price": 1.0}
    money = [
        {a.metric for a in compare(BASE, changes=change, n=2, players=5, days=2, threads=1)} & {"payer_share", "arpdau"}
        for change in ({"activities.dig.gain.gold": 11}, shop)
    ]
    assert money == [set(), {"payer_share", "arpdau"}]


def test_two_designs_and_targets() -> None:
    """Two designs of any names are compared on what both have, against targets."""
    answers = compare(BASE, changed(activities__dig={"gain": {"gold": 10}}), metrics=["level_mean"],
                      targets={"level_mean": (0.0, 1e9)}, n=2, players=20, days=3, threads=1)  # fmt: skip
    assert (answers[0].a_verdict, answers[0].b_verdict) == ("PASS", "PASS")


def test_seeds_of_experiments_do_not_overlap() -> None:
    """Replicates of neighbouring seeds are others (defect: base + r)."""
    assert not set(seeds_of(2024, 50)) & set(seeds_of(2025, 50))


def test_elasticity_at_one_point() -> None:
    """Gold is proportional to what a dig gives if nothing is bought: elasticity 1, whatever the others are."""
    design = changed(activities={"dig": {"gain": {"gold": 1000}}})
    (one,) = sensitivity(design, ["activities.dig.gain.gold"], ["gold_mean"], n=3, players=30, days=2, threads=1)
    assert one.elasticity.mean == pytest.approx(1.0)
    assert one.is_significant


def test_an_unknown_metric_of_elasticities() -> None:
    """A sentence that names what there is."""
    with pytest.raises(InputError, match=r"no metric 'gold_mea' in every run\. Did you mean 'gold_mean'"):
        sensitivity(BASE, ["activities.dig.gain.gold"], ["gold_mea"], n=2, players=5, days=2, threads=1)


def test_grid_and_region() -> None:
    """A grid of two axes: verdicts, a bad design as a point, and a box in which all targets are met (defect: one axis)."""
    points = sweep(BASE, {"activities.dig.gain.gold": [5, 10, 20], "churn.rate": [0.0, 0.3, "oops"]},
                   {"retention_d3": (0.9, 1.0)}, n=2, players=40, days=5, threads=1)  # fmt: skip
    assert [bool(p.error) for p in points] == [False, False, True] * 3
    assert "unknown name 'oops'" in points[2].error
    box = recommend([p for p in points if not p.error], {"churn.rate": 0.0})
    assert box == {"activities.dig.gain.gold": (5, 20), "churn.rate": (0.0, 0.0)}


def test_a_grid_is_kept_and_resumed(tmp_path: Path) -> None:
    """A folder keeps every run: the same points as without, no run made twice, and only what is missing when it is resumed."""
    asked: dict[str, Any] = {"axes": {"activities.dig.gain.gold": [5, "5 + level"], "personas.p.hours.0.1": [20, 24]},
             "targets": {"gold_mean": (0.0, 1e9)}, "n": 3, "players": 30, "days": 3, "seed": 9, "threads": 1}  # fmt: skip
    plain = sweep(BASE, **asked)
    assert [p.values for p in plain] == [
        {"activities.dig.gain.gold": gold, "personas.p.hours.0.1": end} for gold in (5, "5 + level") for end in (20, 24)
    ]  # fmt: skip
    assert [p.error for p in plain] == [""] * 4
    assert sweep(BASE, out=tmp_path / "grid", **asked) == plain
    first = Results.load(tmp_path / "grid").table
    assert first.num_rows == 12
    assert sweep(BASE, out=tmp_path / "grid", resume=True, **asked) == plain
    assert Results.load(tmp_path / "grid").table.equals(first)  # the seconds too: nothing ran again
    with pytest.raises(InputError, match="resume"):
        sweep(BASE, out=tmp_path / "grid", **asked)
    with pytest.raises(InputError, match="out="):
        sweep(BASE, resume=True, **asked)
    with pytest.raises(InputError, match="points, got 0"):
        sweep(BASE, **{**asked, "axes": {}})


def test_recommend_takes_formulas_and_lists() -> None:
    """Where values are no numbers they stay in the order of the grid, and a number to start from is the middle."""
    points = [Point({"x": x, "y": y}, {}, {"m": "PASS"}) for x in (0.1, "oops", [1, 2]) for y in (3, 1)]
    assert recommend(points, {"x": 0.1, "y": 2}) == {"x": (0.1, [1, 2]), "y": (1, 3)}
    assert recommend(points[:2], {"x": 7.0}) == {"x": (0.1, 0.1), "y": (1, 3)}


def test_region_is_a_box_of_good_points() -> None:
    """A hole stops the growth."""
    points = [
        Point({"x": x, "y": y}, {}, {"m": "FAIL" if (x, y) == (2, 1) else "PASS"}) for x in range(3) for y in range(3)
    ]
    box = recommend(points, {"x": 0, "y": 0})
    inside = [p for p in points if all(box[k][0] <= p.values[k] <= box[k][1] for k in box)]
    assert len(inside) == 6
    assert all(p.is_feasible for p in inside)
    assert recommend([Point({"x": 0}, {}, {"m": "FAIL"})]) == {}


def test_stuck_progression() -> None:
    """Levels that cost ever more stop; the day on which they do is named."""
    found = kinds(changed(activities__up={"at": "automatic", "cost": {"gold": "20 * 4 ^ level"}, "gain": {"level": 1}},
                          churn={"rate": 0, "progress": "level", "stuck_days": 2}))  # fmt: skip
    assert 3 <= found["stuck progression", "players"] <= 20
    assert ("stuck progression", "players") not in kinds(changed(churn={"rate": 0, "progress": "gold + 1000 * level"}))


def test_inflation() -> None:
    """A currency without enough to spend it on inflates."""
    tiny = changed(
        activities__buy={"at": "day", "cost": {"gold": 1}}, activities__up={"at": "day", "gain": {"level": 1}}
    )
    tiny["activities"] = {
        **BASE["activities"],
        "buy": {"at": "day", "cost": {"gold": 1}},
        "up": {"at": "day", "gain": {"level": 1}},
    }
    assert ("inflation", "gold") in kinds({**tiny, "churn": {}})
    assert ("inflation", "gold") not in kinds(changed(churn={}))


def test_other_detectors() -> None:
    """Imbalance, exhaustion, dominated and unused options are named."""
    design = {
        "resources": {"energy": {"start": 100}, "gold": {}, "page": {"cap": 3}, "key": {}},
        "activities": {
            "good": {"cost": {"energy": 1}, "gain": {"gold": 50}},
            "poor": {"cost": {"energy": 1}, "gain": {"gold": 5}},
            "read": {"at": "session", "gain": {"page": 1}},
            "locked": {"cost": {"key": 1}, "gain": {"gold": 1}},
        },
    }
    found = kinds(design)
    assert ("reward imbalance", "good") in found
    assert ("dominated option", "poor") in found
    assert found["content exhaustion", "page"] == 3
    assert ("unused option", "locked") in found
    assert ("dominated option", "good") not in found


def test_sandtable_is_said_to_be_pinned() -> None:
    """Its win rate stands near .99, and its d1 is 1 by definition: nothing can show there."""
    found = {f.subject for f in findings(run({"preset": "sandtable"}, 100, 7, 1, threads=1))}
    assert {"win_rate", "retention_d1"} <= found


@pytest.mark.parametrize(
    ("parts", "rule"),
    [
        ({"resources__gold": {"strat": 1}}, r"resources.gold.strat: unknown key. Did you mean 'start'"),
        ({"activities__dig": {"chance": "skil"}}, "activities.dig.chance, column 1: unknown name 'skil'"),
        ({"activities__dig": {"gain": {"glod": 1}}}, "activities.dig.gain: there is no resource 'glod'. Did you mean 'gold'"),
        ({"activities__up": {"at": "automatic", "gain": {"level": 1}}}, "activities.up: done automatically"),
        ({"activities__up": {"at": "automatic", "cost": {"gold": "100 - level"}, "gain": {"level": 1}}}, "at level = 100"),
        ({"activities__up": {"at": "sometimes"}}, "activities.up.at: must be 'choice', 'session'"),
        ({"churn": {"stuck_days": 0}}, "churn.stuck_days: must be greater than or equal to 1, got 0"),
        ({"personas": {"p": {"hours": [[9, 8, 1]]}}}, "personas.p: value|personas.p: hours must be"),
        ({"personas": {"p": {"share": 0}}}, "personas.p.share"),
        ({"formulas": {"a": "b", "b": "a"}}, "circle"),
        ({"formulas": {"gold": "1"}}, "'gold' is a resource and a formula"),
        ({"parameters": {"min": 1}}, "'min' is a function"),
        ({"tables": {"t": [[1, 2], [1, 3]]}}, "tables.t: the x"),
        ({"loot": {"l": {"entries": [{"loot": "l"}]}}}, "circle"),
        ({"loot": {"l": {"classes": [{"name": "a", "rate": 0.7}, {"name": "b", "rate": 0.7}], "entries": [{"class": "a"}, {"class": "b"}]}}},
         "add up to 1.4"),
        ({"loot": {"l": {"classes": [{"name": "a", "rate": 0.7}], "entries": [{}]}}}, 'no entry with class = "a"'),
        ({"loot": {"l": {"classes": [{"name": "a", "rate": 1.7}], "entries": []}}}, r"loot.l.classes\[0\].rate"),
        ({"calendar": {"c": {"first_day": 3, "last_day": 2}}}, "last_day must be"),
        ({"installs": [0]}, "installs"),
        ({"Resources": {}}, "Resources: unknown key. Did you mean 'resources'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(parts: dict[str, Any], rule: str) -> None:
    """A bad design is refused at load with path, value and rule."""
    with pytest.raises(InputError, match=rule):
        load(changed(**parts))


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 200), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["gold", "level + 1", "1 / 0", "20 * level", "1e400", "gold - level", "choice", "automatic", "lookup(t, 1)"]),
)  # fmt: skip
KEYS = st.sampled_from([
    "resources", "activities", "personas", "churn", "gold", "level", "dig", "up", "cost", "gain", "rate", "at", "loot",
    "entries", "classes", "start", "cap", "per_hour", "sessions", "hours", "weights", "traits", "tables", "t", "weight", "chance",
    "minutes", "installs", "calendar", "draws", "formulas", "preset", "model", "combat", "dungeon",
])  # fmt: skip
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=8
)
PATHS = st.lists(KEYS, min_size=1, max_size=4).map(".".join)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(KEYS, TREES, max_size=5))
def test_any_tree_is_a_design_or_an_input_error(tree: dict[str, Any]) -> None:
    """Whatever is loaded is a design or is refused with a rule."""
    try:
        load(tree)
    except InputError as error:
        assert str(error)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(PATHS, TREES, min_size=1, max_size=2),
    st.sampled_from(["hero-collector", "idle-prestige", "battle-pass"]),
)
def test_a_damaged_design_runs_or_is_refused(changes: dict[str, Any], name: str) -> None:
    """A change anywhere in a shipped design ends in a run or in an input error: no hang, no other error."""
    try:
        design = load(f"package:{name}", changes)
    except InputError:
        return
    assert run(design, 5, 2, 1, threads=1).summary()


NUMBERS = st.one_of(
    st.integers(-2, 2000), st.sampled_from([0.0, 0.5, 1.0, 1e-9, 1e9, -1.0, 100, 64, 32, 1]), st.floats()
)
SANDTABLE_PATHS = st.sampled_from([
    "model.warrior.attack", "model.warrior.hp", "model.warrior.defense", "model.combat.p_hit", "model.combat.dmg_var",
    "model.combat.max_rounds", "model.dungeon.tiers", "model.dungeon.tier_growth", "model.dungeon.reward_xp",
    "model.dungeon.reward_xp_growth", "model.dungeon.m_hp", "model.progression.xp_base", "model.progression.xp_pow",
    "model.progression.upgrade_cost_base", "model.progression.upgrade_cost_num", "model.progression.level_hp_gain",
    "model.churn.p_base", "model.churn.stall_days", "model.gacha.base_rate", "model.gacha.pity_hard", "model.whale_gain_mult",
    "model.behavior.casual.sessions_int", "model.behavior.whale.p_upgrade", "model.formulas.xp_needed", "model.training.xp",
])  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(SANDTABLE_PATHS, NUMBERS, min_size=1, max_size=4), st.sampled_from(["rounds", "exact"]))
def test_damaged_sandtable_designs_run_or_are_refused(changes: dict[str, Any], battles: str) -> None:
    """The sandtable rules bear every design that their validation lets through."""
    try:
        design = load({"preset": "sandtable"}, changes)
    except InputError:
        return
    assert run(design, 5, 3, 1, threads=1, battles=battles).summary()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([".toml", ".json", ".yaml"]))
def test_any_file_is_a_design_or_an_input_error(tmp_path_factory: Any, content: bytes, suffix: str) -> None:
    """Whatever a file holds, it is read or refused."""
    path = tmp_path_factory.mktemp("designs") / f"d{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_design(path)


def test_yaml_and_json(tmp_path: Any) -> None:
    """The same design in three formats is one design."""
    import json

    toml = 'resources.gold.start = 5\nactivities.dig.gain.gold = "1 + 1"\n'
    tree = {"resources": {"gold": {"start": 5}}, "activities": {"dig": {"gain": {"gold": "1 + 1"}}}}
    for suffix, text in ((".toml", toml), (".json", json.dumps(tree)), (".yaml", json.dumps(tree))):
        (tmp_path / f"d{suffix}").write_text(text)
        assert read_design(tmp_path / f"d{suffix}") == read_design(tree)
