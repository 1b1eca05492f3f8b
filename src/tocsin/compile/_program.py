"""From a model's Python functions to one object file, with Numba and LLVM.

Numba types the functions and writes LLVM IR. The IR of the loop and all it calls is then
optimised as one module, with only the entry visible, and emitted for this CPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tocsin.compile._access import Access, accesses, check_purity
from tocsin.compile._explain import explained
from tocsin.compile._wide import with_high_half
from tocsin.errors import CompileError
from tocsin.schema import Model, WorldSchema
from tocsin.schema._flags import Flags
from tocsin.schema._system import Alone

ENTRY = "tocsin_advance"
APART = ("draw_ahead", "set_rate", "tune")
"""Functions of the loop that are called rarely: kept out of their callers, whose registers they would take."""
WITHIN = ("redraw", "place")
"""Functions of the loop that every event needs, and that LLVM would leave on their own."""
RUNTIME = ("numba_", "NRT_", "Py", "_Py")
"""How the names of the Python runtime's functions begin."""


@dataclass(frozen=True)
class Program:
    """Machine code of one model: an object file and what is known about it."""

    code: bytes
    externals: list[str]
    """Functions outside the module that it calls (the C library's, if the model uses any)."""
    access: dict[str, Access] = field(default_factory=dict)


def compile_program(
    model: Model, kernel: WorldSchema, entry: Callable[..., Any], replacements: dict[Any, str | tuple[float, ...]]
) -> Program:
    """Compile `entry(model, world, kernel, until, max_events)` for a model.

    Parameters
    ----------
    model : the model
    kernel : schema of the kernel's own world
    entry : the event loop
    replacements : plain functions that have a machine instruction, by its name, or that read a
        table of constants

    Raises CompileError, and PurityError for a `schedule`, `rate` or `value` that writes.
    """
    typed = type_program(model, kernel, entry, replacements)
    return Program(*_emit(typed), typed.access)


@dataclass(frozen=True)
class Typed:
    """A model's loop as LLVM's text, before it is optimised for any machine."""

    text: str
    entry: str
    access: dict[str, Access]


def type_program(
    model: Model, kernel: WorldSchema, entry: Callable[..., Any], replacements: dict[Any, str | tuple[float, ...]],
    alone: Alone | None = None,
) -> Typed:  # fmt: skip
    """Let Numba type a model's loop. Arguments and errors as `compile_program`.

    `alone`: what the ticks of synchronous systems are made of, for a loop that runs them itself, without threads.
    """
    from numba.core import types

    from tocsin.compile import _dispatch, _intrinsics, _iterate, _operations, _systems, _vectors  # noqa: F401 (they register with Numba)
    from tocsin.compile._attributes import kernel_schemas
    from tocsin.compile._functions import building
    from tocsin.compile._library import ir_only, uncollected
    from tocsin.compile._types import ModelType, WorldType

    for schema in schemas_of(model):
        kernel_schemas[schema] = kernel
    _prepare_methods(model, kernel)
    intrinsics = {
        f: getattr(_intrinsics, what, None) or getattr(_vectors, what)
        if isinstance(what, str)
        else _intrinsics.constant_table(what)
        for f, what in replacements.items()
    }
    with building(intrinsics, kernel, Flags.schema(), alone=alone) as build, ir_only(), uncollected(), explained(model):
        signature = (
            ModelType(model), WorldType(model.schema), WorldType(kernel), types.float64, types.int64,
        )  # fmt: skip
        dispatcher = build.dispatcher(entry)
        dispatcher.compile(signature)
        result = dispatcher.overloads[signature]._asdict()
        access = accesses(model, build)
        check_purity(model, access)
    return Typed(str(result["library"].whole()), result["fndesc"].llvm_func_name, access)


def schemas_of(model: Model) -> tuple[WorldSchema, ...]:
    """Return the schema of a model's world, and those of how its synchronous systems see it."""
    return (model.schema, model.views.frozen, model.views.own, model.views.newborn)


def _prepare_methods(model: Model, kernel: WorldSchema) -> None:
    from tocsin.compile import _types
    from tocsin.compile._attributes import class_attribute
    from tocsin.compile._functions import lower_methods
    from tocsin.compile._pools import POOL_METHODS, table_method

    carriers = [m.cls for m in (*model.actions, *model.observables)]
    groups = {
        _types.WorldType: [model.schema.cls, kernel.cls, Flags],
        _types.RowType: [e.cls for s in (model.schema, kernel) for e in s.entities],
        _types.ParamsType: list(model.schema.params.values()),
        _types.PartType: [part.cls for part in model.schema.parts.values()],
        _types.CarrierType: carriers,
    }
    for type_class, classes in groups.items():
        names = {n for c in classes for b in c.__mro__ for n, v in vars(b).items() if callable(v)}
        lower_methods(type_class, {n for n in names if not n.startswith("__")}, class_attribute)
    lower_methods(_types.TableType, set(POOL_METHODS), table_method)


def _emit(typed: Typed) -> tuple[bytes, list[str]]:
    machine = target_machine()
    module = optimised(typed.text, typed.entry, machine)
    externals = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    strange = [name for name in externals if name.startswith(RUNTIME)]
    if strange:
        raise CompileError(
            f"the model needs {strange[0]} of the Python runtime, which compiled models do without: draw from "
            f"`rng`, not from `random` or `numpy.random`; keep strings, lists and clocks of the system out"
        )
    return machine.emit_object(module), externals


def optimised(text: str, entry: str, machine: Any) -> Any:
    """Return the loop as one module in which only the entry is seen, optimised for a machine."""
    import llvmlite.binding as llvm

    marked = _marked(_marked(_strip(text), APART, "noinline"), WITHIN, "alwaysinline")
    module = llvm.parse_assembly(with_high_half(marked, machine.triple))
    for function in module.functions:
        if not function.is_declaration and function.name != entry:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.get_function(entry).name = ENTRY
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    module.verify()
    return module


def _strip(text: str) -> str:
    """Take out the CPU that Numba chose: the target machine says it."""
    text = roots_inside(text)
    text = re.sub(r'"target-(cpu|features)"="[^"]*"', "", text)
    return re.sub(r"(attributes #\d+ = \{)\s*\}", r"\1 nounwind }", text)


def roots_inside(text: str) -> str:
    """Make square roots an instruction, where Numba (before 0.66) calls the C library's."""
    if "@llvm.sqrt.f64(" in text:
        text = re.sub(r'^declare [^\n]*@"?sqrt"?\(.*\n', "", text, flags=re.M)
    return re.sub(r'@"?sqrt"?\(', "@llvm.sqrt.f64(", text)


def _marked(text: str, functions: Sequence[str], attribute: str) -> str:
    """Give functions of the kernel an attribute, in the text: llvmlite before 0.48 gives it to what they return."""
    names = "|".join(f"{len(name)}{name}" for name in functions)
    kernel = rf"6tocsin6kernel\d+_[a-z]+(?:{names})B"
    return re.sub(rf'^(define [^@\n]*@"?_ZN{kernel}[^\n]*?) \{{$', rf"\1 {attribute} {{", text, flags=re.M)


def target_machine() -> Any:
    """Return LLVM's target machine for this CPU."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(),
        opt=3, jit=True, codemodel="jitdefault",
    )  # fmt: skip
