"""Accounting records of z/VM: what each virtual machine used from logon, or the last ACNT command, to the record.

The file ACCOUNT of the accounting virtual machine holds records of 80 bytes, without anything between them. The last
two characters are the kind. Records of kind 01 (use of a virtual machine) are decoded by the layout ``vm_account``; the
other kinds are counted in the note ``record_without_layout``. A record tells its user, and neither its system nor its
time zone: the interval is in local time.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.errors import UnreadableInputError
from plexlens.ingest.compression import open_expanded
from plexlens.ingest.source import COMMON_FIELDS, Damage, ReadOptions, Severity
from plexlens.layouts_path import layout_folders

TABLE = "vm_account"
"""The raw table, and the layout, of records of kind 01."""

RECORD = 80
"""Bytes of a record."""

_DECODED = "01"
#: Date and time of the record, which the layout leaves out: they are its interval_end.
_STOP = slice(16, 28)

#: User and kind of a record in EBCDIC: names of upper case letters, digits, #, @, $ and a few more, padded by blanks.
_LETTERS = rb"\xc1-\xc9\xd1-\xd9\xe2-\xe9\xf0-\xf9\x5b\x7b\x7c\x4e\x60\x6d"
_NAME = b"[" + _LETTERS + b"][" + _LETTERS + rb"\x40]{7}"
_KIND = rb"(?:\xf0[\xf1-\xf9\xc1-\xc6]|\xc3[\xf0-\xf9\xc1-\xc6])"
_ONE = re.compile(rb"(?s)" + _NAME + rb".{70}" + _KIND)
#: The same in ASCII: user, account number, date and time, and the kind.
_AS_TEXT = re.compile(rb"(?s)[A-Z0-9#@$]{1,8} *[ -~]*?\d{12}.{50}(?:0[1-9A-F]|C[0-9A-F])")

#: Records that are decoded at once.
_BATCH = 50_000

#: Two-digit years from this one on are of the last century.
_CENTURY = 70

_HASH = pa.field("hash", pa.uint64(), metadata={"description": "64 bits of a hash of the record"})


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is accounting records, from its first bytes; its name does not matter."""
    whole = range(0, len(head) - RECORD + 1, RECORD)[:16]
    known = [_ONE.fullmatch(head, at, at + RECORD) is not None for at in whole]
    # Damage is told record by record; a file that is mostly something else is none of these.
    return bool(known) and known[0] and sum(known) * 2 > len(known)


def is_text(head: bytes) -> bool:
    """Whether a file is accounting records that were converted to ASCII, which destroys their numbers."""
    return len(head) >= RECORD and _AS_TEXT.fullmatch(head, 0, RECORD) is not None


def read_with(path: Path, options: ReadOptions) -> AccountReading:
    """A file of accounting records, as the list of sources expects it."""
    return AccountReading(path, options)


class AccountReading:
    """A file of accounting records being read: a `plexlens.ingest.source.Reading`.

    Parameters
    ----------
    path
        The file.
    options
        As `plexlens.ingest.source.ReadOptions` tells.
    """

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path = path
        self._options = options
        self._catalogue = _core.Catalogue(layout_folders(options.layouts))
        self._kinds: Counter[str] = Counter()
        self._notes: Counter[tuple[str, str]] = Counter()
        self._first: datetime | None = None
        self._last: datetime | None = None
        self.damage: list[Damage] = []
        self.position = 0

    @property
    def summary(self) -> dict[str, Any]:
        """``records`` by kind, ``measurements``, ``span``, ``damage`` by reason, ``notes``."""
        span = [self._first.isoformat(), self._last.isoformat()] if self._first and self._last else None
        return {
            "records": dict(self._kinds),
            "measurements": self._kinds[_DECODED],
            "duplicates": 0,
            "span": span,
            "damage": dict(Counter(damage.reason for damage in self.damage)),
            "notes": [
                {"note": note, "section": section, "field": None, "count": count, "severity": "info", "max_bytes": 0}
                for (note, section), count in self._notes.items()
            ],
        }

    def __iter__(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Pairs of table name and batch."""
        self._notes["system_not_named", TABLE] += 1
        stream, raw = open_expanded(self._path, self._options.expansion)
        number = 1
        with stream, raw:
            while block := stream.read(_BATCH * RECORD):
                while len(block) % RECORD and (more := stream.read(_BATCH * RECORD - len(block))):
                    block += more
                self.position = raw.tell()
                yield from self._batch(block, number)
                number += -(-len(block) // RECORD)

    def _batch(self, block: bytes, first: int) -> Iterator[tuple[str, pa.RecordBatch]]:
        records, numbers, ends = [], [], []
        for at in range(0, len(block), RECORD):
            number, record = first + at // RECORD, block[at : at + RECORD]
            if len(record) < RECORD:
                self._damaged(number, "truncated record", f"{len(record)} of {RECORD} bytes")
            elif not _ONE.fullmatch(record):
                self._damaged(
                    number, "not an accounting record", "no user ID and no kind of record are in their places"
                )
            else:
                kind = record[78:].decode("cp037")
                self._kinds[kind] += 1
                if kind != _DECODED:
                    self._notes["record_without_layout", f"kind {kind}"] += 1
                elif (end := _moment(record[_STOP])) is None:
                    stop = record[_STOP].decode("cp037")
                    self._damaged(number, "no date and time", f"{stop!r} where MMDDYYHHMMSS is expected")
                else:
                    records.append(record)
                    numbers.append(number)
                    ends.append(end)
        if records:
            self._first = min([*ends, self._first or ends[0]])
            self._last = max([*ends, self._last or ends[0]])
            yield TABLE, self._rows(records, numbers, ends)

    def _rows(self, records: list[bytes], numbers: list[int], ends: list[datetime]) -> pa.RecordBatch:
        options = self._options
        try:
            rows, _ = self._catalogue.decode_records(
                TABLE, b"".join(records), [RECORD] * len(records),
                codepage=options.codepage, leap_seconds=options.leap_seconds,
            )  # fmt: skip
        except _core.SmfError as error:
            raise UnreadableInputError(
                file=str(self._path), what=f"its records cannot be decoded: {error}", remedy="check the layouts"
            ) from error
        connected = [timedelta(seconds=seconds) for seconds in rows.column("acntcont").to_pylist()]
        values = {
            "interval_start": [end - length for end, length in zip(ends, connected, strict=True)],
            "interval_end": ends,
            "source_id": [options.source_id] * len(records),
            "record_no": numbers,
            "section_no": [1] * len(records),
        }
        common = [
            pa.array(values[of.name], of.type) if of.name in values else pa.nulls(len(records), of.type)
            for of in COMMON_FIELDS
        ]
        hashes = [int.from_bytes(hashlib.blake2b(record, digest_size=8).digest(), "big") for record in records]
        schema = pa.schema([*COMMON_FIELDS, *rows.schema, _HASH])
        return pa.RecordBatch.from_arrays([*common, *rows.columns, pa.array(hashes, _HASH.type)], schema=schema)

    def _damaged(self, number: int, reason: str, detail: str) -> None:
        self.damage.append(
            Damage(
                source_id=self._options.source_id,
                file=str(self._path),
                record_no=number,
                offset=(number - 1) * RECORD,
                reason=reason,
                severity=Severity.DATA_LOSS,
                detail=detail,
                remedy="transfer the file again in binary, with records of 80 bytes",
            )
        )


def _moment(stop: bytes) -> datetime | None:
    """The local time of MMDDYYHHMMSS, as if it were UTC; None for other bytes."""
    text = stop.decode("cp037")
    if not (text.isascii() and text.isdigit()):
        return None
    month, day, year, hour, minute, second = (int(text[at : at + 2]) for at in range(0, 12, 2))
    try:
        return datetime(year + (1900 if year >= _CENTURY else 2000), month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
