"""From Matplotlib figures to files whose bytes depend on nothing but what is drawn."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tocsin.errors import InputError

COLOURS = ("#0b6e99", "#c2571a", "#2e8b57", "#8a4fa8", "#b23a48", "#6b6b2f", "#3b5ba5", "#777777")
"""Told apart by most eyes, on white."""


@dataclass(frozen=True)
class Picture:
    """A figure of a report."""

    name: str
    """As a file name, without its ending."""
    caption: str
    """One sentence that says what is seen: also the text for those who do not see it."""
    figure: Any
    """A matplotlib.figure.Figure."""

    def svg(self) -> bytes:
        """Return it as SVG: the same bytes each time."""
        return self._saved("svg", {"Date": None, "Creator": None})

    def png(self) -> bytes:
        """Return it as PNG, 144 dots an inch."""
        return self._saved("png", {"Software": None}, dpi=144)

    def _saved(self, form: str, metadata: dict[str, Any], **options: Any) -> bytes:
        import matplotlib

        with matplotlib.rc_context({"svg.hashsalt": self.name, "svg.fonttype": "none"}), io.BytesIO() as file:
            self.figure.savefig(file, format=form, metadata=metadata, **options)
            return file.getvalue()


@contextmanager
def drawn(rows: int = 1, columns: int = 1, width: float = 3.6, height: float = 2.7) -> Iterator[tuple[Any, Any]]:
    """Give a figure and its axes, row by row. Raises InputError if Matplotlib is missing."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "a report needs Matplotlib, which is not installed; run: pip install 'tocsin[experiment]'"
        ) from None
    style = {
        "font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25,
        "axes.titlesize": 9, "legend.frameon": False, "legend.fontsize": 7, "axes.axisbelow": True,
    }  # fmt: skip
    with matplotlib.rc_context(style):
        figure = Figure((width * columns, height * rows), layout="constrained")
        yield figure, figure.subplots(rows, columns, squeeze=False).ravel()


def short(path: str) -> str:
    """Return the last two parts of a long path: rates.step of params.rates.step."""
    return ".".join(path.split(".")[-2:]) if len(path) > 16 else path
