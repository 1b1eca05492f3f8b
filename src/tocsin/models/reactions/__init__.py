"""Reaction networks: from Python, text or SBML, by exact methods, one trajectory or many."""

from tocsin.models.reactions._results import Ensemble, Trajectory
from tocsin.models.reactions.model import MODEL, Reactor
from tocsin.models.reactions.network import Event, Network, Reaction, reversible

__all__ = ["MODEL", "Ensemble", "Event", "Network", "Reaction", "Reactor", "Trajectory", "reversible"]
