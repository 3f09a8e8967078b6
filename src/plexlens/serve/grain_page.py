"""The page of a grain: one number over time and by any key, with its definition and its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
from plexlens.report.blocks.courses import apart
from plexlens.report.blocks.evaluated import Builder
from plexlens.report.blocks.page import ChartSpec, Page, TableSpec
from plexlens.report.blocks.selection import under_selection
from plexlens.report.build import within_a_sentence
from plexlens.report.model import Block, Column, ColumnKind, Figure, KeyFigures, Note, Report, Section, Table
from plexlens.report.model.chart import Chart, ChartKind
from plexlens.report.writers.drill import Leading, Ways
from plexlens.report.writers.html import about, parts, period
from plexlens.serve.downloads import FORMS, download
from plexlens.serve.leads import pages_of
from plexlens.serve.look import PARTS, Filter, Look, keys_of, numbers_of
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
    whole
        The chosen number of all rows together, in its base unit; None where it has no value.
    """

    report: Report
    table: Table | None
    whole: float | None = None


def grain_page(workspace: Workspace, request: Request) -> Response:
    """The page of a grain."""
    look = Look.of(request.path_params["name"], request.query_params)

    def result() -> str:
        with workspace.session(look.selection) as session:
            shown = shown_of(session, look, str(workspace.path))
            listed = contents(session.inputs, f"/grain/{look.grain.name}", look.selecting)
            others = list(_others(session, look))
        earlier = earlier_of(workspace, look)
        table = with_earlier(earlier, look, shown.table)
        report = _with(shown.report, table, _figures(look, shown.whole, earlier))
        ways = _ways(table, look, earlier)
        values = frame(report, workspace)
        values |= selection_form(request, workspace, look.selection, look.selecting, _hidden(look))
        values |= {
            "contents": listed,
            "title": look.grain.title,
            "row": look.grain.row,
            "period": period(report, report.clock),
            "about": about(report),
            "parts": parts(report, ways),
            "look": look,
            "chips": filter_chips(look, Look.address),
            "splits": [_split(look, key) for key in keys_of(look.grain)],
            "groups": _numbers(look),
            "chosen": report.definitions.get(f"{look.grain.name}.{look.metric}"),
            "others": others,
            "reports": [(entry.title, address(f"/page/{entry.id}", look.selecting)) for entry in pages_of(look.grain)],
            "records_href": look.address("/records"),
            "why_href": look.address("/why"),
            "files": [(form, address(f"/grain/{look.grain.name}/rows.{form}", look.pairs)) for form in FORMS],
        }
        return page("grain.html.j2", values)

    return HTMLResponse(workspace.kept((request.url.path, tuple(look.pairs)), result))


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
    added, _ = numbers.rows(data, (look.metric,), where=look.where)
    whole = added[look.metric][0].as_py() if rows is not None and added.num_rows else None
    report = Report(
        title=grain.title,
        systems=data.systems,
        sysplexes=data.sysplexes,
        start=data.first.start,
        end=data.first.end,
        utc_offset=session.clock.offset,
        time_note=session.clock.note,
        sections=tuple(_sections(look, charts, rows)),
        definitions=context.definitions,
    )
    return Shown(under_selection(report, {"": session.inputs.selection}), rows, whole)


def _numbers_of(session: Session, look: Look) -> RollUps:
    """Reader of all facts of the grain, which the session keeps for further questions."""
    grain = look.grain
    numbers = session.context.numbers.another()
    numbers.need(grain.name, (*numbers_of(grain), *(attribute.name for attribute in grain.attributes)), look.where)
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
        return "A row links to its trend, and from there to its records."
    return f"A row links to its parts by {', '.join(within_a_sentence(_title(look, key)) for key in keys)}."


@dataclass(frozen=True)
class Earlier:
    """The chosen number of the same hours of an earlier day.

    Attributes
    ----------
    look
        The page of that time.
    whole
        The number of all rows together; None where it has no value.
    rows
        The number of each row, by its keys.
    """

    look: Look
    whole: float | None
    rows: Mapping[frozenset[tuple[str, Any]], Any]


def with_earlier(earlier: Mapping[int, Earlier], look: Look, table: Table | None) -> Table | None:
    """The table with the chosen number of the same hours a day and a week before, where the data has them."""
    if table is None:
        return None
    for days, before in earlier.items():
        name, title = EARLIER[days]
        keys = [index for index, column in enumerate(table.columns) if column.key]
        values = [before.rows.get(_row_key((table.columns[i].name, row[i]) for i in keys)) for row in table.rows]
        if any(value is not None for value in values):
            place = [column.name for column in table.columns].index(look.metric) + 1
            own = table.columns[place - 1]
            column = Column(name, title, ColumnKind.NUMBER, own.unit, own.definition)
            # Of two, the later is put first.
            place += sum(name in {text for text, _ in EARLIER.values()} for name in (c.name for c in table.columns))
            table = replace(
                table,
                columns=(*table.columns[:place], column, *table.columns[place:]),
                rows=tuple((*row[:place], value, *row[place:]) for row, value in zip(table.rows, values, strict=True)),
            )
    return table


def earlier_of(workspace: Workspace, look: Look) -> dict[int, Earlier]:
    """The chosen number one day and one week earlier, by the number of days, where the data contains it."""
    results = {}
    for days in EARLIER:
        selection = look.earlier(days)
        if selection is not None:
            before = _before(workspace, look, selection)
            if before is not None:
                results[days] = before
    return results


def _before(workspace: Workspace, look: Look, selection: Selection) -> Earlier | None:
    """The chosen number over another selection; None if it has no value there."""
    try:
        with workspace.session(selection) as session:
            numbers = _numbers_of(session, look)
            data = numbers.data(look.grain.name)
            if data is None:
                return None
            by = apart(data, look.by)
            table, _ = numbers.rows(data, (look.metric,), by=by, where=look.where)
            added, _ = numbers.rows(data, (look.metric,), where=look.where)
    except NothingUsableError:
        return None
    rows = {_row_key((name, row[name]) for name in by): row[look.metric] for row in table.to_pylist()}
    if all(value is None for value in rows.values()):
        return None
    return Earlier(look.at(selection), added[look.metric][0].as_py() if added.num_rows else None, rows)


def _row_key(names: Iterable[tuple[str, Any]]) -> frozenset[tuple[str, Any]]:
    """The names of a row; a table leaves out columns that are empty in all of its rows."""
    return frozenset((name, value) for name, value in names if value)


def _figures(look: Look, whole: float | None, earlier: Mapping[int, Earlier]) -> KeyFigures | None:
    """The chosen number of everything that is shown, and of the same hours before."""
    if whole is None:
        return None
    column = look.grain.column(look.metric)
    definition = f"{look.grain.name}.{look.metric}"
    figures = [Figure("whole", column.title, whole, column.unit, definition, "of all rows below together")]
    for days, before in earlier.items():
        name, title = EARLIER[days]
        figures.append(Figure(name, title, before.whole, column.unit, definition, _change(whole, before.whole)))
    return KeyFigures("number", tuple(figures))


def _change(now: float, before: float | None) -> str:
    if not before:
        return "the same hours"
    share = round(100 * (now / before - 1))
    if share:
        return f"the same hours; now {abs(share):,} % {'higher' if share > 0 else 'lower'}"
    return "the same hours; now the same"


def _with(report: Report, table: Table | None, figures: KeyFigures | None) -> Report:
    """The report with another table in place of its own, and figures in front."""
    sections = [
        replace(
            section,
            blocks=tuple(
                table if isinstance(block, Table) and table is not None else block for block in section.blocks
            ),
        )
        for section in report.sections
    ]
    first = [] if figures is None else [Section("whole-number", "Number", (figures,))]
    return replace(report, sections=(*first, *sections))


def _ways(table: Table | None, look: Look, earlier: Mapping[int, Earlier]) -> Ways:
    """Links of the rows to their parts, and of earlier numbers to their time."""
    figures = {EARLIER[days][0]: before.look.address() for days, before in earlier.items()}
    if table is None:
        return Ways({}, {}, figures)
    columns = table.columns
    there = frozenset(numbers_of(look.grain))
    keys = tuple(index for index, column in enumerate(columns) if column.key)

    def filters(row: tuple[Any, ...]) -> tuple[Filter, ...]:
        return tuple((columns[i].name, None if row[i] is None else str(row[i])) for i in keys)

    named = [columns[index].name for index in keys]
    within = look.addresses_within(named)
    at = {EARLIER[days][0]: before.look.addresses_within(named) for days, before in earlier.items()}

    def cell(row: tuple[Any, ...], index: int) -> str:
        name = columns[index].name
        if name in at:
            return at[name](filters(row), look.metric)
        return within(filters(row), name) if name in there else ""

    rows = {ROWS: Leading(keys, lambda row: within(filters(row), look.metric), cell=cell)} if keys else {}
    return Ways(rows, {}, figures)


def _title(look: Look, key: str) -> str:
    named: tuple[Key | Attribute, ...] = (*look.grain.keys, *look.grain.attributes)
    titles = {"system": "System", "sysplex": "Sysplex"} | {entry.name: entry.title for entry in named}
    return titles[key]


def filter_chips(look: Look, href: Callable[[Look], str]) -> list[dict[str, str]]:
    """The filters, and the condition of a block of the report: each can be taken away.

    Parameters
    ----------
    look
        The state of the page.
    href
        Address of the same page in another state.
    """
    chips = [
        {
            "title": _title(look, dropped[0]),
            "value": "without one" if dropped[1] is None else dropped[1],
            "href": href(look.without(dropped)),
        }
        for dropped in look.filters
    ]
    if look.part:
        chips.append({"title": "As in", "value": PARTS[look.part][1], "href": href(replace(look, part=""))})
    return chips


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
        ("Metrics", [(metric.name, _with_unit(metric), metric.name == look.metric) for metric in grain.metrics]),
        ("Facts", [(fact.name, _with_unit(fact), fact.name == look.metric) for fact in grain.facts]),
    ]


def _with_unit(column: Any) -> str:
    return f"{column.title} ({column.unit.symbol})" if column.unit.symbol else str(column.title)


def _hidden(look: Look) -> list[tuple[str, str]]:
    """The parameters that a form of the selection keeps."""
    return [pair for pair in look.pairs if pair not in look.selecting]


def _others(session: Session, look: Look) -> Iterator[dict[str, str]]:
    """Other grains that have a filtered key, under the same filters."""
    for grain in GRAINS.values():
        shared = [entry for entry in look.filters if entry[0] in keys_of(grain)]
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
