"""What a save holds of composition-rejection: each clock's rate and place, each level's bound and rank.

Which clock a draw chooses depends on the order within a level and of the levels; where their pages
lie in memory does not matter, so they are dealt anew.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tocsin.kernel import Clockwork
from tocsin.kernel._rates import LEAST_RATE, MOST_RATE, level_of, raise_bound
from tocsin.kernel._state import IN_PAGE, N_DRAWS, N_LEVELS, PAGE_BITS
from tocsin.run._archive import damaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT_RATES = {"rated": ("rate", "place"), "levels": ("bound", "rank"), "draws": ("wait", "place")}
KEPT_RATES_SCALARS = ("rated_time", "rated_slot", "rated_epoch", "n_drawn")


def restore_rates(kernel: Clockwork, may_ring: NDArray[Any], label: str) -> None:
    """Deal the clocks to the levels as they stood; `kernel` holds what was kept.

    `may_ring` says for each slot whether its clock may have a rate. Raises InputError.
    """

    rates = kernel.rated["rate"]
    if not kernel.started or not len(rates):
        begun = kernel.rated_time != math.inf or kernel.rated_epoch != 0 or kernel.n_drawn != N_DRAWS
        if rates.any() or begun:
            raise damaged(label, "no clock may have a rate, and one does")
        kernel.rated_slot = 0
        return
    fits = (rates == 0.0) | ((rates >= LEAST_RATE) & (rates <= MOST_RATE))
    if not fits.all() or rates[~may_ring].any():
        raise damaged(label, "a clock has a rate that it cannot have")
    _deal(kernel, _levels(rates), label)
    _check_next(kernel, label)


def _levels(rates: NDArray[Any]) -> NDArray[Any]:
    """Return the level of every rate, -1 for none (see `kernel._rates.level_of`)."""
    import numpy as np

    exponents = (rates.view(np.int64) >> 52) - (1023 - N_LEVELS // 2)
    return np.where(rates == 0.0, -1, exponents)


def _deal(kernel: Clockwork, level: NDArray[Any], label: str) -> None:
    """Write members, pages and the list of levels in use; check places, ranks and bounds."""
    import numpy as np

    rated, levels = kernel.rated, kernel.levels
    rated["level"][:] = level
    used = np.flatnonzero(np.bincount(level[level >= 0], minlength=N_LEVELS))
    used = used[np.argsort(levels["rank"][used], kind="stable")]
    if not np.array_equal(levels["rank"][used], np.arange(len(used))):
        raise damaged(label, "the levels of its rates have no order")
    kernel.n_used = len(used)
    kernel.used.values[: len(used)] = used
    for number in used.tolist():
        slots = np.flatnonzero(level == number)
        order = np.argsort(rated["place"][slots], kind="stable")
        if not np.array_equal(rated["place"][slots[order]], np.arange(len(slots))):
            raise damaged(label, "the clocks of a level have no order")
        bound = levels["bound"].item(number)
        _check_bound(bound, float(rated["rate"][slots].max()), number, label)
        levels["n"][number] = len(slots)
        raise_bound(levels[number], bound)
        _lay(kernel, number, slots[order])
    kernel.total = 0.0
    for number in used.tolist():  # in this order: the sum's rounding belongs to the trajectory
        kernel.total += levels["weight"].item(number)
    kernel.mean_wait = 1.0 / kernel.total if kernel.total > 0.0 else math.inf


def _lay(kernel: Clockwork, number: int, slots: NDArray[Any]) -> None:
    """Put the clocks of a level on free pages."""
    for page in range((len(slots) + IN_PAGE) >> PAGE_BITS):
        kernel.n_free_pages -= 1
        at = kernel.free_pages.values[kernel.n_free_pages]
        kernel.pages.values[number, page] = at
        piece = slots[page << PAGE_BITS : (page + 1) << PAGE_BITS]
        start = int(at) << PAGE_BITS
        kernel.members.values[start : start + len(piece)] = piece


def _check_bound(bound: float, most: float, number: int, label: str) -> None:
    """Refuse a bound below a rate, or of another power of two."""
    if not (most <= bound <= MOST_RATE and level_of(bound) == number):
        raise damaged(label, f"the bound {bound!r} of its rates up to {most!r} cannot be")


def _check_next(kernel: Clockwork, label: str) -> None:
    import numpy as np

    slot, draws = kernel.rated_slot, kernel.draws
    fits = (
        kernel.total < math.inf
        and 0 <= slot < len(kernel.rated)
        and kernel.rated_time >= kernel.now
        and (kernel.rated_time == math.inf or kernel.rated["rate"][slot] > 0.0)
        and kernel.rated_epoch >= 0
        and 0 <= kernel.n_drawn <= N_DRAWS
        and bool((np.isfinite(draws["wait"]) & (draws["wait"] >= 0.0)).all())
        and bool(((draws["place"] >= 0.0) & (draws["place"] < 1.0)).all())
    )
    if not fits:
        raise damaged(label, "the next event of its rates, or the draws made ahead, cannot be")
