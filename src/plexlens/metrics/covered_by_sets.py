"""SQL of the time that the observers of each group cover together, where every interval counts.

Many groups have the same observers: hundreds of transactions run in the same regions. The time of each set of
observers is computed once, and intervals that begin and end together are one.
"""

from __future__ import annotations

from collections.abc import Sequence

from plexlens.metrics.over_time import MOMENTS, with_fresh_shares

_SET, _MEMBERS = "rolled_set", "rolled_members"


def covered_by_sets(group: Sequence[str], time: Sequence[str], observer: str) -> dict[str, str]:
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
    intervals = (
        f"(select {listed}, max(length) as length from (select *, {alone} from every) i "
        f"join ({unnested}) o on {_same('o', 'i', [observer, *time])} group by {listed}, rolled_alone)"
    )
    shares = with_fresh_shares(intervals, [_SET, *time, "local_time"], {"fresh_0": "true"})
    covered = f"select {of_set}, sum(length * fresh_0) as together_0 from ({shares}) group by {of_set}"
    columns = ", ".join([*(f"s.{name}" for name in group), "t.together_0"])
    together = f"select {columns} from observer_sets s join ({covered}) t on {_same('s', 't', [_SET, *time])}"
    return {"observer_sets": sets, "together": together, "together_whole": "select * from together"}


def _same(left: str, right: str, columns: Sequence[str]) -> str:
    return " and ".join(f"{left}.{name} is not distinct from {right}.{name}" for name in columns)
