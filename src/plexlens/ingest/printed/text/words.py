"""Words of a line with their positions, and the ways in which reports place names and values next to each other.

Columns drift: blanks are lost and gained, tabs take the place of gaps, halves of a page are pasted below one another.
So places are a help here and never a condition: what a word is counts first.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.values import is_value

TAB_GAP = 99
"""The gap before a word that follows a tab, or begins the line."""

_WORD = re.compile(r"[^ \t|│]+")
_RULE = re.compile(r"[-=_+.·─━ \t|<>!]*[-=_─━]{3,}[-=_+.·─━ \t|<>!]*")
_PROSE_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*[.,;:?!)]*")
_NUMBER_WITHIN = re.compile(r"(?<![\w.])\d[\d.,:]*[KMG]?%?(?![\w])")


class Word(NamedTuple):
    """A word and its position."""

    text: str
    """The word."""
    start: int
    end: int
    """Its columns, from 0; `end` is past its last character."""
    gap: int
    """Blanks before it; `TAB_GAP` after a tab and at the beginning of the line."""
    cell: int
    """Tabs before it: its cell, where tabs separate cells."""


def split(text: str) -> list[Word]:
    """The words of a line. Vertical bars of a pasted table separate like tabs."""
    words: list[Word] = []
    cell, end, tabbed = 0, 0, True
    has_marks = any(mark in text for mark in "\t|│")
    for match in _WORD.finditer(text):
        begin = match.start()
        if has_marks:
            marks = sum(text.count(mark, end, begin) for mark in "\t|│")
            cell += marks
            tabbed = tabbed or marks > 0
        words.append(Word(match[0], begin, match.end(), TAB_GAP if tabbed else begin - end, cell))
        end, tabbed = match.end(), False
    return words


def is_tabbed(text: str) -> bool:
    """Whether tabs, or the bars of a pasted table, separate a line's cells."""
    return "\t" in text or "|" in text


def is_rule(text: str) -> bool:
    """Whether a line is a rule: only dashes, underscores or equal signs."""
    return _RULE.fullmatch(text) is not None


def is_prose(text: str) -> bool:
    """Whether a line is a sentence: reports print neither four lower-case words in a row, nor lines mostly in lower
    case.
    """
    words = text.split()
    row = small = 0
    for word in words:
        is_small = _PROSE_WORD.fullmatch(word) is not None
        row = row + 1 if is_small else 0
        small += is_small
        if row >= 4:
            return True
    return len(words) >= 6 and small * 5 >= 3 * len(words)


def has_numbers(text: str) -> bool:
    """Whether a line has a free-standing number, as data has."""
    return _NUMBER_WITHIN.search(text) is not None


def runs(text: str) -> list[Word]:
    """The line split at two blanks or a tab: the words of a name, or of a heading, stay together."""
    words: list[Word] = []
    for word in split(text):
        if words and word.gap < 2:
            last = words[-1]
            words[-1] = last._replace(text=f"{last.text} {word.text}", end=word.end)
        else:
            words.append(word)
    return words


@dataclass(slots=True)
class Segment:
    """A name and the values after it."""

    label: str
    """The name, one blank between its words; empty when the line begins with values."""
    values: list[Word] = field(default_factory=list)
    """The values, in order."""
    start: int = 0
    cell: int = 0
    """Place of its first word."""
    tabbed: bool = False
    """Whether tabs separate the line's cells."""
    is_pair: bool = False
    """The value follows a colon."""


class Names:
    """Known names, so that a name may contain a number and precede its value by a single blank.

    Parameters
    ----------
    names
        The names, as printed.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._folded = {fold(name) for name in names}
        self._longest = max((len(name.split()) for name in names), default=0) + 2

    def __contains__(self, name: str) -> bool:
        return fold(name) in self._folded

    def match(self, words: list[Word], at: int) -> int | None:
        """End of the known name that begins at `at`; None if there is none.

        The longest name counts, and only one that is followed by a value, a gap or nothing.
        """
        best, joined = None, ""
        for position in range(at, min(len(words), at + self._longest)):
            if position > at and words[position].gap >= TAB_GAP:
                break
            joined += words[position].text
            if fold(joined) in self._folded:
                after = words[position + 1] if position + 1 < len(words) else None
                if after is None or after.gap >= 2 or is_value(after.text) or after.text.startswith(":"):
                    best = position + 1
        return best


def segments(words: list[Word], names: Names, *, tabbed: bool) -> list[Segment]:
    """Names and values of a line with several columns.

    Parameters
    ----------
    words
        The line's words.
    names
        Names that are known.
    tabbed
        Whether tabs separate the line's cells.
    """
    results: list[Segment] = []
    at = 0
    while at < len(words):
        first = words[at]
        end = names.match(words, at)
        if end is None:
            end = _label_end(words, at)
        label = " ".join(word.text for word in words[at:end])
        segment = Segment(label, [], first.start, first.cell, tabbed)
        at = end
        if label.endswith(":") or (at < len(words) and words[at].text.startswith(":")):
            at = _pair_value(words, at, segment)
        else:
            while at < len(words) and is_value(words[at].text) and not _begins_name(words, at, names, segment):
                segment.values.append(words[at])
                at += 1
        if end == at and not label:
            at += 1
            continue
        results.append(segment)
    return _marks_taken_out(results)


def _begins_name(words: list[Word], at: int, names: Names, segment: Segment) -> bool:
    """Whether a number begins the next name: ``1ST ...`` never does, a known name can."""
    end = names.match(words, at)
    return bool(segment.values) and end is not None and end > at + 1


def _label_end(words: list[Word], at: int) -> int:
    """End of an unknown name.

    A number belongs to the name when one blank joins it to the name and a word, or a gap, follows: ``COMMIT PHASE 1``.
    """
    end = at
    while end < len(words):
        word = words[end]
        if end > at and word.gap >= 2:
            break
        if is_value(word.text):
            after = words[end + 1] if end + 1 < len(words) else None
            joins = end > at and after is not None
            if not joins or after is None:
                break
            if not ((after.gap < 2 and not is_value(after.text)) or (after.gap >= 2 and is_value(after.text))):
                break
        if word.text.startswith(":") and end > at:
            break
        end += 1
        if word.text.endswith(":"):
            break
    return end


def _pair_value(words: list[Word], at: int, segment: Segment) -> int:
    segment.is_pair = True
    segment.label = segment.label.rstrip(": ")
    if at < len(words) and words[at].text == ":":
        at += 1
    begin = at
    while at < len(words) and (at == begin or words[at].gap < 2):
        if at > begin and (words[at].text.endswith(":") or words[at].text == ":"):
            # The next pair has drifted close: its name is the word before the colon.
            at -= words[at].text == ":" and at - 1 > begin
            break
        at += 1
    if at > begin:
        first, last = words[begin], words[at - 1]
        value = " ".join(word.text for word in words[begin:at]).removeprefix(":").strip()
        if value:
            segment.values.append(first._replace(text=value, end=last.end))
    return at


def _marks_taken_out(segments: list[Segment]) -> list[Segment]:
    """Remove letters and arrows that someone inserted between a name and its values."""
    result: list[Segment] = []
    for segment in segments:
        is_mark = len(segment.label) == 1 and not segment.is_pair
        if is_mark and segment.values and result and not result[-1].values and result[-1].label:
            result[-1].values = segment.values
        elif segment.label or segment.values:
            result.append(segment)
    return result
