"""A film of a swarm: robots, and their way so far."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tocsin.errors import InputError
from tocsin.models.swarm.summary import positions
from tocsin.models.swarm.world import SwarmWorld
from tocsin.run import Simulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

KINDS = (".gif", ".mp4")
SIZE = 500
"""Width and height of a frame, in pixels."""
LENGTH = 30
"""Frames that a robot's way stays visible."""


def film_swarm(
    path: Path, simulation: Simulation[SwarmWorld], until: float, *, frames: int = 120, fps: int = 20
) -> None:
    """Run a swarm to a time and write a film of it.

    Parameters
    ----------
    path : .gif, or .mp4 (needs imageio-ffmpeg)
    simulation : of a swarm, from where it stands
    until : the time at the end, > now
    frames : number of pictures, evenly in time
    fps : pictures a second

    Raises InputError for another kind of file or a time that has passed, or if Matplotlib or imageio-ffmpeg is missing.
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


def _write(path: Path, shots: NDArray[np.float64], times: NDArray[np.float64], fps: int) -> None:
    pictures = _pictures(shots, times)
    if path.suffix == ".gif":
        from PIL import Image

        first, *others = [Image.fromarray(picture).quantize(32, Image.Quantize.FASTOCTREE) for picture in pictures]
        first.save(path, save_all=True, append_images=others, duration=1000 // fps, loop=0)
        return
    try:
        from imageio_ffmpeg import write_frames
    except ImportError:
        raise InputError("an .mp4 needs imageio-ffmpeg; run: pip install 'tocsin[film]', or write a .gif") from None
    stream = write_frames(str(path), (SIZE, SIZE), fps=fps, macro_block_size=2)
    stream.send(None)
    for picture in pictures:
        stream.send(np.ascontiguousarray(picture))
    stream.close()


def _pictures(shots: NDArray[np.float64], times: NDArray[np.float64]) -> Iterator[NDArray[np.uint8]]:
    """Yield each frame, SIZE x SIZE x 3. Axes are drawn once, as they take most of the time."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("a film needs Matplotlib; run: pip install 'tocsin[film]'") from None
    figure = Figure(figsize=(SIZE / 100, SIZE / 100), dpi=100, layout="constrained")
    canvas, axes = FigureCanvasAgg(figure), figure.add_subplot()
    low, high = shots.min(axis=(0, 1)), shots.max(axis=(0, 1))
    pad = 0.05 * max(*(high - low), 1e-9)
    axes.set(xlim=(low[0] - pad, high[0] + pad), ylim=(low[1] - pad, high[1] + pad), aspect="equal", title=" ")
    tails = [axes.plot([], [], "-", color="0.8", linewidth=0.8, animated=True)[0] for _ in range(shots.shape[1])]
    (dots,) = axes.plot([], [], "o", color="#0b5fa5", markersize=4, animated=True)
    canvas.draw()
    ground = canvas.copy_from_bbox(figure.bbox)
    for k, here in enumerate(shots):
        canvas.restore_region(ground)
        for i, tail in enumerate(tails):
            tail.set_data(*shots[max(0, k - LENGTH) : k + 1, i].T)
            axes.draw_artist(tail)
        dots.set_data(*here.T)
        axes.title.set_text(f"t = {times[k]:.4g}")
        for artist in (dots, axes.title):
            axes.draw_artist(artist)
        yield np.array(canvas.buffer_rgba())[:, :, :3]
