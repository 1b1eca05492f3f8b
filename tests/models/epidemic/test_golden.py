"""The trajectory of a town in which everything happens is on record."""

import json
import os
from pathlib import Path

import pytest

from tocsin import Simulation, Stop
from tocsin.models.epidemic import BY_CONTACT, MODEL

from .test_town import busy_town

GOLDEN = Path(__file__).parents[2] / "golden.json"
EVENTS = 100_000


@pytest.mark.parametrize("by_contact", [False, True])
def test_golden_hash(by_contact):
    """100,000 events end in the state that is on record (TOCSIN_UPDATE_GOLDEN=1 records it anew)."""
    model, key = (BY_CONTACT, "epidemic/contacts") if by_contact else (MODEL, "epidemic/people")
    simulation = Simulation(model, busy_town(by_contact, n=3_000), seed=2024)
    assert simulation.run(events=EVENTS).stopped is Stop.REACHED_EVENTS
    got = {"events": EVENTS, "now": simulation.now, "sha256": simulation.state_hash()}
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if os.environ.get("TOCSIN_UPDATE_GOLDEN"):
        known[key] = got
        GOLDEN.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    assert got == known[key]
