"""Laws of selections: which rows, what may be done to them, groups, recordings by run and step, conditions."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin import InputError, Simulation
from tocsin.errors import PurityError

from .test_sequential import MODEL, field


@pytest.fixture
def simulation():
    """A field of 12 animals, the third of which is gone, and 3 plots; as plain Python."""
    found = Simulation(MODEL, field(12, plots=3), seed=4, jit=False)
    found.world.animals["n_acts"][:] = np.arange(12) % 5
    found.world.animals.remove(found.world.animals[2])
    return found


def test_where_is_what_a_loop_finds(simulation):
    """Conditions, values and both choose the live rows that a loop over all rows chooses."""
    animals = simulation.world.animals
    wanted = [a.index for a in animals if a.n_acts > 1 and a.index != 7]
    assert animals.where(lambda a: (a.n_acts > 1) & (a.index != 7)).index.tolist() == wanted
    assert animals.where(n_acts=3).index.tolist() == [a.index for a in animals if a.n_acts == 3]
    assert animals.where(lambda a: a.index > 5, n_acts=3).index.tolist() == [8]
    assert animals.where(lambda a: a.index > 5).where(n_acts=3).index.tolist() == [8]
    assert len(animals.where()) == 11
    assert len(simulation.world.plots.where()) == 3


def test_references_are_row_numbers(simulation):
    """-1 where there is none, or where the row has gone."""
    animals = simulation.world.animals
    animals[0].prey, animals[1].prey = animals[4], animals[5]
    animals.remove(animals[5])
    assert animals.where(lambda a: a.index < 4)["prey"].tolist() == [4, -1, -1]


def test_removed_rows_are_left_out(simulation):
    """Also when another has taken the place; removing twice removes once."""
    animals = simulation.world.animals
    chosen = animals.where(n_acts=1)
    keys = chosen.keys
    assert chosen.index.tolist() == [1, 6, 11]
    assert chosen.where(lambda a: a.index == 6).remove() == 1
    (newborn,) = animals.add(1, n_acts=1)
    assert newborn.index == 6
    assert newborn.key not in keys
    assert [row.index for row in chosen] == chosen.index.tolist() == [1, 11]
    assert (chosen.remove(), chosen.remove(), len(chosen)) == (2, 0, 0)


def test_what_was_set_rings(simulation):
    """A change touches the rows, so their clocks and observables are asked again; a run goes on from it."""
    animals, before = simulation.world.animals, simulation.world.animals.n_live
    added = animals.add(3, n_acts=[7, 8, 9], born_at=0.5)
    assert animals.n_live == before + 3
    assert added["n_acts"].tolist() == [7, 8, 9]
    added.set(n_acts=0)
    simulation.run(until=1.0)
    assert added["n_acts"].tolist() == [1, 1, 1]
    assert animals.add(0).index.tolist() == []


def test_compiled_runs_take_changes_as_well():
    """The same changes between ticks leave the same bits, compiled and interpreted."""
    hashes = set()
    for jit in (True, False):
        simulation = Simulation(MODEL, field(30, births=True), seed=2, jit=jit)
        simulation.run(until=2.0)
        simulation.world.animals.where(lambda a: a.n_acts == 2).where(lambda a: a.index % 3 == 0).remove()
        simulation.world.animals.add(40, born_at=simulation.now)
        simulation.run(until=3.0)
        hashes.add(simulation.state_hash())
    assert len(hashes) == 1


def test_groups_add_up(simulation):
    """Each aggregate of each group is that of a loop; groups are in order; no rows make no groups."""
    animals = simulation.world.animals
    animals["born_at"][:] = np.linspace(-1.0, 3.0, 12)
    found = animals.group_by("n_acts").aggregate(
        n="count", born_at="mean", low=("born_at", "min"), high=("born_at", "max"), total=("born_at", "sum")
    )
    assert found["n_acts"].tolist() == [0, 1, 2, 3, 4]
    for k, value in enumerate(found["n_acts"].tolist()):
        times = [a.born_at for a in animals if a.n_acts == value]
        assert found["n"][k] == len(times)
        assert found["born_at"][k] == pytest.approx(sum(times) / len(times), rel=1e-15)
        assert (found["low"][k], found["high"][k]) == (min(times), max(times))
        assert found["total"][k] == pytest.approx(sum(times), rel=1e-14)
    none = animals.where(n_acts=77).group_by("n_acts", "born_at").aggregate(n="count", born=("born_at", "mean"))
    assert [len(column) for column in none.values()] == [0, 0, 0, 0]
    assert len(animals.group_by("n_acts", "born_at")) == 11


def test_recordings_carry_run_step_and_uid():
    """Rows of two runs and all steps are told apart by (run, step, uid); steps go on in a later recording."""
    keys = []
    for number in (0, 1):
        simulation = Simulation(MODEL, field(8, births=True), seed=number, jit=False)
        for until in (1.0, 2.0):
            table = simulation.record(0.5, until, "animals", run=number).to_arrow()
            assert table.column_names[:5] == ["time", "run", "step", "uid", "index"]
            assert table["step"].to_pylist() == [2 * time for time in table["time"].to_pylist()]
            keys += [(number, s, u) for s, u in zip(*(table[c].to_pylist() for c in ("step", "uid")), strict=True)]
        now = simulation.to_arrow("animals", stamp=(number, 4))
        assert now["uid"].to_pylist() == simulation.world.animals.where().keys.tolist()
    n_twice = sum(1 for _, step, _ in set(keys) if step == 2)  # the first recording ends where the second begins
    assert len(keys) - len(set(keys)) == n_twice


def test_conditions_change_nothing():
    """A condition that is asked, and a recording of some steps only, leave the run as it was."""
    plain = Simulation(MODEL, field(20, births=True), seed=3, jit=False)
    plain.run(until=4.0)
    asked = Simulation(MODEL, field(20, births=True), seed=3, jit=False)
    assert asked.run_until(lambda s: s.world.animals.n_live > 45, until=20.0, every=0.25)
    assert asked.now < 4.0
    times = asked.record(1.0, 4.0, "animals", when=lambda s: s.now >= 3.0).to_arrow()["time"].to_pylist()
    assert min(times) > 0
    assert set(times) <= {asked.now, 3.0, 3.25, 3.5, 3.75, 4.0}
    assert not asked.run_until(lambda s: False, until=4.0)
    assert asked.state_hash() == plain.state_hash()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.where(n_act=1), "animals has no column 'n_act'. Did you mean 'n_acts'"),
        (lambda a: a.where(lambda c: c.n_act > 1), "animals has no column 'n_act'"),
        (lambda a: a.where(lambda c: c.n_acts > 1 and c.n_acts < 3), "join comparisons by & and |"),
        (lambda a: a.where(lambda c: True), "a truth value for each of 11 rows, got bool"),
        (lambda a: a.where(lambda c: c.n_acts), "a truth value for each of 11 rows, got int64"),
        (lambda a: a.where().set(n_acts=[1, 2]), "animals.n_acts has 2 entries for 11 rows"),
        (lambda a: a.where().set(n_acts=1.5), "animals.n_acts"),
        (lambda a: a.where().set(n_acst=1), "animals has no column 'n_acst'"),
        (lambda a: a.add(-1), "the number of rows must be >= 0, got -1"),
        (lambda a: a.add(2, n_acts=[1, 2, 3]), "animals.n_acts has 3 entries for 2 rows"),
        (lambda a: a.add(2, n_acst=1), "animals has no column 'n_acst'"),
        (lambda a: a.group_by(), "group_by needs a column"),
        (lambda a: a.group_by("n_acts").aggregate(born_at="average"), "there is no such aggregate"),
        (lambda a: a.group_by("n_acts").aggregate(born="mean"), "animals has no column 'born'"),
        (lambda a: a.world.plots.where().remove(), "plots cannot be removed: it is an Arena"),
    ],
)  # fmt: skip
def test_what_is_refused(simulation, change, message):
    """The message names the table, the rule and the remedy; nothing has changed."""
    before = simulation.state_hash()
    with pytest.raises(InputError, match=message.replace("|", r"\|")):
        change(simulation.world.animals)
    assert simulation.state_hash() == before


def test_frozen_worlds_are_not_changed(simulation):
    """Where a world may only be read, a selection may not write."""
    simulation.world._frozen = "Act.schedule"
    with pytest.raises(PurityError, match=r"Act.schedule writes Animal.n_acts"):
        simulation.world.animals.where().set(n_acts=1)
    simulation.world._frozen = ""


@pytest.mark.parametrize(("every", "until", "message"), [(0.0, 2.0, "every must be > 0"), (1.0, -1.0, "until must be a time >= now")])  # fmt: skip
def test_refused_times(simulation, every, until, message):
    """A condition is asked at times that can be."""
    with pytest.raises(InputError, match=message):
        simulation.run_until(lambda s: False, until=until, every=every)
