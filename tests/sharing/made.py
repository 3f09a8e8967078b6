"""A group of two members, small enough to work out by hand.

1,000 s. Path lengths as stated by default: 2 µs synchronous, 20 µs asynchronous, 30 µs a contention, 33 µs a read.

SYS1, member DB1, 400 s busy:

    DSNG_LOCK1   1,000,000 synchronous at 10 µs      500,000 locks, 400,000 unlocks, 50,000 + 30,000 page P-locks,
                                                     20,000 page set P-locks
    DSNG_GBP1    500,000 synchronous at 15 µs,       100,000 + 20,000 reads after invalidation, 30,000 + 150,000 of
                 100,000 asynchronous at 80 µs       absent pages, 200,000 writes, 80,000 castouts, 10,000 unlocks of
                                                     castouts: 590,000, so 10,000 not told apart
    contention   1,000 real, 500 XES, 100 false

SYS2, member DB2, 200 s busy: nothing but 100,000 locks at 20 µs.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from plexlens.sharing.measured import ClassUse, Measured, Member, Role, StructureUse, SystemUse

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

LOCKING: dict[str, Any] = {
    "xes_lock_requests": 550_000.0, "xes_change_requests": 15_000.0, "xes_unlock_requests": 435_000.0,
    "plock_lock_requests": 60_000.0, "plock_change_requests": 5_000.0, "plock_unlock_requests": 35_000.0,
    "suspends_irlm": 1_000.0, "suspends_xes": 500.0, "suspends_false": 7_777.0, "false_contentions": 100.0,
    "db2_version": "12",
}  # fmt: skip
POOL: dict[str, Any] = {
    "reads_invalid_data": 100_000.0, "reads_invalid_no_data": 20_000.0, "reads_absent_data": 30_000.0,
    "reads_absent_no_data": 150_000.0, "changed_pages_sync": 200_000.0, "pages_castout": 80_000.0,
    "unlock_castout": 10_000.0, "page_lock_requests": 50_000.0, "page_unlock_requests": 30_000.0,
}  # fmt: skip


def structure(system: str, name: str, role: Role, pool: str = "", **more: Any) -> StructureUse:
    values: dict[str, Any] = {
        "sync_requests": 0.0, "sync_seconds": 0.0, "async_requests": 0.0, "async_seconds": 0.0, "changed": 0.0,
        "contentions": 0.0, "false_contentions": 0.0, "unsplit": 0.0, "facilities": ("CF1",),
    }  # fmt: skip
    return StructureUse(system, name, role, "DSNG" if role is not Role.OTHER else "", pool, **(values | more))


LOCK1 = structure("SYS1", "DSNG_LOCK1", Role.LOCK, sync_requests=1e6, sync_seconds=10.0, contentions=1600.0)
GBP1 = structure(
    "SYS1", "DSNG_GBP1", Role.POOL, "GBP1", sync_requests=5e5, sync_seconds=7.5, async_requests=1e5, async_seconds=8.0
)
LOCK2 = structure("SYS2", "DSNG_LOCK1", Role.LOCK, sync_requests=1e5, sync_seconds=2.0)
LOGGER = structure("SYS1", "LOGGER", Role.OTHER, sync_requests=1e4, sync_seconds=0.5)


def use(name: str, system: str = "SYS1", subsystem: str = "DB1", **facts: float) -> ClassUse:
    return ClassUse(subsystem, system, "CICS", "AOR1", "PLAN", name, facts)


#: PAY has 3 of 4 locks, 1 of 4 getpages, all updates.
CLASSES = (
    use("PAY", commits=10_000.0, class1_cpu_seconds=60.0, class2_cpu_seconds=40.0, class2_elapsed_seconds=100.0,
        lock_requests=300.0, getpages=1000.0, sync_reads=10.0, buffer_updates=50.0, l_lock_wait_seconds=3.0,
        read_wait_seconds=20.0, read_waits=20_000.0),
    use("ASK", commits=40_000.0, class1_cpu_seconds=90.0, class2_cpu_seconds=60.0, class2_elapsed_seconds=200.0,
        lock_requests=100.0, getpages=3000.0, sync_reads=30.0, read_wait_seconds=60.0, read_waits=60_000.0),
)  # fmt: skip


def measured(**changes: Any) -> Measured:
    values: dict[str, Any] = {
        "start": START,
        "end": START + timedelta(seconds=1000),
        "seconds": {"SYS1": 1000.0, "SYS2": 1000.0},
        "structures": (LOCK1, GBP1, LOCK2, LOGGER),
        "members": (
            Member("DB1", "SYS1", "DSNG", LOCKING, {"GBP1": POOL}, {"MSTR": 5.0, "DBM1": 9.0, "IRLM": 1.0}, 50_000.0),
            Member("DB2", "SYS2", "DSNG", {"xes_lock_requests": 100_000.0, "db2_version": "12"}, {}, {}, 5_000.0),
        ),
        "classes": CLASSES,
        "systems": (
            SystemUse("SYS1", 1000.0, 400.0, 360.0, 4.0),
            SystemUse("SYS2", 1000.0, 200.0, 190.0, 4.0),
        ),
    }
    return Measured(**(values | changes))
