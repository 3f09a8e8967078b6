"""Recorded against simulated: the tables of docs/pools.md on replays.

    python -m benchmarks.replay                     # print them
    python -m benchmarks.replay --write             # and put them into docs/pools.md

The sysplex simulator runs one workload with 1, 4 and 40 threads at work and as many threads that scan, and writes
what Db2 would: SMF 100 and IFCID 198. Its pools are full when the trace begins. `plexlens pools` then replays the
trace; three of its rules were set after a look at these runs (docs/pools.md). Both use the same rules of a pool, so
the table shows what a trace does not tell: what was in the pools before, how far a data set reaches, and the order of
references within a record. It does not show whether Db2 follows these rules; for that, the last table compares what
a published study prints with what the rules allow.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pools import show
from plexlens.pools.cost import default_cost
from plexlens.pools.outcome import states_of
from plexlens.pools.page.replay import TITLES
from plexlens.pools.replay import LEAST, Replay, replay_of
from plexlens.pools.settings import PoolSettings
from plexlens.pools.site import of_trace, site_of
from plexlens.pools.trace import open_trace
from plexlens.pools.work import look_at
from plexlens.simulate import parse_scenario, simulate_to_smf

STUDY = Path(__file__).parent.parent / "studies" / "pools-2014"

#: Threads at work; as many scan.
THREADS = (1, 4, 40)


@dataclass(frozen=True)
class Workload:
    """A workload of the sysplex simulator.

    Attributes
    ----------
    seed
        Of the run.
    tables
        Tables of random access, the first the hottest.
    pages
        Pages of the first; the next has twice as many, and so on.
    skew
        Exponent of the popularity of their pages.
    buffers, scan_buffers
        Buffers of BP2, which has the tables, and of BP3, which is scanned.
    scanned
        Pages of the scanned table space.
    scan_pool
        The pool of the scanned table space: 3, or 2 to scan in the pool of the tables.
    every, update
        One table of ``every`` is updated, in this share of its references.
    """

    seed: int = 7
    tables: int = 12
    pages: int = 2000
    skew: float = 0.8
    buffers: int = 4000
    scan_buffers: int = 2000
    scanned: int = 60_000
    scan_pool: int = 3
    every: int = 3
    update: float = 0.1


#: The workload that was looked at when rules were set, one with other numbers, and one whose tables and scans share a
#: pool.
SEEN = Workload()
UNSEEN = Workload(
    seed=41, tables=9, pages=1100, skew=0.6, buffers=9000, scan_buffers=5000, scanned=22_000, every=2, update=0.25
)

MIXED = Workload(
    seed=97, tables=7, pages=1700, skew=0.7, buffers=6000, scan_buffers=1000, scanned=30_000, scan_pool=2, update=0.15
)

_SCENARIO = """
run = {{seed = {seed}, warm_up = 5.0, seconds = {seconds}, interval = {interval}, preload = true}}
cec = [{{name = "C1", engines = 4}}]
system = [{{name = "SYS1", cec = "C1"}}]
region = [{{name = "AOR1", system = "SYS1", db2 = "DSNG"}}]

[[db2]]
group = "DSNG"
member = [{{name = "DB1", system = "SYS1"}}]
pool = [{{number = 2, size = {buffers}}}, {{number = 3, size = {scan_buffers}}}]
page_set = [
{page_sets}
    {{name = "SCAN.TS", pool = {scan_pool}, pages = {scanned}}},
    {{name = "PAY.LOG", pool = 2, pages = 100000}},
]

[[class]]
name = "WORK"
users = {threads}
think = {think}
regions = ["AOR1"]
cpu = 0.0005
calls = 4
references = [
{references}
    {{page_set = "PAY.LOG", getpages = 1.0, access = "append", update = 1.0}},
]

[[class]]
name = "SCANS"
users = {threads}
think = {pause}
regions = ["AOR1"]
cpu = 0.001
references = [
    {{page_set = "SCAN.TS", getpages = 400.0, access = "sequential"}},
    {{page_set = "T00.TS", getpages = 30.0}},
]
"""


def scenario(threads: int, seconds: float = 60.0, workload: Workload = SEEN) -> str:
    """The workload with this number of threads: the more there are, the longer each thinks."""
    sets, references = [], []
    for at in range(workload.tables):
        pages = workload.pages * (at + 1)
        sets.append(f'    {{name = "T{at:02}.TS", pool = 2, pages = {pages}, skew = {workload.skew}}},')
        update = 0.0 if at % workload.every else workload.update
        references.append(f'    {{page_set = "T{at:02}.TS", getpages = {1.5 + 0.2 * at:.1f}, update = {update}}},')
    return _SCENARIO.format(
        seed=workload.seed,
        buffers=workload.buffers,
        scan_buffers=workload.scan_buffers,
        scanned=workload.scanned,
        scan_pool=workload.scan_pool,
        threads=threads,
        seconds=seconds,
        interval=seconds / 2,
        think=0.01 * threads,
        pause=0.2 * threads,
        page_sets="\n".join(sets),
        references="\n".join(references),
    )


def replayed(threads: int, folder: Path, seconds: float = 60.0, workload: Workload = SEEN) -> Replay:
    """The comparison for a run of the simulator."""
    dump = folder / f"threads{threads}.smf"
    simulate_to_smf(parse_scenario(scenario(threads, seconds, workload)), dump, page_trace=True)
    trace = open_trace([dump])
    work = look_at(trace)
    site = site_of([dump], None, member="DB1")
    (state,) = states_of(trace, [of_trace(site.configuration, work)], work=work, cost=default_cost())
    return replay_of(state, work, trace.facts, intervals=site.intervals, delays=trace.delays)


def replay_table(folder: Path, workload: Workload = SEEN) -> str:
    """Pools by threads, and the worst object of each run."""
    lines = [
        "| threads | pool or object | count | recorded | simulated | error | may differ by |",
        "|---|---|---|---|---|---|---|",
    ]
    for threads in THREADS:
        found = replayed(threads, folder, workload=workload)
        objects = [check for check in found.objects if check.recorded and not check.agrees] or [
            check for check in found.objects if check.recorded > check.getpages / LEAST
        ]
        worst = max(objects, key=lambda check: abs(check.error or 0.0))
        for check in [*found.pools, worst]:
            if not check.recorded and not check.simulated:
                continue
            error = "" if check.error is None else f"{check.error:+.1%}"
            parts = [f"{check.unsure:,.0f}"] if check.unsure else []
            parts += [f"{check.surplus:,.0f} more"] if check.surplus else []
            unsure = ", ".join(parts)
            name = check.name or check.pool
            lines.append(
                f"| {threads} | {name} | {TITLES[check.what]} | {check.recorded:,.0f} | {check.simulated:,.0f} "
                f"| {error} | {unsure} |"
            )
        lines.append(f"| {threads} | all pools | read I/Os | | | {found.error or 0.0:.2%} | |")
    return "\n".join(lines)


def study_table() -> str:
    """Pages per prefetch I/O that a study prints, with the largest number that the rules allow."""
    lines = [
        "| pool | buffers | VPSEQT | prefetch | pages per I/O, printed | at most, by the rules |",
        "|---|---|---|---|---|---|",
    ]
    with (STUDY / "pool_attributes.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            size, share = int(row["Size"].replace(",", "")), int(row["VPSEQT"].strip(" %"))
            printed = float(row["Pages /Seq-I/O"].split()[0])
            most, _ = quantities(row["Name"], size, share)
            lines.append(f"| {row['Name']} | {size:,} | {share} | all | {printed:.1f} | {most} |")
    with (STUDY / "statistics_bp20.csv").open(encoding="utf-8") as file:
        printed_of = {row["item"]: row["QUANTITY"] for row in csv.DictReader(file)}
    sequential, other = quantities("BP20", 90_000, 80)
    for kind, item, most in (
        ("sequential", "S.PRF.PAGES READ/S.PRF.READ", sequential),
        ("list", "L.PRF.PAGES READ/L.PRF.READ", other),
        ("dynamic", "D.PRF.PAGES READ/D.PRF.READ", other),
    ):
        lines.append(f"| BP20 | 90,000 | 80 | {kind} | {printed_of[item]} | {most} |")
    return "\n".join(lines)


def quantities(name: str, size: int, vpseqt: int) -> tuple[int, int]:
    """Pages of a sequential prefetch request, and of another, as the engine asks for them.

    Found by letting it scan: the pages that the first request reads.
    """
    import numpy as np
    import pyarrow as pa

    from plexlens import _core

    read = []
    for access in ("sequential", "dynamic"):
        engine = _core.PoolSimulation({0: PoolSettings.of(name, size, vpseqt=vpseqt).engine()})
        row = {column: np.zeros(1) for column, _ in _core.TRACE_COLUMNS}
        row["access"] = np.full(1, _core.TRACE_ACCESSES.index(access))
        engine.add(
            pa.record_batch(
                {column: pa.array(row[column], pa.type_for_alias(kind)) for column, kind in _core.TRACE_COLUMNS}
            )
        )
        counters = engine.counters()[0]
        read.append(counters["sequential_pages"] + counters["dynamic_pages"])
    return read[0], read[1]


def main() -> None:
    """Run, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/pools.md")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables = {
            "replay": replay_table(Path(folder)),
            "replay unseen": replay_table(Path(folder), UNSEEN),
            "replay mixed": replay_table(Path(folder), MIXED),
            "prefetch study": study_table(),
        }
    show(tables, write=wanted.write)


if __name__ == "__main__":
    main()
