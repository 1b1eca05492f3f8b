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

    since: str = ""
    """Path of a time; '' for that of the last tick, `every` after the one before."""
    every: float = 1.0
    times: str = ""
    """A value of the world (see `Along`) by which velocities are multiplied."""
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
    """Triangles below a line that point to the side of `value`'s sign; those of 0 are left out, or with `zeros` point to both."""

    table: str
    x: str = ""
    value: str = ""
    zeros: bool = False
    labels: tuple[str, ...] = ()
    """What they mean, for the legend: those of values < 0, > 0, and of 0."""
    kind: str = field(default="ticks", init=False)


@dataclass(frozen=True)
class Points:
    """Dots in the plane, or on a line if `y` is left out; or in the cells of a grid."""

    table: str
    x: str = ""
    y: str = ""
    cell: str = ""
    """Path of the number of its cell in the view's box, y * width + x as in `Grid`, in place of x and y."""
    colour: str = ""
    size: float = 5.0
    """Diameter in pixels."""
    motion: Motion | None = None
    trail: int = 0
    """Frames of the past that are drawn as a path."""
    shade: int = 0
    """Added to `colour`, so that two tables have colours of their own."""
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
    """A grid of coloured cells: a world array (1-D with `columns`, or 2-D), or the rows of a table by place.

    Small whole numbers are kinds, 0 being blank; other values are shades from the least to the greatest so far.
    """

    array: str = ""
    table: str = ""
    value: str = ""
    columns: int = 0
    """Cells a line, for what is stored in one dimension; 0: as the view's box says, or as square as it gets."""
    by_column: bool = False
    """Whether cell (x, y) is number x * height + y, or [x, y]; else y * width + x, or [y, x].

    With a box, y goes upwards; without one, lines go down as in a text.
    """
    shades: bool = False
    """Whether small whole numbers are shades too."""
    reverse: bool = False
    """Whether the least value is the darkest shade."""
    kind: str = field(default="cells", init=False)


@dataclass(frozen=True)
class Network:
    """People in a ring and who is next to whom, from a network in rows (`first`, `neighbours`)."""

    table: str
    first: str
    """Array: the neighbours of row k are entries first[k] .. first[k + 1] - 1."""
    neighbours: str
    colour: str = ""
    size: float = 6.0
    kind: str = field(default="network", init=False)


@dataclass(frozen=True)
class Along:
    """A number that moves between events: centre + scale * (place + velocity * (now - since)); each a value or (centre, scale) a number.

    A value is named by its path from the world: "n_present", "rates.step", "values[3]", "z[0,1]", "coordinates[2].x".
    On a circle, if the value `circle` is not 0: place cos(t) + velocity sin(t) in place of the sum.
    """

    place: str
    velocity: str = ""
    since: str = ""
    centre: str | float = 0.0
    scale: str | float = 1.0
    circle: str = ""
    label: str = ""


@dataclass(frozen=True)
class Trajectory:
    """The path of one point in the plane, seen every `View.every` time units."""

    x: Along
    y: Along
    trail: int = 800
    """Samples of the past that are drawn."""
    kind: str = field(default="trajectory", init=False)


@dataclass(frozen=True)
class Marginals:
    """Panel: for each number how often it took which value, at times `View.every` apart, from the start on."""

    values: tuple[Along, ...]
    kind: str = field(default="marginals", init=False)


@dataclass(frozen=True)
class Histogram:
    """Panel: how a column of a table is distributed now."""

    table: str
    value: str
    label: str = ""
    kind: str = field(default="histogram", init=False)


@dataclass(frozen=True)
class Bars:
    """Panel: one bar for each of some values, for each row of a table, or for each line of an array of two dimensions."""

    values: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    table: str = ""
    value: str = ""
    array: str = ""
    column: int = 0
    """Which number of each line of the array."""
    label: str = ""
    kind: str = field(default="bars", init=False)


Mark = Arcs | Ticks | Points | Circles | Cells | Network | Trajectory | Marginals | Histogram | Bars


@dataclass(frozen=True)
class View:
    """A picture: marks in the order in which they are drawn, and how far it reaches.

    Attributes
    ----------
    marks : what is drawn; panels stand beside what lies in the plane
    line : for marks on a line, the table whose rows are its places
    box : names of two world scalars or params that hold its width and height; else it follows
        what is drawn
    labels : names of the colours of `colour`, in order, for the legend; of `Cells` and `Network` from 1 on
    blank : what 0 means in `Cells` and `Network`, for the legend
    colours : "#rrggbb" for each of these colours, in place of the usual ones
    note : a sentence about the picture, shown with the legend
    series : (label, path of a value) of what is drawn over time besides the observables
    every : time between two samples of trajectories and marginals, > 0
    speed : time units a second at which a page plays at first; 0: as its scenario says
    """

    marks: tuple[Mark, ...] = ()
    line: str = ""
    box: tuple[str, str] | None = None
    labels: tuple[str, ...] = ()
    blank: str = ""
    colours: tuple[str, ...] = ()
    note: str = ""
    series: tuple[tuple[str, str], ...] = ()
    every: float = 0.1
    speed: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)
