"""A metric by hour, shift, day, week and month, worked by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.question import Question
from plexlens.metrics.selection import Selection, resolve, shift
from plexlens.metrics.trend import EVERY, Period, trend, trend_by_shift
from tests.metrics.raw import inputs, row

#: Start of the interval, synchronous requests, their seconds: service times of 100, 400, 100, 50 and 200 us.
_COURSE = [
    (datetime(2026, 2, 28, 23, 0, tzinfo=UTC), 1000.0, 0.1),  # a Saturday
    (datetime(2026, 3, 1, 8, 0, tzinfo=UTC), 500.0, 0.2),  # a Sunday
    (datetime(2026, 3, 2, 8, 0, tzinfo=UTC), 3000.0, 0.3),  # a Monday
    (datetime(2026, 3, 2, 8, 30, tzinfo=UTC), 4000.0, 0.2),
    (datetime(2026, 3, 4, 9, 0, tzinfo=UTC), 1000.0, 0.2),
]


@pytest.fixture
def held() -> Inputs:
    requests, facilities = [], []
    for number, (start, count, seconds) in enumerate(_COURSE, 1):
        times = {"interval_start": start, "interval_end": start + timedelta(minutes=15)}
        request = {"r744snam": "LOCK1", "r744styp": 5, "r744ssrc": count, "r744sstm": seconds}
        requests.append(row(number, **times, **request))
        facilities.append(row(number, **times, r744fnam="CF1"))
    return inputs(smf74_4_request=requests, smf74_4_local_cf=facilities)


def of(held: Inputs, every: str, offset: float = 0.0) -> list[Period]:
    question = Question.of("coupling_structure", by=["structure"], every=every, columns=["sync_service_time"])
    return trend(held, question, "test", utc_offset=offset)


def near(*numbers: float) -> list[float]:
    return [pytest.approx(number) for number in numbers]


def test_by_month(held: Inputs) -> None:
    """February: 0.1 / 1000. March: 0.9 / 8500, between 50 and 400 us."""
    february, march = of(held, "month")
    assert (february.names, february.start, february.end) == (
        ("LOCK1",), datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC),
    )  # fmt: skip
    assert [february.value, february.peak, february.lowest] == near(1e-4, 1e-4, 1e-4)
    assert march.end == datetime(2026, 4, 1, tzinfo=UTC)
    assert [march.value, march.peak, march.lowest, march.peak_ratio] == near(0.9 / 8500, 4e-4, 5e-5, 4e-4 * 8500 / 0.9)
    assert (march.peak_start, march.intervals) == (datetime(2026, 3, 1, 8, tzinfo=UTC), 4)


def test_by_week_from_monday(held: Inputs) -> None:
    """Saturday and Sunday end the week of February 23; the peak of the next is on Wednesday."""
    first, second = of(held, "week")
    assert (first.start, second.start) == (datetime(2026, 2, 23, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC))
    assert [first.value, first.peak] == near(0.3 / 1500, 4e-4)
    assert [second.value, second.peak, second.lowest] == near(0.7 / 8000, 2e-4, 5e-5)
    assert second.peak_start == datetime(2026, 3, 4, 9, tzinfo=UTC)


def test_by_day_and_by_hour(held: Inputs) -> None:
    days = of(held, "day")
    assert [one.start.day for one in days] == [28, 1, 2, 4]
    assert [one.value for one in days] == near(1e-4, 4e-4, 0.5 / 7000, 2e-4)
    assert [one.intervals for one in days] == [1, 1, 2, 1]
    hours = of(held, "hour")
    assert [(one.start.day, one.start.hour) for one in hours] == [(28, 23), (1, 8), (2, 8), (4, 9)]
    assert hours[2].value == pytest.approx(0.5 / 7000)


def test_the_clock_of_the_systems_decides(held: Inputs) -> None:
    """Two hours ahead of UTC, Saturday 23:00 is Sunday 01:00, and all of it is March."""
    (march,) = of(held, "month", 7200.0)
    assert march.start == datetime(2026, 2, 28, 22, tzinfo=UTC)
    assert march.end == datetime(2026, 3, 31, 22, tzinfo=UTC)
    assert [march.value, march.peak] == near(1.0 / 9500, 4e-4)
    assert march.intervals == 5


#: Start of the interval, synchronous requests, their seconds: in the two nights, and one at noon between them.
_NIGHTS = [
    (datetime(2026, 3, 1, 22, 0, tzinfo=UTC), 1000.0, 0.1),  # a Sunday
    (datetime(2026, 3, 1, 23, 45, tzinfo=UTC), 1000.0, 0.3),
    (datetime(2026, 3, 2, 0, 0, tzinfo=UTC), 2000.0, 0.2),
    (datetime(2026, 3, 2, 5, 45, tzinfo=UTC), 4000.0, 0.2),
    (datetime(2026, 3, 2, 12, 0, tzinfo=UTC), 1000.0, 0.9),
    (datetime(2026, 3, 2, 22, 15, tzinfo=UTC), 1000.0, 0.2),
    (datetime(2026, 3, 3, 6, 0, tzinfo=UTC), 1000.0, 0.9),
]


def by_shift(
    course: list[tuple[datetime, float, float]], *shifts: str, page: float = 0.0, offset: float = 0.0
) -> list[Period]:
    requests, facilities = [], []
    for number, (start, count, seconds) in enumerate(course, 1):
        times = {"interval_start": start, "interval_end": start + timedelta(minutes=15), "utc_offset": offset}
        request = {"r744snam": "LOCK1", "r744styp": 5, "r744ssrc": count, "r744sstm": seconds}
        requests.append(row(number, **times, **request))
        facilities.append(row(number, **times, r744fnam="CF1"))
    made = inputs(smf74_4_request=requests, smf74_4_local_cf=facilities)
    selection = Selection(shifts=tuple(map(shift, shifts)))
    chosen = Inputs(made.connection, resolve(selection, made.connection, "test") if shifts else selection)
    question = Question.of("coupling_structure", by=["structure"], every="day", columns=["sync_service_time"])
    return trend_by_shift(chosen, question, "test", utc_offset=page)


def test_a_shift_past_midnight_is_one_row() -> None:
    """The night from Sunday: 0.8 / 8000, between 50 and 300 us; noon and 6:00 are in none."""
    first, second = by_shift(_NIGHTS, "22:00-06:00")
    assert (first.start, first.end) == (datetime(2026, 3, 1, 22, tzinfo=UTC), datetime(2026, 3, 2, 6, tzinfo=UTC))
    assert [first.value, first.peak, first.lowest] == near(1e-4, 3e-4, 5e-5)
    assert (first.peak_start, first.intervals) == (datetime(2026, 3, 1, 23, 45, tzinfo=UTC), 4)
    assert (second.start, second.intervals) == (datetime(2026, 3, 2, 22, tzinfo=UTC), 1)
    assert [one.start.day for one in by_shift(_NIGHTS, "sun/22:00-06:00")] == [1]
    (noon,) = by_shift(_NIGHTS, "mon-fri/11:30-13:00")
    assert (noon.start, noon.end) == (
        datetime(2026, 3, 2, 11, 30, tzinfo=UTC), datetime(2026, 3, 2, 13, 0, tzinfo=UTC),
    )  # fmt: skip
    assert [noon.value, noon.intervals] == [pytest.approx(9e-4), 1]


@pytest.mark.parametrize("page", [0.0, 3600.0, 7200.0])
def test_a_shift_of_a_system_whose_clock_is_not_that_of_the_page(page: float) -> None:
    """The system is an hour ahead of UTC: 22:00 UTC is 23:00 of it, and its night ends at 5:00 UTC."""
    first, second = by_shift(_NIGHTS, "22:00-06:00", page=page, offset=3600.0)
    assert [first.value, first.intervals, second.intervals] == [pytest.approx(0.6 / 4000), 3, 1]
    assert first.start == datetime(2026, 3, 1, 22, tzinfo=UTC) - timedelta(seconds=page)


def test_a_shift_of_a_whole_day_and_what_is_no_single_shift() -> None:
    assert [one.intervals for one in by_shift(_NIGHTS, "00:00-24:00")] == [2, 4, 1]
    with pytest.raises(UsageError, match="no shift is given"):
        by_shift(_NIGHTS)
    with pytest.raises(UsageError, match="different hours"):
        by_shift(_NIGHTS, "08:00-12:00", "22:00-06:00")


def test_the_hours_of_a_shift() -> None:
    """A night of Sunday is cut by the end of the week, and is one night all the same."""
    hour = 3600
    assert shift("22:00-06:00").hours == {(22 * hour, 8 * hour)}
    assert shift("sun/22:00-06:00").hours == {(22 * hour, 8 * hour)}
    assert shift("00:00-24:00").hours == {(0, 24 * hour)}
    assert shift("mon,sun/08:00-17:00").hours == {(8 * hour, 9 * hour)}
    assert shift("x", {"x": "mon-thu/08:00-17:00; fri/08:00-15:00"}).hours == {
        (8 * hour, 9 * hour),
        (8 * hour, 7 * hour),
    }


@pytest.mark.parametrize("every", EVERY)
def test_every_interval_is_in_one_period(held: Inputs, every: str) -> None:
    assert sum(one.intervals for one in of(held, every)) == len(_COURSE)


def test_wrong_questions_are_refused(held: Inputs) -> None:
    with pytest.raises(UsageError, match="a trend is of one metric"):
        of(held, "all")
    question = Question.of("cpu_system", by=[], every="day", columns=["processors_used"])
    with pytest.raises(NothingUsableError, match="no data of cpu_system"):
        trend(held, question, "test")
