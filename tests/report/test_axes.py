"""Round marks, and the time axis with its breaks."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.report.chart import axis
from plexlens.report.chart.time_axis import BREAK, TimeAxis
from plexlens.report.model.clock import Clock

START = datetime(2026, 3, 9, 10, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_marks_cover_the_largest_value_with_few_even_steps(largest: float) -> None:
    marks = axis.marks(largest)
    assert marks[0] == 0
    assert marks[-1] >= largest * (1 - 1e-9)
    assert marks[-2] < largest
    assert 2 <= len(marks) <= 6
    steps = [b - a for a, b in pairwise(marks)]
    assert max(steps) == pytest.approx(min(steps))


def test_labels_share_their_decimals_and_their_thousands() -> None:
    assert axis.labels((0.0, 0.25, 0.5)) == ("0", "0.25", "0.50")
    assert axis.labels((0.0, 50_000.0, 100_000.0)) == ("0", "50 k", "100 k")
    assert axis.labels((0.0, 2.5e9, 5e9)) == ("0", "2,500 M", "5,000 M")
    assert axis.labels((0.0, 5000.0)) == ("0", "5,000")


def _ends(times: list[datetime], minutes: int) -> list[datetime]:
    return [time + minutes * MINUTE for time in times]


def test_a_full_hour_is_one_stretch() -> None:
    times = [START + 15 * n * MINUTE for n in range(4)]
    made = TimeAxis.over(times, _ends(times, 15), START, START + 60 * MINUTE)
    assert made.breaks == ()
    assert made.place((START + 30 * MINUTE).timestamp()) == pytest.approx(0.5)


def test_one_missing_interval_is_no_break() -> None:
    times = [START + 15 * n * MINUTE for n in (0, 1, 3)]
    assert TimeAxis.over(times, _ends(times, 15), START, START + 60 * MINUTE).breaks == ()


def test_two_hours_a_month_apart_share_the_axis() -> None:
    # An hour, a month of nothing, half an hour: 2/3 and 1/3 of what the break leaves.
    month = timedelta(days=30)
    times = [START + 15 * n * MINUTE for n in range(4)] + [START + month + 15 * n * MINUTE for n in range(2)]
    made = TimeAxis.over(times, _ends(times, 15), START, START + month + 30 * MINUTE)
    room = 1 - BREAK
    assert len(made.breaks) == 1
    assert made.place((START + 60 * MINUTE).timestamp()) == pytest.approx(room * 2 / 3)
    assert made.place((START + month).timestamp()) == pytest.approx(room * 2 / 3 + BREAK)
    assert made.place((START + month + 15 * MINUTE).timestamp()) == pytest.approx(room * 5 / 6 + BREAK)
    assert made.end_place((START + 45 * MINUTE).timestamp(), (START + 60 * MINUTE).timestamp()) == pytest.approx(
        room * 2 / 3
    )
    marks = made.marks(Clock.of([]))
    assert [(mark.text, mark.second) for mark in marks] == [("10:00", "9 Mar 2026"), ("10:00", "8 Apr 2026")]


@given(
    st.lists(st.integers(min_value=0, max_value=10_000), min_size=1, max_size=40, unique=True),
    st.integers(min_value=1, max_value=60),
)
def test_places_rise_with_time_and_stay_on_the_axis(minutes: list[int], length: int) -> None:
    times = [START + n * MINUTE for n in sorted(minutes)]
    ends = _ends(times, length)
    made = TimeAxis.over(times, ends, times[0], ends[-1])
    places = [made.place(time.timestamp()) for time in times]
    assert places == sorted(places)
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
