"""Runs and results: the same table whoever makes it, however often it is interrupted."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tocsin import Simulation
from tocsin.cli import app
from tocsin.errors import InputError, OutputError
from tocsin.experiment import Results, Sweep, query
from tocsin.models.classic.mm1 import MODEL, Rates, make_world

from ._sweeps import ARRIVAL, queue


@pytest.fixture(scope="module")
def reference():
    """Three candidates × four replicates, by one thread."""
    return queue(replicates=4, seed=2).run(workers=1)


def test_a_row_is_the_run_of_its_seed(reference):
    """The state at the end is that of a Simulation with the row's parameters and seed."""
    row = reference.table.to_pylist()[-1]
    simulation = Simulation(MODEL, make_world(rates=Rates(arrival=row[ARRIVAL])), seed=row["seed"])
    simulation.run(until=5.0)
    simulation.reset_observables()
    simulation.run(until=40.0)
    assert row["state_hash"] == simulation.state_hash()
    assert (row["n_events"], row["Present.mean"]) == (simulation.n_events, simulation.observe()["Present"].mean)
    assert (row["candidate"], row["replicate"], row["stop"], row["error"]) == (2, 3, "reached_time", None)


@pytest.mark.parametrize(
    "options",
    [{"workers": 3}, {"executor": ThreadPoolExecutor(2)}, {"executor": "processes", "workers": 2}],
    ids=["threads", "futures", "processes"],
)
def test_the_table_does_not_depend_on_the_executor(reference, options):
    """Threads, any executor of concurrent.futures, processes: the same bytes."""
    assert queue(replicates=4, seed=2).run(**options).hash() == reference.hash()


def test_an_experiment_can_be_stopped_anywhere_and_resumed(reference, tmp_path):
    """Stopped by an error after 5 runs, its last line half-written: the final table is the same."""

    def stop(state):
        if state.done == 5:
            raise KeyboardInterrupt

    sweep, out = queue(replicates=4, seed=2), tmp_path / "x"
    with pytest.raises(KeyboardInterrupt):
        sweep.run(out, workers=1, progress=stop)
    assert len(Results.load(out)) == 5
    with (out / "results" / "journal.jsonl").open("w") as file:
        file.write('{"candidate": 1, "repl')
    counted = []
    results = sweep.run(out, resume=True, progress=lambda state: counted.append((state.done, state.total)))
    assert counted[-1] == (7, 7)
    assert results.hash() == reference.hash()
    assert json.loads((out / "manifest.json").read_text())["state"] == "complete"


def test_a_damaged_part_is_named_and_done_again(reference, tmp_path):
    """What is left can be read; --resume makes up for the rest."""
    sweep, out = queue(replicates=4, seed=2), tmp_path / "x"
    sweep.run(out)
    part = out / "results" / "part-000000.parquet"
    part.write_bytes(part.read_bytes()[:300])
    found = Results.load(out)
    assert len(found) == 0
    assert "part-000000.parquet" in found.damaged[0]
    asked = CliRunner().invoke(app, ["query", str(out), "select count(*) n from results", "--json"])
    assert '[{"n": 0}]' in asked.output
    assert "part-000000.parquet" in asked.output, "what is missing is said"
    assert sweep.run(out, resume=True).hash() == reference.hash()
    assert (out / "results" / "part-000000.parquet.damaged").exists()


def _line(**changed):
    """Return a line of a journal in which some values are changed."""
    row = {
        "candidate": 0, "replicate": 0, "seed": 1, "stop": "", "error": None, "time": None, "n_events": 1,
        "state_hash": None, "wall_seconds": 0, "cpu_seconds": 0, "metrics": {},
    }  # fmt: skip
    return json.dumps({**row, **changed})


def _part(results, name, values):
    """Write a part of a store again, with other values in one column."""
    table = pq.read_table(results / "part-000000.parquet")
    pq.write_table(table.set_column(table.column_names.index(name), name, values), results / "part-000001.parquet")


FOREIGN = {
    "other columns": lambda r: pq.write_table(pa.table({"x": [1]}), r / "part-000001.parquet"),
    "text for numbers": lambda r: _part(r, "candidate", pa.array(["a"] * 12)),
    "text for a metric": lambda r: _part(r, "Idle.high", pa.array(["a"] * 12)),
    "numbers below 0": lambda r: _part(r, "candidate", pa.array([-1] * 12, pa.int32())),
    "no numbers": lambda r: _part(r, "replicate", pa.array([None] * 12, pa.int32())),
    "a folder": lambda r: (r / "part-000001.parquet").mkdir(),
    "a journal that is a folder": lambda r: (r / "journal.jsonl").mkdir(),
    "lines of text": lambda r: (r / "journal.jsonl").write_text(_line(candidate="x")),
    "lines below 0": lambda r: (r / "journal.jsonl").write_text(_line(replicate=-1)),
    "lines past all seeds": lambda r: (r / "journal.jsonl").write_text(_line(seed=1 << 64)),
    "lines with text for a metric": lambda r: (r / "journal.jsonl").write_text(_line(metrics={"a": "b"})),
    "lines too deep": lambda r: (r / "journal.jsonl").write_text("[" * 100_000),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A whole store, in a folder with a name of several words and a colon."""
    out = tmp_path_factory.mktemp("store") / "of mine: é" / "x"
    queue(replicates=4, seed=2).run(out)
    return out


@pytest.mark.parametrize("harm", FOREIGN.values(), ids=FOREIGN)
def test_what_does_not_belong_in_a_store_is_named_and_set_aside(reference, whole, tmp_path, harm):
    """The rest can be read, and --resume leaves a table that is whole and names nothing."""
    out = tmp_path / "a: b"
    shutil.copytree(whole, out)
    harm(out / "results")
    found = Results.load(out)
    assert (found.hash(), len(found.damaged)) == (reference.hash(), 1)
    assert any(name in found.damaged[0] for name in ("part-000001.parquet", "journal.jsonl"))
    resumed = queue(replicates=4, seed=2).run(out, resume=True)
    assert (resumed.hash(), resumed.damaged) == (reference.hash(), ())


def test_what_is_half_gone_is_named(whole, tmp_path):
    """No results, a plan of something else, a manifest of something else, none."""
    out = tmp_path / "x"
    shutil.copytree(whole, out)
    pq.write_table(pa.table({"x": [1]}), out / "plan.parquet")
    with pytest.raises(InputError, match=r"plan.parquet' cannot be read: its columns are not those of a plan but x"):
        Results.load(out)
    shutil.rmtree(out / "results")
    assert len(queue(replicates=4, seed=2).run(out, resume=True)) == 12
    (out / "manifest.json").write_text('{"confidence": "high"}')
    with pytest.raises(InputError, match=r"manifest.json' is no manifest of an experiment: could not convert"):
        Results.load(out)
    (out / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"has results and no manifest.json, so that nothing says what made them"):
        queue(replicates=4, seed=2).run(out, resume=True)
    for wrong in (out / "plan.parquet", out / "plan.parquet" / "x", tmp_path / ("x" * 300), "a\0b"):
        with pytest.raises(OutputError, match=r"cannot make .*; choose another folder with --out"):
            queue().run(wrong)


def test_a_folder_has_one_writer(reference, tmp_path):
    """A second one is refused and harms nothing; after an interrupt the next one may."""
    sweep, out = queue(replicates=4, seed=2), tmp_path / "x"

    def meddle(state):
        if state.done == 3:
            for resume in (True, False):
                with pytest.raises(InputError, match=r"is being written by another experiment"):
                    sweep.run(out, resume=resume)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep.run(out, workers=1, progress=meddle)
    (out / "results" / ".part-000000.parquet-x1").write_text("of a writer that was killed")
    assert len(Results.load(out)) == 3
    assert sweep.run(out, resume=True).hash() == reference.hash()
    assert not (out / "results" / ".part-000000.parquet-x1").exists()


def test_resume_refuses_another_experiment(tmp_path):
    """Its rows would not belong together. Without --resume nothing is written over."""
    queue(replicates=1).run(tmp_path / "x")
    with pytest.raises(InputError, match=r"holds an experiment; go on with --resume"):
        queue(replicates=1).run(tmp_path / "x")
    with pytest.raises(InputError, match=r"holds another experiment"):
        queue(replicates=1, seed=1).run(tmp_path / "x", resume=True)
    assert len(queue(replicates=2).run(tmp_path / "x", resume=True)) == 6


def test_a_store_without_a_manifest_is_no_experiment(tmp_path):
    """And a manifest that is no JSON is named."""
    with pytest.raises(InputError, match=r"there is no experiment in"):
        Results.load(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match=r"manifest.json' cannot be read"):
        Results.load(tmp_path)


def test_bad_candidates_and_failing_runs_have_rows(tmp_path):
    """A row says what was wrong; the others are there."""
    results = queue({ARRIVAL: [0.2, -1.0]}, replicates=2).run()
    assert [(r["candidate"], r["stop"]) for r in results.failures().to_pylist()] == [(1, "refused")] * 2
    assert (len(results), len(results.of(0, "Present.mean")), len(results.of(1, "Present.mean"))) == (4, 2, 0)
    assert results.intervals("Present.mean")[1].n == 0


def test_where_all_runs_fail_the_reason_is_said():
    """A table without metrics is still a table; who asks for a metric hears why there is none."""
    results = queue({ARRIVAL: [-1.0, -2.0]}, replicates=2).run()
    assert (len(results), results.failures().num_rows, results.metrics) == (4, 4, [])
    assert dict(results.to_xarray().sizes) == {ARRIVAL: 2, "replicate": 2}
    with pytest.raises(
        InputError, match=r"no metric 'Idle.mean': all 4 runs failed, such as: candidate 0.*must be >= 0"
    ):
        results.column("Idle.mean")


def test_frames_hold_the_same_numbers(reference):
    """pandas, Arrow, xarray."""
    frame = reference.to_pandas()
    assert frame["Present.mean"].tolist() == reference.to_arrow().column("Present.mean").to_pylist()
    xr = pytest.importorskip("xarray")
    with contextlib.suppress(ImportError):  # no dependency of ours
        import polars

        assert isinstance(reference.to_polars(), polars.DataFrame)
    cube = reference.to_xarray()
    assert isinstance(cube, xr.Dataset)
    assert cube["Present.mean"].dims == (ARRIVAL, "replicate")
    assert cube["Present.mean"].sel({ARRIVAL: 0.5, "replicate": 2}).item() == reference.of(1, "Present.mean")[2]


def test_a_frame_of_a_library_that_is_not_there_is_refused_by_name(reference, monkeypatch):
    """One sentence with the remedy."""
    for name in ("polars", "pandas", "xarray"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(InputError, match=rf"to_{name} needs {name}, which is not installed; run: pip install"):
            getattr(reference, f"to_{name}")()


def test_queries_read_the_results_and_nothing_else(tmp_path):
    """SQL over results and plan; files, settings and writing are out of reach."""
    results = queue(replicates=4, seed=2).run(tmp_path / "x")
    found = query(
        tmp_path / "x",
        f'select candidate, avg("Present.mean") m, any_value("{ARRIVAL}") a from results group by 1 order by 1',
    )
    assert found.column("m").to_pylist() == pytest.approx([results.of(c, "Present.mean").mean() for c in range(3)])
    assert query(tmp_path / "x", "select count(*) n from plan").column("n").to_pylist() == [3]
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for sql in (
        f"select * from read_csv('{secret}')", f"select * from '{secret}'", f"copy results to '{tmp_path / 'o.csv'}'",
        f"attach '{tmp_path / 'x.db'}'", "set enable_external_access = true", "install httpfs", "selct 1",
    ):  # fmt: skip
        with pytest.raises(InputError, match=r"the query failed"):
            query(tmp_path / "x", sql)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["secret.csv", "x"]


def test_recordings_of_each_run_are_kept_if_asked(tmp_path):
    """keep = true writes what [record] asks for into a folder a run."""
    queue(replicates=2, keep=True).run(tmp_path / "x")
    assert sorted(p.name for p in (tmp_path / "x" / "runs").iterdir()) == [
        f"{c:06}-{r:06}" for c in range(3) for r in range(2)
    ]
    assert (
        json.loads((tmp_path / "x" / "runs" / "000001-000001" / "summary.json").read_text())["stopped"]
        == "reached_time"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"init": {"n_urn": 3}}, r"^no candidate can run: .*n_urn"),
        ({"run": {"until": -2.0}}, r"^no candidate can run: .*until"),
    ],
)
def test_a_fault_of_the_scenario_is_told_once(change, says, tmp_path):
    """What would make every run fail is refused before the first, and nothing is written."""
    sweep = Sweep.of(
        {"model": "mm1", "run": {"until": 5.0}, **change}, {"params.rates.arrival": [0.2, 0.4]}, replicates=2
    )
    with pytest.raises(InputError, match=says):
        sweep.run(tmp_path / "out")
    assert not (tmp_path / "out").exists()
