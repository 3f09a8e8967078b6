"""The laboratory as a report: both accounts of CPU time per request, and how well they agree and repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plexlens import __version__
from plexlens.lab.agreement import ALIKE, Agreement
from plexlens.lab.measure import SERVER, Lab
from plexlens.metrics.page_numbers import page_numbers
from plexlens.metrics.unit import COUNT, MILLISECONDS, PER_SECOND, PERCENTAGE, Unit
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
from plexlens.report.model.page_definitions import definitions_of


def _number(name: str, title: str, unit: Unit, definition: str, *, group: str = "") -> Column:
    return Column(name, title, ColumnKind.NUMBER, unit, f"lab.{definition}", group=group)


def lab_report(lab: Lab, compared: Sequence[Agreement]) -> Report:
    """The report of a laboratory."""
    requests = sum(run.driven.requests for run in lab.runs)
    repeats = max(run.repeat for run in lab.runs)
    agreeing = sum(agreement.agrees for agreement in compared)
    largest = max(compared, key=lambda agreement: abs(agreement.difference))
    variations = [agreement.variation for agreement in compared if agreement.variation is not None]
    figures = [
        Figure("lab_requests", "Requests", requests, COUNT),
        Figure("lab_largest", "Largest difference", abs(largest.difference), PERCENTAGE, "lab.difference"),
    ]
    if variations:
        figures.append(
            Figure("lab_variation", "Median variation", float(np.median(variations)), PERCENTAGE, "lab.variation")
        )
    verdict = (
        f"{agreeing} of {len(compared)} comparisons agree within {ALIKE:.0%}; the largest difference is "
        f"{abs(largest.difference):.2%} ({largest.way}, {largest.part})."
    )
    lead = (
        f"Each way was run {repeats} times for {lab.seconds:g} s, at half of its rate and then at all of it. {verdict}"
    )
    sections = [
        Section(
            f"lab-{part}",
            f"CPU per request of the {part}",
            (*((KeyFigures("lab_figures", tuple(figures)),) if part == SERVER else ()), _table(part, compared)),
            lead if part == SERVER else "",
        )
        for part in dict.fromkeys(agreement.part for agreement in compared)
    ]
    return Report(
        title="Laboratory",
        start=lab.started,
        end=None,
        utc_offset=0.0,
        time_note="Times are UTC.",
        alerts=tuple(_alerts(lab, compared)),
        sections=tuple(sections),
        definitions=definitions_of(page_numbers("lab")),
        generator=f"Plexlens {__version__}",
        kind="Laboratory",
        subject=f"{len({run.way for run in lab.runs})} ways, {len(lab.runs)} runs, {requests:,} requests",
    )


def _alerts(lab: Lab, compared: Sequence[Agreement]) -> list[Note]:
    notes = []
    if wrong := [agreement for agreement in compared if not agreement.agrees]:
        details = tuple(
            f"{agreement.way}, {agreement.part}, {np.mean(agreement.rates):.1f} per second: {agreement.difference:+.2%}"
            for agreement in wrong
        )
        notes.append(
            Note(
                f"The two accounts of CPU time differ by more than {ALIKE:.0%}. Run these ways again for longer "
                "(--seconds); if they still differ, do not trust CPU times per request on this machine.",
                Level.WARNING,
                details,
            )
        )
    if lab.left_out:
        details = tuple(f"{name}: {reason}" for name, reason in lab.left_out)
        notes.append(Note("Runs are missing.", Level.LOSS, details))
    notes.append(
        Note(
            "Servers of Python's standard library on this machine, with the driver next to them: a test of the method. "
            "The CPU times say nothing about ways into CICS.",
            Level.INFO,
        )
    )
    return notes


def _table(part: str, compared: Sequence[Agreement]) -> Table:
    rows = [agreement for agreement in compared if agreement.part == part]
    columns = [
        _text("way", "Way", key=True),
        _number("rate", "Rate", PER_SECOND, "rate"),
        _number("response", "Response", MILLISECONDS, "response"),
        _number("ways_in", "ways-in", MILLISECONDS, "ways_in", group="CPU per request"),
        _number("own", "Own account", MILLISECONDS, "own", group="CPU per request"),
        _number("difference", "Of the means", PERCENTAGE, "difference", group="Difference"),
        _number("largest", "Largest run", PERCENTAGE, "largest", group="Difference"),
        _number("group", "Control group", PERCENTAGE, "group", group="Difference"),
        _number("variation", "Variation", PERCENTAGE, "variation"),
        Column("runs", "Runs", ColumnKind.NUMBER, COUNT),
    ]

    def row(entry: Agreement) -> tuple[Cell, ...]:
        return (
            entry.way, float(np.mean(entry.rates)), float(np.mean(entry.responses)), float(np.mean(entry.by_ways_in)),
            float(np.mean(entry.own)), entry.difference, entry.largest, entry.of_group, entry.variation,
            len(entry.own),
        )  # fmt: skip

    cells = [row(entry) for entry in rows]
    kept = [place for place in range(len(columns)) if any(line[place] is not None for line in cells)]
    return Table(
        f"lab_{part}",
        f"CPU time per request of the {part}, by way and rate",
        tuple(columns[place] for place in kept),
        tuple(tuple(line[place] for place in kept) for line in cells),
        top=50,
    )


def to_object(lab: Lab, compared: Sequence[Agreement]) -> dict[str, Any]:
    """The laboratory as plain values for JSON; seconds, shares as fractions."""
    return {
        "started": lab.started.isoformat(),
        "seconds": lab.seconds,
        "runs": [
            {"way": run.way.id, "repeat": run.repeat, "requests": run.driven.requests, "late": run.driven.late,
             "connections": run.driven.connections, "tls": run.driven.tls}
            for run in lab.runs
        ],
        "left_out": [{"run": name, "reason": reason} for name, reason in lab.left_out],
        "agreements": [
            {"way": entry.way, "part": entry.part, "rates": entry.rates, "responses": entry.responses,
             "by_ways_in": entry.by_ways_in, "own": entry.own, "by_group": entry.by_group,
             "difference": entry.difference, "largest": entry.largest, "variation": entry.variation,
             "agrees": entry.agrees}
            for entry in compared
        ],
    }  # fmt: skip
