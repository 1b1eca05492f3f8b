"""Algorithms for robots, each in a file of its own: plain functions from a view to a target."""

from tocsin.models.swarm.algorithms.catalogue import ALGORITHMS, TWO_TASK, shipped

__all__ = ["ALGORITHMS", "TWO_TASK", "shipped"]
