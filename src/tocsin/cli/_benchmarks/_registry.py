"""All benchmarks, by name. To add one, write it in a file of its own and name it here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tocsin.cli._benchmarks import _phold
from tocsin.cli._benchmarks._comparison import Comparison

BENCHMARKS: dict[str, Callable[[], Iterator[Comparison]]] = {"phold": _phold.phold}
