"""The shipped algorithms by name, and the one function that runs them all.

Which one a robot runs is its task, so robots of one swarm may run different ones (TwoTask).
"""

from __future__ import annotations

from dataclasses import dataclass

from tocsin.models.swarm.algorithms.circle_formation import circle_formation
from tocsin.models.swarm.algorithms.gathering import gathering
from tocsin.models.swarm.algorithms.go_to_center import go_to_center
from tocsin.models.swarm.algorithms.local_average import local_average
from tocsin.models.swarm.algorithms.pattern_formation import pattern_formation
from tocsin.models.swarm.algorithms.sec import sec
from tocsin.models.swarm.algorithms.spreading import spreading
from tocsin.models.swarm.algorithms.sq_gathering import sq_gathering
from tocsin.models.swarm.algorithms.two_lights import two_lights
from tocsin.models.swarm.view import View


@dataclass(frozen=True)
class Needs:
    """What an algorithm rules out."""

    task: int
    is_sequential: bool = False
    sees_all: bool = False
    has_shared_axes: bool = False
    is_faultless: bool = False
    is_weak: bool = False
    """It is meant for weak multiplicity detection, which it gets unless another kind is asked for."""
    n_robots: int = 0


ALGORITHMS = {
    "Gathering": Needs(0),
    "SEC": Needs(1),
    "GoToCenter": Needs(2),
    "CircleFormation": Needs(3),
    "Spreading": Needs(4, has_shared_axes=True),
    "PatternFormation": Needs(5, has_shared_axes=True),
    "SqGathering": Needs(6, is_sequential=True, sees_all=True, is_faultless=True, is_weak=True),
    "LocalAverage": Needs(7),
    "TwoLights": Needs(8, sees_all=True, n_robots=2),
}
TWO_TASK = "TwoTask"
"""Half of the robots, at random, run SEC and half run Gathering; seldom comes to rest."""


def shipped(view: View) -> tuple[float, float]:
    """Run the algorithm that is the robot's task."""
    task = view.task
    if task == 0:
        return gathering(view)
    if task == 1:
        return sec(view)
    if task == 2:
        return go_to_center(view)
    if task == 3:
        return circle_formation(view)
    if task == 4:
        return spreading(view)
    if task == 5:
        return pattern_formation(view)
    if task == 6:
        return sq_gathering(view)
    if task == 7:
        return local_average(view)
    return two_lights(view)
