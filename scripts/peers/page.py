"""What the race found, as Markdown: a table a case, and what it comes to."""

import math
import os
import platform
import statistics
from pathlib import Path

OURS = "tocsin"
OURS_TOO = {"tocsin_sbml": "Tocsin, networks from SBML", "tocsin_alone": "Tocsin, a simulation for each"}
LIMIT = 4.5
WINS = " **(the peer wins)**"


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


def table(case, found, missing=()):
    """Return the lines of a case: speeds, ratios with their spread, or why there are none."""
    return judged(case, found, missing)[0]


def judged(case, found, missing=()):
    """Return a case's lines, and (ratio, peer) of the nearest peer, if any was raced."""
    ours = found.get(OURS)
    if not isinstance(ours, list):
        return [f"Ours failed: {ours}", ""], None
    work = case.work or statistics.mean(r["answers"]["events"] for r in ours)
    lines = [f"| | {case.unit} a CPU second | ours is faster by | answers |", "| --- | --- | --- | --- |"]
    lines.append(f"| **Tocsin** | {work / statistics.median(map(cost, ours)):,.4g} | | |")
    rows = [one_row(name, ours, replies, work) for name, replies in found.items() if name != OURS]
    rows += [(math.inf, name, f"| {name} | not installed: {why} | | |") for name, why in dict(missing).items()]
    raced = [(ratio, name) for ratio, name, _ in rows if ratio < math.inf and name not in OURS_TOO]
    return [*lines, *(row for *_, row in sorted(rows)), ""], min(raced, default=None)


def one_row(name, ours, replies, work):
    """Return (ratio, name, line) of one contestant."""
    label = OURS_TOO.get(name, name)
    if not isinstance(replies, list):
        return math.inf, name, f"| {label} | failed: {replies} | | |"
    wrong = disagreement(ours, replies)
    if wrong:
        return math.inf, name, f"| {label} | no time: the answers differ | | {wrong} |"
    ratios = sorted(cost(b) / max(cost(a), 1e-9) for a, b in zip(ours, replies, strict=False))
    ratio = statistics.median(ratios)
    verdict = WINS if ratio < 1.0 and name not in OURS_TOO else ""
    spread = f" ({ratios[0]:,.3g} to {ratios[-1]:,.3g})" if len(ratios) > 1 else " (one round)"
    speed = work / statistics.median(map(cost, replies))
    return ratio, name, f"| {label} | {speed:,.4g} | {ratio:,.3g}{spread}{verdict} | agree |"


def hook_table(comparisons, trouble=""):
    """Return the lines of a benchmark that races a peer itself, and (ratio, name) of its worst figure."""
    lines = ["| | ours | peer | unit | ratio |", "| --- | --- | --- | --- | --- |"]
    for one in comparisons:
        wins = WINS if one["ratio"] < 1.0 else ""
        ratio = f"{one['ratio']:,.3g}{wins}"
        lines.append(f"| {one['name']} | {one['ours']:,.4g} | {one['peer']:,.4g} | {one['unit']} | {ratio} |")
    if trouble:
        lines += ["", f"Stopped: {trouble}"]
    return [*lines, ""], min(((one["ratio"], one["name"]) for one in comparisons), default=None)


def in_short(nearest):
    """Return the summary: for each case the peer that came nearest; `nearest` is {title: (ratio, peer) or None}."""
    lines = ["## In short", "", "| case | nearest peer | ours is faster by |", "| --- | --- | --- |"]
    for title, found in nearest.items():
        lines.append(
            f"| {title} | {found[1]} | {found[0]:,.3g}{WINS if found[0] < 1.0 else ''} |"
            if found is not None
            else f"| {title} | none was raced | |"
        )
    lost = [title for title, found in nearest.items() if found is not None and found[0] < 1.0]
    said = f"A peer wins in {len(lost)} of {len(nearest)}: {'; '.join(lost)}." if lost else "No peer wins."
    return [*lines, "", said, ""]


def header(where, ours, packages, missing, command):
    """Return the first lines of the page."""
    lines = [
        "# The race against the peers", "",
        "Written by the script, as a whole; run it on your own machine. All figures are CPU time, medians over rounds in which",
        "each contestant runs once, in turn. A ratio above 1 says how many times faster Tocsin is, with the least and the greatest",
        "of the rounds. Compiling is before the first round, for all; making the simulation is inside. A time is shown only if",
        "the answers agree within their errors. A peer that needs more than ten seconds runs once. On a busy machine speeds are",
        "below those of a quiet one; the ratios are of runs in turn, so that both meet the same load.", "",
        f"- command: `{command}`", f"- machine: {where}",
        f"- Tocsin {ours}, Python {platform.python_version()}, {', '.join(packages)}",
    ]  # fmt: skip
    lines += [f"- not installed: {name}: {why}" for name, why in missing.items()]
    return [*lines, ""]


def machine():
    """Return the processor's name, and how many cores there are."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [x.partition(":")[2].strip() for x in info.read_text().splitlines() if x.startswith("model name")]
        cpu = names[0] if names else cpu
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}"


def load():
    """Return how busy the machine is, in words."""
    return f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
