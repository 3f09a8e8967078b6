"""Whether a run meets its criteria: a section, an alert, and plain values for JSON."""

from __future__ import annotations

from typing import Any

from plexlens.load.criteria import Outcome, Validity
from plexlens.report.model import Level, Note, Section, Table
from plexlens.report.model import text_column as _text


def validity_section(validity: Validity) -> Section:
    """The criteria, each with its answer."""
    rows = tuple((answer.criterion.title, str(answer.outcome), answer.detail) for answer in validity.answers)
    columns = (_text("criterion", "Criterion"), _text("outcome", "Answer"), _text("detail", "Found, or what to do"))
    counts = ", ".join(f"{len(answers)} {outcome}" for outcome in Outcome if (answers := validity.of(outcome)))
    lead = f"Of {len(rows)} criteria: {counts}. Source: {validity.criteria.source}."
    return Section(
        "run-validity", f"Criteria: {validity.criteria.title}", (Table("run_criteria", "", columns, rows),), lead
    )


def validity_alert(validity: Validity) -> Note | None:
    """The warning not to use a run that breaks criteria; None if it breaks none."""
    broken = validity.of(Outcome.BROKEN)
    if not broken:
        return None
    return Note(
        f"The run breaks {len(broken)} of the {len(validity.answers)} criteria of {validity.criteria.title}: do not "
        "compare it with other runs.",
        Level.WARNING,
        tuple(f"{answer.criterion.title}: {answer.detail}" for answer in broken),
    )


def validity_object(validity: Validity) -> dict[str, Any]:
    """The criteria as plain values for JSON."""
    return {
        "name": validity.criteria.name,
        "title": validity.criteria.title,
        "source": validity.criteria.source,
        "criteria": [
            {"title": answer.criterion.title, "outcome": str(answer.outcome), "detail": answer.detail}
            for answer in validity.answers
        ],
    }
