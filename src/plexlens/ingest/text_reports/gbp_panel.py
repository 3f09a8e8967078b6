"""Group buffer pool statistics as DB2 PM's panels and papers show them: names in words, equal signs, two columns.

    Reads Due To Cross Invalidation =   12%     Reads Due To Page Not Found in Buffer Pool =   88%
      Data Returned =                    53       Data Returned =                                 4

The two columns are about reads after cross-invalidation and reads of absent pages; the names below them are the same.

Source: figure 2 of the 1996 study, from DB2 PM for DB2 Version 4.
"""

from __future__ import annotations

import re

from plexlens.ingest.text_reports.db2_columns import GROUP_POOL
from plexlens.ingest.text_reports.lines import Line
from plexlens.ingest.text_reports.output import Output
from plexlens.ingest.text_reports.pairs import equal_pairs
from plexlens.ingest.text_reports.printed import read_value
from plexlens.ingest.text_reports.words import fold, is_prose, is_rule

_START = re.compile(r"READS\s+DUE\s+TO\s+(?:CROSS[- ]INVALIDATION|PAGE\s+NOT\s+FOUND)", re.IGNORECASE)
_POOL = re.compile(r"\bG?BP(\d+K?\d*)\b|\bGROUP BUFFER ?POOL (\d+K?\d*)\b", re.IGNORECASE)
_GROUPS = {
    fold("Reads Due To Cross Invalidation"): "invalid",
    fold("Reads Due To Page Not Found in Buffer Pool"): "absent",
    fold("Reads Done by Prefetch"): "prefetch",
    fold("Total Number of Reads"): "total",
}
_IN_GROUP = {
    fold("Data Returned"): "{group}_data",
    fold("Data Not Returned - R/W Interest"): "{group}_no_data_interest",
    fold("Data Not Returned - No R/W Interest"): "{group}_no_data_no_interest",
}
_COLUMN_OF = {
    fold("Total Number of Reads"): "reads_total",
    fold("Read Hit Percentage"): "read_hit_percent",
    fold("Reads Failed - No Storage"): "reads_failed_no_storage",
    fold("Other Requests"): "other_requests",
    fold("Changed Pages - Sync"): "changed_pages_sync",
    fold("Clean Pages - Sync"): "clean_pages_sync",
    fold("Changed Pages - Async"): "changed_pages_async",
    fold("Clean Pages - Async"): "clean_pages_async",
    fold("Castout Engine Not Available"): "castout_engine_unavailable",
    fold("Write Engine Not Available"): "write_engine_unavailable",
    fold("Write Engine Failed - No Storage"): "write_failed_no_storage",
    fold("Write Failed - No Storage"): "write_failed_no_storage",
    fold("Pages Castout from GBP to DASD"): "pages_castout",
}


def starts(line: Line) -> bool:
    """Whether a line can begin such a panel."""
    return _START.search(line.text) is not None and "=" in line.text


class GroupPoolPanel:
    """Reads lines of a panel."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._groups: dict[int, str] = {}
        self._parents: dict[int, str] = {}
        self._row: dict[str, object] = {}
        self._pool: str | None = None

    foreign: str | None = None
    """There is no panel that is passed over."""

    def line(self, line: Line) -> bool:
        """Take a line; whether it was understood."""
        if starts(line) and self._row:
            self.finish()
            self._output.end()
        if self._output.record is None:
            self._output.begin("db2_statistics", "GROUP BUFFER POOL DETAIL")
        if is_rule(line.text):
            return True
        found = equal_pairs(line.text)
        for order, pair in enumerate(found):
            value = read_value(pair.value, exact=True)
            folded = fold(pair.name)
            if folded in _GROUPS:
                self._groups[order], self._parents[order] = _GROUPS[folded], pair.name
            column = self._column(folded, order)
            self._output.value(line, pair.name, value, block="GROUP BUFFER POOL", about=self._pool,
                               parent=self._parents.get(order) if folded in _IN_GROUP else None)  # fmt: skip
            if column is not None and value.number is not None:
                self._row[column] = value.number
        # The pool's name stands in a caption below.
        pool = None if found or self._pool or is_prose(line.text) else _POOL.search(line.text)
        if pool:
            self._pool = f"GBP{pool[1] or pool[2]}".upper()
        return bool(found) or pool is not None

    def _column(self, folded: str, order: int) -> str | None:
        pattern = _IN_GROUP.get(folded)
        if pattern is None:
            return _COLUMN_OF.get(folded)
        group = self._groups.get(order)
        if group == "prefetch" and pattern == "{group}_data":
            return "reads_prefetch"
        if group not in {"invalid", "absent"}:
            return None
        return "reads_" + pattern.format(group=group)

    def finish(self) -> None:
        """The panel ends: its twin row goes out."""
        if self._row and self._output.record is not None:
            self._output.twin(GROUP_POOL, {"pool_name": self._pool, "statistics": "interval", **self._row})
        self._row, self._groups, self._parents, self._pool = {}, {}, {}, None
