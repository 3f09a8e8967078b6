"""Run the benchmarks and print a table; ``--record`` writes it to ``benchmarks/record`` under today's date.

With ``--pools`` those of the buffer pool engines, with ``--small`` those of small inputs compared with another commit;
each has a record of its own.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import pool_speed, small_inputs, yardstick
from benchmarks.dumps import Known, Sysplex, write_mq, write_rmf
from benchmarks.measure import Run, best, command, in_process, machine
from benchmarks.transactions import write_transactions

MIB = 1024**2
RECORD = Path(__file__).parent / "record"

#: mq-smf-csv on the machine that the bounds were set on, MB/s (docs/mq-smf-csv.md has newer figures).
MQ_SMF_CSV = 25.0

READ_INTO_MEMORY = """
clock(); data = open(sys.argv[1], "rb").read(); clock()
answer = len(data)
"""

SCAN = """
from plexlens import _core
clock(); found = _core.scan(sys.argv[1]); clock()
answer = found["records"]
"""

DECODE = """
from plexlens import _core
from plexlens.layouts_path import layout_folders
import pyarrow.compute as pc
wanted = json.loads(sys.argv[2])
layouts = _core.Catalogue([str(folder) for folder in layout_folders()])
answer = {"rows": {}, "sums": {}}
held = []
clock()
for batch in _core.SmfReader(sys.argv[1], layouts, source_id="b", threads=1):
    for name, table in batch.tables.items():
        answer["rows"][name] = answer["rows"].get(name, 0) + table.num_rows
        for column in wanted.get(name, ()):
            key = name + "." + column
            answer["sums"][key] = answer["sums"].get(key, 0.0) + (pc.sum(table[column]).as_py() or 0)
clock()
"""

INGEST = """
from pathlib import Path
from plexlens.pdb import Pdb, ingest
pdb = Pdb.create(sys.argv[2])
clock(); ingest([Path(sys.argv[1])], pdb); clock()
answer = {name: info.rows for name, info in pdb.tables().items()}
"""


@dataclass(frozen=True)
class Line:
    """A row of the result."""

    what: str
    figure: str
    yardstick: str
    bound: str
    held: bool


def _check(plex: Known, rows: dict[str, int], sums: dict[str, float] | None) -> None:
    for table, count in plex.rows.items():
        if rows.get(table) != count:
            raise SystemExit(f"wrong answer: {table} has {rows.get(table)} rows, written were {count}")
    if sums is None:
        return
    for (table, column), total in plex.sums.items():
        found = sums[f"{table}.{column}"]
        if not math.isclose(found, total, rel_tol=1e-9):
            raise SystemExit(f"wrong answer: {table}.{column} sums to {found}, written were {total}")


def _memory(size: int) -> str:
    return f"{size / MIB:,.0f} MiB"


def scan(path: Path, runs: int) -> Line:
    """Find and frame every record, compared with reading the file into memory."""
    size = path.stat().st_size
    memory = best(runs, lambda: in_process(READ_INTO_MEMORY, path))
    found = best(runs, lambda: in_process(SCAN, path))
    if sum(found.answer.values()) == 0 or memory.answer != size:
        raise SystemExit("wrong answer: nothing scanned")
    ratio = memory.seconds / found.seconds
    return Line(
        "SMF scan, RMF records",
        f"{size / found.seconds / 1e6:,.0f} MB/s",
        f"reading into memory {size / memory.seconds / 1e6:,.0f} MB/s: {ratio:.2f} of it",
        "at least 0.5 of it",
        ratio >= 0.5,
    )


def decode(what: str, path: Path, plex: Known, runs: int, lowest: float) -> Line:
    """Decode to Arrow on a single core; the bound is MB per second."""
    import json

    wanted: dict[str, list[str]] = {}
    for table, column in plex.sums:
        wanted.setdefault(table, []).append(column)
    run = best(runs, lambda: in_process(DECODE, path, json.dumps(wanted), cores=1))
    _check(plex, run.answer["rows"], run.answer["sums"])
    speed = path.stat().st_size / run.seconds / 1e6
    bound = f"at least {lowest:.0f} MB/s"
    return Line(f"SMF decode to Arrow, {what}, one core", f"{speed:,.0f} MB/s", "", bound, speed >= lowest)


def decode_mq(path: Path, rows: dict[str, int], runs: int) -> Line:
    """Decode MQ accounting to Arrow on a single core."""
    run = best(runs, lambda: in_process(DECODE, path, "{}", cores=1))
    for table, count in rows.items():
        if run.answer["rows"].get(table) != count:
            raise SystemExit(f"wrong answer: {table} has {run.answer['rows'].get(table)} rows, written were {count}")
    speed = path.stat().st_size / run.seconds / 1e6
    return Line(
        "SMF decode to Arrow, MQ, one core",
        f"{speed:,.0f} MB/s",
        f"mq-smf-csv {MQ_SMF_CSV:.0f} MB/s: {speed / MQ_SMF_CSV:.1f} times it",
        "at least 600 MB/s",
        speed >= 600,
    )


def ingest(path: Path, plex: Sysplex, folder: Path, runs: int) -> Line:
    """Ingest a dump into a performance database on two cores."""

    def once() -> object:
        pdb = folder / "pdb"
        shutil.rmtree(pdb, ignore_errors=True)
        return in_process(INGEST, path, pdb, cores=2)

    run = best(runs, once)
    _check(plex, run.answer, None)
    speed = path.stat().st_size / run.seconds / 1e6
    return Line(
        "SMF to a PDB, two cores",
        f"{speed:,.0f} MB/s, peak {_memory(run.peak_bytes)}",
        "",
        "at least 270 MB/s",
        speed >= 270,
    )


def report(
    what: str,
    path: Path,
    names: Sequence[str],
    seconds: float,
    beside: small_inputs.Checkout | None,
) -> Line:
    """From a dump to the finished page, which must name these objects from the dump; the bound is seconds per GiB.

    Another commit does the same right afterwards.
    """
    page = path.with_suffix(".html")

    run = small_inputs.report(small_inputs.Checkout(small_inputs.ROOT), path, page, names)
    compared = ""
    if beside is not None:
        try:
            other = small_inputs.report(beside, path, page, names)
        except RuntimeError as error:
            compared = f"the other commit failed: {_defect(error)}"
        else:
            compared = (
                f"the other commit {_report_figure(other)}: {run.seconds / other.seconds:.2f} of its time, "
                f"{run.cpu_seconds / other.cpu_seconds:.2f} of its processor time"
            )
    size = path.stat().st_size
    allowed = seconds * size / 1024**3
    return Line(
        f"report of {_memory(size)} of {what}, two cores",
        _report_figure(run),
        compared,
        f"{allowed:.1f} s ({seconds:.0f} s per GiB), peak below 1,024 MiB",
        run.seconds <= allowed and run.peak_bytes < 1024 * MIB,
    )


def _defect(error: RuntimeError) -> str:
    """The line of a failed command that says why, without its stages."""
    lines = [line for line in str(error).splitlines() if line.startswith("plexlens: ")]
    return (lines or str(error).splitlines())[0]


def _report_figure(run: Run) -> str:
    return f"{run.seconds:.1f} s, CPU {run.cpu_seconds:.1f} s, peak {_memory(run.peak_bytes)}"


def pools(millions: int, long_millions: int, *, record: bool, note: str) -> None:
    """The buffer pool engines: measure, print, and record."""
    before = os.getloadavg()[0]
    found = pool_speed.figures(millions, long_millions)
    text = [
        f"# {datetime.now(UTC):%Y-%m-%d}: buffer pools",
        "",
        f"{machine()}; Python {platform.python_version()}; libCacheSim 0.3.5; load {before:.1f} at the beginning, "
        f"{os.getloadavg()[0]:.1f} at the end. {millions} million references over 5,000,000 pages, Zipf(0.9), 20 % "
        "scans, each process on one core, speeds by processor time; answers checked in the same run.",
        *([note] if note else []),
        "",
        *pool_speed.table(found),
        "",
    ]
    print("\n".join(text))
    if record:
        RECORD.mkdir(exist_ok=True)
        (RECORD / f"{datetime.now(UTC):%Y-%m-%d}-pools.md").write_text("\n".join(text), encoding="utf-8")


def small(runs: int, beside: small_inputs.Checkout | None, *, record: bool) -> None:
    """Commands on small inputs, compared with another commit: measure, print, and record."""
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="plexlens-bench-") as name:
        found = small_inputs.figures(Path(name), runs, beside)
    text = [
        f"# {datetime.now(UTC):%Y-%m-%d}: small inputs",
        "",
        f"{machine()}; Python {platform.python_version()}; load {before:.1f} at the beginning, "
        f"{os.getloadavg()[0]:.1f} at the end. Whole commands: processor time, user and system, best of {runs}; in "
        "brackets wall time and peak memory of that run. The yardstick is a fixed piece of work without Plexlens, done "
        "in the same turns: between runs at different hours compare multiples of it. Answers checked in the same run.",
        "",
        f"This commit: {small_inputs.Checkout(small_inputs.ROOT).commit()}.",
        *([] if beside is None else [f"Beside it: {beside.commit()}."]),
        "",
        *small_inputs.table(found),
        "",
    ]
    print("\n".join(text))
    if record:
        RECORD.mkdir(exist_ok=True)
        (RECORD / f"{datetime.now(UTC):%Y-%m-%d}-small.md").write_text("\n".join(text), encoding="utf-8")


def main() -> None:
    """Make the dumps, measure, print, and record."""
    words = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    words.add_argument("--size", type=int, default=1024, help="MiB of a dump")
    words.add_argument("--runs", type=int, default=3, help="runs of each measurement; the best counts")
    words.add_argument("--record", action="store_true", help="write the table to benchmarks/record")
    words.add_argument("--pools", action="store_true", help="the buffer pool engines instead, beside libCacheSim")
    words.add_argument("--millions", type=int, default=50, help="million references of the pools' trace")
    words.add_argument("--long", type=int, default=100, help="million getpages of the long trace; 0 leaves it out")
    words.add_argument("--note", default="", help="a sentence for the record of the pools, as what else was running")
    words.add_argument("--small", action="store_true", help="commands on small inputs instead")
    words.add_argument("--beside", type=Path, help="checkout of another commit whose reports are measured too")
    words.add_argument(
        "--beside-python",
        type=Path,
        default=Path(sys.executable),
        help="its Python, where it depends on other packages",
    )
    chosen = words.parse_args()
    beside = small_inputs.Checkout(chosen.beside.resolve(), chosen.beside_python) if chosen.beside else None
    if chosen.small:
        small(chosen.runs, beside, record=chosen.record)
        return
    if chosen.pools:
        if beside is not None:
            words.error("--beside is for reports: the engines of pools are compared with libCacheSim")
        pools(chosen.millions, chosen.long, record=chosen.record, note=chosen.note)
        return
    if beside is not None:
        beside.check()
    with tempfile.TemporaryDirectory(prefix="plexlens-bench-") as name:
        folder = Path(name)
        rmf, mq, work = folder / "rmf.smf", folder / "mq.smf", folder / "work.smf"
        plex = write_rmf(rmf, chosen.size * MIB)
        mq_rows = write_mq(mq, min(chosen.size, 256) * MIB)
        lines = [
            scan(rmf, chosen.runs),
            decode("RMF", rmf, plex, chosen.runs, 400),
            decode_mq(mq, mq_rows, chosen.runs),
            ingest(rmf, plex, folder, chosen.runs),
            report("RMF", rmf, ["STR_0001"], 15, beside),
        ]
        rmf.unlink()
        shutil.rmtree(folder / "pdb")
        transactions = write_transactions(work, chosen.size * MIB)
        lines += [
            decode("Db2 101 and CICS 110", work, transactions, chosen.runs, 500),
            report("Db2 101 and CICS 110", work, ["PLAN0001", "CICS0001"], 8, beside),
        ]
    load = os.getloadavg()[0]
    fixed = min(command(sys.executable, yardstick.__file__).cpu_seconds for _ in range(chosen.runs))
    text = [
        f"# {datetime.now(UTC):%Y-%m-%d}",
        "",
        f"{machine()}; Python {platform.python_version()}; load {load:.1f} at the end. dumps of {chosen.size} MiB; "
        f"best of {chosen.runs} runs, reports once; answers checked in the same run. The yardstick, a fixed piece of "
        f"work without Plexlens, takes {fixed:.2f} s of processor time.",
        *([] if beside is None else ["", f"The other commit: {beside.commit()}."]),
        "",
        "| what | figure | yardstick | bound | held |",
        "|---|---|---|---|---|",
        *(f"| {o.what} | {o.figure} | {o.yardstick} | {o.bound} | {'yes' if o.held else 'no'} |" for o in lines),
        "",
    ]
    print("\n".join(text))
    if chosen.record:
        RECORD.mkdir(exist_ok=True)
        (RECORD / f"{datetime.now(UTC):%Y-%m-%d}.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
