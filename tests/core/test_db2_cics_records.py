"""Db2 and CICS records written from Python and read again: what their author gives, and what comes out."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core

LAYOUTS = Path(__file__).parents[2] / "layouts"
START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
END = START + timedelta(minutes=15)
IDENTITY = {
    "system": "SYS1",
    "subsystem": "DB2A",
    "interval_start": START,
    "interval_end": END,
    "utc_offset": timedelta(hours=1),
}
CICS = IDENTITY | {"subsystem": "CICSAOR1"}


@pytest.fixture(scope="module")
def catalogue() -> _core.Catalogue:
    return _core.Catalogue([LAYOUTS])


def read(path: Path, catalogue: _core.Catalogue, *records: bytes) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Rows by table, and the summary, of a dump of these records."""
    path.write_bytes(b"".join(records))
    reader = _core.SmfReader(path, catalogue, source_id="source")
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for batch in reader:
        for table, rows in batch.tables.items():
            found[table] += pa.table(rows).to_pylist()
    return found, reader.summary()


def chosen(row: dict[str, Any], columns: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in columns}


@pytest.mark.parametrize(
    ("record", "table", "columns"),
    [
        ("smf100_ifcid1", "smf100_ifcid1_qjst", {}),
        ("smf100_ifcid2", "smf100_ifcid2_qbst", {"qbstpid": 3, "qbstget": 2**40}),
        ("smf100_ifcid225", "smf100_ifcid225", {}),
        ("smf101_ifcid3", "smf101_ifcid3_qwac", {"qwacajst": 1.5}),
        ("smf101_ifcid239", "smf101_ifcid239_qpac", {}),
        ("smf102_ifcid199", "smf102_ifcid199", {"qw0199db": 260, "qw0199ob": 7}),
    ],
)
def test_db2_records(
    tmp_path: Path, catalogue: _core.Catalogue, record: str, table: str, columns: dict[str, Any]
) -> None:
    tables = {section["table"] for one in catalogue.records() if one["record"] == record for section in one["sections"]}
    if table not in tables:
        table = next(name for name in sorted(filter(None, tables)) if name.startswith(table))
    schema = catalogue.schema(table)
    if not columns:
        wanted = next(
            field for field in schema if pa.types.is_uint32(field.type) and field.name not in ("section_no", "length")
        )
        columns = {wanted.name: 123_456}
    rows = pa.table({name: pa.array([value], schema.field(name).type) for name, value in columns.items()})
    encoded = _core.encode_record(catalogue, record, IDENTITY, {table: rows})
    found, summary = read(tmp_path / "db2.smf", catalogue, encoded)
    assert summary["damage"] == []
    (row,) = found[table]
    assert chosen(row, columns) == columns
    assert (row["system"], row["subsystem"], row["interval_end"]) == ("SYS1", "DB2A", END)
    assert row["utc_offset"] == 3600.0


def test_entries_of_an_older_release_by_their_length(tmp_path: Path, catalogue: _core.Catalogue) -> None:
    rows = pa.table({"qbstpid": pa.array([3, 80], pa.uint32()), "qbstget": pa.array([10, 20], pa.uint64())})
    (sections,) = (one["sections"] for one in catalogue.records() if one["record"] == "smf100_ifcid2")
    older = next(s for s in sections if s["table"] == "smf100_ifcid2_qbst" and s["layout"] != s["table"])
    assert older["when"].startswith("length<")
    length = int(older["when"].removeprefix("length<")) - 8
    write = lambda **choices: _core.encode_record(  # noqa: E731
        catalogue, "smf100_ifcid2", IDENTITY, {"smf100_ifcid2_qbst": rows}, **choices
    )
    new, old = write(), write(lengths={"smf100_ifcid2_qbst": length})
    assert len(old) < len(new)
    found, summary = read(tmp_path / "db2.smf", catalogue, new, old)
    assert summary["damage"] == []
    values = [(row["record_no"], row["qbstpid"], row["qbstget"]) for row in found["smf100_ifcid2_qbst"]]
    assert values == [(1, 3, 10), (1, 80, 20), (2, 3, 10), (2, 80, 20)]


def tasks() -> pa.Table:
    return pa.table(
        {
            "tran": ["ABCD", "EFGH"],
            "stop": pa.array([END - timedelta(seconds=2), END - timedelta(seconds=1)], pa.timestamp("us", "UTC")),
            "usrcput_seconds": [0.25, 0.5],
            "usrcput_count": pa.array([3, 4], pa.uint32()),
            "db2reqct": pa.array([7, 8], pa.uint32()),
        }
    )


def test_cics_tasks_with_the_standard_dictionary(tmp_path: Path, catalogue: _core.Catalogue) -> None:
    dictionary = _core.standard_dictionary(catalogue)
    first = _core.encode_record(catalogue, "smf110_1_class1", CICS, {"smf110_1_dictionary": dictionary})
    second = _core.encode_record(catalogue, "smf110_1_class3", CICS, {"smf110_1_performance": tasks()})
    for records in ((first, second), (second, first)):
        found, summary = read(tmp_path / "cics.smf", catalogue, *records)
        assert summary["damage"] == []
        rows = found["smf110_1_performance"]
        assert [chosen(row, dict.fromkeys(tasks().column_names)) for row in rows] == tasks().to_pylist()
        assert {(row["subsystem"], row["utc_offset"]) for row in rows} == {("CICSAOR1", 3600.0)}
        assert rows[0]["qrcput_seconds"] == 0.0, "the dictionary has all fields, those not given are zero"


def test_cics_tasks_with_a_dictionary_and_connectors_of_ones_own(tmp_path: Path, catalogue: _core.Catalogue) -> None:
    full = _core.standard_dictionary(catalogue).to_pylist()
    own = [entry for entry in full if entry["cmodhead"] in ("TRAN", "USRCPUT", "DB2REQCT", "STOP")]
    own.append(full[0] | {"cmodname": "SITE", "cmodtype": "A", "cmodidnt": "901", "cmodhead": "OURS"})
    own = [entry | {"cmodconn": 100 + number} for number, entry in enumerate(own)]
    dictionary = pa.RecordBatch.from_pylist(own, _core.standard_dictionary(catalogue).schema)
    by_name = {entry["cmodhead"]: entry["cmodconn"] for entry in own}
    connectors = [by_name[name] for name in ("USRCPUT", "OURS", "TRAN")]
    first = _core.encode_record(catalogue, "smf110_1_class1", CICS, {"smf110_1_dictionary": dictionary})
    second = _core.encode_record(
        catalogue,
        "smf110_1_class3",
        CICS,
        {"smf110_1_performance": tasks()},
        dictionary=dictionary,
        connectors=connectors,
    )
    found, summary = read(tmp_path / "cics.smf", catalogue, first, second)
    assert summary["damage"] == []
    rows = found["smf110_1_performance"]
    assert [(row["tran"], row["usrcput_seconds"], row["usrcput_count"]) for row in rows] == [
        ("ABCD", 0.25, 3),
        ("EFGH", 0.5, 4),
    ]
    assert [row["db2reqct"] for row in rows] == [None, None], "the record has no connector for it"
    unknown = [note for note in summary["notes"] if note["kind"] == "unknown_field"]
    assert [(note["field"], note["count"]) for note in unknown] == [("SITE.A901 OURS", 2)]


def test_a_dictionary_that_cannot_be_is_refused(catalogue: _core.Catalogue) -> None:
    def encode(**choices: Any) -> bytes:
        return _core.encode_record(catalogue, "smf110_1_class3", CICS, {"smf110_1_performance": tasks()}, **choices)

    with pytest.raises(_core.SmfError, match="connector 9999 is not among"):
        encode(connectors=[1, 9999])
    with pytest.raises(_core.SmfError, match="no connectors"):
        encode(connectors=[])
    broken = _core.standard_dictionary(catalogue).drop_columns(["cmodleng"])
    with pytest.raises(_core.SmfError, match="cmodleng: there is no such column"):
        encode(dictionary=broken)


def test_cics_statistics_learn_the_time_zone_from_others(tmp_path: Path, catalogue: _core.Catalogue) -> None:
    rows = pa.table({"xmgnum": pa.array([1200], pa.uint32()), "xmgmxt": pa.array([250], pa.uint32())})
    statistics = _core.encode_record(catalogue, "smf110_2", CICS, {"smf110_2_transaction_manager": rows})
    rmf = _core.encode_record(catalogue, "smf74_4", IDENTITY | {"sysplex": "PLEX1"}, {})
    found, summary = read(tmp_path / "alone.smf", catalogue, statistics)
    assert summary["damage"] == []
    (row,) = found["smf110_2_transaction_manager"]
    assert (row["xmgnum"], row["xmgmxt"], row["subsystem"]) == (1200, 250, "CICSAOR1")
    assert (row["interval_end"], row["utc_offset"]) == (None, None), "nothing tells the difference to UTC"
    found, _ = read(tmp_path / "both.smf", catalogue, rmf, statistics)
    (row,) = found["smf110_2_transaction_manager"]
    assert (row["interval_start"], row["interval_end"], row["utc_offset"]) == (START, END, 3600.0)


def test_record_maps_say_when_their_layouts_hold(catalogue: _core.Catalogue) -> None:
    sections = {
        (one["record"], section["layout"], section["rule"]): section
        for one in catalogue.records()
        for section in one["sections"]
    }
    group = sections["smf73_1", "smf73_1_group2", "array:24:48:1"]
    assert (group["when"], group["table"]) == ("SMF73CMG=2", "smf73_1_group2")
    header = sections["smf73_1", "smf73_1_header", "header"]
    assert (header["when"], header["table"]) == (None, None)
