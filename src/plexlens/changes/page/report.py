"""Changes as a report: the days on which they begin, a table of each kind, and the course of the clearest ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from plexlens import __version__
from plexlens.changes.changed import Change, Changes
from plexlens.changes.detected import FEWEST_WHOLE, Why
from plexlens.changes.levels import MOST, Kind
from plexlens.changes.profile import FEWEST_WEEKS
from plexlens.forecast.daily import Values
from plexlens.forecast.series import WHOLE_DAY
from plexlens.metrics.definition import Fact
from plexlens.metrics.display import percent, with_symbol
from plexlens.metrics.unit import COUNT, FRACTION
from plexlens.pdb.engine import literal
from plexlens.report.model import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Definition,
    Level,
    Note,
    Report,
    Section,
    Table,
    text_column,
)
from plexlens.report.model.chart import Chart, ChartKind, Series
from plexlens.report.model.display import counted
from plexlens.report.model.page_definitions import definition_of
from plexlens.why.page.texts import shell_line

#: Series that are drawn.
_DRAWN = 8

#: Days in a chart, at most.
_DRAWN_DAYS = 400

#: Names that a day of the first table lists.
_NAMES = 3

_TITLES = {
    str(Kind.SHIFT): "Level shifts",
    str(Kind.TEMPORARY): "Temporary shifts",
    str(Kind.TREND): "Trends",
    "odd day": "Odd days",
    "odd hours": "Odd hours",
}
_LEADS = {
    str(Kind.SHIFT): "The level of the days changes and stays. Before and after are means of whole days, each weekday "
    "counted alike.",
    str(Kind.TEMPORARY): "The level of the days changes and comes back. Before is the mean of the days before it.",
    str(Kind.TREND): "The level of the days rises or falls all the time. Before and after are means of the first and "
    "the last four weeks, or of the first and the last half.",
    "odd day": "A day far from the days around it. Before is what its weekday usually has, after its mean.",
    "odd hours": "Hours far from what the series usually has at that time of the week. Before is what is usual at the "
    "peak, after is the value measured there.",
}


def changes_report(result: Changes) -> Report:
    """The whole report."""
    definitions: dict[str, Definition] = {}
    for change in result.changes:
        definitions.setdefault(change.series.metric, definition_of(change.series.grain, change.series.column.name))
    sections = [_summary(result)]
    for kind, title in _TITLES.items():
        of_kind = [change for change in result.changes if change.event.kind == kind]
        if of_kind:
            sections.append(
                Section(kind.replace(" ", "-"), title, (_table(result, kind, title, of_kind),), _LEADS[kind])
            )
    if result.changes:
        sections.append(_courses(result))
    sections += [_tested(result), _method(result)]
    firsts = [grid.moment(0) for grid in result.grids]
    lasts = [grid.moment(grid.days * grid.slots) for grid in result.grids]
    return Report(
        title="Changes",
        systems=(),
        sysplexes=(),
        start=min(firsts),
        end=max(lasts),
        utc_offset=None,
        time_note=_time_note(result),
        alerts=_alerts(result),
        sections=tuple(sections),
        definitions=definitions,
        generator=f"Plexlens {__version__}",
        kind="Changes",
        subject=f"{counted(result.series, 'series', 'series')} of {result.name}",
    )


def _time_note(result: Changes) -> str:
    texts = ["Times are those of the systems' clock."]
    if result.read.clock_changes:
        texts.append(
            "That clock changes within the data: of an hour that it repeats the mean counts, and an hour that it "
            "skips is missing."
        )
    if result.read.two_clocks:
        texts.append(f"Systems have different clocks in {', '.join(result.read.two_clocks)}: times there are UTC.")
    return " ".join(texts)


def _alerts(result: Changes) -> tuple[Note, ...]:
    alerts = []
    if result.read.left_out:
        reasons = tuple(f"{name}: {reason}" for name, reason in sorted(result.read.left_out.items()))
        alerts.append(Note(f"{counted(len(reasons), 'grain')} have no series.", Level.INFO, reasons))
    if result.read.in_local_time:
        alerts.append(
            Note(
                "Reports in local time of unknown offset from UTC are left out.", Level.WARNING,
                tuple(result.read.in_local_time),
            )
        )  # fmt: skip
    return tuple(alerts)


def _summary(result: Changes) -> Section:
    blocks: list[Block] = []
    total = len(result.changes)
    if not total:
        blocks.append(
            Note(
                f"Nothing beyond chance in {counted(sum(result.by_test.values()), 'test')} of "
                f"{counted(result.series, 'series', 'series')}."
            )
        )
        return Section("summary", "When it changed", tuple(blocks))
    steps = sum(change.event.p is None for change in result.changes)
    changed = len({id(change.detected) for change in result.changes})
    text = (
        f"{counted(total, 'change')} in {counted(changed, 'series', 'series')}. "
        f"Of the changes that were tested, at most {percent(result.rate, 0)} are false, on average. More are false "
        "where noise lasts for days in few weeks of data, or has heavy tails."
    )
    if steps:
        text += f" {counted(steps, 'step')} of values that are otherwise constant needed no test."
    blocks.append(Note(text))
    by_day: dict[date, list[Change]] = {}
    for change in result.changes:
        if change.event.kind != Kind.TREND:
            by_day.setdefault(change.start.date(), []).append(change)
    rows = []
    for day in sorted(by_day, key=lambda day: (-len(by_day[day]), day)):
        of_day = by_day[day]
        kinds = Counter(change.event.kind for change in of_day)
        names = list(dict.fromkeys(f"{change.series.column.title}, {change.series.label}" for change in of_day))
        more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
        rows.append(
            (
                f"{day:%Y-%m-%d %a}",
                len(of_day),
                ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()),
                "; ".join(names[:_NAMES]) + more,
            )
        )
    columns = (
        text_column("day", "Day", key=True),
        Column("changes", "Changes that begin", ColumnKind.NUMBER, COUNT, bar=True),
        text_column("kinds", "Kinds"),
        text_column("first", "The clearest"),
    )
    blocks.append(Table("days", "Days on which something changed", columns, tuple(rows), top=20))
    return Section("summary", "When it changed", tuple(blocks))


def _table(result: Changes, kind: str, title: str, changes: Sequence[Change]) -> Table:
    # A day needs no times of its beginning and end.
    times = (
        (text_column("day", "Day", key=True),)
        if kind == "odd day"
        else (Column("start", "From", ColumnKind.TIME, key=True), Column("end", "To", ColumnKind.TIME))
    )
    columns = (
        text_column("metric", "Metric", key=True),
        text_column("object", "Object", key=True),
        *times,
        text_column("before", "Before"),
        text_column("after", "After"),
        Column("change", "Change", ColumnKind.NUMBER, FRACTION),
        text_column("chance", "Chance"),
        text_column("command", "Next"),
    )
    rows = tuple(_row(result, kind, change) for change in changes)
    return Table(kind.replace(" ", "_"), title, columns, rows, top=30)


def _row(result: Changes, kind: str, change: Change) -> tuple[Cell, ...]:
    unit = change.series.column.unit
    is_last = kind == Kind.SHIFT and change.event.end >= change.series.grid.days * change.series.grid.slots
    times: tuple[Cell, ...] = (change.start, None if is_last else change.end)
    return (
        f"{change.series.grain.title}: {change.series.column.title}",
        change.series.label,
        *((f"{change.start:%Y-%m-%d %a}",) if kind == "odd day" else times),
        with_symbol(change.event.before, unit),
        with_symbol(change.event.after, unit),
        change.share,
        _chance(change.event.p),
        _next(result, change),
    )


def _chance(p: float | None) -> str:
    if p is None:
        return "no noise"
    return f"{p:.1g}" if p >= 1e-12 else "below 1e-12"


def _next(result: Changes, change: Change) -> str:
    """The command that takes the change apart, or shows its course."""
    where = " and ".join(
        f"{key} = {literal(str(name))}"
        for key, name in zip(change.series.keys, change.series.names, strict=True)
        if name not in (None, "")
    )
    words = ["plexlens"]
    if change.event.kind == Kind.TREND or isinstance(change.series.column, Fact):
        words += ["trend", result.name, "--metric", change.series.metric]
    else:
        start, end = _around(change)
        words += ["why", result.name, "--metric", change.series.metric, "--at", f"{start:%Y-%m-%d}..{end:%Y-%m-%d}"]
    return shell_line([*words, *(["--where", where] if where else [])])


def _around(change: Change) -> tuple[datetime, datetime]:
    """First and last day of up to a week of the change, for a comparison with the same days a week before."""
    start = change.start
    if change.event.kind in {"odd hours", "odd day"}:
        return start, start
    if start.hour:
        start += timedelta(days=1)
    last = min(change.end, start + timedelta(days=7)) - timedelta(days=1)
    return start, max(start, last)


def _courses(result: Changes) -> Section:
    """The clearest change of each series, by day and by interval, the clearest series first, each kind in turn."""
    drawn: list[Change] = []
    seen: set[tuple[int, bool]] = set()
    by_kind = {kind: [c for c in result.changes if c.event.kind == kind] for kind in _TITLES}
    while len(drawn) < _DRAWN and any(by_kind.values()):
        for changes in by_kind.values():
            changes[:] = [change for change in changes if _course_of(change) not in seen]
            if changes and len(drawn) < _DRAWN:
                drawn.append(changes.pop(0))
                seen.add(_course_of(drawn[-1]))
    charts = tuple(_chart(change, place) for place, change in enumerate(drawn))
    left = len({id(change.detected) for change in result.changes} - {series for series, _ in seen})
    lead = "The measured course, and what the weekly profile and the level of the days around would have."
    if left > 0:
        lead += f" {counted(left, 'more series with changes is', 'more series with changes are')} not drawn."
    return Section("courses", "Courses", charts, lead)


def _course_of(change: Change) -> tuple[int, bool]:
    """Series of a chart, and whether it is drawn by interval."""
    return id(change.detected), change.event.course is not None


def _chart(change: Change, place: int) -> Chart:
    grid, unit = change.series.grid, change.series.column.unit
    if change.event.course is not None:
        first, values, usual = change.event.course
        seconds, what = grid.seconds, "by interval"
    else:
        first = max(0, grid.days - _DRAWN_DAYS) * grid.slots
        values, usual = (of_day[-_DRAWN_DAYS:] for of_day in (change.detected.daily, change.detected.usual))
        seconds, what = 86_400, "mean of each day"
        if not len(usual):
            usual = values * math.nan
    begin = grid.moment(first)
    times = tuple(begin + timedelta(seconds=seconds * number) for number in range(len(values)))
    series = [Series("measured", _cells(values))]
    if not all(math.isnan(value) for value in usual):
        series.append(Series("usual", _cells(usual)))
    return Chart(
        f"course_{place}",
        f"{change.series.column.title}, {change.series.label}: {what}",
        unit,
        ChartKind.LINES,
        times,
        tuple(time + timedelta(seconds=seconds) for time in times),
        tuple(series),
        change.series.metric,
        note=f"{change.event.kind.capitalize()} from {change.start:%Y-%m-%d %H:%M}.",
    )


def _cells(values: Values) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else value for value in values.tolist())


def _tested(result: Changes) -> Section:
    rows: list[tuple[Cell, ...]] = [("read", result.series)]
    words = {"level": "tested for shifts and trends", "days": "tested for odd days", "hours": "tested for odd hours"}
    rows += [(words[test], count) for test, count in sorted(result.by_test.items())]
    rows += [(f"not tested: {why}", result.notes[why]) for why in Why if result.notes[why]]
    rows.append(("with missing intervals", result.with_missing))
    columns = (text_column("what", "Series", key=True), Column("series", "Number", ColumnKind.NUMBER, COUNT))
    blocks: list[Block] = [Table("tested", "Series", columns, tuple(rows))]
    if result.missing:
        blocks.append(
            Note(
                f"The tested series miss {counted(result.missing, 'interval')} between their first and last one: "
                "gaps in the data, intervals in which the object did nothing that is recorded, and those in which a "
                "counter began anew."
            )
        )
    if result.read.repeated:
        blocks.append(Note(f"{counted(result.read.repeated, 'value')} stand in a slot with another: the mean counts."))
    return Section("tested", "What was tested", tuple(blocks))


def _method(result: Changes) -> Section:
    texts = (
        f"A series needs {FEWEST_WHOLE} whole days: days with {percent(WHOLE_DAY, 0)} of the usual intervals.",
        "The weekly profile is the median of each quarter-hour of the week, of the logarithm of the value (of the "
        f"value itself where some are negative). Of fewer than {FEWEST_WEEKS} weeks workdays count as alike, as do "
        "Saturday and Sunday.",
        "Level: the days less their profile are tested for a step at each place, for a step and its end at each pair "
        "of places, and for a trend, by generalised least squares with an effect of each weekday. Each probability is "
        "multiplied by the number of places. The share of the noise that is carried over to the next day is taken at "
        "the upper bound of its estimate; above 0.9 the level wanders, and there is no test. A series has at most "
        f"{MOST} changes of its level. Several are placed by the exact partition of the days (ruptures).",
        "Odd hours and days: what lies beyond the profile and the level of the days around it falls into episodes. "
        "The highest fifth of them is compared with the others (exponential spacings).",
        "All tests of all series enter one procedure, which bounds the false discovery rate at "
        f"{percent(result.rate, 0)} however the series depend on each other (Benjamini and Yekutieli, 2001). Chance is "
        "the probability before that.",
        "The cause of a change is not part of this: the command under Next takes the change apart.",
    )
    return Section("method", "How it is worked out", tuple(Note(text) for text in texts))
