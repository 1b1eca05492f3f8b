"""empty"""
from __future__ import annotations
from collections.abc import Iterator
from tocsin.cli._benchmarks._comparison import Comparison
def cimba() -> Iterator[Comparison]:
    """PHOLD: against Cimba."""
    yield from ()
