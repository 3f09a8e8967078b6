"""Starts of hours, days and weeks by the clock, compared with DuckDB's calendar."""

from __future__ import annotations

import pytest

from plexlens.metrics.moments import SECONDS, nearest, start_of
from plexlens.pdb.engine import connect

#: Moments from 1906 to 2096, to the microsecond, and every minute around 1970.
MOMENTS = """
select to_timestamp(-2e9 + i * 59999.123457) as moment from range(100000) r(i)
union all select to_timestamp(i) from range(-700000, 700000, 60) r(i)
union all select null
"""

#: Seconds ahead of UTC; the last is of a day that begins at 05:00.
SHIFTS = (0, 3600, -18000, 19800, 7200 - 18000)

CALENDAR = {"quarter_hour": "time_bucket(interval '15 minutes', {})"}


@pytest.mark.parametrize("length", SECONDS)
@pytest.mark.parametrize("shift", SHIFTS)
def test_starts_are_those_of_the_calendar(length: str, shift: int) -> None:
    calendar = CALENDAR.get(length, f"date_trunc('{length}', {{}})").format(f"moment + to_seconds({shift})")
    row = (
        connect()
        .execute(
            f"select count(*), count(distinct own) from (select {start_of(length, 'moment', str(shift))} as own, "
            f"{calendar} - to_seconds({shift}) as expected from ({MOMENTS})) where own is not distinct from expected"
        )
        .fetchone()
    )
    assert row is not None
    assert row[0] == 100_000 + 1_400_000 // 60 + 1 + 1
    assert row[1] > 1000


@pytest.mark.parametrize(("seconds", "expected"), [(60, 1_700_000_040), (10, 1_700_000_010)])
def test_the_nearest_multiple(seconds: int, expected: int) -> None:
    # 1,700,000,012 s is 32 s behind a whole minute, and 2 s behind a multiple of ten.
    row = connect().execute(f"select epoch({nearest(seconds, 'to_timestamp(1700000012)')})").fetchone()
    assert row == (expected,)
