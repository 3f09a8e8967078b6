"""Page-reference traces in all their forms."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from plexlens import _core
from plexlens.ingest import page_trace
from plexlens.ingest.page_trace import FileTrace, TraceError, TraceNames, pool_id, pool_name, read

TEXT = """time,pool,object,page,function,access
10,BP2,7,100,getpage,random
11,BP8K1,8,5,set_write,sequential
12,BP32K,9,6,getpage,list
"""


def rows(path: Path) -> list[dict[str, int]]:
    return [row for batch in read(path) for row in batch.to_pylist()]


def test_csv_with_names(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(TEXT)
    (batch,) = read(path)
    assert [(field.name, str(field.type)) for field in batch.schema] == _core.TRACE_COLUMNS
    first, second, third = batch.to_pylist()
    assert first == {
        "time": 10,
        "member": 0,
        "pool": 2,
        "object": 7,
        "partition": 0,
        "page": 100,
        "function": 0,
        "access": 0,
        "agent": 0,
        "status": 0,
    }
    assert (second["pool"], second["function"], second["access"]) == (101, 1, 1)
    assert (third["pool"], third["access"]) == (80, 2)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_parquet_and_arrow_tell_the_same(tmp_path: Path, form: str) -> None:
    text = tmp_path / "trace.csv"
    text.write_text(TEXT)
    path = tmp_path / f"trace.{form}"
    table = pa.csv.read_csv(text)
    if form == "parquet":
        pa.parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    assert rows(path) == rows(text)


def test_a_page_column_alone_is_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    path.write_text("page\n5\n6\n")
    assert [(row["time"], row["page"], row["pool"]) for row in rows(path)] == [(0, 5, 0), (1, 6, 0)]


def test_oracle_general(tmp_path: Path) -> None:
    # Little-endian: seconds u32, object id u64, size u32, next reference i64, without padding.
    path = tmp_path / "trace.oracleGeneral.bin"
    ids = [3, 2**64 - 1, 3]
    path.write_bytes(b"".join(struct.pack("<IQIq", 9 + at, one, 4096, -1) for at, one in enumerate(ids)))
    assert [(row["time"], row["page"]) for row in rows(path)] == [
        (9_000_000, 3),
        (10_000_000, 2**64 - 1),
        (11_000_000, 3),
    ]
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(TraceError, match=r"byte 48: the last record is cut off: 19 of 24 bytes"):
        rows(path)


def test_lib_cache_sim_csv(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("time,obj_id,obj_size,next_access_vtime\n1,77,10,3\n2,78,10,-1\n")
    assert [(row["time"], row["page"]) for row in rows(path)] == [(1_000_000, 77), (2_000_000, 78)]


def test_long_traces_come_in_stretches(tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    pa.parquet.write_table(pa.table({"page": range(200_000)}), path)
    batches = list(read(path))
    assert len(batches) > 1
    assert [value for batch in batches for value in batch["time"].to_pylist()] == list(range(200_000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seite\n1\n", "there is no column named page (columns: seite)"),
        ("page,color\n1,2\n", "unknown columns: color"),
        ("page,pool\n1,BP2\n2,XX\n", "record 2: column pool holds 'XX'; name BP0 to BP49"),
        # By Db2's numbering 99 is the id of BP32K19, which Db2 has not either.
        ("page,pool\n1,BP49\n2,BP99\n", "record 2: column pool holds 'BP99'; name BP0 to BP49"),
        ("page,pool\n1,BP32K10\n", "record 1: column pool holds 'BP32K10'; name BP0 to BP49"),
        ("page,function\n1,get\n", "record 1: column function holds 'get'; give one of getpage, set_write"),
        ("page,object\n1,2\n3,\n", "record 2: column object holds nothing"),
        ("page\n1\nabc\n", "line 3: column page holds 'abc'; give numbers, whole"),
        ("page\n-1\n", "line 2: column page holds '-1'; give numbers, whole"),
        ("time,page\n1,1\n2\n", "line 3: 1 columns where the header names 2"),
        ("page,object\n1,99999999999\n", "record 1: column object holds '99999999999'; it must fit into uint32"),
        ("page,page\n1,2\n", "two columns have the same name"),
        ("page,kind\n1,table\n", "record 1: column kind holds 'table'; give one of tablespace, index"),
        ("page\n", "the trace contains no references"),
        ("", "it cannot be read"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(text)
    with pytest.raises(TraceError) as refused:
        rows(path)
    assert expected in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read"):
        rows(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("name", "number"), [("BP0", 0), ("BP49", 49), ("BP32K", 80), ("BP32K3", 83), ("BP8K0", 100), ("BP16K1", 121)]
)
def test_pool_names(name: str, number: int) -> None:
    assert (pool_id(name), pool_name(number)) == (number, name)


@pytest.mark.parametrize("name", ["", "BP", "BP8K", "GBP0", "2"])
def test_names_of_no_pool(name: str) -> None:
    assert page_trace.pool_id(name) is None


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_column_name_that_is_no_text_is_refused(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"trace.{form}"
    if form == "csv":
        path.write_bytes(TEXT.encode().replace(b"object", b"o\xff\xff\xffct", 1))
    else:
        pyarrow.parquet.write_table(pa.table({"page": [1, 2], "object": [3, 4]}), path)
        path.write_bytes(path.read_bytes().replace(b"object", b"obj\xe5ct"))
    with pytest.raises(TraceError, match=r"column|UTF-8") as refused:
        list(read(path))
    assert refused.value.remedy


def test_names_of_earlier_row_groups_are_known_in_later_ones(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    groups = [["DB.A", "DB.B"], ["DB.B", "DB.C", "DB.B"], ["DB.A", "DB.C"]]
    schema = pa.schema({"page": pa.uint64(), "object": pa.string(), "pool": pa.string()})
    with pyarrow.parquet.ParquetWriter(path, schema) as file:
        for texts in groups:
            pools = ["BP1" if text != "DB.C" else "BP8K1" for text in texts]
            file.write_table(pa.table({"page": range(len(texts)), "object": texts, "pool": pools}, schema))
    names = TraceNames()
    rows = [row for batch in FileTrace(path, names).batches() for row in batch.to_pylist()]
    assert [names.page_set(row["object"]) for row in rows] == [name for group in groups for name in group]
    assert [row["pool"] for row in rows] == [1, 1, 1, 101, 1, 1, 101]


def test_a_name_that_is_wrong_is_told_with_its_first_row(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    schema = pa.schema({"page": pa.uint64(), "access": pa.dictionary(pa.int32(), pa.string())})
    words = pa.array(["sequential", "never", "random", "odd"])
    with pyarrow.parquet.ParquetWriter(path, schema) as file:
        for rows in ([2, 0, 2], [0, 3, 1, 3]):
            access = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), words)
            file.write_table(pa.table({"page": range(len(rows)), "access": access}, schema))
    with pytest.raises(TraceError, match="record 5: column access holds 'odd'"):
        list(FileTrace(path, TraceNames()).batches())


def test_a_long_parquet_file_leaves_memory_as_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    random = np.random.default_rng(3)
    schema = pa.schema({"page": pa.uint64()})
    with pyarrow.parquet.ParquetWriter(path, schema) as file:
        for _ in range(20):
            file.write_table(pa.table({"page": random.integers(0, 2**60, 1 << 16, np.uint64)}, schema))
    before, most = pa.total_allocated_bytes(), 0
    for _ in FileTrace(path, TraceNames()).batches():
        most = max(most, pa.total_allocated_bytes() - before)
    # The file has 10 MiB; a batch with its columns, and a row group of the file, come to 4.
    assert most < 6 << 20
