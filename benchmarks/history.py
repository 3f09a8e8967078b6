"""A year of daily dumps: time per ingest, files, queries and a report, before and after a compaction.

    python -m benchmarks.history                 # 400 dumps of a small sysplex; some minutes
    python -m benchmarks.history --dumps 40 --report

Each dump runs from 06:00 to 06:00 and so has two days of every table. An ingest opens the database and adds a dump, as
`plexlens ingest` does; its figure is processor time, user and system, without the start of the command, the median of
ten dumps. Rows of the finished database are compared with those that were written.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import dumps
from benchmarks.measure import command, machine
from plexlens import _core
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.upkeep.compact import compact
from plexlens.pdb.upkeep.expire import purge

#: Intervals of a quarter of an hour per day, and those that a dump has: one in three hours.
PER_DAY, EVERY = 96, 12

#: Dumps over which a median is taken.
SAMPLE = 10


@dataclass
class History:
    """A database that grows by a dump a day.

    Attributes
    ----------
    folder
        Where dumps and database are.
    plex
        The sysplex that writes the dumps, and the rows that it wrote.
    seconds
        Processor time of each ingest.
    """

    folder: Path
    plex: dumps.Sysplex
    seconds: list[float] = field(default_factory=list)

    @property
    def pdb(self) -> Path:
        """The database."""
        return self.folder / "pdb"

    def day(self, number: int) -> None:
        """Write the dump of a day and ingest it."""
        path = self.folder / "day.smf"
        with _core.DumpWriter(path) as dump:
            for interval in range(number * PER_DAY + PER_DAY // 4, (number + 1) * PER_DAY + PER_DAY // 4, EVERY):
                for records in self.plex.interval(interval, 0):
                    dump.write_all(records)
        before = cpu_seconds()
        ingest([path], Pdb.open_or_create(self.pdb))
        self.seconds.append(cpu_seconds() - before)

    def around(self, number: int) -> float:
        """Median time of the ingests up to this one."""
        return statistics.median(self.seconds[max(0, number - SAMPLE) : number])

    def check(self) -> None:
        """Compare the rows of each table with those written."""
        tables = Pdb.open(self.pdb).tables()
        for table, rows in self.plex.rows.items():
            if tables[table].rows != rows:
                raise SystemExit(f"{table} has {tables[table].rows} rows where {rows} were written")


def cpu_seconds() -> float:
    """Processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _state(history: History, *, report: bool) -> tuple[str, ...]:
    began = cpu_seconds()
    pdb = Pdb.open(history.pdb)
    opened = cpu_seconds() - began
    tables = pdb.tables().values()
    log = [path.stat().st_size for path in (history.pdb / "log").iterdir()]
    began = cpu_seconds()
    connection = pdb.connect(threads=1)
    connected = cpu_seconds() - began
    began = cpu_seconds()
    connection.execute("select count(*), sum(r744ssrc) from smf74_4_request").fetchall()
    asked = cpu_seconds() - began
    made = 0.0
    if report:
        words = (sys.executable, "-m", "plexlens.cli", "report", history.pdb, "-o", history.folder / "r.html")
        made = command(*words, output=history.folder / "out").cpu_seconds
    return (
        f"{sum(one.files for one in tables):,}",
        f"{sum(one.bytes for one in tables) / 1e6:.1f}",
        f"{len(log)}, {sum(log) / 1e3:,.0f}",
        f"{opened:.3f}",
        f"{connected:.2f}",
        f"{asked:.2f}",
        f"{made:.1f}" if report else "",
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__.splitlines()[0])
    parser.add_argument("--dumps", type=int, default=400, help="daily dumps (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="make a report of the whole database too")
    options = parser.parse_args()
    # A small sysplex: what is measured does not depend on the rows of a dump.
    dumps.DEVICES, dumps.CLASSES, dumps.STRUCTURES, dumps.PARTITIONS, dumps.LOGICAL = 20, 4, 4, 2, 2
    folder = Path(tempfile.mkdtemp(prefix="plexlens-history-"))
    try:
        history = History(folder, dumps.Sysplex(dumps.catalogue(), dumps.SEED))
        print(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}\n")
        print("| ingest | CPU seconds, median of ten |\n|---|---:|")
        told = {max(SAMPLE, options.dumps // part) for part in (1, 2, 4, options.dumps)}
        for number in range(1, options.dumps + 1):
            history.day(number - 1)
            if number in told:
                print(f"| {number - SAMPLE + 1} to {number} | {history.around(number):.3f} |", flush=True)
        history.check()
        names = ("", "Parquet files", "MB", "parts of the log, KB", "open", "connect", "sum over a table", "report")
        print("\n| " + " | ".join(names) + " |\n|---" + "|---:" * (len(names) - 1) + "|")
        print("| before | " + " | ".join(_state(history, report=options.report)) + " |", flush=True)
        began = cpu_seconds()
        compact(Pdb.open(history.pdb))
        merged = cpu_seconds() - began
        purge(Pdb.open(history.pdb))
        history.check()
        print("| after | " + " | ".join(_state(history, report=options.report)) + " |")
        history.day(options.dumps)
        print(f"\ncompaction: {merged:.1f} CPU seconds; the ingest after it: {history.seconds[-1]:.3f}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
