"""Swarms in scenarios: starts, summary, picture."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tocsin import InputError
from tocsin.cli._app import app
from tocsin.models.swarm.film import film_swarm
from tocsin.models.swarm.seeds import means, run_seeds
from tocsin.models.swarm.start import FILLS, SHAPES, SPACINGS, start_positions
from tocsin.models.swarm.summary import clusters, diameter, summarise
from tocsin.scenario import execute, load_scenario, prepare_folder

from ._swarms import rest, swarm

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("spacing", SPACINGS)
def test_start_shapes(shape, fill, spacing):
    """Every start has as many robots as asked, near its box, the same ones for a seed, others for another."""
    points = start_positions(40, shape, fill=fill, spacing=spacing, width=200.0, height=100.0, seed=3)
    assert points.shape == (40, 2)
    assert np.isfinite(points).all()
    assert (points == start_positions(40, shape, fill=fill, spacing=spacing, width=200.0, height=100.0, seed=3)).all()
    if shape != "web":
        assert abs(points[:, 0]).max() < 130.0
        assert abs(points[:, 1]).max() < 65.0
    is_random = spacing != "even" or shape == "web"
    other = start_positions(40, shape, fill=fill, spacing=spacing, width=200.0, height=100.0, seed=4)
    assert (points != other).any() == is_random


def test_shapes_are_what_they_say():
    """An edge of a circle has one radius, a ring is outside 70 %, a square's edge is on its box, a web is linked."""
    radius = np.hypot(*(start_positions(30, "circle", fill="edge", spacing="even") / 300.0).T)
    assert abs(radius - 1.0).max() < 1e-12
    ring = np.hypot(*(start_positions(300, "circle", fill="ring") / 300.0).T)
    assert 0.7 <= ring.min() < 0.75
    edge = abs(start_positions(40, "square", fill="edge", spacing="even") / 300.0).max(axis=1)
    assert abs(edge - 1.0).max() < 1e-12
    web = start_positions(60, "web", reach=50.0, seed=5)
    assert clusters(web, 50.0) == 1
    assert clusters(web, 10.0) > 1
    shared = start_positions(20, n_shared=5, seed=2)
    assert len(np.unique(shared, axis=0)) == 15


def test_filled_is_uniform():
    """Half of the robots of a filled circle are within 1 / sqrt(2) of its radius, and of a square likewise."""
    for shape in ("circle", "square"):
        points = abs(start_positions(2_000, shape, seed=1) / 300.0)
        size = np.hypot(*points.T) if shape == "circle" else points.max(axis=1)
        assert abs((size < np.sqrt(0.5)).mean() - 0.5) < 4.5 * np.sqrt(0.25 / 2_000)


def test_scenario(tmp_path):
    """A shipped scenario runs, is summed up and drawn."""
    loaded = load_scenario(ROOT / "scenarios" / "swarm-gathering.toml", [(("init", "n"), 12)])
    prepare_folder(tmp_path)
    outcome = execute(loaded, tmp_path, plot=True)
    found = summarise(outcome.simulation.world, outcome.simulation.now)
    assert found["outcome"] == "at rest"
    assert found["gathered"] is True
    assert found["link lost at"] is None
    assert found["longest initial link"] <= 150.0 * (1 + 1e-9)
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_ways_to_say_where(tmp_path):
    """Positions come from one of a number, a list or a file."""
    path = tmp_path / "a.toml"
    (tmp_path / "p.csv").write_text("0,0\n3,4\n")
    head = 'model = "swarm"\n[run]\nseed = 1\nuntil = 1.0\n[init]\n'
    path.write_text(
        head + 'file = "p.csv"\nfaults = {"1" = "omission", delay = 1}\nschedule = [[1, 0.0, 0.5], [0, 0.0, 0.75]]\n'
    )
    simulation, context = load_scenario(path, []).start()
    assert context.start.tolist() == [[0.0, 0.0], [3.0, 4.0]]
    assert simulation.world.robots["speed"].tolist() == [0.4, 1.0]
    simulation.step()
    assert simulation.world.robots["due"].tolist() == [0.75, 0.5]
    path.write_text(head + "n = 3\npositions = [[0.0, 0.0]]\n")
    with pytest.raises(InputError, match=r"give one of init\.n"):
        load_scenario(path, []).start()


def test_trail():
    """The trail holds the end of every move, as far as there is room, and changes nothing."""
    simulation = rest(swarm(5, trail=1_000))
    world = simulation.world
    assert world.n_trail == simulation.counts["Arrive"]
    for robot in world.robots:
        own = world.trail.values[: world.n_trail][world.trail.values[: world.n_trail, 0] == robot.index]
        assert tuple(own[-1, 1:]) == (robot.x, robot.y)
    other = rest(swarm(5, trail=3))
    assert other.world.n_trail == 3
    assert (other.world.robots["x"] == world.robots["x"]).all()


def test_statistics_over_seeds(tmp_path):
    """A row a seed, each what a run of that seed gives; means are those of the columns."""
    path = tmp_path / "a.toml"
    path.write_text('model = "swarm"\n[init]\nn = 6\nspeed = 30.0\n[run]\nseed = 1\nuntil = 1e6\n')
    table = run_seeds(lambda seed: load_scenario(path, [(("run", "seed"), seed)]).start()[0], range(5), events=10_000)
    found = means(table)
    assert table.column("seed").to_pylist() == list(range(5))
    assert found["gathered"] == (1.0, 0.0, 1.0, 1.0)
    looks = table.column("looks").to_pylist()
    assert found["looks"][0] == pytest.approx(sum(looks) / 5)
    assert found["looks"][1] == pytest.approx(np.std(looks, ddof=1))
    one = load_scenario(path, [(("run", "seed"), 3)]).start()[0]
    one.run(until=1e6)
    assert one.world.n_turns == looks[3]
    result = CliRunner().invoke(app, ["swarm", "seeds", str(path), "--n", "3", "--json"])
    assert [row["looks"] for row in json.loads(result.stdout)] == [
        load_and_run(path, seed).world.n_turns for seed in (1, 2, 3)
    ]
    result = CliRunner().invoke(app, ["swarm", "seeds", str(path), "--n", "3"])
    assert (result.exit_code, "travelled, mean" in result.output) == (0, True)


def test_sweep_reads_the_summary(tmp_path):
    """A sweep over sight has a column for each number of the summary; without sight of each other robots lose links."""
    from tocsin.experiment import Sweep

    path = tmp_path / "a.toml"
    path.write_text(
        'model = "swarm"\n[params]\nrules.visibility = 100.0\nrules.tolerance = 1e-3\n[init]\nn = 8\nshape = "web"\nspeed = 99.0\n'
        'is_watched = true\nscheduler = "ssync"\n[run]\nseed = 1\nuntil = 400.0\n'
        '[sweep]\nreplicates = 6\n[sweep.axes]\n"init.algorithm" = ["Gathering", "GoToCenter"]\n'
    )
    found = Sweep.load(path).run(workers=1)
    assert len(found) == 12
    for name in ("travelled, mean", "epochs", "ended at", "clusters", "gathered", "links too long now", "looks"):
        assert np.isfinite(found.column(name)).all()
    assert found.of(0, "a link was lost").sum() > 0
    assert found.of(1, "a link was lost").sum() == found.of(1, "links too long now").sum() == 0
    assert found.of(1, "gathered").mean() == 1.0


def test_diameter():
    """The largest distance, as all pairs say; of nothing and of one point 0."""
    rng = np.random.default_rng(1)
    for n in (2, 3, 10, 60):
        points = rng.normal(size=(n, 2)) * (1.0, 0.1)
        assert diameter(points) == np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)).max()
    assert diameter(np.zeros((0, 2))) == diameter(np.ones((1, 2))) == 0.0


def load_and_run(path, seed):
    """Run a scenario to its end with another seed."""
    simulation = load_scenario(path, [(("run", "seed"), seed)]).start()[0]
    simulation.run(until=1e6)
    return simulation


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_run_writes_a_film(tmp_path, kind):
    """`tocsin run --gif` and `--mp4` write a film of the run, from its start to where it came to rest."""
    path = tmp_path / "a.toml"
    path.write_text('model = "swarm"\n[init]\nn = 3\nspeed = 99.0\n[run]\nseed = 1\nuntil = 1e6\n')
    command = ["run", str(path), "--out", str(tmp_path), "--no-progress", "--json", f"--{kind}"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert f"film.{kind}" in json.loads(result.stdout)["files"]
    film = (tmp_path / f"film.{kind}").read_bytes()
    assert film[:6] == b"GIF89a" if kind == "gif" else film[4:8] == b"ftyp"
    assert len(film) > 10_000


def test_models_without_film(tmp_path):
    """A model that has no film says so before the run."""
    path = tmp_path / "a.toml"
    path.write_text('model = "mm1"\n[run]\nuntil = 5.0\nseed = 1\n')
    result = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path), "--gif"])
    assert (result.exit_code, "has no film" in result.output) == (2, True)


def test_film(tmp_path):
    """A film has as many pictures as asked; other kinds of files and times that have passed are refused."""
    from PIL import Image

    path = tmp_path / "a.gif"
    film_swarm(path, swarm(4), 5.0, frames=4)
    with Image.open(path) as film:
        assert film.n_frames == 4
    with pytest.raises(InputError, match=r"one of \.gif, \.mp4"):
        film_swarm(tmp_path / "a.avi", swarm(4), 5.0)
    with pytest.raises(InputError, match="until must be > 0"):
        film_swarm(path, swarm(4), 0.0)


@pytest.mark.parametrize(("turn", "message"), [
    ("[]", r"a turn is a robot, \[robot, stop\] or \[robot, stop, when\], got \[\]"),
    ("[nan]", "a robot is a whole number, got nan"),
    ("[0.5, 1.0]", "a robot is a whole number, got 0.5"),
])  # fmt: skip
def test_turns_that_are_none(tmp_path, turn, message):
    """A turn without a robot, or with part of one, is told."""
    path = tmp_path / "a.toml"
    path.write_text(
        f'model = "swarm"\n[init]\nn = 3\nscheduler = "sequential"\nschedule = [{turn}]\n[run]\nuntil = 1.0\n'
    )
    result = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path), "--no-progress"])
    assert result.exit_code == 2
    assert re.search(message, result.stderr)
