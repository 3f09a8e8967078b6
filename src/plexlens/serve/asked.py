"""A question in SQL, answered in a separate process without other rights.

The process may read the files of the database and no others, has no network, and is bounded in time, memory and the
size of its answer. The server (`question`) speaks to it over its standard input and output, and ends it when it is
late.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens.errors import PlexlensError, UsageError
from plexlens.pdb.deadline import OverTimeError
from plexlens.serve.child import environment
from plexlens.serve.workspace import BusyError

#: Seconds of a question, and bytes of its answer, at most.
LONGEST, LARGEST = 30.0, 64 << 20

#: Seconds that the process may take beyond those of its question, to start and to answer, before it is killed.
_STARTING = 15.0

#: Memory of the process beyond that of the engine: for its answer, and what the engine does not count.
_BESIDES = 512 << 20

#: Functions that read files; the engine would read those of the database alone, and these are not for reading as text.
_FILES = (
    "read_parquet", "parquet_scan", "parquet_metadata", "parquet_schema", "parquet_file_metadata",
    "parquet_kv_metadata", "parquet_bloom_probe", "parquet_full_metadata", "read_csv", "read_csv_auto", "sniff_csv",
    "read_json",
    "read_json_auto", "read_json_objects", "read_json_objects_auto", "read_ndjson", "read_ndjson_auto",
    "read_ndjson_objects", "read_text", "read_blob", "read_duckdb", "glob", "query", "query_table",
)  # fmt: skip


#: A pragma, which the engine takes for a SELECT where it lists something, behind comments.
_PRAGMA = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*pragma\b", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """An answer.

    Attributes
    ----------
    table
        The rows.
    has_more
        Whether there are further rows that were left out.
    """

    table: pa.Table
    has_more: bool


def question(database: Path, query: str, *, rows: int, memory: int, seconds: float | None = None) -> Asked:
    """Answer a question in SQL.

    Parameters
    ----------
    database
        The performance database.
    query
        One SELECT.
    rows
        Rows of the answer at most.
    memory
        Bytes that the engine may use.
    seconds
        Time that it may take; None for `LONGEST`.

    Raises
    ------
    UsageError
        The query is not one SELECT over the tables of the database, or it fails.
    BusyError
        It takes too long, or needs too much memory.
    """
    seconds = LONGEST if seconds is None else seconds
    texts = {"database": str(database), "query": query, "rows": rows, "memory": memory, "seconds": seconds}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "plexlens.serve.asked"],
            input=json.dumps(texts).encode(),
            capture_output=True,
            timeout=seconds + _STARTING,
            env=environment(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _too_long(seconds) from error
    head, _, body = done.stdout.partition(b"\n")
    if done.returncode or not head:
        raise _too_much_memory(memory)
    said = json.loads(head)
    if said.get("kind") == "memory":
        raise _too_much_memory(memory)
    if said.get("kind") == "time":
        raise _too_long(seconds)
    if "what" in said:
        raise UsageError(file="", what=said["what"], remedy=said["remedy"])
    return Asked(pa.ipc.open_stream(body).read_all(), said["has_more"])


def _too_long(seconds: float) -> BusyError:
    return BusyError(
        file="",
        what=f"the query takes longer than {seconds:.0f} seconds",
        remedy="ask for less time or fewer columns, run it with plexlens sql, or start plexlens serve with more "
        "--time-limit",
    )


def _too_much_memory(memory: int) -> BusyError:
    return BusyError(
        file="",
        what=f"the query needs more memory than {memory >> 20:,} MiB",
        remedy="ask for fewer rows or columns, or run it with plexlens sql",
    )


def main() -> None:
    """Answer the question on standard input."""
    text = json.loads(sys.stdin.buffer.read())
    out = sys.stdout.buffer
    try:
        table, has_more = _answer(Path(text["database"]), text["query"], text["rows"], text["memory"], text["seconds"])
    except MemoryError:
        out.write(b'{"kind": "memory"}\n')
        return
    except OverTimeError:
        out.write(b'{"kind": "time"}\n')
        return
    except PlexlensError as error:
        kind = "memory" if "Out of Memory" in error.what or "bad_alloc" in error.what else "use"
        out.write(json.dumps({"kind": kind, "what": error.what, "remedy": error.remedy}).encode() + b"\n")
        return
    out.write(json.dumps({"has_more": has_more}).encode() + b"\n")
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)


def _answer(database: Path, query: str, rows: int, memory: int, seconds: float) -> tuple[pa.Table, bool]:
    import duckdb

    from plexlens.metrics.user_query import Limits, TimeLimitError, check_query, confine, run_query
    from plexlens.pdb import Pdb

    try:
        check_query(query, "")
    except UsageError as error:
        what = error.what.replace("the command", "this page")
        raise UsageError(file="", what=what, remedy='give one SELECT; "show tables" lists the tables') from error
    connection = Pdb.open(database).connect(memory_limit=f"{memory >> 10}KiB")
    statement = duckdb.extract_statements(query)[-1].query.strip().rstrip(";")
    if _PRAGMA.match(query):
        raise UsageError(file="", what="this is a pragma, and this page only reads", remedy="give one SELECT")
    _check_sources(connection, statement)
    limited = f"select * from ({statement}\n) limit {rows + 1}"
    try:
        duckdb.extract_statements(limited)
    except duckdb.Error:
        limited = query

    def lock(confined: Any) -> None:
        confine(confined, database)
        _bound(memory + _BESIDES)

    try:
        table = run_query(connection, limited, "", before=lock, limits=Limits(seconds=seconds))
    except TimeLimitError as error:
        raise OverTimeError from error
    if table.nbytes > LARGEST:
        raise UsageError(
            file="",
            what=f"the answer has more than {LARGEST >> 20} MiB",
            remedy="ask for fewer rows or columns, or run it with plexlens sql",
        )
    return table.slice(0, rows), table.num_rows > rows


def _check_sources(connection: Any, statement: str) -> None:
    """Refuse a query that reads files.

    Raises
    ------
    UsageError
        It names a file, or a function that reads some.
    """
    from plexlens.metrics.user_query import nodes_of

    for node in nodes_of(connection, statement):
        function, table = str(node.get("function_name", "")).lower(), str(node.get("table_name", ""))
        if function in _FILES or (node.get("type") == "BASE_TABLE" and any(sign in table for sign in "/\\.*?:")):
            raise UsageError(
                file="",
                what=f"{function or repr(table)} reads files, and a query here reads only tables of the database",
                remedy='name tables and metric views; "show tables" lists them',
            )


def _bound(extra: int) -> None:
    """Limit the additional memory that the process may allocate, where the system can measure and limit it."""
    try:
        import resource

        status = Path("/proc/self/status").read_text(encoding="ascii")
    except (ImportError, OSError):
        return
    count = next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData")), 0)
    if count:
        resource.setrlimit(resource.RLIMIT_DATA, (count + extra, count + extra))


if __name__ == "__main__":
    main()
