"""Recommendations compared with rules of thumb, and a published case: the tables of docs/pools.md.

    python -m benchmarks.pools                     # print both tables
    python -m benchmarks.pools --write             # and put them into docs/pools.md

Every line of the first table has the same trace and the same storage, and is scored by the simulation with prefetch and
write thresholds; the rules see what the recommendation sees, the LRU curves of the pools. What is unfair: the
recommendation may move objects, which the rules cannot; so the line with sizes alone is shown next to it.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.pool_workloads import PUBLISHED, MadeTrace, TwoPools, fifty_objects, hit_ratios
from plexlens import _core
from plexlens.pools.cost import default_cost
from plexlens.pools.outcome import states_of
from plexlens.pools.prediction import State
from plexlens.pools.search.case import Limits
from plexlens.pools.search.optimiser import Optimiser
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.trace import Trace, open_trace

DOCUMENT = Path(__file__).parent.parent / "docs" / "pools.md"

#: Buffers of 4 KB of all pools together.
BUDGETS = (30_000, 60_000)

#: What a pool has at least, and in how many parts a greedy rule hands out the rest.
LEAST, PARTS = 1000, 200

Sizes = dict[str, int]


def equal_split(curves: _core.PoolCurves, buffers: int) -> Sizes:
    """All pools of equal size."""
    pools = curves.pools()
    return {f"BP{pool}": buffers // len(pools) for pool in pools}


def by_getpages(curves: _core.PoolCurves, buffers: int) -> Sizes:
    """Buffers in proportion to getpages."""
    getpages = {pool: curves.events(pool)["getpage"] for pool in curves.pools()}
    total = sum(getpages.values())
    return {f"BP{pool}": max(buffers * count // total, LEAST) for pool, count in getpages.items()}


def _greedy(
    curves: _core.PoolCurves, buffers: int, prefer: Callable[[_core.PoolCurves, int, int, int], float]
) -> Sizes:
    """Give the storage, part by part, to the pool that a rule prefers."""
    sizes = dict.fromkeys(curves.pools(), LEAST)
    part = (buffers - LEAST * len(sizes)) // PARTS
    for _ in range(PARTS):
        chosen = max(sizes, key=lambda pool: (prefer(curves, pool, sizes[pool], part), -pool))
        sizes[chosen] += part
    return {f"BP{pool}": size for pool, size in sizes.items()}


def hit_ratio(curves: _core.PoolCurves, pool: int, size: int) -> float:
    """Hit ratio of a pool of this size."""
    return 1 - curves.read_misses(pool, [size])[0][0] / curves.events(pool)["getpage"]


def lowest_hit_ratio(curves: _core.PoolCurves, buffers: int) -> Sizes:
    """Greedy: always to the pool with the lowest hit ratio."""
    return _greedy(curves, buffers, lambda held, pool, size, part: -hit_ratio(held, pool, size))


def hit_ratio_gain(curves: _core.PoolCurves, buffers: int) -> Sizes:
    """Greedy: always to the pool whose hit ratio rises most."""
    return _greedy(
        curves,
        buffers,
        lambda held, pool, size, part: hit_ratio(held, pool, size + part) - hit_ratio(held, pool, size),
    )


RULES: dict[str, Callable[[_core.PoolCurves, int], Sizes]] = {
    "equal split": equal_split,
    "in proportion to getpages": by_getpages,
    "greedy, lowest hit ratio first": lowest_hit_ratio,
    "greedy, largest rise of the hit ratio": hit_ratio_gain,
}


def configuration(sizes: Sizes) -> Configuration:
    """Pools of these sizes, with Db2's defaults otherwise."""
    return Configuration({name: PoolSettings.of(name, size) for name, size in sizes.items()})


def contest(trace: Trace, buffers: int, *, least_buffers: int = LEAST) -> dict[str, State]:
    """Rules and recommendations on a trace with the same total of buffers, each simulated."""
    curves = _core.PoolCurves()
    for batch in trace.batches():
        curves.add(batch)
    ruled = {name: configuration(rule(curves, buffers)) for name, rule in RULES.items()}
    found: dict[str, State] = {}
    for name, moves in (("sizes recommended", False), ("sizes and groups recommended", True)):
        limits = Limits(budgets={"": buffers * 4096}, moves=moves, least_buffers=least_buffers, settings=False)
        optimiser = Optimiser(trace, ruled["equal split"], cost=default_cost(), limits=limits)
        found[name] = optimiser.run().after
    states = states_of(trace, list(ruled.values()), work=optimiser.work, cost=default_cost())
    return {**dict(zip(ruled, states, strict=True)), **found}


def rules_table(made: MadeTrace) -> str:
    """The contest as a table."""
    lines = [
        "| buffers | rule | sizes | read I/O/s | CPU s/h of I/O | against equal split |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fifty.parquet"
        made.write(path)
        for buffers in BUDGETS:
            states = contest(open_trace([path]), buffers)
            first = states["equal split"].total
            for name, state in states.items():
                total = state.total
                sizes = ", ".join(
                    f"{pool} {pool_settings.size:,}" for pool, pool_settings in state.configuration.pools.items()
                )
                change = total.cpu_seconds / first.cpu_seconds - 1
                lines.append(
                    f"| {buffers:,} | {name} | {sizes} | {total.read_ios / made.seconds:,.1f} "
                    f"| {3600 * total.cpu_seconds / made.seconds:,.1f} | {change:+.1%} |"
                )
    return "\n".join(lines)


def case_table() -> str:
    """The published case next to ours, and between its points."""
    sizes = sorted({*PUBLISHED, 75, 150, 200, 250, 400})
    ours = hit_ratios(TwoPools(), sizes)
    lines = [
        "| pages in all, thousands | two pools, published | ours | error | one pool, published | ours | error "
        "| gained by combining, published | ours |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for size in sizes:
        apart, together = ours[size]
        if size in PUBLISHED:
            told, single = PUBLISHED[size]
            row = [f"{told:.1f}", f"{apart:.1f}", f"{apart - told:+.1f}", f"{single:.1f}", f"{together:.1f}"]
            row += [f"{together - single:+.1f}", f"{single - told:.1f}", f"{together - apart:.1f}"]
        else:
            row = ["", f"{apart:.1f}", "", "", f"{together:.1f}", "", "", f"{together - apart:.1f}"]
        lines.append(f"| {size} | " + " | ".join(row) + " |")
    errors = [ours[size][i] - PUBLISHED[size][i] for size in PUBLISHED for i in (0, 1)]
    lines += ["", f"Largest error {max(map(abs, errors)):.1f} points, mean {np.mean(np.abs(errors)):.1f}."]
    return "\n".join(lines)


def put(text: str, name: str, table: str) -> str:
    """The document with a table in its place: between ``<!-- name -->`` and ``<!-- end of name -->``."""
    first, last = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = text.partition(first)
    _, _, after = rest.partition(last)
    return f"{before}{first}{table}\n{last}{after}"


def show(tables: dict[str, str], *, write: bool) -> None:
    """Print tables, and put them into the document if requested."""
    for table in tables.values():
        print(table, end="\n\n")
    if write:
        text = DOCUMENT.read_text(encoding="utf-8")
        for name, table in tables.items():
            text = put(text, name, table)
        DOCUMENT.write_text(text, encoding="utf-8")


def main() -> None:
    """Measure, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/pools.md")
    wanted = parser.parse_args()
    tables = {"rules": rules_table(fifty_objects()), "case": case_table()}
    show(tables, write=wanted.write)


if __name__ == "__main__":
    main()
