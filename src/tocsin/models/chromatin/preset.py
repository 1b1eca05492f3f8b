"""Chromatin by name: from `[init]` to a world, and what comes out of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.export.marks import Arcs, Ticks, View
from tocsin.models import extrusion
from tocsin.models._preset import Preset, Report, Start
from tocsin.models.chromatin.build import chromatin_of
from tocsin.models.chromatin.genome import read_genome
from tocsin.models.chromatin.init import ChangeInit, ChromatinInit, ChromosomeInit, SpeciesInit
from tocsin.models.chromatin.loading import region_weights
from tocsin.models.chromatin.model import MODEL
from tocsin.models.chromatin.report import draw, legs_of, write_ctcfs, write_loops, write_occupancy
from tocsin.models.chromatin.species import LefSpecies, RateChange
from tocsin.models.chromatin.track import read_loading
from tocsin.models.chromatin.world import Chromatin
from tocsin.models.extrusion.analysis.reports import REPORTS, MapSettings
from tocsin.models.extrusion.regions import Region, parse_region, read_chrom_sizes
from tocsin.models.extrusion.sites import CtcfSites, SiteReport
from tocsin.models.extrusion.units import lefs_from_spacing, respawn_from_processivity
from tocsin.run import Simulation
from tocsin.schema._annotations import nearest

_DATA = Path(extrusion.__file__).parent / "data"
_PACKAGE = "package:"
_NUMBER = {"left": -1, "right": 1, "both": 0}
Sim = Simulation[Chromatin]


@dataclass(frozen=True)
class Setting:
    """What the reports and the picture need beside the simulation."""

    chromosomes: tuple[CtcfSites, ...]
    species: tuple[LefSpecies, ...]
    view: Region
    map: MapSettings


def _build(start: Start[ChromatinInit]) -> tuple[Chromatin, Setting]:
    init = start.init
    parts = tuple(map(_synthetic, init.chromosome, [init.resolution] * len(init.chromosome)))
    parts = parts or _from_file(init, start.folder)
    names = [part.chrom for part in parts]
    rings = [_known("rings", name, names) for name in init.rings] + [one.name for one in init.chromosome if one.ring]
    n_lefs = init.n_lefs
    if n_lefs is None:
        n_lefs = lefs_from_spacing(sum(part.end - part.start for part in parts), init.spacing_kb or 0.0)
    species = tuple(_species(one, init.resolution) for one in init.species) or (LefSpecies(),)
    world = chromatin_of(
        parts, n_lefs, is_ring=[name in rings for name in names], species=species,
        ctcf_bound=init.exchange.bound, ctcf_residence=math.inf if init.exchange.residence is None else init.exchange.residence,
        when_unbound=init.exchange.when_unbound, changes=[_change(one) for one in init.change],
        loading=_loading(init, parts, start.folder), seed=start.seed,
    )  # fmt: skip
    return world, Setting(parts, species, _view(init.view, parts), _map_settings(start, parts))


def _map_settings(start: Start[ChromatinInit], parts: tuple[CtcfSites, ...]) -> MapSettings:
    init = start.init
    bin_bp, max_bp, window_bp = (max(1, round(1000 * kb)) for kb in (init.bin_kb, init.map_kb, init.window_kb))
    known = {part.chrom: part.end for part in parts}
    if init.chrom_sizes is not None:
        known |= read_chrom_sizes(_path(init.chrom_sizes, start.folder))
    return MapSettings(bin_bp, max_bp, window_bp, known, init.view)


def _from_file(init: ChromatinInit, folder: Path) -> tuple[CtcfSites, ...]:
    sizes = None if init.chrom_sizes is None else _path(init.chrom_sizes, folder)
    return read_genome(
        _path(init.sites or "", folder), chrom_sizes=sizes, regions=init.regions, resolution=init.resolution,
        strength=init.strength, score_max=init.score_max, format=init.format, unstranded=init.unstranded,
        ignore=tuple(init.ignore),
    )  # fmt: skip


def _path(text: str, folder: Path) -> Path:
    return _DATA / text.removeprefix(_PACKAGE) if text.startswith(_PACKAGE) else folder / text


def _synthetic(init: ChromosomeInit, resolution: int) -> CtcfSites:
    rows = sorted(init.ctcf, key=lambda ctcf: ctcf.site)
    for row in rows:
        if row.site >= init.n_sites:
            raise InputError(f"chromosome {init.name!r}: a CTCF is at site {row.site}, outside 0..{init.n_sites - 1}")
    return CtcfSites(
        n_sites=init.n_sites,
        site=np.array([row.site for row in rows], np.int64),
        captures_from=np.array([_NUMBER[row.captures_from] for row in rows], np.int8),
        strength=np.array([row.strength for row in rows], np.float64),
        chrom=init.name, start=0, end=init.n_sites * resolution, resolution=resolution,
        report=SiteReport(len(rows), 0, 0, 0, 0, 0, "as given", "n_sites"),
    )  # fmt: skip


def _loading(init: ChromatinInit, parts: tuple[CtcfSites, ...], folder: Path) -> NDArray[np.float64] | None:
    if init.loading_track is None and not init.loading:
        return None
    weights = np.ones(sum(part.n_sites for part in parts))
    if init.loading_track is not None:
        weights = read_loading(_path(init.loading_track, folder), parts)
    return region_weights(parts, [(one.region, one.weight) for one in init.loading], weights)


def _species(init: SpeciesInit, resolution: int) -> LefSpecies:
    given = init.model_dump(exclude={"processivity_kb"}, exclude_none=True)
    if init.processivity_kb is not None:
        left, right = (init.step if own is None else own for own in (init.step_left, init.step_right))
        growth = {"none": left + right, "left": right, "right": left, "either": (left + right) / 2}[init.anchor]
        given["respawn"] = respawn_from_processivity(init.processivity_kb, resolution=resolution, step=growth / 2)
    return LefSpecies(**given)


def _change(init: ChangeInit) -> RateChange:
    return RateChange(at=init.at, species=init.species, multiply=init.multiply, set=init.set)


def _view(text: str | None, parts: tuple[CtcfSites, ...]) -> Region:
    """Check before the run that the picture's region is simulated; the first chromosome by default."""
    names = [part.chrom for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two chromosomes are called {name!r}; give each a name of its own")
    view = parse_region(names[0] if text is None else text)
    part = parts[names.index(_known("view", view.chrom, names))]
    if view.end is not None and not (view.start < part.end and part.start < view.end):
        raise InputError(f"init.view {text!r} must overlap the simulated region {part.region}")
    return view


def _known(key: str, name: str, names: list[str]) -> str:
    if name not in names:
        raise InputError(f"init.{key}: there is no chromosome {name!r}.{nearest(name, names)}")
    return name


def _summarise(simulation: Sim, setting: Setting) -> Mapping[str, Any]:
    n = len(simulation.world.lefs)
    seen, parts = simulation.observe(), setting.chromosomes
    found: dict[str, Any] = {"chromosomes": len(parts), "n_lefs": n, "n_ctcfs": len(simulation.world.ctcfs)}
    if len(simulation.world.ctcfs):
        found["CTCF sites bound, share"] = seen["CtcfOn"].mean / len(simulation.world.ctcfs)
    if n:
        found["LEFs bound, share"] = seen["Bound"].mean / n
        found["mean loop, kb"] = _mean_loop(simulation, setting, np.ones(n, bool))
        found["captured legs, share"] = seen["Captured"].mean / (2 * n)
        found["blocked legs, share"] = seen["Blocked"].mean / (2 * n)
    if len(setting.species) > 1:
        of_lef = simulation.world.lefs["species"]
        for k, species in enumerate(setting.species):
            found[f"mean loop of {species.name}, kb"] = _mean_loop(simulation, setting, of_lef == k)
    return found


def _mean_loop(simulation: Sim, setting: Setting, is_meant: NDArray[np.bool_]) -> float:
    """Mean loop of the LEFs that are bound, over the time of the run, kb."""
    walked = simulation.row_means("LoopSize").reshape(-1, 2).sum(axis=1)[is_meant].sum()
    bound = simulation.row_means("Bound")[is_meant].sum()
    return float(walked / bound) * setting.chromosomes[0].resolution / 1000.0 if bound > 0.0 else 0.0


def _loops(simulation: Sim, setting: Setting, path: Path) -> None:
    write_loops(path, legs_of(simulation.world), setting.chromosomes)


def _occupancy(simulation: Sim, setting: Setting, path: Path) -> None:
    write_occupancy(path, simulation.row_means("Occupancy"), setting.chromosomes)


def _ctcfs(simulation: Sim, setting: Setting, path: Path) -> None:
    write_ctcfs(path, setting.chromosomes)


def _plot(simulation: Sim, setting: Setting, path: Path) -> None:
    occupancy = simulation.row_means("Occupancy")
    draw(path, legs_of(simulation.world), setting.chromosomes, occupancy=occupancy, view=setting.view)


VIEW = View(
    marks=(
        Arcs("lefs", "left.site", "right.site", colour="left.state"),
        Ticks(
            "ctcfs", "site", value="captures_from", zeros=True,
            labels=("CTCF, holds legs from the left", "CTCF, from the right", "CTCF, from both"),
        ),
    ),
    line="sites",
    labels=("left leg moving", "captured", "paused", "anchored", "unbound"),
)  # fmt: skip

WORLD: Preset[ChromatinInit, Chromatin, Setting] = Preset(
    name="chromatin",
    summary="Loop extrusion with species of LEFs, dynamic CTCF, a free pool, rings and several chromosomes.",
    model=MODEL,
    init=ChromatinInit,
    build=_build,
    summarise=_summarise,
    reports=(
        Report("loops", "loops.bedpe", "the loops at the end; score: legs held by a CTCF", _loops),
        Report("occupancy", "occupancy.bedgraph", "fraction of time that a leg stood on each site", _occupancy),
        Report("ctcfs", "ctcfs.bed", "the CTCF sites as simulated", _ctcfs),
        *REPORTS,
    ),
    plot=_plot,
    view=VIEW,
)
