"""Measurements of classes and processors by interval, assembled for a model."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from plexlens.capacity.accounts import Records, read_records
from plexlens.capacity.resources import Resources, read_resources
from plexlens.errors import NothingUsableError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import rows_of

#: Facts that are added over intervals; the others are settings, of which the last one counts.
_ADDED = (
    "interval_seconds", "transactions", "elapsed_seconds", "cp_seconds", "ziip_seconds", "ziip_engine_seconds",
    "ziip_on_cp_seconds", "zaap_seconds", "using_samples", "delay_samples", "cpu_using_samples", "cpu_delay_samples",
    "ziip_using_samples", "ziip_delay_samples", "io_using_samples", "io_delay_samples", "unknown_samples",
    "dasd_requests", "dasd_connect_seconds", "dasd_disconnect_seconds", "dasd_wait_seconds",
    "dasd_ios_queue_seconds", *(f"bucket_{n}" for n in range(1, 15)),
)  # fmt: skip
_SETTINGS = (
    "importance", "goal", "goal_percentile", "goal_seconds", "goal_velocity", *(f"bound_{n}" for n in range(1, 14)),
)  # fmt: skip

Facts = dict[str, Any]
ClassKey = tuple[str, str]
"""System, and class with its period: ``DDFHI.1``."""


@dataclass(frozen=True)
class Processors:
    """Engines of a kind on a system, over a single interval or all.

    Attributes
    ----------
    engines
        Engines online and not parked, mean.
    busy
        Engines kept busy, mean: as PR/SM dispatched them where that is recorded, else as z/OS saw them.
    by_dispatch
        Whether ``busy`` is PR/SM's.
    """

    seconds: float
    engines: float
    busy: float
    by_dispatch: bool


@dataclass(frozen=True)
class Share:
    """Capacity that PR/SM grants a partition: engines by weight, and time limited by capping."""

    entitled: float | None
    limited: float | None


@dataclass(frozen=True)
class Measured:
    """All inputs of a calibration.

    Attributes
    ----------
    intervals
        Start of the intervals that have both class periods and processors.
    classes
        Facts of each class period in each interval.
    processors
        Engines by (system, kind) in each interval; kinds ``CP`` and ``IIP``.
    served
        Samples in which a class of address spaces served a class of transactions, by system and the two names.
    records
        What records of single transactions say, by the interval in which they ended.
    resources
        DASD devices and coupling facilities.
    """

    intervals: tuple[datetime, ...]
    classes: dict[datetime, dict[ClassKey, Facts]]
    processors: dict[datetime, dict[tuple[str, str], Processors]]
    shares: dict[str, Share] = field(default_factory=dict)
    served: dict[tuple[str, str, str], float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    kind: str = "service class"
    records: Records = field(default_factory=Records)
    resources: Resources = field(default_factory=Resources)

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems that have processors."""
        return tuple(sorted({system for rows in self.processors.values() for system, _ in rows}))

    def part(self, times: Iterable[datetime]) -> Measured:
        """The measurements of some intervals. Samples of served classes and PR/SM capacity remain those of all
        intervals.
        """
        kept = sorted(set(times))
        within = _inside(kept, self.processors)
        return replace(
            self,
            intervals=tuple(kept),
            classes={time: self.classes[time] for time in kept},
            processors={time: self.processors[time] for time in kept},
            records=self.records.part(within),
            resources=self.resources.part(within),
        )

    def total(self, key: ClassKey) -> Facts:
        """Facts of a class period over all intervals."""
        return added(rows[key] for rows in self.classes.values() if key in rows)

    def engines(self, system: str, kind: str) -> Processors | None:
        """Engines of a system over all intervals; None if it has none of this kind."""
        rows = [rows[system, kind] for rows in self.processors.values() if (system, kind) in rows]
        seconds = sum(row.seconds for row in rows)
        if not seconds:
            return None
        return Processors(
            seconds,
            sum(row.engines * row.seconds for row in rows) / seconds,
            sum(row.busy * row.seconds for row in rows) / seconds,
            all(row.by_dispatch for row in rows),
        )


def added(rows: Iterable[Facts]) -> Facts:
    """Facts of several intervals combined; a fact that is missing everywhere stays None."""
    facts: Facts = dict.fromkeys((*_ADDED, *_SETTINGS))
    for row in rows:
        for name in _ADDED:
            if row.get(name) is not None:
                facts[name] = (facts[name] or 0.0) + row[name]
        for name in _SETTINGS:
            if row.get(name) is not None:
                facts[name] = row[name]
    return facts


def measure(inputs: Inputs, name: str = "", *, kind: str = "service class") -> Measured:
    """Read the inputs of a model.

    Parameters
    ----------
    inputs
        The raw tables.
    name
        What the user called them.
    kind
        ``service class`` or ``report class``: whose periods are the classes of the model.

    Raises
    ------
    NothingUsableError
        There are no class periods, no processors, or no interval that has both.
    """
    period, system = GRAINS["workload_period"], GRAINS["cpu_system"]
    lacking = [
        (what, how)
        for grain, what, how in (
            (period, "class periods", "SMF 72-3 or an RMF workload activity report"),
            (system, "processors", "SMF 70-1 or an RMF CPU activity report"),
        )
        if not available(inputs, grain)
    ]
    if lacking:
        raise NothingUsableError(
            file=name,
            what=f"it has no {' and no '.join(what for what, _ in lacking)}, and calibration needs both",
            remedy="add " + " and ".join(how for _, how in lacking) + " of the same time",
        )
    processors = _processors(inputs)
    systems = sorted({text for rows in processors.values() for text, _ in rows})
    classes, notes = _classes(inputs, kind, systems)
    both = sorted(time for time in classes if time in processors)
    if not both:
        raise NothingUsableError(
            file=name,
            what=f"no interval has both {kind} periods ({_span(classes)}) and processors ({_span(processors)})",
            remedy="give SMF 70-1 and 72-3 (or RMF reports) of the same systems and intervals",
        )
    alone = len(classes.keys() ^ processors.keys())
    if alone:
        notes.append(
            f"{alone} intervals are left out: they have class periods without processors, or processors "
            "without class periods."
        )
    within = _inside(both, processors)
    return Measured(
        tuple(both),
        {time: classes[time] for time in both},
        {time: processors[time] for time in both},
        _shares(inputs, systems),
        _served(inputs),
        tuple(notes),
        kind,
        read_records(inputs, both[0], _shortest(processors)).part(within),
        read_resources(inputs).part(within),
    )


def _shortest(processors: Mapping[datetime, Mapping[tuple[str, str], Processors]]) -> float:
    """Seconds of the shortest interval."""
    return max(1.0, min(round(row.seconds) for rows in processors.values() for row in rows.values()))


def _inside(
    times: Iterable[datetime], processors: Mapping[datetime, Mapping[tuple[str, str], Processors]]
) -> Callable[[datetime], bool]:
    """Predicate for whether a moment is within one of the intervals that start at these times."""
    spans = sorted(
        (time, time + timedelta(seconds=max(r.seconds for r in processors[time].values()))) for time in times
    )
    starts = [start for start, _ in spans]

    def inside(moment: datetime) -> bool:
        place = bisect_right(starts, moment) - 1
        return place >= 0 and moment < spans[place][1]

    return inside


def _span(times: Iterable[datetime]) -> str:
    moments = sorted(times)
    if not moments:
        return "none"
    first, last = (moment.strftime("%Y-%m-%d %H:%M") for moment in (moments[0], moments[-1]))
    return first if first == last else f"{first} to {last}"


def _rows(inputs: Inputs, grain: str, by: tuple[str, ...], time: str = "interval") -> list[Facts]:
    return rolled_up(inputs, GRAINS[grain], by=by, time=time)


def _classes(inputs: Inputs, kind: str, systems: list[str]) -> tuple[dict[datetime, dict[ClassKey, Facts]], list[str]]:
    facts: dict[datetime, dict[ClassKey, Facts]] = {}
    nameless = strangers = 0
    for row in _rows(inputs, "workload_period", ("system", "class_kind", "class_name", "period")):
        if row["class_kind"] != kind or row["class_name"] is None:
            continue
        system = row["system"]
        if system is None and len(systems) == 1:
            system = systems[0]
        if system is None:
            nameless += 1
            continue
        if system not in systems:
            strangers += 1
            continue
        name = row["class_name"] + (f".{row['period']}" if row["period"] else "")
        facts.setdefault(row["time"], {})[system, name] = row
    notes = []
    if nameless:
        notes.append(
            f"{nameless} rows of class periods are left out: they name no system, and the data has {len(systems)}. "
            "Give reports of one system at a time, or SMF 72-3."
        )
    if strangers:
        notes.append(f"{strangers} rows of class periods are left out: their systems have no processor data.")
    return facts, notes


def _processors(inputs: Inputs) -> dict[datetime, dict[tuple[str, str], Processors]]:
    processors: dict[datetime, dict[tuple[str, str], Processors]] = {}
    for row in _rows(inputs, "cpu_system", ("system", "processor_type")):
        seconds, kind = row["interval_seconds"], row["processor_type"]
        if not seconds or kind not in ("CP", "IIP"):
            continue
        online = row["engine_seconds"] or 0.0
        parked = row["parked_seconds"] or 0.0
        dispatched = row["dispatch_seconds"]
        busy = dispatched if dispatched is not None else online - parked - (row["wait_seconds"] or 0.0)
        engines = (online - parked) / seconds
        if engines <= 0:
            continue
        processors.setdefault(row["time"], {})[row["system"] or "", kind] = Processors(
            seconds, engines, busy / seconds, dispatched is not None
        )
    return processors


def _shares(inputs: Inputs, systems: list[str]) -> dict[str, Share]:
    if not available(inputs, GRAINS["cpu_partition"]):
        return {}
    rows = _rows(inputs, "cpu_partition", ("system", "machine", "partition", "processor_type"), time="all")
    return {
        row["system"]: Share(row["entitled_processors"], row["limited_fraction"])
        for row in rows
        if row["processor_type"] == "CP" and row["system"] in systems
    }


def _served(inputs: Inputs) -> dict[tuple[str, str, str], float]:
    """Samples in which a class served another class (SMF 72-3, R723SCSN and R723SCS#)."""
    if not inputs.has("smf72_3_served", "smf72_3_wlm_control"):
        return {}
    served = inputs.selected("smf72_3_served", "r723scs_", "r723scsn")
    control = inputs.raw("smf72_3_wlm_control", ("r723mscf", "r723mcnm"))
    # R723MSCF bit 0: a report class.
    sql = f"""
        select s.system, c.r723mcnm, s.r723scsn, sum(s.r723scs_::double) as samples
        from {served.source} s join ({control}) c on s.source_id = c.source_id and s.record_no = c.record_no
        where c.r723mscf::bigint & 128 = 0
        group by all"""
    return {
        (row["system"], row["r723mcnm"], row["r723scsn"]): row["samples"]
        for row in rows_of(inputs.connection, sql)
        if row["samples"] and row["r723scsn"]
    }
