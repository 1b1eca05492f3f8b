"""Every shipped model is clean under `tocsin check`."""

from __future__ import annotations

import pytest

from tocsin import Simulation
from tocsin.check import check
from tocsin.check._trial import run_for
from tocsin.cli._subject import ALLOWED, find_subject
from tocsin.scenario import shipped

PRESETS = {preset.name: preset.model for preset in shipped()}
NAMES = list(PRESETS)
TICKING = [name for name, model in PRESETS.items() if any(m.asked == "tick" for m in model.actions)]
"""A tick visits every row, so these get few of them."""
METHODS = ("next-reaction", "composition-rejection")
HOW = [
    (name, method)
    for name, model in PRESETS.items()
    for method in METHODS[: 1 + any(m.asked == "rate" for m in model.actions)]
]
"""Without a rate both methods are the same."""
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


@pytest.mark.parametrize(("name", "method"), [how for how in HOW if how[0] not in FAST])
def test_the_others_are_audited_in_plain_python(name, method):
    """Up to 60 events with each method, or 4 ticks."""
    found = find_subject(name)
    simulation = Simulation(found.model, found.world, seed=2, jit=False, audit=True, method=method)
    assert simulation.run(events=4 if name in TICKING else 60).n_events > 0


@pytest.mark.parametrize("name", ALLOWED)
def test_false_alarms_are_allowed(name):
    """However the model is declared: with a preset of its own, or wrapped from its file."""
    assert find_subject(name).allowed == ALLOWED[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_are_clean_over_many_events(name):
    """100,000 events with each method (or 100 ticks), and all other checks."""
    events = 100 if name in TICKING else 100_000
    report = verdicts(name, events, 120.0 if name in TICKING else 1_800.0)
    assert report.is_clean, str(report)
    audits = [verdict for verdict in report.verdicts if verdict.name.startswith("audit, ")]
    assert len(audits) >= 1
    assert all(verdict.detail.startswith(f"{events:,} events, ") for verdict in audits)


def test_ticks_are_run_one_by_one(monkeypatch):
    """A tick with extreme parameters may double the rows, and fifty such ticks would never end."""
    found, asked = find_subject("life"), []
    simulation, run = Simulation(found.model, found.world, seed=1, jit=False), Simulation.run
    monkeypatch.setattr(Simulation, "run", lambda self, events: asked.append(events) or run(self, events=events))
    assert run_for(simulation, 3, 60.0) == 3
    assert asked == [1, 1, 1]
