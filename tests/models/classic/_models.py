"""The classic models, each with the worlds that the tests of all models run."""

import importlib
from types import SimpleNamespace

import numpy as np

METHODS = ("next-reaction", "composition-rejection")
NAMES = ("birth_death", "ehrenfest", "mm1", "phold", "sir_network", "switch")


def classic(name, *, build=True):
    """Return the model called `name` and worlds in which thousands, 100,000 and a million events happen."""
    module = importlib.import_module(f"tocsin.models.classic.{name}")
    if not build:
        return SimpleNamespace(name=name, model=module.MODEL)
    if name == "sir_network":
        worlds = [town(module, *size) for size in ((2_500, 4, 100), (80_000, 1, 3), (600_000, 4, 100))]
    else:
        worlds = [module.make_world()] * 3
    small, middle, large = worlds
    return SimpleNamespace(name=name, model=module.MODEL, small=small, middle=middle, large=large)


def town(module, n_people, reach, every):
    """Return a ring of people in which the infection reaches nearly all, from one in `every`."""
    rates = module.Rates(transmission=5.0)
    return module.make_world(n_people, ring(n_people, reach), np.arange(0, n_people, every), rates)


def ring(n_people, reach):
    """Return the contacts of people in a ring with the next `reach` on each side."""
    person = np.arange(n_people)
    return np.concatenate([np.stack([person, (person + k) % n_people], axis=1) for k in range(1, reach + 1)])
