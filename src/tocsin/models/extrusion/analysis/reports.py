"""The analysis as reports of a scenario: made of its recordings, once the run is over.

So a run that was resumed from a checkpoint reports on all of it, and who wants other bins reads
`snapshots.parquet` again. An analysis that comes to nothing is an OutputError: the run is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from tocsin.errors import InputError, OutputError
from tocsin.models._preset import Needs, Report
from tocsin.models.extrusion.regions import parse_region
from tocsin.models.extrusion.sites import CtcfSites
from tocsin.run import Simulation

if TYPE_CHECKING:
    from tocsin.models.extrusion.analysis.contacts import ContactMap
    from tocsin.models.extrusion.analysis.recordings import Snapshot

SITES_PER_BIN = 3
"""How many sites of each bin the maps of reports look at: a tenth of the time of all ten."""


@dataclass(frozen=True)
class MapSettings:
    """How the contact map is made: lengths in bp."""

    bin_bp: int
    max_bp: int
    window_bp: int
    chrom_sizes: Mapping[str, int]
    """Lengths of the chromosomes that are known."""
    view: str | None = None
    """What the picture shows, chrom:start-end; the first chromosome by default."""


class Context(Protocol):
    """What the reports need beside the simulation."""

    @property
    def chromosomes(self) -> tuple[CtcfSites, ...]: ...

    @property
    def map(self) -> MapSettings: ...


class Part(NamedTuple):
    """A chromosome's place on the lattice."""

    first: int
    sites: CtcfSites
    is_ring: bool


Sim = Simulation[Any]
Write = Callable[[Sim, Any, Path], object]
STATES = Needs(table="legs", columns=("site", "facing", "lef"))


def _kept(write: Write) -> Write:
    """The same, with an InputError turned into an OutputError that names the file."""

    def guarded(simulation: Sim, context: Context, path: Path) -> object:
        try:
            return write(simulation, context, path)
        except InputError as error:
            raise OutputError(f"{path.name} was not made: {error}") from error

    return guarded


def _parts(simulation: Sim, context: Context) -> list[Part]:
    ends = np.cumsum([sites.n_sites for sites in context.chromosomes]).tolist()
    has_rings = "chromosomes" in simulation.model.schema.tables()
    rings = simulation.world.chromosomes["is_ring"].tolist() if has_rings else [False] * len(ends)
    placed = zip(ends, context.chromosomes, rings, strict=True)
    return [Part(end - sites.n_sites, sites, is_ring) for end, sites, is_ring in placed]


def _snapshots(path: Path) -> Iterator[Snapshot]:
    from tocsin.models.extrusion.analysis.recordings import snapshots_of

    return snapshots_of(path.parent / "snapshots.parquet")


_last: dict[Path, tuple[int, list[ContactMap]]] = {}
"""The maps that were made last, by recording and its time: several reports are made of them."""


def _maps(simulation: Sim, context: Context, path: Path) -> list[ContactMap]:
    """The maps of all chromosomes over the snapshots."""
    recording = path.parent / "snapshots.parquet"
    written = recording.stat().st_mtime_ns
    if _last.get(recording, (0, []))[0] != written:
        _last.clear()
        _last[recording] = written, _make_maps(simulation, context, path)
    return _last[recording][1]


def _make_maps(simulation: Sim, context: Context, path: Path) -> list[ContactMap]:
    from tocsin.models.extrusion.analysis.bins import bins_of
    from tocsin.models.extrusion.analysis.contacts import ContactMap

    widths, parts = context.map, _parts(simulation, context)
    max_bp = max(widths.max_bp, 2 * widths.window_bp)
    maps = [
        ContactMap(
            bins_of(part.sites, bin_bp=max(widths.bin_bp, part.sites.resolution)),
            max_bp=max_bp, sites_per_bin=SITES_PER_BIN, is_ring=part.is_ring,
        )
        for part in parts
    ]  # fmt: skip
    for snapshot in _snapshots(path):
        for contacts, part in zip(maps, parts, strict=True):
            here = snapshot.within(part.first, part.sites.n_sites)
            contacts.add(here.left, here.right)
    return maps


def _write_cool(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.files import save_cool

    save_cool(path, _maps(simulation, context, path), chrom_bp=context.map.chrom_sizes)


def _write_pixels(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.files import write_pixels

    maps = _maps(simulation, context, path)
    if len(maps) > 1:
        raise InputError(f"it holds one chromosome, and there are {len(maps)}; ask for contacts = true instead")
    write_pixels(path, maps[0])


def _write_scaling(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.curves import scaling, write_scaling

    write_scaling(path, scaling(_maps(simulation, context, path)))


def _write_insulation(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.insulation import insulation
    from tocsin.models.extrusion.analysis.tracks import write_bin_track

    tracks, error = [], None
    for contacts in _maps(simulation, context, path):
        try:
            found = insulation(contacts, window_bp=max(context.map.window_bp, contacts.bins.bin_bp))
            tracks.append((found.score, contacts.bins))
        except InputError as refused:  # a chromosome shorter than two windows is left out
            error = refused
    if error is not None and not tracks:
        raise error
    write_bin_track(path, *tracks)


def _draw_map(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.plot_map import draw_contacts

    view, maps = context.map.view, _maps(simulation, context, path)
    chrom = maps[0].bins.chrom if view is None else parse_region(view).chrom
    shown = next(i for i, contacts in enumerate(maps) if contacts.bins.chrom == chrom)
    draw_contacts(path, maps[shown], shape="triangle", sites=context.chromosomes[shown], region=view)


def _write_nesting(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.nesting import NestingTally, write_nesting

    tally = NestingTally(sum(sites.n_sites for sites in context.chromosomes))
    for snapshot in _snapshots(path):
        is_plain = snapshot.left <= snapshot.right  # a loop over the first site of a ring has no place in the tree
        tally.add(snapshot.left[is_plain], snapshot.right[is_plain])
    write_nesting(path, tally)


def _write_frequencies(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.tracks import LoopTally, write_frequencies

    parts = _parts(simulation, context)
    tallies = [LoopTally() for _ in parts]
    for snapshot in _snapshots(path):
        if snapshot.n_held is None:
            raise InputError("the snapshots do not say which legs are captured; record that column too")
        for tally, part in zip(tallies, parts, strict=True):
            here = snapshot.within(part.first, part.sites.n_sites)
            is_held = here.n_held == 2
            low, high = np.minimum(here.left, here.right), np.maximum(here.left, here.right)
            tally.add(low[is_held], high[is_held])
    write_frequencies(path, [(tally, part.sites) for tally, part in zip(tallies, parts, strict=True)])


def _write_lifetimes(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.lifetimes import LifetimeTally, write_lifetimes
    from tocsin.models.extrusion.analysis.recordings import events_of

    tally = None
    for batch in events_of(path.parent / "events.parquet"):
        if tally is None and batch.num_rows:
            tally = LifetimeTally(simulation, start=batch.column("time")[0].as_py())
        if tally is not None:
            tally.add(batch)
    if tally is None:
        raise InputError("no event was recorded; run longer")
    write_lifetimes(path, tally.result())


def _write_bigwig(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.tracks import make_track, write_bigwigs

    value, tracks = simulation.row_means("Occupancy"), []
    for first, sites, _ in _parts(simulation, context):
        length = context.map.chrom_sizes.get(sites.chrom)
        here = value[first : first + sites.n_sites]
        tracks.append(make_track(here, sites.chrom, sites.start, sites.resolution, sites.end, length))
    write_bigwigs(path, tracks)


REPORTS: tuple[Report[Any, Any], ...] = (
    Report(
        "contacts", "contacts.cool", "contact map over the snapshots, as a cooler", _kept(_write_cool),
        needs=STATES, libraries=("cooler",), extra="hic",
    ),
    Report("pixels", "contacts.tsv.gz", "the same map as a table", _kept(_write_pixels), needs=STATES),
    Report(
        "map", "contacts.png", "the same map as a picture", _kept(_draw_map),
        needs=STATES, libraries=("matplotlib",), extra="plot",
    ),
    Report("scaling", "ps.tsv", "contacts by distance P(s) of that map, with slope", _kept(_write_scaling), needs=STATES),
    Report("insulation", "insulation.bedgraph", "insulation score of that map", _kept(_write_insulation), needs=STATES),
    Report("nesting", "nesting.tsv", "how loops nest, over the snapshots", _kept(_write_nesting), needs=STATES),
    Report(
        "frequencies", "frequencies.bedpe", "loops held at both feet, by share of the snapshots",
        _kept(_write_frequencies), needs=STATES,
    ),
    Report(
        "lifetimes", "lifetimes.tsv", "time on the fibre and sites extruded, LEF by LEF", _kept(_write_lifetimes),
        needs=Needs(is_events=True),
    ),
    Report(
        "bigwig", "occupancy.bw", "the occupancy as bigWig", _kept(_write_bigwig),
        libraries=("pyBigWig",), extra="hic",
    ),
)  # fmt: skip
