"""Damage to files and texts, which readers refuse by name or read rightly."""

from __future__ import annotations

import random
from collections.abc import Callable

import indefinite_opt as iopt

__all__ = ["TOKENS", "attack", "damaged"]

TOKENS = (
    *b"nan inf -inf -1 0 1e999 1e-999 1e308 1j null true None [ ] { } ( ) = , : - # _ \\".split(),
    b"'", b'"',
    b"\0", b"\n", b"\r", b" ", b"\xff", b"\xc3\xa9", b"9" * 400, b"9" * 5000, b"[" * 20_000,
    b"-" * 20_000, b"(" * 300, b"-9223372036854775809", b"18446744073709551616", b"0x10", b"1_0",
)  # fmt: skip


def damaged(content: bytes, chance: random.Random, tokens: tuple[bytes, ...]) -> bytes:
    """The content after one to four edits; each removes, repeats, moves, changes or inserts."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(data))
        length = chance.choice((1, 1, 1, 2, 5, 20, 200))
        part = bytes(data[at : at + length])
        there = chance.randint(0, len(data))
        match chance.randrange(7):
            case 0:
                del data[at : at + length]
            case 1:
                data[there:there] = part
            case 2:
                data[there : there + length] = part
            case 3:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 4:
                data[at:at] = chance.choice(tokens)
            case 5:
                data[at : at + length] = chance.choice(tokens)
            case _ if chance.random() < 0.1:
                del data[at:]
    return bytes(data)


def attack(
    samples: list[bytes], read: Callable[[bytes], object], times: int, tokens: tuple[bytes, ...]
) -> int:
    """How many damaged samples are read; all others end in errors of this package."""
    chance, count = random.Random(0), 0
    for k in range(times):
        try:
            read(damaged(samples[k % len(samples)], chance, tokens))
        except iopt.IndefiniteOptError:
            continue
        count += 1
    return count
