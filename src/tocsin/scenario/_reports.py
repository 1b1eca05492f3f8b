"""Whether the reports that a scenario asks for can be made, before it is run."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from tocsin.errors import InputError
from tocsin.models._preset import Needs, Preset, Report
from tocsin.scenario._explain import Origin
from tocsin.scenario._tables import RecordTable, Snapshots


def check_reports(record: RecordTable, preset: Preset[Any, Any, Any], origin: Origin) -> None:
    """Raise InputError for a report whose recording is not made, or whose library is missing."""
    for report in preset.reports:
        if getattr(record, report.name):
            where = f"{origin.of(('record', report.name))}: {report.name}"
            _check_recording(where, report.needs, record, preset)
            _check_libraries(where, report)


def _check_recording(where: str, needs: Needs, record: RecordTable, preset: Preset[Any, Any, Any]) -> None:
    if needs.is_events and not record.events:
        raise InputError(f"{where} is made of the events: set events = true too.")
    if needs.table and not _holds(record.snapshots, needs, preset):
        columns = ", ".join(needs.columns)
        raise InputError(
            f"{where} is made of snapshots of {needs.table} with columns {columns}: "
            f'set snapshots = {{ every = ..., table = "{needs.table}" }} too.'
        )


def _holds(snapshots: Snapshots | None, needs: Needs, preset: Preset[Any, Any, Any]) -> bool:
    if snapshots is None:
        return False
    table = snapshots.table or next(iter(preset.model.schema.tables()))
    return table == needs.table and (snapshots.columns is None or set(needs.columns) <= set(snapshots.columns))


def _check_libraries(where: str, report: Report[Any, Any]) -> None:
    missing = [name for name in report.libraries if find_spec(name) is None]
    if missing:
        raise InputError(
            f"{where} needs {', '.join(missing)}, not installed here; run: pip install 'tocsin[{report.extra}]'"
        )
