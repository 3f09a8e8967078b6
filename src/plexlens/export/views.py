"""Metric views of a database: the rows of each grain that has data, with the meaning of every column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from plexlens.errors import NothingUsableError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.question import Answer, Question, ask, grain_of
from plexlens.report.of_database import clock_of

#: Columns of the table that describes the columns of all views.
COLUMN_HEADS = ("grain", "column", "title", "type", "unit", "shown_in", "formula", "source")


@dataclass(frozen=True)
class Wanted:
    """The views to export.

    Attributes
    ----------
    grains
        Names of grains; none for every grain with data.
    every
        Length of time of a row: ``interval``, ``hour``, ``day`` or ``all``.
    columns
        Metrics and facts; none for all. A grain without any of them is left out.
    where
        SQL of a condition on keys, attributes and facts; empty for all rows.
    facts
        Whether facts are among the columns if none are named.
    """

    grains: tuple[str, ...] = ()
    every: str = "interval"
    columns: tuple[str, ...] = field(default=())
    where: str = ""
    facts: bool = True

    def questions(self) -> Iterator[Question]:
        """A question to each grain: every key apart, with its attributes.

        Raises
        ------
        UsageError
            A grain or length of time does not exist, or a named grain lacks a column.
        """
        for name in self.grains or GRAINS:
            grain = grain_of(name)
            numbers = [*(metric.name for metric in grain.metrics), *(fact.name for fact in grain.facts)]
            if self.columns and (self.grains or not set(self.columns).isdisjoint(numbers)):
                numbers = [column for column in self.columns if self.grains or column in numbers]
            elif self.columns:
                continue
            elif not self.facts:
                numbers = [metric.name for metric in grain.metrics]
            attributes = [attribute.name for attribute in grain.attributes]
            yield Question.of(name, every=self.every, columns=[*attributes, *numbers], where=self.where)


def views(inputs: Inputs, wanted: Wanted, name: str) -> Iterator[Answer]:
    """The views, one after the other.

    Parameters
    ----------
    inputs
        The selected tables.
    wanted
        The views.
    name
        Name that the user gave to the database, for errors.

    Raises
    ------
    NothingUsableError
        A named grain has no data, or no grain has.
    UsageError
        As `Wanted.questions`, or the condition cannot be evaluated.
    """
    offset = clock_of(inputs).offset or 0.0
    count = 0
    for question in list(wanted.questions()):
        if not wanted.grains and not available(inputs, question.grain):
            continue
        try:
            answer = ask(inputs, question, name, utc_offset=offset)
        except NothingUsableError:
            # A source without rows, or without rows in the selection: of all grains, those with rows are exported.
            if wanted.grains:
                raise
            continue
        count += 1
        yield answer
    if not count:
        raise NothingUsableError(
            file=name,
            what="no grain has data" if not wanted.columns else "no grain with data has these columns",
            remedy="ingest dumps first, select more, or name other columns",
        )


def columns_table(tables: Sequence[pa.Table]) -> pa.Table:
    """The meaning of every column of these views: a row for each, with units."""
    rows: list[dict[str, str | None]] = []
    for table in tables:
        for column in table.schema:
            texts = {key.decode(): value.decode() for key, value in (column.metadata or {}).items()}
            row = {"grain": table.schema.metadata[b"grain"].decode(), "column": column.name, "type": str(column.type)}
            rows.append({head: (row | texts).get(head) for head in COLUMN_HEADS})
    return pa.Table.from_pylist(rows, pa.schema([(head, pa.string()) for head in COLUMN_HEADS]))
