"""A 4-ary heap of (time, slot), and the sorted run of a day."""

from __future__ import annotations

from typing import Any

from tocsin.kernel._state import IN_HEAP, IN_RUN

DEAD = -1
SHORT = 16
"""Up to this many nodes are sorted by insertion."""


def is_before(time: float, slot: int, other_time: float, other_slot: int) -> bool:
    """Say whether one clock rings before another: by time, then by slot, which is the tie rank."""
    return time < other_time or (time == other_time and slot < other_slot)


def set_node(queue: Any, place: int, time: float, slot: int) -> None:
    """Write one place of the heap, and tell the clock where it stands."""
    node = queue.heap[place]
    node.time = time
    node.slot = slot
    queue.clocks[slot].next = place


def sift_up(queue: Any, place: int, time: float, slot: int) -> None:
    """Put a clock into the heap at `place` or above."""
    while place > 0:
        above = (place - 1) >> 2
        node = queue.heap[above]
        if not is_before(time, slot, node.time, node.slot):
            break
        set_node(queue, place, node.time, node.slot)
        place = above
    set_node(queue, place, time, slot)


def sift_down(queue: Any, place: int, time: float, slot: int) -> None:
    """Put a clock into the heap at `place` or below."""
    n = queue.n_heap
    while True:
        child = 4 * place + 1
        if child >= n:
            break
        best = child
        best_time = queue.heap[child].time
        best_slot = queue.heap[child].slot
        for other in range(child + 1, min(child + 4, n)):
            node = queue.heap[other]
            if is_before(node.time, node.slot, best_time, best_slot):
                best = other
                best_time = node.time
                best_slot = node.slot
        if not is_before(best_time, best_slot, time, slot):
            break
        set_node(queue, place, best_time, best_slot)
        place = best
    set_node(queue, place, time, slot)


def sift(queue: Any, place: int, time: float, slot: int) -> None:
    """Put a clock into the heap at `place`, or where it belongs above or below."""
    if place > 0:
        above = queue.heap[(place - 1) >> 2]
        if is_before(time, slot, above.time, above.slot):
            sift_up(queue, place, time, slot)
            return
    sift_down(queue, place, time, slot)


def push(queue: Any, time: float, slot: int) -> None:
    """Add a clock to the heap."""
    place = queue.n_heap
    queue.n_heap = place + 1
    queue.clocks[slot].prev = IN_HEAP
    sift_up(queue, place, time, slot)


def pull(queue: Any, place: int) -> None:
    """Take the clock at `place` out of the heap."""
    last = queue.n_heap - 1
    queue.n_heap = last
    if place < last:
        node = queue.heap[last]
        sift(queue, place, node.time, node.slot)


def drop(queue: Any, place: int) -> None:
    """Take the clock at `place` out of the run; the last node of a run is always alive."""
    queue.run[place].slot = DEAD
    n = queue.n_run
    while n > 0 and queue.run[n - 1].slot == DEAD:
        n -= 1
    queue.n_run = n


def start_run(queue: Any, n: int) -> None:
    """Sort run[0 .. n-1], latest first, so that it is served from its end. The heap is empty."""
    if n <= SHORT:
        sort_piece(queue, 0, n)
    elif not is_sorted(queue, n):
        merge_sort(queue, n)
    for place in range(n):
        clock = queue.clocks[queue.run[place].slot]
        clock.prev = IN_RUN
        clock.next = place
    queue.n_run = n


def is_sorted(queue: Any, n: int) -> bool:
    """Say whether the run is in order already: the usual state of equal times."""
    for place in range(1, n):
        node, above = queue.run[place], queue.run[place - 1]
        if not is_before(node.time, node.slot, above.time, above.slot):
            return False
    return True


def sort_piece(queue: Any, start: int, end: int) -> None:
    """Sort run[start .. end-1] by insertion, latest first."""
    for place in range(start + 1, end):
        time, slot = queue.run[place].time, queue.run[place].slot
        hole = place
        while hole > start and is_before(queue.run[hole - 1].time, queue.run[hole - 1].slot, time, slot):
            copy_node(queue.run[hole], queue.run[hole - 1])
            hole -= 1
        queue.run[hole].time = time
        queue.run[hole].slot = slot


def merge_sort(queue: Any, n: int) -> None:
    """Sort run[0 .. n-1], latest first; the idle heap is the scratch space."""
    for start in range(0, n, SHORT):
        sort_piece(queue, start, min(start + SHORT, n))
    width = SHORT
    while width < n:
        for start in range(0, n - width, 2 * width):
            merge(queue, start, start + width, min(start + 2 * width, n))
        width *= 2


def merge(queue: Any, start: int, middle: int, end: int) -> None:
    """Merge two sorted neighbours of the run."""
    n_left = middle - start
    for k in range(n_left):
        copy_node(queue.heap[k], queue.run[start + k])
    left, right, out = 0, middle, start
    while left < n_left and right < end:
        a, b = queue.heap[left], queue.run[right]
        if is_before(a.time, a.slot, b.time, b.slot):
            copy_node(queue.run[out], b)
            right += 1
        else:
            copy_node(queue.run[out], a)
            left += 1
        out += 1
    while left < n_left:
        copy_node(queue.run[out], queue.heap[left])
        left += 1
        out += 1


def copy_node(target: Any, source: Any) -> None:
    """Copy one node."""
    target.time = source.time
    target.slot = source.slot
