"""Race against the peers: `scripts/bench --peers [--only NAME]`; the whole race writes docs/background/race.md.

Makes environments of its own (build/peers, or --env), installs Tocsin's needs and each peer from
PyPI, and runs every case in rounds: each contestant once a round, in turn, each in a process of its
own that stays alive. What counts is CPU time. A time is printed only if the answers agree.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "background" / "race.md"
sys.path.insert(0, str(HERE))

from cases import CASES, CHEMISTRY  # noqa: E402
from environment import NEEDS, make_environment, packages_of, versions  # noqa: E402
from page import (  # noqa: E402
    OURS,
    disagreement,
    header,
    hook_table,
    in_short,
    judged,
    load,
    machine,
    table,
)

__all__ = ["CASES", "HOOKS", "PEERS", "disagreement", "main", "table"]

PEERS = {
    "tocsin_sbml": ("python-libsbml", "chemistry"), "tocsin_alone": ("", "sir"), "simpy": ("simpy", "mm1 phold"), "salabim": ("salabim", "mm1"),
    "ciw": ("ciw", "mm1"), "cimba": ("cimba", "mm1_counted phold"), "rebop": ("rebop", "chemistry"),
    "bioscrape": ("bioscrape", "chemistry"), "gillespy2": ("gillespy2 scons", "chemistry"),
    "copasi": ("copasi-basico", "chemistry"), "roadrunner": ("libroadrunner", "chemistry"),
    "eon": ("EoN", "sir sir_gillespie"),
}  # fmt: skip
"""What to install for each, and the kinds of cases that it enters."""
HOOKS = {
    "queue": ("a heap in C", ""), "cimba": ("Cimba", "cimba"), "extrusion": ("lefsim", "lefsim==0.1.0"),
    "rates": ("lefsim", "lefsim==0.1.0"), "mesa": ("Mesa", "mesa>=3.3,<3.4"), "sampling": ("nutpie", "arviz"),
}  # fmt: skip
"""Benchmarks of `tocsin bench` that race a peer themselves: what it is, and what to install."""
NUTPIE = {"nutpie": ["pymc", "nutpie", "arviz"]}
"""What pins an older Numba, and so has an environment of its own."""
SLOW = 10.0  # a peer that needs more CPU seconds runs once, its warm-up
PATIENCE, HOOK_PATIENCE = 900.0, 3_600.0  # seconds until a run is given up


class Contestant:
    """An adapter's process: started when it is needed, and again after it died."""

    def __init__(self, python, name):
        self.name, self._python, self._process = name, python, None

    def _started(self):
        # GillesPy2 starts Python without the environment, so its packages are named too
        places = (ROOT / "src", HERE, HERE / "adapters", packages_of(self._python))
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
        return subprocess.Popen(
            [self._python, str(HERE / "adapters" / f"{self.name}_.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True,
        )  # fmt: skip

    def run(self, case, seed):
        """Run a case once; return the reply, {"failed": why} if the process died or took too long."""
        self._process = self._process or self._started()
        late = threading.Timer(PATIENCE, self._process.kill)
        late.start()
        try:
            self._process.stdin.write(f"{case} {seed}\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            is_late = late.finished.is_set()
            late.cancel()
        if line:
            return json.loads(line)
        words = self._process.stderr.read().strip().splitlines() or ["it ended without a word"]
        self.close()
        return {"failed": f"no answer in {PATIENCE:.0f} s" if is_late else words[-1][:300]}

    def close(self):
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def race(case, contestants):
    """Run a case in rounds; return {name: replies of the rounds, or why there are none}."""
    found, most = {}, {}
    for one in contestants:  # the warm-up: compiles, and says who has this case at all
        reply = one.run(case.name, 0)
        if "skipped" not in reply:
            is_slow = reply.get("seconds", 0.0) > SLOW and one.name != OURS
            found[one.name] = reply.get("failed", [reply] if is_slow else [])
            most[one.name] = 1 if is_slow else case.rounds
    for seed in range(1, case.rounds + 1):
        for one in contestants:
            if isinstance(found.get(one.name), list) and len(found[one.name]) < most[one.name]:
                reply = one.run(case.name, seed)
                if "failed" in reply:
                    found[one.name] = reply["failed"]
                else:
                    found[one.name].append(reply)
    return found


def hook(python, name, nutpie):
    """Run a benchmark that races a peer itself; return its comparisons, and what stopped it, if anything."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TOCSIN_NUTPIE": nutpie}
    command = [python, "-m", "tocsin", "bench", name, "--json"]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=HOOK_PATIENCE)
        out, trouble = done.stdout, (done.stderr.strip().splitlines() or ["?"])[-1] if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        out, trouble = (late.stdout or b"").decode(), f"no end in {HOOK_PATIENCE:.0f} s"
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")], trouble[:300]


def main():
    """Parse, race, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", default=[], help="a case, a peer or a hook; may be repeated")
    parser.add_argument("--env", type=Path, default=ROOT / "build" / "peers", help="where the environments are made")
    parser.add_argument("--page", type=Path, help="the page that is written; by default only if all is raced")
    given = parser.parse_args()
    only = set(given.only)
    unknown = only - {c.name for c in CASES} - set(PEERS) - set(HOOKS)
    if unknown:
        parser.error(
            f"--only {unknown.pop()}: cases {[c.name for c in CASES]}, peers {list(PEERS)}, hooks {list(HOOKS)}"
        )
    is_case_asked = not only or bool(only - set(HOOKS))
    names = [n for n in PEERS if n in only and n not in HOOKS] or list(PEERS)
    cases = [c for c in CASES if c.name in only] or (CASES if is_case_asked else [])
    hooks = [h for h in HOOKS if h in only or not only]
    path = given.page or (None if only else PAGE)
    command = " ".join(["scripts/bench --peers", *(f"--only {one}" for one in given.only)])
    wanted = {
        OURS: NEEDS,
        **{n: PEERS[n][0].split() for n in names if cases},
        **{h: HOOKS[h][1].split() for h in hooks},
    }
    python, missing = make_environment(given.env / "all", wanted)
    nutpie, no_nutpie = os.environ.get("TOCSIN_NUTPIE", ""), {}
    if "sampling" in hooks and not nutpie:
        nutpie, no_nutpie = make_environment(given.env / "nutpie", NUTPIE)
    packages = versions(python, sorted({p.split("=")[0].split(">")[0] for ps in wanted.values() for p in ps}))
    packages += versions(nutpie, ["nutpie", "pymc"]) if "sampling" in hooks else []
    top = header(machine() + load() + " at the start", our_version(), packages, {**missing, **no_nutpie}, command)
    Race(top, path).run(python, cases, [n for n in names if n not in missing], missing, hooks, nutpie)


class Race:
    """The page while it grows."""

    def __init__(self, top, path):
        self.top, self.path = top, path
        self.sections, self.nearest = [], {}
        print("\n".join(top), flush=True)

    def run(self, python, cases, names, missing, hooks, nutpie):
        """Run cases, then hooks; the page is written after each."""
        contestants = [Contestant(python, n) for n in (OURS, *names)]
        for case in cases:
            about = f"`{case.name}`, {case.rounds} rounds{load()}."
            found = race(case, contestants)
            absent = {n: why for n, why in missing.items() if n in PEERS and enters(n, case.name)}
            lines, nearest = judged(case, found, absent)
            self.add(case.title, [about, "", *lines], nearest)
        for one in contestants:
            one.close()
        for name in hooks:
            title = f"`tocsin bench {name}`, against {HOOKS[name][0]}"
            about = f"The benchmark's own rounds{load()}."
            lines, nearest = hook_table(*hook(python, name, nutpie))
            self.add(title, [about, "", *lines], nearest)

    def add(self, title, lines, nearest):
        """Take a section; print it, and write the page as it stands."""
        lines = [f"## {title}", "", *lines]
        self.sections += lines
        self.nearest[title] = nearest
        print("\n".join(lines), flush=True)
        if self.path is not None:
            text = "\n".join([*self.top, *in_short(self.nearest), *self.sections]).rstrip() + "\n"
            self.path.write_text(text, encoding="utf-8")


def enters(name, case):
    """Say whether a peer has an adapter for a case."""
    kind = "chemistry" if case in CHEMISTRY else "phold" if case.startswith("phold_") else case
    return kind in PEERS[name][1].split()


def our_version():
    """Return the version that is raced."""
    sys.path.insert(0, str(ROOT / "src"))
    import tocsin

    return tocsin.__version__


if __name__ == "__main__":
    main()
