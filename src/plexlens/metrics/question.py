"""A question to a grain, and its answer as an Arrow table with the meaning of each column."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches

import duckdb
import pyarrow as pa

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.definition import Fact, Grain, Metric
from plexlens.metrics.evaluate import TIMES
from plexlens.metrics.grain_data import Covered, GrainData
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.moments import shown_on
from plexlens.metrics.opening import explained
from plexlens.metrics.roll_ups import RollUps
from plexlens.metrics.subtypes import others

#: Titles of columns that every grain has.
_TITLES = {
    "system": "System",
    "sysplex": "Sysplex",
    "time": "Start",
    "local_time": "Whether the start is local time of unknown offset from UTC",
}

_LENGTHS = {
    "quarter_hour": timedelta(minutes=15),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}


@dataclass(frozen=True)
class Question:
    """A question to a grain.

    Attributes
    ----------
    grain
        The grain.
    by
        Keys, attributes, ``system`` or ``sysplex`` that rows keep apart; nothing gives one row for each time.
    every
        Length of time of a row: ``interval``, ``quarter_hour``, ``hour``, ``day``, ``week``, ``month``, or ``all`` for
        the whole time.
    columns
        Metrics, facts and attributes.
    where
        SQL of a condition on keys, attributes and facts: the entities that count; empty for all.
    """

    grain: Grain
    by: tuple[str, ...]
    every: str
    columns: tuple[str, ...]
    where: str = ""

    @classmethod
    def of(
        cls,
        grain: str,
        *,
        by: str | Iterable[str] | None = None,
        every: str = "interval",
        columns: str | Iterable[str] | None = None,
        where: str = "",
    ) -> Question:
        """A question by names.

        Parameters
        ----------
        grain
            Name of the grain.
        by
            As in `Question`; None for system, sysplex and every key of the grain.
        every, where
            As in `Question`.
        columns
            Metrics and facts; None for every metric of the grain.

        Raises
        ------
        UsageError
            A name that does not exist; the message gives those that do.
        """
        result = grain_of(grain)
        wanted = tuple(m.name for m in result.metrics) if columns is None else _names(columns)
        there = [*(metric.name for metric in result.metrics), *(fact.name for fact in result.facts)]
        described = {attribute.name for attribute in result.attributes}
        for name in wanted:
            if name not in there and name not in described:
                raise _no("metric or fact", name, there, f"plexlens metrics {grain} lists them", grain)
        apart = ("system", "sysplex", *(key.name for key in result.keys)) if by is None else _names(by)
        apart = tuple(dict.fromkeys(apart))
        keys = tuple(dict.fromkeys(("system", "sysplex", *RollUps.named(result))))
        for name in apart:
            if name not in keys:
                raise _no("key", name, keys, f"it has {', '.join(keys)}", grain)
        if every not in TIMES:
            raise UsageError(
                file="", what=f"{every!r} is not a length of time", remedy=f"give one of {', '.join(TIMES)} for every"
            )
        return cls(result, apart, every, tuple(name for name in wanted if name not in apart), where.strip())

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that are metrics or facts."""
        described = {attribute.name for attribute in self.grain.attributes}
        return tuple(name for name in self.columns if name not in described)

    def column(self, name: str) -> Fact | Metric:
        """Definition of a number of the answer."""
        return self.grain.column(name)


@dataclass(frozen=True)
class Answer:
    """Rows of a grain.

    Attributes
    ----------
    question
        What was asked.
    table
        Columns of names, ``time`` unless it is of the whole time, and numbers in base units. Times are UTC, or have no
        zone where they are local time of unknown offset; where there are both, a column ``local_time`` distinguishes
        them. The time is null where the source has none. The metadata of a field has ``title``, and of a number
        ``unit``, ``shown_in``, ``formula`` and ``source``.
    ends
        End of the time that starts at each moment of ``time``.
    """

    question: Question
    table: pa.Table
    ends: Mapping[datetime, datetime]


def grain_of(name: str) -> Grain:
    """A grain by name.

    Raises
    ------
    UsageError
        There is none; the message gives names that are near.
    """
    if name not in GRAINS:
        raise _no("grain", name, list(GRAINS), "plexlens metrics lists the grains")
    return GRAINS[name]


def ask(inputs: Inputs, question: Question, name: str, *, utc_offset: float = 0.0, day_begins: float = 0.0) -> Answer:
    """Answer a question.

    Parameters
    ----------
    inputs
        The selected tables.
    question
        What is asked.
    name
        What the user called the database, for errors.
    utc_offset
        Seconds by which the clock on which hours and days begin is ahead of UTC.
    day_begins
        Seconds after midnight of that clock at which a day begins.

    Raises
    ------
    NothingUsableError
        The database, or the selected part of it, has no data of the grain.
    UsageError
        The condition cannot be understood.
    """
    grain, where = question.grain, question.where or None
    if where is not None:
        _check_condition(where)
    numbers = RollUps(inputs, GRAINS, utc_offset, day_begins)
    numbers.need(grain.name, (*question.by, *question.columns), where)
    with condition_named(where), explained(inputs.selection):
        data = numbers.data(grain.name)
        if data is None:
            kinds = list(dict.fromkeys(source.kind for source in grain.sources))
            there = others(inputs, kinds)
            raise NothingUsableError(
                file=name,
                what=f"there is no data of {grain.name}" + (f"; {there}" if there else ""),
                remedy=f"ingest one of {', '.join(kinds)}",
            )
        clocks = data.clocks if question.every != "all" else data.clocks[:1]
        parts = [_rows(numbers, data, question, covered) for covered in clocks]
    ends: dict[datetime, datetime] = {}
    for covered, part in zip(clocks, parts, strict=True):
        if "time" in part.column_names:
            ends.update(_ends(covered, part.column("time"), question.every))
    table = parts[0] if len(parts) == 1 else pa.concat_tables(parts)
    return Answer(question, _described(table, question), ends)


def _rows(numbers: RollUps, data: GrainData, question: Question, covered: Covered) -> pa.Table:
    """The rows on one kind of clock."""
    whole = question.every == "all"
    conditions = [text for text in (question.where, None if whole else data.on(covered)) if text]
    table, _ = numbers.rows(
        data,
        question.columns,
        by=question.by,
        time=question.every,
        where=" and ".join(f"({condition})" for condition in conditions) or None,
        undated=True,
    )
    if whole:
        return table
    place = table.column_names.index("time")
    if len(data.clocks) > 1:
        flags = pa.array([covered.is_local] * table.num_rows, pa.bool_())
        return table.add_column(place + 1, "local_time", flags)
    if covered.is_local:
        return table.set_column(place, "time", table.column("time").cast(pa.timestamp("us")))
    return table


def _ends(covered: Covered, times: pa.ChunkedArray, every: str) -> Iterator[tuple[datetime, datetime]]:
    """End of each length of time, by its start."""
    for stamp in times.unique().to_pylist():
        moment = None if stamp is None else shown_on(_with_zone(stamp), is_local=covered.is_local)
        if moment is not None:
            yield moment, moment + _length(covered, moment, every)


def _length(covered: Covered, moment: datetime, every: str) -> timedelta:
    if every == "month":
        # A month begins up to a day away from its begin in UTC; its middle is in the month on any clock.
        middle = moment + timedelta(days=14)
        return timedelta(days=monthrange(middle.year, middle.month)[1])
    return _LENGTHS[every] if every in _LENGTHS else covered.length_of(moment)


def _with_zone(stamp: datetime) -> datetime:
    return stamp if stamp.tzinfo is not None else stamp.replace(tzinfo=UTC)


def _described(table: pa.Table, question: Question) -> pa.Table:
    """The table with the meaning of each column in the metadata of its field."""
    fields = [field.with_metadata(_meaning(field.name, question)) for field in table.schema]
    grain = question.grain
    about = {"grain": grain.name, "title": grain.title, "row": grain.row, "every": question.every}
    return table.cast(pa.schema(fields, metadata=about))


def _meaning(name: str, question: Question) -> dict[str, str]:
    if name in question.numbers:
        column = question.column(name)
        texts = {
            "title": column.title,
            "unit": column.unit.base,
            "shown_in": column.unit.symbol,
            "formula": "" if isinstance(column, Fact) else column.words,
            "source": column.source,
        }
        return {key: value for key, value in texts.items() if value}
    keys, attributes = question.grain.keys, question.grain.attributes
    named = {key.name: key.title for key in keys} | {attribute.name: attribute.title for attribute in attributes}
    return {"title": named.get(name) or _TITLES[name]}


def _check_condition(where: str) -> None:
    """Refuse a text that is more than a condition."""
    try:
        statements = duckdb.extract_statements(f"select 1 where (\n{where}\n)")
    except duckdb.Error as error:
        raise _not_understood(where, error) from error
    if [statement.type.name for statement in statements] != ["SELECT"]:
        raise UsageError(
            file="",
            what=f"where={where!r} is more than a condition",
            remedy="give one condition, such as structure = 'LOCK1'",
        )


@contextmanager
def condition_named(where: str | None) -> Iterator[None]:
    """Name the condition in an error of the engine; if there is no condition, such an error is a defect."""
    try:
        yield
    except duckdb.Error as error:
        if where is None:
            raise
        raise _not_understood(where, error) from error


def _not_understood(where: str, error: Exception) -> UsageError:
    said = " ".join(str(error).partition("\n\nLINE ")[0].split())
    return UsageError(
        file="",
        what=f"the condition where={where!r} cannot be evaluated: {said}",
        remedy="give SQL over keys, attributes and facts, such as structure = 'LOCK1'",
    )


def _names(named: str | Iterable[str]) -> tuple[str, ...]:
    return (named,) if isinstance(named, str) else tuple(dict.fromkeys(named))


def _no(what: str, name: str, there: Sequence[str], listed: str, grain: str = "") -> UsageError:
    near = get_close_matches(str(name), there, n=3)
    remedy = f"did you mean {' or '.join(near)}? {listed}" if near else listed
    return UsageError(file="", what=f"{f'{grain} has' if grain else 'there is'} no {what} {name!r}", remedy=remedy)
