"""Repeats of a load test as a report: which can be used, and the valid repeats pooled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plexlens import __version__
from plexlens.load.repeats import LEVEL, Judged, Pooled, Repeats
from plexlens.load.run import PERCENTILES
from plexlens.metrics.page_numbers import page_numbers
from plexlens.metrics.unit import COUNT, FRACTION, MILLISECONDS, PER_SECOND, PERCENTAGE, Unit
from plexlens.report.model import Cell, Column, ColumnKind, Level, Note, Report, Section, Table
from plexlens.report.model import text_column as _text
from plexlens.report.model.page_definitions import definitions_of

#: Definitions of the numbers on this page.
_SHOWN = ("run.rate", "run.error_share", "run.response", "run.half_width", "run.variation")


def _number(name: str, title: str, unit: Unit, definition: str = "", *, group: str = "") -> Column:
    return Column(name, title, ColumnKind.NUMBER, unit, f"run.{definition}" if definition else "", group=group)


def repeats_report(repeats: Repeats) -> Report:
    """The report of the repeats of a test."""
    valid = len(repeats.valid)
    whole = repeats.lines[-1]
    spread = (
        f" The mean response is {whole.mean * 1e3:,.4g} ms, plus or minus {whole.half_width * 1e3:,.3g} ms "
        f"({LEVEL:.0%} confidence, from the spread between repeats)."
        if whole.half_width is not None
        else " A single repeat has no spread: repeat the test at least three times."
    )
    starts = [run.start for run in repeats.valid if run.start is not None]
    return Report(
        title="Repeats of a load test",
        start=min(starts),
        end=max(run.end for run in repeats.valid if run.end is not None),
        utc_offset=0.0,
        time_note="Times are UTC.",
        alerts=tuple(_alerts(repeats)),
        sections=(
            Section("run-repeats", "Repeats", (_judged(repeats),), f"{valid} of {len(repeats.judged)} are pooled."),
            Section("run-pooled", "Valid repeats together", (_pooled(repeats),), spread.strip()),
        ),
        definitions={name: entry for name, entry in definitions_of(page_numbers("run")).items() if name in _SHOWN},
        generator=f"Plexlens {__version__}",
        kind="Load test",
        subject=f"{valid} of {len(repeats.judged)} repeats, {whole.requests:,} requests",
    )


def _name(entry: Judged) -> str:
    return Path(entry.run.test.file).name


def _alerts(repeats: Repeats) -> list[Note]:
    notes = []
    if left_out := [entry for entry in repeats.judged if entry.invalid]:
        details = tuple(f"{_name(entry)}: {', '.join(entry.invalid)}" for entry in left_out)
        notes.append(Note("Repeats that should not be used are left out.", Level.WARNING, details))
    if apart := [entry for entry in repeats.judged if entry.apart]:
        details = tuple(f"{_name(entry)}: {', '.join(entry.apart)}" for entry in apart)
        notes.append(
            Note(
                "A repeat differs from the others by more than they differ among themselves. It is in the numbers; "
                "find the cause before you use them.",
                Level.WARNING,
                details,
            )
        )
    for entry in repeats.judged:
        if entry.run.test.left_out:
            lines = tuple(f"{reason}: {number:,}" for reason, number, _ in entry.run.test.left_out)
            notes.append(Note(f"Parts of {_name(entry)} are not in the numbers.", Level.LOSS, lines))
    return notes


def _judged(repeats: Repeats) -> Table:
    columns = (
        _text("file", "Repeat", key=True),
        _number("requests", "Requests", COUNT),
        _number("rate", "Rate", PER_SECOND, "rate"),
        _number("failed", "Failed", FRACTION, "error_share"),
        _number("mean", "Mean", MILLISECONDS, "response", group="Response"),
        _number("p95", "95 %", MILLISECONDS, "response", group="Response"),
        _text("use", "Use"),
    )

    def row(entry: Judged) -> tuple[Cell, ...]:
        whole = entry.run.whole
        use = ", ".join(entry.invalid) or (f"pooled; {', '.join(entry.apart)}" if entry.apart else "pooled")
        return (
            _name(entry), whole.requests, whole.rate, whole.error_share, whole.mean, whole.percentiles.get(95.0), use,
        )  # fmt: skip

    rows = tuple(row(entry) for entry in repeats.judged)
    return Table("run_repeats", "Repeats, steady part of each", columns, rows, top=50)


def _pooled(repeats: Repeats) -> Table:
    scheduled = [percent for percent in PERCENTILES if any(percent in line.from_schedule for line in repeats.lines)]
    columns = (
        _text("request", "Request", key=True),
        _number("repeats", "Repeats", COUNT),
        _number("requests", "Requests", COUNT),
        _number("rate", "Rate", PER_SECOND, "rate"),
        _number("mean", "Mean", MILLISECONDS, "response", group="Response"),
        _number("half_width", "Plus or minus", MILLISECONDS, "half_width", group="Response"),
        *(
            _number(f"p{percent:g}", f"{percent:g} %", MILLISECONDS, "response", group="Response")
            for percent in PERCENTILES
        ),
        *(
            _number(f"scheduled_p{percent:g}", f"{percent:g} %", MILLISECONDS, "response", group="From the schedule")
            for percent in scheduled
        ),
        _number("variation", "Variation", PERCENTAGE, "variation"),
    )

    def row(line: Pooled) -> tuple[Cell, ...]:
        return (
            line.transaction, line.repeats, line.requests, line.rate, line.mean, line.half_width,
            *(line.percentiles[percent] for percent in PERCENTILES),
            *(line.from_schedule.get(percent) for percent in scheduled), line.variation,
        )  # fmt: skip

    return Table("run_pooled", "Requests by name", columns, tuple(row(line) for line in repeats.lines), top=30)


def to_object(repeats: Repeats) -> dict[str, Any]:
    """The repeats as plain values for JSON; seconds, rates per second, shares as fractions."""
    return {
        "repeats": [
            {"file": entry.run.test.file, "tool": entry.run.test.tool, "requests": entry.run.whole.requests,
             "errors": entry.run.whole.errors, "rate": entry.run.whole.rate, "mean": entry.run.whole.mean,
             "valid": not entry.invalid, "invalid": list(entry.invalid), "apart": list(entry.apart)}
            for entry in repeats.judged
        ],
        "pooled": [
            {"name": line.transaction, "repeats": line.repeats, "requests": line.requests, "errors": line.errors,
             "rate": line.rate, "mean": line.mean, "half_width": line.half_width, "variation": line.variation,
             "percentiles": {f"{percent:g}": value for percent, value in line.percentiles.items()},
             "from_schedule": {f"{percent:g}": value for percent, value in line.from_schedule.items()}}
            for line in repeats.lines
        ],
    }  # fmt: skip
