"""Files that are nearly right."""

from __future__ import annotations

import random
import re

NUMBERS = (b"0", b"-1", b"1e308", b"9223372036854775807", b"18446744073709551616", b"4294967295", b"NaN", b"1.5", b"")
BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFF)


def mutated(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(1 + min(int(rng.expovariate(0.5)), 8)):
        if not out:
            break
        out = rng.choice(MUTATIONS)(rng, out)
    return bytes(out)


def flip_bit(rng: random.Random, data: bytearray) -> bytearray:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def set_byte(rng: random.Random, data: bytearray) -> bytearray:
    data[rng.randrange(len(data))] = rng.choice(BYTES)
    return data


def cut(rng: random.Random, data: bytearray) -> bytearray:
    return data[: rng.randrange(len(data))]


def leave_out(rng: random.Random, data: bytearray) -> bytearray:
    at = rng.randrange(len(data))
    del data[at : at + 1 + int(rng.expovariate(0.02))]
    return data


def repeat(rng: random.Random, data: bytearray) -> bytearray:
    at, n = rng.randrange(len(data)), 1 + int(rng.expovariate(0.02))
    return data[: at + n] + data[at : at + n] * rng.choice((1, 2, 50)) + data[at + n :]


def exchange(rng: random.Random, data: bytearray) -> bytearray:
    n = 1 + rng.randrange(64)
    a, b = rng.randrange(len(data)), rng.randrange(len(data))
    data[a : a + n], data[b : b + n] = data[b : b + n], data[a : a + n]
    return data


def other_number(rng: random.Random, data: bytearray) -> bytearray:
    found = [match.span() for match in re.finditer(rb"\d+", bytes(data[:65536]))]
    if not found:
        return set_byte(rng, data)
    begin, end = rng.choice(found)
    data[begin:end] = rng.choice(NUMBERS)
    return data


def large_length(rng: random.Random, data: bytearray) -> bytearray:
    """Four or eight bytes that a binary format may take for a count."""
    at, n = rng.randrange(len(data)), rng.choice((4, 8))
    data[at : at + n] = rng.choice((b"\xff" * n, b"\xff" * (n - 1) + b"\x7f", b"\x00" * n))
    return data


MUTATIONS = (flip_bit, flip_bit, set_byte, cut, leave_out, repeat, exchange, other_number, large_length)
