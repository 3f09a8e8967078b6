"""XCF activity report: the grain of SMF 74-2's system, member and path sections.

The usage tables are read by the heads that public reports show; the path table's heads follow the printed report,
since no public XML report holds one.
"""

from __future__ import annotations

import re

from plexlens.ingest.printed.address import key
from plexlens.ingest.printed.catalogue import TableSpec
from plexlens.ingest.printed.xml.by_address import ReportByAddress, Values
from plexlens.ingest.printed.xml.model import Part, Segment, Table

_ON_SYSTEM = re.compile(r"\b(?:system|from|to|on)\s+(\S+)\s*$", re.IGNORECASE)
_MEMBER, _PATH = "rmf_xml_xcf_member", "rmf_xml_xcf_path"


class XcfReport(ReportByAddress):
    """Rows of an XCF activity report."""

    def takes(self, spec: TableSpec, segment: Segment, part: Part, table: Table, where: dict[str, int]) -> bool:
        """Whether a table belongs to `spec`: members and paths are recognised by their heads, systems by transport
        classes.
        """
        is_members = super().takes(self.specs[_MEMBER], segment, part, table, _among(where, table, "group", "member"))
        is_paths = "path" in _words(segment, part) and any(
            re.search("avail$|queue length|restart|device", key(head)) for head in table.heads
        )
        if spec.name == _MEMBER:
            return is_members
        if spec.name == _PATH:
            return is_paths and not is_members
        return "transport_class" in where and not is_paths and not is_members

    def filled(self, spec: TableSpec, segment: Segment, part: Part, table: Table, values: Values) -> Values | None:
        """A completed row; direction and system may come from the names of segment and part."""
        named = _ON_SYSTEM.search(" ".join((part.name or "").split()))
        if spec.name == _MEMBER:
            return {**values, "member_system": values.get("member_system") or (named and named[1])}
        direction = _direction(_words(segment, part), {key(head) for head in table.heads})
        if spec.name == _PATH:
            return {**values, "direction": direction}
        remote = values.get("remote_system") or (named and named[1])
        return {**values, "direction": direction, "remote_system": remote}


def _among(where: dict[str, int], table: Table, *words: str) -> dict[str, int]:
    heads = {key(head) for head in table.heads}
    return {f"{word}_name": 0 for word in words if heads & {word, f"{word} name"}}


def _words(segment: Segment, part: Part) -> str:
    return f"{segment.name or ''} {part.name or ''}".casefold()


def _direction(words: str, heads: set[str]) -> str | None:
    if "local" in words:
        return "local"
    if "outbound" in words or "to system" in heads:
        return "outbound"
    return "inbound" if "inbound" in words or "from system" in heads else None
