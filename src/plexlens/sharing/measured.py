"""Measurements of a data sharing group, over the time that coupling facility and Db2 data have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

Facts = dict[str, Any]


#: Names that Db2 requires of its structures, and XCF of its own.
_STRUCTURE = re.compile(r"(?P<group>.+)_(?:(?P<lock>LOCK1)|(?P<sca>SCA)|(?P<pool>GBP[0-9K]+))")
_SIGNALLING = "IXC"


class Role(StrEnum):
    """Role of a structure in data sharing."""

    LOCK = "lock"
    POOL = "group buffer pool"
    SCA = "shared communication area"
    SIGNALLING = "XCF signalling"
    OTHER = "not Db2's"


@dataclass(frozen=True)
class StructureUse:
    """Use of a structure by a system; both instances of a duplexed structure together.

    Attributes
    ----------
    group, pool
        Data sharing group that it belongs to, and group buffer pool; empty for none.
    sync_requests, async_requests
        Requests, those of converted and changed ones among the asynchronous.
    sync_seconds, async_seconds
        Their service time.
    unsplit
        Requests of either kind without service time, where only their number is told.
    cache
        What the coupling facility counted of a group buffer pool for all systems, as this system's part by requests:
        kinds of `plexlens.sharing.kinds` to counts. Used where Db2's own counts are not there.
    """

    system: str
    structure: str
    role: Role
    group: str
    pool: str
    sync_requests: float
    sync_seconds: float
    async_requests: float
    async_seconds: float
    changed: float
    contentions: float
    false_contentions: float
    unsplit: float
    facilities: tuple[str, ...]
    cache: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Course:
    """Engines that spun for synchronous requests over time: the bounds of each interval, and values by cause."""

    times: tuple[datetime, ...] = ()
    ends: tuple[datetime, ...] = ()
    values: dict[str, tuple[float | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Member:
    """A Db2 according to its statistics, with rates over the common time.

    Attributes
    ----------
    locking
        Facts of grain ``db2_locking``; empty where there are none.
    pools
        Facts of grain ``db2_group_pool`` by group buffer pool.
    spaces
        CPU seconds of all engines by address space (IFCID 1).
    commits
        Commits; None without statistics of the subsystem.
    """

    subsystem: str
    system: str
    group: str
    locking: Facts
    pools: dict[str, Facts]
    spaces: dict[str, float]
    commits: float | None


@dataclass(frozen=True)
class ClassUse:
    """Threads of a transaction class on a Db2: facts of grain ``db2_accounting_sharing``."""

    subsystem: str
    system: str
    connection_type: str
    connection: str
    plan: str
    correlation: str
    facts: Facts


@dataclass(frozen=True)
class SystemUse:
    """Processors of a system: seconds of all engines over the common time.

    Attributes
    ----------
    busy
        Engine seconds that PR/SM or z/OS saw busy; None without SMF 70-1.
    captured
        CPU seconds of all service classes; None without SMF 72-3.
    engines
        General engines and zIIPs online.
    """

    system: str
    seconds: float
    busy: float | None
    captured: float | None
    engines: float | None


@dataclass(frozen=True)
class Measured:
    """All inputs for the cost of data sharing.

    Attributes
    ----------
    start, end
        The time in common.
    seconds
        Length of the intervals of each system in it.
    signalling_share
        Share of XCF signals of each system that are Db2's and its lock manager's; absent without SMF 74-2.
    report_classes
        CPU seconds by system and name of report class.
    cics
        CPU seconds of CICS transactions by system and transaction (SMF 110-1), all regions together.
    missing
        What is not in the data, and what therefore cannot be said.
    """

    start: datetime
    end: datetime
    seconds: dict[str, float]
    structures: tuple[StructureUse, ...]
    members: tuple[Member, ...]
    classes: tuple[ClassUse, ...]
    systems: tuple[SystemUse, ...]
    signalling_share: dict[str, float] = field(default_factory=dict)
    report_classes: dict[tuple[str, str], float] = field(default_factory=dict)
    cics: dict[tuple[str, str], float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    course: Course = field(default_factory=Course)


def role_of(structure: str) -> tuple[Role, str, str]:
    """Role, data sharing group and group buffer pool of a structure, by the naming rules of Db2 and XCF."""
    match = _STRUCTURE.fullmatch(structure)
    if match is None:
        return (Role.SIGNALLING if structure.startswith(_SIGNALLING) else Role.OTHER), "", ""
    if match["lock"]:
        return Role.LOCK, match["group"], ""
    if match["sca"]:
        return Role.SCA, match["group"], ""
    return Role.POOL, match["group"], match["pool"]
