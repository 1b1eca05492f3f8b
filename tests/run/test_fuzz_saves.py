"""Saves from a stranger: whatever is in the file, it is refused, or what was loaded can be run."""

from __future__ import annotations

import functools
import io
import json
import math
import random
import struct
import zipfile

import numpy as np
import pytest

from tocsin import InputError, Simulation, TocsinError
from tocsin.compile import _cache
from tocsin.models.classic import sir_network
from tocsin.run import _save

from ._cells import MODEL, Dish

METHODS = ("next-reaction", "composition-rejection")
ROUNDS = [300, pytest.param(10_000, marks=pytest.mark.slow)]
NUMBERS = (0, 1, -1, 2, 127, 128, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-310, 1e308, -1e308, math.inf, -math.inf, math.nan)
VALUES = (None, True, "", "x", [], {}, 1.5, -1, 1 << 70, [[]], {"a": 1})


def run_of_cells(method):
    """A pool with a free list, references, observables."""
    return Simulation(MODEL, Dish(cells={"mass": [1.0] * 20}, division=0.8, death=0.7), seed=3, method=method)


def run_of_town(method):
    """Arrays, params, and clocks most of which are silent."""
    contacts = sir_network.random_contacts(200, 600, seed=1)
    return Simulation(sir_network.MODEL, sir_network.make_world(200, contacts, range(20)), seed=2, method=method)


@pytest.fixture(autouse=True)
def one_fingerprint(monkeypatch):
    """Take the hashes of each model once: the models of these tests do not change."""
    for module, name in ((_cache, "fingerprint"), (_save, "rules_hash")):
        monkeypatch.setattr(module, name, functools.cache(getattr(module, name)))


def fuzzed(draw, content):
    """Return bytes with a few changes: flipped, set, cut out, repeated, cut off."""
    raw = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8))):
        at, n = draw.randrange(len(raw)), draw.choice((1, 2, 8, 50))
        match draw.randrange(6):
            case 0:
                raw[at] ^= 1 << draw.randrange(8)
            case 1:
                raw[at : at + n] = draw.randbytes(n)
            case 2:
                del raw[at : at + n]
            case 3:
                raw[at:at] = raw[at : at + n]
            case 4:
                raw[at : at + 8] = struct.pack("<q", draw.choice(NUMBERS))
            case _:
                del raw[max(at, 1) :]
        if not raw:
            return b"\0"
    return bytes(raw)


def changed_array(draw, content):
    """Return a .npy file with some entries that its type can hold, but its owner would not."""
    values = np.load(io.BytesIO(content))
    if not values.size:
        return fuzzed(draw, content)
    choices = FLOATS if values.dtype.kind == "f" else [n for n in NUMBERS if _fits(n, values.dtype)]
    flat = values.reshape(-1)
    for _ in range(draw.choice((1, 1, 3, 100))):
        at = draw.randrange(flat.size)
        flat[at] = draw.choice(choices) if draw.random() < 0.7 else flat[draw.randrange(flat.size)]
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def _fits(number, dtype):
    info = np.iinfo(dtype if dtype.kind != "b" else "u1")
    return info.min <= number <= info.max


def changed_facts(draw, content):
    """Return the JSON with one value replaced, somewhere."""
    facts = json.loads(content)
    inner = facts
    while True:
        key = draw.choice(sorted(inner))
        if not (isinstance(inner[key], dict) and inner[key] and draw.random() < 0.7):
            break
        inner = inner[key]
    inner[key] = draw.choice((*VALUES, *NUMBERS))
    return json.dumps(facts).encode()


def rebuilt(draw, content):
    """Return a save with one or two members changed and all checksums made right again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in draw.sample(sorted(members), draw.choice((1, 1, 2))):
        if draw.random() < 0.15:
            members[name] = fuzzed(draw, members[name])
        else:
            change = changed_facts if name == "save.json" else changed_array
            members[name] = change(draw, members[name])
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, inside in members.items():
            archive.writestr(name, inside)
    return file.getvalue()


@pytest.mark.parametrize("rounds", ROUNDS)
def test_spoilt_bytes_are_refused_or_change_nothing(rounds, tmp_path):
    """After any change of its bytes a save is refused, or what is loaded is the same."""
    simulation, path, draw = run_of_cells(METHODS[0]), tmp_path / "run", random.Random(1)
    simulation.run(events=100)
    simulation.save(path)
    whole, expected, n_refused = path.read_bytes(), simulation.state_hash(), 0
    for _ in range(rounds):
        path.write_bytes(fuzzed(draw, whole))
        try:
            again = Simulation.load(path, MODEL, jit=False)
        except InputError:
            n_refused += 1
        else:
            assert again.state_hash() == expected
            assert again.observe() == simulation.observe()
    assert n_refused > 0.9 * rounds


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [run_of_cells, run_of_town])
@pytest.mark.parametrize("rounds", [60, pytest.param(2_500, marks=pytest.mark.slow)])
def test_forged_members_are_refused_or_run(make, method, rounds, tmp_path):
    """With all checksums right, a save is refused, or compiled code runs it to the end of its tether."""
    simulation, path, draw = make(method), tmp_path / "run", random.Random(2)
    simulation.run(events=100)
    simulation.save(path)
    whole, n_refused = path.read_bytes(), 0
    for _ in range(rounds):
        path.write_bytes(rebuilt(draw, whole))
        try:
            again = Simulation.load(path, simulation.model)
        except InputError:
            n_refused += 1
            continue
        try:
            again.run(events=100)
            again.observe()
            again.copy().run(events=10)
        except TocsinError:
            pass
    assert 0.2 * rounds < n_refused < rounds
