"""The classic models, each with the worlds that the tests of all models run."""

import importlib
from types import SimpleNamespace

import numpy as np

NAMES = ("birth_death", "ehrenfest", "mm1", "phold", "sir_network", "switch")


def classic(name):
    """Return the model called `name`, a small world, and one in which a million events happen."""
    module = importlib.import_module(f"tocsin.models.classic.{name}")
    if name == "sir_network":
        small = module.make_world(2500, ring(2500, 4), np.arange(40))
        large = module.make_world(600_000, ring(600_000, 4), np.arange(0, 600_000, 100))
    else:
        small = large = module.make_world()
    return SimpleNamespace(name=name, model=module.MODEL, small=small, large=large)


def ring(n_people, reach):
    """Return the contacts of people in a ring with the next `reach` on each side."""
    person = np.arange(n_people)
    return np.concatenate([np.stack([person, (person + k) % n_people], axis=1) for k in range(1, reach + 1)])
