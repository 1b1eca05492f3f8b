"""Reports of a scenario are the analysis of its recordings, and the same as that of the live run."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tocsin.errors import InputError, OutputError
from tocsin.models.extrusion import read_example
from tocsin.models.extrusion.analysis import (
    ContactMap,
    NestingTally,
    bins_of,
    insulation,
    legs_of,
    lifetimes_of,
    load_cool,
    read_pixels,
    scaling,
    snapshots_of,
    states,
)
from tocsin.models.extrusion.analysis.reports import REPORTS, MapSettings
from tocsin.scenario import execute, load_scenario
from tocsin.scenario._checkpoint import Checkpoints

SCENARIO = """
model = "extrusion"
[init]
sites = "package:hg38_chr21_barriers.bed"
region = "chr21:30,000,000-32,000,000"
resolution = 5000
n_lefs = 12
bin_kb = 25
map_kb = 500
window_kb = 100
[run]
seed = 3
until = 700.0
burn_in = 200.0
[record]
snapshots = { every = 25.0, table = "legs" }
events = true
"""
NAMES = ("contacts", "pixels", "map", "scaling", "insulation", "nesting", "frequencies", "lifetimes", "bigwig")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    """A scenario with all reports, run, and its folder."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "x.toml").write_text(SCENARIO + "".join(f"{name} = true\n" for name in NAMES))
    scenario = load_scenario(folder / "x.toml")
    outcome = execute(scenario, folder)
    assert outcome.error is None
    return scenario, outcome, folder


def live(scenario):
    """The same run, driven by hand: its map and its nesting over the snapshots, at the end."""
    simulation, context = scenario.start()
    simulation.run(until=200.0)
    contacts = ContactMap(bins_of(context.sites, bin_bp=25_000), max_bp=500_000, sites_per_bin=3)
    tally = NestingTally(context.sites.n_sites)
    for _ in states(simulation, every=25.0, until=700.0):
        contacts.add_world(simulation.world)
        tally.add_world(simulation.world)
    return contacts, tally


def test_every_report_is_written(run) -> None:
    """Each has its file, listed in the outcome."""
    _, outcome, folder = run
    files = {"contacts.cool", "contacts.tsv.gz", "contacts.png", "ps.tsv", "insulation.bedgraph", "nesting.tsv"}
    files |= {"frequencies.bedpe", "lifetimes.tsv", "occupancy.bw"}
    assert files <= set(outcome.files)
    assert all((folder / name).stat().st_size > 0 for name in files)


def test_the_map_is_that_of_the_live_run(run) -> None:
    """The cooler and the table hold the map of the states at each snapshot, the burn-in left out."""
    scenario, _, folder = run
    contacts, _ = live(scenario)
    for found in (load_cool(folder / "contacts.cool"), read_pixels(folder / "contacts.tsv.gz")):
        assert found.n_states == 21
        assert found.settings() == contacts.settings()
        assert np.allclose(found.total, contacts.total, rtol=1e-13)
    rows = [line.split("\t") for line in (folder / "ps.tsv").read_text().splitlines()[1:]]
    assert np.allclose([float(row[1]) for row in rows], scaling(contacts).p, rtol=1e-12)
    score = insulation(contacts, window_bp=100_000).score
    rows = [line.split("\t") for line in (folder / "insulation.bedgraph").read_text().splitlines()]
    assert np.allclose([float(row[3]) for row in rows], score[np.isfinite(score)], rtol=1e-9)
    assert [int(row[1]) for row in rows] == contacts.bins.edges[:-1][np.isfinite(score)].tolist()


def test_genome_files_know_the_chromosome(run) -> None:
    """The cooler and the bigWig have the length of all chr21, whatever part was simulated."""
    import cooler
    import pyBigWig

    folder = run[2]
    assert cooler.Cooler(str(folder / "contacts.cool")).chromsizes["chr21"] == 46_709_983
    with pyBigWig.open(str(folder / "occupancy.bw")) as file:
        assert file.chroms() == {"chr21": 46_709_983}


def test_nesting_is_that_of_the_live_run(run) -> None:
    """Means over the snapshots, in words and numbers."""
    scenario, _, folder = run
    rows = dict(line.split("\t") for line in (folder / "nesting.tsv").read_text().splitlines()[1:])
    for name, value in live(scenario)[1].means().items():
        assert float(rows[name]) == pytest.approx(value, rel=1e-9)


def test_lifetimes_are_those_of_the_live_run(run) -> None:
    """One row a complete lifetime after the burn-in."""
    scenario, _, folder = run
    simulation, _ = scenario.start()
    simulation.run(until=200.0)
    found = lifetimes_of(simulation, until=700.0)
    rows = [line.split("\t") for line in (folder / "lifetimes.tsv").read_text().splitlines()[1:]]
    assert [float(row[2]) for row in rows] == found.duration.tolist()
    assert [int(row[3]) for row in rows] == found.extruded.tolist()


def test_frequencies_are_shares_of_the_snapshots(run) -> None:
    """Every score is a whole number of snapshots."""
    folder = run[2]
    rows = [line.split("\t") for line in (folder / "frequencies.bedpe").read_text().splitlines()[1:]]
    shares = 21 * np.array([float(row[7]) for row in rows])
    assert len(shares) > 0
    assert np.allclose(shares, np.round(shares))


def test_snapshots_are_the_states(run, tmp_path: Path) -> None:
    """Whatever the row groups, each snapshot of the file is one state of the run."""
    scenario, _, folder = run
    table = pq.read_table(folder / "snapshots.parquet")
    pq.write_table(table, tmp_path / "small.parquet", row_group_size=7)
    simulation, _ = scenario.start()
    simulation.run(until=200.0)
    found = list(snapshots_of(tmp_path / "small.parquet"))
    times = list(states(simulation, every=25.0, until=700.0))
    assert [snapshot.time for snapshot in found] == times
    left, right = legs_of(simulation.world)
    assert np.array_equal(found[-1].left, left)
    assert np.array_equal(found[-1].right, right)
    captured = simulation.world.legs["captured"].reshape(-1, 2).sum(axis=1)
    assert np.array_equal(found[-1].n_held, captured)
    part = found[0].within(100, 200)
    is_inside = (found[0].left >= 100) & (found[0].right < 300)
    assert np.array_equal(part.left, found[0].left[is_inside] - 100)


class Cut(Exception):
    """Ends a run between two checkpoints."""


def test_a_resumed_run_reports_on_all_of_it(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off and resumed from its last checkpoint, a run gives the same reports to the byte."""
    monkeypatch.setattr(Checkpoints, "is_due", lambda self: True)
    calls = iter(range(10))

    def progress(simulation: object) -> None:
        if next(calls, None) is None:
            raise Cut

    scenario, _, folder = run
    with pytest.raises(Cut):
        execute(scenario, tmp_path, progress=progress, checkpoint=1.0)
    assert not (tmp_path / "ps.tsv").exists()
    outcome = execute(scenario, tmp_path, checkpoint=1.0, resume=True)
    assert outcome.error is None
    for name in (
        "contacts.tsv.gz",
        "ps.tsv",
        "insulation.bedgraph",
        "nesting.tsv",
        "frequencies.bedpe",
        "lifetimes.tsv",
    ):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


@dataclass(frozen=True)
class TwoChromosomes:
    """A context that takes one lattice for two chromosomes of 200 sites each."""

    map: MapSettings

    @property
    def chromosomes(self):
        one = read_example(resolution=5000, region="chr21:30,000,000-31,000,000")
        return (one, replace(one, chrom="chr22"))


def test_several_chromosomes(run, tmp_path: Path) -> None:
    """Each chromosome has its own map in one cooler, of the LEFs on it, and its own rows in every file."""
    import cooler
    import pyBigWig

    _, outcome, folder = run
    shutil.copy(folder / "snapshots.parquet", tmp_path)
    shutil.copy(folder / "events.parquet", tmp_path)
    context = TwoChromosomes(MapSettings(25_000, 500_000, 100_000, {"chr22": 40_000_000}))
    written = {r.name: r.write(outcome.simulation, context, tmp_path / r.file) for r in REPORTS if r.name != "pixels"}
    assert len(written) == len(NAMES) - 1
    file = cooler.Cooler(str(tmp_path / "contacts.cool"))
    assert file.chromsizes.to_dict() == {"chr21": 31_000_000, "chr22": 40_000_000}
    for k, name in enumerate(("chr21", "chr22")):
        wanted = ContactMap(bins_of(context.chromosomes[k], bin_bp=25_000), max_bp=500_000, sites_per_bin=3)
        for snapshot in snapshots_of(tmp_path / "snapshots.parquet"):
            here = snapshot.within(200 * k, 200)
            wanted.add(here.left, here.right)
        found = load_cool(tmp_path / "contacts.cool", region=name)
        assert found.settings() == wanted.settings()
        assert np.allclose(found.total, wanted.total, rtol=1e-13)
    with pytest.raises(InputError, match="name a region: the file has 2 chromosomes"):
        load_cool(tmp_path / "contacts.cool")
    with pyBigWig.open(str(tmp_path / "occupancy.bw")) as track:
        bases = np.concatenate([track.values(name, 30_000_000, 31_000_000)[::5_000] for name in ("chr21", "chr22")])
    assert np.allclose(bases, outcome.simulation.row_means("Occupancy"), rtol=1e-6)
    rows = [line.split("\t") for line in (tmp_path / "insulation.bedgraph").read_text().splitlines()]
    assert {row[0] for row in rows} == {"chr21", "chr22"}
    pixels = next(r for r in REPORTS if r.name == "pixels")
    with pytest.raises(OutputError, match="there are 2; ask for contacts = true instead"):
        pixels.write(outcome.simulation, context, tmp_path / pixels.file)


def test_refuses_a_file_without_the_legs(run, tmp_path: Path) -> None:
    """A missing column, and what is not Parquet, are named."""
    table = pq.read_table(run[2] / "snapshots.parquet", columns=["time", "index", "site"])
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x.parquet has no column facing, lef; it has time, index, site"):
        next(snapshots_of(tmp_path / "x.parquet"))
    (tmp_path / "y.parquet").write_text("no")
    with pytest.raises(InputError, match=r"cannot read .* as Parquet"):
        next(snapshots_of(tmp_path / "y.parquet"))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            "contacts = true",
            r"contacts is made of snapshots of legs with columns site, facing, lef: set snap",
        ),
        ("nesting = true\nsnapshots = { every = 1.0 }", r"nesting is made of snapshots of legs"),
        (
            'insulation = true\nsnapshots = { every = 1.0, table = "legs", columns = ["site"] }',
            r"insulation is made of snapshots of legs",
        ),
        ("lifetimes = true", r"lifetimes is made of the events: set events = true too"),
    ],
)
def test_a_report_without_its_recording_is_refused_before_the_run(tmp_path: Path, record: str, message: str) -> None:
    """The error names the report, and what to set."""
    (tmp_path / "x.toml").write_text(SCENARIO.split("[record]")[0] + "[record]\n" + record)
    with pytest.raises(InputError, match=message):
        load_scenario(tmp_path / "x.toml")


def test_a_missing_library_is_refused_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without cooler, contacts = true says what to install; the table needs nothing."""
    real = importlib.util.find_spec
    monkeypatch.setattr("tocsin.scenario._reports.find_spec", lambda name: None if name == "cooler" else real(name))
    (tmp_path / "x.toml").write_text(SCENARIO + "pixels = true\n")
    load_scenario(tmp_path / "x.toml")
    (tmp_path / "x.toml").write_text(SCENARIO + "contacts = true\n")
    with pytest.raises(InputError, match=r"contacts needs cooler, .* pip install 'tocsin\[hic\]'"):
        load_scenario(tmp_path / "x.toml")


def test_an_analysis_that_comes_to_nothing_keeps_the_run(tmp_path: Path) -> None:
    """A region of one bin has no P(s): the file is not made, the outcome says why, the recordings stay."""
    text = SCENARIO.replace("bin_kb = 25", "bin_kb = 100_000").replace("window_kb = 100", "window_kb = 1")
    (tmp_path / "x.toml").write_text(text + "scaling = true\n")
    outcome = execute(load_scenario(tmp_path / "x.toml"), tmp_path)
    assert outcome.stopped == "failed"
    assert "ps.tsv was not made: P(s) needs pairs of bins apart" in str(outcome.error)
    assert (tmp_path / "snapshots.parquet").exists()
