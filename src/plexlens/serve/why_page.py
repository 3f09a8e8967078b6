"""The page of `plexlens why`: the selected time against another one, for the number of a page of a grain."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.errors import UsageError
from plexlens.metrics.selection import Selection, Window, window
from plexlens.report.model import Level, Note, Report, Section
from plexlens.report.writers.drill import NO_WAYS, Ways
from plexlens.report.writers.html import parts
from plexlens.serve.address import wrong
from plexlens.serve.grain_page import filter_chips
from plexlens.serve.look import Look
from plexlens.serve.report_pages import frame
from plexlens.serve.selection_form import selection_form
from plexlens.serve.shell import address, contents, page
from plexlens.serve.times import moment_text
from plexlens.serve.workspace import Session, Workspace
from plexlens.why.answer import why
from plexlens.why.page.report import why_report

#: Parameter that names the time to compare with.
AGAINST = "against"


def why_page(workspace: Workspace, request: Request) -> Response:
    """The page."""
    look = Look.of(request.path_params["name"], request.query_params, (AGAINST,))
    against = request.query_params.get(AGAINST, "").strip()
    base = _window(against) if against else None

    def result() -> str:
        selected = _selected(look.selection)
        with workspace.fresh() as session:
            listed = contents(session.inputs, f"/grain/{look.grain.name}", look.selecting)
            report, ways = _nothing(session, look), NO_WAYS
            if selected is not None:
                report, ways = _answered(session, look, selected, base, str(workspace.path))
        named = [(AGAINST, against)] if against else []
        hidden = [*(pair for pair in look.pairs if pair not in look.selecting), *named]
        values = frame(report, workspace)
        values |= selection_form(request, workspace, look.selection, look.selecting, hidden)
        values |= {
            "contents": listed,
            "title": report.title,
            "subject": report.subject,
            "parts": parts(report, ways),
            "chips": filter_chips(look, lambda other: address(request.url.path, [*other.pairs, *named])),
            "against": against,
            "pairs": look.pairs,
            "grain_href": look.address(),
        }
        return page("why.html.j2", values)

    return HTMLResponse(workspace.kept((request.url.path, tuple(look.pairs), against), result))


def _window(text: str) -> Window:
    try:
        return window(text)
    except UsageError as error:
        raise wrong(AGAINST, error.what, error.remedy) from error


def _selected(selection: Selection) -> Window | None:
    """The selected time; None where it is not bounded on both sides."""
    if len(selection.windows) != 1:
        return None
    chosen = selection.windows[0]
    return None if chosen.start is None or chosen.end is None else chosen


def _text(chosen: Window) -> str:
    """A time as `plexlens why` reads it."""
    assert chosen.start is not None
    assert chosen.end is not None
    return f"{moment_text(chosen.start)}..{moment_text(chosen.end)}"


def _nothing(session: Session, look: Look) -> Report:
    """The page before a time is selected."""
    title = look.grain.column(look.metric).title
    note = Note(
        "Select a time with a beginning and an end. It is compared with the same time a week before, with the time "
        "just before it, or with a time that you name.",
        Level.INFO,
    )
    return Report(
        title=f"Why {title} changed",
        systems=(),
        sysplexes=(),
        start=None,
        end=None,
        utc_offset=session.clock.offset,
        time_note=session.clock.note,
        sections=(Section("answer", "Answer", (note,)),),
        definitions={},
    )


def _answered(
    session: Session, look: Look, selected: Window, base: Window | None, database: str
) -> tuple[Report, Ways]:
    """The answer as a report, and the links of its two numbers."""
    answer = why(
        session.inputs,
        f"{look.grain.name}.{look.metric}",
        _text(selected),
        "" if base is None else _open_text(base),
        name=database,
        where=look.where or "",
        selection=replace(look.selection, windows=()),
        findings=False,
    )
    before = answer.selections["BASE"]
    return why_report(answer, session.clock), Ways(
        {}, {}, {"before": look.at(replace(look.selection, windows=before.windows)).address(), "after": look.address()}
    )


def _open_text(chosen: Window) -> str:
    bounds = ("" if moment is None else moment_text(moment) for moment in (chosen.start, chosen.end))
    return "..".join(bounds)
