"""SMF 110 of the 2012 study: statistics of a minute of the region, and monitoring of a tenth of a second."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from plexlens import _core
from plexlens.example.cics_plan import CicsPlan
from plexlens.example.plan import Plan, Site
from plexlens.example.printed import number
from plexlens.example.record import StudyRecord, of_study, utc
from plexlens.layouts_path import layout_folders
from plexlens.smf_rows.record import Record, Row, Sections
from plexlens.smf_rows.smf110_1 import performance
from plexlens.smf_rows.smf110_2 import Dispatcher, Region, Tcbs, Transactions, sections

#: Fields of the dictionary that the performance records hold, in its order.
_TASK_FIELDS = (
    "TRAN",
    "START",
    "STOP",
    "TRANNUM",
    "PGMNAME",
    "RTYPE",
    "RPTCLSNM",
    "USRDISPT",
    "USRCPUT",
    "QRDISPT",
    "QRCPUT",
    "SUSPTIME",
    "DSPDELAY",
    "TCMSGIN1",
    "TCCHRIN1",
    "TCMSGOU1",
    "TCCHROU1",
)


def _seconds(clock: str) -> float:
    """Seconds of a cell such as ``00:01:00.982635``."""
    hours, minutes, seconds = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def _tcb(site: Site, cics: CicsPlan) -> tuple[int, float, float, float]:
    """MVS waits of the QR TCB, and its seconds waiting, dispatched and of CPU."""
    (row,) = site.study.table(cics.statistics_table)
    return (
        int(number(row["MVS Waits"])),
        _seconds(row["Accumulated time in MVS Wait"]),
        _seconds(row["Accumulated time dispatched"]),
        _seconds(row["Accumulated time/TCB"]),
    )


def _active(site: Site, cics: CicsPlan) -> int:
    """Transactions in the region: rate x response time."""
    measured = cics.measurement(cics.statistics_of)
    row = site.study.row(measured.table, ETR=measured.etr)
    return round(number(measured.etr) * number(row[cics.response[measured.table]]) / 1e3)


def _srb_seconds(site: Site, cics: CicsPlan) -> float:
    """SRB time of the region in the minute: its share of the interval in the address space report."""
    measured = cics.measurement(cics.statistics_of)
    report = next(iter(measured.reports.values()))
    printed = number(site.study.row(report, block="SERVICE TIME", field="SRB")["value"])
    return printed * cics.statistics.seconds / site.run(cics.statistics_of).seconds


def _statistics(site: Site, cics: CicsPlan) -> Record:
    window = cics.statistics
    waits, waiting, dispatched, cpu = _tcb(site, cics)
    transactions = round(number(cics.measurement(cics.statistics_of).etr) * window.seconds)
    active = _active(site, cics)
    # The study prints one TCB: the others are taken to use nothing.
    qr = Tcbs(attached=1, waiting=waiting, dispatched=dispatched, cpu=cpu, waits=waits)
    rows = sections(
        Region(cics.applid, window.start, window.end, number=1, length=60),
        Dispatcher(cpu, {"QR": qr}, srb=_srb_seconds(site, cics)),
        Transactions(transactions, limit=cics.task_limit, most=active, current=active),
    )
    return _record(site, cics, "smf110_2", window.end, rows)


def _record(site: Site, cics: CicsPlan, map_name: str, local: datetime, sections: Sections) -> Record:
    return Record(
        map=map_name,
        system=site.systems[0],
        end=utc(site, local),
        sections=sections,
        subsystem=cics.applid,
        utc_offset=site.utc_offset,
        dictionary_fields=_TASK_FIELDS if map_name == "smf110_1_class3" else (),
    )


def _task(site: Site, cics: CicsPlan, index: int) -> Row:
    """A task: it ends 1 / rate after the previous task; the QR TCB dispatches nothing else in between."""
    rate = number(cics.measurement(cics.statistics_of).etr)
    _, _, dispatched, cpu = _tcb(site, cics)
    stop = (cics.tasks.start - site.utc_offset).replace(tzinfo=UTC) + timedelta(seconds=(index + 1) / rate)
    response = (index % cics.tasks.longest_milliseconds + 1) / 1e3
    on_tcb, cpu_time = 1 / rate, cpu / dispatched / rate
    fields = {
        "TRAN": cics.transaction,
        "START": stop - timedelta(seconds=response),
        "STOP": stop,
        "TRANNUM": index + 1,
        "PGMNAME": cics.program,
        "RTYPE": "T",
        "RPTCLSNM": cics.transactions_class,
        "TCMSGIN1": 1,
        "TCCHRIN1": cics.tasks.bytes,
        "TCMSGOU1": 1,
        "TCCHROU1": cics.tasks.bytes,
    }
    clocks = {
        "USRDISPT": on_tcb,
        "USRCPUT": cpu_time,
        "QRDISPT": on_tcb,
        "QRCPUT": cpu_time,
        "SUSPTIME": response - on_tcb,
        "DSPDELAY": response - on_tcb,
    }
    return performance(fields, {name: (seconds, 1) for name, seconds in clocks.items()})


def _monitoring(site: Site, cics: CicsPlan) -> list[Record]:
    """The dictionary, written when the region started, and the tasks."""
    tasks, rows = cics.tasks, [_task(site, cics, index) for index in range(cics.tasks.count)]
    dictionary = _core.standard_dictionary(_core.Catalogue(layout_folders())).to_pylist()
    records = [_record(site, cics, "smf110_1_class1", site.runs[0].start, {"smf110_1_dictionary": dictionary})]
    rate = number(cics.measurement(cics.statistics_of).etr)
    for first in range(0, tasks.count, tasks.tasks_per_record):
        row = rows[first : first + tasks.tasks_per_record]
        written = tasks.start + timedelta(seconds=(first + len(row)) / rate)
        records.append(_record(site, cics, "smf110_1_class3", written, {"smf110_1_performance": row}))
    return records


def region_records(plan: Plan) -> list[StudyRecord]:
    """Records written by the region."""
    site = plan.site(plan.cics.study)
    return of_study(site.name, [*_monitoring(site, plan.cics), _statistics(site, plan.cics)])
