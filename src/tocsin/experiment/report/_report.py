"""What a report says of an experiment, part by part."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tocsin.experiment._goals import parse_constraint, parse_goal
from tocsin.experiment._results import Results, read_plan
from tocsin.experiment._store import Store, write_file
from tocsin.experiment.report import _figures as figures
from tocsin.experiment.report._drawing import Picture
from tocsin.experiment.report._page import note, page, pictures, table, verbatim

MOST_ROWS = 24
MOST_METRICS = 4
MOST_MAPS = 6
MOST_AXES = 9
_PROVENANCE = (
    "command", "executor", "tocsin", "python", "packages", "platform", "machine", "plan_hash", "model_hash", "seed",
    "started", "ended",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Report:
    """A page, and the pictures in it."""

    html: str
    pictures: tuple[Picture, ...]

    def write(self, path: str | Path) -> None:
        """Write the page whole. Raises OutputError."""
        write_file(Path(path), lambda file: file.write_text(self.html, encoding="utf-8"))

    def write_figures(self, folder: str | Path) -> list[Path]:
        """Write each picture as SVG and as PNG; return the files. Raises OutputError."""
        written = []
        for picture in self.pictures:
            for ending, content in (("svg", picture.svg()), ("png", picture.png())):
                path = Path(folder) / f"{_file_name(picture.name)}.{ending}"
                write_file(path, lambda file, content=content: file.write_bytes(content))  # type: ignore[misc]
                written.append(path)
        return written


def report(folder: str | Path, metrics: Sequence[str] = ()) -> Report:
    """Return the report of an experiment, running or done: a sweep, a search, a calibration or a sensitivity.

    Parameters
    ----------
    folder : of its store
    metrics : what is shown; by default its targets or goals, or the first time averages

    The page is the same, byte for byte, for the same folder. Raises InputError: no experiment, an unknown metric,
    Matplotlib missing.
    """
    return _Maker(Path(folder), metrics).made()


class _Maker:
    """Gathers the parts of one report."""

    def __init__(self, folder: Path, metrics: Sequence[str]) -> None:
        store = Store(folder)
        self._facts, self._plan, self._results = store.manifest(), read_plan(store), Results.load(folder)
        self._outcome: dict[str, Any] = self._facts.get("outcome") or {}
        self._metrics = list(metrics) or self._own_metrics()
        for metric in self._metrics:
            self._results.column(metric)
        self._pictures: list[Picture] = []

    def made(self) -> Report:
        """Put the parts together."""
        f, results = self._facts, self._results
        failed = results.failures().num_rows
        subtitle = (
            f"{f.get('kind', 'sweep')} of {f.get('model')}: {self._plan.num_rows:,} candidates, {len(results):,} runs, "
            f"{failed:,} failed, {f.get('state', 'state unknown')}"
        )
        parts = [(name, content) for name, content in self._parts() if content]
        return Report(page(f"{f.get('name')}", subtitle, parts), tuple(self._pictures))

    def _parts(self) -> Iterator[tuple[str, str]]:
        results = self._results
        axes = [] if self._outcome.get("method") == "local" else self._varied()  # it looks at a cross, not at a plane
        yield "Best designs", self._best()
        yield "Sensitivity", self._sensitivity()
        yield "Posterior", self._posterior()
        yield "Plan", self._plan_part()
        if len(results):
            yield "Means", "".join(self._means(metric) for metric in self._metrics)
            yield "Convergence of intervals", self._shown(figures.convergence(results, m) for m in self._metrics)
            yield "Main effects", self._shown(figures.main_effects(results, m, axes) for m in self._metrics)
            pairs = list(itertools.combinations(axes[:4], 2))
            maps = (figures.response_map(results, m, x, y) for m in self._metrics for x, y in pairs)
            yield "Response maps", self._shown(itertools.islice((found for found in maps if found), MOST_MAPS))
        yield "Failures", self._failures()
        yield "Provenance", self._provenance()

    def _shown(self, found: Any) -> str:
        kept = [picture for picture in found if picture is not None]
        self._pictures += kept
        return pictures(kept) if kept else ""

    def _own_metrics(self) -> list[str]:
        """Return the metrics that the experiment was about."""
        known, settings = self._results.metrics, self._facts.get("settings", {})
        named = [*self._results.targets, *self._outcome.get("indices", {})]
        named += [m for f in self._outcome.get("finalists", ())[:1] for m in f["metrics"]]
        named += settings.get("data", {}) if isinstance(settings.get("data"), Mapping) else []
        found = [m for m in dict.fromkeys(named) if m in known]
        return found or ([m for m in known if m.endswith(".mean")] or known)[:MOST_METRICS]

    def _varied(self) -> list[str]:
        """Return the axes that have more than one value."""
        values = list(self._results.candidate_values().values())
        several = [n for k, n in enumerate(self._results.axes) if len({str(v[k]) for v in values}) > 1]
        return several[:MOST_AXES]

    def _plan_part(self) -> str:
        head, rows = [*self._plan.column_names], [tuple(r.values()) for r in self._plan.slice(0, MOST_ROWS).to_pylist()]
        if all(row[-1] is None for row in rows):
            head, rows = head[:-1], [row[:-1] for row in rows]
        f = self._facts
        stated = {
            k: f[k] for k in ("design", "replicates", "targets", "paired", "confidence") if f.get(k) not in (None, [])
        }
        stated |= {k: v for k, v in f.get("settings", {}).items() if k not in ("axes", "observed", "data")}
        left = self._plan.num_rows - len(rows)
        more = note(f"... and {left:,} more candidates: plan.parquet has them all.") if left > 0 else ""
        return table([(k, _text(v)) for k, v in stated.items()], ("", "")) + table(rows, head) + more

    def _means(self, metric: str) -> str:
        seen = sorted(self._results.intervals(metric).items(), key=lambda item: -item[1].estimate)
        values, level = self._results.candidate_values(), f"± ({100 * self._results.confidence:g} %)"
        shown = [item for item in seen if item[1].n][:10]
        shown += [item for item in seen if item[1].n][10:][-5:]
        rows = [(c, *values[c], i.estimate, i.half_width, i.n) for c, i in shown]
        more = len([1 for _, i in seen if i.n]) - len(rows)
        tail = note(f"The highest and the lowest of {len(seen):,} candidates.") if more > 0 else ""
        return table(rows, ("candidate", *self._results.axes, metric, level, "runs")) + tail

    def _best(self) -> str:
        found = self._outcome.get("finalists", ())
        if not found:
            return ""
        goals, constraints = self._outcome["goals"], self._outcome["constraints"]
        named = list(found[0]["metrics"])
        rows = [
            (f["candidate"], *f["values"].values(),
             *(v for m in named for v in (f["metrics"][m]["estimate"], _half(f["metrics"][m]))),
             "yes" if f["is_feasible"] else "no")
            for f in found
        ]  # fmt: skip
        head = ("candidate", *found[0]["values"], *(t for m in named for t in (m, "±")), "keeps constraints")
        text = f"{'; '.join(goals)}{', with ' if constraints else ''}{'; '.join(constraints)}. "
        text += "Finalists ran again with seeds that the search had not seen; the intervals are of those runs, and hold all together."
        return note(text) + table(rows, head) + self._shown(self._histories(goals))

    def _histories(self, goals: Sequence[str]) -> Iterator[Picture]:
        """Yield the means of the search, goal by goal; what breaks a constraint is not the best so far."""
        import numpy as np

        kept = np.ones(self._plan.num_rows, bool)
        for text in self._outcome["constraints"]:
            constraint = parse_constraint(text, "report")
            kept &= [constraint.violation(mean) <= 0.0 for mean in self._searched(constraint.metric)]
        for goal in (parse_goal(text, "report") for text in goals):
            yield figures.history(self._searched(goal.metric), kept, goal.is_max, goal.metric)

    def _searched(self, metric: str) -> Any:
        """Return the mean of each candidate over the runs of the search, float64."""
        import numpy as np

        candidates, replicates = (np.asarray(self._results.table.column(n)) for n in ("candidate", "replicate"))
        is_own = replicates < int(self._facts["settings"]["replicates"])
        sums, counts = (
            np.bincount(candidates[is_own], weights, minlength=self._plan.num_rows)
            for weights in (self._results.column(metric)[is_own], None)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            return sums / counts

    def _sensitivity(self) -> str:
        found, method = self._outcome.get("indices", {}), self._outcome.get("method", "")
        return self._shown(figures.sensitivity_bars(method, metric, own) for metric, own in found.items())

    def _posterior(self) -> str:
        if "weights" not in self._outcome:
            return ""
        head = ("generation", "tolerance", "points", "effective size")
        rows = [(n, *step.values()) for n, step in enumerate(self._outcome["generations"])]
        return self._shown([figures.posterior(self._outcome)]) + table(rows, head)

    def _failures(self) -> str:
        rows = self._results.failures().slice(0, MOST_ROWS).to_pylist()
        lines = [(r["candidate"], r["replicate"], str(r["seed"]), r["stop"], r["error"]) for r in rows]
        parts = [note(text, is_bad=True) for text in self._results.damaged]
        left = self._results.failures().num_rows - len(rows)
        parts += [table(lines, ("candidate", "replicate", "seed", "stop", "error"))] if lines else []
        parts += [note(f"... and {left:,} more.")] if left > 0 else []
        return "".join(parts)

    def _provenance(self) -> str:
        f = self._facts
        rows = [(key, _text(f[key])) for key in _PROVENANCE if f.get(key) is not None]
        rows.append(("results_hash", self._results.hash()))
        return table(rows, ("", "")) + verbatim(json.dumps(f.get("scenario"), indent=1, ensure_ascii=False))


def _half(interval: Mapping[str, Any]) -> float | None:
    low, high = interval.get("low"), interval.get("high")
    return None if low is None or high is None else (high - low) / 2.0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
