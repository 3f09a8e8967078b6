"""SQL of averages and counts over the intervals of a clock: the steps of `plexlens.metrics.rollup`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plexlens.metrics.definition import Fact
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.variants import Variant

#: Seconds by which intervals that follow each other may overlap: systems close theirs within moments of each other.
MOMENTS = 2.0


def filled_column(name: str) -> str:
    """Column for an amount, filled with the value in force if a row lacks it."""
    return f"rolled_filled_{name}"


def where_known(value: str, condition: int) -> str:
    """SQL of a value that is null in rows that do not meet a condition, so that aggregates leave them out.

    A filter of each aggregate would do the same, but DuckDB gives each filter buffers for the inputs of all aggregates.
    """
    return f"case when known_{condition} then {value} end" if condition else value


def with_fresh_shares(rows: str, by: Sequence[str], counted: Mapping[str, str], *, is_plain: bool = False) -> str:
    """SQL of intervals with the share of each that no earlier counted interval covers.

    The share is 1 where an interval has no ends, and zero where it does not count.

    Parameters
    ----------
    rows
        The intervals: a select in brackets.
    by
        What keeps intervals apart.
    counted
        SQL of the condition that an interval counts, by the column of its share.
    is_plain
        Whether no interval covers a part of another.
    """
    if is_plain:
        shares = [f"{_one_or_none(where)} as {column}" for column, where in counted.items()]
        return f"select {', '.join(['*', *shares])} from {rows}"
    before, shares = [], []
    for number, (column, where) in enumerate(counted.items()):
        until = f"rolled_until_{number}"
        latest = f"max(case when {where} then epoch(ends) end) over earlier"
        before.append(f"coalesce({latest}, epoch(starts)) as {until}")
        start = f"case when {until} - epoch(starts) <= {MOMENTS} then epoch(starts) else {until} end"
        shares.append(
            f"case when {where} then coalesce(case when ends > starts then "
            f"greatest(0, epoch(ends) - ({start})) / (epoch(ends) - epoch(starts)) end, 1) else 0 end as {column}"
        )
    # Of intervals that start and end together, and tell different lengths, the longest counts.
    earlier = (
        f"partition by {', '.join(by)} order by starts, ends, length desc "
        "rows between unbounded preceding and 1 preceding"
    )
    inner = f"select {', '.join(['*', *before])} from {rows} window earlier as ({earlier})"
    return f"select {', '.join(['*', *shares])} from ({inner})"


def _one_or_none(counted: str) -> str:
    return "1" if counted == "true" else f"case when {counted} then 1 else 0 end"


@dataclass(frozen=True)
class Clock:
    """The intervals over which rows are averaged: an observer's, or those of an object that several observers report.

    Attributes
    ----------
    name
        What its tables are called.
    column
        Column that says whose.
    is_shared
        Whether the rows of an interval report one number, which counts once.
    variants
        The columns made.
    """

    name: str
    column: str
    is_shared: bool
    variants: tuple[Variant, ...]


class ClockColumns:
    """The columns of a clock's facts: per interval, clock, epoch and group.

    Parameters
    ----------
    clock
        The clock.
    gaps
        Amounts of which the value in force stands in for one that a row lacks (`filled_column`).

    Attributes
    ----------
    cells, per_clock, per_epoch, whole
        SQL of the columns of each step.
    direct
        What `per_epoch` and `whole` come to where all is one epoch: columns of the group, from those of the clock ``e``
        and the time ``t`` that is covered together.
    counted
        Further shares of intervals that are counted once: name, and which intervals count.
    """

    def __init__(self, clock: Clock, gaps: frozenset[str]) -> None:
        self.cells: list[str] = []
        self.counted: dict[str, str] = {}
        self.per_clock: list[str] = []
        self.per_epoch: list[str] = []
        self.whole: list[str] = []
        self.direct: list[str] = []
        hows: dict[tuple[Fact, int], dict[str, str]] = {}
        for variant in clock.variants:
            hows.setdefault((variant.fact, variant.condition), {})[variant.how] = quoted(variant.column)
        for (fact, condition), named in hows.items():
            stem = f"{fact.name}__{condition}"
            if "typical" in named:
                self._typical(fact, stem, condition, named["typical"])
            elif extreme := named.get("max") or named.get("min"):
                how = "max" if "max" in named else "min"
                cell = quoted(stem)
                self.cells.append(f"{how}({where_known(quoted(fact.name), condition)}) as {cell}")
                self.per_clock.append(f"{how}({cell}) as {cell}")
                self.per_epoch.append(f"{how}({cell}) as {cell}")
                self.whole.append(f"{how}({cell}) as {extreme}")
                self.direct.append(self.whole[-1])
            else:
                how = "max" if fact.of is not None else "sum"
                measured = filled_column(fact.name) if fact.name in gaps else fact.name
                self.cells.append(f"{how}({where_known(quoted(measured), condition)}) as {quoted(stem)}")
                self._over_time(stem, condition, named, is_shared=clock.is_shared)

    def _typical(self, fact: Fact, stem: str, condition: int, column: str) -> None:
        cell, length = quoted(stem), quoted(f"{stem}_l")
        known_length = f"case when {quoted(fact.name)} is not null then length_of_row end"
        self.cells += [
            f"sum({where_known(f'{quoted(fact.name)} * length_of_row', condition)}) as {cell}",
            f"sum({where_known(known_length, condition)}) as {length}",
        ]
        for step in (self.per_clock, self.per_epoch):
            step += [f"sum({cell}) as {cell}", f"sum({length}) as {length}"]
        self.whole.append(f"sum({cell}) / nullif(sum({length}), 0) as {column}")
        self.direct.append(self.whole[-1])

    def _over_time(self, stem: str, condition: int, named: Mapping[str, str], *, is_shared: bool) -> None:
        """Counts and levels. Values that several observers report count in the first interval that knows them."""
        cell, fresh = quoted(stem), quoted(f"{stem}_f")
        is_level = "mean" in named or "level" in named
        if is_shared or is_level:
            self.counted[fresh] = f"{cell} is not null"
        if "sum" in named or "rate" in named:
            count, rate = quoted(f"{stem}_n"), quoted(f"{stem}_r")
            self.per_clock.append(f"sum({cell}{f' * {fresh}' if is_shared else ''}) as {count}")
            if "sum" in named:
                self.per_epoch.append(f"sum({count}) as {count}")
                self.whole.append(f"sum({count}) as {named['sum']}")
                self.direct.append(self.whole[-1])
            if "rate" in named:
                self.per_epoch.append(f"sum({count} / nullif(covered_{condition}, 0)) as {rate}")
                self.whole.append(f"sum({rate} * together_{condition}) as {named['rate']}")
                of_clock = f"{count} / nullif(covered_{condition}, 0)"
                self.direct.append(f"sum({of_clock}) * any_value(together_{condition}) as {named['rate']}")
        if not is_level:
            return
        in_time, plain = quoted(f"{stem}_t"), quoted(f"{stem}_a")
        self.per_clock += [f"sum({cell} * length * {fresh}) as {in_time}", f"avg({cell}) as {plain}"]
        lengths = {"mean": f"covered_{condition}"}
        if "level" in named:
            # An interval without a row has none of what is measured; one whose row lacks the value is left out.
            known, time = quoted(f"{stem}_kf"), quoted(f"{stem}_k")
            self.counted[known] = f"there is null or {cell} is not null"
            self.per_clock.append(f"sum(length * {known}) as {time}")
            lengths["level"] = time
        for how in lengths.keys() & named.keys():
            value, weight = quoted(f"{stem}_{how}"), f"together_{condition}"
            mean = f"coalesce({in_time} / nullif({lengths[how]}, 0), {plain})"
            self.per_epoch.append(f"sum({mean}) as {value}")
            self.direct.append(f"sum({mean}) as {named[how]}")
            over_epochs = f"sum({value} * {weight}) / nullif(sum(case when {value} is not null then {weight} end), 0)"
            self.whole.append(f"case when count({value}) > 1 then {over_epochs} else max({value}) end as {named[how]}")
