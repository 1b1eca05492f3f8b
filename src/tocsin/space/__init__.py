"""Where rows live: grids, planes and networks, as plain arrays in the world."""

from tocsin.space._network import Network, Networked, Rewired
from tocsin.space._random_networks import (
    barabasi_albert,
    complete,
    configuration,
    erdos_renyi,
    lattice,
    small_world,
)

__all__ = [
    "Network",
    "Networked",
    "Rewired",
    "barabasi_albert",
    "complete",
    "configuration",
    "erdos_renyi",
    "lattice",
    "small_world",
]
