"""Requests of z/OS Connect (SMF 123-1) and Liberty (SMF 120-11): records by hand from published offsets."""

from __future__ import annotations

import datetime
import struct
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import lines, reading, section, tables, text, tod, u8, u16, u32
from tests.metrics.test_tcp import LOCAL, plain

API = GRAINS["api_request"]
WEB = GRAINS["web_request"]

#: Local time less UTC, as CVTLDTO has it.
CLOCK = struct.pack(">q", int(LOCAL.total_seconds()) * 1_000_000 * 4_096)


def stcke(moment: datetime.datetime | None) -> bytes:
    """An extended clock: a byte of zeros, the clock, seven bytes of less than a unit of it."""
    return bytes(16) if moment is None else b"\0" + tod(moment) + bytes.fromhex("00000000123456")


def api(begins: datetime.datetime, seconds: float, away: tuple[float, float] | None = None, **more: Any) -> bytes:
    """A request data section of 1,560 bytes; `away` is when it went to the system of record, and when it was back."""
    of = [None, None] if away is None else [begins + timedelta(seconds=after) for after in away]
    fields = {
        0: u8(1), 1: u8(more.get("kind", 1)), 2: u16(more.get("status", 200)), 8: text("fred", 64), 72: text("FRED", 8),
        80: text("10.1.2.3", 48), 128: text(more.get("api", "catalog"), 64), 192: text("1.0.0", 8),
        200: text(more.get("service", "inquire"), 64), 264: text("1.1", 8), 272: text(more.get("method", "GET"), 8),
        280: text("x=1", 128), 408: text("/catalog/items/7", 256), 664: u32(100), 668: u32(900), 672: stcke(begins),
        688: stcke(begins + timedelta(seconds=seconds)), 704: stcke(of[0]), 720: stcke(of[1]),
        736: text("CICS-1.0", 16), 752: text("cicsConn", 32), 784: text("CICSA", 64),
        848: text("PROG1,CSMI", 128), 976: struct.pack(">Q", 4711),
        984: bytes(range(64)), 1048: text("agent", 64), 1496: text("trace", 64),
    }  # fmt: skip
    return section(1560, fields)


def api_record(*requests: bytes, at: datetime.datetime = START, server: str = "ZCON1") -> bytes:
    """Header extension to 40, the triplets, a server section of 188 bytes, requests: the places of a real record."""
    own = section(
        188,
        {
            0: u8(1), 4: text("SYS1", 8), 12: text("PLEX", 8), 20: text("STC00123", 8), 28: text(server, 8),
            36: bytes(range(8)), 44: text("/var/zosconnect/servers/s1", 128), 172: text("3.0.58.0", 16),
        },
    )  # fmt: skip
    behind = u32(2) + u8(2) + u8(40) + u16(0) + CLOCK
    behind += struct.pack(">IHH", 56, 188, 1) + struct.pack(">IHH", 244, 1560, len(requests))
    return plain(123, 1, at, behind + own + b"".join(requests))


def slow_api(data: bytes) -> list[dict[str, Any]]:
    """What a record says of each request: one byte after the other, by the published offsets alone."""

    def number(at: int, width: int) -> int:
        return int.from_bytes(data[at : at + width], "big")

    def clock(at: int) -> datetime.datetime | None:
        units = number(at + 1, 8)
        since = timedelta(microseconds=units // 4096)
        return datetime.datetime(1900, 1, 1, tzinfo=datetime.UTC) + since if units else None

    triplets = data[29]
    first, length, count = number(triplets + 8, 4), number(triplets + 12, 2), number(triplets + 14, 2)
    found = []
    for at in range(first, first + length * count, length):
        words = {
            name: data[at + place : at + place + width].decode("cp037").rstrip()
            for name, place, width in (
                ("user_name", 8, 64), ("api_name", 128, 64), ("service_name", 200, 64), ("req_method", 272, 8),
                ("req_target_uri", 408, 256), ("sor_reference", 752, 32), ("sor_resource", 848, 128),
                ("resp_hdr4", 1496, 64),
            )
        }  # fmt: skip
        times = {
            name: clock(at + 672 + 16 * place)
            for place, name in enumerate(("time_zc_entry", "time_zc_exit", "time_sor_sent", "time_sor_recv"))
        }
        numbers = {"req_type": data[at + 1], "http_resp_code": number(at + 2, 2), "req_id": number(at + 976, 8)}
        numbers |= {"req_payload_len": number(at + 664, 4), "resp_payload_len": number(at + 668, 4)}
        found.append({f"smf123s1_{name}": value for name, value in (words | times | numbers).items()})
    return found


def test_a_record_of_z_os_connect_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = api_record(api(START, 0.25, (0.05, 0.2)), api(START, 1, status=404, api="", method="POST"))
    said = slow_api(data)
    assert [one["smf123s1_api_name"] for one in said] == ["catalog", ""]
    found = tables(tmp_path, data)
    rows = found["smf123_1_request"].to_pylist()
    assert [{name: row[name] for name in one} for row, one in zip(rows, said, strict=True)] == said
    (server,) = found["smf123_server"].to_pylist()
    assert (server["smf123_server_jobname"], server["smf123_server_version"]) == ("ZCON1", "3.0.58.0")


def test_requests_to_an_api(tmp_path: Path) -> None:
    # Within the quarter of 08:00, from 08:01 to 08:11: 600 s.
    begin = START + timedelta(minutes=1)
    data = api_record(
        api(begin - timedelta(seconds=0.25), 0.25, (0.05, 0.2)),
        api(begin + timedelta(seconds=4), 1, status=503),
        api(begin + timedelta(seconds=9), 0.5, (0.1, 0.15), status=404),
        api(begin + timedelta(minutes=10, seconds=-0.05), 0.05, api="", service="", kind=3),
    )
    found = lines(tmp_path, API, data, by=("web_server", "api", "http_method", "backend"), time="all")
    by_api = {line["api"]: line for line in found}
    assert set(by_api) == {"catalog", "administration"}
    one = by_api["catalog"]
    assert (one["web_server"], one["http_method"], one["backend"]) == ("ZCON1", "GET", "cicsConn")
    assert (one["requests"], one["timed_requests"], one["backend_requests"]) == (3, 3, 2)
    assert one["interval_seconds"] == 600
    assert one["request_rate"] == pytest.approx(3 / 600)
    # 0.25 + 1 + 0.5 s in all, 0.15 + 0.05 s of them away.
    assert one["response_time"] == pytest.approx(1.75 / 3)
    assert one["backend_time"] == pytest.approx(0.1)
    assert one["own_time"] == pytest.approx(1.55 / 3)
    assert (one["longest_seconds"], one["longest_backend_seconds"]) == (1, pytest.approx(0.15))
    # The third of three is the longest. The second is between 0.4 and 0.5 s.
    assert one["response_p95"] == pytest.approx(1, rel=1e-12)
    assert one["response_p50"] == pytest.approx(0.4 * 1.25**0.5, rel=1e-6)
    assert one["client_error_fraction"] == one["server_error_fraction"] == pytest.approx(1 / 3)
    assert one["bytes_per_request"] == 1_000


def test_a_request_without_its_end_has_no_time_in_z_os_connect(tmp_path: Path) -> None:
    lost = bytearray(api(START, 1, (0.1, 0.4)))
    lost[688:704] = bytes(16)
    (line,) = lines(tmp_path, API, api_record(api(START, 1, (0.1, 0.3)), bytes(lost)), by=("api",), time="all")
    assert (line["requests"], line["timed_requests"], line["backend_requests"]) == (2, 1, 2)
    assert line["backend_time"] == pytest.approx(0.25)
    # 1 s less 0.2 s away, of the only request that has an end.
    assert line["own_time"] == pytest.approx(0.8)


def test_an_older_server_section_has_no_version(tmp_path: Path) -> None:
    whole = api_record(api(START, 1))
    # 172 bytes of the server section, so that requests begin 16 bytes before.
    data = bytearray(whole[:228] + whole[244:])
    data[0:2], data[44:46], data[48:52] = u16(len(data)), u16(172), u32(228)
    found = tables(tmp_path, bytes(data))
    assert found["smf123_server"]["smf123_server_version"].to_pylist() == [None]
    assert found["smf123_1_request"]["smf123s1_api_name"].to_pylist() == ["catalog"]


@pytest.mark.parametrize("token", [bytes(8), bytes.fromhex("DEADBEEF00010001")])
def test_a_record_of_version_1_is_damage(tmp_path: Path, token: bytes) -> None:
    # Triplets of three times four bytes from 48 on, a server section of 80 bytes, user data.
    behind = u32(1) + u32(2) + u32(1) + u32(1) + token + struct.pack(">III", 72, 80, 1)
    behind += struct.pack(">III", 152, 340, 1) + section(80, {0: u32(1)}) + section(340, {0: u32(1)})
    found = reading(tmp_path, plain(123, 1, START, behind))
    assert "smf123_1_request" not in {table for table, _ in found}
    assert {damage.reason for damage in found.damage}


# --- Liberty ---------------------------------------------------------------------------------------------------------


def cpu(seconds: float) -> bytes:
    return struct.pack(">Q", round(seconds * 1_000_000 * 4_096))


def web_record(
    begins: datetime.datetime,
    seconds: float,
    uri: str = "/stock/items/7",
    *,
    used: tuple[float, float] = (0.010, 0.004),
    server: str = "LIB1",
    flags: bool = True,
) -> bytes:
    """Five triplets of three times four bytes to 108; `used` is the processor time, and that on general processors."""
    own = section(
        200 if flags else 196,
        {
            0: u32(3 if flags else 2), 4: text("SYS1", 8), 12: text("PLEX", 8), 20: text("STC00124", 8),
            28: text(server, 8), 36: bytes(range(8)), 44: u32(0x77), 48: text("/var/wlp/servers/s1", 128),
            176: text("23.0.0.3", 16), 192: u32(50_331_650),
        }
        | ({196: bytes.fromhex("80000000")} if flags else {}),
    )  # fmt: skip
    request = section(
        396,
        {
            0: u32(1), 4: bytes.fromhex("008D1234"), 8: bytes(range(16)), 32: CLOCK, 40: struct.pack(">Q", 55),
            72: tod(begins), 80: tod(begins + timedelta(seconds=seconds)), 88: text("TCLASS1", 8), 96: cpu(20),
            104: cpu(8), 112: cpu(20 + used[0]), 120: cpu(8 + used[1]), 128: cpu(0.011), 136: struct.pack(">Q", 900),
            160: cpu(0.006), 168: struct.pack(">Q", 500), 176: u32(256), 180: u32(80), 192: text("fred", 64),
            256: text("FRED", 8), 264: u32(len(uri)), 268: text(uri, 128),
        },
    )  # fmt: skip
    by_uri = section(140, {0: u32(1), 4: u32(6), 8: u32(len(uri)), 12: text(uri, 128)})
    network = section(
        72,
        {0: u32(1), 12: struct.pack(">Q", 2_048), 20: u32(9443), 24: u32(50_123), 28: u32(8), 32: text("10.1.2.3", 40)},
    )
    behind = u32(3) + u32(5) + u32(1) + u32(1) + bytes(8)
    at = 108
    for part in (own, b"", request, by_uri, network):
        behind += u32(at if part else 0) + u32(len(part)) + u32(1 if part else 0)
        at += len(part)
    return plain(120, 11, begins + timedelta(seconds=seconds), behind + own + request + by_uri + network)


def test_a_record_of_liberty_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = web_record(START, 0.5)
    found = tables(tmp_path, data)

    def place(triplet: int) -> int:
        return struct.unpack_from(">I", data, triplet)[0]

    (request,) = found["smf120_11_request"].to_pylist()
    at = place(72)
    assert data[at + 268 : at + 282].decode("cp037") == "/stock/items/7" == request["sm120b_uri"]
    begins, ends = struct.unpack_from(">QQ", data, at + 72)
    assert (ends - begins) / 4_096 == 500_000
    assert request["sm120b_end"] - request["sm120b_start"] == timedelta(seconds=0.5)
    starts = struct.unpack_from(">QQQQ", data, at + 96)
    names = ("cpu_start", "cp_start", "cpu_end", "cp_end")
    assert [request[f"sm120b_{name}"] for name in names] == [pytest.approx(units / 4_096e6) for units in starts]
    assert (request["sm120b_gmt_offset"], request["sm120b_user_mapped"]) == (7_200, "FRED")
    assert (request["sm120b_enclave_cpu"], request["sm120b_enclave_ziip"]) == (0.011, 0.006)
    assert request["sm120b_enclave_response_ratio"] == 80
    (server,) = found["smf120_11_server"].to_pylist()
    assert data[place(48) + 28 : place(48) + 32].decode("cp037") == "LIB1" == server["sm120b_jobname"]
    assert (server["sm120b_product_version"], server["sm120b_pid"], server["sm120b_flags"]) == (
        "23.0.0.3", 50_331_650, 1 << 31,
    )  # fmt: skip
    (network,) = found["smf120_11_network"].to_pylist()
    assert struct.unpack_from(">Q", data, place(96) + 12)[0] == 2_048 == network["sm120b_response_bytes"]
    assert (network["sm120b_target_port"], network["sm120b_origin"]) == (9443, "10.1.2.3")
    (by_uri,) = found["smf120_11_class"].to_pylist()
    assert (by_uri["sm120b_class_type"], by_uri["sm120b_class_text"]) == (6, "/stock/items/7")


def test_a_server_section_of_version_2_has_no_flags(tmp_path: Path) -> None:
    (server,) = tables(tmp_path, web_record(START, 1, flags=False))["smf120_11_server"].to_pylist()
    assert (server["sm120b_pid"], server["sm120b_flags"]) == (50_331_650, None)


def test_requests_to_liberty(tmp_path: Path) -> None:
    begin = START + timedelta(minutes=2)
    records = [
        web_record(begin, 0.5, "/stock/items/7"),
        web_record(begin + timedelta(minutes=5), 1.5, "/stock/items?id=8", used=(0.030, 0.006)),
        # A processor time that falls is none.
        web_record(begin + timedelta(minutes=6), 1, "/stock/items/9", used=(-1, -1)),
        web_record(begin + timedelta(minutes=8, seconds=-0.5), 1, "/health"),
    ]
    found = lines(tmp_path, WEB, *records, by=("web_server", "web_path"), time="all")
    paths = {line["web_path"]: line for line in found}
    assert set(paths) == {"/stock/items", "/health"}
    one = paths["/stock/items"]
    # From 08:02:00.5 to 08:10:00.5: 480 s.
    assert (one["web_server"], one["requests"], one["interval_seconds"]) == ("LIB1", 3, 480)
    assert one["request_rate"] == pytest.approx(3 / 480)
    assert (one["response_time"], one["longest_seconds"]) == (pytest.approx(1), 1.5)
    # The third of three is the longest.
    assert one["response_p95"] == pytest.approx(1.5, rel=1e-12)
    # 40 ms of two requests, 10 ms of them on general processors.
    assert one["cpu_requests"] == 2
    assert one["cpu_per_request"] == pytest.approx(0.020)
    assert one["cp_per_request"] == pytest.approx(0.005)
    assert one["offload_fraction"] == pytest.approx(0.75)
    assert one["bytes_per_response"] == 2_048


@pytest.mark.parametrize(
    ("uri", "path"),
    [("/a/b/c", "/a/b"), ("/a?x=/b", "/a"), ("/a/", "/a/"), ("/", "/"), ("*", "*"), ("/a/b;v=1/c", "/a/b"), ("", None)],
)
def test_a_path_is_the_first_two_parts_of_a_uri(tmp_path: Path, uri: str, path: str | None) -> None:
    (found,) = lines(tmp_path, WEB, web_record(START, 1, uri), by=("web_path",), time="all")
    assert found["web_path"] == path
