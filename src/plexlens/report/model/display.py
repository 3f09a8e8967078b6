"""Sizes and counts in running text, in addition to the numbers of metrics (`plexlens.metrics.display`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from plexlens.metrics import unit
from plexlens.metrics.display import NULL, byte_size, shown, with_symbol
from plexlens.metrics.unit import Unit

#: Names that a heading lists: as many as a sysplex has systems at most.
_LISTED = 32


def listed(names: Sequence[str]) -> str:
    """Names in a line; if they do not fit a heading, the first names and the number of the rest."""
    if len(names) <= _LISTED:
        return ", ".join(names)
    return f"{', '.join(names[:_LISTED])} and {len(names) - _LISTED:,} more"


def counted(number: int, singular: str, many: str = "") -> str:
    """A count and its noun: ``1 file``, ``1,204 files``."""
    return f"{number:,} {singular if number == 1 else many or singular + 's'}"


#: Units that stand in sentences, beyond those of metrics.
_WRITTEN_UNITS = {"min", "h", "d", "minutes", "hours", "days", "seconds", "MIPS", "MSU", "B", "KiB", "MiB", "GiB"}


@cache
def _before_units() -> re.Pattern[str]:
    symbols = {
        value.symbol for value in vars(unit).values() if isinstance(value, Unit) and value.symbol
    } | _WRITTEN_UNITS
    listed = "|".join(re.escape(symbol) for symbol in sorted(symbols, key=len, reverse=True))
    return re.compile(rf"(?<=[0-9]) (?=(?:{listed})(?![\w/]))")


def with_units(text: str) -> str:
    """Running text without line breaks between a number and its unit.

    Examples
    --------
    >>> with_units("65.4 % of 30 min") == "65.4\N{NO-BREAK SPACE}% of 30\N{NO-BREAK SPACE}min"
    True
    """
    return _before_units().sub("\N{NO-BREAK SPACE}", text)


__all__ = ["NULL", "byte_size", "counted", "shown", "with_symbol", "with_units"]
