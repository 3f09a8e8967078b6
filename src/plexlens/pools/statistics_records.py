"""Counters of simulated pools as Db2 statistics records: SMF 100 IFCID 1 and 2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from plexlens.errors import UsageError
from plexlens.smf_rows import smf100
from plexlens.smf_rows.dump import open_dump
from plexlens.smf_rows.record import Record, Row

_SECOND = 1_000_000

#: Times of a trace that is no more than this after 1970 are relative: its statistics begin in 2000.
_RELATIVE = 365 * 86400 * _SECOND
_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Statistics:
    """Cumulative statistics of a Db2 at a point in time.

    Attributes
    ----------
    time
        Microseconds of the trace.
    pools
        Rows of QBST.
    group_pools
        Rows of QBGL.
    checkpoints
        System checkpoints.
    """

    time: int
    pools: Sequence[Row]
    group_pools: Sequence[Row] = ()
    checkpoints: int = 0


@dataclass(frozen=True)
class Member:
    """A Db2 subsystem.

    Attributes
    ----------
    system
        SMF id.
    subsystem
        Its name.
    group
        Name of its data-sharing group; empty for none.
    statistics
        Its statistics, the first at its beginning; all members have them at the same times.
    """

    system: str
    subsystem: str
    group: str = ""
    statistics: Sequence[Statistics] = field(default=(), repr=False)


def write_statistics(path: Path, members: Sequence[Member]) -> int:
    """Write the statistics of a single Db2 or of a group in time order.

    Times are those of the trace; a trace whose times are relative begins on 1 January 2000.

    Parameters
    ----------
    path
        The dump; what is there is replaced when it is complete.
    members
        Who counted what.

    Returns
    -------
    int
        Records written, dump header and trailer not counted.

    Raises
    ------
    UsageError
        An impossible name, or statistics of no interval of time.
    PlexlensError
        The file cannot be written.
    """
    for member in members:
        for what, name, most in (("system", member.system, 4), ("subsystem", member.subsystem, 4)):
            if re.fullmatch(rf"[A-Z0-9@#$]{{1,{most}}}", name) is None:
                raise UsageError(
                    file="",
                    what=f"{name!r} is not a valid name of a {what}",
                    remedy="give 1 to 4 of the characters A-Z 0-9 @ # $",
                )
    times = [counter.time for counter in members[0].statistics]
    if len(times) < 2 or times[-1] <= times[0]:
        raise UsageError(
            file=str(path),
            what="the trace has no times, and statistics need intervals",
            remedy="give a trace with the column time",
        )
    zero = _EPOCH if times[0] > _RELATIVE else _BEGINNING - timedelta(microseconds=times[0])
    ends = [zero + timedelta(microseconds=time) for time in times]
    with open_dump(path, members[0].system, ends[0].replace(tzinfo=None)) as dump:
        for sequence, end in enumerate(ends, 1):
            for member in members:
                for record in _records(member, end, sequence):
                    dump.write(record)
        dump.finish(members[0].system, ends[-1].replace(tzinfo=None))
    return dump.written


def _records(member: Member, end: datetime, sequence: int) -> Iterator[Record]:
    """The records of a member at a point in time: IFCID 1, IFCID 2."""
    statistics = member.statistics[sequence - 1]
    kinds = smf100.statistics(
        pools=statistics.pools,
        group_pools=statistics.group_pools,
        checkpoints=smf100.checkpoint_row(statistics.checkpoints),
    )
    for kind, sections in kinds.items():
        yield smf100.record(
            kind,
            sections,
            system=member.system,
            subsystem=member.subsystem,
            group=member.group,
            at=end,
            sequence=sequence,
        )
