"""SMF 30, subtype 2: what an address space used in an interval."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from plexlens.smf_rows.record import Record, Row, Sections, given

#: SMF30TYP and subtype of interval records; SMF30WID of started tasks.
_INTERVAL, _STARTED_TASK = 2, "STC"

_FRAME = 4096

#: SMF30MEM of an address space without MEMLIMIT, in bytes.
_NO_LIMIT = 0xFFFFFFFF000 << 20


@dataclass(frozen=True)
class Cpu:
    """Processor time in seconds.

    Parameters
    ----------
    tcb
        On general engines, with enclaves and preemptable SRBs.
    preemptable_srb
        Part of ``tcb``.
    srb
        Other SRBs.
    ziip
        On zIIPs, as run.
    ziip_on_cp
        Part of ``tcb`` that could have run on zIIPs.
    ziip_factor
        Speed of a zIIP against that of a general engine.
    busiest
        Percent of one engine that the busiest task used; None where it is not known.
    """

    tcb: float
    preemptable_srb: float
    srb: float
    ziip: float
    ziip_on_cp: float
    ziip_factor: float
    busiest: float | None = None

    def row(self) -> Row:
        """The processor accounting section, without the times of the interval."""
        return given(
            smf30cpt=self.tcb,
            smf30cps=self.srb,
            smf30asr=self.preemptable_srb,
            smf30_time_on_ziip=self.ziip,
            smf30_time_ziip_on_cp=self.ziip_on_cp,
            smf30_highest_task_cpu_percent=None if self.busiest is None else round(self.busiest),
        )


@dataclass(frozen=True)
class Io:
    """DASD I/Os of an address space, each of which is one EXCP, and the sums of their times in seconds."""

    requests: int
    connected: float
    pending: float
    disconnected: float

    def row(self) -> Row:
        """The I/O activity section."""
        return {
            "smf30tep": self.requests,
            "smf30tex": self.requests,
            "smf30ais": self.requests,
            "smf30tcn": self.connected,
            "smf30aic": self.connected,
            "smf30aid": self.disconnected,
            "smf30aiw": self.pending,
        }


@dataclass(frozen=True)
class AddressSpace:
    """A started task in an interval.

    Parameters
    ----------
    name, program, number
        Job name, program and address space id.
    workload, service_class, report_class
        Where WLM has it.
    started
        When it started, in UTC.
    cpu
        Processor time.
    service
        Service units, which are all of processors.
    adjustment
        16,000,000 / service units per second of a general engine.
    io
        Its I/Os; None where it makes none.
    above_bar
        Bytes of private storage above the bar, all of which frames are behind, where the space has no MEMLIMIT; None
        where nothing is known of its storage.
    """

    name: str
    program: str
    number: int
    workload: str
    service_class: str
    report_class: str
    started: datetime
    cpu: Cpu
    service: float
    adjustment: int
    io: Io | None = None
    above_bar: int | None = None


def record(
    space: AddressSpace,
    *,
    system: str,
    sysplex: str,
    start: datetime,
    end: datetime,
    utc_offset: timedelta = timedelta(0),
) -> Record:
    """The interval record of an address space.

    Parameters
    ----------
    space
        What it used.
    system, sysplex
        Where.
    start, end
        The interval, in UTC.
    utc_offset
        Local time less UTC.
    """
    first = max(space.started, start)
    date, clock = _local(first + utc_offset)
    initiated, initiated_at = _local(space.started + utc_offset)
    seconds = (end - first) / timedelta(seconds=1)
    sections: Sections = {
        "smf30_subsystem": [
            {"smf30typ": _INTERVAL, "smf30pnm": _STARTED_TASK, "smf30syn": system, "smf30syp": sysplex}
        ],
        "smf30_identification": [
            {
                "smf30jbn": space.name,
                "smf30pgm": space.program,
                "smf30stm": space.name,
                "smf30stn": 1,
                "smf30sit": initiated_at,
                "smf30std": initiated,
                "smf30iss": first,
                "smf30iet": end,
                "smf30asi": space.number,
            }
        ],
        "smf30_io_activity": [(space.io or Io(0, 0.0, 0.0, 0.0)).row()],
        "smf30_processor_accounting": [space.cpu.row() | {"smf30ist": clock, "smf30idt": date}],
        "smf30_storage": [] if space.above_bar is None else [_storage(space.above_bar)],
        "smf30_performance": [
            {
                "smf30srv_l": round(space.service),
                "smf30csu_l": round(space.service),
                "smf30tat": seconds,
                "smf30res": seconds,
                "smf30sus": space.adjustment,
                "smf30wlm": space.workload,
                "smf30scn": space.service_class,
                "smf30rcn": space.report_class,
                "smf30snf": space.cpu.ziip_factor,
            }
        ],
    }
    return Record("smf30", system, end, sections, utc_offset=utc_offset, subtype=_INTERVAL, work_type=_STARTED_TASK)


def _storage(above_bar: int) -> Row:
    return {
        "smf30mem": _NO_LIMIT,
        "smf30hvr": -(-above_bar // _FRAME),
        "smf30hvo": above_bar,
        "smf30hvh": above_bar,
    }


def _local(moment: datetime) -> tuple[object, float]:
    """Date, and seconds since midnight."""
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return moment.date(), (moment - midnight) / timedelta(seconds=1)
