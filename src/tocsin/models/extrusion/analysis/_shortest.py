"""Shortest paths along the fibre and over its loops, compiled.

The graph has a node a *stop* (a site where a leg stands, and both ends of the lattice) and two
more for each LEF: having just hopped onto its left foot, or onto its right one. From a foot the
path goes on along the fibre, or straight over a LEF side by side with it (its near foot on the
next site): the junction is free, which a walk over it is not.

One source is solved by sweeps over the stops, to the right and to the left in turn, until one
changes nothing. A sweep settles every path of one direction, and a shortest path turns about
once for each level of nesting: a few sweeps of O(stops + LEFs), whether or not loops cross. Paths
longer than a cutoff are given up, so a sweep stays where the cutoff can lead.

A graph is a tuple: stop (sites, rising), gap (sites between a stop and the one before; first that
of the ring's closure, -1 for none), the lengths of a step and a hop, and for left and for right
feet the start of each stop's LEFs, these LEFs, and the stops of their other feet. All int64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

FAR = np.int64(2**61)


@njit(cache=False)
def solve(source: Any, cutoff: Any, graph: Any, foot: Any, away: Any) -> None:
    """Distances up to `cutoff` from stop `source` to all stops, into `away`, FAR for others.

    `foot`, shape (2, n_lefs), is work space: distances to the left and the right feet.
    """
    stop, gap, step, hop, left, right = graph
    away[:] = FAR
    foot[:] = FAR
    away[source] = 0
    reach = np.array([source, source])
    if gap[0] >= 0:
        reach[0], reach[1] = 0, len(stop) - 1
    is_changed = True
    while is_changed:
        rightward = sweep(1, cutoff, reach, gap, step, hop, left, right, foot, away)
        leftward = sweep(-1, cutoff, reach, gap, step, hop, right, left, foot, away)
        is_changed = rightward or leftward


@njit(cache=False)
def sweep(
    facing: Any, cutoff: Any, reach: Any, gap: Any, step: Any, hop: Any, near: Any, far: Any, foot: Any, away: Any
) -> Any:
    """One sweep; `near` are the feet from which a hop leads onwards in the direction of `facing`.

    `reach`, shape (2,), holds the first and last stop that can have changed; it grows.
    """
    is_changed = False
    n = len(gap)
    onto, back = (1, 0) if facing > 0 else (0, 1)
    k = reach[0] if facing > 0 else reach[1]
    while reach[0] <= k <= reach[1]:
        best = away[k]
        for e in range(far[0][k], far[0][k + 1]):
            best = min(best, foot[onto, far[1][e]])
        for e in range(near[0][k], near[0][k + 1]):
            best = min(best, foot[back, near[1][e]])
        before = (k - facing) % n
        sites = gap[k] if facing > 0 else gap[before]
        through = FAR
        if sites >= 0:
            best = min(best, away[before] + sites * step)
            if sites == 1:
                for e in range(far[0][before], far[0][before + 1]):
                    through = min(through, foot[onto, far[1][e]])
        if best <= cutoff:
            is_changed |= best < away[k]
            away[k] = best
            reach[0], reach[1] = max(0, min(reach[0], k - 1)), min(n - 1, max(reach[1], k + 1))
        hopped = min(best, through) + hop
        if hopped <= cutoff:
            for e in range(near[0][k], near[0][k + 1]):
                lef, mate = near[1][e], near[2][e]
                if hopped < foot[onto, lef]:
                    foot[onto, lef] = hopped
                    reach[0], reach[1] = min(reach[0], mate), max(reach[1], mate)
                    is_changed = True
        k += facing
    return is_changed


@njit(cache=False)
def all_stops(graph: Any) -> Any:
    """Distances between all stops, int64, shape (n_stops, n_stops)."""
    n = len(graph[0])
    found = np.empty((n, n), np.int64)
    foot = np.empty((2, len(graph[4][1])), np.int64)
    for k in range(n):
        solve(k, FAR, graph, foot, found[k])
    return found


@njit(cache=False)
def add_contacts(total: Any, weight: Any, site: Any, bin_of: Any, first: Any, cutoff: Any, graph: Any) -> None:
    """Add weight[distance] of every pair of `site`s to their pair of bins.

    Parameters
    ----------
    total : float64, shape (n_bins, width); [i, k] is the pair of bins (i, i + k)
    weight : float64, shape (longest distance + 1,)
    site, bin_of : int64, shape (n,); sites, rising, and the bin of each
    first : int64, shape (n_stops,); the first of these sites at or past each stop; n for the last
    cutoff : no pair of these bins is farther apart
    graph : all sites lie between its first and its last stop
    """
    stop, step = graph[0], graph[2]
    n, n_stops, width = len(site), len(stop), total.shape[1]
    foot = np.empty((2, len(graph[4][1])), np.int64)
    low, high = np.empty(n_stops, np.int64), np.empty(n_stops, np.int64)
    k = -1
    for a in range(n):
        if k < 0 or a >= first[k + 1]:
            k += 1
            while a >= first[k + 1]:
                k += 1
            solve(k, cutoff, graph, foot, low)
            solve(k + 1, cutoff, graph, foot, high)
        to_low, to_high = (site[a] - stop[k]) * step, (stop[k + 1] - site[a]) * step
        row, bin_a = total[bin_of[a]], bin_of[a]
        there = min(to_low + low[k], to_high + high[k])
        for j in range(k, n_stops - 1):
            here, there = there, min(to_low + low[j + 1], to_high + high[j + 1])
            start, end = max(first[j], a + 1), first[j + 1]
            if start < end and bin_of[start] - bin_a >= width:
                break
            for b in range(start, end):
                at = bin_of[b] - bin_a
                if at >= width:
                    break
                away = min(here + (site[b] - stop[j]) * step, there + (stop[j + 1] - site[b]) * step)
                if j == k:
                    away = min(away, (site[b] - site[a]) * step)
                row[at] += weight[away]
