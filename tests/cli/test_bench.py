"""`tocsin bench`: one line or one JSON object a comparison."""

from __future__ import annotations

import json
import sys

import pytest

from tocsin.cli import _benchmarks
from tocsin.cli._benchmarks import Comparison, _phold, alternated
from tocsin.errors import SimulationError


@pytest.fixture
def two(monkeypatch):
    """A benchmark that measures nothing."""

    def fake():
        """Two comparisons."""
        yield Comparison("small", 30.0, 2.0, "events/s", 10.0)
        yield Comparison("large", 30.0, 20.0, "events/s", 10.0)

    monkeypatch.setitem(_benchmarks.BENCHMARKS, "two", fake)


def test_each_comparison_is_a_line(tocsin, two):
    """Ours, the peer's, the ratio, and whether the goal is met."""
    assert tocsin("bench", "two").stdout.splitlines() == [
        "small: 30 against 2 events/s, ratio 15, goal 10: met",
        "large: 30 against 20 events/s, ratio 1.5, goal 10: missed",
    ]


def test_each_comparison_is_a_json_object(tocsin, two):
    """One object a line, with name, ours, peer, unit, ratio and goal."""
    first, _ = map(json.loads, tocsin("bench", "two", "--json").stdout.splitlines())
    assert first == {"name": "small", "ours": 30.0, "peer": 2.0, "unit": "events/s", "goal": 10.0, "ratio": 15.0}


def test_without_a_name_the_benchmarks_are_listed(tocsin, two):
    """Each with the first line of its docstring."""
    text = tocsin("bench").stdout
    assert "phold  Event queue under load, against SimPy" in text
    assert "two    Two comparisons." in text


def test_an_unknown_benchmark_is_refused(refused):
    """With the nearest name."""
    assert "there is no benchmark 'fold'. Did you mean 'phold'? It has: phold" in refused(2, "bench", "fold")


def test_a_missing_peer_is_told(refused, monkeypatch):
    """A peer is imported when it is needed; without it one is told how to install it."""
    monkeypatch.setitem(sys.modules, "simpy", None)
    assert "this benchmark needs simpy, which is not installed; run: pip install simpy" in refused(2, "bench", "phold")


def test_programs_take_turns():
    """Ours and the peer's run in turn, as often as asked."""
    calls = []
    ours, peer = alternated(lambda: calls.append("o") or 1, lambda: calls.append("p") or 1, rounds=3)
    assert calls == ["o", "p"] * 3
    assert min(ours, peer) > 0


def test_the_work_is_checked_before_a_figure_is_given():
    """A program that fired another number of events gives no figure."""
    with pytest.raises(SimulationError, match="fired 3 events, expected 4"):
        _phold._checked(3, 4)


def test_the_peer_fires_the_events_it_is_asked_for(monkeypatch):
    """SimPy's program counts its hops."""
    simpy = pytest.importorskip("simpy")
    monkeypatch.setattr(_phold, "PEER_EVENTS", 500)
    assert _phold._simpy(simpy, 10)() == 500


@pytest.mark.slow
def test_phold_gives_a_figure_for_each_size(tocsin, monkeypatch):
    """A small PHOLD runs through."""
    pytest.importorskip("simpy")
    monkeypatch.setattr(_phold, "SIZES", (10,))
    monkeypatch.setattr(_phold, "OUR_EVENTS", 5_000)
    monkeypatch.setattr(_phold, "PEER_EVENTS", 500)
    assert json.loads(tocsin("bench", "phold", "--json").stdout)["ratio"] > 0
