"""Scenario files from a stranger: each is refused with a sentence, or loaded."""

from __future__ import annotations

import random
import re

import pytest

from tocsin import InputError
from tocsin.scenario import Scenario, load_scenario

from .conftest import GATE

OWN = f"""model = "{GATE.as_posix()}:WORLD"

[params.rates]
flip = 1.5
limit = 1000

[init]
n_gates = 4
speed = 2.0

[run]
seed = 1
until = 20.0
burn_in = 2.0

[record]
events = true
flips = true
snapshots = {{ every = 4.0, table = "gates", columns = ["n_flips"] }}
"""
SHIPPED = """model = "extrusion"

[params.rates]
step = 1.0

[init]
n_sites = 1000
n_lefs = 10

[run]
seed = 1
until = 100.0
"""
VALUES = (
    "0", "-1", "1e999", "nan", "inf", "18446744073709551616", "true", '""', '"x"', "[]", "{}", "[1, [2]]", "{ a = 1 }",
    "1979-05-27", "0x10", '"../../etc/passwd"', '"gate"', '"\\u0000"', "'''", "[" * 300, "99999999999999999999999999", "#",
)  # fmt: skip
JUNK = ("\0", "\ufffd", "\ud7ff", "=", "]", "\r", "[[run]]", "a.b.c = 1\n", "é", '"', "\\")


def fuzzed(draw, text):
    """Return the bytes of a file with a few changes: values, lines, characters, bytes."""
    for _ in range(draw.choice((1, 1, 2, 5))):
        lines = text.splitlines(keepends=True) or [""]
        at = draw.randrange(len(lines))
        match draw.randrange(5):
            case 0:
                lines[at] = re.sub(r"= .*", lambda _: f"= {draw.choice(VALUES)}", lines[at], count=1)
            case 1:
                del lines[at]
            case 2:
                lines.insert(draw.randrange(len(lines)), lines[at])
            case 3:
                cut = draw.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:cut] + draw.choice(JUNK) + lines[at][cut:]
            case _:
                lines[at] = lines[at].replace(draw.choice("aeinrs_."), draw.choice("aeinrs_."), 1)
        text = "".join(lines)
    raw = bytearray(text.encode())
    if raw and draw.random() < 0.2:
        raw[draw.randrange(len(raw))] = draw.randrange(256)
    return bytes(raw)


@pytest.mark.parametrize("text", [OWN, SHIPPED], ids=["own", "shipped"])
@pytest.mark.parametrize("rounds", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_changed_scenario_is_refused_or_loaded(text, rounds, tmp_path):
    """Whatever is in the file: InputError with one paragraph, or a scenario that states itself in full."""
    path, draw, n_refused = tmp_path / "a.toml", random.Random(1), 0
    for _ in range(rounds):
        path.write_bytes(fuzzed(draw, text))
        try:
            scenario = load_scenario(path)
        except InputError as error:
            assert str(error).strip()
            n_refused += 1
        else:
            assert type(scenario) is Scenario
            assert len(scenario.hash()) == 64
    assert 0.3 * rounds < n_refused < rounds
