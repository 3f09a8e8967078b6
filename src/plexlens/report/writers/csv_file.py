"""Rows as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from plexlens.report.writers.names import csv_text


def csv_of(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The rows below their heads; texts as `plexlens.report.writers.names.csv_text` makes them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (heads, *rows):
        writer.writerow([csv_text(value) if isinstance(value, str) else value for value in row])
    return text.getvalue()
