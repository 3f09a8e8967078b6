"""Speed and memory of the buffer pool engines on the yardstick trace, next to libCacheSim in the same run.

The trace (Z50: five million pages, Zipf(0.9), a fifth of the references scans) is made by `plexlens._core.Yardstick`
outside the clock, stretch by stretch; libCacheSim reads it as an oracleGeneral file that has just been written, within
the clock, as it cannot be handed columns. Every process is bound to one core. Its Python package has the LRU cache but
not the profilers of its command line, so curves are compared with what those were measured to do when the bounds were
set, and checked against replays of the LRU cache at three sizes.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Run, in_process
from plexlens import _core

Ids = npt.NDArray[np.uint64]

HERE = Path(__file__).parent
PEER = HERE.parent / ".build" / "libcachesim"

#: Sizes at which misses must be the same; the speed of the peer is that of the second.
SIZES = (5_000, 500_000, 2_000_000)

#: Million references per second of libCacheSim's profilers on Z50 where the bounds were set: exact, and a 1 % sample.
PEER_EXACT, PEER_SAMPLE = 0.27, 47.0

#: Rows handed over together.
STRETCH = 1 << 16

_OURS = """
from plexlens import _core
rows, made, kind, chosen = json.loads(sys.argv[1])
if kind == "policy":
    engine = _core.PoolSimulation({0: chosen})
else:
    engine = _core.PoolCurves(sample=chosen)
trace = _core.Yardstick(**made)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
wall = processor = 0.0
left = rows
while left:
    batch = trace.batch(min(left, 1 << 16))
    left -= batch.num_rows
    began, used = time.perf_counter(), time.process_time()
    engine.add(batch)
    processor += time.process_time() - used
    wall += time.perf_counter() - began
clock(); clock()
answer = {"wall": wall, "processor": processor, "before": before}
if kind == "policy":
    answer["counters"] = engine.counters()[0]
else:
    pages = made["pages"]
    sizes = [pages * step // 40 for step in range(1, 41)] + [int(pages ** (0.5 + step / 80)) for step in range(1, 41)]
    answer["curve"] = [misses for misses, _ in engine.read_misses(0, sizes)]
    answer["misses"] = [misses for misses, _ in engine.read_misses(0, json.loads(sys.argv[2]))]
    answer["pages"] = engine.distinct_pages(0)
"""

_THEIRS = """
import libcachesim
rows, size = json.loads(sys.argv[2])
kind = libcachesim.TraceType.ORACLE_GENERAL_TRACE
reader = libcachesim.TraceReader(sys.argv[1], kind, libcachesim.ReaderInitParam(ignore_obj_size=True))
cache = libcachesim.LRU(cache_size=size)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
used = time.process_time()
clock(); ratio, _ = cache.process_trace(reader, 0, rows); clock()
answer = {"processor": time.process_time() - used, "misses": round(ratio * rows), "before": before}
"""


@dataclass(frozen=True)
class Figure:
    """A row of the table."""

    what: str
    figure: str
    yardstick: str
    bound: str
    held: bool | None


def peer() -> Path:
    """The Python of libCacheSim's own environment, created if missing."""
    python = PEER / "bin" / "python"
    done = PEER / "done"
    if not done.exists():
        venv.create(PEER, with_pip=True, clear=True)
        lock = HERE / "requirements-pools.lock"
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", str(lock)]
        subprocess.run([str(python), *pip], check=True)
        done.touch()
    return python


def yardstick_ids(rows: int, **made: Any) -> Iterator[Ids]:
    """The object ids that libCacheSim gets for the yardstick trace, stretch by stretch."""
    trace = _core.Yardstick(**made)
    for first in range(0, rows, STRETCH):
        batch = trace.batch(min(STRETCH, rows - first))
        yield batch.column("object").to_numpy().astype(np.uint64) * 100_000 + batch.column("page").to_numpy()


def write_oracle_general(path: Path, stretches: Iterable[Ids]) -> None:
    """A trace in libCacheSim's format: time, object id, size, time of the next access (unknown); a µs per reference."""
    record = np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
    done = 0
    with path.open("wb") as file:
        for ids in stretches:
            out = np.zeros(len(ids), record)
            out["time"] = np.arange(done, done + len(ids)) // 1_000_000
            out["id"], out["size"], out["next"] = ids, 1, -1
            out.tofile(file)
            done += len(ids)


def _ours(rows: int, kind: str, chosen: Any, **made: Any) -> Run:
    words = json.dumps([rows, {"pages": 5_000_000, **made}, kind, chosen])
    return in_process(_OURS, words, json.dumps(SIZES), cores=1)


def lru_replay(python: Path, trace: Path, rows: int, size: int) -> Run:
    """Replay a trace through libCacheSim's LRU cache: misses, and processor seconds with reading the file."""
    return in_process(_THEIRS, trace, json.dumps([rows, size]), cores=1, python=python)


def command_seconds(*words: object) -> float:
    """Processor seconds of ``plexlens pools`` with these words in a process of its own, start-up included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "plexlens.cli", "pools", *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _speed(rows: int, run: Run) -> float:
    """Million references per second of processor time; on a busy machine wall time is meaningless."""
    return float(rows / 1e6 / run.answer["processor"])


def _said(rows: int, run: Run) -> str:
    wall = run.answer.get("wall", run.seconds)
    return f"{_speed(rows, run):.1f} million/s ({rows / 1e6 / wall:.1f} by wall time)"


def _grown(run: Run, pages: float) -> float:
    """Growth of the process at its peak in bytes per distinct page."""
    return float(run.peak_bytes - run.answer["before"]) / pages


def _equal(what: str, ours: float, theirs: float) -> None:
    if round(ours) != round(theirs):
        raise SystemExit(f"wrong answer: {what}: {ours:,.0f} misses, libCacheSim has {theirs:,.0f}")


def figures(millions: int, long_millions: int) -> list[Figure]:
    """All figures, measured one after the other.

    Parameters
    ----------
    millions
        Million references of the comparison.
    long_millions
        Million getpages of the long trace in one pool; 0 leaves it out.
    """
    python, rows, long_rows = peer(), millions * 1_000_000, long_millions * 1_000_000
    with tempfile.TemporaryDirectory(prefix="plexlens-bench-") as name:
        trace = Path(name) / "z50.oracleGeneral"
        write_oracle_general(trace, yardstick_ids(max(rows, long_rows)))
        replays = [lru_replay(python, trace, rows, size) for size in SIZES]
        long_replay = lru_replay(python, trace, long_rows, SIZES[1]) if long_rows else None
        whole = command_seconds(trace) if not long_rows else None
        sampled = command_seconds(trace, "--sample", "0.01") if not long_rows else None
    exact = _ours(rows, "curves", None)
    for size, ours, theirs in zip(SIZES, exact.answer["misses"], replays, strict=True):
        _equal(f"curve at {size:,} pages", ours, theirs.answer["misses"])
    plain = _ours(rows, "policy", {"size": SIZES[1], "vpseqt": 100, "prefetch": False})
    counters = plain.answer["counters"]
    reads = counters["sync_reads_random"] + counters["sync_reads_sequential"]
    _equal("simulated LRU pool", reads, replays[1].answer["misses"])
    rules = _ours(rows, "policy", {"size": SIZES[1], "checkpoint": 5_000_000}, changed=10)
    counted = rules.answer["counters"]
    _equal("events of the simulation with every rule on", counted["getpages"] + counted["updates"], rows)
    small = _ours(rows, "curves", None, pages=900_000, pages_an_object=18_000)
    sample = _ours(rows, "curves", 0.01)
    off = np.abs(np.array(sample.answer["curve"]) - np.array(exact.answer["curve"])) / rows
    lru = _speed(rows, replays[1])
    pages, grown = exact.answer["pages"], _grown(exact, exact.answer["pages"])
    found = [
        Figure(f"libCacheSim LRU, {SIZES[1]:,} objects", _said(rows, replays[1]), "", "", None),
        Figure(
            "exact curve of all sizes, objects' shares included",
            _said(rows, exact),
            f"libCacheSim's exact profiler {PEER_EXACT} (measured when the bound was set)",
            "5.5 million/s",
            _speed(rows, exact) >= 5.5,
        ),
        Figure(
            "memory of the exact curve",
            f"{grown:.1f} bytes a distinct page at its peak ({pages:,.0f} pages)",
            "",
            "48 bytes a distinct page",
            grown <= 48,
        ),
        Figure("exact curve, 900,000 pages", _said(rows, small), "", "10 million/s", _speed(rows, small) >= 10),
        Figure(
            "1 % sample",
            _said(rows, sample),
            f"libCacheSim's 1 % sample {PEER_SAMPLE:.0f} (measured when the bound was set)",
            f"3 times it: {3 * PEER_SAMPLE:.0f} million/s",
            _speed(rows, sample) >= 3 * PEER_SAMPLE,
        ),
        Figure(
            "1 % sample: mean absolute error of the miss ratio over 80 sizes",
            f"{off.mean():.4f}, largest {off.max():.4f}",
            "libCacheSim's 0.003 to 0.007",
            "0.005",
            bool(off.mean() < 0.005),
        ),
        Figure(
            f"simulation, {SIZES[1]:,} buffers, LRU alone",
            _said(rows, plain),
            f"{_speed(rows, plain) / lru:.2f} times libCacheSim LRU, misses equal",
            "",
            None,
        ),
        Figure(
            f"simulation, {SIZES[1]:,} buffers, every rule on",
            _said(rows, rules),
            f"{_speed(rows, rules) / lru:.2f} times libCacheSim LRU",
            "2 times it",
            _speed(rows, rules) >= 2 * lru,
        ),
    ]
    if whole is not None and sampled is not None:
        theirs = replays[1].answer["processor"]
        found += [
            Figure(
                f"whole command, exact curves at 20 sizes, {millions} million references",
                f"{whole:.2f} CPU s, start-up included",
                f"{whole / theirs:.2f} times libCacheSim LRU at one size ({theirs:.2f} CPU s)",
                "1.0 times it",
                whole <= theirs,
            ),
            Figure(
                f"whole command, 1 % sample, {millions} million references",
                f"{sampled:.2f} CPU s, start-up included",
                f"libCacheSim's 1 % sample {rows / 1e6 / PEER_SAMPLE:.2f} s (measured when the bound was set)",
                "3 times it",
                sampled <= 3 * rows / 1e6 / PEER_SAMPLE,
            ),
        ]
    if long_replay is not None:
        long = _ours(long_rows, "curves", None)
        _equal(f"curve of {long_millions} million getpages", long.answer["misses"][1], long_replay.answer["misses"])
        found.append(
            Figure(
                f"exact curve of {long_millions} million getpages in one pool",
                f"{_said(long_rows, long)}, {_grown(long, long.answer['pages']):.1f} bytes a distinct page",
                f"libCacheSim LRU at one size {_said(long_rows, long_replay)}, misses equal",
                "5.5 million/s, 48 bytes",
                _speed(long_rows, long) >= 5.5 and _grown(long, long.answer["pages"]) <= 48,
            )
        )
    return found


def table(found: list[Figure]) -> list[str]:
    """The figures as lines of Markdown."""
    held = {True: "yes", False: "no", None: ""}
    return [
        "| what | figure | beside it | bound | held |",
        "|---|---|---|---|---|",
        *(
            f"| {figure.what} | {figure.figure} | {figure.yardstick} | {figure.bound} | {held[figure.held]} |"
            for figure in found
        ),
    ]
