"""TCP connections (SMF 119) and products (SMF 89): records by hand from published maps, values by hand."""

from __future__ import annotations

import datetime
import struct
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import f8, lines, record, section, tables, text, tod, u8, u16, u32

CONNECTION = GRAINS["tcp_connection"]
PRODUCT = GRAINS["product_usage"]

#: Records are written by a clock two hours ahead of UTC.
LOCAL = timedelta(hours=2)

SERVER, PEER = bytes.fromhex("00000000000000000000FFFF0A010203"), bytes.fromhex("00000000000000000000FFFFA159AB0A")


def day(moment: datetime.datetime) -> bytes:
    return bytes.fromhex(f"01{moment:%y%j}F")


def hundredths(moment: datetime.datetime) -> bytes:
    return u32(int((moment - moment.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds() * 100))


def plain(kind: int, subtype: int, written: datetime.datetime, behind: bytes) -> bytes:
    """A record with the standard header of 24 bytes, and what follows it."""
    local = written + LOCAL
    header = bytes([0x5E, kind]) + hundredths(local) + day(local) + text("SYS1", 4) + text("STC", 4) + u16(subtype)
    body = header + behind
    return struct.pack(">HH", len(body) + 4, 0) + body


def tcp_record(subtype: int, written: datetime.datetime, *sections: bytes) -> bytes:
    """The identification section and the data sections; triplets of all from 28 on."""
    names = {0: text("SYS1", 8), 8: text("PLEX", 8), 16: text("TCPIP", 8), 32: text("TCP", 8)}
    every = [section(64, names), *sections]
    at = 28 + 8 * len(every)
    triplets, data = b"", b""
    for one in every:
        triplets += struct.pack(">IHH", at + len(data) if one else 0, len(one), 1 if one else 0)
        data += one
    return plain(119, subtype, written, u16(len(every)) + u16(0) + triplets + data)


def ended(opened: datetime.datetime, seconds: float, *, client: bool = False, secure: int = 1, **more: Any) -> bytes:
    """A connection of a server on port 3000 with 1,000 bytes in and 9,000 out, as a record."""
    ends = opened + timedelta(seconds=seconds)
    fields = {
        0: text("CICSWEB", 8), 8: u32(4711), 12: u8(secure), 14: u8(0x52), 20: hundredths(opened + LOCAL),
        24: day(opened + LOCAL), 28: hundredths(ends + LOCAL), 32: day(ends + LOCAL), 36: PEER, 52: SERVER,
        68: u16(50_123), 70: u16(3000), 72: struct.pack(">Q", 1000), 80: struct.pack(">Q", 9000), 104: u32(12),
        108: u32(3), 112: u8(1 if client else 0), 114: u16(2), 180: struct.pack(">Q", 10), 188: struct.pack(">Q", 40),
        196: tod(opened), 204: tod(ends), 212: u32(1),
    }  # fmt: skip
    return tcp_record(2, ends, section(216, fields), *more.get("sections", ()))


EACH = ("stack", "resource", "connection_role", "port")


def test_connections_of_a_port(tmp_path: Path) -> None:
    opened = START + timedelta(minutes=1)
    first, last = ended(opened, 30, secure=3), ended(opened + timedelta(minutes=10), 90)
    (found,) = lines(tmp_path, CONNECTION, first, last, by=EACH)
    assert (found["stack"], found["resource"], found["connection_role"]) == ("TCPIP", "CICSWEB", "server")
    assert found["port"] == "3000"
    assert found["connections"] == 2
    # From 08:01:30 to 08:12:30: 660 s of the quarter that begins at 08:00.
    assert (found["time"], found["interval_seconds"]) == (START, 660)
    assert found["connection_rate"] == pytest.approx(2 / 660)
    assert (found["connection_time"], found["longest_seconds"]) == (60, 90)
    assert found["bytes_per_connection"] == 10_000
    assert (found["in_bytes"], found["out_bytes"]) == (2000, 18_000)
    # 4 of 80 segments; 12 ms each; one of two secured.
    assert found["retransmission_fraction"] == pytest.approx(0.05)
    assert found["round_trip_time"] == pytest.approx(0.012)
    assert found["secure_fraction"] == 0.5
    assert found["duplicate_acknowledgements"] == 2


def test_quarters_and_clients_are_apart(tmp_path: Path) -> None:
    records = [
        ended(START, 60),
        ended(START + timedelta(minutes=20), 60),
        ended(START + timedelta(minutes=21), 60, client=True),
    ]
    found = lines(tmp_path, CONNECTION, *records, by=EACH)
    assert len(found) == 3
    (client,) = [line for line in found if line["connection_role"] == "client"]
    # A client's port is that of its peer.
    assert client["port"] == "50123"
    (all_together,) = lines(tmp_path, CONNECTION, *records, by=("system",), time="all")
    assert (all_together["connections"], all_together["connection_seconds"]) == (3, 180)


def test_ports_of_clients_by_littles_law(tmp_path: Path) -> None:
    """Two connections of 60 s, over 2 min to the last end: one open at a time; each port is held for 120 s, so two."""
    records = [ended(START, 60, client=True), ended(START + timedelta(minutes=2), 60, client=True)]
    (found,) = lines(tmp_path, CONNECTION, *records, by=("stack",))
    assert found["interval_seconds"] == 120
    assert found["open_connections"] == pytest.approx(2 * 60 / 120)
    assert found["ports_held"] == pytest.approx(2 * 120 / 120)
    assert found["ports_held_fraction"] == pytest.approx(2 / 65_000)


def test_sections_of_a_record(tmp_path: Path) -> None:
    telnet = section(32, {0: text("LU0001", 8), 8: text("CICSA", 8)})
    tls = section(16, {0: u16(0x0303), 2: bytes.fromhex("C030"), 4: u8(2), 8: text("PARTNER", 8)})
    application = section(40, {0: text("EZAFTP0S", 40)})
    found = tables(tmp_path, ended(START, 5, sections=(telnet, tls, application)))
    assert found["smf119_2_telnet"]["smf119ap_tttelappl"].to_pylist() == ["CICSA"]
    assert found["smf119_2_tls"]["smf119ap_ttttlssp"].to_pylist() == [0x0303]
    assert found["smf119_2_tls"]["smf119ap_ttttlsuid"].to_pylist() == ["PARTNER"]
    assert found["smf119_2_application"]["smf119ap_ttappldata"].to_pylist() == ["EZAFTP0S"]


def test_a_connection_that_began(tmp_path: Path) -> None:
    fields = {0: text("IZPAAPP", 8), 8: u32(99), 20: PEER, 36: SERVER, 52: u16(1358), 54: u16(1359), 64: tod(START)}
    found = tables(tmp_path, tcp_record(1, START, section(72, fields)))["smf119_1_connection"]
    assert found["smf119ap_tirname"].to_pylist() == ["IZPAAPP"]
    assert (found["smf119ap_tirport"].to_pylist(), found["smf119ap_tilport"].to_pylist()) == ([1358], [1359])
    assert found["smf119ap_tistck_t"].to_pylist() == [START]


# --- SMF 89 ----------------------------------------------------------------------------------------------------------


def usage(name: str, tcb: float, srb: float) -> bytes:
    """CPU times in hundredths of a second."""
    owner = {
        0: text("IBM CORP", 16),
        16: text(name, 16),
        32: text("V6R1", 8),
        40: text("PROD", 8),
        48: text("5655-Y04", 8),
    }
    return section(96, owner | {56: f8(tcb * 100), 64: f8(srb * 100)})


def usage_record(starts: datetime.datetime, *products: bytes, minutes: int = 60) -> bytes:
    ends = starts + timedelta(minutes=minutes)
    fields = {
        0: text("SYS1", 8), 8: hundredths(starts + LOCAL), 12: day(starts + LOCAL), 16: hundredths(ends + LOCAL),
        20: day(ends + LOCAL), 32: bytes.fromhex("8561"), 36: bytes.fromhex("012345"), 40: u32(1000),
    }  # fmt: skip
    system = section(64, fields)
    at = 64 + 8
    behind = u32(36) + struct.pack(">IHH", 0, 0, 0) + struct.pack(">IHH", at, len(system), 1)
    behind += struct.pack(">IHH", at + len(system), 96, len(products)) + u32(0) + struct.pack(">IHH", 0, 0, 0)
    assert 24 + len(behind) == 64
    return plain(89, 1, ends, behind + bytes(at - 64) + system + b"".join(products))


def test_products(tmp_path: Path) -> None:
    dump = [usage_record(START, usage("CICS TS", 1500, 300), usage("DB2", 90, 0))]
    found = {line["product"]: line for line in lines(tmp_path, PRODUCT, *dump, by=("owner", "product", "version"))}
    cics = found["CICS TS"]
    assert (cics["owner"], cics["version"], cics["product_id"]) == ("IBM CORP", "V6R1", "5655-Y04")
    assert (cics["tcb_seconds"], cics["srb_seconds"]) == (1500, 300)
    assert (cics["cpu_seconds"], cics["processors_used"]) == (1800, 0.5)
    assert found["DB2"]["processors_used"] == pytest.approx(0.025)
    # Without RMF records of the day nothing tells how far the local clock is from UTC.
    assert cics["time"] == START + LOCAL


def test_an_hour_with_several_records_has_no_times(tmp_path: Path) -> None:
    dump = [usage_record(START, usage("CICS TS", 10, 0)), usage_record(START, usage("CICS TS", 20, 0))]
    (found,) = lines(tmp_path, PRODUCT, *dump, by=("product",))
    assert (found["cpu_seconds"], found["doubtful_fraction"]) == (None, 1)


def test_local_hours_become_utc_by_records_of_rmf(tmp_path: Path) -> None:
    rmf = record(77, 1, (), ())
    (found,) = lines(tmp_path, PRODUCT, usage_record(START - LOCAL, usage("DB2", 36, 0)), rmf, by=("product",))
    # RMF of this system says that its clock is UTC.
    assert (found["time"], found["cpu_seconds"]) == (START, 36)
    assert found["time"].tzinfo == UTC or found["time"].utcoffset() == timedelta(0)
