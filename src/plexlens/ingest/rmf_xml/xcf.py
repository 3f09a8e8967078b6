"""XCF activity report: the grain of SMF 74-2's system, member and path sections.

The usage tables are read by the heads that public reports show; the path table's heads follow the printed report,
since no public XML report holds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plexlens.ingest.rmf_xml.columns import INTERVAL, TableSpec, number, text
from plexlens.ingest.rmf_xml.model import Part, Report, Row, Segment, Table, as_number, as_text, cell

SYSTEM = TableSpec(
    "rmf_xml_xcf_system",
    "one transport class to or from one remote system, or within the reporting one, in one interval",
    (
        INTERVAL,
        text("direction", "outbound, inbound or local", "R742SDIR"),
        text("remote_system", "system at the other end; the reporting system where local", "R742SNME"),
        text("transport_class", "transport class", "R742STCN"),
        text("status", "status as printed", "R742SSTF"),
        number("buffer_length", "bytes", "message length of the class", "R742STCL"),
        number("requests", "", "requests sent or received", "R742SBIG + R742SFIT + R742SSML"),
        number("small_percent", "percent", "messages smaller than the class length", "R742SSML"),
        number("fit_percent", "percent", "messages that fit the class length", "R742SFIT"),
        number("big_percent", "percent", "messages too big for the class length", "R742SBIG"),
        number("over_percent", "percent", "too big messages that met overhead", "R742SOVR"),
        number("paths_unavailable", "", "requests that found no path", "R742SNOP"),
        number("requests_rejected", "", "requests rejected for want of a message buffer", "R742SBSY"),
    ),
)

MEMBER = TableSpec(
    "rmf_xml_xcf_member",
    "one member of one XCF group in one interval",
    (
        INTERVAL,
        text("member_system", "system of the member", "R742MSYS"),
        text("group_name", "XCF group", "R742MGRP"),
        text("member_name", "member", "R742MMEM"),
        text("status", "status as printed", "R742MSTF"),
        number("requests_out", "", "signals sent", "R742MSNT"),
        number("requests_in", "", "signals received", "R742MRCV"),
    ),
)

PATH = TableSpec(
    "rmf_xml_xcf_path",
    "one signalling path in one interval",
    (
        INTERVAL,
        text("direction", "outbound or inbound", "R742PDIR"),
        text("remote_system", "system at the other end", "R742PONA"),
        text("path_type", "device or structure, as printed", "R742PTYP"),
        text("path", "device pair or list structure", "R742PDEV, R742PSTR"),
        text("transport_class", "transport class", "R742PTCN"),
        text("status", "status as printed", "R742PSTF"),
        number("requests", "", "requests over the path", "R742PSIG"),
        number("average_queue_length", "", "signals waiting for transfer", "R742PQLN"),
        number("path_available", "", "times the path was free when chosen", "R742PSUS"),
        number("path_busy", "", "times the path was busy when chosen", "R742PAPP"),
        number("restarts", "", "restarts", "R742PRST"),
        number("buffers_unavailable", "", "inbound requests refused for want of a buffer", "R742PIBR"),
        number("transfer_seconds", "seconds", "recent mean inbound transfer time; printed in milliseconds", "R742PIOT"),
    ),
)

TABLES = (SYSTEM, MEMBER, PATH)

_ON_SYSTEM = re.compile(r"\b(?:system|from|to|on)\s+(\S+)\s*$", re.IGNORECASE)


class XcfReport:
    """Rows of one XCF activity report."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def segment(self, segment: Segment) -> Iterator[tuple[str, dict[str, object]]]:
        """Rows of one complete segment."""
        for part in segment.parts:
            words = f"{segment.name or ''} {part.name or ''}"
            for table in part.tables:
                if (
                    table.column("Group", "Group Name") is not None
                    and table.column("Member", "Member Name") is not None
                ):
                    yield from self._members(part, table)
                elif table.find(r"avail$|queue length|restart|device") is not None and "path" in words.casefold():
                    yield from self._paths(words, table)
                elif table.column("Transport Class") is not None:
                    yield from self._systems(words, part, table)

    def finish(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Nothing: every row belongs to a table."""
        return iter(())

    def _members(self, part: Part, table: Table) -> Iterator[tuple[str, dict[str, object]]]:
        system = table.column("System")
        named = _ON_SYSTEM.search(" ".join((part.name or "").split()))
        for row in _rows(table):
            yield (
                MEMBER.name,
                {
                    "interval_seconds": self._report.interval_seconds,
                    "member_system": as_text(cell(row, system)) or (named[1] if named else None),
                    "group_name": as_text(cell(row, table.column("Group", "Group Name"))),
                    "member_name": as_text(cell(row, table.column("Member", "Member Name"))),
                    "status": as_text(cell(row, table.column("Status"))),
                    "requests_out": as_number(cell(row, table.find(r"out$"))),
                    "requests_in": as_number(cell(row, table.find(r"\bin$"))),
                },
            )

    def _systems(self, words: str, part: Part, table: Table) -> Iterator[tuple[str, dict[str, object]]]:
        named = _ON_SYSTEM.search(" ".join((part.name or "").split()))
        remote = table.column("To System", "From System", "System")
        for row in _rows(table):
            yield (
                SYSTEM.name,
                {
                    "interval_seconds": self._report.interval_seconds,
                    "direction": _direction(words, table),
                    "remote_system": as_text(cell(row, remote)) or (named[1] if named else None),
                    "transport_class": as_text(cell(row, table.column("Transport Class"))),
                    "status": as_text(cell(row, table.column("Status"))),
                    "buffer_length": as_number(cell(row, table.find(r"buffer length"))),
                    "requests": as_number(cell(row, table.find(r"requests? (?:out|in)$|^req (?:out|in)$"))),
                    "small_percent": as_number(cell(row, table.find(r"% ?(?:small|sml)"))),
                    "fit_percent": as_number(cell(row, table.find(r"% ?fit"))),
                    "big_percent": as_number(cell(row, table.find(r"% ?big"))),
                    "over_percent": as_number(cell(row, table.find(r"% ?(?:over|ovr)"))),
                    "paths_unavailable": as_number(cell(row, table.find(r"paths? unavail"))),
                    "requests_rejected": as_number(cell(row, table.find(r"reject"))),
                },
            )

    def _paths(self, words: str, table: Table) -> Iterator[tuple[str, dict[str, object]]]:
        for row in _rows(table):
            transfer = as_number(cell(row, table.find(r"i/o transfer time|transfer time")))
            yield (
                PATH.name,
                {
                    "interval_seconds": self._report.interval_seconds,
                    "direction": _direction(words, table),
                    "remote_system": as_text(cell(row, table.column("To System", "From System", "System"))),
                    "path_type": as_text(cell(row, table.find(r"^t$|^type|y=dev"))),
                    "path": as_text(cell(row, table.find(r"device|structure"))),
                    "transport_class": as_text(cell(row, table.column("Transport Class"))),
                    "status": as_text(cell(row, table.column("Status"))),
                    "requests": as_number(cell(row, table.find(r"requests? (?:out|in)$|^req (?:out|in)$"))),
                    "average_queue_length": as_number(cell(row, table.find(r"(?:queue|q) l"))),
                    "path_available": as_number(cell(row, table.find(r"\bavail(?:able)?$"))),
                    "path_busy": as_number(cell(row, table.find(r"\bbusy$"))),
                    "restarts": as_number(cell(row, table.find(r"restart|^retry"))),
                    "buffers_unavailable": as_number(cell(row, table.find(r"buffers? unavail"))),
                    "transfer_seconds": None if transfer is None else transfer / 1000.0,
                },
            )


def _rows(table: Table) -> Iterator[Row]:
    for row in table.rows:
        if not row.is_total and row.cells:
            yield row


def _direction(words: str, table: Table) -> str | None:
    folded = words.casefold()
    if "local" in folded:
        return "local"
    if "outbound" in folded or table.column("To System") is not None:
        return "outbound"
    if "inbound" in folded or table.column("From System") is not None:
        return "inbound"
    return None
