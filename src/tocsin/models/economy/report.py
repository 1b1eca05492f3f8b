"""One self-contained page of a run: figures, retention, flows, distributions, milestones, findings, answers.

No script, no font and no picture from elsewhere, and no time stamp: the same run gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from tocsin.models.economy.compare import Answer, Point
from tocsin.models.economy.detect import findings
from tocsin.models.economy.pictures import heat, lines, sankey
from tocsin.models.economy.result import EconomyResult
from tocsin.models.economy.sandtable.run import SandtableResult

_STYLE = (
    "body{font:14px system-ui,sans-serif;margin:2em auto;max-width:1180px;color:#222}table{border-collapse:collapse;margin:.5em 0}"
    "td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:right}td:first-child,th:first-child{text-align:left}"
    "section{display:flex;flex-wrap:wrap;gap:1em}h2{margin-top:1.6em;border-bottom:2px solid #0b6e99}"
)
_COLOURS = {"PASS": "#2e8b57", "BORDERLINE": "#c28a1a", "FAIL": "#b23a48", "error": "#777"}


def html_report(
    result: EconomyResult | SandtableResult, title: str, facts: Mapping[str, Any], answers: Sequence[Answer] = (),
    points: Sequence[Point] = (),
) -> str:  # fmt: skip
    """Return the page of a run, with a comparison and a grid if there are any."""
    parts = [f"<h1>{escape(title)}</h1>", table([{"what": k, "value": v} for k, v in facts.items()])]
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
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _economy(result: EconomyResult) -> list[str]:
    days = result.day_rows()
    parts = ["<h2>Retention and activity</h2><section>"]
    parts.append(lines("Retention by days since installation", {"retention": [(r["day"], r["retention"]) for r in result.retention()]},
                       "days", 1.0))  # fmt: skip
    parts.append(
        lines("Players a day", {k: [(r["day"], r[k]) for r in days] for k in ("active", "alive", "installs")}, "day")
    )
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
    parts.append("</section>")
    parts.append(table([r for r in spread if r["day"] == result.n_days]))
    if result.plan.design.milestones:
        parts += ["<h2>Milestones</h2>", table(result.milestone_rows())]
    parts += ["<h2>Personas</h2>", table(result.persona_rows())]
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


def _grid(points: Sequence[Point]) -> list[str]:
    if not points:
        return []
    paths = list(points[0].values)
    rows = [
        {**p.values, **{m: i.mean for m, i in p.intervals.items()}, "verdict": _worst(p), "error": p.error}
        for p in points
    ]
    parts = ["<h2>Grid</h2>"]
    if len(paths) == 2:
        axes = [sorted({str(p.values[path]) for p in points}, key=lambda s: (len(s), s)) for path in paths]
        places = {
            (axes[0].index(str(p.values[paths[0]])), axes[1].index(str(p.values[paths[1]]))): _worst(p) for p in points
        }
        parts.append(
            heat(
                f"{paths[0]} (across) and {paths[1]}",
                axes[0],
                axes[1],
                {k: _COLOURS[v] for k, v in places.items()},
                places,
            )
        )
    return [*parts, table(rows)]


def _worst(point: Point) -> str:
    if point.error:
        return "error"
    return next((v for v in ("FAIL", "BORDERLINE") if v in point.verdicts.values()), "PASS")


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as an HTML table."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(str(k))}</th>" for k in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(_cell(v))}</td>" for v in row.values()) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
