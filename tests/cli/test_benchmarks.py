"""What each benchmark does: the work is checked, rounds are paired. No figure is asserted."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tocsin.cli._benchmarks import BENCHMARKS, Comparison, alternated
from tocsin.cli._benchmarks import _against_heap as against_heap
from tocsin.cli._benchmarks import _children as children
from tocsin.cli._benchmarks import _clocks as clocks
from tocsin.cli._benchmarks import _extrusion as extrusion
from tocsin.cli._benchmarks import _hard as hard
from tocsin.cli._benchmarks import _heap as heap
from tocsin.cli._benchmarks import _memory as memory
from tocsin.cli._benchmarks import _queue as queue
from tocsin.cli._benchmarks import _simpy as simpy
from tocsin.cli._benchmarks import _startup as startup
from tocsin.cli._benchmarks._comparison import check_close, check_events, faster, within
from tocsin.errors import InputError, SimulationError
from tocsin.run import Simulation

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
CASES = ("phold", "rates", "waits", "bimodal-rates", "bimodal-waits", "ties", "never", "growing")


@pytest.fixture(scope="module")
def program():
    """The C heap, compiled."""
    with heap.compiled() as path:
        yield path


@pytest.fixture
def small(monkeypatch):
    """Loads so small that they take no time; 1,000 is the least that heap.c takes."""
    monkeypatch.setattr(queue, "SIZES", ((1_000, 1.0),))
    monkeypatch.setattr(queue, "EVENTS", 20_000)
    monkeypatch.setattr(queue, "WARM_UP", 2_000)
    for name, value in {"N": 1_000, "N_LARGE": 2_000, "EVENTS": 20_000, "WARM_UP": 2_000}.items():
        monkeypatch.setattr(hard, name, value)


class TestFigures:
    """How figures are made of rounds."""

    def test_programs_take_turns(self):
        """Ours and the peer's run in turn, as often as asked."""
        calls = []
        ours, peer = alternated(lambda: calls.append("o") or 1.0, lambda: calls.append("p") or 2.0, rounds=3)
        assert calls == ["o", "p"] * 3
        assert (ours, peer) == ([1.0] * 3, [2.0] * 3)

    def test_the_ratio_is_the_median_of_the_pairs(self):
        """Not the ratio of the medians: each pair met the same load of the machine."""
        found = faster("x", [10.0, 20.0, 90.0], [10.0, 40.0, 30.0], goal=1.0)
        assert found.ratios == (1.0, 0.5, 3.0)
        assert (found.ratio, found.ours, found.peer) == (1.0, 20.0, 30.0)

    def test_a_cost_is_compared_with_its_limit(self):
        """The ratio is limit over cost, so that above 1 is good."""
        found = within("x", [2.0, 4.0, 5.0], 8.0, "s")
        assert (found.ours, found.peer, found.ratio, found.is_met) == (4.0, 8.0, 2.0, True)

    def test_without_rounds_the_ratio_is_ours_over_the_peers(self):
        """For a figure that is taken once."""
        assert Comparison("x", 3.0, 2.0, "s").ratio == 1.5

    def test_another_number_of_events_gives_no_figure(self):
        """The count is compared with what was asked for."""
        assert check_events(4, 4) == 4
        with pytest.raises(SimulationError, match="the C heap fired 3 events, expected 4"):
            check_events(3, 4, "the C heap")

    @pytest.mark.parametrize("ours", [1.2, 0.8, float("nan")])
    def test_answers_that_differ_give_no_figure(self, ours):
        """In either direction, and where one is no number."""
        check_close(1.01, 1.0, 0.02, "rates")
        with pytest.raises(SimulationError, match="rates do not agree"):
            check_close(ours, 1.0, 0.02, "rates")


class TestRegistry:
    """What there is."""

    def test_the_names(self):
        """Those that scripts/bench runs."""
        assert set(BENCHMARKS) == {
            "import", "cold", "queue", "hard", "extrusion", "rates", "simpy", "cimba", "memory", "economy", "sampling", "mesa", "swarm", "wasm",
        }  # fmt: skip

    @pytest.mark.parametrize("name", BENCHMARKS)
    def test_each_says_what_it_measures(self, name):
        """In the first line of its docstring, which `tocsin bench` prints."""
        assert BENCHMARKS[name].__doc__.splitlines()[0].endswith(".")


@needs_gcc
class TestHeap:
    """The C peer."""

    def test_it_is_correct_c(self, tmp_path):
        """Without a warning."""
        source = heap.files("tocsin.cli._benchmarks") / "heap.c"
        command = ["gcc", "-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror", "-c", str(source)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    @pytest.mark.parametrize("case", CASES)
    def test_each_case_fires_what_is_asked(self, program, case):
        """Time goes on, and requests add up."""
        with heap.started(program, case, 2_000) as running:
            first, second = running.run(5_000), running.run(3_000)
            assert (first.n_events, second.n_events) == (5_000, 3_000)
            assert 0.0 <= first.now <= second.now
            assert second.n_queued == (1_000 if case == "never" else 2_000)

    def test_equal_times_ring_together(self, program):
        """2,000 clocks of wait 1: 5 rounds take 5 units."""
        with heap.started(program, "ties", 2_000) as running:
            assert running.run(10_000).now == 5.0

    def test_a_case_that_does_not_exist_ends_it(self, program):
        """The program ends, and that is told."""
        with heap.started(program, "nothing", 2_000) as running, pytest.raises(SimulationError, match="ended early"):
            running.run(1)

    def test_without_gcc_it_is_told(self, monkeypatch):
        """What to install."""
        monkeypatch.setenv("PATH", "")
        with pytest.raises(InputError, match="needs gcc"), heap.compiled():
            pass


class TestLoads:
    """The models on our side, interpreted: they do what the C cases do."""

    def test_relays_keep_their_number(self):
        """One falls silent, one takes over, so 1,000 are active."""
        simulation = Simulation(clocks.RELAYS, hard._relays(3_000), seed=1, jit=False)
        simulation.run(events=2_500)
        rows = simulation.world.clocks
        assert rows["is_active"].sum() == 1_000
        assert rows["n_fired"].sum() == 2_500
        assert rows["n_fired"][1_000:].sum() > 0

    def test_the_population_grows_to_its_size(self):
        """A row a firing, and no more than `most`."""
        simulation = Simulation(clocks.GROWING, hard._born(50), seed=1, jit=False)
        simulation.run(events=40)
        assert len(simulation.world.clocks) == 50
        simulation.run(events=10)
        assert len(simulation.world.clocks) == 50

    def test_waits_span_nine_orders(self):
        """Log-uniform between 10**-4.5 and 10**4.5."""
        simulation = Simulation(clocks.WAITS, clocks.Clocks(clocks=4_000), seed=1, jit=False)
        simulation.run(events=0)
        waits = simulation._kernel.clocks["time"]
        assert 3e-5 < waits.min() < 4e-5
        assert 2.5e4 < waits.max() < 3.2e4

    def test_rates_span_nine_orders(self):
        """Those of the clocks of their own rate."""
        rates = hard._timed_nine_decades(10_000).clocks["rate"]
        assert 3e-5 < rates.min() < 4e-5
        assert 2.5e4 < rates.max() < 3.2e4

    def test_a_load_that_lost_an_event_gives_no_figure(self):
        """The rows' counters are compared with the events."""
        simulation = Simulation(clocks.PHOLD, clocks.Clocks(clocks=10), seed=1, jit=False)
        simulation.world.clocks[0].n_fired = 1
        with pytest.raises(SimulationError, match="our side fired 6 events, expected 5"):
            against_heap._speed(simulation, 5)

    def test_the_striped_fibre(self):
        """CTCF sites every 100 from 50, facing right and left in turn; LEFs on plain sites."""
        world = extrusion._ours(extrusion.Size(1_000, 10, 0.0, 1.0, 1.0), "next-reaction").world
        assert [n for n in range(1_000) if world.sites[n].ctcf is not None] == list(range(50, 1_000, 100))
        assert world.ctcfs["captures_from"].tolist() == [1, -1] * 5
        assert all(world.sites[lef.left.site].leg is not None for lef in world.lefs)

    def test_both_fibres_are_equal(self):
        """lefsim's has the same lattice."""
        lefsim = pytest.importorskip("lefsim")
        peer = extrusion._theirs(lefsim, extrusion.Size(1_000, 10, 0.0, 1.0, 1.0))
        assert (peer.n_sites, peer.n_lefs) == (1_000, 10)
        assert extrusion._run_peer(peer, 100) == 100

    def test_simpy_fires_what_it_is_asked_for(self, monkeypatch):
        """It counts the firings of its clocks."""
        module = pytest.importorskip("simpy")
        monkeypatch.setattr(simpy, "PEER_EVENTS", 500)
        program = simpy._theirs(module, 10)
        assert [program(), program()] == [500, 500]


class TestChildren:
    """Processes that are measured."""

    def test_they_print(self):
        """What the code printed comes back, arguments and environment go in."""
        code = "import os, sys; print(sys.argv[1], os.environ['X'])"
        assert children.run(code, "a", env={"X": "b"}) == "a b\n"

    def test_a_failed_one_is_told(self):
        """With its last words."""
        with pytest.raises(SimulationError, match="no such thing"):
            children.run("raise SystemExit('no such thing')")

    def test_cold_needs_the_scenario(self, tmp_path, monkeypatch):
        """It lies in the source tree, not in the package."""
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match="run it from a checkout"):
            next(startup.cold())


@pytest.mark.slow
class TestWhole:
    """Each benchmark runs through, small."""

    @needs_gcc
    def test_queue(self, small):
        """One size."""
        (found,) = queue.queue()
        assert found.name == "PHOLD, 1,000 clocks, C heap"
        assert found.ratio > 0

    @needs_gcc
    def test_hard(self, small):
        """One comparison a load, each with a goal."""
        found = list(hard.hard())
        assert len({one.name for one in found}) == 7
        assert all(one.ratio > 0 and one.goal == 0.7 for one in found)

    def test_extrusion(self, monkeypatch):
        """The mean rates of both agree, or there would be no figure."""
        pytest.importorskip("lefsim")
        monkeypatch.setattr(extrusion, "SIZES", (extrusion.Size(1_000, 10, 3_000.0, 1.5, 5.0),))
        monkeypatch.setattr(extrusion, "EVENTS", 100_000)
        (found,) = extrusion.extrusion()
        assert found.ratio > 0

    def test_simpy(self, monkeypatch):
        """One size."""
        pytest.importorskip("simpy")
        monkeypatch.setattr(simpy, "SIZES", ((10, 50.0),))
        (found,) = simpy.simpy()
        assert found.ratio > 0

    def test_cimba(self):
        """One size; in a process of its own, as Cimba has to be imported before Numba compiles."""
        pytest.importorskip("cimba", exc_type=ImportError)
        code = (
            "from tocsin.cli._benchmarks import _cimba as b; b.SIZES, b.EVENTS = (1_000,), 100_000; print(*b.cimba())"
        )
        assert "PHOLD, 1,000 clocks, Cimba" in children.run(code)

    def test_memory(self, monkeypatch):
        """All events are in the file."""
        monkeypatch.setattr(memory, "EVENTS", 100_000)
        monkeypatch.setattr(memory, "ROUNDS", 1)
        (found,) = memory.memory()
        assert found.ours > 10

    def test_import(self):
        """Some time goes by."""
        (found,) = startup.import_()
        assert found.ours > 0
