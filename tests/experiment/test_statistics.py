"""Intervals keep their confidence; paired comparisons and sensitivities find what is known."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from tocsin.cli import app
from tocsin.errors import InputError
from tocsin.experiment import bootstrap_interval, compare, mean_interval, quantile_interval, sensitivity
from tocsin.experiment._intervals import holm, replicates_needed, two_stage_interval

from ._sweeps import ARRIVAL, queue


def test_one_replicate_has_no_interval():
    """Unknown, not of zero width."""
    for interval in (mean_interval([2.0]), bootstrap_interval([2.0], np.median)):
        assert interval.estimate == 2.0
        assert math.isnan(interval.low)
        assert math.isnan(interval.half_width)
    assert mean_interval([]).n == 0


def test_95_per_cent_intervals_cover_in_94_to_96_per_cent():
    """20,000 experiments of 12 Poisson counts, mean 10: the law of immigration and death at rest."""
    counts = np.random.default_rng(1).poisson(10.0, (20_000, 12))
    hits = np.mean([i.low <= 10.0 <= i.high for i in map(mean_interval, counts)])
    assert 0.94 <= hits <= 0.96


def test_chosen_lengths_keep_the_confidence():
    """Stein's two stages: 20,000 experiments that stop at ±0.25, and cover as often as they say."""
    draws, hits = np.random.default_rng(2).normal(3.0, 1.0, (20_000, 400)), 0
    for x in draws:
        n = min(replicates_needed(x, 10, 0.25), 400)
        interval = two_stage_interval(x[:n], 10)
        hits += interval.low <= 3.0 <= interval.high
        assert n == 400 or interval.half_width <= 0.25
    assert 0.94 <= hits / 20_000 <= 0.96


def test_auto_adds_replicates_until_the_target_is_met():
    """Each candidate has as many as it needs, and its interval is as short as asked."""
    sweep = queue({ARRIVAL: [0.2, 0.6]}, replicates="auto", target="Idle.mean ±10%", least=10, most=300)
    results = sweep.run(workers=1)
    found = results.intervals("Idle.mean")
    assert all(i.half_width <= 0.1 * i.estimate for i in found.values())
    assert 10 <= found[0].n < found[1].n < 300
    assert sweep.run(workers=3).hash() == results.hash()


def test_a_target_that_is_no_metric_is_refused():
    """After the first stage, when the metrics are known."""
    with pytest.raises(InputError, match=r"no metric 'Idle.maen'. Did you mean 'Idle.mean'\?"):
        queue(replicates="auto", target="Idle.maen ±4%", least=2).run(workers=1)


def test_quantiles_have_bootstrap_intervals():
    """The median of 400 normal values is within its interval, and that within ±0.25."""
    interval = quantile_interval(np.random.default_rng(3).normal(0.0, 1.0, 400), 0.5)
    assert -0.25 < interval.low < 0.0 < interval.high < 0.25


def test_holm_leaves_out_what_is_unknown():
    """A metric with one pair has no p-value, and does not make the others' larger."""
    adjusted = holm([0.04, math.nan, 0.01])
    assert adjusted[0] == pytest.approx(0.04)
    assert adjusted[2] == pytest.approx(0.02)
    assert math.isnan(adjusted[1])


def test_compare_from_the_command_line(tmp_path):
    """The same figures as from Python; a confidence that cannot be is refused in one sentence."""
    results = queue({"params.rates.service": [1.0, 1.1]}, replicates=6).run(tmp_path / "kept", workers=1)
    (found,) = compare(results, ["Idle.mean"])
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "kept"), "Idle.mean", "--json"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)
    assert row["paired"] == found.paired._asdict()
    assert row["p_value"] == found.p_value
    for level in ("0", "1", "1.5"):
        done = CliRunner().invoke(app, ["compare", str(tmp_path / "kept"), "Idle.mean", "--confidence", level])
        assert done.exit_code == 2
        assert "confidence must be in (0, 1)" in done.output


def test_holm_adjusts_for_how_many_there_are():
    """The example of the definition: each by the number of hypotheses not yet refuted, in order."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_pairing_halves_the_runs():
    """Two services that differ by 10 %: common random numbers need less than half the runs."""
    results = queue({"params.rates.service": [1.0, 1.1]}, replicates=60, seed=1).run(workers=1)
    (found,) = compare(results, ["Idle.mean"])
    assert found.share < 0.5
    assert found.paired.low > 0.0, "the faster server is idle more often"
    assert found.paired.half_width < found.unpaired.half_width
    with pytest.raises(InputError, match="share no seed"):
        compare(queue(replicates=2, paired=False).run(workers=1), ["Idle.mean"])


def ishigami(x, y, z):
    """Ishigami and Homma 1990, doi:10.1109/ISUMA.1990.151285, with a = 7, b = 0.1."""
    return math.sin(x) + 7.0 * math.sin(y) ** 2 + 0.1 * z**4 * math.sin(x)


@pytest.fixture(scope="module")
def cube():
    """Three axes from -pi to pi."""
    return {name: {"range": [-math.pi, math.pi]} for name in "xyz"}


def test_sobol_indices_of_ishigami(cube):
    """Known in closed form, found within 0.02."""
    found = sensitivity(ishigami, cube, n=8192, seed=1)
    assert [i.first for i in found] == pytest.approx([0.3139, 0.4424, 0.0], abs=0.02)
    assert [i.total for i in found] == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.02)


def test_morris_ranks_the_axes(cube):
    """y has the largest effect on x + 3 y, z none."""
    found = sensitivity(lambda x, y, z: x + 3.0 * y, cube, "morris", 20, seed=1)
    assert [i.first for i in found] == pytest.approx([2 * math.pi, 6 * math.pi, 0.0])


@pytest.mark.parametrize(
    ("options", "text"),
    [({"method": "sobl"}, "method must be one of"), ({"n": 1000}, "power of two for sobol, got 1000; take 1024")],
)
def test_what_is_wrong_with_a_sensitivity_is_said(cube, options, text):
    """Before anything runs."""
    with pytest.raises(InputError, match=text):
        sensitivity(ishigami, cube, **options)
