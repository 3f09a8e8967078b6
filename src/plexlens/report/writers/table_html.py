"""Tables of the HTML page: heads, and rows as text.

Rows are put together here rather than in the template: a report holds some hundred thousand cells, and each is escaped
exactly once, in `_cell`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from itertools import groupby
from typing import Any

from markupsafe import Markup
from markupsafe import escape as escape_markup

from plexlens.report.chart.time_svg import spark
from plexlens.report.model import Cell, Column, ColumnKind, Definition, Linked, PrintedNumber, Table
from plexlens.report.model.clock import Clock
from plexlens.report.model.display import NULL, counted, shown, with_symbol, with_units
from plexlens.report.writers.drill import NOWHERE, Drill, Drills, Leading
from plexlens.report.writers.names import printable

#: Where a long word of a heading may be broken: before an ending that English syllables allow a break at.
_BREAKS = re.compile(r"(?<=[A-Za-z]{5})(?=(?:tions?|sions?|nous|zation|ings?|ments?|ances?|tered|selves|dict)\b)")

#: Tables with more rows than this get a filter.
FILTER_ROWS = 12

#: Texts longer than this are wrapped in their cell.
LONG = 26

#: Tables with more columns than this mark the column that stays while they scroll.
WIDE = 6

#: Tables with more columns than this are set closer on screens of less than 1,700 pixels, and with more than that
#: closer still.
DENSE, TIGHT = 10, 14

_PICTURES = (ColumnKind.SPARK, ColumnKind.PROFILE)

#: Why a cell is null: of a recorded value, and of a metric.
NOT_RECORDED = "not recorded"
NOT_PRINTED = "nothing is printed here"
NO_VALUE = "no value: the denominator is zero, or a field was not recorded"


def table_view(
    table: Table, definitions: Mapping[str, Definition], clock: Clock, drills: Drills = NOWHERE
) -> dict[str, Any]:
    """Template data for a table."""
    rows = len(table.rows)
    top = min(table.top, rows)
    return {
        "name": table.name,
        "title": table.title,
        "note": table.note,
        "ways": (),
        "origin": table.origin,
        "folded": table.folded,
        "filter": rows > FILTER_ROWS or drills.reaches(table.name),
        "setting": _setting(len(table.columns)),
        "top": table.top,
        "size": counted(table.total_rows, "row"),
        "groups": _group_heads(table),
        "group": table.group,
        "heads": [_head(index, table) for index in range(len(table.columns))],
        # Every cell is escaped in _cell.
        "body": Markup("\n".join(_rows(table, definitions, clock, drills.ways.get(table.name)))),
        "more": rows > table.top,
        "show_all": f"Show all {rows:,} rows",
        "show_top": f"Show {top:,} rows",
        "count": f"{top:,} of {rows:,} rows",
        "left_out": table.left_out,
        "left_out_text": (
            f"{counted(table.left_out, 'further row')} of {table.total_rows:,} left out of this page. "
            "To get them, keep the data with plexlens ingest DUMP... --pdb DIR, then plexlens sql DIR with:"
        ),
        "query": table.query,
    }


def _setting(columns: int) -> str:
    """Style sheet classes for a table with these columns, each preceded by a blank."""
    return "".join(
        f" {name}" for name, limit in (("wide", WIDE), ("dense", DENSE), ("tight", TIGHT)) if columns > limit
    )


def _group_heads(table: Table) -> Markup:
    if not any(column.group for column in table.columns):
        return Markup("")
    cells = []
    for group, columns in groupby(table.columns, key=lambda column: column.group):
        members = list(columns)
        span, shared = len(members), _shared(members)
        title = Markup("{}{}").format(printable(group), _under(shared, group) if shared is not None else "")
        cells.append(
            Markup('<th colspan="{}" scope="colgroup"><span>{}</span></th>').format(span, title)
            if group
            else Markup('<td colspan="{}"></td>').format(span)
        )
    return Markup('<tr class="groups">{}</tr>').format(Markup("").join(cells))


def _shared(columns: Sequence[Column]) -> Column | None:
    """A column that represents the unit and definition of a group, if all its columns have the same; else None."""
    first = columns[0]
    if len(columns) == 1 or not first.group or not first.definition:
        return None
    return (
        first if all((column.unit, column.definition) == (first.unit, first.definition) for column in columns) else None
    )


def _under(column: Column, spoken: str) -> Markup:
    """The unit of a group of columns and the link to their definition."""
    symbol = column.unit.symbol if column.unit is not None else ""
    unit = Markup(' <span class="unit">{}</span>').format(symbol) if symbol else ""
    link = Markup('<a class="def" href="#def-{}" aria-label="Definition of {}">i</a>')
    return Markup("{}{}").format(unit, link.format(column.definition, printable(spoken)))


def broken(title: str) -> Markup:
    """A heading whose long words may be hyphenated, so that its column stays narrow.

    Examples
    --------
    >>> broken("Synchronous I/O") == "Synchro&shy;nous I/O"
    True
    """
    return Markup(_BREAKS.sub("&shy;", str(escape_markup(with_units(printable(title))))))


def _head(index: int, table: Table) -> dict[str, Any]:
    column = table.columns[index]
    numeric = table.all_numbers(index)
    fixed = column.key and column is table.columns[0]
    direction = "none"
    if table.sorted_by is not None and table.sorted_by[0] == column.name:
        direction = "descending" if table.sorted_by[1] else "ascending"
    sortable = column.kind not in _PICTURES
    neighbours = [neighbour for neighbour in table.columns if column.group and neighbour.group == column.group]
    in_group = bool(neighbours) and _shared(neighbours) is not None
    return {
        "title": column.title,
        "broken": Markup("{}{}").format(_swatch(table, index), broken(column.title)),
        # In a row above stands what the columns of a group have in common; read alone, a head needs it.
        "spoken": f"{column.group}: {column.title}" if column.group else column.title,
        "unit": column.unit.symbol if column.unit is not None and numeric and not in_group else "",
        "definition": "" if in_group else column.definition,
        "classes": " ".join(name for name, on in (("num", numeric), ("fixed", fixed)) if on),
        "sortable": sortable,
        "sort": direction if sortable else "",
    }


@dataclass(frozen=True)
class _Frame:
    """Properties shared by the cells of a column."""

    column: Column
    first: bool
    largest: float
    null: str
    clock: Clock
    numeric: bool
    to_minute: bool


def _rows(
    table: Table, definitions: Mapping[str, Definition], clock: Clock, drill: Drill | Leading | None
) -> Iterator[str]:
    frames = [
        _Frame(
            column=column,
            first=index == 0,
            largest=_largest(table, index),
            null=_why_null(column, definitions),
            clock=clock,
            numeric=table.all_numbers(index),
            to_minute=_to_minute(table, column.kind, index),
        )
        for index, column in enumerate(table.columns)
    ]
    lead = drill.cell if isinstance(drill, Leading) else None
    for number, row in enumerate(table.rows):
        cells = [_of_row(row, index, table, frame, lead) for index, frame in enumerate(frames)]
        if drill is not None and drill.keys:
            last = drill.keys[-1]
            cells[last] = _text(row[last], frames[last], _way(drill, row))
        yield f"<tr{' class=over' if number >= table.top else ''}>{''.join(cells)}"


def _of_row(
    row: tuple[Cell, ...],
    index: int,
    table: Table,
    frame: _Frame,
    lead: Callable[[tuple[Cell, ...], int], str] | None,
) -> str:
    if frame.column.stack:
        return _stack(row, index, table, frame)
    if lead is not None and frame.column.kind is ColumnKind.NUMBER:
        return _number(row[index], frame, lead(row, index))
    return _cell(row[index], frame)


def _parts(table: Table, column: Column) -> list[int]:
    """Indices of the columns that a column's bar shows as its parts."""
    names = [column.name for column in table.columns]
    return [names.index(name) for name in column.stack]


def _stack(row: tuple[Cell, ...], index: int, table: Table, frame: _Frame) -> str:
    """A sum with a bar of its parts, scaled to the largest sum of the column."""
    start, parts = 0.0, []
    for number, place in enumerate(_parts(table, frame.column), 1):
        value = row[place]
        if isinstance(value, int | float) and value > 0 and frame.largest > 0:
            end = start + 1000 * float(value) / frame.largest
            parts.append(f'<path class="fill c{number}" d="M{start:.1f} 0H{end:.1f}V10H{start:.1f}Z"/>')
            start = end
    bar = (
        f'<svg class="stack" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'
    )
    return _number(row[index], replace(frame, largest=0.0)) + bar


def _swatch(table: Table, index: int) -> Markup:
    """The colour of a column in the bars of another; empty if it is not part of a bar."""
    for column in table.columns:
        for number, place in enumerate(_parts(table, column), 1):
            if place == index:
                square = Markup('<path class="fill c{}" d="M0 0H1V1H0Z"/>').format(number)
                return Markup('<svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">{}</svg> ').format(square)
    return Markup("")


def _to_minute(table: Table, kind: ColumnKind, index: int) -> bool:
    """Whether the times of a column are shown to the minute, since none of them has seconds."""
    if kind is not ColumnKind.TIME:
        return False
    moments = [cell for row in table.rows if isinstance(cell := row[index], datetime)]
    return all(moment.second == 0 for moment in moments)


def _way(drill: Drill | Leading, row: tuple[Cell, ...]) -> str:
    if isinstance(drill, Leading):
        return f'<a class="lead" href="{escape(drill.address(row))}">'
    find = escape(printable(drill.find(row)))
    return f'<a class="drill" href="#table-{escape(drill.table)}" data-find="{find}">'


def _largest(table: Table, index: int) -> float:
    """Largest number of a column with bars; 0 without bars."""
    if not table.columns[index].bar:
        return 0.0
    return max((float(n) for row in table.rows if isinstance(n := row[index], int | float)), default=0.0)


def _why_null(column: Column, definitions: Mapping[str, Definition]) -> str:
    if column.kind is ColumnKind.PRINTED:
        return NOT_PRINTED
    definition = definitions.get(column.definition)
    return NO_VALUE if definition is not None and definition.formula else NOT_RECORDED


def _cell(cell: Cell, frame: _Frame) -> str:
    """A table cell; texts from files are escaped here."""
    return _CELLS[frame.column.kind](cell, frame)


def _number(cell: Cell, frame: _Frame, href: str = "") -> str:
    unit = frame.column.unit
    if not isinstance(cell, int | float) or (text := shown(cell, unit)) == NULL:
        return f'<td class="num null" title="{frame.null}">{NULL}'
    size = f' style="--b:{max(float(cell), 0.0) / frame.largest:.3f}"' if frame.largest > 0 else ""
    # Rows are sorted by the value itself where the text has lost some of it.
    value = "" if text.replace(",", "") == repr(cell) else f' data-v="{cell:.9g}"'
    inner = f'<a class="n" tabindex="-1" href="{escape(href)}">{escape(text)}</a>' if href else escape(text)
    return f'<td class="num{" sized" if size else ""}"{value}{size}>{inner}'


def _series(cell: Cell) -> tuple[float | None, ...]:
    return cell if isinstance(cell, tuple) else ()


def _course(cell: Cell, frame: _Frame) -> str:
    values = _series(cell)
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return "<td>"
    unit = frame.column.unit
    title = f"from {with_symbol(min(known), unit)} to {with_symbol(max(known), unit)}"
    return f'<td title="{escape(title)}">{spark(values, title)}'


def _profile(cell: Cell, frame: _Frame) -> str:
    values = _series(cell)
    if not any(values):
        return f'<td class="null" title="{frame.null}">{NULL}'
    title = " ".join(shown(value, frame.column.unit) for value in values)
    return f'<td title="{escape(title)}">{spark(values, title, gap=True)}'


def _time(cell: Cell, frame: _Frame) -> str:
    if not isinstance(cell, datetime):
        return _text(None, frame)
    text = frame.clock.minute(cell) if frame.to_minute else frame.clock.second(cell)
    return f'<td class="time">{text}'


def _printed(cell: Cell, frame: _Frame) -> str:
    if frame.numeric and cell in (None, ""):
        return f'<td class="num null" title="{NOT_PRINTED}">{NULL}'
    if not isinstance(cell, PrintedNumber):
        return _text(cell, frame)
    value = "" if cell.text == repr(cell.value) else f' data-v="{cell.value:.9g}"'
    return f'<td class="num"{value}>{escape(printable(cell.text))}'


def linked(text: str) -> Markup:
    """A text with links on its words; links to other places follow it."""
    shown_text = printable(str(text))
    places = text.places if isinstance(text, Linked) else ()
    if len(places) == 1 and places[0][0] == str(text):
        return Markup('<a href="#{}">{}</a>').format(places[0][1], shown_text)
    shown_text = with_units(shown_text)
    links = Markup(", ").join(Markup('<a href="#{}">{}</a>').format(place, printable(word)) for word, place in places)
    return Markup("{} ({})").format(shown_text, links) if places else Markup("{}").format(shown_text)


def _text(cell: Cell, frame: _Frame, way: str = "") -> str:
    head = frame.first and frame.column.key
    tag, close, fixed = ("th scope=row", "</th>", " fixed") if head else ("td", "", "")
    if cell is None or cell == "":
        return f'<{tag} class="text null{fixed}" title="{frame.null}">{NULL}{close}'
    text = printable(str(cell))
    if len(text) > LONG:
        text = with_units(text)
    inner = f"{way}{escape(text)}</a>" if way else linked(cell) if isinstance(cell, Linked) else escape(text)
    return f'<{tag} class="text{" long" if len(text) > LONG else ""}{fixed}">{inner}{close}'


_CELLS = {
    ColumnKind.NUMBER: _number,
    ColumnKind.SPARK: _course,
    ColumnKind.PROFILE: _profile,
    ColumnKind.TIME: _time,
    ColumnKind.TEXT: _text,
    ColumnKind.PRINTED: _printed,
}
