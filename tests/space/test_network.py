"""Networks: the same rows from edges, networkx and scipy; edges that come and go; random ensembles."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin import Action, Arena, Entity, InputError, Model, Rng, Simulation, Touched, float64, int32, int64
from tocsin.space import (
    Network,
    Networked,
    Rewired,
    barabasi_albert,
    complete,
    configuration,
    erdos_renyi,
    lattice,
    small_world,
)


@st.composite
def edge_lists(draw):
    """Return n, and different pairs of different nodes below n, in any order."""
    n = draw(st.integers(1, 12))
    pairs = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])))
    turned = [pair[::-1] if draw(st.booleans()) else pair for pair in pairs]
    return n, draw(st.permutations(turned))


def rows(network):
    return [network.row(i).tolist() for i in range(network.n)]


@settings(max_examples=200, deadline=None)
@given(edge_lists())
def test_rows_are_sorted_neighbours(case):
    """Row i has the nodes joined to i, ascending; with and without direction; and back to edges."""
    n, edges = case
    both = Network.from_edges(n, edges)
    assert rows(both) == [sorted({b for a, b in edges if a == i} | {a for a, b in edges if b == i}) for i in range(n)]
    assert both.to_edges().tolist() == sorted([min(e), max(e)] for e in edges)
    one_way = Network.from_edges(n, edges, directed=True, keep_edges=True)
    assert rows(one_way) == [sorted(b for a, b in edges if a == i) for i in range(n)]
    assert [list(edges[k]) for k in one_way.edges] == one_way.to_edges().tolist()
    turned = one_way.transposed()
    assert rows(turned) == [sorted(a for a, b in edges if b == i) for i in range(n)]
    assert one_way.neighbours[turned.edges].tolist() == np.repeat(np.arange(n), turned.degrees).tolist()


@settings(max_examples=100, deadline=None)
@given(edge_lists(), st.booleans())
def test_networkx_and_scipy_give_the_same(case, directed):
    """A graph, its sparse matrix and its list of edges are one network, weights included."""
    n, edges = case
    weights = [0.5 + k for k in range(len(edges))]
    graph = (nx.DiGraph if directed else nx.Graph)()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(edges, weights, strict=True))
    from_edges = Network.from_edges(n, edges, weights, directed=directed)
    from_matrix = Network.from_scipy(nx.to_scipy_sparse_array(graph, nodelist=range(n)), directed=directed)
    for other in (Network.from_networkx(graph, weight="weight"), from_matrix):
        assert rows(other) == rows(from_edges)
        assert other.weights.tolist() == from_edges.weights.tolist()
        assert other.is_directed == directed


def test_repeated_edges():
    """A pair given twice is refused, summed or kept, as asked; also if it is turned round."""
    edges, weights = [(0, 1), (1, 2), (1, 0)], [1.0, 2.0, 4.0]
    with pytest.raises(InputError, match=r"edge \(0, 1\) is given twice"):
        Network.from_edges(3, edges)
    summed = Network.from_edges(3, edges, weights, repeated="sum")
    assert rows(summed) == [[1], [0, 2], [1]]
    assert summed.weights.tolist() == [5.0, 5.0, 2.0, 2.0]
    kept = Network.from_edges(3, edges, weights, repeated="keep", keep_edges=True)
    assert rows(kept) == [[1, 1], [0, 0, 2], [1]]
    assert kept.weights.tolist() == [weights[k] for k in kept.edges]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Network.from_edges(3, [(0, 3)]), r"nodes are numbered 0\.\.2, got an edge with node 3"),
        (lambda: Network.from_edges(3, [(-1, 0)]), "got an edge with node -1"),
        (lambda: Network.from_edges(3, [(1, 1)]), r"joins two different nodes, got \(1, 1\)"),
        (lambda: Network.from_edges(3, [(0, 1, 2)]), r"edges must have shape \(m, 2\)"),
        (lambda: Network.from_edges(3, [(0.5, 1)]), "whole numbers"),
        (lambda: Network.from_edges(-1, []), "n must be in"),
        (lambda: Network.from_edges(3, [(0, 1)], [-1.0]), "a weight must be >= 0 and finite, got -1"),
        (lambda: Network.from_edges(3, [(0, 1)], [np.nan]), "got nan"),
        (lambda: Network.from_edges(3, [(0, 1)], [1.0, 2.0]), "one entry for each of 1 edges"),
        (lambda: Network.from_scipy(sp.csr_array((2, 3))), "square matrix"),
        (lambda: Network.from_scipy(sp.csr_array([[0, 1], [0, 0]]), directed=False), "symmetric"),
        (lambda: Network.from_edges(2, [(0, 1)]).columns_with_room(-1), "room must be >= 0, got -1"),
        (lambda: erdos_renyi(4, 4.0), r"mean_degree must be in 0\.\.3 for 4 nodes, got 4"),
        (lambda: barabasi_albert(3, 3), r"m must be in 1\.\.2 for 3 nodes, got 3"),
        (lambda: small_world(10, 3, 0.1), "k must be even"),
        (lambda: small_world(10, 4, 1.1), "a probability"),
        (lambda: configuration([1, 2]), "even sum, got 3"),
        (lambda: configuration([-1, 1]), "whole numbers >= 0"),
        (lambda: lattice([0, 3]), "lengths >= 1"),
        (lambda: complete(0), "n must be >= 1, got 0"),
    ],
)
def test_bad_networks(make, text):
    """What is no network is refused, and the message says why."""
    with pytest.raises(InputError, match=text):
        make()


def test_regular_networks():
    """Lattices are those of networkx, also with one or two nodes on an axis; a complete graph is complete."""
    for shape in ((5,), (2,), (1,), (3, 4), (2, 5), (1, 4), (3, 2, 4)):
        for periodic in (False, True):
            wanted = nx.grid_graph(shape[::-1], periodic=periodic)
            wanted.remove_edges_from(nx.selfloop_edges(wanted))
            number = {node: np.ravel_multi_index(node, shape) for node in wanted} if len(shape) > 1 else None
            named = nx.relabel_nodes(wanted, number) if number else wanted
            assert lattice(shape, periodic=periodic).to_edges().tolist() == sorted(
                sorted(map(int, e)) for e in named.edges
            )
    assert complete(6).degrees.tolist() == [5] * 6


def test_random_networks_have_the_degrees_they_say():
    """Each ensemble has its numbers of edges, and another seed gives another network."""
    assert erdos_renyi(1_000, 6.0, 1).n_edges == 3_000
    assert erdos_renyi(30, 29.0, 1).n_edges == 435
    assert erdos_renyi(30, 20.0, 1).n_edges == 300
    grown = barabasi_albert(500, 3, 1)
    assert grown.n_edges == 3 + 3 * (500 - 4)
    assert grown.degrees.min() == 3
    assert grown.degrees.max() > 30
    ring = small_world(200, 6, 0.0)
    assert (ring.degrees == 6).all()
    assert ring.row(0).tolist() == [1, 2, 3, 197, 198, 199]
    wanted = np.random.default_rng(1).poisson(4.0, 1_000)
    wanted[0] += wanted.sum() % 2
    made = configuration(wanted, 1)
    assert (made.degrees <= wanted).all()
    assert made.degrees.sum() > 0.98 * wanted.sum()
    for make in (
        lambda s: erdos_renyi(50, 4.0, s),
        lambda s: small_world(50, 4, 0.3, s),
        lambda s: barabasi_albert(50, 2, s),
    ):
        assert make(1).neighbours.tolist() == make(1).neighbours.tolist() != make(2).neighbours.tolist()


def test_all_sets_of_edges_are_equally_likely():
    """Each of the 15 pairs of edges among 4 nodes comes equally often, also by leaving others out."""
    for mean_degree in (1.0, 2.0):
        n_edges, runs = round(2 * mean_degree), 3_000
        seen = {}
        for seed in range(runs):
            key = tuple(map(tuple, erdos_renyi(4, mean_degree, seed).to_edges().tolist()))
            seen[key] = seen.get(key, 0) + 1
        kinds = {2: 15, 4: 15}[n_edges]
        assert len(seen) == kinds
        error = np.sqrt(runs / kinds * (1 - 1 / kinds))
        assert max(abs(n - runs / kinds) for n in seen.values()) <= 4.5 * error


class Node(Entity):
    """A node that joins and leaves others."""

    seen: float64


class Web(Rewired):
    """Nodes that rewire."""

    nodes: Arena[Node]
    n_refused: int64 = 0


class Rewire(Action):
    """Join another node at random, or part from it."""

    node: Node

    def rate(self, world: Web) -> float:
        return 1.0

    def fire(self, world: Web, now: float, rng: Rng, touched: Touched) -> None:
        me, other = self.node.index, rng.integers(0, len(world.nodes))
        if world.is_joined(me, other):
            world.part(me, other)
        elif me != other and not world.join(me, other, now):
            world.n_refused += 1
        self.node.seen = 0.0
        for k in range(world.begin(me), world.end(me)):
            self.node.seen += world.weights[k]


WEB = Model(Web, [Rewire], name="web")


def test_edges_come_and_go():
    """Rows stay ascending, hold what a set holds, and refuse what does not fit; compiled and interpreted alike."""
    start = Network.from_edges(12, [(0, 5), (0, 3), (7, 1)])
    worlds = Web(nodes=12, **start.columns_with_room(4))
    compiled, plain = (Simulation(WEB, worlds, seed=3, jit=jit) for jit in (True, False))
    for simulation in (compiled, plain):
        simulation.run(events=1_500)
    assert compiled.state_hash() == plain.state_hash()
    world = compiled.world
    for i in range(12):
        row = world.neighbours.values[world.begin(i) : world.end(i)]
        assert (np.diff(row) > 0).all()
        assert (row >= 0).all()
        assert i not in row
        assert world.nodes["seen"][i] == pytest.approx(world.weights.values[world.begin(i) : world.end(i)].sum())
    assert world.n_refused > 0
    assert world.degrees.values.max() <= 6
    with pytest.raises(InputError, match="repeated edges cannot be rewired"):
        Network.from_edges(3, [(0, 1), (1, 0)], repeated="keep").columns_with_room(1)


def test_a_world_may_hold_a_network():
    """`Networked` gives a world rows and weights, 1 where there are none."""

    class Town(Networked):
        people: Arena[Node]
        n: int32 = 0

    plain = Town(people=3, **Network.from_edges(3, [(2, 0), (2, 1)]).columns())
    assert [plain.neighbours[k] for k in range(plain.begin(2), plain.end(2))] == [0, 1]
    assert plain.weight(0) == 1.0
    assert Town(people=2, **Network.from_edges(2, [(0, 1)], [2.5]).columns()).weight(1) == 2.5
