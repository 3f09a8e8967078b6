"""Base units of computed values: seconds over a count are seconds, bytes over seconds are bytes per second.

A base unit is written as its parts: ``s``, ``bytes/s``, ``s²``, ``1/s``. What counts something has no parts, and
neither has a share: a count over a count is a plain number, which agrees with everything that has no parts.
"""

from __future__ import annotations

import re
from collections import Counter

#: Base of a number that was derived and has no unit: the ratio of two of a kind.
PLAIN = "plain number"

#: Bases without parts: what counts something, and shares.
WITHOUT_PARTS = frozenset({"count", "processors", "frames", "slots", "pages", "ratio", "fraction", "SU", "s/s", PLAIN})

_POWERS = {"²": 2, "³": 3, "⁴": 4}
_SIGNS = {power: sign for sign, power in _POWERS.items()}
_FACTOR = re.compile(r"^(.*?)([²³⁴]?)$")

Parts = tuple[tuple[str, int], ...]


def parts_of(base: str) -> Parts:
    """The units that make up a base, with their powers: in ``bytes/s`` bytes have the power 1, seconds -1."""
    if base in WITHOUT_PARTS:
        return ()
    powers: Counter[str] = Counter()
    above, _, below = base.partition("/")
    for text, sign in ((above, 1), (below, -1)):
        for factor in filter(None, text.split("·")):
            match = _FACTOR.match(factor)
            if match is not None and factor != "1":
                powers[match[1]] += sign * _POWERS.get(match[2], 1)
    return _sorted(powers)


def base_of(parts: Parts) -> str:
    """The base unit with these parts."""
    if not parts:
        return PLAIN
    above = "·".join(_power(unit, power) for unit, power in parts if power > 0)
    below = "·".join(_power(unit, -power) for unit, power in parts if power < 0)
    return (above or "1") + (f"/{below}" if below else "")


def times(first: str, second: str, power: int = 1) -> str:
    """The base of a product; with a power of -1, of a quotient."""
    powers = Counter(dict(parts_of(first)))
    for unit, count in parts_of(second):
        powers[unit] += power * count
    return base_of(_sorted(powers))


def root(base: str) -> str | None:
    """The base of a square root; None if the root has no base unit."""
    parts = parts_of(base)
    return None if any(power % 2 for _, power in parts) else base_of(tuple((unit, p // 2) for unit, p in parts))


def agree(first: str, second: str) -> bool:
    """Whether values in the two bases can be added and compared."""
    if first == second:
        return True
    if PLAIN in (first, second):
        return not parts_of(first) and not parts_of(second)
    return first in _COUNTS and second in _COUNTS


#: Bases that all count something, and so may be compared.
_COUNTS = ("count", "processors", "frames", "slots", "pages", "ratio")


def _sorted(powers: Counter[str]) -> Parts:
    return tuple(sorted((unit, power) for unit, power in powers.items() if power))


def _power(unit: str, power: int) -> str:
    return unit + (_SIGNS.get(power, f"^{power}") if power > 1 else "")
