"""Graphs as SVG: what is read, what happens, what is written and touched, in three columns.

The layout is by rule (order of declaration, fixed spacing), so the same graph gives the same
bytes. Every curve has a title that says what it means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from tocsin.check._graph import Edge, ModelGraph, Node

LINE, PAD, GAP, TOP = 17, 7, 14, 64
CHAR, LEAST = 7.4, 130.0
"""Pixels: height of a line of text, padding of a box, space between boxes, above the boxes; width of a letter and of the narrowest box."""
SPAN = 230
"""Pixels between two columns, for the curves."""
_COLOURS = ("#2a6f97", "#b23a48", "#3d7a3e", "#8a4fae", "#b4690e", "#1b7f86", "#a23b72", "#5b5b5b")
_FILLS = {"entity": "#eef3f7", "scalars": "#eef3f7", "array": "#eef3f7", "params": "#f4f0e6", "part": "#eef3f7", "action": "#fdf1e7",
          "system": "#fbe6ef",
          "observable": "#eef5ea"}  # fmt: skip
_STYLES = {
    "asks": 'stroke-width="1.6"', "reads": 'stroke-width="1" stroke-dasharray="3 4" opacity="0.55"',
    "writes": 'stroke-width="2.6"', "touches": 'stroke-width="1.4" stroke-dasharray="1 3" stroke-linecap="round"',
}  # fmt: skip
LEGEND = "lines: read by rate, schedule or value; dashed: read by fire; thick: written by fire; dotted: touched, and so asked again"
_VERBS = {"asks": "reads", "reads": "reads", "writes": "writes", "touches": "touches"}


@dataclass(frozen=True)
class _Box:
    """A node in its place: left and upper edge, width, and its lines of text from above."""

    node: Node
    x: float
    y: float
    width: float
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        return len(self.lines) * LINE + 2 * PAD

    def port(self, field: str) -> float:
        """Return the height at which a field stands; the title's for what is no field."""
        row = self.lines.index(field) if field in self.lines else 0
        return self.y + PAD + (row + 0.5) * LINE


def to_svg(graph: ModelGraph) -> str:
    """Return a drawing of a graph, as a whole file."""
    left, middle, right = _columns(graph)
    boxes = [*left.values(), *middle.values(), *right.values()]
    width = max(640.0, *(box.x + box.width + 20 for box in boxes))
    height = max(box.y + box.height for box in boxes) + 44
    colours = {node: _COLOURS[n % len(_COLOURS)] for n, node in enumerate(graph.members)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
        f'<text x="20" y="26" font-size="16" font-weight="bold">{escape(graph.name)}</text>',
        *_heads(left, middle, right),
    ]
    for edge in sorted(graph.edges, key=lambda edge: edge.kind != "reads"):
        ends = left if edge.kind in ("asks", "reads") else right
        parts += _curves(edge, ends[edge.state], middle[edge.member], colours[edge.member])
    parts += _waits(graph, middle)
    parts += [line for box in boxes for line in _drawn(box, colours.get(box.node, "#888"))]
    parts += [_ring(right[edge.state], colours[edge.member]) for edge in graph.of("touches")]
    parts.append(f'<text x="20" y="{height - 14:.0f}" font-size="11" fill="#666">{escape(LEGEND)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _columns(graph: ModelGraph) -> tuple[dict[Node, _Box], dict[Node, _Box], dict[Node, _Box]]:
    """Return the boxes of what is read, of the members, and of what is written or touched."""
    is_read = _used(graph, "asks", "reads")
    is_changed = _used(graph, "writes", "touches")
    left = _stack([(n, (_name(n), *is_read[n])) for n in graph.state if n in is_read], 20)
    stage = {name: f", stage {number}" for number, names in enumerate(graph.stages, 1) for name in names}
    middle = _stack(
        [(n, (_name(n), f"of {n.key or 'the world'}{stage.get(n.name, '')}")) for n in graph.members],
        _end(left, 20) + SPAN,
    )
    changed = [(n, (_name(n), *is_changed[n])) for n in graph.state if n in is_changed]
    right = _stack(changed, _end(middle, 20) + SPAN)
    tallest = max(_bottom(column) for column in (left, middle, right))
    return _centred(left, tallest), _centred(middle, tallest), _centred(right, tallest)


def _used(graph: ModelGraph, *kinds: str) -> dict[Node, list[str]]:
    """Return the fields that edges of some kinds name, by part of the world, in order of name."""
    found: dict[Node, set[str]] = {}
    for edge in graph.edges:
        if edge.kind in kinds:
            found.setdefault(edge.state, set()).update(edge.fields)
    return {name: sorted(fields) for name, fields in found.items()}


def _stack(rows: list[tuple[Node, tuple[str, ...]]], x: float) -> dict[Node, _Box]:
    width = max((len(line) * CHAR + 2 * PAD + 6 for _, lines in rows for line in lines), default=0.0)
    width = max(width, LEAST)
    found, y = dict[Node, _Box](), float(TOP)
    for node, lines in rows:
        found[node] = box = _Box(node, x, y, width, lines)
        y += box.height + GAP
    return found


def _end(column: dict[Node, _Box], start: float) -> float:
    return max((box.x + box.width for box in column.values()), default=start)


def _bottom(column: dict[Node, _Box]) -> float:
    return max((box.y + box.height for box in column.values()), default=0.0)


def _centred(column: dict[Node, _Box], tallest: float) -> dict[Node, _Box]:
    down = (tallest - _bottom(column)) / 2 if column else 0.0
    return {name: _Box(box.node, box.x, box.y + down, box.width, box.lines) for name, box in column.items()}


def _name(node: Node) -> str:
    return f"{node.name}[]" if node.kind == "array" else node.name


def _heads(*columns: dict[Node, _Box]) -> Iterator[str]:
    for column, head in zip(columns, ("is read", "happens, is observed", "is written, touched"), strict=True):
        if column:
            x = next(iter(column.values())).x
            yield f'<text x="{x:.0f}" y="{TOP - 14}" fill="#666">{head}</text>'


def _curves(edge: Edge, state: _Box, member: _Box, colour: str) -> Iterator[str]:
    """Yield a curve for each field of an edge."""
    asked = member.node.asked if edge.kind == "asks" else member.node.method
    is_read = edge.kind in ("asks", "reads")
    for field in edge.fields or ("",):
        x0, x1 = (state.x + state.width, member.x) if is_read else (member.x + member.width, state.x)
        y0, y1 = state.port(field), member.y + PAD + (0.5 if edge.kind != "reads" else 1.5) * LINE
        y0, y1 = (y0, y1) if is_read else (y1, y0)
        bend = (x1 - x0) / 2
        what = escape(
            f"{member.node.name}.{asked} {_VERBS[edge.kind]} {edge.state.name}" + (f".{field}" if field else "")
        )
        yield (
            f'<path d="M{x0:.1f} {y0:.1f}C{x0 + bend:.1f} {y0:.1f} {x1 - bend:.1f} {y1:.1f} {x1:.1f} {y1:.1f}" '
            f'fill="none" stroke="{colour}" {_STYLES[edge.kind]}><title>{what}</title></path>'
        )


def _waits(graph: ModelGraph, middle: dict[Node, _Box]) -> Iterator[str]:
    """Yield an arc on the right of the systems for each that waits for another."""
    for wait in graph.waits:
        first, second = (middle[graph.node(name)] for name in (wait.first, wait.second))
        x, y0, y1 = first.x + first.width, first.port("") + 1.5 * LINE, second.port("")
        bend = 16 + 0.12 * (y1 - y0)
        what = escape(f"{wait.second} waits for {wait.first}: {wait.causes}")
        yield (
            f'<path d="M{x:.1f} {y0:.1f}C{x + bend:.1f} {y0:.1f} {x + bend:.1f} {y1:.1f} {x:.1f} {y1:.1f}" '
            f'fill="none" stroke="#333" stroke-width="1.4"><title>{what}</title></path>'
            f'<circle cx="{x:.1f}" cy="{y1:.1f}" r="2.5" fill="#333"/>'
        )


def _ring(box: _Box, colour: str) -> str:
    """Return the mark of a touch."""
    return f'<circle cx="{box.x:.1f}" cy="{box.port(""):.1f}" r="3.5" fill="white" stroke="{colour}"/>'


def _drawn(box: _Box, colour: str) -> Iterator[str]:
    radius = 3 if box.node.is_state else 12
    yield (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{radius}" '
        f'fill="{_FILLS[box.node.kind]}" stroke="{colour}"/>'
    )
    for row, line in enumerate(box.lines):
        weight = ' font-weight="bold"' if row == 0 else ' fill="#444"'
        y = box.y + PAD + (row + 0.75) * LINE
        yield f'<text x="{box.x + PAD + 2:.1f}" y="{y:.1f}"{weight}>{escape(line)}</text>'
