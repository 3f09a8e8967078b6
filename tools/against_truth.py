"""Accuracy of the cost of data sharing computed from records, against the true cost in a simulated group.

``python -m tools.against_truth > docs/sharing.md`` writes the page. What was really spent is the simulator's
own account, task by task, which no record holds: how long the tasks of a class spun, and the path of their requests.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plexlens.example import studies_path
from plexlens.example.printed import Study, number
from plexlens.metrics import GRAINS
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.sharing.assumptions import Assumptions, CommitWrites
from plexlens.sharing.cost import CostOfSharing, cost_of
from plexlens.sharing.measured import ClassUse
from plexlens.sharing.reading import measure
from plexlens.simulate import read_scenario, run_scenario, write_smf
from plexlens.simulate.scenario import Scenario
from tools.case_1996 import run_b1


@dataclass(frozen=True)
class Beside:
    """A true cost and the cost according to the records; CPU seconds."""

    name: str
    real: float
    found: float

    @property
    def error(self) -> float | None:
        """Relative error; None if the true cost is zero."""
        return self.found / self.real - 1 if self.real else None


@dataclass(frozen=True)
class Compared:
    """A simulated group: its cost according to the records and the true cost.

    Attributes
    ----------
    cost
        What the records tell.
    total
        All classes.
    classes, spread
        Transaction classes: by their own counts, and as they would be without these (QTGA, QBGA).
    """

    cost: CostOfSharing
    total: Beside
    classes: tuple[Beside, ...]
    spread: tuple[Beside, ...]


def stated_of(scenario: Scenario) -> Assumptions:
    """Path lengths of a scenario, as stated by an analyst who knows the machine."""
    given = scenario.values.get("coupling", {})
    names = {
        "sync_path": "sync_host_us",
        "async_path": "async_host_us",
        "contention_path": "contention_host_us",
        "negotiation_path": "contention_host_us",
    }
    speeds = {}
    for system in scenario.values["system"]:
        cec = next(cec for cec in scenario.values["cec"] if cec["name"] == system["cec"])
        speeds[system["name"]] = cec.get("speed", 1.0) / (1.0 + system.get("lpar_overhead", 0.0))
    paths = {name: given[key] * 1e-6 for name, key in names.items() if key in given}
    return Assumptions(**paths, speeds=speeds, commit_writes=CommitWrites.MSTR)


def compare(scenario: Scenario) -> Compared:
    """Run a scenario, compute the cost from its records, and compare it with the true cost."""
    stated = stated_of(scenario)
    run = run_scenario(scenario)
    with TemporaryDirectory() as folder:
        dump = Path(folder) / "dump.smf"
        write_smf(run, dump)
        with Pdb.temporary() as pdb:
            ingest([dump], pdb)
            measured = measure(Inputs(pdb.connect()), dump.name)
    cost = cost_of(measured, stated, dump.name)
    plain = cost_of(replace(measured, classes=tuple(_without_counts(use) for use in measured.classes)), stated)
    classes = tuple(_classes(run.results, cost, stated))
    total = Beside(
        "all", sum(work_class.real for work_class in classes), sum(work_class.found for work_class in classes)
    )
    return Compared(cost, total, classes, tuple(_classes(run.results, plain, stated)))


def _without_counts(use: ClassUse) -> ClassUse:
    """A class without the counts of QTGA and QBGA, as accounting without these sections gives it."""
    sections = ("SMF 101 IFCID 3 QTGA", "SMF 101 IFCID 3 QBGA")
    names = {fact.name for fact in GRAINS["db2_accounting_sharing"].facts if fact.source.startswith(sections)}
    return replace(use, facts={name: value for name, value in use.facts.items() if name not in names})


def _classes(results: Mapping[str, Any], cost: CostOfSharing, stated: Assumptions) -> list[Beside]:
    """True spin seconds of each class's tasks plus the path of their requests, and the thread cost from the records."""
    real: dict[str, float] = {}
    for interval in results["intervals"]:
        for work_class in interval["classes"]:
            for counts in work_class["systems"]:
                used = counts["used"]
                seconds = used["coupling_spin"] + used["own_requests"] * stated.seconds("sync_path", counts["system"])
                real[work_class["name"]] = real.get(work_class["name"], 0.0) + seconds
    found: dict[str, float] = {}
    for entry in cost.classes:
        found[entry.name] = found.get(entry.name, 0.0) + entry.thread_seconds
    return [Beside(name, seconds, found.get(name, 0.0)) for name, seconds in real.items() if seconds]


# --- the page -----------------------------------------------------------------------------------------------------

_HEAD = """# plexlens sharing: what data sharing costs

Written by `python -m tools.against_truth`; do not edit.

    plexlens sharing PDB|DUMP...                    the cost, as text
    plexlens sharing DUMP... -o sharing.html        the same as a page; --json as one object
    plexlens sharing PDB --speed 1.8                engines 1.8 times as fast as about 1,500 MIPS: shorter times
    plexlens sharing PDB --sync-path 1.5            host microseconds of a synchronous request besides its service time
    plexlens sharing PDB --commit-writes MSTR       who pays for writes at commit: auto, MSTR or thread

It reads SMF 74-4, 100, 101, 70-1, 72-3 and 74-2, or RMF reports of the coupling facility, real or simulated, and
computes the processor time that data sharing uses, by part, kind of request, structure, member, address space and
transaction class, and the delay that it adds to response times. The base and the parts add up to the measured time. For
the effect of changes to a lock table, a group buffer pool or a coupling facility, see
[sharing-what-if.md](sharing-what-if.md).

## Method

| quantity | source |
|---|---|
| synchronous request | service time by structure and system (R744SSTM / R744SSRC), spent spinning, and a stated path |
| asynchronous request, including converted requests | a stated path only |
| kinds of request | Db2's counts (QTGS, QBGL), scaled to the requests served for each system and structure (SMF 74-4) |
| L-locks | requests to XES (QTGSLSLM, QTGSCSLM, QTGSUSLM) minus P-locks |
| asynchronous kinds | first castout, asynchronous and clean writes, registration; then all others in proportion |
| contention, negotiation, notify | Db2's counts x stated paths |
| read again after invalidation | QBGLXR x the stated CPU of an I/O; its delay is the class's mean synchronous read |
| payer | IBM's table of contributors to CPU time: threads for locks and reads, MSTR for commits, DBM1 for castout |
| transaction class | its own counts (QTGA, QBGA), else distributed by a key that the page names |
| base | busy time (SMF 70-1), else captured time (SMF 72-3), minus the cost |
| coupling efficiency | base / measured: ITR with sharing over ITR without |

`--commit-writes auto` charges writes at commit to MSTR unless MSTR used less CPU time than they take. If more is
attributed to an address space than it used, the page says so: the stated paths are too long for these engines, or
another address space pays.

Path lengths are stated assumptions, since no measurements have been published; the page shows which part of the cost is
measured service time and which part depends on path lengths.

## Effect of missing records

| without | not available |
|---|---|
| SMF 74-4 | all CPU times: requests are only counted, by Db2 |
| SMF 100 | kinds of request, causes of contention, negotiation, CPU time of MSTR, DBM1 and IRLM |
| SMF 101 | transaction classes and delay |
| QTGA, QBGA in SMF 101 | a class's own counts: parts are distributed by locks, pages read, getpages or updates |
| SMF 70-1 | overhead relative to busy time: it is relative to captured time, and without 72-3 not given |
| SMF 74-2 | XCF signalling |

Never included, and therefore part of the base: refilling of processor caches after a spin or an interruption, longer
paths inside Db2 and IRLM, shipping of transactions between systems.
"""

_CHECKED = """
## Check against a simulated truth

The true cost of data sharing is known for a simulated group. Its records were read like any others, with the scenario's
path lengths as stated values. The true cost of a class is the spin time of its tasks for coupling facilities plus the
path of their requests, as recorded by the simulator task by task. Writes at commit (MSTR), registrations of prefetched
pages (DBM1) and contention (IRLM) are not part of a class's processor time, neither in the simulator nor in the
records.
"""

_STUDY = """
## Comparison with the 1996 study

Run B1 of [the 1996 study](sysplex-1996.md) was simulated, and its cost computed from its own records, whereas the study
needed a second run without data sharing, on another machine. The study's increases contain 5 % of CICS application
time, which data sharing does not touch. [The same run simulated with and without data sharing](sysplex-1996.md) gives
increases near these; that of DB2I1 is smaller there, because without data sharing DBM1 writes the changed pages to disk
itself, which castout does here.
"""

_END = """
## Limits of validity

- All requests to a structure have the same service time: a request that registers a prefetch of many pages takes longer
  than a read, and is charged the same. A class with scans is charged too little, the others slightly too much.
- A class whose kinds are distributed by a key is only as accurate as the key: see the second error above.
- If members count pages but the coupling facility counts requests that move several pages, all kinds are scaled down in
  proportion.
- IBM does not publish the offsets of some accounting counts ([dsect.md](dsect.md)).
- The time resolution of accounting is a quarter of an hour; long-running threads count where they ended.

## From Python

    from plexlens.sharing import Assumptions, cost_of, measure
    cost = cost_of(measure(inputs), Assumptions(sync_path=1.5e-6))     # plexlens.metrics.inputs.Inputs
    cost.total.overhead, cost.total.efficiency, cost.by_part()
"""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _error(beside: Beside) -> str:
    return "" if beside.error is None else f"{beside.error * 100:+.1f} %"


def _class_table(compared: Compared) -> str:
    return _table(
        ("class", "true, s", "by its own counts, s", "error", "distributed by keys, s", "error"),
        [
            (
                work_class.name,
                f"{work_class.real:.3f}",
                f"{work_class.found:.3f}",
                _error(work_class),
                f"{spread.found:.3f}",
                _error(spread),
            )
            for work_class, spread in zip(compared.classes, compared.spread, strict=True)
        ]
        + [("all", f"{compared.total.real:.3f}", f"{compared.total.found:.3f}", _error(compared.total), "", "")],
    )


def _overhead(cost: CostOfSharing, member: str, *spaces: str) -> str:
    own = [space for space in cost.spaces if space.member == member and space.space in spaces]
    used = sum(space.measured_seconds or 0.0 for space in own)
    added = sum(line.cpu_seconds for line in own)
    return f"{added / (used - added) * 100:.1f}" if used > added else ""


def _study_tables(cost: CostOfSharing, study: Study) -> str:
    """Tables 6 to 8 of the study next to the cost computed from records."""
    total = cost.total
    efficiency, overhead = total.efficiency or 0.0, total.overhead or 0.0
    printed = {row["measure"]: row for row in study.table("table_06")}
    rows = [
        ("coupling efficiency, %, table 6", _only(printed["Coupling Efficiency (%)"]), f"{efficiency * 100:.1f}"),
        ("increased CPU time, %, table 6", _only(printed["Increased CPU Time"]), f"{overhead * 100:.1f}"),
    ]
    workloads = {row["Workload"]: row for row in study.table("table_07")}
    spaces = ("MSTR", "DBM1", "IRLM")
    for name, member, of in (("DB2I1 Total", "DBI1", spaces), ("DB2U1 Total", "DBU1", spaces)):
        difference = next(value for key, value in workloads[name].items() if "Difference" in key)
        rows.append((f"{name}, increase, %, table 7", difference, _overhead(cost, member, *of)))
    for row in study.table("table_08"):
        name = {"2": "INQ2", "3": "INQ3"}.get(next((c for c in row["transaction"] if c in "23"), ""), "UPDA")
        own = [work_class for work_class in cost.classes if work_class.name == name]
        in_db2 = sum(float(work_class.use.facts.get("class2_cpu_seconds") or 0.0) for work_class in own)
        threads = sum(work_class.thread_seconds for work_class in own)
        increase = f"{threads / (in_db2 - threads) * 100:.1f}" if in_db2 > threads else ""
        rows.append((f"{row['transaction']}, DB2 TCB time, increase, %, table 8", row["DB2 TCB time"], increase))
    return _table(("", "printed", "from simulated records"), rows)


def _only(row: Mapping[str, str]) -> str:
    return next(f"{number(cell):.4g}" for name, cell in row.items() if name != "measure" and cell)


def page(scenarios: Path) -> str:
    """The page, with every table recomputed."""
    study = Study(studies_path() / "sysplex-1996")
    parts = [_HEAD, _CHECKED]
    b1 = compare(run_b1(read_scenario(scenarios / "sysplex-1996.toml"), study))
    parts.append("Run B1 of the 1996 study: two groups of two members, coupling facilities of the time.\n")
    parts.append(_class_table(b1))
    parts += [_STUDY, _study_tables(b1.cost, study), _END]
    return "\n".join(parts)


def main() -> None:
    """Write the page to standard output."""
    folder = Path(__file__).resolve().parents[1] / "scenarios"
    sys.stdout.write(page(Path(sys.argv[1]) if len(sys.argv) > 1 else folder))


if __name__ == "__main__":
    main()
