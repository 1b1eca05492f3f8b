"""Pictures of contact maps: a square, or a triangle over the CTCF sites and the insulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import InputError
from tocsin.models.extrusion import _panels
from tocsin.models.extrusion._files import StrPath
from tocsin.models.extrusion._panels import FONT, INK, RULE, SOFT, View
from tocsin.models.extrusion.analysis._canvas import canvas, label, tidy
from tocsin.models.extrusion.analysis.bins import Bins
from tocsin.models.extrusion.analysis.contacts import ContactMap
from tocsin.models.extrusion.analysis.curves import expected
from tocsin.models.extrusion.analysis.insulation import Insulation
from tocsin.models.extrusion.regions import parse_region
from tocsin.models.extrusion.sites import CtcfSites

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
MOST_BINS = 1000  # a side; more cannot be told apart
_COLOURS, _BOTH_WAYS = "magma_r", "RdBu_r"


def draw_contacts(
    ax_or_path: Axes | StrPath,
    contacts: ContactMap,
    *,
    shape: Literal["square", "triangle"] = "square",
    is_over_expected: bool = False,
    sites: CtcfSites | None = None,
    score: Insulation | None = None,
    region: str | None = None,
    title: str | None = None,
    size_inches: tuple[float, float] | None = None,
    dpi: int = 150,
) -> Axes:
    """Draw a contact map with logarithmic colours.

    Parameters
    ----------
    ax_or_path : Axes or path
        Axes to draw in, or a file to write: `.png`, `.svg`, `.pdf`.
    contacts : ContactMap
    shape : 'square', or 'triangle': position to the right, distance upwards
    is_over_expected : draw observed over expected instead
    sites : CTCF sites to draw below the map
    score : insulation of the same map to draw below it, its boundaries marked
    region : part of the map, as in `read_sites`
    title : heading
    size_inches, dpi : of a file

    Returns
    -------
    The axes of the map.

    Raises
    ------
    InputError
        Matplotlib is missing, the map is empty, or the region is not in it.
    OutputError
        The file cannot be written.
    """
    if shape not in ("square", "triangle"):
        raise InputError(f"shape must be 'square' or 'triangle', got {shape!r}")
    part = _part(contacts.bins, region)
    value, edges = _square(contacts, part, is_over_expected)
    n_below = (sites is not None) + (score is not None)
    size = size_inches or ((5.0, 4.6 + 0.5 * n_below) if shape == "square" else (7.2, 3.0 + 0.5 * n_below))
    with canvas(ax_or_path, size, dpi) as frame:
        ax, panels = _panels_of(frame, n_below)
        mesh = _mesh(ax, value, edges, shape, is_over_expected)
        _key(frame, mesh, is_over_expected)
        _frame(ax, edges, shape, contacts)
        view = View(float(edges[0]), float(edges[-1]), contacts.bins.start, contacts.bins.resolution)
        if sites is not None:
            _panels.draw_triangles(panels[0], sites, view)
        if score is not None:
            draw_score(panels[-1], contacts.bins, score)
        lowest = panels[-1] if panels else ax
        lowest.tick_params(axis="x", bottom=True, labelbottom=True)
        label(lowest, f"{contacts.bins.chrom} (Mb)", None)
        label(ax, None, None, title)
    return ax


def draw_insulation(
    ax_or_path: Axes | StrPath,
    contacts: ContactMap,
    score: Insulation,
    *,
    size_inches: tuple[float, float] = (7.2, 1.8),
    dpi: int = 150,
) -> Axes:
    """Draw an insulation score along the chromosome, its boundaries marked. Raises as `draw_contacts`."""
    with canvas(ax_or_path, size_inches, dpi, (0.09, 0.26, 0.89, 0.68)) as ax:
        tidy(ax)
        draw_score(ax, contacts.bins, score)
        label(ax, f"{contacts.bins.chrom} (Mb)", "Insulation (log2)")
    return ax


def draw_score(ax: Axes, bins: Bins, score: Insulation) -> None:
    """The score as a line; boundaries as marks at its dips, darker if stronger."""
    x = bins.middles / 1e6
    ax.axhline(0.0, color=RULE, linewidth=0.6, zorder=0)
    ax.plot(x, score.score, color=SOFT, linewidth=0.9)
    if len(score.boundary):
        from matplotlib.colors import to_rgba

        rgba = np.tile(to_rgba(_panels.MINUS), (len(score.boundary), 1))
        rgba[:, 3] = np.clip(score.strength / max(float(score.strength.max()), 1e-12), 0.15, 1.0)
        ax.scatter(x[score.boundary], score.score[score.boundary], s=14, marker="v", c=rgba, linewidths=0)
    ax.locator_params(axis="y", nbins=3)


def _part(bins: Bins, region: str | None) -> slice:
    if region is None:
        return slice(0, bins.n_bins)
    wanted = parse_region(region)
    end = bins.end if wanted.end is None else wanted.end
    part = bins.of_positions(wanted.start, end) if wanted.chrom == bins.chrom else slice(0, 0)
    if part.stop - part.start < 2:
        raise InputError(f"region must hold two bins or more of {bins.chrom}:{bins.start}-{bins.end}, got {region!r}")
    return part


def _square(contacts: ContactMap, part: slice, is_ratio: bool) -> tuple[Floats, Floats]:
    """The values of a part, symmetric, and the edges of its bins, Mb; bins averaged if too many to see."""
    band, n = contacts.band()[part], part.stop - part.start
    if is_ratio:
        mean = expected(contacts)
        mean[mean == 0.0] = np.nan
        band = band / mean
    factor = -(-n // MOST_BINS)
    n_wide = -(-n // factor)
    total, count = np.zeros((2, n_wide * n_wide))
    for k in range(min(n, contacts.width)):
        value = band[: n - k, k]
        i = np.flatnonzero(np.isfinite(value))
        cell = i // factor * n_wide + (i + k) // factor
        np.add.at(total, cell, value[i])
        np.add.at(count, cell, 1.0)
    with np.errstate(invalid="ignore"):
        upper = (total / count).reshape(n_wide, n_wide)
    edges = contacts.bins.edges[part.start : part.stop + 1] / 1e6
    full = np.where(np.isnan(upper), upper.T, upper)
    return full, np.append(edges[:-1][::factor], edges[-1])


def _panels_of(frame: Axes, n_below: int) -> tuple[Axes, list[Axes]]:
    """The axes of the map and, below, of the tracks, over one horizontal axis."""
    frame.set_axis_off()
    floor = 0.13 * n_below
    ax = frame.inset_axes((0, floor + (0.02 if n_below else 0.0), 0.9, 0.98 - floor))
    tidy(ax)
    panels = []
    for i in range(n_below):
        panel = frame.inset_axes((0, floor - 0.13 * (i + 1) + 0.01, 0.9, 0.11), sharex=ax)
        tidy(panel)
        panel.patch.set_alpha(0.0)
        panels.append(panel)
    for panel in [ax, *panels][:-1]:
        panel.tick_params(axis="x", bottom=False, labelbottom=False)
    return ax, panels


def _mesh(ax: Axes, value: Floats, edges: Floats, shape: str, is_ratio: bool) -> Any:
    from matplotlib.colors import LogNorm

    seen = value[np.isfinite(value) & (value > 0)]
    if not len(seen):
        raise InputError("nothing to draw: no pair of bins in this region has a contact")
    if is_ratio:
        most = max(2.0, float(np.quantile(np.maximum(seen, 1 / seen), 0.99)))
        norm, colours = LogNorm(1 / most, most), _BOTH_WAYS
    else:
        low, high = float(np.quantile(seen, 0.02)), float(seen.max())
        norm, colours = LogNorm(low if low < high else low / 10, high), _COLOURS
    shown = np.ma.masked_invalid(np.where(value > 0, value, np.nan))
    a, b = np.meshgrid(edges, edges, indexing="ij")
    x, y = (b, a) if shape == "square" else ((a + b) / 2, b - a)
    if shape == "triangle":
        shown = np.ma.masked_where(np.tri(len(value), k=-1, dtype=bool), shown)
    return ax.pcolormesh(x, y, shown, norm=norm, cmap=colours, rasterized=True, linewidth=0)


def _frame(ax: Axes, edges: Floats, shape: str, contacts: ContactMap) -> None:
    ax.set_xlim(edges[0], edges[-1])
    if shape == "square":
        ax.set_ylim(edges[-1], edges[0])
        label(ax, None, f"{contacts.bins.chrom} (Mb)")
        return
    widest = contacts.width * contacts.bins.bin_bp / 1e6
    ax.set_ylim(0.0, min(widest, edges[-1] - edges[0]))
    label(ax, None, "Distance (Mb)")


def _key(frame: Axes, mesh: Any, is_ratio: bool) -> None:
    beside = frame.inset_axes((0.925, 0.5, 0.018, 0.45))
    bar = frame.figure.colorbar(mesh, cax=beside)
    bar.outline.set_visible(False)
    if is_ratio:
        bar.ax.yaxis.set_major_formatter("{x:g}")
        bar.ax.yaxis.set_minor_formatter("{x:g}")
    bar.ax.tick_params(which="both", labelsize=FONT - 2, color=RULE, labelcolor=INK, width=0.5, length=2)
    beside.set_title("obs / exp" if is_ratio else "contacts", fontsize=FONT - 1.5, color=INK, loc="left")
