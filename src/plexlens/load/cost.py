"""CPU time and response of each request on z/OS: SMF of the intervals that lie in the steady part of a load test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from plexlens.errors import NothingUsableError
from plexlens.load.run import Run
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import kept_facts, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import resolve, selected
from plexlens.metrics.source_rows import available

#: Seconds by which systems close the same interval apart.
TOGETHER = 2.0
#: Share by which tasks and requests may differ if each request is one task.
ALIKE = 0.02

#: Grains whose intervals all lie in the window.
_BY_INTERVAL = ("address_space", "workload_period")


@dataclass(frozen=True)
class Share:
    """CPU time of a part of z/OS over the window; seconds on general processors and on specialty engines."""

    part: str
    name: str
    system: str
    cp_seconds: float
    specialty_seconds: float
    ended: float | None = None


@dataclass(frozen=True)
class ServerShare:
    """CPU seconds of a part of a Linux server over the window, in all processes of a name together."""

    host: str
    kind: str
    name: str
    seconds: float


@dataclass(frozen=True)
class Tasks:
    """Tasks of a CICS transaction, or threads of a Db2 plan, over the window; seconds, summed."""

    where: str
    name: str
    number: float
    response_seconds: float | None
    cpu_seconds: float | None
    db2_seconds: float | None = None


@dataclass(frozen=True)
class Split:
    """Mean response time of a request, by where it passes; seconds.

    Attributes
    ----------
    client
        From the begin of the request, as the driver saw it.
    cics, db2
        In CICS, Db2 included, and in Db2.
    late
        Before its begin: how much later than the test plan wanted. None where the file has no plan.
    """

    client: float
    cics: float
    db2: float | None
    late: float | None = None

    @property
    def whole(self) -> float:
        """From the time at which the request was due, where that is known."""
        return self.client + (self.late or 0.0)

    @property
    def outside(self) -> float:
        """Network, and the time in the driver."""
        return self.client - self.cics

    @property
    def program(self) -> float:
        """CICS without Db2."""
        return self.cics - (self.db2 or 0.0)


@dataclass(frozen=True)
class Costs:
    """CPU time and response of the requests of a load test on z/OS.

    Attributes
    ----------
    start, end
        The window: whole SMF intervals within the steady part.
    requests, response
        Requests that began in it by the driver's record, and their mean response time in seconds.
    by_request
        The same by name of the request.
    spaces, classes, transactions, threads
        SMF 30, SMF 72-3, SMF 110-1, SMF 101.
    split
        None if the parts do not follow from the data; then `notes` says why.
    servers
        Samples of Linux servers.
    """

    start: datetime
    end: datetime
    requests: int
    response: float
    by_request: dict[str, tuple[int, float]]
    spaces: tuple[Share, ...]
    classes: tuple[Share, ...]
    transactions: tuple[Tasks, ...]
    threads: tuple[Tasks, ...]
    split: Split | None
    notes: tuple[str, ...] = ()
    names: dict[str, str] = field(default_factory=dict)
    servers: tuple[ServerShare, ...] = ()

    @property
    def seconds(self) -> float:
        """Length of the window."""
        return (self.end - self.start).total_seconds()


def costs_of(
    run: Run,
    inputs: Inputs,
    source: str,
    *,
    front: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
) -> Costs:
    """CPU time and response of the requests of a load test on z/OS.

    Parameters
    ----------
    run
        The load test.
    inputs
        SMF of the same time.
    source
        The dump or database, for messages.
    front
        CICS regions that the requests reach first; all regions by default.
    names
        CICS transaction by name of the request; a request has the transaction of its own name by default.

    Raises
    ------
    NothingUsableError
        The tool keeps no line per request, there is no SMF 30 or 72-3 data, or no interval lies in the steady part.
    """
    if run.test.requests is None or run.steady_from is None or run.steady_to is None:
        raise NothingUsableError(
            file=run.test.file,
            what=f"{run.test.tool} keeps no line per request, so its requests cannot be counted in SMF intervals",
            remedy="have the tool write each request, or leave --smf out",
        )
    start, end = _window(run, inputs, source)
    intervals = intervals_of(inputs, source, start, end)
    # Tasks and threads are selected as requests are, exactly.
    tasks = _part(inputs, source, start, end, timedelta())
    by_request = run.between(start, end)
    requests = sum(number for number, _ in by_request.values())
    if not requests:
        raise NothingUsableError(
            file=run.test.file, what=f"no request began from {start} to {end}", remedy="check --clock, --from and --to"
        )
    response = sum(number * mean for number, mean in by_request.values()) / requests
    transactions = _transactions(tasks)
    threads = _threads(tasks)
    notes: list[str] = []
    split = _split((requests, response), transactions, threads, front, notes)
    if split is not None:
        split = replace(split, late=run.late_between(start, end))
    return Costs(
        start,
        end,
        requests,
        response,
        by_request,
        tuple(_spaces(intervals)),
        tuple(_classes(intervals)),
        tuple(transactions),
        tuple(threads),
        split,
        tuple(notes),
        dict(names or {}),
    )


def intervals_of(inputs: Inputs, source: str, start: datetime, end: datetime) -> Inputs:
    """The part of the data whose intervals lie in a window; they may begin some moments before it."""
    return _part(inputs, source, start, end, timedelta(seconds=TOGETHER))


def _part(inputs: Inputs, source: str, start: datetime, end: datetime, earlier: timedelta) -> Inputs:
    chosen = selected(since=(start - earlier).isoformat(), until=(end - earlier).isoformat())
    return Inputs(inputs.connection, resolve(chosen, inputs.connection, source), reads_rollups=False)


def _window(run: Run, inputs: Inputs, source: str) -> tuple[datetime, datetime]:
    assert run.steady_from is not None and run.steady_to is not None
    by_source: dict[tuple[str, str], list[tuple[datetime, datetime]]] = {}
    for name in _BY_INTERVAL:
        grain = GRAINS[name]
        facts = kept_facts(inputs, grain) if available(inputs, grain) else None
        if facts is None:
            continue
        dated = facts.where("interval_start is not null and interval_end is not null")
        for row in dated.grouped(("system", "interval_start", "interval_end"), {"number": "count(*)"}).rows():
            begin, finish = row["interval_start"], row["interval_end"]
            if begin.tzinfo is not None and finish > begin:
                by_source.setdefault((name, row["system"] or ""), []).append((begin, finish))
    if not by_source:
        raise NothingUsableError(
            file=source,
            what="there is no SMF 30 or 72-3 interval with times in UTC",
            remedy="give the dump of the minutes of the test, with SMF 30 subtypes 2 and 3 or SMF 72-3",
        )
    slack = timedelta(seconds=TOGETHER)
    inside = {
        key: [
            (begin, finish)
            for begin, finish in intervals
            if begin >= run.steady_from - slack and finish <= run.steady_to + slack
        ]
        for key, intervals in by_source.items()
    }
    inside = {key: intervals for key, intervals in inside.items() if intervals}
    every = [interval for intervals in by_source.values() for interval in intervals]
    if not inside:
        longest = max(finish - begin for begin, finish in every)
        raise NothingUsableError(
            file=source,
            what=f"no SMF interval lies in the steady part of the test, {run.steady_from:%Y-%m-%d %H:%M:%S} to "
            f"{run.steady_to:%H:%M:%S} UTC; intervals are from {min(b for b, _ in every):%Y-%m-%d %H:%M:%S} to "
            f"{max(f for _, f in every):%Y-%m-%d %H:%M:%S} UTC and up to {longest.total_seconds() / 60:g} min long",
            remedy="run the test for longer than two SMF intervals, or set INTVAL(1) for the test; check --clock",
        )
    start = max(min(begin for begin, _ in intervals) for intervals in inside.values())
    end = min(max(finish for _, finish in intervals) for intervals in inside.values())
    whole = [
        (begin, finish)
        for intervals in inside.values()
        for begin, finish in intervals
        if begin < end - slack and finish > start + slack
    ]
    if end <= start or any(begin < start - slack or finish > end + slack for begin, finish in whole):
        raise NothingUsableError(
            file=source,
            what="the systems close their SMF intervals at different times, so no length of time in the steady part is "
            "covered by whole intervals of all",
            remedy="set SYNCVAL and INTVAL alike on all systems, or select systems that do with --system",
        )
    return start, end


def _rows(inputs: Inputs, name: str, by: Iterable[str]) -> list[dict[str, Any]]:
    return rolled_up(inputs, GRAINS[name], by=tuple(by), time="all")


def _spaces(inputs: Inputs) -> list[Share]:
    shares = [
        Share(
            "address space",
            row["job"] or "",
            row["system"] or "",
            row["cp_seconds"] or 0.0,
            (row["ziip_engine_seconds"] or 0.0) + (row["zaap_engine_seconds"] or 0.0),
        )
        for row in _rows(inputs, "address_space", ("job", "system"))
    ]
    return sorted(shares, key=lambda share: -(share.cp_seconds + share.specialty_seconds))


def _classes(inputs: Inputs) -> list[Share]:
    shares = []
    for row in _rows(inputs, "workload_period", ("class_kind", "class_name")):
        known = [row[f"{part}_seconds"] for part in ("tcb", "srb", "rct", "iit", "hst")]
        if all(value is None for value in known):
            continue
        everything = sum(value or 0.0 for value in known)
        special = (row["ziip_seconds"] or 0.0) + (row["zaap_seconds"] or 0.0)
        shares.append(
            Share(
                row["class_kind"] or "class",
                row["class_name"] or "",
                "",
                everything - special,
                special,
                row["transactions"],
            )
        )
    return sorted(shares, key=lambda share: (share.part, -(share.cp_seconds + share.specialty_seconds)))


def _transactions(inputs: Inputs) -> list[Tasks]:
    by_transaction = [
        Tasks(
            row["applid"] or "",
            row["transaction"] or "",
            row["transactions"] or 0.0,
            row["response_seconds"],
            row["cpu_seconds"],
            row["db2_seconds"],
        )
        for row in _rows(inputs, "cics_transaction", ("applid", "transaction"))
    ]
    return sorted(by_transaction, key=lambda tasks: -(tasks.cpu_seconds or 0.0))


def _threads(inputs: Inputs) -> list[Tasks]:
    by_plan = [
        Tasks(
            row["subsystem"] or "",
            row["plan"] or "",
            row["occurrences"] or 0.0,
            row["class2_elapsed_seconds"],
            _sum(row["class2_cp_cpu_seconds"], row["class2_se_cpu_seconds"]),
        )
        for row in _rows(inputs, "db2_accounting", ("subsystem", "plan"))
    ]
    return sorted(by_plan, key=lambda threads: -(threads.cpu_seconds or 0.0))


def _sum(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _split(
    driven: tuple[int, float],
    transactions: Sequence[Tasks],
    threads: Sequence[Tasks],
    front: Sequence[str],
    notes: list[str],
) -> Split | None:
    requests, response = driven
    if not transactions:
        notes.append(
            "The response is not split: there is no SMF 110-1 data of the window. Switch CICS performance class "
            "monitoring on (MNPER=ON)."
        )
        return None
    faced = [entry for entry in transactions if not front or entry.where in front]
    if not faced:
        notes.append(
            f"The response is not split: no region of {', '.join(front)} has SMF 110-1 data; regions with data are "
            f"{', '.join(sorted({entry.where for entry in transactions}))}."
        )
        return None
    tasks = sum(entry.number for entry in faced)
    if abs(tasks / requests - 1) > ALIKE:
        notes.append(
            f"The response is not split: {tasks:,.0f} CICS tasks ended while the driver sent {requests:,} requests, "
            f"{tasks / requests:.2f} per request. If requests pass through several regions, name those that they reach "
            "first with --front; if other users were active, or requests fail before they reach CICS, the parts do not "
            "add up to the response."
        )
        return None
    cics = sum(entry.response_seconds or 0.0 for entry in faced) / requests
    known = [entry.db2_seconds for entry in transactions if entry.db2_seconds is not None]
    db2 = sum(known) if known else _sum(*(entry.response_seconds for entry in threads))
    if cics > response:
        notes.append(
            f"The response is not split: tasks take {cics * 1e3:.3g} ms in CICS, more than the {response * 1e3:.3g} ms "
            "that the driver saw. The driver's response may end before the task does, as with a response sent early."
        )
        return None
    return Split(response, cics, None if db2 is None else db2 / requests)
