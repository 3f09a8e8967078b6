"""Amounts of storage as users write them: ``4GiB``."""

from __future__ import annotations

import re

from plexlens.errors import UsageError


def parse_size(text: str) -> int:
    """Bytes in ``4GiB``, ``512 MiB``, ``800MB``; a plain number is bytes.

    Raises
    ------
    UsageError
        It is not an amount of storage.
    """
    units = {"": 1, "B": 1}
    for power, letter in enumerate("KMGT", start=1):
        units |= {letter: 1024**power, f"{letter}IB": 1024**power, f"{letter}B": 1000**power}
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if match is None or match[2].upper() not in units:
        raise UsageError(
            file="", what=f"{text!r} is not a storage size", remedy="give it as 4GiB, 512MiB, 800MB or in bytes"
        )
    return round(float(match[1]) * units[match[2].upper()])
