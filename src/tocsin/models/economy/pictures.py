"""Plain SVG pictures for reports: lines, bars, and flows from sources to sinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 560, 250, 64, 28, 40
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
    y1 = top if top is not None else (max(y for _, y in points) or 1.0)
    wide, high = WIDTH - LEFT - 12, HEIGHT - BOTTOM - TOP

    def at(x: float, y: float) -> str:
        return f"{LEFT + wide * (x - x0) / max(x1 - x0, 1e-9):.1f},{TOP + high * (1 - min(max(y, 0.0), y1) / y1):.1f}"

    parts = [_axes(title, y1, x0, x1, x_label)]
    for k, (name, given) in enumerate(series.items()):
        colour = COLOURS[k % len(COLOURS)]
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(at(*p) for p in given)}"/>'
        )
        if len(series) > 1:
            x = LEFT + (WIDTH - LEFT) * k // len(series)
            parts.append(f'<text x="{x}" y="30" fill="{colour}">{escape(name)}</text>')
    return _svg("".join(parts), HEIGHT)


def _axes(title: str, top: float, x0: float, x1: float, label: str) -> str:
    floor_, ends = HEIGHT - BOTTOM, WIDTH - 12
    return (
        f'<text x="{LEFT}" y="14" font-weight="bold">{escape(title)}</text>'
        f'<path d="M{LEFT} {TOP}V{floor_}H{ends}" fill="none" stroke="#888"/>'
        f'<text x="{LEFT - 6}" y="{TOP + 6}" text-anchor="end">{short(top)}</text><text x="{LEFT - 6}" y="{floor_}" text-anchor="end">0</text>'
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
    bar = 30.0 + 20.0 * max(len(left), len(right))
    sides = [[(name, value, bar * value / total) for name, value in flows] for flows in (left, right)]
    heights = [sum(max(thick, 14.0) + 4.0 for *_, thick in side) for side in sides]
    high = max(*heights, bar) + 40.0
    top = 24.0 + (high - 40.0 - bar) / 2.0
    parts = [f'<text x="8" y="14" font-weight="bold">{escape(resource)}</text>']
    parts.append(f'<rect x="270" y="{top:.1f}" width="20" height="{bar:.1f}" fill="#555"/>')
    for is_left, side, height in zip((True, False), sides, heights, strict=True):
        at, y = top, 24.0 + (high - 40.0 - height) / 2.0
        x0, x1 = (150, 270) if is_left else (410, 290)
        anchor, x = ("end", 144) if is_left else ("start", 416)
        for k, (name, value, thick) in enumerate(side):
            room = max(thick, 14.0)
            middle, end = at + thick / 2, y + room / 2
            parts.append(
                f'<path d="M{x0} {end:.1f}C{(x0 + x1) / 2} {end:.1f} {(x0 + x1) / 2} {middle:.1f} {x1} {middle:.1f}" fill="none" '
                f'stroke="{COLOURS[k % len(COLOURS)]}" stroke-opacity=".5" stroke-width="{max(thick, 1):.1f}"/>'
                f'<text x="{x}" y="{end + 4:.1f}" text-anchor="{anchor}">{escape(name)} {short(value)}</text>'
            )
            y, at = y + room + 4.0, at + thick
    return _svg("".join(parts), high)


def funnel(title: str, steps: Sequence[tuple[str, int]]) -> str:
    """Return a picture of how many get how far: a bar each, with its share of the first and of the one before."""
    first = max(steps[0][1], 1) if steps else 1
    high, left, wide = 26, 150, WIDTH - 150 - 130
    parts = [f'<text x="8" y="14" font-weight="bold">{escape(title)}</text>']
    before = first
    for k, (name, n) in enumerate(steps):
        y, length = 24 + high * k, max(wide * n / first, 1.0)
        note = f"{n:,} = {n / first:.1%}" + (f", {n / max(before, 1):.0%} of those before" if k > 0 else "")
        parts.append(
            f'<text x="{left - 6}" y="{y + 15}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{high - 6}" fill="{COLOURS[0]}" fill-opacity="{1 - 0.5 * k / len(steps):.2f}"/>'
            + (
                f'<text x="{left + length + 6:.1f}" y="{y + 15}">{note}</text>'
                if length < wide - 60
                else f'<text x="{left + length - 6:.1f}" y="{y + 15}" text-anchor="end" fill="#fff">{note}</text>'
            )
        )
        before = n
    return _svg("".join(parts), 30 + high * max(len(steps), 1))


def histogram(title: str, values: Sequence[float], counts: Sequence[int], n_bins: int = 20) -> str:
    """Return a picture of how many hold how much; the last bar takes in what is beyond 99 % of them."""
    total = sum(counts)
    if not total:
        return ""
    seen, top = 0, 1.0
    for value, n in zip(values, counts, strict=True):
        seen += n
        top = max(value, 1.0)
        if seen >= 0.99 * total:
            break
    bins = [0] * n_bins
    for value, n in zip(values, counts, strict=True):
        bins[min(int(value / top * n_bins * 0.999), n_bins - 1)] += n
    tallest, wide, high = max(bins), (WIDTH - LEFT - 12) / n_bins, HEIGHT - BOTTOM - TOP
    parts = [_axes(title, tallest, 0.0, top, "held, by number of players")]
    for k, n in enumerate(bins):
        h = high * n / tallest
        parts.append(
            f'<rect x="{LEFT + wide * k + 1:.1f}" y="{TOP + high - h:.1f}" width="{wide - 2:.1f}" height="{h:.1f}" fill="{COLOURS[0]}"/>'
        )
    return _svg("".join(parts), HEIGHT)


def shade(value: float, low: float, high: float) -> str:
    """Return a colour between light, for the low end, and dark."""
    share = 0.0 if high <= low else min(max((value - low) / (high - low), 0.0), 1.0)
    light, dark = (158, 196, 214), (11, 78, 110)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(light, dark, strict=True))


def heat(
    title: str,
    xs: Sequence[str],
    ys: Sequence[str],
    colours: Mapping[tuple[int, int], str],
    notes: Mapping[tuple[int, int], str],
) -> str:
    """Return a map of a grid: a colour and a note for each place."""
    cell_w, cell_h = min(90, 420 // max(len(xs), 1)), 26
    is_roomy = cell_w >= 44
    parts = [f'<text x="8" y="14" font-weight="bold">{escape(title)}</text>']
    for j, y in enumerate(ys):
        parts.append(f'<text x="122" y="{40 + cell_h * j}" text-anchor="end">{escape(y)}</text>')
        for i, _ in enumerate(xs):
            parts.append(
                f'<rect x="{128 + cell_w * i}" y="{24 + cell_h * j}" width="{cell_w - 2}" height="{cell_h - 2}" fill="{colours.get((i, j), "#ddd")}"/>'
                f'<text x="{130 + cell_w * i}" y="{40 + cell_h * j}" fill="#fff">{escape(notes.get((i, j), "")) if is_roomy else ""}</text>'
            )
    for i, x in enumerate(xs):
        parts.append(f'<text x="{130 + cell_w * i}" y="{40 + cell_h * len(ys)}">{escape(x)}</text>')
    return _svg("".join(parts), 50 + cell_h * len(ys))


def _svg(body: str, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" '
        f'font-family="system-ui,sans-serif" font-size="11" role="img">{body}</svg>'
    )
