"""Robots that Look, Compute and Move: swarms under every scheduler, with any algorithm."""

from tocsin.models.swarm.build import make_swarm
from tocsin.models.swarm.model import swarm_model
from tocsin.models.swarm.robot import Rules
from tocsin.models.swarm.view import View
from tocsin.models.swarm.world import SwarmWorld

__all__ = ["Rules", "SwarmWorld", "View", "make_swarm", "swarm_model"]
