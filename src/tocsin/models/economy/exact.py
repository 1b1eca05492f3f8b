"""Exact answers for pulls: the number until a hit is a Markov chain on the misses so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.errors import InputError
from tocsin.models.economy.config import ClassTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

TAIL = 1e-15
MOST_PULLS = 2_000_000
"""Of a law; longer ones are refused, not cut short."""
LEFT_OUT = 1e-12
LONG = 4096
"""Entries from which a convolution goes by Fourier transforms."""


@dataclass(frozen=True)
class PullLaw:
    """How many pulls it takes: `probability[n - 1]` of exactly n, shape (most,); what is left out is below 1e-12."""

    probability: NDArray[Any]

    @property
    def mean(self) -> float:
        """Return the expected number of pulls."""
        return float((np.arange(1, len(self.probability) + 1) * self.probability).sum())

    @property
    def sd(self) -> float:
        """Return the standard deviation."""
        n = np.arange(1, len(self.probability) + 1)
        return float(np.sqrt(((n - self.mean) ** 2 * self.probability).sum()))

    def within(self, pulls: int) -> float:
        """Return the probability of success within so many pulls."""
        return float(self.probability[: max(0, pulls)].sum())

    def pulls_for(self, share: float) -> int:
        """Return how many pulls are enough for a share of the players. Raises InputError unless 0 < share < 1."""
        if not 0.0 < share < 1.0:
            raise InputError(f"share must be in (0, 1), got {share!r}")
        return int(np.searchsorted(np.cumsum(self.probability), share) + 1)

    def then(self, other: PullLaw) -> PullLaw:
        """Return the law of the sum of two. Raises InputError if it is longer than 2,000,000 pulls."""
        total = np.concatenate([[0.0], _convolved(self.probability, other.probability)])
        beyond = np.cumsum(total[::-1])[::-1]
        total = total[: max(1, int((beyond > TAIL).sum()))]
        if len(total) > MOST_PULLS:
            raise _too_long()
        return PullLaw(total)


def _convolved(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    if min(len(a), len(b)) < LONG:
        return np.convolve(a, b)
    n = len(a) + len(b) - 1
    size = 1 << n.bit_length()
    found = np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(b, size), size)[:n]
    return np.maximum(found, 0.0)


def _too_long() -> InputError:
    return InputError(
        f"more than {MOST_PULLS:,} pulls may be needed: no table of all of them is made. Give a higher rate, a pity (hard) "
        "or fewer copies; without pity, 1 / rate pulls are needed on average"
    )


def pulls_to_hit(rate: float, *, hard: int = 0, soft_start: int = 0, soft_step: float = 0.0) -> PullLaw:
    """Return the law of the pulls to a hit from fresh.

    Pull n hits with probability rate, from n = soft_start on with soft_step more at each pull, and for certain at
    n = hard. Raises InputError for numbers out of range, or if more than 2,000,000 pulls may be needed.
    """
    one = ClassTable.model_construct(rate=rate, hard=hard, soft_start=soft_start, soft_step=soft_step)
    if not 0.0 <= rate <= 1.0 or not 0.0 <= soft_step <= 1.0 or hard < 0 or soft_start < 0:
        raise InputError("rate and soft_step must be in 0..1, hard and soft_start >= 0")
    if rate == 0.0 and hard == 0 and (soft_step == 0.0 or soft_start == 0):
        raise InputError("a hit never comes: rate is 0, and there is no pity")
    found: list[float] = []
    left = 1.0
    while left > TAIL and len(found) < MOST_PULLS:
        p = chance_at(one, len(found))
        found.append(left * p)
        left *= 1.0 - p
    if left > LEFT_OUT:
        raise _too_long()
    return PullLaw(np.array(found))


def chance_at(one: ClassTable, misses: int) -> float:
    """Return the probability of a hit after so many misses."""
    n = misses + 1
    if 0 < one.hard <= n:
        return 1.0
    raised = max(0, n - one.soft_start + 1) * one.soft_step if one.soft_start > 0 else 0.0
    return min(1.0, one.rate + raised)


def pulls_to_featured(hit: PullLaw, share: float, *, carry_over: bool = True, copies: int = 1) -> PullLaw:
    """Return the law of the pulls to so many featured hits, from fresh.

    A hit is featured with probability `share`; with `carry_over` the hit after one that is not is featured for certain.
    Raises InputError for a share outside (0, 1], copies outside 1..20, or a law that is too long to be written down.
    """
    if not 0.0 < share <= 1.0 or not 1 <= copies <= 20:
        raise InputError(f"share must be in (0, 1] and copies in 1..20, got {share!r} and {copies!r}")
    if share == 1.0:
        law = hit
    elif carry_over:
        second = hit.then(hit)
        one = np.zeros(max(len(second.probability), len(hit.probability)))
        one[: len(hit.probability)] = share * hit.probability
        one[: len(second.probability)] += (1.0 - share) * second.probability
        law = PullLaw(one)
    else:
        law = _geometric(hit, share)
    total = law
    for _ in range(copies - 1):
        total = total.then(law)
    return total


def _geometric(hit: PullLaw, share: float) -> PullLaw:
    """Return the law of the sum of a geometric number of hits: a renewal equation, solved pull by pull."""
    f = hit.probability
    found: list[float] = []
    left = 1.0
    while left > TAIL and len(found) < 100_000 and len(f) <= LONG:
        n = len(found)
        past = np.array(found[max(0, n - len(f)) :])
        direct = f[n] if n < len(f) else 0.0
        again = float((past[::-1] * f[: len(past)]).sum()) if len(past) else 0.0
        found.append(share * direct + (1.0 - share) * again)
        left -= found[-1]
    if left > LEFT_OUT:
        raise InputError(
            f"a law of {len(f):,} pulls to a hit, of which {share:g} are featured, without carry-over, is too long to be solved "
            f"(at most {LONG:,}, and 100,000 in all); simulate it with draws_to_target"
        )
    return PullLaw(np.array(found))
