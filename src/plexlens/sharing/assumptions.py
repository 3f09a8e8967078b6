"""Stated assumptions about the cost of data sharing that no record contains: path lengths, and who pays for what.

Service times of synchronous requests are measured (SMF 74-4), and the processor that asks spins for them. What it
spends besides, and what an asynchronous request, a contention or a message costs it, no record tells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from plexlens.errors import UsageError
from plexlens.pools.io_price import CPU_OF_IO
from plexlens.pools.io_price import SOURCE as IO_SOURCE

#: Where defaults without a published number come from.
ORDER = (
    "Order of magnitude for an engine of some 1,500 MIPS, the same as the simulator's default; no measurement of it is "
    "published"
)

#: IBM's table of who pays for what, which `plexlens.sharing.kinds` follows.
PAYERS_SOURCE = "Db2 13 for z/OS: Major contributors to CPU time"


class CommitWrites(StrEnum):
    """Address space charged for synchronous writes at commit."""

    AUTO = "auto"
    """MSTR, or the threads if MSTR used less CPU time than the writes need."""
    MSTR = "MSTR"
    """Update commits run as SRBs of the system services address space."""
    THREAD = "thread"
    """The transaction's own task."""


@dataclass(frozen=True)
class Path:
    """A stated cost: name as in options and JSON, title, seconds unless stated otherwise, and the source of the
    default.
    """

    name: str
    title: str
    seconds: float
    source: str


#: Stated inputs, in the order in which they are shown.
PATHS: tuple[Path, ...] = (
    Path("sync_path", "Synchronous request, in addition to its service time", 2e-6, ORDER),
    Path("async_path", "Asynchronous request, with interruption and dispatch", 20e-6, ORDER),
    Path("contention_path", "Lock contention resolved by messages, on the system that detects it", 30e-6, ORDER),
    Path("negotiation_path", "P-lock negotiation", 30e-6, f"As a contention. {ORDER}"),
    Path("notify_path", "Notify message, sent or received", 30e-6, f"As a contention. {ORDER}"),
    Path("read_path", "Read from disk of a page that was invalidated", CPU_OF_IO, IO_SOURCE),
)
_DEFAULTS = {path.name: path.seconds for path in PATHS}


@dataclass(frozen=True)
class Assumptions:
    """Stated assumptions of an estimate.

    Attributes
    ----------
    sync_path, async_path, contention_path, negotiation_path, notify_path, read_path
        CPU seconds of each, on an engine of speed 1 (see `PATHS`).
    commit_writes
        Whose time synchronous writes at commit are.
    speed
        Speed of the engines over that of path lengths; stated times are divided by it.
    speeds
        The same of single systems.

    Raises
    ------
    UsageError
        A time is negative or no number, or a speed is not above zero.
    """

    sync_path: float = _DEFAULTS["sync_path"]
    async_path: float = _DEFAULTS["async_path"]
    contention_path: float = _DEFAULTS["contention_path"]
    negotiation_path: float = _DEFAULTS["negotiation_path"]
    notify_path: float = _DEFAULTS["notify_path"]
    read_path: float = _DEFAULTS["read_path"]
    commit_writes: CommitWrites = CommitWrites.AUTO
    speed: float = 1.0
    speeds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in PATHS:
            value = getattr(self, path.name)
            if not (value >= 0 and math.isfinite(value)):
                raise UsageError(
                    file="",
                    what=f"--{path.name.replace('_', '-')} {value * 1e6:g} is not a time",
                    remedy="give microseconds, 0 or more",
                )
        for system, speed in {"": self.speed, **self.speeds}.items():
            if not (speed > 0 and math.isfinite(speed)):
                raise UsageError(
                    file="",
                    what=f"--speed {system + '=' if system else ''}{speed:g} is not a speed",
                    remedy="give a factor above 0: 1 for an engine of some 1,500 MIPS",
                )

    def seconds(self, name: str, system: str | None) -> float:
        """A stated time, adjusted to the engines of a system."""
        value: float = getattr(self, name)
        return value / self.speed_of(system or "")

    def speed_of(self, system: str) -> float:
        """Speed of the engines of a system."""
        return self.speeds.get(system, self.speed)
