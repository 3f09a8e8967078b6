"""Numbers over a period, and over the period without each group of its intervals: the repeats behind an interval of
confidence (`plexlens.compare.runs.significance`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from plexlens.compare.runs.significance import group_lengths
from plexlens.metrics.definition import Fact, Grain, Metric, Rollup
from plexlens.metrics.definition import Key as GrainKey
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.evaluate import rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.query import Query
from plexlens.metrics.required import read_by
from plexlens.pdb.engine import Connection, add_table, arrow, literal

#: Column that says which group of intervals a row is without; its value where it is without none, and what it begins
#: with where the row has that group alone.
LEFT_OUT = "left_out"
NOTHING = "none"
ALONE = "only "


def times_of(connection: Connection, text: str) -> list[tuple[datetime, datetime, datetime]]:
    """Name, local start and local end of each interval, in order."""
    # Facts of local reports have no offset and are local already.
    rows = arrow(
        connection,
        'select "interval" as moment, min(coalesce(interval_start, interval_end)'
        " + to_seconds(coalesce(utc_offset, 0))) as first, max(coalesce(interval_end, interval_start)"
        f" + to_seconds(coalesce(utc_offset, 0))) as last from {text}"
        ' where "interval" is not null group by 1 order by 1',
    )
    columns = ([moment.astimezone(UTC) for moment in rows[name].to_pylist()] for name in ("moment", "first", "last"))
    return [(moment, start, max(start, end)) for moment, start, end in zip(*columns, strict=True)]


def without_each_group(inputs: Inputs, kept: Query, moments: Sequence[datetime], *, alone: bool = False) -> Query:
    """The facts once for all time, and once for all time without each group of intervals.

    A further column says which group is left out, so that every value, with and without a group, comes from `evaluate`.

    Parameters
    ----------
    inputs, kept
        The facts.
    moments
        Their intervals.
    alone
        Whether the facts of each group alone are added, with `ALONE` before its number in that column.
    """
    columns = (*kept.columns, LEFT_OUT)
    lengths = group_lengths(len(moments))
    if not lengths and not alone:
        # Too few intervals for groups: there is nothing to leave out, and no interval to number.
        return kept.over(lambda source: f"select *, {literal(NOTHING)} as {LEFT_OUT} from {source}", columns)
    groups = [group for group, length in enumerate(lengths) for _ in range(length)] or [0] * len(moments)
    numbers = pa.table(
        {"numbered": pa.array(moments, pa.timestamp("us", "UTC")), "group_no": pa.array(groups, pa.int64())}
    )
    table = fresh_name("compare_groups")
    add_table(inputs.connection, table, numbers, temporary=True)
    numbers_of_groups = [str(number) for number in range(len(lengths))]
    only = [ALONE + number for number in numbers_of_groups] if alone else []
    outs = ", ".join(literal(name) for name in (NOTHING, *numbers_of_groups, *only))
    group = "coalesce(n.group_no::varchar, '')"
    return kept.over(
        lambda source: (
            f'select k.*, o.{LEFT_OUT} from {source} k left join {table} n on k."interval" = n.numbered'
            f" cross join (select unnest([{outs}]) as {LEFT_OUT}) o"
            f" where case when starts_with(o.{LEFT_OUT}, {literal(ALONE)})"
            f" then o.{LEFT_OUT} = {literal(ALONE)} || {group} else {group} <> o.{LEFT_OUT} end"
        ),
        columns,
    )


def rolled_up_without(
    inputs: Inputs,
    grain: Grain,
    by: Sequence[str],
    spread: Query,
    where: str | None = None,
    *,
    shown: Iterable[str] | None = None,
) -> list[dict[str, Any]]:
    """The grain over all time, and over all time without each group of intervals; only facts and metrics ``shown``."""
    wide = replace(grain, keys=(*grain.keys, GrainKey(LEFT_OUT, "Without")))
    return rolled_up(
        inputs, wide, by=(*by, LEFT_OUT), time="all", kept=spread, apart=(LEFT_OUT,), where=where, shown=shown
    )


def is_repeatable(grain: Grain, column: Fact | Metric) -> bool:
    """Whether the spread can be estimated by leaving intervals out: not for high-water and low-water marks."""
    read = read_by(grain, (column,))[column.name].facts if isinstance(column, Metric) else {column.name}
    return not any(fact.rollup in (Rollup.PEAK, Rollup.FLOOR) for fact in grain.facts if fact.name in read)
