"""SMF 74-4: a coupling facility and its structures as used by a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from plexlens.smf_rows.record import Row, Sections, given

#: R744STYP.
_TYPES = {"list": 1, "lock": 3, "cache": 4}

#: R744FFLG, R744SFLG: connected at the end of the interval.
_CONNECTED = 0x80

#: R744PTYP: dedicated.
_DEDICATED = 0x80

#: R744HTAP, R744HFL1: a path between machines, whose latency is valid.
_PATH, _LATENCY_VALID = "CL5", 0x20

#: R744QFLG: active; of a duplexed structure the first instance is the old one of a rebuild that goes on, the second the
#: new one.
ACTIVE, FIRST, SECOND = 0x80, 0x80 | 0x20 | 0x02 | 0x01, 0x80 | 0x40 | 0x02 | 0x01


@dataclass(frozen=True)
class Times:
    """A number of events, the sum of their times in seconds, and the sum of squares."""

    count: int
    seconds: float
    squares: float


@dataclass(frozen=True)
class Cache:
    """Counters of a cache structure, summed over all systems.

    Parameters
    ----------
    hits, misses
        Reads that returned data, and that returned none but registered the page.
    writes, castouts
        Pages written, and cast out.
    failed_writes
        Writes for which there was no storage.
    directory_reclaims, data_reclaims
        Entries taken from a page for another.
    invalidated_by_reclaim, invalidated_by_write
        Cross-invalidations.
    changed
        Changed entries at the end of the interval.
    """

    hits: float
    misses: float
    writes: float
    castouts: float
    failed_writes: float | None = None
    directory_reclaims: float | None = None
    data_reclaims: float | None = None
    invalidated_by_reclaim: float | None = None
    invalidated_by_write: float | None = None
    changed: int | None = None

    def row(self) -> Row:
        """The cache section."""
        return given(
            r744crhc=self.hits,
            r744crmn=self.misses,
            r744cwh1=self.writes,
            r744cwmt=self.failed_writes,
            r744ccoc=self.castouts,
            r744cder=self.directory_reclaims,
            r744cdtr=self.data_reclaims,
            r744cxdr=self.invalidated_by_reclaim,
            r744cxfw=self.invalidated_by_write,
            r744ctcc=self.changed,
        )


@dataclass(frozen=True)
class Structure:
    """A structure as used by a system.

    Parameters
    ----------
    name
        Name.
    type
        ``list``, ``lock`` or ``cache``.
    size
        Bytes allocated.
    state
        `ACTIVE`, or which instance of a duplexed structure it is: `FIRST` or `SECOND`.
    synchronous
        Synchronous requests with their service times.
    requests
        Requests of programs; the synchronous and asynchronous ones where they are not distinguished.
    asynchronous, waits
        Asynchronous requests, and waits for a subchannel.
    deferred, contentions, false_contentions
        Delayed lock requests, all contention and false contention; None for other structures.
    least_size
        Smallest size that the policy allows.
    lock_entries
        Entries of its lock table.
    directory_entries, data_entries
        Of a cache structure.
    written, read
        Bytes that the system's requests wrote to it and read from it; None where they are not known.
    cache
        Its counters, where they are known.
    """

    name: str
    type: str
    size: int
    synchronous: Times
    state: int = ACTIVE
    requests: int | None = None
    asynchronous: Times | None = None
    waits: Times | None = None
    deferred: int | None = None
    contentions: int | None = None
    false_contentions: int | None = None
    least_size: int | None = None
    lock_entries: int | None = None
    directory_entries: int | None = None
    data_entries: int | None = None
    written: int | None = None
    read: int | None = None
    cache: Cache | None = None

    @property
    def asked(self) -> int:
        """Requests from programs."""
        if self.requests is not None:
            return self.requests
        return self.synchronous.count + (self.asynchronous.count if self.asynchronous else 0)


@dataclass(frozen=True)
class Facility:
    """A coupling facility as connected to a system.

    Parameters
    ----------
    name
        Name.
    paths, subchannels
        Of the system to it.
    engines
        Its engines.
    busy
        Seconds that each of them was busy.
    storage, free
        Bytes in all, and free.
    controlled
        Whether these are told as control storage too.
    requests
        Requests of the system; those of its structures unless they are given.
    commands
        Commands that each engine processed, where they are known.
    level, machine
        CFLEVEL, and type of its machine.
    dedicated
        Whether its engines are known to be dedicated.
    peers
        Other systems that are connected to it.
    round_trip
        Seconds of a round trip to it, where its paths measure that.
    """

    name: str
    paths: int
    subchannels: int
    engines: int
    busy: float
    storage: int
    free: int
    controlled: bool = False
    requests: float | None = None
    commands: int | None = None
    level: int | None = None
    machine: str | None = None
    dedicated: bool = False
    peers: Sequence[str] = field(default=())
    round_trip: float | None = None


def sections(facility: Facility, structures: Sequence[Structure], *, system: str, seconds: float) -> Sections:
    """The sections of a record.

    Parameters
    ----------
    facility, structures
        What the system used.
    system
        Its name.
    seconds
        Length of the interval.
    """
    caches = [structure.cache for structure in structures if structure.cache is not None]
    numbers = {id(cache): number for number, cache in enumerate(caches, 1)}
    return {
        "smf74_4_local_cf": [_facility(facility, structures, system)],
        "smf74_4_connectivity": [{"r744xsys": peer} for peer in facility.peers],
        "smf74_4_storage": [_storage(facility)],
        "smf74_4_structure": [
            {"r744qstr": structure.name, "r744qsiz": structure.size, "r744qflg": structure.state}
            for structure in structures
        ],
        "smf74_4_request": [_request(structure, numbers) for structure in structures],
        "smf74_4_processor": [
            given(
                r744pnum=number,
                r744pbsy=facility.busy,
                r744pwai=seconds - facility.busy,
                r744ptyp=_DEDICATED if facility.dedicated else None,
                r744pcct=facility.commands,
            )
            for number in range(facility.engines)
        ],
        "smf74_4_cache": [cache.row() for cache in caches],
        "smf74_4_channel_path": [] if facility.round_trip is None else _paths(facility),
    }


def _paths(facility: Facility) -> list[Row]:
    """The channel paths; a round trip of a microsecond or less is told as one."""
    latency = max(facility.round_trip or 0.0, 1e-6)
    return [
        {"r744hcpi": number, "r744htap": _PATH, "r744hfl1": _LATENCY_VALID, "r744hlat": latency}
        for number in range(facility.paths)
    ]


def _facility(facility: Facility, structures: Sequence[Structure], system: str) -> Row:
    requests = facility.requests
    return given(
        r744fnam=facility.name,
        r744fsys=system,
        r744fflg=_CONNECTED,
        r744fpam=facility.paths,
        r744fscg=facility.subchannels,
        r744fscu=facility.subchannels,
        r744fscl=facility.subchannels,
        r744ftor=float(sum(structure.asked for structure in structures) if requests is None else requests),
        r744flvl=facility.level,
        r744fmod=facility.machine,
        r744fpdn=facility.engines if facility.dedicated else None,
    )


def _storage(facility: Facility) -> Row:
    row = {"r744gtsd": facility.storage, "r744gtsf": facility.free}
    return row | ({"r744gcsd": facility.storage, "r744gcsf": facility.free} if facility.controlled else {})


def _request(structure: Structure, caches: Mapping[int, int]) -> Row:
    number = caches.get(id(structure.cache), 0)
    asynchronous, waits = structure.asynchronous, structure.waits

    def counted(count: int | None) -> float | None:
        return None if count is None else float(count)

    return given(
        r744snam=structure.name,
        r744styp=_TYPES[structure.type],
        r744sflg=_CONNECTED,
        r744strc=float(structure.asked),
        r744stac=counted(structure.deferred),
        r744ssrc=float(structure.synchronous.count),
        r744sstm=structure.synchronous.seconds,
        r744sssq=structure.synchronous.squares,
        r744sarc=asynchronous and float(asynchronous.count),
        r744satm=asynchronous and asynchronous.seconds,
        r744sasq=asynchronous and asynchronous.squares,
        r744sqrc=waits and float(waits.count),
        r744sqtm=waits and waits.seconds,
        r744sqsq=waits and waits.squares,
        r744scn=counted(structure.contentions),
        r744sfcn=counted(structure.false_contentions),
        r744ssiz=structure.size,
        r744smas=structure.size,
        r744smis=structure.least_size,
        r744sltl=structure.lock_entries,
        r744cdsi=number,
        r744cdne=int(number > 0),
        r744sdec=structure.directory_entries,
        r744sdel=structure.data_entries,
        r744swed=structure.written,
        r744sred=structure.read,
    )
