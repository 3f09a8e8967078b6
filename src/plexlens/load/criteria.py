"""Criteria that a run has to meet before its numbers are used: the files ``criteria/*.toml`` of the catalogue.

A criterion is a condition over the load test itself (`OF_TEST`), a condition over a grain of the catalogue in the SMF
intervals of the run, or a check that no record allows and that is made by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from plexlens.errors import UsageError
from plexlens.expression import Expression, ExpressionError, Scope, names_of, parse, value
from plexlens.expression.sql import sql_of
from plexlens.expression.types import condition
from plexlens.load.run import Run
from plexlens.metrics import GRAINS
from plexlens.metrics.catalogue.document import Document
from plexlens.metrics.catalogue.error import near
from plexlens.metrics.catalogue.table import Entry, Table, alone
from plexlens.metrics.definition import Fact, Grain, Metric
from plexlens.metrics.display import with_symbol
from plexlens.metrics.evaluate import rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.source_rows import available
from plexlens.metrics.unit import COUNT, FRACTION, SECONDS, Unit
from plexlens.pdb.engine import quoted

#: Numbers of a load test that conditions name: title and unit.
OF_TEST: Mapping[str, tuple[str, Unit]] = {
    "steady_seconds": ("Length of the steady part", SECONDS),
    "warm_up_seconds": ("Length of the warm-up", SECONDS),
    "drifts": ("Numbers that differ between the halves of the steady part", COUNT),
    "error_share": ("Failed requests", FRACTION),
    "requests": ("Requests", COUNT),
}

_TEST_SCOPE = Scope.of("a number of a load test", {name: unit.base for name, (_, unit) in OF_TEST.items()})


class Outcome(StrEnum):
    """The answer to a criterion."""

    BROKEN = "broken"
    MET = "met"
    NOT_RECORDED = "not recorded"
    BY_HAND = "check by hand"


@dataclass(frozen=True)
class Criterion:
    """A criterion.

    Attributes
    ----------
    grain
        Whose rows it is about, one for each combination of the keys ``by``; None for the load test itself.
    where
        Which rows of the grain count; None for all.
    condition
        Holds where the criterion is met; None where the check is made by hand.
    by_hand
        The text that says how.
    """

    title: str
    condition: Expression | None
    grain: Grain | None = None
    by: tuple[str, ...] = ()
    where: Expression | None = None
    by_hand: str = ""


@dataclass(frozen=True)
class Criteria:
    """The criteria of a benchmark, or of a site.

    Attributes
    ----------
    name
        Of the file, by which ``--criteria`` names them.
    """

    name: str
    title: str
    source: str
    criteria: tuple[Criterion, ...]


@dataclass(frozen=True)
class Answer:
    """The answer to a criterion, and the numbers or the reason behind it; those that break it are named first."""

    criterion: Criterion
    outcome: Outcome
    detail: str


@dataclass(frozen=True)
class Validity:
    """The answers to all criteria."""

    criteria: Criteria
    answers: tuple[Answer, ...]

    def of(self, outcome: Outcome) -> tuple[Answer, ...]:
        """The answers of a kind."""
        return tuple(answer for answer in self.answers if answer.outcome is outcome)


def criteria_named(name: str) -> Criteria:
    """The criteria of a name.

    Raises
    ------
    UsageError
        There are none of this name.
    CatalogueError
        A file that cannot be used: file, line, key, what is wrong, what is valid.
    """
    documents = {document.path.stem: document for document in GRAINS.catalogue.criteria()}
    if name not in documents:
        raise UsageError(file="", what=f"there are no criteria {name!r}", remedy=near(name, documents))
    return _criteria(name, documents[name])


def _criteria(name: str, document: Document) -> Criteria:
    file = Entry(document.values, document, ()).table("title", "source", "criterion")
    listed = file.need("criterion", "[[criterion]]")
    if not isinstance(listed.value, list) or not listed.value:
        raise listed.wrong("it is not a list of tables", "write [[criterion]]")
    entries = [Entry(each, document, ("criterion", number)) for number, each in enumerate(listed.value)]
    keys = ("title", "grain", "by", "where", "condition", "by_hand")
    return Criteria(
        name,
        file.need("title", 'title = "CB84, commercial batch"').text(),
        file.need("source", 'source = "..."').text(),
        tuple(_criterion(entry.table(*keys)) for entry in entries),
    )


def _criterion(table: Table) -> Criterion:
    title = table.need("title", 'title = "Processors are busy"').text()
    if alone(table, ("condition", "by_hand"), 'condition = "mvs_busy >= 80 %"') == "by_hand":
        if (extra := next((key for key in ("grain", "by", "where") if key in table), None)) is not None:
            raise table.entries[extra].wrong("nothing is computed for a check by hand", "leave the key out")
        return Criterion(title, None, by_hand=table.text("by_hand"))
    if (named := table.get("grain")) is None:
        if (extra := next((key for key in ("by", "where") if key in table), None)) is not None:
            raise table.entries[extra].wrong("a condition over the load test has no rows", "leave the key out")
        return Criterion(title, _checked(table.entries["condition"], _TEST_SCOPE))
    grain = GRAINS[named.one_of(tuple(GRAINS), "grain")]
    by = table.texts("by")
    keys = ("system", "sysplex", *(key.name for key in grain.keys), *(each.name for each in grain.attributes))
    for key in by:
        if key not in keys:
            raise table.entries["by"].wrong(f"{key} is not a key or attribute of {grain.name}", near(key, keys))
    where = _checked(table.entries["where"], grain.row_names) if "where" in table else None
    return Criterion(title, _checked(table.entries["condition"], grain.numbers), grain, by, where)


def _checked(entry: Entry, scope: Scope) -> Expression:
    try:
        return condition(parse(entry.text()), scope)
    except ExpressionError as error:
        raise entry.wrong(error.what, error.remedy) from None


def validity_of(criteria: Criteria, run: Run, inputs: Inputs | None) -> Validity:
    """The answers to the criteria.

    Parameters
    ----------
    criteria
        From `criteria_named`.
    run
        The load test.
    inputs
        SMF of the intervals that lie in its steady part; None if none was given.
    """
    return Validity(criteria, tuple(_answer(criterion, run, inputs) for criterion in criteria.criteria))


def _answer(criterion: Criterion, run: Run, inputs: Inputs | None) -> Answer:
    if criterion.condition is None:
        return Answer(criterion, Outcome.BY_HAND, criterion.by_hand)
    if criterion.grain is None:
        row = _of_test(run)
        return _judged(criterion, [((), row)], OF_TEST, "the result file has no time for each request")
    grain = criterion.grain
    if inputs is None:
        reason = f"it needs {_kinds(grain)} of the same minutes: give them with --smf"
        return Answer(criterion, Outcome.NOT_RECORDED, reason)
    rows: Sequence[dict[str, Any]] = ()
    if available(inputs, grain):
        where = None if criterion.where is None else sql_of(criterion.where, quoted)
        rows = rolled_up(inputs, grain, by=criterion.by, time="all", where=where)
    columns: tuple[Fact | Metric, ...] = (*grain.facts, *grain.metrics)
    titles = {column.name: (column.title, column.unit) for column in columns}
    named = [(tuple(str(row[key]) for key in criterion.by), row) for row in rows]
    return _judged(criterion, named, titles, f"there is no {_kinds(grain)} in the SMF intervals of the run")


def _kinds(grain: Grain) -> str:
    return " or ".join(dict.fromkeys(source.kind for source in grain.sources))


def _judged(
    criterion: Criterion,
    rows: Sequence[tuple[tuple[str, ...], Mapping[str, Any]]],
    titles: Mapping[str, tuple[str, Unit]],
    lacking: str,
) -> Answer:
    """The criterion is met where its condition holds for every row; a row without a value meets none."""
    assert criterion.condition is not None
    names = sorted(names_of(criterion.condition))
    broken: list[str] = []
    met: list[str] = []
    unknown: list[str] = []
    for place, row in rows:
        holds = value(criterion.condition, {name: row[name] for name in names})
        numbers = ", ".join(f"{titles[name][0]}: {with_symbol(row[name], titles[name][1])}" for name in names)
        text = f"{' '.join(place)}: {numbers}" if place else numbers
        (unknown if holds is None else met if holds else broken).append(text)
    if broken:
        return Answer(criterion, Outcome.BROKEN, "; ".join(broken))
    if unknown or not met:
        return Answer(criterion, Outcome.NOT_RECORDED, "; ".join(unknown) or lacking)
    return Answer(criterion, Outcome.MET, "; ".join(met))


def _of_test(run: Run) -> dict[str, float | None]:
    steady = None
    warm_up = None
    if run.test.requests is not None and run.steady_from is not None and run.steady_to is not None:
        steady = (run.steady_to - run.steady_from).total_seconds()
        warm_up = None if run.start is None else (run.steady_from - run.start).total_seconds()
    return {
        "steady_seconds": steady,
        "warm_up_seconds": warm_up,
        "drifts": sum(not drift.is_steady for drift in run.drifts) if run.drifts else None,
        "error_share": run.whole.error_share,
        "requests": float(run.whole.requests),
    }
