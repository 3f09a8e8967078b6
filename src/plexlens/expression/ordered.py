"""The order of values as in SQL."""

from __future__ import annotations

import math
from typing import Any


def ordered(value: Any) -> Any:
    """A number or text that compares as in SQL: NaN equals itself and exceeds every number."""
    if isinstance(value, str):
        return value
    return (True, 0.0) if math.isnan(value) else (False, value)
