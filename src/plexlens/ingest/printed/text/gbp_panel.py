"""Group buffer pool statistics in the form of DB2 PM's panels: names in words, equal signs, two columns.

    Reads Due To Cross Invalidation =   12%     Reads Due To Page Not Found in Buffer Pool =   88%
      Data Returned =                    53       Data Returned =                                 4

The two columns are about reads after cross-invalidation and reads of absent pages; the names below them are the same.

Source: figure 2 of the 1996 study, from DB2 PM for DB2 Version 4.
"""

from __future__ import annotations

import re

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.output import Output
from plexlens.ingest.printed.text.pairs import equal_pairs
from plexlens.ingest.printed.text.words import is_prose, is_rule
from plexlens.ingest.printed.values import read_value

_START = re.compile(r"READS\s+DUE\s+TO\s+(?:CROSS[- ]INVALIDATION|PAGE\s+NOT\s+FOUND)", re.IGNORECASE)
_POOL = re.compile(r"\bG?BP(\d+K?\d*)\b|\bGROUP BUFFER ?POOL (\d+K?\d*)\b", re.IGNORECASE)
_TABLE = "text_db2_group_buffer_pool"
_TOTAL = fold("Total Number of Reads")
"""It ends the columns of reads: what follows is of neither."""


def starts(line: Line) -> bool:
    """Whether a line can begin such a panel."""
    return "=" in line.text and _START.search(line.text) is not None


class GroupPoolPanel:
    """Reads lines of a panel."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._columns = output.known.tables[_TABLE].places("panel")
        self._heads = {_TOTAL, *(words[0] for words in self._columns if len(words) > 1)}
        self._below = {words[1] for words in self._columns if len(words) > 1}
        self._groups: dict[int, str] = {}
        self._parents: dict[int, str] = {}
        self._row: dict[str, object] = {}
        self._pool: str | None = None

    foreign: str | None = None
    """There is no panel that is passed over."""

    def line(self, line: Line) -> bool:
        """Process a line; return whether it was understood."""
        if starts(line) and self._row:
            self.finish()
            self._output.end()
        if self._output.record is None:
            self._output.begin("db2_statistics", "GROUP BUFFER POOL DETAIL")
        if is_rule(line.text):
            return True
        results = equal_pairs(line.text)
        for order, pair in enumerate(results):
            value = read_value(pair.value, exact=True)
            folded = fold(pair.name)
            if folded in self._heads:
                self._groups[order], self._parents[order] = folded, pair.name
            column = self._column(folded, order)
            self._output.value(line, pair.name, value, block="GROUP BUFFER POOL", about=self._pool,
                               parent=self._parents.get(order) if folded in self._below else None)  # fmt: skip
            if column is not None and value.number is not None:
                self._row[column] = value.number
        # The pool's name stands in a caption below.
        pool = None if results or self._pool or is_prose(line.text) else _POOL.search(line.text)
        if pool:
            self._pool = f"GBP{pool[1] or pool[2]}".upper()
        return bool(results) or pool is not None

    def _column(self, folded: str, order: int) -> str | None:
        words = (self._groups.get(order, ""), folded) if folded in self._below else (folded,)
        return self._columns.get(words)

    def finish(self) -> None:
        """End the panel and write its twin row."""
        if self._row and self._output.record is not None:
            self._output.twin(_TABLE, {"pool_name": self._pool, "statistics": "interval", **self._row})
        self._row, self._groups, self._parents, self._pool = {}, {}, {}, None
