"""Db2 statistics records from counts of an interval, through the encoder and the decoder, as the metrics read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.layouts_path import layouts_path
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
DB2_9, DB2_12 = 0x91, 0xC1

#: Bytes of an entry that Db2 9 writes: counters of 4 bytes.
SHORT = {"smf100_ifcid2_qbst": 232, "smf100_ifcid2_qbgl": 160}

Counts = Mapping[str, Any]
Section = Sequence[Counts]


def _section(rows: Section) -> pa.Table:
    return pa.Table.from_pylist([dict(row) for row in rows])


def record(
    ifcid: int,
    sections: Mapping[str, Section],
    *,
    at: datetime,
    sequence: int = 1,
    release: int = DB2_12,
    system: str = "SYS1",
    subsystem: str = "DB1A",
    group: str = "DBGRP",
) -> bytes:
    """One statistics record."""
    header = {"qwhsiid": ifcid, "qwhsiseq": sequence, "qwhsrn": release}
    return _core.encode_record(
        _core.Catalogue([layouts_path()]),
        f"smf100_ifcid{ifcid}",
        {"system": system, "subsystem": subsystem, "interval_end": at, "utc_offset": 3600},
        {
            "smf100_qwhs": _section([header]),
            "smf100_qwha": _section([{"qwhamemn": subsystem, "qwhadsgn": group}]),
            **{name: _section(rows) for name, rows in sections.items()},
        },
        lengths={name: length for name, length in SHORT.items() if release < 0xB1 and name in sections},
    )


def pair(
    ifcid: int,
    sections: Mapping[str, Section],
    *,
    seconds: float,
    base: int = 1_000_000,
    keys: Sequence[str] = (),
    **who: Any,
) -> bytes:
    """Two records, so many seconds apart, between which the given was counted.

    The first has counted `base` of everything already; `keys` are not counts and the same in both.
    """

    def raised(rows: Section, by: int) -> Section:
        return [
            {name: value if name in keys or isinstance(value, str) else value + by for name, value in row.items()}
            for row in rows
        ]

    before = {name: [dict.fromkeys(row, 0) | {k: row[k] for k in keys if k in row} for row in rows]
              for name, rows in sections.items()}  # fmt: skip
    first = {name: raised(rows, base) for name, rows in before.items()}
    second = {name: raised(rows, base) for name, rows in sections.items()}
    return record(ifcid, first, at=START, sequence=41, **who) + record(
        ifcid, second, at=START + timedelta(seconds=seconds), sequence=42, **who
    )


def inputs(folder: Path, *records: bytes) -> Inputs:
    """The records as raw tables."""
    path = folder / "db2.smf"
    path.write_bytes(b"".join(records))
    connection = connect()
    rows: dict[str, list[pa.RecordBatch]] = {}
    for batch in _core.SmfReader(path, _core.Catalogue([layouts_path()]), source_id="s"):
        for table, columns in batch.tables.items():
            rows.setdefault(table, []).append(columns)
    for table, batches in rows.items():
        add_table(connection, table, pa.Table.from_batches(batches))
    return Inputs(connection)
