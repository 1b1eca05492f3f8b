"""Loot targets: draws of a table until it has given all that is wanted, against exact laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tocsin import InputError
from tocsin.models.economy import draws_to_target, load, pulls_to_featured, pulls_to_hit, run

BOX: dict[str, Any] = {
    "resources": {"ticket": {}, "a": {}, "b": {}, "c": {}, "gold": {}},
    "activities": {"open": {"cost": {"ticket": 1}, "loot": "box"}, "spin": {"loot": "gacha"}},
    "loot": {
        "box": {"entries": [{"gain": {"a": 1}}, {"gain": {"b": 1}}, {"loot": "inner"}], "targets": {"set": {"a": 1, "b": 1, "c": 1}}},
        "inner": {"entries": [{"gain": {"c": 1}}]},
        "gacha": {
            "classes": [{"name": "ssr", "rate": 0.02, "hard": 50, "featured_share": 0.5}],
            "entries": [{"class": "ssr", "featured": True, "gain": {"a": 1}}, {"class": "ssr", "gain": {"b": 1}}, {"gain": {"gold": 5}}],
        },
    },
}  # fmt: skip


def test_coupon_collector() -> None:
    """All of three equally likely things: 5.5 draws on average, standard deviation sqrt(6.75) (4.5 standard errors)."""
    n = 4000
    found = draws_to_target(BOX, "box", {"a": 1, "b": 1, "c": 1}, players=n, seed=2)
    assert found.reached == n
    assert abs(found.mean - 5.5) < 4.5 * math.sqrt(6.75 / n)
    assert int(found.counts[:3].sum()) == 0
    assert abs(found.counts[3] / n - 6 / 27) < 4.5 * math.sqrt(6 / 27 * 21 / 27 / n)


@pytest.mark.parametrize("copies", [1, 2])
def test_featured_copies_have_the_exact_law(copies: int) -> None:
    """Pulls to so many featured ones: the distribution function is that of the Markov chain (4.5 standard errors)."""
    n = 4000
    law = pulls_to_featured(pulls_to_hit(0.02, hard=50), 0.5, copies=copies)
    found = draws_to_target(BOX, "gacha", {"a": copies}, players=n, seed=4)
    assert abs(found.mean - law.mean) < 4.5 * law.sd / math.sqrt(n)
    total = np.cumsum(found.counts)
    for pulls in (10, 30, 60, 95):
        p = law.within(pulls)
        assert abs(total[pulls] / n - p) < 4.5 * math.sqrt(p * (1 - p) / n) + 1e-12, pulls


def test_targets_of_a_run() -> None:
    """In a run the target is 1 in formulas once met, and the table says how many met it with how many draws."""
    changes = {
        "resources.ticket.start": 60,
        "activities.open.minutes": 0.05,
        "activities.open.when": "box_set == 0",
        "activities.spin.when": 0,
    }
    result = run(BOX, 300, 3, 1, changes=changes, threads=1, shards=3)
    (row,) = result.target_rows()  # type: ignore[union-attr]
    spent = next(r["amount"] for r in result.flow_rows() if r["by"] == "open" and r["kind"] == "sink")  # type: ignore[union-attr]
    assert row["reached"] == 300
    assert row["draws_mean"] * 300 == pytest.approx(spent)  # nobody opens more than it takes
    assert 3 <= row["draws_p10"] <= row["draws_p50"] <= row["draws_p99"] <= 60
    assert result.summary()["share_box_set"] == 1.0


def test_what_was_drawn_counts_not_what_is_held() -> None:
    """Selling it again, or a full stock, does not take a target away."""
    changes = {"resources.a.cap": 0, "resources.ticket.start": 40, "activities.spin.when": 0}
    (row,) = run(BOX, 100, 3, 1, changes=changes, threads=1).target_rows()  # type: ignore[union-attr]
    assert row["reached"] == 100


@pytest.mark.parametrize(
    ("table", "wanted", "rule"),
    [
        ("bax", {"a": 1}, "there is no loot table 'bax'. Did you mean 'box'"),
        ("box", {"aa": 1}, "there is no resource 'aa'"),
        ("box", {"a": 0}, "loot.box.targets.wanted.a: must be greater than or equal to 1, got 0"),
        ("box", {}, "must name at least one resource"),
    ],
)
def test_what_is_refused(table: str, wanted: dict[str, int], rule: str) -> None:
    """Path, value and rule."""
    with pytest.raises(InputError, match=rule):
        draws_to_target(BOX, table, wanted)


def test_a_target_that_never_comes() -> None:
    """Nobody reaches what no entry gives; there is no mean to speak of."""
    found = draws_to_target(BOX, "box", {"gold": 1}, players=2)
    assert (found.reached, math.isnan(found.mean)) == (0, True)
    assert load(BOX)
