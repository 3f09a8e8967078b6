"""How a step or job ended, in words (SMF 30 completion section)."""

from __future__ import annotations

from typing import Any

import ibis

_DIGITS = "0123456789ABCDEF"

#: Bits of SMF30STI, bit 0 the leftmost of sixteen.
_CANCELLED = 0xF800
_ABENDED = 0x0200
_FLUSHED = 0x0100
_JOB_ABENDED = 0x0004

#: Bit 0 of SMF30SCC: a user abend.
_USER = 0x8000


def _number(column: Any) -> Any:
    return column.cast("int64").fill_null(0)


def is_abend(table: Any) -> Any:
    """Whether the step abended; of a job, whether a step of it did."""
    return (_number(table.smf30sti) & (_ABENDED | _JOB_ABENDED)) != 0


def is_flushed(table: Any) -> Any:
    """Whether the step was not run."""
    return (_number(table.smf30sti) & _FLUSHED) != 0


def is_cancelled(table: Any) -> Any:
    """Whether SMFLIMxx or an exit of SMF cancelled it."""
    return (_number(table.smf30sti) & _CANCELLED) != 0


def completion(table: Any) -> Any:
    """``S0C4``, ``U0100``, ``RC 0008``, ``flushed`` or ``cancelled``; null where the record does not tell."""
    code = _number(table.smf30scc)
    low = code & 0x0FFF
    hexadecimal = ibis.literal("S")
    for place in (2, 1, 0):
        hexadecimal = hexadecimal + ibis.literal(_DIGITS).substr((low // 16**place) % 16, 1)
    decimal = low.cast("string").lpad(4, "0")
    return ibis.cases(
        (table.smf30sti.isnull(), ibis.null("string")),
        (is_abend(table) & ((code & _USER) != 0), ibis.literal("U") + decimal),
        (is_abend(table) & (low != 0), hexadecimal),
        (is_abend(table), ibis.literal("abend in an earlier step")),
        (is_flushed(table), ibis.literal("flushed")),
        (is_cancelled(table), ibis.literal("cancelled")),
        else_=ibis.literal("RC ") + decimal,
    )
