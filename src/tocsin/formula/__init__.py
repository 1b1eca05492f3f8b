"""Formulas as data: a safe expression language, parsed to postfix tables that compiled models evaluate."""

from tocsin.formula._postfix import LOAD, Table, floor, power, run_formula, value_of, whole_power
from tocsin.formula._tree import (
    DRAWS,
    FUNCTIONS,
    TIME,
    Node,
    call,
    constant_of,
    formula,
    height,
    name,
    number,
)

__all__ = [
    "DRAWS",
    "FUNCTIONS",
    "LOAD",
    "TIME",
    "Node",
    "Table",
    "call",
    "constant_of",
    "floor",
    "formula",
    "height",
    "name",
    "number",
    "power",
    "run_formula",
    "value_of",
    "whole_power",
]
