"""Contact maps of simulated fibres, averaged over states in bounded memory.

Two kinds. *distance*: sites in contact with probability d^(-3/2), where d is their effective
distance (`distances.py`): the return probability of an ideal chain of that length (Lieberman-Aiden
et al. 2009, doi:10.1126/science.1181369), the loops taken as short cuts. Up to a constant: the
map says how much more two pairs touch than two others, not how often. *loops*: how many LEFs
hold two bins together, nothing else; counts an average state. Maps read from other programs'
files are of kind *counts*, and no state can be added to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion.analysis.bins import Bins
from tocsin.models.extrusion.analysis.distances import LoopGraph, check_count, check_feet
from tocsin.run import Simulation

Kind = Literal["distance", "loops", "counts"]
Floats = NDArray[np.float64]
CAPTURED = 1
"""`Leg.state` of a captured leg in `tocsin.models.chromatin`, which has no field `captured`."""


@dataclass(eq=False)
class ContactMap:
    """Contacts of pairs of bins, summed state by state.

    Parameters
    ----------
    bins : Bins
    kind : 'distance' or 'loops', see above
    max_bp : longest distance of a pair of bins, bp; the whole map by default. Memory is
        n_bins * (max_bp / bin_bp + 1) numbers, and time the square of the sites at most.
    sites_per_bin : how many sites of each bin are looked at, evenly spread; all by default.
        With 1, its middle site: a hundred times faster at ten sites a bin, and nearly the same
        away from the diagonal.
    hop_length : length of a hop over a LEF, in steps along the lattice, >= 1
    exponent : of the distance
    is_ring : whether the last site of the lattice is next to the first

    Attributes
    ----------
    total : float64, shape (n_bins, width)
        Sums over the states; [i, k] is the pair of bins (i, i + k): over its pairs of sites
        (kind 'distance'), or its LEFs ('loops').
    n_states : int

    Raises InputError if a number breaks a rule.
    """

    bins: Bins
    kind: Kind = "distance"
    max_bp: int | None = None
    sites_per_bin: int | None = None
    hop_length: int = 1
    exponent: float = -1.5
    is_ring: bool = False
    total: Floats = field(init=False, repr=False)
    n_states: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.kind not in ("distance", "loops", "counts"):
            raise InputError(f"kind must be 'distance' or 'loops', got {self.kind!r}")
        check_count("hop_length", self.hop_length, 1)
        if not (np.isfinite(self.exponent) and self.exponent < 0):
            raise InputError(f"exponent must be < 0, got {self.exponent!r}")
        width = self.bins.n_bins
        if self.max_bp is not None:
            width = min(width, check_count("max_bp", self.max_bp, 0) // self.bins.bin_bp + 1)
        self.total = np.zeros((self.bins.n_bins, width))
        self._bin_of_site = self.bins.of_sites()
        self._sites, self._bin_of = _chosen(self._bin_of_site, self.bins.n_bins, self.sites_per_bin)
        self._weight = np.arange(self.bins.n_sites + 1, dtype=np.float64)
        self._weight[1:] **= self.exponent

    @property
    def width(self) -> int:
        """How many diagonals are kept, the main one included."""
        return int(self.total.shape[1])

    def add(self, left_sites: ArrayLike, right_sites: ArrayLike) -> None:
        """Add one state: the lattice sites of both legs of each LEF.

        Cost with kind 'distance': some 2 ns a pair of sites within `max_bp`, and O(stops^2).

        Raises InputError for sites off the lattice, or left > right.
        """
        n_sites = self.bins.n_sites
        left, right = check_feet(n_sites, left_sites, right_sites, is_ring=self.is_ring)
        if self.kind == "counts":
            raise InputError("this map was read from a file of counts; make a new one to add states")
        if self.kind == "loops":
            self._add_loops(left, right)
        else:
            graph = LoopGraph(n_sites, left, right, hop_length=self.hop_length, is_ring=self.is_ring)
            self._add_distances(graph)
        self.n_states += 1

    def add_world(self, world: Any) -> None:
        """Add the state of an extrusion world (`Fibre` or one with the same tables)."""
        self.add(*legs_of(world))

    def _add_distances(self, graph: LoopGraph) -> None:
        from tocsin.models.extrusion.analysis._shortest import add_contacts

        first = np.searchsorted(self._sites, graph.graph()[0])
        first[-1] = len(self._sites)
        cutoff = self._sites_apart()
        add_contacts(self.total, self._weight, self._sites, self._bin_of, first, cutoff, graph.graph())

    def _sites_apart(self) -> int:
        """The most sites between two that are looked at, of bins within the width."""
        last = np.searchsorted(self._bin_of, self._bin_of + self.width) - 1
        return int((self._sites[last] - self._sites).max(initial=0))

    def _add_loops(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
        bin_of = self._bin_of_site
        low, high = bin_of[np.minimum(left, right)], bin_of[np.maximum(left, right)]
        is_in = (low >= 0) & (high >= 0) & (high - low < self.width)
        np.add.at(self.total, (low[is_in], high[is_in] - low[is_in]), 1.0)

    def _n_pairs(self) -> Floats:
        """Pairs of sites behind each pair of bins, float64, shape (n_bins, width)."""
        n = np.bincount(self._bin_of, minlength=self.bins.n_bins).astype(np.float64)
        ahead = np.concatenate([n, np.zeros(self.width)])
        pairs = np.stack([n * ahead[k : k + len(n)] for k in range(self.width)], axis=1)
        pairs[:, 0] = n * (n - 1) / 2
        return pairs

    def merge(self, other: ContactMap) -> None:
        """Add the states of another map of the same bins. Raises InputError if they differ."""
        if self.settings() != other.settings():
            raise InputError("maps can be merged only if bins, kind, max_bp, hop_length and exponent are the same")
        self.total += other.total
        self.n_states += other.n_states

    def settings(self) -> dict[str, Any]:
        """What was asked for, as plain values."""
        names = ("kind", "sites_per_bin", "hop_length", "exponent", "is_ring", "width")
        return {**vars(self.bins), **{name: getattr(self, name) for name in names}}

    def band(self) -> Floats:
        """The average state's contacts, shape (n_bins, width): [i, k] is the pair (i, i + k).

        NaN where there is no pair: past the last bin, and on the diagonal of one-site bins.
        Raises InputError if no state was added.
        """
        if self.n_states == 0:
            raise InputError("the map has no state yet: add one")
        mean = self.total / self.n_states
        if self.kind == "distance":
            with np.errstate(invalid="ignore"):
                mean /= self._n_pairs()
        mean[self.bins.n_bins - np.arange(self.bins.n_bins)[:, None] <= np.arange(self.width)] = np.nan
        return mean

    @classmethod
    def from_band(cls, bins: Bins, band: Floats, n_states: int = 1, **settings: Any) -> ContactMap:
        """The map whose average state is `band`, shape (n_bins, width); NaN counts as no contact.

        Raises InputError for another shape, or settings as the class itself.
        """
        found = cls(bins, max_bp=(band.shape[-1] - 1) * bins.bin_bp, **settings)
        if band.shape != found.total.shape:
            raise InputError(f"band must have shape {found.total.shape}, got {band.shape}")
        found.total = np.nan_to_num(band) * n_states
        if found.kind == "distance":
            found.total *= found._n_pairs()
        found.n_states = n_states
        return found

    def matrix(self) -> Floats:
        """The average state's contacts as a symmetric matrix, shape (n_bins, n_bins).

        NaN where there is no pair, and beyond `max_bp`. Raises InputError as `band`.
        """
        n, band = self.bins.n_bins, self.band()
        full = np.full((n, n), np.nan)
        for k in range(self.width):
            i = np.arange(n - k)
            full[i, i + k] = full[i + k, i] = band[: n - k, k]
        return full


def contacts_from_simulation(
    simulation: Simulation[Any], bins: Bins, *, every: float, until: float, **settings: Any
) -> ContactMap:
    """Run to `until` and average the map over the states at now, now + every, ...

    Parameters
    ----------
    simulation : of an extrusion world
    bins : over the same lattice
    every, until : as in `Simulation.record`
    settings : further arguments of `ContactMap`

    Raises InputError for numbers out of range; SimulationError as `Simulation.run`.
    """
    found = ContactMap(bins, **settings)
    for _ in states(simulation, every, until):
        found.add_world(simulation.world)
    return found


def states(simulation: Simulation[Any], every: float, until: float) -> Any:
    """Run to `until`, yielding the time at now, now + every, ... after all events until then.

    Raises InputError unless every > 0 and until >= now, both finite.
    """
    start = simulation.now
    if not (every > 0 and np.isfinite(every)):
        raise InputError(f"every must be > 0, got {every!r}")
    if not (np.isfinite(until) and until >= start):
        raise InputError(f"until must be a time >= now ({start}), got {until!r}")
    for k in range(int((until - start) / every + 1e-9) + 1):
        at = min(start + k * every, until)
        simulation.run(until=at)
        yield at
    simulation.run(until=until)


def legs_of(
    world: Any, *, is_captured: bool = False, span: tuple[int, int] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The left and right sites of all LEFs on the fibre; int64, shape (n_lefs,) each.

    With `is_captured`, of those LEFs only that CTCF sites hold by both legs. With `span`, of those
    between sites span[0] and span[1] (such as a chromosome), counted from span[0].
    """
    legs, left, right = world.legs, world.lefs["left"], world.lefs["right"]
    site = legs["site"].astype(np.int64)
    first, end = (0, len(world.sites)) if span is None else span
    is_wanted = (site[left] >= first) & (site[left] < end) & (site[right] >= first) & (site[right] < end)
    if is_captured:
        held = legs["captured"] if "captured" in legs.schema.fields else legs["state"] == CAPTURED
        is_wanted &= held[left] & held[right]
    return site[left[is_wanted]] - first, site[right[is_wanted]] - first


def _chosen(
    bin_of_site: NDArray[np.int64], n_bins: int, per_bin: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sites that stand for their bins, rising, and the bin of each."""
    site = np.flatnonzero(bin_of_site >= 0)
    bin_of = bin_of_site[site]
    if per_bin is None:
        return site, bin_of
    wanted = check_count("sites_per_bin", per_bin, 1)
    start = np.searchsorted(bin_of, np.arange(n_bins + 1))
    n = np.diff(start)
    most = np.minimum(n, wanted)
    place = ((np.arange(wanted) + 0.5) / most[:, None] * n[:, None]).astype(np.int64)
    picked = (start[:-1, None] + place)[np.arange(wanted) < most[:, None]]
    return site[picked], bin_of[picked]
