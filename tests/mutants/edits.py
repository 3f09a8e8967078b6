"""Damage of any input as bytes: flips, splices, numbers that lie, ends cut off. The same kinds as of dumps."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_LIES = (b"0", b"-1", b"1", b"255", b"65536", b"4294967296", b"9" * 20, b"1e400", b"nan", b"", b"1.5", b"x")


def mutant(original: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """A copy with one to four edits of one kind."""
    data = original
    edit = chance.choice((_flip, _splice, _lie, _truncate))
    for _ in range(chance.randint(1, 4)):
        if data:
            data = edit(data, others, chance)
    return data


def _flip(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    at, length = chance.randrange(len(data)), chance.randint(1, 8)
    match chance.randrange(4):
        case 0:
            return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
        case 1:
            return data[:at] + chance.randbytes(1) + data[at + 1 :]
        case 2:
            return data[:at] + bytes(length) + data[at + length :]
        case _:
            return data[:at] + b"\xff" * length + data[at + length :]


def _splice(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    at, until = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    match chance.randrange(6):
        case 0:
            return data[:at] + chance.randbytes(chance.randint(1, 40)) + data[at:]
        case 1:
            return data[:at] + data[until:]
        case 2:
            return data[:until] + data[at:until][:3000] + data[until:]
        case 3:
            other = chance.choice(others)
            return data[:at] + other[chance.randrange(len(other)) :]
        case 4:
            lines = data.split(b"\n")
            chance.shuffle(lines)
            return b"\n".join(lines)
        case _:
            return data[:at] + chance.choice((b"\n", b"\x00", b"<", b'"', b"[", b"{", b"\f", b",", b"=")) + data[at:]


def _lie(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """A number that is not true: one of the text, or bytes as of a length, offset or count."""
    places = list(_NUMBER.finditer(data))
    if places and chance.randrange(4):
        place = chance.choice(places)
        return data[: place.start()] + chance.choice(_LIES) + data[place.end() :]
    width = chance.choice((2, 4, 8))
    at = chance.randrange(len(data))
    value = chance.choice((0, 1, len(data), 0x7FFF, 0xFFFF, 0x7FFFFFFF, 2**63)) % (1 << 8 * width)
    return data[:at] + value.to_bytes(width, chance.choice(("big", "little"))) + data[at + width :]


def _truncate(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return chance.choice((data[:at], data[at:], data[:at] + bytes(chance.randrange(400))))
