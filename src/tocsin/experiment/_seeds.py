"""Seeds by keyed hash: what a run draws depends on its place in the plan, never on who ran it when."""

from __future__ import annotations

import hashlib

from tocsin.errors import InputError


def seed_of(experiment: int, candidate: int | None, replicate: int) -> int:
    """Return the seed of a run, 0 .. 2**64 - 1: the first 64 bits of BLAKE2b of its place.

    Parameters
    ----------
    experiment : seed of the experiment
    candidate : number of the candidate; None pairs the candidates: replicate r of all of them
        draws the same numbers (common random numbers)
    replicate : number of the replicate
    """
    place = f"tocsin {experiment} {'paired' if candidate is None else candidate} {replicate}"
    return int.from_bytes(hashlib.blake2b(place.encode(), digest_size=8).digest(), "little")


def checked_seed(seed: object) -> int:
    """Return a seed. Raises InputError if it is out of range."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 64:
        raise InputError(f"seed must be in 0..2**64-1, got {seed!r}")
    return seed
