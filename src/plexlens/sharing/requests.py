"""Work of each system for data sharing, by kind: Db2's counts reconciled with those of the coupling facility."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plexlens.sharing.assumptions import Assumptions
from plexlens.sharing.kinds import KINDS, Kind, Payer
from plexlens.sharing.measured import Facts, Measured, Member, Role, StructureUse


@dataclass(frozen=True)
class Line:
    """A kind of request or other work of a member (or of a system, if the member is unknown) at a structure.

    Attributes
    ----------
    system, group, member, structure
        Where; ``member`` is empty where Db2's statistics are not there, ``structure`` for work that is not a request.
    kind
        What.
    payer
        Whose processor time it is.
    synchronous, asynchronous
        Requests, or events of work that is not a request (then all in ``synchronous``).
    service_seconds
        CPU seconds that the processor spun, as measured (R744SSTM).
    path_seconds
        CPU seconds by stated path lengths.
    delay_seconds
        Seconds of service that were waited for without a processor: of asynchronous requests.
    """

    system: str
    group: str
    member: str
    structure: str
    kind: Kind
    payer: Payer
    synchronous: float
    asynchronous: float
    service_seconds: float
    path_seconds: float
    delay_seconds: float

    @property
    def count(self) -> float:
        """Synchronous plus asynchronous requests, or events."""
        return self.synchronous + self.asynchronous

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds."""
        return self.service_seconds + self.path_seconds


def _of(facts: Facts, *names: str) -> float:
    return sum((float(facts.get(name) or 0.0) for name in names), 0.0)


def lock_counts(member: Member) -> dict[str, float]:
    """Requests of a member to the lock structure by kind (QTGS, QBGL).

    Requests to XES are those of L-locks and P-locks together; what is not a P-lock is an L-lock. Page P-locks are
    counted with the group buffer pools, the other P-locks are what remains.
    """
    facts = member.locking
    page = sum(_of(pool, "page_lock_requests") for pool in member.pools.values())
    page_unlock = sum(_of(pool, "page_unlock_requests") for pool in member.pools.values())
    taken = _of(facts, "plock_lock_requests", "plock_change_requests")
    given = _of(facts, "plock_unlock_requests")
    page, page_unlock = min(page, taken), min(page_unlock, given)
    return {
        "lock": max(_of(facts, "xes_lock_requests", "xes_change_requests") - taken, 0.0),
        "unlock": max(_of(facts, "xes_unlock_requests") - given, 0.0),
        "page_lock": page,
        "page_unlock": page_unlock,
        "page_set_lock": taken - page + given - page_unlock,
    }


#: Kind to the facts of ``db2_group_pool`` that count it.
_POOL_FACTS = {
    "invalid_data": ("reads_invalid_data",),
    "invalid_no_data": ("reads_invalid_no_data",),
    "absent_data": ("reads_absent_data",),
    "absent_no_data": ("reads_absent_no_data",),
    "write_sync": ("changed_pages_sync",),
    "write_async": ("changed_pages_async",),
    "write_clean": ("clean_pages_sync", "clean_pages_async"),
    "castout": ("pages_castout",),
    "castout_upkeep": ("unlock_castout", "read_castout_class", "read_castout_statistics"),
    "register": ("register_page", "register_page_lists"),
    "unregister": ("unregister_pages",),
    "upkeep": ("delete_name", "explicit_invalidations", "read_directory_info", "read_storage_statistics"),
}
_CASTOUT = ("castout", "castout_upkeep")


def pool_counts(facts: Facts) -> dict[str, float]:
    """Requests of a member to a group buffer pool by kind (QBGL)."""
    return {kind: _of(facts, *names) for kind, names in _POOL_FACTS.items()}


def _counted(measured: Measured, use: StructureUse) -> dict[str, dict[str, float]]:
    """Counts by member and kind of the members on the structure's system."""
    here = [member for member in measured.members if member.system == use.system and member.group == use.group]
    if use.role is Role.LOCK:
        values = {member_use.subsystem: lock_counts(member_use) for member_use in here}
    elif use.role is Role.POOL:
        values = {
            member_use.subsystem: pool_counts(member_use.pools[use.pool])
            for member_use in here
            if use.pool in member_use.pools
        }
        if not values and any(use.cache.values()):
            values = {here[0].subsystem if len(here) == 1 else "": use.cache}
    else:
        values = {}
    return {member: counts for member, counts in values.items() if any(counts.values())}


_Counts = dict[tuple[str, str], dict[str, dict[str, float]]]


def _with_castouts_moved(measured: Measured, counts: _Counts) -> _Counts:
    """Castouts assigned to the systems that sent them.

    A member can count castouts of the whole group. Where its counts exceed the requests that its system sent, and
    another system of the group sent more than its members counted, castouts were sent from there.
    """
    sent = {
        (structure.system, structure.structure): structure.sync_requests + structure.async_requests
        for structure in measured.structures
    }
    values = {key: {member: dict(kinds) for member, kinds in members.items()} for key, members in counts.items()}
    for structure in {structure for _, structure in values}:
        over = {key: _all(values[key]) - sent[key] for key in values if key[1] == structure}
        givers = [key for key, value in over.items() if value > 0]
        takers = [key for key, value in over.items() if value < 0]
        for giver in givers:
            castouts = sum(kinds.get(kind, 0.0) for kinds in values[giver].values() for kind in _CASTOUT)
            for taker in takers:
                amount = min(over[giver], -over[taker], castouts)
                if amount <= 0:
                    continue
                to = next(iter(values[taker].values()))
                for kind in _CASTOUT:
                    moved = 0.0
                    for kinds in values[giver].values():
                        part = amount * kinds.get(kind, 0.0) / castouts
                        kinds[kind] = kinds.get(kind, 0.0) - part
                        moved += part
                    to[kind] = to.get(kind, 0.0) + moved
                castouts -= amount
                over[giver] -= amount
                over[taker] += amount
    return values


def _all(members: dict[str, dict[str, float]]) -> float:
    return sum(sum(kinds.values()) for kinds in members.values())


_OTHER = {Role.LOCK: "lock_other", Role.POOL: "pool_other", Role.SCA: "sca", Role.SIGNALLING: "signalling"}


def request_lines(measured: Measured, stated: Assumptions) -> Iterator[Line]:
    """Lines of all requests; for each system and structure they add up to the counts of SMF 74-4.

    Of XCF's structures only the share of Db2's signals counts. Structures of others are not part of it.
    """
    uses = [structure for structure in measured.structures if structure.role is not Role.OTHER]
    counts = {(use.system, use.structure): _counted(measured, use) for use in uses}
    counts = _with_castouts_moved(measured, {key: count for key, count in counts.items() if count})
    for use in uses:
        share = measured.signalling_share.get(use.system, 0.0) if use.role is Role.SIGNALLING else 1.0
        if share > 0:
            yield from _of_structure(use, counts.get((use.system, use.structure), {}), share, stated)
    if not uses:
        yield from _without_facilities(measured)


def _of_structure(
    use: StructureUse, counts: dict[str, dict[str, float]], share: float, stated: Assumptions
) -> Iterator[Line]:
    sent = (use.sync_requests + use.async_requests) * share
    if sent <= 0:
        return
    known = _all(counts)
    # One request can move several pages: counts of pages are brought to the requests that were served.
    scale = min(sent / known, 1.0) if known else 0.0
    entries = [
        (member, KINDS[kind], count * scale)
        for member, kinds in counts.items()
        for kind, count in kinds.items()
        if count > 0
    ]
    rest = sent - sum(count for _, _, count in entries)
    if rest > 1e-9 * sent:
        members = list(counts) or [""]
        entries += [
            (member, KINDS[_OTHER[use.role]], rest * (_weight(counts, member, known) if known else 1.0))
            for member in members
        ]
    service = use.sync_seconds / use.sync_requests if use.sync_requests else 0.0
    wait = use.async_seconds / use.async_requests if use.async_requests else 0.0
    sync_path, async_path = (stated.seconds(name, use.system) for name in ("sync_path", "async_path"))
    for (member, kind, count), asynchronous in zip(
        entries, _asynchronous(entries, use.async_requests * share), strict=True
    ):
        synchronous = count - asynchronous
        yield Line(
            use.system, use.group, member, use.structure, kind, kind.payer, synchronous, asynchronous,
            synchronous * service, synchronous * sync_path + asynchronous * async_path, asynchronous * wait,
        )  # fmt: skip


def _weight(counts: dict[str, dict[str, float]], member: str, known: float) -> float:
    return sum(counts[member].values()) / known


def _asynchronous(entries: list[tuple[str, Kind, float]], asynchronous: float) -> list[float]:
    """Asynchronous requests of each entry: taken first from those that Db2 does not wait for, then from all others in
    proportion.
    """
    natural = sum(count for _, kind, count in entries if kind.asynchronous)
    others = sum(count for _, kind, count in entries if not kind.asynchronous)
    of_natural = min(asynchronous, natural)
    of_others = asynchronous - of_natural
    return [
        count * (of_natural / natural if kind.asynchronous else of_others / others)
        if (natural if kind.asynchronous else others)
        else 0.0
        for _, kind, count in entries
    ]


def _without_facilities(measured: Measured) -> Iterator[Line]:
    """Requests as Db2 counted them, without service times and therefore without CPU time."""
    for member in measured.members:
        by_structure = {f"{member.group}_LOCK1": lock_counts(member)}
        by_structure |= {f"{member.group}_{pool}": pool_counts(facts) for pool, facts in member.pools.items()}
        for structure, kinds in by_structure.items():
            for kind, count in kinds.items():
                if count > 0:
                    about = KINDS[kind]
                    yield Line(
                        member.system,
                        member.group,
                        member.subsystem,
                        structure,
                        about,
                        about.payer,
                        count,
                        0.0,
                        0.0,
                        0.0,
                        0.0,
                    )


def work_lines(measured: Measured, stated: Assumptions) -> Iterator[Line]:
    """Lines of work other than requests: contention, negotiation, messages, reads from disk after invalidation.

    Contention is what the lock manager counted (QTGS); where Db2 statistics are missing, what XES counted (R744SCN).
    """
    for member in measured.members:
        facts = member.locking
        # Up to Db2 9 QTGSFLSE is false contention; later it is requests that XES made asynchronous.
        version = int(facts.get("db2_version") or 0)
        false = _of(facts, "false_contentions" if version >= 10 else "suspends_false")
        negotiations = _of(facts, "page_set_plock_negotiations", "page_plock_negotiations", "other_plock_negotiations")
        # Waits for page P-locks, as far as contention of the lock manager cannot hold them already.
        waited = sum(_of(pool, "page_lock_suspensions") for pool in member.pools.values())
        counts = {
            "contention_real": _of(facts, "suspends_irlm"),
            "contention_xes": _of(facts, "suspends_xes"),
            "contention_false": false,
            "contention_page": max(waited - _of(facts, "suspends_irlm", "suspends_xes"), 0.0),
            "negotiation": negotiations,
            "notify": _of(facts, "notify_sent", "notify_received"),
            "invalid_disk": sum(_of(pool, "reads_invalid_no_data") for pool in member.pools.values()),
        }
        for name, count in counts.items():
            if count > 0:
                yield _work((member.system, member.group, member.subsystem), KINDS[name], count, stated)
    covered = {(member.system, member.group) for member in measured.members if member.locking}
    for use in measured.structures:
        if use.role is Role.LOCK and (use.system, use.group) not in covered and use.contentions > 0:
            real = use.contentions - use.false_contentions
            for name, count in (("contention_any", real), ("contention_false", use.false_contentions)):
                if count > 0:
                    yield _work((use.system, use.group, ""), KINDS[name], count, stated)


def _work(where: tuple[str, str, str], kind: Kind, count: float, stated: Assumptions) -> Line:
    """A line of work other than requests; ``where`` is system, group and member."""
    seconds = count * stated.seconds(kind.path, where[0])
    return Line(*where, "", kind, kind.payer, count, 0.0, 0.0, seconds, 0.0)
