"""SMF dumps decoded by the layouts: the extension module decodes, this module adapts its result to the common form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.errors import PlexlensError, UnknownSourceError, UnreadableInputError
from plexlens.ingest.compression import USUAL, Expansion
from plexlens.ingest.feed import Feed, fed, raised_before
from plexlens.ingest.recognition import describe
from plexlens.ingest.source import Damage, ReadOptions, Severity
from plexlens.layouts_path import layout_folders

INVENTORY = "smf_record"
"""The table with a row for every record, decoded or not."""

# Types 2 and 3: written by the dump program, they measure nothing.
_DUMP_MARKERS = {"2", "3"}

_EPOCH = date(1970, 1, 1)
# Values of `_core.SmfError.reason` for a file without any SMF; other reasons mean a dump that cannot be read.
_NO_DUMP = {"text_mode_transfer", "tersed", "transmit", "zip", "xml", "text", "zeros", "no_records"}


def sniff(head: bytes, name: str) -> bool:
    """Whether a file may be an SMF dump.

    A dump begins with no fixed bytes, and its beginning may be damaged, so every file of binary data that is
    nothing known may be one; `read` searches it further, and names what a dump can have become on its way.

    Parameters
    ----------
    head
        The first bytes, decompressed.
    name
        Name of the file; SMF dumps have no customary one.
    """
    return describe(head) is None


class SmfReading:
    """An SMF dump being read: a `plexlens.ingest.source.Reading`.

    For every batch of records their rows of ``smf_record`` come before the rows of their sections.
    """

    def __init__(self, path: Path, reader: Any, source_id: str, feed: Feed) -> None:
        self._path = path
        self._reader = reader
        self._feed = feed
        self._source_id = source_id
        self._position = 0

    @property
    def position(self) -> int:
        """Bytes of the file read so far."""
        return self._position

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and span of the dump.

        ``records`` (by type and subtype, as ``115.1``), ``measurements`` (without dump headers and trailers),
        ``span`` (first and last time in record headers, local), ``duplicates``, ``damage`` (by reason), ``notes``;
        in addition the stream counts of `_core.SmfReader.summary`: ``form``, ``compression``, ``segments``,
        ``spanned_records``, ``joined_records``, ``skipped_bytes``.
        """
        results: dict[str, Any] = self._reader.summary()
        notes = [{"note" if key == "kind" else key: value for key, value in note.items()} for note in results["notes"]]
        measurements = sum(count for name, count in results["records"].items() if name not in _DUMP_MARKERS)
        return {**results, "measurements": measurements, "damage": results["damage_counts"], "notes": notes}

    @property
    def damage(self) -> list[Damage]:
        """Damage to the dump, in the order met; only the first of very many, while ``summary`` counts all."""
        return [
            Damage(
                source_id=self._source_id,
                file=str(self._path),
                record_no=row["record_no"],
                offset=row["offset"],
                reason=row["reason"],
                severity=Severity(row["severity"]),
                detail=f"{row['section']}: {row['detail']}" if row["section"] else row["detail"],
                remedy=row["remedy"],
            )
            for row in self._reader.summary()["damage"]
        ]

    def __iter__(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Pairs of table name and batch."""
        try:
            for batch in self._reader:
                self._position = batch.bytes_read
                tables: dict[str, pa.RecordBatch] = batch.tables
                if INVENTORY in tables:
                    yield INVENTORY, tables[INVENTORY]
                yield from ((table, rows) for table, rows in tables.items() if table != INVENTORY)
        except _core.SmfError as error:
            raise smf_error(self._path, error, self._feed) from error
        # The end that the core has seen may be that of a source which stopped coming.
        self._feed.check()


def tables_of(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are tables of a dump; others are tables of reports."""
    known = set(_core.Catalogue(layout_folders()).tables())
    return tuple(name for name in names if name in known)


def read(
    path: Path,
    *,
    source_id: str,
    seen: Callable[[date | None], npt.NDArray[np.uint64]] | None = None,
    layouts: Sequence[Path] = (),
    tables: Sequence[str] | None = None,
    codepage: str = "1047",
    leap_seconds: bool = False,
    threads: int = 0,
    expansion: Expansion = USUAL,
    split: Mapping[str, Any] | None = None,
) -> SmfReading:
    """Open an SMF dump, or part of it.

    Parameters
    ----------
    path
        The dump: records after descriptor words, in blocks or not, plain or packed by gzip or Zstandard.
    source_id
        What its rows bear in ``source_id``.
    seen
        For a day, hashes of the records written on it that are held already; those are left out. None keeps all.
    layouts
        Folders with layouts of the site, which replace those of the same name.
    tables
        The tables to fill; None fills all.
    codepage
        EBCDIC code page of text: ``037`` or ``1047``.
    leap_seconds
        Whether the system's clock counts leap seconds (the CVT's leap second offset is not zero).
    threads
        Decoding threads; 0 takes as many as there are cores.
    expansion
        How far a compressed dump may expand.
    split
        The part to read, as `plexlens.ingest.smf_splits` planned it for the same tables; None reads all. Damage at its
        ends belongs to the part in which it begins.

    Raises
    ------
    UnknownSourceError
        The file is not an SMF dump; the message says what it looks like, and how such a thing comes about.
    UnreadableInputError
        The dump cannot be read, or a layout cannot be used.
    """
    with fed(path, split) as feed:
        try:
            catalogue = _core.Catalogue(layout_folders(layouts))
            reader = _core.SmfReader(
                feed.path,
                catalogue,
                source_id=source_id,
                codepage=codepage,
                leap_seconds=leap_seconds,
                tables=None if tables is None else list(tables),
                threads=threads,
                **_limits(expansion),
                seen=None if seen is None else lambda day: seen(_EPOCH + timedelta(days=day)),
                split=split,
            )
        except _core.SmfError as error:
            failed = error
        else:
            return SmfReading(path, reader, source_id, feed)
    # Only now: a pipe is filled no further when nobody reads it any more.
    raise smf_error(path, failed, feed) from failed


def _limits(expansion: Expansion) -> dict[str, Any]:
    """The limits as the core takes them; it has the usual ones itself."""
    return {} if expansion == USUAL else {"max_expansion": expansion.times, "max_expanded_bytes": expansion.most}


def read_with(path: Path, options: ReadOptions) -> SmfReading:
    """`read` with the signature that the list of sources expects."""
    return read(
        path,
        source_id=options.source_id,
        seen=options.seen,
        layouts=options.layouts,
        codepage=options.codepage,
        leap_seconds=options.leap_seconds,
        threads=options.threads,
        expansion=options.expansion,
    )


def smf_error(path: Path, error: Any, feed: Feed | None = None) -> PlexlensError:
    """The extension's error as a Plexlens error: its text is "file: problem; remedy", with attributes for the parts.

    Bytes that did not come are the cause of what the extension says about those that did.
    """
    if feed is not None and (before := raised_before(feed)) is not None:
        return before
    named = error.file or str(path)
    file = str(path) if feed is not None and named == str(feed.path) else named
    remedy = error.remedy or "see the message above"
    what = str(error).removeprefix(f"{named}: ").removesuffix(f"; {remedy}")
    kind = UnknownSourceError if error.reason in _NO_DUMP else UnreadableInputError
    return kind(file=file, what=what, remedy=remedy, line=error.line, record_no=error.record_no, offset=error.offset)
