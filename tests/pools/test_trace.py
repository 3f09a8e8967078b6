"""Traces in every form are the same references: read, merged, written, read again; and what is not a trace."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from plexlens import _core
from plexlens.cli.every import app
from plexlens.errors import NothingUsableError, PlexlensError, UnreadableInputError, UsageError
from plexlens.ingest.page_trace.order import Disorder, in_order
from plexlens.pools.trace import LostRecordsError, Trace, TraceError, TraceOrderError, open_trace, write_trace
from tests.oracle.slow_lru import lru_misses
from tests.pools import traced_records as traced
from tests.pools.traced_records import Page

SIZES = (1, 2, 3, 5, 8, 13, 40, 100, 300)


def rows(trace: Trace) -> list[dict[str, Any]]:
    return [row for batch in trace.batches() for row in batch.to_pylist()]


def csv(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def misses(trace: Trace) -> dict[int, float]:
    """Misses of the only pool at every size."""
    curves = _core.PoolCurves()
    for batch in trace.batches():
        curves.add(batch)
    (pool,) = curves.pools()
    return {size: found[0] for size, found in zip(SIZES, curves.read_misses(pool, list(SIZES)), strict=True)}


def references() -> npt.NDArray[np.int64]:
    """Zipf with scans between, over some three hundred pages."""
    rng = np.random.default_rng(11)
    parts = [rng.zipf(1.2, 400) % 250, np.arange(250, 310), rng.zipf(1.4, 300) % 250, np.arange(250, 310)]
    return np.concatenate([*parts, rng.integers(0, 310, 200)])


def as_ifcid_198(folder: Path, pages: Sequence[int]) -> Path:
    records = [traced.pages(at * 1_000_000, Page(page, pool=0), sequence=at + 1) for at, page in enumerate(pages)]
    return traced.dump(folder / "t.smf", *records)


def as_several_to_a_record(folder: Path, pages: Sequence[int]) -> Path:
    records = [
        traced.pages(at * 1_000_000, *[Page(page, pool=0) for page in pages[at : at + 7]], sequence=at // 7 + 1)
        for at in range(0, len(pages), 7)
    ]
    return traced.dump(folder / "t.smf", *records)


def as_csv(folder: Path, pages: Sequence[int]) -> Path:
    return csv(folder / "t.csv", "time,pool,object,page", *[f"{at},BP0,D.T,{page}" for at, page in enumerate(pages)])


def as_packed_csv(folder: Path, pages: Sequence[int]) -> Path:
    path = folder / "t.csv.gz"
    path.write_bytes(gzip.compress(as_csv(folder, pages).read_bytes()))
    return path


def as_parquet(folder: Path, pages: Sequence[int]) -> Path:
    pq.write_table(pa.table({"time": range(len(pages)), "page": pages}), folder / "t.parquet", row_group_size=100)
    return folder / "t.parquet"


def as_arrow(folder: Path, pages: Sequence[int]) -> Path:
    table = pa.table({"time": range(len(pages)), "page": pages})
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as arrow:
        arrow.write_table(table)
    return folder / "t.arrow"


def as_oracle_general(folder: Path, pages: Sequence[int]) -> Path:
    path = folder / "t.oracleGeneral.bin"
    path.write_bytes(b"".join(struct.pack("<IQIq", at, page, 4096, -1) for at, page in enumerate(pages)))
    return path


def as_lib_cache_sim_csv(folder: Path, pages: Sequence[int]) -> Path:
    lines = [f"{at},{page},4096,-1" for at, page in enumerate(pages)]
    return csv(folder / "t.csv", "time,obj_id,obj_size,next_access_vtime", *lines)


FORMS = (
    as_ifcid_198,
    as_several_to_a_record,
    as_csv,
    as_packed_csv,
    as_parquet,
    as_arrow,
    as_oracle_general,
    as_lib_cache_sim_csv,
)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_references_miss_the_same(tmp_path: Path, form: Callable[[Path, Sequence[int]], Path]) -> None:
    pages = references().tolist()
    trace = open_trace([form(tmp_path, pages)])
    assert misses(trace) == {size: lru_misses(pages, size) for size in SIZES}
    assert trace.facts.references["getpage"] == len(pages)
    assert trace.facts.complete
    # A second pass is the first again.
    assert misses(trace) == {size: lru_misses(pages, size) for size in SIZES}


@pytest.mark.parametrize("form", FORMS)
def test_the_command_answers_the_same(tmp_path: Path, form: Callable[[Path, Sequence[int]], Path]) -> None:
    pages = references().tolist()
    sizes = ",".join(map(str, SIZES))
    done = CliRunner().invoke(app, ["pools", str(form(tmp_path, pages)), "--json", "--sizes", sizes])
    assert done.exit_code == 0, done.output
    curve = [{"pages": size, "read_misses": lru_misses(pages, size)} for size in SIZES]
    wanted = {"getpages": len(pages), "distinct_pages": len(set(pages)), "curve": curve}
    assert json.loads(done.stdout) == {"pools": {"BP0": wanted}}


@pytest.mark.parametrize("form", [as_ifcid_198, as_csv, as_oracle_general])
def test_pieces_are_one_trace(tmp_path: Path, form: Callable[[Path, Sequence[int]], Path]) -> None:
    """Cut in two and read again as two pieces, given in any order."""
    pages = references().tolist()
    whole = rows(open_trace([form(tmp_path, pages)]))
    parts = []
    for name, part in (("one", whole[:500]), ("two", whole[500:])):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "t.parquet"
        pq.write_table(pa.Table.from_pylist(part), path)
        parts.append(path)
    assert rows(open_trace(parts)) == whole
    assert rows(open_trace(parts[::-1])) == whole


def test_pieces_without_times_follow_each_other(tmp_path: Path) -> None:
    one, two = csv(tmp_path / "1.csv", "page", "5", "6"), csv(tmp_path / "2.csv", "page", "5", "7")
    trace = open_trace([one, two, one])
    assert [(row["time"], row["page"]) for row in rows(trace)] == [(0, 5), (1, 6), (2, 5), (3, 7), (4, 5), (5, 6)]
    assert (trace.facts.timed, trace.facts.seconds) == (False, 0.0)
    assert trace.facts.notes == ["The trace has no times: its rows are numbered, and there are no rates per second."]


@pytest.mark.parametrize("first", ["page", "time,page"])
def test_pieces_with_and_without_times_do_not_go_together(tmp_path: Path, first: str) -> None:
    second = {"page": "time,page", "time,page": "page"}[first]
    paths = [
        csv(tmp_path / f"{number}.csv", header, *[",".join(["1"] * (header.count(",") + 1))] * 3)
        for number, header in enumerate((first, second))
    ]
    with pytest.raises(TraceError, match=r"1\.csv: it has (no )?times, but earlier pieces"):
        rows(open_trace(paths))
    if first == "page":
        with pytest.raises(TraceError, match="it has times, but earlier pieces do not"):
            rows(open_trace([paths[0], traced.dump(tmp_path / "t.smf", traced.pages(1, Page(1)))]))


def test_merging_is_a_stable_sort_by_time(tmp_path: Path) -> None:
    """Against the obvious: all rows in one list, sorted by time, by piece where times are the same."""
    rng = np.random.default_rng(5)
    paths, everything = [], []
    for piece in range(4):
        times = np.sort(rng.integers(0, 30_000, 150_000))
        table = pa.table({"time": times, "member": np.full(len(times), piece), "page": np.arange(len(times))})
        pq.write_table(table, tmp_path / f"{piece}.parquet")
        paths.append(tmp_path / f"{piece}.parquet")
        everything += [(time, piece, page) for page, time in enumerate(times.tolist())]
    batches = list(open_trace(paths).batches())
    merged = pa.Table.from_batches(batches).select(["time", "member", "page"])
    wanted = sorted(everything)
    assert [tuple(row) for row in zip(*(column.to_pylist() for column in merged.columns), strict=True)] == wanted


# --- order -----------------------------------------------------------------------------------------------------------


def stretches(times: Sequence[int], rows_each: int) -> list[pa.RecordBatch]:
    whole = pa.record_batch({"time": pa.array(times, pa.int64()), "page": pa.array(range(len(times)), pa.uint64())})
    return [whole.slice(at, rows_each) for at in range(0, len(times), rows_each)]


@pytest.mark.parametrize("late", [2, 3, 9])
def test_what_is_late_within_a_batch_is_put_right(late: int) -> None:
    rng = np.random.default_rng(late)
    times = (np.arange(500) + rng.integers(0, late + 1, 500)).tolist()
    disorder = Disorder()
    made = list(in_order(stretches(times, 10), disorder, file="t", remedy=""))
    got = [(time, page) for batch in made for time, page in zip(*(c.to_pylist() for c in batch.columns), strict=True)]
    assert got == sorted((time, page) for page, time in enumerate(times))
    assert disorder.rows > 0


def test_what_is_later_than_a_batch_is_refused() -> None:
    times = [*range(100, 130), 50, *range(131, 140)]
    with pytest.raises(TraceOrderError) as refused:
        list(in_order(stretches(times, 10), Disorder(), file="t.csv", remedy="sort it"))
    assert str(refused.value) == (
        "t.csv: record 21: references are out of order: a reference at 50 us comes more than a batch after "
        "a reference at 119 us, which is 0.000069 s later; sort it"
    )


def test_in_order_nothing_is_counted() -> None:
    disorder = Disorder()
    batches = stretches([1, 1, 2, 2, 2, 3, 9], 2)
    assert list(in_order(batches, disorder, file="t", remedy="")) == batches
    assert disorder.rows == 0


# --- losses ----------------------------------------------------------------------------------------------------------


def test_a_file_may_tell_its_losses(tmp_path: Path) -> None:
    lines = ["page,lost", *[f"{page},{5 if page == 50 else 0}" for page in range(95)]]
    trace = open_trace([csv(tmp_path / "t.csv", *lines)])
    assert len(rows(trace)) == 95
    assert (trace.facts.lost, trace.facts.lost_share) == (5, 0.05)
    assert "5 of 100 references (5.0%) were lost while tracing: misses are off" in trace.facts.notes[-1]
    table = pa.table({"page": range(70)}).replace_schema_metadata({"plexlens.lost": "30"})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(LostRecordsError, match=r"30 of 100 references \(30.0%\) were lost") as refused:
        rows(open_trace([tmp_path / "t.parquet"]))
    assert (refused.value.lost, refused.value.share) == (30, 0.3)
    assert len(rows(open_trace([tmp_path / "t.parquet"], force=True))) == 70
    pq.write_table(table.replace_schema_metadata({"plexlens.lost": "many"}), tmp_path / "t.parquet")
    with pytest.raises(TraceError, match=r"its metadata plexlens\.lost holds 'many'"):
        rows(open_trace([tmp_path / "t.parquet"]))


def notes_of(done: Any, options: list[str]) -> str:
    """Notes stand beside JSON, and within text; the text is wrapped."""
    return done.stderr if options else " ".join(done.stdout.split()).replace("NOTE", "Note")


@pytest.mark.parametrize("options", [["--json"], []])
def test_the_command_tells_losses(tmp_path: Path, options: list[str]) -> None:
    path = csv(tmp_path / "t.csv", "page,lost", "1,0", "1,1", *["1,0"] * 47)
    done = CliRunner().invoke(app, ["pools", str(path), "--sizes", "1", *options])
    assert done.exit_code == 0
    assert "ote: 1 of 50 references (2.0%) were lost while tracing: misses are off" in notes_of(done, options)
    path = csv(tmp_path / "t.csv", "page,lost", "1,0", "1,1", "1,0")
    done = CliRunner().invoke(app, ["pools", str(path), "--sizes", "1", *options])
    assert isinstance(done.exception, LostRecordsError)
    assert (done.exception.exit_code, done.stdout) == (3, "")
    done = CliRunner().invoke(app, ["pools", str(path), "--sizes", "1", "--force", *options])
    assert done.exit_code == 0
    assert "1 of 4 references (25.0%) were lost" in notes_of(done, options)


# --- bad input -------------------------------------------------------------------------------------------------------


def test_no_getpages(tmp_path: Path) -> None:
    trace = open_trace([csv(tmp_path / "t.csv", "page,function", "1,release", "2,set_write")])
    with pytest.raises(
        NothingUsableError, match="the trace has no getpage among 2 references; give a trace with getpages: IFCID 198"
    ):
        rows(trace)


def test_one_page(tmp_path: Path) -> None:
    trace = open_trace([csv(tmp_path / "t.csv", "page", "7")])
    assert misses(trace) == dict.fromkeys(SIZES, 1)


@pytest.mark.parametrize("form", [as_parquet, as_arrow, as_oracle_general, as_packed_csv])
def test_cut_files(tmp_path: Path, form: Callable[[Path, Sequence[int]], Path]) -> None:
    path = form(tmp_path, references().tolist())
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(UnreadableInputError) as refused:
        rows(open_trace([path]))
    assert str(path) in str(refused.value)
    assert "again" in str(refused.value)


# --- names -----------------------------------------------------------------------------------------------------------


def test_text_columns_name_objects_and_members(tmp_path: Path) -> None:
    lines = ["member,object,page,kind", "DB1A,PAY.EMPTS,1,tablespace", "DB1B,PAY.EMPIX,1,index", "DB1A,17,2,"]
    trace = open_trace([csv(tmp_path / "t.csv", *lines)])
    first, second, third = rows(trace)
    assert [trace.names.data_set(row["object"], 0) for row in (first, second, third)] == [
        "PAY.EMPTS",
        "PAY.EMPIX",
        "17",
    ]
    assert [trace.names.kind(row["object"]) for row in (first, second, third)] == ["tablespace", "index", ""]
    assert [trace.names.member(row["member"]) for row in (first, second, third)] == ["DB1A", "DB1B", "DB1A"]
    assert third["object"] == 17


NUMBERED = "object,page,pool\n17039362,1,BP2\n17039363,1,BP2\n17039364,1,BP2\n"


@pytest.mark.parametrize(
    "names",
    [
        "DBID,PSID,DBNAME,NAME,KIND\n260,2,PAY,EMPTS,T\n260,3,PAY,EMPIX,I\n",
        "kind,name,database,object id,database id,statement_name\nindex,EMPIX,PAY,3,260,HR.XEMP1\n,EMPTS,PAY,2,260,\n",
        "object,name,kind\n17039362,PAY.EMPTS,tablespace\n17039363,PAY.EMPIX,index\n",
    ],
)
def test_a_file_of_names(tmp_path: Path, names: str) -> None:
    (tmp_path / "t.csv").write_text(NUMBERED)
    (tmp_path / "names.csv").write_text(names)
    trace = open_trace([tmp_path / "t.csv"], names=tmp_path / "names.csv")
    assert [trace.names.data_set(row["object"], row["partition"]) for row in rows(trace)] == [
        "PAY.EMPTS",
        "PAY.EMPIX",
        "260.4",
    ]
    assert trace.names.kind(260 << 16 | 3) == "index"
    assert trace.names.statement_name(260 << 16 | 3) == ("HR.XEMP1" if "HR" in names else "PAY.EMPIX")


def test_names_of_partitions_and_of_named_objects(tmp_path: Path) -> None:
    csv(tmp_path / "t.csv", "object,partition,page", "PAY.EMPTS,1,1", "PAY.EMPTS,2,1", "9,1,1")
    csv(tmp_path / "n.csv", "object,partition,name,kind", "PAY.EMPTS,,PAYROLL.EMPLOYEES,T", "9,1,LOG,")
    trace = open_trace([tmp_path / "t.csv"], names=tmp_path / "n.csv")
    assert [trace.names.data_set(row["object"], row["partition"]) for row in rows(trace)] == [
        "PAYROLL.EMPLOYEES.1",
        "PAYROLL.EMPLOYEES.2",
        "LOG",
    ]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("", "the file of names is empty"),
        ("DBID,PSID,DBNAME,NAME\n", "the file contains no names"),
        ("DBID,PSID,NAME,COLOR\n", "line 1: unknown columns: COLOR"),
        ("DBID,PSID,NAME\n1,2,A\n", "line 1: columns missing: database"),
        ("DBID,PSID,OBID,DBNAME,NAME\n", "line 1: two columns hold psid"),
        ("DBID,PSID,DBNAME,NAME\n1,2,A,B\n1,x,A,B\n", "line 3: column psid holds 'x'; give a number from 0 to 65535"),
        ("DBID,PSID,DBNAME,NAME\n1,65536,A,B\n", "line 2: column psid holds '65536'"),
        ("DBID,PSID,DBNAME,NAME\n1,2,,B\n", "line 2: column database holds nothing"),
        ("DBID,PSID,DBNAME,NAME\n1,2,A\n", "line 2: 3 values where the header names 4 columns"),
        ("object,name,kind\n1,A,table\n", "line 2: column kind holds 'table'; give tablespace, index or nothing"),
        ("object,partition,name\n1,one,A\n", "line 2: column partition holds 'one'"),
        ("object,name\n1,\xff\n", "the names cannot be read"),
    ],
)
def test_files_of_names_that_are_none(tmp_path: Path, names: str, expected: str) -> None:
    (tmp_path / "t.csv").write_text(NUMBERED)
    (tmp_path / "names.csv").write_bytes(names.encode("latin-1"))
    with pytest.raises(UnreadableInputError) as refused:
        open_trace([tmp_path / "t.csv"], names=tmp_path / "names.csv")
    assert expected in str(refused.value)
    assert "names.csv" in str(refused.value)


# --- writing ---------------------------------------------------------------------------------------------------------


def told(trace: Trace) -> list[tuple[Any, ...]]:
    """The references with names in place of numbers."""
    names = trace.names
    return [
        (
            row["time"],
            names.member(row["member"]),
            names.pool(row["pool"]),
            names.data_set(row["object"], row["partition"]),
            names.kind(row["object"]),
            row["page"],
            row["function"],
            row["access"],
        )
        for row in rows(trace)
    ]


SUFFIXES = ("csv", "csv.gz", "parquet", "arrow")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read_again(tmp_path: Path, suffix: str) -> None:
    records = [traced.name(0, 2, "PAYROLL", "EMP,TS"), traced.data_set(1, 2, "T", sync=(1, 0.1, 0.1))]
    records += [
        traced.pages(
            at,
            Page(at * 7 % 40, psid=2 + at % 3, function="GSR"[at % 3], access="RSLD"[at % 4], partition=at % 2),
            sequence=at,
            subsystem="DB2A" if at % 5 else "DB2B",
        )
        for at in range(1, 200)
        if at != 77
    ]
    # A name that follows the references, and one that two objects have had.
    records += [traced.name(300, 3, "PAYROLL", "EMPIX"), traced.name(301, 4, "PAYROLL", "EMPIX")]
    trace = open_trace([traced.dump(tmp_path / "t.smf", *records)], force=True)
    assert write_trace(trace, tmp_path / f"t.{suffix}") == 198
    written = open_trace([tmp_path / f"t.{suffix}"], force=True)
    assert told(written) == told(trace)
    assert {name for _, _, _, name, *_ in told(written)} == {
        *("PAYROLL.EMP,TS", "PAYROLL.EMP,TS.1"),
        *(f"PAYROLL.EMPIX[260.{psid}]{partition}" for psid in (3, 4) for partition in ("", ".1")),
    }
    assert written.facts.lost == trace.facts.lost > 0
    assert write_trace(written, tmp_path / f"again.{suffix}") == 198
    assert (tmp_path / f"again.{suffix}").read_bytes() == (tmp_path / f"t.{suffix}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_trace_without_times_stays_so(tmp_path: Path, suffix: str) -> None:
    trace = open_trace([csv(tmp_path / "pages.csv", "page", "3", str(2**64 - 1), "3")])
    write_trace(trace, tmp_path / f"t.{suffix}")
    written = open_trace([tmp_path / f"t.{suffix}"])
    assert rows(written) == rows(trace)
    assert not written.facts.timed


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = csv(tmp_path / "t.csv", "page,lost", "1,9", "2,0")
    for target, kind, expected in (
        (tmp_path / "t.xlsx", UsageError, r"its file ending is not that of a known form; end it with \.csv"),
        (path, UsageError, "the command reads the trace from this file"),
        (tmp_path / "none" / "t.csv", PlexlensError, "it cannot be written"),
    ):
        with pytest.raises(kind, match=expected):
            write_trace(open_trace([path], force=True), target)
    with pytest.raises(LostRecordsError):
        write_trace(open_trace([path]), tmp_path / "u.csv")
    assert [one.name for one in tmp_path.iterdir()] == ["t.csv"]


# --- longer than memory ----------------------------------------------------------------------------------------------

_PEAK = """
import resource, sys
from pathlib import Path
from plexlens.pools.trace import open_trace
trace = open_trace([Path(sys.argv[1])])
rows = sum(batch.num_rows for batch in trace.batches())
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(path: Path) -> tuple[int, float]:
    """References, and the most memory of a process that reads them, in MB."""
    done = subprocess.run([sys.executable, "-c", _PEAK, str(path)], capture_output=True, text=True, check=True)
    references, kilobytes = map(int, done.stdout.split())
    return references, kilobytes / 1024


def long_file(path: Path, count: int) -> Path:
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "time": np.arange(count) * 10,
            "pool": pa.array(np.full(count, "BP2")).dictionary_encode(),
            "object": rng.integers(0, 50, count),
            "page": rng.integers(0, 1 << 40, count),
        }
    )
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=1 << 17)
    else:
        pa.csv.write_csv(table.set_column(1, "pool", table["pool"].cast(pa.string())), path)
    return path


def long_dump(path: Path, count: int) -> Path:
    """A record of five hundred references again and again, each with its own number (QWHSWSEQ)."""
    record = bytearray(traced.pages(1, *[Page(page) for page in range(500)]))
    with path.open("wb") as file:
        for number in range(count // 500):
            # QWHSWSEQ, as traced_records has QWHSISEQ: four bytes on.
            record[72:76] = number.to_bytes(4, "big")
            file.write(record)
    return path


@pytest.mark.parametrize(
    ("make", "name", "few", "many"),
    [
        (long_file, "t.parquet", 300_000, 3_000_000),
        (long_file, "t.csv", 300_000, 1_500_000),
        (long_dump, "t.smf", 1_000_000, 4_000_000),
    ],
)
def test_memory_does_not_grow_with_the_trace(
    tmp_path: Path, make: Callable[[Path, int], Path], name: str, few: int, many: int
) -> None:
    small, large = (peak(make(tmp_path / name, count)) for count in (few, many))
    assert (small[0], large[0]) == (few, many)
    # What is read in addition takes 27 bytes a reference in memory: 30 MB and more, none of which stays.
    assert large[1] - small[1] < 0.5 * 27e-6 * (many - few), (small, large)
