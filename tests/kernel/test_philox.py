"""Laws of the Philox4x32-10 block."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.kernel._philox import philox4x32

from ._compiled import compiled

ONES = 0xFFFFFFFF
WORD = st.integers(0, ONES)

# Counter, key, block: the known-answer vectors for philox4x32-10 published with Random123.
VECTORS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES, ONES, ONES, ONES), (ONES, ONES), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def block_by_definition(counter: list[int], key: list[int]) -> tuple[int, ...]:
    """Return the block from figure 2 of the paper, in Python integers of any size."""
    left, right = [counter[1], counter[3]], [counter[0], counter[2]]
    for i in range(10):
        products = [0xD2511F53 * right[0], 0xCD9E8D57 * right[1]]
        keys = [(key[0] + i * 0x9E3779B9) % 2**32, (key[1] + i * 0xBB67AE85) % 2**32]
        right = [products[1] // 2**32 ^ left[0] ^ keys[0], products[0] // 2**32 ^ left[1] ^ keys[1]]
        left = [products[1] % 2**32, products[0] % 2**32]
    return right[0], left[0], right[1], left[1]


@pytest.mark.parametrize(("counter", "key", "block"), VECTORS)
def test_known_answers(counter, key, block):
    """Interpreted and compiled blocks are the published known answers."""
    assert philox4x32(*counter, *key) == block
    assert compiled(philox4x32)(*counter, *key) == block


@settings(max_examples=300, deadline=None)
@given(counter=st.tuples(WORD, WORD, WORD, WORD), key=st.tuples(WORD, WORD))
def test_block_is_the_definition(counter, key):
    """At any counter and key the block is that of the definition, compiled or not."""
    block = block_by_definition(list(counter), list(key))
    assert philox4x32(*counter, *key) == block
    assert compiled(philox4x32)(*counter, *key) == block


def test_one_counter_bit_moves_half_of_the_block():
    """Flipping one of the 192 input bits moves half of the 128 output bits on average."""
    n_flips = 0
    start = (0x12345678, 0x9ABCDEF0, 0x0F1E2D3C, 0x4B5A6978, 0x87969FA5, 0xB4C3D2E1)
    block = philox4x32(*start)
    for bit in range(192):
        moved = list(start)
        moved[bit // 32] ^= 1 << (bit % 32)
        n_flips += sum((a ^ b).bit_count() for a, b in zip(block, philox4x32(*moved), strict=True))
    n_bits = 192 * 128
    assert abs(n_flips - n_bits / 2) < 4.5 * (n_bits / 4) ** 0.5
