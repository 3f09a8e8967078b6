"""Which day and family rows belong to."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.pdb.partition import RowDays, family_of, partition_of

UTC_TIME = pa.timestamp("us", tz="UTC")
LOCAL_TIME = pa.timestamp("us")
DATES = st.one_of(
    st.none(),
    st.datetimes(datetime(2024, 2, 28), datetime(2024, 3, 2)),
    st.sampled_from([datetime(1900, 1, 1), datetime(1970, 1, 1), datetime(2042, 9, 17, 23, 53), datetime(2100, 1, 1)]),
)


def slow_day(*times: datetime | None) -> str:
    """The first time there is tells the day; days before 1970-01-02 and from 2100 on are not measurement's."""
    for time in times:
        if time is not None and datetime(1970, 1, 2) <= time.replace(tzinfo=None) < datetime(2100, 1, 1):
            return str(time.date())
    return "undated"


@given(st.lists(st.tuples(DATES, DATES, DATES), min_size=1, max_size=30))
def test_rows_go_to_the_day_of_interval_or_writing(rows: list[tuple[datetime | None, ...]]) -> None:
    batch = pa.record_batch(
        {
            "row": pa.array(range(len(rows))),
            "interval_start": pa.array([row[0] and row[0].replace(tzinfo=UTC) for row in rows], UTC_TIME),
            "interval_end": pa.array([row[1] and row[1].replace(tzinfo=UTC) for row in rows], UTC_TIME),
            "written_at": pa.array([row[2] for row in rows], LOCAL_TIME),
        }
    )
    placed = [(day, row) for day, part in RowDays().split("t", batch) for row in part.column("row").to_pylist()]
    assert sorted(row for _, row in placed) == list(range(len(rows)))
    assert {row: day for day, row in placed} == {row: slow_day(*times) for row, times in enumerate(rows)}
    # The rows of a day stay in their order.
    for day in {day for day, _ in placed}:
        of_the_day = [row for other, row in placed if other == day]
        assert of_the_day == sorted(of_the_day)


def test_sections_without_an_interval_take_the_day_of_their_record() -> None:
    days = RowDays()

    def records(numbers: list[int], day: date) -> None:
        times = [datetime(day.year, day.month, day.day, 9)] * len(numbers)
        batch = pa.record_batch(
            {"record_no": pa.array(numbers, pa.uint64()), "written_at": pa.array(times, LOCAL_TIME)}
        )
        days.split("smf_record", batch)

    def sections(numbers: list[int | None]) -> dict[str, list[int | None]]:
        batch = pa.record_batch({"record_no": pa.array(numbers, pa.uint64())})
        return {day: part.column("record_no").to_pylist() for day, part in days.split("smf30_identification", batch)}

    assert sections([1]) == {"undated": [1]}
    records([1, 2, 5], date(2024, 3, 1))
    assert sections([1, 5, 5]) == {"2024-03-01": [1, 5, 5]}
    records([6, 7], date(2024, 3, 2))
    assert sections([5, 6, None, 3, 99]) == {"2024-03-01": [5], "2024-03-02": [6], "undated": [None, 3, 99]}


@pytest.mark.parametrize("rows", [101, 102, 500])
def test_days_that_alternate_give_each_day_its_rows_in_order(rows: int) -> None:
    """101 runs of one day are put together; more of them are taken by their numbers."""
    times = [datetime(2024, 3, 1 + row % 3, 9) for row in range(rows)]
    batch = pa.record_batch({"row": pa.array(range(rows)), "written_at": pa.array(times, LOCAL_TIME)})
    placed = [(day, part.column("row").to_pylist()) for day, part in RowDays().split("t", batch)]
    assert placed == [(f"2024-03-0{day}", list(range(day - 1, rows, 3))) for day in (1, 2, 3)]


def test_an_empty_batch_has_no_days() -> None:
    assert RowDays().split("t", pa.record_batch({"written_at": pa.array([], LOCAL_TIME)})) == []


def test_partitions_of_days() -> None:
    assert partition_of(date(2024, 3, 1)) == "2024-03-01"
    assert partition_of(None) == "undated"
    # The same bounds as for rows, so that a record's hash is looked for where it lies.
    for day in (date(1969, 12, 31), date(1970, 1, 1), date(2100, 1, 1)):
        assert partition_of(day) == "undated"
        batch = pa.record_batch({"written_at": pa.array([datetime(day.year, day.month, day.day)], LOCAL_TIME)})
        assert [place for place, _ in RowDays().split("t", batch)] == ["undated"]
    assert partition_of(date(2100, 1, 1) - timedelta(days=1)) == "2099-12-31"


def test_families() -> None:
    assert [family_of(name) for name in ("smf74_4_request", "smf_record", "rmf_xml_value", "damage")] == [
        "smf74",
        "smf",
        "rmf",
        "damage",
    ]


@pytest.mark.parametrize("name", ["", "Smf", "smf-74", "../up", "a/b", "74_4", "a__b", "a b", "a\n"])
def test_what_is_no_table_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a table name"):
        family_of(name)
