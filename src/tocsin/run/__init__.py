"""Drive, record, observe: what users hold."""

from tocsin.run._compiled import access_of
from tocsin.run._observed import Observation
from tocsin.run._record import EventStream, SnapshotStream
from tocsin.run._replay import Replay, replay
from tocsin.run._simulation import Event, RunReport, Simulation

__all__ = [
    "Event", "EventStream", "Observation", "Replay", "RunReport", "Simulation", "SnapshotStream", "access_of", "replay",
]  # fmt: skip
