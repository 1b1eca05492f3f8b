"""Formulas as data: a safe expression language, parsed to postfix tables that compiled models evaluate."""

from tocsin.formula._expression import CALLS, FormulaError, Vocabulary, expression
from tocsin.formula._postfix import LOAD, Table, floor, power, run_formula, value_of, whole_power
from tocsin.formula._total import TotalTable, evaluate, total_value
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
    "CALLS",
    "DRAWS",
    "FUNCTIONS",
    "LOAD",
    "TIME",
    "FormulaError",
    "Node",
    "Table",
    "TotalTable",
    "Vocabulary",
    "call",
    "constant_of",
    "evaluate",
    "expression",
    "floor",
    "formula",
    "height",
    "name",
    "number",
    "power",
    "run_formula",
    "total_value",
    "value_of",
    "whole_power",
]
