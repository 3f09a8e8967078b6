"""The sources of a page-reference trace: what each is, and how several go together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from plexlens.errors import UnreadableInputError, UsageError
from plexlens.ingest.page_trace import FileTrace
from plexlens.ingest.page_trace.files import ENCODINGS
from plexlens.ingest.page_trace.lib_cache_sim import binary_form

# Loaded where dumps and databases are: a trace file needs neither.
if TYPE_CHECKING:
    from plexlens.ingest.page_trace.dump import DumpTrace
    from plexlens.pools.trace_database import DatabaseTrace

#: One source of a trace during one pass.
Piece: TypeAlias = "FileTrace | DumpTrace | DatabaseTrace"


def overlaps(pieces: Sequence[DumpTrace | DatabaseTrace]) -> list[str]:
    """Notes on pieces with records of a Db2 for the same time, which may be the same records."""
    texts = []
    for entry, other in combinations(pieces, 2):
        for subsystem in sorted(entry.records.sequences.keys() & other.records.sequences.keys()):
            first, second = entry.records.sequences[subsystem], other.records.sequences[subsystem]
            if first.first < second.last and second.first < first.last:
                texts.append(
                    f"{entry.path.name} and {other.path.name} hold records of {subsystem} for the same time; if "
                    "some are "
                    "in both, ingest them (plexlens ingest DUMP... --pdb DIR) and give the PDB, which keeps each once."
                )
    return texts


def remedy_of_order(piece: Piece) -> str:
    """The remedy for a piece that is out of order."""
    if not isinstance(piece, FileTrace) and not piece.path.is_dir():
        return "ingest the dump (plexlens ingest DUMP --pdb DIR) and give the PDB: it is read in the order of time"
    return "sort the trace by time before it is given"


def form_of_source(path: Path) -> str:
    """``file``, ``dump`` or ``pdb``, from the first bytes; anything else is refused."""
    if path.is_dir():
        return "pdb"
    if binary_form(path.name) is not None and path.is_file():
        return "file"
    from plexlens.ingest.recognition import read_head

    head = read_head(path)
    if head[:4] == b"PAR1" or head[:6] == b"ARROW1" or any(head.startswith(begins) for begins, _ in ENCODINGS):
        return "file"
    # UTF-16 without a mark of its byte order: every other byte of the first line is zero.
    if re.fullmatch(rb"(?:[\t\x20-\x7e]\x00){8,}|(?:\x00[\t\x20-\x7e]){8,}", head[:16]):
        raise UnreadableInputError(
            file=str(path), what="its text is UTF-16", remedy="save it as UTF-8, as iconv -f UTF-16 -t UTF-8 does"
        )
    from plexlens.ingest.recognition import describe

    seems = describe(head)
    if seems is None:
        return "dump"
    if seems[0].startswith("text"):
        return "file"
    raise UnreadableInputError(file=str(path), what=f"{seems[0]} is not a page-reference trace", remedy=seems[1])


def is_printed(path: Path) -> bool:
    """Whether a file is printed output: of a display command, or a statistics report.

    Raises
    ------
    UnreadableInputError
        It cannot be read.
    """
    if path.is_dir() or binary_form(path.name) is not None:
        return False
    from plexlens.ingest.recognition import read_head

    head = read_head(path)
    # The readers of reports take long to load: only for text that has the counters of pools.
    if re.search(rb"DSNB4|GETPAGE", head) is None:
        return False
    from plexlens.ingest.printed import text as text_reports

    return text_reports.sniff(head, path.name)


def check_distinct(sources: Sequence[Path]) -> None:
    """Refuse a source that is given twice: its references would count twice.

    Raises
    ------
    UsageError
        One is.
    """
    for number, path in enumerate(sources):
        if any(path.exists() and other.exists() and path.samefile(other) for other in sources[:number]):
            raise UsageError(file=str(path), what="the same source is given twice", remedy="give each piece once")


def is_trace_file(path: Path) -> bool:
    """Whether a path is a trace file, rather than a dump or a PDB, which may hold other data too.

    Raises
    ------
    UnreadableInputError
        It is none of these.
    """
    return form_of_source(path) == "file"
