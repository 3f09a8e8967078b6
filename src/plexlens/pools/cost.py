"""The price of an I/O: CPU time, and the delay of the waiting application; measured from the site's data where
possible.

A number is *measured* (a mean that Db2 recorded), *fitted* (a line through the site's intervals), or *stated* (out of a
published study); every one carries where it comes from. A fit that cannot be trusted is refused, and says why.

CPU of synchronous reads is on the application's accounting, that of prefetch and deferred writes in the SRBs of the
DBM1 address space (from Db2 10 on mostly on zIIPs): the two are fitted from different records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain
from plexlens.metrics.display import with_symbol
from plexlens.metrics.evaluate import facts, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import FRACTION, MICROSECONDS, MILLISECONDS, Unit
from plexlens.pools import io_price
from plexlens.pools.regression import Fit, Slope, least_squares

STUDY = "DB2 Buffer Pool Tuning (2014)"

#: Fewest intervals that a line is fitted through (chosen).
LEAST_INTERVALS = 12

#: Least share of the variance that a line has to explain (chosen).
LEAST_R2 = 0.5

#: CPU seconds of one I/O that can be believed (chosen; sites report some 10 to 70 us). What lies outside is the price
#: of the work that comes with an I/O, not of the I/O.
PLAUSIBLE = (1e-6, 200e-6)


class Origin(StrEnum):
    """Origin of a number."""

    MEASURED = "measured"
    FITTED = "fitted"
    STATED = "stated"


@dataclass(frozen=True)
class Assumption:
    """A number and its origin.

    Attributes
    ----------
    value
        In the base unit of ``unit``.
    source
        The document, or the records and how many of them.
    low, high
        95 % confidence interval of a fitted number; None else.
    """

    title: str
    value: float
    unit: Unit
    origin: Origin
    source: str
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """``CPU of a synchronous read: 33.0 us, stated: ...``."""
        range_ = (
            ""
            if self.low is None or self.high is None
            else f" ({with_symbol(self.low, self.unit)} to {with_symbol(self.high, self.unit)} with 95 % confidence)"
        )
        return f"{self.title}: {with_symbol(self.value, self.unit)}{range_}, {self.origin}: {self.source}"


def _stated(title: str, value: float, unit: Unit, source: str) -> Assumption:
    return Assumption(title, value, unit, Origin.STATED, source)


SYNC_READ = _stated("CPU of a synchronous read I/O", io_price.CPU_OF_IO, MICROSECONDS, io_price.SOURCE)
ASYNC_IO = _stated(
    "CPU of a prefetch or deferred write I/O",
    io_price.CPU_OF_IO,
    MICROSECONDS,
    f"{STUDY}: its cost per I/O; its table of page fixing has 26 to 36 µs of DBM1 SRB time per I/O",
)
PAGE_FIX = _stated("Share of the I/O CPU that page fixing saves", 0.08, FRACTION, f"{STUDY}: about 8 %")
SYNC_DELAY = _stated(
    "Delay of a synchronous read I/O", 2e-3, MILLISECONDS, f"{STUDY}: mean of its busiest objects, pages in cache"
)
ASYNC_DELAY = _stated("Time of a prefetch I/O", 3e-3, MILLISECONDS, f"{STUDY}: dynamic prefetch of its object XGEN048B")

REQUEST = _stated(
    "CPU of a request to a group buffer pool",
    10e-6,
    MICROSECONDS,
    "chosen, of the order of a synchronous request to a near coupling facility; use SMF 74-4 for the value of the site",
)


#: Numbers of I/Os, or what they cost.
Amount = TypeVar("Amount", float, npt.NDArray[np.float64])


@dataclass(frozen=True)
class IoCost:
    """Prices of I/O, and of requests to group buffer pools.

    Attributes
    ----------
    sync_read, async_io
        CPU seconds of a synchronous read, and of a prefetch or deferred write.
    page_fix
        Share of this CPU that PGFIX(YES) saves.
    sync_delay, async_delay
        Seconds that a synchronous read takes, which its requester waits; that a prefetch takes, during which its
        requester may well work on.
    request
        CPU seconds of a request to a group buffer pool: the processor waits for a synchronous one. None of a Db2 alone.
    notes
        Fits that were refused and why, for the user.
    """

    sync_read: Assumption = SYNC_READ
    async_io: Assumption = ASYNC_IO
    page_fix: Assumption = PAGE_FIX
    sync_delay: Assumption = SYNC_DELAY
    async_delay: Assumption = ASYNC_DELAY
    request: Assumption | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """All the numbers."""
        io = (self.sync_read, self.async_io, self.page_fix, self.sync_delay, self.async_delay)
        return io if self.request is None else (*io, self.request)

    def cpu_seconds(self, sync_ios: Amount, async_ios: Amount, *, page_fixed: bool = False) -> Amount:
        """CPU seconds of the given numbers of synchronous I/Os and of prefetch and deferred write I/Os, also of arrays
        of them.
        """
        seconds = sync_ios * self.sync_read.value + async_ios * self.async_io.value
        return seconds * (1 - self.page_fix.value) if page_fixed else seconds

    def to_json(self) -> dict[str, Any]:
        """The numbers with their origins, as stored in a saved prediction."""
        names = ("sync_read", "async_io", "page_fix", "sync_delay", "async_delay", "group_request")
        return {
            name: {
                "value": assumption.value,
                "unit": assumption.unit.base,
                "origin": str(assumption.origin),
                "source": assumption.source,
                "low": assumption.low,
                "high": assumption.high,
            }
            for name, assumption in zip(names, self.assumptions, strict=False)
        }


def default_cost() -> IoCost:
    """The stated prices only."""
    return IoCost()


def group_cost(io: IoCost | None = None, request: Assumption = REQUEST) -> IoCost:
    """Prices for a group: those of I/O (stated ones if missing), and of requests to group buffer pools."""
    return replace(io or default_cost(), request=request)


def measured_request(inputs: Inputs) -> Assumption:
    """The mean service time of synchronous requests to group buffer pools in SMF 74-4; without these, the stated
    time.
    """
    query = facts(inputs, GRAINS["coupling_structure"])
    if query is None:
        return REQUEST
    rows = query.select("structure", "sync_requests", "sync_seconds").rows()
    own = [row for row in rows if "_GBP" in (row["structure"] or "") and row["sync_requests"] and row["sync_seconds"]]
    requests = sum(row["sync_requests"] for row in own)
    if not requests:
        return REQUEST
    return Assumption(
        REQUEST.title,
        sum(row["sync_seconds"] for row in own) / requests,
        REQUEST.unit,
        Origin.MEASURED,
        f"SMF 74-4: service time of {requests:,.0f} synchronous requests to {len({row['structure'] for row in own})} "
        "group buffer pools",
    )


def per_day(amount: float, seconds: float) -> float | None:
    """The amount per 24 hours that corresponds to ``amount`` in ``seconds``; None without a time."""
    return amount * io_price.DAY / seconds if seconds > 0 else None


def fitted_cost(inputs: Inputs, *, subsystem: str = "") -> IoCost:
    """Prices from the site's own records where these suffice, stated prices otherwise.

    Parameters
    ----------
    inputs
        Raw tables of a database.
    subsystem
        The Db2 whose records count; empty for all. Of several each has a constant of its own in a fit.
    """
    notes: list[str] = []
    cost = IoCost()
    fitted = fit_async(_dbm1_rows(inputs, subsystem))
    if isinstance(fitted, Assumption):
        cost = replace(cost, async_io=fitted)
    else:
        notes.append(fitted)
    fitted = fit_sync(_accounting_rows(inputs, subsystem))
    if isinstance(fitted, Assumption):
        cost = replace(cost, sync_read=fitted)
    else:
        notes.append(fitted)
    delays = measured_delays(inputs, subsystem)
    return replace(
        cost,
        sync_delay=delays.get("sync_delay", cost.sync_delay),
        async_delay=delays.get("async_delay", cost.async_delay),
        notes=tuple(notes),
    )


def fit_async(rows: Sequence[Mapping[str, Any]]) -> Assumption | str:
    """CPU of an asynchronous I/O: the slope of DBM1's SRB time over prefetch and deferred write I/Os.

    Parameters
    ----------
    rows
        For each interval ``subsystem``, ``cpu_seconds`` (SRB time of DBM1, CPs and zIIPs) and ``async_ios``.

    Returns
    -------
    Assumption or str
        The price; or why there is none.
    """
    return _fitted(
        rows,
        ASYNC_IO,
        "cpu_seconds",
        {"async_ios": "asynchronous I/Os"},
        "SRB time of DBM1 over prefetch and deferred write I/Os (SMF 100 IFCID 1 and 2)",
    )


def fit_sync(rows: Sequence[Mapping[str, Any]]) -> Assumption | str:
    """CPU of a synchronous read: its slope in class 2 CPU, fitted together with the slope of getpages.

    Parameters
    ----------
    rows
        For each interval ``subsystem``, ``cpu_seconds`` (class 2), ``sync_reads``, ``getpages``.

    Returns
    -------
    Assumption or str
        The price; or why there is none.
    """
    return _fitted(
        rows,
        SYNC_READ,
        "cpu_seconds",
        {"sync_reads": "synchronous reads", "getpages": "getpages"},
        "class 2 CPU over synchronous reads and getpages (SMF 101)",
    )


def _fitted(
    rows: Sequence[Mapping[str, Any]], default: Assumption, values: str, columns: Mapping[str, str], over: str
) -> Assumption | str:
    wanted = (values, *columns)
    known = [row for row in rows if all(row[name] is not None for name in wanted)]
    refused = f"{default.title} is not fitted ({over}) but assumed: "
    if len(known) < LEAST_INTERVALS:
        there = "no interval has" if not known else f"only {len(known)} intervals have"
        return f"{refused}{there} all values, and at least {LEAST_INTERVALS} are needed"
    fit = least_squares(
        {title: [float(row[name]) for row in known] for name, title in columns.items()},
        [float(row[values]) for row in known],
        [str(row["subsystem"]) for row in known],
    )
    if isinstance(fit, str):
        return f"{refused}{fit}"
    slope = fit.slopes[next(iter(columns.values()))]
    if doubt := _doubt(slope, fit):
        return f"{refused}{doubt}"
    source = f"{over}, {fit.n} intervals, r² {fit.r2:.2f}"
    return replace(
        default, value=slope.value, origin=Origin.FITTED, source=source, low=max(slope.low, 0.0), high=slope.high
    )


def _doubt(slope: Slope, fit: Fit) -> str:
    """Why a fitted slope is rejected as an I/O cost; empty if accepted."""
    text = f"{with_symbol(slope.value, MICROSECONDS)} from {fit.n} intervals, r² {fit.r2:.2f}"
    if slope.value <= 0:
        return f"the slope is negative ({text}); other work determines this CPU time"
    if fit.r2 < LEAST_R2:
        return f"the line explains too little ({text}; the minimum is {LEAST_R2:.2f})"
    if slope.low <= 0:
        return f"the slope is not significantly different from zero ({text})"
    if not PLAUSIBLE[0] <= slope.value <= PLAUSIBLE[1]:
        least, most = (with_symbol(bound, MICROSECONDS) for bound in PLAUSIBLE)
        return f"{text} is outside {least} to {most}: it includes work that accompanies an I/O"
    return ""


def _rows(inputs: Inputs, grain: Grain, subsystem: str, by: Sequence[str], time: str) -> list[dict[str, Any]]:
    results = rolled_up(inputs, grain, by=["subsystem", *by], time=time)
    return [row for row in results if not subsystem or row["subsystem"] == subsystem]


def _dbm1_rows(inputs: Inputs, subsystem: str) -> list[dict[str, Any]]:
    """SRB time of DBM1 and asynchronous I/Os of all pools, by interval."""
    ios = {
        (row["subsystem"], row["time"]): _sum(
            row[name]
            for name in ("sequential_prefetch_reads", "list_prefetch_reads", "dynamic_prefetch_reads", "async_writes")
        )
        for row in _rows(inputs, GRAINS["db2_pool"], subsystem, (), "interval")
    }
    return [
        {
            "subsystem": row["subsystem"],
            "cpu_seconds": _sum((row["srb_seconds"], row["iip_srb_seconds"])),
            "async_ios": ios.get((row["subsystem"], row["time"])),
        }
        for row in _rows(inputs, GRAINS["db2_address_space"], subsystem, ("address_space",), "interval")
        if str(row["address_space"]).endswith("DBM1")
    ]


def _accounting_rows(inputs: Inputs, subsystem: str) -> list[dict[str, Any]]:
    """Class 2 CPU, synchronous reads and getpages of all threads, by the interval in which they were written."""
    return [
        {
            "subsystem": row["subsystem"],
            "cpu_seconds": _sum((row["class2_cp_cpu_seconds"], row["class2_se_cpu_seconds"])),
            "sync_reads": row["sync_reads"],
            "getpages": row["getpages"],
        }
        for row in _rows(inputs, GRAINS["db2_accounting"], subsystem, (), "interval")
    ]


def _sum(parts: Any) -> float | None:
    known = [float(part) for part in parts if part is not None]
    return sum(known) if known else None


def measured_delays(inputs: Inputs, subsystem: str = "") -> dict[str, Assumption]:
    """Delays that Db2 recorded, as ``sync_delay`` and ``async_delay``.

    Accounting comes first: it has the waits for all synchronous I/O. IFCID 199 only has those of busy data sets, and
    is the only one of the two that tells prefetch.
    """
    assumptions: dict[str, Assumption] = {}
    data_sets = _rows(inputs, GRAINS["db2_data_set"], subsystem, (), "all")
    for name, default, kind in (("sync_delay", SYNC_DELAY, "sync"), ("async_delay", ASYNC_DELAY, "async")):
        ios, seconds = (_sum(row[f"{kind}_{what}"] for row in data_sets) for what in ("ios", "delay_seconds"))
        if ios and seconds:
            source = f"mean of {ios:,.0f} I/Os of data sets with one or more a second (SMF 102 IFCID 199)"
            assumptions[name] = replace(default, value=seconds / ios, origin=Origin.MEASURED, source=source)
    threads = _rows(inputs, GRAINS["db2_accounting"], subsystem, (), "all")
    events, seconds = (_sum(row[f"class3_database_io_{what}"] for row in threads) for what in ("events", "seconds"))
    if events and seconds:
        source = f"mean of {events:,.0f} class 3 suspensions for database I/O (SMF 101)"
        assumptions["sync_delay"] = replace(SYNC_DELAY, value=seconds / events, origin=Origin.MEASURED, source=source)
    return assumptions
