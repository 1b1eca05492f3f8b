"""Plain SVG pictures for reports: lines, bars, and flows from sources to sinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM = 560, 240, 64, 28
COLOURS = ("#0b6e99", "#d1495b", "#edae49", "#2e8b57", "#6c5b9e", "#8c564b", "#444444", "#17a2a2")


def short(value: float) -> str:
    """Return a number in few characters: 1.2M."""
    for limit, sign in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{sign}"
    return f"{value:.3g}"


def lines(
    title: str, series: Mapping[str, Sequence[tuple[float, float]]], x_label: str, top: float | None = None
) -> str:
    """Return a picture of series of points (x, y), y from 0."""
    points = [p for given in series.values() for p in given]
    if not points:
        return ""
    x0, x1 = min(x for x, _ in points), max(x for x, _ in points)
    y1 = top if top is not None else max(max(y for _, y in points), 1e-9)
    wide, high = WIDTH - LEFT - 12, HEIGHT - BOTTOM - 24

    def at(x: float, y: float) -> str:
        return f"{LEFT + wide * (x - x0) / max(x1 - x0, 1e-9):.1f},{24 + high * (1 - min(max(y, 0.0), y1) / y1):.1f}"

    parts = [_axes(title, y1, x0, x1, x_label)]
    for k, (name, given) in enumerate(series.items()):
        colour = COLOURS[k % len(COLOURS)]
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(at(*p) for p in given)}"/>'
        )
        parts.append(
            f'<text x="{LEFT + 8 + 120 * (k % 4)}" y="{36 + 14 * (k // 4)}" fill="{colour}">{escape(name)}</text>'
        )
    return _svg("".join(parts), HEIGHT)


def _axes(title: str, top: float, x0: float, x1: float, label: str) -> str:
    floor_, ends = HEIGHT - BOTTOM, WIDTH - 12
    return (
        f'<text x="{LEFT}" y="14" font-weight="bold">{escape(title)}</text>'
        f'<path d="M{LEFT} 24V{floor_}H{ends}" fill="none" stroke="#888"/>'
        f'<text x="{LEFT - 6}" y="30" text-anchor="end">{short(top)}</text><text x="{LEFT - 6}" y="{floor_}" text-anchor="end">0</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 10}">{short(x0)}</text>'
        f'<text x="{ends}" y="{HEIGHT - 10}" text-anchor="end">{short(x1)} {escape(label)}</text>'
    )


def sankey(resource: str, sources: Sequence[tuple[str, float]], sinks: Sequence[tuple[str, float]]) -> str:
    """Return a picture of what flows into a resource on the left, and out of it on the right; the rest is held."""
    gained, spent = sum(v for _, v in sources), sum(v for _, v in sinks)
    total = max(gained, spent)
    if total <= 0:
        return ""
    right = [*sinks, *([("held at the end", gained - spent)] if gained > spent else [])]
    left = [*sources, *([("held at the start", spent - gained)] if spent > gained else [])]
    high = 40 + 22 * max(len(left), len(right)) + 60
    parts = [f'<text x="8" y="14" font-weight="bold">{escape(resource)}</text>']
    bar = high - 40
    parts.append(f'<rect x="270" y="28" width="20" height="{bar}" fill="#555"/>')
    for flows, is_left in ((left, True), (right, False)):
        y = at = 28.0
        for k, (name, value) in enumerate(flows):
            thick = bar * value / total
            room = bar / max(len(flows), 1)
            middle, end = at + thick / 2, y + room / 2
            x0, x1 = (150, 270) if is_left else (410, 290)
            colour = COLOURS[k % len(COLOURS)]
            parts.append(
                f'<path d="M{x0} {end:.1f}C{(x0 + x1) / 2} {end:.1f} {(x0 + x1) / 2} {middle:.1f} {x1} {middle:.1f}" fill="none" '
                f'stroke="{colour}" stroke-opacity=".5" stroke-width="{max(thick, 1):.1f}"/>'
            )
            anchor, x = ("end", 144) if is_left else ("start", 416)
            parts.append(f'<text x="{x}" y="{end + 4:.1f}" text-anchor="{anchor}">{escape(name)} {short(value)}</text>')
            y, at = y + room, at + thick
    return _svg("".join(parts), high)


def heat(
    title: str,
    xs: Sequence[str],
    ys: Sequence[str],
    colours: Mapping[tuple[int, int], str],
    notes: Mapping[tuple[int, int], str],
) -> str:
    """Return a map of a grid: a colour and a note for each place."""
    cell_w, cell_h = min(90, 420 // max(len(xs), 1)), 26
    parts = [f'<text x="8" y="14" font-weight="bold">{escape(title)}</text>']
    for j, y in enumerate(ys):
        parts.append(f'<text x="122" y="{40 + cell_h * j}" text-anchor="end">{escape(y)}</text>')
        for i, _ in enumerate(xs):
            parts.append(
                f'<rect x="{128 + cell_w * i}" y="{24 + cell_h * j}" width="{cell_w - 2}" height="{cell_h - 2}" fill="{colours.get((i, j), "#ddd")}"/>'
                f'<text x="{130 + cell_w * i}" y="{40 + cell_h * j}" fill="#fff">{escape(notes.get((i, j), ""))}</text>'
            )
    for i, x in enumerate(xs):
        parts.append(f'<text x="{130 + cell_w * i}" y="{40 + cell_h * len(ys)}">{escape(x)}</text>')
    return _svg("".join(parts), 50 + cell_h * len(ys))


def _svg(body: str, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" '
        f'font-family="system-ui,sans-serif" font-size="11" role="img">{body}</svg>'
    )
