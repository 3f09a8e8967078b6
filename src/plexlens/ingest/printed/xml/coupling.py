"""Coupling facility activity report: the grain of SMF 74-4's local facility, processor and request sections.

The usage summary is read as public XML reports show it. Structure tables are read by their heads, whose words follow
the printed report (``# REQ``, ``SYNC``, ``SERV TIME AVG``, ``STD_DEV``, ``NO SCH``, ``FALSE CONT``): no public XML
report holds one, so a head worded otherwise leaves its column null, and its value is in ``rmf_xml_value``.

Source: IBM, z/OS RMF Report Analysis, Coupling Facility Activity report; RMF overview conditions for SMF 74-4.
"""

from __future__ import annotations

import re

from plexlens.ingest.printed.address import key
from plexlens.ingest.printed.xml.by_address import ReportByAddress, Rows, Values, cells, heads_of
from plexlens.ingest.printed.xml.model import Part, Segment, Table, as_text, cell

_FACILITY = re.compile(r"(?:for |of )?coupling facility[ :=]+(\S+)", re.IGNORECASE)
_STRUCTURE = re.compile(
    r"structure(?: name)?(?: ?[:=] ?| )(?!(?:name|activity|summary|for)\b)([A-Z0-9$#@_]+)(?=$|[ ,])", re.IGNORECASE
)
_STRUCTURES = "rmf_xml_coupling_structure"
_KINDS = {"sync": "sync", "async": "async", "chngd": "changed", "changed": "changed", "suppr": "suppressed"} | {
    "suppressed": "suppressed"
}
"""Kinds of request that may have a row of their own, and how their columns begin."""
_REASONS = {
    "no_subchannel": "no sch|subchannel",
    "peer_wait": "pr wt|peer wait",
    "peer_completion": "pr cmp|peer compl",
    "dump": "dump",
    "monopolized": "monop",
}
"""Reasons of delay that may have a row of their own, by what their columns hold."""


class CouplingReport(ReportByAddress):
    """Rows of a coupling facility activity report."""

    _facility: str | None = None

    def segment(self, segment: Segment) -> Rows:
        """Rows of a complete segment."""
        named = _FACILITY.search(" ".join((segment.name or "").split()))
        self._facility = named[1] if named else self._facility
        yield from super().segment(segment)
        for part in segment.parts:
            for table in part.tables:
                yield from self._structures(segment, part, table)

    def around(self, segment: Segment) -> Values:
        """The facility's name."""
        return {"cf_name": self._facility}

    def _structures(self, segment: Segment, part: Part, table: Table) -> Rows:
        spec = self.specs[_STRUCTURES]
        own = heads_of(spec, table, "own")
        searched = (_STRUCTURE.search(" ".join((name or "").split())) for name in (part.name, segment.name))
        named = next(filter(None, searched), None)
        printed = part.variable("Structure Name") or segment.variable("Structure Name")
        structure, system = as_text(printed) or (named[1] if named else None), None
        has_requests = any(re.search(r"\breq", key(head)) for head in table.heads)
        if "structure_name" not in own and (structure is None or not has_requests):
            return
        heads = {block: heads_of(spec, table, block) for block in ("", "kind", "reason")}
        columns = {name: _position(table, pattern) for name, pattern in _ROW_HEADS.items()}
        shown_type = as_text(part.variable("Type", "Structure Type"))
        rows: dict[tuple[str | None, str | None], Values] = {}
        for row in table.rows:
            structure = as_text(cell(row, own.get("structure_name"))) or structure
            system = as_text(cell(row, columns["system"])) or system
            if key(system) == "total" or row.is_total:
                continue
            first = {"cf_name": self._facility, "structure_name": structure, "system": system or self.report.system}
            values = rows.setdefault((structure, system), {**self.common, **first})
            if shown_type is not None:
                values["structure_type"] = shown_type
            kind, reason = (key(as_text(cell(row, columns[name]))) for name in ("kind", "reason"))
            for block, where in heads.items():
                taken = {name: position for name, position in where.items() if _counts(name, block, kind, reason)}
                for name, value in cells(spec, row, taken).items():
                    if value is not None:
                        values.setdefault(name, value)
        for values in rows.values():
            counts = [values.get(f"{name}_requests") for name in ("sync", "async")]
            if values.get("requests") is None and any(isinstance(count, float) for count in counts):
                values["requests"] = sum(count for count in counts if isinstance(count, float))
            yield _STRUCTURES, values


_ROW_HEADS = {"system": "^system name$|^system$", "kind": "^(?:request|req|service) type$", "reason": r"\breason$"}


def _position(table: Table, pattern: str) -> int | None:
    return next((at for at, head in enumerate(table.heads) if re.search(pattern, key(head))), None)


def _counts(name: str, block: str, kind: str, reason: str) -> bool:
    """Whether a cell of the row counts for a column, since rows may be for a single kind of request."""
    if name.startswith("delayed_"):
        pattern = _REASONS[name.removeprefix("delayed_").rsplit("_", 1)[0]]
        return block == "reason" and re.search(pattern, reason) is not None if reason else block == ""
    begins = name.split("_", maxsplit=1)[0]
    if begins in {"sync", "async", "changed", "suppressed"}:
        is_plain = block == "" and (not kind or begins == "suppressed")
        return is_plain or (block == "kind" and _KINDS.get(kind) == begins)
    return block == "" and not (kind and name == "requests")
