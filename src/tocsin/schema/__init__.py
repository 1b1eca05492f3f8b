"""What a modeller declares: entities, worlds, params, actions, systems, models. Pure Python, no Numba."""

from tocsin.schema._action import Action, Observable
from tocsin.schema._array import Array, Array2, Array3
from tocsin.schema._entity import Entity, Message
from tocsin.schema._fields import (
    NEVER,
    FieldSpec,
    OptionalRef,
    ParamSpec,
    Ref,
    boolean,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    param,
    uint8,
    uint16,
    uint32,
)  # fmt: skip
from tocsin.schema._layout import ArraySchema, EntitySchema, WorldSchema
from tocsin.schema._model import Member, Model
from tocsin.schema._order import Shuffled, by_type
from tocsin.schema._params import Params
from tocsin.schema._part import Part, PartSchema
from tocsin.schema._system import System
from tocsin.schema._table import Arena, Pool, Table
from tocsin.schema._world import World

__all__ = [
    "NEVER", "Action", "Arena", "Array", "Array2", "Array3", "ArraySchema", "Entity",
    "EntitySchema", "FieldSpec", "Member", "Message", "Model", "Observable", "OptionalRef", "ParamSpec",
    "Params", "Part", "PartSchema", "Pool", "Ref", "Shuffled", "System", "Table", "World", "WorldSchema", "boolean", "by_type", "float32",
    "float64",
    "int8", "int16", "int32", "int64", "param", "uint8", "uint16", "uint32",
]  # fmt: skip
