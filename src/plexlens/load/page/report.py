"""A load test as a report: validity, response and rate, CPU time per request, and the split of the response."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from plexlens import __version__
from plexlens.load.cost import Costs, ServerShare, Share, Tasks
from plexlens.load.criteria import Validity
from plexlens.load.page.validity import validity_alert, validity_object, validity_section
from plexlens.load.repeats import MOST_FAILED
from plexlens.load.run import PERCENTILES, Line, Run
from plexlens.metrics.page_numbers import page_numbers
from plexlens.metrics.unit import COUNT, FRACTION, MILLISECONDS, PER_SECOND, RATIO, Unit
from plexlens.report.model import (
    Cell,
    Column,
    ColumnKind,
    Figure,
    KeyFigures,
    Level,
    Note,
    Report,
    Section,
    Table,
)
from plexlens.report.model import text_column as _text
from plexlens.report.model.chart import Chart, ChartKind, Series
from plexlens.report.model.page_definitions import definitions_of

_NUMBERS = page_numbers("run").numbers
#: Definitions of numbers that need no SMF data.
_OF_THE_DRIVER = ("run.rate", "run.error_share", "run.response")
#: Definitions of numbers of Linux servers.
_OF_SERVERS = ("run.server_cpu_per_request", "run.server_busy")
#: Tables of servers: kind of what is counted, name and title of the table, head of its column.
_SERVER_TABLES = (
    ("process", "run_processes", "CPU time per request by process", "Process"),
    ("thread", "run_server_threads", "CPU time per request by thread", "Process and thread"),
    ("control group", "run_groups", "CPU time per request by control group", "Control group"),
    ("machine", "run_machines", "CPU time per request of the whole server", "Part"),
)


def _number(name: str, title: str, unit: Unit, definition: str = "", *, group: str = "", bar: bool = False) -> Column:
    return Column(name, title, ColumnKind.NUMBER, unit, f"run.{definition}" if definition else "", group=group, bar=bar)


def run_report(run: Run, costs: Costs | None, validity: Validity | None = None) -> Report:
    """The report of a load test.

    Parameters
    ----------
    run
        The load test.
    costs
        SMF of the same minutes; None if none was given.
    validity
        Answers to criteria; None if none were named.
    """
    sections = [_test_section(run)]
    alerts = _alerts(run)
    if validity is not None:
        sections.append(validity_section(validity))
        if (alert := validity_alert(validity)) is not None:
            alerts.insert(0, alert)
    if costs is not None:
        sections += _cost_sections(costs)
    else:
        note = Note(
            "CPU time per request: give the SMF dump of the same minutes with --smf, or samples of Linux servers with "
            "--samples.",
            Level.INFO,
        )
        sections.append(Section("run-cost", "Cost per request", (note,)))
    return Report(
        title="Load test",
        start=run.start,
        end=run.end,
        utc_offset=0.0 if run.start is not None else None,
        time_note="Times are UTC.",
        alerts=tuple(alerts),
        sections=tuple(sections),
        definitions={
            name: definition
            for name, definition in definitions_of(page_numbers("run")).items()
            if name in _OF_THE_DRIVER
            or (costs is not None and (bool(costs.servers) if name in _OF_SERVERS else _is_of_zos(costs)))
        },
        generator=f"Plexlens {__version__}",
        kind="Load test",
        subject=f"{run.test.tool}, {run.whole.requests:,} requests{_steady(run)}",
    )


def _is_of_zos(costs: Costs) -> bool:
    return bool(costs.spaces or costs.classes)


def _steady(run: Run) -> str:
    if run.steady_from is None or run.steady_to is None:
        return ""
    return f", steady from {run.steady_from:%Y-%m-%d %H:%M:%S} to {run.steady_to:%H:%M:%S} UTC"


def _alerts(run: Run) -> list[Note]:
    notes = []
    if run.whole.error_share > MOST_FAILED:
        notes.append(
            Note(
                f"{run.whole.error_share:.1%} of the requests failed. Failed requests are in all numbers below; they "
                "often end sooner than the work would, so response and CPU time per request are too low for the work.",
                Level.WARNING,
            )
        )
    moved = [drift for drift in run.drifts if not drift.is_steady]
    if moved:
        details = tuple(
            f"{drift.what}: {_shown(drift.what, drift.first)} in the first half, "
            f"{_shown(drift.what, drift.second)} in the second, {abs(drift.errors):.1f} standard errors apart"
            for drift in moved
        )
        notes.append(
            Note(
                "The test was not steady after its warm-up: do not compare this run with others before the cause is "
                "known. A longer warm-up (--warm-up) or a longer test may help.",
                Level.WARNING,
                details,
            )
        )
    if not run.test.scheduled:
        notes.append(
            Note(
                "The file does not say when the test plan wanted each request to begin. If the driver waits for a "
                "response before it sends the next request, a slow server makes it send later, and that wait is in no "
                "response time: percentiles can be several times too low (coordinated omission).",
                Level.INFO,
            )
        )
    if run.test.left_out:
        details = tuple(
            f"{reason}: {number:,}{f', first at {place}' if place else ''}"
            for reason, number, place in run.test.left_out
        )
        notes.append(Note("Parts of the file are not in the numbers.", Level.LOSS, details))
    return notes


def _shown(what: str, value: float) -> str:
    return f"{value * 1e3:,.4g} ms" if what == "Response" else f"{value:,.4g} per second"


def _test_section(run: Run) -> Section:
    whole = run.whole
    high = whole.percentiles.get(95.0)
    figures = KeyFigures(
        "run_figures",
        (
            Figure("run_count", "Requests", whole.requests, COUNT),
            Figure("run_rate", "Rate", whole.rate, PER_SECOND, "run.rate"),
            Figure("run_failed", "Failed", whole.error_share, FRACTION, "run.error_share"),
            Figure("run_mean", "Mean response", whole.mean, MILLISECONDS, "run.response"),
            Figure("run_p95", "95th percentile", high, MILLISECONDS, "run.response"),
        ),
    )
    blocks: list[Any] = [figures]
    if run.course:
        blocks += _charts(run)
    blocks.append(_requests(run))
    lead = (
        _warm_up(run)
        if run.warm_up_found
        else "Numbers are of the steady part as stated."
        if run.steady_from is not None and run.test.requests is not None
        else "Numbers are as the tool prints them, over the whole test."
    )
    source = f"{run.test.tool}, {Path(run.test.file).name}. "
    return Section("run-test", "What the driver measured", tuple(blocks), source + lead)


def _seconds(start: datetime | None, end: datetime | None) -> str:
    return f"{(end - start).total_seconds():.1f}" if start is not None and end is not None else "0"


def _warm_up(run: Run) -> str:
    if run.start == run.steady_from:
        return "No warm-up is left out: the MSER rule finds no later part of the test whose mean is more certain."
    return (
        f"The warm-up of {_seconds(run.start, run.steady_from)} s is left out; it ends where leaving out more makes "
        "the mean of the rest no more certain (MSER rule)."
    )


def _charts(run: Run) -> list[Chart]:
    times = tuple(part.start for part in run.course)
    ends = tuple(part.end for part in run.course)
    charts = [
        Chart(
            "run_rate",
            "Requests per second over the whole test",
            PER_SECOND,
            ChartKind.LINES,
            times,
            ends,
            (
                Series("requests", tuple(part.rate for part in run.course)),
                Series("failed", tuple(part.errors for part in run.course)),
            ),
            "run.rate",
        )
    ]
    if any(part.mean is not None for part in run.course):
        charts.append(
            Chart(
                "run_response",
                "Response time over the whole test",
                MILLISECONDS,
                ChartKind.LINES,
                times,
                ends,
                (
                    Series("mean", tuple(part.mean for part in run.course), run.whole.mean),
                    Series(
                        "95th percentile", tuple(part.percentile_95 for part in run.course), run.whole.percentiles[95.0]
                    ),
                ),
                "run.response",
            )
        )
    return charts


def _requests(run: Run) -> Table:
    shown = [percent for percent in PERCENTILES if any(percent in line.percentiles for line in run.lines)]
    scheduled = [percent for percent in PERCENTILES if any(percent in line.from_schedule for line in run.lines)]
    columns = (
        _text("request", "Request", key=True),
        _number("requests", "Requests", COUNT),
        _number("rate", "Rate", PER_SECOND, "rate"),
        _number("failed", "Failed", FRACTION, "error_share"),
        _number("mean", "Mean", MILLISECONDS, "response", group="Response"),
        *(_number(f"p{percent:g}", f"{percent:g} %", MILLISECONDS, "response", group="Response") for percent in shown),
        _number("longest", "Longest", MILLISECONDS, "response", group="Response"),
        *(
            _number(f"scheduled_p{percent:g}", f"{percent:g} %", MILLISECONDS, "response", group="From the schedule")
            for percent in scheduled
        ),
    )

    def row(line: Line) -> tuple[Cell, ...]:
        return (
            line.transaction, line.requests, line.rate, line.error_share, line.mean,
            *(line.percentiles.get(percent) for percent in shown), line.longest,
            *(line.from_schedule.get(percent) for percent in scheduled),
        )  # fmt: skip

    return Table("run_requests", "Requests by name", columns, tuple(row(line) for line in run.lines), top=30)


def _cost_sections(costs: Costs) -> list[Section]:
    when = "in the SMF intervals" if _is_of_zos(costs) else "while the servers were sampled,"
    lead = (
        f"{costs.requests:,} requests began {when} from {costs.start:%Y-%m-%d %H:%M:%S} to "
        f"{costs.end:%H:%M:%S} UTC, {costs.requests / costs.seconds:,.4g} per second."
    )
    on_servers = Section("run-servers", "Cost on Linux servers", tuple(_servers(costs)), lead)
    if not _is_of_zos(costs):
        return [replace(on_servers, blocks=(*on_servers.blocks, *(Note(note, Level.WARNING) for note in costs.notes)))]
    blocks: list[Any] = []
    if costs.spaces:
        blocks.append(_shares("run_spaces", "CPU time per request by address space (SMF 30)", costs.spaces, costs))
    if costs.classes:
        blocks.append(_shares("run_classes", "CPU time per request by class (SMF 72-3)", costs.classes, costs))
    sections = [Section("run-cost", "Cost on z/OS", tuple(blocks), lead)]
    parts: list[Any] = []
    if costs.split is not None:
        parts.append(_split(costs))
    parts += [Note(note, Level.WARNING) for note in costs.notes]
    if costs.transactions:
        parts.append(_tasks("run_transactions", "CICS transactions (SMF 110-1)", "Region", costs.transactions, costs))
    if costs.threads:
        parts.append(_tasks("run_threads", "Db2 plans (SMF 101, class 2)", "Db2", costs.threads, costs))
    if matched := _matched(costs):
        parts.append(matched)
    sections.append(Section("run-response", "Where the response time goes", tuple(parts)))
    return [*sections, on_servers] if costs.servers else sections


def _servers(costs: Costs) -> list[Table]:
    tables = []
    for kind, name, title, head in _SERVER_TABLES:
        shares = [share for share in costs.servers if share.kind == kind]
        columns = (
            _text("name", head, key=True), _text("host", "Server", key=True),
            _number("cpu", "CPU per request", MILLISECONDS, "server_cpu_per_request", bar=True),
            _number("busy", "Processors busy", RATIO, "server_busy"),
        )  # fmt: skip
        rows = tuple((share.name, share.host, *_of_server(share, costs)) for share in shares)
        if rows:
            tables.append(Table(name, title, columns, rows, top=20))
    return tables


def _of_server(share: ServerShare, costs: Costs) -> tuple[float | None, float | None]:
    """CPU seconds per request, and processors busy."""
    return (
        _NUMBERS["server_cpu_per_request"](server_cpu=share.seconds, window_requests=costs.requests),
        _NUMBERS["server_busy"](server_cpu=share.seconds, window_seconds=costs.seconds),
    )


def _shares(name: str, title: str, shares: tuple[Share, ...], costs: Costs) -> Table:
    columns = (
        _text("part", "Kind", key=True), _text("name", "Name", key=True), _text("system", "System", key=True),
        _number("cpu", "All engines", MILLISECONDS, "cpu_per_request", group="CPU per request", bar=True),
        _number("cp", "General processors", MILLISECONDS, "cp_per_request", group="CPU per request"),
        _number("specialty", "Specialty engines", MILLISECONDS, "specialty_per_request", group="CPU per request"),
        _number("ended", "Transactions per request", RATIO, "tasks_per_request"),
    )  # fmt: skip
    number = costs.requests
    rows: list[tuple[Cell, ...]] = [
        (
            share.part, share.name, share.system or None,
            _NUMBERS["cpu_per_request"](cp=share.cp_seconds, specialty=share.specialty_seconds, window_requests=number),
            _per_request("cp", share.cp_seconds, number),
            _per_request("specialty", share.specialty_seconds, number),
            _per_request("tasks", share.ended, number),
        )
        for share in shares
    ]  # fmt: skip
    # Columns that say nothing here: the kind of address spaces, the system of classes, transactions of neither.
    kept = [
        place
        for place, column in enumerate(columns)
        if any(row[place] is not None for row in rows) and not (column.name == "part" and shares[0].system)
    ]
    return Table(name, title, tuple(columns[place] for place in kept), tuple(
        tuple(row[place] for place in kept) for row in rows
    ), top=20)  # fmt: skip


def _per_request(part: str, amount: float | None, requests: int) -> float | None:
    return _NUMBERS[f"{part}_per_request"](**{part: amount, "window_requests": float(requests)})


def _per_task(seconds: float | None, tasks: float) -> float | None:
    return _NUMBERS["per_task"](task_seconds=seconds, tasks=tasks)


def _split(costs: Costs) -> Table:
    split = costs.split
    assert split is not None
    columns = (
        _text("part", "Part", key=True),
        _number("time", "Time per request", MILLISECONDS, "part", bar=True),
        _number("share", "Share", FRACTION, "part"),
    )
    parts = [] if split.late is None else [("Client, before it sends the request", split.late)]
    parts.append(("Network and driver", split.outside))
    parts += [("CICS", split.cics)] if split.db2 is None else [("CICS, without Db2", split.program), ("Db2", split.db2)]
    rows = tuple((name, seconds, seconds / split.whole) for name, seconds in parts)
    since = "" if split.late is None else " from the schedule"
    return Table("run_split", f"Mean response of {split.whole * 1e3:,.4g} ms{since}, by part", columns, rows)


def _tasks(name: str, title: str, where: str, tasks: tuple[Tasks, ...], costs: Costs) -> Table:
    columns = (
        _text("where", where, key=True), _text("name", "Name", key=True),
        _number("per_request", "Per request", RATIO, "tasks_per_request"),
        _number("response", "Response", MILLISECONDS, "per_task", group="Per task"),
        _number("cpu", "CPU", MILLISECONDS, "per_task", group="Per task", bar=True),
        _number("db2", "Db2", MILLISECONDS, "per_task", group="Per task"),
    )  # fmt: skip

    rows = tuple(
        (
            entry.where, entry.name, _per_request("tasks", entry.number, costs.requests),
            _per_task(entry.response_seconds, entry.number), _per_task(entry.cpu_seconds, entry.number),
            _per_task(entry.db2_seconds, entry.number),
        )
        for entry in tasks
    )  # fmt: skip
    return Table(name, title, columns, rows, top=20)


def _matched(costs: Costs) -> Table | None:
    """Requests that have a CICS transaction of their name, or one that was named for them."""
    rows: list[tuple[Cell, ...]] = []
    for request, (number, response) in sorted(costs.by_request.items()):
        name = costs.names.get(request, request)
        tasks = [entry for entry in costs.transactions if entry.name.upper() == name.upper()]
        count = sum(entry.number for entry in tasks)
        if not count:
            continue
        cics, cpu = (
            _per_task(sum(value or 0.0 for value in values), count)
            for values in ([entry.response_seconds for entry in tasks], [entry.cpu_seconds for entry in tasks])
        )
        rows.append((request, name, _per_request("tasks", count, number), response, cics, cpu))
    if not rows:
        return None
    columns = (
        _text("request", "Request", key=True), _text("transaction", "CICS transaction", key=True),
        _number("per_request", "Tasks per request", RATIO, "tasks_per_request"),
        _number("client", "Driver", MILLISECONDS, "response", group="Response"),
        _number("cics", "CICS task", MILLISECONDS, "per_task", group="Response"),
        _number("cpu", "CPU per task", MILLISECONDS, "per_task", bar=True),
    )  # fmt: skip
    return Table("run_matched", "Requests and their CICS transactions", columns, tuple(rows), top=30)


def to_object(run: Run, costs: Costs | None, validity: Validity | None = None) -> dict[str, Any]:
    """A load test as plain values for JSON; seconds, rates per second, shares as fractions."""

    def time(value: datetime | None) -> str | None:
        return None if value is None else value.isoformat()

    values: dict[str, Any] = {
        "file": run.test.file,
        "tool": run.test.tool,
        "start": time(run.start),
        "end": time(run.end),
        "steady_from": time(run.steady_from),
        "steady_to": time(run.steady_to),
        "warm_up_found": run.warm_up_found,
        "scheduled": run.test.scheduled,
        "left_out": [
            {"reason": reason, "count": number, "first": place} for reason, number, place in run.test.left_out
        ],
        "drifts": [
            {"what": entry.what, "first": entry.first, "second": entry.second, "standard_errors": entry.errors,
             "steady": entry.is_steady}
            for entry in run.drifts
        ],
        "requests": [
            {"name": line.transaction, "requests": line.requests, "errors": line.errors, "rate": line.rate,
             "mean": line.mean, "deviation": line.deviation, "longest": line.longest,
             "percentiles": {f"{percent:g}": value for percent, value in line.percentiles.items()},
             "from_schedule": {f"{percent:g}": value for percent, value in line.from_schedule.items()},
             "connect": line.connect, "first_byte": line.first_byte}
            for line in run.lines
        ],
        "cost": None,
        "criteria": None if validity is None else validity_object(validity),
    }  # fmt: skip
    if costs is not None:
        number = costs.requests
        values["cost"] = {
            "start": time(costs.start),
            "end": time(costs.end),
            "requests": number,
            "response": costs.response,
            "spaces": [{"job": entry.name, "system": entry.system, **_cpu(entry, number)} for entry in costs.spaces],
            "classes": [
                {"kind": entry.part, "class": entry.name, **_cpu(entry, number), "transactions": entry.ended}
                for entry in costs.classes
            ],
            "transactions": [_plain(entry) for entry in costs.transactions],
            "threads": [_plain(entry) for entry in costs.threads],
            "split": None if costs.split is None else {
                "response": costs.split.client, "late": costs.split.late, "outside": costs.split.outside,
                "cics": costs.split.cics, "db2": costs.split.db2,
            },
            "notes": list(costs.notes),
        }  # fmt: skip
        if costs.servers:
            values["cost"]["servers"] = [
                {"host": share.host, "kind": share.kind, "name": share.name,
                 **dict(zip(("cpu_per_request", "processors_busy"), _of_server(share, costs), strict=True))}
                for share in costs.servers
            ]  # fmt: skip
    return values


def _cpu(share: Share, requests: int) -> dict[str, float | None]:
    return {
        "cp_per_request": _per_request("cp", share.cp_seconds, requests),
        "specialty_per_request": _per_request("specialty", share.specialty_seconds, requests),
    }


def _plain(entry: Tasks) -> dict[str, Any]:
    return {
        "where": entry.where,
        "name": entry.name,
        "number": entry.number,
        "response_seconds": entry.response_seconds,
        "cpu_seconds": entry.cpu_seconds,
        "db2_seconds": entry.db2_seconds,
    }
