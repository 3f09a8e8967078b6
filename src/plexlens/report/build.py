"""From a performance database to a `Report`: every page is evaluated, nothing is formatted yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import count

from plexlens import __version__
from plexlens.findings import Decision, Rule
from plexlens.ingest.source import Severity
from plexlens.metrics import local_time
from plexlens.metrics.definition import Grain
from plexlens.metrics.evaluate import available
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.moments import on_axis
from plexlens.metrics.subtypes import unread
from plexlens.metrics.sysplexes import ambiguous
from plexlens.progress import Progress, silent
from plexlens.report.blocks.context import Context
from plexlens.report.blocks.evaluated import Builder
from plexlens.report.blocks.heat_maps import heat_maps
from plexlens.report.blocks.origin import origin
from plexlens.report.blocks.page import Page
from plexlens.report.blocks.printed_reports import VALUES
from plexlens.report.blocks.readings import Readings, State
from plexlens.report.blocks.selection import page_selection, under_selection
from plexlens.report.model import Block, KeyFigures, Level, Missing, Note, Report, Section, Table, Way
from plexlens.report.model.clock import Clock, length
from plexlens.report.model.display import counted, listed

SUMMARY_ORDER = 300
TIMELINE_ORDER = 400

#: Name of the stage that `build` tells its steps of.
STAGE = "writing the report"

#: Below this share of its time with data, the report says so at its top.
SPARSE = 0.5


@dataclass(frozen=True)
class Options:
    """Choices for a report.

    Attributes
    ----------
    title
        Heading; empty for the name of the sysplex or systems.
    max_rows
        Rows of a table that the report holds at most; beyond them it says how many are left out and the query that
        gives them.
    rules
        Rules to judge the database by, from `plexlens.findings.load_rules`; None for those that come with Plexlens.
    decisions
        What the site has decided about findings, from `plexlens.findings.load_decisions`.
    today
        Day by which decisions expire; the present one by default.
    """

    title: str = ""
    max_rows: int = 1000
    rules: Sequence[Rule] | None = None
    decisions: Sequence[Decision] = ()
    today: date | None = None


def build(
    inputs: Inputs,
    readings: Readings,
    *,
    options: Options | None = None,
    progress: Progress = silent,
    pages: Sequence[Page] | None = None,
    grains: Mapping[str, Grain] | None = None,
) -> Report:
    """Evaluate every page over a database.

    Parameters
    ----------
    inputs
        The raw tables. The engine behind them must allow temporary tables.
    readings
        What was read to fill them.
    options
        See `Options`.
    progress
        Told how many steps are done, of as many as there are grains and pages.
    pages, grains
        For a report of fewer pages, or of other grains; all by default.

    Returns
    -------
    Report
        For `render_html`, `render_text` and `to_json`. Sections without data say what would fill them.
    """
    options = options or Options()
    if pages is None:
        from plexlens.report.pages import PAGES

        pages = PAGES
    if grains is None:
        from plexlens.metrics import GRAINS

        grains = GRAINS
    _ = inputs.places_reports
    readings = replace(readings, local_reports=local_time.listed(inputs.connection))
    clock = clock_of(inputs, readings)
    inputs.restrict_sql(VALUES)
    context = Context(
        inputs,
        grains,
        readings=readings,
        clock=clock,
        rules=options.rules,
        decisions=options.decisions,
        today=options.today,
    )
    builder = Builder(context, clock, options.max_rows)
    for page in pages:
        builder.plan(page)
        if page.prepare is not None:
            page.prepare(context)
    names = list(dict.fromkeys(name for page in pages for name in page.grains))
    # The summary and the timeline are the last two steps.
    steps, total = count(), len(names) + len(pages) + 2
    for name in names:
        progress(next(steps), total, STAGE)
        context.data(name)
    spans = [_span(context, is_local=is_local) for is_local in (False, True)]
    # Where no interval has a known offset, the report is in local time; else those in local time are marked.
    start, end = builder.start, builder.end = spans[0] if spans[0][0] is not None else spans[1]
    local_start, local_end = spans[1] if spans[0][0] is not None else (None, None)
    sections: list[tuple[int, Section]] = []
    for page in pages:
        progress(next(steps), total, STAGE)
        section = _section(page, builder)
        if section is not None:
            sections.append((page.order, section))
    printed = any(
        isinstance(block, Table) for order, section in sections if order > TIMELINE_ORDER for block in section.blocks
    )
    progress(next(steps), total, STAGE)
    sections.append((SUMMARY_ORDER, _summary(pages, builder, printed=printed)))
    progress(next(steps), total, STAGE)
    sections.append((TIMELINE_ORDER, _timeline(pages, builder)))
    # Sections with data come before sections without; findings and pages keep their order otherwise.
    sections.sort(key=lambda section: (_empty(section[1]), section[0]))
    systems, sysplexes = _names(context)
    report = Report(
        title=options.title or _title(systems, sysplexes),
        systems=systems,
        sysplexes=sysplexes,
        start=start,
        end=end,
        utc_offset=clock.offset,
        time_note=clock.note,
        alerts=(*alerts_of(readings), *_sysplexes(context), *_coverage(context, start, end)),
        sections=tuple(section for _, section in sections),
        definitions=context.definitions,
        generator=f"Plexlens {__version__}",
        findings=context.findings,
        local_start=local_start,
        local_end=local_end,
    )
    return under_selection(report, {"": inputs.selection})


def clock_of(inputs: Inputs, readings: Readings) -> Clock:
    """The clock on which times of the selected data are shown.

    Parameters
    ----------
    inputs
        The selected tables.
    readings
        What was read to fill them: offsets, and reports that name none.
    """
    extent = inputs.selection.extent
    offsets: Sequence[float | None] = readings.offsets
    if extent is not None:
        offsets = [offset for system in extent.systems for offset in system.taken_offsets]
    is_local = any(report.utc_offset is None for report in readings.local_reports)
    return Clock.of(offsets, local=is_local or any(inputs.has(table) for table in local_time.WITHOUT_ZONE))


def _section(page: Page, builder: Builder) -> Section | None:
    """The page with its numbers; None for a page without grains that has nothing to show."""
    section = _page_section(page, builder)
    if section is None:
        return None
    return replace(section, selection=page_selection(page, builder.context.grains, builder.context.inputs.selection))


def _page_section(page: Page, builder: Builder) -> Section | None:
    context = builder.context
    blocks: list[Block] = list(page.blocks(context)) if page.blocks is not None else []
    if not page.grains and not blocks:
        return None
    there = [name for name in page.grains if context.data(name) is not None]
    if page.grains and not there:
        if _left_out(page, context):
            blocks.append(Missing(f"No data on {page.what} in the selection.", ()))
        else:
            blocks.append(Missing(f"No data on {page.what}.", page.ways))
        return Section(page.id, page.title, tuple(blocks), page.lead)
    for chart in page.charts:
        if not chart.timeline:
            blocks.extend(builder.charts(chart))
    by_hour: list[Block] = []
    for heat in page.heat_maps:
        grain_data = context.data(heat.grain)
        by_hour.extend(heat_maps(context, heat, origin(grain_data)) if grain_data is not None else ())
    blocks.extend(block for block in by_hour if not isinstance(block, Table))
    for table in page.tables:
        if (rows := builder.table(table)) is not None:
            blocks.append(rows)
    # The numbers of heat maps: wide, folded, and last.
    blocks.extend(block for block in by_hour if isinstance(block, Table))
    if not blocks:
        blocks.append(Note(f"The data on {page.what} has no values to show."))
    absent = [context.grains[name] for name in page.grains if name not in there]
    if absent:
        blocks.append(_partly_missing(page, absent, context))
    return Section(page.id, page.title, tuple(blocks), page.lead)


def _left_out(page: Page, context: Context) -> bool:
    """Whether the selection may be the reason why a page has no data: a source for the page exists."""
    return bool(context.inputs.selection) and any(
        available(context.inputs, context.grain(name)) for name in page.grains
    )


def _empty(section: Section) -> bool:
    return bool(section.blocks) and all(isinstance(block, Missing) for block in section.blocks)


def within_a_sentence(title: str) -> str:
    """A title with a small first letter, unless its first word is a name or an abbreviation (Db2, DASD, XCF)."""
    rest = title.partition(" ")[0][1:]
    return title[:1].lower() + title[1:] if rest.isalpha() and rest.islower() else title


def _partly_missing(page: Page, absent: Sequence[Grain], context: Context) -> Missing:
    kinds = dict.fromkeys(source.kind for grain in absent for source in grain.sources)
    ways = {way.kind: way for way in page.ways}
    titles = ", ".join(within_a_sentence(grain.title) for grain in absent)
    if context.inputs.selection and all(available(context.inputs, grain) for grain in absent):
        return Missing(f"Not in the selection: {titles}.", ())
    return Missing(f"Not in this data: {titles}.", tuple(ways.get(kind, Way(kind, "")) for kind in kinds))


def _summary(pages: Sequence[Page], builder: Builder, *, printed: bool) -> Section:
    blocks: list[Block] = []
    for page in pages:
        figures = tuple(figure for spec in page.figures if (figure := builder.figure(spec)) is not None)
        if figures:
            blocks.append(KeyFigures(f"summary_{page.id}", figures, page.title, page.id))
    if not blocks and printed:
        blocks = [Note("The data gives no key figures; the pages below show what it contains.")]
    elif not blocks:
        blocks = [Note("The data contains no number that this report can show.", Level.WARNING)]
    return Section("summary", "Summary", tuple(blocks), "Key figures over the whole time, with their trend.")


def _timeline(pages: Sequence[Page], builder: Builder) -> Section:
    charts = [chart for page in pages for spec in page.charts if spec.timeline for chart in builder.charts(spec)]
    blocks: tuple[Block, ...] = tuple(charts)
    if not charts:
        most = max((grain_data.intervals for grain_data in builder.context.numbers.read), default=0)
        text = (
            "No kind of data covers more than one interval, so there are no charts over time. The tables below show "
            "the numbers of that interval."
            if most == 1
            else "There are no intervals to chart over time."
        )
        blocks = (Note(text),)
    return Section("timeline", "Timeline", blocks, "Trends of the main figures.")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _span(context: Context, *, is_local: bool) -> tuple[datetime | None, datetime | None]:
    """First start and last end of the intervals on one kind of clock.

    Where no metric has an interval, those of RMF reports that are shown as printed count.
    """
    clocks = [
        covered for grain_data in context.numbers.read for covered in grain_data.clocks if covered.is_local == is_local
    ]
    starts = [covered.start for covered in clocks if covered.start is not None]
    ends = [covered.end for covered in clocks if covered.end is not None]
    if not any(context.numbers.read) and context.inputs.has(VALUES):
        known = "is null" if is_local else "is not null"
        rows = context.inputs.connection.execute(
            f"select min(epoch_us(interval_start)), max(epoch_us(interval_end)) from {VALUES} where utc_offset {known}"
        )
        epoch = _EPOCH.replace(tzinfo=None) if is_local else _EPOCH
        starts, ends = ([epoch + timedelta(microseconds=us)] if us is not None else [] for us in rows.fetchone())
    return min(starts, default=None), max(ends, default=None)


def _names(context: Context) -> tuple[tuple[str, ...], tuple[str, ...]]:
    systems: set[str] = set() if any(context.numbers.read) else set(context.readings.systems)
    sysplexes: set[str] = set()
    for grain_data in context.numbers.read:
        systems.update(grain_data.systems)
        sysplexes.update(grain_data.sysplexes)
    return tuple(sorted(systems)), tuple(sorted(sysplexes))


def _title(systems: Sequence[str], sysplexes: Sequence[str]) -> str:
    if sysplexes:
        return f"{'Sysplex' if len(sysplexes) == 1 else 'Sysplexes'} {listed(sysplexes)}"
    if systems:
        return f"{'System' if len(systems) == 1 else 'Systems'} {listed(systems)}"
    return "Performance report"


def alerts_of(readings: Readings) -> tuple[Note, ...]:
    """Notes above the first number: unread files, lost values."""
    alerts = []
    failed = readings.in_state(State.FAILED)
    if failed:
        alerts.append(
            Note(
                f"{counted(len(failed), 'file')} of {len(readings.files):,} could not be read. "
                "They are not included in this report.",
                Level.LOSS,
                tuple(f"{reading.file}: {reading.reason}" for reading in failed[:5]) + _more(len(failed) - 5),
            )
        )
    for severity, level, text in (
        (Severity.DATA_LOSS, Level.LOSS, "{} lost data. Numbers of the affected intervals are incomplete."),
        (Severity.ERROR, Level.WARNING, "{} could not be interpreted. The values around them were read."),
    ):
        count = readings.severe(severity)
        if count:
            places = [damage for damage in readings.damage if damage.severity is severity]
            alerts.append(
                Note(
                    text.format(counted(count, "place")),
                    level,
                    tuple(str(place) for place in places[:3]) + _more(count - min(3, len(places))),
                )
            )
    if readings.implausible_count:
        first = readings.implausible[:3]
        alerts.append(
            Note(
                f"{counted(readings.implausible_count, 'impossible value')}. No number in this report uses such a "
                "value; see "
                "Data read.",
                Level.WARNING,
                tuple(str(implausible) for implausible in first) + _more(readings.implausible_count - len(first)),
            )
        )
    alerts += [
        Note(text, Level.WARNING)
        for text in unread((count.kind, count.records, count.decoded) for count in readings.records)
    ]
    return tuple(alerts)


def _sysplexes(context: Context) -> tuple[Note, ...]:
    """A warning if systems of one name are in several sysplexes."""
    text = ambiguous(pair for grain_data in context.numbers.read for pair in grain_data.named)
    if not text:
        return ()
    text = (
        f"{text}. RMF's numbers are kept apart by sysplex; records of Db2 and CICS do not name it, so theirs are of "
        "both together. Make a report of the files of each sysplex."
    )
    return (Note(text, Level.WARNING),)


def _coverage(context: Context, start: datetime | None, end: datetime | None) -> tuple[Note, ...]:
    """A note if most of the time between the first and the last interval has no data."""
    if start is None or end is None:
        return ()
    covered = _covered(context, is_local=start.tzinfo is None)
    whole = (end - start).total_seconds()
    if not covered or covered >= SPARSE * whole:
        return ()
    return (
        Note(
            f"The data covers {length(covered)} of the {length(whole)} between its first and its last interval; "
            "see Time covered, under Data read."
        ),
    )


def _covered(context: Context, *, is_local: bool) -> float:
    """Seconds covered by intervals of any kind of data, on one kind of clock."""
    spans = sorted(
        (on_axis(start).timestamp(), on_axis(end).timestamp())
        for grain_data in context.numbers.read
        if grain_data.regular
        for covered in grain_data.clocks
        if covered.is_local == is_local
        for start, end in covered.spans
    )
    covered, reached = 0.0, float("-inf")
    for first, last in spans:
        covered += max(0.0, last - max(first, reached))
        reached = max(reached, last)
    return covered


def _more(count: int) -> tuple[str, ...]:
    return (f"and {count:,} more, listed under Data read",) if count > 0 else ()
