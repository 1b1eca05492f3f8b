"""Make one relocatable WebAssembly object into a module that can be instantiated.

An object of LLVM holds final numbers of functions, types and globals, as it is the only one; what
is left to do is to give its data an address, export the entry and drop the notes for linkers
(https://github.com/WebAssembly/tool-conventions, Linking). Memory, table and stack pointer stay
imports: `env.__linear_memory`, `env.__indirect_function_table`, `env.__stack_pointer`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MAGIC = b"\0asm\1\0\0\0"
CUSTOM, IMPORT, EXPORT, DATA = 0, 2, 7, 11
ORDER = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 13: 6, 6: 7, 7: 8, 8: 9, 9: 10, 12: 11, 10: 12, 11: 13}
"""Order of sections in a module."""
SYMBOL_TABLE, FUNCTION_SYMBOL, DATA_SYMBOL, SECTION_SYMBOL = 8, 0, 1, 3
UNDEFINED, EXPLICIT_NAME = 0x10, 0x40
LEB, SLEB, WORD = 3, 4, 5
"""Relocations of memory addresses in 32 bits: two encodings in code, plain words in data."""
WITH_ADDEND = frozenset({3, 4, 5, 8, 9, 11, 14, 15, 16, 17, 18, 21, 22, 23, 25})


@dataclass(frozen=True)
class Linked:
    """A module, and where its data ends."""

    code: bytes
    end: int
    imports: tuple[str, ...]
    """Functions that it needs from outside, by name."""


class _Reader:
    def __init__(self, data: bytes | bytearray, at: int = 0) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def take(self, n: int) -> bytes:
        self.at += n
        return bytes(self.data[self.at - n : self.at])

    def name(self) -> str:
        return self.take(self.number()).decode()

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.data)


@dataclass
class _Object:
    sections: list[tuple[int, bytearray]] = field(default_factory=list)
    relocations: dict[int, list[tuple[int, int, int, int]]] = field(default_factory=dict)
    segments: list[tuple[int, bytes]] = field(default_factory=list)
    functions: dict[str, int] = field(default_factory=dict)
    symbols: list[int | None] = field(default_factory=list)
    """Address of each data symbol; None for others."""


def link(code: bytes, entry: str, exported: str, base: int) -> Linked:
    """Return a module that exports `entry` as `exported`, its data from address `base` on.

    Raises ValueError for an object that is not of the kind LLVM makes.
    """
    found = _read(code)
    for target, relocations in found.relocations.items():
        _relocate(found, found.sections[target][1], relocations, base)
    end = base + max((at + len(data) for at, data in found.segments), default=0)
    index = found.functions[entry]
    export = _number(1) + _number(len(exported)) + exported.encode() + b"\0" + _number(index)
    kept = [(kind, bytes(data)) for kind, data in found.sections if kind not in (CUSTOM, DATA)]
    kept.append((EXPORT, export))
    if found.segments:
        kept.append((DATA, _data_section(found, base)))
    module = bytearray(MAGIC)
    for kind, data in sorted(kept, key=lambda s: ORDER[s[0]]):
        module += bytes([kind]) + _number(len(data)) + data
    imports = next((data for kind, data in kept if kind == IMPORT), b"\0")
    return Linked(bytes(module), end, _function_imports(imports))


def _read(code: bytes) -> _Object:
    if code[:8] != MAGIC:
        raise ValueError("not a WebAssembly object")
    reader, found, linking = _Reader(code, 8), _Object(), None
    while not reader.is_done:
        kind = reader.byte()
        data = bytearray(reader.take(reader.number()))
        found.sections.append((kind, data))
    for kind, data in found.sections:
        if kind == DATA:
            found.segments = _segments(data)
        if kind == CUSTOM:
            inner = _Reader(data)
            name = inner.name()
            if name == "linking":
                linking = inner
            elif name.startswith("reloc."):
                target = inner.number()
                found.relocations[target] = _relocations(inner)
    if linking is None:
        raise ValueError("an object without a linking section")
    _symbols(linking, found)
    return found


def _segments(data: bytearray) -> list[tuple[int, bytes]]:
    """Return (address, bytes) of the data, segment by segment."""
    reader, found = _Reader(data), []
    for _ in range(reader.number()):
        if reader.number() != 0 or reader.byte() != 0x41:
            raise ValueError("a data segment that is not placed by a constant")
        at = reader.number()
        if reader.byte() != 0x0B:
            raise ValueError("a data segment that is not placed by a constant")
        found.append((at, reader.take(reader.number())))
    return found


def _relocations(reader: _Reader) -> list[tuple[int, int, int, int]]:
    found = []
    for _ in range(reader.number()):
        kind, offset, index = reader.byte(), reader.number(), reader.number()
        found.append((kind, offset, index, _signed(reader) if kind in WITH_ADDEND else 0))
    return found


def _signed(reader: _Reader) -> int:
    value = shift = 0
    while True:
        byte = reader.byte()
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value - (1 << shift) if byte & 64 else value


def _symbols(reader: _Reader, found: _Object) -> None:
    if reader.number() != 2:
        raise ValueError("an object of another version of the linking notes")
    while not reader.is_done:
        kind, size = reader.byte(), reader.number()
        part = _Reader(reader.take(size))
        if kind == SYMBOL_TABLE:
            for _ in range(part.number()):
                found.symbols.append(_symbol(part, found))


def _symbol(reader: _Reader, found: _Object) -> int | None:
    kind, flags = reader.byte(), reader.number()
    if kind == DATA_SYMBOL:
        reader.name()
        if flags & UNDEFINED:
            return None
        segment, offset = reader.number(), reader.number()
        reader.number()
        return found.segments[segment][0] + offset
    index = reader.number()
    if kind != SECTION_SYMBOL and (not flags & UNDEFINED or flags & EXPLICIT_NAME):
        name = reader.name()
        if kind == FUNCTION_SYMBOL:
            found.functions[name] = index
    return None


def _relocate(found: _Object, section: bytearray, relocations: list[tuple[int, int, int, int]], base: int) -> None:
    """Write the addresses of data into code and data; other numbers are final."""
    for kind, offset, index, addend in relocations:
        if kind not in (LEB, SLEB, WORD):
            continue
        at = found.symbols[index]
        if at is None:
            raise ValueError("an address of data that the object does not hold")
        value = at + addend + base
        if kind == WORD:
            section[offset : offset + 4] = value.to_bytes(4, "little")
        else:
            section[offset : offset + 5] = _number(value, 5)
    if section is next((s for k, s in found.sections if k == DATA), None):
        found.segments = _segments(section)


def _data_section(found: _Object, base: int) -> bytes:
    out = bytearray(_number(len(found.segments)))
    for at, data in found.segments:
        out += b"\0\x41" + _number(at + base, 5) + b"\x0b" + _number(len(data)) + data
    return bytes(out)


def _function_imports(data: bytes) -> tuple[str, ...]:
    reader, found = _Reader(data), []
    for _ in range(reader.number()):
        reader.name()
        name, kind = reader.name(), reader.byte()
        if kind == 0:
            reader.number()
            found.append(name)
        elif kind in (1, 2):
            if kind == 1:
                reader.byte()
            has_most = reader.byte() & 1
            reader.number()
            if has_most:
                reader.number()
        else:
            reader.take(2)
    return tuple(found)


def _number(value: int, width: int = 0) -> bytes:
    """Encode in LEB128, padded to `width` bytes (values below 2^31 read the same signed)."""
    out = bytearray()
    while True:
        byte, value = value & 127, value >> 7
        more = value != 0 or len(out) + 1 < width
        out.append(byte | (128 if more else 0))
        if not more:
            return bytes(out)
