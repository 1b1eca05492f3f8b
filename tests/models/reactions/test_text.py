"""The text format, and its errors by line and column."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin import InputError
from tocsin.formula import formula, value_of
from tocsin.models.reactions import Network, Reaction

ENZYME = """
# an enzyme
species S = 300, E = 100, SE, P = 10 * 0
parameter k_on = 0.002, k_off = k_on * 50
binding: S + E <-> SE @ k_on, k_off
SE -> E + P @ 0.1      # catalysis
P -> 0 := min(0.2 * P / (10 + P), 5)
2 S -> 0 @ 0
when time >= 2.5 and P > 3: S = S + 1, P = 0
"""


def test_text_says_what_python_says():
    """A network read from text runs as the one written in Python, event for event."""
    from tocsin.models.reactions import Event, reversible

    python = Network(
        {"S": 300, "E": 100, "SE": 0, "P": 0},
        [
            *reversible("S + E <-> SE", "k_on", "k_off", "binding"), Reaction("SE -> E + P", 0.1),
            Reaction("P -> 0", law="min(0.2 * P / (10 + P), 5)"), Reaction("2 S -> 0", 0.0),
        ],
        {"k_on": 0.002, "k_off": 0.1},
        [Event("time >= 2.5 and P > 3", {"S": "S + 1", "P": 0})],
    )  # fmt: skip
    read = Network.from_text(ENZYME)
    assert [r.label for r in read.reactions] == [r.label for r in python.reactions]
    one, other = (network.run([1.0, 2.0, 3.0], seed=6) for network in (read, python))
    assert one.values.tolist() == other.values.tolist()
    assert one.n_events == other.n_events > 50


def test_delays_bounds_and_priorities():
    """What stands behind semicolons is what Python's arguments say."""
    from tocsin.models.reactions import Event

    read = Network.from_text("""
    species A = 5, B
    parameter k = 3
    0 -> A @ k * (1 + sin(time)); bound = 2 * k; delay = uniform(0.25, 0.5)
    drain: A -> 0 := A; delay = 1
    when time >= 1: A = A + 1, B = 1; priority = 2 * A; delay = 0.5
    when A > 5: B = B + 1; persistent = 0; was_true = 0
    """)
    python = Network(
        {"A": 5, "B": 0},
        [
            Reaction("0 -> A", "k * (1 + sin(time))", bound="2 * k", delay="uniform(0.25, 0.5)"),
            Reaction("A -> 0", law="A", delay=1.0, name="drain"),
        ],
        {"k": 3},
        [
            Event("time >= 1", {"A": "A + 1", "B": 1}, "number 1", priority="2 * A", delay=0.5),
            Event("A > 5", {"B": "B + 1"}, "number 2", was_true=False, persistent=False),
        ],
    )
    assert read.reactions == python.reactions
    assert read.events == python.events
    one, other = (network.run([1.0, 2.0, 3.0], seed=6) for network in (read, python))
    assert one.values.tolist() == other.values.tolist()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A -> B", "line 1, column 7: a reaction needs '@ rate'"),
        ("species A\nA -> 0 @ 2 *", r"line 2, column 13: expected a number"),
        ("species A = 1, A = 2", "line 1, column 16: A is declared twice"),
        ("species 2A", "line 1, column 9: expected the name of a species"),
        ("species A = B", "line 1, column 12: a value is a number"),
        ("parameter k", "line 1, column 11: parameter k needs a value"),
        ("\n\nhello", "line 3, column 1: expected 'species'"),
        ("species A\nA <-> 0 @ 1", "line 2, column 10: a reversible reaction has two rates"),
        ("species A\nA -> 0 @ 1, 2", "two rates, another one"),
        ("species A\nA <-> 0 := A", "as two"),
        ("species A\n A A -> 0 @ 1", "line 2, column 2: reaction .*'A A' is no species"),
        ("species A\nA -> 0 @ sinh(1)", "line 2, column 10: no function 'sinh'"),
        ("species A\nwhen A > 1", "line 2, column 11: an event is"),
        ("species A\nwhen A > 1: A", "expected 'name = formula'"),
        ("A -> 0 @ 1", "source, line 1, column 1: reaction A -> 0: no species 'A'"),
        ("species Ape\n0 -> Ape @ 1\nApe -> 0 @ 2 * kk", "line 3, column 16: reaction Ape -> 0: 'kk' is no species"),
        ("species A\nA -> 0 @ 1; delay = 2 * kk", "line 2, column 25: reaction A -> 0, delay: 'kk' is no species"),
        ("species A\nA -> 0 @ 1\nlate: A -> 0 @ 1; bound = 3", "line 3, column 1: reaction late: a bound is for"),
        ("species A\nA -> 0 @ 1\nA -> 0 @ 1", "line 3, column 1: two reactions are called 'A -> 0'"),
        ("species A\nwhen A > 3: B = 1", "line 2, column 13: event number 1: cannot set 'B'"),
        ("species A\nwhen A > zz: A = 1", "line 2, column 10: event number 1: 'zz' is no species"),
        ("species A\nA -> 0 @ 1; wait = 2", "line 2, column 13: expected delay or bound = formula, found 'wait = 2'"),
        ("species A\nA -> 0 @ 1; delay", "line 2, column 13: expected delay or bound = formula, found 'delay'"),
        ("species A\nA -> 0 @ 1; delay = 2; delay = 3", "line 2, column 24: delay is said twice"),
        ("species A\nA -> 0 @ 1; delay = 2 *", "line 2, column .*: expected a number"),
        ("species A, B\nA <-> B @ 1, 2; delay = 2", "line 2, column 1: write the two directions"),
        ("species A\nwhen A > 3: A = 1; persistent = 2", "line 2, column 1: persistent must be 0 or 1"),
        ("species A\nwhen A > 3: A = 1; delay = 2; persistent = 0", "line 2, column 5: event number 1: one that is not"),
        ("species A\nA -> 0 @ $", r"line 2, column 10: '\$' is no part of a formula"),
        ("species A\nA -> 0 @ min(1)", "column 10: min takes 2 arguments, got 1"),
        ("species A\nA -> 0 @ 1e999", "a number is too large"),
        ("species A\nA -> 0 @ " + "(" * 5000, "nested more than"),
        ("species A\nA -> 0 @ 1 ^ " + "1 ^ " * 5000 + "1", "nested more than"),
        ("species A\nA -> 0 @ " + "1 + " * 9000 + "1", "nested more than"),
    ],
)  # fmt: skip
def test_errors_say_where(text, says):
    """Every mistake is one InputError with source, line and column."""
    with pytest.raises(InputError, match=says):
        Network.from_text(text, "source")


@given(st.text(alphabet="speciar mt ABk=0.5e9->@:,+*(){}<^#\n when;time", max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_refused(text):
    """No text ends in another error than ours."""
    try:
        Network.from_text(text).world()
    except InputError as error:
        assert str(error)


def test_files(tmp_path):
    """A file is named in its errors; one that is not there, or no text, is refused."""
    (tmp_path / "net.txt").write_text("species A = 3\nA -> 0 @ 1\n")
    assert Network.from_file(tmp_path / "net.txt").species == {"A": 3.0}
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00")
    for name in ("bad.txt", "none.txt"):
        with pytest.raises(InputError, match=f"cannot read .*{name}"):
            Network.from_file(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 - 4 / 8", 6.5), ("-2 ^ 2", -4.0), ("2 ^ 3 ^ 2", 512.0), ("(1 + 2) * 3", 9.0), ("2 ** -1", 0.5),
        ("7 - 2 - 1", 4.0), ("if(x > 2, 10, 20)", 10.0), ("1 < 2 and not 3 <= 2", 1.0), ("x != 3 or 0", 0.0),
        ("floor(-1.5) + ceil(1.2) + abs(-3)", 3.0), ("max(x, 2) * min(x, 2)", 6.0), ("sqrt(16) + exp(0) + log(1)", 5.0),
        ("2.25 ^ 0.5", 1.5), ("x ^ 100", 3.0**100), ("1e3 + .5", 1000.5), ("if(1 / 0 > 1, 1, 2)", 2.0), ("10 == 1e1", 1.0),
    ],
)  # fmt: skip
def test_formulas(text, value):
    """Operators bind as in mathematics, and functions have their values."""
    assert value_of(formula(text), {"x": 3.0}) == pytest.approx(value, rel=1e-13)


def test_denials_side_by_side_are_not_nested():
    """Only what stands within each other counts as depth: sixty denials in a row are a formula."""
    assert formula(" and ".join(["not a"] * 60)).names() == {"a"}
    with pytest.raises(InputError, match="nested more than"):
        formula("not " * 60 + "a")
