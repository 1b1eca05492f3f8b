"""The three panels of a picture of loops: arcs, CTCF triangles, occupancy track."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.models.extrusion.sites import CtcfSites

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

PLUS, MINUS = "#0072b2", "#d55e00"  # Okabe and Ito: apart for every kind of sight
INK, RULE, SOFT = "#2b2f36", "#9aa1ab", "#4f5968"
# Arcs by how many of the loop's legs a CTCF holds, 0 to 2; and where it is not said.
HELD = ("#b4bcc8", "#8f88d0", "#3f3391")
PLAIN = "#4b5a78"
FONT = 8.0  # points
N_BINS = 700  # of the track: no bin below a third of a point in a printed column


class Loops(NamedTuple):
    """Lattice sites of both legs and, where known, how many are held; (n_loops,)."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    held: NDArray[np.int64] | None


@dataclass(frozen=True)
class View:
    """The visible part of the chromosome, Mb, and how sites map to it."""

    low: float
    high: float
    start: int  # bp of site 0
    resolution: int  # bp

    def middle(self, site: NDArray[np.int64]) -> NDArray[np.float64]:
        """Middles of lattice sites, Mb."""
        return (self.start + (site.astype(np.float64) + 0.5) * self.resolution) / 1e6


def make_panels(frame: Axes, *, has_track: bool) -> tuple[Axes, Axes, Axes | None]:
    """Arcs, triangles and track, one above the other, over one horizontal axis."""
    frame.set_axis_off()
    floor = 0.30 if has_track else 0.03
    arcs = frame.inset_axes((0, floor + 0.105, 1, 0.895 - floor))
    ctcf = frame.inset_axes((0, floor, 1, 0.09), sharex=arcs)
    track = frame.inset_axes((0, 0, 1, 0.235), sharex=arcs) if has_track else None
    for ax in (arcs, ctcf, track):
        if ax is not None:
            _clean(ax)
    return arcs, ctcf, track


def _clean(ax: Axes) -> None:
    ax.patch.set_alpha(0.0)
    ax.spines[["top", "right"]].set_visible(False)
    for spine in ax.spines.values():
        spine.set(color=RULE, linewidth=0.6)
    ax.tick_params(labelsize=FONT - 1, color=RULE, labelcolor=INK, width=0.6, length=2.5)
    ax.tick_params(axis="x", bottom=False, labelbottom=False)


def _name_axis(ax: Axes, text: str) -> None:
    ax.set_ylabel(text, fontsize=FONT, color=INK)
    ax.yaxis.set_label_coords(-0.052, 0.5)  # in line in all panels


def draw_loops(ax: Axes, loops: Loops, view: View) -> int:
    """Half ellipses, the largest and the least held at the back; returns how many."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    order = _drawing_order(loops, view)
    curves, top = _curves(loops, order, view)
    colours = [PLAIN if loops.held is None else HELD[loops.held[i]] for i in order]
    bold = _boldness(curves, view)
    arcs = PolyCollection(
        list(curves),
        closed=False,
        edgecolors=[to_rgba(colour, 0.85) for colour in colours],
        facecolors=[to_rgba(colour, 0.06) for colour in colours],
        linewidths=0.25 + 1.1 * bold,
        capstyle="round",
    )
    ax.add_collection(arcs, autolim=False)
    ax.set_xlim(view.low, view.high)
    _size_axis(ax, top)
    ax.spines["bottom"].set_visible(False)
    return len(order)


def _boldness(curves: NDArray[np.float64], view: View) -> float:
    """0.25..1: thin lines where loops are many or narrow, so that they stay apart."""
    if not len(curves):
        return 1.0
    few = (len(curves) / 25.0) ** -0.4
    width = float(np.median(curves[:, -1, 0] - curves[:, 0, 0]))
    wide = 100.0 * width / (view.high - view.low)  # 1 for a hundredth of the picture
    return float(np.clip(min(few, wide), 0.25, 1.0))


def _drawing_order(loops: Loops, view: View) -> NDArray[np.intp]:
    """Loops that reach into the view, back to front."""
    is_seen = view.middle(loops.right) >= view.low
    is_seen &= view.middle(loops.left) <= view.high
    seen = np.flatnonzero(is_seen)
    size = (loops.right - loops.left)[seen]
    held = np.zeros_like(size) if loops.held is None else loops.held[seen]
    return seen[np.lexsort((-size, held))]


def _curves(loops: Loops, order: NDArray[np.intp], view: View) -> tuple[NDArray[np.float64], float]:
    """Points of each arc, shape (n, 73, 2), and the height of the highest."""
    a, b = view.middle(loops.left)[order, None], view.middle(loops.right)[order, None]
    turn = np.linspace(0.0, np.pi, 73)
    height = np.sqrt((b - a) * 1e3)  # of the size in kb
    x = (a + b) / 2 - (b - a) / 2 * np.cos(turn)
    top = float(height.max(initial=0.0))
    return np.stack([x, height * np.sin(turn)], axis=-1), top or 1.0


def _size_axis(ax: Axes, top: float) -> None:
    """Loop sizes as round numbers on the square-root axis, well apart."""
    round_kb = np.outer(10.0 ** np.arange(-2, 7), [1, 2, 5]).ravel()
    ticks: list[float] = []
    for kb in round_kb[round_kb <= (1.02 * top) ** 2][::-1]:
        above = np.sqrt(ticks[-1]) if ticks else np.inf
        if above - np.sqrt(kb) >= 0.16 * top and np.sqrt(kb) >= 0.16 * top:
            ticks.append(float(kb))
    ax.set_ylim(0.0, 1.05 * top)
    ax.set_yticks([0.0, *np.sqrt(ticks)], ["0", *(f"{kb:,g}" for kb in ticks)])
    _name_axis(ax, "Loop size (kb)")
    ax.spines["left"].set_bounds(0.0, max([*np.sqrt(ticks), 0.9 * top]))


def draw_triangles(ax: Axes, sites: CtcfSites, view: View) -> int:
    """Plus-strand motifs point right, above; minus-strand ones left, below."""
    from matplotlib.colors import to_rgba

    middle = view.middle(sites.site)
    is_seen = (middle >= view.low) & (middle <= view.high)
    n_seen = int(is_seen.sum())
    area = float(np.clip(34.0 * (40.0 / max(n_seen, 1)) ** 0.5, 11.0, 34.0))
    ax.axhline(0.0, color=RULE, linewidth=0.6, zorder=0)
    for side, marker, colour, y in ((1, ">", PLUS, 0.5), (-1, "<", MINUS, -0.5)):
        mine = is_seen & (sites.captures_from == side)
        rgba = np.tile(to_rgba(colour), (int(mine.sum()), 1))
        rgba[:, 3] = 0.12 + 0.88 * sites.strength[mine]
        y_all = np.full(len(rgba), y)
        ax.scatter(middle[mine], y_all, s=area, c=rgba, marker=marker, linewidths=0)
    ax.set_ylim(-1.1, 1.1)
    ax.set_yticks([0.0], ["CTCF"], fontsize=FONT - 1)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    return n_seen


def draw_track(ax: Axes, value: NDArray[np.float64], view: View) -> None:
    """A filled step curve; the largest of each bin where sites outnumber pixels."""
    site_mb, origin = view.resolution / 1e6, view.start / 1e6
    first = max(0, int((view.low - origin) / site_mb))
    last = min(len(value), int(np.ceil((view.high - origin) / site_mb)))
    width = max(1, -(-(last - first) // N_BINS))
    starts = np.arange(first, last, width)
    peak = np.maximum.reduceat(value[:last], starts)
    edges = origin + np.append(starts, last) * site_mb
    ax.stairs(peak, edges, fill=True, color=SOFT, linewidth=0)
    ax.set_ylim(0.0, 1.08 * float(peak.max()) or 1.0)
    ax.locator_params(axis="y", nbins=2)
    _name_axis(ax, "Occupancy")
    if width > 1:
        note = f"peak of each {width * view.resolution / 1e3:g} kb"
        text = ax.text(1.0, 1.0, note, transform=ax.transAxes)
        text.set(fontsize=FONT - 2, color=SOFT, ha="right", va="bottom")


def draw_key(ax: Axes, *, is_held_known: bool) -> None:
    """What colours and triangles mean, in one line above the arcs, flush right."""
    from matplotlib.lines import Line2D

    handles: list[Line2D] = []
    if is_held_known:
        words = ("no leg held", "one leg held", "both legs held")
        for colour, word in zip(HELD, words, strict=True):
            handles.append(Line2D([], [], color=colour, linewidth=1.6, label=word))
    for marker, colour, word in ((">", PLUS, "CTCF +"), ("<", MINUS, "CTCF \u2212")):
        triangle = Line2D([], [], color=colour, marker=marker, linestyle="", label=word)
        triangle.set(markersize=4.5, markeredgewidth=0)
        handles.append(triangle)
    ax.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize=FONT - 1.5,
        labelcolor=INK,
        handlelength=1.3,
        handletextpad=0.5,
        columnspacing=1.3,
        borderaxespad=0.0,
    )
