"""Room for the lists of composition-rejection: pages, dealt to the levels as they fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.kernel._rates import NO_LEVEL, NOT_CHOSEN
from tocsin.kernel._state import IN_PAGE, N_LEVELS, PAGE_BITS, Clockwork

if TYPE_CHECKING:
    from numpy.typing import NDArray


def page_arrays(n_rated: int) -> dict[str, Any]:
    """Return the arrays of the kernel that hold the lists of `n_rated` clocks, all free."""
    import numpy as np

    n_pages = 0 if n_rated == 0 else (n_rated >> PAGE_BITS) + N_LEVELS + 1
    per_level = 0 if n_rated == 0 else (n_rated >> PAGE_BITS) + 1
    return {
        "members": np.zeros(n_pages << PAGE_BITS, "i4"),
        "pages": np.zeros((N_LEVELS, per_level), "i4"),
        "free_pages": np.arange(n_pages, dtype="i4")[::-1],
        "used": np.zeros(N_LEVELS, "i4"),
    }


def more_pages(kernel: Clockwork, n_rated: int, moved: NDArray[Any]) -> None:
    """Make room for `n_rated` clocks in all; `moved[old slot]` is a clock's new slot."""
    import numpy as np

    new = page_arrays(n_rated)
    old = {name: kernel.__dict__[name].values for name in new}
    members, pages, n_free = old["members"], old["pages"], kernel.n_free_pages
    new["members"][: len(members)] = members
    taken = listed(kernel)
    new["members"][taken] = moved[members[taken]]
    new["pages"][:, : pages.shape[1]] = pages
    n_pages, n_before = len(new["free_pages"]), len(old["free_pages"])
    new["free_pages"][:n_free] = old["free_pages"][:n_free]
    new["free_pages"][n_free : n_free + n_pages - n_before] = np.arange(n_before, n_pages)
    kernel.n_free_pages = n_free + n_pages - n_before
    new["used"][:] = old["used"]
    for name, values in new.items():
        kernel._set_array(kernel.schema().arrays[name], values)
    kernel.rated_slot = int(moved[kernel.rated_slot])
    if kernel.chosen_slot != NOT_CHOSEN:
        kernel.chosen_slot = int(moved[kernel.chosen_slot])


def listed(kernel: Clockwork) -> NDArray[Any]:
    """Return where in `members` the clocks of all levels are, level by level."""
    import numpy as np

    places = [np.zeros(0, "i8")]
    for level in range(N_LEVELS):
        at = np.arange(kernel.levels["n"][level])
        places.append((kernel.pages.values[level, at >> PAGE_BITS].astype("i8") << PAGE_BITS) + (at & IN_PAGE))
    return np.concatenate(places)


def begin_levels(kernel: Clockwork) -> None:
    """Set every clock to no rate, every page free."""
    import numpy as np

    kernel.rated["level"][:] = NO_LEVEL
    kernel.n_free_pages = len(kernel.free_pages.values)
    kernel.rated_time = np.inf
    kernel.chosen_slot = NOT_CHOSEN
