"""`tocsin export` and `tocsin view`: a live page of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tocsin.cli._errors import explained
from tocsin.errors import OutputError

PLAYED = 60.0
"""Seconds in which a page plays a scenario from its start to its end, at first."""
Scenario_ = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML).", show_default=False)]
Set_ = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Set any key, as in params.rates.step=2. Repeatable."),
]


@explained
def export(
    scenario: Scenario_,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The page.", show_default="<scenario>.html")] = None,
    set_: Set_ = None,
    room: Annotated[
        int | None,
        typer.Option(min=1, help="Rows that each pool has room for.", show_default="four times what it has"),
    ] = None,
) -> None:
    """Write one self-contained page that runs a scenario in any browser, bit for bit as here."""
    text = page_of_scenario(scenario, set_ or [], room)
    path = out or Path(f"{scenario.stem}.html")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror or error}; choose another place") from None
    typer.echo(f"{path}: {len(text) / 1000:,.0f} kB; open it in a browser")


@explained
def view(
    scenario: Scenario_,
    set_: Set_ = None,
    room: Annotated[
        int | None,
        typer.Option(min=1, help="Rows that each pool has room for.", show_default="four times what it has"),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0: any free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
) -> None:
    """Show a scenario live in the browser, from a server on 127.0.0.1 that only this machine can reach.

    Needs the extra `view`. Ends with Ctrl-C.
    """
    from tocsin.view._server import serve

    serve(page_of_scenario(scenario, set_ or [], room), port=port, open_browser=browser, say=typer.echo)


def page_of_scenario(scenario: Path, texts: list[str], room: int | None) -> str:
    """Return the page of a scenario file. Raises InputError, CompileError."""
    from tocsin.scenario import load_scenario, parse_override
    from tocsin.view import page_of

    loaded = load_scenario(scenario, [*map(parse_override, texts)])
    simulation, _ = loaded.start()
    preset, until = loaded.preset, loaded.run.until
    speed = (until - simulation.now) / PLAYED if until is not None and until > simulation.now else 1.0
    view = preset.view if simulation.model.world is preset.model.world else None  # a variant may have another world
    return page_of(
        simulation, view, title=f"{loaded.name}: {preset.name}", about=preset.summary, speed=speed, room=room
    )
