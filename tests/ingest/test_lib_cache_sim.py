"""The formats of libCacheSim: one trace in each, written by hand from the format's description."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from plexlens.ingest.page_trace import TraceError, read

#: Seconds and objects; the second has more than 32 bits.
TRACE = ((5, 42), (5, 1 << 40), (7, 42), (900, 3))


def oracle() -> bytes:
    """Seconds, object, size, next access."""
    return b"".join(struct.pack("<IQIq", time, page, 512, -1) for time, page in TRACE)


def vscsi1() -> bytes:
    """Number, length, parts, command, version, block, microseconds."""
    rows = (struct.pack("<IIIHHQQ", 1, 512, 1, 42, 0x0100, page, time * 10**6) for time, page in TRACE)
    return b"".join(rows)


def vscsi2() -> bytes:
    """Command, version, number, length, parts, block, microseconds, response."""
    rows = (struct.pack("<HHIIIQQQ", 42, 0x0200, 1, 512, 1, page, time * 10**6, 9) for time, page in TRACE)
    return b"".join(rows)


def lcs() -> bytes:
    """A header of 1,024 bytes; records of a size, an object, a second and an operation."""
    header = bytearray(1024)
    struct.pack_into("<Q240s", header, 0, 0x123456789ABCDEF0, b"<IQIB")
    header[248], header[249], header[250] = 2, 1, 3
    struct.pack_into("<IIQQ", header, 1000, 4, 17, 1, 0x123456789ABCDEF0)
    return bytes(header) + b"".join(struct.pack("<IQIB", 512, page, time, 1) for time, page in TRACE)


def text(*columns: str) -> bytes:
    """CSV with these columns."""
    values = {"version": "1", "op": "2a", "size": "512"}
    rows = [
        ",".join(values.get(name) or str(time if name in ("time", "timestamp") else page) for name in columns)
        for time, page in TRACE
    ]
    return "\n".join([",".join(columns), *rows, ""]).encode()


def commented() -> bytes:
    """CSV with spaces, and column names as a remark."""
    rows = [f"{time}, {page}, 737, 13" for time, page in TRACE]
    return "\n".join(["# time, object, size, next_access_vtime", *rows, ""]).encode()


def lines() -> bytes:
    """An object on each line."""
    return "".join(f"{page}\n" for _, page in TRACE).encode()


def packed(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """The same, compressed with Zstandard."""
    return lambda: pa.compress(make(), codec="zstd", asbytes=True)


@pytest.mark.parametrize(
    ("name", "make", "timed"),
    [
        ("t.oracleGeneral", oracle, True),
        ("t.oracleGeneral.bin", oracle, True),
        ("t.oracleGeneral.zst", packed(oracle), True),
        ("t.oracleGeneral.bin.gz", lambda: gzip.compress(oracle()), True),
        ("t.vscsi", vscsi1, True),
        ("t.vscsi", vscsi2, True),
        ("t.lcs", lcs, True),
        ("t.lcs.zst", packed(lcs), True),
        ("t.csv", lambda: text("version", "time", "op", "size", "lbn"), True),
        ("t.csv", lambda: text("timestamp", "obj_id", "size"), True),
        ("t.csv.zst", packed(lambda: text("time", "obj_id")), True),
        ("t.csv", lambda: text("obj_id"), False),
        ("t.csv", commented, True),
        ("t.csv.zst", packed(commented), True),
        ("t.txt", lines, False),
        ("t.txt.zst", packed(lines), False),
    ],
)
def test_every_format(tmp_path: Path, name: str, make: Callable[[], bytes], timed: bool) -> None:
    path = tmp_path / name
    path.write_bytes(make())
    rows = [row for batch in read(path) for row in batch.to_pylist()]
    assert [row["page"] for row in rows] == [page for _, page in TRACE]
    times = [time * 10**6 for time, _ in TRACE] if timed else [0, 1, 2, 3]
    assert [row["time"] for row in rows] == times
    others = {name for row in rows for name, value in row.items() if value and name not in ("page", "time")}
    assert not others


def many(count: int) -> bytes:
    """Records of oracleGeneral: record n is of object 7 n, in second n // 100."""
    return b"".join(struct.pack("<IQIq", n // 100, 7 * n, 512, -1) for n in range(count))


@pytest.mark.parametrize("count", [1, 16_383, 16_384, 16_385, 131_072, 150_001])
def test_records_of_several_blocks_and_parts_follow_each_other(tmp_path: Path, count: int) -> None:
    path = tmp_path / "t.oracleGeneral"
    path.write_bytes(many(count))
    parts = list(read(path))
    assert [row for part in parts for row in part.column("page").to_pylist()] == [7 * n for n in range(count)]
    assert [row for part in parts for row in part.column("time").to_pylist()] == [
        n // 100 * 1_000_000 for n in range(count)
    ]


def test_a_record_cut_off_behind_the_first_block_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "t.oracleGeneral"
    path.write_bytes(many(20_000)[:-5])
    with pytest.raises(TraceError) as raised:
        list(read(path))
    # Record 20,000 of 24 bytes begins at 19,999 x 24.
    assert raised.value.offset == 479_976
    assert raised.value.what == "the last record is cut off: 19 of 24 bytes"
