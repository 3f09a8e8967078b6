"""Scanner of forms with a JSON object per line: metric points with tags."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from plexlens.ingest.load_test.forms import Form
from plexlens.ingest.load_test.lines import text_lines
from plexlens.ingest.load_test.request import BATCH, Batch, Note, texts_of

#: What a place in a file is called.
PLACE = "line"


def starts(form: Form, head: str) -> bool:
    """Whether the beginning of a file is of this form."""
    line = next(iter(head.splitlines()), "")
    try:
        value = json.loads(line)
    except ValueError:
        return False
    return isinstance(value, dict) and set(form.heads) <= set(value)


def scan(form: Form, stream: BinaryIO, note: Note) -> Iterator[Batch]:
    """Texts of the requests by field (keys of ``data`` and of its tags), in batches, with their line numbers."""
    rows: list[dict[str, str]] = []
    places: list[int] = []
    wrong, first = 0, 0
    for number, line in enumerate(text_lines(stream), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            wrong, first = wrong + 1, first or number
            continue
        if value.get("metric") != form.rows or value.get("type") != "Point":
            continue
        rows.append(_fields(value))
        places.append(number)
        if len(rows) >= BATCH:
            yield texts_of(rows, form.named), pa.array(places, pa.int64())
            rows, places = [], []
    if wrong:
        note("line without a JSON object", wrong, f"line {first}")
    if rows:
        yield texts_of(rows, form.named), pa.array(places, pa.int64())


def _fields(point: dict[str, Any]) -> dict[str, str]:
    data = point.get("data")
    if not isinstance(data, dict):
        return {}
    tags = data.get("tags")
    merged = {**(tags if isinstance(tags, dict) else {}), **data}
    return {
        name: value if isinstance(value, str) else repr(value)
        for name, value in merged.items()
        if isinstance(value, (str, int, float)) and not isinstance(value, bool)
    }
