"""The page on which a reader asks in SQL, with the tables and metric views next to it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import pyarrow as pa
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.errors import PlexlensError, UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Fact, Grain, Metric
from plexlens.metrics.evaluate import available
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import Unit
from plexlens.pdb.engine import shown_by
from plexlens.pdb.schema import Column as FileColumn
from plexlens.report.model import Block, Note, Report, Section, Table
from plexlens.report.writers.html import parts
from plexlens.serve.address import wrong
from plexlens.serve.ask_chart import drawn
from plexlens.serve.asked import Asked, question
from plexlens.serve.downloads import FORMS, download
from plexlens.serve.records import cells_of
from plexlens.serve.shell import contents, frame_of, page, status_of
from plexlens.serve.workspace import PATIENCE, BusyError, Workspace
from plexlens.storage_size import parse_size

#: Rows of an answer on the page, and in a file.
ROWS, FILE_ROWS = 1000, 100_000

#: Characters of a query, and of a cell on the page, at most.
LONGEST, LONG_CELL = 20_000, 400

_EXAMPLE = "select structure, sum(requests_per_second) from coupling_structure group by structure"

_LOCK = threading.Lock()

_WORD = re.compile(r"\w+")


def ask_page(workspace: Workspace) -> Callable[[Request], Any]:
    """The page of a database: an empty form for GET, an answer for POST."""

    async def answered(request: Request) -> Response:
        if request.method != "POST":
            for name in request.query_params:
                if name != "query":
                    raise wrong("", f"there is no parameter {name[:40]!r}", "the form has only query")
            return await run_in_threadpool(_shown, workspace, request.query_params.get("query", ""))
        query, form = _sent(await request.body())
        if form == "page":
            return await run_in_threadpool(_answered, workspace, query)
        return await run_in_threadpool(_file, workspace, query, form)

    return answered


def _sent(body: bytes) -> tuple[str, str]:
    """The query and the form of its answer, as a browser sends them.

    Raises
    ------
    UsageError
        Something else was sent.
    """
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=4, errors="strict")
    except ValueError as error:
        raise wrong("", "the request does not contain a form", "use the form on the page") from error
    if set(fields) - {"query", "form"} or any(len(values) != 1 for values in fields.values()):
        raise wrong("", "the request is not from the form of this page", "use the form on the page")
    query, form = fields.get("query", [""])[0], fields.get("form", ["page"])[0]
    if form not in ("page", *FORMS):
        raise wrong("form", f"there is no {form[:40]!r}", f"give page, {', '.join(FORMS)}")
    if len(query) > LONGEST:
        raise wrong("query", f"it has {len(query):,} characters", f"give at most {LONGEST:,}")
    return query, form


def _asked(workspace: Workspace, query: str, rows: int) -> Asked:
    """The answer; questions wait for each other."""
    if not _LOCK.acquire(timeout=PATIENCE):
        raise BusyError(file="", what="the server is busy with other queries", remedy="try again later")
    try:
        return question(
            workspace.path, query, rows=rows, memory=parse_size(workspace.memory_limit), seconds=workspace.seconds
        )
    finally:
        _LOCK.release()


def _shown(workspace: Workspace, query: str, status: int = 200, **values: Any) -> HTMLResponse:
    with workspace.session() as session:
        listed = contents(session.inputs, "/ask", ())
        tables = _tables(session.inputs)
        clock = session.clock
    text = page(
        "ask.html.j2",
        {
            "contents": listed,
            **frame_of(workspace.path, clock),
            "grains": [],
            "query": query,
            "example": _EXAMPLE,
            "tables": tables,
            "forms": FORMS,
            "answer": (),
            "problem": None,
        }
        | values,
    )
    return HTMLResponse(text, status)


def _answered(workspace: Workspace, query: str) -> HTMLResponse:
    try:
        options = _asked(workspace, query, ROWS)
    except PlexlensError as error:
        return _shown(workspace, query, status_of(error), problem=error)
    with workspace.session() as session:
        clock = session.clock
        units = _units(session.inputs, query)
    note = f"The first {ROWS:,} rows; a file has up to {FILE_ROWS:,}." if options.has_more else ""
    result = drawn(options.table, units)
    times = [(chart.times[0], chart.ends[-1]) for chart in result.charts]
    start, end = times[0] if times else (None, None)
    blocks: tuple[Block, ...] = (
        *result.charts,
        *([Note(result.reason)] if result.reason else []),
        _table(options.table, note),
    )
    report = Report("Answer", (), (), start, end, clock.offset, "", (), (Section("answer", "Answer", blocks),))
    return _shown(workspace, query, answer=parts(report))


def _table(table: pa.Table, note: str) -> Table:
    columns, data = cells_of(table, longest=LONG_CELL)
    # Two columns may have the same name.
    return Table(
        name="answer",
        title="Rows of the answer",
        columns=tuple(columns),
        rows=tuple(zip(*data, strict=True)),
        top=50,
        note=note,
    )


def _file(workspace: Workspace, query: str, form: str) -> Response:
    options = _asked(workspace, query, FILE_ROWS)
    if options.has_more:
        raise UsageError(
            file="",
            what=f"the answer has more than {FILE_ROWS:,} rows",
            remedy="ask for fewer, or run it with plexlens sql -o",
        )
    return download(options.table, form, "answer")


@dataclass(frozen=True)
class Listed:
    """A table or view of the database, or a column of it.

    Attributes
    ----------
    name, unit, about
        What a query calls it, the unit of its values, and what it means; unit and meaning may be empty.
    columns
        Its columns.
    """

    name: str
    unit: str = ""
    about: str = ""
    columns: Sequence[Listed] = ()


def _tables(inputs: Inputs) -> Sequence[tuple[str, Sequence[Listed]]]:
    """Metric views and raw tables, each with its columns."""
    views = [_view(grain) for grain in GRAINS.values() if available(inputs, grain)]
    described = shown_by(inputs.connection).manifest.columns
    raw = [
        Listed(name, columns=[_raw(column, described.get(name, ())) for column in inputs.columns(name)])
        for name in sorted(inputs.names)
    ]
    return [("Metric views", sorted(views, key=lambda view: view.name)), ("Raw tables", raw)]


def _view(grain: Grain) -> Listed:
    named = [Listed("interval", about="Start of the interval (UTC)"), Listed("system", about="System")]
    named += [Listed(key.name, about=key.title) for key in grain.keys if key.name != "system"]
    named += [Listed(attribute.name, about=attribute.title) for attribute in grain.attributes]
    numbers = [Listed(number.name, _unit_text(number.unit), number.title) for number in _numbers(grain)]
    return Listed(grain.name, about=f"One row is {grain.row}.", columns=[*named, *numbers])


def _numbers(grain: Grain) -> tuple[Metric | Fact, ...]:
    return (*grain.metrics, *grain.facts)


def _raw(name: str, described: Sequence[FileColumn]) -> Listed:
    column = next((column for column in described if column.name == name), None)
    return Listed(name) if column is None else Listed(name, column.unit, column.description)


def _unit_text(unit: Unit) -> str:
    """The base unit, in which a query has the values."""
    return "" if unit.base == "count" else unit.base


def _units(inputs: Inputs, query: str) -> dict[str, Unit]:
    """Unit in which the numbers of the views that a query names are shown, by name, where these agree."""
    named = {word.lower() for word in _WORD.findall(query)}
    results: dict[str, set[Unit]] = {}
    for grain in GRAINS.values():
        if grain.name in named and available(inputs, grain):
            for number in _numbers(grain):
                results.setdefault(number.name, set()).add(number.unit)
    return {name: units.pop() for name, units in results.items() if len(units) == 1}
