"""The trajectory of a world with everything on is on record."""

import json
import os
from pathlib import Path

import pytest

from tocsin import Simulation, Stop
from tocsin.models.chromatin import MODEL

from ._worlds import everything

GOLDEN = Path(__file__).parents[2] / "golden.json"
EVENTS = 200_000


@pytest.mark.parametrize("method", ["next-reaction", "composition-rejection"])
def test_golden_hash(method):
    """200,000 events end in the state that is on record (TOCSIN_UPDATE_GOLDEN=1 records it anew)."""
    simulation = Simulation(MODEL, everything(1), seed=2024, method=method)
    assert simulation.run(events=EVENTS).stopped is Stop.REACHED_EVENTS
    got = {"events": EVENTS, "now": simulation.now, "sha256": simulation.state_hash()}
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if os.environ.get("TOCSIN_UPDATE_GOLDEN"):
        known[f"chromatin/{method}"] = got
        GOLDEN.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    assert got == known[f"chromatin/{method}"]
