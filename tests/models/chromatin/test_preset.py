"""Chromatin by name: scenarios, files of several chromosomes in and out, a picture."""

import lzma
from pathlib import Path

import numpy as np
import pytest

from tocsin import InputError, Simulation
from tocsin.models._preset import Start
from tocsin.models.chromatin import MODEL, chromatin_of, make_chromatin, read_genome, read_loading
from tocsin.models.chromatin.preset import WORLD
from tocsin.models.chromatin.report import legs_of, write_ctcfs, write_loops, write_occupancy
from tocsin.models.extrusion import read_sites
from tocsin.scenario import execute, load_scenario, prepare_folder, summarise

BED = """\
chrA\t10500\t10519\t.\t0.9\t+
chrB\t3000\t3019\t.\t0.5\t-
chrA\t20500\t20519\t.\t0.8\t-
chrB\t7000\t7019\t.\t0.7\t+
"""
SIZES = "chrC\t5000\nchrB\t9500\nchrA\t40000\n"


@pytest.fixture
def files(tmp_path):
    """A BED file of two chromosomes, packed, and the lengths of three."""
    path, sizes = tmp_path / "ctcf.bed.xz", tmp_path / "some.chrom.sizes"
    path.write_bytes(lzma.compress(BED.encode()))
    sizes.write_text(SIZES)
    return path, sizes


def test_a_genome_is_its_chromosomes(files):
    """Every chromosome with a row is read, in the order of chrom.sizes, as `read_sites` reads it."""
    path, sizes = files
    parts = read_genome(path, chrom_sizes=sizes)
    assert [part.chrom for part in parts] == ["chrB", "chrA"]
    for part in parts:
        alone = read_sites(path, region=part.chrom, chrom_sizes=sizes)
        assert (part.region, part.n_sites) == (alone.region, alone.n_sites)
        assert part.site.tolist() == alone.site.tolist()
        assert part.captures_from.tolist() == alone.captures_from.tolist()
    world = chromatin_of(parts, 5, is_ring=[True, False])
    assert world.chromosomes["start"].tolist() == [0, 10]
    assert world.chromosomes["end"].tolist() == [10, 50]
    assert world.ctcfs["site"].tolist() == [3, 7, 20, 30]
    assert world.ctcfs["captures_from"].tolist() == [-1, 1, 1, -1]


def test_sites_without_a_strand(tmp_path):
    """Rows of strand '.' are refused, left out, or barriers on both sides; these are written as they were read."""
    path = tmp_path / "some.bed"
    path.write_text("chrA\t1500\t1519\t.\t0.9\t.\nchrA\t5500\t5519\t.\t0.8\t-\n")
    with pytest.raises(InputError, match=r"line 1: strand is '.'"):
        read_genome(path, regions=["chrA"])
    with pytest.raises(InputError, match="unstranded must be 'error' or 'skip' or 'both', got 'all'"):
        read_genome(path, regions=["chrA"], unstranded="all")
    assert read_genome(path, regions=["chrA"], unstranded="skip")[0].site.tolist() == [5]
    parts = read_genome(path, regions=["chrA"], unstranded="both")
    assert (parts[0].site.tolist(), parts[0].captures_from.tolist()) == ([1, 5], [0, -1])
    assert chromatin_of(parts, 2).ctcfs["captures_from"].tolist() == [0, -1]
    again = read_genome(write_ctcfs(tmp_path / "again.bed", parts), regions=[parts[0].region], unstranded="both")
    assert again[0].captures_from.tolist() == [0, -1]


def test_regions_of_two_resolutions_are_refused(files):
    """One lattice has one resolution."""
    parts = [read_genome(files[0], chrom_sizes=files[1], resolution=bp)[0] for bp in (500, 1000)]
    with pytest.raises(InputError, match="one resolution, got 500 and 1000 bp"):
        chromatin_of(parts, 2)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "give chrom_sizes, where chromosomes end, or the regions"),
        ({"regions": ["chrA", "chrA:0-9000"]}, "regions name 'chrA' twice"),
        ({"regions": []}, "regions must name at least one chromosome"),
        ({"regions": ["A"]}, "no row of chromosome 'A'.*did you mean 'chrA'"),
        ({"regions": ["chrA"], "resolution": 0}, "resolution must be a whole number of bp"),
    ],
)
def test_a_genome_that_cannot_be_read_is_refused(files, options, text):
    """The error names the argument and the rule."""
    with pytest.raises(InputError, match=text):
        read_genome(files[0], **options)


def test_a_chromosome_without_a_length_is_refused(files):
    """A row's chromosome that chrom.sizes lacks is named."""
    files[1].write_text("chrA\t40000\n")
    with pytest.raises(InputError, match="chrom_sizes has no length for 'chrB'"):
        read_genome(files[0], chrom_sizes=files[1])


def test_files_of_several_chromosomes(files, tmp_path):
    """Loops, occupancy and CTCFs are written on the chromosome and at the place where they are."""
    parts = read_genome(files[0], chrom_sizes=files[1])
    world = chromatin_of(parts, 4, is_ring=[True, False], places=[0, 12, 30 - 5, 49])
    world.legs["site"][:2] = [8, 2]  # over the origin of the ring
    world.legs["site"][3] = 14
    loops = write_loops(tmp_path / "loops.bedpe", legs_of(world), parts).read_text().splitlines()
    assert loops[1].split("\t")[:8] == ["chrB", "2000", "3000", "chrB", "8000", "9000", "lef0_over_origin", "0"]
    assert loops[2].split("\t")[:7] == ["chrA", "2000", "3000", "chrA", "4000", "5000", "lef1"]
    assert loops[4].split("\t")[1:3] == ["39000", "40000"]
    values = np.arange(50.0)
    rows = write_occupancy(tmp_path / "o.bedgraph", values, parts).read_text().splitlines()
    assert rows[9] == "chrB\t9000\t9500\t9"
    assert rows[10] == "chrA\t0\t1000\t10"
    again = read_genome(write_ctcfs(tmp_path / "c.bed", parts), chrom_sizes=files[1])
    assert [part.site.tolist() for part in again] == [part.site.tolist() for part in parts]


def test_a_track_of_loading_weights(files, tmp_path):
    """A site's weight is the track's mean over it, by a sum over its base pairs; 0 without rows."""
    parts = read_genome(files[0], chrom_sizes=files[1])
    path = tmp_path / "loader.bedgraph"
    path.write_text("track type=bedGraph\nchrA\t2500\t4000\t2\nchrX\t0\t9\t1\nchrA\t0\t250\t8\nchrB\t9000\t9400\t5\n")
    per_bp = {"chrA": np.zeros(40_000), "chrB": np.zeros(9500)}
    per_bp["chrA"][2500:4000], per_bp["chrA"][:250], per_bp["chrB"][9000:9400] = 2.0, 8.0, 5.0
    expected = [per_bp[part.chrom][1000 * k : 1000 * (k + 1)].mean() for part in parts for k in range(part.n_sites)]
    assert np.allclose(read_loading(path, parts), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("chrA 5 9", "line 2: bedGraph has four columns"),
        ("chrA 5 nine 1", "line 2: bedGraph has four columns"),
        ("chrA 9 5 1", "line 2: start must be < end, got 9 and 5"),
        ("chrQ 5 9 -1", "line 2: a loading weight must be a finite number >= 0, got -1"),
        ("chrA 5 9 1_0", "line 2: a loading weight must be a finite number >= 0, got 1_0"),
        ("chrA 5 9 1\nchrA 2 6 1", "line 2: it overlaps line 3"),
    ],
)
def test_a_track_that_cannot_be_is_refused(files, tmp_path, rows, text):
    """The error names the line and the rule."""
    path = tmp_path / "loader.bedgraph"
    path.write_text(f"# loader\n{rows}\n")
    with pytest.raises(InputError, match=text):
        read_loading(path, read_genome(files[0], chrom_sizes=files[1]))


SCENARIO = """\
model = "chromatin"
[init]
n_lefs = 12
resolution = 500
view = "one"
[[init.chromosome]]
name = "one"
n_sites = 60
ctcf = [{ site = 20, captures_from = "right" }, { site = 40, captures_from = "both", strength = 0.5 }]
[[init.chromosome]]
name = "two"
n_sites = 80
ring = true
[[init.species]]
name = "a"
processivity_kb = 20
load = 0.5
[[init.species]]
name = "b"
anchor = "left"
processivity_kb = 20
slide = 0.1
[init.exchange]
bound = 0.5
residence = 20.0
[[init.loading]]
region = "one:0-5,000"
weight = 4.0
[[init.change]]
at = 50.0
species = "b"
multiply = { step = 2.0 }
[run]
seed = 3
until = 100.0
[record]
loops = true
occupancy = true
ctcfs = true
"""


def scenario(tmp_path, text=SCENARIO):
    """Return the loaded scenario."""
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return load_scenario(path)


def test_a_scenario_runs(tmp_path):
    """Everything that [init] may say reaches the world; reports, summary and picture are there."""
    loaded, folder = scenario(tmp_path), tmp_path / "out"
    prepare_folder(folder)
    outcome = execute(loaded, folder, plot=True)
    assert outcome.error is None
    world = outcome.simulation.world
    assert world.chromosomes["is_ring"].tolist() == [False, True]
    assert world.ctcfs["captures_from"].tolist() == [1, 0]
    weight = np.diff(world.loading.values, prepend=0.0)
    assert weight[:10].tolist() == [4.0] * 10
    assert weight[10:].sum() == 130 - 2
    assert np.allclose(world.rates["respawn"], [2 * 0.5 / 20, 0.5 / 20, 0.5 / 20])
    assert world.rates["step_right"].tolist() == [1.0, 1.0, 2.0]
    found = summarise(loaded, outcome)["summary"]
    assert found["chromosomes"] == 2
    assert 0.0 < found["LEFs bound, share"] < 1.0
    assert {"mean loop of a, kb", "mean loop of b, kb", "CTCF sites bound, share"} <= set(found)
    for name in ("loops.bedpe", "occupancy.bedgraph", "ctcfs.bed", "plot.png"):
        assert (folder / name).stat().st_size > 0
    assert (folder / "ctcfs.bed").read_text().splitlines()[2].endswith("0.5\t.")


def test_a_scenario_with_a_loading_track(tmp_path):
    """The track's weights are those of the world; regions replace them, and CTCF sites have none."""
    (tmp_path / "loader.bedgraph").write_text("one\t0\t30000\t0.5\ntwo\t0\t1000\t7\n")
    loaded = scenario(tmp_path, SCENARIO.replace("n_lefs = 12", 'n_lefs = 12\nloading_track = "loader.bedgraph"'))
    start = Start(loaded.init, loaded.params, loaded.given, tmp_path, 1)
    weight = np.diff(loaded.preset.build(start)[0].loading.values, prepend=0.0)
    assert weight[[0, 9, 10, 20, 59, 60, 61, 62]].tolist() == [4.0, 4.0, 0.5, 0.0, 0.5, 7.0, 7.0, 0.0]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('name = "two"', 'name = "one"', "two chromosomes are called 'one'"),
        ('view = "one"', 'view = "tow"', "init.view: there is no chromosome 'tow'. Did you mean 'two'"),
        ("site = 20", "site = 60", "chromosome 'one': a CTCF is at site 60, outside 0..59"),
        ("one:0-5,000", "three", "loading 'three': there is no chromosome 'three'"),
        ("one:0-5,000", "one:90,000-95,000", "holds no site of the simulated region one:0-30000"),
        ('species = "b"', 'species = "c"', "there is no species 'c'"),
        ("multiply = { step", "multiply = { stepp", "there is no rate 'stepp' to change. Did you mean 'step'"),
        ("slide = 0.1", "slyde = 0.1", "unknown key 'slyde'.*Did you mean 'slide'"),
        ("slide = 0.1", "respawn = 0.1", "give either respawn or processivity_kb"),
        ("n_lefs = 12", "n_lefs = 12\nspacing_kb = 5.0", "give either n_lefs or spacing_kb"),
        ("n_lefs = 12", 'n_lefs = 12\nsites = "a.bed"', "give either sites"),
        ("n_lefs = 12", 'n_lefs = 12\nrings = ["two"]', "regions and rings belong to sites"),
    ],
)
def test_a_scenario_that_cannot_be_is_refused(tmp_path, old, new, text):
    """The error names the key or the entry, and the rule."""
    assert old in SCENARIO
    prepare_folder(tmp_path / "out")
    with pytest.raises(InputError, match=text):
        execute(scenario(tmp_path, SCENARIO.replace(old, new, 1)), tmp_path / "out")


def test_the_shipped_scenario_runs(tmp_path):
    """The example of dynamic CTCF ends, with all CTCF gone after its second half."""
    path = Path(__file__).parents[3] / "scenarios" / "chromatin-dynamic.toml"
    loaded = load_scenario(path, [(("record",), {}), (("run", "until"), 4000.0)])
    prepare_folder(tmp_path / "out")
    outcome = execute(loaded, tmp_path / "out")
    assert outcome.simulation.counts["ChangeRates"] == 1
    assert outcome.simulation.observe()["CtcfOn"].value == 0
    assert WORLD.model is MODEL is outcome.simulation.model


def test_the_whole_genome_is_built_at_once():
    """Three million sites, 20,000 LEFs on 24 chromosomes: made, and run, in one piece."""
    lengths = np.full(24, 130_000)
    world = make_chromatin(lengths, 20_000, ctcf_sites=np.arange(50, lengths.sum(), 80), captures_from="left", seed=1)
    simulation = Simulation(MODEL, world, seed=1)
    simulation.run(events=50_000)
    assert simulation.n_events == 50_000
