"""Expressions: what they mean, and what is refused, with a caret."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.errors import InputError
from tocsin.formula import FormulaError, Vocabulary, expression, total_value

WORDS = Vocabulary(["level", "gold"], ["curve"])
VALUES = {"level": 2.0, "gold": 5.0}
TABLES = {"curve": [(0.0, 1.0), (4.0, 9.0)]}


def value(text: str | float) -> float:
    return total_value(expression(text, WORDS), VALUES, TABLES)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-2^2", -4.0), ("2^-1", 0.5), ("2^3^2", 512.0), ("2**3", 8.0), ("7//2 - 7%4", 0.0), ("-7 % 4", 1.0),
        ("1 if level > 3 else 2", 2.0), ("0 < level < 5", 1.0), ("0 < level < 2", 0.0), ("level and 0", 0.0),
        ("not level or gold == 5", 1.0), ("min(3, 1, 2) + max(3, 1, 2)", 4.0), ("clamp(gold, 1, 3)", 3.0),
        ("floor(-1.5) + ceil(1.2) + abs(-2)", 2.0), ("round(2.5) + round(3.5) + round(-0.5)", 6.0),
        ("lookup(level, 10, 20, 30)", 30.0), ("lookup(-1, 10, 20)", 10.0), ("lookup(99, 10, 20)", 20.0),
        ("piecewise(level, 0, 0, 10, 100)", 20.0), ("piecewise(50, 0, 0, 10, 100)", 100.0),
        ("lookup(curve, level)", 9.0), ("piecewise(curve, level)", 5.0), ("piecewise(curve, 99)", 9.0),
        ("True + 1", 2.0), (3, 3.0), ("  level  ", 2.0), ("1e3", 1000.0),
    ],
)  # fmt: skip
def test_meaning(text: str | float, wanted: float) -> None:
    """Operators bind as in Python; ^ is a power."""
    assert value(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1/0", 0.0), ("1//0", 0.0), ("1%0", 0.0), ("log(-1)", 0.0), ("sqrt(-1)", 0.0), ("(-8)^0.5", 0.0), ("0^-1", 0.0),
        ("log(0)", -1e300), ("exp(1000)", 1e300), ("10^400", 1e300), ("exp(1000) - exp(1000)", 0.0),
        ("exp(1000) * 0", 0.0), ("1e300 % 7", 0.0),
    ],
)  # fmt: skip
def test_what_has_no_value(text: str, wanted: float) -> None:
    """Every formula has a finite value."""
    assert value(text) == wanted


@pytest.mark.parametrize(
    ("text", "column", "rule"),
    [
        ("60 * levle", 5, "unknown name 'levle'. Did you mean 'level'"),
        ("level ? 1 : 2", 6, "write `a if condition else b`"),
        ("gold && level", 5, "write `and`"),
        ("level.real", 0, "a dot is not allowed"),
        ("2 ^ level +", 11, "ends too early"),
        ("2 ^ 3 + levle", 8, "unknown name"),
        ("f(level)", 0, "no function 'f'"),
        ("lookup(curv, 1)", 7, "no table 'curv'. Did you mean 'curve'"),
        ("curve + 1", 0, "is a table"),
        ("min + 1", 0, "is a function"),
        ("'abc'", 0, "only numbers"),
        ("min(1)", 0, "2 to 16 arguments"),
        ("piecewise(level, 1, 0, 1, 2)", 0, "go upwards"),
        ("gold if level", 0, "expected 'else'"),
        ("", 0, "empty"),
        ("1 + é", 4, "no part of a formula"),
        ("1" * 1001, 0, "1000 characters"),
        ("-" * 900 + "1", 0, "deep"),
        ("__import__('os')", 0, "no function"),
        ("[x for x in gold]", 0, "not allowed"),
        ("1 if gold is level else 2", 5, "compare"),
    ],
)
def test_errors_point_at_the_place(text: str, column: int, rule: str) -> None:
    """An error says where, with a caret under the place, and what is allowed."""
    with pytest.raises(FormulaError) as found:
        expression(text, WORDS, "[levels] xp")
    assert rule in str(found.value)
    assert found.value.column == column
    lines = str(found.value).split("\n")
    assert lines[0].startswith(f"[levels] xp, column {column + 1}: ")
    assert lines[-1].strip() == "^"


def test_a_bomb_is_defused() -> None:
    """A formula whose parts repeat themselves is refused before it is spelled out."""
    text = "level"
    while len(text) < 950:
        text = f"piecewise({text}, 0, 0, 1, 1, 2, 4)"
    with pytest.raises(FormulaError, match="operations"):
        expression(text, WORDS)


def test_named_formulas_are_put_in_place() -> None:
    """A named formula stands for its text."""
    need = expression("60 * level", WORDS)
    words = Vocabulary(["level"], formulas={"need": need})
    assert total_value(expression("need / 2", words), VALUES) == 60.0


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789.+-*/%^()<>=!,? levgoldminxifs", max_size=60))
def test_any_text_is_a_finite_number_or_an_input_error(text: str) -> None:
    """No text hangs or escapes as another error, and what is accepted has a finite value."""
    try:
        node = expression(text, WORDS)
    except InputError:
        return
    assert math.isfinite(total_value(node, VALUES, TABLES))
