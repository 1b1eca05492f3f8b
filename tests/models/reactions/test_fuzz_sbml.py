"""SBML from a stranger: each document is refused with a sentence that says where, or what was read can be run."""

from __future__ import annotations

import copy
import re
import time
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tocsin import TocsinError
from tocsin.models.reactions.sbml import read_sbml

from ._cases import TIME, apply, concentration, draw, event, law, mathml, sbml
from ._cases import math as wrapped

FUNCTION = wrapped("<lambda><bvar><ci>x</ci></bvar>" + apply("times", "x", "k") + "</lambda>")
WHOLE = sbml(
    law(apply("times", "k", "X"), "X", "Y", "decay") + law("<apply><ci>f</ci><ci>z</ci></apply>", "", "X", "birth"),
    f"X=6 Y=1 {concentration('W', 3)}",
    "k=0.5 z=0 t=0 v=2 u=0",
    events=event(apply("geq", "t", 0.5), {"X": apply("plus", "X", 1), "t": -0.5}),
    rules=f'<assignmentRule variable="z">{wrapped(apply("plus", "W", 1))}</assignmentRule>'
    f'<rateRule variable="t">{wrapped(mathml("v"))}</rateRule>',
    starts=f'<initialAssignment symbol="u">{wrapped(apply("plus", "k", "W"))}</initialAssignment>',
    functions=f'<functionDefinition id="f">{FUNCTION}</functionDefinition>',
)
TIMED = sbml(
    law(apply("plus", 1, apply("times", "k", TIME)), "", "X", "timed") + law(apply("times", "k", "X"), "X X", "", "pair"),
    "X=9",
    "k=0.1",
    events=event(
        apply("and", apply("geq", TIME, 1), apply("gt", "X", 2)),
        {"X": draw("uniform", 1, 5)},
        extra=f"<priority>{wrapped(mathml(1))}</priority>",
    ),
)  # fmt: skip
VALUES = (
    "", "0", "-1", "-0.0", "1e999", "-INF", "NaN", "1e308", "1e-310", "2147483648", "9007199254740993", "true", "false",
    "maybe", "X", "Y", "C", "k", "z", "nobody", "time", "_since_t", "__class__", "a b", "é", "\U0001f600", "x" * 5_000,
    "../../etc/passwd", "{0}", "%s", "http://www.sbml.org/sbml/level2/version4",
)  # fmt: skip
IDS = ("X", "Y", "W", "C", "k", "z", "t", "v", "u", "f", "E", "decay", "nobody")
NUMBERS = ("0", "-1", "-0.0", "1e308", "-INF", "INF", "NaN", "0.5", "9007199254740993", "1e-310", "30")
QUICK, LONG = 250, 10_000


@st.composite
def broken(choose, text):
    """Draw a document with a few of its parts changed, taken out, doubled, or moved."""
    root = ElementTree.fromstring(text)
    for _ in range(choose(st.integers(1, 4))):
        parents = [part for part in root.iter() if len(part)]
        parent = choose(st.sampled_from(parents))
        at = choose(st.integers(0, len(parent) - 1))
        part = parent[at]
        match choose(st.sampled_from(("take out", "double", "move", "text", "set", "unset", "tag"))):
            case "take out" if len(parents) > 1:
                parent.remove(part)
            case "double":
                parent.insert(at, part)
            case "move":
                other = choose(st.sampled_from([p for p in parents if p not in set(part.iter())]))
                parent.remove(part)
                other.append(part)
            case "text":
                part.text = choose(st.sampled_from(VALUES))
            case "set" if part.attrib:
                part.set(choose(st.sampled_from(sorted(part.attrib))), choose(st.sampled_from(VALUES)))
            case "unset" if part.attrib:
                del part.attrib[choose(st.sampled_from(sorted(part.attrib)))]
            case "tag":
                part.tag = choose(st.sampled_from(sorted({p.tag for p in root.iter()})))
        if len(root) == 0:
            break
    return ElementTree.tostring(root, encoding="unicode")


def is_formula(part):
    """Return whether a part is an operand: a number, a name, or an operation."""
    return part.tag.rpartition("}")[2] in ("apply", "ci", "cn", "csymbol")


@st.composite
def twisted(choose, text):
    """Draw a document that is SBML still, but means something else: other ids, numbers, flags and operands."""
    root = ElementTree.fromstring(text)
    for _ in range(choose(st.integers(1, 3))):
        parts = list(root.iter())
        named = [(p, key) for p in parts for key in p.attrib if key in ("variable", "symbol", "species", "compartment")]
        sized = [(p, key) for p in parts for key in p.attrib if key in ("value", "size") or key.startswith("initialA")]
        flags = [(p, key) for p in parts for key, value in p.attrib.items() if value in ("true", "false")]
        match choose(st.sampled_from(("id", "number", "flag", "unset", "operand", "operand"))):
            case "id":
                part, key = choose(st.sampled_from(named))
                part.set(key, choose(st.sampled_from(IDS)))
            case "number":
                part, key = choose(st.sampled_from(sized))
                part.set(key, choose(st.sampled_from(NUMBERS)))
            case "unset":
                part, key = choose(st.sampled_from(sized))
                del part.attrib[key]
                if not [p for p in parts if {"value", "size", "initialAmount"} & set(p.attrib)]:
                    break
            case "flag":
                part, key = choose(st.sampled_from(flags))
                part.set(key, choose(st.sampled_from(("true", "false"))))
            case "operand":
                places = [(p, at) for p in parts for at, child in enumerate(p) if is_formula(child)]
                part, at = choose(st.sampled_from(places))
                part[at] = copy.deepcopy(choose(st.sampled_from([p for p in parts if is_formula(p)])))
    return ElementTree.tostring(root, encoding="unicode")


def refused_or_run(text):
    """Read and run a document; return what the refusal says, '' if there was none."""
    try:
        network = read_sbml(text)
        network.run([0.0, 0.2], seed=1, method="direct", jit=False, most_events=200)
    except TocsinError as error:
        return str(error)
    return ""


def check(text):
    """Assert that a document is run, or refused in one sentence that names an id, a feature or a line, and soon."""
    began = time.process_time()
    says = refused_or_run(text)
    assert time.process_time() - began < 60.0  # a hang, not a speed
    if says:
        ids = set(re.findall(r'(?:id|variable|symbol|species|compartment)="([^"]+)"', text))
        names_a_part = any(re.search(rf"(?<!\w){re.escape(key)}(?!\w)", says) for key in ids)
        assert names_a_part or re.search(r"^(SBML|XML)|line \d+|not supported", says), says
        assert len(says) < 7_000
        assert "Traceback" not in says


def settings_of(n):
    """Return the settings of n examples, the same in each run."""
    return settings(
        max_examples=n, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )


@pytest.mark.parametrize("base", [WHOLE, TIMED], ids=["whole", "timed"])
def test_the_base_is_read(base):
    """What is mutated is read and run as it is."""
    assert refused_or_run(base) == ""


DOCUMENTS = st.one_of(*(mutate(base) for mutate in (broken, twisted) for base in (WHOLE, TIMED)))


@settings_of(QUICK)
@given(DOCUMENTS)
def test_mutated(text):
    """A document with parts changed is run, or refused with its id."""
    check(text)


@pytest.mark.slow
@settings_of(LONG)
@given(DOCUMENTS)
def test_mutated_long(text):
    """The same for many more documents."""
    check(text)
