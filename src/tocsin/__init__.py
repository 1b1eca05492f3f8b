"""Tocsin: exact, event-driven simulation at native speed."""

from tocsin.errors import (
    CompileError, FireError, InputError, ModelError, OutputError, PurityError, ScheduleError,
    SimulationError, Stop, TocsinError, ZenoError,
)  # fmt: skip
from tocsin.kernel import Rng, Touched
from tocsin.run import Event, Observation, RunReport, Simulation
from tocsin.schema import (
    NEVER, Action, Arena, Array, Array2, Array3, Entity, Model, Observable, OptionalRef, Params,
    Pool, Ref, World, boolean, float32, float64, int8, int16, int32, int64, param, uint8, uint16,
    uint32,
)  # fmt: skip

__version__ = "0.1.0"

__all__ = [
    "NEVER", "Action", "Arena", "Array", "Array2", "Array3", "CompileError", "Entity", "Event",
    "FireError", "InputError", "Model", "ModelError", "Observable", "Observation", "OptionalRef",
    "OutputError", "Params", "Pool", "PurityError", "Ref", "Rng", "RunReport", "ScheduleError",
    "Simulation", "SimulationError", "Stop", "TocsinError", "Touched", "World", "ZenoError",
    "boolean", "float32", "float64", "int16", "int32", "int64", "int8", "param", "uint16",
    "uint32", "uint8",
]  # fmt: skip
