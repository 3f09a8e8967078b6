"""Headings of the blocks of Db2 statistics and accounting reports: titles, column heads, and the names known below.

A block is a title with heads of columns beside it, a rule below, and lines of a name and values. Two or three blocks
stand side by side, and the one on the left may end and another begin below it while the one on the right goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from plexlens.ingest.text_reports import db2_columns as columns
from plexlens.ingest.text_reports import db2_service_columns as services
from plexlens.ingest.text_reports import db2_subsystem_columns as subsystem
from plexlens.ingest.text_reports.printed import is_value
from plexlens.ingest.text_reports.words import Names, Word

_STRONG = (
    "QUANTITY", "/SECOND", "/THREAD", "/COMMIT", "/MINUTE", "/HOUR", "APPL(CL.1)", "APPL (CL.1)", "DB2(CL.2)",
    "DB2 (CL.2)", "IFI(CL.5)", "IFI (CL.5)", "AVERAGE TIME", "AV.EVENT", "AVG.EVENT", "TIME/EVENT", "TCB TIME",
    "PREEMPT SRB", "NONPREEMPT SRB", "PREEMPT IIP SRB", "CP CPU /COMMIT", "IIP CPU TIME", "SRB TIME",
)  # fmt: skip
_WEAK = (
    "AVERAGE", "TOTAL", "ELAPSED TIME", "EVENTS", "CP CPU TIME", "TOTAL TIME", "VALUE", "TIMES", "TIME", "ZIIP TIME",
    "CREATE", "DROP", "ALTER", "COUNT",
)  # fmt: skip
"""Heads that are also names; a heading of these alone has no number beside it."""

_PHRASES = {tuple(head.split()): head for head in (*_STRONG, *_WEAK)}
_LONGEST = max(map(len, _PHRASES))
_FIRST_WORDS = {phrase[0] for phrase in _PHRASES}
_SAME = {"APPL (CL.1)": "APPL(CL.1)", "DB2(CL.2)": "DB2 (CL.2)", "IFI(CL.5)": "IFI (CL.5)"}

TIMES_TOP = (
    "ELAPSED TIME", "CP CPU TIME", "SECP CPU", "SE CPU TIME", "SUSPEND TIME", "NOT ACCOUNT.", "NOT ACCOUNTED",
    "DB2 ENT/EXIT", "EN/EX-STPROC", "EN/EX-UDF", "EN/EX-TRIGGER", "DCAPT.DESCR.", "LOG EXTRACT.", "CPU TIME",
    "IIP CPU TIME", "IIPCP CPU", "ELAPSED TIME - CL7", "SUSPENSION-CL8", "AVG.DB2 ENTRY/EXIT", "DB2 ENTRY/EXIT",
)  # fmt: skip
"""Names in a block of times that begin a group."""
TIMES_PARTS = ("NONNESTED", "STORED PROC", "STORED PRC", "UDF", "TRIGGER", "AGENT", "PAR.TASKS", "PAR.TASK")
"""Names in a block of times that stand under the group before them, whether or not they are indented."""

_SUSPENSION_PARTS = {
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
_PACKAGE_VALUES = (
    "TYPE", "LOCATION", "COLLECTION ID", "PROGRAM NAME", "CONSISTENCY TOKEN", "ACTIVITY TYPE", "ACTIVITY NAME",
    "SCHEMA NAME", "SUCC AUTH CHECK", "NBR OF ALLOCATIONS", "SQL STMT - AVERAGE", "SQL STMT - TOTAL",
    "NBR RLUP THREADS", "OCCURRENCES", "MAX SQL CASC LVL", "ROLLUP THREADS",
)  # fmt: skip
_POOL_RATIOS = (
    "BPOOL HIT RATIO (%)", "GETPAGE PER SYN.READ-RANDOM", "S.PRF.PAGES READ/S.PRF.READ", "L.PRF.PAGES READ/L.PRF.READ",
    "D.PRF.PAGES READ/D.PRF.READ", "BUFF.UPDATES/PAGES WRITTEN", "PAGES WRITTEN PER WRITE I/O",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BlockKind:
    """A kind of block.

    Attributes
    ----------
    name : str
        What its values are: ``pool``, ``locking`` ...
    title : re.Pattern
        How it is titled.
    names : Names
        Names known to stand in it.
    parts : dict
        Names that stand under another one; None for those that stand under the last one that is no part.
    """

    name: str
    title: re.Pattern[str]
    names: Names
    parts: dict[str, str | None] = field(default_factory=dict)


def _kind(name: str, title: str, names: Iterable[str], parts: Mapping[str, str | None] | None = None) -> BlockKind:
    return BlockKind(name, re.compile(title), Names(tuple(names)), dict(parts or {}))


def _names(fields: tuple[columns.Field, ...], first: str, last: str) -> set[str]:
    """Names of the fields from one column to another."""
    order = [entry.column.name for entry in fields]
    return subsystem.known_names(fields[order.index(first) : order.index(last) + 1])


_POOL_TITLE = r"(?P<about>B[PF]\w*|TOT\w*|TOTAL)\s+"
_POOL = columns.POOL_FIELDS
_READ_NAMES = _names(_POOL, "getpages", "page_ins_read") | {"BPOOL HIT RATIO (%)", *_POOL_RATIOS[1:5]}
_WRITE_NAMES = _names(_POOL, "buffer_updates", "page_ins_write") | set(_POOL_RATIOS[5:])
_GENERAL_NAMES = _names(_POOL, "active_buffers", "prefetch_quartered")
_MERGE_NAMES = _names(_POOL, "merge_passes", "work_file_prefetch_not_scheduled")
_POOL_NAMES = subsystem.known_names(_POOL) | set(_POOL_RATIOS)
_SHARING_NAMES = _names(subsystem.LOCKING_FIELDS, "global_contention_percent", "plock_changes_negotiating")
_LOCAL_NAMES = subsystem.known_names(subsystem.LOCKING_FIELDS) - _SHARING_NAMES
_GROUP_NAMES = subsystem.known_names(columns.GROUP_POOL_FIELDS) | {"GROUP BP R/W RATIO (%)"}
_LOG_NAMES = subsystem.known_names(subsystem.LOG_FIELDS) | {"LOG RATE FOR 1 LOG (MB)"}
_SUSPENSION_NAMES = {name for names in subsystem.SUSPENSIONS.values() for name in names}
_HIGHLIGHT_NAMES = {name for names in subsystem.HIGHLIGHTS.values() for name in names}
_SERVICES = subsystem.known_names(services.SERVICE_FIELDS)
_SQL = subsystem.known_names(services.SQL_FIELDS)
_DISTRIBUTED = subsystem.known_names(services.DISTRIBUTED_FIELDS)
_TIMES_NAMES = (*TIMES_TOP, *TIMES_PARTS)
_UNDER_LAST = dict.fromkeys(TIMES_PARTS)

KINDS = (
    _kind("pool", _POOL_TITLE + "GENERAL(?: CONTINUED)?", _GENERAL_NAMES),
    _kind("pool", _POOL_TITLE + "READ OPERATIONS(?: CONTINUED)?", _READ_NAMES),
    _kind("pool", _POOL_TITLE + "WRITE OPERATIONS(?: CONTINUED)?", _WRITE_NAMES),
    _kind("pool", _POOL_TITLE + "SORT/MERGE(?: CONTINUED)?", _MERGE_NAMES),
    _kind("pool", _POOL_TITLE + "(?:BPOOL ACTIVITY|ACTIVITY|SIMULATION.*)", _POOL_NAMES),
    _kind("group_pool", r"GROUP\s+(?P<about>(?:GBP|BP|TOT)\w*|TOTAL)(?:\s+CONTINUED)?", _GROUP_NAMES),
    _kind("locking", "LOCKING ACTIVITY|LOCKING", _LOCAL_NAMES),
    _kind("locking", "DATA SHARING LOCK(?:ING|S)?|DATA SHARING", _SHARING_NAMES),
    _kind("log", "LOG ACTIVITY", _LOG_NAMES),
    _kind("cpu", "CPU TIMES", {*subsystem.ADDRESS_SPACES, "TOTAL"}),
    _kind("subsystem", "SUBSYSTEM SERVICES", _SERVICES),
    _kind("subsystem", "SQL DML", _SQL),
    _kind("subsystem", "GLOBAL DDF ACTIVITY", _DISTRIBUTED),
    _kind("times", "AVERAGE|TIMES/EVENTS", _TIMES_NAMES, _UNDER_LAST),
    _kind("suspensions", r"CLASS 3 SUSP(?:ENSIONS?|\.)", _SUSPENSION_NAMES, _SUSPENSION_PARTS),
    _kind("highlights", "HIGHLIGHTS", _HIGHLIGHT_NAMES),
    _kind("package_value", "(?!)", _PACKAGE_VALUES),
    _kind("package_times", "(?!)", _TIMES_NAMES, _UNDER_LAST),
    _kind("package_suspensions", "(?!)", _SUSPENSION_NAMES, _SUSPENSION_PARTS),
)
"""Kinds of block with known names; any other is of the kind ``other``. Those of packages are told by their heads."""

_BY_NAME = {kind.name: kind for kind in KINDS}
OTHER = _kind("other", ".+", ())
KNOWN = Names(
    {
        *_POOL_NAMES,
        *_GROUP_NAMES,
        *_LOCAL_NAMES,
        *_SHARING_NAMES,
        *_LOG_NAMES,
        *subsystem.ADDRESS_SPACES,
        *_SERVICES,
        *_TIMES_NAMES,
        *_SUSPENSION_NAMES,
        *_HIGHLIGHT_NAMES,
        *_PACKAGE_VALUES,
    }
)
"""Every name that is known in some block."""


def kind_of(title: str, heads: tuple[str, ...]) -> BlockKind:
    """The kind of a block from its title and heads."""
    if heads == ("VALUE",):
        return _BY_NAME["package_value"]
    if heads == ("TIMES",):
        return _BY_NAME["package_times"]
    if heads[:2] == ("TIME", "AVG.EVENT"):
        return _BY_NAME["package_suspensions"]
    return next((kind for kind in KINDS if kind.title.fullmatch(title)), OTHER)


class Heading(NamedTuple):
    """A title with the heads of its columns, and the words of the line that it takes.

    Attributes
    ----------
    title : str
        Title as printed; empty for heads that go on with the heading on the line before.
    heads : tuple of str
        Heads of its columns.
    cells : tuple of int
        Their cells.
    start, cell : int
        Place of its first word.
    first, last : int
        The words of the line it takes: first, past the last.
    is_wrapped : bool
        Whether it began on the line before.
    """

    title: str
    heads: tuple[str, ...]
    cells: tuple[int, ...]
    start: int
    cell: int
    first: int
    last: int
    is_wrapped: bool = False

    @property
    def kind(self) -> BlockKind:
        """The kind of the block it begins."""
        return kind_of(self.title, self.heads)


def headings(words: list[Word], pending: str = "") -> list[Heading]:
    """Headings of blocks in a line; none when it is a line of values.

    Parameters
    ----------
    words
        The line's words.
    pending
        A name without values at the end of the line before: the title, where the line was wrapped after it.
    """
    any_value = any(is_value(word.text) for position, word in enumerate(words) if not _in_title(words, position))
    found: list[Heading] = []
    end_before = 0
    for first, last, all_heads in _head_groups(words):
        if not any(head in _STRONG for head in all_heads) and any_value:
            continue
        begin = _title_begin(words, end_before, first)
        title = " ".join(word.text for word in words[begin:first])
        heads, skipped, wrapped = all_heads, 0, False
        if not title and heads[0] == "AVERAGE" and len(heads) > 1:
            title, heads, skipped = heads[0], heads[1:], 1
        elif begin == 0 and tuple(f"{pending} {title}".upper().split()) in _PHRASES:
            # The line was wrapped within a head.
            title, heads, wrapped = "", (f"{pending} {title}".upper(), *heads), True
        elif begin == 0 and pending and (not title or kind_of(f"{pending} {title}", heads) is not OTHER):
            title, wrapped = f"{pending} {title}".strip(), True
        cells = _cells(words, first + skipped, last)
        place = words[begin]
        shown = tuple(_SAME.get(head, head) for head in heads)
        found.append(Heading(title, shown, cells, place.start, place.cell, begin, last, wrapped or not title))
        end_before = last
    return found


def _head_groups(words: list[Word]) -> list[tuple[int, int, tuple[str, ...]]]:
    """Runs of column heads: first word, past the last, the heads."""
    groups: list[tuple[int, int, tuple[str, ...]]] = []
    at = 0
    while at < len(words):
        head, past = _phrase(words, at)
        joined = bool(groups) and groups[-1][1] == at
        if head is None or (head in _WEAK and not joined and words[at].gap < 2 and not _after_title(words, at)):
            at += 1
            continue
        if head in _WEAK and _begins_title(words, at):
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


def _after_title(words: list[Word], at: int) -> bool:
    """Whether a head one blank after other words follows a title that is known: columns have drifted together."""
    return any(
        kind_of(" ".join(word.text for word in words[begin:at]), ()) is not OTHER for begin in range(max(0, at - 4), at)
    )


def _begins_title(words: list[Word], at: int) -> bool:
    """Whether a head is the first of several words, one blank apart, that are a known title."""
    for end in range(at + 2, min(len(words), at + 5) + 1):
        if words[end - 1].gap >= 2:
            return False
        if kind_of(" ".join(word.text for word in words[at:end]), ()) is not OTHER:
            return True
    return False


def _in_title(words: list[Word], at: int) -> bool:
    """Whether a number is a word of a title: ``CLASS 3 SUSPENSIONS``."""
    after = words[at + 1] if at + 1 < len(words) else None
    return words[at].gap < 2 and after is not None and after.gap < 2 and not is_value(after.text)


def _title_begin(words: list[Word], least: int, end: int) -> int:
    """Where the title before a column head begins: the last run of words, or more where that is a known title."""
    begins = []
    begin = end
    while begin > least and (not is_value(words[begin - 1].text) or _in_title(words, begin - 1)):
        begin -= 1
        if words[begin].gap >= 2 or begin == least:
            begins.append(begin)
    known = [at for at in begins if kind_of(" ".join(word.text for word in words[at:end]), ()) is not OTHER]
    if known:
        return known[-1]
    return begins[0] if begins else end


def _cells(words: list[Word], first: int, last: int) -> tuple[int, ...]:
    found: list[int] = []
    at = first
    while at < last:
        found.append(words[at].cell)
        _, at = _phrase(words, at)
    return tuple(found)


def ruled_heads(above: str, rule: str) -> list[Heading]:
    """Headings read from a line and the dashes below it, for blocks whose heads are not known.

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
    found = []
    for block in blocks:
        texts = [above[start:end].strip() for start, end in block]
        if len(block) > 1 and all(texts):
            found.append(Heading(texts[0], tuple(texts[1:]), (), block[0][0], 0, 0, 0))
    return found
