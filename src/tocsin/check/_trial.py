"""What all checks share: the model, its world, the seed, how much to run and how long it may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tocsin.run import Simulation
from tocsin.schema import Model, World

FIRST_CHUNK, SECONDS_A_CHUNK = 50, 0.2


@dataclass
class Trial:
    """A model under check.

    `make_world` returns a fresh initial world at each call; `ends` is when it should all be over,
    by the clock of `time.perf_counter`; `allowed` says why which finding is none.
    """

    model: Model
    make_world: Callable[[], World]
    seed: int
    n_events: int
    n_short: int
    """Events of the checks that compare two runs."""
    ends: float
    allowed: Mapping[str, str] = field(default_factory=dict)
    tell: Callable[[str], None] = lambda text: None

    def simulation(self, **options: Any) -> Simulation[Any]:
        """Return a simulation from the start, with the trial's seed unless another is given."""
        return Simulation(self.model, self.make_world(), **{"seed": self.seed, **options})

    def methods(self) -> tuple[str, ...]:
        """Return the methods that make a difference to this model."""
        has_rates = any(member.asked == "rate" for member in self.model.actions)
        return ("next-reaction", "composition-rejection") if has_rates else ("next-reaction",)

    def left(self) -> float:
        """Return the seconds that are left."""
        return max(0.0, self.ends - time.perf_counter())


def run_for(
    simulation: Simulation[Any], n_events: int, seconds: float, tell: Callable[[int], None] = lambda n_done: None
) -> int:
    """Run events in growing chunks until there are so many, none is left or the time is over.

    Ticks are run one by one: each visits every row, and the rows may be twice as many at the next.
    Calls `tell` with the number so far after each chunk. Returns how many fired. Raises
    SimulationError as `run` does.
    """
    begun = time.perf_counter()
    is_ticking = any(member.asked == "tick" for member in simulation.model.actions)
    done, chunk = 0, 1 if is_ticking else FIRST_CHUNK
    while done < n_events:
        started = time.perf_counter()
        wanted = min(chunk, n_events - done)
        fired = simulation.run(events=wanted).n_events
        done += fired
        tell(done)
        spent = time.perf_counter() - started
        if fired < wanted or time.perf_counter() - begun > seconds:
            break
        if is_ticking:
            continue
        chunk = 2 * chunk if spent < SECONDS_A_CHUNK / 2 else max(1, chunk // 2) if spent > SECONDS_A_CHUNK else chunk
    return done


def runs(
    trial: Trial, name: str, n_events: int, seconds: float, **options: Any
) -> Iterator[tuple[Simulation[Any], int]]:
    """Yield simulations from the start, with one seed after the other, until they fired so many events.

    A model that comes to rest is thus started again. Ends early when the time is over. `name` is that
    of the check, for its progress.
    """
    ends = time.perf_counter() + seconds
    done, seed = 0, trial.seed
    while done < n_events:
        simulation = trial.simulation(**{**options, "seed": seed})
        before = done
        fired = run_for(
            simulation, n_events - done, max(0.0, ends - time.perf_counter()),
            lambda n: trial.tell(f"{name}: {before + n:,} of {n_events:,} events"),  # noqa: B023
        )  # fmt: skip
        yield simulation, fired
        done += fired
        seed = (seed + 1) % (1 << 64)
        if fired == 0 or time.perf_counter() > ends:
            return


def n_asked(simulation: Simulation[Any]) -> int:
    """Return the number of clocks and observed rows."""
    return len(simulation._kernel.clocks) + len(simulation._kernel.observed)
