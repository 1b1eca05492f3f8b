"""What does not fit together is refused, in words that name it."""

from __future__ import annotations

import math

import pytest

from tocsin import FireError, InputError, Simulation
from tocsin.models.swarm import make_swarm, swarm_model
from tocsin.models.swarm.lcm import lcm_simulation
from tocsin.models.swarm.start import read_positions_file, start_positions

THREE = [[0, 0], [1, 0], [0, 1]]

BAD = [
    ({"positions": [[0, 0], [1]]}, "positions must be pairs of numbers"),
    ({"positions": []}, "one for each robot"),
    ({"positions": [0, 1, 2]}, r"got shape \(3,\)"),
    ({"positions": [[0, 0], [math.nan, 1]]}, "positions of robot 1 must be finite"),
    ({"algorithm": "Gathring"}, "algorithm must be one of .* Did you mean 'Gathering'"),
    ({"speed": [1.0, 2.0]}, "one for each of 3 robots, got 2"),
    ({"speed": [1.0, -2.0, 1.0]}, "speed of robot 1 must be > 0"),
    ({"scheduler": "asink"}, "scheduler must be one of .* Did you mean 'async'"),
    ({"scheduler": "sequential", "schedule": [0, 3]}, "turn 1 of the schedule names robot 3; there are robots 0 to 2"),
    ({"scheduler": "sequential", "schedule": [(0, 0.5)]}, "stops robot 0 on its way, but moves are 'rigid'"),
    ({"scheduler": "sequential", "schedule": [(0, 1.5)], "moves": "delta"}, "a share of the way is in 0..1"),
    ({"scheduler": "ssync", "schedule": [0]}, "must name its round"),
    ({"scheduler": "sequential", "schedule": ["a"]}, "turn 0 of the schedule must be a robot"),
    ({"scheduler": "sequential", "schedule": [0, 1], "schedule_end": "repeat"}, "has to name every robot"),
    ({"algorithm": "SqGathering"}, "SqGathering needs scheduler 'sequential'"),
    ({"algorithm": "SqGathering", "scheduler": "sequential", "rules": {"visibility": 5.0}}, "needs unlimited visibility"),
    ({"algorithm": "SqGathering", "scheduler": "sequential", "faults": {"crash": 1}}, "needs robots without faults"),
    ({"algorithm": "SqGathering", "scheduler": "sequential", "multiplicity": "none"}, "needs multiplicity detection"),
    ({"algorithm": "TwoLights"}, "needs exactly 2 robots"),
    ({"algorithm": "Spreading", "frames": "private"}, "needs shared frames"),
    ({"faults": {"crash": 4}}, "faults ask for 4 robots beside those named; there are 3"),
    ({"faults": {7: "crash"}}, "faults name robot 7"),
    ({"faults": {"krash": 1}}, "faults must be one of .* Did you mean 'crash'"),
    ({"max_turns": -1}, "max_turns must be a whole number >= 0"),
    ({"rules": {"visibility": -1.0}}, "visibility must be >= 0"),
    ({"rules": {"visibilty": 1.0}}, "Did you mean 'visibility'"),
    ({"rules": {"visibility": 1e-9}, "positions": [[0, 0], [5, 5]]}, "more than 1e.09 times the visibility"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), BAD, ids=range(len(BAD)))
def test_swarm(options, message):
    """`make_swarm` says what breaks which rule."""
    given = {"positions": THREE, "algorithm": "Gathering", **options}
    with pytest.raises(InputError, match=message):
        make_swarm(**given)


@pytest.mark.parametrize(("x", "y"), [(math.nan, 0.0), (0.0, math.inf)])
def test_target_that_is_none(x, y):
    """An algorithm that returns NaN or infinity stops the run, naming the robot and the time."""
    simulation = Simulation(swarm_model(lambda view: (x, y)), make_swarm(THREE), jit=False)
    with pytest.raises(FireError, match=r"Look\(robot \d\).fire at t=0\.\d+ .*target that is not finite"):
        simulation.run(events=5)


def test_configurations_of_the_original():
    """What the original's rules cannot run is refused."""
    for config, message in (
        ({"algorithm": "Dance"}, "algorithm must be one of"),
        ({"algorithm": "SqGathering", "initial_positions": THREE}, "SqGathering needs scheduler 'sequential'"),
        ({"scheduler": "sequential", "schedule": [9], "initial_positions": THREE}, "schedule names robot 9"),
    ):
        with pytest.raises(InputError, match=message):
            lcm_simulation(config)
    with pytest.raises(InputError, match="rng must be"):
        lcm_simulation({}, rng="dice")


def test_starts(tmp_path):
    """Start generators and files of positions say what is wrong, and where."""
    for options, message in (
        ({"shape": "sqare"}, "Did you mean 'square'"), ({"fill": "full"}, "fill must be one of"),
        ({"n_shared": 5}, "n_shared must be < 5"), ({"sides": 2}, "sides must be >= 3"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            start_positions(5, **options)
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,oops\n")
    with pytest.raises(InputError, match="line 3: expected x, y"):
        read_positions_file(path)
    path.write_text("x,y\n1,2\n3,4\n")
    assert read_positions_file(path) == [[1.0, 2.0], [3.0, 4.0]]
    json = tmp_path / "a.json"
    json.write_text("[[1, 2], 3]")
    with pytest.raises(InputError, match="must be a list of pairs"):
        read_positions_file(json)
    with pytest.raises(InputError, match="cannot read"):
        read_positions_file(tmp_path / "none.csv")
