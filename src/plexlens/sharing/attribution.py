"""Attribution: the cost of each member spread over the transaction classes that ran there.

Where accounting counts a kind itself (QTGA, QBGA), a class has the share of its own count; what no class counted stays
with the member. Where it does not, the cost is spread by a stated key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from plexlens.sharing.kinds import Part, Payer
from plexlens.sharing.measured import ClassUse, Facts, Measured
from plexlens.sharing.requests import Line, lock_counts, pool_counts

#: Facts of a class whose sum, less others, counts a kind of request or work.
_COUNTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lock": (("xes_lock_requests", "xes_change_requests"), ("plock_lock_requests", "plock_change_requests")),
    "unlock": (("xes_unlock_requests",), ("plock_unlock_requests",)),
    "lock_other": (("xes_lock_requests", "xes_change_requests", "xes_unlock_requests"), ()),
    "page_lock": (("plock_lock_requests", "plock_change_requests"), ()),
    "page_unlock": (("plock_unlock_requests",), ()),
    "page_set_lock": (("plock_lock_requests", "plock_change_requests", "plock_unlock_requests"), ()),
    "contention_real": (("suspends_irlm",), ()),
    "contention_xes": (("suspends_xes",), ()),
    "contention_false": (("suspends_false",), ()),
    "contention_any": (("suspends_irlm", "suspends_xes"), ()),
    "notify": (("notify_sent",), ()),
    "invalid_data": (("reads_invalid_data",), ()),
    "invalid_no_data": (("reads_invalid_no_data",), ()),
    "invalid_disk": (("reads_invalid_no_data",), ()),
    "absent_data": (("reads_absent_data",), ()),
    "absent_no_data": (("reads_absent_no_data",), ()),
    "write_sync": (("changed_pages_sync",), ()),
    "write_async": (("changed_pages_async",), ()),
    "write_clean": (("clean_pages_sync",), ()),
}

#: Keys to spread by, the best first: facts of a class to be added up, and what their sum is called.
_LOCK_KEY = (("lock_requests",), "lock requests (QTXALOCK)")
_GETPAGE_KEY = (("getpages",), "getpages (QBACGET)")
_UPDATE_KEY = (("buffer_updates",), "buffer updates (QBACSWS)")
_ANY_READ = ("reads_invalid_data", "reads_invalid_no_data", "reads_absent_data", "reads_absent_no_data")
_WRITE_KEYS = (
    (("changed_pages_sync",), "pages written (QBGASW)"),
    _UPDATE_KEY,
    (("commit_write_wait_seconds",), "waits for writes forced at commit (QWAXAWFC)"),
    _LOCK_KEY,
)
_KEYS: dict[Part, tuple[tuple[tuple[str, ...], str], ...]] = {
    Part.LOCKING: (_LOCK_KEY,),
    Part.PAGE_LOCKS: (_UPDATE_KEY, _LOCK_KEY),
    Part.CONTENTION: (
        (("l_lock_wait_seconds", "page_lock_wait_seconds"), "waits for global locks (QWACAWTJ, K, M, O)"),
        _LOCK_KEY,
    ),
    Part.INVALIDATION: (_GETPAGE_KEY, _LOCK_KEY),
    Part.ABSENT: (
        (("sync_reads", "async_pages_read"), "pages read (QBACRIO, QBACSIO)"),
        (("read_waits",), "waits for synchronous reads (QWACARNE)"),
        _GETPAGE_KEY,
        _LOCK_KEY,
    ),
    Part.READS: (
        (_ANY_READ, "reads of group buffer pools (QBGAXD, XR, MD, MR)"),
        (("sync_reads", "async_pages_read"), "pages read (QBACRIO, QBACSIO)"),
        _GETPAGE_KEY,
        _LOCK_KEY,
    ),
    Part.WRITES: _WRITE_KEYS,
    Part.CASTOUT: _WRITE_KEYS,
    Part.REGISTRATION: ((("async_pages_read",), "pages read by prefetch (QBACSIO)"), _GETPAGE_KEY),
    Part.POOLS: ((_ANY_READ, "reads of group buffer pools (QBGAXD, XR, MD, MR)"), _GETPAGE_KEY, _LOCK_KEY),
    Part.SIGNALLING: (),
}
_LAST = ((("class2_cpu_seconds",), "CPU time in Db2"), (("commits",), "commits"))

#: Waits that data sharing causes: fact of a class to what it is called.
WAITS: dict[str, str] = {
    "l_lock_wait_seconds": "Global L-locks",
    "page_lock_wait_seconds": "Page P-locks",
    "page_set_lock_wait_seconds": "Page set P-locks",
    "other_lock_wait_seconds": "Other P-locks",
    "notify_wait_seconds": "Notify messages",
    "async_cf_wait_seconds": "Asynchronous requests",
    "commit_write_wait_seconds": "Writes forced at commit",
}


@dataclass
class ClassCost:
    """Cost of data sharing for a transaction class on a member.

    Attributes
    ----------
    use
        The class, with its accounting data.
    group
        Data sharing group.
    requests
        Requests to coupling facilities by part.
    cpu
        CPU seconds by part, whoever pays.
    counts, seconds
        Requests or events, and their CPU seconds, by kind.
    thread_requests
        Requests to coupling facilities from the threads themselves.
    thread_seconds
        CPU seconds of it on the threads: part of their class 2 CPU time, and of their elapsed time.
    reread_seconds
        Elapsed seconds of reads from disk that invalidation made necessary.
    how
        By part: ``counted``, or the key by which it was spread.
    cics_seconds
        CPU seconds that CICS measured of the transaction on that system; None without SMF 110-1.
    """

    use: ClassUse
    group: str
    requests: dict[Part, float] = field(default_factory=dict)
    cpu: dict[Part, float] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    thread_requests: float = 0.0
    thread_seconds: float = 0.0
    reread_seconds: float = 0.0
    how: dict[Part, str] = field(default_factory=dict)
    cics_seconds: float | None = None

    @property
    def all_seconds(self) -> float | None:
        """CPU seconds of the class inside and outside Db2.

        What CICS measured of the transaction (SMF 110-1), where it is there: it holds the time in Db2 too, since
        threads run on TCBs of CICS; where it is less than that time it does not, and both are added. Of other
        work class 1 CPU time of accounting. None of CICS without SMF 110-1: what its regions do is not part of class 1.
        """
        class_1, class_2 = _fact(self.use, "class1_cpu_seconds"), _fact(self.use, "class2_cpu_seconds")
        if self.cics_seconds is None:
            return None if self.use.connection_type.startswith("CICS") else class_1
        return self.cics_seconds + (class_2 if self.cics_seconds < class_2 else 0.0)

    @property
    def name(self) -> str:
        """Display name: the transaction of CICS and IMS, else the plan with its connection."""
        use = self.use
        if use.connection_type.startswith(("CICS", "IMS")):
            return use.correlation or use.plan or use.connection
        return " ".join(part for part in (use.plan, use.connection) if part) or use.correlation

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all parts."""
        return sum(self.cpu.values())

    @property
    def waits(self) -> dict[str, float]:
        """Waits caused by data sharing, by fact; seconds."""
        return {name: float(self.use.facts.get(name) or 0.0) for name in WAITS}

    @property
    def delay_seconds(self) -> float:
        """Elapsed seconds due to data sharing: processor time on threads, waits, repeated reads from disk."""
        return self.thread_seconds + sum(self.waits.values()) + self.reread_seconds


def _fact(use: ClassUse, name: str) -> float:
    return max(float(use.facts.get(name) or 0.0), 0.0)


def _sum(facts: Facts, *names: str) -> float:
    return sum((float(facts.get(name) or 0.0) for name in names), 0.0)


def _count(use: ClassUse, kind: str) -> float:
    more, less = _COUNTS[kind]
    return max(sum(_fact(use, name) for name in more) - sum(_fact(use, name) for name in less), 0.0)


def _counted_by_member(measured: Measured) -> dict[tuple[str, str], dict[str, float]]:
    """Counts of Db2's statistics by (system, member) and kind, summed over group buffer pools."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    for member in measured.members:
        counts = lock_counts(member)
        # A thread's P-locks are of pages and page sets alike.
        taken = _sum(member.locking, "plock_lock_requests", "plock_change_requests")
        given = _sum(member.locking, "plock_unlock_requests")
        counts |= {"page_lock": taken, "page_unlock": given, "page_set_lock": taken + given}
        for pool in member.pools.values():
            for kind, count in pool_counts(pool).items():
                counts[kind] = counts.get(kind, 0.0) + count
        values[member.system, member.subsystem] = counts
    return values


def _with_cics(measured: Measured, class_costs: list[ClassCost]) -> None:
    """CPU time of CICS transactions; split among same-named classes by units of work."""
    for cost in class_costs:
        seconds = measured.cics.get((cost.use.system, cost.use.correlation))
        if seconds is None or not cost.use.connection_type.startswith("CICS"):
            continue
        same = [
            other.use
            for other in class_costs
            if (other.use.system, other.use.correlation) == (cost.use.system, cost.use.correlation)
            and other.use.connection_type.startswith("CICS")
        ]
        whole = sum(_fact(use, "commits") for use in same)
        cost.cics_seconds = seconds * (_fact(cost.use, "commits") / whole if whole else 1.0 / len(same))


def shares(line: Line, uses: Sequence[ClassUse], of_member: Mapping[str, float]) -> tuple[list[float], str]:
    """Shares of the classes in a line, and their basis.

    Parameters
    ----------
    line
        What is spread.
    uses
        The classes.
    of_member
        Counts of the member's statistics by kind: counts of classes are shares of these.
    """
    kind = line.kind.name
    if kind in _COUNTS:
        counts = [_count(use, kind) for use in uses]
        if sum(counts) > 0:
            whole = max(sum(counts), of_member.get(kind, 0.0))
            return [count / whole for count in counts], "counted"
    for facts, words in (*_KEYS[line.kind.part], *_LAST):
        keys = [sum(_fact(use, fact) for fact in facts) for use in uses]
        if sum(keys) > 0:
            return [key / sum(keys) for key in keys], f"spread by {words}"
    return [0.0] * len(uses), ""


def class_costs(measured: Measured, lines: Iterable[Line]) -> tuple[ClassCost, ...]:
    """Cost of each class on each member; costs that cannot be attributed to a class are in none of them."""
    groups = {(member.system, member.subsystem): member.group for member in measured.members}
    results = [ClassCost(use, groups.get((use.system, use.subsystem), "")) for use in measured.classes]
    totals = _counted_by_member(measured)
    _with_cics(measured, results)
    for line in lines:
        # Of lines without a member all classes of the group on that system have a part.
        own = [
            cost
            for cost in results
            if cost.use.system == line.system
            and (cost.use.subsystem == line.member if line.member else cost.group == line.group or not line.group)
        ]
        if not own:
            continue
        parts, how = shares(line, [cost.use for cost in own], totals.get((line.system, line.member), {}))
        for cost, share in zip(own, parts, strict=True):
            part = line.kind.part
            cost.cpu[part] = cost.cpu.get(part, 0.0) + line.cpu_seconds * share
            kind = line.kind.name
            cost.counts[kind] = cost.counts.get(kind, 0.0) + line.count * share
            cost.seconds[kind] = cost.seconds.get(kind, 0.0) + line.cpu_seconds * share
            if line.kind.is_request:
                cost.requests[part] = cost.requests.get(part, 0.0) + line.count * share
            if line.payer is Payer.THREAD:
                cost.thread_seconds += line.cpu_seconds * share
                cost.thread_requests += line.count * share if line.kind.is_request else 0.0
            if line.kind.name == "invalid_disk":
                reads = _fact(cost.use, "read_waits")
                mean = _fact(cost.use, "read_wait_seconds") / reads if reads else 0.0
                cost.reread_seconds += line.count * share * mean
            if how and cost.how.get(part) != "counted":
                cost.how[part] = how
    return tuple(results)
