"""Questions to a database of 100 million accounting rows: made, rolled up, asked through `plexlens serve`, timed.

    python -m benchmarks.large FOLDER --days 21 --rows 4762000      # makes FOLDER/pdb where it is missing, and asks
    python -m benchmarks.large FOLDER --minutes 10 --record

DuckDB on the raw table answers the same kinds of question in the same run, with the same threads.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.accounting import ingest_day, write_day
from benchmarks.measure import machine
from plexlens.metrics.rolled.making import update
from plexlens.pdb import Pdb
from plexlens.pdb.engine import arrow

RECORD = Path(__file__).parent / "record"

#: Days that the questions need: they name the second and the fourth, by a local clock one hour ahead of UTC.
LEAST_DAYS = 4

#: The same questions in SQL on the raw table.
RAW = {
    "all days by region": "select subsystem, sum(usrcput_seconds) / count(*) from smf110_1_performance group by 1",
    "a region by transaction": "select tran, sum(usrcput_seconds) / count(*) from smf110_1_performance"
    " where subsystem = 'CICS0007' group by 1",
    "course of a region by day": "select date_trunc('day', stop), sum(usrcput_seconds) / count(*)"
    " from smf110_1_performance where subsystem = 'CICS0007' group by 1",
    "a day by transaction": "select tran, sum(usrcput_seconds) / count(*) from smf110_1_performance"
    " where stop >= timestamptz '2026-03-03 23:00:00+00' and stop < timestamptz '2026-03-04 23:00:00+00' group by 1",
}


def make(folder: Path, days: int, rows: int) -> Pdb:
    """The database, with days of accounting in it and its roll-ups."""
    pdb = Pdb.open_or_create(folder / "pdb")
    for number in range(len(pdb.ingests), days):
        ingest_day(pdb, write_day(folder, number, rows))
    update(pdb, tell=print)
    return pdb


def drills() -> list[str]:
    """Addresses of questions that an analyst asks one after another: splits, filters, parts of time."""
    asked: list[tuple[str, dict[str, str | list[str]]]] = []
    cics, db2 = "/grain/cics_transaction", "/grain/db2_accounting"
    for metric in ("response_time", "cpu_time", "transactions_per_second", "db2_requests", "longest_response"):
        asked += [(cics, {"metric": metric, "by": key}) for key in ("applid", "transaction", "system")]
        asked.append((cics, {"metric": metric, "by": "transaction", "where": ["applid=CICS0007"]}))
        asked.append((cics, {"metric": metric, "by": "applid", "where": ["transaction=T0042"]}))
    for day in ("2026-03-03", "2026-03-05"):
        part: dict[str, str | list[str]] = {"from": day, "to": day}
        asked += [(cics, {"metric": "response_time", "by": key, **part}) for key in ("applid", "transaction")]
        hours: dict[str, str | list[str]] = {"from": f"{day}T10:00", "to": f"{day}T14:00"}
        asked += [(cics, {"metric": "cpu_time", "by": key, **hours}) for key in ("applid", "transaction")]
        quarter: dict[str, str | list[str]] = {"from": f"{day}T10:15", "to": f"{day}T10:45"}
        asked.append((cics, {"metric": "response_time", "by": "transaction", **quarter}))
    asked.append((cics, {"metric": "response_time", "by": "applid", "shift": "mon-fri/08:00-17:00"}))
    asked.append((cics, {"metric": "response_time", "by": "transaction", "system": "SYS2"}))
    asked.append((cics, {"metric": "response_time", "by": "transaction", "class": "ONLHIGH"}))
    for metric in ("class1_elapsed_time", "class2_cp_time", "commits"):
        asked += [(db2, {"metric": metric, "by": key}) for key in ("subsystem", "plan")]
    asked.append((db2, {"metric": "class1_elapsed_time", "by": "plan", "where": ["subsystem=DB02"]}))
    return [f"{path}?{urlencode(values, doseq=True)}" for path, values in asked]


def records() -> list[str]:
    """Addresses of records behind a number."""
    return [
        "/records/cics_transaction?" + urlencode(values, doseq=True)
        for values in (
            {"metric": "response_time", "where": ["applid=CICS0007", "transaction=T0042"], "from": "2026-03-03T10:00",
             "to": "2026-03-03T11:00"},
            {"metric": "response_time", "where": ["applid=CICS0011"], "from": "2026-03-05", "to": "2026-03-05"},
        )
    ]  # fmt: skip


class Server:
    """`plexlens serve` in a process of its own."""

    def __init__(self, pdb: Path) -> None:
        command = Path(sys.executable).with_name("plexlens")
        self.process = subprocess.Popen(
            [command, "serve", pdb, "--port", "0", "--threads", "2"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        self.base = ""
        for line in self.process.stdout:
            if found := re.search(r"http://[^\s]+", line):
                self.base = found[0].rstrip("/")
                break
        if not self.base:
            raise SystemExit("the server did not start")
        threading.Thread(target=lambda: list(self.process.stdout or ()), daemon=True).start()

    def ask(self, path: str) -> float:
        """Seconds until the whole page is there."""
        start = time.perf_counter()
        with urllib.request.urlopen(self.base + path, timeout=120) as answer:
            text = answer.read()
        if b"</html>" not in text:
            raise SystemExit(f"wrong answer to {path}")
        return time.perf_counter() - start

    @property
    def rss(self) -> tuple[int, int]:
        """Resident memory now, and the most so far, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = dict(re.findall(r"(VmRSS|VmHWM):\s+(\d+)", status))
        return int(found["VmRSS"]) << 10, int(found["VmHWM"]) << 10

    @property
    def cpu(self) -> float:
        """Processor time so far, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(pdb: Path) -> Iterator[Server]:
    """The server, ended afterwards."""
    server = Server(pdb)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(30)


def shares(seconds: Sequence[float]) -> str:
    """Median, 95th and 99th percentile, and the longest, in milliseconds."""
    ranked = sorted(seconds)

    def at(share: float) -> float:
        return ranked[min(len(ranked) - 1, int(share * len(ranked)))] * 1000

    return f"{at(0.5):,.0f} | {at(0.95):,.0f} | {at(0.99):,.0f} | {ranked[-1] * 1000:,.0f}"


def users(server: Server, count: int, minutes: float) -> tuple[list[float], int]:
    """Seconds of the answers to several users at once, each of whom thinks for up to two seconds; and failures."""
    ends = time.monotonic() + minutes * 60
    found: list[float] = []
    failed = 0

    def one(number: int) -> None:
        nonlocal failed
        chance = random.Random(number)
        while time.monotonic() < ends:
            try:
                found.append(server.ask(chance.choice(drills())))
            except (OSError, SystemExit):
                failed += 1
            time.sleep(chance.uniform(0, 2))

    workers = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found, failed


def measured(pdb: Pdb, minutes: float) -> list[str]:
    """The lines of the record."""
    rows = sum(
        pdb.tables()[name].rows for name in ("smf110_1_performance", "smf101_ifcid3_qwac") if name in pdb.tables()
    )
    tables = sum(one.bytes for one in pdb.tables().values())
    rollups = sum(path.stat().st_size for path in (pdb.path / "rollups").rglob("*") if path.is_file())
    before = os.getloadavg()[0]
    lines = [
        f"{machine()}; Python {platform.python_version()}; {rows:,} accounting rows in {len(pdb.ingests)} files; "
        f"tables {tables / 1e9:.2f} GB, roll-ups {rollups / 1e9:.2f} GB. Load {before:.1f} at the beginning.",
        "",
        "| what | p50, ms | p95 | p99 | longest |",
        "|---|---|---|---|---|",
    ]
    with serving(pdb.path) as server:
        lines.append(f"| first page | {shares([server.ask('/')])} |")
        asked = drills()
        for name, addresses in (("first time", asked), ("records behind", records())):
            start = server.cpu
            seconds = [server.ask(path) for path in addresses]
            spent = (server.cpu - start) / len(addresses) * 1000
            lines.append(f"| {len(addresses)} drills, {name} (CPU {spent:,.0f} ms each) | {shares(seconds)} |")
        now, most = server.rss
        lines += [f"| memory of the server | {now >> 20:,} MiB now, {most >> 20:,} MiB at most | | | |"]
        if minutes:
            found, failed = users(server, 10, minutes)
            lines.append(
                f"| ten users for {minutes:g} minutes: {len(found):,} answers, {failed} failed | {shares(found)} |"
            )
            now, most = server.rss
            lines += [f"| memory of the server | {now >> 20:,} MiB now, {most >> 20:,} MiB at most | | | |"]
    connection = pdb.connect(memory_limit="1GiB", threads=2)
    for name, sql in RAW.items():
        seconds = []
        spent = time.process_time()
        for _ in range(2):
            start = time.perf_counter()
            arrow(connection, sql)
            seconds.append(time.perf_counter() - start)
        spent = (time.process_time() - spent) / 2 * 1000
        lines.append(f"| DuckDB on the raw table: {name} (CPU {spent:,.0f} ms) | {shares(seconds)} |")
    return [*lines, "", f"Load {os.getloadavg()[0]:.1f} at the end."]


def main() -> None:
    """Make the database if it is missing, ask, print, and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--days", type=int, default=21)
    parser.add_argument("--rows", type=int, default=4_762_000, help="accounting rows of a day")
    parser.add_argument("--minutes", type=float, default=2.0, help="length of the run with ten users")
    parser.add_argument("--record", action="store_true")
    told = parser.parse_args()
    if told.days < LEAST_DAYS:
        parser.error(f"--days is {told.days}, but the questions name the fourth day: give at least {LEAST_DAYS}")
    told.folder.mkdir(parents=True, exist_ok=True)
    pdb = make(told.folder, told.days, told.rows)
    text = [f"# {datetime.now(UTC):%Y-%m-%d}: questions to many accounting rows", "", *measured(pdb, told.minutes), ""]
    print("\n".join(text))
    if told.record:
        RECORD.mkdir(exist_ok=True)
        (RECORD / f"{datetime.now(UTC):%Y-%m-%d}-large.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
