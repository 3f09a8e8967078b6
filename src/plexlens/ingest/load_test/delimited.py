"""Scanner of forms with a line per request and delimited cells."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from plexlens.ingest.load_test.forms import Form
from plexlens.ingest.load_test.lines import text_lines
from plexlens.ingest.load_test.request import BATCH, Batch, Note

#: What a place in a file is called.
PLACE = "line"


def heads_of(form: Form, line: str) -> list[str] | None:
    """The names of the cells, if a line is the line of heads of a form; None otherwise."""
    try:
        cells = next(csv.reader([line], delimiter=form.delimiter))
    except (csv.Error, StopIteration):
        return None
    names = [cell.strip().replace(" ", "_") for cell in cells]
    return names if set(form.heads) <= set(names) else None


def starts(form: Form, head: str) -> bool:
    """Whether the beginning of a file is of this form."""
    lines = head.splitlines()
    if not lines:
        return False
    if heads_of(form, lines[0]) is not None:
        return True
    # A form without a line of heads is known by lines of as many cells, the first with the stated content.
    return bool(form.rows) and any(
        line.startswith(form.rows + form.delimiter) and line.count(form.delimiter) >= len(form.heads) - 1
        for line in lines
    )


def scan(form: Form, stream: BinaryIO, note: Note) -> Iterator[Batch]:
    """Texts of the requests by field, in batches, with their line numbers."""
    reader = csv.reader(text_lines(stream), delimiter=form.delimiter)
    names: list[str] | None = None
    cells: list[list[str]] = []
    places: list[int] = []
    odd: dict[str, tuple[int, int]] = {}

    def gathered() -> Batch:
        wanted = [(name, number) for number, name in enumerate(names or ()) if name in form.named]
        batch = {name: pa.array([row[number] for row in cells], pa.string()) for name, number in wanted}
        gathered_rows = batch, pa.array(places, pa.int64())
        cells.clear()
        places.clear()
        return gathered_rows

    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error:
            odd["line that cannot be split into cells"] = _counted(odd, "line that cannot be split into cells", reader)
            continue
        if not row:
            continue
        if names is None:
            names = heads_of(form, form.delimiter.join(row)) if not form.rows or row[0] != form.rows else None
            if names is not None:
                continue
            names = list(form.heads)
        if form.rows and row[0] != form.rows:
            continue
        if len(row) < len(names):
            odd["line with too few cells"] = _counted(odd, "line with too few cells", reader)
            continue
        cells.append(row)
        places.append(reader.line_num)
        if len(cells) >= BATCH:
            yield gathered()
    for reason, (number, first) in odd.items():
        note(reason, number, f"line {first}")
    if cells:
        yield gathered()


def _counted(odd: dict[str, tuple[int, int]], reason: str, reader: object) -> tuple[int, int]:
    number, first = odd.get(reason, (0, int(getattr(reader, "line_num", 0))))
    return number + 1, first
