"""The short accounting report: three lines for each group of identifiers, under heads of three lines.

                           #OCCURS #COMMIT INSERTS   OPENS PREPARE CLASS2 EL.TIME BUF.UPDT LOCK SUS
    PRIMAUTH               #DISTRS SELECTS UPDATES  CLOSES CLASS1 EL.TIME CLASS2 CPUTIME SYN.READ #LOCKOUT
     PLANNAME              #ROLLBK FETCHES  MERGES DELETES CLASS1 CPUTIME GETPAGES TOT.PREF

Each line of a group has a value for each head of its line, so the order tells which is which.

Source: IBM, OMEGAMON for Db2 Performance Expert, "Accounting report - short".
"""

from __future__ import annotations

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.output import Output
from plexlens.ingest.printed.values import SECONDS, is_value, read_value

_FIRST = "#OCCURS"
_TWO_WORDS = frozenset({"CLASS1", "CLASS2", "LOCK"})
_TABLE = "text_db2_accounting"


class ShortAccounting:
    """Reads the lines of a short accounting report without page headings.

    Parameters
    ----------
    output
        Takes the rows.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        table = output.known.tables[_TABLE]
        self._identifiers = table.places("identifier")
        self._columns = table.places("short", "subsystem_activity", "pool_activity", "locking_activity")
        self._heads: list[tuple[str, ...]] = []
        self._names: list[str] = []
        self._at = 0
        self._ids: dict[str, str] = {}
        self._row: dict[str, object] = {}
        self._is_heading = False

    def line(self, line: Line) -> bool:
        """Process a line; return whether it was understood."""
        words = line.text.split()
        if _FIRST in words:
            self._heads, self._names, self._is_heading = [], [], True
        if self._is_heading:
            return self._heading(words)
        return bool(self._heads) and self._values(line, words)

    def rule(self) -> None:
        """Process a rule, which ends the heads."""
        self._is_heading, self._at = False, 0

    def _heading(self, words: list[str]) -> bool:
        if not words or any(is_value(word) for word in words):
            self._is_heading = False
            return False
        names = [word for word in words if (fold(word),) in self._identifiers]
        self._names += names
        rest = [word for word in words if (fold(word),) not in self._identifiers]
        heads: list[str] = []
        while rest:
            word = rest.pop(0)
            heads.append(f"{word} {rest.pop(0)}" if word in _TWO_WORDS and rest else word)
        self._heads.append(tuple(heads))
        return True

    def _values(self, line: Line, words: list[str]) -> bool:
        first = next((at for at, word in enumerate(words) if is_value(word)), len(words))
        shown, values = " ".join(words[:first]), words[first:]
        if not all(is_value(word) for word in values) or len(values) != len(self._heads[self._at]):
            self._at, self._row = 0, {}
            if len(values) != len(self._heads[0]) or not all(is_value(word) for word in values):
                return False
        if self._at == 0:
            self._row = {}
        if shown and self._at < len(self._names):
            self._ids[self._names[self._at]] = shown
        about = " ".join(f"{name}={value}" for name, value in self._ids.items()) or None
        for head, word in zip(self._heads[self._at], values, strict=True):
            value = read_value(word, unit=SECONDS if "TIME" in head else None)
            self._output.value(line, head, value, block="ACCOUNTING SHORT", about=about)
            column = self._columns.get((fold(head),))
            if column is None:
                self._output.unplaced(head)
            if column is not None and value.number is not None:
                self._row[column] = value.number
        self._at += 1
        if self._at == len(self._heads):
            self._at = 0
            named = {self._identifiers[fold(name),]: value for name, value in self._ids.items()}
            self._output.twin(
                _TABLE, {"level": "plan", "is_average": True, "statistics": "interval", **named, **self._row}
            )
        return True  # fmt: skip
