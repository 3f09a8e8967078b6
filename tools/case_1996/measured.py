"""Simulated values of the numbers that the study's tables print."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plexlens.simulate.replications import run_scenarios
from plexlens.simulate.scenario import Scenario, Simulated
from tools.beside_print import Numbers
from tools.case_1996.variants import PRIMARY

#: Engines of the machine, in both runs that are compared.
ENGINES = 10

#: What a class uses per transaction: seconds and counts of its account.
_PER_TRANSACTION = ("terminal_cpu", "region_cpu", "db2_cpu", "db2_elapsed", "wait_sync_read", "getpages", "sync_reads")

#: Requests of a member to a group buffer pool that figure 2 calls other requests.
_OTHERS = (
    "register_lists",
    "unregistered",
    "castout_classes",
    "castout_statistics",
    "castout_unlocks",
    "deleted_names",
)

_Add = Callable[[str, float], None]


def measure(run: Simulated) -> Numbers:
    """The numbers of a run that the tables print, by name.

    Names are a kind and what it is of: ``requests DSNDB2I_GBP6 SYS1`` (per second), ``service`` and ``deviation``
    (microseconds), ``contention`` and ``false contention`` (percent of lock requests), ``gbp hit DSNDB2I 6``,
    ``pool hit DSNDB2I 6``, ``castout DSNDB2U 1`` (pages per second), ``figure2 reads`` (in ten minutes),
    ``facility T1CF1LP`` (percent busy), ``space DBI`` (seconds), ``response INQ1`` and what a transaction uses.
    """
    intervals = run.results["intervals"]
    numbers: Numbers = {"seconds": intervals[-1]["end"]}

    def add(name: str, value: float) -> None:
        numbers[name] = numbers.get(name, 0.0) + value

    for interval in intervals:
        for structure in interval["structures"]:
            _add_structure(add, structure)
        for facility in interval["facilities"]:
            add(f"facility {facility['name']}", facility["busy"] / facility["engines"] * 100)
        for member in interval["members"]:
            for pool in member["pools"]:
                _add_pool(add, f"{member['group']} {pool['number']}", pool)
                if pool["member"] and (member["group"], member["system"], pool["number"]) == ("DSNDB2I", "SYS1", 6):
                    _add_requests(add, pool["member"])
        for system in interval["systems"]:
            add("busy", system["busy"] / ENGINES * 100)
            for space in system["spaces"]:
                add(f"space {space['name'][:3]}", space["cpu"])
                if space["name"].startswith("DB"):
                    add(f"space {space['name'][:3]}{space['name'][4:]}", space["cpu"])
        for used in interval["classes"]:
            for counts in used["systems"]:
                add(f"ended {used['name']}", counts["response"]["count"])
                add(f"response {used['name']}", counts["response"]["seconds"])
                for name in _PER_TRANSACTION:
                    add(f"{name} {used['name']}", counts["used"][name])
    _derive(numbers)
    numbers["transactions"] = sum(numbers[f"ended {name}"] for name in PRIMARY)
    numbers["itr"] = numbers["transactions"] / (numbers["busy"] / 100)
    return numbers


def _add_structure(add: _Add, structure: Mapping[str, Any]) -> None:
    name = f"{structure['name']} {structure['system']}"
    requests = structure["synchronous"]
    add(f"requests {name}", requests["count"])
    add(f"service {name}", requests["seconds"] * 1e6)
    add(f"deviation {name}", requests["squares"] * 1e12)
    if structure["lock"]:
        add(f"contention {name}", structure["contentions"] * 100)
        add(f"false contention {name}", structure["false_contentions"] * 100)


def _add_pool(add: _Add, name: str, pool: Mapping[str, Any]) -> None:
    local, member = pool["local"], pool["member"]
    add(f"castout {name}", member.get("castout_pages", 0))
    add(f"getpages of pool {name}", local["getpages"])
    add(f"sync {name}", local["sync_reads_random"] + local["sync_reads_sequential"])
    hits = member.get("misses_with_data", 0) + member.get("invalid_with_data", 0)
    add(f"hits {name}", hits)
    add(f"reads {name}", hits + member.get("misses_without_data", 0) + member.get("invalid_without_data", 0))


def _add_requests(add: _Add, member: Mapping[str, int]) -> None:
    """Requests of a member to a group buffer pool, by the kinds of figure 2."""
    invalid = member["invalid_with_data"] + member["invalid_without_data"]
    add("figure2 invalid", invalid)
    add("figure2 reads", invalid + member["misses_with_data"] + member["misses_without_data"])
    add("figure2 writes", member["sync_writes"] + member["async_writes"])
    add("figure2 others", sum(member[name] for name in _OTHERS))
    add("figure2 castouts", member["castout_pages"])


def _derive(numbers: Numbers) -> None:
    """Convert sums to rates, means and shares."""
    sums = dict(numbers)
    seconds = sums["seconds"]
    for name, value in sums.items():
        kind, _, what = name.partition(" ")
        if kind == "requests":
            numbers[name] = value / seconds
            _derive_structure(numbers, sums, what)
        elif kind in {"response", *_PER_TRANSACTION} and f"ended {what}" in sums:
            ended = sums[f"ended {what}"]
            numbers[name] = value / ended if ended else math.nan
        elif kind in {"castout", "facility", "busy"}:
            numbers[name] = value / seconds
        elif kind == "figure2":
            numbers[name] = value * 600 / seconds
        elif kind == "reads":
            numbers[f"gbp hit {what}"] = sums[f"hits {what}"] / value * 100 if value else math.nan
        elif name.startswith("getpages of pool "):
            pool = name.removeprefix("getpages of pool ")
            numbers[f"pool hit {pool}"] = (1 - sums[f"sync {pool}"] / value) * 100 if value else math.nan
    if sums.get("figure2 reads"):
        numbers["figure2 share"] = sums["figure2 invalid"] / sums["figure2 reads"] * 100


def _derive_structure(numbers: Numbers, sums: Numbers, what: str) -> None:
    """Mean, standard deviation, and shares of the requests of a system to a structure."""
    count = sums[f"requests {what}"]
    mean = sums[f"service {what}"] / count if count else math.nan
    numbers[f"service {what}"] = mean
    squares = sums[f"deviation {what}"] / count - mean**2 if count else math.nan
    numbers[f"deviation {what}"] = math.sqrt(max(squares, 0.0)) if count else math.nan
    for kind in ("contention", "false contention"):
        if f"{kind} {what}" in sums:
            numbers[f"{kind} {what}"] = sums[f"{kind} {what}"] / count if count else math.nan


def runs(scenario: Scenario, seeds: Sequence[int]) -> list[Numbers]:
    """A run per seed."""
    return [measure(run) for run in run_scenarios([scenario.with_run(seed=seed) for seed in seeds])]
