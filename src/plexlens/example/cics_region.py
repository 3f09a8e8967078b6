"""SMF 110 of the 2012 study: statistics of one minute of the region, and monitoring of a tenth of a second of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from plexlens import _core
from plexlens.example.cics_plan import CicsPlan
from plexlens.example.plan import Plan, Site
from plexlens.example.printed import number
from plexlens.example.record import Record, Row, utc
from plexlens.layouts_path import layout_folders

#: TCB modes in the order of the dispatcher statistics; the study prints the first.
TCB_MODES = ("QR", "RO", "CO", "SZ", "RP", "FO", "SL", "SO", "SP", "EP", "TP", "D2", "S8", "L8", "L9", "X8", "X9", "T8")

#: STID of the entries of the dispatcher and of the transaction manager.
DISPATCHER = 62
TRANSACTION_MANAGER = 10

#: DSGGLEN: bytes from that field to the first TCB mode.
GLOBAL_LENGTH = 152

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
    """SRB time of the region in the minute: its share of the interval of the report on the address space."""
    measured = cics.measurement(cics.statistics_of)
    report = next(iter(measured.reports.values()))
    printed = number(site.study.row(report, block="SERVICE TIME", field="SRB")["value"])
    return printed * cics.statistics.seconds / site.run(cics.statistics_of).seconds


def _statistics(site: Site, cics: CicsPlan) -> Record:
    window = cics.statistics
    waits, waiting, dispatched, cpu = _tcb(site, cics)
    transactions = round(number(cics.measurement(cics.statistics_of).etr) * window.seconds)
    active = _active(site, cics)
    product: Row = {
        "smfstprn": cics.applid,
        "smfstspn": cics.applid,
        "smfstjbn": cics.applid,
        "smfstdid": "ST",
        "smfstrqt": "INT",
        "smfsticd": "NO",
        "smfstdat": f"{window.end:%m%d%Y}",
        "smfstclt": f"{window.end:%H%M%S}",
        "smfstint": "000100",
        "smfstlrt": f"{window.start:%H%M%S}",
        "smfstino": 1,
    }
    dispatcher: Row = {
        "dsgid": DISPATCHER,
        "dsgdvers": 1,
        "dsgglen": GLOBAL_LENGTH,
        "dsgasize": len(TCB_MODES),
        # The study prints one TCB: the others are taken to use nothing.
        "dsgejst": cpu,
        "dsgsrbt": _srb_seconds(site, cics),
    }
    modes: list[Row] = [{"dsgtcbnm": name} for name in TCB_MODES]
    modes[0] |= {
        "dsgtcbca": 1,
        "dsgtcbpa": 1,
        "dsgsysw": waits,
        "dsgtwt": waiting,
        "dsgtdt": dispatched,
        "dsgact": cpu,
    }
    manager: Row = {
        "xmgid": TRANSACTION_MANAGER,
        "xmgdvers": 1,
        "xmgnum": transactions,
        "xmgtat": transactions,
        "xmgmxt": cics.task_limit,
        "xmgcat": active,
        "xmgpat": active,
    }
    sections = {
        "smf110_2_product": [product],
        "smf110_2_dispatcher": [dispatcher],
        "smf110_2_dispatcher_tcb_mode": modes,
        "smf110_2_transaction_manager": [manager],
    }
    return _record(site, cics, "smf110_2", window.end, sections)


def _record(
    site: Site,
    cics: CicsPlan,
    map_name: str,
    local: datetime,
    sections: dict[str, list[Row]],
) -> Record:
    return Record(
        study=site.name,
        map=map_name,
        system=site.systems[0],
        written_at=local,
        end=utc(site, local),
        sections=sections,
        lengths={},
        subsystem=cics.applid,
        dictionary_fields=_TASK_FIELDS if map_name == "smf110_1_class3" else (),
    )


def _task(site: Site, cics: CicsPlan, index: int) -> Row:
    """A task: it ends 1 / rate after the one before it; the QR TCB is dispatched for nothing else in between."""
    rate = number(cics.measurement(cics.statistics_of).etr)
    _, _, dispatched, cpu = _tcb(site, cics)
    stop = (cics.tasks.start - site.utc_offset).replace(tzinfo=UTC) + timedelta(seconds=(index + 1) / rate)
    response = (index % cics.tasks.longest_milliseconds + 1) / 1e3
    on_tcb, cpu_time = 1 / rate, cpu / dispatched / rate
    clocks = {
        "usrdispt": on_tcb,
        "usrcput": cpu_time,
        "qrdispt": on_tcb,
        "qrcput": cpu_time,
        "susptime": response - on_tcb,
        "dspdelay": response - on_tcb,
    }
    return {
        "tran": cics.transaction,
        "start": stop - timedelta(seconds=response),
        "stop": stop,
        "trannum": index + 1,
        "pgmname": cics.program,
        "rtype": "T",
        "rptclsnm": cics.transactions_class,
        **{f"{name}_seconds": seconds for name, seconds in clocks.items()},
        **{f"{name}_count": 1 for name in clocks},
        "tcmsgin1": 1,
        "tcchrin1": cics.tasks.bytes,
        "tcmsgou1": 1,
        "tcchrou1": cics.tasks.bytes,
    }


def _monitoring(site: Site, cics: CicsPlan) -> list[Record]:
    """The dictionary, written when the region started, and the tasks."""
    tasks, rows = cics.tasks, [_task(site, cics, index) for index in range(cics.tasks.count)]
    dictionary = _core.standard_dictionary(_core.Catalogue(layout_folders())).to_pylist()
    records = [_record(site, cics, "smf110_1_class1", site.runs[0].start, {"smf110_1_dictionary": dictionary})]
    rate = number(cics.measurement(cics.statistics_of).etr)
    for first in range(0, tasks.count, tasks.tasks_per_record):
        held = rows[first : first + tasks.tasks_per_record]
        written = tasks.start + timedelta(seconds=(first + len(held)) / rate)
        records.append(_record(site, cics, "smf110_1_class3", written, {"smf110_1_performance": held}))
    return records


def region_records(plan: Plan) -> list[Record]:
    """Records that the region wrote."""
    site = plan.site(plan.cics.study)
    return [*_monitoring(site, plan.cics), _statistics(site, plan.cics)]
