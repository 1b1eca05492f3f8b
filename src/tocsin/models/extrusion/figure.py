"""Loops as arcs over CTCF sites, with an occupancy track: one picture of a state.

The height of an arc is its loop's size, on a square-root scale, so that the vertical
axis can be read and small loops stay visible beside large ones.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion import _panels
from tocsin.models.extrusion._files import StrPath, write_bytes
from tocsin.models.extrusion._panels import Loops, View
from tocsin.models.extrusion.loops import check_loops
from tocsin.models.extrusion.regions import parse_region
from tocsin.models.extrusion.sites import CtcfSites

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Track = NDArray[np.float64] | None


@dataclass(frozen=True)
class Picture:
    """What was drawn; the axes are Matplotlib's, to be annotated further."""

    n_arcs: int
    n_triangles: int
    arcs: Axes
    ctcf: Axes
    track: Axes | None
    path: Path | None


def draw_arcs(
    ax_or_path: Axes | StrPath,
    left_sites: ArrayLike,
    right_sites: ArrayLike,
    sites: CtcfSites,
    *,
    occupancy: ArrayLike | None = None,
    n_held: ArrayLike | None = None,
    region: str | None = None,
    title: str | None = None,
    size_inches: tuple[float, float] = (7.2, 3.6),
    dpi: int = 200,
) -> Picture:
    """Draw each loop as an arc over the CTCF sites, with an occupancy track below.

    Parameters
    ----------
    ax_or_path : Axes or path
        Axes to draw in (they become the frame of the panels), or a file to write,
        whole or not at all: `.png`, `.svg`, `.pdf`.
    left_sites, right_sites : int, shape (n_loops,)
        Lattice sites of the legs, left <= right.
    sites : CtcfSites
        The CTCF sites, and with them chromosome, start and resolution.
    occupancy : float, shape (n_sites,), optional
        A value >= 0 a lattice site, such as the fraction of time that a leg stood
        there. Where sites outnumber pixels, the largest of each bin is drawn.
    n_held : int, shape (n_loops,), optional
        How many legs of each loop are captured, 0 to 2: colours the arcs.
    region : str, optional
        Zoom, as in `read_sites`; loops that reach into it are drawn. Without it, the
        part of the lattice that has loops or CTCF sites.
    title : str, optional
        A heading, flush left.
    size_inches, dpi
        Of the file; not used with axes.

    Raises
    ------
    InputError
        Matplotlib is missing, or an array does not fit the sites.
    OutputError
        The file cannot be written.
    """
    require_matplotlib()
    loops = _loops(left_sites, right_sites, n_held, sites)
    track = _occupancy(occupancy, sites.n_sites)
    view = _whole_view(loops, sites) if region is None else _zoom(region, sites)
    if not isinstance(ax_or_path, str | os.PathLike):
        return _draw(ax_or_path, loops, sites, track, view, title, None)
    path = Path(ax_or_path)
    figure, frame = _new_figure(size_inches, has_title=bool(title))
    picture = _draw(frame, loops, sites, track, view, title, path)
    save_figure(figure, path, dpi)
    return picture


def require_matplotlib() -> None:
    """Raise an InputError that says how to get Matplotlib, if it is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as err:
        raise InputError("drawing needs Matplotlib, which is not installed; run: pip install 'tocsin[plot]'") from err


def _loops(
    left_sites: ArrayLike,
    right_sites: ArrayLike,
    n_held: ArrayLike | None,
    sites: CtcfSites,
) -> Loops:
    left, right = check_loops(left_sites, right_sites)
    if len(right) and right.max() >= sites.n_sites:
        raise InputError(f"right_sites must be < n_sites, {sites.n_sites}, got {right.max()}")
    if n_held is None:
        return Loops(left, right, None)
    held = np.asarray(n_held)
    if held.shape != left.shape or not np.isin(held, (0, 1, 2)).all():
        raise InputError(f"n_held must hold 0, 1 or 2 for each of {len(left)} loops")
    return Loops(left, right, held.astype(np.int64))


def _occupancy(values: ArrayLike | None, n_sites: int) -> Track:
    if values is None:
        return None
    value = np.asarray(values, dtype=np.float64)
    if value.shape != (n_sites,) or not (np.isfinite(value) & (value >= 0)).all():
        raise InputError(
            f"occupancy must be {n_sites} finite numbers >= 0, one a lattice site, got shape {value.shape}"
        )
    return value


def _whole_view(loops: Loops, sites: CtcfSites) -> View:
    """All loops and CTCF sites with a hundredth of their extent around, in Mb."""
    used = np.concatenate([loops.left, loops.right, sites.site])
    first, last = int(used.min(initial=sites.n_sites - 1)), int(used.max(initial=0))
    if first > last:  # nothing at all: the whole lattice
        first, last = 0, sites.n_sites - 1
    pad = 1 + (last - first) // 100
    low = sites.start + max(0, first - pad) * sites.resolution
    high = min(sites.end, sites.start + (last + 1 + pad) * sites.resolution)
    return View(low / 1e6, high / 1e6, sites.start, sites.resolution)


def _zoom(region: str, sites: CtcfSites) -> View:
    wanted = parse_region(region)
    low, high = max(sites.start, wanted.start), sites.end
    if wanted.end is not None:
        high = min(high, wanted.end)
    if wanted.chrom != sites.chrom or low >= high:
        raise InputError(f"region must lie in {sites.region}, got {region!r}")
    return View(low / 1e6, high / 1e6, sites.start, sites.resolution)


def _draw(
    frame: Axes,
    loops: Loops,
    sites: CtcfSites,
    value: Track,
    view: View,
    title: str | None,
    path: Path | None,
) -> Picture:
    arcs, ctcf, track = _panels.make_panels(frame, has_track=value is not None)
    n_arcs = _panels.draw_loops(arcs, loops, view)
    n_triangles = _panels.draw_triangles(ctcf, sites, view)
    if track is not None and value is not None:
        _panels.draw_track(track, value, view)
    _panels.draw_key(arcs, is_held_known=loops.held is not None)
    _label(arcs, ctcf if track is None else track, sites.chrom, title)
    return Picture(n_arcs, n_triangles, arcs, ctcf, track, path)


def _label(top: Axes, lowest: Axes, chrom: str, title: str | None) -> None:
    """The heading, and the position axis at the foot of the lowest panel."""
    lowest.spines["bottom"].set_visible(True)
    lowest.tick_params(axis="x", bottom=True, labelbottom=True)
    lowest.set_xlabel(f"{chrom} (Mb)", fontsize=_panels.FONT, color=_panels.INK)
    if title:
        top.set_title(title, loc="left", fontsize=_panels.FONT + 1.5, color=_panels.INK, pad=16)


def _new_figure(size: tuple[float, float], *, has_title: bool) -> tuple[Figure, Axes]:
    """A figure outside pyplot: no global state, no window, no display needed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, facecolor="white")
    height = 0.76 if has_title else 0.81
    return figure, figure.add_axes((0.08, 0.125, 0.897, height))


def save_figure(figure: Figure, path: Path, dpi: int) -> None:
    """Write a figure whole or not at all. Raises InputError for an unknown suffix, OutputError."""
    kind = path.suffix.lower().lstrip(".")
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise InputError(
            f"cannot draw {path.name!r}: its suffix must be one of {', '.join('.' + word for word in sorted(known))}"
        )
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=dpi)
    write_bytes(path, buffer.getvalue())
