"""Optimise, calibrate and sensitivity: known answers, whoever does the work and however often it is interrupted."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tocsin.cli import app
from tocsin.errors import InputError
from tocsin.experiment import Design, Results, _work, calibrate, optimise, sensitivity_of
from tocsin.experiment._abc import Smc
from tocsin.experiment._axes import read_axis
from tocsin.experiment._elasticity import elasticity
from tocsin.experiment._goals import Goal, parse_constraint, parse_goal
from tocsin.experiment._samplers import Asker, Told
from tocsin.scenario import find_preset

from ._sweeps import ARRIVAL, SERVICE

SHORT = {"model": "mm1", "run": {"until": 40.0, "burn_in": 5.0}}
LONG = {"model": "mm1", "run": {"until": 1000.0, "burn_in": 50.0}}
LOAD = {ARRIVAL: {"range": [0.05, 0.95]}}


def stop_after(n):
    """Return a progress that interrupts after n runs."""

    def stop(state):
        if state.done == n:
            raise KeyboardInterrupt

    return stop


def test_the_best_load_under_a_bound_is_where_the_bound_is():
    """As many served as can be with at most 1 present on average: rho / (1 - rho) = 1 at arrival 0.5."""
    found = optimise(
        LONG, LOAD, "maximise n.Serve", constraints="Present.mean <= 1.0", trials=30, confirm=40, workers=1
    )
    best = found.best
    assert best.is_feasible
    assert 0.42 < best.values[ARRIVAL] < 0.54
    assert best.metrics["n.Serve"].n == 40
    rate = best.values[ARRIVAL]
    assert abs(best.metrics["n.Serve"].estimate - 1000.0 * rate) < 4.5 * math.sqrt(1000.0 * rate / 40)


@pytest.mark.parametrize("is_max", [False, True])
def test_cmaes_keeps_a_constraint(is_max):
    """x² + y² is least on x + y >= 1 at (1/2, 1/2), where it is 1/2; some points fail, and take no part in the answer."""
    axes = [read_axis(f"params.rates.{name}", {"range": [-2.0, 2.0]}, "test") for name in ("x", "y")]
    asker, kept = Asker("cmaes", axes, [Goal("z", is_max)], batch=12, seed=3), []
    for _ in range(40):
        trials, points = asker.ask(12)
        told = []
        for trial, (x, y) in zip(trials, points, strict=True):
            z, broken = x * x + y * y, 1.0 - x - y
            kept += [(z, x, y)] if broken <= 0.0 else []
            told.append(Told(trial, None) if x > 1.9 else Told(trial, [-z if is_max else z], [broken, -1.0]))
        asker.tell(told)
    z, x, y = min(kept)
    assert abs(z - 0.5) < 1e-3
    assert max(abs(x - 0.5), abs(y - 0.5)) < 0.03
    last = [z for z, _, _ in kept[-6:]]
    assert max(last) < 0.6, "it has come to rest where the constraint binds"


def test_what_is_no_number_is_counted(monkeypatch):
    """How many runs of how many, of how many candidates; how many points of how many."""

    def fails_above(simulation, context):
        return {"idle": math.nan if simulation.observe()["Idle"].mean < 0.6 else 1.0}

    monkeypatch.setattr(_work, "_preset", lambda job: replace(find_preset("mm1", Path()), summarise=fails_above))
    with pytest.raises(
        InputError,
        match=r"idle of every run, and (\d+) of 16 runs, of (\d) of 4 candidates, have none, such as: idle is",
    ):
        sensitivity_of(SHORT, metrics="idle", replicates=4, workers=1)
    low = {ARRIVAL: {"range": [0.9, 0.95]}}
    with pytest.raises(InputError, match=r"idle is no number in [34] of 4 runs of candidate 0"):
        optimise({**SHORT, "run": {"until": 400.0}}, low, "maximise idle", trials=2, batch=2, workers=1)
    with pytest.raises(
        InputError, match=r"at each of the 6 points, and 2 of them have none; the first is point 1, with nan"
    ):
        Design({"a": {"range": [0, 1]}}, n=2).indices([1.0, math.nan, 1.0, math.inf, 1.0, 2.0])


def test_finalists_run_again_with_seeds_that_the_search_has_not_seen():
    """Their estimates are of fresh runs alone: those with the numbers after the search's."""
    found = optimise(SHORT, LOAD, "minimise Idle.mean", trials=12, replicates=3, finalists=2, confirm=9, workers=1)
    for finalist in found.finalists:
        values = found.results.of(finalist.candidate, "Idle.mean")
        assert len(values) == 12
        assert finalist.metrics["Idle.mean"].estimate == values[3:].mean()
    assert found.results.table.num_rows == 12 * 3 + 2 * 9


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "cmaes"])
def test_a_search_does_not_depend_on_workers_nor_on_interruptions(sampler, tmp_path):
    """Stopped and resumed on other workers: the same candidates, the same finalists."""
    axes = {**LOAD, SERVICE: {"range": [0.5, 2.0], "log": True}}
    options = {"sampler": sampler, "trials": 14, "batch": 6, "replicates": 2, "finalists": 2, "confirm": 3}
    reference = optimise(SHORT, axes, "minimise Present.mean", workers=1, **options)
    with pytest.raises(KeyboardInterrupt):
        optimise(SHORT, axes, "minimise Present.mean", out=tmp_path, workers=1, progress=stop_after(17), **options)
    assert len(Results.load(tmp_path)) == 17
    found = optimise(SHORT, axes, "minimise Present.mean", out=tmp_path, resume=True, workers=3, **options)
    assert found.results.hash() == reference.results.hash()
    assert found.finalists == reference.finalists
    with pytest.raises(InputError, match="holds another experiment"):
        optimise(SHORT, axes, "maximise Present.mean", out=tmp_path, resume=True, **options)


def test_several_goals_give_trade_offs():
    """Of idleness and work done, more of one is less of the other: no finalist beats another."""
    goals = ["maximise Idle.mean", "maximise n.Serve"]
    found = optimise(LONG, LOAD, goals, sampler="nsga2", trials=20, finalists=4, confirm=4, workers=1)
    idle, served = ([f.metrics[m].estimate for f in found.finalists] for m in ("Idle.mean", "n.Serve"))
    assert len(found.finalists) == 4
    assert idle == sorted(idle, reverse=True)
    assert served == sorted(served)


def test_choices_and_whole_numbers_can_be_searched():
    """A list of choices, and a range of whole numbers, which stay whole."""
    axes = {"init.n_present": {"range": [0, 9]}, SERVICE: [0.5, 1.0, 2.0]}
    best = optimise(SHORT, axes, "maximise Present.value", trials=30, confirm=4, workers=1).best
    assert best.values[SERVICE] == 0.5
    assert isinstance(best.values["init.n_present"], int)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"goals": "LoopSize.mean"}, r"a goal reads 'maximise METRIC' or 'minimise METRIC', got 'LoopSize.mean'"),
        ({"goals": []}, r"goals is empty"),
        ({"constraints": "Idle.mean < 3"}, r"a constraint reads 'METRIC <= 0.2'"),
        ({"sampler": "cmaes"}, r"cmaes needs at least two axes"),
        ({"sampler": "cmaes", "goals": ["minimise Idle.mean", "maximise n.Serve"]}, r"cmaes takes one goal; take"),
        ({"sampler": "cmaes", "batch": 1}, r"batch is the population of cmaes, and must be >= 2, got 1"),
        ({"sampler": "nsga3"}, r"sampler must be 'tpe', 'nsga2', 'cmaes' or 'random', got 'nsga3'"),
        ({"trails": 3}, r"unknown key 'trails'. Did you mean 'trials'\?"),
        ({"axes": {}}, r"there is no axis"),
        ({"axes": {"params.rates.arival": [1.0]}}, r"Did you mean 'params.rates.arrival'\?"),
        ({"axes": {ARRIVAL: [1.0], SERVICE: {"formula": "2 * arrival"}}}, r"service is a formula"),
        ({"goals": "minimise Idle.maen", "trials": 2}, r"no metric 'Idle.maen'. Did you mean 'Idle.mean'\?"),
        ({"axes": {ARRIVAL: [-1.0, -2.0]}, "trials": 3}, r"all 3 candidates failed, such as: .*must be >= 0"),
    ],
)
def test_what_is_wrong_with_a_search_is_said(options, text):
    """Every rule has its sentence."""
    with pytest.raises(InputError, match=text):
        optimise(SHORT, **{"axes": LOAD, "goals": "minimise Idle.mean", **options})


def test_goals_and_constraints_are_read():
    """American spelling too; bounds are inclusive, tolerances are relative or not."""
    assert parse_goal("maximize LoopSize.mean", "x").is_max
    assert str(parse_goal("min n.Step", "x")) == "minimise n.Step"
    assert parse_constraint("a b <= -1e-3", "x").violation(0.0) == 1e-3
    assert parse_constraint("a >= 3", "x").violation(3.0) == 0.0
    near = parse_constraint("a = 200 ±5%", "x")
    assert (near.low, near.high) == (190.0, 210.0)
    assert parse_constraint("a = -2 +- 0.5", "x").violation(-3.0) == 0.5


def test_elasticities_of_the_queue():
    """At rho = 1/2 the mean number rho / (1 - rho) has the elasticity 1 / (1 - rho) = 2, the idle time -1."""
    found = sensitivity_of(LONG, metrics=["Present.mean", "Idle.mean"], replicates=40, workers=1)
    for metric, size in (("Present.mean", 2.0), ("Idle.mean", -1.0)):
        for index, sign in zip(found.indices[metric], (1.0, -1.0), strict=True):
            error = index.first_half_width / 2.02
            assert abs(index.first - sign * size) < 4.5 * error + 0.03, "0.03 bounds the curvature of a step of 5 %"
            assert error < 0.25
    assert len(found.results) == 2 * 2 * 40


def test_an_elasticity_needs_no_noise():
    """y = 7 x**3 without noise: 3, but for the square of the step; one pair has no interval."""
    x = np.array([0.99, 1.01])
    seen = elasticity(np.full(4, 7 * x[0] ** 3), np.full(4, 7 * x[1] ** 3), *x)
    assert seen.estimate == pytest.approx(3.0, abs=1e-3)
    assert seen.half_width == pytest.approx(0.0, abs=1e-9)
    assert math.isnan(elasticity(np.ones(1), np.ones(1), *x).low)
    assert math.isnan(elasticity(np.zeros(3), np.zeros(3), *x).estimate)


@pytest.mark.parametrize(("method", "n"), [("sobol", 16), ("morris", 8)])
def test_what_does_not_matter_has_no_index(method, n):
    """When averages begin changes no event, and with paired seeds exactly none."""
    axes = {ARRIVAL: {"range": [0.1, 0.9]}, "run.burn_in": {"range": [1.0, 2.0]}}
    found = sensitivity_of(SHORT, axes, "n.Arrive", method=method, n=n, replicates=2, workers=1)
    arrival, burn_in = found.indices["n.Arrive"]
    assert burn_in.total == 0.0
    assert arrival.first > 0.5


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"axes": {ARRIVAL: [0.0]}}, r"an elasticity is taken at one number > 0, as in \[0.5\], got 0.0"),
        ({"axes": {ARRIVAL: [0.5, 0.6]}}, r"an elasticity is taken at one number"),
        ({"axes": {ARRIVAL: [0.5]}, "method": "sobol"}, r"params.rates.arrival must be a range"),
        ({"method": "sobol"}, r"there is no axis"),
        ({"metrics": []}, r"metrics is empty"),
        ({"metrics": "Idle.maen"}, r"Did you mean 'Idle.mean'\?"),
        (
            {"axes": {ARRIVAL: {"range": [-2.0, -1.0]}}, "method": "morris", "n": 2},
            r"such as: candidate 0.*must be >= 0",
        ),
    ],
)
def test_what_is_wrong_with_a_sensitivity_is_said(options, text):
    """Every rule has its sentence."""
    with pytest.raises(InputError, match=text):
        sensitivity_of(SHORT, **{"metrics": "Idle.mean", "replicates": 1, "workers": 1, **options})


def test_the_posterior_of_a_poisson_rate_is_a_gamma():
    """7 seen, prior even on 0 .. 20: Gamma(8, 1), mean 8 and variance 8, as a distance of 0 is reached."""
    rng = np.random.default_rng(5)
    smc = Smc(lambda u: rng.poisson(20.0 * u).astype(float), np.array([7.0]), 1, n=600, batch=200, most=100_000, seed=3)
    found = smc.run(20)
    x = 20.0 * found.shares[:, 0]
    mean = float(found.weights @ x)
    assert smc.history[-1].tolerance == 0.0
    assert abs(mean - 8.0) < 4.5 * math.sqrt(8.0 / found.effective)
    spread = math.sqrt(
        (3.0 + 6.0 / 8.0 - 1.0) / found.effective
    )  # of a variance: the kurtosis of Gamma(8) is 3 + 6 / 8
    assert abs(float(found.weights @ (x - mean) ** 2) / 8.0 - 1.0) < 4.5 * spread


def test_data_may_be_a_frame():
    """Of pandas or Arrow, or columns; what is missing was not seen."""
    import pandas as pd
    import pyarrow as pa

    columns = {"n.Serve": [19.0, 21.0], "Idle.mean": [0.5, None]}
    found = [
        calibrate(SHORT, LOAD, data, particles=10, generations=1, batch=10, workers=1).values.tolist()
        for data in (columns, pd.DataFrame(columns), pa.table(columns))
    ]
    assert found[0] == found[1] == found[2]


def test_a_candidate_that_fails_is_named_by_its_number():
    """Over all batches: the search goes on without it, and its row says why."""
    axes = {ARRIVAL: {"range": [-2.0, 0.9]}}
    found = optimise(SHORT, axes, "minimise Idle.mean", trials=12, batch=4, replicates=1, confirm=2, workers=1)
    rows = found.results.failures().to_pylist()
    assert rows
    assert rows[-1]["candidate"] >= 4
    assert all(row["error"].startswith(f"candidate {row['candidate']}, ") for row in rows)
    assert all(finalist.values[ARRIVAL] >= 0.0 for finalist in found.finalists)


def test_a_budget_ends_a_calibration_with_the_last_whole_generation():
    """And with nothing, if even the first was not whole."""
    rng = np.random.default_rng(5)
    smc = Smc(lambda u: rng.normal(u), np.array([0.5]), 1, n=50, batch=30, most=200)
    assert smc.run(9).shares.shape == (50, 1)
    assert smc.n_proposed == 200
    assert Smc(lambda u: np.full(u.shape, np.nan), np.array([0.5]), 1, n=50, batch=30, most=200).run(3) is None


def test_calibration_finds_the_rates_that_made_the_data():
    """Data of the queue at arrival 0.6, service 1.5: both in the central 95 %, half as long as the prior."""
    truth = sensitivity_of(LONG, {ARRIVAL: [0.6], SERVICE: [1.5]}, "n.Serve", replicates=2, step=0.001, workers=1)
    data = {name: truth.results.of(0, name).tolist() for name in ("Idle.mean", "n.Serve")}
    axes = {ARRIVAL: {"range": [0.05, 1.5]}, SERVICE: {"range": [0.2, 6.0], "log": True}}
    found = calibrate(LONG, axes, data, particles=40, generations=3, quantile=0.2, batch=80, workers=1)
    for path, value, width in ((ARRIVAL, 0.6, 0.7), (SERVICE, 1.5, 2.9)):
        seen = found.interval(path)
        assert seen.low < value < seen.high
        assert seen.high - seen.low < width


def test_times_of_one_trajectory_share_its_seed_and_conditions_do_not(tmp_path):
    """Rows that differ in run.until alone run with one seed; interrupted and resumed, all is the same."""
    data = {"run.until": [10.0, 20.0, 10.0], SERVICE: [1.0, 1.0, 2.0], "n.Serve": [4.0, 9.0, 5.0]}
    options = {"particles": 10, "generations": 2, "batch": 10, "axes": LOAD, "data": data}
    reference = calibrate(SHORT, workers=1, **options)
    seeds = reference.results.table.column("seed").to_pylist()
    assert seeds[0] == seeds[1] != seeds[2]
    assert seeds[3] not in seeds[:3]
    with pytest.raises(KeyboardInterrupt):
        calibrate(SHORT, out=tmp_path, workers=1, progress=stop_after(33), **options)
    found = calibrate(SHORT, out=tmp_path, workers=2, resume=True, **options)
    assert found.results.hash() == reference.results.hash()
    assert (found.values == reference.values).all()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"data": 3}, r"data must be text or a table, got 3"),
        ({"data": "nothing.csv"}, r"cannot read the table 'nothing.csv'"),
        ({"data": {"run.until": [3.0]}}, r"the data name no metric, only run.until"),
        ({"data": {"n.Serve": [3.0], "Idle.mean": []}}, r"columns of one length >= 1"),
        ({"data": {"n.Serve": ["many"]}}, r"row 1 of the data has 'many' where a number should be"),
        ({"data": {"n.Serve": [None]}}, r"the data have no number in them"),
        ({"data": {"run.untl": [1.0], "n.Serve": [1.0]}}, r"Did you mean 'run.until'\?"),
        ({"data": {ARRIVAL: [1.0], "n.Serve": [1.0]}}, r"params.rates.arrival is there twice"),
        ({"data": {"n.Sreve": [1.0]}}, r"no metric 'n.Sreve'"),
        ({"axes": {ARRIVAL: [0.5]}}, r"params.rates.arrival must be a range"),
        ({"most": 20}, r"20 points did not give 30 whose runs went well; raise most, or lower particles"),
        ({"axes": {ARRIVAL: {"range": [-2.0, -1.0]}}, "most": 20}, r"the first failed: .*must be >= 0"),
    ],
)
def test_what_is_wrong_with_a_calibration_is_said(options, text):
    """Every rule has its sentence."""
    with pytest.raises(InputError, match=text):
        calibrate(
            SHORT, **{"axes": LOAD, "data": {"n.Serve": [20]}, "particles": 30, "batch": 10, "workers": 1, **options}
        )


def test_all_three_from_the_command_line(tmp_path):
    """One scenario with its three tables; a run of it leaves them alone; what is printed is valid JSON."""
    path = tmp_path / "s.toml"
    path.write_text(
        'model = "mm1"\n[run]\nuntil = 40.0\n'
        '[sensitivity]\nmetrics = "Idle.mean"\nreplicates = 2\n'
        '[optimise]\ngoals = "minimise Idle.mean"\ntrials = 4\n[optimise.axes]\nparams.rates.arrival = [0.2, 0.4]\n'
        '[calibrate]\nparticles = 10\ngenerations = 2\n[calibrate.data]\n"n.Serve" = [20]\n'
        "[calibrate.axes]\nparams.rates.arrival = { range = [0.1, 0.9] }\n"
    )
    found = {}
    for command in ("sensitivity", "optimise", "calibrate"):
        out = str(tmp_path / command)
        done = CliRunner().invoke(app, [command, str(path), "--out", out, "--json", "--set", f"{command}.seed=3"])
        assert done.exit_code == 0, done.output
        lines = [json.loads(line, parse_constant=pytest.fail) for line in done.output.splitlines()]
        found[command] = lines[-1]
        assert found[command]["runs"] == len(lines) - 1 == len(Results.load(out))
        plain = CliRunner().invoke(app, [command, str(path), "--out", out, "--resume", "--set", f"{command}.seed=3"])
        assert f"{found[command]['runs']} runs in" in plain.output
    assert found["optimise"]["finalists"][0]["values"] == {ARRIVAL: 0.4}
    assert found["sensitivity"]["indices"]["Idle.mean"][0]["total"] is None
    assert found["calibrate"]["generations"][0]["tolerance"] is None
    assert CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "run")]).exit_code == 0
