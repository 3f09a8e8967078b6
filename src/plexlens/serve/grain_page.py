"""The page of a grain: one number over time and by any key, with its definition and its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.errors import NothingUsableError
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Attribute, Fact, Key
from plexlens.metrics.evaluate import available
from plexlens.metrics.roll_ups import RollUps
from plexlens.metrics.selection import Selection
from plexlens.report.blocks.context import Context
from plexlens.report.blocks.evaluated import Builder, apart
from plexlens.report.blocks.page import ChartSpec, Page, TableSpec
from plexlens.report.blocks.selection import under_selection
from plexlens.report.build import within_a_sentence
from plexlens.report.model import Block, Column, ColumnKind, Note, Report, Section, Table
from plexlens.report.model.chart import Chart, ChartKind
from plexlens.report.writers.drill import Leading
from plexlens.report.writers.html import about, parts, period
from plexlens.serve.downloads import FORMS, download
from plexlens.serve.look import Filter, Look, keys_of
from plexlens.serve.report_pages import frame
from plexlens.serve.selection_form import selection_form
from plexlens.serve.shell import address, contents, page
from plexlens.serve.workspace import Session, Workspace

#: Rows of the table at most, and those in sight before the reader asks for all.
MOST_ROWS, IN_SIGHT = 500, 30

#: Earlier times next to the chosen number, by the days that they lie back.
EARLIER = {1: ("day_before", "A day before"), 7: ("week_before", "A week before")}

#: Name of the table.
ROWS = "rows"


@dataclass(frozen=True)
class Shown:
    """Course and table over a selection.

    Attributes
    ----------
    report
        Course and table as sections of a report.
    table
        The table; None where there is nothing to show.
    """

    report: Report
    table: Table | None


def grain_page(workspace: Workspace, request: Request) -> Response:
    """The page of a grain."""
    look = Look.of(request.path_params["name"], request.query_params)

    def made() -> str:
        with workspace.session(look.selection) as session:
            shown = shown_of(session, look, str(workspace.path))
            listed = contents(session.inputs, f"/grain/{look.grain.name}", look.selecting)
            others = list(_others(session, look))
        table = with_earlier(workspace, look, shown.table)
        report = shown.report if table is None else _with(shown.report, table)
        ways = {} if table is None else _ways(table, look)
        values = frame(report, workspace) | selection_form(request, look.selecting, _hidden(look))
        values |= {
            "contents": listed,
            "title": look.grain.title,
            "row": look.grain.row,
            "period": period(report, report.clock),
            "about": about(report),
            "parts": parts(report, ways),
            "look": look,
            "chips": [_chip(look, one) for one in look.filters],
            "splits": [_split(look, key) for key in keys_of(look.grain)],
            "groups": _numbers(look),
            "chosen": report.definitions.get(f"{look.grain.name}.{look.metric}"),
            "others": others,
            "records_href": look.address("/records"),
            "files": [(form, address(f"/grain/{look.grain.name}/rows.{form}", look.pairs)) for form in FORMS],
        }
        return page("grain.html.j2", values)

    return HTMLResponse(workspace.kept((request.url.path, tuple(look.pairs)), made))


def shown_of(session: Session, look: Look, database: str) -> Shown:
    """Course and table of a question, as a report.

    Raises
    ------
    NothingUsableError
        The database, or the selected part of it, has no data of the grain.
    """
    grain = look.grain
    numbers = _numbers_of(session, look)
    data = numbers.data(grain.name)
    if data is None:
        raise _no_data(session, look, database)
    context = Context(session.inputs, GRAINS, readings=session.readings, clock=session.clock, numbers=numbers)
    chart, table = _specs(look)
    builder = Builder(context, session.clock, MOST_ROWS)
    builder.plan(Page(0, grain.name, grain.title, "", charts=(chart,), tables=(table,)))
    builder.start, builder.end = data.first.start, data.first.end
    context.define(grain, look.metric)
    charts, rows = list(builder.charts(chart)), builder.table(table)
    report = Report(
        title=grain.title,
        systems=data.systems,
        sysplexes=data.sysplexes,
        start=data.first.start,
        end=data.first.end,
        utc_offset=session.clock.offset,
        time_note=session.clock.note,
        alerts=(),
        sections=tuple(_sections(look, charts, rows)),
        definitions=context.definitions,
    )
    return Shown(under_selection(report, {"": session.inputs.selection}), rows)


def _numbers_of(session: Session, look: Look) -> RollUps:
    """Reader of all facts of the grain, which the session keeps for further questions."""
    grain = look.grain
    numbers = session.context.numbers.another()
    columns = [*(one.name for one in grain.metrics), *(one.name for one in grain.facts)]
    numbers.need(grain.name, (*columns, *(one.name for one in grain.attributes)), look.where)
    return numbers


def _no_data(session: Session, look: Look, database: str) -> NothingUsableError:
    kinds = ", ".join(dict.fromkeys(source.kind for source in look.grain.sources))
    within = f" in the selection: {session.inputs.selection.text}" if look.selection else ""
    return NothingUsableError(
        file=database, what=f"there is no data of {look.grain.title}{within}", remedy=f"it comes from {kinds}"
    )


def _specs(look: Look) -> tuple[ChartSpec, TableSpec]:
    column = look.grain.column(look.metric)
    adds_up = isinstance(column, Fact) and column.rollup.across == "sum"
    by = ", ".join(within_a_sentence(_title(look, key)) for key in look.by)
    chart = ChartSpec(
        "course",
        f"{column.title} by {by}",
        look.grain.name,
        (look.metric,),
        by=look.by,
        kind=ChartKind.STACK if adds_up else ChartKind.LINES,
        where=look.where,
    )
    table = TableSpec(
        ROWS, f"{look.grain.title} by {by}", look.grain.name, look.columns(), look.metric, by=look.by, where=look.where,
        top=IN_SIGHT, course=look.metric,
    )  # fmt: skip
    return chart, table


def _sections(look: Look, charts: list[Chart], table: Table | None) -> Iterator[Section]:
    if charts:
        yield Section("course", "Course", tuple(charts))
    blocks: tuple[Block, ...] = (
        (table,)
        if table is not None
        else (Note("No row meets the filters, or none of them has a value of this number. Remove a filter above."),)
    )
    yield Section("parts", "Parts", blocks, _lead(look) if table is not None else "")


def _lead(look: Look) -> str:
    keys = look.within(tuple((key, "") for key in look.by)).by
    if set(keys) == set(look.by):
        return "A row leads to its own course, and further down to its records."
    return f"A row leads to its parts by {', '.join(within_a_sentence(_title(look, key)) for key in keys)}."


def with_earlier(workspace: Workspace, look: Look, table: Table | None) -> Table | None:
    """The table with the chosen number of the same hours a day and a week before, where the data has them."""
    if table is None:
        return None
    for days, (name, title) in EARLIER.items():
        selection = look.earlier(days)
        before = _before(workspace, look, selection) if selection is not None else {}
        keys = [index for index, column in enumerate(table.columns) if column.key]
        values = [before.get(frozenset((table.columns[i].name, row[i]) for i in keys)) for row in table.rows]
        if any(value is not None for value in values):
            place = [column.name for column in table.columns].index(look.metric) + 1
            own = table.columns[place - 1]
            column = Column(name, title, ColumnKind.NUMBER, own.unit, own.definition)
            # Of two, the later is put first.
            place += sum(name in {one for one, _ in EARLIER.values()} for name in (c.name for c in table.columns))
            table = replace(
                table,
                columns=(*table.columns[:place], column, *table.columns[place:]),
                rows=tuple((*row[:place], value, *row[place:]) for row, value in zip(table.rows, values, strict=True)),
            )
    return table


def _before(workspace: Workspace, look: Look, selection: Selection) -> Mapping[frozenset[tuple[str, Any]], Any]:
    """The chosen number over another selection, by the keys of its row."""
    try:
        with workspace.session(selection) as session:
            found = shown_of(session, look, "").table
    except NothingUsableError:
        return {}
    if found is None:
        return {}
    keys = [index for index, column in enumerate(found.columns) if column.key]
    names = [column.name for column in found.columns]
    if look.metric not in names:
        return {}
    place = names.index(look.metric)
    return {frozenset((names[i], row[i]) for i in keys): row[place] for row in found.rows}


def _with(report: Report, table: Table) -> Report:
    """The report with another table in place of its own."""
    sections = [
        replace(section, blocks=tuple(table if isinstance(block, Table) else block for block in section.blocks))
        for section in report.sections
    ]
    return replace(report, sections=tuple(sections))


def _ways(table: Table, look: Look) -> dict[str, Leading]:
    """Links of the rows to their parts; none where no column names a row."""
    keys = tuple(index for index, column in enumerate(table.columns) if column.key)

    def lead(row: tuple[Any, ...]) -> str:
        filters = tuple((table.columns[i].name, None if row[i] is None else str(row[i])) for i in keys)
        return look.within(filters).address()

    return {ROWS: Leading(keys, lead)} if keys else {}


def _title(look: Look, key: str) -> str:
    named: tuple[Key | Attribute, ...] = (*look.grain.keys, *look.grain.attributes)
    titles = {"system": "System", "sysplex": "Sysplex"} | {one.name: one.title for one in named}
    return titles[key]


def _chip(look: Look, dropped: Filter) -> dict[str, str]:
    value = "without one" if dropped[1] is None else dropped[1]
    return {"title": _title(look, dropped[0]), "value": value, "href": look.without(dropped).address()}


def _split(look: Look, key: str) -> dict[str, Any]:
    return {
        "title": _title(look, key),
        "href": replace(look, by=(key,)).address(),
        "is_current": look.by == (key,),
    }


def _numbers(look: Look) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """The numbers to choose from: metrics, and the facts that they are made of."""
    grain = look.grain
    return [
        ("Metrics", [(one.name, _with_unit(one), one.name == look.metric) for one in grain.metrics]),
        ("Facts", [(one.name, _with_unit(one), one.name == look.metric) for one in grain.facts]),
    ]


def _with_unit(column: Any) -> str:
    return f"{column.title} ({column.unit.symbol})" if column.unit.symbol else str(column.title)


def _hidden(look: Look) -> list[tuple[str, str]]:
    """The parameters that a form of the selection keeps."""
    return [pair for pair in look.pairs if pair not in look.selecting]


def _others(session: Session, look: Look) -> Iterator[dict[str, str]]:
    """Other grains that have a filtered key, under the same filters."""
    for grain in GRAINS.values():
        shared = [one for one in look.filters if one[0] in keys_of(grain)]
        named = {key.name for key in grain.keys}
        if grain.name == look.grain.name or not any(key in named for key, _ in shared):
            continue
        if available(session.inputs, grain):
            pairs = [("where", key if value is None else f"{key}={value}") for key, value in shared]
            yield {"title": grain.title, "href": address(f"/grain/{grain.name}", [*pairs, *look.selecting])}


def grain_file(workspace: Workspace, request: Request) -> Response:
    """The rows of the page of a grain as a file: all of them, in base units."""
    form = request.path_params["form"]
    if form not in FORMS:
        raise NothingUsableError(file="", what=f"there is no form {form[:40]!r}", remedy=f"ask for {', '.join(FORMS)}")
    look = Look.of(request.path_params["name"], request.query_params)
    with workspace.session(look.selection) as session:
        columns = list(dict.fromkeys(shown.column for shown in look.columns()))
        numbers = _numbers_of(session, look)
        data = numbers.data(look.grain.name)
        if data is None:
            raise _no_data(session, look, str(workspace.path))
        by = apart(data, look.by)
        rows, _ = numbers.rows(data, columns, by=by, where=look.where, order=look.metric)
    return download(rows, form, look.grain.name)
