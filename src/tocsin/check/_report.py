"""Verdicts, and the table of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["pass", "finding", "skipped"]


@dataclass(frozen=True)
class Verdict:
    """What one check says: pass, finding, or skipped and why."""

    name: str
    status: Status
    detail: str


@dataclass(frozen=True)
class Report:
    """All verdicts on one model. As text it is a table of them."""

    model: str
    seed: int
    verdicts: tuple[Verdict, ...]

    @property
    def findings(self) -> tuple[Verdict, ...]:
        """The verdicts that found something."""
        return tuple(verdict for verdict in self.verdicts if verdict.status == "finding")

    @property
    def is_clean(self) -> bool:
        """Say whether nothing was found."""
        return not self.findings

    def __getitem__(self, name: str) -> Verdict:
        """Return the verdict of a name. Raises KeyError."""
        for verdict in self.verdicts:
            if verdict.name == name:
                return verdict
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `tocsin check --json` prints them."""
        verdicts = [{"name": v.name, "status": v.status, "detail": v.detail} for v in self.verdicts]
        return {"model": self.model, "seed": self.seed, "is_clean": self.is_clean, "verdicts": verdicts}

    def __str__(self) -> str:
        wide = max((len(verdict.name) for verdict in self.verdicts), default=0)
        return "\n".join(f"{v.status:<7}  {v.name:<{wide}}  {v.detail}" for v in self.verdicts)
