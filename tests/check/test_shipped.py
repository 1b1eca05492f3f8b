"""Every shipped model is clean under `tocsin check`."""

from __future__ import annotations

import pytest

from tocsin import Simulation
from tocsin.check import check
from tocsin.cli._subject import find_subject
from tocsin.scenario import shipped

NAMES = [preset.name for preset in shipped()]
FAST = ("extrusion",)
"""Of these the audited loop is compiled by default; the others are interpreted by default, and compiled if slow."""


def verdicts(name, events, seconds):
    """Return the report on a shipped model in its small world."""
    found = find_subject(name)
    return check(found.model, found.world, events=events, seed=1, seconds=seconds, allow=found.allowed)


@pytest.mark.parametrize("name", FAST)
def test_some_are_clean(name):
    """5,000 events with each method, and all other checks."""
    report = verdicts(name, 5_000, 120.0)
    assert report.is_clean, str(report)
    assert report["audit, composition-rejection"].detail.startswith("5,000 events, ")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in FAST])
@pytest.mark.parametrize("method", ["next-reaction", "composition-rejection"])
def test_the_others_are_audited_in_plain_python(name, method):
    """Up to 60 events with each method."""
    found = find_subject(name)
    simulation = Simulation(found.model, found.world, seed=2, jit=False, audit=True, method=method)
    assert simulation.run(events=60).n_events > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_are_clean_over_many_events(name):
    """100,000 events with each method, and all other checks."""
    report = verdicts(name, 100_000, 1_800.0)
    assert report.is_clean, str(report)
    audits = [verdict for verdict in report.verdicts if verdict.name.startswith("audit, ")]
    assert len(audits) >= 1
    assert all(verdict.detail.startswith("100,000 events, ") for verdict in audits)
