"""Epidemics in scenarios: every kind of network, contacts from files, and what is refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tocsin import InputError
from tocsin.models.epidemic import BY_CONTACT, MODEL
from tocsin.scenario import load_scenario

CSV = "source,target,weight,since,until\n0,1,1.0,,2.0\n1,2,0.5,1.5,\n0,1,2.0,3.0,4.0\n"


@pytest.fixture
def load(tmp_path):
    """Load a scenario with the lines given as its `[init]`."""

    def loaded(text):
        path = tmp_path / "town.toml"
        path.write_text(f'model = "epidemic"\n[init]\n{text}\n[run]\nuntil = 5.0\n')
        return load_scenario(path)

    return loaded


@pytest.mark.parametrize(
    ("network", "n", "n_edges"),
    [
        ('kind = "erdos_renyi", n = 50, mean_degree = 4', 50, 100),
        ('kind = "barabasi_albert", n = 50, m = 2', 50, 2 + 2 * 47),
        ('kind = "small_world", n = 50, k = 4, rewired = 0.1', 50, 100),
        ('kind = "lattice", shape = [5, 10]', 50, 100),
        ('kind = "lattice", shape = [5, 10], periodic = false', 50, 85),
        ('kind = "complete", n = 6', 6, 15),
        ('kind = "configuration", degrees = [1, 1, 1, 1]', 4, 2),
    ],
)
def test_kinds_of_networks(load, network, n, n_edges):
    """Each kind has the people and the contacts that it should."""
    world, _ = load(f"network = {{ {network} }}\nn_infectious = 3").build()
    assert len(world.people) == n
    assert len(world.neighbours.values) <= 2 * n_edges
    assert len(world.neighbours.values) >= 2 * n_edges - (2 if "configuration" in network else 0)
    assert (world.people["state"] == 1).sum() == 3


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_contacts_from_a_file(load, tmp_path, kind):
    """Columns become edges, weights and times; an empty time is no limit; a pair may meet twice."""
    if kind == "csv":
        (tmp_path / "c.csv").write_text(CSV)
    else:
        table = {"source": [0, 1, 0], "target": [1, 2, 1], "weight": [1.0, 0.5, 2.0],
                 "since": [None, 1.5, 3.0], "until": [2.0, None, 4.0]}  # fmt: skip
        pq.write_table(pa.table(table), tmp_path / "c.parquet")
    world, _ = load(f'network = {{ kind = "file", file = "c.{kind}" }}\ninfectious = [2]').build()
    assert world.first.values.tolist() == [0, 2, 5, 6]
    assert world.neighbours.values.tolist() == [1, 1, 0, 0, 2, 1]
    assert world.weights.values.tolist() == [1.0, 2.0, 1.0, 2.0, 0.5, 0.5]
    assert world.since.values.tolist() == [-np.inf, 3.0, -np.inf, 3.0, 1.5, 1.5]
    assert world.until.values.tolist() == [2.0, 4.0, 2.0, 4.0, np.inf, np.inf]
    one_way, _ = load(f'network = {{ kind = "file", file = "c.{kind}", directed = true }}\ninfectious = [2]').build()
    assert one_way.first.values.tolist() == [0, 2, 3, 3, 3, 5, 6]
    assert one_way.neighbours.values.tolist() == [1, 1, 2, 0, 0, 1]
    assert one_way.back == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('network = { kind = "erdos_renyi", n = 10 }', "a network of kind 'erdos_renyi' needs mean_degree"),
        ('network = { kind = "ring" }', "kind must be"),
        ('network = { kind = "complete", n = 3 }\nn_infectious = 4', "n_infectious must be <= 3 people, got 4"),
        ('network = { kind = "complete", n = 3 }\ninfectious = [3]', r"numbered 0\.\.2, got infectious 3"),
        ('network = { kind = "file", file = "none.csv" }', "init.network: there is no file"),
        ('network = { kind = "small_world", n = 10, k = 3, rewired = 0.5 }', "init.network: k must be even"),
        ("[[init.vaccination]]\nstarts_at = 2.0\nends_at = 1.0", "start before it ends"),
        ("course = 'SRI'", "course must be"),
    ],
)
def test_what_is_refused(load, text, message):
    """The message says which key, and why."""
    with pytest.raises(InputError, match=message):
        load(text).build()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,target\n0,0\n", "bad.csv: an edge joins two different nodes"),
        ("source,target\n0,1\n1,0\n", "is given twice"),
        ("source,target\n0,x\n", "column 'target' must hold numbers"),
        ("source,target\n0,1.5\n", "column 'target' must hold whole numbers"),
        ("source,target\n0,\n", "column 'target' has 1 empty places"),
        ("source,goal\n0,1\n", "has a column 'goal'"),
        ("source\n0\n", "lacks the column 'target'"),
        ("source,target,source\n0,1,2\n", "has two columns 'source'"),
        ("source,target\n0,2000000000\n", "2,000,000,001 people for 1 contacts"),
        ("source,target\n0,1e300\n", "must hold whole numbers below"),
        ("source,target,weight\n0,1,-2\n", "a weight must be >= 0 and finite, got -2"),
        ("source,target,since,until\n0,1,3,2\n", "since <= until"),
        ("source,target\n0,99999999999\n", "must hold whole numbers below"),
        ("", "cannot be read as CSV"),
    ],
)
def test_bad_files(load, tmp_path, text, message):
    """A file that holds no contacts is refused by name."""
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        load('network = { kind = "file", file = "bad.csv" }\ninfectious = [0]').build()


def test_clocks_choose_the_model(load):
    """`clocks` says which of the two models runs; both sum up alike."""
    text = 'network = { kind = "lattice", shape = [8, 8] }\nclocks = '
    assert load(text + '"people"').variant().model is MODEL
    assert load(text + '"contacts"').variant().model is BY_CONTACT
    simulation, context = load(text + '"contacts"').start()
    simulation.run(until=5.0)
    found = load(text + '"contacts"').preset.summarise(simulation, context)
    assert found["people"] == 64
    assert found["contacts of a person"] == 4.0
    assert found["infections"] == simulation.world.n_infections > 0
