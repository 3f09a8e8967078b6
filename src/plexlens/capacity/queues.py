"""The lines of a system and the waits of each class, from measurements."""

from __future__ import annotations

from collections.abc import Mapping, Set

from plexlens.capacity.accounts import Account, RegionUse, Waited, accounts, regions
from plexlens.capacity.attribution import base
from plexlens.capacity.limited import MOST_LIMIT
from plexlens.capacity.lines import (
    Holds,
    Law,
    Line,
    Wait,
    gate_length,
    queue_factor,
    servers_for,
)
from plexlens.capacity.measured import Facts, Measured
from plexlens.capacity.open_tcbs import add_open_tcbs
from plexlens.capacity.resources import Facility, devices, facilities, job_uses, qr_busy
from plexlens.capacity.seen import NOTHING, Queues, Seen, by_period, per_transaction
from plexlens.capacity.volumes import VolumeLines

#: Largest share of its time that a lock is taken to be held: above, the law has no answer that means anything.
_MOST_HELD = 0.9

#: Busy share of a QR TCB that its region's statistics are believed with.
_MOST_SEEN = 0.99

#: Share of synchronous requests from which engines limit how many requests are at a facility.
_SPINNING = 0.95


def queues_of(
    measured: Measured,
    system: str,
    facts: Mapping[str, Facts],
    seconds: float,
    *,
    own_io: Set[str] = frozenset(),
    served: Set[str] = frozenset(),
    servers: Mapping[str, Set[str]] | None = None,
) -> Queues:
    """Lines and waits of a system.

    Parameters
    ----------
    facts
        Of each class period; what is charged to address spaces is moved to the transactions that they serve.
    seconds
        Length of the measured time.
    own_io
        Class periods that are charged with I/O of their own, in which that of Db2 on their behalf is contained.
    served
        Class periods whose processor time is charged to address spaces.
    servers
        Service classes of these address spaces by the class that they serve.
    """
    ended = {
        name: fact["transactions"] or 0.0
        for name, fact in facts.items()
        if (fact["transactions"] or 0.0) > 0 and fact["elapsed_seconds"]
    }
    of = {
        kind: {name: account for (where, name), account in rows.items() if where == system}
        for kind, rows in accounts(measured.records).items()
    }
    seen = Seen(system, seconds, facts, ended, of)
    queues = Queues()
    uses = job_uses(measured.resources, system)
    VolumeLines(queues, seen, devices(measured.resources), uses, servers or {}).add(own_io)
    _regions(queues, measured, seen)
    add_open_tcbs(queues, measured, seen, served)
    _unmonitored(queues, measured, seen, served)
    _facilities(queues, measured, seen)
    _in_db2(queues, seen)
    without_queue(queues, seen)
    monitored, accounted = of.get("SMF 110-1", {}), of.get("SMF 101", {})
    for period in ended:
        name = base(period)
        if name in monitored:
            # What they wait for in Db2 is known from Db2's records alone.
            if name in accounted or not monitored[name].in_db2:
                queues.known.add(period)
        elif period not in served and name in accounted and accounted[name].with_thread > 0.5 * _elapsed(seen, name):
            queues.known.add(period)
    return queues


def _elapsed(seen: Seen, name: str) -> float:
    return sum(seen.facts[period]["elapsed_seconds"] or 0.0 for period in seen.periods(name))


def _regions(queues: Queues, measured: Measured, seen: Seen) -> None:
    """QR TCBs of CICS regions, and their threads to Db2."""
    for (system, name), use in regions(measured.records).items():
        if system != seen.system:
            continue
        content = sum(use.held.values())
        busy, service = content / seen.seconds, content / use.visits
        shares = by_period(seen, use.held)
        factor = queue_factor(1, busy, service, use.visits, use.waited)
        queues.add(
            Line("QR TCB", name, 1, busy, service, factor=factor, rate=use.visits / seen.seconds, shares=shares,
                 holds=Holds.ENGINES)
        )  # fmt: skip
        _threads(queues, seen, name, use)
    for service_class, account in seen.of.get("SMF 110-1", {}).items():
        for kind in ("QR TCB", "threads"):
            for label, waited in account.waits.items():
                if not label.startswith(f"{kind} ") or label not in queues.lines:
                    continue
                seconds, count = per_transaction(seen, service_class, waited)
                requests = count if kind == "QR TCB" else min(count, 1.0)
                for period in seen.periods(service_class):
                    queues.wait(period, Wait(kind, {label: 1.0}, requests, seconds))


def _unmonitored(queues: Queues, measured: Measured, seen: Seen, served: Set[str]) -> None:
    """Regions without transaction records: from their statistics (SMF 110-2), else only as a bound."""
    monitored = seen.of.get("SMF 110-1", {})
    periods = sorted(period for period in served if seen.ended.get(period) and base(period) not in monitored)
    ended = sum(seen.ended[period] for period in periods)
    if not ended:
        return
    accounted = seen.of.get("SMF 101", {})
    outside = {period: max(_cpu(seen, period) - _in_db2_cpu(seen, period, accounted), 0.0) for period in periods}
    whole = sum(outside.values())
    there = qr_busy(measured.resources, seen.system)
    # Of several regions nothing tells which classes run where: a class that waits long for engines must not hold the QR
    # TCBs of the others.
    holds = Holds.ENGINES if len(there) == 1 else Holds.NOTHING
    for region, busy in there.items():
        # One server: what a transaction waits there depends on its time in all visits, not on their number.
        service = busy * seen.seconds / ended
        shares = {period: outside[period] / whole if whole else seen.ended[period] / ended for period in periods}
        line = Line("QR TCB", region, 1, min(busy, _MOST_SEEN), service, rate=ended / seen.seconds, shares=shares,
                    holds=holds)  # fmt: skip
        queues.add(line)
        for period in periods:
            requests = shares[period] * ended / seen.ended[period]
            queues.wait(period, Wait("QR TCB", {line.text: 1.0}, requests, requests * (line.wait(1.0) or 0.0)))
    if there:
        return
    busy = whole / seen.seconds
    if busy > 0:
        queues.unseen |= dict.fromkeys(periods, 1.0 / min(busy, 1.0))


def _cpu(seen: Seen, period: str) -> float:
    facts = seen.facts[period]
    return (facts["cp_seconds"] or 0.0) + (facts["ziip_engine_seconds"] or 0.0)


def _in_db2_cpu(seen: Seen, period: str, accounted: Mapping[str, Account]) -> float:
    """Processor time in Db2 of a class period: the service class's time, divided by ended transactions."""
    account, count = accounted.get(base(period)), seen.count(base(period))
    return account.cpu * seen.ended[period] / count if account and count else 0.0


def _threads(queues: Queues, seen: Seen, region: str, use: RegionUse) -> None:
    """Threads of a region that transactions waited for; their number follows from the measured wait."""
    waited, tasks = use.thread_waits.seconds, use.tasks
    if waited <= 0.0 or not tasks:
        return
    accounted, monitored = seen.of.get("SMF 101", {}), seen.of.get("SMF 110-1", {})
    value = 0.0
    for name, seconds in use.in_db2.items():
        account = accounted.get(name)
        # Of a class in several regions, a region has the share of threads that it has of the time in Db2.
        everywhere = monitored[name].in_db2 if name in monitored else 0.0
        value += account.with_thread * seconds / everywhere if account and everywhere else seconds
    offered, service = value / seen.seconds, value / tasks
    servers = servers_for(offered, service, waited / tasks)
    if servers is None:
        return
    factor = queue_factor(servers, offered / servers, service, tasks, waited)
    queues.add(
        Line("threads", region, servers, offered / servers, service, factor=factor, rate=tasks / seen.seconds,
             shares=by_period(seen, use.in_db2), holds=Holds.RESPONSE)
    )  # fmt: skip


def _facilities(queues: Queues, measured: Measured, seen: Seen) -> None:
    """Coupling facilities and their subchannels; requests of others lengthen the spin of synchronous requests."""
    there = facilities(measured.resources, seen.system)
    weights: dict[str, float] = {}
    writing: dict[str, float] = {}
    asynchronous = sum(facility.asynchronous[0] for facility in there)
    synchronous = sum(facility.sync[0] for facility in there)
    for facility in there:
        service = facility.busy * facility.engines * facility.seconds / facility.requests
        line = Line(
            "coupling facility", facility.name, facility.engines, facility.busy, service, factor=_variation(facility,
            service),
            rate=facility.requests / facility.seconds, shared=True, most=_most(facility, measured),
        )  # fmt: skip
        queues.add(line)
        names = [line.text]
        requests = facility.sync[0] + facility.asynchronous[0]
        if facility.subchannels and requests:
            under_way = max(0.0, facility.sync[1] + facility.asynchronous[1] - facility.queued) / facility.seconds
            busy, mean = under_way / facility.subchannels, under_way * facility.seconds / requests
            factor = queue_factor(facility.subchannels, busy, mean, requests, facility.queued)
            queues.add(Line("subchannels", facility.name, facility.subchannels, busy, mean, factor=factor,
                          rate=requests / facility.seconds))  # fmt: skip
            names.append(f"subchannels {facility.name}")
        queues.spins.append((facility.sync[0] / facility.seconds, tuple(names)))
        for name in names:
            weights[name] = facility.asynchronous[0] / asynchronous if asynchronous else 0.0
            writing[name] = facility.sync[0] / synchronous if synchronous else 0.0
    commits(queues, seen, weights, writing)


def commits(queues: Queues, seen: Seen, weights: Mapping[str, float], writing: Mapping[str, float]) -> None:
    """Waits of Db2 threads for asynchronous requests, and for what Db2's service tasks do for them."""
    for name, account in seen.of.get("SMF 101", {}).items():
        seconds, count = per_transaction(seen, name, account.waits["coupling"])
        written, pages = per_transaction(seen, name, account.waits["commit"])
        for period in seen.periods(name):
            queues.wait(period, Wait("coupling", weights, count, seconds))
            if pages > 0.0:
                # Db2 writes the pages that a commit changed, one after the other, while the transaction waits for it.
                queues.wait(period, Wait("commit", writing, pages, written))
            else:
                queues.wait(period, Wait("service tasks of Db2", {}, 0.0, written))


def _most(facility: Facility, measured: Measured) -> int | None:
    """Requests that can be at a facility of one engine: as many as its senders have engines to spin on.

    None where requests are asynchronous, which hold no engine, where it has several engines, or where the engines of a
    sender are not measured.
    """
    if facility.engines != 1 or facility.synchronous < _SPINNING:
        return None
    most = 0.0
    for system in facility.systems:
        general = measured.engines(system, "CP")
        if general is None:
            return None
        ziips = measured.engines(system, "IIP")
        most += general.engines + (ziips.engines if ziips is not None else 0.0)
    return round(most) if 1 <= round(most) <= MOST_LIMIT else None


def _variation(facility: Facility, service: float) -> float:
    """Ratio of the wait to that of M/M/c, from the variation of synchronous service times.

    They are what the way there takes, which is constant, the wait and the service. Of one engine the variance of wait
    and service together is known for services of a gamma distribution: that is solved for the squared coefficient of
    variation v, and waits are (1 + v) / 2 of those with exponential services (Pollaczek and Khinchine).
    """
    count, seconds = facility.sync
    if facility.squares is None or count < 2 or not 0.0 < facility.busy < 0.95 or service <= 0.0:
        return 1.0
    variance = max(0.0, facility.squares / count - (seconds / count) ** 2)
    busy = facility.busy

    def of(v: float) -> float:
        wait = busy * service * (1.0 + v) / (2.0 * (1.0 - busy))
        third = busy * service**2 * (1.0 + v) * (1.0 + 2.0 * v) / (3.0 * (1.0 - busy))
        return v * service**2 + wait**2 + third

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if of(middle) < variance else (low, middle)
    return (1.0 + low) / 2.0


def _in_db2(queues: Queues, seen: Seen) -> None:
    """Waits in Db2 for the log, for locks, for locks held by other members, and for page P-locks."""
    of = seen.of.get("SMF 101", {})
    for kind in ("log", "locks", "contention", "page P-locks"):
        here = {name: per_transaction(seen, name, account.waits[kind]) for name, account in of.items()}
        waited = {name: account.waits[kind] for name, account in of.items() if here[name][0] > NOTHING}
        if not waited:
            continue
        seconds = sum(entry.seconds for entry in waited.values())
        count = sum(entry.count for entry in waited.values())
        line = _line_in_db2(kind, seen, waited, seconds, count)
        queues.add(line)
        mean = line.wait(1.0) or 0.0
        for name in waited:
            per, requests = here[name]
            for period in seen.periods(name):
                # Those who wait longer than the mean will do so later, too.
                size = requests if kind in ("log", "page P-locks") else (per / mean if mean else 0.0)
                queues.wait(period, Wait(kind, {line.text: 1.0}, size, per))


def without_queue(queues: Queues, seen: Seen) -> None:
    """Waits that records name and no queue of the model explains: they grow as waiting at the busiest resource."""
    for accounts_of in seen.of.values():
        for name, account in accounts_of.items():
            for kind, waited in account.unqueued.items():
                seconds, _ = per_transaction(seen, name, waited)
                for period in seen.periods(name):
                    if seconds > NOTHING:
                        queues.wait(period, Wait(kind, {}, 0.0, seconds))


def _line_in_db2(kind: str, seen: Seen, waited: Mapping[str, Waited], seconds: float, count: float) -> Line:
    ended = sum(seen.count(name) for name in waited)
    shares = by_period(seen, {name: entry.count for name, entry in waited.items()})
    if kind == "log":
        rate = count / seen.seconds
        length = gate_length(rate, seconds / count)
        return Line("log", seen.system, 1, rate * length, length, Law.GATE, rate=rate, shares=shares)
    if kind == "page P-locks":
        each = seconds / count if count else 0.0
        return Line(kind, seen.system, 1, 0.0, each, Law.FIXED, rate=count / seen.seconds, shares=shares)
    each = seconds / ended
    if kind == "contention":
        return Line("contention", seen.system, 1, 0.0, each, Law.LINEAR, rate=count / seen.seconds, shares=shares,
                    holds=Holds.RESPONSE)  # fmt: skip
    in_db2 = sum(seen.of["SMF 101"][name].in_db2 for name in waited) / ended
    # Who waits longer than a transaction is in Db2 stands behind others.
    long = 1.0 - in_db2 * count / seconds if seconds else 0.0
    value = min(_MOST_HELD, max(count / ended, long, 0.0))
    service = each * (1.0 - value) / value if value else each
    return Line("locks", seen.system, 1, value, service, Law.LOCKS, rate=ended / seen.seconds, shares=shares,
                holds=Holds.RESPONSE)  # fmt: skip
