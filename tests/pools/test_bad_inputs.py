"""What cannot be used is refused, and the message says what is wrong, where, and what to do next."""

from __future__ import annotations

import gzip
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.errors import PlexlensError

ROWS = "time,pool,object,page\n" + "".join(f"{at * 10},BP2,PAY.TS,{at % 500}\n" for at in range(3000))
TABLE = pa.table({"time": pa.array(range(3000)), "page": pa.array([at % 500 for at in range(3000)], pa.uint64())})
ORACLE = np.zeros(100, [("time", "<u4"), ("page", "<u8"), ("size", "<u4"), ("next", "<i8")]).tobytes()
PACKED, SQUEEZED = gzip.compress(ROWS.encode(), 1), pa.compress(ROWS.encode(), codec="zstd", asbytes=True)


def parquet(folder: Path, **how: object) -> bytes:
    """The table as Parquet."""
    path = folder / "whole.parquet"
    pq.write_table(TABLE, path, compression="none", use_dictionary=False, **how)
    return path.read_bytes()


def torn(data: bytes, at: int, length: int = 64) -> bytes:
    """A stretch of bytes replaced by ones."""
    return data[:at] + b"\xff" * length + data[at + length :]


def arrow() -> bytes:
    """The table as an Arrow file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, TABLE.schema) as file:
        file.write_table(TABLE)
    return sink.getvalue().to_pybytes()


@dataclass(frozen=True)
class Bad:
    """An input: its file's name and contents, other words of the command, and words of the message."""

    name: str
    contents: str | bytes | Callable[[Path], bytes]
    what: str
    remedy: str
    words: tuple[str, ...] = ()
    #: Line or row that the message names; None if it is of the whole file.
    row: int | None = None


def column(name: str, value: str, what: str = "", *, remedy: str) -> Bad:
    """A CSV file whose second row holds a value that means nothing."""
    good = {"page": "1", "time": "0", "partition": "0", "agent": "1", "kind": "", "lost": "0"}.get(name, "")
    first = {"pool": "BP2", "function": "getpage", "access": "random", "status": "hit"}.get(name, good)
    rows = f"page,{name}\n1,{first}\n2,{value}\n" if name != "page" else f"page\n1\n{value}\n"
    row = 3 if name in ("page", "lost") else 2
    return Bad("t.csv", rows, what or f"column {name} holds", remedy, row=row)


FORMS = "CSV with a header, Parquet"
BAD = {
    "gzip cut off": Bad(
        "t.csv.gz", PACKED[:-2000], "gzip data (is cut off after|that cannot be expanded: Truncated)", "gzip -t"
    ),
    "gzip without its end": Bad(
        "t.csv.gz", PACKED[:-4], "gzip data (is cut off after|that cannot be expanded: Truncated)", "gzip -t"
    ),
    "gzip damaged": Bad("t.csv.gz", torn(PACKED, 300), "gzip data", "gzip -t"),
    "zstd cut off": Bad(
        "t.csv.zst", SQUEEZED[:-200], "zstd data (is cut off after|that cannot be expanded: Truncated)", "zstd -t"
    ),
    "parquet cut off": Bad("t.parquet", lambda folder: parquet(folder)[:-100], "begins as Parquet, but is cut", "copy"),
    "parquet page torn": Bad(
        "t.parquet", lambda folder: torn(parquet(folder), 9000), "but the file's statistics say", "copy the file", row=1
    ),
    "parquet checksum": Bad(
        "t.parquet",
        lambda folder: torn(parquet(folder, write_page_checksum=True, write_statistics=False), 9000),
        "begins as Parquet, but is cut off or damaged: .*(CRC|checksum)",
        "copy the file",
    ),
    "arrow cut off": Bad("t.arrow", arrow()[:-300], "begins as Arrow, but is cut off", "copy the file"),
    "utf-16": Bad("t.csv", ROWS.encode("utf-16"), "text is UTF-16", "iconv -f UTF-16"),
    "utf-16 without mark": Bad("t.csv", ROWS.encode("utf-16-le"), "text is UTF-16", "iconv -f UTF-16"),
    "utf-16 big end first": Bad("t.csv", ROWS.encode("utf-16-be"), "text is UTF-16", "iconv -f UTF-16"),
    "utf-32": Bad("t.csv", ROWS.encode("utf-32"), "text is UTF-32", "iconv -f UTF-32"),
    "latin-1": Bad(
        "t.csv", "page,object\n1,PÄY\n".encode("latin-1"), "column object holds text that is not UTF-8", "iconv", row=2
    ),
    "json": Bad("t.json", '{"page": 1}', "begins as JSON", FORMS),
    "zip": Bad("t.zip", b"PK\x03\x04" + bytes(100), "a ZIP archive", "unpack it"),
    "pdf": Bad("t.pdf", b"%PDF-1.4" + bytes(100), "a PDF document", "give the original data"),
    "anything": Bad("t.bin", bytes(range(1, 256)) * 20, "no SMF record", "binary"),
    "empty": Bad("t.csv", "", "file is empty", "transfer it again"),
    "header alone": Bad("t.csv", "time,page\n", "no references", "at least one getpage"),
    "no page": Bad("t.csv", "time,pool\n1,BP2\n", r"no column named page \(columns: time, pool\)", "name its columns"),
    "misspelt column": Bad("t.csv", "page,poool\n1,BP2\n", "unknown columns: poool", "pool"),
    "a column twice": Bad("t.csv", "page,page\n1,2\n", "same name", "once"),
    "too many values": Bad(
        "t.csv", "time,page\n1,1\n2,2,2\n", "3 columns where the header names 2", "each line", row=3
    ),
    "page below zero": column("page", "-5", "column page holds '-5'", remedy="not below 0"),
    "page with a part": column("page", "2.5", "column page holds '2.5'", remedy="whole"),
    "page too large": column("page", "9" * 24, "column page holds '9+'", remedy="whole"),
    "page in letters": column("page", "abc", "column page holds 'abc'", remedy="numbers"),
    "unknown pool": column("pool", "BP99", "column pool holds 'BP99'", remedy="BP0 to BP49"),
    "unknown function": column("function", "getpag", remedy="getpage, set_write"),
    "unknown access": column("access", "rand", remedy="random, sequential"),
    "unknown status": column("status", "found", remedy="hit, miss, no_read"),
    "unknown kind": column("kind", "view", remedy="tablespace, index"),
    "agent by name": column("agent", "T1", remedy="numbers"),
    "agent below zero": column("agent", "-1", "column agent holds -1", remedy="fit into uint32"),
    "agent too large": column("agent", "5000000000", "column agent holds 5000000000", remedy="fit into uint32"),
    "partition too large": column("partition", "70000", "column partition holds 70000", remedy="fit into uint16"),
    "time with a part": column("time", "1.5", "column time holds 1.5", remedy="whole numbers"),
    "time in letters": column("time", "noon", "column time holds 'noon'", remedy="numbers"),
    "lost below zero": column("lost", "-2", remedy="not below 0"),
    "nothing in a row": Bad("t.csv", "time,page\n1,1\n2,\n", "column page holds nothing", "leave out rows", row=2),
    "oracleGeneral cut off": Bad("t.oracleGeneral", ORACLE[:-5], "last record is cut off: 19 of 24", "copy the file"),
    # 24 times 125 bytes: read as records it would be 125 of them.
    "oracleGeneral of text": Bad("t.oracleGeneral", ROWS[:3000], "holds text", r"\.csv"),
    "vscsi of another version": Bad("t.vscsi", b"\x00\x07" * 200, "not those of vscsi", "unchanged"),
    "lcs without a header": Bad("t.lcs", b"\x00" * 2000, "does not begin with an lcs header", "libCacheSim"),
    "lcs header cut off": Bad("t.lcs", struct.pack("<Q", 0x123456789ABCDEF0), "header is cut off: 8 of 1024", "copy"),
    "size of zero": Bad("t.csv", ROWS, "VPSIZE 0 is not possible", "1 buffer", ("--pool", "BP2=0")),
    "pool that Db2 has not": Bad("t.csv", ROWS, "no buffer pool 'BP99'", "BP0 to BP49", ("--pool", "BP99=100")),
    "pool that the trace has not": Bad(
        "t.csv", ROWS, "BP3: the trace has no such pool", "the trace has BP2", ("--pool", "BP3=100")
    ),
    "threshold too large": Bad("t.csv", ROWS, "VPSEQT 101", "0 to 100", ("--pool", "BP2=100,vpseqt=101")),
    "object that is not there": Bad(
        "t.csv", ROWS, "no object 'NO.TS'", "PAY.TS", ("--pool", "BP2=100", "--move", "NO.TS=BP2")
    ),
    "sizes in letters": Bad("t.csv", ROWS, "10,x is not a list", "1000,5000", ("--sizes", "10,x")),
    "sample above one": Bad("t.csv", ROWS, "rate of 2", "at most 1", ("--sample", "2")),
    "budget in words": Bad("t.csv", ROWS, "'4 flops' is not a storage size", "4GiB", ("--budget", "4 flops")),
    "settings not there": Bad("t.csv", ROWS, "cannot be read", "check the path", ("--settings", "no.toml")),
}


def test_there_are_forty() -> None:
    assert len(BAD) >= 40


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, tmp_path: Path) -> None:
    bad = BAD[name]
    path = tmp_path / bad.name
    contents = bad.contents(tmp_path) if callable(bad.contents) else bad.contents
    path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
    done = CliRunner().invoke(app, ["pools", str(path), *bad.words])
    error = done.exception
    assert isinstance(error, PlexlensError), (error, done.output[:500])
    assert re.search(bad.what, error.what), error.what
    assert re.search(bad.remedy, error.remedy), error.remedy
    # Where: the file, or the option that the words of the message repeat.
    assert bad.words or error.file == str(path)
    if bad.row is not None:
        assert bad.row in (getattr(error, "line", None), getattr(error, "record_no", None)) or bad.row == 1
    # Nothing is printed that could be taken for a result.
    assert "READ MISSES" not in done.output


def test_long_data_that_is_cut_off_is_told_by_its_length(tmp_path: Path) -> None:
    """What is cut off behind the part by which a file is recognised."""
    rows = "time,page\n" + "".join(f"{at},{at * 7919 % 100_003}\n" for at in range(200_000))
    for name, data in {
        "t.csv.gz": gzip.compress(rows.encode(), 1),
        "t.csv.zst": pa.compress(rows.encode(), "zstd"),
    }.items():
        whole = bytes(data)
        path = tmp_path / name
        path.write_bytes(whole[: len(whole) // 2])
        done = CliRunner().invoke(app, ["pools", str(path)])
        assert isinstance(done.exception, PlexlensError)
        assert f"data is cut off after {len(whole) // 2:,} bytes" in done.exception.what


def test_the_same_source_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    done = CliRunner().invoke(app, ["pools", str(path), str(tmp_path / "." / "t.csv")])
    assert isinstance(done.exception, PlexlensError)
    assert "given twice" in done.exception.what


def test_metadata_that_contradicts_itself_does_not_end_the_process(tmp_path: Path) -> None:
    """A bit of the size statistics is flipped: reading them in pyarrow 26 calls ``std::terminate``."""
    table = pa.table({"page": pa.array(range(50), pa.int64()), "time": pa.array(range(50), pa.int64())})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from plexlens.ingest.page_trace import TraceError, read\n"
        "data, footer = Path(sys.argv[1]).read_bytes(), int(sys.argv[2])\n"
        "copy = Path(sys.argv[1]).with_name('copy.parquet')\n"
        "for place in range(footer, len(data) - 8):\n"
        "    copy.write_bytes(data[:place] + bytes([data[place] ^ 2]) + data[place + 1 :])\n"
        "    try:\n"
        "        sum(batch.num_rows for batch in read(copy))\n"
        "    except TraceError:\n"
        "        pass\n"
        "print('whole')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(footer)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr[-500:]
