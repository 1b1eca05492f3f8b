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
        assert any(race.enters(name, case.name) for name in race.PEERS)


def test_what_is_not_installed_is_in_the_table(race):
    """A peer that pip could not bring is named with the reason, and in no other way."""
    text = "\n".join(race.table(race.CASES[0], {"tocsin": replies(5.0, 0.1)}, {"ciw": "no wheel"}))
    assert "| ciw | not installed: no wheel | | |" in text


def test_pip_that_fails_stops_nothing(race, tmp_path, monkeypatch):
    """A package that there is not makes one entry; the others are asked for all the same."""
    asked = []
    monkeypatch.setattr(
        sys.modules["environment"],
        "install",
        lambda python, packages: asked.append(packages) or packages[0][:2] * ("none" in packages),
    )
    monkeypatch.setattr(sys.modules["environment"].venv, "create", lambda folder, with_pip: None)
    _, missing = race.make_environment(tmp_path, {"one": ["none"], "two": ["numpy"], "three": []})
    assert missing == {"one": "no"}
    assert asked == [["none", "numpy"], ["none"], ["numpy"]]


def test_a_contestant_that_dies_or_hangs_is_started_again(race, tmp_path, monkeypatch):
    """Its run has failed, with the last words it said or the time it had; its next run is in a new process."""
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters" / "odd_.py").write_text(
        "import sys, time, json\n"
        "for line in sys.stdin:\n"
        "    word = line.split()[0]\n"
        "    if word == 'die': sys.exit('out of memory')\n"
        "    if word == 'hang': time.sleep(60)\n"
        "    print(json.dumps({'seconds': 1.0, 'answers': {}}), flush=True)\n"
    )
    monkeypatch.setattr(race, "HERE", tmp_path)
    one = race.Contestant(sys.executable, "odd")
    assert one.run("die", 0) == {"failed": "out of memory"}
    assert "seconds" in one.run("fine", 0)
    monkeypatch.setattr(race, "PATIENCE", 0.3)
    assert one.run("hang", 0) == {"failed": "no answer in 0 s"}
    monkeypatch.setattr(race, "PATIENCE", 60.0)
    assert "seconds" in one.run("fine", 1)
    one.close()


def test_the_page_says_who_wins(race, tmp_path):
    """The summary names the nearest peer of each case, and where one wins; ours from SBML is no peer."""
    page = race.Race(["# top", ""], tmp_path / "race.md")
    found = {"tocsin": replies(5.0, 0.1), "near": replies(5.0, 0.05, seed=1), "tocsin_sbml": replies(5.0, 0.01, seed=2)}
    lines, nearest = race.judged(race.CASES[0], found)
    page.add("queues", lines, nearest)
    page.add("nothing", ["Stopped: no compiler"], None)
    text = (tmp_path / "race.md").read_text()
    assert "| queues | near | 0.5 **(the peer wins)** |" in text
    assert "| nothing | none was raced | |" in text
    assert "A peer wins in 1 of 2: queues." in text
    assert "| Tocsin, networks from SBML | " in text


@pytest.mark.parametrize("name", ["dimers", "brusselator"])
def test_networks_of_pairs_are_one_law_from_python_and_from_sbml(race, name, monkeypatch):
    """The document that peers read has the propensities of the network that we run: event for event."""
    from tocsin.models.reactions import Network, Reaction

    monkeypatch.syspath_prepend(PEERS / "adapters")
    case, text = race_chemistry(race)[name], importlib.import_module("_sbml").sbml
    sides = [(" + ".join(a) or "0") + " -> " + (" + ".join(b) or "0") for _, a, b in case.reactions]
    ours = Network(case.species, [Reaction(t, r[0]) for t, r in zip(sides, case.reactions, strict=True)])
    one, other = (n.run([0.01], seed=1) for n in (ours, Network.from_sbml(text(case))))
    assert one.n_events == other.n_events > 50
    assert one.values.tolist() == other.values.tolist()
