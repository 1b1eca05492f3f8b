"""`tocsin export` and `tocsin view`: a live page of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tocsin.cli._errors import explained
from tocsin.errors import CompileError, OutputError

if TYPE_CHECKING:
    from tocsin.export.marks import View
    from tocsin.run import Simulation
    from tocsin.view._live import Live

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
    text = shown(scenario, set_ or []).page(room)
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
    stream: Annotated[
        bool, typer.Option("--stream", help="Run here, at native speed, and stream the pictures.")
    ] = False,
) -> None:
    """Show a scenario live in the browser, from a server on 127.0.0.1 that only this machine can reach.

    It runs in the browser; what cannot, or is too large for a page, runs here and is streamed to the same page. Needs
    the extra `view`. Ends with Ctrl-C.
    """
    from tocsin.view._server import serve

    what = shown(scenario, set_ or [])
    if not stream:
        try:
            page = what.page(room)
        except CompileError as error:
            typer.echo(f"{error}\nIt runs here, and the page shows it.", err=True)
        else:
            return serve(page, port=port, open_browser=browser, say=typer.echo)
    serve(what.remote_page(), port=port, open_browser=browser, say=typer.echo, make_live=what.live)


@dataclass(frozen=True)
class Shown:
    """A scenario at its start, and how a page shows it."""

    simulation: Simulation[Any]
    view: View | None
    title: str
    about: str
    speed: float

    def page(self, room: int | None = None) -> str:
        """Return the page that runs it in the browser. Raises CompileError."""
        from tocsin.view import page_of

        return page_of(
            self.simulation, self.view, title=self.title, about=self.about, speed=self.speed, room=room
        )  # fmt: skip

    def remote_page(self) -> str:
        """Return the page to which it is streamed."""
        from tocsin.view._page import remote_page_of

        return remote_page_of(self.simulation, self.view, title=self.title, about=self.about, speed=self.speed)

    def live(self) -> Live:
        """Return what runs here for that page."""
        from tocsin.export.marks import View
        from tocsin.view._live import Live

        view = self.view or View()
        return Live(self.simulation, view, view.speed or self.speed)


def shown(scenario: Path, texts: list[str]) -> Shown:
    """Return a scenario file at its start, with these keys set. Raises InputError."""
    from tocsin.scenario import load_scenario, parse_override

    loaded = load_scenario(scenario, [*map(parse_override, texts)])
    simulation, _ = loaded.start()
    preset, until = loaded.preset, loaded.run.until
    speed = (until - simulation.now) / PLAYED if until is not None and until > simulation.now else 1.0
    view = preset.view if simulation.model.world is preset.model.world else None  # a variant may have another world
    return Shown(simulation, view, f"{loaded.name}: {preset.name}", preset.summary, speed)
