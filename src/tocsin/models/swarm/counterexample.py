"""Attack a scenario, and write what was found as a scenario that replays it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tocsin.errors import InputError
from tocsin.models._preset import Preset, Start
from tocsin.models.swarm.attack import Attack, Game, as_toml, attack
from tocsin.models.swarm.build import SCHEDULERS
from tocsin.models.swarm.preset import SwarmInit, positions_of
from tocsin.models.swarm.robot import Rules
from tocsin.models.swarm.search import Candidate
from tocsin.models.swarm.world import SwarmWorld
from tocsin.schema import Params

FIRST = ("algorithm", "scheduler", "moves", "positions", "speed", "schedule")


class Target:
    """A scenario under attack: the same robots at the same places, whatever the adversary decides.

    Parameters
    ----------
    model : as the scenario names it
    preset : of a swarm
    init, params : as the scenario says
    folder : where relative file names start
    seed : of the runs
    goal, events : as in `Game`

    Raises InputError for a model that is no swarm, and for links if robots see without limit.
    """

    def __init__(
        self, model: str, preset: Preset[Any, Any, Any], init: Any, params: Mapping[str, Params], folder: Path,
        seed: int, goal: str, events: int,
    ) -> None:  # fmt: skip
        if not isinstance(init, SwarmInit):
            raise InputError(f"only swarms can be attacked; the model {preset.name!r} is none")
        if init.compat is not None:
            raise InputError("leave init.compat out: what is attacked runs by Tocsin's own rules")
        rules = params["rules"]
        assert isinstance(rules, Rules)
        if goal == "links" and rules.visibility == 0.0:
            raise InputError("goal 'links' needs rules.visibility > 0: robots that see all lose nobody")
        self.model, self.preset, self.params, self.folder, self.seed = model, preset, params, folder, seed
        places = [[float(x), float(y)] for x, y in positions_of(init, folder, rules.visibility, seed)]
        self.init = init.model_copy(update={"positions": places, "n": None, "file": None, "is_watched": True})
        self.game = Game(
            preset.model, self._world, len(places), SCHEDULERS[init.scheduler], init.moves != "rigid", rules.gap,
            goal, events, seed,
        )  # fmt: skip

    def search(self, *, runs: int = 500, length: int = 0, seed: int = 0, method: str = "restarts") -> Attack:
        """Search for a bad schedule, as `attack` does."""
        return attack(self.game, runs=runs, length=length, seed=seed, method=method)

    def _changed(self, candidate: Candidate) -> SwarmInit:
        speeds = self.init.speed if isinstance(self.init.speed, list) else [self.init.speed] * self.game.n
        slowed = [float(speed * share) for speed, share in zip(speeds, candidate.slowness, strict=True)]
        schedule = [list(turn) for turn in candidate.plan]
        return self.init.model_copy(update={"schedule": schedule, "speed": slowed})

    def _world(self, candidate: Candidate) -> SwarmWorld:
        start = Start(self._changed(candidate), self.params, frozenset(), self.folder, self.seed)
        world, _ = self.preset.build(start)
        return world  # type: ignore[no-any-return]

    def scenario(self, found: Attack) -> str:
        """Return a TOML scenario that replays what was found."""
        init = self._changed(found.candidate).model_dump(exclude_defaults=True)
        order = [*(key for key in FIRST if key in init), *(key for key in init if key not in FIRST)]
        default = {name: cls() for name, cls in self.preset.params.items()}
        params = [
            f"{block}.{key} = {as_toml(value)}"
            for block, given in self.params.items()
            for key, value in given.to_dict().items()
            if value != default[block].to_dict()[key]
        ]
        what = "breaks it" if found.verdict.is_broken else "does not break it"
        lines = [
            f"# Found in {found.n_runs} runs against {self.game.goal!r}: {what}, measure {found.verdict.score:.6g}.",
            "# A turn is [robot, share of the way at which it stops (0: as moves say), when].",
            f"model = {as_toml(self.model)}", "", "[params]", *params, "", "[init]",
            *(f"{key} = {as_toml(init[key])}" for key in order),
            "", "[run]", f"seed = {self.seed}", f"events = {found.verdict.n_events}", "",
        ]  # fmt: skip
        return "\n".join(lines)
