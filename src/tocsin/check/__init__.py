"""What can be said of a model without its author: its graph, its lints, and a table of verdicts."""

from tocsin.check._check import check
from tocsin.check._graph import Edge, ModelGraph, Node, graph_of
from tocsin.check._lints import Lint, lints
from tocsin.check._report import Report, Verdict
from tocsin.check._stages import Wait
from tocsin.check._svg import to_svg
from tocsin.check._writers import FORMATS, to_dot, to_matrix, to_mermaid

__all__ = [
    "FORMATS", "Edge", "Lint", "ModelGraph", "Node", "Report", "Verdict", "Wait", "check", "graph_of", "lints",
    "to_dot", "to_matrix", "to_mermaid", "to_svg",
]  # fmt: skip
