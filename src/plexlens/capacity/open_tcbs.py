"""Open TCBs of CICS regions (L8 and L9) as queues: MAXOPENTCBS limits how many tasks have one.

A task gets an open TCB at its first call to Db2 and keeps it to its end (CICS TS, "Managing open TCBs"). SMF 110-2 has
the limit and the waits at it. How long tasks keep them follows from SMF 110-1; without it from the waits, by M/M/c.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from scipy.optimize import brentq

from plexlens.capacity.accounts import RegionUse, regions
from plexlens.capacity.attribution import base
from plexlens.capacity.lines import Holds, Line, Wait, queue_factor, queue_wait, servers_for
from plexlens.capacity.measured import Measured
from plexlens.capacity.resources import TcbPool, open_tcb_pools
from plexlens.capacity.seen import Queues, Seen, by_period, per_transaction

#: Busy share of limited TCBs that is believed.
_MOST = 0.99

#: A limit of this number of times the TCBs in use, at which nobody waits, is left out: others saturate long before.
_SPARE = 8.0


def add_open_tcbs(queues: Queues, measured: Measured, seen: Seen, served: Set[str]) -> None:
    """Add the lines of limited open TCBs, and the waits of each class there.

    Parameters
    ----------
    served
        Class periods whose processor time is charged to address spaces.
    """
    pools = {pool.region: pool for pool in open_tcb_pools(measured.resources, seen.system)}
    monitored = {name: use for (system, name), use in regions(measured.records).items() if system == seen.system}
    for region, use in monitored.items():
        line = of_region(region, use, pools.get(region), seen)
        if line is not None:
            queues.add(line)
            _waits(queues, seen, line)
    for region, pool in pools.items():
        if region not in monitored and pool.waits:
            of_waits_alone(queues, pool, seen, served)


def of_region(region: str, use: RegionUse, pool: TcbPool | None, seen: Seen) -> Line | None:
    """The line of a region with records of transactions; None if its limit is unknown or out of reach."""
    content, tasks, waited = sum(use.with_open_tcb.values()), use.tasks, use.open_tcb_waits.seconds
    if not tasks or content <= 0.0:
        return None
    offered, service = content / seen.seconds, content / tasks
    if pool is not None:
        if not waited and pool.limit > _SPARE * max(1.0, offered):
            return None
        servers = pool.limit
    else:
        count = servers_for(offered, service, waited / tasks)
        if count is None:
            return None
        servers = count
    busy = min(_MOST, offered / servers)
    factor = queue_factor(servers, busy, service, tasks, waited)
    return Line(
        "open TCBs", region, servers, busy, service, factor=factor, rate=tasks / seen.seconds,
        shares=by_period(seen, use.with_open_tcb), holds=Holds.RESPONSE,
    )  # fmt: skip


def _waits(queues: Queues, seen: Seen, line: Line) -> None:
    for name, account in seen.of.get("SMF 110-1", {}).items():
        waited = account.waits.get(line.text)
        if waited is None or not waited.count:
            continue
        seconds, count = per_transaction(seen, name, waited)
        for period in seen.periods(name):
            queues.wait(period, Wait("open TCBs", {line.text: 1.0}, min(count, 1.0), seconds))


def of_waits_alone(queues: Queues, pool: TcbPool, seen: Seen, served: Set[str]) -> None:
    """A pool of a region without records of transactions: its load is that at which M/M/c waits as long as measured."""
    monitored: Mapping[str, object] = seen.of.get("SMF 110-1", {})
    periods = sorted(period for period in served if seen.ended.get(period) and base(period) not in monitored)
    ended = sum(seen.ended[period] for period in periods)
    if not ended or not pool.allocated or not pool.seconds:
        return
    rate, mean = pool.allocated / pool.seconds, pool.waited / pool.allocated

    def over(busy: float) -> float:
        return queue_wait(pool.limit, busy, busy * pool.limit / rate) - mean

    busy = float(brentq(over, 1e-6, _MOST)) if over(1e-6) < 0.0 < over(_MOST) else _MOST
    shares = {period: seen.ended[period] / ended for period in periods}
    line = Line("open TCBs", pool.region, pool.limit, busy, busy * pool.limit / rate, rate=rate, shares=shares)
    queues.add(line)
    each = pool.allocated / pool.seconds * seen.seconds / ended
    for period in periods:
        queues.wait(period, Wait("open TCBs", {line.text: 1.0}, each, each * mean))
