"""Monitor data of z/VM decoded: a raw table for each kind of record that has a layout.

Every record has a row in ``vm_record``. A record whose kind has a layout has a row in the table of its DSECT
(``vm_sytprp``) as well; the others are counted in the note ``record_without_layout``. The compiled core decodes the
fields as it does those of SMF records; the layouts are data (`plexlens.ingest.monitor_map`).

The name of the system stands in record 4 of domain 1 only, which a file has where its collection began. Records before
the first of them take its name. A file without any has no name of a system: the note ``system_not_named`` and a row of
damage say so, since two systems without names look like one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.errors import UnreadableInputError
from plexlens.ingest.compression import USUAL, Expansion
from plexlens.ingest.monitor_map import MonitorMap
from plexlens.ingest.monwrite import Account, MonitorRecord, account_of, form_of, read_records
from plexlens.ingest.recognition import read_head
from plexlens.ingest.source import COMMON_FIELDS, TIMESTAMP, Damage, ReadOptions, Severity

TABLE = "vm_record"
"""The table with a row for each record."""

HEADER = "vm_mrhdr"
"""The layout of the header."""

CONFIGURATION = (1, 4)
"""Domain and number of the record that names the system."""

JOIN = "append the file to the one of its system that has it (cat FIRST THIS > BOTH), and read that anew"
"""What to do about a file that names no system."""

_SYSTEM_COLUMN = "mtrsys_systmid"
_NOT_NAMED = "system_not_named"
#: Records and bytes of a batch.
_RECORDS, _BYTES = 50_000, 8 << 20

_OWN = (
    pa.field("name", pa.string(), metadata={"description": "domain and record, as D0R2"}),
    pa.field("domain", pa.uint8(), metadata={"description": "domain"}),
    pa.field("record", pa.uint16(), metadata={"description": "record"}),
    pa.field("kind", pa.string(), metadata={"description": "sample or event"}),
    pa.field("length", pa.uint32(), metadata={"unit": "bytes", "description": "length of the record"}),
    pa.field("offset", pa.uint64(), metadata={"unit": "bytes", "description": "offset in the file"}),
    pa.field("decoded", pa.bool_(), metadata={"description": "whether a layout describes its fields"}),
    pa.field("hash", pa.uint64(), metadata={"description": "64 bits of a hash of the record"}),
)
_RECORD_SCHEMA = pa.schema([*COMMON_FIELDS, *_OWN])


@dataclass(slots=True)
class _Batch:
    """Records in the order of the file, with their numbers, systems, and the records of each layout."""

    first: int
    records: list[MonitorRecord] = field(default_factory=list)
    systems: list[str | None] = field(default_factory=list)
    size: int = 0

    def add(self, record: MonitorRecord, system: str | None) -> None:
        self.records.append(record)
        self.systems.append(system)
        self.size += len(record.data)

    @property
    def is_full(self) -> bool:
        return len(self.records) >= _RECORDS or self.size >= _BYTES


class MonitorReading:
    """A file of monitor data being read: a `plexlens.ingest.source.Reading`.

    Parameters
    ----------
    path
        The file.
    source_id
        What its rows bear in ``source_id``.
    monitor_map
        The kinds of record and their layouts.
    codepage, leap_seconds
        As of `plexlens.ingest.source.ReadOptions`.
    expansion
        Limits of a compressed file.
    only
        Domain and record of the only kind to decode; None decodes all.
    """

    def __init__(
        self,
        path: Path,
        source_id: str,
        monitor_map: MonitorMap,
        *,
        codepage: str = "1047",
        leap_seconds: bool = False,
        expansion: Expansion = USUAL,
        only: tuple[int, int] | None = None,
    ) -> None:
        self._path = path
        self._head = read_head(path)
        self._map = monitor_map
        self._choices: dict[str, Any] = {"codepage": codepage, "leap_seconds": leap_seconds}
        self._expansion = expansion
        self._source_id = source_id
        self._only = only
        self._notes: dict[tuple[str, str, str, str], tuple[int, int]] = {}
        self.account: Account = account_of(path, self._head)
        self.position = 0

    @property
    def summary(self) -> dict[str, Any]:
        """``records`` by domain and record, ``measurements``, ``span``, ``damage`` by reason, ``notes``."""
        tallies = self.account.tallies
        records: Counter[str] = Counter()
        for (domain, number, _), tally in tallies.items():
            records[f"D{domain}R{number}"] += tally.records
        times = [time for tally in tallies.values() for time in (tally.first, tally.last) if time is not None]
        return {
            "records": dict(records),
            "measurements": self.account.records,
            "duplicates": 0,
            "span": [min(times).isoformat(), max(times).isoformat()] if times else None,
            "damage": dict(Counter(damage.reason for damage in self.damage)),
            "notes": [
                {
                    "note": note,
                    "section": section,
                    "field": name or None,
                    "count": count,
                    "severity": severity,
                    "max_bytes": most,
                }
                for (note, section, name, severity), (count, most) in self._notes.items()
            ],
        }

    def _note(
        self, note: str, section: str, count: int, *, name: str = "", severity: str = "info", most: int = 0
    ) -> None:
        before = self._notes.get((note, section, name, severity), (0, 0))
        self._notes[note, section, name, severity] = before[0] + count, max(before[1], most)

    @property
    def damage(self) -> list[Damage]:
        """Bytes that could not be read, a row per reason; data that the file ends before; a name that is missing."""
        rows = [
            self._damage(reason, self.account.places[reason], f"{size:,} bytes were skipped")
            for reason, size in self.account.skipped.items()
        ]
        if self.account.missing_bytes:
            detail = f"{self.account.missing_bytes:,} bytes that the control information names are not in the file"
            rows.append(self._damage("the file ends too early", None, detail))
        if any(note == _NOT_NAMED for note, *_ in self._notes):
            detail = "no record D1R4 names the system: files of two systems without a name are taken for one system"
            rows.append(self._damage("system not named", None, detail, Severity.INFO, JOIN))
        return rows

    def __iter__(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Pairs of table name and batch."""
        system = self._first_system()
        if system is None:
            self._note(_NOT_NAMED, TABLE, 1)
        number = 1
        batch = _Batch(number)
        for record in read_records(self.account, self._expansion):
            if record.key == CONFIGURATION:
                system = self._named(record) or system
            batch.add(record, system)
            number += 1
            if batch.is_full:
                self.position = record.offset
                yield from self._tables(batch)
                batch = _Batch(number)
        if batch.records:
            yield from self._tables(batch)

    def _damage(
        self,
        reason: str,
        offset: int | None,
        detail: str,
        severity: Severity = Severity.DATA_LOSS,
        remedy: str = "transfer the file again in binary",
    ) -> Damage:
        return Damage(
            source_id=self._source_id,
            file=str(self._path),
            record_no=None,
            offset=offset,
            reason=reason,
            severity=severity,
            detail=detail,
            remedy=remedy,
        )

    def _first_system(self) -> str | None:
        account = account_of(self._path, self._head)
        return next(
            (
                name
                for record in read_records(account, self._expansion)
                if record.key == CONFIGURATION
                if (name := self._named(record))
            ),
            None,
        )

    def _named(self, record: MonitorRecord) -> str | None:
        """The system's name of a configuration record; None where its layout has no such field."""
        layout = self._map.layout(*CONFIGURATION)
        if layout is None:
            return None
        rows, _ = self._map.catalogue.decode_records(layout, record.data, [len(record.data)], **self._choices)
        name = rows.column(_SYSTEM_COLUMN)[0].as_py() if _SYSTEM_COLUMN in rows.schema.names else None
        return name or None

    def _tables(self, batch: _Batch) -> Iterator[tuple[str, pa.RecordBatch]]:
        heads, _ = self._decoded(HEADER, [record.data for record in batch.records])
        times = heads.column("mrhdrtod")
        of_kind: dict[tuple[int, int], list[int]] = {}
        for at, record in enumerate(batch.records):
            of_kind.setdefault(record.key, []).append(at)
        decoded = [False] * len(batch.records)
        parts = []
        for key, places in of_kind.items():
            layout = self._map.layout(*key) if self._only in (None, key) else None
            if layout is None:
                if self._only is None:
                    self._note("record_without_layout", f"D{key[0]}R{key[1]}", len(places))
                continue
            rows, notes = self._decoded(layout, [batch.records[at].data for at in places])
            for note in notes:
                about = {"name": note["field"] or "", "severity": note["severity"], "most": note["max_bytes"]}
                self._note(note["kind"], note["section"], note["count"], **about)
            for at in places:
                decoded[at] = True
            common = self._common(batch, places, times)
            schema = pa.schema([*COMMON_FIELDS, *rows.schema])
            parts.append(
                (self._map.kinds[key].table, pa.RecordBatch.from_arrays([*common, *rows.columns], schema=schema))
            )
        everything = list(range(len(batch.records)))
        own = [
            ["D{}R{}".format(*record.key) for record in batch.records],
            [record.key[0] for record in batch.records],
            [record.key[1] for record in batch.records],
            [record.kind for record in batch.records],
            [len(record.data) for record in batch.records],
            [record.offset for record in batch.records],
            decoded,
            [_hash_of(record) for record in batch.records],
        ]
        arrays = [pa.array(values, of.type) for values, of in zip(own, _OWN, strict=True)]
        common = self._common(batch, everything, times)
        # Records that are held are looked for on the day on which an interval begins.
        common[_RECORD_SCHEMA.get_field_index("interval_start")] = times.cast(TIMESTAMP)
        yield TABLE, pa.RecordBatch.from_arrays([*common, *arrays], schema=_RECORD_SCHEMA)
        yield from parts

    def _common(self, batch: _Batch, places: Sequence[int], times: pa.Array) -> list[pa.Array]:
        """The columns before a table's own; the time of the record is that of its header, a TOD clock in UTC."""
        count = len(places)
        values = {
            "system": pa.array([batch.systems[at] for at in places], pa.string()),
            "interval_end": times.take(pa.array(places, pa.int64())),
            "source_id": pa.array([self._source_id] * count, pa.string()),
            "record_no": pa.array([batch.first + at for at in places], pa.uint64()),
            "section_no": pa.array([1] * count, pa.uint32()),
        }
        return [
            values[of.name].cast(of.type) if of.name in values else pa.nulls(count, of.type) for of in COMMON_FIELDS
        ]

    def _decoded(self, layout: str, records: Sequence[bytes]) -> tuple[pa.RecordBatch, list[dict[str, Any]]]:
        lengths = [len(record) for record in records]
        try:
            rows, notes = self._map.catalogue.decode_records(layout, b"".join(records), lengths, **self._choices)
        except _core.SmfError as error:
            raise UnreadableInputError(
                file=str(self._path), what=f"its records cannot be decoded: {error}", remedy="check the layouts"
            ) from error
        return rows, notes


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is monitor data, from its first bytes; its name does not matter."""
    return form_of(head) is not None


def read_with(path: Path, options: ReadOptions) -> MonitorReading:
    """A file of monitor data, as the list of sources expects it."""
    return MonitorReading(
        path,
        options.source_id,
        MonitorMap(options.layouts),
        codepage=options.codepage,
        leap_seconds=options.leap_seconds,
        expansion=options.expansion,
    )


def _hash_of(record: MonitorRecord) -> int:
    return int.from_bytes(hashlib.blake2b(record.kind.encode() + record.data, digest_size=8).digest(), "big")
