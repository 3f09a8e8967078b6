"""A day with an IPL, a limit, a clock put back and an hour without records, worked out by hand.

With hourly rates r, the average at the end of the k-th period of an hour is
(k r0 + 12 r1 + 12 r2 + 12 r3 + (12 - k) r4) / 48, where r1 to r4 are the rates of the hours before. The mean of k
over an hour is 6.5, so the hour has (6.5 r0 + 12 (r1 + r2 + r3) + 5.5 r4) / 48.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from plexlens.cost import Costed, costed
from plexlens.cost.prices import read_prices
from plexlens.cost.what_if import Kind, what_if
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from tests.cost.day import INTERVALS, write_day

PRICES = """\
currency = "EUR"
[[product]]
name = "z/OS"
base = 100
step = [{up_to = 50, price = 10.0}, {up_to = 100, price = 4.0}, {price = 1.0}]
[[product]]
name = "DB"
partitions = ["SYA"]
step = [{price = 2.0}]
[tailored_fit]
baseline_msu_hours = 1000000
price = 2.0
"""


def cost_of(folder: Path, *, prices: str = "", changes: tuple[tuple[Kind, str], ...] = (), ipl: bool = True) -> Costed:
    write_day(folder / "day.smf", ipl=ipl)
    paid = None
    if prices:
        (folder / "prices.toml").write_text(prices)
        paid = read_prices(folder / "prices.toml")
    with Pdb.temporary() as pdb:
        ingest([folder / "day.smf"], pdb)
        return costed(
            Inputs(pdb.connect()), "day.smf", prices=paid, changes=[what_if(kind, text) for kind, text in changes]
        )


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Costed:
    return cost_of(tmp_path_factory.mktemp("day"), prices=PRICES)


def test_hours_are_those_of_the_clock(day: Costed) -> None:
    # 22:00 to 02:00 in summer time, 02:00 again in winter time, to 06:00: the hour of 02:00 occurs twice.
    clock = [((hour.start + hour.offset) // 3600 % 24, hour.offset // 3600) for hour in day.use.hours]
    assert clock == [(22, 2), (23, 2), (0, 2), (1, 2), (2, 2), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1)]


def test_averages_by_hand(day: Costed) -> None:
    a, b = day.machines[0].hours
    assert (a.partition.name, b.partition.name) == ("SYA", "SYB")
    for average, expected in (
        (a.average[0], 6.5 * 48 / 48),
        (a.average[3], (6.5 + 12 * 3) * 48 / 48),
        # 6.5 x 96 + 12 x (48 + 48 + 48) + 5.5 x 48 = 2616
        (a.average[4], 54.5),
        # The hour of the clock that occurs a second time: 6.5 x 96 + 12 x (96 + 48 + 48) + 5.5 x 48 = 3192
        (a.average[5], 66.5),
        # After the hour without records, which is zero: 6.5 x 96 + 12 x (0 + 96 + 96) + 5.5 x 48 = 3192
        (a.average[7], 66.5),
        # 6.5 x 96 + 12 x (96 + 0 + 96) + 5.5 x 96 = 3456
        (a.average[8], 72.0),
        # 6.5 x 48 + 12 x (96 + 96 + 0) + 5.5 x 96 = 3144
        (a.average[9], 65.5),
        (b.average[5], 96.0),
        # Six periods before the IPL: (12 x 0 + 12 x 96 + 12 x 96 + (12 - k) x 96) / 48 = 72 - 2 k, mean 65; six from it
        # on: 120 j / 48, mean of 2.5 to 15: 8.75. Together 36.875.
        (b.average[7], (65 + 8.75) / 2),
        # (6 + k) x 2.5: 12.5 x 2.5
        (b.average[8], 31.25),
        # (18 + k) x 2.5: 24.5 x 2.5
        (b.average[9], 61.25),
    ):
        assert average == pytest.approx(expected)
    assert math.isnan(a.average[6])
    assert math.isnan(b.average[6])


def test_gaps_are_stated(day: Costed) -> None:
    a, b = day.machines[0].hours
    # An hour of four is missing; before an IPL zero is known, so half of SYB's hour has all.
    assert a.known[7:10] == pytest.approx([0.75, 0.75, 0.75])
    assert b.known[7:10] == pytest.approx([(0.75 + 1.0) / 2, 1.0, 1.0])
    # The beginning of the data: k of 48 periods, mean 6.5.
    assert a.known[0] == pytest.approx(6.5 / 48)


def test_the_lower_of_average_and_limit_counts(day: Costed) -> None:
    machine = day.machines[0]
    assert machine.charged["SYB"][[5, 7, 8, 9]] == pytest.approx([60.0, 36.875, 31.25, 60.0])
    # 02:00 of winter time: 66.5 + 60; 06:00 has 65.5 + 60.
    assert machine.charged_peak.msu == pytest.approx(126.5)
    assert machine.charged_peak.hour == 5
    assert machine.charged_peak.parts == pytest.approx({"SYA": 66.5, "SYB": 60.0})
    # The averages alone: 66.5 + 96.
    assert machine.peak.msu == pytest.approx(162.5)


def test_without_the_ipl_the_four_hours_go_on(tmp_path: Path) -> None:
    # SYB at 05:00: 6.5 x 120 + 12 x (60 + 0 + 96) + 5.5 x 96 = 3180; the hour before it had 120 in its second half.
    b = cost_of(tmp_path, ipl=False).machines[0].hours[1]
    assert b.average[8] == pytest.approx(3180 / 48, abs=1.0)
    # Exactly: the half hour of 120 is in the four hours as a whole from the start of the hour on.
    assert b.average[8] == pytest.approx((6.5 * 120 + 6 * 120 + 12 * 96 + 5.5 * 96) / 48)


def test_consumption_by_hand(day: Costed) -> None:
    # SYA: 4 x 48 + 2 x 96 + 2 x 96 + 48 = 624; SYB: 6 x 96 + 60 + 2 x 120 = 876 MSU-hours in 9 hours.
    result = day.consumption
    assert result.msu_hours == pytest.approx(624 + 876)
    assert result.hours == pytest.approx(9.0)
    assert result.a_year == pytest.approx(1500 / 9 * 8760)
    # 1,460,000 a year: 1,000,000 x 2 + 460,000 x 1 (half the price).
    assert result.growth == pytest.approx(460_000)
    assert result.cost == pytest.approx(2_460_000)


def test_money_by_hand(tmp_path: Path) -> None:
    # Nothing is simulated to wait if the limit of SYB is above all averages.
    cost = cost_of(tmp_path, prices=PRICES, changes=((Kind.DEFINED, "SYB=500"),))
    outcome = cost.outcomes[0]
    assert outcome.charged["M1"] == pytest.approx(162.5)
    # z/OS: 100 + 50 x 10 + 50 x 4 + 62.5 x 1 = 862.5. DB runs in SYA alone, whose peak is 72: 144.
    assert outcome.products == pytest.approx({"z/OS": 162.5, "DB": 72.0})
    assert outcome.amount == pytest.approx(862.5 + 144)
    assert not outcome.delays


def test_the_page_and_its_json_say_so(tmp_path: Path, day: Costed) -> None:
    from plexlens.cost import to_object
    from plexlens.cost.page.report import cost_report
    from plexlens.json_text import json_text
    from plexlens.report.forms import Form, render

    text = str(render(cost_report(day), Form.TEXT))
    for said in (
        "SYA: 1 hour without data; 7 hours whose four hours have data in part only",
        "IPL at 2026-10-25 03:30",
        "The clock of the systems changes within the data",
        "2026-10-25 02 UTC+01:00",
    ):
        assert said in " ".join(text.split()), said
    values = json.loads(json_text(to_object(day)))
    assert values["machines"][0]["charged_peak"]["msu"] == pytest.approx(126.5)
    assert values["machines"][0]["partitions"][0]["average"][6] is None
    assert len(INTERVALS) == 10
