"""Loop extrusion by name: what a scenario may say about its start, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from tocsin.errors import InputError
from tocsin.models._preset import Init, Preset, Report, Start
from tocsin.models.extrusion.fibre import make_fibre
from tocsin.models.extrusion.loops import LoopSummary, summarise_loops
from tocsin.models.extrusion.model import MODEL, Fibre
from tocsin.models.extrusion.regions import parse_region
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
    n_sites: int | None = Field(None, gt=0, description="length of a synthetic lattice, instead of sites")
    ctcf: list[CtcfInit] = Field([], description="CTCFs of a synthetic lattice")
    resolution: int = Field(1000, gt=0, description="bp a lattice site")
    n_lefs: int | None = Field(None, ge=0, description="number of LEFs")
    spacing_kb: float | None = Field(None, gt=0, description="or one LEF for each so many kb")
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


def _build(start: Start[ExtrusionInit]) -> tuple[Fibre, CtcfSites]:
    init = start.init
    sites = _synthetic(init) if init.sites is None else _from_file(init, start.folder)
    length = sites.end - sites.start
    n_lefs = init.n_lefs if init.n_lefs is not None else lefs_from_spacing(length, init.spacing_kb or 0.0)
    fibre = make_fibre(
        sites.n_sites, n_lefs, ctcf_sites=sites.site, captures_from=sites.captures_from,
        strength=sites.strength, rates=_rates(start), seed=start.seed,
    )  # fmt: skip
    return fibre, sites


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
        strength=init.strength, chrom_sizes=_sizes(init, folder),
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


def _loops(simulation: Sim, sites: CtcfSites) -> LoopSummary:
    left, right, _ = _legs(simulation)
    return summarise_loops(left, right, resolution=sites.resolution)


def _summarise(simulation: Sim, sites: CtcfSites) -> Mapping[str, Any]:
    n = len(simulation.world.lefs)
    if n == 0:
        return {"n_lefs": 0}
    seen, kb = simulation.observe(), sites.resolution / 1000.0
    return {
        "n_lefs": n, "n_ctcfs": sites.n_ctcfs, "region": sites.region,
        "median loop now, kb": _loops(simulation, sites).median_kb,
        "mean loop, kb": seen["LoopSize"].mean / n * kb,
        "captured legs, share": seen["Captured"].mean / (2 * n),
        "blocked legs, share": seen["Blocked"].mean / (2 * n),
    }  # fmt: skip


def _write_loops(simulation: Sim, sites: CtcfSites, path: Path) -> None:
    from tocsin.models.extrusion.report import write_bedpe

    left, right, held = _legs(simulation)
    write_bedpe(
        path, left, right, chrom=sites.chrom, start=sites.start, resolution=sites.resolution,
        end=sites.end, scores=held,
    )  # fmt: skip


def _write_occupancy(simulation: Sim, sites: CtcfSites, path: Path) -> None:
    from tocsin.models.extrusion.report import write_bedgraph

    write_bedgraph(
        path, simulation.row_means("Occupancy"), chrom=sites.chrom, start=sites.start,
        resolution=sites.resolution, end=sites.end,
    )  # fmt: skip


def _write_ctcfs(simulation: Sim, sites: CtcfSites, path: Path) -> None:
    from tocsin.models.extrusion.report import write_sites

    write_sites(path, sites)


def _plot(simulation: Sim, sites: CtcfSites, path: Path) -> None:
    from tocsin.models.extrusion.figure import draw_arcs

    left, right, held = _legs(simulation)
    draw_arcs(path, left, right, sites, occupancy=simulation.row_means("Occupancy"), n_held=held)


WORLD: Preset[ExtrusionInit, Fibre, CtcfSites] = Preset(
    name="extrusion",
    summary="Loop extrusion by cohesin on chromatin with CTCF sites.",
    model=MODEL,
    init=ExtrusionInit,
    build=_build,
    summarise=_summarise,
    reports=(
        Report("loops", "loops.bedpe", "the loops at the end; score: legs held by a CTCF", _write_loops),
        Report("occupancy", "occupancy.bedgraph", "fraction of time that a leg stood on each site", _write_occupancy),
        Report("ctcfs", "ctcfs.bed", "the CTCF sites as simulated", _write_ctcfs),
    ),
    plot=_plot,
)
