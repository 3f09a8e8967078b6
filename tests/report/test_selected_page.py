"""Numbers of the page of a selected report, against a roll-up of the selected raw rows in plain Python.

Which records are selected is told by `tests.oracle.slow_selection`; what the page then says of them is worked out here
from the fields, with nothing of Plexlens's: sums, quotients, and the time that the selected quarters of an hour cover.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, between, resolve, shift
from plexlens.report import to_json
from plexlens.report.blocks.readings import Readings
from plexlens.report.build import build
from plexlens.report.pages import PAGES
from tests.metrics.raw import inputs, row
from tests.oracle.slow_selection import DAYS, in_shift, in_window, wall_clock

#: Monday; midnight in UTC.
START = datetime(2026, 3, 2, tzinfo=UTC)
QUARTER = timedelta(minutes=15)

#: Seconds by which the clock of a system is ahead of UTC.
OFFSETS = {"BERL": 3600.0, "NEWY": -18000.0, "LOND": 0.0}
CLASSES = {"ONLINE": "DAY", "DDF": "DAY", "BATCH": "NIGHT"}
VOLUMES = ("VOL001", "VOL002")


@dataclass(frozen=True)
class Period:
    """A service class of a system in a quarter of an hour."""

    place: dict[str, Any]
    name: str
    ended: int
    elapsed: float


@dataclass(frozen=True)
class Device:
    """A volume of a system in a quarter of an hour."""

    place: dict[str, Any]
    volume: str
    started: int
    connected: float


@dataclass(frozen=True)
class Load:
    """What the records say."""

    periods: list[Period]
    devices: list[Device]

    def tables(self) -> Inputs:
        """The same as raw tables."""
        tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for number, one in enumerate(self.periods, 1):
            base = row(number, **one.place)
            tables["smf72_3_period"].append(
                base | {"r723cper": 1, "r723crcp": float(one.ended), "r723ctet": one.elapsed}
            )
            tables["smf72_3_wlm_control"].append(
                base | {"r723mcnm": one.name, "r723mwnm": CLASSES[one.name], "r723mscf": 0}
            )
        for number, device in enumerate(self.devices, 10_001):
            base = row(number, **device.place)
            tables["smf74_1_device"].append(
                base
                | {"smf74num": VOLUMES.index(device.volume), "smf74ser": device.volume, "smf74ssc": device.started}
                | {"smf74mec": device.started, "smf74cnn": device.connected}
            )
            tables["rmf_product_section"].append(base | {"smf7xsam": 900})
        return inputs(**tables)


def load_of(chance: Random) -> Load:
    """Some quarters of an hour of some systems; now and then a quarter, or a class in it, is missing."""
    systems = chance.sample(sorted(OFFSETS), chance.randint(1, 3))
    first, quarters = chance.randint(0, 80), chance.randint(6, 40)
    periods, devices = [], []
    for system in systems:
        for quarter in range(first, first + quarters):
            if chance.random() < 0.1:
                continue
            start = START + quarter * QUARTER
            place = {"interval_start": start, "interval_end": start + QUARTER}
            place |= {"system": system, "utc_offset": OFFSETS[system]}
            for name in CLASSES:
                # The first class is always there: a system without any row measured nothing.
                if name == "ONLINE" or chance.random() < 0.7:
                    ended = chance.randrange(1, 5000)
                    periods.append(Period(place, name, ended, ended * chance.uniform(0.001, 2)))
            for volume in VOLUMES:
                started = chance.randrange(1, 90_000)
                devices.append(Device(place, volume, started, started * chance.uniform(0.0001, 0.01)))
    return Load(periods, devices)


@dataclass(frozen=True)
class Wanted:
    """What is selected, in plain values."""

    start: datetime | None
    end: datetime | None
    days: list[str]
    hours: tuple[int, int] | None
    systems: tuple[str, ...]
    classes: tuple[str, ...]

    def options(self) -> Selection:
        """The same as the program takes it."""
        shifts = ()
        if self.hours:
            first, last = (f"{minute // 60:02d}:{minute % 60:02d}" for minute in self.hours)
            shifts = (shift(f"{','.join(self.days)}/{first}-{last}"),)
        ends = [moment.isoformat() if moment else "" for moment in (self.start, self.end)]
        return Selection((between(*ends),) if any(ends) else (), shifts, self.systems, self.classes)

    def has(self, place: dict[str, Any]) -> bool:
        """Whether an interval of a system is selected."""
        if self.systems and place["system"] not in self.systems:
            return False
        if self.hours and not in_shift(place, self.days, *self.hours):
            return False
        return in_window(place, self.start, self.end)

    def has_class(self, name: str) -> bool:
        """Whether a class is selected, by its name or by that of its workload."""
        return not self.classes or bool({name, CLASSES[name]} & set(self.classes))


def wanted_of(chance: Random, load: Load) -> Wanted:
    """A part of what there is: bounds and hours lie in it or near."""
    walls = sorted({wall for one in load.periods if (wall := wall_clock(one.place)) is not None})
    start, end = sorted(chance.sample(range(-2, len(walls) + 2), 2))
    bounds = [walls[0] + at * QUARTER for at in (start, end)]
    first = chance.choice(walls).hour * 60 + 15 * chance.randrange(4)
    hours = (first, (first + 15 * chance.randint(2, 40)) % 1440)
    there = sorted({one.place["system"] for one in load.periods})
    return Wanted(
        bounds[0] if chance.random() < 0.6 else None,
        bounds[1] if chance.random() < 0.6 else None,
        sorted(chance.sample(DAYS, chance.randint(4, 7))),
        hours if chance.random() < 0.4 else None,
        tuple(chance.sample(there, chance.randint(1, len(there)))) if chance.random() < 0.4 else (),
        chance.choice([(), ("ONLINE",), ("DDF",), ("NIGHT",), ("DDF", "BATCH")]),
    )


# --- the slow page --------------------------------------------------------------------------------------------------


def rate(counts: Sequence[tuple[dict[str, Any], float]], covered: Sequence[dict[str, Any]]) -> float | None:
    """Counts per second: of each system over the time that it measured, added up.

    Systems that were never measured at the same time do not add: theirs is the mean over the time of all.
    """
    systems = sorted({place["system"] for place, _ in counts})
    extents, seconds, sums = {}, {}, {}
    for system in systems:
        starts = {place["interval_start"] for place in covered if place["system"] == system}
        seconds[system] = len(starts) * QUARTER.total_seconds()
        extents[system] = min(starts), max(starts) + QUARTER
        sums[system] = sum(count for place, count in counts if place["system"] == system)
    epochs: list[list[str]] = []
    reached = datetime.min.replace(tzinfo=UTC)
    for system in sorted(systems, key=lambda one: extents[one]):
        if extents[system][0] >= reached:
            epochs.append([])
        epochs[-1].append(system)
        reached = max(reached, extents[system][1])
    whole = weighed = 0.0
    for epoch in epochs:
        together = sum(seconds[system] for system in epoch)
        whole += together
        weighed += together * sum(sums[system] / seconds[system] for system in epoch)
    return weighed / whole if whole else None


def ratio(above: float, below: float) -> float | None:
    return above / below if below else None


# --- the page -------------------------------------------------------------------------------------------------------


def tables_of(chosen: Inputs) -> dict[str, list[dict[str, Any]]]:
    """Rows of every table of the pages of work and of disks."""
    pages = tuple(page for page in PAGES if page.id in ("workload", "dasd"))
    report = build(chosen, Readings(), pages=pages, grains=GRAINS)
    return {table["name"]: table["rows"] for section in to_json(report)["sections"] for table in section["tables"]}


@pytest.mark.parametrize("seed", range(24))
def test_numbers_of_a_selected_page(seed: int) -> None:
    chance = Random(seed)
    load = load_of(chance)
    wanted = wanted_of(chance, load)
    while not (periods := [one for one in load.periods if wanted.has(one.place) and wanted.has_class(one.name)]):
        wanted = wanted_of(chance, load)
    devices = [one for one in load.devices if wanted.has(one.place)]
    # A class without a row in an interval did no work in it: the intervals are those of all classes.
    covered = [one.place for one in load.periods if wanted.has(one.place)]
    raw = load.tables()
    chosen = Inputs(raw.connection, resolve(wanted.options(), raw.connection, "x")) if wanted.options() else raw
    tables = tables_of(chosen)

    goals = {line["class_name"]: line for line in tables["workload_goals"]}
    assert set(goals) == {one.name for one in periods}
    for name, line in goals.items():
        mine = [one for one in periods if one.name == name]
        counts = [(one.place, one.ended) for one in mine]
        assert line["transactions_per_second"] == pytest.approx(rate(counts, covered)), name
        expected = ratio(sum(one.elapsed for one in mine), sum(one.ended for one in mine))
        assert line["response_time"] == (None if expected is None else pytest.approx(expected)), name

    # Of one system alone, the table of systems would say what that of its volumes says.
    disks = {line["system"]: line for line in tables.get("dasd_systems", [])}
    measured = {one.place["system"] for one in devices}
    assert set(disks) == (measured if len(measured) > 1 else set(disks) & measured)
    for system, line in disks.items():
        own = [one for one in devices if one.place["system"] == system]
        counts = [(one.place, one.started) for one in own]
        assert line["io_rate"] == pytest.approx(rate(counts, [one.place for one in own])), system
