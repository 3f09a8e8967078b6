"""Changes of the use or of its limits, as the command line states them, and the demand that they leave."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from plexlens.cost.contributors import VIEWS, Part
from plexlens.cost.rolling import OF_HOUR, PERIOD, Series
from plexlens.cost.use import Use
from plexlens.errors import UsageError


class Kind(StrEnum):
    """Subject of a change; the value is the option."""

    DEFINED = "--defined"
    GROUP = "--group"
    WEIGHT = "--weight"
    MOVE = "--move"
    ZIIP = "--ziip"
    SAVES = "--saves"


#: The form of each option, for messages and help.
FORMS = {
    Kind.DEFINED: "PARTITION=MSU",
    Kind.GROUP: "GROUP=MSU",
    Kind.WEIGHT: "PARTITION=WEIGHT",
    Kind.MOVE: "NAME=HH-HH:HH",
    Kind.ZIIP: "NAME or NAME=PERCENT",
    Kind.SAVES: "NAME=PERCENT or NAME=SECONDS s/h",
}

_HOURS = re.compile(r"(\d{1,2})-(\d{1,2}):(\d{1,2})")


@dataclass(frozen=True)
class WhatIf:
    """A change.

    Attributes
    ----------
    kind
        What is changed.
    name
        Partition, group, or part (class, job, transaction, plan).
    value
        MSU, weight or share (0 to 1); not a number for a zIIP move of what is eligible, and for a moved part.
    hours
        First hour, end and new first hour of a moved part.
    per_hour
        CPU seconds saved per hour, as `plexlens pools` states them; 0 where a share is given. `resolved` makes a share.
    """

    kind: Kind
    name: str
    value: float
    hours: tuple[int, int, int] = (0, 0, 0)
    per_hour: float = 0.0

    @property
    def title(self) -> str:
        """The change in words."""
        first, end, new = self.hours
        percent = f"{self.value * 100:.3g} %"
        saved = f"{self.per_hour:g} s of CPU time per hour" if self.per_hour else percent
        eligible = "its zIIP-eligible time" if math.isnan(self.value) else f"{percent} of its CPU time"
        return {
            Kind.DEFINED: f"Defined capacity of {self.name}: {self.value:g} MSU",
            Kind.GROUP: f"Limit of {self.name}: {self.value:g} MSU",
            Kind.WEIGHT: f"Weight of {self.name}: {self.value:g}",
            Kind.MOVE: f"{self.name} from {first:02d}:00-{end:02d}:00 to {new:02d}:00",
            Kind.ZIIP: f"{self.name}: {eligible} moves to zIIPs",
            Kind.SAVES: f"{self.name} uses {saved} less" + ("" if self.per_hour else " CPU time"),
        }[self.kind]


def what_if(kind: Kind, text: str) -> WhatIf:
    """A change from the text of its option.

    Raises
    ------
    UsageError
        It does not have the option's form, or its number is impossible.
    """
    name, sign, value = text.partition("=")
    name = name.strip()
    if not name or not (value or (kind is Kind.ZIIP and not sign)):
        raise _form(kind, text)
    if kind is Kind.MOVE:
        match = _HOURS.fullmatch(value.strip())
        if match is None:
            raise _form(kind, text)
        first, end, new = (int(part) for part in match.groups())
        if not (first < end <= 24 and new < 24) or first == new:
            raise UsageError(
                file="",
                what=f"--move {text!r} does not move work from some hours of the day to others",
                remedy="give hours from 0 to 24 as in --move BATCHMED=08-12:20: work of 08:00-12:00 starts at 20:00",
            )
        return WhatIf(kind, name, math.nan, (first, end, new))
    if not sign:
        return WhatIf(kind, name, math.nan)
    number_text, per_hour, _ = value.strip().partition("s/h") if kind is Kind.SAVES else (value.strip(), "", "")
    try:
        number = float(number_text.strip().rstrip("%"))
    except ValueError:
        raise _form(kind, text) from None
    if per_hour:
        if not (math.isfinite(number) and number > 0):
            raise UsageError(file="", what=f"{kind} {text!r} is out of range", remedy="give more than 0 s/h")
        return WhatIf(kind, name, math.nan, per_hour=number)
    is_share = kind in (Kind.ZIIP, Kind.SAVES)
    if not math.isfinite(number) or number < 0 or (is_share and number > 100):
        raise UsageError(
            file="",
            what=f"{kind} {text!r} is out of range",
            remedy="give 0 to 100 percent" if is_share else "give 0 or more",
        )
    return WhatIf(kind, name, number / 100 if is_share else number)


def _form(kind: Kind, text: str) -> UsageError:
    return UsageError(file="", what=f"{kind} {text!r} is not of the form {FORMS[kind]}", remedy=f"give {FORMS[kind]}")


def check(change: WhatIf, use: Use, parts: Sequence[Part]) -> None:
    """Refuse a change of something that is not in the data.

    Raises
    ------
    UsageError
        There is no such partition, group or part; the message names those that there are.
    """
    if change.kind in (Kind.DEFINED, Kind.WEIGHT):
        names, what = sorted({partition.name for partition in use.partitions}), "partition"
    elif change.kind is Kind.GROUP:
        names, what = sorted({partition.group for partition in use.partitions if partition.group}), "capacity group"
        for machine in use.machines:
            names.append(machine)
    else:
        if chosen(change.name, parts):
            return
        names, what = (
            sorted({part.name for part in parts if part.kind == VIEWS[0].kind}),
            "class, job, transaction or plan",
        )
    if change.name not in names:
        listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        raise UsageError(
            file="",
            what=f"{change.kind} {change.name}: the data has no such {what}",
            remedy=f"name one of {listed}" if names else "add SMF 72-3, 30, 110 or 101 of the same time",
        )


def resolved(change: WhatIf, use: Use, parts: Sequence[Part]) -> WhatIf:
    """A change whose seconds per hour are a share of the CPU time of its part: the saving goes with the work.

    Raises
    ------
    UsageError
        More is saved than the part uses.
    """
    if not change.per_hour:
        return change
    listed = chosen(change.name, parts)
    systems = {part.system for part in listed}
    covered = [partition.samples.covered for partition in use.partitions if partition.system in systems]
    hours = float(np.maximum.reduce(covered).sum()) * PERIOD / 3600 if covered else 0.0
    used = sum(part.cpu_seconds for part in listed) / hours if hours else 0.0
    if change.per_hour > used:
        raise UsageError(
            file="",
            what=f"{change.kind} {change.name}: {change.per_hour:g} s/h is more than the {used:.1f} s/h that it uses",
            remedy="give at most that, or name another class, job, transaction or plan",
        )
    return replace(change, value=change.per_hour / used)


def chosen(name: str, parts: Iterable[Part]) -> list[Part]:
    """The parts with a name, from the first kind that has the name: a class before a job of the same name."""
    for view in VIEWS:
        results = [part for part in parts if part.kind == view.kind and part.name == name]
        if results:
            return results
    return []


def demands(use: Use) -> dict[tuple[str, str], str]:
    """Name of the demand of each partition, by machine and partition.

    It is the system of the partition; machine and partition where it has none, or its system ran in several partitions.
    """
    places = Counter(partition.system for partition in use.partitions)
    return {
        (partition.machine, partition.name): partition.system
        if partition.system and places[partition.system] == 1
        else f"{partition.machine}/{partition.name}"
        for partition in use.partitions
    }


def changed_demand(
    demand: Mapping[str, Series], changes: Sequence[WhatIf], use: Use, parts: Sequence[Part]
) -> tuple[dict[str, Series], tuple[str, ...]]:
    """Demand of each system after the changes of its parts.

    Parameters
    ----------
    demand
        Rate by period, by the names of `demands`.
    changes
        Changes; those of limits and weights leave the demand as it is.
    use, parts
        The data.

    Returns
    -------
    The demand, and notes on what could not be changed.
    """
    result = {system: series.copy() for system, series in demand.items()}
    notes: list[str] = []
    clock = _clock_hours(use)
    # What several changes of one part leave of it: the second change is of the rest.
    rest: dict[int, Series] = {}
    for change in changes:
        if change.kind not in (Kind.MOVE, Kind.ZIIP, Kind.SAVES):
            continue
        outside = 0.0
        for part in chosen(change.name, parts):
            if part.system not in result:
                notes.append(
                    f"{change.title}: {part.system} ran in several partitions, and its part there stays as it is; "
                    "select a time in which it ran in one."
                )
                continue
            now = rest.get(id(part), part.msu)
            taken = _taken(change, part, now, clock)
            result[part.system] = np.maximum(result[part.system] - taken, 0.0)
            rest[id(part)] = now - taken
            if change.kind is Kind.MOVE:
                moved, lost = _moved(taken, (change.hours[2] - change.hours[0]) * OF_HOUR)
                result[part.system] += moved
                rest[id(part)] = rest[id(part)] + moved
                outside += lost
        if outside > 0:
            notes.append(
                f"{change.title}: {outside:.1f} MSU-hours would leave the time of the data; they stay where they are."
            )
    return result, tuple(notes)


def _clock_hours(use: Use) -> NDArray[np.int64]:
    """Hour of the day of each period."""
    result = np.zeros(use.periods, dtype=np.int64)
    for hour in use.hours:
        result[hour.periods.start : hour.periods.stop] = (hour.start + hour.offset) % 86400 // 3600
    return result


def _taken(change: WhatIf, part: Part, now: Series, clock: NDArray[np.int64]) -> Series:
    if change.kind is Kind.MOVE:
        first, end, _ = change.hours
        return np.where((clock >= first) & (clock < end), now, 0.0)
    if math.isnan(change.value):
        return np.minimum(part.eligible, now)
    return now * change.value


def _moved(taken: Series, shift: int) -> tuple[Series, float]:
    """Rates moved by a number of periods, and the MSU-hours that would leave the data and stay."""
    places = np.arange(len(taken))
    inside = (places + shift >= 0) & (places + shift < len(taken))
    result = np.where(inside, 0.0, taken)
    result[places[inside] + shift] += taken[inside]
    return result, float(taken[~inside].sum()) * PERIOD / 3600
