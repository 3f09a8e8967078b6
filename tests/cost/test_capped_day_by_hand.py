"""A day with a clock put forward, recorded capping, a capacity group, an IPL and an hour without records, by hand.

With hourly rates r the mean of the four-hour average over an hour is (6.5 r0 + 12 (r1 + r2 + r3) + 5.5 r4) / 48, where
r1 to r4 are the hours before (`tests.cost.test_day_by_hand`). A second calculation takes every minute by itself, in
fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from plexlens.cost import Costed, costed
from plexlens.cost.page.report import cost_report
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import kept_facts
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import rows_of
from plexlens.report.forms import Form, render
from tests.cost.capped_day import INTERVALS, IPL_MINUTE, START, offset, write_capped_day
from tests.cost.day import START as AUTUMN
from tests.cost.day import write_day
from tests.cost.test_products import BASE, Usage, write_usage

SUNDAY = datetime(2026, 3, 29)

NIGHT = (
    *(datetime(2026, 3, 28, hour) for hour in (21, 22, 23)),
    *(SUNDAY.replace(hour=hour) for hour in (0, 1, 3, 4, 5, 6, 7)),
)

#: The base registers in each hour. DB does in those of 01:00 and 03:00 on SYA, which follow each other, and of 07:00 on
#: SYB.
USAGES: tuple[Usage, ...] = (
    *(("BASE", "5650-ZOS", system, NIGHT) for system in ("SYA", "SYB")),
    ("DB", "5770-AF3", "SYA", (SUNDAY.replace(hour=1), SUNDAY.replace(hour=3))),
    ("DB", "5770-AF3", "SYB", (SUNDAY.replace(hour=7),)),
)

#: Averages of SYA, SYB and SYC in the ten hours of the clock, in 48ths of an MSU; None for the hour without records.
BY_HAND: dict[str, list[float | None]] = {
    "SYA": [
        6.5 * 60, 18.5 * 60, 30.5 * 60, 42.5 * 60,
        6.5 * 120 + 12 * (60 + 60 + 60) + 5.5 * 60,
        # The hour after that of 01:00 is that of 03:00: four hours are four hours, whatever the clock says.
        6.5 * 120 + 12 * (120 + 60 + 60) + 5.5 * 60,
        6.5 * 120 + 12 * (120 + 120 + 60) + 5.5 * 60,
        None,
        6.5 * 60 + 12 * (0 + 120 + 120) + 5.5 * 120,
        6.5 * 60 + 12 * (60 + 0 + 120) + 5.5 * 120,
    ],
    "SYB": [
        6.5 * 30, 18.5 * 30, 30.5 * 30,
        6.5 * 90 + 12 * (30 + 30 + 30),
        6.5 * 90 + 12 * (90 + 30 + 30) + 5.5 * 30,
        # Six periods until the IPL: 12 x 90 + 12 x 90 + 12 x 30 + (12 - j) x 30, mean of j 3.5; six from it: i x 60.
        (12 * 90 + 12 * 90 + 12 * 30 + 8.5 * 30 + 3.5 * 60) / 2,
        (6 + 6.5) * 60,
        None,
        (6 + 12 + 0 + 6.5) * 60,
        # The first six periods of the hour see all since the IPL: 30 + k; the others 36 of those with data.
        (33.5 + 36) / 2 * 60,
    ],
    "SYC": [
        6.5 * 20, 18.5 * 20, 30.5 * 20,
        6.5 * 80 + 12 * (20 + 20 + 20),
        6.5 * 80 + 12 * (80 + 20 + 20) + 5.5 * 20,
        6.5 * 80 + 12 * (80 + 80 + 20) + 5.5 * 20,
        6.5 * 40 + 12 * (80 + 80 + 80) + 5.5 * 20,
        None,
        6.5 * 40 + 12 * (0 + 40 + 80) + 5.5 * 80,
        6.5 * 40 + 12 * (40 + 0 + 40) + 5.5 * 80,
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Costed:
    folder = tmp_path_factory.mktemp("capped")
    write_capped_day(folder / "day.smf")
    write_usage(folder / "usage.smf", USAGES)
    with Pdb.temporary() as pdb:
        ingest([folder / "day.smf", folder / "usage.smf"], pdb)
        return costed(Inputs(pdb.connect()), "day")


def test_the_hour_that_the_clock_skips_does_not_exist(day: Costed) -> None:
    clock = [(day.use.clock(hour).hour, hour.offset // 3600, len(hour.periods)) for hour in day.use.hours]
    before, after = [(21, 1), (22, 1), (23, 1), (0, 1), (1, 1)], [(3, 2), (4, 2), (5, 2), (6, 2), (7, 2)]
    assert clock == [(*each, 12) for each in (*before, *after)]


def test_averages_by_hand(day: Costed) -> None:
    for hourly in day.machines[0].hours:
        expected = BY_HAND[hourly.partition.name]
        assert [None if math.isnan(value) else value for value in hourly.average] == pytest.approx(
            [None if value is None else value / 48 for value in expected]
        )


def test_averages_minute_by_minute(day: Costed) -> None:
    for place, hourly in enumerate(day.machines[0].hours):
        rates: list[Fraction | None] = [None] * 600
        for minute, length, msu, _ in INTERVALS:
            rates[minute : minute + length] = [Fraction(msu[place])] * length
        by_hour: dict[tuple[int, timedelta], list[Fraction]] = {}
        for end in range(5, 601, 5):
            if rates[end - 5] is None:
                continue
            first = end - 240
            if hourly.partition.name == "SYB" and end > IPL_MINUTE:
                first = max(first, IPL_MINUTE)
            known = [rates[minute] or Fraction(0) for minute in range(max(first, 0), end)]
            began = START + timedelta(minutes=end - 5)
            by_hour.setdefault(((began + offset(began)).hour, offset(began)), []).append(sum(known, Fraction(0)) / 240)
        seen = {
            (day.use.clock(hour).hour, timedelta(seconds=hour.offset)): value
            for hour, value in zip(day.use.hours, hourly.average, strict=True)
            if not math.isnan(value)
        }
        assert seen == pytest.approx({hour: float(sum(values) / len(values)) for hour, values in by_hour.items()})


def test_group_and_defined_capacity_bound_what_counts(day: Costed) -> None:
    machine = day.machines[0]
    # At 01:00 SYA and SYB have 68.125 + 53.125 = 121.25, and count 120 by their parts; SYC has 43.125, and counts 40.
    assert machine.charged["SYA"][4] + machine.charged["SYB"][4] == pytest.approx(120)
    assert machine.charged["SYA"][4] == pytest.approx(120 * 68.125 / 121.25)
    # Later the group is below its limit: 83.125 + 31.09375.
    assert machine.charged["SYA"][5] == pytest.approx(83.125)
    assert machine.charged["SYB"][5] == pytest.approx(31.09375)
    assert machine.charged["SYC"][[3, 4, 5, 6, 8, 9]] == pytest.approx([1240 / 48, 40, 40, 40, 40, 1660 / 48])
    assert (machine.charged_peak.hour, machine.charged_peak.msu) == (4, pytest.approx(160))
    # Without limits the hour of 04:00 is the highest: 98.125 + 15.625 + 67.708.
    assert (machine.peak.hour, machine.peak.msu) == (6, pytest.approx((4710 + 750 + 3250) / 48))
    assert (machine.groups["GRP"].hour, machine.groups["GRP"].msu) == (4, pytest.approx(121.25))


def test_capping_as_recorded(day: Costed) -> None:
    # Of 900 samples: 25 + 50 of SYA, 100 + 50 of SYC.
    assert {each.name: each.capped for each in day.use.partitions} == pytest.approx(
        {"SYA": 75 / 900, "SYB": 0.0, "SYC": 150 / 900}
    )
    text = " ".join(str(render(cost_report(day), Form.TEXT)).split())
    for said in (
        "M1 SYC: 16.7% of the samples",
        "M1 SYA: 8.3% of the samples",
        "The clock of the systems changes within the data",
        "IPL at 2026-03-29 01:30",
    ):
        assert said in text, said


def test_products_by_the_local_hours_of_smf_89(day: Costed) -> None:
    (db,) = [product for product in day.running if product.title == "DB"]
    assert np.flatnonzero(db.hours["M1", "SYA"]).tolist() == [4, 5]
    assert np.flatnonzero(db.hours["M1", "SYB"]).tolist() == [9]
    assert db.assumed == 0
    # SYA counts 120 x 68.125 / 121.25 at 01:00 and 83.125 at 03:00, SYB 43.4375 at 07:00.
    assert day.products["DB", "M1"].msu == pytest.approx(83.125)


def _starts(folder: Path, write: Callable[[Path], None], usages: tuple[Usage, ...]) -> list[tuple[datetime, float]]:
    """Start in UTC and offset of each hour of the grain `product_usage` on SYA."""
    write(folder / "day.smf")
    write_usage(folder / "usage.smf", usages)
    with Pdb.temporary() as pdb:
        ingest([folder / "day.smf", folder / "usage.smf"], pdb)
        inputs = Inputs(pdb.connect())
        facts = kept_facts(inputs, GRAINS["product_usage"])
        assert facts is not None
        wanted = "system = 'SYA' and product = 'BASE'"
        rows = rows_of(
            inputs.connection, f"select interval_start, utc_offset from {facts.source} where {wanted} order by 1"
        )
    return [(row["interval_start"], row["utc_offset"]) for row in rows]


def test_hours_of_usage_in_spring(tmp_path: Path) -> None:
    # 21:00 to 01:00 of winter time and 03:00 to 07:00 of summer time are the hours from 20:00 to 05:00 UTC.
    expected = [(START + timedelta(hours=hour), 3600.0 if hour < 5 else 7200.0) for hour in range(10)]
    assert _starts(tmp_path, write_capped_day, USAGES) == expected


def test_hours_of_usage_in_autumn(tmp_path: Path) -> None:
    # 22:00 to 02:00 of summer time are from 20:00 to 00:00 UTC; 03:00 to 06:00 of winter time from 02:00 to 05:00 UTC.
    # Of the hour of 02:00, which occurs twice, one record is there, and counts as the first one.
    expected = [(AUTUMN + timedelta(hours=hour), 7200.0 if hour < 5 else 3600.0) for hour in (*range(5), *range(6, 10))]
    assert _starts(tmp_path, write_day, BASE[:1]) == expected
