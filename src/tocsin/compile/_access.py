"""Which fields each model function reads and writes, taken from its typed code.

After Numba has inferred types, every field access and every call of every function is known.
This module walks them: so a `schedule` that writes is refused, wherever the write hides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tocsin.errors import CompileError, PurityError
from tocsin.schema import FieldSpec, Model


@dataclass
class Access:
    """Fields read, written and rows touched by one function and all it calls."""

    reads: set[str] = field(default_factory=set)
    writes: dict[str, str] = field(default_factory=dict)
    """Field to the place (file:line) of its first write."""
    touches: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    """Of what is read, what a synchronous system reads as it was: anything but its own row."""

    def merge(self, other: Access) -> None:
        """Add what another function does."""
        self.reads |= other.reads
        self.touches |= other.touches
        self.seen |= other.seen
        for name, place in other.writes.items():
            self.writes.setdefault(name, place)

    def to_json(self) -> dict[str, Any]:
        """Return plain lists and dicts."""
        return {
            "reads": sorted(self.reads), "writes": self.writes, "touches": sorted(self.touches), "seen": sorted(self.seen),
        }  # fmt: skip

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Access:
        """Return the access that `to_json` described."""
        return cls(set(given["reads"]), dict(given["writes"]), set(given["touches"]), set(given["seen"]))


def accesses(model: Model, build: Any) -> dict[str, Access]:
    """Return the access of 'Action.fire', 'Action.schedule' (or '.rate'), 'Observable.value', 'System.update' by name.

    What sets a system's clock, 'System.tick', reads nothing.
    """
    from tocsin.compile._types import CarrierType

    walker = _Walker(model, build)
    found: dict[str, Access] = {}
    for members in ("actions", "observables"):
        for number, member in enumerate(getattr(model, members)):
            for method in _methods(member) if members == "actions" else ("value",):
                carrier = CarrierType(model, members, number)
                found[f"{member.name}.{method}"] = walker.method(getattr(member.cls, method), carrier)
            if members == "actions" and member.asked == "tick":
                found[f"{member.name}.tick"] = Access()
    return found


def _methods(member: Any) -> tuple[str, ...]:
    return ("update",) if member.asked == "tick" else (member.asked, "fire")


def check_purity(model: Model, found: dict[str, Access]) -> None:
    """Raise PurityError if a function that may only read writes or touches."""
    for name, access in found.items():
        method = name.rsplit(".", 1)[1]
        if method in ("fire", "update"):
            continue
        for what, place in access.writes.items():
            raise PurityError(
                f"{place}: {name} writes {what}: it may only read the world. "
                f"Move the change to a `fire`. (compiling model {model.name})"
            )


class _Walker:
    """Walk typed functions, each (function, argument types) once."""

    def __init__(self, model: Model, build: Any) -> None:
        from tocsin.compile._program import schemas_of

        self.model, self.build = model, build
        self.schemas = schemas_of(model)
        self.done: dict[Any, Access] = {}

    def method(self, function: Any, owner: Any) -> Access:
        """Return the access of a method, over all its compiled signatures with this owner."""
        total = Access()
        dispatcher = self.build.dispatcher(function)
        for signature in dispatcher.overloads:
            if signature[0] == owner:
                total.merge(self.function(dispatcher, signature))
        return total

    def function(self, dispatcher: Any, signature: Any) -> Access:
        """Return the access of one compiled signature and all it calls."""
        key = (id(dispatcher), tuple(signature))
        if key in self.done:
            return self.done[key]
        access = self.done[key] = Access()
        annotation = dispatcher.overloads[tuple(signature)].type_annotation
        for block in annotation.blocks.values():
            for statement in block.body:
                refuse_objects(annotation, statement)
                self.statement(access, annotation, statement)
        return access

    def statement(self, access: Access, annotation: Any, statement: Any) -> None:
        """Take note of what one statement does."""
        from numba.core import ir

        if isinstance(statement, ir.SetAttr):
            owner = annotation.typemap[statement.target.name]
            refuse_float(owner, statement.attr, annotation.typemap[statement.value.name], statement.loc)
            self.write(access, owner, statement.attr, statement.loc)
        elif isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
            owner = annotation.typemap[statement.target.name]
            refuse_float(owner, None, annotation.typemap[statement.value.name], statement.loc)
            self.write(access, owner, None, statement.loc)
        elif isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
            self.expression(access, annotation, statement.value, statement.loc)

    def expression(self, access: Access, annotation: Any, expression: Any, loc: Any) -> None:
        """Take note of a read or a call."""
        refuse_unlike(annotation, expression, loc)
        if expression.op == "getattr":
            owner = annotation.typemap[expression.value.name]
            self.read(access, owner, expression.attr)
            if expression.attr == "n_live":
                self.read_rows(access, owner)
            self.follow_property(access, owner, expression.attr)
        elif expression.op == "getiter":
            self.read_rows(access, annotation.typemap[expression.value.name])
        elif expression.op in ("getitem", "static_getitem"):
            self.read(access, annotation.typemap[expression.value.name], None)
        elif expression.op == "binop":
            refuse_is(annotation, expression, loc)
            refuse_text(annotation, expression, loc)
        elif expression.op == "call":
            self.call(access, annotation, expression, loc)

    def call(self, access: Access, annotation: Any, expression: Any, loc: Any) -> None:
        """Follow a call of a plain function or of a method."""
        from numba.core import types

        from tocsin.compile._attributes import class_attribute
        from tocsin.compile._types import (
            ArrayType,
            CarrierType,
            ParamsType,
            PartType,
            RowType,
            TableType,
            WorldType,
        )

        called = annotation.typemap[expression.func.name]
        signature = annotation.calltypes[expression]
        if isinstance(called, types.Function) and len in (called.typing_key, getattr(called, "key", None)):
            self.read_rows(access, signature.args[0])
        elif isinstance(called, types.Function):
            for argument in signature.args:  # an array that a machine instruction reads
                if isinstance(argument, ArrayType):
                    self.read(access, argument, None)
        if isinstance(called, types.Dispatcher):
            self.follow(access, called.dispatcher, signature.args)
        elif isinstance(called, types.BoundFunction):
            owner, name = called.this, called.typing_key[1]
            if self.ours(owner) and isinstance(owner, TableType):
                self.pool(access, owner, name, signature, loc)
                return
            if self.is_kernel(owner):
                self.touch(access, owner, name, signature)
            if isinstance(owner, (WorldType, RowType, ParamsType, PartType, CarrierType)):
                function = class_attribute(owner, name)
                self.follow(access, self.build.dispatcher(function), (owner, *signature.args))

    def follow_property(self, access: Access, owner: Any, name: str) -> None:
        """Follow a property of the user's class."""
        from tocsin.compile._attributes import class_attribute
        from tocsin.compile._types import CarrierType, ParamsType, PartType, RowType, WorldType

        if isinstance(owner, (WorldType, RowType, ParamsType, PartType, CarrierType)):
            found = class_attribute(owner, name)
            if isinstance(found, property):
                self.follow(access, self.build.dispatcher(found.fget), (owner,))

    def follow(self, access: Access, dispatcher: Any, arguments: Any) -> None:
        """Merge the access of what is called."""
        for signature in dispatcher.overloads:
            if tuple(signature)[: len(arguments)] == tuple(arguments):
                access.merge(self.function(dispatcher, signature))

    def ours(self, owner: Any) -> bool:
        """Say whether a type belongs to the model's world."""
        return any(getattr(owner, "schema", None) is schema for schema in self.schemas)

    def is_kernel(self, owner: Any) -> bool:
        """Say whether a type belongs to the kernel: a stream, or the touched list."""
        from tocsin.compile._types import RowType, WorldType

        return isinstance(owner, (RowType, WorldType)) and not self.ours(owner)

    def touch(self, access: Access, owner: Any, name: str, signature: Any) -> None:
        """Take note of `touched.add(row)` and `touched.all(table)`."""
        if name in ("add", "all") and signature.args:
            row = signature.args[0]
            entity = getattr(row, "entity", None)
            access.touches.add(entity.name if entity else self.model.schema.name)

    def pool(self, access: Access, owner: Any, name: str, signature: Any, loc: Any) -> None:
        """Take note of `spawn` and `remove`: they write and touch the pool's rows."""
        if name in ("spawn", "remove"):
            if name == "remove" and owner.schema.role == "frozen" and signature.args[0].schema.role != "own":
                raise PurityError(
                    f"{_place(loc)}: a synchronous system may remove its own row only: let the other row's system "
                    f"remove it, or make this a sequential system"
                )
            access.writes.setdefault(f"{owner.entity.name} ({name})", _place(loc))
            access.touches.add(owner.entity.name)
        else:
            access.reads.add(f"{owner.entity.name} (live)")

    def read_rows(self, access: Access, table: Any) -> None:
        """Take note that it matters which rows of a pool are live."""
        from tocsin.compile._types import TableType

        if self.ours(table) and isinstance(table, TableType) and table.entity.pooled:
            access.reads.add(f"{table.entity.name} (live)")

    def read(self, access: Access, owner: Any, name: str | None) -> None:
        """Take note of a field that is read."""
        label = self.label(owner, name)
        if label:
            access.reads.add(label)
            if owner.schema.role == "frozen":
                access.seen.add(label)

    def write(self, access: Access, owner: Any, name: str | None, loc: Any) -> None:
        """Take note of a field that is written."""
        label = self.label(owner, name)
        if label and owner.schema.role == "frozen" and not self.is_staged(label):
            raise PurityError(
                f"{_place(loc)}: a synchronous system writes {label} of the world or of another row; it may write its "
                f"own row only. Send a message, claim a cell, or make it a sequential system or an action."
            )
        if label and getattr(owner, "schema", None) is not self.schemas[3]:
            access.writes.setdefault(label, _place(loc))

    def is_staged(self, label: str) -> bool:
        """Say whether it is an array of a part to which a synchronous system may give."""
        name, _, array = label.removesuffix("[]").partition(".")
        part = self.model.schema.parts.get(name)
        return part is not None and array in part.cls.staged

    def label(self, owner: Any, name: str | None) -> str | None:
        """Return 'Leg.site', 'rates.step', 'weights[]' or 'n_sites'; None if it is not state."""
        from tocsin.compile._types import ArrayType, ParamsType, PartType, RowType, WorldType

        if not self.ours(owner):
            return None
        if isinstance(owner, ArrayType):
            return None if name else f"{owner.array.name}[]"
        if isinstance(owner, RowType) and name in owner.entity.fields:
            return f"{owner.entity.name}.{name}"
        if isinstance(owner, ParamsType) and name in owner.cls.fields():
            return f"{owner.name_}.{name}"
        if isinstance(owner, PartType) and name in owner.part.scalars:
            return owner.part.scalars[name].name
        if isinstance(owner, WorldType) and name in owner.schema.scalars:
            return name
        return None


def refuse_float(owner: Any, name: str | None, given: Any, loc: Any) -> None:
    """Raise CompileError if a float is stored in a field of whole numbers."""
    from numba.core import types

    from tocsin.compile._types import ArrayType, PartType, RowType, WorldType

    field: FieldSpec | None = None
    if isinstance(owner, ArrayType):
        field = owner.array.field
    elif isinstance(owner, RowType):
        field = owner.entity.fields.get(name or "")
    elif isinstance(owner, PartType):
        field = owner.part.scalars.get(name or "")
    elif isinstance(owner, WorldType):
        field = owner.schema.scalars.get(name or "")
    if field and field.kind in ("int", "bool") and isinstance(given, types.Float):
        raise CompileError(f"{_place(loc)}: {field.name} holds {field.kind}, but is given a float: write int(...)")


def refuse_is(annotation: Any, expression: Any, loc: Any) -> None:
    """Raise CompileError if two rows are compared with `is`: in plain Python each read is a new proxy."""
    import operator

    from tocsin.compile._types import RowType

    both = (annotation.typemap[expression.lhs.name], annotation.typemap[expression.rhs.name])
    if expression.fn in (operator.is_, operator.is_not) and all(isinstance(t, RowType) for t in both):
        raise CompileError(f"{_place(loc)}: rows cannot be compared with `is`: write == or !=; `is` is for None")


def refuse_text(annotation: Any, expression: Any, loc: Any) -> None:
    """Raise CompileError if something is compared with a text, which no field ever equals."""
    from numba.core import types

    sides = (annotation.typemap[side.name] for side in (expression.lhs, expression.rhs))
    for text in (side for side in sides if isinstance(side, (types.StringLiteral, types.UnicodeType))):
        what = getattr(text, "literal_value", "text")
        raise CompileError(
            f"{_place(loc)}: a comparison with the text {what!r}: fields hold numbers; name one (ILL = 1)"
        )


def refuse_unlike(annotation: Any, expression: Any, loc: Any) -> None:
    """Raise CompileError for an operation whose compiled bits differ from Python's."""
    import operator

    from numba.core import types

    if expression.op in ("binop", "inplace_binop") and expression.fn in (operator.pow, operator.ipow):
        base, power = (annotation.typemap[side.name] for side in (expression.lhs, expression.rhs))
        if (
            isinstance(base, types.Float)
            and isinstance(power, types.Integer)
            and getattr(power, "literal_value", 3) != 2
        ):
            raise CompileError(
                f"{_place(loc)}: a whole power of a float is rounded differently when compiled: write x * x * x, "
                f"or a float power (x ** 3.0, x ** float(n))"
            )
    is_invert = expression.op == "unary" and expression.fn is operator.invert
    if is_invert and isinstance(annotation.typemap[expression.value.name], types.Boolean):
        raise CompileError(f"{_place(loc)}: ~ of a truth value differs when compiled: write `not`")


def refuse_objects(annotation: Any, statement: Any) -> None:
    """Raise CompileError if a statement makes a Python object: compiled loops hold none."""
    from numba.core import ir, types

    if isinstance(statement, ir.Print):
        raise CompileError(f"{_place(statement.loc)}: compiled code cannot print; run with jit=False to look inside")
    if isinstance(statement, ir.Assign) and "Random" in str(annotation.typemap.get(statement.target.name)):
        raise CompileError(
            f"{_place(statement.loc)}: random numbers come from `rng` (rng.random(), rng.integers(0, 10), ...): "
            f"then a run can be repeated"
        )
    objects = (types.Array, types.List, types.ListType, types.Set, types.DictType, types.UnicodeType)
    if isinstance(statement, ir.Assign) and isinstance(annotation.typemap.get(statement.target.name), objects):
        made = annotation.typemap[statement.target.name]
        raise CompileError(
            f"{_place(statement.loc)}: this makes a {type(made).__name__.lower()}, but compiled models "
            f"hold no Python objects: use numbers, rows, and arrays that the world declares"
        )


def _place(loc: Any) -> str:
    return f"{loc.filename}:{loc.line}"
