"""SMF 72-3 of the 2012 study: a report class for the transactions of the region and a report class per address
space.
"""

from __future__ import annotations

from plexlens.example.cics_plan import AddressSpace, CicsPlan, Measurement
from plexlens.example.plan import Plan, Run, Site
from plexlens.example.printed import number
from plexlens.example.record import Reporter, StudyRecord, rmf_record
from plexlens.smf_rows.smf72_3 import Period, Responses, Service, WorkClass, sections, units_per_second


def _transactions(site: Site, run: Run, plan: CicsPlan, measured: Measurement) -> Period:
    """The class of the transactions: from its report if there is one, else rate x interval.

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
    return Period(responses=Responses(ended, ended * mean, ended * (mean**2 + deviation**2)))


def _address_space(site: Site, run: Run, plan: CicsPlan, measured: Measurement, space: AddressSpace) -> Period:
    """The class of an address space: from its report if there is one, else percent / 100 x interval.

    Where no report tells TCB from SRB time, all of it stands as TCB time.
    """
    service = plan.service
    per_second = units_per_second(service["rate_adjustment"], service["coefficient"])
    cells = site.study.row(measured.table, ETR=measured.etr)

    def percent(column: str) -> float:
        return number(cells[column]) / 100 * run.seconds if column else 0.0

    specialty, eligible, srb = percent(space.specialty), percent(space.eligible_on_cp), 0.0
    tcb = percent(space.cp) + specialty
    if space.name in measured.reports:
        rows = site.study.table(measured.reports[space.name])
        report = {row["field"]: row["value"] for row in rows if row["block"] == "SERVICE TIME"}
        tcb, srb, specialty = (number(report[name]) for name in ("CPU", "SRB", "IIP"))

    def units(seconds: float) -> float:
        return float(round(seconds * per_second))

    return Period(service=Service(cpu=units(tcb), srb=units(srb), ziip=units(specialty), ziip_on_cp=units(eligible)))


def class_records(plan: Plan) -> list[StudyRecord]:
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
            work_class = WorkClass(
                name,
                report=True,
                coefficient=service["coefficient"],
                adjustment=service["rate_adjustment"],
                ziip_factor=service["ziip_normalization"],
            )
            reporter = Reporter(site, run, site.systems[0])
            records.append(rmf_record(reporter, "smf72_3", sections(work_class, period)))
    return records
