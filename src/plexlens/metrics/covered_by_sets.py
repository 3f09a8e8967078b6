"""SQL of the time that the observers of each group cover together, where every interval counts.

Many groups have the same observers: hundreds of transactions run in the same regions. The time of each set of
observers is computed once, and intervals that begin and end together are one.
"""

from __future__ import annotations

from collections.abc import Sequence

from plexlens.metrics.over_time import MOMENTS, with_fresh_shares

_SET, _MEMBERS = "rolled_set", "rolled_members"


def covered_by_sets(
    group: Sequence[str], time: Sequence[str], observer: str, *, in_common: bool = False
) -> dict[str, str]:
    """Steps of a roll-up: ``together`` and ``together_whole`` have the column ``together_0``, in seconds, by group.

    They read the steps ``measured`` (the rows that count) and ``every`` (the intervals of each observer).

    Parameters
    ----------
    group
        Columns of a group, as SQL.
    time
        Those of them that tell the time of a group.
    observer
        The column that names an observer.
    in_common
        Whether the intervals that all observers have in common are added up first, which is worth it for many
        observers: all sets have their time, and only the others are added up for each set.
    """
    by = f" group by {', '.join(group)}" if group else ""
    members = ", ".join([*group, f"list({observer} order by {observer}) as {_MEMBERS}"])
    own = ", ".join(dict.fromkeys([*group, observer]))
    sets = (
        f"select *, dense_rank() over (order by {_MEMBERS}) as {_SET} "
        f"from (select {members} from (select distinct {own} from measured){by})"
    )
    of_set = ", ".join([_SET, *time])
    unnested = f"select {of_set}, unnest(any_value({_MEMBERS})) as {observer} from observer_sets group by {of_set}"
    # The longest of intervals that begin and end together counts (`with_fresh_shares`), but short ones count each.
    interval = f"({observer}, interval, interval_to)"
    alone = f"case when epoch(ends) - epoch(starts) > {MOMENTS} then null else {interval} end as rolled_alone"
    listed = ", ".join([*(f"o.{name}" for name in (_SET, *time)), "local_time", "starts", "ends"])
    source = "not_common" if in_common else "every"
    intervals = (
        f"(select {listed}, max(length) as length from (select *, {alone} from {source}) i "
        f"join ({unnested}) o on {_same('o', 'i', [observer, *time])} group by {listed}, rolled_alone)"
    )
    shares = with_fresh_shares(intervals, [_SET, *time, "local_time"], {"fresh_0": "true"})
    covered = f"select {of_set}, sum(length * fresh_0) as together_0 from ({shares}) group by {of_set}"
    steps, of_time = {"observer_sets": sets}, f" group by {', '.join(time)}" if time else ""
    columns = ", ".join([*(f"s.{name}" for name in group), "t.together_0"])
    together = f"select {columns} from observer_sets s join ({covered}) t on {_same('s', 't', [_SET, *time])}"
    if in_common:
        steps |= _in_common(time, observer)
        columns = ", ".join(
            [*(f"s.{name}" for name in group), "coalesce(t.together_0 + c.common, t.together_0, c.common)"]
        )
        together = (
            f"select {columns} as together_0 from observer_sets s left join ({covered}) t on "
            f"{_same('s', 't', [_SET, *time])} left join (select {', '.join([*time, 'sum(length) as common'])} "
            f"from common{of_time}) c on {_same('s', 'c', time)}"
        )
    return {**steps, "together": together, "together_whole": "select * from together"}


def _in_common(time: Sequence[str], observer: str) -> dict[str, str]:
    """Steps: ``common``, the intervals that all observers have alike and no other overlaps; ``not_common``, the others.

    Where clocks differ, none is common.
    """
    by = ", ".join([*time, "interval", "interval_to"])
    alike = " and ".join(f"min({name}) = max({name})" for name in ("starts", "ends", "length"))
    is_long = f"epoch(min(ends)) - epoch(min(starts)) > {MOMENTS}"
    spans = (
        f"select {by}, min(starts) as first_start, max(ends) as last_end, min(length) as length, "
        f"count(*) as intervals, count(length) = count(*) and {alike} and {is_long} as is_same, "
        f"count(distinct {observer}) as observers "
        f"from every group by {by}"
    )
    listed = ", ".join(time)
    order = f"{f'partition by {listed} ' if time else ''}order by first_start, last_end"
    until = f"epoch(max(last_end) over ({order} rows between unbounded preceding and 1 preceding))"
    after = f"epoch(lead(first_start) over ({order}))"
    apart = (
        f"coalesce({until} - epoch(first_start) <= {MOMENTS}, true) "
        f"and coalesce(epoch(last_end) - {after} <= {MOMENTS}, true) as is_apart"
    )
    everybody = ", ".join([*time, f"count(distinct {observer}) as everybody", "count(distinct local_time) as clocks"])
    of_all = f"select {everybody} from every{f' group by {listed}' if time else ''}"
    common = (
        f"select {', '.join([*(f's.{name}' for name in time), 's.interval', 's.interval_to', 's.length'])} "
        f"from (select *, {apart} from ({spans})) s join ({of_all}) a on {_same('s', 'a', time)} "
        "where s.is_same and s.is_apart and s.intervals = s.observers and s.observers = a.everybody and a.clocks = 1"
    )
    same = _same("every", "common", [*time, "interval", "interval_to"])
    return {"common": common, "not_common": f"select * from every where not exists (select 1 from common where {same})"}


def _same(left: str, right: str, columns: Sequence[str]) -> str:
    return " and ".join(f"{left}.{name} is not distinct from {right}.{name}" for name in columns) or "true"
