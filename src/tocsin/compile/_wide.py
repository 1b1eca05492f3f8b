"""The high half of a 64 by 64 bit product, in LLVM's text: one instruction on a CPU, four products on WebAssembly."""

from __future__ import annotations

import re

HIGH_HALF = "tocsin_high_half"
_DECLARED = re.compile(rf"^declare [^@\n]*@{HIGH_HALF}\(.*$", re.M)
_BEGIN = f"define internal i64 @{HIGH_HALF}(i64 %a, i64 %b) alwaysinline {{"
_WIDE = f"""
{_BEGIN}
  %x = zext i64 %a to i128
  %y = zext i64 %b to i128
  %product = mul i128 %x, %y
  %upper = lshr i128 %product, 64
  %high = trunc i128 %upper to i64
  ret i64 %high
}}
"""
_NARROW = f"""
{_BEGIN}
  %a1 = lshr i64 %a, 32
  %a0 = and i64 %a, 4294967295
  %b1 = lshr i64 %b, 32
  %b0 = and i64 %b, 4294967295
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %q10 = mul i64 %a1, %b0
  %p10 = call i64 asm "", "=r,0"(i64 %q10)
  %p11 = mul i64 %a1, %b1
  %p00u = lshr i64 %p00, 32
  %p01l = and i64 %p01, 4294967295
  %p10l = and i64 %p10, 4294967295
  %m0 = add i64 %p00u, %p01l
  %m1 = add i64 %m0, %p10l
  %carry = lshr i64 %m1, 32
  %p01u = lshr i64 %p01, 32
  %p10u = lshr i64 %p10, 32
  %h0 = add i64 %p11, %p01u
  %h1 = add i64 %h0, %p10u
  %high = add i64 %h1, %carry
  ret i64 %high
}}
"""
"""The empty assembly keeps LLVM (since 22) from seeing what this is: it would call a function that WebAssembly lacks."""


def with_high_half(text: str, triple: str) -> str:
    """Return the text of a module with this function defined as suits the target."""
    return _DECLARED.sub("", text) + (_NARROW if triple.startswith("wasm") else _WIDE)
