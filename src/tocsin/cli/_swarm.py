"""`tocsin swarm`: check a run of robots against a trace, and search for a bad schedule."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from tocsin.cli._errors import FAILED, explained
from tocsin.errors import InputError, OutputError

app = typer.Typer(help="Robot swarms: replay a trace, attack an algorithm.", no_args_is_help=True)


@app.command("replay")
@explained
def replay(
    traces: Annotated[list[Path], typer.Argument(help="Event traces of the LCM simulator (JSON).", show_default=False)],
) -> None:
    """Run each trace's configuration and compare every event; print the first difference.

    Exit code 0 if all agree, 1 if one does not.
    """
    from tocsin.models.swarm.lcm.replay import read_trace
    from tocsin.models.swarm.lcm.replay import replay as compared

    n_bad = 0
    for path in traces:
        found = compared(read_trace(path))
        typer.echo(f"{path.name}: {found.difference or f'agrees, {found.n_events} events'}")
        n_bad += found.difference is not None
    if n_bad:
        raise typer.Exit(FAILED)


@app.command("attack")
@explained
def attack(
    scenario: Annotated[Path, typer.Argument(help="A scenario of a swarm (TOML).", show_default=False)],
    goal: Annotated[str, typer.Option(help="What to break: links, diameter or gather.")] = "links",
    method: Annotated[
        str, typer.Option(help="How to search: restarts (random, then local search) or cmaes (CMA-ES, by Optuna).")
    ] = "restarts",
    runs: Annotated[int, typer.Option(min=1, help="Most runs of the search.")] = 500,
    length: Annotated[int, typer.Option(min=0, help="Turns that the adversary decides; 0: three a robot.")] = 0,
    events: Annotated[int, typer.Option(min=1, help="Most events of a run.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    out: Annotated[Path, typer.Option(help="Where the schedule is written, as a scenario.")] = Path("attack.toml"),
) -> None:
    """Search for a schedule that breaks an invariant, and save the shortest one found.

    Exit code 1 if one was found, 0 if none was: the algorithm held out.
    """
    from tocsin.models.swarm.counterexample import Target
    from tocsin.scenario import load_scenario

    loaded = load_scenario(scenario, [])
    target = Target(
        loaded.model, loaded.preset, loaded.init, loaded.params, loaded.file.parent, loaded.run.seed, goal, events
    )  # fmt: skip
    found = target.search(runs=runs, length=length, seed=seed, method=method)
    try:
        out.write_text(target.scenario(found), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write {str(out)!r}: {error.strerror or error}") from None
    verdict, turns = found.verdict, len(found.candidate.plan)
    what = f"broken by {turns} turns" if verdict.is_broken else "held out"
    typer.echo(
        f"{goal}: {what}, measure {verdict.score:.6g}, after {found.n_runs} runs; the worst schedule is in {out}"
    )
    if verdict.is_broken:
        raise typer.Exit(FAILED)


@app.command("seeds")
@explained
def seeds(
    scenario: Annotated[Path, typer.Argument(help="A scenario of a swarm (TOML).", show_default=False)],
    n: Annotated[int, typer.Option(min=1, help="How many seeds, from the scenario's own on.")] = 100,
    events: Annotated[int, typer.Option(min=1, help="Most events of a run.")] = 1_000_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print every run as JSON.")] = False,
) -> None:
    """Run a scenario for many seeds, and print means of what comes out."""
    import json

    from tocsin.cli._text import columns, number
    from tocsin.models.swarm.seeds import means, run_seeds
    from tocsin.models.swarm.world import SwarmWorld
    from tocsin.run import Simulation
    from tocsin.scenario import load_scenario

    loaded = load_scenario(scenario, [])
    first, until = loaded.run.seed, loaded.run.until

    def start(seed: int) -> Simulation[SwarmWorld]:
        simulation, _ = load_scenario(scenario, [(("run", "seed"), seed)]).start()
        if not isinstance(simulation.world, SwarmWorld):
            raise InputError(f"the model {loaded.model!r} is no swarm")
        return simulation

    table = run_seeds(start, range(first, first + n), events=events, until=math.inf if until is None else until)
    if as_json:
        typer.echo(json.dumps(table.to_pylist(), indent=2))
        return
    rows = [(name, *map(number, values)) for name, values in means(table).items()]
    typer.echo(columns([(f"{n} runs", "mean", "sd", "least", "most"), *rows], numeric=range(1, 5)))


@app.command("film")
@explained
def film(
    scenario: Annotated[Path, typer.Argument(help="A scenario of a swarm (TOML).", show_default=False)],
    out: Annotated[Path, typer.Option(help="The film: .gif or .mp4.")] = Path("swarm.gif"),
    until: Annotated[float | None, typer.Option(help="Where the film ends.", show_default="run.until")] = None,
    frames: Annotated[int, typer.Option(min=2, help="Number of pictures.")] = 120,
    fps: Annotated[int, typer.Option(min=1, help="Pictures a second.")] = 20,
) -> None:
    """Run a scenario and write a film of it."""
    from tocsin.models.swarm.film import film_swarm
    from tocsin.models.swarm.world import SwarmWorld
    from tocsin.scenario import load_scenario

    loaded = load_scenario(scenario, [])
    end = until if until is not None else loaded.run.until
    if end is None:
        raise InputError("say where the film ends: --until, or run.until in the scenario")
    simulation, _ = loaded.start()
    if not isinstance(simulation.world, SwarmWorld):
        raise InputError(f"the model {loaded.model!r} is no swarm")
    film_swarm(out, simulation, end, frames=frames, fps=fps)
    typer.echo(str(out))
