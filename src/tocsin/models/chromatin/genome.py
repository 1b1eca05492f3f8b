"""CTCF sites of several chromosomes, from one file."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath
from tocsin.models.extrusion.loops import check_resolution
from tocsin.models.extrusion.regions import Region, parse_region, read_chrom_sizes
from tocsin.models.extrusion.sites import CtcfSites, read_rows
from tocsin.schema._annotations import nearest


def read_genome(
    path: StrPath,
    *,
    chrom_sizes: StrPath | None = None,
    regions: Sequence[str] | None = None,
    resolution: int = 1000,
    strength: str | float = "score",
    score_max: float | None = None,
    format: str | None = None,
    unstranded: str = "error",
    ignore: Collection[str] = (),
) -> tuple[CtcfSites, ...]:
    """Read the CTCF sites of several chromosomes, or parts of them; one pass over the file.

    Parameters
    ----------
    path, resolution, strength, score_max, format, ignore : as in `read_sites`
    chrom_sizes : UCSC's two columns, chromosome and length; must be given without `regions`
    unstranded : what to do with strand '.': 'error', 'skip', or 'both': it captures from both sides
    regions : chromosomes or `chr21:14,000,000-20,000,000`, none twice; by default every chromosome
        that has a row, in the order of `chrom_sizes`

    Raises
    ------
    InputError
        An argument, a file or a row breaks a rule; a chromosome is named twice, has no row, or
        has no length.
    """
    bp = check_resolution(resolution)
    choices = ("error", "skip", "both")
    found = read_rows(path, strength, score_max, format, unstranded, ignore, choices=choices)
    if regions is not None:
        where = _distinct([parse_region(region) for region in regions])
    elif chrom_sizes is None:
        raise InputError("give chrom_sizes, where chromosomes end, or the regions to read")
    else:
        where = _all_of(list(dict.fromkeys(found.rows.chrom)), list(read_chrom_sizes(chrom_sizes)))
    return tuple(found.sites_in(one, bp, chrom_sizes) for one in where)


def _distinct(where: list[Region]) -> list[Region]:
    if not where:
        raise InputError("regions must name at least one chromosome")
    names = [one.chrom for one in where]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"regions name {name!r} twice; each chromosome may be there once")
    return where


def _all_of(present: list[str], known: list[str]) -> list[Region]:
    for name in present:
        if name not in known:
            raise InputError(f"chrom_sizes has no length for {name!r}, of which there are rows.{nearest(name, known)}")
    return [Region(name, 0, None) for name in known if name in present]
