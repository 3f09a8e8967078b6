"""Evaluation of what-ifs: a simulated group stands for a real group, known only from its records, and gives the truth.

``python -m tools.what_if_truth > docs/sharing-what-if.md`` writes the page. The group of
``scenarios/three-members.toml`` is simulated and written as SMF; a twin is made from the records; what changes give in
the twin is shown next to what the same changes do to the scenario itself.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.sharing.assumptions import Assumptions
from plexlens.sharing.conversion import threshold_of
from plexlens.sharing.twin_calibrate import Twin, make_twin
from plexlens.sharing.twin_group import SharingMeasured
from plexlens.sharing.twin_measured import measure_sharing
from plexlens.sharing.twin_numbers import TITLES, Key, Numbers, of_results
from plexlens.sharing.what_if import Outcome, Verdict, WhatIf, what_if
from plexlens.sharing.what_if_changes import Change, Kind, apply_changes, parse_change
from plexlens.simulate import Scenario, read_scenario, run_scenario, run_scenarios, write_smf
from plexlens.simulate.estimates import Estimate, estimate
from tools.what_if_text import HEAD, SPEEDS, TABLES, THRESHOLDS

#: Seeds of the runs that tell the truth; the records come from another one.
TRUTH_SEEDS = (11, 12, 13, 14, 15)

#: Changes that are judged.
CHANGES: tuple[tuple[Kind, str], ...] = (
    (Kind.LOCK_ENTRIES, "0.05x"),
    (Kind.LOCK_ENTRIES, "4x"),
    (Kind.GROUP_POOL, "GBP1=0.5x"),
    (Kind.GROUP_POOL, "GBP1=2x"),
    (Kind.RATIO, "GBP1=12"),
    (Kind.SEPARATE, "BP1"),
    (Kind.SPEED, "0.5"),
    (Kind.SPEED, "2"),
    (Kind.DISTANCE, "1km"),
    (Kind.DISTANCE, "10km"),
    (Kind.LINK, "3x"),
    (Kind.ENGINE_SPEED, "0.5"),
    (Kind.ENGINE_SPEED, "2"),
    (Kind.THRESHOLD, "12us"),
)

#: Numbers that are judged.
JUDGED = (
    "overhead", "coupling_cpu", "false_contention", "contention", "hit", "absent", "invalid", "xi_reclaim",
    "directory_reclaims", "sync_reads", "service", "async", "cf_busy", "db2_time",
)  # fmt: skip

#: Part of a number that is a move.
_MOVED = 0.03

#: Thresholds, µs, and kilometres to CF2 of groups whose records are asked for the threshold.
_VARIANTS = ((0.0, 0.0), (40.0, 0.0), (40.0, 2.0), (25.0, 2.0), (15.5, 0.0), (12.0, 0.0), (5.0, 0.0))

_SPEEDS = (1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Judged:
    """A number of a change: truth before and after, and the answer."""

    change: str
    outcome: Outcome
    before: Estimate
    truth: Estimate

    @property
    def error(self) -> float:
        """Relative error of the answer; for shares of reads or requests, the difference."""
        found = self.outcome.answer.value
        if self.is_share:
            return found - self.truth.mean
        return found / self.truth.mean - 1.0 if self.truth.mean else (0.0 if found == 0.0 else math.inf)

    @property
    def is_share(self) -> bool:
        """Whether errors are differences: for shares of all reads or requests."""
        return self.outcome.key.what in ("hit", "async")

    @property
    def holds(self) -> bool:
        """Whether the error bar contains the true mean."""
        return self.outcome.answer.low <= self.truth.mean <= self.outcome.answer.high

    @property
    def is_moved(self) -> bool:
        """Whether the truth or the answer changes."""
        scale = max(abs(self.before.mean), abs(self.truth.mean), 1e-12)
        move = abs(self.truth.mean - self.before.mean)
        chance = 0.0 if math.isnan(self.truth.half_width) else self.truth.half_width + self.before.half_width
        return self.outcome.verdict in (Verdict.CHANGES, Verdict.OFF) or move > max(_MOVED * scale, chance)


def records_of(scenario: Scenario) -> SharingMeasured:
    """Measurements of groups from the SMF records of a scenario's run."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "group.smf"
        write_smf(run_scenario(scenario), dump)
        pdb = Pdb.create(Path(folder) / "pdb")
        ingest([dump], pdb)
        return measure_sharing(Inputs(pdb.connect()), "simulated records")


def twin_of(
    scenario: Scenario,
    *,
    assumptions: Assumptions | None = None,
    threshold: float | None = None,
    index_pools: Iterable[str] = (),
) -> Twin:
    """A twin of a scenario, built only from the SMF records of its run."""
    return make_twin(records_of(scenario), assumptions, threshold=threshold, index_pools=index_pools)


def truths(scenario: Scenario, changes: Sequence[Change], seeds: Sequence[int] = TRUTH_SEEDS) -> list[Numbers]:
    """Results of a scenario with changes, by seed."""
    changed = apply_changes(scenario.values, changes)
    runs = run_scenarios([Scenario("", changed.values).with_run(seed=seed) for seed in seeds])
    return [of_results(changed.values, run.results, changed.labels) for run in runs]


def judge(scenario: Scenario, answers: Iterable[WhatIf], seeds: Sequence[int] = TRUTH_SEEDS) -> list[Judged]:
    """Every judged number of every change next to the truth."""
    made = []
    before = truths(scenario, (), seeds)
    for answer in answers:
        after = truths(scenario, answer.changes, seeds)
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
    """The key in the truth; records hold only four characters of a class's name."""
    if key.what != "db2_time" or key in numbers:
        return key
    return next((number for number in numbers if number.what == "db2_time" and number.of[:4] == key.of), key)


# --- the page ---------------------------------------------------------------------------------------------------------


def the_group() -> Scenario:
    """The group that stands for a real group."""
    return read_scenario(Path(__file__).resolve().parents[1] / "scenarios" / "three-members.toml")


def page() -> str:
    """The whole comparison as a page of Markdown."""
    scenario = the_group()
    threshold = scenario.values["coupling"]["convert_above_us"] * 1e-6
    twin = twin_of(scenario, threshold=threshold, index_pools=("BP2",))
    changes = tuple(parse_change(kind, text) for kind, text in CHANGES)
    judged = judge(scenario, what_if(twin, changes)[: len(changes)])
    sets = {
        pool: f"{about.pages.shared:,} pages, skew {about.pages.skew:.2f}; {about.hot:.0%} of the writes at one place"
        for (_, pool), about in twin.fit.pools.items()
    }
    parts = [HEAD.format(seeds=len(TRUTH_SEEDS), bp1=sets["BP1"], bp2=sets["BP2"]), _summary(judged), TABLES]
    for title in dict.fromkeys(candidate.change for candidate in judged):
        rows = [candidate for candidate in judged if candidate.change == title and candidate.is_moved]
        parts.append(f"#### {title}\n\n{_table(rows)}")
    parts += [THRESHOLDS + _thresholds(scenario), SPEEDS + _speeds(scenario)]
    return "\n".join(parts)


def _number(what: str, value: float) -> str:
    return f"{value * _factor(what):.3g}"


def _factor(what: str) -> float:
    return {"%": 100.0, "us": 1e6, "ms": 1e3}.get(TITLES[what][1], 1.0)


def _estimate(what: str, found: Estimate) -> str:
    return str(Estimate(found.mean * _factor(what), found.half_width * _factor(what)))


def _error(candidate: Judged) -> str:
    if math.isinf(candidate.error):
        return "none true"
    return f"{candidate.error * 100:+.1f}" if candidate.is_share else f"{candidate.error:+.1%}"


def _table(rows: Sequence[Judged]) -> str:
    lines = [
        "| number | of | unit | true before | true after | answer | from | to | holds | error | verdict |",
        "|---|---|---|---:|---:|---:|---:|---:|---|---:|---|",
    ]
    for row in rows:
        what, outcome = row.outcome.key.what, row.outcome
        title, unit = TITLES[what]
        answer = outcome.answer
        said = outcome.verdict.value + (f"; {outcome.why}" if outcome.why else "")
        lines.append(
            f"| {title} | {outcome.key.of} | {unit.replace('us', 'µs')} | {_estimate(what, row.before)} "
            f"| {_estimate(what, row.truth)} | {_number(what, answer.value)} | {_number(what, answer.low)} "
            f"| {_number(what, answer.high)} | {'yes' if row.holds else '**no**'} | {_error(row)} | {said} |"
        )
    return "\n".join(lines) + "\n"


def _summary(judged: Sequence[Judged]) -> str:
    moved = [candidate for candidate in judged if candidate.is_moved and candidate.outcome.verdict is not Verdict.OFF]
    errors = sorted(
        abs(candidate.error)
        for candidate in moved
        if math.isfinite(candidate.error) and candidate.truth.mean and not candidate.is_share
    )
    return (
        f"Of {len(moved)} numbers that a change moves and that the page draws conclusions on, the error bar holds the "
        f"truth of {sum(candidate.holds for candidate in moved)}. Of the {len(errors)} that are no shares and not 0, "
        f"{sum(error <= 0.1 for error in errors)} are within 10 % of the truth, half within "
        f"{errors[len(errors) // 2]:.1%}, and the worst is off by {errors[-1]:.0%}.\n"
    )


def _thresholds(scenario: Scenario) -> str:
    """Thresholds inferred from records of groups with known thresholds."""
    lines = [
        "| true threshold, µs | CF2 farther by, km | records say: from | to | taken | by | holds |",
        "|---:|---:|---:|---:|---:|---|---|",
    ]
    for threshold, kilometres in _VARIANTS:
        values: dict[str, Any] = dict(scenario.values)
        values["coupling"] = values["coupling"] | {"convert_above_us": threshold}
        values["coupling_facility"] = [
            facility | ({"distance_km": kilometres} if facility["name"] == "CF2" else {})
            for facility in values["coupling_facility"]
        ]
        found = threshold_of(records_of(Scenario("", values)), Assumptions())
        holds = found.low <= (threshold * 1e-6 or math.inf) <= found.high
        lines.append(
            f"| {threshold or 'never'} | {kilometres:g} | {found.low * 1e6:.1f} "
            f"| {f'{found.high * 1e6:.1f}' if math.isfinite(found.high) else 'none'} | {found.seconds * 1e6:.1f} "
            f"| {found.source} | {'yes' if holds else '**no**'} |"
        )
    return "\n".join(lines) + "\n"


def _with_speed(scenario: Scenario, speed: float) -> Scenario:
    return Scenario("", apply_changes(scenario.values, [parse_change(Kind.ENGINE_SPEED, f"{speed:g}")]).values)


def _speeds(scenario: Scenario) -> str:
    """Distance on engines of different speeds: by hand, in the simulator, and in a twin from its records."""
    lines = [
        "| speed | km | by hand: service, µs | threshold, µs | CPU of a request, µs | simulated | twin | from | to |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    coupling = scenario.values["coupling"]
    threshold, near = coupling["convert_above_us"], 10.5
    lock = Key("service", "DSNB_LOCK1")
    for speed in _SPEEDS:
        group = _with_speed(scenario, speed)
        stated = Assumptions(speed=speed)
        twin = twin_of(group, assumptions=stated, threshold=threshold * 1e-6 / speed, index_pools=("BP2",))
        changes = [parse_change(Kind.DISTANCE, text) for text in ("0.5km", "2km")]
        for change, answer in zip(changes, what_if(twin, changes), strict=False):
            service = near + 10.0 * change.amount
            limit = threshold / speed
            by_hand = 20.0 / speed if service > limit else 2.0 / speed + service
            runs = truths(group, [change], TRUTH_SEEDS[:2])
            found = list(_lock_cpu(runs, lock, stated))
            told = answer.of("async", lock.of)
            here = answer.of("service", lock.of)
            converted = told is not None and told.answer.value > 0.5
            parts = [20.0 / speed] * 3 if converted or here is None else [
                2.0 / speed + value * 1e6 for value in (here.answer.value, here.answer.low, here.answer.high)
            ]  # fmt: skip
            lines.append(
                f"| {speed:g} | {change.amount:g} | {service:.1f} | {limit:.1f} | {by_hand:.1f} "
                f"| {sum(found) / len(found):.1f} | {parts[0]:.1f} | {parts[1]:.1f} | {parts[2]:.1f} |"
            )
    return "\n".join(lines) + "\n"


def _lock_cpu(runs: Iterable[Numbers], lock: Key, stated: Assumptions) -> Iterator[float]:
    """Sender's microseconds per lock request, for each run."""
    for run in runs:
        share = run[Key("async", lock.of)]
        sync = (stated.seconds("sync_path", None) + run.get(lock, 0.0)) * (1.0 - share)
        yield (sync + share * stated.seconds("async_path", None)) * 1e6


def main() -> None:
    """Write the page to standard output."""
    sys.stdout.write(page())


if __name__ == "__main__":
    main()
