"""The direct method for one small network, written out: its constants in the code, its amounts in registers.

The text is LLVM assembly, made of the numbers in the world's arrays alone; the arithmetic is that of
`burst_flat` and `renew_any`, operation for operation, so the bits are the same.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tocsin.formula import LOAD
from tocsin.formula import _postfix as op
from tocsin.models.reactions._kinds import FACTORS, FORMULA, PRODUCT

if TYPE_CHECKING:
    from tocsin.models.reactions.model import Reactor

NAME = "tocsin_burst"
MOST_UNROLLED = 32
"""Reactions up to which a network is written out (measured)."""
MOST_OPERATIONS = 400
"""Operations of all its formulas together."""
MOST_POWER = 64  # as in `tocsin.formula.power`
MOST_SELECTED = 12
"""Reactions up to which what one changes is chosen by comparisons; above, it is looked up (measured)."""
_TWO = {op.ADD: "fadd", op.SUB: "fsub", op.MUL: "fmul"}
_TESTS = {op.LT: "olt", op.LE: "ole", op.EQ: "oeq", op.NE: "une"}
_LOGIC = {op.AND: "and", op.OR: "or", op.XOR: "xor"}
_KNOWN = {LOAD, op.DIV, op.NEG, op.ABS, op.SQRT, op.MIN, op.MAX, op.NOT, op.SELECT, *_TWO, *_TESTS, *_LOGIC}


def is_unrollable(world: Reactor) -> bool:
    """Whether a network is small, and its formulas are arithmetic."""
    n, channels = len(world.channels), world.channels
    if not 0 < n <= MOST_UNROLLED or world.is_special:
        return False
    columns = (channels[key].tolist() for key in ("kind", "first_code", "last_code"))
    places = [k for kind, a, b in zip(*columns, strict=True) if kind == FORMULA for k in range(a, b)]
    varying = _varying(world)
    return len(places) <= MOST_OPERATIONS and all(
        world.ops.values.item(k) in _KNOWN or _exponent(world, k, varying) is not None for k in places
    )


def _varying(world: Reactor) -> set[int]:
    """Return which of the world's values may change: amounts, and what events set."""
    return set(range(world.n_species)) | set(world.assignments.values[:, 0].tolist())


def _exponent(world: Reactor, k: int, varying: set[int]) -> int | None:
    """Return the exponent of a power that is worked out by multiplication; None for any other operation."""
    ops, index = world.ops.values, world.args.values.item(k - 1)
    if ops.item(k) != op.POW or ops.item(k - 1) != LOAD or index in varying:
        return None
    y = world.initial.values.item(index)
    return int(y) if abs(y) <= MOST_POWER and y == int(y) else None


def number(x: float) -> str:
    """Return a double as LLVM writes it, to the last bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class _Code:
    """Lines of assembly, each value with a number of its own."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.n = 0

    def put(self, text: str) -> str:
        """Add an operation; return the name of its value."""
        self.n += 1
        self.lines.append(f"  %t{self.n} = {text}")
        return f"%t{self.n}"

    def two(self, operation: str, x: str, y: str) -> str:
        """Add an operation on two doubles."""
        return self.put(f"{operation} double {x}, {y}")

    def test(self, how: str, x: str, y: str) -> str:
        """Add a comparison of two doubles: a truth value."""
        return self.put(f"fcmp {how} double {x}, {y}")

    def either(self, truth: str, x: str, y: str) -> str:
        """Choose one of two doubles, without a branch."""
        return x if x == y else self.put(f"select i1 {truth}, double {x}, double {y}, !unpredictable !0")

    def load(self, base: str, index: str | int) -> str:
        """Load a double of an array."""
        return self.put(f"load double, ptr {self.place(base, index)}, align 8")

    def place(self, base: str, index: str | int) -> str:
        """Return the address of a double of an array."""
        return self.put(f"getelementptr inbounds double, ptr {base}, i64 {index}")


PAIR = "<2 x double>"
ZERO, ONE, NAN = number(0.0), number(1.0), "0x7FF8000000000000"


class Unrolled:
    """One network on its way to assembly."""

    def __init__(self, world: Reactor) -> None:
        self.world, self.code = world, _Code()
        self.given = world.initial.values.tolist()
        names = list(world.channels.rows.dtype.names or ())
        rows = world.channels.rows.tolist()[: len(world.channels)]
        self.channels = [dict(zip(names, row, strict=True)) for row in rows]
        changed, by = world.changed.values.tolist(), world.by.values.tolist()
        spans = [slice(c["first_change"], c["last_change"]) for c in self.channels]
        self.jumps = [dict(zip(changed[span], by[span], strict=True)) for span in spans]
        self.moving = sorted({s for jump in self.jumps for s in jump})
        odd = [*self.moving, -1] if len(self.moving) % 2 else self.moving
        self.pairs = list(zip(odd[::2], odd[1::2], strict=True))
        """Amounts that reactions change, two to a register; -1 for none."""
        set_by_events = set(world.assignments.values[:, 0].tolist())
        self.varying = _varying(world)
        self.is_whole = not set_by_events and all(
            float(x).is_integer() for x in (*by, *(self.given[s] for s in range(world.n_species)))
        )
        self.now: dict[int, str] = {}
        """What stands for each of the world's values."""

    def value(self, index: int) -> str:
        """Return what stands for one of the world's values: a register, or its number."""
        return self.now[index] if index in self.varying else number(self.given[index])

    # -- propensities -----------------------------------------------------------------------

    def propensity(self, channel: dict[str, float]) -> str:
        """Write the propensity of a channel."""
        if channel["kind"] == FORMULA:
            return self.formula(int(channel["first_code"]), int(channel["last_code"]))
        p = number(channel["constant"])
        for index, shift in self.factors(channel):
            x = self.value(index)
            p = self.code.two("fmul", p, self.code.two("fsub", x, number(shift)) if shift else x)
        return p

    def factors(self, channel: dict[str, float]) -> list[tuple[int, float]]:
        """Return (index into values, shift) of the factors of a propensity that is a product."""
        if channel["kind"] == FACTORS:
            rows = self.world.factors.values[int(channel["first_code"]) : int(channel["last_code"])]
            return [(index, float(shift)) for index, shift in rows.tolist()]
        assert channel["kind"] == PRODUCT
        both = [(int(channel["x"]), 0.0), (int(channel["y"]), channel["shift"])]
        return [(index, shift) for index, shift in both if index in self.varying or self.given[index] != 1.0 or shift]

    def formula(self, first: int, last: int) -> str:
        """Write a formula: the stack machine's steps, with names for what is on the stack."""
        stack: list[str] = []
        ops, args = self.world.ops.values.tolist(), self.world.args.values.tolist()
        for k in range(first, last):
            if ops[k] == LOAD:
                stack.append(self.value(args[k]))
                continue
            n = 3 if ops[k] == op.SELECT else 1 if ops[k] in (op.NEG, op.ABS, op.SQRT, op.NOT) else 2
            taken, stack = stack[len(stack) - n :], stack[: len(stack) - n]
            exponent = _exponent(self.world, k, self.varying)
            stack.append(self.operation(ops[k], *taken) if exponent is None else self.power(taken[0], exponent))
        return stack[0]

    def operation(self, code: int, x: str, y: str = "", z: str = "") -> str:
        """Write one step of a formula; what it means is said in `tocsin.formula`."""
        out = self.code
        if code in _TWO:
            return out.two(_TWO[code], x, y)
        if code in _TESTS:
            return self.truth(out.test(_TESTS[code], x, y))
        if code in _LOGIC:
            left, right = (out.test("une", side, ZERO) for side in (x, y))
            return self.truth(out.put(f"{_LOGIC[code]} i1 {left}, {right}"))
        if code in (op.MIN, op.MAX):
            return out.either(out.test("olt" if code == op.MIN else "ogt", x, y), x, y)
        if code == op.DIV:
            return out.either(out.test("une", y, ZERO), out.two("fdiv", x, y), NAN)
        if code == op.SELECT:
            return out.either(out.test("une", x, ZERO), y, z)
        if code == op.SQRT:
            root = out.put(f"call double @llvm.sqrt.f64(double {x})")
            return out.either(out.test("oge", x, ZERO), root, NAN)
        if code == op.NOT:
            return self.truth(out.test("oeq", x, ZERO))
        return out.put(f"fneg double {x}" if code == op.NEG else f"call double @llvm.fabs.f64(double {x})")

    def power(self, x: str, n: int) -> str:
        """Write a whole power, by repeated squaring."""
        out, result, k = self.code, ONE, abs(n)
        while k > 0:
            if k & 1:
                result = out.two("fmul", result, x)
            x = out.two("fmul", x, x)
            k >>= 1
        if n >= 0:
            return result
        return out.either(out.test("une", result, ZERO), out.two("fdiv", ONE, result), NAN)

    def truth(self, condition: str) -> str:
        """Turn a truth value into 1 or 0."""
        return self.code.either(condition, ONE, ZERO)

    def may_be_negative(self, k: int) -> bool:
        """Whether a propensity has to be looked at: not if whole amounts make it 0 before one runs out."""
        channel = self.channels[k]
        if channel["kind"] == FORMULA or not self.is_whole:
            return True
        factors = self.factors(channel)
        if any(index not in range(self.world.n_species) and self.given[index] - shift < 0 for index, shift in factors):
            return True
        shifts: dict[int, list[float]] = {}
        for index, shift in factors:
            shifts.setdefault(index, []).append(shift)
        if any(sorted(set(found)) != list(range(len(set(found)))) for found in shifts.values()):
            return True
        return any(-by > len(set(shifts.get(s, ()))) for s, by in self.jumps[k].items())

    # -- one event --------------------------------------------------------------------------

    def text(self) -> str:
        """Return the module."""
        out = self.code
        loaded = {s: out.load("%values", s) for s in sorted(self.varying)}
        given = [self.packed([loaded.get(s, ZERO) for s in pair]) for pair in self.pairs]
        now, until, before = (out.load("%limits", k) for k in range(3))
        start, out.lines = out.lines, []
        self.now = loaded | {
            s: out.put(f"extractelement {PAIR} %v{k // 2}, i32 {k % 2}") for k, s in enumerate(self.moving)
        }
        time, moved = self.event(until, before)
        phis = ["  %i = phi i64 [ 0, %entry ], [ %i1, %go ]", f"  %now = phi double [ {now}, %entry ], [ {time}, %go ]"]
        phis += [
            f"  %v{k} = phi {PAIR} [ {old}, %entry ], [ {new}, %go ]"
            for k, (old, new) in enumerate(zip(given, moved, strict=True))
        ]
        lines = [*start, "  br label %loop", "loop:", *phis, *out.lines]
        last = ["done:", "  %n_fired = phi i64 [ %i, %draw ], [ %i1, %go ]"]
        last += [f"  %w{k} = phi {PAIR} [ %v{k}, %draw ], [ {new}, %go ]" for k, new in enumerate(moved)]
        last += [
            f"  %end = phi double [ %now, %draw ], [ {time}, %go ]",
            *self.store("%w", "%end"),
            "  ret i64 %n_fired",
        ]
        bad = ["bad:", *self.store("%v", "%now"), "  %code = xor i64 %i, -1", "  ret i64 %code"]
        return "\n".join([
            self.table(), "declare double @llvm.sqrt.f64(double)", "declare double @llvm.fabs.f64(double)",
            f"define i64 @{NAME}(ptr noalias %values, ptr noalias readonly %draws, ptr noalias %limits, i64 %n) nounwind {{", "entry:",
            *lines, *last, *bad, "}", "!0 = !{}",
        ])  # fmt: skip

    def event(self, until: str, before: str) -> tuple[str, list[str]]:
        """Write one event; return what stands for the time and the amounts after it."""
        out = self.code
        sums: list[str] = []
        low = ""
        for k, channel in enumerate(self.channels):
            p = self.propensity(channel)
            sums.append(out.two("fadd", sums[-1], p) if sums else p)
            if self.may_be_negative(k):
                low = out.either(out.test("olt", p, low), p, low) if low else p
        total = sums[-1]
        good = out.test("olt", total, number(float("inf")))
        if low:
            good = out.put(f"and i1 {good}, {out.test('oge', low, ZERO)}")
        out.lines += [f"  br i1 {good}, label %draw, label %bad", "draw:"]
        place = out.put("shl i64 %i, 1")
        wait = out.load("%draws", place)
        share = out.load("%draws", out.put(f"or i64 {place}, 1"))
        time = out.two("fadd", "%now", out.two("fdiv", wait, total))
        both = out.put(f"and i1 {out.test('ole', time, until)}, {out.test('olt', time, before)}")
        out.lines += [f"  br i1 {both}, label %go, label %done", "go:"]
        moved = self.moved(out.two("fmul", share, total), sums[:-1])
        out.lines += [
            "  %i1 = add i64 %i, 1",
            "  %more = icmp slt i64 %i1, %n",
            "  br i1 %more, label %loop, label %done",
        ]
        return time, moved

    def moved(self, place: str, sums: list[str]) -> list[str]:
        """Write the amounts after the chosen reaction: that of the first sum that is above `place`."""
        if len(self.channels) <= MOST_SELECTED:
            both = [self.packed([x, x]) for x in (place, *sums)]
            passed = [self.code.put(f"fcmp oge {PAIR} {both[0]}, {x}") for x in both[1:]]
            return [self.selected(k, passed) for k in range(len(self.pairs))]
        out = self.code
        chosen = "0"
        for x in sums:
            one = out.put(f"zext i1 {out.test('oge', place, x)} to i64")
            chosen = out.put(f"add i64 {chosen}, {one}")
        found = []
        for k in range(len(self.pairs)):
            at = out.put(f"getelementptr inbounds {self.shape()}, ptr @jumps, i64 0, i64 {chosen}, i64 {k}")
            jump = out.put(f"load {PAIR}, ptr {at}, align 16")
            found.append(out.put(f"fadd {PAIR} %v{k}, {jump}"))
        return found

    def selected(self, k: int, passed: list[str]) -> str:
        """Write one pair of amounts: every outcome, and a choice between them (two at a time, lest it become a branch)."""
        made: dict[str, str] = {}
        for jump in self.jumps:
            by = self.change(jump, k)
            if by not in made:
                made[by] = (
                    self.code.put(f"fadd {PAIR} %v{k}, {by}") if any(jump.get(s) for s in self.pairs[k]) else f"%v{k}"
                )
        found = made[self.change(self.jumps[0], k)]
        for truth, jump in zip(passed, self.jumps[1:], strict=True):
            found = self.code.put(f"select <2 x i1> {truth}, {PAIR} {made[self.change(jump, k)]}, {PAIR} {found}")
        return found

    def packed(self, both: list[str]) -> str:
        """Write two doubles as a pair."""
        if both[0] == both[1]:
            one = self.code.put(f"insertelement {PAIR} poison, double {both[0]}, i32 0")
            return self.code.put(f"shufflevector {PAIR} {one}, {PAIR} poison, <2 x i32> zeroinitializer")
        first = self.code.put(f"insertelement {PAIR} poison, double {both[0]}, i32 0")
        return self.code.put(f"insertelement {PAIR} {first}, double {both[1]}, i32 1")

    def change(self, jump: dict[int, float], k: int) -> str:
        """Return what a reaction changes in one pair, as a constant."""
        return f"<{', '.join(f'double {number(jump.get(s, 0.0))}' for s in self.pairs[k])}>"

    def shape(self) -> str:
        """Return the type of the table of what each reaction changes."""
        return f"[{len(self.channels)} x [{len(self.pairs)} x {PAIR}]]"

    def table(self) -> str:
        """Return the table of what each reaction changes."""
        row = f"[{len(self.pairs)} x {PAIR}]"
        rows = (", ".join(f"{PAIR} {self.change(jump, k)}" for k in range(len(self.pairs))) for jump in self.jumps)
        return f"@jumps = internal constant {self.shape()} [{', '.join(f'{row} [{r}]' for r in rows)}], align 16"

    def store(self, prefix: str, now: str) -> list[str]:
        """Return the lines that write amounts and time back."""
        out, kept = self.code, self.code.lines
        out.lines = []
        for k, s in enumerate(self.moving):
            amount = out.put(f"extractelement {PAIR} {prefix}{k // 2}, i32 {k % 2}")
            out.lines.append(f"  store double {amount}, ptr {out.place('%values', s)}, align 8")
        out.lines.append(f"  store double {now}, ptr %limits, align 8")
        lines, out.lines = out.lines, kept
        return lines
