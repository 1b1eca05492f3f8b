"""One self-contained page of a run: figures, retention, flows, distributions, milestones, findings, answers.

No script, no font and no picture from elsewhere, and no time stamp: the same run gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from tocsin.models.economy.compare import Answer, Point
from tocsin.models.economy.detect import findings
from tocsin.models.economy.pictures import funnel, heat, histogram, lines, sankey, shade, short
from tocsin.models.economy.result import EconomyResult
from tocsin.models.economy.sandtable.run import SandtableResult

_STYLE = (
    "body{font:14px system-ui,sans-serif;margin:2em auto;max-width:1180px;color:#222}table{border-collapse:collapse;margin:.5em 0}"
    "td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:right}td:first-child,th:first-child,td.t{text-align:left}"
    "section{display:flex;flex-wrap:wrap;gap:1em}h2{margin-top:1.6em;border-bottom:2px solid #0b6e99}"
)
_COLOURS = {"PASS": "#2e8b57", "BORDERLINE": "#c28a1a", "FAIL": "#b23a48", "error": "#777"}


def html_report(
    result: EconomyResult | SandtableResult, title: str, facts: Mapping[str, Any], answers: Sequence[Answer] = (),
    points: Sequence[Point] = (),
) -> str:  # fmt: skip
    """Return the page of a run, with a comparison and a grid if there are any."""
    parts = [table([{"what": k, "value": v} for k, v in facts.items()])]
    found = findings(result)
    parts.append("<h2>Findings</h2>")
    rows = [{"kind": f.kind, "of": f.subject, "from day": f.day, "evidence": f.evidence} for f in found]
    parts.append(table(rows) if rows else "<p>The detectors find nothing.</p>")
    if isinstance(result, EconomyResult):
        parts += _economy(result)
    else:
        parts += _sandtable(result)
    if answers:
        parts += ["<h2>Comparison, B minus A, paired</h2>", table([answer_row(a) for a in answers])]
    parts += _grid(points)
    parts += ["<h2>Figures</h2>", table([{"figure": k, "value": v} for k, v in result.summary().items()])]
    return _page(title, parts)


def _economy(result: EconomyResult) -> list[str]:
    days = result.day_rows()
    parts = ["<h2>Retention and activity</h2><section>"]
    parts.append(lines("Retention by days since installation", {"retention": [(r["day"], r["retention"]) for r in result.retention()]},
                       "days", 1.0))  # fmt: skip
    parts.append(
        lines("Players a day", {k: [(r["day"], r[k]) for r in days] for k in ("active", "alive", "installs")}, "day")
    )
    if any(r["revenue"] for r in days):
        parts.append(lines("Revenue a day", {"revenue": [(r["day"], r["revenue"]) for r in days]}, "day"))
    parts.append("</section><h2>Sources and sinks</h2><section>")
    flows = result.flow_rows()
    for name in result.plan.stocks:
        sides = [[(r["by"], float(r["amount"])) for r in flows if r["resource"] == name and r["kind"] == kind and r["amount"] > 0]
                 for kind in ("source", "sink")]  # fmt: skip
        parts.append(sankey(name, *sides))
    parts.append("</section><h2>What players hold</h2><section>")
    spread = result.distribution_rows()
    for name in result.plan.stocks:
        mine = [r for r in spread if r["resource"] == name]
        parts.append(lines(name, {q: [(r["day"], r[q]) for r in mine] for q in ("p10", "p50", "p90")}, "day"))
        sketch = result.sketch(name)
        parts.append(histogram(f"{name} on day {result.n_days}", sketch.values().tolist(), sketch.counts.tolist()))
    parts.append("</section>")
    parts.append(table([r for r in spread if r["day"] == result.n_days]))
    return [*parts, *_progress(result), *_markets(result), "<h2>Personas</h2>", table(result.persona_rows())]


def _progress(result: EconomyResult) -> list[str]:
    """Return milestones, as a funnel and over time, and loot targets."""
    parts: list[str] = []
    rows = result.milestone_rows()
    if rows:
        installs = int(result.summary()["installs"])
        steps = sorted(((r["milestone"], r["reached"]) for r in rows), key=lambda step: -step[1])
        over_time = {
            name: [(age, sum(given[: age + 1]) / max(installs, 1)) for age in range(result.n_days)]
            for name, given in zip((r["milestone"] for r in rows), result.counts["reached"].tolist(), strict=False)
        }
        parts += ["<h2>Milestones</h2><section>", funnel("How many get how far", [("installed", installs), *steps]),
                  lines("Share who met it, by days since installation", over_time, "days", 1.0), "</section>", table(rows)]  # fmt: skip
    targets = result.target_rows()
    return [*parts, "<h2>Loot targets</h2>", table(targets)] if targets else parts


def _markets(result: EconomyResult) -> list[str]:
    parts: list[str] = []
    for name in result.plan.design.markets:
        mine = [r for r in result.market_rows() if r["market"] == name]
        prices = {"mean price": [(r["day"], r["price_mean"]) for r in mine if r["price_mean"] is not None],
                  "last price": [(r["day"], r["price_last"]) for r in mine]}  # fmt: skip
        amounts = {key: [(r["day"], r[key]) for r in mine] for key in ("units", "offered")}
        parts += [f"<h2>Market: {escape(name)}</h2><section>", lines("Price of one", prices, "day"),
                  lines("Sold, and left on offer at the end of the day", amounts, "day"), "</section>"]  # fmt: skip
    return parts


def _sandtable(result: SandtableResult) -> list[str]:
    days = result.day_rows()
    return ["<h2>Days</h2><section>", *(
        lines(key, {key: [(r["day"], r[key]) for r in days]}, "day")
        for key in ("active", "win_rate", "gold_supply", "sink_ratio", "mean_power", "levelups")
    ), "</section>"]  # fmt: skip


def answer_row(answer: Answer) -> dict[str, Any]:
    """Return a comparison as a row of a table."""
    d = answer.difference
    return {
        "metric": answer.metric, "A": d.a.mean, "B": d.b.mean, "B - A": d.difference.mean, "low": d.difference.low,
        "high": d.difference.high, "p (Holm)": answer.adjusted, "result": answer.saying, "A target": answer.a_verdict,
        "B target": answer.b_verdict, "note": answer.note,
    }  # fmt: skip


def grid_page(
    title: str, facts: Mapping[str, Any], points: Sequence[Point], more: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return the page of a sweep: maps, and every point; `more` is a table of what is recommended."""
    region = ["<h2>Recommended</h2>", table(more)] if more else []
    return _page(title, [table([{"what": k, "value": v} for k, v in facts.items()]), *region, *_grid(points)])


def _page(title: str, parts: Sequence[str]) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>\n"
    )


def _grid(points: Sequence[Point]) -> list[str]:
    if not points:
        return []
    paths = list(points[0].values)
    rows = [
        {**p.values, **{m: i.mean for m, i in p.intervals.items()}, "verdict": _worst(p), "error": p.error}
        for p in points
    ]
    pictures = _maps(points, paths) if len(paths) == 2 else _curves(points, paths[0]) if len(paths) == 1 else []
    return ["<h2>Grid</h2><section>", *pictures, "</section>", table(rows)]


def _maps(points: Sequence[Point], paths: Sequence[str]) -> list[str]:
    """Return a map of verdicts over two axes, and one of each metric."""
    axes = [sorted({p.values[path] for p in points}, key=lambda v: (str(type(v)), v)) for path in paths]
    places = {(axes[0].index(p.values[paths[0]]), axes[1].index(p.values[paths[1]])): p for p in points}
    across, down = ([_cell(v) for v in axis] for axis in axes)
    label = f"{paths[0]} (across) and {paths[1]}"
    verdicts = {place: _worst(p) for place, p in places.items()}
    found = [heat(f"Verdict by {label}", across, down, {k: _COLOURS[v] for k, v in verdicts.items()}, verdicts)]
    for metric in next((p.intervals for p in points if p.intervals), {}):
        means = {place: p.intervals[metric].mean for place, p in places.items() if metric in p.intervals}
        low, high = min(means.values()), max(means.values())
        colours = {place: shade(mean, low, high) for place, mean in means.items()}
        found.append(heat(f"{metric} by {label}", across, down, colours, {k: short(v) for k, v in means.items()}))
    return found


def _curves(points: Sequence[Point], path: str) -> list[str]:
    """Return each metric over one axis, with the ends of its interval."""
    good = [p for p in points if not p.error and isinstance(p.values[path], int | float)]
    found = []
    for metric in good[0].intervals if good else {}:
        at = [(float(p.values[path]), p.intervals[metric]) for p in sorted(good, key=lambda p: float(p.values[path]))]
        series = {"mean": [(x, i.mean) for x, i in at],
                  "low": [(x, i.low) for x, i in at if i.n > 1], "high": [(x, i.high) for x, i in at if i.n > 1]}  # fmt: skip
        found.append(lines(metric, series, path))
    return found


def _worst(point: Point) -> str:
    if point.error:
        return "error"
    return next((v for v in ("FAIL", "BORDERLINE") if v in point.verdicts.values()), "PASS")


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as an HTML table."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(str(k))}</th>" for k in rows[0])
    body = "".join(
        "<tr>"
        + "".join(f"<td{' class=t' if isinstance(v, str) else ''}>{escape(_cell(v))}</td>" for v in row.values())
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
