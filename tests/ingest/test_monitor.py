"""Monitor records of z/VM decoded: files written by hand, against a slow decoder that knows the layout files alone."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import struct
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from plexlens import _core
from plexlens.ingest.monitor import MonitorReading
from plexlens.ingest.monitor_map import MonitorMap
from tests.cli.command import run
from tests.ingest.test_monwrite import MINUTE, NEW_YEAR, control_record, frames

LAYOUTS = Path(__file__).parents[2] / "layouts"
BUNDLED = sorted(path.stem for path in LAYOUTS.glob("vm_*.csv"))
#: Bytes of the longest record that the tests make.
LONGEST = 400


def monitor(domain: int, number: int, length: int, clock: int = NEW_YEAR, **places: bytes) -> bytes:
    """A record with bytes at places: ``b24=...`` puts them at offset 24."""
    data = bytearray(struct.pack(">HHBBHQ4x", length, 0, domain, 0, number, clock).ljust(length, b"\0"))
    for place, content in places.items():
        at = int(place[1:])
        data[at : at + len(content)] = content
    return bytes(data)


def u32(number: int) -> bytes:
    return number.to_bytes(4, "big")


def clock(seconds: float, start: int = 0) -> bytes:
    """A CPU timer: units of 1/4096 microsecond from a start value."""
    return (start + round(seconds * 1_000_000) * 4096).to_bytes(8, "big")


def monwrite(path: Path, *records: bytes) -> Path:
    """A file of one element, a frame per record."""
    data = frames(*records)
    path.write_bytes(control_record((0xE2, 0x10000, 0x10000 + len(data) - 1)) + data)
    return path


def layout(name: str) -> list[dict[str, str]]:
    with (LAYOUTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def slowly(field: dict[str, str], data: bytes) -> Any:
    """A field's value, from its row in the layout file."""
    at, size = int(field["offset"]), int(field["length"])
    if at + size > len(data):
        return None
    part = data[at : at + size]
    number = int.from_bytes(part, "big")
    match field["format"]:
        case "u8" | "u16" | "u32":
            assert field["unit"] in ("", "B", "s", "ms", "pages")
            return number / 1000 if field["unit"] == "ms" else number
        case "cpu_stck":
            return number / 4096 / 1e6
        case "ebcdic":
            return part.decode("cp037").rstrip(" \0")
        case "stck":
            # Microseconds since 1900, 25,567 days before 1970.
            return (number >> 12) - 25_567 * 86_400_000_000 if number else None
    raise AssertionError(field["format"])


@pytest.mark.parametrize("name", BUNDLED)
def test_fields_are_those_of_a_slow_decoder(name: str) -> None:
    draw = random.Random(name)
    fields = layout(name)
    records = []
    for _ in range(60):
        record = bytearray(draw.randbytes(draw.randint(20, LONGEST)))
        for field in fields:
            if field["format"] == "ebcdic":
                at, size = int(field["offset"]), int(field["length"])
                record[at : at + size] = "".join(draw.choices("AZ09", k=size)).encode("cp037")[: len(record) - at]
            if field["format"] == "stck":
                at = int(field["offset"])
                record[at : at + 8] = (NEW_YEAR + draw.randrange(1 << 50)).to_bytes(8, "big")[: len(record) - at]
        records.append(bytes(record))
    catalogue = _core.Catalogue([LAYOUTS])
    rows, _ = catalogue.decode_records(name, b"".join(records), [len(record) for record in records])
    for field in fields:
        column = rows.column(field["field"].lower())
        if field["format"] == "stck":
            column = column.cast("int64")
        expected = [slowly(field, record) for record in records]
        for found, wanted in zip(column.to_pylist(), expected, strict=True):
            if isinstance(wanted, float):
                assert math.isclose(found, wanted, rel_tol=1e-14), field["field"]
            else:
                assert found == wanted, field["field"]


def test_the_lists_name_what_the_layouts_have() -> None:
    """A counter or key that no layout has would be no counter and no key, without a word."""
    monitor_map = MonitorMap()
    columns = {field["field"].lower() for name in BUNDLED for field in layout(name)}
    assert set(monitor_map.counters) <= columns
    of_kinds = {kind.table: kind for kind in monitor_map.kinds.values()}
    assert len(of_kinds) == len(monitor_map.kinds)
    for name in BUNDLED:
        # Accounting records are no monitor records.
        if name not in ("vm_mrhdr", "vm_account"):
            assert set(of_kinds[name].key) <= {field["field"].lower() for field in layout(name)}, name
    assert all(row["confidence"] != "high" for name in BUNDLED for row in layout(name))


def test_the_fields_of_a_kind_by_hand(tmp_path: Path) -> None:
    """D0R1: processor at 20, DIAGNOSEs at 28, start subchannels at 48; D1R4 names the system at 88."""
    monwrite(
        tmp_path / "day",
        monitor(0, 1, 116, b20=b"\0\3", b28=u32(500), b48=u32(70_000)),
        monitor(1, 4, 184, b88="VMPROD1".encode("cp037")),
        monitor(4, 3, 100),
        monitor(0, 1, 52, NEW_YEAR + MINUTE, b20=b"\0\4", b28=u32(501), b48=u32(70_009)),
    )
    done = run("monwrite", "day", "--record", "d0r1", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = csv.DictReader(io.StringIO(done.stdout))
    assert [first[name] for name in ("file", "system", "record_no", "sytsyp_pfxcpuad")] == ["day", "VMPROD1", "1", "3"]
    assert first["interval_end"].startswith("2024-01-01")
    assert "00:01:00" in second["interval_end"]
    assert (first["sytsyp_plsdiagt"], first["sytsyp_plsctss"]) == ("500", "70000")
    # The second record ends at 52, before the resume subchannels.
    assert (second["sytsyp_plsctss"], second["sytsyp_plsctrs"], second["record_no"]) == ("70009", "", "4")
    assert run("monwrite", "day", "--record", "D0R1", "-o", "day.parquet", cwd=tmp_path).returncode == 0
    assert pq.read_table(tmp_path / "day.parquet").column("sytsyp_plsdiagt").to_pylist() == [500, 501]
    counts = json.loads(run("monwrite", "day", "--json", cwd=tmp_path).stdout)["files"][0]
    assert counts["records_without_layout"] == 1
    fields = {(row["domain"], row["record"]): row["fields"] for row in counts["by_record"]}
    assert fields == {(0, 1): "vm_sytsyp", (1, 4): "vm_mtrsys", (4, 3): "no layout"}


DOWN = 0x7FFFFFFF_00000000


def processor(sample: int, address: int, *times: float) -> bytes:
    """D0R2 of a sample: emulation runs down from its start value, charged to users and wait up, system down."""
    emulation, user, system, wait = times
    return monitor(
        *(0, 2, 108, NEW_YEAR + sample * MINUTE),
        b20=address.to_bytes(2, "big"),
        b24=clock(-emulation, DOWN),
        b32=clock(user),
        b40=clock(-system, DOWN),
        b68=clock(wait),
    )


SAMPLES = (
    monitor(1, 4, 184, b88="VM1".encode("cp037")),
    processor(0, 0, 100.0, 150.0, 10.0, 500.0),
    processor(0, 1, 200.0, 240.0, 20.0, 900.0),
    # Of 60 s: 24 s in emulation, 36 s charged to users, 6 s of the system, 18 s of wait.
    processor(1, 0, 124.0, 186.0, 16.0, 518.0),
    # 12, 15, 0 and 45 s.
    processor(1, 1, 212.0, 255.0, 20.0, 945.0),
    # The system was loaded anew: every time begins again.
    processor(3, 0, 5.0, 6.0, 1.0, 20.0),
    processor(4, 0, 35.0, 46.0, 5.0, 36.0),
)


def test_counters_between_two_records(tmp_path: Path) -> None:
    monwrite(tmp_path / "day", *SAMPLES)
    done = run("monwrite", "day", "--record", "D0R2", "--intervals", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    names = ("prbtm", "utime", "tmsys", "totwt")
    found = [
        (
            row["sytprp_pfxcpuad"],
            row["unused_because"],
            *(round(float(row[f"sytprp_pfx{name}"]), 5) if row[f"sytprp_pfx{name}"] else None for name in names),
        )
        for row in rows
    ]
    none = (None, None, None, None)
    assert found == [
        ("0", "no earlier record", *none),
        ("1", "no earlier record", *none),
        ("0", "", 24.0, 36.0, 6.0, 18.0),
        ("1", "", 12.0, 15.0, 0.0, 45.0),
        ("0", "restart", *none),
        ("0", "", 30.0, 40.0, 4.0, 16.0),
    ]
    assert [row["interval_seconds"] for row in rows if not row["unused_because"]] == ["60.0"] * 3


def test_metrics_of_a_database_by_hand(tmp_path: Path) -> None:
    """The first minute: busy 42 and 15 s, so 95 % of two processors; TVR 57 / 36."""
    activity = [
        monitor(0, 1, 116, NEW_YEAR + at * MINUTE, b28=u32(diagnoses), b48=u32(starts), b52=u32(at), b72=u32(reads))
        for at, diagnoses, starts, reads in ((0, 100, 2**32 - 600, 50), (1, 700, 600, 350))
    ]
    states = [
        monitor(0, 3, 112, NEW_YEAR + at * MINUTE, b48=u32(100_000), b52=u32(available))
        for at, available in ((0, 1), (1, 2500))
    ]
    states += [monitor(0, 7, 68, NEW_YEAR + at * MINUTE, b28=u32(1186)) for at in (0, 1)]
    states += [monitor(0, 8, 100, NEW_YEAR + at * MINUTE, b20=u32(5860)) for at in (0, 1)]
    expanded = [
        monitor(0, 5, 56, NEW_YEAR + at * MINUTE, b24=u32(fast), b28=u32(slow), b32=u32(out))
        for at, fast, slow, out in ((0, 0, 0, 0), (1, 50_000, 13_180, 77_880))
    ]
    monwrite(tmp_path / "day", *SAMPLES, *activity, *states, *expanded, monitor(4, 3, 500))
    done = run("ingest", "day", "--pdb", "vm.pdb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    def asked(statement: str) -> list[dict[str, Any]]:
        answer = run("sql", "vm.pdb", statement, "--json", cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)

    minute = "where interval_end = timestamptz '2024-01-01 00:01:00+00'"
    rows = asked(f"select * from vm_processor {minute} order by processor")
    assert [(row["system"], row["processor"]) for row in rows] == [("VM1", "0"), ("VM1", "1")]
    assert [row["total"] for row in rows] == pytest.approx([42 / 60, 15 / 60], abs=1e-6)
    assert [row["tvr"] for row in rows] == pytest.approx([42 / 24, 15 / 12], abs=1e-6)
    assert [row["cp"] for row in rows] == pytest.approx([18 / 60, 3 / 60], abs=1e-6)
    # Start subchannels wrapped: 1,200 of them, and one resume subchannel.
    (row,) = asked("select * from vm_activity")
    assert (row["real_ios_per_second"], row["diagnoses_per_second"]) == (1201 / 60, 10.0)
    assert row["page_reads_per_second"] == 5.0
    (row,) = asked("select * from vm_storage")
    assert (row["pageable_pages"], row["available_fraction"]) == (100_000, 0.025)
    assert row["pageable_pages_per_user"] == pytest.approx(100_000 / 5860)
    assert asked("select shared_pages from vm_shared_storage") == [{"shared_pages": 1186}]
    assert asked("select logged_on from vm_users") == [{"logged_on": 5860}]
    (row,) = asked("select * from vm_expanded_storage")
    assert (row["page_ins_per_second"], row["page_outs_per_second"]) == (1053.0, 1298.0)
    notes = asked("select note, section, count from note where note = 'record_without_layout'")
    assert notes == [{"note": "record_without_layout", "section": "D4R3", "count": 1}]


def test_frames_per_user_need_the_users_of_the_same_sample(tmp_path: Path) -> None:
    """Users two minutes after the frames, or not at all, are those of another sample; half a second after, of this."""
    late = NEW_YEAR + 2 * MINUTE + MINUTE // 120
    records = [monitor(0, 3, 112, NEW_YEAR + at * MINUTE, b48=u32(1000)) for at in (0, 1, 2, 5)]
    records += [monitor(0, 8, 100, moment, b20=u32(50)) for moment in (late, NEW_YEAR + 7 * MINUTE)]
    monwrite(tmp_path / "day", monitor(1, 4, 184, b88="VM1".encode("cp037")), *records)
    assert run("ingest", "day", "--pdb", "vm.pdb", cwd=tmp_path).returncode == 0
    statement = "select pageable_pages, pageable_pages_per_user from vm_storage order by interval_end"
    answer = run("sql", "vm.pdb", statement, "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert [tuple(row.values()) for row in json.loads(answer.stdout)] == [(1000, None), (1000, 20), (1000, None)]


def test_a_record_in_two_files_counts_once(tmp_path: Path) -> None:
    monwrite(tmp_path / "first", *SAMPLES[:4])
    monwrite(tmp_path / "second", SAMPLES[0], *SAMPLES[2:5])
    assert run("ingest", "first", "second", "--pdb", "vm.pdb", cwd=tmp_path).returncode == 0
    counted = run("sql", "vm.pdb", "select count(*) as n from vm_sytprp", "--json", cwd=tmp_path)
    # Records 0 to 3 of the samples, and of the second file only the last of D0R2.
    assert json.loads(counted.stdout) == [{"n": 4}]


def test_a_file_without_configuration_names_no_system(tmp_path: Path) -> None:
    path = monwrite(tmp_path / "day", *SAMPLES[1:])
    reading = MonitorReading(path, "s", MonitorMap())
    tables = dict(iter(reading))
    assert set(tables["vm_sytprp"].column("system").to_pylist()) == {None}
    assert [note["note"] for note in reading.summary["notes"] if note["note"] == "system_not_named"]
    (damage,) = reading.damage
    assert (damage.reason, damage.severity) == ("system not named", "info")
    assert "no record D1R4 names the system" in run("monwrite", "day", cwd=tmp_path).stdout
    monwrite(tmp_path / "named", *SAMPLES)
    assert "D1R4 names" not in run("monwrite", "named", cwd=tmp_path).stdout


def test_files_appended_to_one_with_a_name_have_it(tmp_path: Path) -> None:
    """What the message of a file without a name asks for: the interval between the files counts too."""
    first, second = monwrite(tmp_path / "first", *SAMPLES[:3]), monwrite(tmp_path / "second", *SAMPLES[3:5])
    (tmp_path / "both").write_bytes(first.read_bytes() + second.read_bytes())
    assert run("ingest", "both", "--pdb", "vm.pdb", cwd=tmp_path).returncode == 0
    answer = run("sql", "vm.pdb", "select system, total from vm_processor order by processor", "--json", cwd=tmp_path)
    rows = json.loads(answer.stdout)
    assert [row["system"] for row in rows] == ["VM1", "VM1"]
    assert [row["total"] for row in rows] == pytest.approx([42 / 60, 15 / 60], abs=1e-6)


def test_counters_of_files_without_a_name_are_not_compared(tmp_path: Path) -> None:
    """Two systems sampled in turn: each file has an interval of its own of 24 and of 6 s in emulation."""
    monwrite(tmp_path / "one", processor(0, 0, 100.0, 150.0, 10.0, 500.0), processor(2, 0, 124.0, 186.0, 16.0, 518.0))
    monwrite(tmp_path / "two", processor(1, 0, 9e4, 9e4, 9e4, 9e4), processor(3, 0, 90_006.0, 9e4 + 7, 9e4, 9e4 + 50))
    done = run("monwrite", "one", "two", "--record", "D0R2", "--intervals", "--format", "csv", cwd=tmp_path)
    found = [
        (row["file"], row["unused_because"], row["sytprp_pfxprbtm"] and round(float(row["sytprp_pfxprbtm"]), 5))
        for row in csv.DictReader(io.StringIO(done.stdout))
    ]
    assert found == [
        ("one", "no earlier record", ""),
        ("two", "no earlier record", ""),
        ("one", "", 24.0),
        ("two", "", 6.0),
    ]


def test_bytes_that_are_no_record_are_damage(tmp_path: Path) -> None:
    path = monwrite(tmp_path / "day", SAMPLES[0], SAMPLES[1] + b"\xff" * 100, SAMPLES[2])
    reading = MonitorReading(path, "s", MonitorMap())
    assert sum(batch.num_rows for table, batch in reading if table == "vm_record") == 3
    (damage,) = reading.damage
    # A control record, a frame, and 108 bytes of the record before.
    assert (damage.reason, damage.offset) == ("no record header, to the end of the frame", 4096 + 4096 + 108)


def test_what_cannot_be_shown_says_what_to_do(tmp_path: Path) -> None:
    monwrite(tmp_path / "day", *SAMPLES)
    refused = {
        (
            "D4R3",
        ): "D4R3 (User Activity Data) has no layout; save IBM's page MRUSEACT, convert it by plexlens layouts import",
        ("processor",): "'processor' is not a kind of record; name one with a layout: D0R1, D0R2",
        ("D9R99",): "D9R99 is not in the list of records",
        ("D0R3", "--intervals"): "no record D0R3",
    }
    for words, text in refused.items():
        done = run("monwrite", "day", "--record", *words, cwd=tmp_path)
        assert done.returncode in (2, 4)
        assert text in done.stderr, words
    monwrite(tmp_path / "storage", monitor(0, 3, 112))
    done = run("monwrite", "storage", "--record", "D0R3", "--intervals", cwd=tmp_path)
    assert (done.returncode, "no field of D0R3 is known to count on" in done.stderr) == (2, True)
    assert "--intervals needs a kind of record" in run("monwrite", "day", "--intervals", cwd=tmp_path).stderr


PAGE = """Dec  Hex  Type        Len  Name (Dim)             Description

   0   0  Structure    44  USEACT                 Start
   0   0  Character    20  MRHDR
   0   0  Unsigned      2  MRHDRLEN
   8   8  Character     8  MRHDRTOD
  20  14  Character     8  USEACT_VMDUSER         User
  28  1C  Unsigned      2  USEACT_VMDCPUAD        Processor
  30  1E  Unsigned      2  *
  32  20  Unsigned      4  USEACT_MADE_UP         A counter of this test
"""


def test_an_imported_page_decodes_and_counts_on(tmp_path: Path) -> None:
    (tmp_path / "MRUSEACT.HTML").write_text(PAGE)
    assert run("layouts", "import", "MRUSEACT.HTML", "-o", "site", cwd=tmp_path).returncode == 0
    (tmp_path / "site" / "vm").mkdir()
    (tmp_path / "site" / "vm" / "counters.csv").write_text("field,width,runs,source\nUSEACT_MADE_UP,32,up,ours\n")
    user = "LINUX01 ".encode("cp037")
    monwrite(
        tmp_path / "day", *(monitor(4, 3, 44, NEW_YEAR + at * MINUTE, b20=user, b32=u32(40 + 9 * at)) for at in (0, 1))
    )
    words = ("monwrite", "day", "--record", "D4R3", "--layouts", "site", "--intervals", "--format", "csv")
    first, second = csv.DictReader(io.StringIO(run(*words, cwd=tmp_path).stdout))
    assert (first["unused_because"], second["useact_vmduser"], second["useact_made_up"]) == (
        "no earlier record",
        "LINUX01",
        "9.0",
    )
    (tmp_path / "site" / "vm" / "counters.csv").write_text("field,width,runs,source\nUSEACT_MADE_UP,16,up,ours\n")
    refused = run(*words, cwd=tmp_path)
    assert refused.returncode != 0
    assert "counters.csv" in refused.stderr
    assert "width (32 or 64)" in refused.stderr


def test_a_database_of_monitor_data_is_anonymised(tmp_path: Path) -> None:
    seek = monitor(7, 1, 64, b32="MAINT   ".encode("cp037"))
    monwrite(tmp_path / "day", *SAMPLES, seek)
    assert run("ingest", "day", "--pdb", "vm.pdb", cwd=tmp_path).returncode == 0
    done = run("anonymise", "vm.pdb", "-o", "copy.pdb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    statement = "select system, seksek_vmduser from vm_seksek"
    (row,) = json.loads(run("sql", "copy.pdb", statement, "--json", cwd=tmp_path).stdout)
    assert row["system"] not in ("VM1", None)
    assert row["seksek_vmduser"] not in ("MAINT", None)


def test_a_report_shows_the_processors(tmp_path: Path) -> None:
    """Two processors in minute 1 and processor 0 in minute 4: TVR is (57 + 44) / (36 + 30)."""
    monwrite(tmp_path / "day", *SAMPLES)
    assert run("ingest", "day", "--pdb", "vm.pdb", cwd=tmp_path).returncode == 0
    done = run("report", "vm.pdb", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tables = {
        table["title"]: table for section in json.loads(done.stdout)["sections"] for table in section.get("tables", ())
    }
    assert "VM1" in json.dumps(tables["z/VM processors"])
    assert "1.53" in json.dumps(tables["z/VM processors"])
