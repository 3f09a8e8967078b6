"""DASD devices, coupling facilities and QR TCBs, as measured interval by interval (SMF 74-1, 74-4, 110-2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import rolled_up
from plexlens.metrics.inputs import Inputs


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


Rows = tuple[dict[str, Any], ...]

_DEVICE = (
    "exposure_seconds", "device_seconds", "interval_seconds", "ios", "connect_seconds", "disconnect_seconds",
    "pending_seconds", "ios_queue_seconds",
)  # fmt: skip
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

    def part(self, keep: Callable[[datetime], bool]) -> Resources:
        """The rows of some intervals."""

        def kept(rows: Rows) -> Rows:
            return tuple(row for row in rows if keep(row["time"]))

        # Statistics intervals of CICS are not those of RMF: shares of them are taken, whichever they are.
        return Resources(kept(self.devices), kept(self.facilities), kept(self.structures), self.tcbs)


def read_resources(inputs: Inputs) -> Resources:
    """Rows of every available grain."""

    def rows(grain: str, *by: str) -> Rows:
        return tuple(rolled_up(inputs, GRAINS[grain], by=by, time="interval"))

    return Resources(
        rows("dasd_device", "system", "device"),
        rows("coupling_facility", "system", "facility"),
        rows("coupling_structure", "system", "facility"),
        rows("cics_tcb", "system", "applid", "mode"),
    )


def devices(resources: Resources) -> tuple[Device, ...]:
    """Devices with I/O activity."""
    by_system: dict[tuple[str, str], dict[str, float]] = {}
    for row in resources.devices:
        sums = by_system.setdefault((row["device"] or "", row["system"] or ""), dict.fromkeys(_DEVICE, 0.0))
        for name in _DEVICE:
            sums[name] += row[name] or 0.0
    made: dict[str, Device] = {}
    for (name, _), sums in sorted(by_system.items()):
        span, length = sums["exposure_seconds"] or sums["device_seconds"], sums["interval_seconds"]
        if not span or not sums["ios"] or not length:
            continue
        used = sums["connect_seconds"] + sums["disconnect_seconds"]
        waited = sums["pending_seconds"] + sums["ios_queue_seconds"]
        servers = max(1, round(span / length))
        before = made.get(name, Device(name, servers, 0.0, 0.0, 0.0, 0.0, length))
        made[name] = Device(
            name, max(servers, before.servers), before.busy + used / span, before.ios + sums["ios"],
            before.used + used, before.waited + waited, max(length, before.seconds),
        )  # fmt: skip
    return tuple(made.values())


def facilities(resources: Resources, system: str) -> tuple[Facility, ...]:
    """Coupling facilities that a system used."""
    asked: dict[str, float] = {}
    waited_for: dict[str, float] = {}
    senders: dict[str, set[str]] = {}
    squares: dict[str, float] = {}
    told: dict[str, bool] = {}
    for row in resources.structures:
        name = row["facility"] or ""
        asked[name] = asked.get(name, 0.0) + (row["sync_requests"] or 0.0) + (row["async_requests"] or 0.0)
        waited_for[name] = waited_for.get(name, 0.0) + (row["sync_requests"] or 0.0)
        if row["sync_requests"]:
            senders.setdefault(name, set()).add(row["system"] or "")
        if row["system"] == system:
            squares[name] = squares.get(name, 0.0) + (row["sync_squares"] or 0.0)
            told[name] = told.get(name, True) and row["sync_squares"] is not None
    made = []
    for name in sorted({row["facility"] or "" for row in resources.facilities}):
        rows = [row for row in resources.facilities if (row["facility"] or "") == name and row["system"] == system]
        sums = {fact: sum(row[fact] or 0.0 for row in rows) for fact in _FACILITY}
        if not rows or not sums["effective_seconds"] or not sums["interval_seconds"] or not asked.get(name):
            continue
        channels = [row["subchannels"] for row in rows if row["subchannels"]]
        made.append(
            Facility(
                name, system, sums["interval_seconds"],
                max(1, round(sums["effective_seconds"] / sums["interval_seconds"])),
                sums["busy_seconds"] / sums["effective_seconds"], asked[name],
                tuple(sorted(senders.get(name, ()))), waited_for[name] / asked[name],
                (sums["sync_requests"], sums["sync_seconds"]), (sums["async_requests"], sums["async_seconds"]),
                squares[name] if told.get(name) else None,
                round(sum(channels) / len(channels)) if channels else None, sums["queued_seconds"],
            )
        )  # fmt: skip
    return tuple(made)


def qr_busy(resources: Resources, system: str) -> dict[str, float]:
    """Busy share of the QR TCB of each region of a system, by its dispatcher statistics (SMF 110-2)."""
    sums: dict[str, tuple[float, float]] = {}
    for row in resources.tcbs:
        if row["mode"] == "QR" and row["system"] == system and row["interval_seconds"] and row["applid"]:
            used, seconds = sums.get(row["applid"], (0.0, 0.0))
            sums[row["applid"]] = used + (row["dispatch_seconds"] or 0.0), seconds + row["interval_seconds"]
    return {name: used / seconds for name, (used, seconds) in sorted(sums.items()) if used}
