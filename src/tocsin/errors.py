"""The exception tree, and the codes with which compiled code says why it stopped.

TocsinError
├── InputError(ValueError)         a value, a file or a scenario that breaks a stated rule
├── OutputError(OSError)           a result that cannot be written
├── ModelError(TypeError)          a declaration that does not hold together
│   └── CompileError               a model function that cannot be compiled
│       └── PurityError            ... because it writes where it may only read
└── SimulationError(RuntimeError)  a run that cannot go on
    ├── ScheduleError              a pending time that is NaN or lies in the past
    ├── ZenoError                  events without end at one instant
    ├── FireError                  an exception inside `fire` or `schedule`
    ├── AuditError                 a change that its event did not say with `touched`
    └── ExecutorError              workers, or a scheduler, that cannot be reached or do not last
"""

from __future__ import annotations

import enum
import importlib
from typing import Any


class TocsinError(Exception):
    """Every error that Tocsin raises on purpose."""


class InputError(TocsinError, ValueError):
    """A value, a file or a scenario breaks a stated rule."""


class OutputError(TocsinError, OSError):
    """A result cannot be written."""


def needed(module: str, what: str, extra: str) -> Any:
    """Import a module of an extra. Raises InputError that says what to install if it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InputError(
            f"{what} needs {package}, which is not installed; run: pip install 'tocsin[{extra}]'"
        ) from None


class ModelError(TocsinError, TypeError):
    """A declaration does not hold together."""


class CompileError(ModelError):
    """A model function cannot be compiled."""


class PurityError(CompileError):
    """A function writes where it may only read."""


class SimulationError(TocsinError, RuntimeError):
    """A run cannot go on; the world stays as it was when it stopped."""


class ScheduleError(SimulationError):
    """`schedule` returned NaN or a time before now."""


class ZenoError(SimulationError):
    """Too many events fired without time advancing."""


class FireError(SimulationError):
    """An exception was raised inside a model function."""


class AuditError(SimulationError):
    """An event changed what a clock or an observable depends on, and did not touch its row."""


class ExecutorError(SimulationError):
    """The workers of an experiment, or their scheduler, cannot be reached or do not last."""


class Stop(enum.IntEnum):
    """Why the compiled loop returned."""

    REACHED_TIME = 0
    """No pending event at or before `until`."""
    REACHED_EVENTS = 1
    """The asked number of events has fired."""
    EXHAUSTED = 2
    """No clock will ever ring again."""
    BAD_TIME = 3
    """A `schedule` returned NaN or a time before now."""
    ZENO = 4
    """Too many events at one instant."""
    LOG_FULL = 5
    """The event log has to be drained before the next event."""
    STALE = 6
    """The audit found a clock, or an observable, that should have been touched."""
