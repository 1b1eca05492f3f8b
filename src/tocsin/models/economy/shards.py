"""Players who do not meet: shards of them on threads, put together in order.

What a player draws depends on the seed and the player alone, and what is counted is whole numbers, so
a report has the same bits for any number of shards and threads. Only as many shards as there are
threads are in memory at a time.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tocsin.errors import InputError

T = TypeVar("T")
SHARD = 4096
"""Players of one shard, if the number of shards is not given: their world stays in the cache."""


def shards_of(n_players: int, n_shards: int | None = None) -> list[tuple[int, int]]:
    """Return first and last (exclusive) player of each shard."""
    count = n_shards or -(-n_players // SHARD)
    ends = [n_players * k // count for k in range(count + 1)]
    return [(a, b) for a, b in itertools.pairwise(ends) if b > a]


def each_shard(
    one: Callable[[int, int], T], n_players: int, threads: int | None = None, n_shards: int | None = None
) -> Iterator[T]:
    """Yield `one(first, last)` of every shard, in order of players, `threads` of them at work."""
    check_count("threads", threads)
    check_count("shards", n_shards)
    pieces = shards_of(n_players, n_shards)
    threads = threads or os.cpu_count() or 1
    if threads == 1 or len(pieces) == 1:
        yield from (one(*piece) for piece in pieces)
        return
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(pieces), threads):
            yield from pool.map(lambda piece: one(*piece), pieces[start : start + threads])


def check_count(label: str, value: int | None, most: int = 1_000_000) -> None:
    """Raise InputError unless `value` is None or a whole number of 1..most."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InputError(f"{label} must be a whole number in 1..{most:,}, got {value!r}")
