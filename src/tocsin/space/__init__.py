"""Where rows live: grids, planes and networks, as plain arrays in the world."""

from tocsin.space._claims import Claims
from tocsin.space._grid import Grid, Grid3
from tocsin.space._live import LivePlane, LivePlane3
from tocsin.space._mail import Buckets
from tocsin.space._network import Network, Networked, Rewired
from tocsin.space._plane import Plane, Plane3
from tocsin.space._random_networks import (
    barabasi_albert,
    complete,
    configuration,
    erdos_renyi,
    lattice,
    small_world,
)
from tocsin.space._reduce import Last, Least, Most, Sum

__all__ = [
    "Buckets",
    "Claims",
    "Grid",
    "Grid3",
    "Last",
    "Least",
    "LivePlane",
    "LivePlane3",
    "Most",
    "Network",
    "Networked",
    "Plane",
    "Plane3",
    "Rewired",
    "Sum",
    "barabasi_albert",
    "complete",
    "configuration",
    "erdos_renyi",
    "lattice",
    "small_world",
]
