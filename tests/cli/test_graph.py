"""`tocsin graph`: the picture of a model, on stdout or in a file."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tocsin.check import graph_of, to_dot, to_matrix, to_mermaid, to_svg
from tocsin.models.classic.mm1 import MODEL

SMALL = (Path(__file__).parent.parent / "check" / "_small.py").as_posix()


def test_mermaid_is_printed_by_default(tocsin):
    """Nothing but the graph on stdout."""
    result = tocsin("graph", "mm1")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == to_mermaid(graph_of(MODEL))


@pytest.mark.parametrize(
    ("format_", "write"), [("mermaid", to_mermaid), ("dot", to_dot), ("svg", to_svg), ("matrix", to_matrix)]
)
def test_each_format_is_written(tocsin, format_, write):
    """--format chooses; the file is what the library writes."""
    assert tocsin("graph", "mm1", "--format", format_).stdout == write(graph_of(MODEL))
    assert tocsin("graph", "mm1", "--format", format_, "-o", "picture").exit_code == 0
    assert Path("picture").read_text(encoding="utf-8") == write(graph_of(MODEL))


def test_the_suffix_of_the_file_chooses_the_format(tocsin):
    """.svg, .dot and .gv; anything else is Mermaid."""
    for name, start in (("a.svg", "<svg "), ("a.dot", "digraph "), ("a.gv", "digraph "), ("a.md", "flowchart ")):
        assert tocsin("graph", "mm1", "-o", name).exit_code == 0
        assert Path(name).read_text(encoding="utf-8").startswith(start)


def test_models_of_files_and_scenarios_are_drawn(tocsin, gate):
    """A model in a user's file, and that of a scenario."""
    assert "Dusk(world)" in tocsin("graph", f"{SMALL}:STREET").stdout
    root = ET.fromstring(tocsin("graph", gate, "--format", "svg").stdout)
    assert root.tag.endswith("svg")


def test_a_place_that_cannot_be_written_is_told(refused):
    """Exit code 1, and what to do."""
    assert "cannot write 'no/such/folder.svg'" in refused(1, "graph", "mm1", "-o", "no/such/folder.svg")
