"""The analysis as reports of a scenario: made of its recordings, once the run is over.

So a run that was resumed from a checkpoint reports on all of it, and who wants other bins reads
`snapshots.parquet` again. An analysis that comes to nothing is an OutputError: the run is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tocsin.errors import InputError, OutputError
from tocsin.models._preset import Needs, Report
from tocsin.models.extrusion.sites import CtcfSites
from tocsin.run import Simulation

if TYPE_CHECKING:
    from tocsin.models.extrusion.analysis.bins import Bins
    from tocsin.models.extrusion.analysis.contacts import ContactMap

SITES_PER_BIN = 3
"""How many sites of each bin the maps of reports look at: a tenth of the time of all ten."""


@dataclass(frozen=True)
class MapSettings:
    """How the contact map is made: lengths in bp."""

    bin_bp: int
    max_bp: int
    window_bp: int
    chrom_bp: int | None
    """Length of the chromosome, if it is known."""


class Context(Protocol):
    """What the reports need beside the simulation."""

    @property
    def sites(self) -> CtcfSites: ...

    @property
    def map(self) -> MapSettings: ...


Sim = Simulation[Any]
Write = Callable[[Sim, Any, Path], object]
STATES = Needs(table="legs", columns=("site", "facing", "captured", "lef"))


def _kept(write: Write) -> Write:
    """The same, with an InputError turned into an OutputError that names the file."""

    def guarded(simulation: Sim, context: Context, path: Path) -> object:
        try:
            return write(simulation, context, path)
        except InputError as error:
            raise OutputError(f"{path.name} was not made: {error}") from error

    return guarded


def _bins(context: Context) -> Bins:
    from tocsin.models.extrusion.analysis.bins import bins_of

    return bins_of(context.sites, bin_bp=max(context.map.bin_bp, context.sites.resolution))


def _map(context: Context, path: Path) -> ContactMap:
    states, widths = path.parent / "snapshots.parquet", context.map
    return _read_map(states, states.stat().st_mtime_ns, _bins(context), max(widths.max_bp, 2 * widths.window_bp))


@lru_cache(maxsize=1)
def _read_map(states: Path, written: int, bins: Bins, max_bp: int) -> ContactMap:
    from tocsin.models.extrusion.analysis.recordings import contacts_from_recording

    return contacts_from_recording(states, bins, max_bp=max_bp, sites_per_bin=SITES_PER_BIN)


def _write_cool(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.files import save_cool

    save_cool(path, _map(context, path), chrom_bp=context.map.chrom_bp)


def _write_pixels(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.files import write_pixels

    write_pixels(path, _map(context, path))


def _write_scaling(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.curves import scaling, write_scaling

    write_scaling(path, scaling(_map(context, path)))


def _write_insulation(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.insulation import insulation
    from tocsin.models.extrusion.analysis.tracks import write_bin_track

    contacts = _map(context, path)
    write_bin_track(
        path, insulation(contacts, window_bp=max(context.map.window_bp, contacts.bins.bin_bp)).score, contacts.bins
    )


def _draw_map(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.plot_map import draw_contacts

    draw_contacts(path, _map(context, path), shape="triangle", sites=context.sites)


def _write_nesting(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.nesting import NestingTally, write_nesting
    from tocsin.models.extrusion.analysis.recordings import snapshots_of

    tally = NestingTally(context.sites.n_sites)
    for snapshot in snapshots_of(path.parent / "snapshots.parquet"):
        tally.add(snapshot.left, snapshot.right)
    write_nesting(path, tally)


def _write_frequencies(simulation: Sim, context: Context, path: Path) -> None:
    from tocsin.models.extrusion.analysis.recordings import snapshots_of
    from tocsin.models.extrusion.analysis.tracks import LoopTally

    tally, sites = LoopTally(), context.sites
    for snapshot in snapshots_of(path.parent / "snapshots.parquet"):
        is_held = snapshot.n_held == 2
        tally.add(snapshot.left[is_held], snapshot.right[is_held])
    tally.write(path, chrom=sites.chrom, start=sites.start, resolution=sites.resolution, end=sites.end)


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
    from tocsin.models.extrusion.analysis.tracks import write_bigwig

    sites = context.sites
    write_bigwig(
        path, simulation.row_means("Occupancy"), chrom=sites.chrom, start=sites.start, resolution=sites.resolution,
        end=sites.end, chrom_bp=context.map.chrom_bp,
    )  # fmt: skip


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
