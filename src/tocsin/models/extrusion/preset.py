"""Loop extrusion by name: what a scenario may say about its start, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from tocsin.errors import InputError
from tocsin.export.marks import Arcs, Ticks, View
from tocsin.models._preset import Init, Preset, Report, Start, Variant
from tocsin.models.extrusion.analysis.reports import REPORTS, MapSettings
from tocsin.models.extrusion.fibre import make_fibre
from tocsin.models.extrusion.lefsim import LEFSIM, SOURCE, lefsim_fibre
from tocsin.models.extrusion.loops import LoopSummary, summarise_loops
from tocsin.models.extrusion.model import MODEL, Fibre
from tocsin.models.extrusion.regions import parse_region, read_chrom_sizes
from tocsin.models.extrusion.sites import CtcfSites, SiteReport, read_sites
from tocsin.models.extrusion.units import lefs_from_spacing, respawn_from_processivity
from tocsin.run import Simulation

_DATA = Path(__file__).parent / "data"
_PACKAGE = "package:"
Sim = Simulation[Fibre]


class CtcfInit(Init):
    """One CTCF of a synthetic lattice."""

    site: int = Field(ge=0, description="lattice site")
    captures_from: Literal["left", "right"] = Field(description="side a leg must come from")
    strength: float = Field(1.0, ge=0, le=1, description="probability of capture a visit")


class ExtrusionInit(Init):
    """`[init]`: CTCF sites from a file, or a synthetic lattice; and how many LEFs."""

    sites: str | None = Field(None, description='BED, narrowPeak, TSV or CSV file; "package:NAME" for a shipped one')
    region: str = Field("chr21", description="chromosome, or chrom:start-end in bp")
    chrom_sizes: str | None = Field(None, description="UCSC chrom.sizes file: where the chromosome ends")
    strength: Literal["score", "signal"] | float = Field(
        "score", description="probability of capture: a column, or a number"
    )
    score_max: float | None = Field(None, gt=0, description="score that means strength 1, if not 1 or 1000")
    unstranded: Literal["error", "skip"] = Field("error", description="rows whose strand is '.'")
    format: Literal["bed", "narrowpeak", "tsv", "csv"] | None = Field(None, description="if the suffix does not tell")
    ignore: list[str] = Field([], description="columns of a TSV or CSV file to leave alone")
    view: str | None = Field(None, description="part of the region that --plot draws, chrom:start-end in bp")
    bin_kb: float = Field(10.0, gt=0, description="bin of the contact map, kb")
    map_kb: float = Field(3000.0, gt=0, description="longest distance in the contact map, kb")
    window_kb: float = Field(100.0, gt=0, description="side of the square of the insulation score, kb")
    n_sites: int | None = Field(None, gt=0, description="length of a synthetic lattice, instead of sites")
    ctcf: list[CtcfInit] = Field([], description="CTCFs of a synthetic lattice")
    resolution: int = Field(1000, gt=0, description="bp a lattice site")
    n_lefs: int | None = Field(None, ge=0, description="number of LEFs")
    spacing_kb: float | None = Field(None, gt=0, description="or one LEF for each so many kb")
    compat: Literal["lefsim"] | None = Field(None, description="repeat the run of lefsim 0.1.0 with the same seed")
    processivity_kb: float | None = Field(None, gt=0, description="mean loop of a free LEF, kb: sets rates.respawn")

    @model_validator(mode="after")
    def _one_of_each(self) -> ExtrusionInit:
        if (self.sites is None) == (self.n_sites is None):
            raise ValueError("give either sites (a file) or n_sites (a synthetic lattice)")
        if (self.n_lefs is None) == (self.spacing_kb is None):
            raise ValueError("give either n_lefs or spacing_kb")
        if self.sites is not None and self.ctcf:
            raise ValueError("ctcf belongs to a synthetic lattice (n_sites); sites names a file")
        return self


@dataclass(frozen=True)
class Setting:
    """What the reports and the picture need beside the simulation."""

    sites: CtcfSites
    view: str | None
    map: MapSettings

    @property
    def chromosomes(self) -> tuple[CtcfSites, ...]:
        """All that is simulated, in order along the lattice."""
        return (self.sites,)


def _build(start: Start[ExtrusionInit]) -> tuple[Fibre, Setting]:
    init = start.init
    sites = _synthetic(init) if init.sites is None else _from_file(init, start.folder)
    length = sites.end - sites.start
    n_lefs = init.n_lefs if init.n_lefs is not None else lefs_from_spacing(length, init.spacing_kb or 0.0)
    make = lefsim_fibre if init.compat == "lefsim" else make_fibre
    fibre = make(
        sites.n_sites, n_lefs, ctcf_sites=sites.site, captures_from=sites.captures_from,
        strength=sites.strength, rates=_rates(start), seed=start.seed,
    )  # fmt: skip
    return fibre, Setting(sites, _view(init.view, sites), _map_settings(start))


def _variant(init: ExtrusionInit) -> Variant:
    if init.compat is None:
        return Variant(MODEL)
    return Variant(LEFSIM, {"source": SOURCE, "method": "next-reaction"})


def _map_settings(start: Start[ExtrusionInit]) -> MapSettings:
    init, sizes = start.init, _sizes(start.init, start.folder)
    bin_bp, max_bp, window_bp = (max(1, round(1000 * kb)) for kb in (init.bin_kb, init.map_kb, init.window_kb))
    return MapSettings(bin_bp, max_bp, window_bp, {} if sizes is None else read_chrom_sizes(sizes), init.view)


def _view(text: str | None, sites: CtcfSites) -> str | None:
    """Check before the run that the picture's region lies in the simulated one."""
    if text is not None:
        view = parse_region(text)
        inside = view.start is None or view.end is None or (view.start < sites.end and sites.start < view.end)
        if view.chrom != sites.chrom or not inside:
            raise InputError(f"init.view {text!r} must overlap the simulated region {sites.region}")
    return text


def _rates(start: Start[ExtrusionInit]) -> dict[str, Any]:
    rates, wanted = start.params["rates"].to_dict(), start.init.processivity_kb
    if wanted is None:
        return rates
    if "rates.respawn" in start.given:
        raise InputError("give either init.processivity_kb or params.rates.respawn: one sets the other")
    respawn = respawn_from_processivity(wanted, resolution=start.init.resolution, step=rates["step"])
    return {**rates, "respawn": respawn}


def _from_file(init: ExtrusionInit, folder: Path) -> CtcfSites:
    assert init.sites is not None
    return read_sites(
        _path(init.sites, folder), region=init.region, resolution=init.resolution,
        strength=init.strength, score_max=init.score_max, format=init.format,
        chrom_sizes=_sizes(init, folder), unstranded=init.unstranded, ignore=tuple(init.ignore),
    )  # fmt: skip


def _path(text: str, folder: Path) -> Path:
    return _DATA / text.removeprefix(_PACKAGE) if text.startswith(_PACKAGE) else folder / text


def _sizes(init: ExtrusionInit, folder: Path) -> Path | None:
    if init.chrom_sizes is not None:
        return _path(init.chrom_sizes, folder)
    own = _DATA / "hg38_chr21.chrom.sizes"
    is_ours = (init.sites or "").startswith(_PACKAGE) and parse_region(init.region).chrom == "chr21"
    return own if is_ours else None


def _synthetic(init: ExtrusionInit) -> CtcfSites:
    assert init.n_sites is not None
    rows = sorted(init.ctcf, key=lambda ctcf: ctcf.site)
    n = len(rows)
    return CtcfSites(
        n_sites=init.n_sites,
        site=np.array([r.site for r in rows], np.int64),
        captures_from=np.array([-1 if r.captures_from == "left" else 1 for r in rows], np.int8),
        strength=np.array([r.strength for r in rows], np.float64),
        chrom="lattice", start=0, end=init.n_sites * init.resolution, resolution=init.resolution,
        report=SiteReport(n, 0, 0, 0, 0, 0, "as given", "n_sites"),
    )  # fmt: skip


def _legs(simulation: Sim) -> tuple[Any, Any, Any]:
    """Left site, right site and how many legs are held, of each LEF."""
    legs, lefs = simulation.world.legs, simulation.world.lefs
    left, right = lefs["left"], lefs["right"]
    held = legs["captured"][left].astype(int) + legs["captured"][right]
    return legs["site"][left], legs["site"][right], held


def _loops(simulation: Sim, setting: Setting) -> LoopSummary:
    left, right, _ = _legs(simulation)
    return summarise_loops(left, right, resolution=setting.sites.resolution)


def _summarise(simulation: Sim, setting: Setting) -> Mapping[str, Any]:
    n = len(simulation.world.lefs)
    if n == 0:
        return {"n_lefs": 0}
    sites, seen = setting.sites, simulation.observe()
    kb = sites.resolution / 1000.0
    merged = {"rows merged on one site": sites.report.n_merged} if sites.report.n_merged else {}
    return {
        "n_lefs": n, "n_ctcfs": sites.n_ctcfs, **merged, "region": sites.region,
        "median loop now, kb": _loops(simulation, setting).median_kb,
        "mean loop, kb": seen["LoopSize"].mean / n * kb,
        "captured legs, share": seen["Captured"].mean / (2 * n),
        "blocked legs, share": seen["Blocked"].mean / (2 * n),
    }  # fmt: skip


def _write_loops(simulation: Sim, setting: Setting, path: Path) -> None:
    from tocsin.models.extrusion.report import write_bedpe

    sites = setting.sites
    left, right, held = _legs(simulation)
    write_bedpe(
        path, left, right, chrom=sites.chrom, start=sites.start, resolution=sites.resolution,
        end=sites.end, scores=held,
    )  # fmt: skip


def _write_occupancy(simulation: Sim, setting: Setting, path: Path) -> None:
    from tocsin.models.extrusion.report import write_bedgraph

    sites = setting.sites
    write_bedgraph(
        path, simulation.row_means("Occupancy"), chrom=sites.chrom, start=sites.start,
        resolution=sites.resolution, end=sites.end,
    )  # fmt: skip


def _write_ctcfs(simulation: Sim, setting: Setting, path: Path) -> None:
    from tocsin.models.extrusion.report import write_sites

    write_sites(path, setting.sites)


def _plot(simulation: Sim, setting: Setting, path: Path) -> None:
    from tocsin.models.extrusion.figure import draw_arcs

    left, right, held = _legs(simulation)
    occupancy = simulation.row_means("Occupancy")
    draw_arcs(path, left, right, setting.sites, occupancy=occupancy, n_held=held, region=setting.view)


VIEW = View(
    marks=(
        Arcs("lefs", "left.site", "right.site", colour="left.captured"),
        Ticks("sites", value="ctcf.captures_from", labels=("CTCF, holds legs from the left", "CTCF, from the right")),
    ),
    line="sites",
    labels=("loop", "loop, left leg held by a CTCF"),
)

WORLD: Preset[ExtrusionInit, Fibre, Setting] = Preset(
    name="extrusion",
    summary="Loop extrusion by cohesin on chromatin with CTCF sites.",
    model=MODEL,
    init=ExtrusionInit,
    build=_build,
    summarise=_summarise,
    variant=_variant,
    reports=(
        Report("loops", "loops.bedpe", "the loops at the end; score: legs held by a CTCF", _write_loops),
        Report("occupancy", "occupancy.bedgraph", "fraction of time that a leg stood on each site", _write_occupancy),
        Report("ctcfs", "ctcfs.bed", "the CTCF sites as simulated", _write_ctcfs),
        *REPORTS,
    ),
    plot=_plot,
    view=VIEW,
)
