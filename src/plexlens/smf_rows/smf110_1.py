"""SMF 110-1: rows of CICS monitoring, a row per task; fields have the names of the standard dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plexlens.smf_rows.record import Row


def performance(fields: Mapping[str, Any], clocks: Mapping[str, tuple[Any, Any]]) -> Row:
    """Cells of a task, or columns of many.

    Parameters
    ----------
    fields
        By the short names of the dictionary.
    clocks
        By the short names: seconds, and how often the clock ran.
    """
    row = {name.lower(): value for name, value in fields.items()}
    for name, (seconds, count) in clocks.items():
        row |= {f"{name.lower()}_seconds": seconds, f"{name.lower()}_count": count}
    return row
