"""Heat maps of a grain: a column by hour and day of the local time of each system, with its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from plexlens.metrics.definition import Key
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.grain_data import GrainData
from plexlens.metrics.reduction import narrowed
from plexlens.pdb.engine import quoted
from plexlens.report.blocks.context import Context
from plexlens.report.blocks.course import Entity
from plexlens.report.blocks.page import HeatSpec
from plexlens.report.model import Block, Column, ColumnKind, Table
from plexlens.report.model.heat import HOURS, HeatMap

#: Days that are drawn at most; the latest ones.
MOST_DAYS = 62

_HOUR = "local_hour"

#: Heading over the columns of the hours.
HOUR_TITLE = "Hour of the day"


def heat_maps(context: Context, spec: HeatSpec, where_from: str) -> list[Block]:
    """Heat maps of a specification, each with its tables; none if the data covers at most a day.

    Hours are those of local time: two hours of the same name, when a clock is set back, count as one.
    """
    grain_data = context.data(spec.grain)
    if grain_data is None or not grain_data.regular or not _over_a_day(grain_data):
        return []
    by = ("sysplex", *spec.by) if len(grain_data.sysplexes) > 1 else spec.by
    hours = _hours(context, grain_data, spec, by)
    entities = sorted(hours, key=lambda entity: (-_mean(hours[entity]), [part or "" for part in entity]))
    out = len(entities) - spec.most
    note = "Hours and days are local time of each system."
    if out > 0:
        note += f" {out:,} more with lower means are not drawn."
    blocks: list[Block] = []
    for number, entity in enumerate(entities[: spec.most], 1):
        name = " / ".join(part for part in entity if part)
        named = replace(spec, name=f"{spec.name}_{number}", title=f"{spec.title}, {name}" if name else spec.title)
        blocks += _with_tables(context, grain_data, named, hours[entity], note=note, origin=where_from)
    return blocks


def _over_a_day(grain_data: GrainData) -> bool:
    return any(
        clock.start is not None and clock.end is not None and clock.end - clock.start > timedelta(days=1)
        for clock in grain_data.clocks
    )


def _hours(
    context: Context, grain_data: GrainData, spec: HeatSpec, by: Sequence[str]
) -> dict[Entity, dict[int, float]]:
    """The column of each entity by hours of local time since 1970."""
    grain = narrowed(grain_data.grain, {spec.column, *by}, (spec.where,))
    # A key of its own: intervals stay apart, so that two hours of the same local name roll up over time.
    grain = replace(grain, keys=(*grain.keys, Key(_HOUR, "Local hour")))
    hour = 'floor((epoch("interval")::bigint + coalesce(round(utc_offset / 60)::bigint * 60, 0)) / 3600)::bigint'
    kept = grain_data.kept.over(
        lambda source: f"select *, ({hour})::varchar as {quoted(_HOUR)} from {source}",
        (*grain_data.kept.columns, _HOUR),
    )
    # Each hour covers a time of its own.
    table = evaluate(
        context.inputs,
        grain,
        by=(*by, _HOUR),
        time="all",
        where=spec.where,
        kept=kept,
        apart=(_HOUR,),
        shown=(spec.column,),
    )
    assert table is not None
    known = f"{quoted(_HOUR)} is not null and {quoted(spec.column)} is not null"
    hours: dict[Entity, dict[int, float]] = {}
    for row in table.select(*by, _HOUR, spec.column).where(known).rows():
        hours.setdefault(tuple(row[name] for name in by), {})[int(row[_HOUR])] = row[spec.column]
    return hours


def _mean(hours: dict[int, float]) -> float:
    return sum(hours.values()) / len(hours)


def _with_tables(
    context: Context, grain_data: GrainData, spec: HeatSpec, hours: dict[int, float], *, note: str, origin: str
) -> list[Block]:
    grain = grain_data.grain
    numbers = sorted({hour // HOURS for hour in hours})
    kept = numbers[-MOST_DAYS:]
    days = tuple(date(1970, 1, 1) + timedelta(days=number) for number in kept)
    rows = tuple(tuple(hours.get(number * HOURS + hour) for hour in range(HOURS)) for number in kept)
    unit = grain.column(spec.column).unit
    definition = context.define(grain, spec.column)
    if len(kept) < len(numbers):
        note += f" The last {len(kept)} of {len(numbers):,} days are shown."
    tables = []
    for first, words, name in ((0, "before noon", "table"), (HOURS // 2, "from noon on", "table_from_noon")):
        chosen = range(first, first + HOURS // 2)
        columns = (
            Column("day", "Day", ColumnKind.TEXT, key=True),
            *(
                Column(f"h{hour:02d}", f"{hour:02d}", ColumnKind.NUMBER, unit, definition, group=HOUR_TITLE)
                for hour in chosen
            ),
        )
        tables.append(
            Table(
                f"{spec.name}_{name}",
                f"{spec.title}, by day and hour, {words}",
                columns,
                tuple((f"{day:%Y-%m-%d %a}", *(row[h] for h in chosen)) for day, row in zip(days, rows, strict=True)),
                note=note,
                origin=origin,
                folded=True,
            )
        )
    return [HeatMap(spec.name, spec.title, unit, days, rows, tables[0].name, definition, note, origin), *tables]
