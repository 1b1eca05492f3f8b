"""Effective distances are shortest paths: lefsim's, Floyd-Warshall's, and those drawn by hand."""

from __future__ import annotations

import random

import lefsim
import numpy as np
import pytest

from tocsin.errors import InputError
from tocsin.models.extrusion.analysis import LoopGraph

LENGTHS = [(1, 1), (1, 2), (2, 3), (2, 7), (3, 4), (3, 2), (1, 0), (5, 1)]


def random_loops(rng: random.Random, *, is_crossed_allowed: bool = True):
    """A lattice and loops on it, no two feet on one site but those of a fresh LEF."""
    while True:
        n_sites = rng.randint(2, 60)
        places = rng.sample(range(n_sites), 2 * rng.randint(0, min(12, n_sites // 2)))
        pairs = [sorted(places[i : i + 2]) for i in range(0, len(places), 2)]
        pairs = [[a, a] if rng.random() < 0.15 else [a, b] for a, b in pairs]
        crossed = any(a < c < b < d for a, b in pairs for c, d in pairs)
        if is_crossed_allowed or not crossed:
            left, right = np.array(pairs, np.int64).reshape(-1, 2).T
            return n_sites, left, right


def of_lefsim(n_sites, left, right, step, hop):
    """lefsim's distances between all pairs of sites, condensed."""
    lefs = {"left_pos": left.astype("u4"), "right_pos": right.astype("u4")} if len(left) else None
    world = lefsim.World(lefsim.Lattice(n_sites), lefs)
    return np.asarray(world.effective_distances(list(range(n_sites)), step_length=step, hop_length=hop))


@pytest.mark.parametrize("block", range(4))
def test_equal_lefsim(block: int) -> None:
    """On 200 random worlds a block, crossed loops among them, all pairs are as lefsim says."""
    rng = random.Random(block)
    for _ in range(200):
        n_sites, left, right = random_loops(rng)
        step, hop = rng.choice(LENGTHS)
        graph = LoopGraph(n_sites, left, right, step_length=step, hop_length=hop)
        found = graph.effective_distances(np.arange(n_sites))
        assert np.array_equal(found, of_lefsim(n_sites, left, right, step, hop)), (n_sites, left, right, step, hop)


def floyd_warshall(n_sites, left, right, step, hop, *, is_ring=False):
    """All pairs by the textbook, on the graph with a node a site and two a LEF (its feet, just hopped onto)."""
    n_lefs = len(left)
    n = n_sites + 2 * n_lefs
    far = np.full((n, n), 10**9)
    np.fill_diagonal(far, 0)
    for i in range(n_sites - 1):
        far[i, i + 1] = far[i + 1, i] = step
    if is_ring:
        far[0, n_sites - 1] = far[n_sites - 1, 0] = min(step, far[0, n_sites - 1])
    after = np.roll(np.arange(n_sites), -1) if is_ring else np.arange(1, n_sites + 1)
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        onto_left, onto_right = n_sites + 2 * i, n_sites + 2 * i + 1
        far[onto_left, a] = far[onto_right, b] = 0
        far[a, onto_right] = min(far[a, onto_right], hop)
        far[b, onto_left] = min(far[b, onto_left], hop)
        for j in range(n_lefs):
            if left[j] == after[b]:
                far[onto_right, n_sites + 2 * j + 1] = hop
            if after[right[j]] == a:
                far[onto_left, n_sites + 2 * j] = hop
    for k in range(n):
        np.minimum(far, far[:, k, None] + far[k], out=far)
    return far[:n_sites, :n_sites]


def test_equal_floyd_warshall() -> None:
    """All pairs of 100 random worlds are as Floyd-Warshall says, and symmetric."""
    rng = random.Random(99)
    for _ in range(100):
        n_sites, left, right = random_loops(rng)
        step, hop = rng.choice(LENGTHS)
        graph = LoopGraph(n_sites, left, right, step_length=step, hop_length=hop)
        everywhere = np.arange(n_sites)
        assert np.array_equal(
            graph.effective_distances(everywhere, everywhere), floyd_warshall(n_sites, left, right, step, hop)
        )


def test_rings_equal_floyd_warshall() -> None:
    """On a ring, also with loops and junctions over its first site."""
    rng = random.Random(7)
    for _ in range(150):
        n_sites, left, right = random_loops(rng)
        turn = rng.randrange(n_sites)
        left, right = (left + turn) % n_sites, (right + turn) % n_sites
        step, hop = rng.choice(LENGTHS)
        graph = LoopGraph(n_sites, left, right, step_length=step, hop_length=hop, is_ring=True)
        everywhere = np.arange(n_sites)
        wanted = floyd_warshall(n_sites, left, right, step, hop, is_ring=True)
        assert np.array_equal(graph.effective_distances(everywhere, everywhere), wanted)


def test_by_hand() -> None:
    """A loop is a short cut; the junction of two LEFs side by side is free to hop, not to walk."""
    graph = LoopGraph(40, [5, 11], [10, 20], step_length=2, hop_length=3)
    assert graph.effective_distance(0, 4) == 8
    assert graph.effective_distance(5, 10) == 3
    assert graph.effective_distance(5, 20) == 6
    assert graph.effective_distance(10, 11) == 2
    assert graph.effective_distance(6, 19) == 2 + 6 + 2
    assert LoopGraph(1, [], []).effective_distance(0, 0) == 0


def test_pairs_are_those_of_the_square() -> None:
    """Without targets, pairs come in the order of SciPy's pdist, also of unordered sites."""
    graph = LoopGraph(50, [3, 10], [30, 20])
    sites = [40, 2, 25, 15]
    square = graph.effective_distances(sites, sites)
    assert np.array_equal(graph.effective_distances(sites), square[np.triu_indices(4, 1)])
    assert np.array_equal(square, square.T)
    assert graph.effective_distances([], [1, 2]).shape == (0, 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step_length": 0}, r"step_length must be a whole number >= 1, got 0"),
        ({"hop_length": 1.5}, r"hop_length must be a whole number >= 0, got 1.5"),
        ({"n_sites": 20}, r"right_sites must be < n_sites, 20, got 20"),
        ({"step_length": 2**52}, r"too large"),
    ],
)
def test_refuses(settings, message) -> None:
    """What breaks a rule is named."""
    with pytest.raises(InputError, match=message):
        LoopGraph(**{"n_sites": 40, "left_sites": [5], "right_sites": [20], **settings})


def test_refuses_sites_off_the_lattice() -> None:
    """A site past the end is named with the rule."""
    with pytest.raises(InputError, match=r"targets must be on the lattice, 0..9, got 10"):
        LoopGraph(10, [], []).effective_distances([0], [10])
