"""SMF 72-3: CICS transactions of the 1996 study as report classes, Db2 DDF of the 2008 study as a service class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plexlens.example.plan import Plan, ReportClass, Run, Site
from plexlens.example.printed import number
from plexlens.example.record import Reporter, StudyRecord, rmf_record
from plexlens.smf_rows.smf72_3 import Io, Period, Responses, Service, WorkClass, sections, units_per_second

_SYSPLEX = "sysplex-1996"
_ZXML = "zxml-2008"

#: Runs whose transaction rates the study tabulates, with the table.
_RATE_TABLES = {"A1": "table_13", "A3": "table_11"}


def _response(site: Site, rows: tuple[str, ...]) -> float:
    """Mean response time over rows of table 4a in seconds, weighted by their volumes."""
    cells = [site.study.row("table_04a", Transaction=name) for name in rows]
    volumes = [int(row["Volume"]) for row in cells]
    means = [number(row["MEAN Response Time (sec)"]) for row in cells]
    return sum(v * m for v, m in zip(volumes, means, strict=True)) / sum(volumes)


def _transactions(reporter: Reporter, kind: ReportClass) -> int:
    """Ended transactions: the volume of table 4a, or rate x interval of tables 11 and 13."""
    site, run = reporter.site, reporter.run
    if run.name not in _RATE_TABLES:
        return int(site.study.row("table_04a", Transaction=kind.printed_as)["Volume"])
    row = site.study.row(_RATE_TABLES[run.name], Tranid=kind.printed_as)
    return site.study.count(row[f"{reporter.system} Rate/second"], run.seconds)


def _class_record(reporter: Reporter, work_class: WorkClass, period: Period) -> StudyRecord:
    return rmf_record(reporter, "smf72_3", sections(work_class, period))


def _report_class(reporter: Reporter, kind: ReportClass) -> StudyRecord:
    """The record of a report class; CICS transactions have response times, their CPU time is in the regions'
    classes.
    """
    ended = _transactions(reporter, kind)
    mean = _response(reporter.site, kind.response_as)
    # Deviations are not printed: response times are taken to scatter like exponential ones, deviation = mean.
    responses = Responses(ended, ended * mean, ended * 2 * mean**2)
    work_class = WorkClass(kind.name, report=True, description=kind.printed_as)
    return _class_record(reporter, work_class, Period(responses=responses))


def _cics(plan: Plan) -> list[StudyRecord]:
    site = plan.site(_SYSPLEX)
    return [
        _report_class(Reporter(site, run, system), kind)
        for run in site.runs
        # Table 4a is the profile of regions on SYS1.
        for system in (site.systems if run.name in _RATE_TABLES else site.systems[:1])
        for kind in plan.classes
        if run.name in kind.runs
    ]


def _case_1_2(plan: Plan, site: Site, run: Run, per_second: float) -> Period:
    """The period of the workload activity report.

    service = seconds of CPU x service units a second of CPU; seconds of APPL % = percent / 100 x interval;
    active time = AVG x interval; sum of response times = ended x ACTUAL.
    """
    cells = {(row["block"], row["field"]): row["value"] for row in site.study.table("workload_activity")}
    times, io = "TRANS-TIME HHH.MM.SS.TTT", "DASD I/O"
    ended = int(cells["TRANSACTIONS", "ENDED"])
    mean, deviation = number(cells[times, "ACTUAL"]) / 1e3, number(cells[times, "STD DEV"]) / 1e3
    active = number(cells["TRANSACTIONS", "AVG"]) * run.seconds
    requests = round(number(cells[io, "SSCHRT"]) * run.seconds)
    return Period(
        service=Service(
            cpu=float(plan.workload["case_1_2_cpu_service"]),
            ziip=float(round(number(cells["SERVICE TIMES", "IIP"]) * per_second)),
            ziip_on_cp=float(round(number(cells["APPL %", "IIPCP"]) / 100 * run.seconds * per_second)),
            active=active,
            resident=number(cells["TRANSACTIONS", "MPL"]) * run.seconds,
            enclaves=number(cells["TRANSACTIONS", "AVG ENC"]) * run.seconds,
        ),
        io=Io(
            requests,
            connected=requests * number(cells[io, "CONN"]) / 1e3,
            waiting=requests * number(cells[io, "Q+PEND"]) / 1e3,
        ),
        responses=Responses(
            ended,
            ended * mean,
            ended * (mean**2 + deviation**2),
            execution=ended * number(cells[times, "EXECUTION"]) / 1e3,
        ),
    )


def _case_1_1(site: Site, run: Run, per_second: float) -> Period:
    """The period of case 1-1, for which the study prints rates and percentages but no workload activity report.

    ended = rate x interval; CPU time = ended x total CPU time of a transaction (Db2 accounting);
    zIIP = redirected % x CPU; zIIP-eligible on CP = (eligible % - redirected %) x CPU;
    response time = Db2 elapsed time; active time = ended x response time.
    """
    cells = {row["Values"]: row["Case1-1"] for row in site.study.table("values")}
    ended = site.study.count(cells["Transactions per second"], run.seconds)
    cpu = ended * number(cells["DB2 total CPU time (ms) per transaction (ms)"]) / 1e3
    redirected = number(cells["WLM report - % of Actual redirected"]) / 100
    eligible = number(cells["WLM report - % of zIIP eligible work"]) / 100
    elapsed = ended * number(cells["DB2 elapsed time (ms) per transaction"]) / 1e3
    return Period(
        service=Service(
            cpu=float(round(cpu * per_second)),
            ziip=float(round(redirected * cpu * per_second)),
            ziip_on_cp=float(round((eligible - redirected) * cpu * per_second)),
            active=elapsed,
            resident=elapsed,
            enclaves=elapsed,
        ),
        # Deviation not printed: as the mean.
        responses=Responses(ended, elapsed, 2 * elapsed**2 / ended, execution=elapsed),
    )


def _ddf(plan: Plan) -> list[StudyRecord]:
    site = plan.site(_ZXML)
    coefficient, adjustment = plan.workload["cpu_coefficient"], plan.workload["cpu_rate_adjustment"]
    per_second = units_per_second(adjustment, coefficient)
    heading = {
        row["field"]: row["value"] for row in site.study.table("workload_activity") if row["block"] == "REPORT BY"
    }
    work_class = WorkClass(
        heading["SERVICE CLASS"],
        policy=heading["POLICY"],
        workload=heading["WORKLOAD"],
        coefficient=coefficient,
        adjustment=adjustment,
        ziip_factor=plan.workload["ziip_normalization"],
    )
    cases = {
        "Case1-1": _case_1_1(site, site.run("Case1-1"), per_second),
        "Case1-2": _case_1_2(plan, site, site.run("Case1-2"), per_second),
    }
    # The goal is not printed.
    named: dict[str, Any] = {"number": int(heading["PERIOD"]), "importance": int(heading["IMPORTANCE"])}
    return [
        _class_record(Reporter(site, run, site.systems[0]), work_class, replace(cases[run.name], **named))
        for run in site.runs
    ]


def workload_records(plan: Plan) -> list[StudyRecord]:
    """A record for each class, system and run."""
    return [*_cics(plan), *_ddf(plan)]
