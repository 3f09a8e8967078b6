"""Sources of the report: files, records by type, damage, and omissions with reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plexlens.ingest import plausible
from plexlens.ingest.printed.text_kinds import KINDS
from plexlens.ingest.source import Severity
from plexlens.metrics.ceiling import TOLERANCE
from plexlens.metrics.evaluate import above_whole
from plexlens.metrics.unit import BYTES, COUNT, KIB, MIB, PERCENTAGE, Unit
from plexlens.report.blocks.changed_settings import changed_settings_table
from plexlens.report.blocks.page import Page
from plexlens.report.blocks.readings import State
from plexlens.report.model import Block, Column, ColumnKind, Figure, KeyFigures, Table
from plexlens.report.model.clock import offset_text

if TYPE_CHECKING:
    from plexlens.report.blocks.context import Context
    from plexlens.report.blocks.readings import Readings

#: The severities, the gravest first.
_SEVERITIES = (Severity.DATA_LOSS, Severity.ERROR, Severity.INFO)

_AS_RECORDED = Unit("", "", 1.0, 6)

#: Types of record named that an offset was inferred from.
TYPES = 2

MINUTES = Unit("min", "s", 1 / 60, 1)


def _text(name: str, title: str, *, key: bool = False) -> Column:
    return Column(name, title, ColumnKind.TEXT, key=key)


def _number(name: str, title: str, unit: Unit = COUNT) -> Column:
    return Column(name, title, ColumnKind.NUMBER, unit)


def _files(readings: Readings) -> Table:
    return Table(
        name="read_files",
        title="Files",
        columns=(
            _text("file", "File", key=True),
            _text("kind", "Kind"),
            _number("size", "Size", KIB),
            _number("records", "Records or reports"),
            _number("duplicates", "Left out as duplicates"),
            _text("start", "From"),
            _text("end", "To"),
            _text("state", "State"),
        ),
        rows=tuple(
            (
                file.file,
                file.kind,
                file.size,
                file.records,
                file.duplicates,
                file.start,
                file.end,
                f"{file.state}: {file.reason}" if file.reason else str(file.state),
            )
            for file in readings.files
        ),
        top=8,
    )


def records_table(readings: Readings) -> Table:
    """Records of each type by system."""
    return Table(
        name="read_records",
        title="Records by type",
        columns=(
            _text("kind", "Record type or report", key=True),
            _text("system", "System"),
            _number("records", "Records"),
            _number("decoded", "Decoded"),
            _number("counted_only", "Counted only"),
            _text("first", "First written"),
            _text("last", "Last written"),
        ),
        rows=tuple(
            (
                record.kind,
                record.system,
                record.records,
                record.decoded,
                record.records - record.decoded,
                record.first,
                record.last,
            )
            for record in readings.records
        ),
        top=20,
        folded=True,
        note="Record types without a layout are counted only. Times stand as recorded.",
    )


def _reasons(readings: Readings) -> Table:
    remedies = {(damage.reason, damage.severity): damage.remedy for damage in reversed(readings.damage)}
    counts = sorted(
        readings.damage_counts.items(), key=lambda count: (_SEVERITIES.index(count[0][1]), -count[1], count[0][0])
    )
    return Table(
        name="read_damage_reasons",
        title="Damage by reason",
        columns=(
            _text("reason", "Reason", key=True),
            _text("severity", "Severity"),
            _number("count", "Times"),
            _text("remedy", "What to do"),
        ),
        rows=tuple(
            (reason, str(severity), count, remedies.get((reason, severity))) for (reason, severity), count in counts
        ),
    )


def _damage(readings: Readings) -> Table:
    return Table(
        name="read_damage",
        title="Damage, place by place",
        columns=(
            _text("file", "File", key=True),
            _number("record_no", "Record"),
            _number("offset", "Byte offset", BYTES),
            _text("reason", "Reason"),
            _text("severity", "Severity"),
            _text("detail", "Detail"),
            _text("remedy", "What to do"),
        ),
        rows=tuple(
            (
                damage.file,
                damage.record_no,
                damage.offset,
                damage.reason,
                str(damage.severity),
                damage.detail,
                damage.remedy,
            )
            for damage in readings.damage
        ),
        total_rows=sum(readings.damage_counts.values()),
        query="select file, record_no, offset, reason, severity, detail, remedy from damage",
        folded=True,
    )


def _implausible(readings: Readings) -> Table:
    return Table(
        name="read_implausible",
        title="Impossible values",
        columns=(
            _text("file", "File", key=True),
            _text("system", "System"),
            _number("record_no", "Record"),
            _number("section_no", "Entry"),
            _text("table_name", "Table"),
            _text("field", "Field"),
            Column("value", "Value", ColumnKind.NUMBER, _AS_RECORDED),
            Column("at_most", "At most", ColumnKind.NUMBER, _AS_RECORDED),
            _text("unit", "Unit"),
            _text("bound", "Bound"),
            _text("reason", "Reason"),
        ),
        rows=tuple(
            (
                *(
                    implausible.file,
                    implausible.system,
                    implausible.record_no,
                    implausible.section_no,
                    implausible.table_name,
                    implausible.field,
                ),
                *(implausible.value, implausible.at_most, implausible.unit, implausible.bound, implausible.reason),
            )
            for implausible in readings.implausible
        ),
        total_rows=readings.implausible_count,
        query=f"select * from {plausible.TABLE}",
        top=10,
        note=(
            "A metric that uses such a value has no value in that row, and no rule fires on it. The raw table keeps "
            "the recorded value."
        ),
    )


def _above_the_whole(context: Context) -> Table:
    """Shares above 100 %, by metric; they have no value on any page."""
    rows = []
    for grain_data in context.numbers.read:
        results = above_whole(grain_data.kept, grain_data.grain)
        for metric in grain_data.grain.metrics:
            if metric.name in results:
                rows.append((grain_data.grain.title, metric.title, metric.words, *results[metric.name]))
    return Table(
        name="read_above_the_whole",
        title="Shares above 100 %",
        columns=(
            _text("grain", "Data", key=True),
            _text("metric", "Metric"),
            _text("formula", "Formula"),
            _number("rows", "Rows"),
            _number("greatest", "Greatest", PERCENTAGE),
        ),
        rows=tuple(rows),
        top=20,
        note=(
            f"A share above {100 * (1 + TOLERANCE):.0f} % is impossible: it has no value in those rows, and no rule "
            "fires on it. Its facts are shown as recorded."
        ),
    )


def _notes(readings: Readings) -> Table:
    return Table(
        name="read_notes",
        title="Counted while reading",
        columns=(
            _text("note", "What", key=True),
            _text("section", "Section"),
            _text("field", "Field"),
            _text("severity", "Severity"),
            _number("count", "Times"),
        ),
        rows=tuple(
            (note.note.replace("_", " "), note.section, note.field, str(note.severity), note.count)
            for note in readings.notes
        ),
        folded=True,
        note="For example sections that are longer or shorter than the known layout. This is not damage: releases "
        "differ.",
    )


def _coverage(context: Context) -> Table:
    """Periods in which each grain has data, and missing intervals."""
    return Table(
        name="read_coverage",
        title="Time covered",
        columns=(
            _text("grain", "Data", key=True),
            _text("kind", "From"),
            _number("systems", "Systems"),
            _number("intervals", "Intervals"),
            _number("length", "Length", MINUTES),
            Column("start", "First", ColumnKind.TIME),
            Column("end", "Last", ColumnKind.TIME),
            _number("gaps", "Gaps"),
        ),
        rows=tuple(
            (
                grain_data.grain.title,
                ", ".join(grain_data.kinds),
                len(grain_data.systems) or None,
                len(covered.times) if grain_data.regular else None,
                (covered.interval_seconds or None) if grain_data.regular else None,
                covered.start,
                covered.end,
                covered.gaps if grain_data.regular else None,
            )
            for grain_data in context.numbers.read
            for covered in grain_data.clocks
        ),
        top=40,
        folded=True,
        note=(
            "At a gap, an interval begins later than the previous one ends. Accounting has an interval per task, and "
            "no common interval."
        ),
    )


def _local_reports(readings: Readings) -> Table:
    """Reports that print only local time, and the sources of their inferred offsets."""
    return Table(
        name="read_local_reports",
        title="Reports in local time",
        columns=(
            _text("report", "Report", key=True),
            _text("owner", "System, Db2, region or sysplex"),
            _number("reports", "Reports"),
            _text("start", "From, local"),
            _text("end", "To, local"),
            _text("offset", "Offset from UTC"),
            _text("inferred_from", "Inferred from"),
        ),
        rows=tuple(
            (
                KINDS.get(report.report, f"RMF XML {report.report}".strip()),
                report.owner,
                report.reports,
                f"{report.start:%Y-%m-%d %H:%M:%S}" if report.start is not None else None,
                f"{report.end:%Y-%m-%d %H:%M:%S}" if report.end is not None else None,
                "not known" if report.utc_offset is None else offset_text(report.utc_offset),
                _inferred_from(report.inferred_from),
            )
            for report in readings.local_reports
        ),
        note=(
            "These reports do not contain the offset of local time from UTC. It is inferred if records of the same "
            "system have an interval with the same local start and end. Otherwise the times of the report stay local "
            "and are not matched with other systems."
        ),
    )


def _inferred_from(tables: Sequence[str]) -> str | None:
    """The record types that an offset was inferred from, RMF first: ``SMF 70-1, SMF 72-3 and 4 more types``."""
    results = {(int(match[1]), match[2] or "") for name in tables if (match := re.match(r"smf(\d+)(?:_(\d+))?_", name))}
    ordered = sorted(results, key=lambda kind: (not 70 <= kind[0] <= 79, kind))
    kinds = [f"SMF {number}" + (f"-{subtype}" if subtype else "") for number, subtype in ordered]
    if any(name.startswith("rmf_xml_") for name in tables):
        kinds.append("RMF XML")
    if not kinds:
        return ", ".join(tables) or None
    more = len(kinds) - TYPES
    return ", ".join(kinds[:TYPES]) + (f" and {more} more type{'s' if more > 1 else ''}" if more > 0 else "")


def _blocks(context: Context) -> Sequence[Block]:
    readings = context.readings
    read = readings.in_state(State.READ)
    unread = readings.in_state(State.FAILED)
    lost, errors = readings.severe(Severity.DATA_LOSS), readings.severe(Severity.ERROR)
    figures = [
        Figure("files", "Files read", len(read), COUNT),
        Figure("size", "Size", readings.size, MIB),
        Figure("records", "Records and reports", sum(source.records or 0 for source in read), COUNT),
        Figure("duplicates", "Left out as duplicates", readings.duplicates, COUNT),
        Figure("data_loss", "Damage: data lost", lost, COUNT, alarm=lost > 0),
        Figure("errors", "Damage: not understood", errors, COUNT, alarm=errors > 0),
    ]
    if readings.implausible_count:
        figures.append(Figure("implausible", "Impossible values", readings.implausible_count, COUNT, alarm=True))
    if unread:
        figures.insert(1, Figure("unread", "Files not read", len(unread), COUNT, alarm=True))
    blocks: list[Block] = [KeyFigures("read", tuple(figures))]
    if readings.damage_counts:
        blocks.append(_reasons(readings))
    if readings.implausible:
        blocks.append(_implausible(readings))
    if (above := _above_the_whole(context)).rows:
        blocks.append(above)
    if (changed := changed_settings_table(context.inputs, context.numbers.read)).rows:
        blocks.append(changed)
    blocks.append(_files(readings))
    if readings.records:
        blocks.append(records_table(readings))
    if readings.local_reports:
        blocks.append(_local_reports(readings))
    if (coverage := _coverage(context)).rows:
        blocks.append(coverage)
    if readings.notes:
        blocks.append(_notes(readings))
    if readings.damage:
        blocks.append(_damage(readings))
    return blocks


PAGE = Page(
    order=200,
    id="read",
    title="Data read",
    lead="The files behind this report, their contents, and data that could not be read.",
    blocks=_blocks,
)
