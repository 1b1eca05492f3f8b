"""The race against the peers prints no time whose answers differ, hides no failure, and says who wins."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PEERS = Path(__file__).parents[2] / "scripts" / "peers"


@pytest.fixture(scope="module")
def race():
    """Import the script as a module."""
    before = list(sys.path)
    spec = importlib.util.spec_from_file_location("race", PEERS / "race.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before


def race_chemistry(race):
    """Return the names of the reaction networks."""
    return sys.modules["cases"].CHEMISTRY


def replies(mean, seconds, n=6, seed=0, sd=1.0):
    """Return what a contestant says in `n` rounds."""
    values = np.random.default_rng(seed).normal(mean, sd, n)
    return [{"seconds": seconds, "answers": {"x": float(value)}} for value in values]


def test_a_time_needs_an_answer_that_agrees(race):
    """A peer with another mean gets no time, one with the same mean does."""
    case = race.CASES[0]
    found = {"tocsin": replies(5.0, 0.1), "good": replies(5.0, 1.0, seed=1), "bad": replies(50.0, 1.0, seed=2)}
    text = "\n".join(race.table(case, found))
    assert "| good |" in text and "| 10 (10 to 10) | agree |" in text  # noqa: PT018
    assert "| bad | no time: the answers differ | | x: " in text


def test_one_round_is_held_against_our_spread(race):
    """A peer that is too slow for more than one round is judged by the spread of ours."""
    assert race.disagreement(replies(5.0, 0.1), replies(5.0, 60.0, n=1, seed=3)) == ""
    assert race.disagreement(replies(5.0, 0.1), replies(50.0, 60.0, n=1, seed=3)).startswith("x: ")


def test_failures_and_defeats_are_told(race):
    """A peer that failed is in the table, and so is one that wins."""
    found = {"tocsin": replies(5.0, 0.1), "fast": replies(5.0, 0.05, seed=1), "broken": "ImportError: no"}
    text = "\n".join(race.table(race.CASES[0], found))
    assert "**(the peer wins)**" in text
    assert "| broken | failed: ImportError: no |" in text


def test_a_contestant_answers_line_by_line():
    """What a library prints does not get between the answers; an unknown case is skipped, an error told."""
    code = (
        "import contestant\n"
        "def loud():\n    print('hello')\n    return lambda seed: {'x': 2.0 * seed}\n"
        "def broken():\n    raise ValueError('no compiler')\n"
        "contestant.serve({'loud': loud, 'broken': broken})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="loud 3\nother 1\nbroken 1\n", capture_output=True, text=True, cwd=PEERS
    )
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert first["answers"] == {"x": 6.0}
    assert first["seconds"] >= 0.0
    assert second == {"skipped": "no such case"}
    assert third == {"failed": "ValueError: no compiler"}


def test_every_case_has_an_adapter_of_ours(race):
    """The names of cases, peers and files fit together."""
    ours = (PEERS / "adapters" / "tocsin_.py").read_text()
    for name in race.PEERS:
        assert (PEERS / "adapters" / f"{name}_.py").is_file()
    for case in race.CASES:
        assert case.name in ours or case.name.startswith("phold_") or case.name in race_chemistry(race)
