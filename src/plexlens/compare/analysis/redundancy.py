"""Redundancy in a study: which cells an audit can check against others, and which have no check.

A misprint in a cell that stands in an equation shows unless it is smaller than what rounding leaves; one in a cell that
has limits only shows where it passes them; one in a cell of which nothing else speaks cannot be found by any audit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from plexlens.compare.analysis.analysis import Analysis
from plexlens.compare.audit.audit import Audit
from plexlens.compare.audit.recomputation import Recomputation
from plexlens.compare.study.model import Place, StudyError


class Cover(StrEnum):
    """Kind of check that a study allows for a cell."""

    #: It follows from other cells, others follow from it, it stands elsewhere too, or the text states what it gives.
    EQUATION = "equation"
    #: It cannot be above or below something, or far from it.
    LIMIT = "limit"
    #: Nothing.
    NONE = "nothing"


def numbers(audit: Audit) -> Iterator[Place]:
    """Every cell that prints a number."""
    run = Recomputation(audit.study)
    for table in audit.study.tables.values():
        for number in range(len(table.rows)):
            for column in table.columns:
                try:
                    quantity = run.number(table, number, column)
                except StudyError:
                    # Words.
                    continue
                if quantity is not None:
                    yield table.id, number, column


def covers(audit: Audit, analysis: Analysis) -> dict[Place, Cover]:
    """The kind of check that a study allows for each cell that prints a number."""
    equations: set[Place] = set()
    limits: set[Place] = set()
    for table in audit.tables:
        for cell in table.compared:
            place = (table.table.id, cell.row - 1, cell.column)
            equations |= {place, *audit.inputs.get(place, ())}
        for test in table.tested:
            (equations if test.kind == "equal" else limits).update(test.places)
    for claim in analysis.claims:
        if claim.computed is not None:
            (equations if claim.relation == "=" else limits).update(claim.places)
    return {
        place: Cover.EQUATION if place in equations else Cover.LIMIT if place in limits else Cover.NONE
        for place in numbers(audit)
    }


def counts(audit: Audit, analysis: Analysis) -> Counter[Cover]:
    """Number of cells with each kind of check."""
    return Counter(covers(audit, analysis).values())
