"""Chains in files: written now and then, taken up again bit for bit, or carried on for more draws."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tocsin.errors import InputError
from tocsin.models.sampling._chain import Chain
from tocsin.run import Simulation
from tocsin.run._driver import memory_of


def fingerprint(chain: Chain, settings: dict[str, Any]) -> str:
    """Return a hash of how a chain starts: its world, seed and settings, but for the number of draws."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    digest.update(str(chain.simulation.seed).encode())
    for name, values in memory_of(chain.world).items():
        digest.update(f"{name}:{values.shape};".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


class Files:
    """The files of all chains of one `sample`, in a folder."""

    def __init__(self, folder: str | Path, chains: Sequence[Chain], settings: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.marks = [fingerprint(c, settings) for c in chains]

    def save(self, chain: Chain, number: int) -> None:
        """Write one chain: first what was taken out of its simulation, then the simulation, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        chain.take_knots()
        n = chain.simulation.n_events
        parts: dict[str, Any] = {"kept": np.array(chain.kept), "offset": chain.offset, "mark": self.marks[number]}
        if chain.knots:
            parts["knots"] = np.concatenate(chain.knots)
        if chain.scale is not None and chain.centre is not None:
            parts |= {"scale": chain.scale, "centre": chain.centre}
        np.savez(self._parts(number, n), **parts)
        chain.simulation.save(self._path(number))
        for old in self.folder.glob(f"chain-{number}-*.npz"):
            if old != self._parts(number, n):
                old.unlink()

    def load(self, chain: Chain, number: int) -> bool:
        """Bring a chain to where its file left it; False if there is none. Raises InputError for another run's file."""
        path = self._path(number)
        if not path.exists():
            return False
        found: Simulation[Any] = Simulation.load(path, chain.simulation.model)
        at = self._parts(number, found.n_events)
        if not at.exists():
            raise InputError(f"{at} is missing: it belongs to {path}. Remove the folder and start anew")
        with np.load(at, allow_pickle=False) as parts:
            if str(parts["mark"]) != self.marks[number]:
                raise InputError(
                    f"{path} is of another run: target, seed, sampler, chains, tune, spacing, keep or start differ. "
                    f"Use the same, or another folder"
                )
            chain.kept, chain.offset = parts["kept"].tolist(), parts["offset"]
            chain.knots = [parts["knots"]] if "knots" in parts else []
            if "scale" in parts:
                chain.scale, chain.centre = parts["scale"], parts["centre"]
        chain.resume(found)
        return True

    def _path(self, number: int) -> Path:
        return self.folder / f"chain-{number}.tocsin"

    def _parts(self, number: int, n_events: int) -> Path:
        return self.folder / f"chain-{number}-{n_events}.npz"
