"""A machine on the page of `plexlens cost`: its hours, its peak, and who used it."""

from __future__ import annotations

import math

import numpy as np

from plexlens.cost.contributors import VIEWS
from plexlens.cost.costed import Costed, MachineCost
from plexlens.cost.page.columns import DEFINITIONS, number
from plexlens.cost.peaks import group_shares
from plexlens.cost.rolling import PERIOD
from plexlens.report.model import Block, Cell, Missing, Section, Table, Way, text_column
from plexlens.report.model.chart import Chart, ChartKind, Reference, Series

#: Partitions drawn one by one: the data colours.
_DRAWN = 8

#: Contributors in a table.
_LISTED = 200


def machine_section(cost: Costed, machine: MachineCost) -> Section:
    """The section of a machine."""
    hour = cost.use.hours[machine.peak.hour]
    at = cost.use.clock(hour)
    blocks: list[Block] = []
    if len(cost.use.hours) > 1:
        blocks.append(_chart(cost, machine))
    blocks += [_partitions(machine), *_groups(machine)]
    blocks += [_contributors(cost, machine, view.kind) for view in VIEWS if view.kind in machine.contributors]
    absent = [view for view in VIEWS if view.kind not in machine.contributors]
    if absent:
        blocks.append(
            Missing(
                f"the peak by {', '.join(view.kind for view in absent)}",
                tuple(Way(view.records, "Give records of the hours of the peak.") for view in absent),
            )
        )
    lead = (
        f"The peak is the hour from {at:%Y-%m-%d %H:%M}: {machine.peak.msu:.1f} MSU. Contributors are those of the "
        "four hours up to its end."
    )
    return Section(f"machine-{machine.machine}", f"Machine {machine.machine}", tuple(blocks), lead, group="Machines")


def _chart(cost: Costed, machine: MachineCost) -> Chart:
    use = cost.use
    times = tuple(use.moment(hour.start) for hour in use.hours)
    ends = tuple(use.moment(hour.start + len(hour.periods) * PERIOD) for hour in use.hours)
    by_peak = sorted(machine.hours, key=lambda hourly: -float(np.nanmax(hourly.average)))
    series = [
        Series(hourly.partition.name, tuple(None if math.isnan(value) else float(value) for value in hourly.average))
        for hourly in by_peak[:_DRAWN]
    ]
    hour = use.hours[machine.peak.hour]
    at = use.clock(hour)
    references = [Reference(f"peak, {at:%d %b %H:%M}", machine.peak.msu)]
    limits = {float(hourly.defined[machine.peak.hour]) for hourly in machine.hours}
    if len(machine.hours) == 1:
        references += [Reference("defined capacity", limit) for limit in limits if not math.isnan(limit)]
    return Chart(
        f"cost_average_{machine.machine}",
        "Four-hour average by hour",
        DEFINITIONS["cost.average"].unit,
        ChartKind.STACK,
        times,
        ends,
        tuple(series),
        "cost.average",
        tuple(references),
        left_out=max(0, len(by_peak) - _DRAWN),
    )


def _at(values: np.ndarray[tuple[int], np.dtype[np.float64]], place: int) -> float | None:
    value = float(values[place])
    return None if math.isnan(value) else value


def _partitions(machine: MachineCost) -> Table:
    place = machine.peak.hour
    rows: list[tuple[Cell, ...]] = []
    for hourly in machine.hours:
        average, known = _at(hourly.average, place), _at(hourly.known, place)
        rows.append(
            (
                hourly.partition.name,
                hourly.partition.system or None,
                hourly.partition.group or None,
                average,
                known,
                average / known if average is not None and known else None,
                _at(hourly.recorded, place),
                _at(hourly.defined, place),
                _at(machine.charged[hourly.partition.name], place),
                float(np.nanmax(hourly.average)),
                hourly.partition.capped,
            )
        )
    rows.sort(key=lambda row: -(row[3] if isinstance(row[3], float) else -1.0))
    columns = (
        text_column("partition", "Partition", key=True),
        text_column("system", "System"),
        text_column("group", "Capacity group"),
        number("average", "In the peak", "average", bar=True),
        number("known", "Known", "known"),
        number("upper", "If gaps were like the rest", "upper"),
        number("recorded", "As recorded", "recorded"),
        number("defined", "Defined capacity", "defined"),
        number("charged", "Counts", "charged"),
        number("own", "Own peak", "average"),
        number("capped", "Time capped", "capped"),
    )
    return Table(f"cost_partitions_{machine.machine}", "Partitions in the peak", columns, tuple(rows), top=20)


def _groups(machine: MachineCost) -> list[Table]:
    rows: list[tuple[Cell, ...]] = []
    for group, peak in machine.groups.items():
        members = [hourly for hourly in machine.hours if hourly.partition.group == group]
        limits = [limit for hourly in members if (limit := _at(hourly.group_limit, peak.hour)) is not None]
        limit = min(limits, default=None)
        shares = (
            group_shares(limit, {hourly.partition.name: hourly.partition.weight for hourly in members}) if limit else {}
        )
        for hourly in members:
            rows.append(
                (
                    group,
                    hourly.partition.name,
                    peak.msu,
                    peak.parts[hourly.partition.name],
                    limit,
                    shares.get(hourly.partition.name),
                )
            )
    if not rows:
        return []
    columns = (
        text_column("group", "Group", key=True),
        text_column("partition", "Partition", key=True),
        number("peak", "Peak of the group", "peak"),
        number("part", "Partition in it", "average"),
        number("limit", "Limit of the group", "group_limit"),
        number("share", "Share of the partition", "group_share"),
    )
    return [Table(f"cost_groups_{machine.machine}", "Capacity groups", columns, tuple(rows), top=40)]


def _contributors(cost: Costed, machine: MachineCost, kind: str) -> Table:
    results = machine.contributors[kind]
    is_class = kind == VIEWS[0].kind
    rows: list[tuple[Cell, ...]] = []
    for contribution in results[:_LISTED]:
        rows.append(
            (
                contribution.name,
                contribution.msu,
                contribution.share,
                *([machine.tenths.get(contribution.name)] if is_class else []),
            )
        )
    rest = machine.peak.msu - machine.attributed[kind]
    more = results[_LISTED:]
    if more:
        msu = sum(contribution.msu for contribution in more)
        rows.append((f"({len(more)} more)", msu, msu / machine.peak.msu, *([None] if is_class else [])))
    without = "(not captured by any class)" if is_class else f"(not in records of a {kind})"
    if cost.is_of_classes:
        without = "(classes not selected, and not in records)"
    rows.append((without, rest, rest / machine.peak.msu if machine.peak.msu else None, *([None] if is_class else [])))
    columns = [
        text_column("name", kind.capitalize(), key=True),
        number("msu", "In the peak", "contribution", bar=True),
        number("share", "Share", "share"),
    ]
    if is_class:
        columns.append(number("tenth", "Peak falls with a tenth less", "tenth"))
    records = next(view.records for view in VIEWS if view.kind == kind)
    note = (
        ""
        if kind != "plan"
        else "The time of a thread counts in the quarter of an hour in which its record was written."
    )
    return Table(
        f"cost_{kind.replace(' ', '_')}_{machine.machine}",
        f"The peak by {kind}",
        tuple(columns),
        tuple(rows),
        top=12,
        note=note,
        origin=records,
    )
