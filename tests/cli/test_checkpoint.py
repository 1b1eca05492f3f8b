"""`tocsin run --checkpoint --resume --save`: what the options do, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tocsin import Simulation
from tocsin.scenario import load_scenario


def test_the_options_leave_the_results_as_they_are(tocsin, gate):
    """With checkpoints or without, the summary and the files are those of the run; --save loads."""
    plain = json.loads(tocsin("run", gate, "--json").stdout)
    flags = ["--checkpoint", 0.001, "--resume", "--save", "end.tocsin", "--out", "other"]
    result = tocsin("run", gate, "--json", *flags)
    assert (result.exit_code, result.stderr) == (0, "")
    other = json.loads(result.stdout)
    for part in ("stopped", "time", "n_events", "observables", "summary", "files", "scenario"):
        assert other[part] == plain[part], part
    assert sorted(path.name for path in Path("other").iterdir()) == ["summary.json"]
    again = Simulation.load("end.tocsin", load_scenario(gate).preset.model)
    assert again.state_hash() == plain["provenance"]["state_hash"] == other["provenance"]["state_hash"]


def test_an_interval_of_no_time_is_refused(refused, gate):
    """Bad usage, and nothing is run."""
    assert "checkpoints must be more than 0 apart" in refused(2, "run", gate, "--checkpoint", 0)


@pytest.mark.parametrize("place", ["no/such/end", "."])
def test_a_save_that_cannot_be_written_is_refused_before_the_run(refused, gate, place):
    """A long run is not lost to a slip in the last option."""
    assert "must be a file in a folder that exists" in refused(2, "run", gate, "--save", place)
    assert not Path("out").exists()


def test_an_unfinished_run_is_not_started_anew(tocsin, refused, gate):
    """Where checkpoints lie, a run without --resume is refused."""
    tocsin("run", gate)
    folder = Path("out/gate/checkpoint")
    folder.mkdir()
    (folder / "state-000001.tocsin").write_bytes(b"")
    assert "go on with --resume" in refused(2, "run", gate, "--checkpoint", 1)
    assert "is not a whole save of a simulation" in refused(2, "run", gate, "--resume")
