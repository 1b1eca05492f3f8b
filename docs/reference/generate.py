"""Write the reference pages from the code: `python docs/reference/generate.py`.

Nothing is written by hand: names and texts come from `__all__`, signatures and docstrings, from the
parameters of the commands, and from the classes that check a scenario. tests/docs compares.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from typer.models import ArgumentInfo

import tocsin
from tocsin import check as checks
from tocsin import run, space
from tocsin.check import graph_of, to_mermaid
from tocsin.cli import app
from tocsin.scenario import describe, shipped
from tocsin.schema import Part

HERE = Path(__file__).parent
_NOTE = "<!-- Written by docs/reference/generate.py; edit the docstrings, not this page. -->"
_SECTION = re.compile(r"^(Parameters|Returns|Raises|Notes|Attributes)\n-+$", re.M)
_ROOMS = {
    "tocsin.schema": "Declare a model",
    "tocsin.kernel": "Inside `schedule` and `fire`",
    "tocsin.run": "Run it",
    "tocsin.errors": "Errors",
}
_TYPES = {int: "INT", float: "FLOAT", Path: "PATH", str: "TEXT"}
_INNER = {
    "Table": ("read", "write", "target", "key_of", "fill"),
    "Model": ("action_number", "fire", "schedule", "observe"),
    "Params": ("bound", "fields", "spec", "check"),
    "World": ("schema", "index", "attach"),
    "Part": ("contents", "resize", "begin"),
    "Lattice": ("contents", "resize", "begin"),
    "Snapshot": ("contents", "resize", "find_cells", "count", "add_up", "sort"),
    "Live": ("contents", "resize", "begin", "index"),
    "Box": ("contents", "has_room_at"),
    "Claims": ("contents", "resize"),
    "Buckets": ("contents", "resize", "n_cells", "index", "find_cells", "count", "add_up", "sort"),
    "Reduction": ("contents", "resize", "gather"),
    "Rng": ("open", "bits64"),
}
"""Public methods that the rest of Tocsin calls, and a model does not."""
_SPACES = {
    "Planes": "Plane LivePlane Plane3 LivePlane3",
    "Grids": "Grid Grid3 Claims",
    "Networks": "Network Networked Rewired erdos_renyi barabasi_albert small_world configuration lattice complete",
    "Messages and sums": "Buckets Sum Least Most Last",
}
_EXTRUSION = ("", ".units", ".report", ".figure", ".loops")

# --- docstrings ------------------------------------------------------------------------------


def text_of(thing: Any) -> str:
    """Return a docstring as Markdown: numpydoc sections become bold words and lists."""
    text = inspect.cleandoc(thing.__doc__ or "")
    first, *rest = _SECTION.split(text)
    parts = [first.strip()]
    for name, body in zip(rest[::2], rest[1::2], strict=True):
        parts.append(f"**{name}**\n\n{body.strip() if name == 'Notes' else _list(body)}")
    return "\n\n".join(parts)


def _list(body: str) -> str:
    """Return `name : meaning` lines, with what is indented below them, as a list; text may follow."""
    listed, _, text = body.strip().partition("\n\n")
    items: list[list[str]] = []
    for line in listed.split("\n"):
        items[-1].append(line.strip()) if line.startswith(" ") else items.append([line])
    return "\n".join(_item(*item) for item in items) + (f"\n\n{text}" if text else "")


def _item(head: str, *more: str) -> str:
    """Return one parameter as an item; what stands behind its colon is its type if a sentence follows."""
    name, _, meaning = head.partition(" : ")
    if more and meaning and not more[0][0].islower():
        return f"- `{name}` ({meaning}): {' '.join(more)}"
    return f"- `{name}`: {' '.join(filter(None, (meaning, *more)))}"


# --- one thing -------------------------------------------------------------------------------


def entry(name: str, thing: Any) -> str:
    """Return the section of one public name."""
    if inspect.isclass(thing):
        return _class(name, thing)
    if inspect.isfunction(thing):
        return f"### `{name}`\n\n{_call(name, thing)}\n\n{text_of(thing)}"
    if get_args(thing):
        return f"### `{name}`\n\nA field of {_machine_type(thing)}."
    return f"### `{name}`\n\n{_constant(name, thing)}"


def _class(name: str, cls: type, shown: dict[Any, str] | None = None) -> str:
    """Return the section of a class. What is in `shown`, with the class that it stands under, is only named."""
    parts = [f"### `{name}`"]
    if issubclass(cls, BaseException):
        parts[0] += f" ({', '.join(base.__name__ for base in cls.__bases__)})"
    elif cls in (tocsin.Simulation, tocsin.Model, tocsin.Shuffled) or _is_space(cls):
        parts.append(_call(name, cls.__init__))
    elif hasattr(cls, "_fields") and issubclass(cls, tuple):
        parts.append("\n".join(f"- `{field}`: {_kind(kind)}" for field, kind in inspect.get_annotations(cls).items()))
    parts.append(text_of(cls))
    if issubclass(cls, enum.Enum):
        parts.append("\n".join(f"- `{member.name}` = {member.value}" for member in cls))
    elif not issubclass(cls, BaseException):
        members, shown = list(_members(cls)), {} if shown is None else shown
        parts += [_member(name, *pair) for pair in members if pair[1] not in shown]
        for owner in dict.fromkeys(shown[value] for _, value in members if value in shown):
            as_there = ", ".join(f"`{word}`" for word, value in members if shown.get(value) == owner)
            parts.append(f"As in `{owner}`: {as_there}.")
        shown |= {value: name for _, value in members if value not in shown}
    return "\n\n".join(part for part in parts if part)


def _is_space(cls: type) -> bool:
    """Say whether it is a part that a world is given: made with arguments of its own."""
    return issubclass(cls, Part) and cls.__module__.startswith("tocsin.space.") and inspect.isfunction(cls.__init__)


def _kind(annotation: Any) -> str:
    return str(getattr(annotation, "__forward_arg__", None) or getattr(annotation, "__name__", annotation))


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield public methods and properties that have a docstring, in the order of the source."""
    seen: set[str] = set()
    for base in cls.__mro__:
        is_own = base is cls or not cls.__module__.startswith("tocsin.kernel")
        if base.__module__.startswith("tocsin") and is_own:
            for name, value in vars(base).items():
                is_inner = name in _INNER.get(base.__name__, ())
                if not name.startswith("_") and name not in seen and not is_inner and _is_shown(value):
                    seen.add(name)
                    yield name, value


def _is_shown(value: Any) -> bool:
    inner = getattr(value, "__func__", value)
    return isinstance(inner, property) or (inspect.isfunction(inner) and bool(inner.__doc__))


def _member(owner: str, name: str, value: Any) -> str:
    if isinstance(value, property):
        return f"#### `{owner}.{name}`\n\n{text_of(value)}"
    function = getattr(value, "__func__", value)
    return f"#### `{owner}.{name}`\n\n{_call(name, function)}\n\n{text_of(function)}"


def _call(name: str, function: Callable[..., Any]) -> str:
    """Return a signature as a block, one parameter a line where it is long."""
    parameters = list(inspect.signature(function).parameters.values())
    shown = [_parameter(p) for p in parameters if p.name not in ("self", "cls")]
    stars = [n for n, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY]
    if stars and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        shown.insert(stars[0] - (len(parameters) - len(shown)), "*")
    returns = function.__annotations__.get("return")
    tail = "" if name[0].isupper() or returns is None else f" -> {returns}"
    line = f"{name}({', '.join(shown)}){tail}"
    if len(line) > 110:
        line = f"{name}(\n" + "".join(f"    {one},\n" for one in shown) + f"){tail}"
    return f"```py\n{line}\n```"


def _parameter(p: inspect.Parameter) -> str:
    stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
    note = "" if p.annotation is p.empty else f": {p.annotation}"
    default = "" if p.default is p.empty else (f" = {p.default!r}" if note else f"={p.default!r}")
    return f"{stars}{p.name}{note}{default}"


def _machine_type(alias: Any) -> str:
    kind, scalar = get_args(alias)
    bits = {"?": "one byte", "i": "{} bits", "u": "{} bits, without a sign", "f": "{} bits"}[scalar.dtype[0]]
    what = {bool: "true or false", int: "whole numbers", float: "numbers"}[kind]
    return f"{what}, {bits.format(8 * int(scalar.dtype[1:] or 1))}; `{kind.__name__}` to a type checker"


def _constant(name: str, value: Any) -> str:
    if name == "NEVER":
        return f"The pending time of a clock that will not ring: `{value!r}`."
    return f"`{value!r}`." if isinstance(value, (int, float, str)) else f"A `{type(value).__name__}`: `{value!r}`."


# --- pages -----------------------------------------------------------------------------------


def api() -> str:
    """Return api.md: everything in `tocsin.__all__`, by the room that it comes from."""
    rooms: dict[str, list[str]] = {title: [] for title in _ROOMS.values()}
    for name in tocsin.__all__:
        rooms[_room(name)].append(entry(name, getattr(tocsin, name)))
    rooms["Run it"] += [entry(name, getattr(run, name)) for name in run.__all__ if name not in tocsin.__all__]
    parts = ["# `tocsin`", _NOTE, "Everything that `from tocsin import ...` gives."]
    for title, entries in rooms.items():
        parts += [f"## {title}", *entries]
    return _page(parts)


def _room(name: str) -> str:
    for module, title in _ROOMS.items():
        if name in importlib.import_module(module).__dict__:
            return title
    raise LookupError(name)


def extrusion() -> str:
    """Return extrusion.md: the loop-extrusion world from Python."""
    parts = ["# `tocsin.models.extrusion`", _NOTE]
    for suffix in _EXTRUSION:
        module = importlib.import_module(f"tocsin.models.extrusion{suffix}")
        parts += [f"## `{module.__name__}`"] * bool(suffix) + [text_of(module)]
        parts += [entry(name, getattr(module, name)) for name in _public(module)]
    return _page(parts)


def check() -> str:
    """Return check.md: checking and drawing a model from Python."""
    parts = ["# `tocsin.check`", _NOTE, text_of(checks)]
    parts += [entry(name, vars(checks)[name]) for name in sorted(checks.__all__) if name != "FORMATS"]
    return _page(parts)


def spaces() -> str:
    """Return spaces.md: grids, planes, networks, claims, messages by place, and sums."""
    parts = ["# `tocsin.space`", _NOTE, f"{text_of(space)} How they are used: [spaces](../guides/spaces.md)."]
    shown: dict[Any, str] = {}
    for title, names in _SPACES.items():
        parts.append(f"## {title}")
        for name in names.split():
            thing = getattr(space, name)
            parts.append(_class(name, thing, shown) if inspect.isclass(thing) else entry(name, thing))
    return _page(parts)


def marks() -> str:
    """Return marks.md: what a picture of a model is made of."""
    module = importlib.import_module("tocsin.export.marks")
    parts = [
        "# `tocsin.export.marks`",
        _NOTE,
        f"{text_of(module)} How they are used: [live pages](../guides/live-page.md).",
    ]
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            cls = getattr(module, node.name)
            notes = [
                f"- `{field.target.id}`: {' '.join(note.value.value.split())}"
                for field, note in itertools.pairwise(node.body)
                if isinstance(field, ast.AnnAssign) and isinstance(note, ast.Expr)
            ]
            parts += [f"## `{node.name}`", _call(node.name, cls), text_of(cls), "\n".join(notes)]
    return _page(part for part in parts if part)


def _public(module: Any) -> list[str]:
    stated = getattr(module, "__all__", None)
    if stated is not None:
        return list(stated)
    made_here = (n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__)
    return [name for name in made_here if not name.startswith("_") and not name.startswith("check_")]


def cli() -> str:
    """Return cli.md: every command with its arguments and options, from the functions behind them."""
    parts = ["# The command line", _NOTE, f"{app.info.help} {app.info.epilog}"]
    for command in app.registered_commands:
        function = inspect.unwrap(command.callback)  # type: ignore[arg-type]
        found = [_cli_row(p) for p in inspect.signature(function, eval_str=True).parameters.values()]
        arguments = " ".join(shown for shown, _, is_argument in found if is_argument)
        parts += [f"## `tocsin {command.name} {arguments}`", text_of(function)]
        parts.append(_table(("", "meaning"), ((f"`{shown}`", help) for shown, help, _ in found)))
    return _page(parts)


def _cli_row(p: inspect.Parameter) -> tuple[str, str, bool]:
    """Return how an argument or option is written, what it means, and whether it is an argument."""
    kind, info = get_args(p.annotation)
    default = f" Default: {info.show_default}." if isinstance(info.show_default, str) else ""
    help = f"{info.help}{default}"
    if isinstance(info, ArgumentInfo):
        return (p.name.upper() if p.default is p.empty else f"[{p.name.upper()}]"), help, True
    kinds = set(get_args(kind) or (kind,))
    stated = [text for text in (info.default, *(info.param_decls or ())) if isinstance(text, str)]
    names = " / ".join(stated).replace("/", " / ") or f"--{p.name}"
    value = "" if bool in kinds else f" {info.metavar or next(_TYPES[t] for t in _TYPES if t in kinds)}"
    return names + value, help, False


def models() -> str:
    """Return models.md: every shipped model and every key of its scenarios."""
    parts = ["# Shipped models and their scenarios", _NOTE]
    parts.append("A scenario is a TOML file: `model`, `[params]`, `[init]`, `[run]`, `[record]`.")
    found = [describe(preset) for preset in shipped()]
    parts.append(_table(("model", ""), ((f"[`{one['name']}`](#{one['name']})", one["summary"]) for one in found)))
    parts += ["## Every model", "`[run]`", _keys(found[0]["run"]), "`[record]`", _keys(_common(found))]
    for one in found:
        own = [key for key in one["record"] if key not in _common(found)]
        parts += [f"## {one['name']}", one["summary"], f"Actions: {', '.join(one['actions'])}."]
        parts.append(f"Observables: {', '.join(one['observables'])}." if one["observables"] else "")
        for table, keys in (("params", one["params"]), ("init", one["init"]), ("record", own)):
            parts += [f"`[{table}]`", _keys(keys)] if keys else []
    return _page([part for part in parts if part])


def graphs() -> str:
    """Return graphs.md: what the actions of every shipped model read, write and touch."""
    parts = ["# What the shipped models read, write and touch", _NOTE]
    parts.append(
        "As the compiler found it in the functions (`tocsin graph MODEL`). A line leads from what a `rate`, `schedule` or "
        "`value` reads, a dashed line from what a `fire` reads, a thick line to what it writes; a line that ends in a "
        "circle leads to the rows that it touches, whose clocks are asked again."
    )
    for preset in shipped():
        parts += [f"## {preset.name}", preset.summary, f"```mermaid\n{to_mermaid(graph_of(preset.model))}```"]
    return _page(parts)


def _common(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [key for key in found[0]["record"] if all(key in one["record"] for one in found)]


def _keys(keys: Iterable[dict[str, Any]]) -> str:
    rows = [
        (f"`{k['key']}`", k["type"], "required" if k["required"] else _default(k["default"]),
         ", ".join(filter(None, (k["unit"], k["bounds"]))), k["meaning"])
        for k in keys
    ]  # fmt: skip
    return _table(("key", "type", "default", "unit, bounds", "meaning"), rows)


def _default(value: Any) -> str:
    return "" if value is None else f"`{json.dumps(value)}`"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "api.md": api,
    "check.md": check,
    "cli.md": cli,
    "extrusion.md": extrusion,
    "graphs.md": graphs,
    "marks.md": marks,
    "models.md": models,
    "spaces.md": spaces,
}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (HERE / name).write_text(write(), encoding="utf-8")
        print(f"wrote {HERE / name}")
