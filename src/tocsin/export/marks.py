"""What a model looks like: marks over the columns of its tables, declared as data.

A model says which columns are places and colours; the page draws them. A column is named by its
path, and a path follows references: "site", "left.site". The empty path is the row's number.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Motion:
    """How points move between events, along each axis.

    With `velocity` (paths of vx, vy): place + velocity * (now - since). With `goal` (paths):
    place + min(1, (now - since) * pace) * (goal - place). `only`: (path, value) of the rows that
    move; all rows by default.
    """

    since: str
    velocity: tuple[str, ...] = ()
    goal: tuple[str, ...] = ()
    pace: str = ""
    only: tuple[str, int] | None = None


@dataclass(frozen=True)
class Arcs:
    """Arcs between two places on a line."""

    table: str
    start: str
    end: str
    colour: str = ""
    """Path of a small whole number that picks the colour."""
    kind: str = field(default="arcs", init=False)


@dataclass(frozen=True)
class Ticks:
    """Strokes on a line, where `value` is not 0; coloured by its sign."""

    table: str
    x: str = ""
    value: str = ""
    kind: str = field(default="ticks", init=False)


@dataclass(frozen=True)
class Points:
    """Dots in the plane, or on a line if `y` is left out."""

    table: str
    x: str
    y: str
    colour: str = ""
    size: float = 5.0
    """Diameter in pixels."""
    motion: Motion | None = None
    trail: int = 0
    """Frames of the past that are drawn as a path."""
    kind: str = field(default="points", init=False)


@dataclass(frozen=True)
class Circles:
    """Circles in the plane; rows with a NaN are left out."""

    table: str
    x: str
    y: str
    radius: str
    kind: str = field(default="circles", init=False)


@dataclass(frozen=True)
class Cells:
    """A grid of coloured cells: a world array (1-D with `columns`, or 2-D), or the rows of a table by place."""

    array: str = ""
    table: str = ""
    value: str = ""
    columns: int = 0
    """Cells a line, for what is stored in one dimension; 0: as square as it gets."""
    kind: str = field(default="cells", init=False)


Mark = Arcs | Ticks | Points | Circles | Cells


@dataclass(frozen=True)
class View:
    """A picture: marks in the order in which they are drawn, and how far it reaches.

    Attributes
    ----------
    marks : what is drawn
    line : for marks on a line, the table whose rows are its places
    box : names of two world scalars or params that hold its width and height; else it follows
        what is drawn
    labels : names of the colours of `colour`, in order, for the legend
    """

    marks: tuple[Mark, ...] = ()
    line: str = ""
    box: tuple[str, str] | None = None
    labels: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)
