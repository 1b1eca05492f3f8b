"""Reports, spreadsheets and the command line of economies."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tocsin.cli._app import app
from tocsin.errors import InputError
from tocsin.models.economy import compare, load, run, sweep
from tocsin.models.economy.report import html_report
from tocsin.models.economy.sheet import read_values, write_values

DESIGN = "package:battle-pass"


def call(*args: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, list(args))
    assert found.exception is None or isinstance(found.exception, SystemExit)
    return found.exit_code, found.stdout, found.stderr


def test_page_stands_alone_and_repeats() -> None:
    """One page, nothing from elsewhere, the same bytes for the same run on any number of threads."""
    changes = {"activities.quest.gain.points": 200}
    answers = compare(DESIGN, changes=changes, n=2, players=20, days=3, threads=1)
    points = sweep(DESIGN, {"personas.visitor.sessions": [0.5, 1], "personas.visitor.minutes": [10, 15]},
                   {"retention_d1": (0.1, 1.0)}, n=2, players=20, days=3, threads=1)  # fmt: skip
    pages = [
        html_report(run(DESIGN, 60, 8, 1, threads=t, shards=t), "A <b> season", {"seed": 1}, answers, points)
        for t in (1, 3)
    ]
    assert pages[0] == pages[1]
    assert not re.search(r"<script|<link|<img|url\(|src=", pages[0])
    assert "A &lt;b&gt; season" in pages[0]
    assert "default-src 'none'" in pages[0]
    for part in (
        "Retention",
        "Sources and sinks",
        "tier_10",
        "How many get how far",
        "Comparison",
        "Verdict by",
        "<svg",
    ):
        assert part in pages[0]


def test_spreadsheet_out_and_in(tmp_path: Path) -> None:
    """What is written out reads back as the same design; a changed cell changes it."""
    path = tmp_path / "values.csv"
    path.write_text(write_values(load(DESIGN)))
    assert load(DESIGN, read_values(path)) == load(DESIGN)
    path.write_text("path,value,note\nactivities.quest.per_day,5,more\nactivities.quest.gain.points,100 * zeal,\n")
    design = load(DESIGN, read_values(path))
    assert design.activities["quest"].per_day == 5  # type: ignore[union-attr]
    assert design.activities["quest"].gain["points"] == "100 * zeal"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "rule"),
    [("a,b\n1,2\n", "columns path and value"), ("path,value\nx,\n,3\n", "line 2, 3"), ("", "first line")],
)
def test_bad_spreadsheets(tmp_path: Path, text: str, rule: str) -> None:
    """Bad rows are named."""
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(InputError, match=rule):
        read_values(tmp_path / "bad.csv")


def test_validate() -> None:
    """0 and a hash, or 2 and the place in the formula."""
    assert call("validate", DESIGN)[0] == 0
    code, out, err = call("validate", DESIGN, "--set", "activities.match.chance=zael / 2")
    assert (code, out) == (2, "")
    assert err.split("\n")[1:3] == ["  zael / 2", "  ^"]
    assert "Did you mean 'zeal'?" in err


@pytest.mark.parametrize("args", [
    ("economy", "run", "no.toml"), ("economy", "run", DESIGN, "--set", "x"), ("economy", "run", DESIGN, "--set", "churn.rate=gold +"),
    ("economy", "compare", DESIGN), ("economy", "compare", DESIGN, "--set", "churn.rate=0.1", "--target", "x"),
    ("economy", "pulls", "2"), ("economy", "run", DESIGN, "--rng", "sandtable"), ("economy", "run", DESIGN, "--values", "no.csv"),
])  # fmt: skip
def test_bad_usage(args: tuple[str, ...]) -> None:
    """Exit code 2, a sentence, no traceback."""
    code, _, err = call(*args)
    assert code == 2
    assert err.startswith("tocsin: ")
    assert "Traceback" not in err


def test_run_writes_tables(tmp_path: Path) -> None:
    """The tables of a run, in CSV and JSON, agree with each other."""
    code, out, _ = call(
        "economy", "run", DESIGN, "--players", "50", "--days", "5", "--threads", "1", "--out", str(tmp_path), "--json"
    )
    assert code == 0
    assert json.loads(out) == json.loads((tmp_path / "report.json").read_text())
    with (tmp_path / "days.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5
    assert sum(int(row["installs"]) for row in rows) == json.loads(out)["summary"]["installs"]
    assert {"flows.csv", "cohorts.csv", "report.html"} <= {path.name for path in tmp_path.iterdir()}


def test_sandtable_runs(tmp_path: Path) -> None:
    """The preset runs from a file, with the draws of published runs."""
    (tmp_path / "s.toml").write_text('preset = "sandtable"\n')
    code, out, _ = call("economy", "run", str(tmp_path / "s.toml"), "--players", "200", "--days", "14", "--seed", "2024",
                        "--rng", "sandtable", "--threads", "1", "--json", "--out", str(tmp_path))  # fmt: skip
    assert code == 0
    assert json.loads(out)["summary"]["gold_earned"] == 492990


def test_pulls() -> None:
    """The published expectation."""
    found = json.loads(
        call("economy", "pulls", "0.006", "--hard", "90", "--soft-start", "74", "--soft-step", "0.06", "--json")[1]
    )
    assert found["mean"] == pytest.approx(62.297, abs=5e-4)


def test_sweep_recommend_and_page(tmp_path: Path) -> None:
    """A sweep is kept run by run; other targets are judged without running again; the region covers all axes."""
    out = tmp_path / "sweep"
    code, text, err = call(
        "economy", "sweep", DESIGN, "--axis", "activities.quest.gain.points=50,100,200", "--axis", "personas.visitor.minutes=10:20:2",
        "--target", "share_tier_10=0.9:1", "--players", "40", "--days", "6", "--replicates", "2", "--workers", "1", "--out", str(out),
    )  # fmt: skip
    assert code == 0, err
    assert "of 6 points meet every target" in text
    rows = list(csv.DictReader((out / "points.csv").open()))
    assert len(rows) == 6
    assert {row["share_tier_10 verdict"] for row in rows} <= {"PASS", "BORDERLINE", "FAIL"}
    found = json.loads(call("economy", "recommend", str(out), "--target", "share_tier_10=-1:2", "--json")[1])
    assert found["meet every target"] == 6
    assert {row["path"]: (row["from"], row["to"]) for row in found["region"]} == {
        "activities.quest.gain.points": (50, 200), "personas.visitor.minutes": (10, 20),
    }  # fmt: skip
    page = (out / "answers.html").read_text()
    assert "share_tier_10 by activities.quest.gain.points" in page
    assert not re.search(r"<script|<link|<img|url\(|src=", page)


def test_a_bad_point_is_reported(tmp_path: Path) -> None:
    """A value out of bounds is one point without a result: exit code 1, and the rest is there."""
    code, text, err = call("economy", "sweep", DESIGN, "--axis", "activities.match.chance=0.5,1.5", "--target", "retention_d1=-10:10",
                           "--players", "10", "--days", "3", "--replicates", "2", "--workers", "1", "--out", str(tmp_path))  # fmt: skip
    assert code == 1
    assert "1 of 2 points meet" in text
    assert "activities.match.chance: must be in 0..1, got 1.5" in err


def test_sensitivity(tmp_path: Path) -> None:
    """Elasticities at the design's own values, and a screening over ranges."""
    common = (
        "--metric",
        "tier_mean",
        "--players",
        "60",
        "--days",
        "5",
        "--replicates",
        "2",
        "--workers",
        "1",
        "--json",
    )
    local = json.loads(
        call(
            "economy",
            "sensitivity",
            DESIGN,
            "--axis",
            "personas.visitor.sessions",
            *common,
            "--out",
            str(tmp_path / "a"),
        )[1]
    )
    assert [row["path"] for row in local] == ["personas.visitor.sessions"]
    assert local[0]["first"] > 0.0
    code, text, _ = call("economy", "sensitivity", DESIGN, "--axis", "personas.visitor.sessions=0.2:2", "--axis", "churn.stuck_days=2:9",
                         "--method", "morris", "--n", "4", *common, "--out", str(tmp_path / "b"))  # fmt: skip
    assert code == 0
    effects = {row["path"]: row["first"] for row in json.loads(text)}
    assert effects["personas.visitor.sessions"] > effects["churn.stuck_days"] == 0.0


@pytest.mark.parametrize("args", [
    ("sweep", DESIGN, "--axis", "x", "--target", "a=0:1"), ("sweep", DESIGN, "--axis", "churn.rate=1:2:0", "--target", "a=0:1"),
    ("sweep", DESIGN, "--axis", "churn.stuck_days=1", "--target", "nope=0:1", "--players", "2", "--days", "2", "--workers", "1"),
    ("recommend", "no-such-folder", "--target", "a=0:1"), ("sensitivity", DESIGN, "--axis", "churn.rate=1:x", "--metric", "a"),
    ("draws", DESIGN, "nope", "--want", "a=1"),
])  # fmt: skip
def test_bad_questions(args: tuple[str, ...], tmp_path: Path) -> None:
    """Exit code 2 and a sentence."""
    more = ("--out", str(tmp_path)) if args[0] in ("sweep", "sensitivity") else ()
    code, _, err = call("economy", *args, *more)
    assert code == 2
    assert err.startswith("tocsin: ")


def test_draws() -> None:
    """The published expectation of a hit with soft pity and half of them featured: 93.45 (4.5 standard errors)."""
    code, text, _ = call(
        "economy", "draws", "package:hero-collector", "banner", "--want", "banner_hero=1", "--players", "1000", "--json"
    )
    assert code == 0
    assert abs(json.loads(text)["mean"] - 93.45) < 4.5 * 45 / 1000**0.5


def test_the_matrix_in_the_docs_is_fresh() -> None:
    """docs/background/economies.md has the matrices of events and what they read and change, as the compiler finds them now."""
    from tocsin.check import graph_of, to_matrix
    from tocsin.models.economy.model import MODEL
    from tocsin.models.economy.sandtable.model import MODEL as SANDTABLE

    page = (Path(__file__).parents[3] / "docs" / "background" / "economies.md").read_text(encoding="utf-8")
    for model in (MODEL, SANDTABLE):
        assert to_matrix(graph_of(model)) in page, f"run: tocsin graph {model.name} --format matrix"
