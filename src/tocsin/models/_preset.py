"""What a shipped model offers to scenarios and to the command line.

A model that can be run by name has a module `tocsin.models.<name>.preset` (or
`tocsin.models.<name>`, if it is one file) with a `WORLD: Preset`. A preset says nothing twice:
parameters come from the model's `Params` classes, keys of `[init]` from a pydantic class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from tocsin.export.marks import View
from tocsin.run import Simulation
from tocsin.schema import Model, Params, World

I = TypeVar("I", bound=BaseModel)  # noqa: E741
W = TypeVar("W", bound=World)
C = TypeVar("C")


class Init(BaseModel):
    """Base of `[init]` tables: unknown keys and values of another type are errors.

    Give every key a `Field(..., description="...")`; file names are `str`, relative to
    `Start.folder`.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True)
class Start(Generic[I]):
    """What `Preset.build` is given: a scenario, checked."""

    init: I
    params: Mapping[str, Params]
    """A Params instance for each block of the world, defaults filled in."""
    given: frozenset[str]
    """The parameters that the scenario sets, as "rates.step"."""
    folder: Path
    """Where relative file names start: the scenario's folder."""
    seed: int
    """The run's seed, for placing things at random."""


@dataclass(frozen=True)
class Needs:
    """The recording that a report is made of."""

    table: str = ""
    """The table that the snapshots must follow; '' for no snapshots."""
    columns: tuple[str, ...] = ()
    """Columns of it that they must have."""
    is_events: bool = False


@dataclass(frozen=True)
class Report(Generic[W, C]):
    """A file that a model can write at the end of a run, asked for by `[record] name = true`."""

    name: str
    file: str
    doc: str
    """One line, for `tocsin models`."""
    write: Callable[[Simulation[W], C, Path], object]
    """Called with the simulation, the context and the path of the file; may raise OutputError.

    The run's recordings are closed, in the same folder.
    """
    needs: Needs = Needs()
    libraries: tuple[str, ...] = ()
    """Modules that are not always installed."""
    extra: str = ""
    """The extra of this package that installs them."""


@dataclass(frozen=True)
class Variant:
    """What runs, if `[init]` chooses: another model of the same world, other options of the run."""

    model: Model
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of `Simulation`."""
    begin: Callable[[Simulation[Any], Any], object] | None = None
    """Called with the simulation, before its first event, and the context."""


@dataclass(frozen=True)
class Preset(Generic[I, W, C]):
    """A model with all that it takes to start, sum up and show a run of it.

    Attributes
    ----------
    name : as in `model = "name"`
    summary : one line
    model : what can happen
    init : the class of `[init]`
    build : returns the initial world, with the params of `Start` in it, and a context of any
        kind, which summarise, reports and plot are given; raises InputError
    summarise : a few numbers of a run, by name
    reports : files on request
    plot : draws a picture to a path; may raise InputError if Matplotlib is missing
    film : writes a film of a run that has ended, as .gif or .mp4: is given the simulation at its end, a function that starts
        the same run anew, and the path
    variant : returns what runs instead of `model`, if `[init]` can choose
    view : the picture of a live page
    source : the user's file that holds the model, if it is not a shipped one
    """

    name: str
    summary: str
    model: Model
    init: type[I]
    build: Callable[[Start[I]], tuple[W, C]]
    summarise: Callable[[Simulation[W], C], Mapping[str, Any]] | None = None
    reports: tuple[Report[W, C], ...] = ()
    plot: Callable[[Simulation[W], C, Path], object] | None = None
    film: Callable[[Simulation[W], Callable[[], Simulation[W]], Path], object] | None = None
    variant: Callable[[I], Variant] | None = None
    view: View | None = None
    source: Path | None = None

    @property
    def params(self) -> dict[str, type[Params]]:
        """The Params classes of the world, by block."""
        return self.model.schema.params
