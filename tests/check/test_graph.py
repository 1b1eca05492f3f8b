"""The graph says what the functions do, and is written the same each time."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from tocsin import Model
from tocsin.check import FORMATS, ModelGraph, Node, graph_of, to_dot, to_mermaid, to_svg
from tocsin.models.agents import wolf_sheep
from tocsin.models.extrusion import MODEL

from ._small import SHOP

GRAPH = graph_of(SHOP)


def edges(graph, kind):
    """Return the edges of a kind as (state, member, fields)."""
    return {(edge.state.name, edge.member.name, edge.fields) for edge in graph.of(kind)}


def test_the_nodes_are_the_declarations_in_order():
    """Entities with their fields, the world's scalars, arrays, params, actions, observables."""
    assert [(node.kind, node.name) for node in GRAPH.nodes] == [
        ("entity", "Customer"), ("entity", "Till"), ("scalars", "Shop"), ("array", "weights"), ("params", "settings"),
        ("action", "Come"), ("action", "Leave"), ("observable", "Takings"), ("observable", "Here"),
    ]  # fmt: skip
    assert GRAPH.nodes[0].fields == ("leaves_at", "before", "colour")
    assert GRAPH.nodes[2].fields == ("n_here", "wrong")
    assert [(node.key, node.asked) for node in GRAPH.members] == [
        ("", "rate"), ("Customer", "schedule"), ("Till", "value"), ("", "value"),
    ]  # fmt: skip


def test_the_edges_are_what_the_functions_do():
    """What sets a clock, what `fire` reads, writes and touches."""
    assert edges(GRAPH, "asks") == {
        ("Shop", "Come", ("n_here", "wrong")), ("settings", "Come", ("most", "rate")),
        ("Customer", "Leave", ("colour", "leaves_at")), ("Till", "Takings", ("takings",)), ("Shop", "Here", ("n_here",)),
    }  # fmt: skip
    assert edges(GRAPH, "writes") == {
        ("Customer", "Come", ("(spawn)", "colour", "leaves_at")), ("Shop", "Come", ("n_here",)),
        ("Till", "Come", ("last", "takings")), ("Shop", "Leave", ("n_here",)),
        ("Customer", "Leave", ("(remove)", "leaves_at")),
    }  # fmt: skip
    assert edges(GRAPH, "touches") == {
        ("Customer", "Come", ()), ("Till", "Come", ()), ("Shop", "Leave", ()), ("Customer", "Leave", ()),
    }  # fmt: skip
    assert ("weights", "Come", ()) in edges(GRAPH, "reads")


@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS)
def test_the_same_graph_gives_the_same_text(write):
    """Two graphs of one model are equal, and so is what is written of them."""
    assert graph_of(SHOP) == GRAPH
    assert write(graph_of(SHOP)) == write(GRAPH)


def test_mermaid_has_every_node_and_edge():
    """One line for each, with arrows that tell reads, writes and touches apart."""
    lines = to_mermaid(GRAPH).splitlines()
    assert lines[0] == "flowchart LR"
    assert len(lines) == 2 + len(GRAPH.nodes) + len(GRAPH.edges)
    assert '  s0["Customer<br>leaves_at, before, colour"]' in lines
    assert '  m1("Leave(Customer)")' in lines
    assert '  s0 -->|"colour, leaves_at"| m1' in lines
    assert '  m1 ==>|"n_here"| s2' in lines
    assert "  s3 -.-> m0" in lines
    assert "  m1 --o s0" in lines


def test_dot_has_every_node_and_edge():
    """As many statements as there are nodes and edges, and braces that match."""
    text = to_dot(GRAPH)
    assert text.startswith('digraph "shop" {\n')
    assert text.endswith("}\n")
    assert text.count(" -> ") == len(GRAPH.edges)
    assert text.count("[shape=") == len(GRAPH.nodes)


@pytest.mark.parametrize("model", [SHOP, MODEL], ids=["shop", "extrusion"])
def test_svg_is_well_formed_and_nothing_lies_outside(model):
    """Every relation has a curve with a title; boxes of a column do not overlap; text fits its box."""
    graph = graph_of(model)
    root = ET.fromstring(to_svg(graph))
    space = "{http://www.w3.org/2000/svg}"
    width, height = float(root.get("width")), float(root.get("height"))
    curves = root.findall(f"{space}path")
    assert len(curves) == sum(max(1, len(edge.fields)) for edge in graph.edges)
    titles = {curve.find(f"{space}title").text for curve in curves}
    assert len(titles) == len(curves) - len(
        {c for c in titles if sum(t.find(f"{space}title").text == c for t in curves) > 1}
    )
    boxes = [
        tuple(float(rect.get(k)) for k in ("x", "y", "width", "height")) for rect in root.findall(f"{space}rect")[1:]
    ]
    for x, y, w, h in boxes:
        assert 0 <= x < x + w <= width
        assert 0 <= y < y + h <= height
    for n, (x, y, _, h) in enumerate(boxes):
        assert all(y + h <= v or v + k <= y for u, v, _, k in boxes[n + 1 :] if u == x)
    for mark in root.findall(f"{space}circle"):
        assert any(float(mark.get("cx")) == x for x, *_ in boxes)


def test_names_are_escaped():
    """A name with letters that mean something to a format is text in it."""
    odd = replace(GRAPH.nodes[0], name='<A & "B">')
    graph = ModelGraph('"x" <y> & z', (odd, *GRAPH.members), ())
    root = ET.fromstring(to_svg(graph))
    assert '"x" <y> & z' in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "#lt;A #amp; #quot;B#quot;#gt;<br>leaves_at" in to_mermaid(graph)
    assert 'digraph "\\"x\\" <y> & z" {' in to_dot(graph)


def test_a_world_that_nothing_concerns_is_left_out():
    """A world without scalars is a node only if an action touches it."""
    names = [node.name for node in graph_of(MODEL).state]
    assert names == ["Site", "Ctcf", "Leg", "Lef", "rates"]
    assert Node("scalars", "Fibre") not in graph_of(MODEL).nodes


def test_systems_stand_in_stages():
    """A system waits for those before it that write what it reads or writes, or that it names; the fields are told."""
    graph = graph_of(wolf_sheep.MODEL)
    assert graph.stages == (("Graze",), ("Hunt", "Grow"))
    waits = {(wait.first, wait.second): wait for wait in graph.waits}
    assert set(waits) == {("Graze", "Hunt"), ("Graze", "Grow")}
    assert waits["Graze", "Grow"].fields == ("Patch.wait",)
    assert {"Sheep (remove)", "Patch.flock"} <= set(waits["Graze", "Hunt"].fields)
    assert GRAPH.stages == GRAPH.waits == ()


def test_stages_and_what_was_said_are_drawn():
    """Each way to write a graph has the stages, and what makes one system wait for another; 'before' is told."""

    class Rain(wolf_sheep.Grow):
        before = ("Hunt",)

    graph = graph_of(Model(wolf_sheep.Meadow, systems=[Rain, wolf_sheep.Hunt]))
    (wait,) = graph.waits
    assert (wait.first, wait.second, wait.is_said, wait.fields) == ("Rain", "Hunt", True, ())
    assert graph.stages == (("Rain",), ("Hunt",))
    assert 'm0 ---->|"before"| m1' in to_mermaid(graph)
    assert 'subgraph t2["stage 2"]\n    m1\n  end' in to_mermaid(graph)
    assert 'm0 -> m1 [style=bold, label="before"]' in to_dot(graph)
    assert "Hunt waits for Rain: before" in to_svg(graph)
    assert "of Wolf, stage 2" in to_svg(graph)
    ET.fromstring(to_svg(graph))
