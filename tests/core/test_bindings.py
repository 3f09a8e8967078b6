"""The extension module: what crosses the boundary, in both directions, and how it fails."""

from __future__ import annotations

import threading
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from plexlens import _core

LAYOUTS = Path(__file__).parents[2] / "layouts"
START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
END = START + timedelta(minutes=15)
LOCAL_END = datetime(2026, 3, 1, 10, 15)
IDENTITY = {
    "system": "SYS1",
    "sysplex": "PLEX1",
    "interval_start": START,
    "interval_end": END,
    "utc_offset": timedelta(hours=1),
}


@pytest.fixture(scope="module")
def catalogue() -> _core.Catalogue:
    return _core.Catalogue([LAYOUTS])


def requests(names: list[str]) -> pa.RecordBatch:
    return pa.record_batch({"r744snam": names, "r744strc": [float(number) for number in range(len(names))]})


def record(catalogue: _core.Catalogue, *names: str, **choices: Any) -> bytes:
    return _core.encode_record(catalogue, "smf74_4", IDENTITY, {"smf74_4_request": requests(list(names))}, **choices)


def write(path: Path, *records: bytes, **choices: Any) -> Path:
    with _core.DumpWriter(path, **choices) as dump:
        dump.dump_header("SYS1", LOCAL_END)
        for one in records:
            dump.write(one)
        dump.dump_trailer("SYS1", LOCAL_END)
        assert dump.records == len(records) + 2
    return path


def read(path: Path, catalogue: _core.Catalogue, **choices: Any) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    reader = _core.SmfReader(path, catalogue, source_id="source", **choices)
    tables: defaultdict[str, list[pa.RecordBatch]] = defaultdict(list)
    records = 0
    for batch in reader:
        records += batch.records
        assert batch.bytes_read <= path.stat().st_size
        for name, rows in batch.tables.items():
            tables[name].append(rows)
    summary = reader.summary()
    assert summary["complete"]
    assert records + summary["duplicates"] == sum(summary["records"].values())
    return {name: pa.Table.from_batches(rows) for name, rows in tables.items()}, summary


def test_what_is_written_is_read(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    path = write(tmp_path / "a.smf", record(catalogue, "ONE", "TWO"), record(catalogue, "THREE"))
    tables, summary = read(path, catalogue)
    rows = tables["smf74_4_request"]
    assert rows.schema == catalogue.schema("smf74_4_request")
    assert rows["r744snam"].to_pylist() == ["ONE", "TWO", "THREE"]
    assert rows["r744strc"].to_pylist() == [0.0, 1.0, 0.0]
    assert rows["record_no"].to_pylist() == [2, 2, 3]
    assert rows["section_no"].to_pylist() == [1, 2, 1]
    assert set(rows["interval_start"].to_pylist()) == {START}
    assert set(rows["interval_end"].to_pylist()) == {END}
    assert set(rows["utc_offset"].to_pylist()) == {3600.0}
    assert set(rows["sysplex"].to_pylist()) == {"PLEX1"}
    assert set(rows["source_id"].to_pylist()) == {"source"}
    inventory = tables["smf_record"]
    assert inventory.schema == catalogue.schema("smf_record")
    assert inventory["record_type"].to_pylist() == [2, 74, 74, 3]
    assert inventory["written_at"].to_pylist() == [LOCAL_END] * 4
    assert inventory["decoded"].to_pylist() == [False, True, True, False]
    assert summary["records"] == {"2": 1, "3": 1, "74.4": 2}
    assert summary["span"] == ["2026-03-01T10:15:00.00", "2026-03-01T10:15:00.00"]
    assert (summary["form"], summary["compression"], summary["damage"]) == ("rdw", "none", [])
    assert _core.scan(path)["records"] == summary["records"]


@pytest.mark.parametrize(
    "choices", [{"form": "bdw"}, {"form": "bdw", "block": 4096}, {"segment": 512}, {"form": "no_descriptors"}]
)
def test_forms(catalogue: _core.Catalogue, tmp_path: Path, choices: dict[str, Any]) -> None:
    path = write(tmp_path / "a.smf", *(record(catalogue, *"ABCDEFGH"[:count]) for count in range(1, 9)), **choices)
    tables, summary = read(path, catalogue)
    assert tables["smf74_4_request"].num_rows == 36
    assert summary["form"] == choices.get("form", "rdw")
    assert summary["damage"] == []


def test_text_is_that_of_the_code_page(catalogue: _core.Catalogue) -> None:
    # Python has its own table of code page 037; both map 256 codes to the first 256 characters.
    characters = bytes(range(256)).decode("cp037").replace("\0", "").replace(" ", "")
    for start in range(0, len(characters), 16):
        name = characters[start : start + 16]
        written = record(catalogue, name, codepage="037")
        assert name.encode("cp037") in written
    assert "[A]".encode("cp037") not in record(catalogue, "[A]", codepage="1047")
    assert b"\xad\xc1\xbd" in record(catalogue, "[A]", codepage="1047")


def test_duplicates_are_asked_for_by_day(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    path = write(tmp_path / "a.smf", *(record(catalogue, name) for name in ("ONE", "TWO", "ONE", "THREE")))
    tables, summary = read(path, catalogue)
    assert tables["smf74_4_request"]["r744snam"].to_pylist() == ["ONE", "TWO", "THREE"]
    assert summary["duplicates"] == 1
    hashes = tables["smf_record"]["hash"].to_pylist()
    days: list[int] = []
    for held in (np.array(hashes[1:3], dtype=np.uint64), pa.array(hashes[1:3], type=pa.uint64())):

        def seen(day: int, held: Any = held) -> Any:
            days.append(day)
            return held

        tables, summary = read(path, catalogue, seen=seen, threads=1)
        assert tables["smf74_4_request"]["r744snam"].to_pylist() == ["THREE"]
        assert summary["duplicates"] == 3
        assert summary["records"]["74.4"] == 4
    assert days == [(LOCAL_END - datetime(1970, 1, 1)).days] * 2
    _, summary = read(path, catalogue, seen=lambda _: tables["smf_record"]["hash"])
    assert summary["duplicates"] == 2


def test_what_seen_raises_comes_back(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    path = write(tmp_path / "a.smf", record(catalogue, "ONE"))

    def seen(_: int) -> Any:
        raise KeyError("no such day")

    with pytest.raises(KeyError, match="no such day"):
        read(path, catalogue, seen=seen)


def test_tables_can_be_chosen(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    path = write(tmp_path / "a.smf", record(catalogue, "ONE"))
    tables, _ = read(path, catalogue, tables=["smf74_4_request"])
    assert list(tables) == ["smf74_4_request"]
    with pytest.raises(_core.SmfError, match="no record map fills such a table"):
        read(path, catalogue, tables=["smf74_4_requests"])


def test_leap_seconds_are_taken_off(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    gie = pa.record_batch({"smf7xgie": pa.array([END])})
    one = _core.encode_record(catalogue, "smf71_1", IDENTITY, {"rmf_product_section": gie}, leap_seconds=True)
    path = write(tmp_path / "a.smf", one)
    plain, _ = read(path, catalogue)
    assert plain["rmf_product_section"]["smf7xgie"].to_pylist() == [END + timedelta(seconds=27)]
    corrected, _ = read(path, catalogue, leap_seconds=True)
    assert corrected["rmf_product_section"]["smf7xgie"].to_pylist() == [END]


def test_a_section_of_an_older_release(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    path = write(tmp_path / "a.smf", record(catalogue, "ONE", lengths={"smf74_4_request": 64}))
    tables, summary = read(path, catalogue)
    rows = tables["smf74_4_request"]
    for field in catalogue.describe("smf74_4_request"):
        inside = field["offset"] + field["length"] <= 64
        assert (rows[field["column"]].null_count == 0) == inside, field["field"]
    note = next(note for note in summary["notes"] if note["section"] == "smf74_4_request")
    assert (note["kind"], note["severity"], note["count"]) == ("section_shorter", "info", 1)


def test_many_records_at_once(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    rows = pa.table(
        {
            "record_no": pa.array([1, 1, 2, 5], type=pa.uint64()),
            "system": ["SYSA", "SYSA", "SYSB", "SYSC"],
            "r744snam": ["ONE", "TWO", "THREE", "FOUR"],
        }
    )
    identity = {key: value for key, value in IDENTITY.items() if key != "system"}
    records = _core.encode_records(catalogue, "smf74_4", {"smf74_4_request": rows}, identity=identity)
    assert len(records) == 3
    assert [len(one) for one in (records[0], records[-1])] == [len(records[0]), len(records[2])]
    with pytest.raises(IndexError):
        records[3]
    with _core.DumpWriter(tmp_path / "a.smf") as dump:
        dump.write_all(records)
    tables, _ = read(tmp_path / "a.smf", catalogue)
    assert tables["smf74_4_request"].select(["record_no", "system", "r744snam"]).to_pydict() == {
        "record_no": [1, 1, 2, 3],
        "system": ["SYSA", "SYSA", "SYSB", "SYSC"],
        "r744snam": ["ONE", "TWO", "THREE", "FOUR"],
    }
    # Tables of a decoded dump can be written again as they are.
    again = _core.encode_records(catalogue, "smf74_4", tables | {})
    assert [again[number] for number in range(3)] == [records[number] for number in range(3)]


def test_long_records_can_be_split(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    names = [f"STRUCTURE{number}" for number in range(300)]
    rows = requests(names).append_column("record_no", pa.array([1] * 300))
    with pytest.raises(_core.SmfError, match="SMF takes 32756"):
        _core.encode_records(catalogue, "smf74_4", {"smf74_4_request": rows}, identity=IDENTITY)
    for oversize, joined in (("spread", 0), ("rmf_parts", 1)):
        records = _core.encode_records(
            catalogue, "smf74_4", {"smf74_4_request": rows}, identity=IDENTITY, oversize=oversize
        )
        assert len(records) > 1
        with _core.DumpWriter(tmp_path / "a.smf") as dump:
            dump.write_all(records)
        tables, summary = read(tmp_path / "a.smf", catalogue)
        assert summary["joined_records"] == joined
        assert tables["smf74_4_request"]["r744snam"].to_pylist() == names


def test_errors_name_the_place(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    with pytest.raises(_core.SmfError) as caught:
        _core.SmfReader(tmp_path / "none.smf", catalogue, source_id="s")
    assert (caught.value.reason, caught.value.file) == ("unreadable", str(tmp_path / "none.smf"))
    text = tmp_path / "notes.txt"
    text.write_text("these are notes, and no dump at all\n" * 100)
    with pytest.raises(ValueError, match="no SMF dump") as foreign:
        _core.scan(text)
    assert foreign.value.reason == "text"
    (tmp_path / "bad.csv").write_text((LAYOUTS / "smf_rdw.csv").read_text().replace(",u16,", ",u17,"))
    with pytest.raises(_core.SmfError, match="unknown format `u17`") as layout:
        _core.Catalogue([tmp_path])
    assert (layout.value.reason, layout.value.line, layout.value.field) == ("layout", 2, "RDWLEN")
    with pytest.raises(_core.SmfError, match="no such section layout"):
        catalogue.schema("smf74_4_nothing")
    with pytest.raises(_core.SmfError) as encode:
        record(catalogue, "A" * 17)
    assert (encode.value.reason, encode.value.file, encode.value.field) == ("encode", "smf74_4_request", "r744snam")
    assert encode.value.remedy == "the field takes 16"
    with pytest.raises(_core.SmfError, match="unknown code page"):
        record(catalogue, "A", codepage="500")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"interval_start": datetime(2026, 3, 1)}, "give a datetime with a time zone"),
        ({"written_at": END}, "give a local datetime without one"),
        ({"written_at": "2026-03-01"}, "give a datetime.datetime"),
        ({"sysname": "SYS1"}, "use system, ssid, subtype"),
        ({"system": "SYSTEM"}, "at most four characters"),
        ({"interval_end": START + timedelta(hours=2)}, "5999.999 seconds"),
    ],
)
def test_identities_that_cannot_be(catalogue: _core.Catalogue, changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(_core.SmfError, match=expected):
        _core.encode_record(catalogue, "smf74_4", IDENTITY | changes, {})


def test_a_closed_dump_takes_nothing(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    dump = _core.DumpWriter(tmp_path / "a.smf")
    dump.close()
    dump.close()
    with pytest.raises(_core.SmfError, match="it is closed"):
        dump.write(record(catalogue, "ONE"))


def test_other_threads_run_while_a_dump_is_read(catalogue: _core.Catalogue, tmp_path: Path) -> None:
    path = write(tmp_path / "a.smf", *(record(catalogue, f"N{number}") for number in range(2000)))
    reader = _core.SmfReader(
        path, catalogue, source_id="s", batch_bytes=1 << 16, seen=lambda _: pa.array([], pa.uint64())
    )
    summaries: list[dict[str, Any]] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            summaries.append(reader.summary())

    watcher = threading.Thread(target=watch)
    watcher.start()
    rows = sum(batch.tables["smf_record"].num_rows for batch in reader)
    done.set()
    watcher.join(timeout=30)
    assert not watcher.is_alive()
    assert rows == 2002
    assert summaries


def test_descriptions_agree_with_schemas(catalogue: _core.Catalogue) -> None:
    for table in catalogue.tables():
        schema = catalogue.schema(table)
        described = {field["column"]: field for field in catalogue.describe(table)}
        own = schema.names if table == "smf_record" else schema.names[9:]
        assert list(described) == own
        for name in own:
            assert schema.field(name).metadata[b"unit"].decode() == described[name]["unit"]
    maps = {one["record"]: one for one in catalogue.records()}
    assert maps["smf74_4"]["identity"] == "rmf"
    assert maps["smf74_4"]["subtype"] == 4
    assert {"layout": "smf74_4_request", "triplet": "SMF744SO", "rule": "entries"}.items() <= next(
        section for section in maps["smf74_4"]["sections"] if section["layout"] == "smf74_4_request"
    ).items()
    assert set(catalogue.tables()) - {"smf_record"} <= set(catalogue.sections())
