"""Calibration of a twin by short runs, and its checks."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from plexlens.errors import UsageError
from plexlens.metrics.page_numbers import page_numbers
from plexlens.progress import Progress, silent
from plexlens.sharing.assumptions import Assumptions
from plexlens.sharing.twin import Fit, PoolFit, TwinClass, build, twin_classes
from plexlens.sharing.twin_fit import first_fit
from plexlens.sharing.twin_group import Group, SharingMeasured, lock_structure, pool_structure
from plexlens.sharing.twin_length import run_length
from plexlens.sharing.twin_numbers import TITLES, Key, Numbers, events, of_measured, of_results
from plexlens.sharing.twin_page_locks import PageLockTargets, page_lock_targets
from plexlens.sharing.twin_pages import fit_pool, reached, targets
from plexlens.simulate import Scenario, resource_text, run_scenario, run_scenarios
from plexlens.simulate.estimates import Estimate, estimate

_WHAT_IF = page_numbers("what_if")

#: Runs that parameters are corrected after.
_ROUNDS = 12

#: Seeds of the runs that conclusions are drawn from.
SEEDS = (1, 2, 3, 4, 5)

#: A measured share or rate below which a ratio to it says nothing.
_SMALL = {"/s": 1.0, "%": 0.002, "us": 0.5e-6, "ms": 1e-5, "engines": 0.005}

#: Numbers that a calibrated twin reproduces by construction; the others check it.
CALIBRATED = frozenset(
    {
        "lock_requests", "contention", "absent", "invalid", "hit", "writes", "directory_reclaims", "service", "cf_busy",
        "busy", "db2_cpu", "page_lock_requests", "page_lock_waits", "false_contention",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Check:
    """A measured number compared with the twin's.

    Attributes
    ----------
    calibrated
        Whether the twin was fitted to it, so that agreement is by construction.
    small
        Whether the measured number is so small that being off by much of it means nothing.
    """

    key: Key
    measured: float
    twin: Estimate
    calibrated: bool
    small: bool

    @property
    def error(self) -> float:
        """Relative error of the twin; NaN if the measured number is missing."""
        value = _WHAT_IF["error"](twin=self.twin.mean, measured=self.measured)
        return math.nan if value is None else value

    def is_off(self, tolerance: float) -> bool:
        """Whether the twin's error exceeds both a share of the measured number and the twin's own confidence
        interval.
        """
        if self.small:
            return False
        half = 0.0 if math.isnan(self.twin.half_width) else self.twin.half_width
        return abs(self.twin.mean - self.measured) > tolerance * abs(self.measured) + half


@dataclass(frozen=True)
class Twin:
    """A twin of a measured group.

    Attributes
    ----------
    fit
        The one that explains the measurement best.
    scenarios
        Those that are run, each with a seed of its own and with one of the fits that explain the measurement best; the
        first has the very best.
    labels
        Name of the measured class by that of the twin's.
    runs
        Numbers of each of them.
    checks
        Measured numbers and the mean of the runs.
    """

    measured: SharingMeasured
    assumptions: Assumptions
    fit: Fit
    classes: tuple[TwinClass, ...]
    scenarios: tuple[Scenario, ...]
    labels: dict[str, str]
    runs: tuple[Numbers, ...]
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, Any]:
        """Tables of the first scenario."""
        return self.scenarios[0].values

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the runs."""
        return tuple(scenario.values["run"]["seed"] for scenario in self.scenarios)

    @property
    def seconds(self) -> float:
        """Seconds of all runs together."""
        return sum(float(scenario.values["run"]["seconds"]) for scenario in self.scenarios)

    def check(self, key: Key) -> Check | None:
        """The check of a number; None if it was not measured."""
        return next((check for check in self.checks if check.key == key), None)


#: Most runs of a twin.
_MOST_RUNS = 50


def check_runs(seeds: int, tolerance: float, convert_above: float | None) -> None:
    """Check the arguments of a twin run.

    Parameters
    ----------
    seeds
        Number of runs.
    tolerance
        In percent.
    convert_above
        In microseconds.

    Raises
    ------
    UsageError
        A number is not possible.
    """
    if not 2 <= seeds <= _MOST_RUNS:
        raise UsageError(
            file="",
            what=f"--seeds {seeds} gives no confidence interval",
            remedy=f"give 2 to {_MOST_RUNS} runs",
        )
    if not 0 < tolerance <= 1000:
        raise UsageError(file="", what=f"--tolerance {tolerance:g} is not a valid percentage", remedy="give 1 to 1000")
    if convert_above is not None and not 0 <= convert_above < math.inf:
        raise UsageError(
            file="",
            what=f"--convert-above {convert_above:g} is not a service time",
            remedy="give microseconds, or 0 for never",
        )


def make_twin(
    measured: SharingMeasured,
    assumptions: Assumptions | None = None,
    *,
    threshold: float | None = None,
    index_pools: Iterable[str] = (),
    seeds: Iterable[int] = SEEDS,
    progress: Progress = silent,
) -> Twin:
    """Build a twin: fitted in closed form, corrected after short runs, then run with several seeds.

    Parameters
    ----------
    measured
        What `plexlens.sharing.twin_measured.measure_sharing` read.
    assumptions
        Path lengths of the host.
    threshold
        Service time above which requests become asynchronous, in seconds, if it is known; None: as measured (see
        `plexlens.sharing.conversion`).
    index_pools
        Pools that hold indexes alone, whose pages are not locked: records do not tell.
    seeds
        Of the runs.
    progress
        Told what is done, of how much, and the stage.

    Raises
    ------
    UsageError
        A pool is not there.
    """
    indexes = frozenset(index_pools)
    there = {pool for group in measured.groups for pool in group.pools}
    if indexes - there:
        raise UsageError(
            file="",
            what=f"--index-pool {', '.join(sorted(indexes - there))}: no member uses such a buffer pool",
            remedy=f"name some of: {', '.join(sorted(there))}",
        )
    assumptions = assumptions or Assumptions()
    seeds = tuple(seeds)
    classes = twin_classes(measured)
    labels = {work_class.name: work_class.label for work_class in classes}
    wanted = of_measured(measured, assumptions)
    steps = _ROUNDS + len(seeds)
    progress(0, steps, "fitting page sets")
    fit, notes = first_fit(measured, assumptions, threshold, indexes)
    work = _Calibration(measured, fit, assumptions, classes, wanted)
    tried: list[tuple[float, int, Fit]] = []
    for number in range(_ROUNDS):
        values = build(measured, fit, assumptions, classes)
        values["run"] = run_length(values)
        progress(number, steps, "calibrating")
        results = run_scenario(Scenario("", values)).results
        entries = of_results(values, results, labels)
        seconds = values["run"]["seconds"]
        misfit = _misfit(wanted, entries, (measured.seconds, seconds))
        tried.append((misfit, number, copy.deepcopy(fit)))
        work.correct(entries, results, number, seconds)
    # Several fits explain the measurement about as well: what they differ in, the error bar of an answer has.
    fits = [content for *_, content in sorted(tried, key=lambda pair: pair[:2])[: len(seeds)]]
    scenarios = []
    for number, seed in enumerate(seeds):
        values = build(measured, fits[number % len(fits)], assumptions, classes)
        scenarios.append(Scenario("", values | {"run": run_length(values)}).with_run(seed=seed))
    runs = []
    progress(_ROUNDS, steps, "running the twin")
    for scenario, run in zip(scenarios, run_scenarios(scenarios), strict=True):
        results = run.results
        runs.append(of_results(scenario.values, results, labels))
        notes += [
            f"The {resource_text(saturated)} is saturated in the twin, so its queues grow with the length of the run."
            for saturated in results["saturated"]
        ]
    checks = tuple(_checks(wanted, runs, _unfitted(measured)))
    notes = [*measured.notes, *dict.fromkeys(notes)]
    return Twin(measured, assumptions, fits[0], classes, tuple(scenarios), labels, tuple(runs), checks, tuple(notes))


def _unfitted(measured: SharingMeasured) -> frozenset[Key]:
    """Page P-lock numbers that this twin is not fitted to."""
    results = set()
    for group in measured.groups:
        aims = [page_lock_targets(measured, group, pool) for pool in group.pools]
        # Without page P-locks, false contention follows from how long transactions hold locks.
        if not any(aim and aim.held for aim in aims):
            results.add(Key("false_contention", lock_structure(group.name)))
    return frozenset(results)


def _checks(wanted: Numbers, runs: list[Numbers], unfitted: frozenset[Key]) -> Iterable[Check]:
    for key, value in wanted.items():
        numbers = [run[key] for run in runs if key in run]
        if len(numbers) == len(runs):
            small = abs(value) < _SMALL[TITLES[key.what][1]]
            fitted = key.what in CALIBRATED and key not in unfitted
            yield Check(key, value, estimate(numbers), fitted, small)


def _noise(*events: float) -> float:
    """Variance of the logarithm of a ratio of counts, assuming Poisson counts."""
    return sum(1.0 / max(event, 1.0) for event in events)


def _misfit(wanted: Numbers, numbers: Numbers, seconds: tuple[float, float]) -> float:
    """Deviation of a run from its calibration targets, beyond chance: squared log ratios, without small numbers.

    ``seconds`` are those measured and those of the run.
    """
    total = 0.0
    for key, value in wanted.items():
        if key.what in CALIBRATED and value > _SMALL[TITLES[key.what][1]]:
            other = max(numbers.get(key, 0.0), 1e-3 * value)
            chance = _noise(
                *(events(key, counts, time) for counts, time in zip((wanted, numbers), seconds, strict=True))
            )
            total += max(math.log(other / value) ** 2 - chance, 0.0)
    return total


# --- corrections ------------------------------------------------------------------------------------------------------

#: Most that a number is multiplied by after one run.
_BOLDEST = math.log(2.5)


def _factor(wanted: float, value: float, *, gain: float = 1.0, noise: float = 0.0) -> float:
    """Factor for the parameter that determines a number.

    Parameters
    ----------
    wanted, value
        The number as measured and as a run has it.
    gain
        Part of the way to go.
    noise
        Variance of the logarithm of their ratio by chance: what is within two standard errors stays.
    """
    if wanted <= 0 or value <= 0:
        return 1.0
    way = math.log(wanted / value)
    sure = max(1.0 - 4.0 * noise / way**2, 0.0) if way else 0.0
    return math.exp(gain * sure * min(max(way, -_BOLDEST), _BOLDEST))


class _Calibration:
    """Parameters in the course of calibration to the measured numbers."""

    def __init__(
        self,
        measured: SharingMeasured,
        fit: Fit,
        assumptions: Assumptions,
        classes: tuple[TwinClass, ...],
        wanted: Numbers,
    ) -> None:
        self._measured, self._fit, self._assumptions = measured, fit, assumptions
        self._classes, self._wanted = classes, wanted
        self._seconds, self._gain = (measured.seconds, measured.seconds), 1.0
        self._aims = {
            (group.name, pool): targets(measured, group, pool, fit.index_pools)
            for group in measured.groups
            for pool in group.pools
        }

    def correct(self, numbers: Numbers, results: Mapping[str, Any], round_number: int, seconds: float) -> None:
        """Correct every parameter after a run, with decreasing steps from round to round."""
        self._seconds, self._gain = (self._measured.seconds, seconds), 1.0 / (1.0 + round_number / 6.0)
        for group in self._measured.groups:
            before = self._locked_reads(group)
            for pool in group.pools:
                self._correct_pool(group, pool, numbers)
            self._correct_locks(group, numbers, before)
        _correct_work(self._fit, self._assumptions, self._classes, results)
        _correct_links(self._measured, self._fit, self._wanted, numbers)

    def _key_factor(self, key: Key, numbers: Numbers) -> float:
        """Factor for the parameter behind a number."""
        both = (self._wanted, numbers)
        noise = _noise(*(events(key, counts, time) for counts, time in zip(both, self._seconds, strict=True)))
        return _factor(*(counts.get(key, 0.0) for counts in both), gain=self._gain, noise=noise)

    def _rate_factor(self, wanted: float, value: float) -> float:
        """Factor for a rate that is not a number of its own."""
        noise = _noise(*(rate * time for rate, time in zip((wanted, value), self._seconds, strict=True)))
        return _factor(wanted, value, gain=self._gain, noise=noise)

    def _conflicts(self, group: Group, result: Numbers) -> float:
        """Factor for lock contention other than false contention."""
        lock = lock_structure(group.name)

        def other(numbers: Numbers) -> float:
            share = numbers.get(Key("contention", lock), 0.0) - numbers.get(Key("false_contention", lock), 0.0)
            waits = sum(
                numbers.get(Key("page_lock_waits", pool_structure(group.name, pool)), 0.0) for pool in group.pools
            )
            return share * numbers.get(Key("lock_requests", lock), 0.0) - waits

        return self._rate_factor(other(self._wanted), other(result))

    def _page_locks(self, group: Group, pool: str, aim: PageLockTargets, result: Numbers) -> PageLockTargets:
        """Page P-lock targets after a run; the number held follows from false contention."""
        name, lock = pool_structure(group.name, pool), lock_structure(group.name)
        key, waited = Key("page_lock_requests", name), Key("page_lock_waits", name)
        granted = (numbers[key] - numbers[waited] for numbers in (self._wanted, result))
        contents = None
        if aim.held is not None:
            contents = aim.held * _held_factor(self._wanted, result, lock) ** (0.5 * self._gain)
        return PageLockTargets(
            aim.granted * self._rate_factor(*granted), aim.negotiated * self._key_factor(waited, result), contents
        )

    def _locked_reads(self, group: Group) -> float:
        """Getpages by key that transactions lock unless lock avoidance applies."""
        return sum(
            member.pools[pool].random * _locked_by_transactions(self._fit.pools[group.name, pool])
            for member in group.members
            for pool in member.pools
            if (group.name, pool) in self._fit.pools and pool not in self._fit.index_pools
        )

    def _correct_locks(self, group: Group, numbers: Numbers, before: float) -> None:
        """Correct lock avoidance to match the requests to the lock structure; ``before`` counts lockable reads in the
        run.
        """
        key = Key("lock_requests", lock_structure(group.name))
        locks, got = self._wanted.get(key), numbers.get(key)
        reads = self._locked_reads(group)
        if locks is not None and got is not None and reads:
            # Each lock is asked for and given back.
            locked = (1.0 - self._fit.avoidance[group.name]) * before + (locks - got) / 2.0
            avoided = 1.0 - locked / reads
            self._fit.avoidance[group.name] = round(min(max(avoided, 0.0), 1.0), 6)

    def _correct_pool(self, group: Group, pool: str, result: Numbers) -> None:
        name, which, wanted = pool_structure(group.name, pool), (group.name, pool), self._wanted
        if Key("absent", name) not in result or Key("absent", name) not in wanted:
            return

        def factor(what: str) -> float:
            return self._key_factor(Key(what, name), result)

        about, aim, disk = self._fit.pools[which], self._aims[which], Key("sync_reads", " ".join(which))
        # Writes follow at once: all of the way.
        written = self._key_factor(Key("writes", name), result) ** (1.0 / self._gain)
        about = replace(about, written=about.written * written)
        if about.dependent_by == "assumed":
            # What Db2 did not count is free: all reads together tell how many getpages there are to need them.
            reads = (numbers[Key("absent", name)] + numbers[Key("invalid", name)] for numbers in (wanted, result))
            about = replace(about, dependent=min(about.dependent * self._rate_factor(*reads), 1.0))
        # Start from the value that the closed form reached: an unreachable target would only move away.
        avoidance = self._fit.avoidance[group.name]
        aim = reached(self._measured, group, pool, self._fit.pools[which], aim, avoidance=avoidance)
        self._aims[which] = aim = replace(
            aim,
            absent=aim.absent * factor("absent"),
            invalid=aim.invalid * factor("invalid"),
            absent_hits=aim.absent_hits * factor("absent") * factor("hit"),
            invalid_hits=aim.invalid_hits * factor("invalid"),
            directory_reclaims=aim.directory_reclaims * factor("directory_reclaims"),
            conflicts=None if aim.conflicts is None else aim.conflicts * self._conflicts(group, result),
            # Reads from disk beyond those of shared pages are of the others.
            private_misses=max(aim.private_misses + 0.7 * self._gain * (wanted[disk] - result[disk]), 0.0),
            locks=None if aim.locks is None else self._page_locks(group, pool, aim.locks, result),
        )
        self._fit.pools[which] = fit_pool(self._measured, group, pool, aim, avoidance=avoidance, before=about)


def _held_factor(wanted: Numbers, result: Numbers, lock: str) -> float:
    """Factor for the locks held: false contention is 1 - e^-(held / entries) of the requests that can collide."""
    key = Key("false_contention", lock)
    shares = [min(2.0 * numbers.get(key, 0.0), 0.99) for numbers in (wanted, result)]
    if min(shares) <= 0:
        return 1.0
    ratio = math.log1p(-shares[0]) / math.log1p(-shares[1])
    return min(max(ratio, math.exp(-_BOLDEST)), math.exp(_BOLDEST))


def _locked_by_transactions(about: PoolFit) -> float:
    """Share of the getpages by key that transactions lock unless lock avoidance applies."""
    return about.dependent * (1.0 - (about.locked.getpages if about.locked else 0.0))


def _correct_work(
    fit: Fit, assumptions: Assumptions, classes: tuple[TwinClass, ...], results: Mapping[str, Any]
) -> None:
    used = {work_class["name"]: work_class for interval in results["intervals"] for work_class in interval["classes"]}
    logged = waited = 0.0
    for work_class in classes:
        counts = [counts for counts in used[work_class.name]["systems"] if counts["response"]["count"]]
        count = sum(counts["response"]["count"] for counts in counts)
        if not count:
            continue
        cpu = sum(counts["used"]["db2_cpu"] for counts in counts) / count
        if work_class.work.db2_cpu > 0:
            speed = assumptions.speed_of(work_class.system)
            before = fit.db2_cpu.get(work_class.name, work_class.work.db2_cpu * speed)
            fit.db2_cpu[work_class.name] = max(before + (work_class.work.db2_cpu - cpu) * speed, 0.0)
        else:
            fit.db2_cpu[work_class.name] = 0.0
        if work_class.work.log_wait > 0:
            logged += work_class.work.rate * work_class.work.log_wait
            waited += work_class.work.rate * sum(counts["used"]["wait_log"] for counts in counts) / count
    fit.log_time *= _factor(logged, waited)


def _correct_links(measured: SharingMeasured, fit: Fit, wanted: Numbers, numbers: Numbers) -> None:
    for facility in measured.facilities:
        names = [name for name, about in measured.allocated.items() if about.facility == facility]
        pairs = [
            (
                wanted[key],
                numbers[key],
                wanted.get(Key("lock_requests", key.of), 0.0) + wanted.get(Key("pool_requests", key.of), 0.0),
            )
            for key in (Key("service", name) for name in names)
            if key in wanted and key in numbers
        ]
        weights = sum(weight for *_, weight in pairs)
        if weights:
            error = sum((first - other) * weight for first, other, weight in pairs) / weights
            fit.link[facility] = round(max(fit.link.get(facility, 0.0) + error / 2.0, 0.0), 10)
