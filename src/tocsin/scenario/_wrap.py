"""Presets made of a bare Model, or of a Model and a function that builds its world."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from pydantic import BaseModel, Field, create_model

from tocsin.errors import InputError, TocsinError
from tocsin.models._preset import Init, Preset, Start
from tocsin.schema import Model, World

_SCALARS: dict[str, Any] = {"int": int, "float": float, "bool": bool}
_GIVEN = {"folder": Path, "seed": int}
"""Arguments of a world builder that come from the scenario, not from [init]."""
_PLAIN = (int, float, bool, str, type(None), Any)
_CONTAINERS = (list, dict, typing.Union, types.UnionType, typing.Annotated)


def preset_of_model(model: Model, source: Path) -> Preset[Any, Any, None]:
    """Return a preset whose [init] holds the keywords of the model's World."""

    def build(start: Start[Any]) -> tuple[World, None]:
        values = start.init.model_dump(exclude_unset=True)
        return _made(model.world, {**values, **start.params}, source), None

    return Preset(model.name, _first_line(model.world), model, _world_init(model), build, source=source)


def _world_init(model: Model) -> type[Init]:
    schema, keys = model.schema, dict[str, Any]()
    for name, entity in schema.tables().items():
        doc = f"{entity.name} rows: how many, or columns ({', '.join(entity.fields)})"
        keys[name] = (int | dict[str, Any], Field(0, description=doc))
    for name, array in schema.own_arrays().items():
        keys[name] = (list[Any], Field([], description=f"array of {array.ndim} dimension(s)"))
    for name, field in schema.scalars.items():
        keys[name] = (_SCALARS[field.kind], Field(0, description="scalar of the world"))
    return create_model(f"{schema.name}Init", __base__=Init, **keys)


def preset_of_builder(function: FunctionType, models: list[Model], source: Path) -> Preset[Any, Any, None]:
    """Return a preset whose [init] holds the arguments of `function`.

    Arguments annotated with a Params class are given that block of [params]; `folder` is
    the scenario's folder, `seed` the run's. Raises InputError if the function does not say
    which World it returns, or the file has not exactly one Model for it.
    """
    hints = _hints(function, source)
    model = _model_for(function, hints.get("return"), models, source)
    arguments = inspect.signature(function).parameters
    blocks = {n for n in arguments if _is_block(hints.get(n), n, model)}
    init = _arguments_init(function, hints, blocks)

    def build(start: Start[Any]) -> tuple[World, None]:
        values = {name: getattr(start.init, name) for name in type(start.init).model_fields}
        values |= {name: start.params[name] for name in blocks}
        values |= {n: getattr(start, n) for n in _GIVEN if n in arguments}
        world = _made(function, values, source)
        if type(world) is not model.world:
            raise InputError(f"{source.name}: {function.__name__} returned {world!r}, not a {model.world.__name__}")
        for block in start.params.keys() - blocks:
            _set(world, block, start)
        return world, None

    summary = _first_line(function) or _first_line(model.world)
    return Preset(model.name, summary, model, init, build, source=source)


def _hints(function: FunctionType, source: Path) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise InputError(f"{source.name}: {function.__name__}: {error}") from None


def _model_for(function: FunctionType, world: Any, models: list[Model], source: Path) -> Model:
    label = f"{source.name}:{function.__name__}"
    if not (isinstance(world, type) and issubclass(world, World)):
        raise InputError(f"{label} must say which World it returns: def {function.__name__}(...) -> MyWorld")
    fitting = [model for model in models if model.world is world]
    if len(fitting) != 1:
        raise InputError(
            f"{label} returns a {world.__name__}, for which {source.name} must have exactly one "
            f"Model, and has {len(fitting)}"
        )
    return fitting[0]


def _is_block(hint: Any, name: str, model: Model) -> bool:
    """Say whether an argument takes the block of [params] with its name: `rates: Rates | None`."""
    block = model.schema.params.get(name)
    return block is not None and block in (hint, *typing.get_args(hint))


def _arguments_init(function: FunctionType, hints: dict[str, Any], blocks: set[str]) -> type[BaseModel]:
    keys: dict[str, Any] = {}
    for name, argument in inspect.signature(function).parameters.items():
        if name not in blocks and name not in _GIVEN:
            default = ... if argument.default is argument.empty else argument.default
            hint = hints.get(name, Any)
            keys[name] = (hint if _is_plain(hint) else Any, default)
    return create_model(f"{function.__name__}_init", __base__=Init, **keys)


def _is_plain(hint: Any) -> bool:
    """Say whether TOML values can be checked against an annotation."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal or hint in _PLAIN:
        return True
    inner = typing.get_args(hint)[:1] if origin is typing.Annotated else typing.get_args(hint)
    return bool(inner) and origin in _CONTAINERS and all(_is_plain(one) for one in inner)


def _made(maker: Callable[..., Any], values: dict[str, Any], source: Path) -> Any:
    from tocsin.scenario._userfile import explain

    try:
        return maker(**values)
    except TocsinError as error:
        raise InputError(f"[init]: {error}") from None
    except Exception as error:
        raise InputError(f"[init]: {explain(error, source)}") from None


def _set(world: World, block: str, start: Start[Any]) -> None:
    mine = getattr(world, block)
    for full in start.given:
        if full.startswith(f"{block}."):
            name = full.removeprefix(f"{block}.")
            setattr(mine, name, getattr(start.params[block], name))


def _first_line(thing: Any) -> str:
    own = thing.__dict__.get("__doc__") if isinstance(thing, type) else thing.__doc__
    return (own or "").strip().split("\n")[0]
