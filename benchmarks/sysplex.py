"""The sysplex simulator: events per second and memory, their growth with members and rate, and yardsticks.

    python benchmarks/sysplex.py            # ten minutes of 32 members at 10,000/s, then smaller sizes
    python benchmarks/sysplex.py --record   # and keep the tables in benchmarks/record

Half of the transactions change pages that all members share; machines are as many as members, so that rate and members
can grow by themselves. Before a run its pools are filled, which takes no simulated time and counts no events: a run of
a thousandth of a second tells what it costs. Each run has a process of its own, on one core; speeds are by processor
time, since on a busy machine wall time says nothing. Every run has to obey Little's law and the utilisation law.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import venv
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.measure import in_process, machine

HERE = Path(__file__).resolve().parent
RECORD = HERE / "record"
PEER = HERE.parent / ".build" / "simpy"

#: Million events per second that every size has to reach, and seconds for the largest.
BOUND, LONGEST = 3.0, 300.0

#: Simulated seconds before anything is measured; their events count.
WARM_UP = 10.0

#: Members and transactions per second of the smaller sizes, a minute each.
SIZES = ((2, 600.0), (8, 2400.0), (32, 9600.0), (32, 5000.0), (32, 2500.0))

#: Getpages that fill the pools of a member: four for each of its buffers.
FILLING = 4 * 40_000

_RUN = """
from plexlens import _core
def used(scenario):
    began = time.perf_counter(), time.process_time()
    results = json.loads(_core.simulate(json.dumps(scenario)))
    return time.perf_counter() - began[0], time.process_time() - began[1], results
scenario = json.loads(sys.argv[1])
short = scenario | {"run": scenario["run"] | {"warm_up": 0.0, "seconds": 0.001, "interval": 0.001}}
clock()
filling = used(short)[1]
wall, processor, results = used(scenario)
clock()
ended = sum(one["count"] for one in results["responses"])
answer = {
    "filling": filling, "wall": wall, "processor": processor, "ended": ended, "events": results["events"],
    "response": sum(one["count"] * one["mean"] for one in results["responses"]) / ended,
    "laws": results["laws"], "saturated": results["saturated"],
}
"""

#: A tandem of two single servers at 50 % and 80 % and a delay: 0.5 / 0.5 + 0.8 / 0.2 + 2 seconds.
_NETWORK = """
from plexlens import _core
stations = [("A", "queue", 1, [0.5]), ("B", "queue", 1, [0.8]), ("C", "delay", 1, [2.0])]
began = time.process_time()
clock()
run = _core.run_network(stations, [("OPEN", 1.0, 0, 0.0, 0, 1.0)], seed=1, warm_up=1000.0, seconds=3e6)
clock()
answer = {"processor": time.process_time() - began, **run}
"""
RESPONSE = 7.0

_SIMPY = """
import random
import simpy
customers = 200_000
chance, stayed = random.Random(1), []
env = simpy.Environment()
server = simpy.Resource(env)
def customer():
    came = env.now
    with server.request() as turn:
        yield turn
        yield env.timeout(chance.expovariate(1 / 0.8))
    stayed.append(env.now - came)
def arrivals():
    for _ in range(customers):
        yield env.timeout(chance.expovariate(1.0))
        env.process(customer())
env.process(arrivals())
began, events = time.process_time(), 0
clock()
while env.peek() < float("inf"):
    env.step()
    events += 1
clock()
answer = {"processor": time.process_time() - began, "events": events, "response": sum(stayed) / len(stayed)}
"""


@dataclass(frozen=True)
class Figures:
    """Results of a run.

    Attributes
    ----------
    members, rate, seconds
        Size: members, transactions per second, simulated seconds.
    filling, processor, wall
        Seconds: processor time of filling the pools, processor and wall time of the whole run, filling included.
    events, ended
        Events, and transactions that ended.
    response
        Mean seconds of a transaction.
    memory
        Peak of the process, bytes.
    saturated
        What was busy nearly all the time.
    """

    members: int
    rate: float
    seconds: float
    filling: float
    processor: float
    wall: float
    events: int
    ended: int
    response: float
    memory: int
    saturated: list[str]

    @property
    def speed(self) -> float:
        """Million events per second of processor time, without the filling phase."""
        return self.events / (self.processor - self.filling) / 1e6


def scenario(members: int, rate: float, seconds: float) -> dict[str, Any]:
    """A group of ``members`` members, each on its own machine, with pools of 20,000 pages."""
    numbers = range(1, members + 1)
    systems = [{"name": f"S{n:02d}", "cec": f"C{n:02d}"} for n in numbers]
    regions = [
        {"name": f"AOR{n:02d}{letter}", "system": f"S{n:02d}", "db2": "DSNG"} for n in numbers for letter in "ABC"
    ]
    names = [region["name"] for region in regions]
    return {
        "run": {"seed": 1, "warm_up": WARM_UP, "seconds": seconds, "interval": 60.0},
        "cec": [{"name": f"C{n:02d}", "engines": 4, "ziips": 1} for n in numbers],
        "system": systems,
        "coupling_facility": [{"name": name, "engines": 8, "subchannels": 28} for name in ("CF1", "CF2")],
        "db2": [
            {
                "group": "DSNG",
                "member": [{"name": f"DB{n:02d}", "system": f"S{n:02d}"} for n in numbers],
                "lock": {"coupling_facility": "CF1", "entries": 1 << 26},
                "pool": [
                    {"number": 1, "size": 20_000},
                    {"number": 2, "size": 20_000, "group": {"coupling_facility": "CF2", "data_entries": 100_000}},
                ],
                "page_set": [
                    {"name": "READ", "pool": 1, "pages": 100_000, "skew": 0.9},
                    {"name": "INDEX", "pool": 1, "pages": 5_000, "index": True, "skew": 0.9},
                    {"name": "CHANGED", "pool": 2, "pages": 1_000_000, "skew": 0.5},
                ],
            }
        ],
        "dasd": {"volumes": 256},
        "region": regions,
        "class": [
            {
                "name": "READ",
                "rate": rate / 2,
                "regions": names,
                "cpu": 0.0015,
                "db2_cpu": 0.0005,
                "ziip_share": 0.3,
                "references": [{"page_set": "INDEX", "getpages": 3.0}, {"page_set": "READ", "getpages": 3.0}],
            },
            {
                "name": "CHANGE",
                "rate": rate / 2,
                "regions": names,
                "cpu": 0.002,
                "db2_cpu": 0.0008,
                "references": [
                    {"page_set": "INDEX", "getpages": 3.0},
                    {"page_set": "CHANGED", "getpages": 3.0, "update": 0.5},
                ],
            },
        ],
    }


def run(members: int, rate: float, seconds: float) -> Figures:
    """A run, with its laws checked."""
    made = in_process(_RUN, json.dumps(scenario(members, rate, seconds)), cores=1)
    answer = made.answer
    for law in answer.pop("laws"):
        # What is under way at either end counts for one side of the utilisation law only.
        allowed = 1e-9 if law["name"].startswith("Little") else 0.01
        if abs(law["by_level"] - law["by_time"]) > allowed * max(abs(law["by_level"]), 1e-3):
            raise SystemExit(f"wrong answer: {law['name']}: {law['by_level']} and {law['by_time']}")
    return Figures(members, rate, seconds, memory=made.peak_bytes, **answer)


def _sizes(runs: list[Figures]) -> list[str]:
    head = (
        "| members | transactions/s | seconds | events | a transaction | filling | run | million events/s | memory "
        "| response | bound | held |"
    )
    lines = [head, "|" + "---|" * 12]
    for figures in runs:
        whole = f"{BOUND:.0f} million/s" + (f", {LONGEST:.0f} s" if figures is runs[0] else "")
        each = figures.events / figures.ended * figures.seconds / (figures.seconds + WARM_UP)
        held = figures.speed >= BOUND and (figures is not runs[0] or figures.wall <= LONGEST)
        lines.append(
            f"| {figures.members} | {figures.rate:,.0f} | {figures.seconds:,.0f} | {figures.events / 1e6:.1f} million "
            f"| {each:.1f} | {figures.filling:.1f} s, {FILLING * figures.members / figures.filling / 1e6:.1f} "
            f"million getpages/s | {figures.processor - figures.filling:.1f} s, with filling {figures.wall:.1f} s by "
            "wall time "
            f"| {figures.speed:.2f} | {figures.memory / 2**20:.0f} MiB | {figures.response * 1e3:.2f} ms"
            f"{', saturated: ' + ', '.join(figures.saturated) if figures.saturated else ''} | {whole} "
            f"| {'yes' if held else 'no'} |"
        )
    return lines


def _bare_heap() -> str:
    """The loop of `crates/sysplex/examples/heap_loop.rs`."""
    cargo = ["cargo", "run", "--quiet", "--release", "--package", "plexlens-sysplex", "--example", "heap_loop"]
    done = subprocess.run([*cargo, "--", "20"], check=True, cwd=HERE.parent, capture_output=True, text=True)
    found = json.loads(done.stdout)
    if abs(found["inside"] - 4.0) > 0.2:
        raise SystemExit(f"wrong answer: the bare loop has {found['inside']} inside, M/M/1 at 80 % has 4")
    speed = found["events"] / found["seconds"] / 1e6
    return f"| M/M/1 on a bare binary heap in Rust | {speed:.1f} | 4 inside: {found['inside']:.2f} |"


def _kernel() -> str:
    answer = in_process(_NETWORK, cores=1).answer
    ((mean, half_width),) = answer["response"]
    if not answer["laws_hold"] or abs(mean - RESPONSE) > 1.5 * half_width:
        raise SystemExit(f"wrong answer: the network responds in {mean} s +- {half_width}, by its form in {RESPONSE} s")
    speed = answer["events"] / answer["processor"] / 1e6
    return (
        f"| two servers and a delay on the simulator's kernel, every law measured | {speed:.1f} "
        f"| {RESPONSE} s: {mean:.3f} +- {half_width:.3f} |"
    )


def _simpy() -> str:
    python, done = PEER / "bin" / "python", PEER / "done"
    if not done.exists():
        venv.create(PEER, with_pip=True, clear=True)
        lock = HERE / "requirements-simpy.lock"
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", str(lock)]
        subprocess.run([str(python), *pip], check=True)
        done.touch()
    answer = in_process(_SIMPY, cores=1, python=python).answer
    if abs(answer["response"] - 4.0) > 0.4:
        raise SystemExit(f"wrong answer: SimPy responds in {answer['response']} s, M/M/1 at 80 % in 4 s")
    speed = answer["events"] / answer["processor"] / 1e6
    each = answer["events"] / 200_000
    return f"| M/M/1 in SimPy 4.1.2, {each:.0f} events a customer | {speed:.2f} | 4 s: {answer['response']:.2f} |"


def main() -> None:
    """Run the benchmarks selected by the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, default=32)
    parser.add_argument("--rate", type=float, default=10_000.0, help="transactions per second")
    parser.add_argument("--seconds", type=float, default=600.0, help="simulated seconds")
    parser.add_argument("--alone", action="store_true", help="this size alone: no smaller ones, no yardsticks")
    parser.add_argument("--record", action="store_true", help="write the tables to benchmarks/record")
    parser.add_argument("--note", default="", help="a sentence for the record, as what else was running")
    asked = parser.parse_args()
    began, before = time.perf_counter(), os.getloadavg()[0]
    runs = [run(asked.members, asked.rate, asked.seconds)]
    yardsticks = []
    if not asked.alone:
        runs += [run(members, rate, 60.0) for members, rate in SIZES]
        yardsticks = [
            "| yardstick | million events/s | closed form and found |",
            "|---|---|---|",
            _bare_heap(),
            _kernel(),
            _simpy(),
        ]
    text = [
        f"# {datetime.now(UTC):%Y-%m-%d}: sysplex simulator",
        "",
        f"{machine()}; Python {platform.python_version()}; load {before:.1f} at the beginning, "
        f"{os.getloadavg()[0]:.1f} at the end; {time.perf_counter() - began:.0f} s in all. Each run on one core, in a "
        "process of its own; seconds and speeds by processor time, filling of pools (no events) by itself; Little's "
        "law and the utilisation law checked in every run.",
        *([asked.note] if asked.note else []),
        "",
        *_sizes(runs),
        *([""] if yardsticks else []),
        *yardsticks,
        "",
    ]
    print("\n".join(text))
    if asked.record:
        RECORD.mkdir(exist_ok=True)
        (RECORD / f"{datetime.now(UTC):%Y-%m-%d}-sysplex.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
