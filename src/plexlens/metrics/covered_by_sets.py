"""SQL of the time that the observers of each group cover together, where every interval counts.

Many groups have the same observers: hundreds of transactions run in the same regions. The time of each set of
observers is computed once, and intervals that begin and end together are one.

Most intervals are alike: all observers that have one have it from the same beginning to the same end, and no other
overlaps it. A set of observers covers it if any of them has it. If all observers have it, every set covers it; if some
do, as where regions are idle at night, sets and intervals are compared as bits of whole numbers, one per observer.
"""

from __future__ import annotations

from collections.abc import Sequence

from plexlens.metrics.over_time import MOMENTS, with_fresh_shares

_SET, _MEMBERS = "rolled_set", "rolled_members"

#: Observers per whole number: powers of two up to this are exact in floating point and in 64 bits.
_BITS = 50


def covered_by_sets(
    group: Sequence[str], time: Sequence[str], observer: str, *, alike_first: bool = False
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
    alike_first
        Whether intervals that are alike are added up first, which is worth it for many observers: only the others are
        added up observer by observer for each set.
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
    source = "not_alike" if alike_first else "every"
    intervals = (
        f"(select {listed}, max(length) as length from (select *, {alone} from {source}) i "
        f"join ({unnested}) o on {_same('o', 'i', [observer, *time])} group by {listed}, rolled_alone)"
    )
    shares = with_fresh_shares(intervals, [_SET, *time, "local_time"], {"fresh_0": "true"})
    covered = f"select {of_set}, sum(length * fresh_0) as together_0 from ({shares}) group by {of_set}"
    steps, of_time = {"observer_sets": sets}, f" group by {', '.join(time)}" if time else ""
    columns = ", ".join([*(f"s.{name}" for name in group), "t.together_0"])
    together = f"select {columns} from observer_sets s join ({covered}) t on {_same('s', 't', [_SET, *time])}"
    if alike_first:
        steps |= _alike(time, observer) | _in_part(time, observer, unnested)
        of_all = f"select {', '.join([*time, 'sum(length) as common'])} from alike where is_of_all{of_time}"
        parts = ("t.together_0", "c.common", "p.in_part")
        added = " + ".join(f"coalesce({part}, 0)" for part in parts)
        columns = ", ".join([*(f"s.{name}" for name in group), f"case when coalesce({', '.join(parts)}) is not null"])
        together = (
            f"select {columns} then {added} end as together_0 from observer_sets s "
            f"left join ({covered}) t on {_same('s', 't', [_SET, *time])} "
            f"left join ({of_all}) c on {_same('s', 'c', time)} "
            f"left join in_part p on {_same('s', 'p', [_SET, *time])}"
        )
    return {**steps, "together": together, "together_whole": "select * from together"}


def _alike(time: Sequence[str], observer: str) -> dict[str, str]:
    """Steps: ``alike``, the intervals that observers have alike and no other overlaps; ``not_alike``, the others.

    Where clocks differ, none is alike.
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
    alike = (
        f"select {', '.join([*(f's.{name}' for name in time), 's.interval', 's.interval_to', 's.length'])}, "
        f"s.observers = a.everybody as is_of_all "
        f"from (select *, {apart} from ({spans})) s join ({of_all}) a on {_same('s', 'a', time)} "
        "where s.is_same and s.is_apart and s.intervals = s.observers and a.clocks = 1"
    )
    same = _same("every", "alike", [*time, "interval", "interval_to"])
    return {"alike": alike, "not_alike": f"select * from every where not exists (select 1 from alike where {same})"}


def _in_part(time: Sequence[str], observer: str, sets: str) -> dict[str, str]:
    """Steps up to ``in_part``: for each set, the sum of the intervals that some observers have, one of the set among
    them.
    """
    number = f"dense_rank() over (order by {observer}) - 1"
    numbers = (
        f"select {observer}, floor(number / {_BITS}) as word, power(2, number % {_BITS})::bigint as bit "
        f"from (select {observer}, {number} as number from (select distinct {observer} from every))"
    )
    bits, its_number = "n.word, sum(n.bit)::bigint as bits", _same("n", "o", [observer])
    interval = [*time, "interval", "interval_to"]
    listed = ", ".join(f"o.{name}" for name in interval)
    intervals = (
        f"select {listed}, max(a.length) as length, {bits} from every o join alike a on {_same('a', 'o', interval)} "
        f"join observer_numbers n on {its_number} where not a.is_of_all group by {listed}, n.word"
    )
    listed = ", ".join(f"o.{name}" for name in (_SET, *time))
    of_sets = (
        f"select {listed}, {bits} from ({sets}) o join observer_numbers n on {its_number} group by {listed}, n.word"
    )
    listed = ", ".join([f"s.{_SET}", *(f"i.{name}" for name in interval)])
    covered = (
        f"select {listed}, max(i.length) as length from set_bits s join interval_bits i "
        f"on {_same('s', 'i', ['word', *time])} where (s.bits & i.bits) <> 0 group by {listed}"
    )
    of_set = ", ".join([_SET, *time])
    return {
        "observer_numbers": numbers,
        "interval_bits": intervals,
        "set_bits": of_sets,
        "in_part": f"select {of_set}, sum(length) as in_part from ({covered}) group by {of_set}",
    }


def _same(left: str, right: str, columns: Sequence[str]) -> str:
    return " and ".join(f"{left}.{name} is not distinct from {right}.{name}" for name in columns) or "true"
