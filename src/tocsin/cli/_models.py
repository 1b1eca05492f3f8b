"""`tocsin models`: what there is to run, and what can be set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tocsin.cli._errors import explained
from tocsin.cli._text import columns

if TYPE_CHECKING:
    from tocsin.scenario import AnyPreset


@explained
def models(
    name: Annotated[
        str | None,
        typer.Argument(help='A shipped model, or "file.py:name"; all shipped ones if left out.', show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the shipped models, or the parameters and keys of one."""
    from tocsin.scenario import describe, find_preset, shipped

    if name is None:
        found = [{"name": preset.name, "summary": preset.summary} for preset in shipped()]
        typer.echo(json.dumps(found, indent=2) if as_json else _list(found))
        return
    preset: AnyPreset = find_preset(name, Path())
    facts = describe(preset)
    typer.echo(json.dumps(facts, indent=2) if as_json else _page(facts))


def _list(found: list[dict[str, str]]) -> str:
    return columns([(one["name"], one["summary"]) for one in found]) or "no model is shipped"


def _page(facts: dict[str, Any]) -> str:
    parts = [f"{facts['name']}: {facts['summary']}", f"actions      {', '.join(facts['actions'])}"]
    if facts["observables"]:
        parts[-1] += f"\nobservables  {', '.join(facts['observables'])}"
    for table in ("params", "init", "run", "record"):
        if facts[table]:
            parts.append(f"[{table}]\n{columns(_row(key) for key in facts[table])}")
    return "\n\n".join(parts)


def _row(key: dict[str, Any]) -> tuple[str, ...]:
    default = "required" if key["required"] else _shown(key["default"])
    what = " ".join(filter(None, (key["unit"], key["bounds"])))
    return f"  {key['key']}", default, key["type"], what, key["meaning"]


def _shown(default: Any) -> str:
    return "" if default is None else json.dumps(default)
