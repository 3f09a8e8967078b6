"""Changes to a data-sharing group: parsed from options, and applied to the tables of a scenario."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from plexlens.errors import UsageError
from plexlens.ingest.page_trace import pool_name
from plexlens.sharing.twin import DIRECTORY_ENTRY

#: A factor beyond which a change is a slip of the pen.
_MOST = 1000.0

#: Kilometres that coupling links can have in a sysplex at the utmost.
_FARTHEST = 1000.0

#: Microseconds above which no threshold of conversion is sensible.
_LONGEST = 10_000.0

#: Most directory entries to a data page that Db2 takes (RATIO of ALTER GROUPBUFFERPOOL).
_MOST_RATIO = 255.0

Tables = dict[str, Any]


class Kind(StrEnum):
    """Kind of change, by the name of its option."""

    LOCK_ENTRIES = "lock-entries"
    GROUP_POOL = "gbp"
    RATIO = "ratio"
    SEPARATE = "separate"
    SPEED = "cf-speed"
    DISTANCE = "distance"
    LINK = "link"
    ENGINE_SPEED = "engine-speed"
    THRESHOLD = "threshold"


@dataclass(frozen=True)
class Change:
    """A change.

    Attributes
    ----------
    kind
        What is changed.
    target
        Name of a group, pool, page set, facility or system; empty: all.
    amount
        Factor where ``is_factor``, else entries, kilometres, microseconds, or the ratio; nothing for a separation.
    text
        As it was asked for.
    """

    kind: Kind
    target: str
    amount: float
    is_factor: bool
    text: str

    @property
    def title(self) -> str:
        """Title for a table."""
        return f"--{self.kind.value} {self.text}"


def parse_change(kind: Kind, text: str) -> Change:
    """A change from the text of its option: ``2x``, ``GBP1=2x``, ``CF1=10km``, ``GBP1=10``, ``BP1``.

    Raises
    ------
    UsageError
        The text is not a valid change, or its amount is absurd.
    """
    target, sign, amount = text.rpartition("=")
    if kind is Kind.SEPARATE:
        if not text or sign:
            raise _wrong(kind, text, "name a buffer pool or a page set, as in --separate BP1")
        return Change(kind, text, 1.0, False, text)
    example = _EXAMPLES[kind]
    unit, number = "", amount
    match = re.fullmatch(r"([-+0-9.eE]+)(x|km|us|%)?", amount.strip())
    if match:
        number, unit = match[1], match[2] or ""
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if kind is Kind.THRESHOLD and value == 0 and not target:
        return Change(kind, target, 0.0, False, text)
    if not math.isfinite(value) or value <= 0:
        raise _wrong(kind, text, f"give a number above 0, as in {example}")
    if unit not in _UNITS.get(kind, ("x", "")) or (kind is Kind.THRESHOLD and target):
        raise _wrong(kind, text, f"write it as in {example}")
    is_factor = unit == "x" or kind in (Kind.SPEED, Kind.ENGINE_SPEED)
    if is_factor and not 1 / _MOST <= value <= _MOST:
        raise _wrong(kind, text, f"give a factor from {1 / _MOST:g} to {_MOST:g}", absurd=True)
    _check_amount(kind, text, value, is_factor=is_factor)
    if kind in (Kind.RATIO, Kind.GROUP_POOL) and not target:
        raise _wrong(kind, text, f"name the group buffer pool, as in {example}")
    return Change(kind, target, value, is_factor, text)


def _check_amount(kind: Kind, text: str, value: float, *, is_factor: bool) -> None:
    """Refuse impossible amounts."""
    if kind is Kind.DISTANCE and value > _FARTHEST:
        raise _wrong(kind, text, f"give at most {_FARTHEST:g} km", absurd=True)
    if kind is Kind.THRESHOLD and value > _LONGEST:
        raise _wrong(kind, text, f"give at most {_LONGEST:g} microseconds, or 0 for never", absurd=True)
    if kind is Kind.RATIO and not 1 <= value <= _MOST_RATIO:
        raise _wrong(kind, text, f"give 1 to {_MOST_RATIO:g} directory entries per data page", absurd=True)
    if not is_factor and kind in (Kind.LOCK_ENTRIES, Kind.GROUP_POOL) and (value != round(value) or value > 2**40):
        raise _wrong(kind, text, f"give a whole number, or a factor as in {_EXAMPLES[kind]}", absurd=True)


def parse_changes(names: Mapping[str, Iterable[str] | None]) -> tuple[Change, ...]:
    """Changes from the texts of options, by the options' names.

    Raises
    ------
    UsageError
        As `parse_change`.
    """
    return tuple(parse_change(Kind(name), text) for name, texts in names.items() for text in texts or ())


#: Units that an amount can have, where it is not entries or a factor.
_UNITS: dict[Kind, tuple[str, ...]] = {
    Kind.DISTANCE: ("km",),
    Kind.SPEED: ("", "x"),
    Kind.ENGINE_SPEED: ("", "x"),
    Kind.LINK: ("x",),
    Kind.RATIO: ("",),
    Kind.THRESHOLD: ("us",),
}

_EXAMPLES = {
    Kind.LOCK_ENTRIES: "--lock-entries 2x",
    Kind.GROUP_POOL: "--gbp GBP1=2x",
    Kind.RATIO: "--ratio GBP1=10",
    Kind.SPEED: "--cf-speed 1.5",
    Kind.DISTANCE: "--distance 10km",
    Kind.LINK: "--link 0.5x",
    Kind.ENGINE_SPEED: "--engine-speed 1.5",
    Kind.THRESHOLD: "--threshold 30us",
}


def _wrong(kind: Kind, text: str, remedy: str, *, absurd: bool = False) -> UsageError:
    what = f"--{kind.value} {text!r} is {'absurd' if absurd else 'not a change'}"
    return UsageError(file="", what=what, remedy=remedy)


def _absent(change: Change, what: str, there: Iterable[str]) -> UsageError:
    named = ", ".join(sorted(set(there))) or "there are none"
    return UsageError(
        file="", what=f"{change.title}: there is no {what} {change.target}", remedy=f"name one of: {named}"
    )


@dataclass(frozen=True)
class Changed:
    """A changed scenario.

    Attributes
    ----------
    values
        Its tables.
    labels
        Classes that were divided: name of the former class by that of the new one.
    """

    values: Tables
    labels: dict[str, str]


def apply_changes(values: Mapping[str, Any], changes: Iterable[Change]) -> Changed:
    """The tables of a scenario with changes applied; the original tables are not modified.

    Raises
    ------
    UsageError
        What a change names is not there, or cannot be changed.
    """
    tables: Tables = copy.deepcopy(dict(values))
    labels: dict[str, str] = {}
    for change in changes:
        match change.kind:
            case Kind.LOCK_ENTRIES:
                _lock_entries(tables, change)
            case Kind.GROUP_POOL | Kind.RATIO:
                _group_pools(tables, change)
            case Kind.SEPARATE:
                _separate(tables, change, labels)
            case Kind.ENGINE_SPEED:
                _engines(tables, change)
            case Kind.THRESHOLD:
                tables["coupling"] = tables.get("coupling", {}) | {"convert_above_us": change.amount}
            case _:
                _facilities(tables, change)
    return Changed(tables, labels)


def _lock_entries(values: Tables, change: Change) -> None:
    groups = [group for group in values.get("db2", []) if group.get("lock")]
    chosen = [group for group in groups if change.target in ("", group["group"])]
    if not chosen:
        raise _absent(change, "group with a lock structure", (group["group"] for group in groups))
    for group in chosen:
        before = group["lock"]["entries"]
        group["lock"]["entries"] = max(round(before * change.amount if change.is_factor else change.amount), 1)


def _group_pools(values: Tables, change: Change) -> None:
    results = []
    for group in values.get("db2", []):
        for pool in group["pool"]:
            name = f"G{pool_name(pool['number'])}"
            if pool.get("group"):
                results.append((f"{group['group']}.{name}", name, pool))
    chosen = [pool for whole, name, pool in results if change.target in (whole, name)]
    if not chosen:
        raise _absent(change, "group buffer pool", (name for _, name, _ in results))
    for pool in chosen:
        about = pool["group"]
        data = about["data_entries"]
        directory = about.get("directory_entries", 5 * data)
        if change.kind is Kind.GROUP_POOL:
            factor = change.amount if change.is_factor else change.amount / data
            data, directory = data * factor, directory * factor
        else:
            # The structure keeps its size: an entry more costs its part of a page.
            page = pool.get("page_bytes", 4096)
            size = data * page + directory * DIRECTORY_ENTRY
            data = size / (page + change.amount * DIRECTORY_ENTRY)
            directory = data * change.amount
        about["data_entries"] = max(round(data), 1)
        about["directory_entries"] = max(round(directory), about["data_entries"])


def _facilities(values: Tables, change: Change) -> None:
    facilities = values.get("coupling_facility", [])
    chosen = [facility for facility in facilities if change.target in ("", facility["name"])]
    if not chosen:
        raise _absent(change, "coupling facility", (facility["name"] for facility in facilities))
    for facility in chosen:
        if change.kind is Kind.SPEED:
            facility["speed"] = facility.get("speed", 1.0) * change.amount
        elif change.kind is Kind.LINK:
            facility["link"] = facility.get("link", 3e-6) * change.amount
        else:
            facility["distance_km"] = facility.get("distance_km", 0.0) + change.amount


def _engines(values: Tables, change: Change) -> None:
    """Replace machines by ones with faster engines, zIIPs included; links, distance and facilities stay as they are."""
    homes = {system["name"]: system["cec"] for system in values["system"]}
    chosen = set(homes.values()) if not change.target else {homes[change.target]} if change.target in homes else set()
    if not chosen:
        raise _absent(change, "system", homes)
    for cec in values["cec"]:
        if cec["name"] in chosen:
            for key in ("speed", "ziip_speed"):
                cec[key] = cec.get(key, 1.0) * change.amount


# --- separation -------------------------------------------------------------------------------------------------------


def _separate(values: Tables, change: Change, labels: dict[str, str]) -> None:
    """Give each member its own part of the page sets, used only by its own work: affinity of work to data."""
    pools: set[str] = set()
    sets: set[str] = set()
    result = False
    for group in values.get("db2", []):
        if len(group["member"]) < 2:
            continue
        by_number = {pool["number"]: pool for pool in group["pool"]}
        pools |= {pool_name(number) for number in by_number}
        sets |= {page_set["name"] for page_set in group["page_set"]}
        chosen = [
            page_set
            for page_set in group["page_set"]
            if change.target in (page_set["name"], pool_name(page_set["pool"]))
        ]
        for page_set in chosen:
            if not by_number[page_set["pool"]].get("group"):
                name = pool_name(page_set["pool"])
                raise UsageError(
                    file="",
                    what=f"{change.title}: pool {name} has no group buffer pool, so its pages are not shared",
                    remedy="name a pool with a group buffer pool, or a page set in one",
                )
        if chosen:
            _divide_classes(values, group, labels)
            _divide_page_sets(values, group, {page_set["name"] for page_set in chosen})
            result = True
    if not result:
        raise _absent(change, "buffer pool or page set", {*pools, *(name for name in sets if name not in pools)})


def _class_systems(values: Tables, entry: Mapping[str, Any]) -> list[str]:
    homes = {region["name"]: region["system"] for region in values.get("region", [])}
    return list(dict.fromkeys(homes[name] for name in entry["regions"]))


def _new_name(name: str, number: int, taken: set[str]) -> str:
    """An unused name of at most eight characters."""
    text, digits = f"{name[:6]}{number:02d}", 0
    while text in taken:
        digits += 1
        text = f"{name[: 6 - len(str(digits))]}{digits}{number:02d}"
    taken.add(text)
    return text


def _part(tables: Tables, here: set[str]) -> Tables:
    """The part of a class that arrives at some regions."""
    regions = [name for name in tables["regions"] if name in here]
    share = len(regions) / len(tables["regions"])
    part = copy.deepcopy(tables) | {"regions": regions}
    if "rate" in tables:
        part["rate"] = tables["rate"] * share
    if "users" in tables:
        part["users"] = max(round(tables["users"] * share), 1)
    terminals = [name for name in tables.get("terminal_regions", []) if name in here]
    if terminals:
        part["terminal_regions"] = terminals
    return part


def _divide_classes(values: Tables, group: Mapping[str, Any], labels: dict[str, str]) -> None:
    """Split classes that run on several systems into a class per system, with its part of the work."""
    homes = {region["name"]: region["system"] for region in values.get("region", [])}
    systems = {member["system"] for member in group["member"]}
    taken = {work_class["name"] for work_class in values["class"]}
    parts: dict[str, dict[str, str]] = {}
    results: list[Tables] = []
    for work_class in values["class"]:
        here = _class_systems(values, work_class)
        if len(here) < 2 or not set(here) <= systems:
            results.append(work_class)
            continue
        parts[work_class["name"]] = {}
        for number, system in enumerate(here, 1):
            part = _part(work_class, {name for name in homes if homes[name] == system})
            part["name"] = _new_name(work_class["name"], number, taken)
            results.append(part)
            parts[work_class["name"]][system] = part["name"]
            labels[part["name"]] = labels.get(work_class["name"], work_class["name"])
    for tables in results:
        starts = []
        here = _class_systems(values, tables)
        for start in tables.get("starts", []):
            others = parts.get(start["class"])
            if others is None:
                starts.append(start)
            elif len(here) == 1 and here[0] in others:
                starts.append(start | {"class": others[here[0]]})
            else:
                number = start.get("number", 1.0) / len(others)
                starts += [start | {"class": name, "number": number} for name in others.values()]
        if starts:
            tables["starts"] = starts
    values["class"] = results


def class_rates(values: Mapping[str, Any]) -> dict[str, float]:
    """Transactions per second of each class: arrivals, users by think time only, and transactions started by others."""
    own = {}
    for work_class in values["class"]:
        think = work_class.get("think", 0.0)
        if isinstance(think, Mapping):
            think = think["short_share"] * think["short"] + (1.0 - think["short_share"]) * think["long"]
        own[work_class["name"]] = work_class.get("rate", 0.0) + (work_class.get("users", 0) / think if think else 0.0)
    rates = dict(own)
    # Chains of starts are short, as the simulator's own filling of pools has it.
    for _ in range(4):
        new = dict(own)
        for work_class in values["class"]:
            for start in work_class.get("starts", []):
                new[start["class"]] += rates[work_class["name"]] * start.get("number", 1.0)
        rates = new
    return rates


def _divide_page_sets(values: Tables, group: Tables, names: set[str]) -> None:
    rates = class_rates(values)
    members = {member["system"]: member["name"] for member in group["member"]}
    used: dict[str, dict[str, float]] = {name: {} for name in names}
    for work_class in values["class"]:
        here = _class_systems(values, work_class)
        for reference in work_class.get("references", []):
            if reference["page_set"] in names and len(here) == 1:
                by = used[reference["page_set"]]
                by[here[0]] = by.get(here[0], 0.0) + rates[work_class["name"]] * reference["getpages"]
    page_sets = []
    divided: dict[tuple[str, str], str] = {}
    for page_set in group["page_set"]:
        by = used.get(page_set["name"], {})
        if len(by) < 2:
            page_sets.append(page_set)
            continue
        whole = sum(by.values())
        for system, part in sorted(by.items()):
            name = f"{page_set['name']}@{members[system]}"
            divided[page_set["name"], system] = name
            page_sets.append(page_set | {"name": name, "pages": max(round(page_set["pages"] * part / whole), 1)})
    group["page_set"] = page_sets
    for work_class in values["class"]:
        here = _class_systems(values, work_class)
        if len(here) == 1:
            for reference in work_class.get("references", []):
                reference["page_set"] = divided.get((reference["page_set"], here[0]), reference["page_set"])
