"""Recommendations against the exhaustive optimum for seven objects: the tables of docs/pools.md.

    python -m benchmarks.pool_optimum                     # print them
    python -m benchmarks.pool_optimum --write             # and put them into docs/pools.md

A pool's I/O depends only on its objects and its size, so every set of objects is simulated at every multiple of a part
of the storage; every placement is a sum of these, and dynamic programming gives its best sizes. Two gaps follow. The
recommendation is not bound to whole parts, so its cost may lie below the optimum of this grid. Its placement with the
best sizes of whole parts cannot: that gap is due to the placement alone.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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

#: Buffers as a share of the pages referenced.
SHARE = 0.25


@dataclass(frozen=True)
class SmallCase:
    """Few objects, so that every placement can be tried.

    Attributes
    ----------
    seed
        Of the trace.
    pools
        Pools that may be used; ``present`` of them have objects now.
    present
        Present pools of the trace.
    objects, getpages
        Of the trace.
    parts
        Parts into which the storage is divided.
    """

    seed: int
    pools: int = 3
    present: int = 2
    objects: int = 7
    getpages: int = 30_000
    parts: int = 24


#: Cases of four pools, the first of which was looked at when the search was written, and of three pools.
FOUR_POOLS = tuple(SmallCase(seed, pools=4, present=4) for seed in (503, 601, 602, 603))
THREE_POOLS = tuple(SmallCase(seed) for seed in (701, 702, 703, 704, 705, 706))


@dataclass(frozen=True)
class Gap:
    """A recommendation and the optimum, in CPU seconds of I/O.

    Attributes
    ----------
    buffers
        Of all pools.
    now, optimum, recommended
        Equal split of the present pools, the best placement with sizes of whole parts, and the recommendation.
    placement
        The recommended placement with its best sizes of whole parts: never below the optimum.
    frontier
        The cheapest point of the frontier.
    seconds
        Processor seconds of the recommendation.
    """

    buffers: int
    now: float
    optimum: float
    recommended: float
    placement: float
    frontier: float
    seconds: float


Costs = npt.NDArray[np.float64]


def costs_of(trace: Trace, work: Work, part: int, parts: int) -> dict[frozenset[str], Costs]:
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
                for size in range(1, parts + 1)
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
    parts = len(next(iter(costs.values())))
    within = np.zeros(parts + 1)
    for group in groups:
        own = costs[frozenset(group)]
        made = np.full(parts + 1, np.inf)
        for size in range(1, parts + 1):
            made[size:] = np.minimum(made[size:], within[: parts + 1 - size] + own[size - 1])
        within = made
    return float(within.min())


def measure(case: SmallCase, folder: Path) -> Gap:
    """Try every placement, and run the recommendation."""
    path = folder / "trace.parquet"
    many_objects(case.objects, case.getpages, seed=case.seed, pools=case.present).write(path)
    trace = open_trace([path])
    work = look_at(trace)
    part = max(int(sum(work.distinct_pages.values()) * SHARE) // case.parts, 20)
    costs = costs_of(trace, work, part, case.parts)
    names = sorted(work.object_name(number) for number in work.objects)
    optimum = min(best(groups, costs) for groups in partitions(names, case.pools))
    size = part * case.parts // len(work.pools)
    before = Configuration({name: PoolSettings.of(name, size) for name in work.pools})
    new = case.pools - len(work.pools)
    limits = Limits(budgets={"": before.bytes}, least_buffers=part, new_pools=new, settings=False, least_gain=0.0)
    began = time.process_time()
    made = Optimiser(trace, before, cost=default_cost(), limits=limits, work=work).run()
    spent = time.process_time() - began
    found = made.after.cpu_seconds
    placed = {**work.home, **made.after.configuration.placement}
    groups = [{name for name in names if placed[name] == pool} for pool in sorted(set(placed.values()))]
    return Gap(
        buffers=part * case.parts,
        now=made.before.cpu_seconds,
        optimum=optimum,
        recommended=found,
        placement=best(groups, costs),
        frontier=min(point.state.cpu_seconds for point in made.frontier.points) if made.frontier else found,
        seconds=spent,
    )


def line(case: SmallCase, gap: Gap) -> str:
    """A row of the table."""
    optimum = gap.optimum
    return (
        f"| {case.seed} | {case.pools} | {gap.buffers:,} | {optimum / gap.now - 1:+.1%} "
        f"| {gap.recommended / gap.now - 1:+.1%} | {gap.recommended / optimum - 1:+.2%} "
        f"| {gap.placement / optimum - 1:+.2%} | {gap.frontier / optimum - 1:+.2%} | {gap.seconds:.1f} |"
    )


def main() -> None:
    """Run, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/pools.md")
    wanted = parser.parse_args()
    lines = [
        "| seed | pools | buffers | optimum, against equal split | recommended | above the optimum "
        "| by its placement alone | cheapest of the frontier | CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="plexlens-bench-") as folder:
        for case in (*FOUR_POOLS, *THREE_POOLS):
            lines.append(line(case, measure(case, Path(folder))))
            print(lines[-1], flush=True)
    if wanted.write:
        DOCUMENT.write_text(put(DOCUMENT.read_text(encoding="utf-8"), "optimum", "\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
