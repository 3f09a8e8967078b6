"""SMF 72-3: a service class or report class with a single period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plexlens.smf_rows.record import Row, Sections, given

#: R723CADF: the kinds of data in a period.
_RESOURCE, _RESPONSE, _DELAYS = 0x80, 0x40, 0x20

#: R723MSCF: report class.
_REPORT_CLASS = 0x80

#: R723CRGF: a percentile or average response time; R723CRTF: in milliseconds.
_PERCENTILE, _AVERAGE, _MILLISECONDS = 0x80, 0x40, 0x80

#: Upper bounds of the first thirteen buckets of response times, in percent of their midpoint; the last is open.
BUCKET_PERCENTS = (50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 200, 400)

#: R723RFLG: begin-to-end phase, execution phase.
BEGIN_TO_END, EXECUTION = 0x80, 0x40


def units_per_second(adjustment: float, coefficient: float = 1.0) -> float:
    """Service units per second of processor time: coefficient x 16,000,000 / R723MADJ."""
    return coefficient * 16e6 / adjustment


@dataclass(frozen=True)
class WorkClass:
    """A service class or report class.

    Parameters
    ----------
    name
        Name.
    report
        Whether it is a report class.
    description, workload, policy
        As the service definition has them; None where they are not known.
    coefficient
        CPU and SRB service definition coefficient.
    adjustment
        16,000,000 / service units per second of a general engine.
    ziip_factor
        Speed of a zIIP against that of a general engine.
    sampling
        Seconds from one sample of WLM to the next, where it samples the class.
    samples
        Samples that WLM took.
    """

    name: str
    report: bool = False
    description: str | None = None
    workload: str | None = None
    policy: str | None = None
    coefficient: float | None = None
    adjustment: int | None = None
    ziip_factor: float | None = None
    sampling: float | None = None
    samples: int | None = None


@dataclass(frozen=True)
class Service:
    """Service of the processors in service units, and the time of the address spaces or enclaves in seconds.

    Parameters
    ----------
    cpu
        TCB service of all engines, that of zIIPs as a general engine would have given it.
    ziip, ziip_on_cp
        Service of zIIPs, and of general engines for work that zIIPs could have done.
    srb
        SRB service; None where it is not distinguished.
    total
        Service of all kinds; that of the processors unless it is given.
    active, resident
        Active time of transactions, and how long of it they were in storage.
    enclaves
        Active time of independent enclaves.
    """

    cpu: float
    ziip: float
    ziip_on_cp: float
    srb: float | None = None
    total: float | None = None
    active: float | None = None
    resident: float | None = None
    enclaves: float | None = None

    def row(self) -> Row:
        """Cells of the period."""
        return given(
            r723csrv=self.cpu + (self.srb or 0.0) if self.total is None else self.total,
            r723ccpu=self.cpu,
            r723csrb=self.srb,
            r723csup=self.ziip,
            r723csuc=self.ziip_on_cp,
            r723ctat=self.active,
            r723ctrr=self.resident,
            r723ciea=self.enclaves,
        )


@dataclass(frozen=True)
class Found:
    """WLM's samples of the class's address spaces by state.

    Parameters
    ----------
    using, using_ziip, ziip_work_on_cp
        Using general engines, zIIPs, and general engines for work of zIIPs.
    delay, ziip_delay
        Waiting for an engine.
    idle
        At nothing.
    taken
        Samples of all address spaces.
    """

    using: int
    using_ziip: int
    ziip_work_on_cp: int
    delay: int
    ziip_delay: int
    idle: int
    taken: int

    def row(self) -> Row:
        """Cells of the period."""
        using, delayed = self.using + self.using_ziip, self.delay + self.ziip_delay
        return {
            "r723ccus": self.using,
            "r723supu": self.using_ziip,
            "r723sucu": self.ziip_work_on_cp,
            "r723ctou": using,
            "r723ccde": self.delay,
            "r723supd": self.ziip_delay,
            "r723ctot": delayed,
            "r723ctdq": delayed,
            "r723cidl": self.idle,
            "r723ctsa": float(using + delayed + self.idle),
            "r723csac": self.taken,
        }


@dataclass(frozen=True)
class Io:
    """DASD I/O: requests, and sums of connect, disconnect, waiting (queue and pending) and queue time in seconds."""

    requests: int
    connected: float
    waiting: float
    disconnected: float | None = None
    queued: float | None = None

    def row(self) -> Row:
        """Cells of the period."""
        return given(
            r723circ=self.requests,
            r723cict=self.connected,
            r723cidt=self.disconnected,
            r723ciwt=self.waiting,
            r723ciot=self.queued,
        )


@dataclass(frozen=True)
class Responses:
    """Completed transactions.

    Parameters
    ----------
    ended
        How many.
    elapsed, squares
        Sums of their response times in seconds, and of the squares.
    execution
        Sum of their execution times.
    failed
        Transactions that ended abnormally.
    executed
        Ended execution phases of transactions that were routed.
    extended
        Whether the record has the extended sums too: older ones end before them.
    buckets
        Transactions by response time, as `BUCKET_PERCENTS` of the goal, and those above the last; None without a goal.
    """

    ended: int
    elapsed: float
    squares: float
    execution: float | None = None
    failed: int | None = None
    executed: int | None = None
    extended: bool = False
    buckets: Sequence[int] | None = None

    def row(self) -> Row:
        """Cells of the period."""
        row = given(
            r723crcp=self.ended,
            r723carc=self.failed,
            r723cncp=self.executed,
            r723ctet=self.elapsed,
            r723cets=self.squares,
            r723cxet=self.execution,
        )
        if self.extended:
            row |= given(r723ctetx=self.elapsed, r723cetsx=self.squares, r723cxetx=self.execution)
        return row


@dataclass(frozen=True)
class Goal:
    """A response time goal of a period, in seconds: an average, or for a percentage of the transactions."""

    seconds: float
    percent: float | None = None

    def row(self) -> Row:
        """Cells of the period."""
        return given(
            r723crgf=_AVERAGE if self.percent is None else _PERCENTILE,
            r723crtf=_MILLISECONDS,
            r723cval=max(round(self.seconds * 1000), 1),
            r723cpct=None if self.percent is None else round(self.percent),
        )


@dataclass(frozen=True)
class Period:
    """Activity of a class in its period.

    Parameters
    ----------
    number, importance
        As the service definition has them.
    goal, service, found, io, responses
        What is known of it.
    """

    number: int = 1
    importance: int | None = None
    goal: Goal | None = None
    service: Service | None = None
    found: Found | None = None
    io: Io | None = None
    responses: Responses | None = None


@dataclass(frozen=True)
class State:
    """Samples of a work manager's transactions in a phase, by state.

    Parameters
    ----------
    phase
        `BEGIN_TO_END` or `EXECUTION`.
    ready, active
        Ready to run, running.
    conversation, product
        Waiting for a conversation, or for another product.
    """

    phase: int
    ready: int
    active: int
    conversation: int | None = None
    product: int | None = None
    manager: str = "CICS"

    def row(self) -> Row:
        """The work manager state section."""
        return given(
            r723rtyp=self.manager,
            r723rflg=self.phase,
            r723ress=self.ready + self.active + (self.conversation or 0) + (self.product or 0),
            r723rrdy=self.ready,
            r723ract=self.active,
            r723rwco=self.conversation,
            r723rwo=self.product,
        )


def sections(
    work_class: WorkClass, period: Period, *, served: Mapping[str, int] | None = None, states: Sequence[State] = ()
) -> Sections:
    """The sections of a record.

    Parameters
    ----------
    work_class, period
        The class and its only period.
    served
        Classes whose transactions the class's address spaces served, with the samples that found them at it.
    states
        States of its transactions.
    """
    return {
        "smf72_3_wlm_control": [_control(work_class, len(states))],
        "smf72_3_served": [{"r723scsn": name, "r723scs_": seen} for name, seen in (served or {}).items()],
        "smf72_3_period": [_period(period, len(states))],
        "smf72_3_response_distribution": _buckets(period),
        "smf72_3_work_manager_state": [state.row() for state in states],
    }


def _control(work_class: WorkClass, states: int) -> Row:
    return given(
        r723mscf=_REPORT_CLASS if work_class.report else None,
        r723mnsp=work_class.policy,
        r723mwnm=work_class.workload,
        r723mcnm=work_class.name,
        r723mcde=work_class.description,
        r723mcpg=1,
        r723mcpu=work_class.coefficient,
        r723msrb=work_class.coefficient,
        r723mtvl=work_class.sampling,
        r723mtv_=work_class.samples,
        r723msub=states or None,
        r723madj=work_class.adjustment,
        r723nffi=work_class.ziip_factor,
        r723nffs=work_class.ziip_factor,
    )


def _period(period: Period, states: int) -> Row:
    text: Any = {_RESOURCE: period.service, _RESPONSE: period.responses, _DELAYS: period.found}
    row = given(
        r723cper=period.number,
        r723cimp=period.importance,
        r723cadf=sum(flag for flag, what in text.items() if what is not None),
    )
    if states:
        row |= {"r723cwmx": 1, "r723cwmn": states}
    if period.goal is not None and _buckets(period):
        # The distribution's first section has the bounds, the one after it the transactions.
        row |= {"r723crtx": 1, "r723rtdm": period.goal.seconds}
    for part in (period.goal, period.service, period.found, period.io, period.responses):
        if part is not None:
            row |= part.row()
    return row


def _buckets(period: Period) -> list[Row]:
    """Bounds of the buckets, and the transactions in them."""
    if period.responses is None or period.responses.buckets is None:
        return []

    def row(values: Sequence[int]) -> Row:
        return {f"r723trdb_{number}": value for number, value in enumerate(values, 1)}

    return [row(BUCKET_PERCENTS), row(period.responses.buckets)]
