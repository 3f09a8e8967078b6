"""Rounding as SQL has it."""

from __future__ import annotations

import math


def rounded_up(number: float) -> float:
    """The number, or the next whole number above it; infinite numbers and NaN stay."""
    return float(math.ceil(number)) if math.isfinite(number) else number
