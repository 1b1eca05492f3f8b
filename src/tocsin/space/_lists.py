"""Rows by cell as linked lists, in order of their numbers: `head` by cell; `after`, `before`, `cell_of` by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOWHERE = -1


def link(space: Any, k: int, cell: int) -> None:
    """Put row k, which is on no cell, on a cell. Cost O(rows on the cell with lower numbers)."""
    previous, following = NOWHERE, space.head[cell]
    while 0 <= following < k:
        previous, following = following, space.after[following]
    space.before[k] = previous
    space.after[k] = following
    space.cell_of[k] = cell
    if previous < 0:
        space.head[cell] = k
    else:
        space.after[previous] = k
    if following >= 0:
        space.before[following] = k


def unlink(space: Any, k: int) -> None:
    """Take row k off its cell. Cost O(1)."""
    previous, following, cell = space.before[k], space.after[k], space.cell_of[k]
    if previous < 0:
        space.head[cell] = following
    else:
        space.after[previous] = following
    if following >= 0:
        space.before[following] = previous
    space.cell_of[k] = NOWHERE


def link_all(space: Any, cell: NDArray[Any]) -> None:
    """Put all rows on their cells (int64, one a row, -1 for none), in an empty space."""
    import numpy as np

    order = np.argsort(cell, kind="stable")
    order = order[cell[order] >= 0]
    is_same = cell[order][1:] == cell[order][:-1]
    space.after.values[order[:-1][is_same]] = order[1:][is_same]
    space.before.values[order[1:][is_same]] = order[:-1][is_same]
    space.head.values[cell[order][::-1]] = order[::-1]
    space.cell_of.values[: len(cell)] = cell
