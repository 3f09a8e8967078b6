"""SMF 101 and 102 written by hand, decoded by the product and by a second decode that shares nothing with it."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.layouts_path import layout_folders
from tests.oracle import slow_db2_accounting as slow
from tests.oracle.slow_forms import UTC, Field, Row, Value

BUILT = datetime.datetime(2026, 3, 2, 8, 6, tzinfo=UTC)

#: QWHSRN by Db2 version, and the bytes of QWAC that the release is taken to have.
RELEASES = {"9": (0x91, 488), "10": (0xA1, 552), "11": (0xB1, 552), "12": (0xC1, 568), "13": (0xD1, 640)}


def counted(fields: Any, start: int) -> Row:
    """A different value for every field, so that two fields exchanged would show."""
    number = itertools.count(start)
    row: Row = {}
    for field in fields:
        row[field.name] = value(field, next(number))
    return row


def value(field: Field, number: int) -> Value:
    if field.form == "text":
        return f"{number}"[-field.length :]
    if field.form == "hex":
        return bytes([number % 251 + 1]) * field.length
    if field.form == "utc":
        return BUILT + datetime.timedelta(seconds=number, microseconds=number)
    if field.form in {"tod", "usec4"}:
        return number / 64
    return number % 256**field.length


def write(path: Path, *records: bytes) -> Path:
    path.write_bytes(b"".join(records))
    return path


def accounting(version: str, *, own_lengths: bool = False, number: int = 0) -> bytes:
    """An accounting record with every kind of section, as long as the release has them."""
    release, length = RELEASES[version]
    wide = version not in {"9", "10"}
    qxst, qbac = (slow.QXST, slow.QBAC) if wide else (slow.QXST_4, slow.QBAC_4)
    parts = {
        1: [slow.section(slow.QWAC, counted(slow.QWAC, 100), length)],
        2: [slow.section(qxst, counted(qxst, 200), 1500 if wide else 720)],
        3: [slow.section(qbac, counted(qbac, start)) for start in (300, 400)],
        4: [slow.section(slow.QTXA, counted(slow.QTXA, 500), 96)],
        5: [slow.section(slow.QLAC, counted(slow.QLAC, 600))],
        6: [slow.section(slow.QMDA, counted(slow.QMDA, 700), 120)],
        9: [slow.section(slow.QBGA, counted(slow.QBGA, start)) for start in (800, 850, 870)],
        10: [slow.section(slow.QTGA, counted(slow.QTGA, 900))],
        12: [slow.section(slow.QWAX, counted(slow.QWAX, 950))],
    }
    headers: dict[str, Row] = {
        name: {k: v for k, v in counted(fields, 50).items() if not k.endswith(("len", "typ"))}
        for _, name, fields in slow.HEADERS
    }
    return slow.record(
        101, 3, BUILT, parts, headers=headers, release=release, own_lengths=own_lengths, number=number, subsystem="DB2A"
    )


def decoded(path: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    """Rows by table, and the reader's summary."""
    reader = _core.SmfReader(path, _core.Catalogue(layout_folders()), source_id="s")
    tables: dict[str, list[dict[str, Any]]] = {}
    for batch in reader:
        for name, rows in batch.tables.items():
            tables.setdefault(name, []).extend(pa.Table.from_batches([rows]).to_pylist())
    return tables, reader.summary()


def compare(path: Path) -> dict[str, int]:
    """Both decodes of a file agree on every value; rows by table."""
    found, summary = decoded(path)
    assert summary["damage"] == []
    expected = slow.tables(path)
    assert set(found) - {"smf_record"} == set(expected)
    for table, rows in expected.items():
        assert len(found[table]) == len(rows), table
        for got, row in zip(found[table], rows, strict=True):
            for name, wanted in row.items():
                where = f"{table}.{name}"
                if isinstance(wanted, float):
                    assert got[name] == pytest.approx(wanted, rel=1e-12), where
                else:
                    assert got[name] == wanted, where
    return {table: len(rows) for table, rows in expected.items()}


@pytest.mark.parametrize("version", RELEASES)
def test_accounting_of_every_release(tmp_path: Path, version: str) -> None:
    rows = compare(write(tmp_path / "acct.smf", accounting(version)))
    once = ("smf101_qwhs", "smf101_qwhc", "smf101_qwhu", "smf101_qwhd")
    once += tuple(f"smf101_ifcid3_{name}" for name in ("qwac", "qxst", "qtxa", "qlac", "qmda", "qtga", "qwax"))
    assert rows == dict.fromkeys(once, 1) | {"smf101_ifcid3_qbac": 2, "smf101_ifcid3_qbga": 3}


def test_what_a_release_lacks_is_null(tmp_path: Path) -> None:
    found, _ = decoded(write(tmp_path / "acct.smf", accounting("9"), accounting("12", number=1)))
    old, new = found["smf101_ifcid3_qwac"]
    assert old["qwacziip_eligible"] is not None
    assert (old["qwacawlh"], old["qwac_pipe_wait"]) == (None, None)
    assert new["qwac_pipe_wait"] is not None
    # Counters of 4 and of 8 bytes fill the same columns.
    old, new = found["smf101_ifcid3_qxst"]
    assert (old["qxselect"], new["qxselect"]) == (203, 203)
    assert [row["qbacget"] for row in found["smf101_ifcid3_qbac"]] == [301, 401, 301, 401]


def test_entries_after_their_own_length(tmp_path: Path) -> None:
    path = write(tmp_path / "acct.smf", accounting("12", own_lengths=True), accounting("12", number=1))
    compare(path)
    found, _ = decoded(path)
    one, other = found["smf101_ifcid3_qwac"]
    assert {k: v for k, v in one.items() if k != "record_no"} == {k: v for k, v in other.items() if k != "record_no"}


def test_a_record_of_few_triplets(tmp_path: Path) -> None:
    """What older releases lack: sections follow the last triplet at once."""
    thread = slow.section(slow.QWAC, counted(slow.QWAC, 100), 176)
    path = write(tmp_path / "acct.smf", slow.record(101, 3, BUILT, {1: [thread]}, triplets=1))
    assert compare(path) == {"smf101_qwhs": 1, "smf101_ifcid3_qwac": 1}


def test_packages(tmp_path: Path) -> None:
    """A record holds several packages; what does not fit goes into the next record of the thread."""
    packages = [slow.section(slow.QPAC, counted(slow.QPAC, start)) for start in (100, 200, 300)]
    correlation: Row = {"qwhcplan": "PLANA", "qwhccn": "CICSA", "qwhcatyp": 4}
    records = [
        slow.record(101, 239, BUILT, {1: packages[:2]}, headers={"qwhc": correlation}, triplets=1),
        slow.record(101, 239, BUILT, {1: packages[2:]}, headers={"qwhc": correlation}, triplets=1, number=1),
    ]
    path = write(tmp_path / "pack.smf", *records)
    assert compare(path) == {"smf101_qwhs": 2, "smf101_qwhc": 2, "smf101_ifcid239_qpac": 3}
    found, _ = decoded(path)
    assert {row["subtype"] for row in found["smf_record"]} == {1}


@pytest.mark.parametrize(
    ("ifcid", "fields"),
    [
        (6, slow.IFCID_6),
        (7, slow.IFCID_7),
        (10, slow.IFCID_10),
        (105, slow.IFCID_105),
        (107, slow.IFCID_107),
        (198, slow.IFCID_198),
        (199, slow.IFCID_199),
    ],
)
def test_traces(tmp_path: Path, ifcid: int, fields: Any) -> None:
    events = [slow.section(fields, counted(fields, start)) for start in (20, 60)]
    sharing: Row = {"qwhamemn": "DB2A", "qwhadsgn": "DSNPLEX"}
    path = write(
        tmp_path / "trace.smf", slow.record(102, ifcid, BUILT, {1: events}, headers={"qwha": sharing}, triplets=1)
    )
    assert compare(path) == {"db2_qwhs": 1, "db2_qwha": 1, f"smf102_ifcid{ifcid}": 2}


def test_other_traces_stay_undecoded(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.smf", slow.record(102, 172, BUILT, {1: [bytes(40)]}, triplets=1))
    found, summary = decoded(path)
    assert set(found) == {"smf_record"}
    assert found["smf_record"][0]["decoded"] is False
    assert summary["damage"] == []


def test_inferred_places_are_told(tmp_path: Path) -> None:
    """Whoever reads a number of a field whose place is not published is told that."""
    _, summary = decoded(write(tmp_path / "acct.smf", accounting("12")))
    told = {note["section"] for note in summary["notes"] if note["kind"] == "low_confidence"}
    assert {"smf101_ifcid3_qwac", "smf101_ifcid3_qwax", "smf101_ifcid3_qbac"} <= told
