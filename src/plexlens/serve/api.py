"""The metric views as JSON for other programs, under ``/api/v1``, and the last interval for monitors, at ``/metrics``.

What an answer of a version has stays: names of members and parameters, and their meaning. Members may be added.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from plexlens import __version__
from plexlens.errors import NothingUsableError, PlexlensError
from plexlens.export.openmetrics import CONTENT_TYPE, openmetrics
from plexlens.export.views import Wanted, views
from plexlens.json_text import json_text, json_value
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Fact, Grain, Metric
from plexlens.metrics.evaluate import TIMES, available
from plexlens.metrics.question import Question, ask, grain_of
from plexlens.metrics.selection import EVERYTHING, Selection, Window
from plexlens.pdb.engine import literal, quoted
from plexlens.report.of_database import clock_of
from plexlens.serve.address import REPEATED, SELECTING, check, chosen, number, selection_of, wrong
from plexlens.serve.look import keys_of, numbers_of
from plexlens.serve.shell import status_of
from plexlens.serve.workspace import Session, Workspace

#: Version of the interface, and the path that has it.
VERSION, PATH = 1, "/api/v1"

#: Rows of an answer, unless asked otherwise, and at most.
USUAL, MOST = 10_000, 100_000

#: Lengths of time of a row, as a parameter names them.
EVERY = {("whole" if name == "all" else name): name for name in TIMES}

#: Grafana writes times as milliseconds since 1970.
_MILLISECONDS = 11

#: Systems whose last interval began longer before the newest are silent: their numbers are not the present ones.
SILENT = timedelta(days=1)


def api_index(workspace: Workspace, request: Request) -> Response:
    """Version and addresses of the interface."""
    check(request.query_params, ())
    return _json(
        {
            "api": VERSION,
            "plexlens": __version__,
            "views": f"{PATH}/views",
            "view": f"{PATH}/views/NAME",
            "rows": f"{PATH}/views/NAME/rows",
            "metrics": "/metrics",
        }
    )


def api_views(workspace: Workspace, request: Request) -> Response:
    """The metric views with data."""
    check(request.query_params, ())
    with workspace.session() as session:
        there = [grain for grain in GRAINS.values() if available(session.inputs, grain)]
        systems = [
            {
                "system": system.system,
                "first": _local(system.first),
                "last": _local(system.last),
                "utc_offsets": system.offsets,
            }
            for system in workspace.extent.systems
        ]
    listed = [
        {
            "name": grain.name,
            "title": grain.title,
            "row": grain.row,
            "family": grain.family,
            "columns": f"{PATH}/views/{grain.name}",
            "rows": f"{PATH}/views/{grain.name}/rows",
        }
        for grain in there
    ]
    return _json({"api": VERSION, "views": listed, "systems": systems})


def api_view(workspace: Workspace, request: Request) -> Response:
    """The columns of a metric view: keys, attributes, metrics and facts, with units."""
    check(request.query_params, ())
    grain = _grain(request)
    with workspace.session() as session:
        is_there = available(session.inputs, grain)
    keys = [_named("key", name, title) for name, title in (("system", "System"), ("sysplex", "Sysplex"))]
    keys += [_named("key", key.name, key.title) for key in grain.keys]
    attributes = [_named("attribute", attribute.name, attribute.title) for attribute in grain.attributes]
    numbers = [
        *(_number("metric", metric) for metric in grain.metrics),
        *(_number("fact", fact) for fact in grain.facts),
    ]
    return _json(
        {
            "api": VERSION,
            "name": grain.name,
            "title": grain.title,
            "row": grain.row,
            "has_data": is_there,
            "columns": [*keys, *attributes, *numbers],
            "rows": f"{PATH}/views/{grain.name}/rows",
        }
    )


def _named(kind: str, name: str, title: str) -> dict[str, Any]:
    return {"name": name, "kind": kind, "title": title, "unit": None}


def _number(kind: str, entry: Metric | Fact) -> dict[str, Any]:
    formula = None if isinstance(entry, Fact) else entry.words
    texts = {"formula": formula, "source": entry.source, "shown_in": entry.unit.symbol or None}
    return _named(kind, entry.name, entry.title) | {"unit": entry.unit.base} | texts


def api_rows(workspace: Workspace, request: Request) -> Response:
    """Rows of a metric view."""
    params = request.query_params
    grain = _grain(request)
    check(params, (*SELECTING, "by", "metric", "where", "every", "limit"), lists=(*REPEATED, "where", "metric", "by"))
    keys = keys_of(grain)
    by = _listed(params, "by", keys)
    metrics = _listed(params, "metric", numbers_of(grain))
    every = EVERY[chosen(params, "every", list(EVERY), "interval")]
    limit = number(params, "limit", USUAL, MOST)
    question = Question.of(
        grain.name,
        by=by if "by" in params else None,
        every=every,
        columns=metrics or None,
        where=_condition(params, keys),
    )
    selection = selection_of(_with_times(params))
    with workspace.session(selection) as session:
        answer = ask(session.inputs, question, str(workspace.path), utc_offset=clock_of(session.inputs).offset or 0.0)
        text = session.inputs.selection.text
    table = answer.table
    if "time" in table.column_names:
        # Of more rows than asked for, the latest are kept; they stand in the order of time.
        table = table.sort_by([("time", "ascending")])
        table = table.slice(max(0, table.num_rows - limit))
    else:
        table = table.slice(0, limit)
    return _json(
        {
            "api": VERSION,
            "view": grain.name,
            "every": chosen(params, "every", list(EVERY), "interval"),
            "selection": text,
            "columns": [
                {"name": field.name, **{key.decode(): value.decode() for key, value in (field.metadata or {}).items()}}
                for field in table.schema
            ],
            "rows": [
                {name: _iso(value) if isinstance(value, datetime) else value for name, value in row.items()}
                for row in table.to_pylist()
            ],
            "total": answer.table.num_rows,
            "left_out": answer.table.num_rows - table.num_rows,
        }
    )


def _grain(request: Request) -> Grain:
    name = request.path_params["name"]
    if name not in GRAINS:
        raise NothingUsableError(
            file="", what=f"there is no metric view {name[:60]!r}", remedy=f"{PATH}/views lists those with data"
        )
    return grain_of(name)


def _listed(params: QueryParams, name: str, valid: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Names in a parameter, separated by commas or given repeatedly."""
    wanted = [part for text in params.getlist(name) for part in text.split(",") if part]
    for part in wanted:
        chosen(QueryParams({name: part}), name, valid, "")
    return tuple(dict.fromkeys(wanted))


def _condition(params: QueryParams, keys: tuple[str, ...]) -> str:
    """SQL of ``KEY=VALUE`` filters: several values of a key are alternatives, as a panel with several choices sends."""
    wanted: dict[str, list[str]] = {}
    for text in params.getlist("where"):
        key, equals, value = text.partition("=")
        if key not in keys or not equals:
            raise wrong("where", f"{text[:60]!r} is not KEY=VALUE", f"name one of {', '.join(keys)}")
        wanted.setdefault(key, []).append(value)
    return " and ".join(
        f"{quoted(key)}::varchar in ({', '.join(literal(value) for value in values)})" for key, values in wanted.items()
    )


def _with_times(params: QueryParams) -> QueryParams:
    """The parameters, with milliseconds since 1970 as times."""
    pairs = params.multi_items()
    return QueryParams([(name, _moment(value) if name in ("from", "to") else value) for name, value in pairs])


def _moment(text: str) -> str:
    """A time as written; milliseconds since 1970 as a time."""
    if not (text.isascii() and text.isdigit() and _MILLISECONDS <= len(text) <= 14):
        return text
    return _iso(datetime.fromtimestamp(int(text) // 1000, UTC))


def _iso(moment: datetime) -> str:
    """A time of an answer: UTC with a Z, local time of unknown offset without."""
    if moment.tzinfo is None:
        return moment.isoformat()
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _local(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _json(text: dict[str, Any], status: int = 200) -> Response:
    return Response(json_text(json_value(text)), status, media_type="application/json")


def api_error(error: PlexlensError) -> Response:
    """An error as JSON: what is wrong, and what is valid."""
    parameter = error.file.removeprefix("parameter ") if error.file.startswith("parameter ") else None
    status = status_of(error)
    texts = {"status": status, "parameter": parameter, "what": error.what, "remedy": error.remedy}
    return _json({"api": VERSION, "error": texts}, status)


def metrics_text(workspace: Workspace, request: Request) -> Response:
    """The last interval of each system, Db2 and region as OpenMetrics text."""
    check(request.query_params, ("grain", "timestamps"))
    params = request.query_params
    grains = _listed(params, "grain", tuple(GRAINS))
    with_times = chosen(params, "timestamps", ("yes", "no"), "no") == "yes"

    def result() -> str:
        with workspace.session(_latest(workspace)) as session:
            return openmetrics(_views(session, grains, str(workspace.path)), timestamps=with_times)

    return Response(workspace.kept(("metrics", grains, with_times), result), media_type=CONTENT_TYPE)


def _views(session: Session, grains: tuple[str, ...], database: str) -> Any:
    return views(session.inputs, Wanted(grains, facts=False), database)


def _latest(workspace: Workspace) -> Selection:
    """The time in which the last intervals are: the last day with data."""
    last = max((system.last for system in workspace.extent.systems if system.last is not None), default=None)
    return EVERYTHING if last is None else Selection(windows=(Window(last - SILENT, None),))


#: Address of each part, and what answers it.
ROUTES: dict[str, Callable[[Workspace, Request], Response]] = {
    PATH: api_index,
    f"{PATH}/views": api_views,
    f"{PATH}/views/{{name}}": api_view,
    f"{PATH}/views/{{name}}/rows": api_rows,
    "/metrics": metrics_text,
}
