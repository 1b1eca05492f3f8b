"""From exceptions to one paragraph on stderr and an exit code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from tocsin.errors import ModelError, OutputError, SimulationError, TocsinError

P = ParamSpec("P")
R = TypeVar("R")
FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
EXTRAS = {
    "matplotlib": "plot", "scipy": "experiment", "pandas": "experiment", "duckdb": "experiment", "SALib": "experiment",
    "optuna": "experiment", "arviz": "sampling", "xarray": "sampling", "dask": "cluster", "distributed": "cluster",
}  # fmt: skip
"""Which extra brings a package, by its import name."""


def exit_code(error: TocsinError) -> int:
    """Return 1 for a run that failed, 2 for everything the user can put right before it."""
    is_run = isinstance(error, (SimulationError, OutputError)) and not isinstance(error, ModelError)
    return FAILED if is_run else BAD_INPUT


def complain(text: str) -> None:
    """Print one paragraph on stderr."""
    typer.echo(f"tocsin: {' '.join(text.split())}", err=True)


def explained(command: Callable[P, R]) -> Callable[P, R]:
    """Make our errors one paragraph without a traceback; all others pass through."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except TocsinError as error:
            complain(str(error))
            raise typer.Exit(exit_code(error)) from None
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in EXTRAS:
                raise
            complain(f"this needs {package}, which is not installed; run: pip install 'tocsin[{EXTRAS[package]}]'")
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            complain("not enough memory for this: make it smaller")
            raise typer.Exit(BAD_INPUT) from None
        except BrokenPipeError:
            raise
        except OSError as error:
            complain(f"cannot write the output: {error}. What was written to files is whole; free some space.")
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            complain("interrupted; nothing was written")
            raise typer.Exit(INTERRUPTED) from None

    return wrapped
