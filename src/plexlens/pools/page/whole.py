"""The report of `plexlens pools` as a whole: its heading and what was lost; and the report for unknown pools.

The latter has curves alone, which most commands ask for, so nothing here loads the simulation or the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from plexlens import __version__
from plexlens.pools.curves import PoolCurve
from plexlens.pools.page.curves import curves_section
from plexlens.pools.trace import LOST_WARNED, TraceFacts
from plexlens.report.model import Level, Note, Report, Section
from plexlens.report.model.fields import Definitions

#: Note on the curves of a group's members.
OF_MEMBERS = (
    "By member: curves count capacity misses. Pages read again because another member changed them are in the "
    "simulation and its tables, not in the curves."
)


#: Lead of the section on lost data and assumptions.
LOST_LEAD = "Missing data, and assumptions of this report."


def curves_report(sources: Sequence[str], facts: TraceFacts, curves: Sequence[PoolCurve], *, grouped: bool) -> Report:
    """The report for unknown pools: only their curves.

    Parameters
    ----------
    sources
        Names of the trace's files.
    facts
        What the trace held and lost.
    curves
        Curves of the pools.
    grouped
        Whether they are of the members of a group.
    """
    definitions = Definitions()
    note = OF_MEMBERS if grouped else ""
    section = curves_section(curves, facts.seconds, definitions, now={}, recommended={}, note=note)
    assumed = Section("assumed", "Lost data and assumptions", lost_notes(facts, facts.notes), LOST_LEAD)
    return whole_report(sources, facts, [section, assumed], definitions, grouped=grouped)


def whole_report(
    sources: Sequence[str],
    facts: TraceFacts,
    sections: Sequence[Section | None],
    definitions: Definitions,
    *,
    grouped: bool,
) -> Report:
    """A report with these sections.

    Parameters
    ----------
    sources
        Names of the trace's files.
    facts
        What the trace held and lost.
    sections
        Sections; those that are None are not there.
    definitions
        What the numbers in them mean.
    grouped
        Whether they are of the members of a group.
    """
    members = ", ".join(facts.members)
    return Report(
        title="Buffer pools" + (f" of {members}" if members else ""),
        alerts=loss_alerts(facts),
        sections=tuple(section for section in sections if section is not None),
        definitions=definitions.found,
        generator=f"Plexlens {__version__}",
        kind="Buffer pool report",
        subject=_subject(sources, facts, grouped=grouped),
    )


def _subject(sources: Sequence[str], facts: TraceFacts, *, grouped: bool) -> str:
    names = list(sources)
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    span = f", {timedelta(seconds=round(facts.seconds))}" if facts.timed and facts.seconds > 0 else ""
    members = f" of {len(facts.members)} members" if grouped else ""
    return f"Trace {shown}: {facts.references['getpage']:,} getpages{members}{span}"


def loss_alerts(facts: TraceFacts) -> tuple[Note, ...]:
    """Alerts for a trace that lost references."""
    if facts.lost_share < LOST_WARNED:
        return ()
    return (
        Note(
            f"{facts.lost:,} of {facts.lost + facts.rows:,} references ({facts.lost_share:.1%}) were lost while "
            "tracing: misses are off by about the same percentage.",
            Level.LOSS,
        ),
    )


def lost_notes(facts: TraceFacts, notes: Sequence[str]) -> tuple[Note, ...]:
    """Notes on the references that a trace holds and has lost, and further notes."""
    counts = ", ".join(f"{count:,} {name}" for name, count in facts.references.items() if count)
    names = [f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" for text in dict.fromkeys(notes)]
    return (Note(f"References in the trace: {counts}; lost: {facts.lost:,}."), *map(Note, names))
