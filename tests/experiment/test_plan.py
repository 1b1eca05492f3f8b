"""The plan: candidates, seeds, and what is refused before anything runs."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from tocsin.errors import InputError
from tocsin.experiment import Sweep
from tocsin.experiment._seeds import seed_of

from ._sweeps import ARRIVAL, MM1, SERVICE, queue, write_sweep


def test_a_grid_has_every_combination_once_the_last_axis_fastest():
    """2 values × 3 values are 6 candidates."""
    plan = queue({ARRIVAL: [0.1, 0.2], SERVICE: {"linspace": [1, 2, 3]}}).plan()
    assert list(plan.rows) == [(a, s) for a in (0.1, 0.2) for s in (1.0, 1.5, 2.0)]


def test_logspace_has_equal_ratios_and_exact_ends():
    """logspace names its first and its last value, not exponents."""
    rows = queue({ARRIVAL: {"logspace": [0.001, 0.1, 5]}}).plan().rows
    values = [a for (a,) in rows]
    assert (values[0], values[-1]) == (0.001, 0.1)
    assert [b / a for a, b in pairwise(values)] == pytest.approx([math.sqrt(10)] * 4)


def test_a_zip_takes_axes_side_by_side():
    """As many candidates as each axis has values; other lengths are refused."""
    assert list(queue({ARRIVAL: [0.1, 0.2], SERVICE: [1, 2]}, design="zip").plan().rows) == [(0.1, 1), (0.2, 2)]
    with pytest.raises(InputError, match=r"axes of one length, got params.rates.arrival: 1, params.rates.service: 2"):
        queue({ARRIVAL: [0.1], SERVICE: [1, 2]}, design="zip").plan()


@pytest.mark.parametrize("design", ["lhs", "sobol"])
def test_a_stratified_design_fills_every_stratum_once(design):
    """Of 16 points, each sixteenth of each axis holds exactly one."""
    axes = {ARRIVAL: {"range": [0.0, 1.0]}, SERVICE: {"range": [1.0, 100.0], "log": True}}
    rows = queue(axes, design=design, candidates=16, seed=5).plan().rows
    assert sorted(int(16 * a) for a, _ in rows) == list(range(16))
    assert sorted(int(16 * math.log(s) / math.log(100.0)) for _, s in rows) == list(range(16))


def test_a_random_design_follows_its_seed():
    """The same seed draws the same candidates, another one others."""
    axes = {ARRIVAL: {"range": [0.0, 1.0]}, "init.n_present": {"range": [0, 3]}}
    plans = [list(queue(axes, design="random", candidates=200, seed=s).plan().rows) for s in (1, 1, 2)]
    assert plans[0] == plans[1] != plans[2]
    assert {n for _, n in plans[0]} == {0, 1, 2, 3}, "both ends of a range of whole numbers belong to it"


def test_a_formula_follows_the_axes_before_it():
    """service = 2 arrival + 0.5."""
    plan = queue({ARRIVAL: [0.1, 0.2], SERVICE: {"formula": "2 * arrival + 0.5"}}).plan()
    assert [s for _, s in plan.rows] == [0.7, 0.9]


def test_a_table_gives_the_candidates(tmp_path):
    """One candidate a row, from CSV or Parquet; whole numbers stay whole."""
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    (tmp_path / "t.csv").write_text(f"{ARRIVAL},init.n_present\n0.25,3\n0.5,0\n")
    pq.write_table(pc.read_csv(tmp_path / "t.csv"), tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        path = tmp_path / "s.toml"
        path.write_text(f'model = "mm1"\n[run]\nuntil = 1.0\n[sweep]\ndesign = "table"\ntable = "{name}"\n')
        assert list(Sweep.load(path).plan().rows) == [(0.25, 3), (0.5, 0)]


def test_paths_reach_into_lists(tmp_path):
    """init.ctcf[1].strength is the strength of the second CTCF."""
    sites = [{"site": 5, "captures_from": "left"}, {"site": 9, "captures_from": "right"}]
    base = {"model": "extrusion", "init": {"n_sites": 20, "n_lefs": 1, "ctcf": sites}, "run": {"until": 1.0}}
    plan = Sweep.of(base, {"init.ctcf[1].strength": [0.25], "init.n_lefs": {"linspace": [1, 3, 3]}}).plan()
    scenario = plan.job.scenario(plan.run(1, 0))
    assert scenario.init.ctcf[1].strength == 0.25
    assert (scenario.init.n_lefs, plan.bad) == (2, [])
    assert (
        Sweep.of(base, {"init.ctcf[2].strength": [0.25]}).plan().errors[0]
        == "init.ctcf[2].strength: init.ctcf has 2 entries, counted from 0"
    )


def test_paired_seeds_are_those_of_the_replicate_and_others_of_both():
    """Common random numbers by default: candidates share their seeds, replicates do not."""
    paired, apart = queue(seed=9).plan(), queue(seed=9, paired=False).plan()
    assert paired.run(0, 3).seed == paired.run(2, 3).seed != paired.run(0, 2).seed
    assert len({apart.run(c, r).seed for c in range(3) for r in range(50)}) == 150
    assert seed_of(9, None, 3) == paired.run(0, 3).seed == 15_800_493_516_011_352_842  # for good: stores are resumed


def test_a_bad_candidate_stays_in_the_plan():
    """It is reported with what is wrong, and not dropped."""
    plan = queue({ARRIVAL: [0.2, -1.0]}).plan()
    assert plan.bad == [1]
    assert plan.to_arrow().column("error").to_pylist() == [
        None,
        "candidate 1, [params.rates]: rates.arrival must be >= 0, got -1.0.",
    ]


@pytest.mark.parametrize(
    ("axes", "settings", "text"),
    [
        ({ARRIVAL: []}, {}, r"params.rates.arrival: the axis is empty"),
        ({ARRIVAL: {"linspace": [0, 1, 0]}}, {}, r"the axis is empty"),
        ({"params.rates.arival": [1]}, {}, r"no key 'params.rates.arival'. Did you mean 'params.rates.arrival'\?"),
        ({"arrival": [1]}, {}, r"no key 'arrival'. Did you mean 'params.rates.arrival'\?"),
        ({"run.seed": [1]}, {}, r"run.seed is no axis; set replicates and seed"),
        ({ARRIVAL: {"range": [0, 1]}}, {}, r"is a range, and a grid needs values"),
        ({ARRIVAL: {"range": [1, 0]}}, {}, r"low < high, got \[1, 0\]"),
        ({ARRIVAL: {"logspace": [0, 1, 3]}}, {}, r"logspace needs first and last > 0, got 0 and 1"),
        ({ARRIVAL: "abc"}, {}, r"an axis is a list of values or a table"),
        ({ARRIVAL: {"linspce": [0, 1, 3]}}, {}, r"an axis has exactly one of values"),
        ({ARRIVAL: {"formula": "2 * nothing"}}, {}, r"the formula names 'nothing'"),
        ({ARRIVAL: {"formula": "2 *"}}, {}, r"column 4: "),
        ({ARRIVAL: [1]}, {"design": "sobol"}, r"needs candidates = how many"),
        ({ARRIVAL: [1]}, {"candidates": 3}, r"belongs to the designs random, lhs, sobol"),
        ({ARRIVAL: [1]}, {"replicates": 0}, r"replicates must be >= 1 or 'auto', got 0"),
        ({ARRIVAL: [1]}, {"replicates": "auto"}, r"belong together"),
        ({ARRIVAL: [1]}, {"replicates": "auto", "target": "Present.mean 1%"}, r"a target reads 'METRIC ±1%'"),
        ({ARRIVAL: [1]}, {"desing": "grid"}, r"unknown key 'desing'. Did you mean 'design'\?"),
    ],
)
def test_what_is_wrong_with_a_sweep_is_said_at_once(axes, settings, text):
    """Every rule has its sentence."""
    with pytest.raises(InputError, match=text):
        queue(axes, **settings).plan()


def test_a_billion_candidates_are_refused_with_the_number():
    """Before anything of that size is made."""
    axes = {
        ARRIVAL: {"linspace": [0, 1, 1000]},
        SERVICE: {"linspace": [1, 2, 1000]},
        "run.until": {"linspace": [10, 20, 1000]},
    }
    with pytest.raises(InputError, match=r"1,000,000,000 candidates \(1,000 × 1,000 × 1,000\) are more than 1,000,000"):
        queue(axes).plan()
    with pytest.raises(InputError, match=r"1,000,000,000 candidates are more than"):
        queue({ARRIVAL: {"range": [0, 1]}}, design="lhs", candidates=10**9).plan()


def test_a_file_may_nest_its_paths_and_a_single_run_leaves_the_sweep_alone(tmp_path):
    """`params.rates.arrival = [...]` without quotes is the same axis; `tocsin run` runs the scenario itself."""
    from tocsin.scenario import load_scenario

    nested = write_sweep(tmp_path / "a.toml", "replicates = 2", "params.rates.arrival = [0.2, 0.5]")
    quoted = write_sweep(tmp_path / "b.toml", "replicates = 2")
    assert Sweep.load(nested).plan().hash == Sweep.load(quoted).plan().hash
    assert "sweep" not in load_scenario(nested).effective()


def test_the_hash_of_a_plan_follows_what_its_results_depend_on():
    """Another seed, axis, scenario or pairing is another experiment; more replicates are not."""
    base = queue().plan().hash
    others = [
        queue(seed=1),
        queue({ARRIVAL: [0.2]}),
        queue(paired=False),
        Sweep.of({**MM1, "run": {"until": 41.0}}, {ARRIVAL: [0.2, 0.5, 0.8]}),
    ]
    assert len({base, *(other.plan().hash for other in others)}) == 5
    assert queue(replicates=7).plan().hash == base
