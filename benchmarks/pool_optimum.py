"""Recommendations against the exhaustive optimum for seven objects: the table of docs/pools.md.

    python -m benchmarks.pool_optimum                     # print it
    python -m benchmarks.pool_optimum --write             # and put it into docs/pools.md

A pool's I/O depends only on its objects and its size, so every set of objects is simulated at every multiple of a
twenty-fourth of the storage; every placement in up to four pools is a sum of these, and dynamic programming gives its
best sizes. The recommendation is not bound to these sizes, so it may be cheaper than the optimum on this grid.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.pool_workloads import many_objects
from benchmarks.pools import DOCUMENT, put
from plexlens.pools.cost import default_cost
from plexlens.pools.outcome import states_of
from plexlens.pools.search.case import Limits
from plexlens.pools.search.optimiser import Optimiser
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.trace import Trace, open_trace
from plexlens.pools.work import Work, look_at

OBJECTS, POOLS, PARTS = 7, 4, 24

#: Buffers as a share of the pages referenced, and getpages.
SHARE, GETPAGES = 0.25, 30_000

SEEDS = (503, 601, 602, 603)

Costs = npt.NDArray[np.float64]


def costs_of(trace: Trace, work: Work, part: int) -> dict[frozenset[str], Costs]:
    """Cost of every set of objects in a pool of 1, 2, ... parts."""
    names = sorted(work.object_name(number) for number in work.objects)
    found = {}
    for count in range(1, len(names) + 1):
        for chosen in combinations(names, count):
            placement = {name: "BP1" if name in chosen else "BP2" for name in names}
            configurations = [
                Configuration(
                    {"BP1": PoolSettings.of("BP1", part * size), "BP2": PoolSettings.of("BP2", part)}, placement
                )
                for size in range(1, PARTS + 1)
            ]
            states = states_of(trace, configurations, work=work, cost=default_cost())
            found[frozenset(chosen)] = np.array([state.pools["BP1"].cpu_seconds for state in states])
    return found


def partitions(names: Sequence[str], most: int) -> Iterator[list[set[str]]]:
    """All ways to put the names into at most ``most`` groups."""
    if not names:
        yield []
        return
    for rest in partitions(names[1:], most):
        for at in range(len(rest)):
            yield [*rest[:at], rest[at] | {names[0]}, *rest[at + 1 :]]
        if len(rest) < most:
            yield [{names[0]}, *rest]


def best(groups: Sequence[set[str]], costs: dict[frozenset[str], Costs]) -> float:
    """The least cost of groups with sizes of whole parts that fit."""
    within = np.zeros(PARTS + 1)
    for group in groups:
        own = costs[frozenset(group)]
        made = np.full(PARTS + 1, np.inf)
        for size in range(1, PARTS + 1):
            made[size:] = np.minimum(made[size:], within[: PARTS + 1 - size] + own[size - 1])
        within = made
    return float(within.min())


def line(seed: int, folder: Path) -> str:
    """A row of the table."""
    path = folder / "trace.parquet"
    many_objects(OBJECTS, GETPAGES, seed=seed).write(path)
    trace = open_trace([path])
    work = look_at(trace)
    part = max(int(sum(work.distinct_pages.values()) * SHARE) // PARTS, 20)
    costs = costs_of(trace, work, part)
    names = sorted(work.object_name(number) for number in work.objects)
    optimum = min(best(groups, costs) for groups in partitions(names, POOLS))
    size = part * PARTS // len(work.pools)
    before = Configuration({name: PoolSettings.of(name, size) for name in work.pools})
    new = POOLS - len(work.pools)
    limits = Limits(budgets={"": before.bytes}, least_buffers=part, new_pools=new, settings=False, least_gain=0.0)
    began = time.process_time()
    made = Optimiser(trace, before, cost=default_cost(), limits=limits, work=work).run()
    spent = time.process_time() - began
    now, found = made.before.cpu_seconds, made.after.cpu_seconds
    frontier = min(point.state.cpu_seconds for point in made.frontier.points) if made.frontier else found
    return (
        f"| {seed} | {part * PARTS:,} | {optimum / now - 1:+.1%} | {found / now - 1:+.1%} | {found / optimum - 1:+.2%} "
        f"| {frontier / optimum - 1:+.2%} | {spent:.1f} |"
    )


def main() -> None:
    """Run, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/pools.md")
    wanted = parser.parse_args()
    lines = [
        "| seed | buffers | optimum, against equal split | recommended | above the optimum | cheapest of the frontier "
        "| CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="plexlens-bench-") as folder:
        for seed in SEEDS:
            lines.append(line(seed, Path(folder)))
            print(lines[-1], flush=True)
    if wanted.write:
        DOCUMENT.write_text(put(DOCUMENT.read_text(encoding="utf-8"), "optimum", "\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
