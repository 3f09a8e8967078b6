"""Pages of the report, each at an address of its own, and the report as one file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.errors import NothingUsableError
from plexlens.report.blocks.page import Page
from plexlens.report.build import build
from plexlens.report.model import Missing, Report
from plexlens.report.pages import PAGES
from plexlens.report.writers.html import about, defined, parts, period, render_html
from plexlens.serve.address import SELECTING, check, selecting, selection_of
from plexlens.serve.selection_form import selection_form
from plexlens.serve.shell import contents, page
from plexlens.serve.workspace import Workspace

_PAGES = {one.id: one for one in PAGES}


def report_page(workspace: Workspace, request: Request) -> Response:
    """A page of the report, over the selected part of the data."""
    name = request.path_params["name"]
    if name not in _PAGES:
        raise NothingUsableError(
            file="", what=f"the report has no page {name[:60]!r}", remedy=f"there are {', '.join(_PAGES)}"
        )
    check(request.query_params, SELECTING)
    pairs = selecting(request.query_params)

    def made() -> str:
        with workspace.fresh(selection_of(request.query_params)) as session:
            report = build(session.inputs, session.readings, pages=(_PAGES[name],))
            values = frame(report, workspace)
            values["contents"] = contents(session.inputs, f"/page/{name}", pairs)
        return page("report_page.html.j2", values | _titles(report, _PAGES[name]) | selection_form(request, pairs))

    return HTMLResponse(workspace.kept((name, tuple(pairs)), made))


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


def _titles(report: Report, shown: Page) -> dict[str, Any]:
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
        "period": period(report, report.clock),
        "about": about(report),
        "parts": [
            part if part["id"] != shown.id else part | {"lead": ""}
            for part in parts(replace(report, sections=tuple(sections)))
        ],
    }


def _is_idle(block: object) -> bool:
    """Whether a block says only that there is nothing to show."""
    return not hasattr(block, "name") or isinstance(block, Missing)


def whole_report(workspace: Workspace, request: Request) -> Response:
    """The report of all pages as one file, to be kept or sent."""
    check(request.query_params, SELECTING)

    def made() -> str:
        with workspace.fresh(selection_of(request.query_params)) as session:
            return render_html(build(session.inputs, session.readings))

    text = workspace.kept(("report", tuple(selecting(request.query_params))), made)
    return HTMLResponse(text, headers={"content-disposition": 'attachment; filename="report.html"'})
