"""Reports of dumps in which one kind of thing occurs ten thousand times: structures, volumes, systems, jobs, page sets.

``python -m benchmarks.many`` writes each dump (two intervals of five minutes), times ``plexlens report`` on it, and
checks that the database has a row for every one of them. ``--pages FOLDER`` keeps the pages, to be opened in a browser.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.measure import command, machine
from plexlens.smf_rows import smf30, smf70_1, smf74_1, smf74_4
from plexlens.smf_rows.dump import open_dump
from plexlens.smf_rows.record import Record
from plexlens.smf_rows.rmf import RmfInterval

BEGIN, LENGTH, INTERVALS = datetime(2026, 3, 2, 9, tzinfo=UTC), timedelta(minutes=5), 2

#: Structures of a facility, and page sets of a pool.
IN_A_FACILITY, IN_A_POOL = 1000, 1000


def _rmf(number: int, system: str = "SYS1") -> RmfInterval:
    start = BEGIN + number * LENGTH
    return RmfInterval(system, "PLEX1", 1, start, start + LENGTH, samples=300, cycle=1.0, processor_flags=0)


def structures(count: int) -> Iterator[Record]:
    """Cache structures of a system, in facilities of a thousand."""
    for interval in range(INTERVALS):
        for facility in range(0, count, IN_A_FACILITY):
            members = [
                smf74_4.Structure(
                    f"STR{number:05}",
                    "cache",
                    size=1 << 28,
                    synchronous=smf74_4.Times(1000 + number, 0.01 * (1 + number % 7), 1e-6 * (1 + number % 7)),
                )
                for number in range(facility, min(count, facility + IN_A_FACILITY))
            ]
            host = smf74_4.Facility(
                f"CF{facility // IN_A_FACILITY:02}",
                paths=4,
                subchannels=28,
                engines=4,
                busy=60.0,
                storage=1 << 40,
                free=1 << 38,
            )
            yield _rmf(interval).record(
                "smf74_4", smf74_4.sections(host, members, system="SYS1", seconds=LENGTH.total_seconds())
            )


def volumes(count: int) -> Iterator[Record]:
    """Volumes of a system in 20 storage groups."""
    for interval in range(INTERVALS):
        members = [
            smf74_1.Volume(
                number,
                f"V{number:05}",
                f"SG{number % 20:02}",
                exposures=1 + number % 4,
                requests=3000 + number,
                connected=0.6,
                pending=0.3,
                disconnected=0.2,
                queued=0.1 * (number % 5),
            )
            for number in range(count)
        ]
        yield _rmf(interval).record("smf74_1", smf74_1.sections(members))


def systems(count: int) -> Iterator[Record]:
    """Systems of a sysplex, each alone on a machine."""
    for interval in range(INTERVALS):
        for number in range(count):
            name = f"{number:04d}"
            engines = [smf70_1.Engine("CP", 100.0 + number % 190)] * 2
            sections = smf70_1.sections(
                smf70_1.Machine("716", {"CP": 2}, serial=f"{number:05}", msu=500),
                [smf70_1.Partition(name, 100, engines)],
                smf70_1.Image(0, msu=500, rolling_msu=200),
                seconds=LENGTH.total_seconds(),
                samples=300,
            )
            yield _rmf(interval, name).record("smf70_1", sections)


def jobs(count: int) -> Iterator[Record]:
    """Address spaces of a system."""
    for interval in range(INTERVALS):
        start = BEGIN + interval * LENGTH
        for number in range(count):
            space = smf30.AddressSpace(
                f"JOB{number:05}",
                "IKJEFT01",
                number % 32768,
                "BATCH",
                f"BATCH{number % 20:02}",
                "",
                BEGIN - timedelta(hours=1),
                smf30.Cpu(1.0 + number % 11, 0.0, 0.1, 0.0, 0.0, 1.0),
                service=1000.0,
                adjustment=640,
                io=smf30.Io(100 + number, 0.1, 0.05, 0.02),
            )
            yield smf30.record(space, system="SYS1", sysplex="PLEX1", start=start, end=start + LENGTH)


def page_sets(count: int) -> Iterator[Record]:
    """Data sets of a Db2 as its statistics class 8 (IFCID 199) records them, a thousand to a pool."""
    for interval in range(INTERVALS):
        end = BEGIN + (interval + 1) * LENGTH
        for first in range(0, count, 200):
            rows = [
                {
                    "qw0199db": 1 + number // 30000,
                    "qw0199ob": 1 + number % 30000,
                    "qw0199bp": number // IN_A_POOL,
                    "qw0199dn": 1,
                    "qw0199ty": "T",
                    "qw0199sr": 100 + number,
                    "qw0199sa": 0.001,
                    "qw0199sm": 0.01,
                    "qw0199vc": 50,
                    "qw0199vd": 5,
                }
                for number in range(first, min(count, first + 200))
            ]
            yield Record("smf102_ifcid199", "SYS1", end, {"smf102_ifcid199": rows}, subsystem="DB2A")


#: By name: the records, and the table that has a row for each of them and each interval.
KINDS: dict[str, tuple[Callable[[int], Iterator[Record]], str]] = {
    "structures": (structures, "smf74_4_request"),
    "volumes": (volumes, "smf74_1_device"),
    "systems": (systems, "smf70_1_cpu_control"),
    "jobs": (jobs, "smf30_identification"),
    "page sets": (page_sets, "smf102_ifcid199"),
}


def main() -> None:
    """Write, report and count each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="number of each kind (default: %(default)s)")
    parser.add_argument("--pages", type=Path, help="folder that keeps the dumps and the pages")
    given = parser.parse_args()
    print(machine())
    print(f"load {os.getloadavg()[0]:.1f}; {given.count:,} of each kind in {INTERVALS} intervals\n")
    print("| kind | dump, MiB | report, s | CPU, s | memory, MiB | page, MiB |\n|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="plexlens-benchmark-") as temporary:
        folder = given.pages or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name, (records, table) in KINDS.items():
            dump, page = folder / f"{name}.smf", folder / f"{name}.html"
            with open_dump(dump, "SYS1", BEGIN.replace(tzinfo=None)) as writing:
                for record in records(given.count):
                    writing.write(record)
                writing.finish("SYS1", BEGIN.replace(tzinfo=None) + INTERVALS * LENGTH)
            program = (sys.executable, "-m", "plexlens.cli")
            run = command(*program, "report", dump, "-o", page)
            counted = folder / "counted.json"
            command(*program, "sql", dump, f"select count(*) as rows from {table}", "--json", output=counted)
            rows = json.loads(counted.read_text())
            if str(given.count * INTERVALS) not in json.dumps(rows).replace(",", ""):
                sys.exit(f"{name}: {rows} is not {given.count * INTERVALS}")
            sizes = [file.stat().st_size / 2**20 for file in (dump, page)]
            print(
                f"| {name} | {sizes[0]:.0f} | {run.seconds:.1f} | {run.cpu_seconds:.1f} | "
                f"{run.peak_bytes / 2**20:.0f} | {sizes[1]:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
