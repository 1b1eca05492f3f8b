"""The page in a notebook: Jupyter, marimo, VS Code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.export.marks import View
from tocsin.view._page import page_of

if TYPE_CHECKING:
    from tocsin.run import Simulation
    from tocsin.schema import Model

RENDER = """
export default {
  render({ model, el }) {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts allow-downloads");
    frame.title = "Simulation";
    frame.style.cssText = `width: 100%; border: 0; height: ${model.get("height")}px`;
    frame.srcdoc = model.get("page");
    el.append(frame);
  },
};
"""


def widget_of(simulation: Simulation[Any], view: View | None = None, *, height: int = 760, **options: Any) -> Any:
    """Return the page of a simulation as a widget (anywidget).

    Parameters
    ----------
    simulation : what the page starts from; it stays as it is
    view : the picture; by default that of the shipped model
    height : pixels
    options : as in `page_of`

    The page runs a copy in the browser. Raises InputError if anywidget is not installed,
    CompileError for a model that cannot be exported.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise InputError("a view in a notebook needs anywidget; run: pip install 'tocsin[view]'") from None

    class Page(anywidget.AnyWidget):  # type: ignore[misc]
        """A frame that shows one page."""

        _esm = RENDER
        page = traitlets.Unicode("").tag(sync=True)
        height = traitlets.Int(760).tag(sync=True)

    page = page_of(simulation, view or own_view(simulation.model), **options)
    return Page(page=page, height=height)


def own_view(model: Model) -> View | None:
    """Return the picture that a preset or a module declares for a model: `view=` or VIEW."""
    for module in list(sys.modules.values()):
        parts: dict[str, Any] = getattr(module, "__dict__", {})
        view = getattr(parts.get("WORLD"), "view", None)
        if isinstance(view, View) and getattr(parts["WORLD"], "model", None) is model:
            return view
        view = parts.get("VIEW")
        if isinstance(view, View) and any(value is model for value in list(parts.values())):
            return view
    return None
