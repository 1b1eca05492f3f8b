"""Graphs as text: Mermaid for Markdown pages, DOT for Graphviz."""

from __future__ import annotations

from collections.abc import Callable

from tocsin.check._graph import Edge, ModelGraph, Node
from tocsin.check._svg import to_svg

_KINDS = {"entity": "", "scalars": "world", "array": "array", "params": "params", "part": "part"}
_MERMAID = {"asks": "-->", "reads": "-.->", "writes": "==>", "touches": "--o"}
_DOT = {
    "asks": 'color="#2a6f97"', "reads": 'color="#8a8a8a", style=dashed',
    "writes": 'color="#b23a48", penwidth=2', "touches": 'color="#e09f3e", arrowhead=odot',
}  # fmt: skip
STAGES = "; between systems: what makes one wait for the other"
LEGEND = "solid: read by rate, schedule or value; dashed: read by fire; thick: written; circle: touched"


def to_mermaid(graph: ModelGraph) -> str:
    """Return a Mermaid flowchart, with the fields on its edges."""
    names = _ids(graph)
    lines = ["flowchart LR", f"  %% {graph.name}: {LEGEND}{STAGES if graph.stages else ''}"]
    for node in graph.nodes:
        left, right = _SHAPES[node.kind]
        lines.append(f'  {names[node]}{left}"{_mermaid("<br>".join(_title(node)))}"{right}')
    for number, stage in enumerate(graph.stages, 1):
        inside = (f"    {names[graph.node(name)]}" for name in stage)
        lines += [f'  subgraph t{number}["stage {number}"]', *inside, "  end"]
    lines += [f"  {_mermaid_edge(edge, *_ends(names, edge))}" for edge in graph.edges]
    for wait in graph.waits:
        first, second = names[graph.node(wait.first)], names[graph.node(wait.second)]
        lines.append(f'  {first} ---->|"{_mermaid(wait.causes)}"| {second}')
    return "\n".join(lines) + "\n"


_SHAPES = {
    "entity": ("[", "]"), "scalars": ("[", "]"), "array": ("[", "]"), "params": ("[/", "/]"), "part": ("[", "]"),
    "action": ("(", ")"), "system": ("[[", "]]"), "observable": ("{{", "}}"),
}  # fmt: skip


def _mermaid_edge(edge: Edge, source: str, target: str) -> str:
    label = f'|"{_mermaid(", ".join(edge.fields))}"|' if edge.fields else ""
    return f"{source} {_MERMAID[edge.kind]}{label} {target}"


_DOT_SHAPES = {"action": "oval", "system": "component", "observable": "hexagon"}


def to_dot(graph: ModelGraph) -> str:
    """Return a directed graph in DOT, with the fields on its edges."""
    names = _ids(graph)
    lines = [f"digraph {_quoted(graph.name)} {{", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    lines.append('  edge [fontname="sans-serif", fontsize=9];')
    for node in graph.nodes:
        shape = "box" if node.is_state else _DOT_SHAPES[node.kind]
        lines.append(f"  {names[node]} [shape={shape}, label={_quoted(chr(10).join(_title(node)))}];")
    for edge in graph.edges:
        source, target = _ends(names, edge)
        lines.append(f"  {source} -> {target} [{_DOT[edge.kind]}, label={_quoted(', '.join(edge.fields))}];")
    for number, stage in enumerate(graph.stages, 1):
        inside = " ".join(f"{names[graph.node(name)]};" for name in stage)
        lines.append(f'  subgraph cluster_{number} {{ label="stage {number}"; {inside} }}')
    for wait in graph.waits:
        first, second = names[graph.node(wait.first)], names[graph.node(wait.second)]
        lines.append(f"  {first} -> {second} [style=bold, label={_quoted(wait.causes)}];")
    return "\n".join([*lines, "}"]) + "\n"


_LETTERS = {"asks": "a", "reads": "r", "writes": "w", "touches": "t"}


def to_matrix(graph: ModelGraph) -> str:
    """Return a Markdown table: a row for each part of the world, a column for each action and observable.

    a: read by its rate, schedule or value; r: read by its fire; w: written; t: touched.
    """
    cells: dict[tuple[Node, Node], str] = {}
    for edge in graph.edges:
        key = edge.member, edge.state
        cells[key] = cells.get(key, "") + _LETTERS[edge.kind]
    used = [node for node in graph.state if any(edge.state == node for edge in graph.edges)]
    rows = [[s.name, *(cells.get((m, s), "") for m in graph.members)] for s in used]
    lines = [[graph.name, *(_title(m)[0] for m in graph.members)], ["---"] * (1 + len(graph.members)), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _ids(graph: ModelGraph) -> dict[Node, str]:
    """Return short names: s0, s1, ... for parts of the world, m0, m1, ... for members."""
    numbered = ((f"s{n}", node) for n, node in enumerate(graph.state))
    members = ((f"m{n}", node) for n, node in enumerate(graph.members))
    return {node: name for name, node in (*numbered, *members)}


def _ends(names: dict[Node, str], edge: Edge) -> tuple[str, str]:
    state, member = names[edge.state], names[edge.member]
    return (state, member) if edge.kind in ("asks", "reads") else (member, state)


def _title(node: Node) -> list[str]:
    if node.is_state:
        kind = _KINDS[node.kind]
        return [f"{node.name} ({kind})" if kind else node.name, *([", ".join(node.fields)] if node.fields else [])]
    return [f"{node.name}({node.key or 'world'})"]


def _mermaid(text: str) -> str:
    """Return text for a label in quotes; our own <br> stays."""
    safe = text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
    return safe.replace("#lt;br#gt;", "<br>")


def _quoted(text: str) -> str:
    safe = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{safe}"'


FORMATS: dict[str, Callable[[ModelGraph], str]] = {
    "mermaid": to_mermaid, "dot": to_dot, "svg": to_svg, "matrix": to_matrix,
}  # fmt: skip
"""The writers by name."""
