"""Rows as files: CSV, Excel, Parquet and JSON, by the writers of the command line."""

from __future__ import annotations

import pyarrow as pa
from starlette.responses import Response

from plexlens.errors import UsageError
from plexlens.json_text import json_text
from plexlens.report.writers.rows import rows_csv, rows_sheet, table_parquet
from plexlens.report.writers.workbook import Workbook

#: Forms of a file, with the media type of each.
FORMS = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}


def download(table: pa.Table, form: str, name: str) -> Response:
    """Rows as a file to be kept.

    Parameters
    ----------
    table
        The rows.
    form
        One of `FORMS`.
    name
        Name of the file without its ending: letters, digits and signs that a file name may have.

    Raises
    ------
    UsageError
        A sheet cannot hold the rows, or two columns have the same name.
    """
    names = table.column_names
    if form in ("parquet", "json") and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(
            file="", what=f"two columns have the name {twice!r}", remedy="give them different names with AS"
        )
    columns = [column.to_pylist() for column in table.columns]
    content: str | bytes
    if form == "parquet":
        content = table_parquet(table)
    elif form == "json":
        content = json_text([dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)])
    elif form == "csv":
        content = rows_csv(names, list(zip(*columns, strict=True)))
    else:
        book = Workbook()
        rows_sheet(book, "Rows", names, list(zip(*columns, strict=True)), "")
        content = book.data()
    headers = {"content-disposition": f'attachment; filename="{name}.{form}"'}
    return Response(content, media_type=FORMS[form], headers=headers)
