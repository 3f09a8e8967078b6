"""What-ifs judged: a simulated group as the real one, known from its records alone, and the truth of each change.

``python -m plexlens.sharing.what_if_oracle > docs/sharing-what-if.md`` writes the page. The group of
``scenarios/three-members.toml`` is simulated and written as SMF; a twin is made from the records; what changes give in
the twin, and in closed form, stands beside what the same changes do to the scenario itself.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.sharing.twin_calibrate import Twin, make_twin
from plexlens.sharing.twin_measured import measure_sharing
from plexlens.sharing.twin_numbers import TITLES, Key, Numbers, of_results
from plexlens.sharing.what_if import Outcome, Trust, WhatIf, what_if
from plexlens.sharing.what_if_changes import Change, Kind, apply_changes, parse_change
from plexlens.simulate import Scenario, read_scenario, run_scenario, run_scenarios, write_smf
from plexlens.simulate.estimates import Estimate, estimate

#: Seeds of the runs that tell the truth; the records come from another one.
TRUTH_SEEDS = (11, 12, 13)

#: Changes that are judged.
CHANGES: tuple[tuple[Kind, str], ...] = (
    (Kind.LOCK_ENTRIES, "0.05x"),
    (Kind.GROUP_POOL, "GBP1=2x"),
    (Kind.RATIO, "GBP1=12"),
    (Kind.SEPARATE, "BP1"),
    (Kind.SPEED, "2"),
    (Kind.DISTANCE, "10km"),
)

#: Numbers that are judged.
JUDGED = (
    "overhead", "coupling_cpu", "false_contention", "contention", "hit", "absent", "invalid", "xi_reclaim",
    "directory_reclaims", "sync_reads", "service", "async", "db2_time",
)  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """A number of a change: truth before and after, and the two predictions."""

    change: str
    outcome: Outcome
    before: Estimate
    truth: Estimate

    @property
    def error(self) -> float:
        """Relative error of the twin; of shares the difference."""
        return self._error(self.outcome.predicted.mean)

    @property
    def closed_error(self) -> float | None:
        """The same of the closed form."""
        return None if self.outcome.closed is None else self._error(self.outcome.closed)

    @property
    def is_share(self) -> bool:
        """Whether errors are differences: of shares of all reads or requests."""
        return self.outcome.key.what in ("hit", "async")

    def _error(self, found: float) -> float:
        if self.is_share:
            return found - self.truth.mean
        return found / self.truth.mean - 1.0 if self.truth.mean else (0.0 if found == 0.0 else math.inf)


def twin_of(scenario: Scenario, *, threshold: float | None = None, index_pools: Iterable[str] = ()) -> Twin:
    """A twin of a scenario, made from the SMF records that its run wrote and from nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "group.smf"
        write_smf(run_scenario(scenario), dump)
        pdb = Pdb.create(Path(folder) / "pdb")
        ingest([dump], pdb)
        measured = measure_sharing(Inputs(pdb.connect()), "simulated records")
    return make_twin(measured, threshold=threshold, index_pools=index_pools)


def truths(scenario: Scenario, changes: Sequence[Change]) -> list[Numbers]:
    """What a scenario does with changes, by seed."""
    changed = apply_changes(scenario.values, changes)
    runs = run_scenarios([Scenario("", changed.values).with_run(seed=seed) for seed in TRUTH_SEEDS])
    return [of_results(changed.values, run.results, changed.labels) for run in runs]


def judge(scenario: Scenario, answers: Iterable[WhatIf]) -> list[Judged]:
    """Every judged number of every change beside the truth."""
    made = []
    before = truths(scenario, ())
    for answer in answers:
        after = truths(scenario, answer.changes)
        for outcome in answer.outcomes:
            key = _of_truth(outcome.key, before[0])
            if key.what not in JUDGED or key not in before[0]:
                continue
            found = [run.get(key, 0.0) for run in after]
            if key not in after[0] and key.what in ("hit", "service", "db2_time"):
                continue
            made.append(Judged(answer.title, outcome, estimate([run[key] for run in before]), estimate(found)))
    return made


def _of_truth(key: Key, numbers: Numbers) -> Key:
    """The key that the truth has: records hold four characters of a class's name."""
    if key.what != "db2_time" or key in numbers:
        return key
    return next((one for one in numbers if one.what == "db2_time" and one.of[:4] == key.of), key)


# --- the page ---------------------------------------------------------------------------------------------------------

_HEAD = """# What a change to data sharing would give

Written by `python -m plexlens.sharing.what_if_oracle`; do not edit.

    plexlens sharing PDB --lock-entries 2x               entries of the lock table; also a number, or GROUP=2x
    plexlens sharing PDB --gbp GBP1=2x                   size of a group buffer pool, data and directory
    plexlens sharing PDB --ratio GBP1=10                 directory entries to a data page, in the same storage
    plexlens sharing PDB --separate BP1                  each member has its own part of the page sets of a pool
    plexlens sharing PDB --cf-speed CF1=1.5              faster coupling facility engines; without CF1=, all
    plexlens sharing PDB --distance CF2=10km             so many kilometres of fibre more, 10 µs each there and back
    plexlens sharing PDB --link 0.5x                     links and adapters that take half the time
    plexlens sharing PDB --write-scenario twin.toml      the group as a scenario of the simulator

Options are repeated and combined: each change is judged alone, and all of them together. `--index-pool BP2` says that a
pool holds indexes alone (their pages are not locked, and no record tells); `--convert-above 30` from what service time
on requests become asynchronous; `--seeds` how often each is run; `--tolerance` how far off a twin may be.

## The twin

A scenario of the simulator in the likeness of the group ([simulate.md](simulate.md)): systems and engines (SMF 70-1),
coupling facilities and structures (74-4), members and pools (100), classes of each member with their rates, CPU,
getpages, updates and locks (101; CPU outside of Db2 from 110-1 where it is there, else the rest of the system, alike
for all transactions). What no accounting record tells of a member's getpages is one class more.

What no record holds is fitted, first in closed form, then corrected after short runs:

| fitted | to |
|---|---|
| pages and skew of the shared page set, inserts at its end | reads, re-reads, hits, directory reclaims, contention |
| pages with page P-locks: number, use, changes | page P-lock requests, waits (QBGLP1, QBGLS1), false contention |
| pages of members' own page sets | reads from disk that are not of shared pages |
| share of GBP-dependent getpages, where Db2 did not count them (QBGLGG, QBGAGG) | all reads of the group buffer pool |
| lock avoidance | requests to the lock structure |
| execution times, links, speeds | service times, busy time of coupling facilities, mix of requests |
| CPU of a class besides path lengths and requests | class 2 CPU |

The page shows what was fitted (calibrated: it agrees by construction) and what was not (checked) beside what was
measured. Where the twin is off by more than the tolerance and its confidence interval, nothing is concluded from it.
`--write-scenario` writes the twin with the origin of every number.

Not in it: waits for the main task of a region, for threads and volumes; row locks; page sets of one pool that are used
differently (one stands for all); requests of structures that are not Db2's; several images of one machine that compete
for its engines; duplexing.

Page P-locks are contention of the lock structure too (SMF 74-4), but none of transactions' locks: what Db2 counts of
them by pool (QBGLS1) is taken off before transactions' locks are fitted, and the twin has pages with page P-locks of
its own, whose popularity is assumed (Zipf, 0.8). Members keep such locks from transaction to transaction, so that most
of the locks held can be of them, and false contention tells how many. In a pool named by `--index-pool` all pages have
them, and the counters check the twin. Where they or contention are off, nothing is concluded on contention.

## Beside it, the closed form

| number | formula |
|---|---|
| false contention | 1 - (1 - 1/entries)^(locks that others hold), by Little's law: rate x half of the time in Db2 |
| page P-locks | held by a member for u / (U + d) of the time: its changes, all members', buffers stolen (Che) |
| contention for pages | rate of requests x share of the time that another member has the page locked |
| local pools, directory, data | Che's approximation of LRU; invalid is what another member wrote since the last use |
| directory reclaims | none while all pages asked for have an entry, else what the directory's LRU gives up |
| service time | execution / speed + wait (Pollaczek-Khinchine, Allen-Cunneen) + links + 10 µs a kilometre |
| conversion | asynchronous where service time is above the threshold: what makes both kinds cost as much CPU |
| CPU | synchronous x (path + service) + asynchronous x path + contentions x path |

Both move the measured number: in proportion, or, shares, by the difference. *Go by* says which of the two to believe:
both where they agree (within the confidence interval, or a quarter of the change); the twin where they do not, since it
has the sequence of events; the closed form where events are too rare to be counted in the runs, or where before the
change it is nearer to what was measured; neither where the twin is off.

## Judged

A simulated group of three members (`scenarios/three-members.toml`) is taken for a real one. Its run is written as SMF;
a twin is made from the records, with the statement that BP2 holds indexes, and asked what changes would give. The truth
is the group's own scenario with the same change, in {seeds} runs with other seeds.
"""

_FOUND = """
### What was found out about the page sets

| pool | true | twin |
|---|---|---|
| BP1 | ACCOUNTS: 20,000 pages, skew 0.75; HISTORY: inserts at one place, a third of the updates | {bp1} |
| BP2 | ACCTIX: 3,000 pages, skew 0.6; changed by a tenth | {bp2} |
"""

_CHANGES = """
### Changes

Numbers that neither truth nor prediction moves are left out. Errors are relative, of hits and asynchronous requests in
points; in bold where the page says not to go by the number. ± is half of a 95 % confidence interval.
"""


def page() -> str:
    """The whole comparison as a page of Markdown."""
    scenario = read_scenario(Path(__file__).resolve().parents[3] / "scenarios" / "three-members.toml")
    threshold = scenario.values["coupling"]["convert_above_us"] * 1e-6
    twin = twin_of(scenario, threshold=threshold, index_pools=("BP2",))
    changes = tuple(parse_change(kind, text) for kind, text in CHANGES)
    judged = judge(scenario, what_if(twin, changes))
    sets = {
        pool: f"{about.pages.shared:,} pages, skew {about.pages.skew:.2f}; {about.hot:.0%} of the writes at one place"
        for (_, pool), about in twin.fit.pools.items()
    }
    parts = [_HEAD.format(seeds=len(TRUTH_SEEDS)), _FOUND.format(bp1=sets["BP1"], bp2=sets["BP2"]), _CHANGES]
    for title in dict.fromkeys(one.change for one in judged):
        rows = [one for one in judged if one.change == title and _is_moved(one)]
        parts.append(f"#### {title}\n\n{_table(rows)}")
    parts.append(_summary(judged))
    return "\n".join(parts)


def _is_moved(one: Judged) -> bool:
    if one.outcome.trust is not Trust.NO_CHANGE:
        return True
    scale = max(abs(one.before.mean), abs(one.truth.mean), 1e-12)
    return abs(one.truth.mean - one.before.mean) > max(0.05 * scale, one.truth.half_width + one.before.half_width)


def _number(what: str, value: float) -> str:
    factor = {"%": 100.0, "us": 1e6, "ms": 1e3}.get(TITLES[what][1], 1.0)
    return f"{value * factor:.3g}"


def _estimate(what: str, found: Estimate) -> str:
    factor = {"%": 100.0, "us": 1e6, "ms": 1e3}.get(TITLES[what][1], 1.0)
    return str(Estimate(found.mean * factor, found.half_width * factor))


def _error(one: Judged, error: float | None, *, bold: bool) -> str:
    if error is None:
        return ""
    text = "none true" if math.isinf(error) else f"{error * 100:+.1f}" if one.is_share else f"{error:+.1%}"
    return f"**{text}**" if bold else text


def _table(rows: Sequence[Judged]) -> str:
    lines = [
        "| number | of | unit | true before | true after | twin | error | closed form | error | go by |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for one in rows:
        what, outcome = one.outcome.key.what, one.outcome
        title, unit = TITLES[what]
        closed = "" if outcome.closed is None else _number(what, outcome.closed)
        not_twin = outcome.trust in (Trust.NEITHER, Trust.CLOSED)
        not_closed = outcome.trust in (Trust.NEITHER, Trust.TWIN)
        lines.append(
            f"| {title} | {outcome.key.of} | {unit.replace('us', 'µs')} | {_estimate(what, one.before)} "
            f"| {_estimate(what, one.truth)} | {_estimate(what, outcome.predicted)} "
            f"| {_error(one, one.error, bold=not_twin)} | {closed} "
            f"| {_error(one, one.closed_error, bold=not_closed)} | {outcome.trust.value} |"
        )
    return "\n".join(lines) + "\n"


def _summary(judged: Sequence[Judged]) -> str:
    moved = [one for one in judged if _is_moved(one) and one.outcome.trust is not Trust.NEITHER and not one.is_share]
    errors = sorted(abs(one.error) for one in moved if math.isfinite(one.error) and one.truth.mean)
    closed = [one.closed_error for one in moved if one.truth.mean]
    others = sorted(abs(error) for error in closed if error is not None and math.isfinite(error))
    return (
        "### In short\n\n"
        f"Of {len(errors)} numbers that a change moves and that the page draws conclusions on, the twin is within 10 % "
        f"of the truth on {sum(error <= 0.1 for error in errors)}; half of them are within "
        f"{errors[len(errors) // 2]:.1%}. The closed form has {len(others)} of them, {sum(e <= 0.1 for e in others)} "
        f"within 10 %, half within {others[len(others) // 2]:.1%}.\n"
    )


def main() -> None:
    """Write the page to standard output."""
    sys.stdout.write(page())


if __name__ == "__main__":
    main()
