"""Plain values as JSON: of every answer of a command, and of the same answer in Python."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any


def json_text(value: Any) -> str:
    """A value as a line of JSON: binary data in hexadecimal, and null for NaN and infinity."""
    return json.dumps(json_value(value), ensure_ascii=False, allow_nan=False, default=str) + "\n"


def json_value(value: Any) -> Any:
    """A value in types of JSON alone: binary data in hexadecimal, and null for NaN and infinity."""
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, bytes):
        return hexadecimal(value)
    if isinstance(value, Decimal):
        # Sums of whole numbers are decimals without decimals.
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def hexadecimal(data: bytes) -> str:
    """Binary data as upper-case hexadecimal digits, as in printed dumps."""
    return data.hex().upper()
