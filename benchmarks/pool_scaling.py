"""Placement at scale: the table of docs/pools.md by number of objects and references.

    python -m benchmarks.pool_scaling                       # print the table
    python -m benchmarks.pool_scaling --write               # and put it into docs/pools.md and benchmarks/record
    python -m benchmarks.pool_scaling --objects 500,2000 --millions 1

Each line is a trace (`benchmarks.pool_workloads.many_objects`, seeded) made beforehand, four present pools of equal
size, and as budget what they have: a share of the pages that the trace refers to. The recommendation runs in a process
of its own, whose CPU time and memory are counted from the first look at the trace to the last step, thresholds
included. Then the command `plexlens pools TRACE` computes the curves. Every other figure is the cost by the simulation
of the whole trace against the equal split.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import command, machine
from benchmarks.pool_workloads import many_objects
from benchmarks.pools import DOCUMENT, put
from plexlens.pools.cost import default_cost
from plexlens.pools.search.case import Limits
from plexlens.pools.search.optimiser import Optimiser
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.trace import open_trace
from plexlens.pools.work import look_at

RECORD = Path(__file__).parent / "record"

#: Buffers of all pools together, as a share of the pages referenced.
SHARE = 0.15

#: Present pools.
POOLS = 4

RULES = ("in proportion to getpages", "marginal gain", "bands by getpages per page")
MOVES = (5, 25, 100)


def recommend(path: Path) -> dict[str, Any]:
    """Run a recommendation and measure it."""
    began, clock = time.process_time(), time.perf_counter()
    trace = open_trace([path])
    work = look_at(trace)
    buffers = int(sum(work.distinct_pages.values()) * SHARE) // POOLS
    before = Configuration({name: PoolSettings.of(name, max(buffers, 1000)) for name in work.pools})
    limits = Limits(budgets={"": before.bytes})
    found = Optimiser(trace, before, cost=default_cost(), limits=limits, work=work).run()
    spent, passed = time.process_time() - began, time.perf_counter() - clock
    frontier, now = found.frontier, found.before.cpu_seconds
    if frontier is None:
        raise SystemExit("a recommendation without a frontier")
    by_moves = {}
    for most in MOVES:
        within = [point for point in frontier.points if point.moved <= most]
        by_moves[str(most)] = min(point.state.cpu_seconds for point in within) / now - 1
    return {
        "objects": len(work.objects),
        "getpages": sum(use.total for use in work.objects.values()),
        "pages": sum(work.distinct_pages.values()),
        "buffers": buffers * POOLS,
        "rules": {point.name: point.state.cpu_seconds / now - 1 for point in frontier.rules},
        "by_moves": by_moves,
        "all": min(point.state.cpu_seconds for point in frontier.points) / now - 1,
        "recommended": found.after.cpu_seconds / now - 1,
        "moved": sum(len(step.objects) for step in found.steps if step.worth),
        "gap": frontier.gap,
        "model_error": frontier.model_error,
        "cpu_seconds": spent,
        "seconds": passed,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def measure(objects: int, millions: float) -> dict[str, Any]:
    """Make a trace and run the recommendation on it in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="plexlens-bench-") as folder:
        path = Path(folder) / "trace.parquet"
        made = f"from benchmarks.pool_scaling import made; made({str(path)!r}, {objects}, {millions})"
        subprocess.run([sys.executable, "-c", made], check=True)
        arguments = [sys.executable, "-m", "benchmarks.pool_scaling", "--one", str(path)]
        done = subprocess.run(arguments, check=True, capture_output=True, text=True)
        return {"made": objects, "millions": millions, **json.loads(done.stdout), **curves(path)}


def curves(path: Path) -> dict[str, Any]:
    """Processor time and memory of the whole command that computes the exact curves of all pools."""
    run = command(sys.executable, "-m", "plexlens.cli", "pools", path, "--json")
    return {"curves_cpu_seconds": run.cpu_seconds, "curves_peak_bytes": run.peak_bytes}


def made(path: str, objects: int, millions: float) -> None:
    """Write the trace of a line of the table."""
    many_objects(objects, int(millions * 1e6)).write(Path(path))


def table(found: Sequence[dict[str, Any]]) -> str:
    """The lines as a table of Markdown."""
    names = [*(f"{most} moves" for most in MOVES), "any number", "recommended", "objects moved"]
    head = ["objects", "getpages", *RULES, *names, "duality gap", "CPU s", "MiB", "curves, CPU s", "curves, MiB"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in found:
        cells = [f"{row['made']:,}", f"{row['millions']:g} million"]
        cells += [f"{row['rules'][name]:+.1%}" if name in row["rules"] else "" for name in RULES]
        cells += [f"{row['by_moves'][str(most)]:+.1%}" for most in MOVES]
        cells += [f"{row['all']:+.1%}", f"{row['recommended']:+.1%}", f"{row['moved']:,}"]
        cells += ["" if row["gap"] is None else f"{row['gap']:.1%}"]
        cells += [f"{row['cpu_seconds']:,.0f}", f"{row['peak_bytes'] / (1 << 20):,.0f}"]
        known = "curves_cpu_seconds" in row
        cells += (
            [f"{row['curves_cpu_seconds']:,.1f}", f"{row['curves_peak_bytes'] / (1 << 20):,.0f}"] if known else ["", ""]
        )
        lines.append(f"| {' | '.join(cells)} |")
    worst = max(row["model_error"] or 0.0 for row in found)
    median = float(np.median([row["gap"] for row in found if row["gap"] is not None]))
    lines += [
        "",
        f"Largest difference between composed and simulated cost {worst:.1%}; median duality gap {median:.1%}.",
    ]
    return "\n".join(lines)


def record(found: Sequence[dict[str, Any]]) -> str:
    """The table with the date, and every figure as JSON."""
    today = datetime.now(UTC).date().isoformat()
    rows = "\n".join(f"    {json.dumps(row)}" for row in found)
    return f"# {today}: placement at scale\n\n{machine()}.\n\n{table(found)}\n\nEvery figure:\n\n{rows}\n"


def main() -> None:
    """Measure, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/pools.md and the record")
    parser.add_argument("--objects", default="10,50,500,2000,10000", help="numbers of objects")
    parser.add_argument("--millions", default="1,5,20", help="millions of getpages")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.one is not None:
        print(json.dumps(recommend(wanted.one)))
        return
    objects = [int(text) for text in wanted.objects.split(",")]
    millions = [float(text) for text in wanted.millions.split(",")]
    found = []
    for count, length in product(objects, millions):
        found.append(measure(count, length))
        print(json.dumps(found[-1]), flush=True)
    print(table(found))
    if wanted.write:
        text = DOCUMENT.read_text(encoding="utf-8")
        DOCUMENT.write_text(put(text, "scaling", table(found)), encoding="utf-8")
        (RECORD / f"{datetime.now(UTC):%Y-%m-%d}-pool-scaling.md").write_text(record(found), encoding="utf-8")


if __name__ == "__main__":
    main()
