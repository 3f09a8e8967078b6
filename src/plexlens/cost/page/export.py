"""Tables for other programs: partitions as in a sub-capacity report, and what a user of zPCR types in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plexlens.cost.costed import Costed, MachineCost
from plexlens.cost.page.columns import number
from plexlens.cost.rolling import OF_HOUR, Series
from plexlens.report.model import Block, Cell, Column, ColumnKind, Note, Section, Table, text_column

_ALL = "CPC"


def export_section(cost: Costed) -> Section:
    """The section; `-o FILE.zip` writes each of its tables as a CSV file."""
    blocks: list[Block] = [_peaks(cost), _consumed(cost), _settings(cost)]
    blocks += [
        Note(
            "The first two tables have the columns that programs read in sections N5 and N7 of a sub-capacity report. "
            "They are not the file that SCRT sends to IBM: that is signed by SCRT, and its figures are charged."
        ),
        Note(
            "The form of zPCR's study file is not public, so none is written. The third table has what its user types "
            "in: the machine, each partition with processors, weight and capping, and the LSPR workload where SMF 113 "
            "shows it. The operating system of a partition without records, and growth, are not recorded."
        ),
    ]
    lead = "-o FILE.zip writes these tables as CSV: cost_n5, cost_n7, cost_zpcr."
    return Section("export", "For other programs", tuple(blocks), lead)


def _whole(values: Series) -> Series:
    """Whole MSU, halves up."""
    result: Series = np.floor(values + 0.5)
    return result


def _of_machine(machine: MachineCost) -> Iterator[tuple[str, Series]]:
    """The average by hour of each partition, then of the machine."""
    for hourly in machine.hours:
        yield hourly.partition.name, hourly.average
    averages = np.array([hourly.average for hourly in machine.hours])
    total = np.where(np.isnan(averages).all(axis=0), np.nan, np.nansum(averages, axis=0))
    yield _ALL, total


def _peaks(cost: Costed) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for machine in cost.machines:
        for name, average in _of_machine(machine):
            values = _whole(average)
            places = [int(place) for place in np.argsort(-values, kind="stable") if not np.isnan(values[place])]
            levels = list(dict.fromkeys(float(values[place]) for place in places))[:2]
            cells: list[Cell] = []
            for level in levels:
                first = next(place for place in sorted(places) if values[place] == level)
                cells += [level, int((values == level).sum()), cost.use.moment(cost.use.hours[first].start)]
            rows.append((machine.machine, name, *cells, *([None] * (6 - len(cells)))))
    columns = (
        text_column("machine", "Machine", key=True),
        text_column("lpar", "LPAR", key=True),
        number("highest", "Highest", "highest"),
        number("hour_count", "Hour count", "hour_count"),
        Column("at", "Date and time", ColumnKind.TIME),
        number("second", "2nd highest", "highest"),
        number("second_hour_count", "Hour count", "hour_count"),
        Column("second_at", "Date and time", ColumnKind.TIME),
    )
    return Table("cost_n5", "Detail LPAR data (as N5)", columns, tuple(rows), top=20, folded=True)


def _consumed(cost: Costed) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for machine in cost.machines:
        total = np.zeros(cost.use.periods)
        for hourly in machine.hours:
            total += hourly.partition.samples.msu
            rows.append((machine.machine, hourly.partition.name, *_used(cost, hourly.partition.samples.msu)))
        rows.append((machine.machine, _ALL, *_used(cost, total)))
    columns = (
        text_column("machine", "Machine", key=True),
        text_column("lpar", "LPAR", key=True),
        number("consumed", "Total MSU consumed", "msu_hours"),
        number("peak", "Peak hour", "msu_hours"),
        Column("at", "Date and time", ColumnKind.TIME),
    )
    return Table("cost_n7", "Detail LPAR usage data (as N7)", columns, tuple(rows), top=20, folded=True)


def _used(cost: Costed, rates: Series) -> tuple[Cell, ...]:
    """MSU-hours in all, those of the hour with the most, and that hour."""
    by_hour = [float(rates[hour.periods.start : hour.periods.stop].sum()) / OF_HOUR for hour in cost.use.hours]
    place = int(np.argmax(by_hour))
    return float(rates.sum()) / OF_HOUR, by_hour[place], cost.use.moment(cost.use.hours[place].start)


def _settings(cost: Costed) -> Table:
    columns = (
        text_column("machine", "Machine", key=True),
        text_column("model", "Model"),
        text_column("partition", "Partition", key=True),
        text_column("kind", "Processor", key=True),
        number("physical", "In the machine", "processors"),
        number("logical", "Logical", "processors"),
        number("weight", "Weight", "weight"),
        number("capped", "Time capped", "capped"),
        number("busy", "Logical busy", "logical_busy"),
        number("l1mp", "L1MP", "l1mp"),
        number("rni", "RNI", "rni"),
        text_column("workload", "LSPR workload"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            setting.machine, setting.model or None, setting.partition, setting.kind, setting.physical, setting.logical,
            setting.weight, setting.capped, setting.busy, setting.l1mp, setting.rni, setting.workload or None,
        )
        for setting in cost.settings
    ]  # fmt: skip
    return Table("cost_zpcr", "Partitions for zPCR", columns, tuple(rows), top=20, folded=True)
