"""Loads and stores: how a field of a world becomes one machine instruction.

Each load and store carries a type-based alias tag (LLVM's TBAA): a store to one field can
change no other field and no base address, so LLVM keeps addresses in registers across stores.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.np import numpy_support

from tocsin.schema import EntitySchema, FieldSpec, WorldSchema

I64 = ir.IntType(64)
_DTYPES: dict[tuple[int, str], Any] = {}


def row_dtype(entity: EntitySchema) -> np.dtype[Any]:
    """Return the (cached) dtype of an entity's rows."""
    key = (id(entity), entity.name)
    if key not in _DTYPES:
        _DTYPES[key] = (entity, entity.dtype())
    return _DTYPES[key][1]


def globals_dtype(schema: WorldSchema) -> np.dtype[Any]:
    """Return the (cached) dtype of a world's record of scalars and params."""
    key = (id(schema), schema.name)
    if key not in _DTYPES:
        _DTYPES[key] = (schema, schema.globals_dtype())
    return _DTYPES[key][1]


def tag(builder: Any, instruction: Any, name: str) -> Any:
    """Attach the alias tag of one field (or of the header) to a load or a store."""
    module = builder.module
    tags = module.__dict__.setdefault("tocsin_tags", {})
    if name not in tags:
        node = module.add_metadata([name, module.add_metadata(["tocsin"]), ir.Constant(I64, 0)])
        tags[name] = module.add_metadata([node, node, ir.Constant(I64, 0)])
    instruction.set_metadata("tbaa", tags[name])
    return instruction


def word_pointer(builder: Any, header: Any, slot: int) -> Any:
    """Return the address of one word of the header."""
    address = builder.add(header, ir.Constant(I64, 8 * slot))
    return builder.inttoptr(address, I64.as_pointer())


def load_word(builder: Any, header: Any, slot: int, name: str = "header") -> Any:
    """Load one word of the header."""
    return tag(builder, builder.load(word_pointer(builder, header, slot)), name)


def store_word(builder: Any, header: Any, slot: int, value: Any, name: str) -> None:
    """Store one word of the header."""
    tag(builder, builder.store(value, word_pointer(builder, header, slot)), name)


def row_address(builder: Any, entity: EntitySchema, header: Any, index: Any) -> Any:
    """Return the address of a row."""
    base = load_word(builder, header, entity.slot)
    size = row_dtype(entity).itemsize
    return builder.add(base, builder.mul(index, ir.Constant(I64, size)))


@lru_cache
def storage_type(dtype: Any) -> Any:
    """Return the Numba type in which a NumPy scalar type is stored."""
    return numpy_support.from_dtype(dtype)


def field_pointer(context: Any, builder: Any, address: Any, dtype: Any, name: str) -> tuple[Any, Any]:
    """Return (Numba storage type, pointer) of field `name` of the record at `address`."""
    field_dtype, offset = dtype.fields[name][:2]
    storage = storage_type(field_dtype)
    pointer_type = context.get_data_type(storage).as_pointer()
    where = builder.add(address, ir.Constant(I64, offset))
    return storage, builder.inttoptr(where, pointer_type)


def load(context: Any, builder: Any, storage: Any, pointer: Any, wanted: Any, name: str) -> Any:
    """Load a scalar and widen it to int64, float64 or boolean."""
    raw = tag(builder, builder.load(pointer), name)
    value = context.data_model_manager[storage].from_data(builder, raw)
    return context.cast(builder, value, storage, wanted)


def store(context: Any, builder: Any, storage: Any, pointer: Any, value: Any, given: Any, name: str) -> None:
    """Narrow a scalar to its field and store it. Raises TypingError for what is no number."""
    if not isinstance(given, (types.Number, types.Boolean)):
        what = "a text" if "unicode" in str(given) else str(given)
        raise TypingError(f"{name.split('.', 1)[-1].strip('.')} holds {storage}, but is given {what}")
    value = context.cast(builder, value, given, storage)
    raw = context.data_model_manager[storage].as_data(builder, value)
    tag(builder, builder.store(raw, pointer), name)


def make_row(context: Any, builder: Any, row_type: Any, header: Any, index: Any) -> Any:
    """Return the value of a row proxy (or of an action bound to a row)."""
    row = cgutils.create_struct_proxy(row_type)(context, builder)
    row.world, row.index = header, index
    return row._getvalue()


def parts(context: Any, builder: Any, row_type: Any, value: Any) -> tuple[Any, Any]:
    """Return (header, index) of a row proxy."""
    row = cgutils.create_struct_proxy(row_type)(context, builder, value=value)
    return row.world, row.index


def alias_name(schema: WorldSchema, owner: str, field: str) -> str:
    """Return the alias tag's name of a field."""
    return f"{schema.name}.{owner}.{field}"


def storage_of(field: FieldSpec) -> Any:
    """Return the Numba type in which a field is stored."""
    return numpy_support.from_dtype(np.dtype(field.dtype))
