"""SMF dumps of Db2's performance trace, written by hand: by the second decode's structures, not by the product."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracle import slow_db2_accounting as slow
from tests.oracle.slow_forms import UTC

START = datetime.datetime(2026, 3, 2, 8, 6, tzinfo=UTC)


@dataclass(frozen=True)
class Page:
    """A row of IFCID 198."""

    page: int
    psid: int = 2
    dbid: int = 260
    pool: int = 2
    function: str = "G"
    status: str = "M"
    access: str = "R"
    partition: int = 0


def at(microseconds: int) -> datetime.datetime:
    """So long after the beginning."""
    return START + datetime.timedelta(microseconds=microseconds)


def traced(
    ifcid: int,
    microseconds: int,
    entries: Sequence[bytes],
    *,
    sequence: int = 0,
    subsystem: str = "DB2A",
    own_lengths: bool = False,
) -> bytes:
    """A record of SMF 102; ``sequence`` is QWHSISEQ."""
    record = bytearray(
        slow.record(
            102,
            ifcid,
            at(microseconds),
            {1: list(entries)},
            triplets=1,
            subsystem=subsystem,
            own_lengths=own_lengths,
            number=microseconds % 2**32,
        )
    )
    # QWHSISEQ stands at 24 of QWHS, which begins after the header (28), two triplets and the descriptor word's place.
    place = 28 + 16 + 24
    record[place : place + 4] = sequence.to_bytes(4, "big")
    return bytes(record)


def pages(microseconds: int, *rows: Page, sequence: int = 0, subsystem: str = "DB2A", length: int | None = 24) -> bytes:
    """A record of IFCID 198."""
    entries = [
        slow.section(
            slow.IFCID_198,
            {
                "qw0198db": row.dbid,
                "qw0198ob": row.psid,
                "qw0198bp": row.pool,
                "qw0198fc": row.function,
                "qw0198ps": row.status,
                "qw0198at": row.access,
                "qw0198pn": row.page,
                "qw0198pt": row.partition,
            },
            length,
        )
        for row in rows
    ]
    return traced(198, microseconds, entries, sequence=sequence, subsystem=subsystem)


def read_start(microseconds: int, kind: str, page: int, *, agent: int = 1, psid: int = 2, pool: int = 2) -> bytes:
    """A record of IFCID 6."""
    row = {"qw0006db": 260, "qw0006ob": psid, "qw0006bp": pool, "qw0006pn": page, "qw0006f": kind, "qw0006ac": agent}
    return traced(6, microseconds, [slow.section(slow.IFCID_6, row)])


def read_end(microseconds: int, count: int, *, agent: int = 1, psid: int = 2, failed: int = 0) -> bytes:
    """A record of IFCID 7."""
    row = {"qw0007db": 260, "qw0007ob": psid, "qw0007mm": failed, "qw0007ac": agent, "qw0007np": count}
    return traced(7, microseconds, [slow.section(slow.IFCID_7, row)])


def write_start(microseconds: int, count: int, *, psid: int = 2, pool: int = 2) -> bytes:
    """A record of IFCID 10."""
    row = {"qw0010db": 260, "qw0010ob": psid, "qw0010bp": pool, "qw0010pn": 1, "qw0010np": count, "qw0010ac": 1}
    return traced(10, microseconds, [slow.section(slow.IFCID_10, row)])


def name(microseconds: int, psid: int, database: str, page_set: str) -> bytes:
    """A record of IFCID 105."""
    row = {"qw0105db": 260, "qw0105ob": psid, "qw0105dn": database, "qw0105tn": page_set}
    return traced(105, microseconds, [slow.section(slow.IFCID_105, row)])


def data_set(microseconds: int, psid: int, kind: str, *, sync: tuple[int, float, float]) -> bytes:
    """A record of IFCID 199: synchronous I/Os, their mean and longest delay in seconds."""
    row = {"qw0199db": 260, "qw0199ob": psid, "qw0199bp": 2, "qw0199dn": 1, "qw0199ty": kind}
    row |= dict(zip(("qw0199sr", "qw0199sa", "qw0199sm"), sync, strict=True))
    return traced(199, microseconds, [slow.section(slow.IFCID_199, row)])


def dump(path: Path, *records: bytes) -> Path:
    """A dump of these records."""
    path.write_bytes(b"".join(records))
    return path
