"""What all samplers' worlds share: draws at equal distances of time, written down as they come."""

from __future__ import annotations

from tocsin import NEVER, Action, Array, Array2, Rng, Touched, World, float64, int32, int64


class Recorded(World):
    """Room for draws. `draw` of a subclass writes row `n_draws` and goes on to the next."""

    kept: Array[int32]  # coordinates whose draws are kept
    draws: Array2[float64]  # positions at equidistant times, a row each
    areas: Array2[float64]  # integrals over time up to then
    squares: Array2[float64]  # integrals of the squares
    counts: Array2[int64]  # events of each kind up to then
    n_draws: int64 = 0
    draws_from: float64 = 0.0
    draw_every: float64 = 0.0
    n_knots: int64 = 0  # turns of the path that are written down

    def draw(self, now: float) -> None:
        """Write row `n_draws` of all these."""
        raise NotImplementedError


class Draw(Action):
    """The positions are written down, at equidistant times, while there is room."""

    def schedule(self, world: Recorded, now: float, rng: Rng) -> float:
        if world.n_draws >= len(world.draws):
            return NEVER
        return world.draws_from + (world.n_draws + 1) * world.draw_every

    def fire(self, world: Recorded, now: float, rng: Rng, touched: Touched) -> None:
        world.draw(now)
        world.n_draws += 1
