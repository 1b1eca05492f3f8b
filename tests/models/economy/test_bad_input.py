"""Every number of a design has bounds: what lies beyond is refused with path, value and rule, and the rest runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tocsin.cli._app import app
from tocsin.errors import InputError
from tocsin.models.economy import load, pulls_to_featured, pulls_to_hit, run
from tocsin.models.economy.sheet import read_values, values_of
from tocsin.stats import interval, verdict

EXAMPLES = ("hero-collector", "idle-prestige", "battle-pass")
LEAVES = [
    (name, path)
    for name in EXAMPLES
    for path, value in values_of(load(f"package:{name}")).items()
    if isinstance(value, (int, float)) and not isinstance(value, bool)
]
WILD = st.one_of(
    st.integers(-3, 300), st.floats(), st.booleans(), st.integers(), st.text(max_size=4),
    st.sampled_from([-1.0, -1e-9, 0.0, 0.5, 1.0, 1.5, 1e9, 1e16, 1e300, "nan", "1 / 0", "-1", "2 * 0.75", "1e400"]),
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(LEAVES), WILD)
def test_a_number_anywhere_runs_or_is_refused(leaf: tuple[str, str], value: Any) -> None:
    """Any value in the place of any number: a run, or an error that begins with the path of what it breaks."""
    name, path = leaf
    try:
        design = load(f"package:{name}", {path: value})
    except InputError as error:
        assert re.match(
            r"(resources|parameters|activities|personas|loot|calendar|churn|traits|installs|tables)\b.*: .", str(error)
        )
        return
    assert run(design, 4, 2, 1, threads=1).summary()


HERO = "package:hero-collector"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"activities.battle.chance": -1}, r"activities.battle.chance: must be in 0..1, got -1"),
    ({"activities.battle.chance": 1.5}, r"activities.battle.chance: must be in 0..1, got 1.5"),
    ({"activities.battle.chance": "2 * 0.75"}, r"activities.battle.chance: must be in 0..1, got 1.5 from '2 \* 0.75'"),
    ({"activities.battle.chance": "xp_base"}, r"activities.battle.chance: must be in 0..1, got 100 from 'xp_base'"),
    ({"activities.battle.chance": True}, "activities.battle.chance"),
    ({"activities.battle.chance": float("nan")}, "activities.battle.chance"),
    ({"activities.battle.weight": -1}, "activities.battle.weight: must be in 0"),
    ({"activities.starter_pack.weight": 1.2}, "activities.starter_pack.weight: must be in 0..1, got 1.2"),
    ({"activities.battle.minutes": 0}, "activities.battle.minutes: must be in 0.05..1440, got 0"),
    ({"activities.pull_ten.draws": 1000}, "activities.pull_ten.draws: must be in 1..100, got 1000"),
    ({"activities.farm.draws": 1}, "activities.farm: draws needs loot"),
    ({"activities.gem_pack.price": 0.001}, "activities.gem_pack: price must be in whole cents, got 0.001"),
    ({"activities.gem_pack.price": -4.99}, "activities.gem_pack.price: must be greater than or equal to 0, got -4.99"),
    ({"activities.train.cost.gold": -5}, r"activities.train.cost.gold: must be in 0..9e\+15, got -5"),
    ({"activities.farm.gain.gold": -5}, r"activities.farm.gain.gold: must be in 0..9e\+15, got -5"),
    ({"activities.level_up.weight": 1}, "activities.level_up: weight has no effect"),
    ({"activities.gem_pack.minutes": 3}, "activities.gem_pack: minutes has an effect only"),
    ({"resources.energy.per_hour": -2}, r"resources.energy.per_hour: must be in 0..1e\+12, got -2"),
    ({"resources.energy.cap": 10}, r"resources.energy.cap: must be in 60..9e\+15, got 10"),
    ({"resources.gold.start": 0.5}, "resources.gold: start must be a whole number, got 0.5"),
    ({"resources.gold.start": -1}, "resources.gold.start: must be greater than or equal to 0, got -1"),
    ({"churn.rate": 1.01}, "churn.rate: must be in 0..1, got 1.01"),
    ({"churn.rate": "-0.1"}, "churn.rate: must be in 0..1, got -0.1 from '-0.1'"),
    ({"traits.skill": {"kind": "uniform", "a": 2, "b": 1}}, "traits.skill: a, the least, must be <= b"),
    ({"traits.skill.b": -0.1}, "traits.skill: b, the standard deviation, must be >= 0, got -0.1"),
    ({"personas.casual.weights.level_up": 2}, "personas.casual.weights.level_up: has no effect"),
    ({"loot.banner.classes.0.rate": 1.5}, r"loot.banner.classes\[0\].rate"),
    ({"activities.battle.per_day": 1.5}, "activities.battle.per_day: must be a whole number, got 1.5"),
    ({"activities.battle": 3}, "activities.battle: must be a table, got 3"),
    ({"resources.gms.start": 5}, "resources has no 'gms'. Did you mean 'gems'"),
]


@pytest.mark.parametrize(("changes", "rule"), REFUSED, ids=[f"{k}={v}"[:60] for c, _ in REFUSED for k, v in c.items()])
def test_out_of_bounds(changes: dict[str, Any], rule: str) -> None:
    """Each is refused at load, with path, value and rule."""
    with pytest.raises(InputError, match=rule):
        load(HERO, changes)


def test_what_never_ends_is_not_read_to_its_end() -> None:
    """A device in the place of a design or of a spreadsheet: a sentence, and no more memory than a design may take."""
    with pytest.raises(InputError, match="zero has more than 4,000,000 bytes"):
        load("/dev/zero")
    with pytest.raises(InputError, match="zero has more than 4,000,000 bytes"):
        read_values("/dev/zero")


@pytest.mark.parametrize("asked", [{"rate": 1e-9}, {"rate": 0.0, "hard": 5_000_000}])
def test_a_law_is_whole_or_refused(asked: dict[str, Any]) -> None:
    """A law that is longer than its table is not cut short without a word."""
    with pytest.raises(InputError, match="more than 2,000,000 pulls"):
        pulls_to_hit(**asked)


def test_long_laws() -> None:
    """Rare hits, half of them featured: 1.5 hits on average, whose law has some 10**5 entries; without carry-over that is too long."""
    hit = pulls_to_hit(5e-4)
    star = pulls_to_featured(hit, 0.5)
    assert star.mean == pytest.approx(1.5 / 5e-4)
    assert star.probability.sum() == pytest.approx(1.0, abs=1e-12)
    assert pulls_to_featured(hit, 1.0) is hit
    for law, share in ((hit, 0.5), (pulls_to_hit(0.3), 1e-4)):
        with pytest.raises(InputError, match="is too long to be solved"):
            pulls_to_featured(law, share, carry_over=False)


def test_targets_are_numbers() -> None:
    """NaN is no end of a target."""
    change = ("--set", "activities.quest.gain.points=1")
    code, _, err = call("economy", "compare", "package:battle-pass", *change, "--target", "payer_share=nan:1")
    assert (code, "must read METRIC=LEAST:MOST" in err) == (2, True)
    with pytest.raises(InputError, match="least must be <= most"):
        verdict(interval([1.0, 2.0]), float("nan"), 1.0)


def test_a_formula_may_pass_its_bounds_where_it_is_cut() -> None:
    """What follows the state of a player is cut to its bounds, as documented: a chance of 7 is certain, a cost below 0 is 0."""
    changes = {"activities.battle.chance": "7 * level", "activities.train.cost.gold": "0 - level"}
    flows = {(r["by"], r["resource"]): r["amount"] for r in run(load(HERO, changes), 20, 2, 1, threads=1).flow_rows()}  # type: ignore[union-attr]
    assert flows["train", "gold"] == 0
    assert flows["battle", "stage"] * 6 <= flows["battle", "energy"]
    assert flows["battle", "stage"] > 0


def call(*args: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, list(args))
    assert found.exception is None or isinstance(found.exception, SystemExit)
    return found.exit_code, found.stdout, found.stderr


MINER = """[resources]
gold = {}
[activities.dig]
gain = { gold = 3 }
"""


@pytest.mark.parametrize(
    ("text", "change", "figure"),
    [(MINER, "activities.dig.gain.gold=5", "gold_mean"), ('preset = "sandtable"', "model.warrior.attack=105", "gold_earned")],
)  # fmt: skip
def test_a_design_is_a_scenario(tmp_path: Any, text: str, change: str, figure: str) -> None:
    """`tocsin run` takes a design as it is; `--set` reaches the design and the scenario."""
    path = tmp_path / "d.toml"
    path.write_text(text)
    sizes = ("--set", "init.players=20", "--set", "init.days=3", "--until", "3", "--out", str(tmp_path / "out"))
    found = [call("run", str(path), *sizes, *more) for more in ((), ("--set", change))]
    assert [code for code, _, _ in found] == [0, 0], found
    values = [re.search(rf"{figure} +(\S+)", out) for _, out, _ in found]
    assert all(values)
    assert values[0][1] != values[1][1]  # type: ignore[index]
    assert call("run", str(path), "--set", "activities.dig.chance=3")[0] == 2


def test_a_scenario_is_no_design(tmp_path: Any) -> None:
    """`tocsin validate` says what it was given, and what checks it."""
    path = tmp_path / "queue.toml"
    path.write_text('model = "mm1"\n[run]\nuntil = 1.0\n')
    with pytest.raises(
        InputError, match=r"this is a scenario, as it names a model; .*`tocsin check` checks a scenario"
    ):
        load(path)
