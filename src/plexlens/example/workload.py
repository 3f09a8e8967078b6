"""SMF 72-3: CICS transactions of the 1996 study as report classes, Db2 DDF of the 2008 study as a service class."""

from __future__ import annotations

from plexlens.example.plan import Plan, ReportClass, Run, Site
from plexlens.example.printed import number
from plexlens.example.record import Record, Reporter, Row, record

_SYSPLEX = "sysplex-1996"
_ZXML = "zxml-2008"

#: Runs whose transaction rates the study tabulates, with the table.
_RATE_TABLES = {"A1": "table_13", "A3": "table_11"}

#: R723CADF: resource consumption, response times.
_RESOURCE = 0x80
_RESPONSE = 0x40

#: R723MSCF: report class.
_REPORT_CLASS = 0x80


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


def _class_record(reporter: Reporter, control: Row, period: Row) -> Record:
    return record(reporter, "smf72_3", {"smf72_3_wlm_control": [control], "smf72_3_period": [period]})


def _report_class(reporter: Reporter, kind: ReportClass) -> Record:
    ended = _transactions(reporter, kind)
    mean = _response(reporter.site, kind.response_as)
    control: Row = {
        "r723mscf": _REPORT_CLASS,
        "r723mcnm": kind.name,
        "r723mcde": kind.printed_as,
        "r723mcpg": 1,
    }
    period: Row = {
        "r723cper": 1,
        # CICS transactions have response times; the CPU time lies in the classes of the regions.
        "r723cadf": _RESPONSE,
        "r723crcp": ended,
        "r723ctet": ended * mean,
        # Deviations are not printed: response times are taken to scatter like exponential ones, deviation = mean.
        "r723cets": ended * 2 * mean**2,
    }
    return _class_record(reporter, control, period)


def _cics(plan: Plan) -> list[Record]:
    site = plan.site(_SYSPLEX)
    return [
        _report_class(Reporter(site, run, system), kind)
        for run in site.runs
        # Table 4a is the profile of regions on SYS1.
        for system in (site.systems if run.name in _RATE_TABLES else site.systems[:1])
        for kind in plan.classes
        if run.name in kind.runs
    ]


def _case_1_2(plan: Plan, site: Site, run: Run, per_second: float) -> Row:
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
    return {
        "r723csrv": float(plan.workload["case_1_2_cpu_service"]),
        "r723ccpu": float(plan.workload["case_1_2_cpu_service"]),
        "r723csup": float(round(number(cells["SERVICE TIMES", "IIP"]) * per_second)),
        "r723csuc": float(round(number(cells["APPL %", "IIPCP"]) / 100 * run.seconds * per_second)),
        "r723crcp": ended,
        "r723ctet": ended * mean,
        "r723cxet": ended * number(cells[times, "EXECUTION"]) / 1e3,
        "r723cets": ended * (mean**2 + deviation**2),
        "r723ctat": active,
        "r723ctrr": number(cells["TRANSACTIONS", "MPL"]) * run.seconds,
        "r723ciea": number(cells["TRANSACTIONS", "AVG ENC"]) * run.seconds,
        "r723circ": requests,
        "r723cict": requests * number(cells[io, "CONN"]) / 1e3,
        "r723ciwt": requests * number(cells[io, "Q+PEND"]) / 1e3,
    }


def _case_1_1(site: Site, run: Run, per_second: float) -> Row:
    """The period of case 1-1, of which the study prints rates and percentages but no workload activity report.

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
    service = float(round(cpu * per_second))
    return {
        "r723csrv": service,
        "r723ccpu": service,
        "r723csup": float(round(redirected * cpu * per_second)),
        "r723csuc": float(round((eligible - redirected) * cpu * per_second)),
        "r723crcp": ended,
        "r723ctet": elapsed,
        "r723cxet": elapsed,
        # Deviation not printed: as the mean.
        "r723cets": 2 * elapsed**2 / ended,
        "r723ctat": elapsed,
        "r723ctrr": elapsed,
        "r723ciea": elapsed,
    }


def _ddf(plan: Plan) -> list[Record]:
    site = plan.site(_ZXML)
    coefficient, adjustment = plan.workload["cpu_coefficient"], plan.workload["cpu_rate_adjustment"]
    # Service units a second of CPU = coefficient x 16,000,000 / R723MADJ.
    per_second = coefficient * 16e6 / adjustment
    heading = {
        row["field"]: row["value"] for row in site.study.table("workload_activity") if row["block"] == "REPORT BY"
    }
    control: Row = {
        "r723mnsp": heading["POLICY"],
        "r723mwnm": heading["WORKLOAD"],
        "r723mcnm": heading["SERVICE CLASS"],
        "r723mcpg": 1,
        "r723mcpu": coefficient,
        "r723msrb": coefficient,
        "r723madj": adjustment,
        "r723nffi": plan.workload["ziip_normalization"],
        "r723nffs": plan.workload["ziip_normalization"],
    }
    # The goal is not printed: no goal bit is on.
    period: Row = {
        "r723cper": int(heading["PERIOD"]),
        "r723cimp": int(heading["IMPORTANCE"]),
        "r723cadf": _RESOURCE | _RESPONSE,
    }
    cases = {
        "Case1-1": _case_1_1(site, site.run("Case1-1"), per_second),
        "Case1-2": _case_1_2(plan, site, site.run("Case1-2"), per_second),
    }
    return [_class_record(Reporter(site, run, site.systems[0]), control, period | cases[run.name]) for run in site.runs]


def workload_records(plan: Plan) -> list[Record]:
    """A record for each class, system and run."""
    return [*_cics(plan), *_ddf(plan)]
