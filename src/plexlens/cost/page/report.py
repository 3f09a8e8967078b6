"""A cost as a report: peaks, hours, contributors, what-ifs, consumption."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

import numpy as np

from plexlens import __version__
from plexlens.cost.costed import Costed, MachineCost
from plexlens.cost.page.columns import DEFINITIONS, figure, number
from plexlens.cost.page.export import export_section
from plexlens.cost.page.machine import machine_section
from plexlens.cost.page.products import products_section
from plexlens.cost.page.what_if import what_if_section
from plexlens.cost.rolling import PERIOD, Series
from plexlens.report.model import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Figure,
    KeyFigures,
    Level,
    Note,
    Report,
    Section,
    Table,
    text_column,
)
from plexlens.report.model.clock import offset_text
from plexlens.report.model.display import counted


def cost_report(cost: Costed) -> Report:
    """The whole report of a cost."""
    use = cost.use
    offsets = {hour.offset for hour in use.hours}
    offset = float(next(iter(offsets))) if len(offsets) == 1 and not use.is_local else None
    sections = [_answer(cost), *(machine_section(cost, machine) for machine in cost.machines)]
    sections += [
        what_if_section(cost),
        products_section(cost),
        _consumption(cost),
        _hours(cost),
        export_section(cost),
        _rules(cost),
    ]
    return Report(
        title="Cost of software",
        systems=tuple(dict.fromkeys(partition.system for partition in use.partitions if partition.system)),
        start=use.moment(use.hours[0].start),
        end=_end(cost),
        utc_offset=offset,
        time_note=_time_note(cost, offset),
        alerts=tuple(_alerts(cost)),
        sections=tuple(sections),
        definitions=dict(DEFINITIONS),
        generator=f"Plexlens {__version__}",
        kind="Cost of software",
        subject=f"{counted(len(cost.machines), 'machine')}, {counted(len(use.hours), 'hour')} of {cost.name}",
    )


def _end(cost: Costed) -> datetime:
    return cost.use.moment(cost.use.first + cost.use.periods * PERIOD)


def _time_note(cost: Costed, offset: float | None) -> str:
    if cost.use.is_local:
        return "Times are local; how far they are from UTC is not recorded, so changes of the clock cannot be seen."
    if offset is not None:
        return f"Times are those of the systems' clock ({offset_text(offset)})." if offset else "Times are UTC."
    return "The clock of the systems changes within the data: times are UTC, and tables name the hour of the clock."


def _alerts(cost: Costed) -> list[Note]:
    notes = [Note(text, Level.WARNING) for text in cost.use.notes]
    gaps = []
    for machine in cost.machines:
        for hourly in machine.hours:
            below = int((hourly.known < 1 - 1e-6).sum())
            absent = sum(math.isnan(value) for value in hourly.average.tolist())
            if below or absent:
                gaps.append(
                    f"{machine.machine} {hourly.partition.name}: {counted(absent, 'hour')} without data; "
                    f"{counted(below, 'hour')} whose four hours have data in part only"
                )
    if gaps:
        notes.append(
            Note(
                "Some of the four hours have no data. That time counts as zero, so these averages are lower bounds; "
                "tables state the known share.",
                Level.WARNING,
                tuple(gaps),
            )
        )
    loaded = [
        f"{partition.machine} {partition.name}: IPL at {cost.use.moment(ipl):%Y-%m-%d %H:%M}"
        for partition in cost.use.partitions
        for ipl in partition.ipls
    ]
    if loaded:
        notes.append(
            Note("The average of a system starts from zero at its IPL.", Level.INFO, tuple(loaded)),
        )
    capped = [
        f"{partition.machine} {partition.name}: {partition.capped:.1%} of the samples"
        for partition in cost.use.partitions
        if partition.capped
    ]
    if capped:
        notes.append(
            Note(
                "Capping was in force during the data. Work that waited then is seen when it ran, not when it came.",
                Level.INFO,
                tuple(capped),
            )
        )
    return notes


def _answer(cost: Costed) -> Section:
    figures = []
    for machine in cost.machines:
        hour = cost.use.hours[machine.charged_peak.hour]
        at = cost.use.clock(hour)
        figures.append(
            figure(
                f"peak-{machine.machine}",
                f"Peak of {machine.machine}",
                machine.charged_peak.msu,
                "peak",
                detail=f"hour of {at:%Y-%m-%d %H:%M}; average {machine.peak.msu:.1f} MSU{_known(machine)}",
            )
        )
    blocks: list[Block] = []
    if cost.base.amount is not None and cost.prices is not None:
        figures.append(
            figure("price", f"Price per month, {cost.prices.currency}", cost.base.amount, "amount",
                   detail="the peak of this data taken for the month's")
        )  # fmt: skip
    consumption = cost.consumption
    figures.append(
        figure("consumed", "Consumed", consumption.msu_hours, "msu_hours", detail=f"in {consumption.hours:.1f} hours")
    )
    blocks.append(KeyFigures("cost", tuple(_kept(figures))))
    return Section(
        "answer", "Peaks", tuple(blocks),
        "The highest hour of the four-hour average, by machine: what sub-capacity pricing charges for.",
    )  # fmt: skip


def _known(machine: MachineCost) -> str:
    """Share of the four hours of a peak that has data, where it is below 1, in words."""
    shares = [float(hourly.known[machine.charged_peak.hour]) for hourly in machine.hours]
    least = min((share for share in shares if not math.isnan(share)), default=1.0)
    return "" if least > 1 - 1e-6 else f"; only {least:.0%} of its four hours has data"


def _kept(figures: list[Figure]) -> list[Figure]:
    """The figures of the page's head; a page of many machines shows those with the highest peaks."""
    if len(figures) <= 12:
        return figures
    last = [figure for figure in figures if not figure.name.startswith("peak-")]
    first = sorted((figure for figure in figures if figure.name.startswith("peak-")), key=_size)[: 12 - len(last)]
    return [*first, *last]


def _size(figure: Figure) -> float:
    return -figure.value if isinstance(figure.value, float) else 0.0


def _consumption(cost: Costed) -> Section:
    result = cost.consumption
    figures = [
        figure(
            "consumed-year", "Consumed per year", result.a_year, "msu_hours_year", detail="the data taken for the year"
        ),
    ]
    blocks: list[Block] = []
    if result.cost is not None and cost.prices is not None and result.baseline is not None:
        figures.append(
            figure(
                "annual", f"Price per year by consumption, {cost.prices.currency}", result.cost, "annual",
                detail=f"baseline {result.baseline:,.0f} MSU-h, growth {result.growth or 0:,.0f} MSU-h",
            )
        )  # fmt: skip
    blocks.append(KeyFigures("consumption", tuple(figures)))
    if result.missing > 1e-6:
        blocks.append(
            Note(
                f"{result.missing:.1f} hours of single partitions have no data while others have; they count as zero.",
                Level.WARNING,
            )
        )
    columns = (
        text_column("kind", "Kind", key=True),
        text_column("name", "Name", key=True),
        number("transactions", "Transactions per year", "transactions_year"),
        number("cpu", "CPU per transaction", "cpu"),
        number("msu_hours", "Consumed per year", "msu_hours_year", bar=True),
        number("percent", "1 % less saves", "percent"),
        number("price", "Worth per year", "percent_price"),
        number("million", "Price of a million", "million"),
    )
    rows = tuple(
        (
            worth.kind,
            worth.name,
            worth.transactions,
            worth.cpu,
            worth.msu_hours,
            worth.percent,
            worth.price,
            worth.million,
        )
        for worth in result.worth[:1000]
    )
    if rows:
        blocks.append(
            Table("cost_worth", "The worth of CPU per transaction", columns, rows, top=20, sorted_by=None,
                  total_rows=len(result.worth))
        )  # fmt: skip
    lead = "Under consumption pricing (Tailored Fit) every MSU-hour counts, whenever it is used."
    return Section("consumption", "Consumption", tuple(blocks), lead)


def _hours(cost: Costed) -> Section:
    columns = (
        text_column("machine", "Machine", key=True),
        text_column("partition", "Partition", key=True),
        text_column("clock", "Hour of the clock", key=True),
        Column("start", "Start", ColumnKind.TIME),
        number("average", "Four-hour average", "average"),
        number("known", "Known", "known"),
        number("upper", "If gaps were like the rest", "upper"),
        number("recorded", "As recorded", "recorded"),
        number("defined", "Defined capacity", "defined"),
        number("group_limit", "Limit of the group", "group_limit"),
        number("charged", "Counts", "charged"),
    )
    rows = [row for machine in cost.machines for row in _rows_of_hours(cost, machine)]
    table = Table("cost_hours", "Every hour", columns, tuple(rows), top=24, folded=True)
    return Section(
        "hours",
        "Hours",
        (table, _sums(cost)),
        "Every hour of partitions and of their sums; -o FILE.zip writes them as CSV.",
    )


def _sums(cost: Costed) -> Table:
    """Averages of machines and capacity groups, and what counts of machines and products, by hour."""
    rows: list[tuple[Cell, ...]] = []
    for machine in cost.machines:
        names = [hourly.partition.name for hourly in machine.hours]
        averages = {hourly.partition.name: hourly.average for hourly in machine.hours}
        rows += _sum(cost, ("machine", machine.machine, machine.machine), averages, machine.charged)
        for group in machine.groups:
            members = [hourly.partition.name for hourly in machine.hours if hourly.partition.group == group]
            of_group, charged = ({name: source[name] for name in members} for source in (averages, machine.charged))
            rows += _sum(cost, ("capacity group", group, machine.machine), of_group, charged)
        for product in cost.running:
            hours = {name: product.hours[machine.machine, name] for name in names
                     if (machine.machine, name) in product.hours}  # fmt: skip
            counted_series = {name: np.where(ran, machine.charged[name], np.nan) for name, ran in hours.items()}
            average = {name: np.where(ran, averages[name], np.nan) for name, ran in hours.items()}
            if hours:
                rows += _sum(cost, ("product", product.title, machine.machine), average, counted_series)
    columns = (
        text_column("kind", "Kind", key=True),
        text_column("name", "Name", key=True),
        text_column("machine", "Machine", key=True),
        text_column("clock", "Hour of the clock", key=True),
        Column("start", "Start", ColumnKind.TIME),
        number("average", "Four-hour average", "average"),
        number("charged", "Counts", "charged"),
    )
    return Table("cost_sums", "Every hour of machines, groups and products", columns, tuple(rows), top=24, folded=True)


def _sum(
    cost: Costed, names: tuple[str, str, str], averages: Mapping[str, Series], charged: Mapping[str, Series]
) -> list[tuple[Cell, ...]]:
    """Rows of the sum over partitions; an hour without data of any has no value."""
    sums = []
    for parts in (averages, charged):
        values = np.array(list(parts.values()))
        sums.append(np.where(np.isnan(values).all(axis=0), np.nan, np.nansum(values, axis=0)))
    return [
        (*names, _clock(cost, place), cost.use.moment(hour.start), _cell(sums[0][place]), _cell(sums[1][place]))
        for place, hour in enumerate(cost.use.hours)
    ]


def _rows_of_hours(cost: Costed, machine: MachineCost) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for hourly in machine.hours:
        charged = machine.charged[hourly.partition.name]
        for place, hour in enumerate(cost.use.hours):
            average, known = (_cell(values[place]) for values in (hourly.average, hourly.known))
            rows.append(
                (
                    machine.machine,
                    hourly.partition.name,
                    _clock(cost, place),
                    cost.use.moment(hour.start),
                    average,
                    known,
                    average / known if average is not None and known else None,
                    _cell(hourly.recorded[place]),
                    _cell(hourly.defined[place]),
                    _cell(hourly.group_limit[place]),
                    _cell(charged[place]),
                )
            )
    return rows


def _clock(cost: Costed, place: int) -> str:
    hour = cost.use.hours[place]
    moment = cost.use.clock(hour)
    return f"{moment:%Y-%m-%d %H}" + ("" if cost.use.is_local else f" {offset_text(float(hour.offset))}")


def _cell(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _rules(cost: Costed) -> Section:
    rules = (
        "The MSU rate of an interval counts for each of the five-minute periods that it covers, in part where it "
        "covers a part. The four-hour average is the mean of 48 periods, and an hour has the mean over its periods.",
        "Time without data counts as zero and is stated as a known share below 100 %. At the beginning of the data "
        "that is the time before it: select four hours more than you look at.",
        "After an IPL the average starts from zero, as that of WLM does; the IPL is that of SMF 70-1 (SMF70_IPL_TIME).",
        "Hours are those of the systems' clock. When it is put back, the hour that occurs twice is two hours; when it "
        "is put forward, the hour that is left out does not exist.",
        "In the simulation of limits, demand is the use as measured. A partition is capped when its average exceeds "
        "its defined capacity, members of a group when the sum of theirs exceeds its limit. What does not run waits, "
        "and runs as soon as it may. The average can exceed the limit meanwhile; the lower of the two counts.",
        "Goals under a cap: the model of plexlens plan is asked for the load in the busiest hour of the capped time "
        "with the engines that its MSU are worth. Engines serve by importance; classes whose work does not fit are "
        "held back.",
        "SCRT reads SMF 89 as well and applies the terms of a contract; its figure is the one that is charged. LSPR "
        "data is not part of Plexlens.",
    )
    return Section("rules", "How it is worked out", tuple(Note(text) for text in rules))
