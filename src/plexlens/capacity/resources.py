"""DASD devices and the jobs that use them, coupling facilities and TCBs of CICS, as measured interval by interval.

SMF 74-1, 42-6, 74-4, 110-2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import rolled_up
from plexlens.metrics.facts import facts
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import rows_of


@dataclass(frozen=True)
class Device:
    """A DASD device over a period; the use of a shared device is summed over systems.

    Attributes
    ----------
    servers
        Its device number and the aliases that it had, mean: I/O operations at the same time.
    busy
        Busy share of them: connect and disconnect time.
    ios
        I/O operations.
    used, waited
        Seconds of connect and disconnect time; pending and IOS queue time.
    seconds
        Length of the time.
    """

    name: str
    servers: int
    busy: float
    ios: float
    used: float
    waited: float
    seconds: float


@dataclass(frozen=True)
class Facility:
    """Use of a coupling facility by a system.

    Attributes
    ----------
    engines, busy
        Engines, and their busy share, of all systems' requests.
    requests
        Of all systems.
    systems
        Systems that sent them.
    synchronous
        Share of them that was synchronous.
    sync, asynchronous
        Requests of this system and seconds of service as it saw them.
    squares
        Squared seconds of its synchronous requests; None where they are not recorded.
    subchannels
        Requests of this system that can be under way at the same time; None where it is not recorded.
    queued
        Seconds that its requests waited for a subchannel.
    """

    name: str
    system: str
    seconds: float
    engines: int
    busy: float
    requests: float
    systems: tuple[str, ...]
    synchronous: float
    sync: tuple[float, float]
    asynchronous: tuple[float, float]
    squares: float | None
    subchannels: int | None
    queued: float


@dataclass(frozen=True)
class JobUse:
    """Use of a device by the data sets of a job (SMF 42-6).

    Attributes
    ----------
    ios
        I/O operations.
    used, waited
        Seconds of connect and disconnect time; of the rest of the response time.
    """

    job: str
    service_class: str
    device: str
    ios: float
    used: float
    waited: float


@dataclass(frozen=True)
class TcbPool:
    """Open TCBs of a CICS region over a period (SMF 110-2).

    Attributes
    ----------
    limit
        MAXOPENTCBS; the last one in force.
    most
        Most in use at a time.
    allocated
        Times that a task got one.
    waited, waits
        Seconds that tasks waited at the limit, and how often.
    seconds
        Length of the time.
    """

    region: str
    limit: int
    most: float
    allocated: float
    waited: float
    waits: float
    seconds: float


Rows = tuple[dict[str, Any], ...]

_DEVICE = (
    "exposure_seconds", "device_seconds", "interval_seconds", "ios", "connect_seconds", "disconnect_seconds",
    "pending_seconds", "ios_queue_seconds",
)  # fmt: skip
_DATA_SET = ("ios", "response_seconds", "connect_seconds", "disconnect_seconds")
_FACILITY = (
    "interval_seconds", "busy_seconds", "effective_seconds", "sync_requests", "sync_seconds", "async_requests",
    "async_seconds", "queued_seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Resources:
    """Rows of devices, facilities and structures by interval."""

    devices: Rows = ()
    facilities: Rows = ()
    structures: Rows = ()
    tcbs: Rows = ()
    tcb_pools: Rows = ()
    data_sets: Rows = ()

    def part(self, keep: Callable[[datetime], bool]) -> Resources:
        """The rows of some intervals."""

        def kept(rows: Rows) -> Rows:
            return tuple(row for row in rows if keep(row["time"]))

        # Statistics intervals of CICS are not those of RMF: shares of them are taken, whichever they are.
        return Resources(
            kept(self.devices), kept(self.facilities), kept(self.structures), self.tcbs, self.tcb_pools,
            kept(self.data_sets),
        )  # fmt: skip


def read_resources(inputs: Inputs) -> Resources:
    """Rows of every available grain."""

    def rows(grain: str, *by: str) -> Rows:
        return tuple(rolled_up(inputs, GRAINS[grain], by=by, time="interval"))

    return Resources(
        rows("dasd_device", "system", "device"),
        rows("coupling_facility", "system", "facility"),
        rows("coupling_structure", "system", "facility"),
        rows("cics_tcb", "system", "applid", "mode"),
        rows("cics_tcb_pool", "system", "applid", "pool"),
        _data_sets(inputs),
    )


def _data_sets(inputs: Inputs) -> Rows:
    """Data sets by job and device; a record counts in the interval in which its middle is."""
    query = facts(inputs, GRAINS["data_set"])
    if query is None:
        return ()
    middle = "make_timestamptz((epoch_us(interval_start) + epoch_us(interval_end)) // 2)"
    sums = ", ".join(f"sum({name}) as {name}" for name in _DATA_SET)
    sql = (
        f'select system, job, service_class, device, {middle} as "time", {sums} from {query.source} '
        "where ios > 0 group by all order by all"
    )
    return tuple(rows_of(inputs.connection, sql))


def devices(resources: Resources) -> tuple[Device, ...]:
    """Devices with I/O activity."""
    by_system: dict[tuple[str, str], dict[str, float]] = {}
    for row in resources.devices:
        sums = by_system.setdefault((row["device"] or "", row["system"] or ""), dict.fromkeys(_DEVICE, 0.0))
        for name in _DEVICE:
            sums[name] += row[name] or 0.0
    results: dict[str, Device] = {}
    for (name, _), sums in sorted(by_system.items()):
        span, length = sums["exposure_seconds"] or sums["device_seconds"], sums["interval_seconds"]
        if not span or not sums["ios"] or not length:
            continue
        used = sums["connect_seconds"] + sums["disconnect_seconds"]
        waited = sums["pending_seconds"] + sums["ios_queue_seconds"]
        servers = max(1, round(span / length))
        before = results.get(name, Device(name, servers, 0.0, 0.0, 0.0, 0.0, length))
        results[name] = Device(
            name, max(servers, before.servers), before.busy + used / span, before.ios + sums["ios"],
            before.used + used, before.waited + waited, max(length, before.seconds),
        )  # fmt: skip
    return tuple(results.values())


def facilities(resources: Resources, system: str) -> tuple[Facility, ...]:
    """Coupling facilities that a system used."""
    values: dict[str, float] = {}
    waited_for: dict[str, float] = {}
    senders: dict[str, set[str]] = {}
    squares: dict[str, float] = {}
    texts: dict[str, bool] = {}
    for row in resources.structures:
        name = row["facility"] or ""
        values[name] = values.get(name, 0.0) + (row["sync_requests"] or 0.0) + (row["async_requests"] or 0.0)
        waited_for[name] = waited_for.get(name, 0.0) + (row["sync_requests"] or 0.0)
        if row["sync_requests"]:
            senders.setdefault(name, set()).add(row["system"] or "")
        if row["system"] == system:
            squares[name] = squares.get(name, 0.0) + (row["sync_squares"] or 0.0)
            texts[name] = texts.get(name, True) and row["sync_squares"] is not None
    results = []
    for name in sorted({row["facility"] or "" for row in resources.facilities}):
        rows = [row for row in resources.facilities if (row["facility"] or "") == name and row["system"] == system]
        sums = {fact: sum(row[fact] or 0.0 for row in rows) for fact in _FACILITY}
        if not rows or not sums["effective_seconds"] or not sums["interval_seconds"] or not values.get(name):
            continue
        channels = [row["subchannels"] for row in rows if row["subchannels"]]
        results.append(
            Facility(
                name, system, sums["interval_seconds"],
                max(1, round(sums["effective_seconds"] / sums["interval_seconds"])),
                sums["busy_seconds"] / sums["effective_seconds"], values[name],
                tuple(sorted(senders.get(name, ()))), waited_for[name] / values[name],
                (sums["sync_requests"], sums["sync_seconds"]), (sums["async_requests"], sums["async_seconds"]),
                squares[name] if texts.get(name) else None,
                round(sum(channels) / len(channels)) if channels else None, sums["queued_seconds"],
            )
        )  # fmt: skip
    return tuple(results)


def qr_busy(resources: Resources, system: str) -> dict[str, float]:
    """Busy share of the QR TCB of each region of a system, by its dispatcher statistics (SMF 110-2)."""
    sums: dict[str, tuple[float, float]] = {}
    for row in resources.tcbs:
        if row["mode"] == "QR" and row["system"] == system and row["interval_seconds"] and row["applid"]:
            used, seconds = sums.get(row["applid"], (0.0, 0.0))
            sums[row["applid"]] = used + (row["dispatch_seconds"] or 0.0), seconds + row["interval_seconds"]
    return {name: used / seconds for name, (used, seconds) in sorted(sums.items()) if used}


def open_tcb_pools(resources: Resources, system: str) -> tuple[TcbPool, ...]:
    """The pools of open TCBs of a system's regions, of those whose limit is recorded."""
    allocated: dict[str, float] = {}
    for row in resources.tcbs:
        if row["mode"] in ("L8", "L9") and row["system"] == system and row["applid"]:
            allocated[row["applid"]] = allocated.get(row["applid"], 0.0) + (row["allocations"] or 0.0)
    results: dict[str, list[dict[str, Any]]] = {}
    for row in resources.tcb_pools:
        if row["pool"] == "OPEN" and row["system"] == system and row["applid"] and row["limit"]:
            results.setdefault(row["applid"], []).append(row)
    return tuple(
        TcbPool(
            name, round(rows[-1]["limit"]), max(row["peak_used_tcbs"] or row["peak_tcbs"] or 0.0 for row in rows),
            allocated.get(name, 0.0), sum(row["limit_wait_seconds"] or 0.0 for row in rows),
            sum(row["limit_waits"] or 0.0 for row in rows), sum(row["interval_seconds"] or 0.0 for row in rows),
        )
        for name, rows in sorted(results.items())
    )  # fmt: skip


def job_uses(resources: Resources, system: str) -> tuple[JobUse, ...]:
    """Use of devices by each job of a system."""
    sums: dict[tuple[str, str, str], list[float]] = {}
    for row in resources.data_sets:
        if row["system"] != system or not row["ios"] or not row["device"]:
            continue
        used = (row["connect_seconds"] or 0.0) + (row["disconnect_seconds"] or 0.0)
        numbers = sums.setdefault((row["job"] or "", row["service_class"] or "", row["device"]), [0.0, 0.0, 0.0])
        for place, value in enumerate((row["ios"], used, max(0.0, (row["response_seconds"] or 0.0) - used))):
            numbers[place] += value
    return tuple(JobUse(*key, *values) for key, values in sorted(sums.items()))
