"""A film of a swarm: robots, their way so far, and the links between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tocsin.errors import InputError
from tocsin.models.swarm.summary import positions
from tocsin.models.swarm.world import SwarmWorld
from tocsin.run import Simulation

KINDS = (".gif", ".mp4")
LENGTH = 30
"""Frames that a robot's way stays visible."""


def film_swarm(
    path: Path, simulation: Simulation[SwarmWorld], until: float, *, frames: int = 120, fps: int = 20
) -> None:
    """Run a swarm to a time and write a film of it.

    Parameters
    ----------
    path : .gif, or .mp4 (needs ffmpeg)
    simulation : of a swarm, from where it stands
    until : the time at the end, > now
    frames : number of pictures, evenly in time
    fps : pictures a second

    Raises InputError for another kind of file or a time that has passed, or if Matplotlib (or ffmpeg) is missing.
    """
    if path.suffix not in KINDS:
        raise InputError(f"a film is one of {', '.join(KINDS)}, got {str(path)!r}")
    if not until > simulation.now:
        raise InputError(f"until must be > {simulation.now:g}, the time now, got {until}")
    shots = [positions(simulation.world, simulation.now)]
    times = np.linspace(simulation.now, until, max(2, frames))
    for time in times[1:]:
        simulation.run(until=float(time))
        shots.append(positions(simulation.world, simulation.now))
    _write(path, np.array(shots), times, fps)


def _write(path: Path, shots: Any, times: Any, fps: int) -> None:
    try:
        from matplotlib.animation import FFMpegWriter, PillowWriter
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("a film needs Matplotlib; run: pip install 'tocsin[plot]'") from None
    if path.suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise InputError("an .mp4 needs the program ffmpeg; write a .gif, or install ffmpeg")
    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.add_subplot()
    low, high = shots.min(axis=(0, 1)), shots.max(axis=(0, 1))
    pad = 0.05 * max(*(high - low), 1e-9)
    axes.set(xlim=(low[0] - pad, high[0] + pad), ylim=(low[1] - pad, high[1] + pad), aspect="equal")
    tails = [axes.plot([], [], "-", color="0.8", linewidth=0.8)[0] for _ in range(shots.shape[1])]
    (dots,) = axes.plot([], [], "o", color="#0b5fa5", markersize=4)
    writer = PillowWriter(fps=fps) if path.suffix == ".gif" else FFMpegWriter(fps=fps)
    with writer.saving(figure, str(path), dpi=100):
        for k, here in enumerate(shots):
            for i, tail in enumerate(tails):
                tail.set_data(*shots[max(0, k - LENGTH) : k + 1, i].T)
            dots.set_data(*here.T)
            axes.set_title(f"t = {times[k]:.4g}")
            writer.grab_frame()
