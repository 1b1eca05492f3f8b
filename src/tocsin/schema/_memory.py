"""Zeroed memory for tables and arrays, in large pages where the system has them.

Event-driven code reads memory at random. On 4 kB pages most reads of a table of some megabytes
also miss the address cache; 2 MB pages avoid that.
"""

from __future__ import annotations

import math
import mmap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAGE = 2 << 20
LARGE = 1 << 19
"""Bytes from which a large page is worth it."""


def zeros(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return a C-contiguous array of zeros (64-byte aligned from half a megabyte on)."""
    import numpy as np

    dtype = np.dtype(dtype)
    n_bytes = (math.prod(shape) if isinstance(shape, tuple) else int(shape)) * dtype.itemsize
    if n_bytes < LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype)
    block = mmap.mmap(-1, (n_bytes + 2 * PAGE - 1) // PAGE * PAGE)
    raw = np.frombuffer(block, np.uint8)
    start = -raw.ctypes.data % PAGE
    try:
        block.madvise(mmap.MADV_HUGEPAGE)
    except OSError:  # a kernel built without large pages
        return np.zeros(shape, dtype)
    values: NDArray[Any] = raw[start : start + n_bytes].view(dtype).reshape(shape)
    return values


def copied(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy in memory of its own."""
    if values.nbytes < LARGE and values.ndim:
        whole = values.view(f"V{values.dtype.itemsize}")  # with the gaps between fields, which are zeros
        copy: NDArray[Any] = whole.copy().view(values.dtype)
        return copy
    out = zeros(values.shape, values.dtype)
    out[...] = values
    return out
