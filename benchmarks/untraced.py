"""Ranges by statistics against traces: the table of docs/pools.md on pools without a trace.

    python -m benchmarks.untraced                     # print it
    python -m benchmarks.untraced --write             # and put it into docs/pools.md

Each workload is a page trace (benchmarks.pool_workloads and the scenarios of benchmarks.replay). The present pools are
simulated, and what Db2 would record of them, SMF 100 alone, goes to a dump. `plexlens pools` gives ranges from this
dump. The truth is the simulation of the whole trace with each size, and each moved object. Nothing is fitted to these
workloads.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.pool_workloads import MadeTrace, fifty_objects, many_objects
from benchmarks.pools import DOCUMENT, put
from benchmarks.replay import scenario
from plexlens.pools.cost import default_cost
from plexlens.pools.observation import Observation, observe
from plexlens.pools.outcome import states_of
from plexlens.pools.page.options import Options
from plexlens.pools.page.untraced import MULTIPLES, untraced_answer
from plexlens.pools.prediction import State
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.simulation import simulate, write_smf
from plexlens.pools.trace import Trace, open_trace
from plexlens.pools.untraced.advice import placement_steps
from plexlens.pools.untraced.bounds import Range
from plexlens.pools.untraced.seen import SeenObject, Statistics
from plexlens.pools.work import Work, look_at
from plexlens.simulate import parse_scenario, simulate_to_smf

#: Buffers of the present pools as shares of the pages referenced.
SHARES = (0.05, 0.15, 0.4)

#: Seeds and numbers of objects of made workloads.
MADE = ((91, 20), (92, 200), (93, 1000))

#: A count of a simulation may lie outside a bound by this share and still be inside: rounding of interval lengths.
TOLERANCE = 0.005


@dataclass(frozen=True)
class Judged:
    """A range and the truth, in read I/Os per second.

    Attributes
    ----------
    what
        ``smaller``, ``larger`` or ``placement``.
    """

    workload: str
    what: str
    possible: Range
    likely: Range | None
    truth: float
    now: float


def workloads(folder: Path) -> Iterator[tuple[str, Path]]:
    """Traces by name: those that are made have 10,000 getpages per second."""
    path = folder / "trace.parquet"
    made = fifty_objects(60, seed=77), *(many_objects(count, 60, seed=seed) for seed, count in MADE)
    for one in made:
        objects = list(one.objects.values())
        MadeTrace(objects, 600_000, seed=len(objects), seconds=60.0).write(path)
        yield f"{len(objects):,} objects", path
    for threads in (3, 20):
        dump = folder / f"threads{threads}.smf"
        simulate_to_smf(parse_scenario(scenario(threads, 60.0)), dump, page_trace=True)
        yield f"simulated system, {threads} threads", dump


def judged(name: str, path: Path, share: float, folder: Path) -> Iterator[Judged]:
    """All ranges of a workload whose present pools have this share of its pages."""
    trace = open_trace([path])
    work = look_at(trace)
    pages = dict.fromkeys(work.pools, 0.0)
    for data_set, count in work.distinct_pages.items():
        pages[work.names.pool(work.data_sets[data_set].home)] += count
    before = Configuration({pool: PoolSettings.of(pool, max(int(count * share), 300)) for pool, count in pages.items()})
    dump = folder / "statistics.smf"
    write_smf(simulate(trace, before, work=work), dump)
    found = untraced_answer([dump], None, Options(), subsystem="")
    configurations = [before]
    for factor in MULTIPLES:
        pools = {pool: replace(one, size=round(one.size * factor)) for pool, one in before.pools.items()}
        configurations.append(Configuration(pools))
    now, *others = states_of(trace, configurations, work=work, cost=default_cost())
    for factor, state in zip(MULTIPLES, others, strict=True):
        for one in found.effects:
            pool = one.pool.name
            if one.size == round(before.pools[pool].size * factor) and now.pools[pool].getpages:
                what = "smaller" if factor < 1 else "larger"
                truth, present = (made.pools[pool].read_ios / trace.facts.seconds for made in (state, now))
                yield Judged(name, what, one.possible, one.likely, truth, present)
    seen = tuple(_seen(observe(trace, before, work=work), now, trace.facts.seconds))
    known = replace(found.statistics, objects=seen, configuration=before)
    yield from _placements(name, trace, work, known, now)


def _placements(name: str, trace: Trace, work: Work, found: Statistics, now: State) -> Iterator[Judged]:
    for step in placement_steps(found):
        (state,) = states_of(trace, [step.after], work=work, cost=default_cost())
        seconds = trace.facts.seconds
        truth, present = state.total.read_ios / seconds, now.total.read_ios / seconds
        saved = step.saved
        yield Judged(
            name,
            "placement",
            Range(present - step.possibly_saved.most, present - step.possibly_saved.least),
            Range(present - saved.most, present - saved.least),
            truth,
            present,
        )


def _seen(observation: Observation, now: State, seconds: float) -> Iterator[SeenObject]:
    """Objects as IFCID 199 has them: those with one I/O per second or more, and their pages in the pool."""
    for one in observation.data_sets:
        activity = now.data_sets[one.pool, one.name]
        if activity.ios < seconds:
            continue
        database, _, page_set = one.name.partition(".")
        yield SeenObject(
            pool=one.pool,
            database=database,
            page_set=page_set,
            kind="",
            sync_ios=activity.sync_reads,
            async_ios=activity.prefetch_reads + activity.write_ios,
            async_pages=activity.pages_read - activity.sync_reads + activity.pages_written,
            missing=0.0,
            seconds=seconds,
            cached=float(one.resident[1:].mean()),
            changed=0.0,
            most_cached=float(one.resident.max()),
        )


def table(found: list[Judged]) -> str:
    """Shares of ranges that hold the truth, by workload and kind."""
    lines = [
        "| workload | ranges of | number | possible range holds | likely range holds | its mean width, of reads now |",
        "|---|---|---|---|---|---|",
    ]
    names = list(dict.fromkeys(one.workload for one in found))
    for name in [*names, "all"]:
        for what in ("smaller", "larger", "placement"):
            own = [one for one in found if name in (one.workload, "all") and one.what == what]
            if not own:
                continue
            told = [(one.likely, one) for one in own if one.likely is not None]
            possible = sum(one.possible.holds(one.truth, tolerance=TOLERANCE) for one in own)
            near = sum(likely.holds(one.truth, tolerance=TOLERANCE) for likely, one in told)
            width = sum((likely.most - likely.least) / one.now for likely, one in told if one.now) / max(len(told), 1)
            title = {"smaller": "smaller pools", "larger": "larger pools", "placement": "placements"}[what]
            lines.append(
                f"| {name} | {title} | {len(own)} | {possible / len(own):.0%} "
                f"| {f'{near / len(told):.0%} of {len(told)}' if told else ''} | {f'{width:.0%}' if told else ''} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Run, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/pools.md")
    wanted = parser.parse_args()
    found: list[Judged] = []
    with tempfile.TemporaryDirectory(prefix="plexlens-bench-") as folder:
        for name, path in workloads(Path(folder)):
            for share in SHARES:
                found += judged(name, path, share, Path(folder))
    print(table(found))
    for one in found:
        if not one.possible.holds(one.truth, tolerance=TOLERANCE):
            print(f"outside: {one}")
    if wanted.write:
        DOCUMENT.write_text(put(DOCUMENT.read_text(encoding="utf-8"), "untraced", table(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
