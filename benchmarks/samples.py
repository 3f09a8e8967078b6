"""Standard errors of sampled curves against the exact curves: the table of docs/pools.md.

    python -m benchmarks.samples                     # print it
    python -m benchmarks.samples --write             # and put it into docs/pools.md

Every trace is made from a seed (benchmarks.pool_workloads), and looked at with several sets of sampled pages: the
objects get other numbers, which the hash that chooses pages depends on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.pool_workloads import fifty_objects, many_objects
from benchmarks.pools import DOCUMENT, put
from plexlens import _core
from plexlens.pools.curves import LEAST_SAMPLED, LEAST_SAMPLED_SIZE, read_misses

RATES = (0.1, 0.03, 0.01, 0.003)

#: Sets of sampled pages of each trace, and sizes of each curve.
SETS, SIZES = 8, 20

#: Getpages of a trace.
GETPAGES = 400_000


def traces() -> Iterator[tuple[str, pa.RecordBatch]]:
    """Traces by name, all objects in one pool."""
    for seed, count in ((311, 40), (312, 400), (313, 2000)):
        yield f"{count:,} objects", many_objects(count, GETPAGES, seed=seed).batch
    yield "50 objects", fifty_objects(GETPAGES, seed=314).batch
    random = np.random.default_rng(315)
    for skew in (0.7, 1.0):
        weights = np.cumsum(np.arange(1, 120_001, dtype=float) ** -skew)
        pages = random.permutation(120_000)[np.searchsorted(weights, random.random(GETPAGES) * weights[-1])]
        columns = {name: np.zeros(GETPAGES, np.int64) for name, _ in _core.TRACE_COLUMNS}
        columns |= {"page": pages, "object": np.full(GETPAGES, 7), "time": np.arange(GETPAGES)}
        arrays = {name: pa.array(columns[name], pa.type_for_alias(kind)) for name, kind in _core.TRACE_COLUMNS}
        yield f"power law, {skew}", pa.record_batch(arrays)


def moved(batch: pa.RecordBatch, by: int) -> pa.RecordBatch:
    """The trace with other numbers of objects, all in pool 1."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    columns["pool"] = pa.array(np.ones(batch.num_rows), columns["pool"].type)
    columns["object"] = pa.array(columns["object"].to_numpy() + by, columns["object"].type)
    return pa.record_batch(columns)


def covered(batch: pa.RecordBatch, rate: float, sizes: list[int], truth: list[float]) -> Iterator[tuple[bool, float]]:
    """Whether each point lies within 1.96 standard errors, and the stated error as a share of the getpages."""
    for one in range(SETS):
        sampled = _core.PoolCurves(sample=rate)
        sampled.add(moved(batch, 5000 * one))
        if sampled.distinct_pages(1) * rate < LEAST_SAMPLED:
            continue
        for (found, error), exact in zip(read_misses(sampled, 1, sizes), truth, strict=True):
            yield abs(found - exact) <= 1.96 * error + 0.5, error / batch.num_rows


def table() -> str:
    """Coverage by trace and rate."""
    lines = ["| trace | " + " | ".join(f"{rate:.1%}" for rate in RATES) + " |", "|---|" + "---|" * len(RATES)]
    every: dict[float, list[tuple[bool, float]]] = {rate: [] for rate in RATES}
    for name, batch in traces():
        exact = _core.PoolCurves()
        exact.add(moved(batch, 0))
        cells = []
        for rate in RATES:
            least, last = LEAST_SAMPLED_SIZE / rate, exact.enough(1) * 0.98
            sizes = sorted({int(size) for size in np.geomspace(least, last, SIZES)}) if last > least else []
            points = list(covered(batch, rate, sizes, [misses for misses, _ in exact.read_misses(1, sizes)]))
            every[rate] += points
            cells.append(f"{np.mean([inside for inside, _ in points]):.1%}" if points else "refused")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    told = [every[rate] for rate in RATES]
    lines.append("| all | " + " | ".join(f"{np.mean([inside for inside, _ in one]):.1%}" for one in told) + " |")
    lines.append(
        "| mean standard error, of getpages | "
        + " | ".join(f"{np.mean([error for _, error in one]):.2%}" for one in told)
        + " |"
    )
    return "\n".join(lines)


def main() -> None:
    """Run, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/pools.md")
    wanted = parser.parse_args()
    found = table()
    print(found)
    if wanted.write:
        DOCUMENT.write_text(put(DOCUMENT.read_text(encoding="utf-8"), "samples", found), encoding="utf-8")


if __name__ == "__main__":
    main()
