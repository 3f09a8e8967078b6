"""Local time as recorded, or UTC where it is unknown or not one."""

from datetime import UTC, datetime, timedelta

from plexlens.report.model.clock import Clock, length

NOON = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)


def test_one_offset_gives_local_time() -> None:
    # Recorded as a clock value, a hair off the minute.
    clock = Clock.of([-18000.000244, -18000.0, None])
    assert clock.minute(NOON) == "2026-03-09 07:00"
    assert clock.zone == "UTC-05:00"
    assert "local as recorded" in clock.note


def test_no_offset_gives_utc_and_says_so() -> None:
    clock = Clock.of([None])
    assert clock.offset is None
    assert clock.minute(NOON) == "2026-03-09 12:00"
    assert clock.zone == "UTC"
    assert "does not record" in clock.note


def test_several_offsets_give_utc_and_name_them() -> None:
    clock = Clock.of([3600.0, -16200.0])
    assert clock.offset is None
    assert "UTC-04:30" in clock.note
    assert "UTC+01:00" in clock.note


def test_a_span_names_a_date_once() -> None:
    clock = Clock.of([3600.0])
    assert clock.span(NOON, NOON + timedelta(hours=2)) == "2026-03-09 13:00 to 15:00"
    assert clock.span(NOON, NOON + timedelta(hours=12)) == "2026-03-09 13:00 to 2026-03-10 01:00"


def test_marks_are_round_in_local_time() -> None:
    # 12:10 to 17:50 UTC is 17:40 to 23:20 at +05:30: whole hours there lie at half past in UTC.
    clock = Clock.of([19800.0])
    marks = clock.marks(NOON + timedelta(minutes=10), NOON + timedelta(hours=5, minutes=50))
    assert [f"{clock.local(mark):%H:%M}" for mark in marks] == ["18:00", "20:00", "22:00"]


def test_marks_of_a_long_time_stay_few() -> None:
    clock = Clock.of([])
    for days in (1, 9, 40, 400, 4000):
        assert 1 <= len(clock.marks(NOON, NOON + timedelta(days=days))) <= 6


def test_lengths() -> None:
    assert [length(s) for s in (45, 1799.997, 5400, 90000, 4369 * 86400 + 1320)] == [
        "45 s",
        "30 min",
        "1 h 30 min",
        "1 d 1 h",
        "4,369 d",
    ]
