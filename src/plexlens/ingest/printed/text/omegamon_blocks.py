"""Headings of the blocks of Db2 statistics and accounting reports: titles, column heads, and names in each block.

A block is a title with heads of columns next to it, a rule below, and lines of a name and values. Two or three blocks
stand side by side, and the one on the left may end and another begin below it while the one on the right goes on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from plexlens.ingest.printed.catalogue import Catalogue
from plexlens.ingest.printed.text.words import Names, Segment, Word, segments
from plexlens.ingest.printed.values import is_value

_STRONG = (
    "QUANTITY", "/SECOND", "/THREAD", "/COMMIT", "/MINUTE", "/HOUR", "APPL(CL.1)", "APPL (CL.1)", "DB2(CL.2)",
    "DB2 (CL.2)", "IFI(CL.5)", "IFI (CL.5)", "AVERAGE TIME", "AV.EVENT", "AVG.EVENT", "TIME/EVENT", "TCB TIME",
    "PREEMPT SRB", "NONPREEMPT SRB", "PREEMPT IIP SRB", "CP CPU /COMMIT", "IIP CPU TIME", "SRB TIME",
)  # fmt: skip
_WEAK = (
    "AVERAGE", "TOTAL", "ELAPSED TIME", "EVENTS", "CP CPU TIME", "TOTAL TIME", "VALUE", "TIMES", "TIME", "ZIIP TIME",
    "CREATE", "DROP", "ALTER", "COUNT",
)  # fmt: skip
"""Heads that are also names; a heading of these alone has no number next to it."""

_PHRASES = {tuple(head.split()): head for head in (*_STRONG, *_WEAK)}
_LONGEST = max(map(len, _PHRASES))
_FIRST_WORDS = {phrase[0] for phrase in _PHRASES}
_SAME = {"APPL (CL.1)": "APPL(CL.1)", "DB2(CL.2)": "DB2 (CL.2)", "IFI(CL.5)": "IFI (CL.5)"}

_ACCOUNTING = "text_db2_accounting"
_BARS = re.compile("[|│]")
_NEVER = re.compile("(?!)")
_SUSPENSION_PARTS: dict[str, str | None] = {
    "IRLM LOCK+LATCH": "LOCK/LATCH(DB2+IRLM)",
    "DB2 LATCH": "LOCK/LATCH(DB2+IRLM)",
    "DATABASE I/O": "SYNCHRON. I/O",
    "LOG WRITE I/O": "SYNCHRON. I/O",
    "UPDATE COMMIT": "SER.TASK SWTCH",
    "OPEN/CLOSE": "SER.TASK SWTCH",
    "SYSLGRNG REC": "SER.TASK SWTCH",
    "EXT/DEL/DEF": "SER.TASK SWTCH",
    "OTHER SERVICE": "SER.TASK SWTCH",
}


@dataclass(frozen=True, slots=True)
class BlockKind:
    """A kind of block."""

    name: str
    """What its values are: ``pool``, ``locking`` ..."""
    title: re.Pattern[str]
    """How it is titled."""
    names: Names
    """Names known to stand in it."""
    parts: dict[str, str | None] = field(default_factory=dict)
    """Names below a parent; None for names below the last name that has no parent."""


OTHER = BlockKind("other", re.compile(".+"), Names(()))


class Heading(NamedTuple):
    """A title with its column heads, and the words of the line that it occupies."""

    title: str
    """Title as printed; empty for heads that go on with the heading on the line before."""
    heads: tuple[str, ...]
    """Heads of its columns."""
    cells: tuple[int, ...]
    """Their cells."""
    start: int
    cell: int
    """Place of its first word."""
    first: int
    last: int
    """The words of the line it takes: first, past the last."""
    is_wrapped: bool = False
    """Whether it began on the line before."""
    kind: BlockKind = OTHER


class Blocks:
    """The kinds of block of a catalogue, and the headings that identify them.

    Parameters
    ----------
    known
        The catalogue.
    """

    def __init__(self, known: Catalogue) -> None:
        tables = known.tables
        times = tables[_ACCOUNTING].printed_names("times", "package_times")
        values = tables[_ACCOUNTING].printed_names("package_value")
        suspensions = tables[_ACCOUNTING].printed_names("suspensions")
        parts = {
            "times": dict.fromkeys(tables[_ACCOUNTING].printed_names("times", levels=3)),
            "suspensions": _SUSPENSION_PARTS,
        }
        names = {block.block: tables[block.table].printed_names(block.block) for block in known.blocks}
        names |= {"times": times, "cpu": {*known.lists["db2_address_space"], "TOTAL"}}
        for block in known.blocks:
            if block.kind == "pool":
                names["pool"] = names["pool"] | names[block.block]
        self._kinds = [
            BlockKind(block.kind, re.compile(block.title), Names(names[block.block]), dict(parts.get(block.block, {})))
            for block in known.blocks
        ]
        self._of_packages = {
            "values": BlockKind("package_value", _NEVER, Names(values)),
            "times": BlockKind("package_times", _NEVER, Names(times), dict(parts["times"])),
            "suspensions": BlockKind("package_suspensions", _NEVER, Names(suspensions), dict(_SUSPENSION_PARTS)),
        }
        everywhere = (names[block.block] for block in known.blocks if block.known == "anywhere")
        self.known = Names(values.union(*everywhere) - {"TOTAL"})
        """Every name that is known in some block."""

    def kind_of(self, title: str, heads: tuple[str, ...]) -> BlockKind:
        """The kind of a block from its title and heads; package blocks are identified by their heads."""
        if heads == ("VALUE",):
            return self._of_packages["values"]
        if heads == ("TIMES",):
            return self._of_packages["times"]
        if heads[:2] == ("TIME", "AVG.EVENT"):
            return self._of_packages["suspensions"]
        return next((kind for kind in self._kinds if kind.title.fullmatch(title)), OTHER)

    def headings(self, words: list[Word], pending: str = "") -> list[Heading]:
        """Headings of blocks in a line; empty for a line of values.

        Parameters
        ----------
        words
            The line's words.
        pending
            A name without values at the end of the line before: the title, where the line was wrapped after it.
        """
        groups = self._head_groups(words)
        if not groups:
            return []
        any_value = any(is_value(word.text) for position, word in enumerate(words) if not _in_title(words, position))
        results: list[Heading] = []
        end_before = 0
        for first, last, all_heads in groups:
            if not any(head in _STRONG for head in all_heads) and any_value:
                continue
            begin = self._title_begin(words, end_before, first)
            title = " ".join(word.text for word in words[begin:first])
            heads, skipped, wrapped = all_heads, 0, False
            if not title and heads[0] == "AVERAGE" and len(heads) > 1:
                title, heads, skipped = heads[0], heads[1:], 1
            elif begin == 0 and tuple(f"{pending} {title}".upper().split()) in _PHRASES:
                # The line was wrapped within a head.
                title, heads, wrapped = "", (f"{pending} {title}".upper(), *heads), True
            elif begin == 0 and pending and (not title or self.kind_of(f"{pending} {title}", heads) is not OTHER):
                title, wrapped = f"{pending} {title}".strip(), True
            cells = _cells(words, first + skipped, last)
            place = words[begin]
            shown = tuple(_SAME.get(head, head) for head in heads)
            wraps = wrapped or not title
            kind = self.kind_of(title, shown)
            results.append(Heading(title, shown, cells, place.start, place.cell, begin, last, wraps, kind))
            end_before = last
        return results

    def _head_groups(self, words: list[Word]) -> list[tuple[int, int, tuple[str, ...]]]:
        """Runs of column heads: index of the first word, index after the last, the heads."""
        groups: list[tuple[int, int, tuple[str, ...]]] = []
        at = 0
        while at < len(words):
            head, past = _phrase(words, at)
            joined = bool(groups) and groups[-1][1] == at
            if head is None or (
                head in _WEAK and not joined and words[at].gap < 2 and not self._after_title(words, at)
            ):
                at += 1
                continue
            if head in _WEAK and self._begins_title(words, at):
                # The first word of the next block's title: TOTAL BPOOL ACTIVITY.
                at += 1
                continue
            if joined:
                first, _, heads = groups.pop()
                groups.append((first, past, (*heads, head)))
            else:
                groups.append((at, past, (head,)))
            at = past
        return groups

    def _after_title(self, words: list[Word], at: int) -> bool:
        """Whether a head, a single blank after other words, follows a known title because columns have drifted
        together.
        """
        return any(
            self.kind_of(" ".join(word.text for word in words[begin:at]), ()) is not OTHER
            for begin in range(max(0, at - 4), at)
        )

    def _begins_title(self, words: list[Word], at: int) -> bool:
        """Whether a head begins a known title of several words separated by single blanks."""
        for end in range(at + 2, min(len(words), at + 5) + 1):
            if words[end - 1].gap >= 2:
                return False
            if self.kind_of(" ".join(word.text for word in words[at:end]), ()) is not OTHER:
                return True
        return False

    def _title_begin(self, words: list[Word], least: int, end: int) -> int:
        """Start of the title before a column head: the last run of words, or more words if they form a known title."""
        begins = []
        begin = end
        while begin > least and (not is_value(words[begin - 1].text) or _in_title(words, begin - 1)):
            begin -= 1
            if words[begin].gap >= 2 or begin == least:
                begins.append(begin)
        known = [at for at in begins if self.kind_of(" ".join(word.text for word in words[at:end]), ()) is not OTHER]
        if known:
            return known[-1]
        return begins[0] if begins else end

    def ruled_heads(self, above: str, rule: str) -> list[Heading]:
        """Headings from a line and the dashes below it, for blocks with unknown heads.

        Three blanks between dashes part two blocks; within a block the first dashes are under the title.
        """
        dashes = [match.span() for match in re.finditer(r"[-=_]{2,}", rule)]
        if len(dashes) < 2 or "\t" in above or "\t" in rule:
            return []
        blocks = [[dashes[0]]]
        for before, after in pairwise(dashes):
            if after[0] - before[1] >= 3:
                blocks.append([])
            blocks[-1].append(after)
        results = []
        for block in blocks:
            texts = [above[start:end].strip() for start, end in block]
            if len(block) > 1 and all(texts):
                heads = tuple(texts[1:])
                kind = self.kind_of(texts[0], heads)
                results.append(Heading(texts[0], heads, (), block[0][0], 0, 0, 0, kind=kind))
        return results

    def text_values(self, outcome: list[Segment]) -> list[Segment]:
        """Names with values in words (``TYPE  PACKAGE``), joined with these values."""
        names = self._of_packages["values"].names
        result: list[Segment] = []
        at = 0
        while at < len(outcome):
            segment = outcome[at]
            after = outcome[at + 1] if at + 1 < len(outcome) else None
            is_text = after is not None and not after.values and bool(after.label) and after.label not in self.known
            if after is not None and is_text and not segment.values and segment.label in names:
                word = Word(after.label, after.start, after.start + len(after.label), 2, after.cell)
                result.append(Segment(segment.label, [word], segment.start, segment.cell, segment.tabbed))
                at += 2
                continue
            result.append(segment)
            at += 1
        return result

    def completed(self, words: list[Word], pending: str, *, tabbed: bool) -> list[Segment]:
        """A line's names and values, the first name completed by the end of the line before if the result is known."""
        for count in range(min(len(words), 6), -1, -1) if pending else ():
            whole = " ".join([pending, *(word.text for word in words[:count])])
            if whole in self.known and (count or (words and is_value(words[0].text))):
                rest = segments(words[count:], self.known, tabbed=tabbed)
                first = rest.pop(0) if rest and not rest[0].label else Segment("")
                start = words[0].start if words else 0
                return [Segment(whole, first.values, start, 0, tabbed), *rest]
        return segments(words, self.known, tabbed=tabbed)


def may_have_heads(text: str) -> bool:
    """Whether a word of a line begins a column head; a line without one has no heading of a block."""
    return not _FIRST_WORDS.isdisjoint(_BARS.sub(" ", text).upper().split())


def _phrase(words: list[Word], at: int) -> tuple[str | None, int]:
    if words[at].text.upper() not in _FIRST_WORDS:
        return None, at + 1
    for length in range(_LONGEST, 0, -1):
        part = words[at : at + length]
        if len(part) == length and all(word.gap < 2 for word in part[1:]):
            head = _PHRASES.get(tuple(word.text.upper() for word in part))
            if head is not None:
                return head, at + length
    return None, at + 1


def _in_title(words: list[Word], at: int) -> bool:
    """Whether a number is part of a title: ``CLASS 3 SUSPENSIONS``."""
    after = words[at + 1] if at + 1 < len(words) else None
    return words[at].gap < 2 and after is not None and after.gap < 2 and not is_value(after.text)


def _cells(words: list[Word], first: int, last: int) -> tuple[int, ...]:
    numbers: list[int] = []
    at = first
    while at < last:
        numbers.append(words[at].cell)
        _, at = _phrase(words, at)
    return tuple(numbers)
