"""The selection of a report, stated at its top and on every page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plexlens.metrics.definition import Grain
from plexlens.metrics.selection import CLASS_COLUMNS, Selection
from plexlens.report.model import Note, Report

if TYPE_CHECKING:
    from plexlens.report.blocks.page import Page


def selection_note(selections: Mapping[str, Selection]) -> Note | None:
    """Note at the top of a report; None if everything is selected.

    Parameters
    ----------
    selections
        Selection by what it is of, ``BASE`` for example; one of an empty name needs no name.
    """
    texts = {name: selection for name, selection in selections.items() if selection}
    if not texts:
        return None
    details = []
    for name, selection in texts.items():
        start = f"{name}: " if name else ""
        if name:
            details.append(f"{name}: {selection.text}.")
        for system in selection.extent.systems if selection.extent is not None else ():
            if system.taken_first is not None:
                what = system.system or "Data without a system name"
                details.append(
                    f"{start}{what} ({system.taken_zone}): intervals and records of "
                    f"{system.taken_first:%Y-%m-%d %H:%M} to "
                    f"{system.taken_last:%Y-%m-%d %H:%M}"
                )
            elif selection.systems and system.system is None:
                details.append(f"{start}Data without a system name is left out.")
        if selection.classes:
            details.append(
                f"{start}Data without a service class, report class or workload is not restricted by class. The rate "
                "of a class covers all intervals of its systems; an interval without a row of the class counts as no "
                "work."
            )
    whole = "; ".join(choice.text for name, choice in texts.items() if not name)
    text = f"Selection: {whole}." if whole else "Only a part of the data is selected."
    return Note(f"{text} An interval is selected by its start.", details=tuple(details))


def under_selection(report: Report, selections: Mapping[str, Selection]) -> Report:
    """The report with its selection at the top and on every section."""
    note = selection_note(selections)
    if note is None:
        return report
    text = "; ".join(
        f"{name}: {selection.text}" if name else selection.text for name, selection in selections.items() if selection
    )
    return replace(
        report,
        alerts=(note, *report.alerts),
        selection=text,
        sections=tuple(replace(section, selection=section.selection or text) for section in report.sections),
    )


def page_selection(page: Page, grains: Mapping[str, Grain], selection: Selection) -> str:
    """The selection as stated on a page, including parts that have no effect there."""
    if not selection:
        return ""
    text = selection.text
    if selection.windows or selection.shifts:
        added_up = [grains[name].title for name in page.grains if by_quarter(grains[name])]
        if added_up:
            text += f". Each record counts at the time it was written: {', '.join(added_up)}"
    if not selection.classes or not page.grains:
        return text
    classless = [name for name in page.grains if not has_class(grains[name])]
    if len(classless) == len(page.grains):
        return f"{text}. The data of this page has no classes and is not restricted by class"
    if classless:
        titles = ", ".join(grains[name].title for name in classless)
        return f"{text}. Not restricted by class: {titles}"
    return text


def by_quarter(grain: Grain) -> bool:
    """Whether rows are accounting records summed by the quarter of an hour in which they were written."""
    return "quarter of an hour" in grain.row


def has_class(grain: Grain) -> bool:
    """Whether rows of the grain name a class."""
    names = {key.name for key in grain.keys} | {attribute.name for attribute in grain.attributes}
    return not names.isdisjoint(CLASS_COLUMNS)


def selection_json(selections: Mapping[str, Selection]) -> Any:
    """The selections as JSON types; a single unnamed selection is not nested."""
    if list(selections) == [""]:
        return selections[""].to_json()
    if not any(selections.values()):
        return None
    return {name: selection.to_json() for name, selection in selections.items()}
