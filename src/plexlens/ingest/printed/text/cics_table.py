"""Tables of CICS statistics: heads over several lines, a rule, rows that begin with a name.

Heads are centred over right-aligned numbers and may span two columns (``< TCBs Attached >`` over Current and Peak), so
the columns are found from the first row, and each word of a head goes to the columns it stands over.
"""

from __future__ import annotations

from plexlens.ingest.printed.text.words import Word, runs, split
from plexlens.ingest.printed.values import is_value

_EDGES = "<>_-+|: "


class Table:
    """A table with known heads; the first row determines its columns.

    Parameters
    ----------
    heads
        The heading lines, from the top.
    """

    def __init__(self, heads: list[str]) -> None:
        self._heads = heads
        self._ends: list[int] = []
        self.names: tuple[str, ...] = ()

    def row(self, text: str) -> tuple[str, list[tuple[str, str]]] | None:
        """A row's name, and its values with their column names; None for a line that is not a row."""
        words = split(text)
        first = next((at for at, word in enumerate(words) if is_value(word.text)), None)
        if not first or not all(is_value(word.text) or word.text == "N/A" for word in words[first:]):
            return None
        values = words[first:]
        if not self.names:
            self._measure(words[:first], values, "\t" in text)
        key = " ".join(word.text for word in words[:first])
        if len(values) == len(self.names):
            return key, [(name, word.text) for name, word in zip(self.names, values, strict=True)]
        if len(values) > len(self.names):
            return None
        return key, [(self.names[self._nearest(word)], word.text) for word in values]

    def _nearest(self, word: Word) -> int:
        return min(range(len(self._ends)), key=lambda at: abs(self._ends[at] - word.end))

    def _measure(self, key: list[Word], values: list[Word], tabbed: bool) -> None:
        self._ends = [word.end for word in values]
        names: list[list[str]] = [[] for _ in values]
        if tabbed:
            first = values[0].cell
            for line in self._heads:
                for head in runs(line):
                    if 0 <= head.cell - first < len(names):
                        names[head.cell - first].append(head.text.strip(_EDGES))
        else:
            begins = [key[-1].end, *self._ends[:-1]]
            for line in self._heads:
                for head in runs(line):
                    for at in _columns(head, begins, self._ends):
                        names[at].append(head.text.strip(_EDGES))
        self.names = tuple(" ".join(filter(None, words)) or f"column {at}" for at, words in enumerate(names, start=1))


def _columns(head: Word, begins: list[int], ends: list[int]) -> list[int]:
    """The columns below a head; none if it is above the row names."""
    overlaps = [max(0, min(head.end, end) - max(head.start, begin)) for begin, end in zip(begins, ends, strict=True)]
    length = head.end - head.start
    if not any(overlaps):
        return [len(ends) - 1] if head.start >= ends[-1] else []
    if max(0, min(head.end, begins[0]) - head.start) * 2 > length:
        return []
    most = max(overlaps)
    return [at for at, overlap in enumerate(overlaps) if overlap * 2 >= most]
