"""CICS statistics (SMF 110-2) through the decoder, every value against the slow decode of tests/oracle."""

from __future__ import annotations

import datetime
import math
import random
import struct
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core
from tests.oracle import slow_cics_statistics as slow

LAYOUTS = Path(__file__).parents[2] / "layouts"
END = datetime.datetime(2026, 3, 1, 9, 15, tzinfo=UTC)


def entry(identifier: int, length: int, dice: random.Random) -> bytearray:
    """An entry of arbitrary bytes behind its length, identifier and version."""
    data = bytearray(dice.randbytes(length))
    data[0:5] = struct.pack(">HHB", length, identifier, 1)
    return data


def statistics(*entries: bytes, product: dict[int, bytes] | None = None) -> bytes:
    """A record of 10:15 local time on day 60 of 2026, with 90 bytes of product section at 44 and the entries behind."""
    section = bytearray(b"\x40" * 90)
    texts = {2: "CICSPLEX", 10: "CICSA", 28: "ST", 30: "INT", 33: "NO", 36: "03012026", 44: "101500", 50: "001500",
             68: "100000", 82: "CICSAJOB"}  # fmt: skip
    section[0:2] = section[18:20] = b"\x00\x70"
    section[24:28] = section[56:60] = b"\x00\x00\x00\x07"
    for at, text in texts.items():
        section[at : at + len(text)] = text.encode("cp037")
    for at, raw in (product or {}).items():
        section[at : at + len(raw)] = raw
    data = b"".join(entries)
    header = bytes([0x5E, 110]) + (3_690_000).to_bytes(4, "big") + bytes([0x01, 0x26, 0x06, 0x0F])
    header += "SYS1CICS".encode("cp037") + struct.pack(">HHH", 2, 2, 0)
    header += struct.pack(">IHH", 44, 90, 1) + struct.pack(">IHH", 134, len(data), 1 if data else 0)
    body = header + bytes(section) + data
    return struct.pack(">HH", len(body) + 4, 0) + body


def rmf(catalogue: _core.Catalogue) -> bytes:
    """A record of the same system that tells how far its clock is from UTC."""
    identity = {
        "system": "SYS1",
        "interval_start": END - timedelta(minutes=15),
        "interval_end": END,
        "utc_offset": timedelta(hours=1),
    }
    return _core.encode_record(
        catalogue, "smf74_4", identity, {"smf74_4_request": pa.record_batch({"r744snam": ["LOCK1"]})}
    )


@pytest.fixture(scope="module")
def catalogue() -> _core.Catalogue:
    return _core.Catalogue([LAYOUTS])


def read(path: Path, catalogue: _core.Catalogue) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    reader = _core.SmfReader(path, catalogue, source_id="s", codepage="037")
    batches: dict[str, list[pa.RecordBatch]] = {}
    for batch in reader:
        for table, rows in batch.tables.items():
            batches.setdefault(table, []).append(rows)
    return {table: pa.Table.from_batches(rows) for table, rows in batches.items()}, reader.summary()


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, datetime.datetime) and ours.tzinfo is not None:
        ours = ours.astimezone(UTC)
    if isinstance(theirs, float) and isinstance(ours, float):
        return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=0.0)
    return type(ours) is type(theirs) and bool(ours == theirs)


def differences(path: Path, catalogue: _core.Catalogue) -> list[str]:
    tables, _ = read(path, catalogue)
    expected = slow.tables(path)
    found = {name: t.num_rows for name, t in tables.items() if name.startswith("smf110_2") and t.num_rows}
    assert found == {name: len(rows) for name, rows in expected.items()}
    wrong = []
    for name, rows in expected.items():
        ours = tables[name].sort_by([("record_no", "ascending"), ("section_no", "ascending")]).to_pylist()
        theirs = sorted(rows, key=lambda row: (row["record_no"], row["section_no"]))
        for mine, other in zip(ours, theirs, strict=True):
            wrong += [
                f"{name} {other['record_no']}/{other['section_no']} {field}: {mine[field]!r}, slow {value!r}"
                for field, value in other.items()
                if not same(mine[field], value)
            ]
    return wrong


@pytest.mark.parametrize("modes", [12, 18, 24])
@pytest.mark.parametrize("seed", range(3))
def test_every_value_equals_the_slow_decode(tmp_path: Path, catalogue: _core.Catalogue, seed: int, modes: int) -> None:
    dice = random.Random(seed)
    dispatcher = entry(62, 160 + 160 * (modes + 4), dice)
    dispatcher[8:14] = struct.pack(">HHH", 152, modes, 4)
    # A mode that the region has not: its element is unused.
    dispatcher[160 + 160 * 3 : 160 + 160 * 4] = bytes(160)
    storage = entry(29, 360 + 128 * 12, dice)
    storage[8:12] = struct.pack(">HH", 352, 12)
    # Sizes in MiB that 64 bits can tell in bytes.
    for at in range(88, 152, 8):
        storage[at : at + 8] = dice.randrange(2**40).to_bytes(8, "big")
    first = statistics(
        bytes(dispatcher),
        bytes(entry(10, 60, dice)),
        bytes(storage),
        bytes(entry(66, 40, dice)),
    )
    second = statistics(
        bytes(entry(102, 244, dice)),
        bytes(entry(103, 132, dice)),
        bytes(entry(103, 132, dice)),
        bytes(entry(107, 200, dice)),
        bytes(entry(107, 92, dice)),
        bytes(entry(108, 300, dice)),
        product={30: "EOD".encode("cp037")},
    )
    path = tmp_path / "a.smf"
    path.write_bytes(rmf(catalogue) + first + second)
    assert differences(path, catalogue) == []


def test_fields_stand_where_the_documents_say(tmp_path: Path, catalogue: _core.Catalogue) -> None:
    """A few values at offsets written out here, so that neither table of offsets has to be believed."""
    dispatcher = bytearray(160 + 22 * 160)
    dispatcher[0:5] = struct.pack(">HHB", len(dispatcher), 62, 1)
    dispatcher[8:14] = struct.pack(">HHH", 152, 18, 4)
    # CPU time of all TCBs: 34.217026 s; the QR TCB: not waiting, dispatched for 60.982635 s.
    dispatcher[72:80] = (34_217_026 << 12).to_bytes(8, "big")
    dispatcher[160:162] = "QR".encode("cp037")
    dispatcher[160 + 120 : 160 + 128] = (60_982_635 << 12).to_bytes(8, "big")
    dispatcher[160 + 136 : 160 + 144] = (34_217_026 << 12).to_bytes(8, "big")
    # The open pool follows the eighteen modes: limit of 432 TCBs.
    dispatcher[3040:3042], dispatcher[3044:3048] = b"\x00\x01", (432).to_bytes(4, "big")
    entries = bytearray(0x58)
    entries[0:5] = struct.pack(">HHB", len(entries), 102, 1)
    entries[0x10:0x14] = "DB2A".encode("cp037")
    entries[0x40:0x44] = (17).to_bytes(4, "big")
    path = tmp_path / "a.smf"
    path.write_bytes(rmf(catalogue) + statistics(bytes(dispatcher), bytes(entries)))
    tables, summary = read(path, catalogue)
    (region,) = tables["smf110_2_dispatcher"].to_pylist()
    assert region["dsgejst"] == pytest.approx(34.217026)
    assert region["subsystem"] == "CICSA"
    assert region["interval_start"] == END - timedelta(minutes=15)
    assert region["interval_end"] == END
    (qr,) = tables["smf110_2_dispatcher_tcb_mode"].to_pylist()
    assert (qr["dsgtcbnm"], qr["dsgtwt"]) == ("QR", 0.0)
    assert (qr["dsgtdt"], qr["dsgact"]) == (pytest.approx(60.982635), pytest.approx(34.217026))
    (pool,) = tables["smf110_2_dispatcher_tcb_pool"].to_pylist()
    assert (pool["dsgtcbpn"], pool["dsgmxtcb"]) == (1, 432)
    # An older release, whose entry ends before the pool: what it lacks is null.
    (db2,) = tables["smf110_2_db2_connection"].to_pylist()
    assert (db2["d2g_db2_id"], db2["d2g_tcb_hwm"]) == ("DB2A", 17)
    assert db2["d2g_pool_calls"] is None
    assert not summary["damage"]


def test_an_incomplete_collection_has_no_data(tmp_path: Path, catalogue: _core.Catalogue) -> None:
    path = tmp_path / "a.smf"
    path.write_bytes(statistics(product={33: "YES".encode("cp037")}))
    tables, summary = read(path, catalogue)
    assert tables["smf110_2_product"]["smfsticd"].to_pylist() == ["YES"]
    assert not summary["damage"]


def test_an_entry_that_leads_outside_is_damage(tmp_path: Path, catalogue: _core.Catalogue) -> None:
    broken = bytearray(60)
    broken[0:5] = struct.pack(">HHB", 61, 10, 1)
    path = tmp_path / "a.smf"
    path.write_bytes(statistics(bytes(broken)))
    tables, summary = read(path, catalogue)
    assert "smf110_2_transaction_manager" not in tables or not tables["smf110_2_transaction_manager"].num_rows
    assert summary["damage"]


def test_what_is_written_is_read(tmp_path: Path, catalogue: _core.Catalogue) -> None:
    identity = {
        "system": "SYS1",
        "subsystem": "CICSA",
        "interval_start": END - timedelta(minutes=15),
        "interval_end": END,
        "utc_offset": timedelta(hours=1),
    }
    sections = {
        "smf110_2_dispatcher": pa.record_batch({"dsgejst": [12.5], "dsgasize": [18], "dsgpsize": [4]}),
        "smf110_2_dispatcher_tcb_mode": pa.record_batch({"dsgtcbnm": ["QR", "L8"], "dsgact": [1.5, 2.5]}),
        "smf110_2_dispatcher_tcb_pool": pa.record_batch({"dsgtcbpn": [1], "dsgmxtcb": [432]}),
        "smf110_2_transaction_manager": pa.record_batch({"xmgnum": [1000]}),
        "smf110_2_db2_entry": pa.record_batch({"d2r_db2entry_name": ["ONE", "TWO"]}),
    }
    record = _core.encode_record(catalogue, "smf110_2", identity, sections)
    path = tmp_path / "a.smf"
    path.write_bytes(rmf(catalogue) + record)
    assert differences(path, catalogue) == []
    tables, _ = read(path, catalogue)
    assert tables["smf110_2_dispatcher"]["dsgejst"].to_pylist() == [12.5]
    assert tables["smf110_2_dispatcher_tcb_mode"]["dsgtcbnm"].to_pylist() == ["QR", "L8"]
    assert tables["smf110_2_dispatcher_tcb_pool"]["dsgmxtcb"].to_pylist() == [432]
    assert tables["smf110_2_transaction_manager"]["xmgnum"].to_pylist() == [1000]
    assert tables["smf110_2_db2_entry"]["d2r_db2entry_name"].to_pylist() == ["ONE", "TWO"]
    assert tables["smf110_2_product"]["smfstrqt"].to_pylist() == ["INT"]
    assert tables["smf110_2_db2_entry"]["interval_end"].to_pylist() == [END, END]
