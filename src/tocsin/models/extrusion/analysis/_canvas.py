"""Where a picture goes: axes of the caller's, or a figure of its own written to a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.models.extrusion._files import StrPath
from tocsin.models.extrusion._panels import FONT, INK, RULE
from tocsin.models.extrusion.figure import require_matplotlib, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGINS = (0.11, 0.13, 0.86, 0.80)  # left, bottom, width, height of the axes in the figure


@contextmanager
def canvas(
    ax_or_path: Axes | StrPath,
    size_inches: tuple[float, float],
    dpi: int,
    margins: tuple[float, float, float, float] = MARGINS,
) -> Iterator[Axes]:
    """Axes to draw in; a figure made for a path is written at the end, whole or not at all.

    Raises InputError without Matplotlib or for an unknown suffix, OutputError as `write_bytes`.
    """
    require_matplotlib()
    if not isinstance(ax_or_path, str | os.PathLike):
        yield ax_or_path
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=size_inches, facecolor="white")
    yield figure.add_axes(margins)
    save_figure(figure, Path(ax_or_path), dpi)


def tidy(ax: Axes) -> None:
    """The house's axes: thin grey rules, small dark words, nothing above or to the right."""
    ax.spines[["top", "right"]].set_visible(False)
    for spine in ax.spines.values():
        spine.set(color=RULE, linewidth=0.6)
    ax.tick_params(which="both", labelsize=FONT - 1, color=RULE, labelcolor=INK, width=0.6, length=2.5)


def label(ax: Axes, x: str | None, y: str | None, title: str | None = None) -> None:
    """Names of the axes, and a heading flush left."""
    if x is not None:
        ax.set_xlabel(x, fontsize=FONT, color=INK)
    if y is not None:
        ax.set_ylabel(y, fontsize=FONT, color=INK)
    if title:
        ax.set_title(title, loc="left", fontsize=FONT + 1.5, color=INK)
