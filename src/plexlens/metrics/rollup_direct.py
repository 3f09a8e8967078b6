"""The roll-up if no interval needs weighting: a single step replaces the steps of `plexlens.metrics.rollup`.

Nothing that is asked for depends on time; or all observers have the same intervals; or each row of the result is of one
observer, whose intervals do not overlap (`clean_intervals`). Then no moment counts twice, the covered time is known
beforehand, and a count is a sum. Where each row of the result is of a single row of facts, there is nothing to sum. The
statement is a fraction of the other one, which matters: of a small table the engine spends its time on reading the
statement. The answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plexlens.metrics.definition import Fact, Grain, Rollup
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.epochs import entity
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.over_time import MOMENTS, filled_column, where_known
from plexlens.metrics.rollup import OBSERVER, Grouping, Statement, is_known
from plexlens.metrics.variants import Plan, Variant

#: The column with the time that the observer of a row covers.
_COVERED = "rolled_covered"

_MOMENTS = f"to_seconds({MOMENTS})"


@dataclass(frozen=True)
class CleanIntervals:
    """Intervals of observers without overlaps within an observer.

    Attributes
    ----------
    common
        Their length together where all observers have the same ones: seconds, or their number for a grain without
        lengths. None where observers differ.
    are_named_apart
        Whether no two intervals of an observer have the same name.
    """

    common: float | None
    are_named_apart: bool


def clean_intervals(inputs: Inputs, base: str, grain: Grain, apart: Sequence[str] = ()) -> CleanIntervals | None:
    """The intervals of a table of facts; None if some overlap, lack ends, or have contradictory ends.

    A row without a length and without one of the ends (the first record of a counter that runs since the start) covers
    nothing.
    """
    key = ("clean intervals", base, grain.observers, entity(grain), tuple(apart))
    if key not in inputs.kept:
        row = inputs.connection.execute(_clean_statement(base, grain, apart)).fetchone()
        inputs.kept[key] = CleanIntervals(row[2], bool(row[1])) if row and row[0] else None
    result: CleanIntervals | None = inputs.kept[key]
    return result


def _clean_statement(base: str, grain: Grain, apart: Sequence[str]) -> str:
    length = "interval_seconds" if has_lengths(grain) else "1.0::double"
    observers = ", ".join(quoted(name) for name in dict.fromkeys((*grain.observers, *apart)))
    # Rows with the same times are one first: there are few different times, and many rows.
    times = (
        f"select {observers}, interval, interval_to, interval_start, interval_end, {length} as length, local_time "
        f"from {base} group by all"
    )
    text = " and ".join(
        f"count(*) = count({name}) and min({name}) = max({name})"
        for name in ("interval_start", "interval_end", "length")
    )
    own = (
        f"select {observers}, interval, interval_to, min(length) as length, min(interval_start) as starts, "
        f"max(interval_end) as ends, {text} as is_told, count(length) = 0 and "
        "count(*) filter (where interval_start is not null and interval_end is not null) = 0 as is_none, "
        f"bool_or(local_time) as has_local, bool_and(local_time) as is_local from times group by all"
    )
    before = (
        f"max(ends) over (partition by {observers} order by starts, ends "
        "rows between unbounded preceding and 1 preceding)"
    )
    overlaps = f"coalesce({before} - starts > {_MOMENTS}, false)"
    cleaned = (
        f"select *, is_told and length > 0 and ends > starts and not {overlaps} as is_clean from seen where not is_none"
    )
    spans = (
        "select min(length) as length, count(*) as observers, bool_and(is_clean) as are_clean, min(length) = "
        "max(length) and min(starts) = max(starts) and min(ends) = max(ends) as is_same "
        "from cleaned group by interval, interval_to"
    )
    whole = (
        f"select (select count(*) from (select distinct {observers} from seen)) as everybody, "
        f"count(*) = (select count(*) from (select distinct {observers}, interval from seen)) as are_named_apart, "
        "bool_or(has_local) = bool_and(is_local) as is_one_clock from seen"
    )
    return (
        f"with times as ({times}), seen as ({own}), cleaned as ({cleaned}), spans as ({spans}), whole as ({whole})\n"
        "select bool_and(are_clean and is_one_clock) as is_clean, any_value(are_named_apart) as are_named_apart, "
        "case when bool_and(is_same and observers = everybody) then sum(length) end as common "
        "from spans cross join whole"
    )


def has_lengths(grain: Grain) -> bool:
    """Whether rows of a grain include the length of their interval."""
    return any(fact.rollup is Rollup.SPAN for fact in grain.facts)


def leaves_out_of_reports(plan: Plan) -> bool:
    """Whether a rate leaves out intervals of shared reports that differ between the reported objects."""
    return any(variant.condition and variant.how == "rate" and variant.fact.of for variant in plan.variants.values())


def direct_statement(
    plan: Plan, base: str, rows: str, grouping: Grouping, intervals: CleanIntervals | None = None
) -> str:
    """The SQL of a direct roll-up, with the columns of `plexlens.metrics.rollup.statement`.

    Without ``intervals``, nothing that is asked for depends on them.
    """
    return _Direct(plan, grouping, intervals).direct(base, rows)


class _Direct(Statement):
    def __init__(self, plan: Plan, grouping: Grouping, intervals: CleanIntervals | None) -> None:
        super().__init__(plan, grouping)
        self.is_row = grouping.is_row
        if self.is_row:
            # The settings in force are those of the row.
            self.states, self.gaps, self.scopes = [], [], {}
        self.is_cell = grouping.is_cell
        if self.is_cell:
            self.unkept = frozenset({"own_cells"})
        #: The columns that tell observers apart: as one text, they take longer to make than to group by.
        self.observed = [quoted(name) for name in self.observers]
        #: Conditions that leave out intervals of some observers of a group, and may leave others of them.
        self.weighed = plan.timed_conditions if grouping.several and not grouping.is_row else frozenset[int]()
        #: The time that every row of the result covers, where it is all of the time of all observers.
        self.common = intervals.common if intervals is not None and not grouping.time else None

    def direct(self, base: str, rows: str) -> str:
        """The statement."""
        variants = self.plan.variants.values()
        of_row = self._of_row if self.is_row else self._one_step
        one_step = {variant.column: of_row(variant) for variant in variants if self._is_one_step(variant)}
        parts = {"measured": self._rows(rows)}
        if self.plan.takes_time and not self.is_by_interval and self.common is None:
            parts = {"spans": self._spans(base), "measured": self._with_covered(self._rows(rows))}
        for column, name in ((OBSERVER, "own"), *((name, name) for name in self.scopes.values())):
            parts |= self._by_interval(
                [variant for variant in variants if self._clock(variant) == column], column, name
            )
        if self.weighed:
            parts = self._with_together(parts)
        for scope, name in self.scopes.items():
            parts |= self._latest(scope, name)
        texts = self._texts_of_rows if self.is_row else self._texts
        parts["texts"] = texts([f"{sql} as {quoted(column)}" for column, sql in one_step.items()])
        own = {
            variant.column: f"texts.{quoted(variant.column)}" if variant.column in one_step else self._final(variant)
            for variant in variants
        }
        return self._joined(parts, own)

    def _is_one_step(self, variant: Variant) -> bool:
        if self.is_row:
            return True
        if variant.how in ("max", "min", "typical"):
            return True
        if variant.how == "covered":
            return not variant.condition
        return variant.fact.of is None and (variant.how == "sum" or self._is_plain_rate(variant))

    def _is_plain_rate(self, variant: Variant) -> bool:
        """Whether a rate is a count over the time covered by all, whose division cancels out."""
        return variant.how == "rate" and variant.condition not in self.weighed

    def _clock(self, variant: Variant) -> str | None:
        """The column that identifies the clock of a number computed in two steps; None for other numbers."""
        if self._is_one_step(variant) or variant.how in ("latest", "common"):
            return None
        return self.scopes[variant.fact.of] if variant.fact.of else OBSERVER

    def _final(self, variant: Variant) -> str:
        if variant.how == "covered" and variant.condition in self.weighed:
            return f"together_whole.together_{variant.condition}"
        return f"own_whole.{quoted(variant.column)}" if variant.how == "covered" else super()._final(variant)

    def _counts(self, condition: int) -> str:
        return is_known(self.plan.conditions[condition].needed) if self.is_row else super()._counts(condition)

    def _is_known(self, fact: Fact) -> str:
        return f"{quoted(fact.name)} is not null" if self.is_row else super()._is_known(fact)

    def _covered(self, length: str) -> str:
        """The time covered by a row of the result; ``length`` is its interval's length if it is for a single
        interval.
        """
        if self.is_by_interval:
            return f"max({length})"
        return f"max({_COVERED})" if self.common is None else f"{self.common!r}::double"

    def _spans(self, base: str) -> str:
        """The time covered by each observer."""
        bucket = f', {self.bucket} as "time"' if self.bucket else ""
        rows = (
            f"select distinct {', '.join(self.observed)}{bucket}, interval, interval_to, "
            f"{self._length()} as length from {base}"
        )
        by = ", ".join([*self.observed, *self.time])
        return f"select {by}, sum(length) as {_COVERED} from ({rows}) group by {by}"

    def _with_covered(self, rows: str) -> str:
        same = self._same("r", "s", [*self.observed, *self.time])
        return f"select r.*, s.{_COVERED} from ({rows}) r join spans s on {same}"

    def _observer(self) -> list[str]:
        return []

    def _one_step(self, variant: Variant) -> str:
        value, condition, length = quoted(variant.fact.name), variant.condition, self._length()
        if variant.how in ("max", "min"):
            return f"{variant.how}({where_known(value, condition)})"
        if variant.how == "covered":
            return self._covered(length)
        if variant.how == "typical":
            known = where_known(f"case when {value} is not null then {length} end", condition)
            return f"sum({where_known(f'{value} * {length}', condition)}) / nullif(sum({known}), 0)"
        return f"sum({where_known(value, condition)})"

    def _of_row(self, variant: Variant) -> str:
        """A column where there is nothing to roll up: a row's value, or its length, if its inputs are known."""
        known = f"known_{variant.condition}" if variant.condition else "true"
        if variant.how == "covered":
            return f"case when {known} then {self._length()} else 0 * {self._length()} end"
        return where_known(quoted(variant.fact.name), variant.condition)

    def _texts_of_rows(self, more: Iterable[str]) -> str:
        """A row of the result for each row of facts."""
        interval = ["(interval is not null)::bigint as intervals", "interval as first_interval"]
        described = [quoted(name) for name in self.described]
        columns = [*self.group, *interval, "interval as last_interval", *described, *more]
        return f"select {', '.join(columns)} from measured"

    def _by_interval(self, variants: Sequence[Variant], column: str, name: str) -> dict[str, str]:
        """Numbers that leave out intervals, and numbers that several rows report."""
        if not variants:
            return {}
        by = list(dict.fromkeys([*self.group, *(self.observed if column == OBSERVER else [column])]))
        # Of a table of cells, one for each group, observer and interval.
        total, any_of, most = ("", "", "") if self._is_cell(column) else ("sum", "bool_or", "max")
        cells, clocks, whole = [f"{most}({self._length()}) as rolled_length"], [], []
        if self.common is None and not self.is_by_interval:
            cells.append(f"{most}({_COVERED}) as {_COVERED}")
        if self.weighed and column == OBSERVER:
            cells += [f"{any_of}(known_{i}) as known_{i}" for i in sorted(self.weighed)]
            clocks.append(f"{self._covered('rolled_length')} as rolled_time")
        for variant in variants:
            i, cell = variant.condition, quoted(variant.column)
            if i in self.weighed and variant.how == "covered":
                # The time of all observers together, which `_with_together` tells.
                continue
            shared = variant.fact.of is not None
            cells.append(f"{self._cell(variant, most if shared else total)} as {cell}")
            in_time, covered = f"sum({cell} * rolled_length)", self._covered("rolled_length")
            is_scaled = i in self.weighed and variant.how == "rate"
            if is_scaled or (i and variant.how in ("mean", "covered")):
                # Nothing is known against an interval without a row.
                cells.append(f"{any_of}(known_{i}) as known_{i}")
                covered = f"({covered} - coalesce(sum(case when not known_{i} then rolled_length end), 0))"
            unknown = f"coalesce(sum(case when {cell} is null then rolled_length end), 0)"
            clock = {
                "covered": covered,
                "mean": f"coalesce({in_time} / nullif({covered}, 0), avg({cell}))",
                "level": f"coalesce({in_time} / nullif({covered} - {unknown}, 0), avg({cell}))",
                "rate": f"sum({cell}) / nullif({covered}, 0)" if is_scaled else f"sum({cell})",
            }.get(variant.how, f"sum({cell})")
            clocks.append(f"{clock} as {cell}")
            whole.append(f"sum({cell}){f' * any_value(together_{i})' if is_scaled else ''} as {cell}")
        interval = [*by, "interval", "interval_to"]
        cells_of = ", ".join(dict.fromkeys([*interval, *cells]))
        by_cell = "" if self._is_cell(column) else f" group by {', '.join(interval)}"
        of_group = f"{name}_clocks e"
        if self.weighed and column == OBSERVER:
            of_group += f" join together_whole t on {self._same('e', 't', self.group)}"
        return {
            f"{name}_cells": f"select {cells_of} from measured{by_cell}",
            f"{name}_clocks": f"select {', '.join([*by, *clocks])} from {name}_cells group by {', '.join(by)}",
            f"{name}_whole": self._grouped(of_group, whole or ["count(*) as clocks"], of="e"),
        }

    def _is_cell(self, column: str) -> bool:
        return self.is_cell and column == OBSERVER

    def _cell(self, variant: Variant, how: str) -> str:
        """The value of a cell: rows that count, combined; or the only row, where there is nothing to combine."""
        fact = variant.fact
        value = quoted(filled_column(fact.name) if fact.name in self.plan.gaps else fact.name)
        known = where_known(value, variant.condition)
        return f"{how}({known})" if how else known

    def _with_together(self, parts: dict[str, str]) -> dict[str, str]:
        """The steps with the time that the observers of a group cover together, who all have the same intervals.

        An interval lacks a condition if all observers of the group have rows in it, none of which meets it.
        """
        interval = [*self.group, "interval", "interval_to"]
        counts = [f"count(*) filter (where not known_{i}) as lacking_{i}" for i in sorted(self.weighed)]
        listed = ", ".join([*interval, "max(rolled_length) as length", *counts])
        some = " and ".join(f"known_{i}" for i in sorted(self.weighed))
        lacking = f"select {listed} from own_cells where not ({some}) group by {', '.join(interval)}"
        clocks = self._grouped("own_clocks", ["count(*) as clocks", "max(rolled_time) as rolled_time"])
        covered = [
            f"max(k.rolled_time) - coalesce(sum(l.length) filter (where l.lacking_{i} = k.clocks), 0) as together_{i}"
            for i in sorted(self.weighed)
        ]
        groups = [f"k.{name}" for name in self.group]
        by = f" group by {', '.join(groups)}" if groups else ""
        together = (
            f"select {', '.join([*groups, *covered])} from ({clocks}) k "
            f"left join ({lacking}) l on {self._same('k', 'l', self.group)}{by}"
        )
        texts = dict(parts)
        whole = texts.pop("own_whole")
        return {**texts, "together_whole": together, "own_whole": whole}
