"""Counters of simulated pools as Db2 statistics records: SMF 100 IFCID 1 and 2."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.layouts_path import layout_folders
from plexlens.whole_file import whole_file

_SECOND = 1_000_000

#: Times of a trace that is no more than this after 1970 are relative: its statistics begin in 2000.
_RELATIVE = 365 * 86400 * _SECOND
_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: QWHSRN of Db2 12, whose statistics have counters of 8 bytes.
_RELEASE = 0xC1

#: A row of a section: columns to values.
Row = dict[str, Any]


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
                    what=f"{name!r} is no name of a {what}",
                    remedy="give 1 to 4 of the characters A-Z 0-9 @ # $",
                )
    times = [one.time for one in members[0].statistics]
    if len(times) < 2 or times[-1] <= times[0]:
        raise UsageError(
            file=str(path),
            what="the trace tells no times: statistics are of intervals of time",
            remedy="give a trace with a column time",
        )
    zero = _EPOCH if times[0] > _RELATIVE else _BEGINNING - timedelta(microseconds=times[0])
    ends = [zero + timedelta(microseconds=time) for time in times]
    catalogue = _core.Catalogue(layout_folders())
    written = 0
    with whole_file(path) as unfinished, _core.DumpWriter(unfinished) as dump:
        dump.dump_header(members[0].system, ends[0].replace(tzinfo=None))
        for sequence, end in enumerate(ends, 1):
            for member in members:
                for record in _records(catalogue, member, end, sequence):
                    dump.write(record)
                    written += 1
        dump.dump_trailer(members[0].system, ends[-1].replace(tzinfo=None))
    return written


def _records(catalogue: _core.Catalogue, member: Member, end: datetime, sequence: int) -> list[bytes]:
    """The records of a member at a point in time: IFCID 1, IFCID 2."""
    statistics = member.statistics[sequence - 1]
    header = {"qwhsiseq": sequence, "qwhsrn": _RELEASE, "qwhsssid": member.subsystem, "qwhsstck": end}
    headers: dict[str, Sequence[Row]] = {"smf100_qwhs": [header]}
    if member.group:
        headers["smf100_qwha"] = [{"qwhamemn": member.subsystem, "qwhadsgn": member.group}]
    kinds: dict[str, dict[str, Sequence[Row]]] = {
        "smf100_ifcid1": {"smf100_ifcid1_qwsd": [{"qwsdckpt": statistics.checkpoints}]},
        "smf100_ifcid2": {
            "smf100_ifcid2_qbst": statistics.pools,
            "smf100_ifcid2_qbgl": statistics.group_pools,
        },
    }
    identity = {"system": member.system, "subsystem": member.subsystem, "written_at": end.replace(tzinfo=None)}
    return [
        _core.encode_record(
            catalogue,
            kind,
            identity,
            {name: _batch(catalogue, name, rows) for name, rows in (headers | sections).items() if rows},
        )
        for kind, sections in kinds.items()
    ]


def _batch(catalogue: _core.Catalogue, section: str, rows: Sequence[Row]) -> pa.RecordBatch:
    named = {name for row in rows for name in row}
    fields = [one for one in catalogue.schema(section) if one.name in named]
    return pa.RecordBatch.from_pylist(list(rows), schema=pa.schema(fields))


def pool_row(pool: int, size: int, counters: Mapping[str, int], chain: tuple[int, int] | None = None) -> Row:
    """QBST of a simulated pool.

    Parameters
    ----------
    pool
        Its id.
    size
        Its buffers.
    counters
        By the names of `plexlens._core.PoolSimulation.fields`; empty at the beginning.
    chain
        Fewest and most buffers on the sequential chain.
    """
    row: Row = {"qbstpid": pool, "qbstvpl": size}
    for name, place, _ in _core.PoolSimulation.fields():
        if place:
            row[place.lower()] = counters.get(name, 0)
    # QBSTRIO counts all synchronous reads, QBSTSIO those of sequential access among them.
    row["qbstrio"] = counters.get("sync_reads_random", 0) + counters.get("sync_reads_sequential", 0)
    if chain is not None:
        row["qbstsmin"], row["qbstsmax"] = chain
    return row
