"""A report as a ZIP file with a CSV file per table and chart.

`plexlens.report.writers.csv_cells` puts a report into one CSV file, one line per cell; here the tables keep their form.
Numbers are in base units, heads are the names of the columns in JSON.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Sequence

from plexlens.report.model import Report
from plexlens.report.writers.csv_cells import csv_cell
from plexlens.report.writers.csv_file import csv_of
from plexlens.report.writers.tables import tables_of

#: Moment of every file in the ZIP file, the first that the form knows: the same report gives the same bytes.
_MOMENT = (1980, 1, 1, 0, 0, 0)

_UNFIT = re.compile(r"[^\w.-]+")


def render_zip(report: Report) -> bytes:
    """The tables of a report as CSV files in a ZIP file.

    Parameters
    ----------
    report
        As `plexlens.report.build` makes it.

    Returns
    -------
    bytes
        A ``.zip`` file. ``contents.csv`` says what the other files are, ``columns.csv`` what their columns are, with
        unit and definition. Times are UTC; a value that is not known is empty.
    """
    out = io.BytesIO()
    contents: list[Sequence[object]] = []
    columns: list[Sequence[object]] = []
    taken: set[str] = set()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:

        def put(name: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
            file = zipfile.ZipInfo(name, _MOMENT)
            file.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(file, csv_of(heads, rows))

        for section, table in tables_of(report):
            name = _file_name(table.name, taken)
            heads = [column.name for column in table.columns]
            put(name, heads, ([csv_cell(cell) for cell in row] for row in table.rows))
            note = " ".join(part for part in (table.note, table.origin) if part)
            contents.append(
                (name, section.id, section.title, table.title, len(table.rows), table.left_out, table.query, note)
            )
            columns += (
                (
                    name,
                    column.name,
                    column.group,
                    column.title,
                    column.unit.base if column.unit is not None else "",
                    column.definition,
                )
                for column in table.columns
            )
        put(
            "contents.csv", ("file", "section", "section title", "title", "rows", "left out", "query", "note"), contents
        )
        put("columns.csv", ("file", "column", "group", "title", "unit", "definition"), columns)
    return out.getvalue()


def _file_name(wanted: str, taken: set[str]) -> str:
    plain = _UNFIT.sub("-", wanted).strip("-.") or "table"
    if plain in ("contents", "columns"):
        plain += "-table"
    name, number = plain, 1
    while name.lower() in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(name.lower())
    return f"{name}.csv"
