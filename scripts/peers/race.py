"""Race against the peers: `scripts/bench --peers [--only NAME]`; writes docs/background/race.md.

Makes an environment of its own (build/peers, or --env), installs Tocsin's needs and each peer from
PyPI, and runs every case in rounds: each contestant once a round, in turn, each in a process of its
own that stays alive. What counts is CPU time. A time is printed only if the answers agree.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "background" / "race.md"
sys.path.insert(0, str(HERE))

from cases import CASES  # noqa: E402

OURS = "tocsin"
PEERS = {
    "simpy": "simpy", "salabim": "salabim", "ciw": "ciw", "cimba": "cimba", "rebop": "rebop",
    "bioscrape": "bioscrape", "gillespy2": "gillespy2 scons", "copasi": "copasi-basico", "roadrunner": "libroadrunner",
    "eon": "EoN",
}  # fmt: skip
HOOKS = {
    "extrusion": ("lefsim", "lefsim==0.1.0"), "rates": ("lefsim", "lefsim==0.1.0"), "queue": ("C heap", ""),
    "mesa": ("Mesa", "mesa>=3.3"), "sampling": ("nutpie, numpyro, blackjax", "nutpie numpyro blackjax"),
}  # fmt: skip
"""Benchmarks of `tocsin bench` that race a peer themselves: what it is, and what to install."""
NEEDS = ["numpy", "numba", "pyarrow", "pydantic", "typer", "rich", "scipy"]
LIMIT, SLOW = 4.5, 10.0  # a peer that needs more CPU seconds runs once, its warm-up


class Contestant:
    """An adapter's process."""

    def __init__(self, python, name):
        self.name, path = name, HERE / "adapters" / f"{name}_.py"
        places = (
            ROOT / "src",
            HERE,
            HERE / "adapters",
            packages_of(python),
        )  # GillesPy2 starts Python without the environment
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
        self._process = subprocess.Popen(
            [python, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            text=True,
        )

    def run(self, case, seed):
        """Run a case once; return the reply, {"failed": why} if the process died."""
        try:
            self._process.stdin.write(f"{case} {seed}\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        words = self._process.stderr.read().strip().splitlines() or ["it ended without a word"]
        return {"failed": words[-1][:300]}

    def close(self):
        """End the process."""
        self._process.kill()
        self._process.wait()


def make_environment(folder, names, hooks):
    """Return the environment's Python, and {peer: why} for each that cannot be installed."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    missing = {}
    wanted = {OURS: NEEDS, **{name: PEERS[name].split() for name in names}, **{h: HOOKS[h][1].split() for h in hooks}}
    for name, packages in wanted.items():
        if not packages:
            continue
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            missing[name] = (done.stderr.strip().splitlines() or ["pip failed"])[-1][:200]
    return str(python), missing


def packages_of(python):
    """Return where the environment's packages lie."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


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


def disagreement(ours, theirs):
    """Return which answer differs by more than its error allows, or ''.

    Means over rounds, Student's t at the level of 4.5 standard errors; one round of a peer is
    held against the spread of ours.
    """
    from scipy.stats import norm, t

    for name in ours[0]["answers"].keys() & theirs[0]["answers"].keys():
        a, b = ([r["answers"][name] for r in replies] for replies in (ours, theirs))
        spread = [statistics.variance(x) if len(x) > 1 else None for x in (a, b)]
        known = [s for s in spread if s is not None] or [0.0]
        error = math.sqrt(sum((known[-1] if s is None else s) / len(x) for s, x in zip(spread, (a, b), strict=True)))
        limit = t.isf(norm.sf(LIMIT), max(len(a) + len(b) - 2, 1))
        if not abs(statistics.mean(a) - statistics.mean(b)) <= limit * error + 1e-9:
            return f"{name}: {statistics.mean(a):.6g} of ours, {statistics.mean(b):.6g} of theirs"
    return ""


def cost(reply):
    """Return the CPU seconds of a run, those of a child process included."""
    return reply["seconds"] + reply["answers"].get("child_seconds", 0.0)


def table(case, found):
    """Return the lines of a case for the page: speeds, ratios with their spread, or why not."""
    ours = found.get(OURS)
    if not isinstance(ours, list):
        return [f"Ours failed: {ours}", ""]
    work = case.work or statistics.mean(r["answers"]["events"] for r in ours)
    lines = [f"| | {case.unit} a CPU second | ours is faster by | answers |", "| --- | --- | --- | --- |"]
    lines.append(f"| **Tocsin** | {work / statistics.median(map(cost, ours)):,.4g} | | |")
    rows = []
    for name, replies in found.items():
        if name == OURS:
            continue
        if not isinstance(replies, list):
            rows.append((math.inf, f"| {name} | failed: {replies} | | |"))
            continue
        wrong = disagreement(ours, replies)
        if wrong:
            rows.append((math.inf, f"| {name} | no time: the answers differ | | {wrong} |"))
            continue
        ratios = sorted(cost(b) / max(cost(a), 1e-9) for a, b in zip(ours, replies, strict=False))
        ratio = statistics.median(ratios)
        verdict = " **(the peer wins)**" if ratio < 1.0 else ""
        speed = work / statistics.median(map(cost, replies))
        rows.append(
            (
                ratio,
                f"| {name} | {speed:,.4g} | {ratio:,.3g} ({ratios[0]:,.3g} to {ratios[-1]:,.3g}){verdict} | agree |",
            )
        )
    return [*lines, *(row for _, row in sorted(rows)), ""]


def hook(python, name):
    """Return the lines of a benchmark that races a peer itself."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [python, "-m", "tocsin", "bench", name, "--json"], env=env, capture_output=True, text=True, timeout=1_800
    )
    lines = ["| | ours | peer | unit | ratio |", "| --- | --- | --- | --- | --- |"]
    for line in done.stdout.splitlines():
        one = json.loads(line)
        wins = " **(the peer wins)**" if one["ratio"] < 1.0 else ""
        lines.append(
            f"| {one['name']} | {one['ours']:,.4g} | {one['peer']:,.4g} | {one['unit']} | {one['ratio']:.3g}{wins} |"
        )
    if done.returncode != 0:
        lines.append(f"\nStopped: {(done.stderr.strip().splitlines() or ['?'])[-1][:300]}")
    return [*lines, ""]


def known_hooks():
    """Return the hooks that this version has."""
    sys.path.insert(0, str(ROOT / "src"))
    from tocsin.cli._benchmarks import BENCHMARKS

    return [name for name in HOOKS if name in BENCHMARKS]


def versions(python, names):
    """Return 'name version' for each package of the environment that took part."""
    code = "import sys, importlib.metadata as m; [print(p, m.version(p)) for p in sys.argv[1:]]"
    found = []
    for name in names:
        done = subprocess.run([python, "-c", code, name], capture_output=True, text=True)
        found.append(done.stdout.strip() or f"{name} (not installed)")
    return found


def machine():
    """Return the processor's name and how busy the machine is."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next(
            (x.partition(":")[2].strip() for x in info.read_text().splitlines() if x.startswith("model name")), cpu
        )
    load = f", load average {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}{load}"


def main():
    """Parse, race, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", default=[], help="a case, a peer or a hook; may be repeated")
    parser.add_argument("--env", type=Path, default=ROOT / "build" / "peers", help="where the environment is made")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that is written; '-' prints only")
    given = parser.parse_args()
    hooks, only = known_hooks(), set(given.only)
    unknown = only - {c.name for c in CASES} - set(PEERS) - set(hooks)
    if unknown:
        parser.error(f"--only {unknown.pop()}: cases {[c.name for c in CASES]}, peers {list(PEERS)}, hooks {hooks}")
    names = [n for n in PEERS if n in only] or list(PEERS)
    cases = [c for c in CASES if c.name in only] or ([] if only & set(hooks) and not only & set(PEERS) else CASES)
    hooks = [h for h in hooks if h in only or not only]
    where = machine()
    python, missing = make_environment(given.env, names if cases else [], hooks)
    contestants = [Contestant(python, n) for n in (OURS, *names) if n not in missing] if cases else []
    command = " ".join(["scripts/bench --peers", *(f"--only {one}" for one in given.only)])
    page = header(where, python, names, missing, command)
    for case in cases:
        lines = [f"## {case.title}", "", f"`{case.name}`, {case.rounds} rounds.", ""]
        page = told(page, [*lines, *table(case, race(case, contestants))], given.page)
    for one in contestants:
        one.close()
    for name in hooks:
        lines = [f"## `tocsin bench {name}`, against {HOOKS[name][0]}", "", *hook(python, name)]
        page = told(page, lines, given.page)


def told(page, lines, path):
    """Return the page with more lines; print them, and write it as it stands."""
    print("\n".join(lines), flush=True)
    page = [*page, *lines]
    if str(path) != "-":
        path.write_text("\n".join(page).rstrip() + "\n", encoding="utf-8")
    return page


def header(where, python, names, missing, command):
    """Return the first lines of the page."""
    sys.path.insert(0, str(ROOT / "src"))
    import tocsin

    peers = versions(python, ["numpy", "numba", *(PEERS[n].split()[0] for n in names)])
    lines = [
        "# The race against the peers", "",
        "Written by the script; run it on your own machine. All figures are CPU time, medians over rounds in which each",
        "contestant runs once, in turn. A ratio above 1 says how many times faster Tocsin is, with the least and the greatest",
        "of the rounds. Compiling is before the first round, for all; making the simulation is inside. A time is shown only if",
        "the answers agree within their errors.", "",
        f"- command: `{command}`", f"- machine: {where}",
        f"- Tocsin {tocsin.__version__}, Python {platform.python_version()}, {', '.join(peers)}",
    ]  # fmt: skip
    lines += [f"- not installed: {name}: {why}" for name, why in missing.items()]
    return [*lines, ""]


if __name__ == "__main__":
    main()
