"""Intervals that all of their observers have alike, and all others.

In a roll-up by interval each row is of one interval. CICS regions have nearly all quarters of an hour whole, from the
first moment to the last: one step rolls these up (`plexlens.metrics.rollup_direct`). The few in which a region begins
or ends are cut and weighted (`plexlens.metrics.slices`, `plexlens.metrics.rollup`).
"""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.metrics.definition import Grain
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.rollup_direct import has_lengths

#: Where more of the intervals, or a greater share of them, are uneven, all are rolled up together.
MOST_UNEVEN, MOST_UNEVEN_SHARE = 200, 0.25


@dataclass(frozen=True)
class Parts:
    """The two parts of a table of facts, as selects in brackets or views.

    Attributes
    ----------
    even_base, even_rows
        The even intervals: facts that tell the covered time, and facts that count.
    uneven
        The same of all other facts; None where there are none.
    is_even
        SQL condition for rows of even intervals; empty where all are.
    """

    even_base: str
    even_rows: str
    uneven: tuple[str, str] | None
    is_even: str = ""

    def of_even(self, rows: str) -> str:
        """The rows of even intervals."""
        return _where(rows, self.is_even) if self.is_even else rows


def parted(inputs: Inputs, grain: Grain, base: str, rows: str, summed: str = "") -> Parts | None:
    """The facts of even intervals and all others; None where too few are even.

    An interval is even if all of its observers have it from the same beginning to the same end, and no other interval
    overlaps it. What is made of it does not depend on any other interval.

    Parameters
    ----------
    inputs
        The raw tables.
    grain
        The grain of the facts.
    base, rows
        Views of facts with ``interval_to``: those that tell the covered time, and those that count. No interval of an
        observer overlaps another of the same observer (`plexlens.metrics.rollup_direct.clean_intervals`).
    summed
        View of the facts that count, added up over keys; empty where there are none.
    """
    if not has_lengths(grain):
        return None
    key = ("uneven intervals", base, grain.observers)
    if key not in inputs.kept:
        inputs.kept[key] = _uneven(inputs, grain, base)
    uneven: tuple[int, ...] | None = inputs.kept[key]
    if uneven is None:
        return None
    # Rows that tell the time have every interval of the others: far fewer say that none is without a time.
    without_time = all(_has_rows_without_time(inputs, view) for view in dict.fromkeys((base, summed or rows)))
    listed = ", ".join(f"make_timestamptz({moment})" for moment in uneven)
    conditions = [f"interval in ({listed})"] if uneven else []
    if without_time:
        conditions.append("interval is null")
    if not conditions:
        return Parts(base, rows, None)
    is_uneven = " or ".join(conditions)
    is_even = f"interval not in ({listed})" if uneven else "interval is not null"
    parts = [_where(source, text) for text in (is_even, is_uneven) for source in (base, rows)]
    return Parts(parts[0], parts[1], (parts[2], parts[3]), is_even)


def _has_rows_without_time(inputs: Inputs, view: str) -> bool:
    key = ("rows without time", view)
    if key not in inputs.kept:
        row = inputs.connection.execute(f"select 1 from {view} where interval is null limit 1").fetchone()
        inputs.kept[key] = row is not None
    return bool(inputs.kept[key])


def _uneven(inputs: Inputs, grain: Grain, base: str) -> tuple[int, ...] | None:
    """The names of uneven intervals in microseconds since 1970; None where these are too many."""
    names = inputs.connection.execute(f"{_statement(grain, base)} limit {MOST_UNEVEN + 1}").fetchall()
    row = inputs.connection.execute(f"select count(distinct interval) from {base}").fetchone()
    if len(names) > min(MOST_UNEVEN, MOST_UNEVEN_SHARE * (row[0] if row else 0)):
        return None
    return tuple(sorted(moment for (moment,) in names))


def _statement(grain: Grain, base: str) -> str:
    """The select of the names of uneven intervals."""
    observers = ", ".join(map(quoted, grain.observers))
    own = (
        f"select {observers}, local_time, interval, interval_to, interval_start as starts, interval_end as ends, "
        f"interval_seconds as length from {base} where interval is not null group by all"
    )
    alike = " and ".join(
        f"count(*) = count({name}) and min({name}) = max({name})" for name in ("starts", "ends", "length")
    )
    spans = (
        f"select interval, interval_to, interval_to is not null and {alike} and count(distinct local_time) = 1 "
        f"as is_same from ({own}) group by interval, interval_to"
    )
    order = "order by interval, interval_to nulls last rows between unbounded preceding and"
    before = f"max(interval_to) over ({order} 1 preceding)"
    # Stretches of time in which intervals overlap: an interval that no other one overlaps is alone in its stretch.
    apart = f"select *, coalesce(interval >= {before}, true) as is_apart from ({spans})"
    stretches = f"select *, sum(is_apart::int) over ({order} current row) as stretch from ({apart})"
    counted = f"select interval, is_same and count(*) over (partition by stretch) = 1 as is_even from ({stretches})"
    return f"select distinct epoch_us(interval) from ({counted}) where not is_even"


def _where(rows: str, condition: str) -> str:
    """A select in brackets: the engine compiles a view when it is made, and again whenever it is read."""
    return f"(select * from {rows} where {condition})"
