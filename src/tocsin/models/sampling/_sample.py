"""`sample`: from a target to draws, on several chains at a time."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tocsin.errors import InputError, needed
from tocsin.models.sampling._chain import KNOTS, Chain
from tocsin.models.sampling._checkpoint import Files
from tocsin.models.sampling._inference_data import inference_data
from tocsin.models.sampling._work import Work

MOST_NUMBERS = 200_000_000
"""Draws times kept coordinates times chains above which `sample` asks for a smaller `keep`."""


def sample(
    target: Any,
    *,
    draws: int = 1_000,
    chains: int = 4,
    tune: int = 500,
    seed: int = 0,
    sampler: str = "zigzag",
    spacing: float | None = None,
    start: ArrayLike | None = None,
    keep: Sequence[int] | None = None,
    skeleton: bool | None = None,
    threads: int | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
) -> Any:
    """Sample from a target and return an ArviZ InferenceData.

    Parameters
    ----------
    target : Gaussian, LinearRegression, LogisticRegression, PoissonRegression, LogDensity, or a pymc.Model
    draws : draws of each chain, at equal distances of time along its path
    chains : independent chains, each in a thread
    tune : draws before the first that is kept
    seed : whole number >= 0; the same seed gives the same bits, whatever the threads
    sampler : "zigzag", "bouncy", "local-bouncy", "boomerang" or "factorised-boomerang", as the target allows
    spacing : time between draws, in units in which a coordinate crosses its typical standard deviation in one; 1
    start : (d,) or (chains, d), where the chains start; by default near the mode
    keep : coordinates whose draws are kept; all by default
    skeleton : whether to keep the turns of the path; by default for up to 200 coordinates
    threads : threads at work; as many as chains by default
    progress : show a bar on stderr, with R-hat and effective sample sizes as they come
    checkpoint : a folder to which the chains are saved every half minute and at the end. With the same settings
        a later call goes on where they stand, bit for bit, and with more `draws` carries them on

    Returns
    -------
    InferenceData with groups `posterior` (draws), `sample_stats` (events of each kind up to each draw), `path`
    (means and second moments integrated exactly along the path; effective sample sizes by batch means, NaN where
    the run is too short to tell), `skeleton` (time, place and velocity of each turn), and in its attributes
    the sampler and the class of its bounds.

    Raises InputError for what does not fit; warns if the run is too short, or approximate bounds were seen to be broken.
    """
    at_work = 1 if threads is None else threads
    numbers = (
        ("draws", draws, 2),
        ("chains", chains, 1),
        ("tune", tune, 0),
        ("seed", seed, 0),
        ("threads", at_work, 1),
    )
    for label, value, least in numbers:
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise InputError(f"{label} must be a whole number >= {least}, got {value!r}")
    if spacing is not None and not (isinstance(spacing, Real) and 0.0 < spacing < np.inf):
        raise InputError(f"spacing must be > 0 and finite, got {spacing!r}")
    if checkpoint is not None and not isinstance(checkpoint, (str, Path)):
        raise InputError(f"checkpoint must be the path of a folder, got {checkpoint!r}")
    needed("arviz", "sample", "sampling")  # for what it returns: told before the work, not after
    every = 1.0 if spacing is None else float(spacing)
    target = _as_target(target)
    kept = _kept(keep, target.d, draws, chains)
    starts = _starts(target, start, chains, seed)
    is_kept = target.d <= 200 if skeleton is None else skeleton
    made = [_begin(target, sampler, starts[k], chain_seed(seed, k), KNOTS if is_kept else 0) for k in range(chains)]

    work = Work(made, draws, tune * every, every, kept)
    if checkpoint is not None:
        settings = {"target": target.name, "sampler": sampler, "tune": tune, "spacing": every, "keep": kept}
        work.files = Files(checkpoint, made, {**settings, "chains": chains})
    work.run(threads or chains, progress)
    translate = target.posterior if keep is None and hasattr(target, "posterior") else None
    names = [target.names[i] for i in kept]
    found = inference_data(
        made, names, getattr(target, "variable", "x"), _attributes(target, sampler, seed, every), translate
    )
    _warn(found)
    return found


def _as_target(target: Any) -> Any:
    """Return the target itself, or a PyMC model as one. Raises InputError for anything else."""
    if hasattr(target, "samplers"):
        return target
    if type(target).__module__.startswith("pymc."):
        from tocsin.models.sampling.pymc import from_pymc

        return from_pymc(target)
    raise InputError(
        f"target must be a Gaussian, a regression, a LogDensity or a pymc.Model, got {type(target).__name__}"
    )


def chain_seed(seed: int, number: int) -> int:
    """Return the 64-bit seed of one chain."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


def _begin(target: Any, sampler: str, x: Any, seed: int, knots: int) -> Chain:
    if not isinstance(sampler, str) or sampler not in target.samplers:
        raise InputError(f"{target.name} can be sampled by {', '.join(target.samplers)}, got {sampler!r}")
    made: Chain = target.samplers[sampler](target, x, seed, knots=knots)
    return made


def _starts(target: Any, start: ArrayLike | None, chains: int, seed: int) -> Any:
    if start is None:
        return np.stack([target.first_position(np.random.default_rng([seed, k, 7])) for k in range(chains)])
    try:
        given = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"start must be numbers, got {start!r}"[:200]) from None
    if given.shape not in ((target.d,), (chains, target.d)):
        raise InputError(f"start must have shape ({target.d},) or ({chains}, {target.d}), got {given.shape}")
    if not np.isfinite(given).all():
        raise InputError("start must be finite")
    return np.broadcast_to(given, (chains, target.d)).copy()


def _kept(keep: Sequence[int] | None, d: int, draws: int, chains: int) -> list[int]:
    if keep is not None and (isinstance(keep, str) or np.ndim(keep) != 1):
        raise InputError(f"keep must be a list of numbers of coordinates, got {keep!r}"[:200])
    if keep is not None and any(isinstance(k, bool) or not hasattr(k, "__index__") for k in keep):
        raise InputError(f"keep must be numbers of coordinates in 0..{d - 1}, got {list(keep)[:5]}")
    kept = list(range(d)) if keep is None else [int(k) for k in keep]
    if any(not 0 <= k < d for k in kept) or not kept:
        raise InputError(f"keep must name coordinates in 0..{d - 1}, got {list(keep or [])[:5]}")
    if len(set(kept)) < len(kept):
        raise InputError(f"keep must not name a coordinate twice, got {kept[:5]}")
    if len(kept) * draws * chains > MOST_NUMBERS:
        raise InputError(
            f"{chains} chains of {draws} draws of {len(kept)} coordinates are {chains * draws * len(kept):.1e} numbers, and "
            f"{MOST_NUMBERS:.0e} is the most: ask for fewer draws, or keep fewer coordinates, such as keep=[0]"
        )
    return kept


def _attributes(target: Any, sampler: str, seed: int, every: float) -> dict[str, Any]:
    from tocsin import __version__

    return {
        "inference_library": "tocsin", "inference_library_version": __version__, "target": target.name,
        "sampler": sampler, "bounds": target.bounds[sampler], "seed": seed, "spacing": every,
    }  # fmt: skip


def _warn(found: Any) -> None:
    stats = found.sample_stats
    broken = int(stats["n_violations"][:, -1].sum()) if "n_violations" in stats else 0
    if broken:
        warnings.warn(
            f"{broken} rates were seen above their approximate bounds, at {int(stats['n_bounces'][:, -1].sum())} events: the "
            f"draws are not exact. Give `curvature` or `is_log_concave`, or compare with another sampler",
            stacklevel=3,
        )
    has_moved = found.path["sd"].values > 0.0
    short = int((np.isnan(found.path["ess"].values) & has_moved).sum())
    if not has_moved.all():
        warnings.warn(
            f"{(~has_moved).sum()} of {has_moved.size} coordinates never left one point, such as a spike at zero: their "
            f"effective sample size is not known (NaN). If they should have, draw more",
            stacklevel=3,
        )
    if short:
        warnings.warn(
            f"for {short} of {found.path['ess'].size} coordinates even the longest stretches of path are correlated: "
            f"their effective sample size is not known (NaN). Draw more, or space the draws wider",
            stacklevel=3,
        )
