"""Four-hour averages: by hand, and IBM's worked examples."""

from __future__ import annotations

import numpy as np
import pytest

from plexlens.cost.peaks import group_shares, peak_of
from plexlens.cost.rolling import Span, begins, hours, known_share, of_hours, rolling, samples, weights

HOUR = 3600


def test_an_average_is_of_48_periods() -> None:
    # 60 MSU from 0:00 on. At the end of the k-th period k of 48 have it: 60 x k / 48, until all do at 4:00.
    used = samples([Span(0, 5 * HOUR, 60.0)], 0, 60)
    average = rolling(used.msu, begins(60, ()))
    assert average[0] == pytest.approx(60 / 48)
    assert average[23] == pytest.approx(30.0)
    assert average[47] == pytest.approx(60.0)
    assert average[59] == pytest.approx(60.0)
    # The first hour: mean of 1..12 is 6.5, so 60 x 6.5 / 48. The fifth hour is full.
    by_hour = of_hours(average, used.covered, hours(0, [0] * 60))
    assert by_hour[0] == pytest.approx(60 * 6.5 / 48)
    assert by_hour[4] == pytest.approx(60.0)


def test_an_interval_counts_for_the_part_of_a_period_that_it_covers() -> None:
    # 0:00-0:07 at 30, 0:07-0:15 at 90: the second period has 2 minutes of 30 and 3 of 90: 66.
    used = samples([Span(0, 420, 30.0), Span(420, 900, 90.0)], 0, 4)
    assert used.msu == pytest.approx([30.0, (2 * 30 + 3 * 90) / 5, 90.0, 0.0])
    assert used.covered == pytest.approx([1.0, 1.0, 1.0, 0.0])


def test_two_reports_of_the_same_time_count_once() -> None:
    used = samples([Span(0, 600, 40.0), Span(300, 900, 44.0)], 0, 3)
    assert used.msu == pytest.approx([40.0, 42.0, 44.0])
    assert used.covered == pytest.approx([1.0, 1.0, 1.0])


def test_an_average_starts_from_zero_at_an_ipl() -> None:
    used = samples([Span(0, 8 * HOUR, 48.0)], 0, 96)
    start = begins(96, [60])
    average = rolling(used.msu, start)
    assert average[59] == pytest.approx(48.0)
    # The period of the IPL is the first of 48.
    assert average[60] == pytest.approx(1.0)
    assert average[71] == pytest.approx(12.0)
    # Zero before an IPL is known: nothing is missing.
    assert known_share(used.covered, start)[60:] == pytest.approx(np.ones(36))
    assert known_share(used.covered, start)[11] == pytest.approx(12 / 48)


def test_a_gap_is_zero_and_lowers_the_known_share() -> None:
    # Four hours at 48, an hour without data, an hour at 48: three of four hours are known.
    used = samples([Span(0, 4 * HOUR, 48.0), Span(5 * HOUR, 6 * HOUR, 48.0)], 0, 72)
    start = begins(72, ())
    listed = hours(0, [0] * 72)
    average = of_hours(rolling(used.msu, start), used.covered, listed)
    assert np.isnan(average[4])
    assert average[5] == pytest.approx(36.0)
    assert of_hours(known_share(used.covered, start), used.covered, listed)[5] == pytest.approx(0.75)


def test_the_hour_that_occurs_twice_is_two_and_the_one_that_is_left_out_none() -> None:
    # Put back by an hour after two hours of UTC+2 from 0:00 UTC: 2, 3, 3, 4 o'clock.
    back = hours(0, [7200] * 24 + [3600] * 24)
    assert [((hour.start + hour.offset) // HOUR, hour.offset, len(hour.periods)) for hour in back] == [
        (2, 7200, 12), (3, 7200, 12), (3, 3600, 12), (4, 3600, 12),
    ]  # fmt: skip
    # Put forward: 1, 2, 4, 5 o'clock.
    forward = hours(0, [3600] * 24 + [7200] * 24)
    assert [(hour.start + hour.offset) // HOUR for hour in forward] == [1, 2, 4, 5]
    # A clock half an hour off UTC: the first hour of the clock has six periods.
    assert [len(hour.periods) for hour in hours(0, [5 * HOUR + 1800] * 18)] == [6, 12]


def test_weights_of_an_hour_give_its_average() -> None:
    generator = np.random.default_rng(7)
    msu, covered = generator.uniform(0, 200, 120), np.ones(120)
    covered[30:33] = 0.0
    msu[30:33] = 0.0
    start = begins(120, [50])
    listed = hours(0, [0] * 120)
    by_hour = of_hours(rolling(msu, start), covered, listed)
    for place, hour in enumerate(listed):
        assert float((weights(hour, covered, start) * msu).sum()) == pytest.approx(by_hour[place])


def test_rolling_as_a_slow_sum() -> None:
    generator = np.random.default_rng(3)
    msu = generator.uniform(0, 500, 300)
    ipls = [70, 71, 200]
    average = rolling(msu, begins(300, ipls))
    for place in range(300):
        total = 0.0
        for back in range(48):
            before = place - back
            if before >= 0 and not any(before < ipl <= place for ipl in ipls):
                total += msu[before]
        assert average[place] == pytest.approx(total / 48)


def test_peaks_of_products_as_ibm_works_them_out() -> None:
    """z/OS Planning for Sub-Capacity Pricing (SA23-2301): 135 in hour 2, 60, 80.

    In hour 1 LPAR 1 has 60, in hour 2 LPAR 2 has 80 and both together 135, so LPAR 1 has 55. LPAR 2 in hour 1 and both
    in hour 3 are lower than what the text calls the peaks; their values are chosen here.
    """
    lpar1, lpar2 = np.array([60.0, 55.0, 40.0]), np.array([70.0, 80.0, 75.0])
    both = peak_of({"LPAR1": lpar1, "LPAR2": lpar2})
    assert (both.msu, both.hour, both.parts) == (135.0, 1, {"LPAR1": 55.0, "LPAR2": 80.0})
    assert (peak_of({"LPAR1": lpar1}).msu, peak_of({"LPAR1": lpar1}).hour) == (60.0, 0)
    assert (peak_of({"LPAR2": lpar2}).msu, peak_of({"LPAR2": lpar2}).hour) == (80.0, 1)


def test_shares_of_a_group_as_ibm_works_them_out() -> None:
    """z/OS MVS Planning: Workload Management, Group capacity limit: 50 MSU, weights 100, 50, 150."""
    shares = group_shares(50.0, {"MVS1": 100.0, "MVS2": 50.0, "MVS3": 150.0})
    assert {name: round(msu, 1) for name, msu in shares.items()} == {"MVS1": 16.7, "MVS2": 8.3, "MVS3": 25.0}
