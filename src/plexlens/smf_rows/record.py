"""A record before encoding: its sections as rows in base units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

#: A cell: field name in lower case to its value in base units (seconds, bytes, counts).
Row = dict[str, Any]

Sections = dict[str, list[Row]]


def given(**cells: Any) -> Row:
    """The cells with a value; a missing field is zero or blank in the record."""
    return {name: value for name, value in cells.items() if value is not None}


def named(fields: Mapping[str, str], quantities: Mapping[str, Any]) -> Row:
    """Fields of a section from the available quantities: cells of a row, or columns.

    Parameters
    ----------
    fields
        Name of a quantity to its field.
    quantities
        By name; those that the section has no field for are left out.
    """
    return {field: quantities[name] for name, field in fields.items() if name in quantities}


@dataclass(frozen=True)
class Record:
    """An SMF record.

    Parameters
    ----------
    map
        Name of its record map, such as ``smf74_4``.
    system
        System (SMF) id of its header.
    end
        When it was written, in UTC: the end of its interval. It orders the dump.
    sections
        Section name to its rows; a section without rows is left out. Fields that a row does not name are zero or blank.
    subsystem
        Db2, queue manager or CICS region that wrote it; empty for others.
    utc_offset
        Local time less UTC: its header has local time.
    lengths
        Lengths of sections that are shorter than their layout.
    dictionary_fields
        Short names of the fields that CICS performance records hold.
    subtype, work_type
        Of SMF 30, whose record map does not say them.
    """

    map: str
    system: str
    end: datetime
    sections: Sections
    subsystem: str = ""
    utc_offset: timedelta = timedelta(0)
    lengths: Mapping[str, int] = field(default_factory=dict)
    dictionary_fields: tuple[str, ...] = ()
    subtype: int | None = None
    work_type: str = ""

    @property
    def written_at(self) -> datetime:
        """Local time of its header."""
        return (self.end + self.utc_offset).replace(tzinfo=None)
