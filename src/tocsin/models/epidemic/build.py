"""From a network and a few words to a town."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.epidemic.world import EXPOSED, N_STATES, SUSCEPTIBLE, ContactTown, Rates, Town
from tocsin.space import Network

LARGEST = float(np.finfo(np.float32).max)  # of a factor

COURSES = {"SIR": (False, True), "SIS": (False, False), "SEIR": (True, True), "SEIS": (True, False)}
"""Whether there is a latent period, and immunity after it, by the name of the course."""


@dataclass(frozen=True)
class Vaccination:
    """A campaign, as `Campaign` means it: at one time, at a rate, or both.

    Raises InputError for a value out of bounds.
    """

    starts_at: float = 0.0
    ends_at: float = np.inf
    rate: float = 0.0
    coverage: float = 0.0
    efficacy: float = 1.0
    leak: float = 1.0
    doses: int = 2**62

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, Real):
                raise InputError(f"{name} of a vaccination must be a number, got {value!r}")
        for name in ("coverage", "efficacy", "leak"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name} of a vaccination must be in 0..1, got {getattr(self, name)}")
        if not 0.0 <= self.rate < np.inf:
            raise InputError(f"rate of a vaccination must be >= 0, got {self.rate}")
        if not (np.isfinite(self.starts_at) and self.starts_at <= self.ends_at):
            raise InputError(f"a vaccination must start before it ends, got {self.starts_at} and {self.ends_at}")
        if not (self.doses >= 0 and self.doses == self.doses // 1):
            raise InputError(f"doses of a vaccination must be a whole number >= 0, got {self.doses}")


def make_town(
    network: Network,
    infectious: ArrayLike = (0,),
    *,
    course: str = "SIR",
    rates: Rates | None = None,
    since: ArrayLike | None = None,
    until: ArrayLike | None = None,
    susceptibility: ArrayLike = 1.0,
    infectivity: ArrayLike = 1.0,
    vaccinations: Sequence[Vaccination] = (),
    by_contact: bool = False,
) -> Town:
    """Return a town in which some people become infectious at time 0.

    Parameters
    ----------
    network : who meets whom; weights multiply the rate of transmission
    infectious : shape (k,), whole numbers: who is infectious from time 0 on
    course : SIR, SIS, SEIR or SEIS; with `rates.waning` > 0 SIR is SIRS, and SEIR is SEIRS
    since, until : shape (n_edges,): each edge, as numbered in the list that the network was made
        from (`keep_edges=True`), is there from since to before until; always by default
    susceptibility : one, or one a person, in 0..1: part of the contacts that infect
    infectivity : one, or one a person, >= 0: times the rate of transmission
    vaccinations : campaigns
    by_contact : True for the model BY_CONTACT, in which each contact has a clock

    Raises InputError for people who do not exist, values out of bounds, an unknown course.
    """
    if not isinstance(course, str) or course not in COURSES:
        hint = ": SIRS is SIR with rates.waning > 0" if str(course).upper() in ("SIRS", "SEIRS") else ""
        raise InputError(f"course must be one of {', '.join(COURSES)}, got {course!r}{hint}")
    state = np.full(network.n, SUSCEPTIBLE, np.int8)
    state[_people(infectious, network.n)] = EXPOSED  # until the first events, at time 0, draw their periods
    people = {
        "state": state, "caught_at": np.full(network.n, np.inf),
        "susceptibility": _factors("susceptibility", susceptibility, network.n, 1.0),
        "infectivity": _factors("infectivity", infectivity, network.n, np.inf),
    }  # fmt: skip
    has_latency, has_immunity = COURSES[course]
    rows, entries = _with_back_rows(network)
    kind = ContactTown if by_contact else Town
    return kind(
        people=people, courses={"ends_at": np.where(state == EXPOSED, 0.0, np.inf)},
        campaigns=_campaigns(vaccinations), **rows, **_times(network, entries, since, until),
        contacts={"source": np.repeat(np.arange(network.n), network.degrees)} if by_contact else 0,
        n_in=np.bincount(state, minlength=N_STATES), back=network.n if network.is_directed else 0,
        has_latency=has_latency, has_immunity=has_immunity, rates=rates or Rates(),
    )  # fmt: skip


def _people(given: ArrayLike, n: int) -> NDArray[np.int64]:
    who = np.asarray(given)
    if who.size and who.dtype.kind not in "iu":
        raise InputError(f"infectious must be numbers of people, got {who.dtype}")
    if who.size and not (who.min() >= 0 and who.max() < n):
        raise InputError(f"people are numbered 0..{n - 1}, got infectious {who.min()}..{who.max()}")
    return who.astype(np.int64)


def _factors(name: str, given: ArrayLike, n: int, most: float) -> NDArray[np.float32]:
    try:
        values = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got {given!r:.80}") from None
    if values.shape not in ((), (n,)):
        raise InputError(f"{name} must be one number or {n}, got shape {values.shape}")
    if not ((values >= 0.0) & (values <= min(most, LARGEST))).all():
        raise InputError(
            f"{name} must be {'>= 0 and finite, also with 32 bits' if most == np.inf else f'in 0..{most:g}'}"
        )
    return np.broadcast_to(values, n).astype(np.float32)


def _with_back_rows(network: Network) -> tuple[Mapping[str, NDArray[Any]], NDArray[np.int64]]:
    """Return the arrays of the network, with the rows of its transpose after it if it is directed.

    And the entry of the network that each entry stands for.
    """
    n = len(network.neighbours)
    if not network.is_directed:
        return network.columns(), np.arange(n)
    turned = network.transposed()
    rows = {
        "first": np.concatenate([network.first, n + turned.first[1:]]),
        "neighbours": np.concatenate([network.neighbours, turned.neighbours]),
        "weights": np.concatenate([network.weights, turned.weights]),
    }
    return rows, np.concatenate([np.arange(n), turned.edges])


def _times(
    network: Network, entries: NDArray[np.int64], since: ArrayLike | None, until: ArrayLike | None
) -> Mapping[str, NDArray[np.float64]]:
    """Return when each entry's contact begins and ends, from when its edge does."""
    if since is None and until is None:
        return {}
    if len(network.edges) != len(network.neighbours):
        raise InputError("since and until need to know which edge is which: make the network with keep_edges=True")
    edges = network.edges[entries]
    most = int(edges.max()) + 1 if len(edges) else 0
    begin, end = _at("since", since, -np.inf, most), _at("until", until, np.inf, most)
    begin, end = np.broadcast_arrays(begin, end)
    if not (begin <= end).all():
        raise InputError("a contact must begin before it ends: since <= until, and neither NaN")
    begin, end = (np.broadcast_to(times, most) if times.ndim == 0 else times for times in (begin, end))
    return {"since": begin[edges], "until": end[edges]}


def _at(name: str, given: ArrayLike | None, default: float, n_edges: int) -> NDArray[np.float64]:
    """Return times, one or one an edge."""
    try:
        times = np.asarray(default if given is None else given, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got {given!r:.80}") from None
    if times.shape not in ((), (n_edges,)):
        raise InputError(f"{name} must have one entry for each of {n_edges} edges, got shape {times.shape}")
    return times


def _campaigns(vaccinations: Sequence[Vaccination]) -> Mapping[str, Any] | int:
    if isinstance(vaccinations, Vaccination) or not all(isinstance(one, Vaccination) for one in vaccinations):
        raise InputError(f"vaccinations must be a list of Vaccination(...), got {vaccinations!r:.80}")
    if not vaccinations:
        return 0
    return {
        "starts_at": [one.starts_at for one in vaccinations], "ends_at": [one.ends_at for one in vaccinations],
        "rate": [one.rate for one in vaccinations], "coverage": [one.coverage for one in vaccinations],
        "efficacy": [one.efficacy for one in vaccinations], "leak": [one.leak for one in vaccinations],
        "doses_left": [one.doses for one in vaccinations],
    }  # fmt: skip
