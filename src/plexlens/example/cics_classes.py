"""SMF 72-3 of the 2012 study: a report class for the transactions of the region and one for each address space."""

from __future__ import annotations

from plexlens.example.cics_plan import AddressSpace, CicsPlan, Measurement
from plexlens.example.plan import Plan, Run, Site
from plexlens.example.printed import number
from plexlens.example.record import Record, Reporter, Row, record

#: R723MSCF: report class.
_REPORT_CLASS = 0x80

#: R723CADF: resource consumption, response times.
_RESOURCE = 0x80
_RESPONSE = 0x40


def _transactions(site: Site, run: Run, plan: CicsPlan, measured: Measurement) -> Row:
    """The class of the transactions: those of its report where there is one, else rate x interval.

    Transactions of CICS use no CPU of their own: it is recorded with the address space of the region.
    """
    cells = site.study.row(measured.table, ETR=measured.etr)
    mean = number(cells[plan.response[measured.table]]) / 1e3
    # Deviations are printed for one run; others are taken as the mean.
    ended, deviation = site.study.count(measured.etr, run.seconds), mean
    if measured.transactions:
        times = "TRANS-TIME HHH.MM.SS.TTT"
        report = {(row["block"], row["field"]): row["value"] for row in site.study.table(measured.transactions)}
        ended = int(report["TRANSACTIONS", "ENDED"])
        mean, deviation = number(report[times, "ACTUAL"]) / 1e3, number(report[times, "STD DEV"]) / 1e3
    return {
        "r723cper": 1,
        "r723cadf": _RESPONSE,
        "r723crcp": ended,
        "r723ctet": ended * mean,
        "r723cets": ended * (mean**2 + deviation**2),
    }


def _address_space(site: Site, run: Run, plan: CicsPlan, measured: Measurement, space: AddressSpace) -> Row:
    """The class of an address space: seconds = percent / 100 x interval, or those of its report.

    Where no report tells TCB from SRB time, all of it stands as TCB time.
    """
    service = plan.service
    # Service units a second of CPU = coefficient x 16,000,000 / R723MADJ.
    per_second = service["coefficient"] * 16e6 / service["rate_adjustment"]
    cells = site.study.row(measured.table, ETR=measured.etr)

    def percent(column: str) -> float:
        return number(cells[column]) / 100 * run.seconds if column else 0.0

    specialty, eligible, srb = percent(space.specialty), percent(space.eligible_on_cp), 0.0
    tcb = percent(space.cp) + specialty
    if space.name in measured.reports:
        rows = site.study.table(measured.reports[space.name])
        report = {row["field"]: row["value"] for row in rows if row["block"] == "SERVICE TIME"}
        tcb, srb, specialty = (number(report[name]) for name in ("CPU", "SRB", "IIP"))
    units = {name: float(round(seconds * per_second)) for name, seconds in (("cpu", tcb), ("srb", srb))}
    return {
        "r723cper": 1,
        "r723cadf": _RESOURCE,
        "r723csrv": units["cpu"] + units["srb"],
        "r723ccpu": units["cpu"],
        "r723csrb": units["srb"],
        "r723csup": float(round(specialty * per_second)),
        "r723csuc": float(round(eligible * per_second)),
    }


def class_records(plan: Plan) -> list[Record]:
    """A record for each class and run."""
    cics = plan.cics
    site, service = plan.site(cics.study), cics.service
    records = []
    for run in site.runs:
        measured = cics.measurement(run.name)
        classes = {cics.transactions_class: _transactions(site, run, cics, measured)} | {
            space.name: _address_space(site, run, cics, measured, space)
            for space in cics.address_spaces[measured.table]
        }
        for name, period in classes.items():
            control: Row = {
                "r723mscf": _REPORT_CLASS,
                "r723mcnm": name,
                "r723mcpg": 1,
                "r723mcpu": service["coefficient"],
                "r723msrb": service["coefficient"],
                "r723madj": service["rate_adjustment"],
                "r723nffi": service["ziip_normalization"],
                "r723nffs": service["ziip_normalization"],
            }
            sections = {"smf72_3_wlm_control": [control], "smf72_3_period": [period]}
            records.append(record(Reporter(site, run, site.systems[0]), "smf72_3", sections))
    return records
