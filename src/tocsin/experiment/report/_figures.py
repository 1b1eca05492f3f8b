"""The figures of a report, each from plain arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tocsin.experiment._intervals import mean_interval, t_quantile
from tocsin.experiment._results import Results
from tocsin.experiment.report._drawing import COLOURS, Picture, drawn, short

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_LINES = 8
"""Candidates whose intervals are followed in one figure."""
MOST_POINTS = 500
"""Points up to which a cloud is drawn point by point, and not as a bitmap."""
MOST_LEVELS = 12
"""Values up to which an axis is a row of levels, and not a range."""


def convergence(results: Results, metric: str) -> Picture | None:
    """Draw the half-width of the interval of a metric against the number of replicates."""
    import numpy as np

    runs = {c: results.of(c, metric) for c in results.candidate_values()}
    long = [c for c, x in runs.items() if len(x) > 2]
    if not long:
        return None
    chosen = [long[round(k * (len(long) - 1) / (MOST_LINES - 1))] for k in range(MOST_LINES)]
    with drawn(width=4.4) as (figure, (axis,)):
        for n, c in enumerate(dict.fromkeys(chosen)):
            widths = _running(runs[c], results.confidence)
            axis.plot(np.arange(2, len(widths) + 2), widths, color=COLOURS[n], label=f"candidate {c}", lw=1.2)
        axis.set(xlabel="replicates", ylabel=f"± ({100 * results.confidence:g} %)", title=metric)
        axis.set_yscale("log" if all((_running(runs[c], 0.95) > 0.0).all() for c in chosen) else "linear")
        axis.legend(ncols=2)
    return Picture(f"convergence-{metric}", f"How the interval of {metric} narrows as replicates are added.", figure)


def _running(x: NDArray[Any], confidence: float) -> NDArray[Any]:
    """Return the half-width of the t interval of the first 2, 3, ... values."""
    import numpy as np

    n = np.arange(1, len(x) + 1)
    centred = x - x[0]  # a shift takes cancellation out of the sums
    spread = np.cumsum(centred**2) - np.cumsum(centred) ** 2 / n
    deviation = np.sqrt(np.maximum(spread[1:], 0.0) / (n[1:] - 1))
    factors = np.array([t_quantile(int(m) - 1, confidence) for m in n[1:]])
    return np.asarray(factors * deviation / np.sqrt(n[1:]))


def main_effects(results: Results, metric: str, axes: Sequence[str]) -> Picture | None:
    """Draw the mean of a metric along each axis, over all values of the others."""
    if not axes:
        return None
    points, means = _means(results, metric)
    columns = min(3, len(axes))
    with drawn(math.ceil(len(axes) / columns), columns) as (figure, plots):
        for plot, name in zip(plots, axes, strict=False):
            _effect(plot, [p[results.axes.index(name)] for p in points], means, results.confidence)
            plot.set(xlabel=short(name), ylabel=metric)
        for plot in plots[len(axes) :]:
            plot.set_visible(False)
    return Picture(f"effects-{metric}", f"Mean of {metric} along each axis, whatever the others are.", figure)


def _effect(plot: Any, values: Sequence[Any], means: NDArray[Any], confidence: float) -> None:
    import numpy as np

    levels = sorted(set(values), key=_order)
    if len(levels) > MOST_LEVELS:
        x = np.array(values, np.float64)
        plot.plot(x, means, ".", color=COLOURS[0], alpha=0.5, ms=3, rasterized=len(x) > MOST_POINTS)
        edges = np.quantile(x, np.linspace(0.0, 1.0, 9))
        groups = [(x >= low) & (x <= high) for low, high in itertools.pairwise(edges)]
        plot.plot([x[g].mean() for g in groups], [means[g].mean() for g in groups], color=COLOURS[1])
        if x.min() > 0 and x.max() / x.min() > 30:
            plot.set_xscale("log")
        return
    found = [mean_interval(means[[v == level for v in values]], confidence) for level in levels]
    is_number = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in levels)
    at = levels if is_number else range(len(levels))
    plot.plot(at, [i.estimate for i in found], "o-", color=COLOURS[0], ms=4)
    if not is_number:
        plot.set_xticks(range(len(levels)), [str(v)[:14] for v in levels])
    elif min(levels) > 0 and max(levels) / min(levels) > 30:
        plot.set_xscale("log")


def response_map(results: Results, metric: str, x: str, y: str) -> Picture | None:
    """Draw the mean of a metric over two axes, over all values of the others; None if they are no numbers."""
    import numpy as np

    points, means = _means(results, metric)
    pairs = [(p[results.axes.index(x)], p[results.axes.index(y)]) for p in points]
    if len(pairs) < 4 or not all(isinstance(v, (int, float)) and math.isfinite(v) for pair in pairs for v in pair):
        return None
    a, b = np.array(pairs, np.float64).T
    columns, rows = np.unique(a), np.unique(b)
    if len(columns) < 2 or len(rows) < 2:
        return None
    with drawn(width=4.4, height=3.4) as (figure, (plot,)):
        if len(set(pairs)) == len(columns) * len(rows):
            table = np.array([[means[(a == u) & (b == v)].mean() for u in columns] for v in rows])
            drawing = plot.pcolormesh(range(len(columns) + 1), range(len(rows) + 1), table, cmap="viridis")
            for set_ticks, levels in ((plot.set_xticks, columns), (plot.set_yticks, rows)):
                step = max(1, len(levels) // 8)
                set_ticks(np.arange(0, len(levels), step) + 0.5, [f"{v:.3g}" for v in levels[::step]])
            plot.grid(visible=False)
        else:
            drawing = plot.scatter(a, b, c=means, cmap="viridis", s=18, rasterized=len(a) > MOST_POINTS)
            for is_log, setter in ((_is_log(a), plot.set_xscale), (_is_log(b), plot.set_yscale)):
                setter("log" if is_log else "linear")
        figure.colorbar(drawing, ax=plot, label=metric)
        plot.set(xlabel=short(x), ylabel=short(y))
    return Picture(f"map-{metric}-{short(x)}-{short(y)}", f"Mean of {metric} over {x} and {y}.", figure)


def sensitivity_bars(method: str, metric: str, indices: Sequence[Mapping[str, Any]]) -> Picture:
    """Draw the indices of one metric, the largest on top."""
    labels = {"local": ("elasticity", ""), "sobol": ("alone", "in all"), "morris": ("mean effect", "spread of effects")}
    ordered = sorted(indices, key=lambda i: abs(i["total" if method == "sobol" else "first"] or 0.0))
    names = [short(i["path"]) for i in ordered]
    parts = ("first",) if method == "local" else ("first", "total")
    with drawn(width=4.8, height=0.7 + 0.34 * len(names) * len(parts)) as (figure, (plot,)):
        for n, part in enumerate(parts):
            at = [k + 0.4 * (n - 0.5 * (len(parts) - 1)) for k in range(len(names))]
            widths = [i[part] or 0.0 for i in ordered]
            errors = [i[f"{part}_half_width"] or 0.0 for i in ordered]
            plot.barh(
                at, widths, 0.36, xerr=errors, color=COLOURS[n], label=labels[method][n], ecolor="#444", capsize=2
            )
        plot.axvline(0.0, color="#444", lw=0.8)
        plot.set_yticks(range(len(names)), names)
        plot.set(xlabel=f"{method} sensitivity of {metric}")
        if len(parts) > 1:
            plot.legend()
    return Picture(
        f"sensitivity-{metric}", f"How much {metric} depends on each axis ({method}), with intervals.", figure
    )


def history(values: NDArray[Any], is_kept: NDArray[Any], is_max: bool, metric: str) -> Picture:
    """Draw the mean of a goal in order of the search, and the best so far of those that keep the constraints."""
    import numpy as np

    best = (np.fmax if is_max else np.fmin).accumulate(np.where(is_kept, values, np.nan))
    with drawn(width=4.4) as (figure, (plot,)):
        for chosen, marker, label in ((is_kept, ".", "candidate"), (~is_kept, "x", "breaks a constraint")):
            if chosen.any():
                plot.plot(
                    np.flatnonzero(chosen), values[chosen], marker, color=COLOURS[0], alpha=0.6, ms=4, label=label
                )
        plot.plot(best, color=COLOURS[1], label="best so far", drawstyle="steps-post")
        plot.set(xlabel="candidate", ylabel=metric)
        plot.legend()
    return Picture(f"history-{metric}", f"{metric} of each candidate in the order of the search.", figure)


def posterior(outcome: Mapping[str, Any]) -> Picture:
    """Draw the posterior of each axis beside its flat prior."""
    import numpy as np

    values, weights = np.array(outcome["values"], np.float64), np.array(outcome["weights"], np.float64)
    names, columns = outcome["axes"], min(3, len(outcome["axes"]))
    with drawn(math.ceil(len(names) / columns), columns) as (figure, plots):
        for k, (plot, name) in enumerate(zip(plots, names, strict=False)):
            low, high, is_log = outcome["ranges"][k]
            edges = np.geomspace(low, high, 25) if is_log else np.linspace(low, high, 25)
            found = np.histogram(values[:, k], edges, weights=weights)[0]
            plot.stairs(found * 24, edges, fill=True, color=COLOURS[0], alpha=0.7, label="posterior")
            plot.stairs(np.ones(24), edges, color="#444", lw=0.8, label="prior")
            plot.set_xscale("log" if is_log else "linear")
            plot.set(xlabel=short(name), ylabel="density / prior")
        plots[0].legend()
        for plot in plots[len(names) :]:
            plot.set_visible(False)
    return Picture("posterior", "The posterior of each axis, as a multiple of its prior.", figure)


def _means(results: Results, metric: str) -> tuple[list[tuple[Any, ...]], NDArray[Any]]:
    """Return the values and the mean of each candidate that has one, in order."""
    import numpy as np

    seen = {c: i.estimate for c, i in results.intervals(metric).items() if i.n > 0}
    values = results.candidate_values()
    return [values[c] for c in seen], np.array(list(seen.values()))


def _is_log(x: NDArray[Any]) -> bool:
    return bool(x.min() > 0 and x.max() / x.min() > 30)


def _order(value: Any) -> tuple[str, Any]:
    return ("", value) if isinstance(value, (int, float)) else ("text", str(value))
