"""LRU miss ratio curves of Plexlens and libCacheSim on the same traces: equality, and the time of each.

    python -m benchmarks.pool_peer                                        # three made traces, about ten minutes
    python -m benchmarks.pool_peer --trace a.oracleGeneral.bin --record   # recorded traces too; keep the table
    python -m benchmarks.pool_peer --profiler build/bin/mrcProfiler       # libCacheSim's profiler in the same run

Each trace is a file in libCacheSim's format oracleGeneral, which both programs read within their time. Misses at every
size must be equal: those of `plexlens pools`, of the simulation of a plain LRU pool, and of libCacheSim's LRU cache.
The profiler prints six decimals of the miss ratio, which must agree. libCacheSim comes from PyPI, as in
`benchmarks.pool_speed`, but that package has no profiler: build it from its repository to name it here.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import command, in_process, machine
from benchmarks.pool_speed import STRETCH, Ids, lru_replay, peer, write_oracle_general, yardstick_ids

RECORD = Path(__file__).parent / "record"

#: Points of each curve, the smallest size, and the smallest that a sample of 1 % covers (16 pages of it).
POINTS, LEAST, LEAST_SAMPLED = 20, 100, 1600

#: Pages that a trace needs for a sample of 1 %.
SAMPLED_PAGES = 100_000

#: Places of the curve at which a plain LRU pool is simulated.
SIMULATED = (5, 11, 17)

SAMPLE = 0.01

#: Runs of each program with a sample, in turns: each is over in less than a second, and the median is told.
SAMPLED_RUNS = 7

_SIMULATION = """
from pathlib import Path
from plexlens import _core
from plexlens.pools.trace import open_trace
clock(); used = time.process_time()
engine = _core.PoolSimulation({0: {"size": int(sys.argv[2]), "vpseqt": 100, "prefetch": False}})
for batch in open_trace([Path(sys.argv[1])]).batches():
    engine.add(batch)
clock()
counters = engine.counters()[0]
answer = {"misses": counters["sync_reads_random"] + counters["sync_reads_sequential"],
          "processor": time.process_time() - used}
"""


def zipf(rows: int, *, pages: int = 1_000_000) -> Iterator[Ids]:
    """Independent references to pages whose popularity falls as the power 0.9 of the rank."""
    yield from yardstick_ids(rows, pages=pages, pages_an_object=pages // 100, exponent=0.9, scans=0.0)


def scan_and_hot(rows: int, *, hot: int = 50_000, scanned: int = 300_000, seed: int = 18) -> Iterator[Ids]:
    """Four in five references to hot pages (Zipf, 0.8); the fifth goes round and round through a table.

    LRU saves none of the table until it fits with the hot pages, so the curve has a cliff.

    Parameters
    ----------
    rows
        References.
    hot, scanned
        Pages of the hot objects, and of the table.
    seed
        Of all that is random.
    """
    random = np.random.default_rng(seed)
    weights = np.cumsum(np.arange(1, hot + 1, dtype=float) ** -0.8)
    spread = random.permutation(hot).astype(np.uint64)
    at = 0
    for first in range(0, rows, STRETCH):
        count = min(STRETCH, rows - first)
        ids = spread[np.searchsorted(weights, random.random(count) * weights[-1])]
        scan = random.random(count) < 0.2
        steps = int(scan.sum())
        ids[scan] = hot + (np.arange(at, at + steps) % scanned).astype(np.uint64)
        at += steps
        yield ids


def mixed(rows: int) -> Iterator[Ids]:
    """The yardstick trace of `benchmarks.pool_speed`: Zipf (0.9) over five million pages, a fifth of it scans."""
    yield from yardstick_ids(rows)


MADE: dict[str, Callable[[int], Iterator[Ids]]] = {
    "Zipf": zipf,
    "scan and hot": scan_and_hot,
    "yardstick": mixed,
}


@dataclass(frozen=True)
class Curve:
    """Misses at sizes, and what they took.

    Attributes
    ----------
    misses
        Misses at each size.
    seconds
        Processor seconds.
    peak_bytes
        Peak resident memory.
    """

    misses: list[float]
    seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Compared:
    """Both programs on one trace.

    Attributes
    ----------
    name
        Of the trace.
    rows, pages
        References and distinct pages.
    sizes, misses
        The curve, equal in both programs.
    ours, theirs
        The whole command, and libCacheSim's LRU cache at each size.
    simulated
        Processor seconds of the simulations of a plain LRU pool.
    profiler
        libCacheSim's profiler without sampling, if there is one.
    sample, their_sample
        Samples of 1 %, with the mean absolute error of the miss ratio; None for a trace of few pages.
    """

    name: str
    rows: int
    pages: int
    sizes: list[int]
    ours: Curve
    theirs: list[Curve]
    simulated: list[float]
    profiler: Curve | None
    sample: tuple[Curve, float] | None
    their_sample: tuple[Curve, float] | None

    @property
    def misses(self) -> list[float]:
        """Misses at every size."""
        return self.ours.misses


def plexlens(trace: Path, sizes: Sequence[int], folder: Path, *words: str) -> tuple[Curve, dict[str, Any]]:
    """The curve by the whole command, and its pool as JSON."""
    import json

    printed = folder / "answer.json"
    chosen = ["--sizes", ",".join(map(str, sizes))] if sizes else []
    program: list[str | Path] = [sys.executable, "-m", "plexlens.cli", "pools", trace, *chosen, *words, "--json"]
    run = command(*program, output=printed)
    (pool,) = json.loads(printed.read_text(encoding="utf-8"))["pools"].values()
    return Curve([point["read_misses"] for point in pool["curve"]], run.cpu_seconds, run.peak_bytes), pool


def simulation(trace: Path, size: int) -> Curve:
    """Misses of a plain LRU pool by the event-accurate simulation."""
    run = in_process(_SIMULATION, trace, str(size))
    return Curve([run.answer["misses"]], run.answer["processor"], run.peak_bytes)


def mrc_profiler(program: Path, trace: Path, sizes: Sequence[int], share: float) -> Curve:
    """The curve of libCacheSim's profiler: miss ratios with the six decimals that it prints, times references."""
    points = ",".join(f"{size}B" for size in sizes)
    words = ["--algo=LRU", "--profiler=SHARDS", f"--profiler-params=FIX_RATE,{share:g},42", f"--size={points}"]
    with tempfile.NamedTemporaryFile() as printed:
        output = Path(printed.name)
        run = command(program, trace, "oracleGeneral", *words, "--ignore-obj-size", output=output)
        ratios = re.findall(r"^\d+B\t([\d.]+)\t", output.read_text(encoding="utf-8"), re.MULTILINE)
    if len(ratios) != len(sizes):
        raise SystemExit(f"{program} printed {len(ratios)} points instead of {len(sizes)}")
    return Curve([float(ratio) * references(trace) for ratio in ratios], run.cpu_seconds, run.peak_bytes)


def references(trace: Path) -> int:
    """References of a trace: its records have 24 bytes."""
    return trace.stat().st_size // 24


def compare(name: str, trace: Path, folder: Path, profiler: Path | None) -> Compared:
    """Run everything on a trace; end the program where misses differ."""
    rows = references(trace)
    _, pool = plexlens(trace, [], folder)
    if pool["getpages"] != rows:
        raise SystemExit(f"wrong answer: {name}: {pool['getpages']:,} references read of {rows:,}")
    pages = pool["distinct_pages"]
    sizes = sorted({int(size) for size in np.geomspace(LEAST, pages, POINTS)})
    ours, _ = plexlens(trace, sizes, folder)
    python = peer()
    theirs = []
    for size, misses in zip(sizes, ours.misses, strict=True):
        run = lru_replay(python, trace, rows, size)
        theirs.append(Curve([run.answer["misses"]], run.answer["processor"], run.peak_bytes))
        _equal(f"{name}, curve at {size:,} pages", misses, run.answer["misses"])
    simulated = []
    for at in SIMULATED:
        pool_run = simulation(trace, sizes[at])
        simulated.append(pool_run.seconds)
        _equal(f"{name}, simulated pool of {sizes[at]:,} pages", pool_run.misses[0], theirs[at].misses[0])
    exact = sample = their_sample = None
    if profiler is not None:
        exact = mrc_profiler(profiler, trace, sizes, 1)
        for size, misses, other in zip(sizes, ours.misses, exact.misses, strict=True):
            if abs(misses - other) > 0.51e-6 * rows:
                raise SystemExit(f"wrong answer: {name} at {size:,} pages: {misses / rows:.7f}, {other / rows:.6f}")
    if pages >= SAMPLED_PAGES:
        points = [size for size in sizes if size >= LEAST_SAMPLED]
        known = ours.misses[-len(points) :]
        made, other_made = [], []
        for _ in range(SAMPLED_RUNS):
            made.append(plexlens(trace, points, folder, "--sample", str(SAMPLE))[0])
            if profiler is not None:
                other_made.append(mrc_profiler(profiler, trace, points, SAMPLE))
        sample = _middle(made), _error(made[0], known, rows)
        if other_made:
            their_sample = _middle(other_made), _error(other_made[0], known, rows)
    return Compared(name, rows, pages, sizes, ours, theirs, simulated, exact, sample, their_sample)


def _middle(curves: Sequence[Curve]) -> Curve:
    """The run that took the median time."""
    return sorted(curves, key=lambda curve: curve.seconds)[len(curves) // 2]


def _equal(what: str, ours: float, theirs: float) -> None:
    if ours != theirs:
        raise SystemExit(f"wrong answer: {what}: {ours:,.0f} misses, libCacheSim has {theirs:,.0f}")


def _error(curve: Curve, known: Sequence[float], rows: int) -> float:
    """Mean absolute error of the miss ratio."""
    return float(np.abs(np.array(curve.misses) - np.array(known)).mean() / rows)


def table(found: Sequence[Compared]) -> list[str]:
    """The comparison as lines of Markdown."""
    head = ["trace", "references", "pages", "equal", "all sizes", "LRU, one size", "ratio", "LRU, all sizes"]
    head += ["exact profiler", "simulation, one size", "1 % sample", "profiler's 1 % sample"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for one in found:
        each = sorted(curve.seconds for curve in one.theirs)
        middle = each[len(each) // 2]
        cells = [one.name, f"{one.rows:,}", f"{one.pages:,}", f"{len(one.sizes)} of {len(one.sizes)}"]
        cells += [
            _spent(one.ours),
            f"{middle:.2f} ({each[0]:.2f} to {each[-1]:.2f})",
            f"{one.ours.seconds / middle:.2f}",
        ]
        cells += [f"{sum(each):.1f}", "" if one.profiler is None else _spent(one.profiler)]
        cells += [f"{min(one.simulated):.2f} to {max(one.simulated):.2f}"]
        cells += [_sampled(one.sample), _sampled(one.their_sample)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _spent(curve: Curve) -> str:
    return f"{curve.seconds:.2f} s, {curve.peak_bytes / (1 << 20):,.0f} MiB"


def _sampled(sample: tuple[Curve, float] | None) -> str:
    return "" if sample is None else f"{sample[0].seconds:.2f} s, error {sample[1]:.4f}"


def points(found: Sequence[Compared]) -> list[str]:
    """The misses of every curve, a line each."""
    lines = []
    for one in found:
        pairs = ", ".join(f"{size:,}: {misses:,.0f}" for size, misses in zip(one.sizes, one.misses, strict=True))
        lines.append(f"- {one.name}: {pairs}")
    return lines


def main() -> None:
    """Make the traces, compare, print, and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--millions", type=float, default=10, help="million references of each made trace")
    parser.add_argument(
        "--made", nargs="*", choices=MADE, default=list(MADE), help="made traces to run; all by default"
    )
    parser.add_argument("--trace", type=Path, nargs="*", default=[], help="recorded traces in the form oracleGeneral")
    parser.add_argument("--profiler", type=Path, help="libCacheSim's mrcProfiler, built from its repository")
    parser.add_argument("--record", action="store_true", help="write the table to benchmarks/record")
    parser.add_argument("--note", default="", help="a sentence for the record")
    wanted = parser.parse_args()
    before, found = os.getloadavg()[0], []
    with tempfile.TemporaryDirectory(prefix="plexlens-bench-") as name:
        folder = Path(name)
        for made in wanted.made:
            trace = folder / "trace.oracleGeneral"
            write_oracle_general(trace, MADE[made](int(wanted.millions * 1e6)))
            found.append(compare(made, trace, folder, wanted.profiler))
            print(table(found)[-1], flush=True)
        for path in wanted.trace:
            found.append(compare(path.name.split(".")[0], path, folder, wanted.profiler))
            print(table(found)[-1], flush=True)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    text = [
        f"# {today}: LRU curves of libCacheSim",
        "",
        f"{machine()}; Python {platform.python_version()}; libCacheSim 0.3.5; load {before:.1f} at the beginning, "
        f"{os.getloadavg()[0]:.1f} at the end. Processor seconds of each program, reading the trace included; of "
        "Plexlens the whole command with its start. Misses of `plexlens pools`, of the simulated plain LRU pool (three "
        "sizes) and of libCacheSim's LRU cache are equal at every size; the profiler's six decimals agree.",
        *([wanted.note] if wanted.note else []),
        "",
        *table(found),
        "",
        "Misses by size:",
        "",
        *points(found),
        "",
    ]
    print("\n".join(text))
    if wanted.record:
        (RECORD / f"{today}-pool-peer.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
