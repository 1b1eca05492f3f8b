"""The tables of a scenario file, as pydantic classes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from tocsin.models._preset import Preset
from tocsin.schema._model import Method


class Table(BaseModel):
    """Base of all tables: unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RunTable(Table):
    """`[run]`: the seed, and when to stop."""

    seed: int = Field(0, ge=0, le=(1 << 64) - 1, description="the same seed gives the same bits")
    until: float | None = Field(None, gt=0, allow_inf_nan=False, description="time at which the run ends")
    events: int | None = Field(None, gt=0, description="end after this many events")
    method: Method | None = Field(
        None,
        description="of clocks with a rate: 'next-reaction' or 'composition-rejection'; the model's own by default",
    )
    burn_in: float = Field(0.0, ge=0, allow_inf_nan=False, description="time from which is observed and recorded")

    @model_validator(mode="after")
    def _has_an_end(self) -> RunTable:
        if self.until is None and self.events is None:
            raise ValueError("say when to stop: until = ..., events = ..., or both")
        if self.until is not None and self.burn_in >= self.until:
            raise ValueError(f"burn_in must be < until, {self.until:g}, got {self.burn_in:g}")
        return self


class Snapshots(Table):
    """`[record] snapshots`: one table of the world at equal intervals of time."""

    every: float = Field(gt=0, allow_inf_nan=False, description="time between snapshots")
    table: str | None = Field(None, description="the world's first table by default")
    columns: list[str] | None = Field(None, description="all by default")


class Observables(Table):
    """`[record] observables`: values of observables at equal intervals of time."""

    every: float = Field(gt=0, allow_inf_nan=False, description="time between two rows")
    names: list[str] | None = Field(None, description="which; all by default")


class RecordTable(Table):
    """`[record]`: what is written beside summary.json."""

    snapshots: Snapshots | None = Field(None, description="{every, table, columns}: writes snapshots.parquet")
    observables: Observables | None = Field(None, description="{every, names}: writes observables.parquet")
    events: bool = Field(False, description="every event: writes events.parquet")


class ScenarioFile(Table):
    """A whole file, before its model is known."""

    model: str = Field(description='a shipped name, or "file.py:name"')
    params: dict[str, Any] = Field({}, description="parameters, by block")
    init: dict[str, Any] = Field({}, description="the initial world")
    run: dict[str, Any] = Field({}, description="seed and stop")
    record: dict[str, Any] = Field({}, description="what is written")
    sweep: dict[str, Any] = Field({}, description="what `tocsin sweep` varies; a single run leaves it alone")
    sensitivity: dict[str, Any] = Field({}, description="what `tocsin sensitivity` looks at")
    optimise: dict[str, Any] = Field({}, description="what `tocsin optimise` looks for")
    calibrate: dict[str, Any] = Field({}, description="what `tocsin calibrate` fits")


def record_table(preset: Preset[Any, Any, Any]) -> type[RecordTable]:
    """Return the class of `[record]` for a model: the common keys and its own reports."""
    return _record_table(tuple((report.name, f"{report.doc}: writes {report.file}") for report in preset.reports))


@lru_cache
def _record_table(reports: tuple[tuple[str, str], ...]) -> type[RecordTable]:
    """Make the class once for each set of reports: it takes longer than a small run."""
    own: dict[str, Any] = {name: (bool, Field(False, description=text)) for name, text in reports}
    return create_model("RecordTable", __base__=RecordTable, **own)
