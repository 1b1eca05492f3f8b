"""Benchmarks against other tools: each checks the work done before it gives a figure."""

from tocsin.cli._benchmarks._comparison import Comparison, alternated, require
from tocsin.cli._benchmarks._registry import BENCHMARKS

__all__ = ["BENCHMARKS", "Comparison", "alternated", "require"]
