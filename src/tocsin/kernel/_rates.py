"""Composition-rejection: the next event of all clocks with a rate, in constant time.

Clocks that state a `rate` stand in levels, one for each power of two of the rate. Each level
has a bound, the largest rate that came to it since it was last empty. A candidate event comes after
an exponential wait at the sum of all bounds; a level is chosen by its share of that sum, a clock in
it uniformly, and the candidate is an event with probability rate / bound (at least 1/2 within one
power of two, 1 if the level's rates are equal). A candidate that is none still lets its wait
pass (thinning), so the law is exact and no sum of rates is kept that rounding could spoil.

Composition-rejection: Slepoy, Thompson and Plimpton 2008, doi:10.1063/1.2919546. Thinning: Lewis
and Shedler 1979, doi:10.1002/nav.3800260304.
"""

from __future__ import annotations

from typing import Any

from tocsin.kernel._bits import float_bits, unit53
from tocsin.kernel._philox import philox_fill
from tocsin.kernel._rng import MASK32
from tocsin.kernel._state import IN_PAGE, N_DRAWS, N_LEVELS, PAGE_BITS, RATES_PURPOSE
from tocsin.kernel._ziggurat import IN_STRIPS, edge, outside
from tocsin.schema import NEVER

NO_LEVEL, NOT_CHOSEN = -1, -1
LEAST_RATE, MOST_RATE = 2.0**-128, 2.0**127
"""Rates other than 0 must lie here: each has a level of its own power of two."""
_MIDDLE = 1023 - N_LEVELS // 2


def set_rate(kernel: Any, slot: int, rate: float) -> bool:
    """Give a clock its new rate; 0 takes it out. False if it is neither 0 nor within the range."""
    if not (rate == 0.0 or LEAST_RATE <= rate <= MOST_RATE):
        kernel.stop_time = rate
        return False
    rated = kernel.rated[slot]
    kernel.is_unsettled = 1
    rated.rate = rate
    number = level_of(rate)
    if number != rated.level:
        if rated.level != NO_LEVEL:
            leave(kernel, rated)
        if number != NO_LEVEL:
            join(kernel, number, slot)
    elif rate > kernel.levels[number].bound:
        raise_bound(kernel.levels[number], rate)
    return True


def level_of(rate: float) -> int:
    """Return the level of a rate: its binary exponent, counted from that of the least."""
    if rate == 0.0:
        return NO_LEVEL
    return (float_bits(rate) >> 52) - _MIDDLE


def join(kernel: Any, number: int, slot: int) -> None:
    """Add a clock to a level."""
    level, rated = kernel.levels[number], kernel.rated[slot]
    place = level.n
    if place == 0:
        level.bound = 0.0
        level.rank = kernel.n_used
        kernel.used[kernel.n_used] = number
        kernel.n_used += 1
    if place & IN_PAGE == 0:
        kernel.n_free_pages -= 1
        kernel.pages[number, place >> PAGE_BITS] = kernel.free_pages[kernel.n_free_pages]
    kernel.members[place_of(kernel, number, place)] = slot
    rated.level = number
    rated.place = place
    level.n = place + 1
    raise_bound(level, max(level.bound, rated.rate))


def raise_bound(level: Any, rate: float) -> None:
    """Let a level hold a larger rate."""
    level.bound = rate
    level.inverse = 1.0 / rate
    level.weight = level.n * rate


def place_of(kernel: Any, number: int, place: int) -> int:
    """Return where in `members` a place of a level's list is."""
    return int((kernel.pages[number, place >> PAGE_BITS] << PAGE_BITS) + (place & IN_PAGE))


def leave(kernel: Any, rated: Any) -> None:
    """Take a clock out of its level; the last of the level takes its place."""
    number, place = rated.level, rated.place
    level = kernel.levels[number]
    last = level.n - 1
    page = kernel.pages[number, last >> PAGE_BITS]
    mover = kernel.members[(page << PAGE_BITS) + (last & IN_PAGE)]
    kernel.members[place_of(kernel, number, place)] = mover
    kernel.rated[mover].place = place
    rated.level = NO_LEVEL
    level.n = last
    level.weight = last * level.bound
    if last & IN_PAGE == 0:
        kernel.free_pages[kernel.n_free_pages] = page
        kernel.n_free_pages += 1
    if last == 0:
        kernel.n_used -= 1
        other = kernel.used[kernel.n_used]
        kernel.used[level.rank] = other
        kernel.levels[other].rank = level.rank


def settle(kernel: Any, now: float) -> None:
    """Set the next event of the clocks with rates, from `now` on.

    What `choose` found before the event stands if no rate has changed since.
    """
    if kernel.is_unsettled != 0:
        kernel.is_unsettled = 0
        total = 0.0
        for k in range(kernel.n_used):
            total += kernel.levels[kernel.used[k]].weight
        kernel.total = total
        kernel.mean_wait = 1.0 / total if total > 0.0 else NEVER
        kernel.chosen_slot = NOT_CHOSEN
    if kernel.chosen_slot == NOT_CHOSEN:
        choose(kernel, True)
    kernel.rated_time = NEVER
    if kernel.total > 0.0:
        kernel.rated_time = now + kernel.chosen_wait * kernel.mean_wait
        kernel.rated_slot = kernel.chosen_slot
        kernel.n_drawn = kernel.n_chosen


def choose(kernel: Any, is_final: bool) -> None:
    """Find the next event under the present rates, and how long it takes in mean waits.

    Done while an event is fired (not final), which hides what it waits for, it uses up no draw, so
    it can be done again with the same draws if that event changes a rate. Where the draws
    made ahead end before it has found one, it leaves the event to be chosen after; a final choice
    draws more. For a draw that was seen may not be dropped: whether it was depends on its value.
    """
    kernel.chosen_slot = NOT_CHOSEN
    if kernel.total == 0.0:
        return
    wait = 0.0
    n = kernel.n_drawn
    while True:
        if n >= N_DRAWS:
            if not is_final:
                return
            draw_ahead(kernel)
            n = 0
        draw = kernel.draws[n]
        n += 1
        wait += draw.wait
        x = draw.place * kernel.total
        number = kernel.used[0]
        level = kernel.levels[number]
        k = 1
        while x >= level.weight and k < kernel.n_used:
            x -= level.weight
            number = kernel.used[k]
            level = kernel.levels[number]
            k += 1
        x *= level.inverse
        place = min(int(x), level.n - 1)  # rounding may lead one step too far
        slot = kernel.members[place_of(kernel, number, place)]
        if (x - place) * level.bound < kernel.rated[slot].rate:
            break
    kernel.chosen_wait = wait
    kernel.chosen_slot = slot
    kernel.n_chosen = n


def draw_ahead(kernel: Any) -> None:
    """Draw the standard waits and places of the next candidates, which depend on nothing else.

    One Philox block each: the first 64 bits are the wait's, the others the place's.
    """
    rng = kernel.rngs[0]
    epoch = kernel.rated_epoch
    low, high = epoch & MASK32, ((epoch >> 32) & 0xFFFF) | (RATES_PURPOSE << 16)
    philox_fill(kernel.raw, N_DRAWS, 0, 0, low, high, rng.key_low, rng.key_high)
    for k in range(N_DRAWS):
        draw, bits = kernel.draws[k], kernel.raw[k]
        strip = bits & IN_STRIPS
        draw.wait = unit53(bits) * edge(strip)
        draw.place = unit53(kernel.raw[N_DRAWS + k])
        if draw.wait >= edge(strip + 1):
            rng.open(RATES_PURPOSE, k + 1, epoch)
            draw.wait = outside(rng, strip, draw.wait)
    kernel.rated_epoch = epoch + 1
    kernel.n_drawn = 0
