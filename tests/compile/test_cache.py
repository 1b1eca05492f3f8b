"""The disk cache: never stale, never fatal, and a warm start needs no Numba."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tocsin
from tocsin import Action, Model, Rng, Touched, World, int64
from tocsin.compile._cache import load
from tocsin.compile._fingerprint import fingerprint
from tocsin.kernel import Clockwork, advance

SOURCES = Path(tocsin.__file__).parents[1]

MODEL = """
    from __future__ import annotations
    import math
    import sys
    from tocsin import Action, Arena, Entity, Model, Simulation, World, int64
    import helper

    STEP = 1

    class Counter(Entity):
        n: int64

        FACTOR = 1

        def bump(self, by):
            self.n += by * self.FACTOR

    class Shelf(World):
        counters: Arena[Counter]

        @property
        def bonus(self):
            return 0

    class Tick(Action):
        counter: Counter

        def schedule(self, world, now, rng):
            return now + math.lgamma(1.0 + self.counter.n)

        def fire(self, world, now, rng, touched):
            self.counter.bump(helper.twice(STEP) + world.bonus)

    model = Model(Shelf, [Tick])
    if sys.argv[1:] == ["fingerprint"]:
        from tocsin.compile._fingerprint import fingerprint
        from tocsin.kernel import Clockwork, advance
        print(fingerprint(model, Clockwork.schema(), advance, ""))
    else:
        simulation = Simulation(model, Shelf(counters=1))
        simulation.run(events=10)
        print(simulation.world.counters[0].n, "numba" in sys.modules)
"""
HELPER = """
    import deeper

    def twice(x):
        return deeper.times(x, 2)
"""
DEEPER = """
    LIMIT = 100

    def times(x, y=1):
        return min(x * y, LIMIT)
"""
FILES = {"model.py": MODEL, "helper.py": HELPER, "deeper.py": DEEPER}


class Project:
    """A model in three files, with a cache of its own, run in new processes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        for name, text in FILES.items():
            (folder / name).write_text(textwrap.dedent(text))

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a piece of a file."""
        text = (self.folder / name).read_text()
        assert text.count(old) == 1
        (self.folder / name).write_text(text.replace(old, new))

    def run(self, **environment: str) -> tuple[int, bool]:
        """Return (what the model counted, whether Numba was imported)."""
        count, has_numba = self.process(**environment).split()
        return int(count), has_numba == "True"

    def process(self, *arguments: str, **environment: str) -> str:
        """Run the model in a new process and return what it printed."""
        done = subprocess.run(
            [sys.executable, "-B", "model.py", *arguments],
            cwd=self.folder, capture_output=True, text=True, timeout=300,
            env={**os.environ, "PYTHONPATH": str(SOURCES), "TOCSIN_CACHE_DIR": str(self.cache), **environment},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def entries(self) -> set[Path]:
        """Return the files of the cache."""
        return set(self.cache.iterdir()) if self.cache.exists() else set()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a project that has been compiled once."""
    project = Project(tmp_path_factory.mktemp("project"))
    assert project.run() == (20, True)
    return project


@pytest.fixture
def project(built, tmp_path):
    """Return a fresh copy of the built project, its cache included."""
    copy = Project(tmp_path)
    copy.cache.mkdir()
    for path in built.entries():
        (copy.cache / path.name).write_bytes(path.read_bytes())
    return copy


def test_a_warm_start_needs_no_numba(project):
    """An unchanged model is taken from the cache: nothing is written, Numba is not imported."""
    before = project.entries()
    assert {path.suffix for path in before} == {".o", ".json"}
    facts = next(path for path in before if path.suffix == ".json")
    assert json.loads(facts.read_text())["externals"] == ["lgamma"]  # the C library's is found without Numba too
    assert project.run() == (20, False)
    assert project.entries() == before


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("model.py", "helper.twice(STEP)", "3 * helper.twice(STEP)", 60),
        pytest.param("model.py", "STEP = 1", "STEP = 4", 80, marks=pytest.mark.slow),
        pytest.param("deeper.py", "x * y", "x + y", 30, marks=pytest.mark.slow),
    ],
)
def test_an_edit_changes_the_result(project, name, old, new, expected):
    """Editing a rule, a constant, or a helper two files away is seen in a new process."""
    project.edit(name, old, new)
    assert project.run() == (expected, True)
    assert len(project.entries()) == 4
    project.edit(name, new, old)
    assert project.run() == (20, False)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("model.py", "STEP = 1", "STEP = 4"),
        ("model.py", "FACTOR = 1", "FACTOR = 5"),
        ("model.py", "self.n += by", "self.n -= by"),
        ("model.py", "return 0", "return 1"),
        ("model.py", "n: int64", "m: int64"),
        ("model.py", "lgamma(1.0 +", "lgamma(2.0 +"),
        ("helper.py", "deeper.times(x, 2)", "deeper.times(x, 7)"),
        ("deeper.py", "x * y", "x + y"),
        ("deeper.py", "y=1", "y=6"),
        ("deeper.py", "LIMIT = 100", "LIMIT = 1"),
    ],
)
def test_an_edit_changes_the_key(project, name, old, new):
    """Constants, methods, properties, fields, defaults and helpers two files away: each is in the key."""
    before = project.process("fingerprint")
    project.edit(name, old, new)
    assert project.process("fingerprint") != before
    project.edit(name, new, old)
    assert project.process("fingerprint") == before


def test_a_comment_is_no_edit(project):
    """A comment that moves no line changes nothing."""
    project.edit("deeper.py", "LIMIT = 100", "LIMIT = 100  # at most")
    assert project.run() == (20, False)


def spoil_truncate(path):
    """Keep the first half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def spoil_empty(path):
    """Leave nothing."""
    path.write_bytes(b"")


def spoil_flip(path):
    """Change one byte in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content))


def spoil_nonsense(path):
    """Leave valid JSON of another shape."""
    path.write_text(json.dumps([1, 2, {"sha256": None}]))


@pytest.mark.parametrize("suffix", [".o", ".json"])
@pytest.mark.parametrize("spoil", [spoil_truncate, spoil_empty, spoil_flip, spoil_nonsense, Path.unlink])
def test_a_spoilt_entry_is_not_loaded(project, suffix, spoil, monkeypatch):
    """An entry that is cut, changed, missing or of another shape is no entry."""
    monkeypatch.setenv("TOCSIN_CACHE_DIR", str(project.cache))
    (path,) = (p for p in project.entries() if p.suffix == suffix)
    assert load(path.stem) is not None
    spoil(path)
    assert load(path.stem) is None


@pytest.mark.parametrize("suffix", [".o", pytest.param(".json", marks=pytest.mark.slow)])
def test_a_spoilt_entry_is_compiled_again(project, suffix):
    """A spoilt entry is written anew."""
    (path,) = (p for p in project.entries() if p.suffix == suffix)
    spoil_truncate(path)
    assert project.run() == (20, True)
    assert project.run() == (20, False)


def test_a_cache_that_cannot_be_written(project, tmp_path):
    """Where the cache folder cannot be made, the model is compiled and runs all the same."""
    (tmp_path / "file").write_text("in the way")
    assert project.run(TOCSIN_CACHE_DIR=str(tmp_path / "file" / "cache")) == (20, True)


def test_nothing_of_the_cache_is_readable_by_others(built):
    """The folder is made for the user alone."""
    assert built.cache.stat().st_mode & 0o077 == 0
    assert not [path for path in built.entries() if path.suffix not in (".o", ".json")]


STEP, FACTOR = 1, 3


def _scaled(x, by=2):
    return x * by * FACTOR


class Jar(World):
    """A number, and what it grows by."""

    n: int64 = 0
    SIZE = 5

    def grow(self) -> None:
        """Grow by what a function, a global and a constant of the class say."""
        self.n += _scaled(STEP) + self.SIZE


class Fill(Action):
    """Every unit of time."""

    def schedule(self, world: Jar, now: float, rng: Rng) -> float:
        return now + 1.0

    def fire(self, world: Jar, now: float, rng: Rng, touched: Touched) -> None:
        world.grow()


def test_a_hash_is_taken_again_if_anything_it_was_taken_of_changes(monkeypatch):
    """In one process: a global, a constant, a default, a function or a method; back again, it is the first hash."""
    model = Model(Jar, [Fill])
    take = lambda: fingerprint(model, Clockwork.schema(), advance, "")  # noqa: E731
    first, here = take(), sys.modules[__name__]
    for owner, name, other in [
        (here, "STEP", 2),
        (here, "FACTOR", 3.0),  # equal, and not the same
        (here, "_scaled", lambda x: x),
        (_scaled, "__defaults__", (4,)),
        (_scaled, "__code__", (lambda x, by=2: x + by).__code__),
        (Jar, "SIZE", 6),
        (Jar, "grow", lambda self: None),
        (Fill, "fire", lambda self, world, now, rng, touched: None),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, other)
            assert take() != first, name
        assert take() == first, name


def test_a_hash_is_not_taken_twice_of_what_stays(monkeypatch):
    """As long as nothing changes, the model is not walked again."""
    model = Model(Jar, [Fill])
    first = fingerprint(model, Clockwork.schema(), advance, "")
    monkeypatch.setattr("tocsin.compile._fingerprint._walked", lambda *given: pytest.fail("walked again"))
    assert fingerprint(model, Clockwork.schema(), advance, "") == first
