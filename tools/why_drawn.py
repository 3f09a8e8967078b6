"""Cases of the blind trial of `plexlens why`: base, kind, place and size of each planted cause drawn by a seed.

The bases are scenarios that other trials judge and that development of `why` did not use, with their load drawn anew.
Each kind of change states what its user could ask, and the answers that name it, before any answer is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

import tomli

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"

#: Scenarios that causes are planted in.
BASES = (
    "three-members", "held-out/two-members", "held-out/lock-table", "held-out/slow-facility", "held-out/long-distance",
    "held-out/hot-page", "held-out/closed-users", "held-out/batch-and-online", "held-out/volumes", "held-out/log",
    "held-out/threads", "held-out/later/uneven-members", "held-out/later/data-sets",
)  # fmt: skip

#: Three hours of quarter-hours, of each of which some seconds are simulated and stand for all of it.
RUN = {"warm_up": 20.0, "seconds": 10_800.0, "interval": 900.0, "sample": 10.0}

Values = dict[str, Any]


@dataclass
class Drawn:
    """A change: scenario before and after it, its description, questions as drawn, answers that name it."""

    kind: str
    base: str
    told: str
    before: Values
    after: Values
    questions: tuple[tuple[str, str], ...]
    named: tuple[str, ...]


@dataclass
class _Change:
    """A change as its kind describes it: description, questions, answers that name it."""

    told: str
    questions: list[tuple[str, str]]
    named: list[str]


#: Changes the scenario after, and where needed before; None where the base has no place for it.
Kind = Callable[[Random, Values, Values], _Change | None]


def scenario(base: str, random: Random) -> Values:
    """A base with its load drawn: each class at half to four fifths of its load."""
    values = tomli.loads((SCENARIOS / f"{base}.toml").read_text(encoding="utf-8"))
    values["run"] = dict(RUN)
    for each in values["class"]:
        share = random.uniform(0.5, 0.8)
        if "users" in each:
            each["users"] = max(1, round(each["users"] * share))
        else:
            each["rate"] = round(min(each["rate"] * share, 160.0), 1)
    return values


def _plan(name: str, metric: str = "class2_elapsed_per_commit") -> tuple[str, str]:
    return f"db2_accounting.{metric}", f"plan = '{name}'"


def _response(each: Values) -> tuple[str, str]:
    return "workload_period.response_time", f"class_name = '{each['name']}'"


def _with_db2(values: Values) -> list[int]:
    return [number for number, each in enumerate(values["class"]) if each.get("references")]


def _class(random: Random, values: Values, among: list[int] | None = None) -> int | None:
    places = _with_db2(values) if among is None else among
    return random.choice(places) if places else None


def _times(value: float, factor: float) -> float:
    return float(f"{value * factor:.3g}")


def _smaller(random: Random, value: int, low: float, high: float) -> int:
    return max(50, int(_times(value, random.uniform(low, high))))


def lock_table(random: Random, before: Values, after: Values) -> _Change | None:
    """The lock table halved, once to three times."""
    if not before.get("coupling_facility"):
        return None
    entries, halved = 2 ** random.randint(9, 11), random.randint(1, 3)
    before["db2"][0]["lock"]["entries"] = entries
    after["db2"][0]["lock"]["entries"] = entries >> halved
    plan = after["class"][_class(random, after) or 0]["name"]
    return _Change(
        f"lock table of {entries} entries cut to {entries >> halved}",
        [("coupling_structure.false_contention_fraction", ""), _plan(plan)],
        ["coupling_structure.lock_entries"],
    )


def pool(random: Random, before: Values, after: Values) -> _Change | None:
    """A buffer pool shrunk."""
    pools = after["db2"][0]["pool"]
    place = random.randrange(len(pools))
    old = pools[place]["size"]
    pools[place]["size"] = _smaller(random, old, 0.1, 0.4)
    sets = {each["name"] for each in after["db2"][0]["page_set"] if each["pool"] == pools[place]["number"]}
    users = [n for n in _with_db2(after) if any(r["page_set"] in sets for r in after["class"][n]["references"])]
    plan = after["class"][_class(random, after, users) or 0]["name"]
    name = f"BP{pools[place]['number']}"
    return _Change(
        f"{name} of {old} buffers cut to {pools[place]['size']}",
        [("db2_accounting.sync_reads_per_commit", ""), _plan(plan), ("dasd_device.io_rate", "")],
        [f"db2_pool.buffers*{name}"],
    )


def group_pool(random: Random, before: Values, after: Values) -> _Change | None:
    """A group buffer pool shrunk."""
    pools = [each for each in after["db2"][0]["pool"] if each.get("group")]
    if not pools:
        return None
    group = random.choice(pools)["group"]
    old = group["data_entries"]
    group["data_entries"] = _smaller(random, old, 0.1, 0.3)
    if "directory_entries" in group:
        group["directory_entries"] = int(group["directory_entries"] * group["data_entries"] / old)
    plan = after["class"][_class(random, after) or 0]["name"]
    return _Change(
        f"group buffer pool of {old} pages cut to {group['data_entries']}",
        [("db2_accounting.sync_reads_per_commit", ""), _plan(plan), ("dasd_device.io_rate", "")],
        ["coupling_structure.data_elements", "coupling_structure.directory_entries"],
    )


def hot_spot(random: Random, before: Values, after: Values) -> _Change | None:
    """A class inserts at the end of an index, whose pages split there."""
    place = _class(random, after)
    if place is None:
        return None
    each, db2 = after["class"][place], after["db2"][0]
    page_set = random.choice(db2["page_set"])["name"]
    each["references"].append({"page_set": page_set, "getpages": 3.0, "update": 1.0, "access": "append"})
    name = each["name"]
    return _Change(
        f"{name} inserts at the end of {page_set}",
        [_plan(name), _response(each), _plan(name, "cpu_per_commit")],
        [f"db2_accounting.updates_per_commit {name}", "db2_accounting.page_latch_time#events",
         "db2_accounting.global_contention_time#events", "db2_accounting.lock_latch_time#events"],
    )  # fmt: skip


def new_class(random: Random, before: Values, after: Values) -> _Change | None:
    """A new class of work in a region that is there."""
    region = random.choice(after["region"])
    if "db2" not in region:
        return None
    page_set = random.choice(after["db2"][0]["page_set"])["name"]
    rate = float(random.randint(15, 50))
    after["class"].append(
        {"name": "AUDITOR", "rate": rate, "regions": [region["name"]], "cpu": round(random.uniform(0.002, 0.006), 4),
         "db2_cpu": round(random.uniform(0.004, 0.010), 4), "calls": 3,
         "references": [{"page_set": page_set, "getpages": 12.0}]}
    )  # fmt: skip
    system = region["system"]
    return _Change(
        f"AUDITOR runs in {region['name']}, {rate:g} per second",
        [("cpu_system.processors_used", f"system = '{system}'"), ("db2_pool.getpages_per_second", ""),
         ("db2_subsystem.commits_per_second", "")],
        ["workload_period.transactions_per_second AUDITOR"],
    )  # fmt: skip


def _load(values: Values, cec: str) -> float:
    """Engines that the classes keep busy on a machine, roughly."""
    systems = {each["name"] for each in values["system"] if each["cec"] == cec}
    regions = {each["name"] for each in values["region"] if each["system"] in systems}
    total = 0.0
    for each in values["class"]:
        rate = each["rate"] if "rate" in each else each["users"] / max(each.get("think", 1.0), 0.1)
        used = each["cpu"] + each.get("db2_cpu", 0.0) + 0.0002 * each.get("calls", 1)
        total += rate * used * sum(name in regions for name in each["regions"]) / len(each["regions"])
    return total


def _busy_cec(random: Random, values: Values) -> tuple[Values, float, str] | None:
    """A machine with work, what keeps it busy, and its only system."""
    found = []
    for cec in values["cec"]:
        systems = [each["name"] for each in values["system"] if each["cec"] == cec["name"]]
        if len(systems) == 1 and _load(values, cec["name"]) > 0.15:
            found.append((cec, _load(values, cec["name"]), systems[0]))
    return random.choice(found) if found else None


def _on(values: Values, system: str) -> list[Values]:
    regions = {each["name"] for each in values["region"] if each["system"] == system}
    return [each for each in values["class"] if regions & set(each["regions"])]


def weight(random: Random, before: Values, after: Values) -> _Change | None:
    """The weight of a partition cut on a machine that another partition fills."""
    found = _busy_cec(random, after)
    if found is None:
        return None
    cec, load, system = found
    engines = max(2, ceil(load / 0.6))
    old, new = 700, random.choice([150, 200, 250])
    for values, of_system in ((before, old), (after, new)):
        next(each for each in values["cec"] if each["name"] == cec["name"])["engines"] = engines
        next(each for each in values["system"] if each["name"] == system)["weight"] = of_system
        values["system"].append({"name": "SYSX", "cec": cec["name"], "weight": 1000 - old, "ziips": 0})
        values["region"] += [{"name": f"OTHER{n}", "system": "SYSX", "priority": 4} for n in range(engines + 1)]
        values["class"].append(
            {"name": "FILL", "users": 6 * engines, "think": 0.05, "cpu": 0.03, "goal": 1.0,
             "regions": [f"OTHER{n}" for n in range(engines + 1)]}
        )  # fmt: skip
    each = random.choice(_on(after, system))
    return _Change(
        f"weight of {system} cut from {old} to {new}, beside SYSX with {1000 - old}",
        [("workload_period.response_time", f"class_name = '{each['name']}' and system = '{system}'"),
         ("cpu_system.mvs_busy", f"system = '{system}' and processor_type = 'CP'")],
        ["cpu_partition.weight*"],
    )  # fmt: skip


def engine(random: Random, before: Values, after: Values) -> _Change | None:
    """A machine loses an engine."""
    found = _busy_cec(random, after)
    if found is None:
        return None
    cec, load, system = found
    left = max(1, ceil(load / 0.8))
    for values, engines in ((before, left + 1), (after, left)):
        next(each for each in values["cec"] if each["name"] == cec["name"])["engines"] = engines
    each = random.choice(_on(after, system))
    return _Change(
        f"{cec['name']} with {left} engines of {left + 1}",
        [("workload_period.response_time", f"class_name = '{each['name']}' and system = '{system}'"),
         ("cpu_system.mvs_busy", f"system = '{system}' and processor_type = 'CP'")],
        ["cpu_system.engines*", "cpu_partition.logical_processors*", "cpu_partition.physical_processors*"],
    )  # fmt: skip


def slower_disks(random: Random, before: Values, after: Values) -> _Change | None:
    """Disks behind the cache slower, or fewer hits of the cache."""
    dasd = after.setdefault("dasd", {})
    if random.random() < 0.5:
        old = dasd.get("miss_time", 0.003)
        before.setdefault("dasd", {})["miss_time"] = old
        dasd["miss_time"] = _times(old, random.uniform(1.8, 3.0))
        told = f"reads from disk take {dasd['miss_time'] * 1000:g} ms, {old * 1000:g} ms before"
    else:
        old = dasd.get("cache_hits", 0.8)
        before.setdefault("dasd", {})["cache_hits"] = old
        dasd["cache_hits"] = _times(old, random.uniform(0.2, 0.5))
        told = f"{dasd['cache_hits']:.0%} of the reads hit the cache, {old:.0%} before"
    plan = after["class"][_class(random, after) or 0]["name"]
    return _Change(
        told,
        [_plan(plan), ("dasd_device.response_time", ""), ("db2_accounting.class2_elapsed_per_commit", "")],
        ["dasd_device.disconnect_time", "dasd_device.response_time"],
    )


def longer_path(random: Random, before: Values, after: Values) -> _Change | None:
    """A class uses more processor time in Db2."""
    place = _class(random, after)
    if place is None:
        return None
    each = after["class"][place]
    old, name = each["db2_cpu"], each["name"]
    each["db2_cpu"] = _times(old, random.uniform(1.35, 1.8))
    return _Change(
        f"{name} uses {each['db2_cpu'] * 1000:g} ms in Db2, {old * 1000:g} ms before",
        [_plan(name, "cpu_per_commit"), _plan(name), _response(each)],
        [f"db2_accounting.cpu_per_getpage {name}", f"db2_accounting.cpu_per_commit {name}"],
    )


def longer_program(random: Random, before: Values, after: Values) -> _Change | None:
    """A class uses more processor time in its region."""
    each = random.choice(after["class"])
    old = each["cpu"]
    each["cpu"] = _times(old, random.uniform(2.0, 3.5))
    system = next(r["system"] for r in after["region"] if r["name"] == each["regions"][0])
    return _Change(
        f"programs of {each['name']} use {each['cpu'] * 1000:g} ms, {old * 1000:g} ms before",
        [("cpu_system.processors_used", f"system = '{system}' and processor_type = 'CP'"), _response(each)],
        [*(f"cics_region.cpu_per_transaction {name}" for name in each["regions"]),
         f"workload_period.cpu_per_transaction {each['name']}"],
    )  # fmt: skip


def more_think(random: Random, before: Values, after: Values) -> _Change | None:
    """Users think for longer."""
    place = random.randrange(len(after["class"]))
    each = after["class"][place]
    if "rate" in each and each["rate"] < 10:
        return None
    for values in (before, after):
        of = values["class"][place]
        if "rate" in of:
            of["users"], of["think"] = round(2 * of.pop("rate")), 2.0
    old = each["think"]
    each["think"] = _times(old, random.uniform(1.6, 2.5))
    return _Change(
        f"users of {each['name']} think {each['think']:g} s, {old:g} s before",
        [("workload_period.transactions_per_second", "class_kind = 'service class'"),
         ("cpu_system.processors_used", "processor_type = 'CP'"), ("db2_subsystem.commits_per_second", "")],
        [f"workload_period.transactions_per_second {each['name']}"],
    )  # fmt: skip


def scans(random: Random, before: Values, after: Values) -> _Change | None:
    """A plan reads a page set from end to end where it read single pages."""
    place = _class(random, after)
    if place is None:
        return None
    each = after["class"][place]
    choices = [r for r in each["references"] if r.get("access", "random") == "random"]
    if not choices:
        return None
    reference = random.choice(choices)
    old = reference["getpages"]
    reference["getpages"], reference["access"] = float(round(old * random.uniform(15, 40))), "sequential"
    name = each["name"]
    return _Change(
        f"{name} scans {reference['getpages']:g} pages of {reference['page_set']}, {old:g} single ones before",
        [_plan(name), _response(each), ("db2_pool.getpages_per_second", "")],
        [f"db2_accounting.getpages_per_commit {name}"],
    )


def more_work(random: Random, before: Values, after: Values) -> _Change | None:
    """A class has more work."""
    among = [n for n, each in enumerate(after["class"]) if each.get("rate", 0) >= 10]
    place = _class(random, after, among)
    if place is None:
        return None
    each = after["class"][place]
    old = each["rate"]
    each["rate"] = _times(old, random.uniform(1.25, 1.6))
    system = next(r["system"] for r in after["region"] if r["name"] == each["regions"][0])
    questions = [("cpu_system.processors_used", f"system = '{system}' and processor_type = 'CP'"),
                 ("db2_subsystem.commits_per_second", ""), ("db2_pool.getpages_per_second", "")]  # fmt: skip
    if after.get("coupling_facility"):
        questions.append(("coupling_facility.requests_per_second", ""))
    return _Change(
        f"{each['name']} with {each['rate']:g} per second, {old:g} before",
        questions,
        [f"workload_period.transactions_per_second {each['name']}"],
    )


def lock_avoidance(random: Random, before: Values, after: Values) -> _Change | None:
    """Reads lock more often."""
    before["db2"][0]["lock_avoidance"] = 0.8
    after["db2"][0]["lock_avoidance"] = round(random.uniform(0.0, 0.3), 2)
    questions = [("db2_accounting.lock_requests_per_commit", "")]
    if after.get("coupling_facility"):
        questions.append(("coupling_facility.requests_per_second", ""))
    names = [after["class"][place]["name"] for place in _with_db2(after)]
    return _Change(
        f"{after['db2'][0]['lock_avoidance']:.0%} of the reads avoid locks, 80% before",
        questions,
        [f"db2_accounting.lock_requests_per_commit {name}" for name in names],
    )


def _facility(random: Random, values: Values) -> int | None:
    used = values["db2"][0].get("lock", {}).get("coupling_facility")
    names = [each["name"] for each in values.get("coupling_facility", [])]
    return names.index(used) if used in names else None


def farther(random: Random, before: Values, after: Values) -> _Change | None:
    """The coupling facility farther away."""
    place = _facility(random, after)
    if place is None or after["coupling_facility"][place].get("distance_km", 0) > 1:
        return None
    each = after["coupling_facility"][place]
    each["distance_km"] = round(random.uniform(2, 12), 1)
    plan = after["class"][_class(random, after) or 0]["name"]
    return _Change(
        f"{each['name']} {each['distance_km']:g} km away",
        [("coupling_structure.sync_service_time", ""), _plan(plan), _plan(plan, "cpu_per_commit")],
        [f"coupling_facility.path_latency {each['name']}", "coupling_facility.sync_service_time#rest"],
    )


def slower_facility(random: Random, before: Values, after: Values) -> _Change | None:
    """Engines of the coupling facility slower."""
    place = _facility(random, after)
    if place is None:
        return None
    each = after["coupling_facility"][place]
    old = each.get("speed", 1.0)
    each["speed"] = _times(old, random.uniform(0.35, 0.6))
    return _Change(
        f"{each['name']} at {each['speed'] / old:.0%} of its speed",
        [("coupling_structure.sync_service_time", ""), ("coupling_facility.utilization", "")],
        [f"coupling_facility.cf_time_per_request {each['name']}"],
    )


def facility_engine(random: Random, before: Values, after: Values) -> _Change | None:
    """The coupling facility loses an engine."""
    place = _facility(random, after)
    if place is None:
        return None
    engines = random.randint(2, 3)
    before["coupling_facility"][place]["engines"] = engines
    after["coupling_facility"][place]["engines"] = engines - 1
    return _Change(
        f"{after['coupling_facility'][place]['name']} with {engines - 1} engines of {engines}",
        [("coupling_facility.utilization", ""), ("coupling_structure.sync_service_time", "")],
        ["coupling_facility.logical_processors*"],
    )


def slower_log(random: Random, before: Values, after: Values) -> _Change | None:
    """Log writes slower."""
    writers = [n for n in _with_db2(after) if any(r.get("update") for r in after["class"][n]["references"])]
    place = _class(random, after, writers)
    if place is None:
        return None
    db2 = after["db2"][0]
    old = db2.get("log_write", 0.0005)
    before["db2"][0]["log_write"] = old
    db2["log_write"] = _times(old, random.uniform(3, 8))
    each = after["class"][place]
    return _Change(
        f"a log write takes {db2['log_write'] * 1000:g} ms, {old * 1000:g} ms before",
        [_plan(each["name"]), _response(each)],
        ["db2_accounting.log_write_io_event_time", "db2_accounting.service_task_event_time",
         "db2_accounting.update_commit_event_time", "db2_accounting.commit_phase_1_write_event_time"],
    )  # fmt: skip


def threads(random: Random, before: Values, after: Values) -> _Change | None:
    """Threads of a region cut to what is hardly enough."""
    regions = [n for n, each in enumerate(after["region"]) if "db2" in each]
    place = _class(random, after, regions)
    if place is None:
        return None
    region = after["region"][place]
    users = [each for each in after["class"] if region["name"] in each["regions"] and each.get("references")]
    if not users:
        return None
    # Threads in use: transactions per second of the region by their time with a thread, taken as twice the time in Db2.
    used = sum(
        each.get("rate", each.get("users", 0) / max(each.get("think", 1.0), 0.1)) / len(each["regions"])
        * 2 * (each["cpu"] + each["db2_cpu"]) for each in users
    )  # fmt: skip
    before["region"][place]["threads"] = 100
    region["threads"] = max(1, ceil(used * random.uniform(0.8, 1.2)))
    each = random.choice(users)
    return _Change(
        f"{region['name']} with {region['threads']} threads of 100",
        [_response(each), ("cics_transaction.response_time", "")],
        ["cics_db2.thread_limit*", "cics_db2.tcb_limit*"],
    )


#: Every kind of change.
KINDS: tuple[Kind, ...] = (
    lock_table, pool, group_pool, hot_spot, new_class, weight, engine, slower_disks, longer_path, longer_program,
    more_think, scans, more_work, lock_avoidance, farther, slower_facility, facility_engine, slower_log, threads,
)  # fmt: skip


def drawn(random: Random, kind: Kind) -> Drawn:
    """A change of a kind in a base that has a place for it."""
    while True:
        base = random.choice(BASES)
        before = scenario(base, random)
        after = deepcopy(before)
        change = kind(random, before, after)
        if change is not None:
            questions = random.sample(change.questions, len(change.questions))
            return Drawn(
                str(getattr(kind, "__doc__", "")).rstrip("."), base, change.told, before, after, tuple(questions),
                tuple(change.named),
            )  # fmt: skip


def kinds(random: Random, count: int) -> Iterator[Kind]:
    """Kinds in an order drawn, no kind more often than another by more than one."""
    left: list[Kind] = []
    for _ in range(count):
        left = left or random.sample(KINDS, len(KINDS))
        yield left.pop()
