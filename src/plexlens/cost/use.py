"""Capacity that each partition used, and its limits, from the metrics of the database (SMF 70-1, RMF reports)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plexlens.cost.rolling import PERIOD, Hour, Samples, Series, Span, begins, hours, samples
from plexlens.errors import NothingUsableError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import kept_facts
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import rows_of

_NEEDED = (
    "system", "machine", "partition", "capacity_group", "interval_start", "interval_end", "utc_offset", "local_time",
    "msu", "interval_seconds", "dispatch_seconds", "defined_msu", "group_msu", "machine_msu", "weight",
    "logical_processors", "capped_samples", "limited_samples", "diagnose_samples",
)  # fmt: skip


@dataclass(frozen=True)
class PartitionUse:
    """A partition over the time of the data.

    Attributes
    ----------
    machine, name
        Machine and partition.
    system
        Its operating system; empty where the data names none.
    group
        Its capacity group; empty where it is in no group.
    samples
        Rates by five minutes.
    start
        First period of each four hours (`plexlens.cost.rolling.begins`).
    defined, group_limit
        Defined capacity and limit of its group, MSU; not a number where there is none.
    weight
        Weight of its shared general processors, the last one recorded.
    ceiling
        The most that its logical processors can use, MSU.
    msu_per_second
        MSU-hours of a second of a general processor, times 3600: the rate of one processor that is always busy.
    capped
        Share of the samples of PR/SM with capping in force, by interval; None where it is not recorded.
    recorded
        Four-hour average that the system recorded (SMF70LAC), by period; not a number where there is none.
    ipls
        Starts of the operating system within the data, seconds of the epoch.
    """

    machine: str
    name: str
    system: str
    group: str
    samples: Samples
    start: NDArray[np.int64]
    defined: Series
    group_limit: Series
    weight: float
    ceiling: float
    msu_per_second: float
    capped: float | None
    recorded: Series
    ipls: tuple[int, ...]


@dataclass(frozen=True)
class Use:
    """All partitions over one grid of five-minute periods.

    Attributes
    ----------
    first
        Start of the first period, seconds of the epoch.
    periods
        Number of periods.
    hours
        The hours of the clock that they fall into.
    partitions
        By machine and name.
    rated
        Capacity rating of each machine that records it, MSU.
    is_local
        Whether times are local times of unknown offset: changes of the clock cannot be seen.
    notes
        What was left out, and why.
    """

    first: int
    periods: int
    hours: tuple[Hour, ...]
    partitions: tuple[PartitionUse, ...]
    rated: Mapping[str, float]
    is_local: bool
    notes: tuple[str, ...]

    @property
    def machines(self) -> tuple[str, ...]:
        """Machines in order."""
        return tuple(dict.fromkeys(partition.machine for partition in self.partitions))

    def of(self, machine: str) -> tuple[PartitionUse, ...]:
        """The partitions of a machine."""
        return tuple(partition for partition in self.partitions if partition.machine == machine)

    def moment(self, seconds: float) -> datetime:
        """A moment as it is shown; without a time zone where times are local."""
        result = datetime.fromtimestamp(seconds, UTC)
        return result.replace(tzinfo=None) if self.is_local else result

    def clock(self, hour: Hour) -> datetime:
        """The beginning of an hour by the clock of the systems, without a time zone."""
        return self.moment(hour.start + (0 if self.is_local else hour.offset)).replace(tzinfo=None)


def read_use(inputs: Inputs, name: str) -> Use:
    """Read what partitions used.

    Parameters
    ----------
    inputs
        The selected tables.
    name
        What the user called them.

    Raises
    ------
    NothingUsableError
        No partition has a capacity used in MSU.
    """
    query = kept_facts(inputs, GRAINS["cpu_partition"])
    if query is None:
        raise NothingUsableError(
            file=name,
            what="it has no partitions of a machine, and MSU come from them",
            remedy="add SMF 70-1 or an RMF CPU activity report",
        )
    listed = ", ".join(column for column in _NEEDED if column in query.columns)
    rows = rows_of(
        inputs.connection,
        f"select {listed} from {query.source} where processor_type = 'CP' and partition <> 'PHYSICAL' "
        "order by machine, partition, interval_start",
    )
    known = [row for row in rows if row["msu"] is not None]
    if not known:
        raise NothingUsableError(
            file=name,
            what="no partition has the capacity used in MSU",
            remedy="add SMF 70-1 with PR/SM data and the CPU adjustment factor (SMF70CPA)",
        )
    notes = []
    if len(known) < len(rows):
        named = sorted({f"{row['machine'] or ''} {row['partition']}".strip() for row in rows if row["msu"] is None})
        notes.append(
            f"{len(rows) - len(known)} intervals of {', '.join(named)} are left out: their MSU are not known (no "
            "length of the interval, or no CPU adjustment factor)."
        )
    locals_ = [row for row in known if row.get("local_time")]
    is_local = len(locals_) == len(known)
    if locals_ and not is_local:
        notes.append(f"{len(locals_)} intervals in local time of unknown offset are left out: the others are in UTC.")
        known = [row for row in known if not row.get("local_time")]
    return _use(known, _recorded(inputs), _ipls(inputs), is_local=is_local, notes=tuple(notes))


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _use(
    rows: Sequence[Mapping[str, Any]],
    recorded: Mapping[str, list[Span]],
    ipls: Mapping[str, list[int]],
    *,
    is_local: bool,
    notes: tuple[str, ...],
) -> Use:
    first = int(min(_seconds(row["interval_start"]) for row in rows) // PERIOD * PERIOD)
    periods = math.ceil((max(_seconds(row["interval_end"]) for row in rows) - first) / PERIOD)
    by_partition: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        by_partition.setdefault((row["machine"] or "", row["partition"]), []).append(row)
    partitions = tuple(
        _partition(key, of_one, recorded, ipls, (first, periods)) for key, of_one in by_partition.items()
    )
    rated = {row["machine"] or "": float(row["machine_msu"]) for row in rows if row.get("machine_msu")}
    return Use(first, periods, hours(first, _offsets(rows, first, periods)), partitions, rated, is_local, notes)


def _offsets(rows: Sequence[Mapping[str, Any]], first: int, periods: int) -> list[int]:
    """Offset of the clock in each period: that of the latest interval that began by then."""
    changes = sorted(
        {(int((_seconds(row["interval_start"]) - first) // PERIOD), round(row.get("utc_offset") or 0)) for row in rows}
    )
    result = [changes[0][1]] * periods
    for place, offset in changes:
        if result[min(place, periods - 1)] != offset:
            result[place:] = [offset] * (periods - place)
    return result


def _spread(rows: Sequence[Mapping[str, Any]], name: str, first: int, periods: int) -> Series:
    """A setting by period: that of the interval, and before and after of the nearest one."""
    result = np.full(periods, np.nan)
    for row in rows:
        start = max(0, int((_seconds(row["interval_start"]) - first) // PERIOD))
        result[start:] = np.nan if row.get(name) is None else float(row[name])
        if row is rows[0]:
            result[:start] = result[start]
    return result


def _partition(
    key: tuple[str, str],
    rows: Sequence[Mapping[str, Any]],
    recorded: Mapping[str, list[Span]],
    ipls: Mapping[str, list[int]],
    grid: tuple[int, int],
) -> PartitionUse:
    first, periods = grid
    spans = [Span(_seconds(row["interval_start"]), _seconds(row["interval_end"]), float(row["msu"])) for row in rows]
    used = samples(spans, first, periods)
    system = next((row["system"] for row in reversed(rows) if row["system"]), "")
    loaded = tuple(moment for moment in ipls.get(system, ()) if spans[0].start < moment < spans[-1].end)
    busy = sum(float(row["dispatch_seconds"] or 0) for row in rows)
    rate = sum(span.msu * (span.end - span.start) for span in spans) / busy if busy else 0.0
    logical = max((float(row["logical_processors"] or 0) for row in rows), default=0.0)
    sampled = sum(float(row["diagnose_samples"] or 0) for row in rows)
    capped = sum(float(row["capped_samples"] or 0) for row in rows)
    reports = samples(recorded.get(system, ()), first, periods)
    return PartitionUse(
        *key,
        system,
        next((row["capacity_group"] for row in reversed(rows) if row["capacity_group"]), "") or "",
        used,
        begins(periods, [int((moment - first) // PERIOD) for moment in loaded]),
        _spread(rows, "defined_msu", first, periods),
        _spread(rows, "group_msu", first, periods),
        float(rows[-1]["weight"] or 0),
        max(logical * rate, float(used.msu.max())),
        rate,
        capped / sampled if sampled else None,
        np.where(reports.covered > 0, reports.msu / np.where(reports.covered > 0, reports.covered, 1), np.nan),
        loaded,
    )


def _recorded(inputs: Inputs) -> dict[str, list[Span]]:
    """Four-hour averages that systems recorded of themselves."""
    query = kept_facts(inputs, GRAINS["cpu_system"])
    if query is None or "rolling_msu_recorded" not in query.columns:
        return {}
    results: dict[str, list[Span]] = {}
    sql = f"""select system, interval_start, interval_end, rolling_msu_recorded as msu from {query.source}
        where processor_type = 'CP' and rolling_msu_recorded is not null and not local_time"""
    for row in rows_of(inputs.connection, sql):
        results.setdefault(row["system"] or "", []).append(
            Span(_seconds(row["interval_start"]), _seconds(row["interval_end"]), float(row["msu"]))
        )
    return results


def _ipls(inputs: Inputs) -> dict[str, list[int]]:
    """When each system was loaded (SMF70_IPL_TIME), seconds of the epoch."""
    if not inputs.has("smf70_1_cpu_control"):
        return {}
    control = inputs.selected("smf70_1_cpu_control", "smf70_ipl_time")
    sql = f"""select distinct system, epoch(smf70_ipl_time::timestamptz) as loaded from {control.source}
        where smf70_ipl_time is not null order by all"""
    results: dict[str, list[int]] = {}
    for row in rows_of(inputs.connection, sql):
        results.setdefault(row["system"] or "", []).append(int(row["loaded"]))
    return results
