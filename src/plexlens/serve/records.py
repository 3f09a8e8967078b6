"""The records behind a number: rows of raw tables as decoded, each with its dump, record and byte offset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.errors import NothingUsableError
from plexlens.metrics.definition import Grain
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection.raw import of_near_days, selected_sql
from plexlens.metrics.source_rows import is_there
from plexlens.metrics.unit import BYTES, COUNT
from plexlens.pdb.engine import quoted
from plexlens.report.model import Cell, Column, ColumnKind, PrintedNumber, Table
from plexlens.report.model.display import counted
from plexlens.report.writers.rows import flat_value
from plexlens.report.writers.table_html import table_view
from plexlens.serve.address import chosen, number, wrong
from plexlens.serve.look import Filter, Look
from plexlens.serve.shell import address, contents, frame_of, page
from plexlens.serve.workspace import Workspace

#: Rows of a page, and pages at most.
ROWS, PAGES = 50, 100_000

#: The last character, and the first one above those of ASCII that the engine's ``trim`` takes for a blank.
_LAST, _FIRST_BLANK = "\U0010ffff", "\u00a0"

#: Columns of a raw table that name a record; their order in the page.
_PLACE = ("source_id", "record_no")


@dataclass(frozen=True)
class Rows:
    """A page of rows.

    Attributes
    ----------
    table
        The rows.
    total
        Number of rows on all pages.
    restricted
        The filters that restrict them, in words.
    unrestricted
        The filters that do not: no record holds their value as it stands.
    """

    table: Table
    total: int
    restricted: tuple[str, ...]
    unrestricted: tuple[str, ...]


def records_page(workspace: Workspace, request: Request) -> Response:
    """The rows of a raw table behind a number."""
    look = Look.of(request.path_params["name"], request.query_params, ("table", "page"))
    params = request.query_params
    with workspace.session(look.selection) as session:
        tables = tables_of(session.inputs, look.grain)
        if not tables:
            raise NothingUsableError(
                file="", what=f"the database has no records of {look.grain.title}", remedy="start from the overview"
            )
        name = chosen(params, "table", tables, tables[0])
        shown_page = number(params, "page", 1, PAGES)
        rows = rows_of(session.inputs, look, name, tables, shown_page)
        listed = contents(session.inputs, f"/grain/{look.grain.name}", look.selecting)
        clock = session.clock
    pages = max(1, -(-rows.total // ROWS))
    if shown_page > pages:
        raise wrong("page", f"there are {counted(pages, 'page')}", "start from the first")

    def to(table: str, number_: int) -> str:
        return address(f"/records/{look.grain.name}", [*look.pairs, ("table", table), ("page", str(number_))])

    values = {
        "contents": listed,
        **frame_of(workspace.path, clock, note=clock.note),
        "grains": [],
        "title": f"Records of {look.grain.title}",
        "back": look.address(),
        "kept": look.selecting,
        "table": table_view(rows.table, {}, clock),
        "tables": [(table, to(table, 1), table == name) for table in tables],
        "restricted": rows.restricted,
        "unrestricted": rows.unrestricted,
        "selection_text": session.inputs.selection.text,
        "count": counted(rows.total, "row"),
        "pages": pages,
        "page_number": shown_page,
        "before": to(name, shown_page - 1) if shown_page > 1 else "",
        "after": to(name, shown_page + 1) if shown_page < pages else "",
    }
    return HTMLResponse(page("records.html.j2", values))


def tables_of(inputs: Inputs, grain: Grain) -> list[str]:
    """The raw tables that a grain is made of, in the database; those of its preferred source first."""
    named = (name for source in grain.sources if is_there(inputs, source) for name in (*source.needs, *source.any_of))
    return [name for name in dict.fromkeys(named) if set(_PLACE) <= inputs.columns(name).keys()]


def rows_of(inputs: Inputs, look: Look, name: str, tables: Sequence[str], shown_page: int) -> Rows:
    """A page of rows of a raw table, under the selection and the filters.

    A filter restricts the rows by a column of its name, or else to rows with its value in a column of text, or else to
    rows whose record has it in another of the tables.
    """
    columns = inputs.columns(name)
    wheres, values = [], []
    restricted, unrestricted = [], []
    near = {table: of_near_days(inputs.connection, inputs.selection, table, inputs.catalog) for table in tables}
    selected = selected_sql(inputs.connection, inputs.selection, name, inputs.catalog, whole=near[name])
    for key, value in look.filters:
        condition = _condition(inputs, name, near, (key, value))
        said = f"{key} {value}" if value is not None else f"no {key}"
        if condition is None:
            unrestricted.append(said)
            continue
        wheres.append(condition[0])
        values += condition[1]
        restricted.append(said)
    where = f" where {' and '.join(wheres)}" if wheres else ""
    counting = inputs.connection.execute(f"select count(*) from ({selected}) r{where}", values).fetchone()
    has_records = inputs.has("smf_record")
    record = " left join smf_record i using (source_id, record_no)" if has_records else ""
    first = ["s.file as file", "r.record_no as record_no"]
    first += ['i."offset" as byte_offset', "i.length as record_length"] if has_records else []
    own = [f"r.{quoted(column)}" for column in columns if column not in ("source_id", "record_no", "file")]
    order = [f"r.{name}" for name in ("interval_start", "source_id", "record_no", "section_no") if name in columns]
    ordered = f" order by {', '.join(order)}"
    # The rows of the page first: only these are looked up in the list of all records.
    shown = f"select * from ({selected}) r{where}{ordered} limit {ROWS} offset {(shown_page - 1) * ROWS}"
    result = inputs.connection.execute(
        f"select {', '.join((*first, *own))} from ({shown}) r left join source s using (source_id){record}{ordered}",
        values,
    ).to_arrow_table()
    return Rows(_table(name, result), int(counting[0]) if counting else 0, tuple(restricted), tuple(unrestricted))


def _condition(inputs: Inputs, name: str, tables: Mapping[str, str], wanted: Filter) -> tuple[str, list[str]] | None:
    """SQL of a filter over rows ``r``, and its values; None if no record holds the value.

    ``tables`` has the view of each raw table that may have selected rows.
    """
    key, value = wanted
    columns = inputs.columns(name)
    if key in columns:
        named = f"r.{quoted(key)}"
        return (f"{named} is null", []) if value is None else (f"{named}::varchar = ?", [value])
    if value is None:
        return None
    for table in dict.fromkeys((name, *tables)):
        holding = _holding(inputs, table, tables[table], value)
        if not holding:
            continue
        values = _bounds(value) * len(holding)
        if table == name:
            return f"({' or '.join(_has('r', column) for column in holding)})", values
        same = "o.source_id = r.source_id and o.record_no = r.record_no"
        within = " or ".join(_has("o", column) for column in holding)
        return f"exists (select 1 from {tables[table]} o where {same} and ({within}))", values
    return None


def _holding(inputs: Inputs, name: str, near: str, value: str) -> tuple[str, ...]:
    """The columns of text of a raw table in which some record has a value; none if no record has it on any day.

    Those of the days near the selection come first. Each column is asked by itself: the engine skips rows of files by
    the least and greatest value of a column, and all rows of most columns.
    """
    texts = [column for column, kind in inputs.columns(name).items() if kind == "VARCHAR" and column != "source_id"]
    if not texts:
        return ()
    for source in dict.fromkeys((near, quoted(name))):
        tests = ", ".join(f"exists (select 1 from {source} o where {_has('o', column)})" for column in texts)
        answers = inputs.connection.execute(f"select {tests}", _bounds(value) * len(texts)).fetchone() or ()
        if any(answers):
            return tuple(column for column, has_value in zip(texts, answers, strict=True) if has_value)
    return ()


def _has(alias: str, column: str) -> str:
    """The condition that a column has a value, blanks around it aside; its parameters are `_bounds` of the value."""
    named = f"{alias}.{quoted(column)}"
    # A text with the value begins with the value, or with a blank: the engine compares that with whole parts of files.
    may_have = f"({named} >= ? and {named} < ?) or {named} < '!' or {named} >= '{_FIRST_BLANK}'"
    return f"(({may_have}) and trim({named}) = ?)"


def _bounds(value: str) -> list[str]:
    """The least and greatest text that begins with a value, and the value."""
    return [value, value + _LAST, value]


_TITLES = {"file": "File", "record_no": "Record", "byte_offset": "Byte offset", "record_length": "Length"}
_UNITS = {"byte_offset": BYTES, "record_length": BYTES, "record_no": COUNT}


def _table(name: str, result: Any) -> Table:
    """Rows as a table; columns without a value are left out."""
    columns, data = cells_of(result)
    kept = [
        (column, cells)
        for column, cells in zip(columns, data, strict=True)
        if column.name in _TITLES or any(cell is not None for cell in cells)
    ]
    return Table(
        name="records",
        title=f"Rows of {name}",
        columns=tuple(column for column, _ in kept),
        rows=tuple(zip(*(cells for _, cells in kept), strict=True)),
        top=ROWS,
    )


def cells_of(table: pa.Table, *, longest: int = 0) -> tuple[list[Column], list[list[Cell]]]:
    """Columns and cells of rows without a definition: numbers, times and texts unchanged.

    Parameters
    ----------
    table
        The rows.
    longest
        Characters of a text at most; 0 for all of it.
    """
    data = [[_cell(value, longest) for value in column.to_pylist()] for column in table.columns]
    columns = [_column(name, cells) for name, cells in zip(table.column_names, data, strict=True)]
    return columns, data


def _column(name: str, cells: Sequence[Cell]) -> Column:
    known = [cell for cell in cells if cell is not None]
    title, key = _TITLES.get(name, name), name == "file"
    if known and all(isinstance(cell, datetime) for cell in known):
        return Column(name, title, ColumnKind.TIME)
    if known and all(isinstance(cell, int) for cell in known):
        return Column(name, title, ColumnKind.NUMBER, _UNITS.get(name, COUNT))
    if known and all(isinstance(cell, int | PrintedNumber) for cell in known):
        return Column(name, title, ColumnKind.PRINTED)
    return Column(name, title, ColumnKind.TEXT, key=key)


def _cell(value: Any, longest: int) -> Cell:
    if isinstance(value, bytes | str | list | dict):
        text = str(flat_value(value))
        return f"{text[:longest]}…" if longest and len(text) > longest else text
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return PrintedNumber(f"{value:.9g}", value)
    if value is None or isinstance(value, int | datetime):
        return value
    return str(value)
