"""A day of a Distributed Data Server in minutes: a stand-in with bad days, and a watch that is killed now and then.

``python -m tests.watch.replay --hours 24 --speed 60`` prints the numbers of ``docs/watch.md``;
``tests/watch/test_replay.py`` does a short one. The watch is a process of its own with the waits of `plexlens watch`
divided by the speed.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from plexlens.findings import load_rules
from plexlens.pdb import Pdb
from plexlens.pdb.opening import DumpReading
from plexlens.watch.dds.address import credentials_of, parse_address
from plexlens.watch.dds.client import Client
from plexlens.watch.dds.pace import Pace
from plexlens.watch.dds.server import Server
from plexlens.watch.judging import Judge
from plexlens.watch.passing_on import Receivers
from plexlens.watch.settling import Folders
from plexlens.watch.watcher import Watcher
from tests.watch.stand_in import FAULTS, LENGTH, PASSWORD, STAMP, USER, StandIn, value_of

START = datetime(2026, 3, 7, 22, 0, tzinfo=UTC)
REPORTS = ("CPC", "CHANNEL")
#: Faults that come at random; the answer 401 has moments of its own, since two in a row end a watch.
_AT_RANDOM = tuple(fault for fault in FAULTS if fault != "401")


@dataclass
class Plan:
    """What happens in a replay, in hours of the server's clock.

    Attributes
    ----------
    hours, speed
        Length, and seconds of the server's clock per second.
    faulty
        Share of requests that fail.
    kills
        When the watch is killed (-9) and started again.
    away
        Hours for which the server is stopped: first and last.
    down
        Hours for which no watch runs: first and last.
    refused
        When an answer is 401.
    change
        When local time moves on by an hour.
    lost
        Hours of which the server has nothing, and of which one system has nothing.
    """

    hours: float
    speed: float
    faulty: float = 0.04
    kills: tuple[float, ...] = ()
    away: tuple[tuple[float, float], ...] = ()
    down: tuple[tuple[float, float], ...] = ()
    refused: tuple[float, ...] = ()
    change: float = 1e9
    lost: tuple[tuple[float, float], ...] = ()
    lost_by_one: tuple[tuple[float, float], ...] = ()


@dataclass
class Result:
    """What came of a replay."""

    expected: Counter[tuple[str, str, str]]
    held: Counter[tuple[str, str, str]]
    wrong_values: int
    starts: int
    ingests: int
    seconds: float
    cpu: float
    faults: Counter[str]
    requests: int
    said: list[str] = field(repr=False, default_factory=list)

    @property
    def lost(self) -> int:
        """Reports that are not held."""
        return sum((self.expected - self.held).values())

    @property
    def doubled(self) -> int:
        """Reports that are held too often, or that there never were."""
        return sum((self.held - self.expected).values())


def day(hours: float, speed: float) -> Plan:
    """Everything that a day may bring, as shares of its length."""

    def at(*shares: float) -> tuple[float, ...]:
        return tuple(share * hours for share in shares)

    return Plan(
        hours,
        speed,
        kills=at(0.06, 0.17, 0.29, 0.41, 0.52, 0.63, 0.77, 0.88),
        away=(at(0.20, 0.22), at(0.55, 0.58)),
        down=(at(0.34, 0.40),),
        refused=at(0.12, 0.70),
        change=0.47 * hours,
        lost=(at(0.25, 0.265),),
        lost_by_one=(at(0.65, 0.68),),
    )


def replay(plan: Plan, folder: Path) -> Result:
    """Run a replay into a database in a folder."""
    chance = random.Random(20260307)
    begun, cpu = time.monotonic(), _cpu()
    moments = {hour: START + timedelta(hours=hour) for hour in plan.refused}
    with StandIn(START, speed=plan.speed, holds=timedelta(hours=48)) as stand_in:
        turn = START + timedelta(hours=plan.change)
        stand_in.offset = lambda moment: timedelta(hours=-5 if moment < turn else -4)
        stand_in.lost = lambda moment, system: (
            _within(moment, plan.lost) or (system == "SYS2" and _within(moment, plan.lost_by_one))
        )
        lock = threading.Lock()

        def fault(document: str, asked: dict[str, str]) -> str:
            with lock:
                # A watch that was never accepted ends at once, which is another test.
                for hour, due in list(moments.items()):
                    if stand_in.now >= due and document == "rmfm3.xml":
                        del moments[hour]
                        return "401"
                return chance.choice(_AT_RANDOM) if chance.random() < plan.faulty else ""

        stand_in.fault = fault
        said = (folder / "said.txt").open("a")
        watch = _start(stand_in, folder, plan.speed, said)
        starts = 1
        happenings = sorted(
            [(hour, "kill") for hour in plan.kills]
            + [(hour, what) for one in plan.away for hour, what in zip(one, ("away", "back"), strict=True)]
            + [(hour, what) for one in plan.down for hour, what in zip(one, ("end", "begin"), strict=True)]
        )
        for hour, what in happenings:
            _wait_for(stand_in, START + timedelta(hours=hour))
            if what == "away":
                stand_in.stop()
            elif what == "back":
                stand_in.start()
            else:
                if what in ("kill", "end"):
                    watch.send_signal(signal.SIGKILL)
                    watch.wait()
                if what in ("kill", "begin"):
                    watch = _start(stand_in, folder, plan.speed, said)
                    starts += 1
        _wait_for(stand_in, START + timedelta(hours=plan.hours))
        # The clock stands still, and nothing fails: what is not there now is lost.
        stand_in.speed, stand_in._clock = 0.0, stand_in.now
        stand_in.fault = lambda document, asked: ""
        last = stand_in.newest()
        _wait_until_held(stand_in, folder, last, watch)
        watch.send_signal(signal.SIGTERM)
        watch.wait(60)
        said.close()
        seconds = time.monotonic() - begun
        pdb = Pdb.open(folder / "pdb")
        # The first watch begins with what is the newest interval when it has started.
        first = min(ingest.file.split()[1].partition("-")[0] for ingest in pdb.ingests)
        starting = stand_in.intervals(datetime.strptime(first, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC), last + LENGTH)
        expected = Counter(
            (report, system, start)
            for report in REPORTS
            for system in stand_in.systems
            for start in starting
            if not stand_in.lost(datetime.strptime(start, STAMP).replace(tzinfo=UTC), system)
        )
        with pdb.connect() as connection:
            rows = connection.execute(
                "select report, system, strftime(interval_start, '%Y%m%d%H%M%S'), count(*) from rmf_xml_record "
                "group by all"
            ).fetchall()
            values = connection.execute(
                "select epoch(interval_start), own_partition_name, logical_total_percent from rmf_xml_m3_partition "
                "where partition_name = own_partition_name"
            ).fetchall()
        return Result(
            expected,
            Counter({(report, system, start): count for report, system, start, count in rows}),
            sum(share != value_of(datetime.fromtimestamp(at, UTC), name) / 10 for at, name, share in values),
            starts,
            len(pdb.ingests),
            seconds,
            _cpu() - cpu,
            Counter({name: count for name, count in stand_in.given.items() if name != "answer"}),
            len(stand_in.asked),
            (folder / "said.txt").read_text().splitlines(),
        )


def _within(moment: datetime, spans: tuple[tuple[float, ...], ...]) -> bool:
    hours = (moment - START) / timedelta(hours=1)
    return any(first <= hours < last for first, last in spans)


def _cpu() -> float:
    """CPU seconds of the processes that this one started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _wait_for(stand_in: StandIn, moment: datetime) -> None:
    while stand_in.now < moment:
        time.sleep(0.02)


def _wait_until_held(stand_in: StandIn, folder: Path, last: datetime, watch: subprocess.Popen[bytes]) -> None:
    """Wait until the watch has asked for the newest interval and only asks whether there is another one."""
    until = time.monotonic() + 900
    while time.monotonic() < until and watch.poll() is None:
        before = len(stand_in.asked)
        time.sleep(2.0)
        asked = stand_in.asked[before:]
        names = [ingest.file for ingest in Pdb.open(folder / "pdb").ingests]
        is_held = any(f"-{last + LENGTH:%Y%m%dT%H%M%SZ} " in name for name in names)
        if is_held and asked and all(document != "rmfm3.xml" for document, _ in asked):
            return
    raise AssertionError("the watch did not come to the end")


def _start(stand_in: StandIn, folder: Path, speed: float, said: object) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PLEXLENS_DDS_USER": USER, "PLEXLENS_DDS_PASSWORD": PASSWORD}
    words = [sys.executable, "-m", "tests.watch.replay", "--watch", stand_in.address, str(folder / "pdb"), str(speed)]
    return subprocess.Popen(words, env=environment, stdout=said, stderr=said)  # type: ignore[call-overload,no-any-return]


def watch(address: str, folder: Path, speed: float) -> None:
    """Watch a server as `plexlens watch` does, with shorter waits."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())

    def tell(text: str) -> None:
        print(text, flush=True)

    where = parse_address(address)
    pdb = Pdb.open_or_create(folder)
    client = Client(where, credentials_of(where), seconds=1.0, largest=1 << 20)
    names = [ingest.file for ingest in pdb.ingests]
    server = Server(client, names, reports=REPORTS, tell=tell, pace=Pace(factor=1 / speed))
    judge = Judge(pdb, load_rules())
    receivers = Receivers(lambda line: tell(f"finding {line.strip()}"), tell)
    Watcher(Folders([], tell), pdb, judge, receivers, reading=DumpReading(), tell=tell, servers=[server]).run(
        30.0, stop
    )


def main() -> None:
    """Run a watch, or a replay and print its table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--watch", nargs=3)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--speed", type=float, default=120.0)
    asked = parser.parse_args()
    if asked.watch:
        watch(asked.watch[0], Path(asked.watch[1]), float(asked.watch[2]))
        return
    with TemporaryDirectory(prefix="replay-") as folder:
        done = replay(day(asked.hours, asked.speed), Path(folder))
        said = Counter(line.split(": ", 1)[0][:40] for line in done.said)
    print(f"hours replayed {asked.hours:g} in {done.seconds:,.0f} s, CPU of the watch {done.cpu:,.0f} s")
    print(f"reports there were {sum(done.expected.values()):,}, lost {done.lost}, doubled {done.doubled}")
    print(f"values that differ {done.wrong_values}, starts of the watch {done.starts}, ingests {done.ingests:,}")
    print(f"requests {done.requests:,}, failed {sum(done.faults.values()):,}: {dict(sorted(done.faults.items()))}")
    print(f"findings {sum(line.startswith('finding ') for line in done.said)}, lines said {len(done.said)}")
    print(said.most_common(3))
    if done.lost or done.doubled or done.wrong_values or any("Traceback" in line for line in done.said):
        print("lost", sorted((done.expected - done.held).elements()))
        print("doubled", sorted((done.held - done.expected).elements()))
        print("\n".join(done.said[-300:]))
        raise SystemExit(1)


if __name__ == "__main__":
    main()
