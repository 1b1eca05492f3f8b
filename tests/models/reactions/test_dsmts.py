"""The public suite's rule, on cases with closed forms, and the command line."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tocsin import InputError
from tocsin.cli import app
from tocsin.models.reactions.dsmts import find_cases, read_case, run_case

from ._cases import TIME, apply, draw, event, immigration_mean, immigration_variance, law, sbml

TIMES = np.arange(0.0, 11.0)
PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "dsmts"
"""The suite itself is not part of the package; where it lies beside it, the slow test runs it too."""


def case(folder, model, means, deviations, name="X", kind="amount"):
    """Write one case."""
    folder.mkdir(parents=True)
    (folder / "a-sbml-l3v1.xml").write_text(model)
    (folder / "a-settings.txt").write_text(
        f"start: 0\nvariables: X\namount: {'X' * (kind == 'amount')}\nconcentration: {'X' * (kind != 'amount')}\n"
        f"output: {name}-mean, {name}-sd\nmeanRange: (-3, 3)\nsdRange: (-5, 5)\n"
    )
    with (folder / "a-results.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["time", f"{name}-mean", f"{name}-sd"])
        rows.writerows(zip(TIMES, means, deviations, strict=True))


def immigration(folder, shift=0.0, **kw):
    """Write immigration and death, its published means wrong by `shift`."""
    reactions = law("<ci>a</ci>", "", "X", "birth") + law(apply("times", "d", "X"), "X", "", "death")
    means, variances = (f(10, 3.0, 0.5, TIMES) for f in (immigration_mean, immigration_variance))
    case(folder, sbml(reactions, "X=10", "a=3 d=0.5"), means + shift * (TIMES > 0), np.sqrt(variances), **kw)


@pytest.fixture
def suite(tmp_path):
    """Write two cases that hold, in a folder of their own."""
    immigration(tmp_path / "good" / "00001")
    drawn = sbml("", "X=0", events=event(apply("geq", TIME, 0.5), {"X": draw("normal", 5, 2)}))
    case(tmp_path / "good" / "00002", drawn, 5.0 * (TIMES > 0), 2.0 * (TIMES > 0))
    return tmp_path


def test_true_cases_pass(suite):
    """Cases whose published values are the truth pass by the suite's own rule."""
    for folder in find_cases(suite / "good"):
        outcome = run_case(read_case(folder), 2_000, seed=1)
        assert outcome.passed, outcome
        assert [c.label for c in outcome.columns] == ["X-mean", "X-sd"]
        assert all(math.isfinite(c.worst) and c.n_points == len(TIMES) for c in outcome.columns)


def test_a_formula_is_judged_where_it_has_a_value(suite):
    """ln(X) is judged but for the start, where X is 0."""
    drawn = sbml("", "X=0", events=event(apply("geq", TIME, 0.5), {"X": draw("lognormal", 1, 2)}))
    case(suite / "logs", drawn, 1.0 * (TIMES > 0), 2.0 * (TIMES > 0), name="ln(X)")
    outcome = run_case(read_case(suite / "logs"), 1_000, seed=1)
    assert outcome.passed, outcome
    assert [(c.label, c.n_points) for c in outcome.columns] == [("ln(X)-mean", 10), ("ln(X)-sd", 10)]


def test_a_wrong_mean_fails(suite):
    """A mean that is off by half a deviation fails, and so does a start that is not exact."""
    immigration(suite / "bad" / "shifted", shift=1.0)
    outcome = run_case(read_case(suite / "bad" / "shifted"), 2_000, seed=1)
    assert not outcome.passed
    assert outcome.columns[0].n_outside == len(TIMES) - 1
    lines = (suite / "good" / "00002" / "a-results.csv").read_text().replace("0.0,0.0,0.0", "0.0,0.5,0.0")
    (suite / "good" / "00002" / "a-results.csv").write_text(lines)
    outcome = run_case(read_case(suite / "good" / "00002"), 500, seed=1)
    assert not outcome.passed
    assert outcome.columns[0].worst == math.inf


def test_unsupported_cases_are_no_passes(suite):
    """A case with a feature that is not supported is refused by its name."""
    case(suite / "odd", sbml(law(apply("sinh", "X"), "X", ""), "X=1"), TIMES, TIMES)
    outcome = run_case(read_case(suite / "odd"), 10, seed=1)
    assert not outcome.passed
    assert "sinh" in outcome.refused


def test_command(suite):
    """The command prints a table and ends with 0 if all supported cases pass, 1 if one fails, 2 without cases."""
    args = ["reactions", "dsmts", str(suite / "good"), "--trajectories", "500"]
    good = CliRunner().invoke(app, args)
    assert good.exit_code == 0, good.output
    assert "2 of 2 supported cases passed; 0 not supported" in good.output
    facts = json.loads(CliRunner().invoke(app, [*args, "--json", "--threads", "2"]).stdout)
    assert [f["passed"] for f in facts] == [True, True]
    immigration(suite / "bad" / "00003", shift=3.0)
    bad = CliRunner().invoke(app, ["reactions", "dsmts", str(suite / "bad"), "--trajectories", "500"])
    assert bad.exit_code == 1
    assert "FAILED" in bad.output
    (suite / "empty").mkdir()
    assert CliRunner().invoke(app, ["reactions", "dsmts", str(suite / "empty")]).exit_code == 2


def test_run_command(tmp_path):
    """`tocsin reactions run` prints a trajectory, or means and variances; bad files end with 2."""
    (tmp_path / "net.txt").write_text("species A = 30\nA -> 0 @ 0.5\n")
    one = CliRunner().invoke(app, ["reactions", "run", str(tmp_path / "net.txt"), "--json", "--steps", "2"])
    assert one.exit_code == 0, one.output
    found = json.loads(one.stdout)
    assert found["time"] == [0.0, 5.0, 10.0]
    assert found["A"][0] == 30.0
    many = CliRunner().invoke(app, ["reactions", "run", str(tmp_path / "net.txt"), "--trajectories", "20"])
    assert many.output.split()[:3] == ["time", "A_mean", "A_variance"]
    args = ["reactions", "run", str(tmp_path / "net.txt"), "--json", "--steps", "1", "--set", "A=7"]
    assert json.loads(CliRunner().invoke(app, args).stdout)["A"][0] == 7.0
    for given, says in (("B=1", "called 'B'"), ("A", "lacks '='"), ("A=x", "'x' is no number"), ("A=nan", "species A")):
        bad = CliRunner().invoke(app, [*args[:-1], given])
        assert (bad.exit_code, says in bad.stderr) == (2, True), bad.stderr
    (tmp_path / "boom.txt").write_text("species A = 30\nA -> 2 A @ 1\n")
    args = ["reactions", "run", str(tmp_path / "boom.txt"), "--until", "1e9", "--most-events", "1000"]
    boom = CliRunner().invoke(app, args)
    assert boom.exit_code == 1
    assert "had 1,001 events by time" in boom.stderr
    (tmp_path / "net.txt").write_text("species A = 30\nA -> 0\n")
    bad = CliRunner().invoke(app, ["reactions", "run", str(tmp_path / "net.txt")])
    assert bad.exit_code == 2
    assert "line 2, column 7" in bad.stderr


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a-settings.txt", None, "has no \\*-settings"), ("a-results.csv", "time,X-mean\n0,a\n", "cannot be read as a case"),
        ("a-results.csv", "t,X-mean\n0,1\n", "no column 'time'"), ("a-settings.txt", "meanRange: 3", "meanRange must be"),
    ],
)  # fmt: skip
def test_malformed_cases(suite, name, text, says):
    """A case that lacks a file, or has another in its place, is refused by name."""
    folder = suite / "good" / "00001"
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text)
    with pytest.raises(InputError, match=says):
        run_case(read_case(folder), 5, seed=1)


@pytest.mark.slow
def test_the_suite(suite):
    """Every case at hand passes with 10,000 trajectories, and none is unsupported."""
    folders = find_cases(suite / "good") + (find_cases(PUBLISHED) if PUBLISHED.exists() else [])
    outcomes = [run_case(read_case(folder), 10_000, seed=1) for folder in folders]
    assert [o.case for o in outcomes if not o.passed] == []
