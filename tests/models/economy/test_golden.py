"""The trajectories of shipped economies are on record."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.models.economy.build import arrivals, plan_of, world_of
from tocsin.models.economy.model import MODEL
from tocsin.models.economy.read import read_design
from tocsin.models.economy.sandtable import build, config, model

GOLDEN = Path(__file__).parents[2] / "golden.json"


def declared(name: str) -> Simulation[Any]:
    plan = plan_of(read_design(f"package:{name}"))  # type: ignore[arg-type]
    personas, days = arrivals(plan.design, 300, 2024)
    return Simulation(MODEL, world_of(plan, personas, np.minimum(days, 30), 0, 30), seed=2024)


def sandtable(_: str) -> Simulation[Any]:
    design = config.SandtableDesign()
    world = build.world_of(design, build.cohorts(design, 1000, 2024, False), 0, 30)
    return Simulation(model.MODEL, world, seed=2024)


@pytest.mark.parametrize(
    ("name", "make"),
    [("hero-collector", declared), ("idle-prestige", declared), ("battle-pass", declared), ("sandtable", sandtable)],
)
def test_golden_hash(name: str, make: Any) -> None:
    """Thirty days end in the state that is on record (TOCSIN_UPDATE_GOLDEN=1 records it anew)."""
    simulation = make(name)
    simulation.run(until=30.0)
    got = {"events": simulation.n_events, "now": simulation.now, "sha256": simulation.state_hash()}
    known = json.loads(GOLDEN.read_text())
    if os.environ.get("TOCSIN_UPDATE_GOLDEN"):
        known[f"economy/{name}"] = got
        GOLDEN.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    assert got == known[f"economy/{name}"]
