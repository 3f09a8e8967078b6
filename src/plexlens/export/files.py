"""Metric views as files: a file for each grain in a folder, or a single file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens.errors import UsageError
from plexlens.export.views import columns_table
from plexlens.json_text import json_text
from plexlens.metrics.question import Answer
from plexlens.report.forms import Form
from plexlens.report.writers.rows import rows_csv, rows_sheet, table_parquet
from plexlens.report.writers.workbook import Workbook
from plexlens.whole_file import cannot_write, check_file, make_folder, write, write_bytes

#: Name of the table that describes the columns, in a folder and in a workbook.
COLUMNS = "columns"

#: Forms of files; a workbook and JSON hold several views in a single file.
FORMS = (Form.PARQUET, Form.CSV, Form.XLSX, Form.JSON)


def check_folder(folder: Path) -> None:
    """Refuse a folder that files cannot be written to.

    Raises
    ------
    UsageError
        It is a file, a performance database or a folder of it, or the folder that it would be in is not there.
    """
    if folder.exists() and not folder.is_dir():
        raise cannot_write(folder, "this is a file, and a folder is needed")
    above = folder.absolute()
    if any((folder / "manifest.json").is_file() for folder in (above, *above.parents)):
        raise cannot_write(folder, "the path is in a performance database, which holds only its own files")
    # The same tests as for a file in it, or for a file in its place.
    check_file(folder / COLUMNS if folder.is_dir() else folder)


def write_folder(answers: Iterable[Answer], folder: Path, form: Form) -> Iterator[Path]:
    """Write a file for each view, and then the table of columns; each file completely or not at all.

    Parameters
    ----------
    answers
        The views; each is written before the next is asked for.
    folder
        The folder; it is made if it is not there. Files of the same names are replaced.
    form
        Form of the files.

    Yields
    ------
    Path
        Each file, once it is written.

    Raises
    ------
    UsageError
        A file cannot be written, or a sheet cannot hold the rows.
    """
    described: list[pa.Table] = []
    for answer in answers:
        make_folder(folder)
        described.append(answer.table.slice(0, 0))
        yield _written(folder / f"{answer.question.grain.name}.{form}", _content([answer], form, str(folder)))
    if form not in (Form.JSON, Form.XLSX):
        table = columns_table(described)
        content = table_parquet(table) if form is Form.PARQUET else rows_csv(table.column_names, _cells(table))
        yield _written(folder / f"{COLUMNS}.{form}", content)


def single(answers: Iterable[Answer], form: Form, name: str) -> str | bytes:
    """The views as the content of a single file.

    Parameters
    ----------
    answers
        The views; Parquet and CSV hold one.
    form
        Form of the file.
    name
        The file, for errors.

    Raises
    ------
    UsageError
        There are several views and the form holds one, or a sheet cannot hold the rows.
    """
    every = list(answers)
    if len(every) > 1 and form in (Form.PARQUET, Form.CSV):
        raise UsageError(
            file=name,
            what=f"a .{form} file holds a single grain, and there are {len(every)}",
            remedy="name the grain with --grain, or give a folder, a .xlsx or a .json file with -o",
        )
    return _content(every, form, name)


def _written(path: Path, content: str | bytes) -> Path:
    if isinstance(content, str):
        write(path, content)
    else:
        write_bytes(path, content)
    return path


def _content(answers: list[Answer], form: Form, name: str) -> str | bytes:
    if form is Form.JSON:
        return json_text(to_object(answers))
    if form is Form.XLSX:
        return _workbook(answers, name)
    table = answers[0].table
    return table_parquet(table) if form is Form.PARQUET else rows_csv(table.column_names, _cells(table))


def _workbook(answers: list[Answer], name: str) -> bytes:
    book = Workbook()
    for answer in answers:
        rows_sheet(book, answer.question.grain.name, answer.table.column_names, _cells(answer.table), name)
    columns = columns_table([answer.table for answer in answers])
    rows_sheet(book, "Columns", columns.column_names, _cells(columns), name)
    return book.data()


def to_object(answers: Iterable[Answer]) -> dict[str, Any]:
    """The views as plain values: for each grain its columns with units, and its rows as objects."""
    results = {}
    for answer in answers:
        grain, table = answer.question.grain, answer.table
        columns = [{key: value for key, value in row.items() if value} for row in columns_table([table]).to_pylist()]
        results[grain.name] = {
            "title": grain.title,
            "row": grain.row,
            "every": answer.question.every,
            "columns": [{key: value for key, value in column.items() if key != "grain"} for column in columns],
            "rows": [dict(zip(table.column_names, map(_plain, row), strict=True)) for row in _cells(table)],
        }
    return {"grains": results}


def _cells(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _plain(value: Any) -> Any:
    """Moments in the form of a report's JSON."""
    if not hasattr(value, "isoformat"):
        return value
    return value.isoformat().replace("+00:00", "Z")
