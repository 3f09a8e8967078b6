"""Forms of recorded fields that the grains of the family share: flags, numbers printed in hexadecimal."""

from __future__ import annotations

from typing import Any

import ibis


def hexadecimal(number: Any, digits: int) -> Any:
    """A whole number in so many hexadecimal digits."""
    text = ibis.literal("")
    for place in range(digits - 1, -1, -1):
        text = text + ibis.literal("0123456789ABCDEF").substr((number // 16**place) % 16, 1)
    return text


def flags(column: Any) -> Any:
    """A field of flags as a whole number; zero where the record lacks it."""
    return column.cast("int64").fill_null(0)
