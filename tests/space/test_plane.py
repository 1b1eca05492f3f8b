"""A plane finds whom brute force finds, in a stated order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ._points import answers, squares


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


def compare(cloud):
    """Check the answers of one cloud against brute force; return how many queries that were."""
    columns, size, torus, radii, reach = cloud
    found = answers(columns, size, torus, radii, reach=reach)
    distance = squares(columns, size, torus)
    np.fill_diagonal(distance, math.nan)  # never a neighbour of oneself
    for i in range(len(columns[0])):
        for j, r in enumerate(radii):
            got = found[i * len(radii) + j]
            assert sorted(got) == np.flatnonzero(distance[i] <= r * r).tolist()
            assert len(set(got)) == len(got)
    return len(found)


@pytest.mark.parametrize("n_axes", [2, 3])
def test_within_is_brute_force(n_axes):
    """Whoever is at a distance of at most r is found once, whatever the extent, the radius and the cells."""
    n_queries = []

    @settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(clouds(n_axes))
    def law(cloud):
        n_queries.append(compare(cloud))

    law()
    assert sum(n_queries) > 500
