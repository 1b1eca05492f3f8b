"""Chains at work in threads, with files, a progress bar, and an orderly end at Ctrl-C."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from tocsin.models.sampling._chain import Chain
from tocsin.models.sampling._checkpoint import Files
from tocsin.models.sampling.estimates import batch_ess, split_rhat

SAVED_EVERY = 30.0
"""Seconds between two saves of a chain."""
WATCHED = 20
"""Coordinates of which the progress bar follows R-hat and effective sample sizes."""


class _Stopped(Exception):
    """The main thread asked for an end."""


class Work:
    """Runs chains to their draws."""

    def __init__(self, chains: Sequence[Chain], draws: int, tune: float, every: float, kept: list[int]) -> None:
        self.chains, self.draws, self.tune, self.every, self.kept = chains, draws, tune, every, kept
        self.files: Files | None = None
        self._stop = threading.Event()

    def run(self, threads: int, progress: bool) -> None:
        """Run all chains. On Ctrl-C each ends between two events, is saved if there are files, and the interrupt goes on."""
        with ThreadPoolExecutor(threads) as pool:
            jobs = [pool.submit(self._one, k) for k in range(len(self.chains))]
            try:
                self._watch(jobs, progress)
            except BaseException:
                self._stop.set()
                raise
        for job in jobs:
            job.result()

    def _one(self, number: int) -> None:
        chain = self.chains[number]
        saved = [time.monotonic()]

        def after_slice() -> None:
            if self._stop.is_set():
                raise _Stopped
            if self.files is not None and time.monotonic() - saved[0] > SAVED_EVERY:
                self.files.save(chain, number)
                saved[0] = time.monotonic()

        if self.files is not None and self.files.load(chain, number):
            chain.extend(self.draws)
        else:
            chain.warm_up(self.tune)
            chain.record(self.draws, self.every, self.kept)
        with contextlib.suppress(_Stopped):
            chain.run(after_slice)
        if self.files is not None:
            self.files.save(chain, number)

    def _watch(self, jobs: list[Future[None]], progress: bool) -> None:
        if not progress:
            self._until_done(jobs, None)
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("draws"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
        )
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("warm-up", total=self.draws * len(self.chains))

            def show() -> None:
                done = sum(c.n_drawn for c in self.chains)
                bar.update(task, completed=done, description=self.state())

            self._until_done(jobs, show)

    def _until_done(self, jobs: list[Future[None]], show: Any) -> None:
        while True:
            done, left = wait(jobs, timeout=0.25)
            if show is not None:
                show()
            for job in done:
                job.result()
            if not left:
                return

    def state(self) -> str:
        """Return R-hat and least effective sample size of what is drawn so far, in words."""
        n = min(c.n_drawn for c in self.chains)
        if n < 20:
            return "warm-up"
        draws = np.stack([c.draws()[:n, :WATCHED] for c in self.chains])
        areas = np.stack([c.areas()[:n, :WATCHED] for c in self.chains]) / self.every
        ess, _ = batch_ess(areas, draws.var(axis=(0, 1)))
        known = ess[~np.isnan(ess)]
        least = f"{known.min():.0f}" if len(known) == len(ess) else "not known yet"
        return f"R-hat {split_rhat(draws).max():.3f}, least ESS {least}"
