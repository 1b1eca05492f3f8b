"""Go to the centre of gravity of those in sight, as far as nobody in sight can be lost.

The averages of Castenow, Harbig, Jung, Kling, Knollmann and Meyer auf der Heide 2022, arXiv:2206.07567, with the limits of
Ando, Oasa, Suzuki and Yamashita 1999, doi:10.1109/70.795787.
"""

from __future__ import annotations

from tocsin.models.swarm.algorithms.go_to_center import limited
from tocsin.models.swarm.view import View


def local_average(view: View) -> tuple[float, float]:
    """Return a point on the way to the centre of gravity."""
    x, y = view.centroid()
    return limited(view, x, y)
