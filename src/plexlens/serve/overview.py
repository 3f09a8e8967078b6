"""The first page: what the database holds, and the ways into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Extent
from plexlens.report.blocks.readings import Readings
from plexlens.report.build import alerts_of
from plexlens.report.model import Column, ColumnKind, Table
from plexlens.report.model import text_column as text
from plexlens.report.model.clock import Clock
from plexlens.report.model.display import counted
from plexlens.report.pages import PAGES
from plexlens.report.pages.read import records_table
from plexlens.report.writers.table_html import table_view
from plexlens.serve.address import SELECTING, check, selecting, selection_of
from plexlens.serve.shell import address, contents, family_title, frame_of, page
from plexlens.serve.workspace import Workspace


def overview(workspace: Workspace, request: Request) -> Response:
    """The first page."""
    check(request.query_params, SELECTING)
    selection = selection_of(request.query_params)
    pairs = selecting(request.query_params)

    def result() -> str:
        # The page is of the whole database; the links that it gives are to what is selected, which has to be there.
        with workspace.session(selection) as session:
            readings, clock, extent = session.readings, session.clock, workspace.extent
            values: dict[str, Any] = {
                "contents": contents(session.inputs, "/", pairs),
                "pages": _pages(session.inputs, pairs),
                "families": _families(session.inputs, pairs),
            }
        tables = [table for table in (_systems(extent), records_table(readings)) if table.rows]
        values |= {
            "kept": pairs,
            "title": _title(extent),
            "about": _about(extent, readings),
            **frame_of(workspace.path, clock, note=clock.note),
            "grains": [],
            "alerts": alerts_of(readings),
            "tables": [table_view(table, {}, clock) for table in tables],
            "memory_limit": workspace.memory,
            "threads": counted(workspace.threads, "thread"),
            "report_href": address("/report.html", pairs),
            "findings_href": address("/findings", pairs),
        }
        return page("overview.html.j2", values)

    return HTMLResponse(workspace.kept(("overview", tuple(pairs)), result))


def _title(extent: Extent) -> str:
    names = [system.system for system in extent.systems if system.system]
    if not names:
        return "Performance database"
    if len(names) > 6:
        return f"{len(names)} systems"
    return f"{'System' if len(names) == 1 else 'Systems'} {', '.join(names)}"


def _about(extent: Extent, readings: Readings) -> str:
    starts = [system.first for system in extent.systems if system.first is not None]
    ends = [system.last for system in extent.systems if system.last is not None]
    files = counted(len(readings.files), "file")
    records = counted(sum(record.records for record in readings.records), "record or report", "records and reports")
    content = f"{files}, {records}"
    if not starts:
        return f"{content}; none has a time."
    span = Clock(None, "").span(min(starts), max(ends))
    return f"{content}. Intervals start from {span}, local time of each system."


def _systems(extent: Extent) -> Table:
    return Table(
        name="systems",
        title="Systems",
        columns=(
            text("system", "System", key=True),
            text("zone", "Local time"),
            Column("first", "First interval", ColumnKind.TIME),
            Column("last", "Last interval", ColumnKind.TIME),
        ),
        rows=tuple((system.system or "not named", system.zone, system.first, system.last) for system in extent.systems),
    )


def _pages(inputs: Inputs, pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """The pages of the report that have data."""
    return [
        {"title": entry.title, "lead": entry.lead, "href": address(f"/page/{entry.id}", pairs)}
        for entry in PAGES
        if entry.grains and any(available(inputs, GRAINS[name]) for name in entry.grains)
    ]


def _families(inputs: Inputs, pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """The grains with data, by family."""
    texts: dict[str, list[dict[str, str]]] = {}
    for grain in GRAINS.values():
        if available(inputs, grain):
            entry = {"title": grain.title, "row": grain.row, "href": address(f"/grain/{grain.name}", pairs)}
            texts.setdefault(grain.family, []).append(entry)
    return [{"title": family_title(name), "grains": grains} for name, grains in texts.items()]
