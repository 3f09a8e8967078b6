"""Questions to a database of 100 million accounting rows: made, rolled up, asked through `plexlens serve`, timed.

    python -m benchmarks.large FOLDER --days 21 --rows 4762000      # makes FOLDER/pdb where it is missing, and asks
    python -m benchmarks.large FOLDER --minutes 10 --record

DuckDB on the raw tables answers the same questions in the same run, with the same threads: the rows of each page's
table, without the chart, the sparklines and the percentiles that the page has too. Facts from roll-ups are compared
with aggregates of the raw table.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.accounting import FIRST, REGIONS, TRANSACTIONS, UTC_OFFSET, ingest_day, write_day
from benchmarks.measure import machine
from plexlens.metrics import GRAINS
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.question import Question, ask
from plexlens.metrics.rolled.making import update
from plexlens.metrics.rolled.reading import rolled_of
from plexlens.metrics.selection import Selection, Window, resolve
from plexlens.pdb import Pdb
from plexlens.pdb.engine import Connection, arrow, literal, quoted, session_of

RECORD = Path(__file__).parent / "record"

#: Days that the questions need: they name the second and the fourth, by a local clock one hour ahead of UTC.
LEAST_DAYS = 4

TASKS, THREADS = "smf110_1_performance", "smf101_ifcid3_qwac"

#: The numbers in SQL on the raw tables. A rate needs the time covered, which raw rows do not show: its count stands.
RAW_NUMBERS = {
    "response_time": "sum(epoch_us(stop) - epoch_us(start)) / 1e6 / count(*)",
    "cpu_time": "sum(usrcput_seconds) / count(*)",
    "transactions_per_second": "count(*)",
    "db2_requests": "sum(db2reqct) / count(*)",
    "longest_response": "max(epoch_us(stop) - epoch_us(start)) / 1e6",
    "class1_elapsed_time": "sum(epoch_us(qwacesc) - epoch_us(qwacbsc)) / 1e6 / count(*)",
    "class2_cp_time": "sum(qwacajst) / count(*)",
    "commits": "sum(qwaccomm)",
}
RAW_KEYS = {"applid": "subsystem", "transaction": "tran", "plan": "qwhcplan"}

_SECONDS = "(epoch_us(stop) - epoch_us(start)) / 1e6"

#: What is compared with the raw table, in its SQL.
CHECKED = {
    "transactions": "count(*)",
    "commands": "sum(eictotct)",
    "file_requests": "sum(fctotct)",
    "longest_seconds": f"max({_SECONDS})",
    "response_seconds": f"sum({_SECONDS})",
    **{f"response_p{percent}": f"quantile_disc({_SECONDS}, {percent / 100})" for percent in (50, 90, 95, 99)},
}

#: How far a number may be off; all others have to be equal. Sums of seconds differ by the order of addition. A
#: percentile lies between the same two bounds as the exact value, which are at most as far apart as 2 and 3.
ALLOWED = {"response_seconds": 1e-11} | {name: 0.5 for name in CHECKED if "_p" in name}


@dataclass(frozen=True)
class Drill:
    """A question of an analyst: a number by a key, of a part of the data.

    Attributes
    ----------
    number, by
        The metric and the key.
    where
        Value of a key, by key.
    start, end
        Part of time, as an address names it; a day is from its beginning to its end. Clocks are an hour ahead of UTC.
    part
        Other parts of the data, as parameters of the address.
    """

    number: str
    by: str
    where: Mapping[str, str] = field(default_factory=dict)
    start: str = ""
    end: str = ""
    part: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_of_cics(self) -> bool:
        """Whether it is about tasks of CICS, or else about threads of Db2."""
        return "class" not in self.number and self.number != "commits"

    @property
    def address(self) -> str:
        """Address of its page."""
        values: dict[str, str | list[str]] = {"metric": self.number, "by": self.by}
        if self.where:
            values["where"] = [f"{key}={value}" for key, value in self.where.items()]
        if self.start:
            values |= {"from": self.start, "to": self.end}
        path = "/grain/cics_transaction" if self.is_of_cics else "/grain/db2_accounting"
        return f"{path}?{urlencode(values | dict(self.part), doseq=True)}"

    @property
    def bounds(self) -> tuple[datetime, datetime] | None:
        """Its part of time; None for all."""
        if not self.start:
            return None
        zone = timezone(timedelta(seconds=UTC_OFFSET))
        start, end = (datetime.fromisoformat(text).replace(tzinfo=zone) for text in (self.start, self.end))
        return start, end + timedelta(days=1) if "T" not in self.end else end

    @property
    def condition(self) -> str:
        """The rows that count, in SQL on the raw table."""
        conditions = [f"{RAW_KEYS.get(key, key)} = '{value}'" for key, value in self.where.items()]
        if self.bounds is not None:
            moment = "stop" if self.is_of_cics else "qwacesc"
            start, end = (f"timestamptz '{bound.isoformat()}'" for bound in self.bounds)
            conditions += [f"{moment} >= {start}", f"{moment} < {end}"]
        if "system" in self.part:
            conditions.append(f"system = '{self.part['system']}'")
        if "class" in self.part:
            conditions.append(f"srvclsnm = '{self.part['class']}'")
        if "shift" in self.part:
            local = f"(stop + interval {int(UTC_OFFSET)} second)"
            conditions.append(f"isodow({local}) <= 5 and hour({local}) between 8 and 16")
        return f" where {' and '.join(conditions)}" if conditions else ""

    @property
    def raw(self) -> str:
        """The same in SQL on the raw table: the rows of the page's table, without its courses."""
        key = RAW_KEYS.get(self.by, self.by)
        source = TASKS if self.is_of_cics else THREADS
        if self.by == "plan":
            names = "source_id, record_no, qwhcplan"
            source += f" join (select distinct {names} from smf101_qwhc) using (source_id, record_no)"
        return f"select {key}, {RAW_NUMBERS[self.number]} from {source}{self.condition} group by 1 order by 2 desc"


def make(folder: Path, days: int, rows: int) -> Pdb:
    """The database, with days of accounting in it and its roll-ups."""
    pdb = Pdb.open_or_create(folder / "pdb")
    for number in range(len(pdb.ingests), days):
        ingest_day(pdb, write_day(folder, number, rows))
    row = pdb.connect().execute("select count(*) from implausible").fetchone()
    if row is None or row[0]:
        raise SystemExit(f"wrong rows: {row[0] if row else 0} values are ones that no task or thread can have")
    update(pdb, tell=print)
    return pdb


def drills() -> list[Drill]:
    """Questions that an analyst asks one after another: splits, filters, parts of time."""
    asked: list[Drill] = []
    for number in ("response_time", "cpu_time", "transactions_per_second", "db2_requests", "longest_response"):
        asked += [Drill(number, key) for key in ("applid", "transaction", "system")]
        asked.append(Drill(number, "transaction", {"applid": "CICS0007"}))
        asked.append(Drill(number, "applid", {"transaction": "T0042"}))
    for day in ("2026-03-03", "2026-03-05"):
        asked += [Drill("response_time", key, start=day, end=day) for key in ("applid", "transaction")]
        hours = (f"{day}T10:00", f"{day}T14:00")
        asked += [Drill("cpu_time", key, start=hours[0], end=hours[1]) for key in ("applid", "transaction")]
        asked.append(Drill("response_time", "transaction", start=f"{day}T10:15", end=f"{day}T10:45"))
    asked.append(Drill("response_time", "applid", part={"shift": "mon-fri/08:00-17:00"}))
    asked.append(Drill("response_time", "transaction", part={"system": "SYS2"}))
    asked.append(Drill("response_time", "transaction", part={"class": "ONLHIGH"}))
    for number in ("class1_elapsed_time", "class2_cp_time", "commits"):
        asked += [Drill(number, key) for key in ("subsystem", "plan")]
    asked.append(Drill("class1_elapsed_time", "plan", {"subsystem": "DB02"}))
    return asked


def checked(pdb: Pdb, drills: Iterable[Drill]) -> str:
    """Compare facts and percentiles of every CICS drill, which come from roll-ups, with those of the raw table.

    Returns
    -------
    str
        What was compared, as a line of the record.

    Raises
    ------
    SystemExit
        A number differs; the message names it.
    """
    connection = pdb.connect(memory_limit="1GiB", threads=2)
    numbers, farthest = 0, 0.0
    off: list[float] = []
    parts = {(one.by, one.condition): one for one in drills if one.is_of_cics and "shift" not in one.part}.values()
    for drill in parts:
        listed = ", ".join(f"({sql})::double" for sql in CHECKED.values())
        key = RAW_KEYS.get(drill.by, drill.by)
        raw = connection.execute(f"select {key}, {listed} from {TASKS}{drill.condition} group by 1").fetchall()
        found = _from_roll_ups(pdb, connection, drill)
        if found.keys() != {row[0] for row in raw}:
            raise SystemExit(f"{drill.address}: other rows than the raw table has")
        for name, *values in raw:
            for fact, own, expected in zip(CHECKED, found[name], values, strict=True):
                numbers += 1
                apart = abs(own - expected) / abs(expected) if expected else abs(own)
                if apart > ALLOWED.get(fact, 0.0):
                    raise SystemExit(f"{drill.address}: {fact} of {name} is {own!r}, the raw table has {expected!r}")
                if "_p" in fact:
                    off.append(apart)
                else:
                    farthest = max(farthest, apart)
    usual = statistics.median(off)
    return (
        f"{numbers:,} numbers of {len(parts)} parts of the data from roll-ups were compared with DuckDB on the raw "
        f"table: counts and extremes are equal; sums of seconds differ by {farthest:.1e} at most, by the order of "
        f"addition. {len(off):,} percentiles (50, 90, 95, 99) of the response time are off by {usual:.1%} at the "
        f"median and {max(off):.1%} at most, where 50 % are allowed."
    )


def _from_roll_ups(pdb: Pdb, connection: Connection, drill: Drill) -> dict[str, list[float]]:
    """The numbers by the key of a drill, as the pages get them."""
    windows = (Window(*drill.bounds),) if drill.bounds is not None else ()
    named = {name: (value,) for name, value in drill.part.items()}
    selection = Selection(windows=windows, systems=named.get("system", ()), classes=named.get("class", ()))
    inputs = Inputs(session_of(connection), resolve(selection, connection, str(pdb.path)))
    where = " and ".join(f"{quoted(key)} = {literal(value)}" for key, value in drill.where.items())
    question = Question.of("cics_transaction", by=drill.by, every="all", columns=list(CHECKED), where=where)
    if rolled_of(inputs, GRAINS["cics_transaction"]) is None:
        raise SystemExit(f"{drill.address}: no roll-up answers")
    rows = ask(inputs, question, str(pdb.path)).table.to_pylist()
    return {row[drill.by]: [row[name] for name in CHECKED] for row in rows}


def records() -> list[str]:
    """Addresses of records behind a number."""
    return [
        "/records/cics_transaction?" + urlencode(values, doseq=True)
        for values in (
            {"metric": "response_time", "where": ["applid=CICS0002", "transaction=T0042"], "from": "2026-03-03T10:00",
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


def drawn(chance: random.Random, days: int) -> Drill:
    """A question that hardly anybody asked before: a number of a region, of a transaction or of some hours of a day."""
    number = chance.choice(("response_time", "cpu_time", "transactions_per_second", "db2_requests", "dispatch_time"))
    region, transaction = f"CICS{chance.randrange(REGIONS):04d}", f"T{chance.randrange(TRANSACTIONS):04d}"
    day, hour = FIRST + timedelta(days=chance.randrange(1, days)), chance.randrange(6, 20)
    return chance.choice(
        (
            Drill(number, "transaction", {"applid": region}),
            Drill(number, "applid", {"transaction": transaction}),
            Drill(
                number,
                chance.choice(("applid", "transaction")),
                start=f"{day}T{hour:02d}:00",
                end=f"{day}T{hour + 2:02d}:00",
            ),
            Drill(number, "transaction", {"applid": region}, f"{day}", f"{day}"),
        )
    )


def users(server: Server, count: int, minutes: float, days: int) -> tuple[list[float], int]:
    """Seconds of the answers to several users at once, each of whom thinks for up to two seconds; and failures."""
    ends = time.monotonic() + minutes * 60
    found: list[float] = []
    failed = 0

    def one(number: int) -> None:
        nonlocal failed
        chance = random.Random(number)
        while time.monotonic() < ends:
            try:
                found.append(server.ask(drawn(chance, days).address))
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
        asked = [drill.address for drill in drills()]
        for name, addresses in (("first time", asked), ("records behind", records())):
            start = server.cpu
            seconds = [server.ask(path) for path in addresses]
            spent = (server.cpu - start) / len(addresses) * 1000
            lines.append(f"| {len(addresses)} drills, {name} (CPU {spent:,.0f} ms each) | {shares(seconds)} |")
        now, most = server.rss
        lines += [f"| memory of the server | {now >> 20:,} MiB now, {most >> 20:,} MiB at most | | | |"]
        if minutes:
            found, failed = users(server, 10, minutes, len(pdb.ingests))
            lines.append(
                f"| ten users for {minutes:g} minutes, each with questions of their own: {len(found):,} answers, "
                f"{failed} failed | {shares(found)} |"
            )
            now, most = server.rss
            lines += [f"| memory of the server | {now >> 20:,} MiB now, {most >> 20:,} MiB at most | | | |"]
    connection = pdb.connect(memory_limit="1GiB", threads=2)
    seconds, spent = [], time.process_time()
    for drill in drills():
        start = time.perf_counter()
        arrow(connection, drill.raw)
        seconds.append(time.perf_counter() - start)
    spent = (time.process_time() - spent) / len(seconds) * 1000
    what = f"the same in DuckDB on the raw tables, without courses (CPU {spent:,.0f} ms each)"
    lines.append(f"| {what} | {shares(seconds)} |")
    lines += ["", checked(pdb, drills())]
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
