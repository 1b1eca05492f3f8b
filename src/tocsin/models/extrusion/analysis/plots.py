"""Pictures of curves and histograms: P(s) and its slope, nesting, lifetimes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tocsin.errors import InputError
from tocsin.models.extrusion._files import StrPath
from tocsin.models.extrusion._panels import FONT, INK, MINUS, PLAIN, PLUS, RULE, SOFT
from tocsin.models.extrusion.analysis._canvas import canvas, label, tidy
from tocsin.models.extrusion.analysis.curves import Scaling
from tocsin.models.extrusion.analysis.lifetimes import Lifetimes
from tocsin.models.extrusion.analysis.nesting import NestingTally

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = (PLUS, MINUS, "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito


def draw_scaling(
    ax_or_path: Axes | StrPath,
    curves: Scaling | Mapping[str, Scaling],
    *,
    reference: float | None = -1.5,
    title: str | None = None,
    size_inches: tuple[float, float] = (3.6, 4.4),
    dpi: int = 150,
) -> tuple[Axes, Axes]:
    """Draw P(s) on double logarithmic axes and its slope below.

    Parameters
    ----------
    ax_or_path : Axes or path
    curves : one, or several by name
    reference : a slope to draw a dotted line of, through the first point; None for none
    title, size_inches, dpi : as in `draw_contacts`

    Returns the two axes. Raises InputError, OutputError as `draw_contacts`.
    """
    named = {"": curves} if isinstance(curves, Scaling) else dict(curves)
    if not named or not all(len(curve.s_bp) for curve in named.values()):
        raise InputError("no curve to draw: give at least one Scaling that has points")
    with canvas(ax_or_path, size_inches, dpi, (0.17, 0.11, 0.80, 0.82)) as frame:
        frame.set_axis_off()
        top, below = frame.inset_axes((0, 0.36, 1, 0.64)), frame.inset_axes((0, 0, 1, 0.32))
        for ax in (top, below):
            tidy(ax)
            ax.set_xscale("log")
        top.set_yscale("log")
        for colour, (name, curve) in zip(_cycle(len(named)), named.items(), strict=True):
            top.plot(curve.s_bp / 1e3, curve.p, color=colour, linewidth=1.2, label=name)
            below.plot(curve.s_bp / 1e3, curve.slope, color=colour, linewidth=1.2)
        if reference is not None:
            _reference(top, below, next(iter(named.values())), reference)
        if len(named) > 1:
            top.legend(frameon=False, fontsize=FONT - 1, labelcolor=INK)
        top.tick_params(labelbottom=False)
        label(top, None, "P(s)", title)
        label(below, "Distance s (kb)", "Slope")
    return top, below


def _reference(top: Axes, below: Axes, curve: Scaling, slope: float) -> None:
    s = curve.s_bp
    top.plot(s / 1e3, curve.p[0] * (s / s[0]) ** slope, color=RULE, linewidth=0.8, linestyle=":", zorder=0)
    below.axhline(slope, color=RULE, linewidth=0.8, linestyle=":", zorder=0)


def draw_nesting(
    ax_or_path: Axes | StrPath,
    tally: NestingTally,
    *,
    title: str | None = None,
    size_inches: tuple[float, float] = (3.6, 2.4),
    dpi: int = 150,
) -> Axes:
    """Draw how many loops lie at each depth on average: 0 in no other loop, 1 in one, ...

    Raises InputError, OutputError as `draw_contacts`.
    """
    means = tally.means()
    with canvas(ax_or_path, size_inches, dpi, (0.15, 0.19, 0.82, 0.70)) as ax:
        tidy(ax)
        ax.bar(np.arange(len(tally.by_depth)), tally.by_depth / tally.n_states, color=PLAIN, width=0.8)
        ax.locator_params(axis="x", integer=True)
        note = f"backbone {means['backbone_fraction']:.2f}"
        ax.text(1.0, 1.0, note, transform=ax.transAxes, fontsize=FONT - 1, color=SOFT, ha="right", va="top")
        label(ax, "Loops around it", "Loops", title)
    return ax


def draw_lifetimes(
    ax_or_path: Axes | StrPath,
    lifetimes: Lifetimes,
    *,
    n_bins: int = 40,
    title: str | None = None,
    size_inches: tuple[float, float] = (3.6, 2.4),
    dpi: int = 150,
) -> Axes:
    """Draw the distribution of lifetimes and, dotted, the exponential law of the same mean.

    Raises InputError (also if there is no lifetime), OutputError as `draw_contacts`.
    """
    if not len(lifetimes):
        raise InputError("no lifetime to draw: none began and ended in the recording; run longer")
    with canvas(ax_or_path, size_inches, dpi, (0.17, 0.19, 0.80, 0.70)) as ax:
        tidy(ax)
        time, mean = lifetimes.duration, float(lifetimes.duration.mean())
        edges = np.linspace(0.0, float(time.max()) or 1.0, n_bins + 1)
        density, _ = np.histogram(time, edges, density=True)
        ax.stairs(density, edges, fill=True, color=PLAIN, linewidth=0)
        ax.plot(edges, np.exp(-edges / mean) / mean, color=MINUS, linewidth=1.0, linestyle=":")
        ax.set_yscale("log")
        ax.set_ylim(0.5 * float(density[density > 0].min()), None)
        note = f"mean {mean:.4g} of {len(time):,}"
        ax.text(1.0, 1.0, note, transform=ax.transAxes, fontsize=FONT - 1, color=SOFT, ha="right", va="top")
        label(ax, "Time on the fibre", "Density", title)
    return ax


def _cycle(n: int) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(n)]
