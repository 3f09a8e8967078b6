"""SMF 101 of the 2008 study: the user threads of cases 1-1 and 1-2, each as a record rolled up by Db2.

Without roll-up there would be a record for each of 1.7 million transactions. A record that is rolled up has no begin;
its end holds the elapsed time of all its transactions, as a clock that started in 1900.
"""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.example.db2_plan import Threads
from plexlens.example.plan import Plan, Run, Site
from plexlens.example.printed import Study, number
from plexlens.example.record import StudyRecord, utc
from plexlens.smf_rows.db2 import QWHC, REMOTE_UNIT_OF_WORK, header_row
from plexlens.smf_rows.record import Record, Row, named
from plexlens.smf_rows.smf101 import QWAC, QXST, rolled_up


@dataclass(frozen=True)
class _Transaction:
    """Seconds of a transaction."""

    elapsed: float
    cp: float
    specialty: float
    eligible_on_cp: float
    elapsed_in_db2: float
    cp_in_db2: float
    specialty_in_db2: float
    suspended: float


def _values(study: Study, case: str) -> dict[str, str]:
    return {row["Values"]: row[case] for row in study.table("values")}


def _report(study: Study, item: str, column: str) -> float:
    return number(study.row("accounting", block=item, AVERAGE=item)[column])


def _transaction(study: Study, case: str) -> _Transaction:
    """A transaction of a case; unprinted values of case 1-1 (times in Db2, eligible work) follow those of case 1-2.

    Elapsed time outside Db2 is the same; CPU time in Db2 has the same share of each engine's time. Eligible work on
    general processors is the share of CPU time that the workload activity figures of case 1-1 leave.
    """
    cells = _values(study, case)
    class_1, class_2 = "APPL (CL.1)", "DB2 (CL.2)"
    elapsed, cp, specialty = (
        number(cells[f"DB2 {item} (ms) per transaction"]) / 1e3
        for item in ("elapsed time", "CP CPU time", "zIIP CPU time")
    )
    suspended = number(cells["DB2 total suspend time (ms) per transaction"]) / 1e3
    if case == "Case1-2":
        eligible_on_cp = _report(study, "SECP CPU", class_1)
    else:
        eligible = number(cells["WLM report - % of zIIP eligible work"]) / 100
        redirected = number(cells["WLM report - % of Actual redirected"]) / 100
        eligible_on_cp = (eligible - redirected) * (cp + specialty)
    outside = _report(study, "ELAPSED TIME", class_1) - _report(study, "ELAPSED TIME", class_2)

    def within(item: str, seconds: float) -> float:
        return seconds * _report(study, item, class_2) / _report(study, item, class_1)

    return _Transaction(
        elapsed=elapsed,
        cp=cp,
        specialty=specialty,
        eligible_on_cp=eligible_on_cp,
        elapsed_in_db2=elapsed - outside,
        cp_in_db2=within("CP CPU TIME", cp),
        specialty_in_db2=within("SE CPU TIME", specialty),
        suspended=suspended,
    )


def _ended(study: Study, run: Run) -> int:
    """Transactions of a run: from the workload activity report if there is one, else rate x interval."""
    if run.name == "Case1-2":
        return int(study.row("workload_activity", block="TRANSACTIONS", field="ENDED")["value"])
    return study.count(_values(study, run.name)["Transactions per second"], run.seconds)


def _times(each: _Transaction, transactions: int, service_class: str) -> Row:
    return named(
        QWAC,
        {
            "end": rolled_up(each.elapsed * transactions),
            "cpu": each.cp * transactions,
            "ziip": each.specialty * transactions,
            "ziip_on_cp": each.eligible_on_cp * transactions,
            "db2_elapsed": each.elapsed_in_db2 * transactions,
            "db2_cpu": each.cp_in_db2 * transactions,
            "db2_ziip": each.specialty_in_db2 * transactions,
            # Which waits they were is not printed: RMF shows next to no I/O of the class, and each gets XML from a
            # client.
            "wait_lob": each.suspended * transactions,
            "waits_lob": transactions,
            "commits": transactions,
            "service_class": service_class,
        },
    )


def _records(site: Site, run: Run, threads: Threads) -> list[StudyRecord]:
    study = site.study
    each = _transaction(study, run.name)
    ended = _ended(study, run)
    users = int(_values(study, run.name)["#of user threads"])
    service_class = study.row("workload_activity", block="REPORT BY", field="SERVICE CLASS")["value"]
    end = utc(site, run.end)
    records = []
    for user in range(users):
        # Shared evenly: the first threads have one more where it does not divide.
        transactions = ended // users + (user < ended % users)
        sequence = site.runs.index(run) * users + user + 1
        correlation = {
            "user": threads.auth,
            "original_user": threads.auth,
            "correlation": threads.transaction,
            "connection": threads.connection,
            "plan": threads.plan,
            "attach": REMOTE_UNIT_OF_WORK,
            "end_user": threads.auth,
            "end_user_transaction": threads.transaction,
        }
        record = Record(
            map="smf101_ifcid3",
            system=site.systems[0],
            end=end,
            sections={
                "smf101_qwhs": [header_row(threads.subsystem, end, sequence, release=threads.release)],
                "smf101_qwhc": [named(QWHC, correlation)],
                "smf101_ifcid3_qwac": [_times(each, transactions, service_class)],
                # One insert in each transaction.
                "smf101_ifcid3_qxst": [named(QXST, {"inserts": transactions})],
            },
            subsystem=threads.subsystem,
            utc_offset=site.utc_offset,
            lengths=threads.lengths,
        )
        records.append(StudyRecord(site.name, record))
    return records


def accounting_records(plan: Plan) -> list[StudyRecord]:
    """A record for each user thread and run."""
    return [
        record
        for threads in plan.db2.threads
        for site in [plan.site(threads.study)]
        for run in site.runs
        for record in _records(site, run, threads)
    ]
