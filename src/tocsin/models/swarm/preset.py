"""Swarms by name: what a scenario may say about them, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from tocsin.errors import InputError
from tocsin.export.marks import Circles, Motion, Points, View
from tocsin.models._preset import Init, Preset, Start, Variant
from tocsin.models.swarm.algorithms import shipped
from tocsin.models.swarm.build import make_swarm, read_positions
from tocsin.models.swarm.model import swarm_model
from tocsin.models.swarm.robot import MOVE, RUNNING, Rules
from tocsin.models.swarm.start import read_positions_file, start_positions
from tocsin.models.swarm.summary import summarise
from tocsin.models.swarm.world import SwarmWorld
from tocsin.run import Simulation
from tocsin.schema import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = swarm_model(shipped, name="swarm")
TRAIL = 20_000
"""Ends of moves that are remembered for the picture."""
Sim = Simulation[SwarmWorld]


class SwarmInit(Init):
    """`[init]`: who, where, and woken by what."""

    algorithm: str = Field("Gathering", description="a shipped algorithm; TwoTask: half SEC, half Gathering")
    n: int | None = Field(None, gt=0, description="number of robots, placed by shape")
    positions: list[list[float]] = Field([], description="or where each stands, [[x, y], ...]")
    file: str | None = Field(None, description="or a CSV or JSON file of positions")
    shape: str = Field("cloud", description="cloud, square, circle, polygon, line, clusters, web")
    fill: str = Field("filled", description="filled, edge, ring")
    spacing: str = Field("uniform", description="uniform, even, jittered, gaussian")
    width: float = Field(600.0, gt=0, description="of the box that the shape fills")
    height: float = Field(600.0, gt=0, description="of the box that the shape fills")
    sides: int = Field(6, ge=3, description="of a polygon")
    n_clusters: int = Field(3, gt=0, description="number of discs")
    n_shared: int = Field(0, ge=0, description="robots put on another's point")
    speed: float | list[float] = Field(1.0, description="of all robots or of each, > 0")
    scheduler: Literal["async", "sequential", "ssync", "fsync"] = Field("async", description="who wakes the robots")
    gaps: Literal["exponential", "constant", "uniform", "gamma"] = Field("exponential", description="law of the waits")
    order: Literal["round_robin", "shuffled", "fair"] = Field("round_robin", description="of turns")
    schedule: list[int | list[float]] = Field([], description="turns: robot, [robot, stop] or [robot, stop, when]")
    schedule_end: Literal["round_robin", "repeat"] = Field("round_robin", description="what follows the schedule")
    has_turn_gaps: bool = Field(False, description="whether time passes between turns")
    max_turns: int = Field(0, ge=0, description="end after so many turns; 0: do not")
    moves: Literal["rigid", "delta", "uniform", "fraction"] = Field("rigid", description="where moves are cut short")
    faults: dict[str, int | float | str] = Field({}, description='{crash = 2} by number, or {"4" = "omission"}')
    multiplicity: Literal["strong", "weak", "none"] | None = Field(None, description="what is seen of one point")
    frames: Literal["shared", "private"] = Field("shared", description="whether robots share axes and unit")
    is_opaque: bool = Field(False, description="whether robots hide those behind them")
    has_box: bool = Field(False, description="whether width and height are a box that algorithms know")
    is_watched: bool = Field(False, description="check invariants at every event")
    compat: Literal["lcm"] | None = Field(None, description="repeat the run of the LCM simulator with the same seed")
    draws: Literal["splitmix64", "numpy-pcg64"] = Field(
        "splitmix64", description="with compat: the port's, the original's"
    )


@dataclass(frozen=True)
class Setting:
    """What the picture and the film need beside the simulation."""

    start: NDArray[np.float64]
    """Where the robots stood, n x 2."""
    begin: Callable[[Sim], object] | None = None
    """What remains to be done before the first event."""


def positions_of(init: SwarmInit, folder: Path, reach: float, seed: int) -> Any:
    """Return the positions that `[init]` describes. Raises InputError unless it does so in one way."""
    given = [init.n is not None, bool(init.positions), init.file is not None]
    if sum(given) != 1:
        raise InputError("give one of init.n (with a shape), init.positions and init.file")
    if init.positions:
        return init.positions
    if init.file is not None:
        return read_positions_file(folder / init.file)
    return start_positions(
        init.n or 0, init.shape, fill=init.fill, spacing=init.spacing, width=init.width, height=init.height,
        sides=init.sides, n_clusters=init.n_clusters, n_shared=init.n_shared, reach=reach or 100.0, seed=seed,
    )  # fmt: skip


def _build(start: Start[SwarmInit]) -> tuple[SwarmWorld, Setting]:
    return _make(start, start.init.algorithm) if start.init.compat is None else _make_lcm(start)


def _build_own(start: Start[SwarmInit]) -> tuple[SwarmWorld, Setting]:
    if start.init.compat is not None:
        raise InputError("leave init.compat out: the LCM simulator does not know an algorithm of your own")
    if "algorithm" in start.init.model_fields_set:
        raise InputError("leave init.algorithm out: this model has an algorithm of its own")
    return _make(start, None)


def _make_lcm(start: Start[SwarmInit]) -> tuple[SwarmWorld, Setting]:
    """Return the world that the LCM simulator makes of a scenario."""
    from tocsin.models.swarm.lcm.config import lcm_setup
    from tocsin.models.swarm.lcm.scenario import is_drawn, lcm_config

    init, rules = start.init, start.params["rules"]
    assert isinstance(rules, Rules)
    positions = positions_of(init, start.folder, rules.visibility, start.seed)
    places = None if is_drawn(init) else read_positions(positions)
    setup = lcm_setup(lcm_config(init, rules, places, start.seed), rng=init.draws, trail=TRAIL)
    robots = setup.world.robots
    return setup.world, Setting(np.stack([robots["x"], robots["y"]], axis=1), setup.begin)


def _variant(init: SwarmInit) -> Variant:
    if init.compat is None:
        return Variant(MODEL)
    from tocsin.models.swarm.lcm.config import SOURCES
    from tocsin.models.swarm.lcm.events import LCM_MODEL

    return Variant(LCM_MODEL, {"source": SOURCES[init.draws][0], "method": "next-reaction"}, begin=_begin)


def _begin(simulation: Sim, setting: Setting) -> None:
    if setting.begin is not None:
        setting.begin(simulation)


def _make(start: Start[SwarmInit], algorithm: str | None) -> tuple[SwarmWorld, Setting]:
    init, rules = start.init, start.params["rules"]
    assert isinstance(rules, Rules)
    positions = positions_of(init, start.folder, rules.visibility, start.seed)
    faults = {int(k) if k.isdigit() else k: v for k, v in init.faults.items()}
    world = make_swarm(
        positions, algorithm, rules=rules, speed=init.speed, scheduler=init.scheduler, gaps=init.gaps,
        order=init.order, schedule=[_turn(turn) for turn in init.schedule], schedule_end=init.schedule_end,
        has_turn_gaps=init.has_turn_gaps, max_turns=init.max_turns, moves=init.moves, faults=faults,
        multiplicity=init.multiplicity, frames=init.frames, is_opaque=init.is_opaque,
        box=(init.width, init.height) if init.has_box else None, is_watched=init.is_watched, trail=TRAIL, seed=start.seed,
    )  # fmt: skip
    return world, Setting(np.array(positions, float))


def _turn(turn: int | list[float]) -> Any:
    if isinstance(turn, int):
        return turn
    if not turn:
        raise InputError("init.schedule: a turn is a robot, [robot, stop] or [robot, stop, when], got []")
    who, *rest = turn
    if not float(who).is_integer():
        raise InputError(f"init.schedule: a robot is a whole number, got {who}")
    return (int(who), *rest)


def _summarise(simulation: Sim, setting: Setting) -> Mapping[str, Any]:
    return summarise(simulation.world, simulation.now)


def _plot(simulation: Sim, setting: Setting, path: Path) -> None:
    from tocsin.models.swarm.figure import draw_swarm

    draw_swarm(path, simulation.world, setting.start, simulation.now)


VIEW = View(
    marks=(
        Circles("robots", "circle_x", "circle_y", "circle_r"),
        Points("robots", "target_x", "target_y", size=3.0, shade=6),
        Points(
            "robots", "x", "y", colour="state", size=9.0, trail=60,
            motion=Motion(since="left_at", goal=("goal_x", "goal_y"), pace="pace", only=("state", MOVE)),
        ),
    ),
    labels=("waits", "looks", "moves", "crashed"),
    note="Circles are the smallest ones that robots have found around those they see; small red dots are targets.",
    speed=2.0,
)  # fmt: skip


def _film(ended: Sim, start: Callable[[], Sim], path: Path) -> None:
    from tocsin.models.swarm.film import film_swarm

    world = ended.world
    film_swarm(path, start(), ended.now if world.outcome == RUNNING else world.ended_at)


def swarm_preset(model: Model) -> Preset[SwarmInit, SwarmWorld, Setting]:
    """Return what makes a model of `swarm_model` run from scenarios, as `model = "file.py:NAME"`.

    With an algorithm of your own, `[init] algorithm` is refused.
    """
    return Preset(
        name=model.name,
        summary="Mobile robots that Look, Compute and Move.",
        model=model,
        init=SwarmInit,
        build=_build if model is MODEL else _build_own,
        summarise=_summarise,
        plot=_plot,
        film=_film,
        variant=_variant if model is MODEL else None,
        view=VIEW,
    )


WORLD = swarm_preset(MODEL)
