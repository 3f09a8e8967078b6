"""Requests as typed columns, from the texts of a file's fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plexlens.ingest.load_test.forms import Field, Form, Test
from plexlens.ingest.source import TIMESTAMP

#: Texts repeat, so that a number stands for each: each text column takes four bytes per request.
_TEXT = pa.dictionary(pa.int32(), pa.string())

SCHEMA: pa.Schema = pa.schema(
    [
        pa.field("started", TIMESTAMP, metadata={"description": "the tool began to send the request"}),
        pa.field("scheduled", TIMESTAMP, metadata={"description": "the test plan wanted the request to begin"}),
        pa.field("response_seconds", pa.float64(), metadata={"unit": "seconds"}),
        pa.field("first_byte_seconds", pa.float64(), metadata={"unit": "seconds"}),
        pa.field("connect_seconds", pa.float64(), metadata={"unit": "seconds"}),
        pa.field("transaction", _TEXT),
        pa.field("group_name", _TEXT),
        pa.field("status", _TEXT),
        pa.field("message", _TEXT),
        pa.field("is_error", pa.bool_()),
        pa.field("bytes_sent", pa.float64(), metadata={"unit": "bytes"}),
        pa.field("bytes_received", pa.float64(), metadata={"unit": "bytes"}),
        pa.field("client", _TEXT),
        pa.field("users", pa.float64()),
    ]
)
"""Columns of a request; times in UTC, texts null where the tool has none."""

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
#: Seconds of the longest response that a test can have seen, some three years.
_LONGEST = 1e8
#: Microseconds since 1970 of the years 1971 to 2200: a number outside is in another unit.
_FIRST, _LAST = 31_536_000_000_000, 7_258_118_400_000_000

Note = Callable[[str, int, str], None]
"""Takes the reason why rows are left out, their number and the first row's place."""
Batch = tuple[dict[str, pa.Array], pa.Array]
"""Texts by field, and line numbers."""
BATCH = 1 << 17
"""Requests of a batch."""


def requests(form: Form, texts: Mapping[str, pa.Array], places: pa.Array, note: Note) -> pa.Table:
    """The requests of which a file holds these texts.

    Parameters
    ----------
    form
        How the columns are read.
    texts
        Fields by name; a field that the file lacks is absent.
    places
        Where each row stands, for messages.
    note
        Called with the reason and number of rows left out.
    """
    count = len(places)
    columns_read: dict[str, pa.Array] = {}
    for field in form.fields:
        if all(name in texts for name in field.fields[:1]):
            columns_read[field.column] = _column(field, texts, count)
    empty: dict[str, pa.Array] = {}

    def of(name: str, kind: pa.DataType) -> pa.Array:
        if name in columns_read:
            return columns_read[name]
        return empty.setdefault(name, pa.nulls(count, kind))

    ended, started = of("ended", TIMESTAMP), of("started", TIMESTAMP)
    response = of("response_seconds", pa.float64())
    if response.null_count and "ended" in columns_read and "started" in columns_read:
        response = pc.coalesce(response, _seconds_between(started, ended))
    impossible = pc.fill_null(pc.greater(response, _LONGEST), fill_value=False)
    response = pc.if_else(impossible, pa.scalar(None, pa.float64()), response)
    if started.null_count and "ended" in columns_read:
        started = pc.coalesce(started, _earlier(ended, response))
    transaction = pc.coalesce(of("transaction", pa.string()), pa.scalar("(no name)"))
    good = _left_out(
        {
            "response time above three years": impossible,
            "no time": pc.is_null(started),
            "no response time": pc.is_null(response),
            "response time below zero": pc.fill_null(pc.less(response, 0), fill_value=False),
        },
        places,
        note,
    )
    columns_read |= {"started": started, "response_seconds": response, "transaction": transaction}
    if "is_error" not in columns_read:
        columns_read["is_error"] = pa.array(np.zeros(count, bool))
    columns = [(of(field.name, field.type), field.type) for field in SCHEMA]
    table = pa.table(
        [_encoded(column) if kind == _TEXT else column.cast(kind) for column, kind in columns], schema=SCHEMA
    )
    return table.filter(good) if not pc.all(good).as_py() else table


def _encoded(column: pa.Array) -> pa.Array:
    return column if column.type == _TEXT else column.dictionary_encode()


def _left_out(reasons: Mapping[str, pa.Array], places: pa.Array, note: Note) -> pa.Array:
    good = pa.array(np.ones(len(places), bool))
    for reason, bad in reasons.items():
        wrong = pc.and_(bad, good)
        number = pc.sum(wrong.cast(pa.int64())).as_py() or 0
        if number:
            note(reason, number, str(places[pc.index(wrong, value=True).as_py()].as_py()))
        good = pc.and_(good, pc.invert(bad))
    return good


def _column(field: Field, texts: Mapping[str, pa.Array], count: int) -> pa.Array:
    if field.type == "flag":
        flag = pa.array(np.zeros(count, bool))
        for test in field.tests:
            if test.field in texts:
                flag = pc.or_(flag, _holds(test, texts[test.field]))
        return flag
    text = texts[field.field]
    if field.type == "text":
        return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    if field.type == "time":
        return _iso_times(text) if field.per_second is None else _times(_numbers(text), field.per_second)
    numbers = _numbers(text)
    return numbers if field.per_second == 1.0 else pc.divide(numbers, field.per_second)


def _holds(test: Test, text: pa.Array) -> pa.Array:
    if test.sign == ">=":
        return pc.fill_null(pc.greater_equal(_numbers(text), float(test.value)), fill_value=False)
    same = pc.fill_null(pc.equal(pc.utf8_lower(text), test.value.lower()), fill_value=not test.value)
    return same if test.sign == "=" else pc.invert(same)


def _numbers(text: pa.Array) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(text)
    known = pc.fill_null(pc.match_substring_regex(trimmed, _NUMBER), fill_value=False)
    numbers = pc.if_else(known, trimmed, pa.scalar(None, pa.string())).cast(pa.float64())
    return pc.if_else(pc.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))


def _times(numbers: pa.Array, per_second: float) -> pa.Array:
    micros = pc.multiply(numbers, 1e6 / per_second)
    known = pc.fill_null(pc.and_(pc.greater(micros, _FIRST), pc.less(micros, _LAST)), fill_value=False)
    micros = pc.if_else(known, micros, pa.scalar(None, pa.float64()))
    return pc.round(micros).cast(pa.int64()).cast(TIMESTAMP)


def _iso_times(text: pa.Array) -> pa.Array:
    return pa.array([_iso(time) for time in text.to_pylist()], TIMESTAMP)


def _iso(text: str | None) -> datetime | None:
    """A time with its offset from UTC; None for another text, or one without an offset, which no time follows from."""
    try:
        time = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    return time.astimezone(UTC) if time.tzinfo is not None else None


def _micros(times: pa.Array) -> pa.Array:
    return times.cast(pa.int64())


def _seconds_between(start: pa.Array, end: pa.Array) -> pa.Array:
    return pc.divide(pc.subtract(_micros(end), _micros(start)).cast(pa.float64()), 1e6)


def _earlier(end: pa.Array, seconds: pa.Array) -> pa.Array:
    return pc.subtract(_micros(end), pc.round(pc.multiply(seconds, 1e6)).cast(pa.int64())).cast(TIMESTAMP)


def texts_of(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, pa.Array]:
    """Fields of rows that a scanner found one by one."""
    return {name: pa.array([row.get(name) for row in rows], pa.string()) for name in names}
