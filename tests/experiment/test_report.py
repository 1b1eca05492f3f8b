"""Reports: one page that needs nothing else, and says what the store says."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from tocsin.cli import app
from tocsin.errors import InputError
from tocsin.experiment import calibrate, optimise, sensitivity_of
from tocsin.experiment.report import report

from ._sweeps import ARRIVAL, MM1, SERVICE, queue

LOAD = {ARRIVAL: {"range": [0.1, 0.9]}}


class Seen(HTMLParser):
    """The tags, headings and outside addresses of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.headings, self.outside, self.policy = set(), [], [], ""
        self._is_heading = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self._is_heading = tag == "h2"
        found = dict(attrs)
        self.policy = found.get("content", "") if "http-equiv" in found else self.policy
        self.outside += [
            v for k, v in attrs if k in ("src", "href", "action") and v and not v.startswith(("data:image/svg", "#"))
        ]
        assert tag != "img" or found["alt"]

    def handle_data(self, data):
        if self._is_heading:
            self.headings.append(data)
            self._is_heading = False


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A grid with a candidate that is bad, of two axes and three replicates."""
    out = tmp_path_factory.mktemp("report") / "x"
    queue({ARRIVAL: [0.2, 0.5], SERVICE: [1.0, 2.0, -1.0]}, replicates=3).run(out, workers=1)
    return out


def test_a_page_has_its_parts_and_nothing_from_outside(folder):
    """All headings; no script; a policy that forbids everything but its own style and pictures inside it."""
    made = report(folder)
    seen = Seen(made.html)
    assert seen.headings == [
        "Plan", "Means", "Convergence of intervals", "Main effects", "Response maps", "Failures", "Provenance",
    ]  # fmt: skip
    assert seen.outside == []
    assert not seen.tags & {"script", "link", "iframe", "object", "form"}
    assert seen.policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "rates.service must be &gt; 0, got -1.0" in made.html
    names = {picture.name for picture in made.pictures}
    assert {"convergence-Idle.mean", "effects-Present.mean"} < names
    assert any(name.startswith("map-Idle.mean") for name in names)


def test_a_report_is_the_same_each_time_and_writes_its_figures(folder, tmp_path):
    """Byte for byte; from the command line too."""
    done = CliRunner().invoke(
        app,
        [
            "report",
            str(folder),
            "-o",
            str(tmp_path / "r.html"),
            "--figures",
            str(tmp_path / "f"),
            "--metric",
            "Idle.mean",
        ],
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "r.html").read_text() == report(folder, ["Idle.mean"]).html
    files = sorted(path.name for path in (tmp_path / "f").iterdir())
    assert [name for name in files if "effects" in name] == ["effects-Idle.mean.png", "effects-Idle.mean.svg"]
    assert (tmp_path / "f" / "effects-Idle.mean.png").read_bytes()[:4] == b"\x89PNG"
    assert "Present.mean" not in "".join(files)


def test_reports_of_searches(tmp_path):
    """Best designs, posterior and sensitivity come first, each with its picture."""
    optimise(MM1, LOAD, "minimise Idle.mean", constraints="Present.mean <= 2", trials=6, replicates=2, confirm=2,
             workers=1, out=tmp_path / "o")  # fmt: skip
    calibrate(MM1, LOAD, {"n.Serve": [20]}, particles=10, generations=2, batch=20, workers=1, out=tmp_path / "c")
    sensitivity_of(MM1, LOAD, "Idle.mean", replicates=2, workers=1, out=tmp_path / "s")
    for name, heading, picture in (
        ("o", "Best designs", "history-Idle.mean"), ("c", "Posterior", "posterior"),
        ("s", "Sensitivity", "sensitivity-Idle.mean"),
    ):  # fmt: skip
        made = report(tmp_path / name)
        assert Seen(made.html).headings[0] == heading
        assert picture in {p.name for p in made.pictures}


def test_text_from_a_store_is_text(tmp_path):
    """A scenario's names cannot become part of the page."""
    queue({"init.n_present": [0], ARRIVAL: [0.5, "<script>alert(1)</script>"]}).run(tmp_path / "x", workers=1)
    made = report(tmp_path / "x")
    assert "<script" not in made.html
    assert "&lt;script" in made.html


def test_what_is_wrong_with_a_report_is_said(folder, tmp_path):
    """No experiment; no such metric."""
    with pytest.raises(InputError, match="there is no experiment in"):
        report(tmp_path)
    with pytest.raises(InputError, match=r"no metric 'Idle.maen'. Did you mean 'Idle.mean'\?"):
        report(folder, ["Idle.maen"])
