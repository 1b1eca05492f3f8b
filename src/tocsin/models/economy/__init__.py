"""Game economies: players as entities, their sessions as clocks, the design as data."""

from tocsin.models.economy.compare import compare, recommend, replicates, sensitivity
from tocsin.models.economy.detect import Finding, findings
from tocsin.models.economy.draws import Draws, draws_to_target
from tocsin.models.economy.exact import PullLaw, pulls_to_featured, pulls_to_hit
from tocsin.models.economy.grid import sweep
from tocsin.models.economy.read import design_hash
from tocsin.models.economy.result import EconomyResult
from tocsin.models.economy.run import load, meeting, run

__all__ = [
    "Draws",
    "EconomyResult",
    "Finding",
    "PullLaw",
    "compare",
    "design_hash",
    "draws_to_target",
    "findings",
    "load",
    "meeting",
    "pulls_to_featured",
    "pulls_to_hit",
    "recommend",
    "replicates",
    "run",
    "sensitivity",
    "sweep",
]
