"""Answers that are tables: Arrow inside, as they came from the engine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from plexlens.api.notebook import DrawnChart, shown_rows
from plexlens.api.selecting import AnyPath
from plexlens.errors import UsageError
from plexlens.json_text import json_text, json_value
from plexlens.metrics.question import Answer
from plexlens.metrics.unit import COUNT, Unit
from plexlens.report.forms import Form, form_of
from plexlens.report.model import Cell, Column, ColumnKind, Table
from plexlens.report.model.chart import Chart, ChartKind, Series, mean
from plexlens.report.model.clock import Clock
from plexlens.report.model.report import text_column
from plexlens.report.writers.rows import rows_csv, rows_sheet, table_parquet
from plexlens.report.writers.workbook import Workbook
from plexlens.whole_file import check_file, write, write_bytes

if TYPE_CHECKING:
    import pandas
    import polars

#: Rows that a notebook shows.
SHOWN = 40

#: Forms of a saved table.
_FORMS = (Form.PARQUET, Form.CSV, Form.XLSX, Form.JSON)

#: Lines that a chart draws.
_LINES = 8


class Rows:
    """A table; Arrow, pandas and polars get it with its types unchanged.

    Parameters
    ----------
    table
        The rows.
    clock
        The clock of times in a notebook.
    """

    def __init__(self, table: pa.Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def arrow(self) -> pa.Table:
        """The table itself; the metadata of its fields says what they are."""
        return self._table

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas data frame with Arrow's types: whole numbers stay whole where values are missing.

        Raises
        ------
        UsageError
            pandas is not installed.
        """
        _need("pandas")
        import pandas

        return self._table.to_pandas(types_mapper=pandas.ArrowDtype)

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars data frame.

        Raises
        ------
        UsageError
            polars is not installed.
        """
        _need("polars")
        import polars

        result = polars.from_arrow(self._table)
        assert isinstance(result, polars.DataFrame)
        return result

    def to_json(self) -> list[dict[str, Any]]:
        """A list of row objects, as ``--json`` prints them; times are texts."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self._cells()]
        return [{name: _plain(value) for name, value in row.items()} for row in json_value(rows)]

    def save(self, path: AnyPath) -> Path:
        """Write the rows to a file in the form that its ending names, completely or not at all.

        Parameters
        ----------
        path
            A file that ends in ``.parquet`` (with units in the metadata of its fields), ``.csv``, ``.xlsx`` or
            ``.json``.

        Raises
        ------
        UsageError
            The ending names another form, the file cannot be written, or a sheet cannot hold the rows.
        """
        target = Path(path)
        check_file(target)
        form = form_of(target, _FORMS)
        if form is Form.PARQUET:
            write_bytes(target, table_parquet(self._table))
        elif form is Form.CSV:
            write(target, rows_csv(self.columns, self._cells()))
        elif form is Form.XLSX:
            book = Workbook()
            rows_sheet(book, "Rows", self.columns, self._cells(), str(target))
            write_bytes(target, book.data())
        else:
            write(target, json_text(self.to_json()))
        return target

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule protocol: any library that knows it reads the rows without a copy."""
        return self._table.__arrow_c_stream__(requested_schema)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._table.column_names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __repr__(self) -> str:
        return f"<{len(self):,} rows: {', '.join(self.columns)}>"

    def _cells(self) -> list[tuple[Any, ...]]:
        return list(zip(*(column.to_pylist() for column in self._table.columns), strict=True))

    def _heads(self) -> tuple[Column, ...]:
        return tuple(_plain_head(field) for field in self._table.schema)

    def shown(self, rows: int = SHOWN) -> Table:
        """The first rows as a table of a report."""
        part = Rows(self._table.slice(0, rows), self._clock)
        cells = tuple(tuple(_cell(value) for value in row) for row in part._cells())
        return Table("rows", "Rows", self._heads(), cells, top=rows, total_rows=len(self))

    def _repr_html_(self) -> str:
        return shown_rows(self.shown(), None, self._clock)


class Numbers(Rows):
    """Metrics of a grain: rows by name and time, numbers in base units.

    Parameters
    ----------
    answer
        What the engine answered.
    clock
        The clock of times in a notebook.
    """

    def __init__(self, answer: Answer, clock: Clock) -> None:
        super().__init__(answer.table, clock)
        self.answer = answer

    @property
    def units(self) -> dict[str, str]:
        """Base unit of each number."""
        question = self.answer.question
        return {name: question.column(name).unit.base for name in question.numbers}

    def __repr__(self) -> str:
        question = self.answer.question
        heads = [f"{name} ({self.units[name]})" if name in self.units else name for name in self.columns]
        return f"<{question.grain.title}: {len(self):,} rows of {', '.join(heads)}>"

    def _heads(self) -> tuple[Column, ...]:
        question = self.answer.question
        results = []
        for field in self._table.schema:
            if field.name in question.numbers:
                column = question.column(field.name)
                results.append(Column(field.name, column.title, ColumnKind.NUMBER, column.unit))
            else:
                results.append(_plain_head(field))
        return tuple(results)

    def chart(self, metric: str = "") -> DrawnChart:
        """A number over time as a chart that shows itself: a line for each name, at most eight, the largest first.

        Parameters
        ----------
        metric
            The number; the first of the answer by default.

        Raises
        ------
        UsageError
            There is no such number, or the answer has no times or fewer than two.
        """
        return DrawnChart(self._chart(metric), self._clock)

    def _chart(self, metric: str = "") -> Chart:
        question = self.answer.question
        name = metric or next(iter(question.numbers), "")
        if name not in question.numbers:
            raise UsageError(
                file="", what=f"the answer has no column {name!r}", remedy=f"it has {', '.join(question.numbers)}"
            )
        moments = sorted({time for time in self._times() if time is not None})
        if len(moments) < 2:
            raise UsageError(
                file="",
                what="there are fewer than two times, so nothing can be drawn over time",
                remedy="ask for intervals, hours or days over a longer time",
            )
        ends = [self.answer.ends[moment] for moment in moments]
        lines = self._lines(name, moments)
        lines.sort(key=lambda line: -(mean(line.values, moments, ends) or 0.0))
        column = question.column(name)
        return Chart(
            name,
            column.title,
            column.unit,
            ChartKind.LINES,
            tuple(moments),
            tuple(ends),
            tuple(lines[:_LINES]),
            left_out=max(0, len(lines) - _LINES),
        )

    def _times(self) -> list[datetime | None]:
        """Times on the one clock that a chart has; none where there are two."""
        if "time" not in self.columns or "local_time" in self.columns:
            return []
        return [_cell(value) for value in self._table.column("time").to_pylist()]  # type: ignore[misc]

    def _lines(self, name: str, moments: Sequence[datetime]) -> list[Series]:
        keys = [self._table.column(key).to_pylist() for key in self.answer.question.by]
        values = self._table.column(name).to_pylist()
        at: dict[tuple[Any, ...], dict[datetime, float | None]] = {}
        for moment, value, *names in zip(self._times(), values, *keys, strict=True):
            if moment is not None:
                at.setdefault(tuple(names), {})[moment] = value
        # A name that all lines share does not distinguish them.
        telling = [place for place in range(len(keys)) if len({names[place] for names in at}) > 1]
        title = self.answer.question.grain.title
        return [
            Series(
                " ".join(str(names[place]) for place in telling if names[place] is not None) or title,
                tuple(course.get(moment) for moment in moments),
            )
            for names, course in at.items()
        ]

    def _drawn(self) -> Chart | None:
        try:
            return self._chart()
        except UsageError:
            return None

    def _repr_html_(self) -> str:
        return shown_rows(self.shown(), self._drawn(), self._clock)


def _need(library: str) -> None:
    from importlib.util import find_spec

    if find_spec(library) is None:
        raise UsageError(
            file="",
            what=f"{library} is not installed",
            remedy=f'install it (pip install "plexlens[notebook]"), or take .arrow(), which needs no {library}',
        )


def _plain_head(field: pa.Field) -> Column:
    title = (field.metadata or {}).get(b"title", field.name.encode()).decode()
    if pa.types.is_timestamp(field.type):
        return Column(field.name, title, ColumnKind.TIME)
    if pa.types.is_integer(field.type):
        return Column(field.name, title, ColumnKind.NUMBER, COUNT)
    if pa.types.is_floating(field.type) or pa.types.is_decimal(field.type):
        return Column(field.name, title, ColumnKind.NUMBER, _UNKNOWN)
    return text_column(field.name, title)


#: Of a number of a query, which has no unit.
_UNKNOWN = Unit("", "", 1.0, 6)


def _cell(value: Any) -> Cell:
    if isinstance(value, bool) or value is None:
        return None if value is None else str(value).lower()
    if isinstance(value, datetime | int | float | str):
        return value
    plain = json_value(value)
    return plain if isinstance(plain, int | float | str) else str(plain)


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | list | dict | None) else str(value)
