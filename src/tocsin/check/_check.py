"""`check`: run all checks on a model and return their verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from tocsin.check._audits import (
    check_audit,
    check_extremes,
    check_grids,
    check_lints,
    check_numbers,
    check_references,
    check_time,
    failed,
    grids_of,
)  # fmt: skip
from tocsin.check._report import Report, Verdict
from tocsin.check._trial import Trial, run_for
from tocsin.check._twins import (
    CONTINUED,
    check_continued,
    check_interpreted,
    check_recordings,
    check_rerun,
    check_slices,
)  # fmt: skip
from tocsin.errors import CompileError, InputError, SimulationError
from tocsin.run import Simulation, access_of
from tocsin.schema import Model, World

SHORT_EVENTS = 2_000
AUDIT_SHARE, SHORT_SHARE = 0.6, 0.05
"""Parts of the time that all audits, and that each of the other long checks, may take."""


def check(
    model: Model,
    world: World | Callable[[], World],
    *,
    events: int = 100_000,
    seed: int = 0,
    seconds: float = 60.0,
    allow: Mapping[str, str] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Report:
    """Run every check on a model and return a verdict for each; use it in your own tests.

    Parameters
    ----------
    model : what is checked
    world : the initial state, or a function that returns it; small ones are checked faster
    events : events to audit, with each method that there is; others compare at most 2,000
    seed : of the first run; a model that comes to rest is run again with the next one
    seconds : about how long it may take, without compiling; less is audited if it takes longer
    allow : findings that are none, by label ("Leave.fire/Serve.rate", "Desk.colour"), each with a reason
    tell : called with the name of each check before it starts

    The checks: the model compiles; static lints; audit with every method; compiled and
    interpreted runs agree; a rerun, a run in pieces, and one that was saved, copied or pickled
    half way end in the same state; recordings change nothing; parameters at their bounds end in a
    run or an error that names its clock; no NaN; no reference to a removed row, and none
    on a grid.

    Raises InputError for a world of another class or an argument out of range.
    """
    if events < 1 or not seconds > 0.0:
        raise InputError(f"events and seconds must be > 0, got events={events!r}, seconds={seconds!r}")
    make_world = world if callable(world) else partial(_same, world)
    if type(make_world()) is not model.world:
        raise InputError(f"model {model.name} runs on {model.world.__name__}, got {type(make_world()).__name__}")
    for label, reason in (allow or {}).items():
        if not reason.strip():
            raise InputError(f"allow {label!r} needs a reason")
    say = tell or (lambda text: None)
    say("compiling")
    try:
        access_of(model)
        Simulation(model, make_world(), seed=seed, audit=True)  # another loop, compiled before time counts
    except CompileError as error:
        return Report(model.name, seed, (Verdict("compiles", "finding", str(error)),))
    trial = Trial(
        model, make_world, seed, events, min(events, SHORT_EVENTS), time.perf_counter() + seconds, allow or {}, say
    )
    return Report(
        model.name, seed, (Verdict("compiles", "pass", "and no pure function writes"), *_verdicts(trial, seconds))
    )


def _same(world: World) -> World:
    return world


Check = Callable[[], Verdict]


def _verdicts(trial: Trial, seconds: float) -> Iterator[Verdict]:
    yield _asked(trial, "lints", partial(check_lints, trial))
    methods = trial.methods()
    for method in methods:
        share = AUDIT_SHARE * seconds / len(methods)
        yield _asked(trial, f"audit, {method}", partial(check_audit, trial, method, share))
    for method in methods:
        name = f"compiled = interpreted, {method}"
        yield _asked(trial, name, partial(check_interpreted, trial, method, SHORT_SHARE * seconds))
    yield from _of_one_run(trial, seconds)
    yield _asked(trial, "extreme parameters", partial(check_extremes, trial, 2 * SHORT_SHARE * seconds))


def _of_one_run(trial: Trial, seconds: float) -> Iterator[Verdict]:
    """Yield the verdicts of the checks that start from one short run."""
    base, name = trial.simulation(), "run"
    try:
        run_for(base, trial.n_short, SHORT_SHARE * seconds)
    except SimulationError as error:
        yield failed(name, error)
        return
    if not base.n_events:
        yield Verdict(name, "skipped", "nothing happens in this world, so runs cannot be compared")
        return
    checks: dict[str, Check] = {
        "rerun": partial(check_rerun, trial, base),
        "slices": partial(check_slices, trial, base),
        **{way: partial(check_continued, trial, base, way) for way in CONTINUED},
        "recordings": partial(check_recordings, trial, base),
        "time advances": partial(check_time, trial, base, SHORT_SHARE * seconds),
        "numbers": partial(check_numbers, trial, base),
        "references": partial(check_references, trial, base),
    }
    if grids_of(base.world):
        checks["grids"] = partial(check_grids, trial, base)
    for name, one in checks.items():
        yield _asked(trial, name, one)


def _asked(trial: Trial, name: str, one: Check) -> Verdict:
    trial.tell(name)
    try:
        return one()
    except SimulationError as error:
        return failed(name, error)
