"""libCacheSim's trace formats: oracleGeneral, lcs, vscsi, txt, and its csv files.

Each has one object and getpages alone; sizes of objects are not pages, and are left aside. The formats are those of its
repository (1a1a11a/libCacheSim: ``traceReader``, and the samples in ``data``).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from plexlens.ingest.page_trace.arrays import Column
from plexlens.ingest.page_trace.error import TraceError

#: A record of oracleGeneral: seconds, object id, object size, when it is referenced next.
_ORACLE = np.dtype([("time", "<u4"), ("page", "<u8"), ("size", "<u4"), ("next", "<i8")])

#: Records of VMware's vscsi traces, version 1 and 2; times in microseconds.
_VSCSI = {
    1: np.dtype("<u4, <u4, <u4, <u2, <u2, <u8, <u8"),
    2: np.dtype("<u2, <u2, <u4, <u4, <u4, <u8, <u8, <u8"),
}

_VSCSI[1].names = ("sn", "size", "parts", "command", "version", "page", "time")
_VSCSI[2].names = ("command", "version", "sn", "size", "parts", "page", "time", "response")

#: Header of lcs: its length, the magic number at both ends, and where it says what records hold.
_LCS_HEADER, _LCS_MAGIC, _LCS_FORMAT = 1024, 0x123456789ABCDEF0, slice(8, 248)
_LCS_TYPES = {"c": "i1", "b": "i1", "B": "u1", "h": "<i2", "H": "<u2", "i": "<i4", "I": "<u4", "l": "<i4", "L": "<u4"}
_LCS_TYPES |= {"q": "<i8", "Q": "<u8", "f": "<f4", "d": "<f8"}

_SECOND = 1_000_000

#: Records that are read at once: they stay in the processor's cache until their columns are taken out of them.
_BLOCK = 16_384

#: Names of the object in csv files, and of its time in seconds.
_OBJECTS, _TIMES = ("obj_id", "lbn"), ("time", "timestamp")

_NAME = re.compile(r"\.(?:(oracleGeneral)(?:\.bin)?|(lcs)|(vscsi))(?:\.zst|\.gz)?$")

_AGAIN = "copy the file again, in binary"


def binary_form(name: str) -> str | None:
    """``oracleGeneral``, ``lcs`` or ``vscsi`` by the end of a file's name: only lcs has a signature; else None."""
    match = _NAME.search(name)
    return None if match is None else next(group for group in match.groups() if group)


def binary_columns(path: Path, rows: int, compression: str | None) -> Iterator[tuple[dict[str, pa.Array], int]]:
    """Columns of a binary trace, at most ``rows`` rows at a time, and the bytes that they took, expanded.

    Parameters
    ----------
    path
        The file; its name tells the form.
    rows
        The most rows of a part, at least `_BLOCK`.
    compression
        ``gzip`` or ``zstd``; None where it is not compressed.

    Raises
    ------
    TraceError
        It is not what its name says, or is cut off.
    """
    with pa.OSFile(str(path)) as raw, pa.CompressedInputStream(raw, compression) if compression else raw as file:
        head = file.read(_LCS_HEADER)
        if head and re.fullmatch(rb"[\t\r\n\x20-\x7e]+", head):
            raise TraceError(
                file=str(path),
                what=f"its name is that of the format {binary_form(path.name)}, but it holds text",
                remedy="give it the name that it needs, such as .csv or .txt",
            )
        form = binary_form(path.name)
        if form == "oracleGeneral":
            record, begins, scale = _ORACLE, 0, _SECOND
        elif form == "lcs":
            record, begins, scale = _lcs_record(path, head), _LCS_HEADER, _SECOND
        else:
            record, begins, scale = _vscsi_record(path, head), 0, 1
        is_timed = "time" in (record.names or ())
        pages, times, taken = Column(rows, np.uint64), Column(rows, np.int64), 0
        for records in _blocks(file, record, head[begins:], begins, path):
            pages.add(records["page"])
            if is_timed:
                times.add(records["time"], scale)
            taken += records.nbytes
            if pages.room < _BLOCK:
                yield _named(pages, times if is_timed else None), taken
                pages, times, taken = Column(rows, np.uint64), Column(rows, np.int64), 0
        if taken:
            yield _named(pages, times if is_timed else None), taken


def _named(pages: Column, times: Column | None) -> dict[str, pa.Array]:
    return {"page": pages.array()} if times is None else {"page": pages.array(), "time": times.array()}


def _blocks(file: pa.NativeFile, record: np.dtype[Any], rest: bytes, begins: int, path: Path) -> Iterator[Any]:
    """Arrays of `_BLOCK` records, the last one shorter. All are of one memory: take what is needed before the next."""
    block = bytearray(_BLOCK * record.itemsize)
    done = begins
    while length := _fill(file, block, rest):
        cut = length % record.itemsize
        if cut:
            raise TraceError(
                file=str(path),
                offset=done + length - cut,
                what=f"the last record is cut off: {cut} of {record.itemsize} bytes",
                remedy=_AGAIN,
            )
        yield np.frombuffer(block, record, length // record.itemsize)
        done, rest = done + length, b""


def _fill(file: pa.NativeFile, block: bytearray, rest: bytes) -> int:
    """Fill a block with what is left of the bytes read before and with those that follow; the number of bytes."""
    length = len(rest)
    block[:length] = rest
    view = memoryview(block)
    while length < len(block) and (more := file.readinto(view[length:])):
        length += more
    return length


def _vscsi_record(path: Path, head: bytes) -> np.dtype[Any]:
    """The record of the version that the first two records tell."""
    for version, record in sorted(_VSCSI.items(), reverse=True):
        first = np.frombuffer(head[: len(head) // record.itemsize * record.itemsize], record)[:2]
        if len(first) and (first["version"] >> 8 == version).all():
            return record
    raise TraceError(
        file=str(path),
        what="its records are not those of vscsi, version 1 or 2",
        remedy=f"give an unchanged vscsi trace; {_AGAIN}",
    )


def _lcs_record(path: Path, head: bytes) -> np.dtype[Any]:
    """The record that the header describes, with the fields ``page`` and, if there is one, ``time``."""

    def refused(what: str) -> TraceError:
        return TraceError(file=str(path), what=what, remedy=f"give a trace that libCacheSim wrote as lcs; {_AGAIN}")

    if len(head) < _LCS_HEADER:
        raise refused(f"the lcs header is cut off: {len(head)} of {_LCS_HEADER} bytes")
    first, last = struct.unpack_from("<Q", head)[0], struct.unpack_from("<Q", head, _LCS_HEADER - 8)[0]
    if first != _LCS_MAGIC or last != _LCS_MAGIC:
        raise refused("it does not begin with an lcs header")
    text = head[_LCS_FORMAT].split(b"\0")[0].decode("ascii", "replace")
    order, kinds = text[:1], list(text[1:])
    page, _, time = head[248:251]
    if (
        order != "<"
        or any(kind not in _LCS_TYPES for kind in kinds)
        or not 1 <= page <= len(kinds)
        or time > len(kinds)
    ):
        raise refused(f"its lcs header describes records that nothing is known of: {order}{''.join(kinds)!r}")
    names = [f"field{number}" for number in range(1, len(kinds) + 1)]
    names[page - 1] = "page"
    if time:
        names[time - 1] = "time"
    return np.dtype([(name, _LCS_TYPES[kind]) for name, kind in zip(names, kinds, strict=True)])


def is_csv(columns: list[str]) -> bool:
    """Whether the columns are those of libCacheSim's csv."""
    return object_column(columns) is not None


def object_column(columns: list[str]) -> str | None:
    """The column with object ids; None if the file is not a csv of libCacheSim."""
    return None if "page" in columns else next((name for name in _OBJECTS if name in columns), None)


def commented_columns(header: list[str]) -> list[str]:
    """Column names of a csv of libCacheSim whose header is a remark, ``# time, object, size``; empty if it has none."""
    names = [header[0].removeprefix("#").strip(), *header[1:]]
    if not header[0].startswith("#") or "object" not in names or "page" in names:
        return []
    return ["obj_id" if name == "object" else name for name in names]


def csv_columns(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """The relevant columns of libCacheSim's csv: seconds and object ids."""
    results = {"page": columns[object_column(list(columns)) or ""]}
    time = next((columns[name] for name in _TIMES if name in columns), None)
    if time is not None:
        # It takes long to load, and no other form needs it.
        import pyarrow.compute as pc

        results["time"] = pc.floor(pc.multiply(time, _SECOND)).cast(pa.int64(), safe=False)
    return results


def is_txt(first_line: str) -> bool:
    """Whether a text is libCacheSim's txt, an object id on each line, by its first line."""
    return re.fullmatch(r"[0-9]+", first_line.strip()) is not None
