"""The table of settings that changed within the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from plexlens.metrics.changed_settings import ChangedSetting, changed_settings
from plexlens.metrics.grain_data import GrainData
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.moments import on_axis
from plexlens.metrics.unit import Unit
from plexlens.report.model import Column, ColumnKind, PrintedNumber, Table
from plexlens.report.model.display import with_symbol

#: Changes that are listed; of more, the table gives their number.
MOST_LISTED = 200

#: Decimals that are added at most to tell the value before from the one after.
_MOST_DECIMALS = 6

_NOTE = (
    "All other tables show the value in force, after the last change. A number that relates to a limit or a goal, "
    "such as a performance index, uses only the intervals with the value in force. A setting changed at some time "
    "between the two times of its row."
)


def changed_settings_table(inputs: Inputs, grains: Iterable[GrainData]) -> Table:
    """Changes of the settings that the pages read, the latest first; no rows if there are none."""
    changes: list[ChangedSetting] = []
    total = 0
    for grain_data in grains:
        latest, number = changed_settings(inputs, grain_data.grain, kept=grain_data.recorded, most=MOST_LISTED)
        changes += latest
        total += number
    changes.sort(key=lambda change: _place(change.since or change.until), reverse=True)
    note = _NOTE
    if total > MOST_LISTED:
        note += f" The latest {MOST_LISTED} of {total:,} changes are listed; select a shorter time to see earlier ones."
    return Table(
        name="read_changed_settings",
        title="Settings that changed",
        columns=(
            Column("system", "System or sysplex", ColumnKind.TEXT, key=True),
            Column("object", "Object", ColumnKind.TEXT, key=True),
            Column("setting", "Setting", ColumnKind.TEXT),
            Column("before", "Before", ColumnKind.PRINTED),
            Column("after", "After", ColumnKind.PRINTED),
            Column("until", "Old value until", ColumnKind.TIME),
            Column("since", "New value since", ColumnKind.TIME),
        ),
        rows=tuple(
            (
                change.whose.get("system") or change.whose.get("sysplex"),
                " ".join(value for name, value in change.whose.items() if name not in ("system", "sysplex")) or None,
                change.fact.title,
                *_told_apart(change.before, change.after, change.fact.unit),
                change.until,
                change.since,
            )
            for change in changes[:MOST_LISTED]
        ),
        total_rows=total,
        note=note,
        top=20,
    )


def _place(moment: datetime | None) -> float:
    return on_axis(moment).timestamp() if moment is not None else float("-inf")


def _told_apart(before: float, after: float, unit: Unit) -> tuple[PrintedNumber, PrintedNumber]:
    """Both values in the display unit, with enough decimals to make them look different."""
    for digits in range(unit.digits, unit.digits + _MOST_DECIMALS + 1):
        longer = replace(unit, digits=digits)
        texts = with_symbol(before, longer), with_symbol(after, longer)
        if texts[0] != texts[1]:
            break
    return PrintedNumber(texts[0], before * unit.factor), PrintedNumber(texts[1], after * unit.factor)
