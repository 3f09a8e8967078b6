"""Requests of WebSphere Application Server (SMF 120-9): records by hand from published sources, values by hand."""

from __future__ import annotations

import datetime
import struct
from datetime import timedelta
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import lines, section, tables, text, tod, u16, u32
from tests.metrics.test_tcp import plain
from tests.metrics.test_web_requests import CLOCK

WAS = GRAINS["web_was_request"]


def i64(value: int) -> bytes:
    return struct.pack(">q", value)


def was_record(
    queued: datetime.datetime,
    times: tuple[float, float, float] = (0.1, 0.5, 0.6),
    *,
    kind: int = 2,
    uri: str = "/trade/app?x=1",
    used: tuple[int, int] = (20_000, 15_000),
    minor: int = 0,
    application: str = "",
) -> bytes:
    """Eleven triplets of three times four bytes from 48 on; dispatch, its end and the end after `queued` in seconds."""
    dispatched, ended, complete = (queued + timedelta(seconds=after) for after in times)
    identity = section(
        76,
        {0: u32(1), 4: text("CELL", 8), 12: text("NODE", 8), 20: text("CLUS", 8), 28: text("SRV1", 8), 40: bytes([8])},
    )
    server = section(
        156,
        {
            0: u32(2), 4: text("SYS1", 8), 12: text("PLEX", 8), 20: text("WASCR1", 8), 28: text("STC00077", 8),
            44: u16(0x51), 112: CLOCK, 120: text("cf081234", 8),
        },
    )  # fmt: skip
    task = section(68, {0: u32(1), 4: u32(77), 16: i64(used[0]), 24: u32(minor), 32: u32(kind)})
    request = section(
        736,
        {
            0: u32(2), 4: tod(queued - timedelta(hours=1)), 20: tod(queued), 36: tod(dispatched), 52: tod(ended),
            68: tod(complete), 84: text("WASSR1", 8), 92: text("STC00078", 8), 108: u16(0x52), 132: i64(used[1]),
            180: i64(4_096_000_000), 264: i64(5), 288: u32(80), 380: u32(300), 384: text("TCLASS1", 8),
            392: bytes.fromhex("40000000"), 464: text("TAG", 8),
        },
    )  # fmt: skip
    network = section(
        188, {0: u32(1), 4: i64(100), 12: i64(4_096), 20: u32(9080), 24: u32(8), 28: text("10.1.2.3", 128)}
    )
    names = [(6, uri)] if uri else []
    names += [(1, application)] if application else []
    classes = [section(140, {0: u32(1), 4: u32(of), 8: u32(len(name)), 12: text(name, 128)}) for of, name in names]
    usage = section(548, {0: u32(1), 4: u32(2), 8: i64(9), 16: i64(11), 24: u32(3), 28: u32(4), 32: text("EAR1", 256)})
    parts = ([identity], [server], [task], [request], [], [network], classes, [], [usage], [], [])
    behind = u32(2) + u32(11) + u32(1) + u32(1) + bytes(8)
    at = 48 + 12 * 11 + 24
    for entries in parts:
        behind += u32(at if entries else 0) + u32(len(entries[0]) if entries else 0) + u32(len(entries))
        at += sum(map(len, entries))
    return plain(120, 9, complete, behind + bytes(24) + b"".join(b"".join(entries) for entries in parts))


def test_a_record_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = was_record(START, application="TRADE")
    found = {table: rows.to_pylist() for table, rows in tables(tmp_path, data).items()}

    def at(triplet: int, place: int = 0, width: int = 4) -> int:
        begins = int.from_bytes(data[48 + 12 * triplet :][:4], "big") + place
        return int.from_bytes(data[begins : begins + width], "big")

    def words(triplet: int, place: int, width: int = 8) -> str:
        begins = at_offset(triplet) + place
        return data[begins : begins + width].decode("cp037").rstrip()

    def at_offset(triplet: int) -> int:
        return int.from_bytes(data[48 + 12 * triplet :][:4], "big")

    (identity,) = found["smf120_9_identity"]
    assert [identity[f"sm1209_{name}"] for name in ("cell", "node", "cluster", "server_name")] == [
        words(0, 4 + 8 * n) for n in range(4)
    ]
    (server,) = found["smf120_9_server"]
    assert (server["sm1209_jobname"], server["sm1209_level"]) == (words(1, 20), words(1, 120))
    assert (server["sm1209_asid"], server["sm1209_gmt_offset"]) == (at(1, 44, 2), at(1, 112, 8) / 4_096e6)
    (task,) = found["smf120_9_task"]
    assert (task["sm1209_tcb_cpu"], task["sm1209_request_type"]) == (at(2, 16, 8) / 1e6, at(2, 32))
    (request,) = found["smf120_9_request"]
    since = datetime.datetime(1900, 1, 1, tzinfo=datetime.UTC)
    clocks = ("received", "queued", "dispatched", "dispatch_end", "complete")
    assert [request[f"sm1209_{name}"] for name in clocks] == [
        since + timedelta(microseconds=at(3, 4 + 16 * n, 8) >> 12) for n in range(5)
    ]
    assert (request["sm1209_tcb_offload"], request["sm1209_enclave_cpu"]) == (at(3, 132, 8) / 1e6, 1)
    assert (request["sm1209_transaction_class"], request["sm1209_message_tag"]) == (words(3, 384), words(3, 464))
    assert (request["sm1209_response_ratio"], request["sm1209_delete_ziip_service"]) == (at(3, 288), at(3, 264, 8))
    (network,) = found["smf120_9_network"]
    assert (network["sm1209_bytes_sent"], network["sm1209_target_port"]) == (at(5, 12, 8), at(5, 20))
    assert network["sm1209_origin"] == words(5, 28, 128)
    assert [(row["sm1209_class_type"], row["sm1209_class_text"]) for row in found["smf120_9_class"]] == [
        (at(6, 140 * n + 4), words(6, 140 * n + 12, 128)) for n in range(2)
    ]
    (usage,) = found["smf120_9_cpu"]
    assert (usage["sm1209_cpu_calls"], usage["sm1209_cpu_name1"]) == (at(8, 24), words(8, 32, 256))


def test_requests(tmp_path: Path) -> None:
    begin = START + timedelta(minutes=2)
    records = [
        was_record(begin),
        was_record(begin + timedelta(minutes=5), (0.3, 1.3, 1.4), used=(40_000, 15_000), minor=7),
        # The processor time of a request that timed out is not valid; its dispatch has no end, so that it has no times.
        was_record(begin + timedelta(minutes=8), (0, -1, 0.6), used=(-1, 0)),
        was_record(begin + timedelta(minutes=4), kind=6, uri="", application="TRADE"),
    ]
    found = lines(tmp_path, WAS, *records, by=("web_server", "request_kind", "web_path"), time="all")
    kinds = {(line["request_kind"], line["web_path"]): line for line in found}
    assert set(kinds) == {("HTTP", "/trade/app"), ("MDB", "TRADE")}
    web = kinds["HTTP", "/trade/app"]
    # From 08:02:00.6 to 08:10:00.6: 480 s.
    assert (web["web_server"], web["requests"], web["interval_seconds"]) == ("WASCR1", 3, 480)
    assert web["request_rate"] == pytest.approx(3 / 480)
    # 0.6 and 1.4 s of two requests; 0.1 and 0.3 s of them on the queue, 0.4 and 1 s in the servant.
    assert (web["timed_requests"], web["response_time"], web["longest_seconds"]) == (2, pytest.approx(1), 1.4)
    # The first of the two is between 0.5 and 0.7 s; the second is the longest.
    assert web["response_p50"] == pytest.approx(0.5 * 1.4**0.5, rel=1e-6)
    assert web["response_p95"] == pytest.approx(1.4, rel=1e-12)
    assert (web["queue_time"], web["dispatch_time"]) == (pytest.approx(0.2), pytest.approx(0.7))
    # 60 ms of two requests, 30 ms of them on zAAP and zIIP; one of three had an exception.
    assert (web["cpu_requests"], web["cpu_per_request"]) == (2, pytest.approx(0.030))
    assert (web["offload_fraction"], web["failed_fraction"]) == (pytest.approx(0.5), pytest.approx(1 / 3))
    assert web["bytes_per_response"] == 4_096
