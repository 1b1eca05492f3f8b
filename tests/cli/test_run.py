"""`tocsin run`: results on stdout, progress and errors on stderr, files in the folder."""

from __future__ import annotations

import json
import os
import re
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest


def test_a_run_prints_a_table_and_writes_a_summary(tocsin, gate):
    """Model, seed, time, events by action, the model's own numbers, observables, files."""
    result = tocsin("run", gate, "--no-progress")
    assert (result.exit_code, result.stderr) == (0, "")
    for line in (
        r"model +gate", r"seed +1", r"time +20 \(reached time\)", r"events +\d+ \(.*/s of CPU time\)",
        r"  Flip +\d+", r"flips a gate +\d+", r"observable +value +mean", r"Open +\d",
        r"out/gate/summary\.json",
    ):  # fmt: skip
        assert re.search(f"(?m)^{line}", result.stdout), line
    assert json.loads(Path("out/gate/summary.json").read_text())["stopped"] == "reached_time"


def test_json_prints_the_summary_and_nothing_else(tocsin, gate):
    """Stdout is what is in summary.json."""
    result = tocsin("run", gate, "--json", "--no-progress")
    assert json.loads(result.stdout) == json.loads(Path("out/gate/summary.json").read_text())
    assert result.stderr == ""


def test_flags_and_set_go_over_the_file(tocsin, gate):
    """--seed, --until and --events are short for --set run...."""
    flags = ["--seed", 7, "--until", 5, "--events", 9, "--set", "params.rates.flip=2", "--set", "init.n_gates=3"]
    found = json.loads(tocsin("run", gate, "--json", *flags).stdout)["scenario"]
    assert found["run"] == {"seed": 7, "until": 5.0, "events": 9, "method": None, "burn_in": 0.0}
    assert (found["params"]["rates"]["flip"], found["init"]["n_gates"]) == (2.0, 3)


def test_a_flag_and_set_make_the_same_run(tocsin, gate):
    """The hashes of scenario and state do not depend on how a seed was given."""
    first = json.loads(tocsin("run", gate, "--json", "--seed", 5).stdout)["provenance"]
    other = json.loads(tocsin("run", gate, "--json", "--set", "run.seed=5").stdout)["provenance"]
    assert (first["scenario_hash"], first["state_hash"]) == (other["scenario_hash"], other["state_hash"])


def test_recordings_reports_and_picture_are_listed(tocsin, gate):
    """Every file written is named, with its rows."""
    wanted = ["record.events=true", "record.snapshots.every=5", "record.flips=true"]
    result = tocsin("run", gate, "--plot", "--out", "here/and there", *[w for s in wanted for w in ("--set", s)])
    folder = Path("here/and there")
    names = ("events.parquet", "snapshots.parquet", "flips.txt", "plot.png", "summary.json")
    assert all((folder / name).is_file() and str(folder / name) in result.stdout for name in names)
    assert re.search(r"snapshots\.parquet +20 rows", result.stdout)


def test_progress_is_shown_on_stderr_when_asked(tocsin, gate, monkeypatch):
    """Simulated time, events and events a second; nothing of it on stdout."""
    monkeypatch.setattr("tocsin.cli._progress.SECONDS_BETWEEN", 0.0)
    result = tocsin("run", gate, "--progress", "--set", "run.until=4e4", "--set", "init.n_gates=50")
    assert re.search(r"t = .* events +[\d,]+/s", result.stderr)
    assert "/s of CPU" in result.stdout
    assert "t = " not in result.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--set", "run.sede=1"], r"command line, \[run\]: unknown key 'sede'\. Did you mean 'seed'\? It has: seed"),
        (["--set", "init.n_gates=0"], r"n_gates must be > 0, got 0"),
        (["--set", "params.rates.flip=0"], r"rates\.flip must be > 0, got 0"),
        (["--set", "model=gte"], r"there is no model 'gte'"),
        (["--set", "seed"], r"--set must read path=value, as in run\.seed=7, got 'seed'"),
        (["--until", "inf"], r"until must be finite, got inf"),
        (["--until", "-1"], r"until must be > 0, got -1"),
        (["--seed", "-1"], r"seed must be >= 0, got -1"),
        (["--out", "gate.toml/x"], r"cannot write into 'gate\.toml/x': .*; choose another folder with --out"),
    ],
)
def test_bad_input_is_one_paragraph_and_exit_code_2(refused, gate, args, message):
    """Nothing runs, nothing is written, and the paragraph says what to do."""
    assert re.search(message, refused(2, "run", gate, *args))
    assert not Path("out").exists()


def test_a_missing_scenario_is_refused(refused):
    """The path that was given is shown."""
    assert "there is no scenario file 'none.toml'" in refused(2, "run", "none.toml")


def test_a_picture_that_a_model_cannot_draw_is_refused_before_the_run(refused, gate, monkeypatch):
    """So it is without Matplotlib."""
    Path("s.toml").write_text('model = "switch"\n[run]\nuntil = 1\n')
    assert "the model 'switch' draws no picture; leave --plot out" in refused(2, "run", "s.toml", "--plot")
    monkeypatch.setattr("tocsin.cli._run.find_spec", lambda name: None if name == "matplotlib" else find_spec(name))
    assert "pip install 'tocsin[plot]'" in refused(2, "run", gate, "--plot")


def test_a_model_that_does_not_compile_is_bad_input(refused):
    """The compiler's sentence, with file and line, is the paragraph."""
    Path("bad.py").write_text(
        "from tocsin import Action, Model, World, int64\n\nclass W(World):\n    n: int64\n\n"
        "class A(Action):\n    def rate(self, world: W) -> float:\n        world.n = 3\n        return 1.0\n"
        "    def fire(self, world: W, now, rng, touched) -> None:\n        world.n += 1\n\nmodel = Model(W, [A])\n"
    )
    Path("bad.toml").write_text('model = "bad.py:model"\n[run]\nuntil = 1\n')
    assert re.search(r"A\.rate .*may only read", refused(2, "run", "bad.toml", "--no-progress"))


def test_a_run_that_fails_is_exit_code_1_and_keeps_what_was_done(tocsin, gate):
    """The error is one paragraph; the summary and the recordings are there."""
    args = ["--set", "params.rates.limit=30", "--set", "record.events=true"]
    result = tocsin("run", gate, *args)
    assert result.exit_code == 1
    assert re.search(r"^tocsin: Flip\(gate \d\)\.rate .*What was done until then is in out/gate\.$", result.stderr)
    assert result.stderr.count("\n") == 1
    found = json.loads(Path("out/gate/summary.json").read_text())
    assert (found["stopped"], found["files"]["events.parquet"]) == ("failed", found["n_events"])


def test_a_full_disk_is_exit_code_1(refused, gate, monkeypatch):
    """A result that cannot be written is a failed run, in one paragraph."""

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert re.search(r"cannot write '.*summary\.json': No space left on device", refused(1, "run", gate))
    assert not list(Path("out/gate").iterdir())


def test_ctrl_c_writes_what_was_done_and_is_exit_code_130(tocsin, gate, monkeypatch):
    """The summary says `interrupted` and holds the state at that event."""

    class Press:
        def __init__(self, *args):
            self.is_pressed = False

        def __call__(self, simulation):
            if not self.is_pressed:
                self.is_pressed = True
                os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("tocsin.cli._progress._Shower", Press)
    result = tocsin("run", gate, "--until", "1e12", "--progress")
    assert result.exit_code == 130
    assert re.search(r"tocsin: interrupted at t=\S+; what was done is in out/gate", result.stderr)
    found = json.loads(Path("out/gate/summary.json").read_text())
    assert found["stopped"] == "interrupted"
    assert found["n_events"] > 0


def test_ctrl_c_before_the_run_is_exit_code_130(refused, gate, monkeypatch):
    """While a model compiles there is nothing to write."""

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("tocsin.scenario._scenario.Simulation", interrupted)
    assert "interrupted; nothing was written" in refused(130, "run", gate)
