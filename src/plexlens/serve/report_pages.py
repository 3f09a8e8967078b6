"""Pages of the report at separate addresses, and the report as a single file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.errors import NothingUsableError
from plexlens.json_text import json_text
from plexlens.report.blocks.page import Page
from plexlens.report.build import build
from plexlens.report.forms import Form, render
from plexlens.report.model import Missing, Report
from plexlens.report.pages import PAGES
from plexlens.report.writers.html import about, defined, parts, period, render_html
from plexlens.report.writers.json_object import to_json
from plexlens.serve.address import SELECTING, check, selecting, selection_of
from plexlens.serve.leads import ways_of
from plexlens.serve.selection_form import selection_form
from plexlens.serve.shell import address, contents, page
from plexlens.serve.workspace import Workspace

#: Forms of the tables of a page, with the media type of each.
PAGE_FILES = {
    "csv": "text/csv",
    "zip": "application/zip",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
}

_PAGES = {entry.id: entry for entry in PAGES}


def report_page(workspace: Workspace, request: Request) -> Response:
    """A page of the report, over the selected part of the data."""
    name = request.path_params["name"]
    if name not in _PAGES:
        raise NothingUsableError(
            file="", what=f"the report has no page {name[:60]!r}", remedy=f"there are {', '.join(_PAGES)}"
        )
    check(request.query_params, SELECTING)
    pairs = selecting(request.query_params)

    selection = selection_of(request.query_params)

    def result() -> str:
        with workspace.fresh(selection) as session:
            report = build(session.inputs, session.readings, pages=(_PAGES[name],))
            values = frame(report, workspace)
            values["contents"] = contents(session.inputs, f"/page/{name}", pairs)
            values["files"] = [(form, address(f"/page/{name}/tables.{form}", pairs)) for form in PAGE_FILES]
        values |= _titles(report, _PAGES[name], pairs)
        return page("report_page.html.j2", values | selection_form(request, workspace, selection, pairs))

    return HTMLResponse(workspace.kept((name, tuple(pairs)), result))


def frame(report: Report, workspace: Workspace) -> dict[str, Any]:
    """The values of ``shell.html.j2`` for the times and definitions of a report."""
    return {
        "database": str(workspace.path),
        "offset": report.utc_offset or 0,
        "zone": report.clock.zone,
        "grains": defined(report),
        "time_note": report.time_note,
        "alerts": report.alerts,
    }


def _titles(report: Report, shown: Page, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The heading, and the sections under it; sections without anything to show are left out."""
    there = [
        section
        for section in report.sections
        if section.id == shown.id or any(not _is_idle(block) for block in section.blocks)
    ]
    own = "In detail" if len(there) > 1 else shown.title
    sections = [replace(section, title=own if section.id == shown.id else section.title) for section in there]
    return {
        "title": shown.title,
        "lead": shown.lead,
        "subject": report.title,
        "period": period(report, report.clock) if report.start is not None else "",
        "about": about(report),
        "parts": [
            part if part["id"] != shown.id else part | {"lead": ""}
            for part in parts(replace(report, sections=tuple(sections)), ways_of(report, pairs))
        ],
    }


def _is_idle(block: object) -> bool:
    """Whether a block says only that there is nothing to show."""
    return not hasattr(block, "name") or isinstance(block, Missing)


def whole_report(workspace: Workspace, request: Request) -> Response:
    """The report of all pages as one file, to be kept or sent."""
    check(request.query_params, SELECTING)

    def result() -> str:
        with workspace.fresh(selection_of(request.query_params)) as session:
            return render_html(build(session.inputs, session.readings))

    text = workspace.kept(("report", tuple(selecting(request.query_params))), result)
    return HTMLResponse(text, headers={"content-disposition": 'attachment; filename="report.html"'})


def page_file(workspace: Workspace, request: Request) -> Response:
    """The tables of a page of the report as a file, by the writers of the report."""
    name, form = request.path_params["name"], request.path_params["form"]
    if name not in _PAGES or form not in PAGE_FILES:
        raise NothingUsableError(
            file="", what="there is no such file", remedy=f"ask for one of {', '.join(PAGE_FILES)} of a page"
        )
    check(request.query_params, SELECTING)
    with workspace.fresh(selection_of(request.query_params)) as session:
        report = build(session.inputs, session.readings, pages=(_PAGES[name],))
    content = json_text(to_json(report)) if form == "json" else render(report, Form(form))
    headers = {"content-disposition": f'attachment; filename="{name}.{form}"'}
    return Response(content, media_type=PAGE_FILES[form], headers=headers)
