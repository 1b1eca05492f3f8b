"""What happens under the sandtable rules: days open, players play, days close; and one gacha before the first day."""

from __future__ import annotations

from tocsin import Action, Model, Rng, Touched
from tocsin.models.economy.sandtable.world import ALIVE, AT_START, Player, Sandtable
from tocsin.schema import NEVER


class OpenDay(Action):
    """A day begins: day d at time d - 1."""

    def schedule(self, world: Sandtable, now: float, rng: Rng) -> float:
        return float(world.day) if world.day == world.closed and world.day < world.n_days else NEVER

    def fire(self, world: Sandtable, now: float, rng: Rng, touched: Touched) -> None:
        world.day += 1
        alive = world.days[world.day - 2, ALIVE] if world.day > 1 else len(world.players)
        world.count(AT_START, alive)
        touched.add(world)


class Roll(Action):
    """Before the first day, a player pulls until the first hit."""

    player: Player

    def schedule(self, world: Sandtable, now: float, rng: Rng) -> float:
        return 0.0 if world.has_gacha == 1 and self.player.n_pulls == 0 and now <= 0.0 else NEVER

    def fire(self, world: Sandtable, now: float, rng: Rng, touched: Touched) -> None:
        world.pull(self.player, rng)


class PlayDay(Action):
    """A player plays the day."""

    player: Player

    def schedule(self, world: Sandtable, now: float, rng: Rng) -> float:
        return NEVER if self.player.is_churned == 1 else self.player.next_at

    def fire(self, world: Sandtable, now: float, rng: Rng, touched: Touched) -> None:
        world.play(self.player, rng)
        self.player.next_at += 1.0


class CloseDay(Action):
    """A day ends: day d at time d."""

    def schedule(self, world: Sandtable, now: float, rng: Rng) -> float:
        return float(world.day) if world.day > world.closed else NEVER

    def fire(self, world: Sandtable, now: float, rng: Rng, touched: Touched) -> None:
        world.close()
        touched.add(world)


MODEL = Model(Sandtable, [CloseDay, OpenDay, Roll, PlayDay], name="sandtable", tie="action")
