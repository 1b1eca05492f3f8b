"""`tocsin bench`: one line or one JSON object a comparison."""

from __future__ import annotations

import json
import sys

import pytest

from tocsin.cli import _benchmarks
from tocsin.cli._benchmarks import Comparison


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
    """One object a line, with name, ours, peer, unit, ratio and goal, and the ratio of each round."""
    first, _ = map(json.loads, tocsin("bench", "two", "--json").stdout.splitlines())
    assert first.pop("ratios") == []
    assert first == {"name": "small", "ours": 30.0, "peer": 2.0, "unit": "events/s", "goal": 10.0, "ratio": 15.0}


def test_without_a_name_the_benchmarks_are_listed(tocsin, two):
    """Each with the first line of its docstring."""
    text = tocsin("bench").stdout
    assert "simpy" in text
    assert "Two comparisons." in text


def test_an_unknown_benchmark_is_refused(refused):
    """With the nearest name."""
    assert "there is no benchmark 'simpi'. Did you mean 'simpy'?" in refused(2, "bench", "simpi")


def test_a_missing_peer_is_told(refused, monkeypatch):
    """A peer is imported when it is needed; without it one is told how to install it."""
    monkeypatch.setitem(sys.modules, "simpy", None)
    assert "this benchmark needs simpy, which is not installed; run: pip install simpy" in refused(2, "bench", "simpy")
