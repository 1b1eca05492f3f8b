"""Observables at equal times."""

import pytest

from tocsin import InputError, Model, Simulation
from tocsin.models.classic.mm1 import MODEL, Queue, Rates, make_world


def queue(seed=1):
    """Return a busy queue."""
    return Simulation(MODEL, make_world(2, Rates(arrival=0.9)), seed=seed, jit=False)


def test_rows_are_the_values_at_those_times():
    """Row k is what `observe` says after all events until k * every; the last one is at the end."""
    recorded, stepped = queue(), queue()
    table = recorded.record_observables(every=0.7, until=9.0).to_arrow()
    assert table.column_names == ["time", "Present", "Idle"]
    assert table["time"].to_pylist() == pytest.approx([0.7 * k for k in range(13)])
    for time, present, idle in zip(*(column.to_pylist() for column in table.columns), strict=True):
        stepped.run(until=time)
        seen = stepped.observe()
        assert (present, idle) == (seen["Present"].value, seen["Idle"].value)
    assert recorded.now == 9.0
    stepped.run(until=9.0)
    assert recorded.state_hash() == stepped.state_hash()


def test_some_observables_only():
    """A choice keeps its order; one name may be given bare."""
    assert queue().record_observables(1.0, 3.0, ["Idle"]).to_arrow().column_names == ["time", "Idle"]
    assert queue().record_observables(1.0, 3.0, "Idle").to_arrow().num_rows == 4


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"names": ["Presant"]}, "no observable 'Presant'. Did you mean 'Present'"),
        ({"every": 0.0}, "every must be > 0"),
        ({"until": -1.0}, "until must be a time >= now"),
    ],
)
def test_bad_series(given, text):
    """An unknown name, a bad spacing and a bad end are refused."""
    with pytest.raises(InputError, match=text):
        queue().record_observables(**{"every": 1.0, "until": 3.0, **given})


def test_a_model_without_observables():
    """There is nothing to record, which is said."""
    blind = Simulation(Model(Queue, [m.cls for m in MODEL.actions], name="blind"), make_world(), jit=False)
    with pytest.raises(InputError, match="model blind has no observables to record"):
        blind.record_observables(1.0, 2.0)
