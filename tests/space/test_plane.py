"""A plane finds whom brute force finds, in a stated order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ._points import answers, asking, squares


@st.composite
def clouds(draw, n_axes):
    """Points, size, torus, radii, reach: with points that coincide, stand on the border, or at half the size."""
    size = [draw(st.sampled_from([1.0, 3.0, 7.3, 1000.0, 1e-9])) for _ in range(n_axes)]
    torus = [draw(st.booleans()) for _ in range(n_axes)]
    n = draw(st.integers(1, 24))
    grid = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9, 1.0])
    share = st.one_of(grid, st.floats(0.0, 1.0, allow_subnormal=False))
    columns = []
    for length, is_torus in zip(size, torus, strict=True):
        column = [draw(share) * length for _ in range(n)]
        columns.append([0.0 if is_torus and x >= length else x for x in column])
    shares = st.sampled_from([0.0, 1e-12, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0, 1.5, math.inf])
    radii = [draw(shares) * max(size) for _ in range(2)] + [draw(st.floats(0.0, 2.0)) * min(size)]
    reach = draw(st.sampled_from([0.0, 0.05, 0.3, 0.5, 1.0])) * draw(st.sampled_from(size))
    return columns, size, torus, radii, reach


def compare(cloud, live=False):
    """Check the answers of one cloud against brute force; return how many queries that were."""
    columns, size, torus, radii, reach = cloud
    n, counts = len(columns[0]), [0, 1, 3, 50]
    how = {"live": True, "goals": columns} if live else {}
    start = [column[::-1] for column in columns] if live else columns
    found = answers(start, size, torus, radii, counts, reach=reach, **how)
    distance = squares(columns, size, torus)
    np.fill_diagonal(distance, math.nan)  # never a neighbour of oneself
    n_asked = len(radii) + len(counts)
    for i in range(n):
        got = found[i * n_asked : (i + 1) * n_asked]
        for j, r in enumerate(radii):
            assert sorted(got[j]) == np.flatnonzero(distance[i] <= r * r).tolist()
            assert len(set(got[j])) == len(got[j])
        order = [k for k in np.argsort(distance[i], kind="stable").tolist() if k != i]
        for j, count in enumerate(counts):
            assert got[len(radii) + j] == order[:count]
    return len(found)


def examine(n_axes, live, n_examples):
    """Check clouds; return the number of queries."""
    n_queries = []

    @settings(
        max_examples=n_examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(clouds(n_axes))
    def law(cloud):
        n_queries.append(compare(cloud, live))

    law()
    return sum(n_queries)


@pytest.mark.parametrize(("n_axes", "live"), [(2, False), (2, True), (3, False), (3, True)])
def test_queries_are_brute_force(n_axes, live):
    """`within` finds each at most r away once, `nearest` is sorted, ties by number: any extent, radius, cells."""
    assert examine(n_axes, live, 25) > 500


@pytest.mark.slow
@pytest.mark.parametrize(("n_axes", "live"), [(2, False), (2, True), (3, False), (3, True)])
def test_a_hundred_thousand_queries(n_axes, live):
    """The same for 25,000 queries of each kind of plane."""
    assert examine(n_axes, live, 700) > 25_000


@pytest.mark.parametrize("n_axes", [2, 3])
def test_any_division_gives_the_same_index(n_axes):
    """The steps of `index` in ranges of rows and of cells, in any order, make the same index."""
    columns = np.random.default_rng(2).random((n_axes, 300))
    planes = [asking(columns, (1.0,) * n_axes, True).world.plane for _ in range(2)]
    planes[0].index(1.0)
    n_cells = planes[1].n_cells()
    for start in (200, 0, 100):
        planes[1].find_cells(start, start + 100)
    parts = [(n_cells // 2, n_cells), (0, n_cells // 3), (n_cells // 3, n_cells // 2)]
    for part in parts:
        planes[1].count(*part)
    planes[1].add_up(1.0)
    for part in reversed(parts):
        planes[1].sort(*part)
    for name in ("first", "keys", "xs", "ys", "zs", "cell_of"):
        one, other = (getattr(plane, name).values for plane in planes)
        assert (one == other).all()
    keys, cells = planes[0].keys.values, planes[0].cell_of.values
    assert keys.tolist() == np.lexsort((np.arange(300), cells)).tolist()
    assert [row.index for row in planes[0].in_order()] == keys.tolist()


@pytest.mark.parametrize("n_axes", [2, 3])
def test_crowded_cells(n_axes):
    """With far more rows in a line of cells than are looked at in one go, none is lost and none comes twice."""
    rng = np.random.default_rng(5)
    columns = np.concatenate([0.5 + 0.01 * rng.random((n_axes, 230)), rng.random((n_axes, 70))], axis=1).tolist()
    size, torus = [1.0] * n_axes, [True] * n_axes
    compare((columns, size, torus, [0.004, 0.02, 0.3], 0.3))
