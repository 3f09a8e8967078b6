"""The page of findings over the history: new, still there, gone, each with its days, its object and its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.metrics import GRAINS
from plexlens.metrics.selection import Selection
from plexlens.report.chart.time_svg import spark
from plexlens.report.model.display import counted, shown
from plexlens.report.pages.findings import SECONDS_PER_HOUR
from plexlens.serve.address import SELECTING, check, selecting, selection_of
from plexlens.serve.findings_by_day import STATES, Line, lines_of
from plexlens.serve.history import Day, History
from plexlens.serve.judged import Judged
from plexlens.serve.look import keys_of, numbers_of
from plexlens.serve.selection_form import selection_form
from plexlens.serve.shell import address, contents, frame_of, page
from plexlens.serve.times import day_bounds
from plexlens.serve.workspace import Workspace

#: Days drawn in the strip of a finding.
_STRIP = 28

#: Seconds that a request waits for days that are not judged yet: a few days are done by then.
_WAIT = 1.0


def findings_page(history: History, workspace: Workspace, request: Request) -> Response:
    """The findings over the history."""
    check(request.query_params, SELECTING)
    selection = selection_of(request.query_params)
    pairs = selecting(request.query_params)
    systems: Sequence[str] = ()
    if selection.systems or selection.classes:
        # Names in place of patterns; a name that the database does not have is refused.
        with workspace.session(Selection(systems=selection.systems, classes=selection.classes)) as session:
            systems = session.inputs.selection.systems
    days = [day for day in history.days() if _within(day.date, selection)]
    judged = history.judged(days)
    if len(judged) < len(days):
        history.wait(_WAIT)
        judged = history.judged(days)
    lines = [line for line in lines_of(days, judged) if _is_of(line, systems)]
    with workspace.session() as session:
        listed = contents(session.inputs, "/findings", pairs)
        clock = session.clock
    values: dict[str, Any] = {
        "contents": listed,
        **frame_of(workspace.path, clock),
        "period": _period(days),
        "judged": len(judged),
        "missing": len(days) - len(judged),
        "days_in_all": len(days),
        "here": str(request.url.path) + (f"?{request.url.query}" if request.url.query else ""),
        "problems": [(day, entry.problem) for day, entry in judged.items() if entry.problem],
        "left_out": sum(entry.left_out for entry in judged.values()),
        "ignored": [name for name, given in (("shift", selection.shifts), ("class", selection.classes)) if given],
        "groups": [
            {"state": state, "title": title, "about": about, "rows": rows}
            for state, (title, about) in STATES.items()
            if (rows := [_row(line, days, pairs) for line in lines if line.state == state])
        ],
        "days": _days(days, judged, lines, pairs),
    }
    form = selection_form(request, workspace, selection, pairs)
    return HTMLResponse(page("findings.html.j2", values | form))


def _within(day: date, selection: Selection) -> bool:
    """Whether noon of a day, or another of its moments, is in the selected time."""
    first, last = datetime.combine(day, time()), datetime.combine(day, time(23, 59, 59))
    for window in selection.windows:
        start, end = window.start, window.end
        if start is not None and last < start.replace(tzinfo=None):
            return False
        if end is not None and first >= end.replace(tzinfo=None):
            return False
    return True


def _is_of(line: Line, systems: Sequence[str]) -> bool:
    own = line.latest.value("system")
    return not systems or own is None or own in systems


def _period(days: Sequence[Day]) -> str:
    if not days:
        return "no day with data"
    first, last = days[-1].date, days[0].date
    return f"{counted(len(days), 'day')} with data, {first}" + (f" to {last}" if last != first else "")


def _row(line: Line, days: Sequence[Day], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    last = line.days[-1]
    seen = line.latest
    strip = sorted(day.date for day in days)[-_STRIP:]
    values = [1.0 if day in line.days else (0.0 if day in line.could else None) for day in strip]
    text = f"found on {len(line.days)} of {counted(len(line.could), 'day')}"
    return {
        "severity": seen.severity,
        "rank": line.order[0],
        "title": seen.title,
        "sentence": seen.sentence,
        "report": _report(last, pairs, seen.rule),
        "object": seen.name or "all of it",
        "object_href": _object(line, last, pairs),
        "first": line.days[0].isoformat(),
        "first_href": _report(line.days[0], pairs, seen.rule),
        "last": last.isoformat(),
        "days": f"{len(line.days)} of {len(line.could)}",
        "share": len(line.days) / len(line.could),
        "strip": spark(values, text, gap=True) if len(strip) > 1 else "",
        "told": text,
        "cost": shown(seen.cost, SECONDS_PER_HOUR) if seen.cost is not None else "",
        "cost_value": seen.cost,
    }


def _report(day: date, pairs: Sequence[tuple[str, str]], rule: str = "") -> str:
    """The findings of a day, and among them a rule's."""
    kept = [pair for pair in pairs if pair[0] not in ("from", "to")]
    return address("/page/findings", [*day_bounds(day), *kept]) + (f"#advice-{rule}" if rule else "")


def _object(line: Line, day: date, pairs: Sequence[tuple[str, str]]) -> str:
    """The page of the object over a day."""
    seen = line.latest
    grain = GRAINS[seen.grain]
    known = keys_of(grain)
    filters = [("where", f"{column}={value}") for column, _, value in seen.entity if value and column in known]
    metric = [("metric", seen.metric)] if seen.metric in numbers_of(grain) else []
    kept = [pair for pair in pairs if pair[0] not in ("from", "to")]
    return address(f"/grain/{seen.grain}", [*metric, *filters, *day_bounds(day), *kept])


def _days(
    days: Sequence[Day], judged: Mapping[date, Judged], lines: Sequence[Line], pairs: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Numbers of findings of each day: found, found for the first time, no longer found."""
    results = []
    for day in days:
        if day.date not in judged:
            continue
        there = [line for line in lines if day.date in line.days]
        began = [line for line in there if line.days[0] == day.date]
        ended = [line for line in lines if line.days[-1] < day.date and _next(line) == day.date]
        results.append(
            {
                "day": day.date.isoformat(),
                "href": _report(day.date, pairs),
                "there": len(there),
                "began": len(began),
                "ended": len(ended),
                "systems": ", ".join(sorted(day.systems)),
            }
        )
    return results


def _next(line: Line) -> date | None:
    """The first day on which the finding could have been found again and was not."""
    return next((day for day in line.could if day > line.days[-1]), None)
