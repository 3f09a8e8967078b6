"""Name files: CSV that names the databases, page sets and kinds behind the numbers of a trace.

Its columns are identified by their names, in any case and order. Either by the numbers of Db2,

    DBID,PSID,DBNAME,NAME,KIND

(also ``database id``, ``OBID``, ``ISOBID``, ``TSNAME``, ``INDEXSPACE``; ``STATEMENT_NAME``, as ``CREATOR.INDEXNAME``,
where statements call an object by another name), or by the objects of the trace,

    object,partition,name,kind

where ``object`` is the number or the name in the trace, and ``partition`` may be missing or empty for all of them.
``kind`` is ``tablespace`` or ``index`` (``T`` or ``I``), or empty.

Extracts of the catalog, by the numbers of Db2 and with a line for each partition, may also have ``BPOOL``, the pool
that the object is in, and ``SPACEF``, the kilobytes that SYSTABLEPART or SYSINDEXPART has for the partition (-1:
RUNSTATS has not counted them). docs/page-traces.md has the queries.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from plexlens.errors import UnreadableInputError
from plexlens.ingest.page_trace.names import CatalogEntry, TraceNames
from plexlens.ingest.page_trace.pool_names import POOL_NAMES, pool_id, pool_name

_REMEDY = "name its columns DBID,PSID,DBNAME,NAME,KIND or object,partition,name,kind"

_ALIASES = {
    "dbid": "dbid",
    "database id": "dbid",
    "database_id": "dbid",
    "psid": "psid",
    "obid": "psid",
    "isobid": "psid",
    "object id": "psid",
    "object_id": "psid",
    "dbname": "database",
    "database": "database",
    "name": "name",
    "page set": "name",
    "page_set": "name",
    "pageset": "name",
    "tsname": "name",
    "indexspace": "name",
    "kind": "kind",
    "type": "kind",
    "object": "object",
    "partition": "partition",
    "bpool": "pool",
    "spacef": "kilobytes",
    "space": "kilobytes",
    "statement_name": "statement_name",
    "statement name": "statement_name",
}

_KINDS = {
    "": "",
    "t": "tablespace",
    "tablespace": "tablespace",
    "table space": "tablespace",
    "i": "index",
    "index": "index",
    "indexspace": "index",
    "index space": "index",
}

_BY_NUMBERS, _BY_OBJECT = {"dbid", "psid", "database", "name"}, {"object", "name"}


def read_names(path: Path, names: TraceNames) -> int:
    """Read a name file.

    Parameters
    ----------
    path
        The file.
    names
        Where they go.

    Returns
    -------
    int
        Rows read.

    Raises
    ------
    UnreadableInputError
        It cannot be read, or a line of it means nothing.
    """
    rows = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line, row in _rows(path, file):
                if "object" in row:
                    _by_object(path, line, row, names)
                else:
                    _by_numbers(path, line, row, names)
                rows += 1
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableInputError(
            file=str(path), what=f"the names cannot be read: {what}", remedy="give CSV in UTF-8; " + _REMEDY
        ) from error
    if rows == 0:
        raise UnreadableInputError(file=str(path), what="the file contains no names", remedy=_REMEDY)
    return rows


def _rows(path: Path, file: Iterator[str]) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(file)
    header = next(reader, None)
    if header is None:
        raise UnreadableInputError(file=str(path), what="the file of names is empty", remedy=_REMEDY)
    unknown = [name for name in header if name.strip().lower() not in _ALIASES]
    columns = [_ALIASES.get(name.strip().lower(), "") for name in header]
    twice = sorted({name for name in columns if name and columns.count(name) > 1})
    if unknown or twice:
        what = f"unknown columns: {', '.join(unknown)}" if unknown else f"two columns hold {', '.join(twice)}"
        raise UnreadableInputError(file=str(path), line=1, what=what, remedy=_REMEDY)
    needed = _BY_OBJECT if "object" in columns else _BY_NUMBERS
    if "object" in columns and {"pool", "kilobytes"} & set(columns):
        raise UnreadableInputError(
            file=str(path),
            line=1,
            what="BPOOL or SPACEF together with the column object",
            remedy="name objects by DBID,PSID",
        )
    missing = sorted(needed - set(columns))
    if missing:
        raise UnreadableInputError(
            file=str(path), line=1, what=f"columns missing: {', '.join(missing)}", remedy=_REMEDY
        )
    for cells in reader:
        if not cells:
            continue
        if len(cells) != len(columns):
            raise UnreadableInputError(
                file=str(path),
                line=reader.line_num,
                what=f"{len(cells)} values where the header names {len(columns)} columns",
                remedy="write a value, or nothing, for each column",
            )
        yield reader.line_num, {name: cell.strip() for name, cell in zip(columns, cells, strict=True)}


def _by_numbers(path: Path, line: int, row: dict[str, str], names: TraceNames) -> None:
    database, page_set = (_number(path, line, name, row[name], 0xFFFF) for name in ("dbid", "psid"))
    name = f"{_text(path, line, 'database', row)}.{_text(path, line, 'name', row)}"
    names.tell(
        database << 16 | page_set,
        name,
        kind=_kind(path, line, row),
        statement_name=row.get("statement_name", ""),
    )
    if row.get("pool") or row.get("kilobytes"):
        partition = _number(path, line, "partition", row.get("partition") or "0", 0xFFFF)
        entry = CatalogEntry(_pool(path, line, row.get("pool", "")), _kilobytes(path, line, row.get("kilobytes", "")))
        names.tell_catalog(database << 16 | page_set, partition, entry)


def _pool(path: Path, line: int, text: str) -> str:
    pool = pool_id(text) if text else None
    if text and (pool is None or pool_name(pool) != text.upper()):
        raise UnreadableInputError(
            file=str(path), line=line, what=f"column BPOOL holds {text!r}", remedy=f"give nothing, or {POOL_NAMES}"
        )
    return text.upper()


def _kilobytes(path: Path, line: int, text: str) -> float | None:
    if not text:
        return None
    try:
        size = float(text)
    except ValueError:
        size = float("nan")
    if not -1 <= size < 1e12:
        raise UnreadableInputError(
            file=str(path), line=line, what=f"column SPACEF holds {text!r}", remedy="give kilobytes, -1 or nothing"
        )
    return size if size >= 0 else None


def _by_object(path: Path, line: int, row: dict[str, str], names: TraceNames) -> None:
    object_text = _text(path, line, "object", row)
    name, kind = _text(path, line, "name", row), _kind(path, line, row)
    number = (
        _number(path, line, "object", object_text, 0xFFFFFFFF)
        if object_text.isdigit()
        else names.object_of(object_text)
    )
    partition = row.get("partition", "")
    if partition:
        names.tell_partition(number, _number(path, line, "partition", partition, 0xFFFF), name)
        if kind:
            names.tell_kind(number, kind)
    else:
        names.tell(number, name, kind=kind, statement_name=row.get("statement_name", ""))


def _text(path: Path, line: int, column: str, row: dict[str, str]) -> str:
    if not row[column]:
        raise UnreadableInputError(
            file=str(path),
            line=line,
            what=f"column {column} holds nothing",
            remedy="give a value, or leave out the line",
        )
    return row[column]


def _number(path: Path, line: int, column: str, text: str, most: int) -> int:
    if text.isascii() and text.isdigit() and int(text) <= most:
        return int(text)
    raise UnreadableInputError(
        file=str(path), line=line, what=f"column {column} holds {text!r}", remedy=f"give a number from 0 to {most}"
    )


def _kind(path: Path, line: int, row: dict[str, str]) -> str:
    kind = _KINDS.get(row.get("kind", "").lower())
    if kind is None:
        raise UnreadableInputError(
            file=str(path),
            line=line,
            what=f"column kind holds {row['kind']!r}",
            remedy="give tablespace, index or nothing",
        )
    return kind
