"""One self-contained page: the module, its memory, what the page must know, and the page itself.

The page loads nothing: it carries its own Content-Security-Policy, which allows its own scripts
by their hash, WebAssembly, a worker made of its own text, and nothing from outside.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import zlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from tocsin.export._module import export_module, with_room
from tocsin.export.marks import View
from tocsin.view._describe import description, remote_description
from tocsin.view._log import with_log
from tocsin.view._names import check_names

if TYPE_CHECKING:
    from tocsin.run import Simulation

LEAST_ROOM = 256
SCRIPTS = ("uplot.min.js", "crc.js", "draw.js", "panels.js", "remote.js", "app.js")


def page_of(
    simulation: Simulation[Any], view: View | None = None, *, title: str = "", about: str = "", speed: float = 1.0,
    room: int | None = None,
) -> str:  # fmt: skip
    """Return a page that runs a simulation, as HTML that needs nothing else.

    Parameters
    ----------
    simulation : what it starts from; it stays as it is
    view : the picture; by default the time series and tables alone
    title, about : what stands at the top
    speed : time units a second at which it plays at first
    room : rows that each pool has room for; by default four times what it has now

    Raises InputError for a view that names what the model does not have, CompileError for a model that cannot be exported, naming the construct and its line.
    """
    check_names(view or View(), simulation.model.schema)
    simulation = with_log(with_room(simulation, room if room is not None else _usual_room(simulation)))
    program = export_module(simulation)
    view = view or View()
    config = description(simulation, program, view)
    config |= {"title": title or simulation.model.name, "about": about, "speed": view.speed or speed}
    worker = "\n".join(_file(f) for f in ("engine.js", "crc.js", "archive.js", "frames.js", "worker.js"))
    data = {"code": _packed(program.code), "image": _packed(program.image.data), "worker": _json(worker)}
    return _written(config, data, "worker-src blob:")


def remote_page_of(
    simulation: Simulation[Any], view: View | None = None, *, title: str = "", about: str = "", speed: float = 1.0
) -> str:
    """Return the same page for a simulation that runs in the server that gives the page. Arguments as `page_of`."""
    view = view or View()
    check_names(view, simulation.model.schema)
    config = remote_description(simulation, view)
    config |= {"title": title or simulation.model.name, "about": about, "speed": view.speed or speed}
    return _written(config, {}, "connect-src 'self'")


def _written(config: dict[str, Any], data: dict[str, str], rule: str) -> str:
    """Return the page's text: its policy, its data, its scripts. `rule` is what its policy allows besides."""
    scripts = [_file(name) for name in SCRIPTS]
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
        f"{rule}; script-src 'wasm-unsafe-eval' {' '.join(map(_hash, scripts))}"
    )
    texts = {"config": _json(config), **data}
    blocks = "".join(
        f'<script type="application/json" id="{name}">{text}</script>\n'
        if name in ("config", "worker")
        else f'<script type="text/plain" id="{name}">{text}</script>\n'
        for name, text in texts.items()
    )
    parts = {
        "policy": html.escape(policy, quote=True).replace("&#x27;", "'"),
        "title": html.escape(config["title"]),
        "style": _file("uplot.min.css") + _file("page.css"),
        "data": blocks,
        "checksum": str(zlib.crc32("".join(texts.values()).encode())),
        "scripts": "".join(f"<script>{s}</script>\n" for s in scripts),
    }
    # in one pass: a title or a docstring may itself hold `{{scripts}}`
    return re.sub("{{([a-z]+)}}", lambda found: parts[found[1]], _file("page.html"))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _usual_room(simulation: Simulation[Any]) -> int:
    tables = simulation.world._tables.values()
    return max([LEAST_ROOM, *(4 * len(t) for t in tables if t.schema.pooled)])


def _file(name: str) -> str:
    return (resources.files("tocsin.view") / "static" / name).read_text(encoding="utf-8")


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
