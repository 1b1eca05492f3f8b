"""The tree of loops: by hand, by brute force, over states, in a file and a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.errors import InputError
from tocsin.models.extrusion import MODEL, make_fibre
from tocsin.models.extrusion.analysis import NestingTally, coverage, draw_nesting, legs_of, nest, write_nesting


def test_by_hand() -> None:
    """Two roots; the first holds a stacked loop, which holds another."""
    tree = nest(101, [10, 11, 30, 70], [60, 59, 40, 90])
    assert tree.parent.tolist() == [-1, 0, 1, -1]
    assert tree.depth.tolist() == [0, 1, 2, 0]
    assert tree.n_children.tolist() == [1, 1, 0, 0]
    assert tree.is_stacked.tolist() == [False, True, False, False]
    assert (tree.n_loops, tree.n_roots, tree.n_nested, tree.n_crossed) == (4, 2, 3, 0)
    assert tree.backbone == pytest.approx(30 / 100)


def test_crossed_loops() -> None:
    """Loops that overlap are counted, and neither is the other's parent."""
    tree = nest(50, [0, 10, 12], [20, 30, 18])
    assert tree.n_crossed == 1
    assert tree.parent.tolist() == [-1, -1, 1] or tree.parent.tolist() == [-1, -1, 0]
    assert nest(50, [0, 20], [20, 40]).n_crossed == 0


def test_no_loop() -> None:
    """Without loops all is backbone."""
    tree = nest(10, [], [])
    assert (tree.n_loops, tree.n_roots, tree.backbone) == (0, 0, 1.0)
    assert nest(1, [], []).backbone == 1.0


@pytest.mark.parametrize("seed", range(40))
def test_by_brute_force(seed: int) -> None:
    """Parents are the smallest loops around, crossed pairs those that overlap; coverage counts loops."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(80)[:24].reshape(-1, 2)
    left, right = places.min(axis=1), places.max(axis=1)
    tree, n = nest(80, left, right), len(left)
    for i in range(n):
        around = [j for j in range(n) if left[j] < left[i] and right[i] < right[j]]
        smallest = min((right[j] - left[j] for j in around), default=None)
        if smallest is None:
            assert tree.parent[i] == -1
        else:
            parent = tree.parent[i]
            assert parent in around
            assert right[parent] - left[parent] == smallest
            assert tree.depth[i] == tree.depth[parent] + 1
    crossed = sum(left[i] < left[j] < right[i] < right[j] for i in range(n) for j in range(n))
    assert tree.n_crossed == crossed
    bonds = np.arange(79)
    over = ((left[:, None] <= bonds) & (bonds < right[:, None])).sum(axis=0)
    assert np.array_equal(coverage(80, left, right), over)
    assert tree.backbone == (over == 0).mean()


def test_simulated_loops_are_never_crossed(tmp_path: Path) -> None:
    """Legs cannot pass, so loops nest; the tally is the mean of the trees; nested pairs are depths."""
    simulation = Simulation(MODEL, make_fibre(400, 20, seed=1), seed=1)
    tally, trees = NestingTally(400), []
    for k in range(20):
        simulation.run(until=25.0 * k)
        tally.add_world(simulation.world)
        trees.append(nest(400, *legs_of(simulation.world)))
    means = tally.means()
    assert tally.n_states == 20
    assert means["crossed_pairs"] == 0
    assert means["loops"] == 20
    assert means["roots"] == pytest.approx(np.mean([tree.n_roots for tree in trees]))
    assert means["backbone_fraction"] == pytest.approx(np.mean([tree.backbone for tree in trees]))
    assert tally.by_depth.sum() == 400
    assert means["nested_pairs"] * 20 == tally.by_depth @ np.arange(len(tally.by_depth))
    write_nesting(tmp_path / "n.tsv", tally)
    rows = dict(line.split("\t") for line in (tmp_path / "n.tsv").read_text().splitlines())
    assert float(rows["backbone_fraction"]) == pytest.approx(means["backbone_fraction"])
    assert float(rows["loops_at_depth_0"]) == pytest.approx(means["roots"])
    ax = draw_nesting(tmp_path / "n.png", tally)
    assert len(ax.patches) == len(tally.by_depth)


def test_mean_coverage() -> None:
    """A site is covered as its two bonds are on average; at the ends, as the only one."""
    tally = NestingTally(6)
    tally.add([1], [3])
    tally.add([1], [2])
    assert tally.mean_coverage().tolist() == [0.0, 0.5, 0.75, 0.25, 0.0, 0.0]


def test_refuses() -> None:
    """Loops past the end, and a tally without states."""
    with pytest.raises(InputError, match="right_sites must be < n_sites, 10, got 12"):
        nest(10, [3], [12])
    with pytest.raises(InputError, match="no state yet"):
        NestingTally(10).means()
