"""Cumulative counters to intervals: hand cases, and a slow twin over made-up histories."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.metrics.cumulative import NO_RECORD_BEFORE, NO_TIME, RESTART, SAME_TIME, differenced
from plexlens.metrics.definition import Differences
from plexlens.pdb.engine import add_table, connect, rows_of
from tests.draws import draws
from tests.oracle import slow_cumulative

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
ENTITY = ("system", "sysplex", "subsystem", "pool")
SCHEMA = pa.schema(
    [
        ("system", pa.string()),
        ("sysplex", pa.string()),
        ("subsystem", pa.string()),
        ("pool", pa.int64()),
        ("interval_start", pa.timestamp("us", "UTC")),
        ("interval_end", pa.timestamp("us", "UTC")),
        ("source_id", pa.string()),
        ("record_no", pa.int64()),
        ("sequence", pa.int64()),
        ("bits", pa.int64()),
        ("started", pa.timestamp("us", "UTC")),
        ("gets", pa.int64()),
        ("long", pa.int64()),
        ("doubt", pa.int64()),
        ("buffers", pa.int64()),
    ]
)
NEVER_STARTED = None


def record(minute: float, sequence: int, gets: int | None, long: int | None = 0, **other: Any) -> dict[str, Any]:
    """A statistics record of DB1A's pool 0, so many minutes after eight."""
    return {
        "system": "SYS1",
        "sysplex": None,
        "subsystem": "DB1A",
        "pool": 0,
        "interval_start": None,
        "interval_end": START + timedelta(minutes=minute),
        "source_id": "s",
        "record_no": int(minute * 60),
        "sequence": sequence,
        "bits": 32,
        "started": NEVER_STARTED,
        "gets": gets,
        "long": long,
        "doubt": 0,
        "buffers": 1000,
    } | other


def made(rows: list[dict[str, Any]], **options: Any) -> dict[int, dict[str, Any]]:
    """Intervals of the records by record number."""
    connection = connect()
    add_table(connection, "t", pa.Table.from_pylist(rows, schema=SCHEMA))
    chosen: dict[str, Any] = {
        "counters": {"gets": "bits", "long": 64, "doubt": 32},
        "witnesses": ("gets", "long"),
        "sequence": "sequence",
        "keep_unused": True,
    } | options
    sql = differenced("t", Differences(ENTITY, **chosen))
    return {row["record_no"]: row for row in rows_of(connection, sql)}


def test_two_records_make_one_interval() -> None:
    # 1500 - 1000 gets in the minute from 8:01 to 8:02; the pool's size is a level and stays.
    rows = made([record(1, 10, 1000), record(2, 11, 1500)])
    assert rows[60]["unused_because"] == NO_RECORD_BEFORE
    assert (rows[60]["gets"], rows[60]["interval_seconds"], rows[60]["interval_start"]) == (None, None, None)
    second = rows[120]
    assert (second["gets"], second["interval_seconds"]) == (500.0, 60.0)
    assert second["interval_start"] == START + timedelta(minutes=1)
    assert (second["buffers"], second["restarts"], second["missing_records"]) == (1000, 0.0, 0.0)
    assert second["unused_because"] is None


def test_a_restart_makes_no_interval_and_the_next_record_does() -> None:
    rows = made([record(1, 10, 5000), record(2, 1, 200), record(3, 2, 900)])
    assert (rows[120]["unused_because"], rows[120]["gets"], rows[120]["restarts"]) == (RESTART, None, 1.0)
    assert (rows[180]["gets"], rows[180]["unused_because"]) == (700.0, None)


def test_a_restart_is_seen_by_its_sequence_number_although_counters_rose() -> None:
    assert made([record(1, 10, 100), record(9, 2, 70_000)])[540]["unused_because"] == RESTART


def test_a_sequence_number_that_stands_still_is_no_restart() -> None:
    row = made([record(1, 0, 100), record(2, 0, 130)])[120]
    assert (row["gets"], row["restarts"], row["missing_records"]) == (30.0, 0.0, None)


def test_a_record_without_time_makes_no_interval() -> None:
    rows = made([record(1, 1, 100), record(2, 2, 130), record(3, 3, 170, interval_end=None)])
    assert (rows[180]["unused_because"], rows[180]["gets"], rows[180]["interval_seconds"]) == (NO_TIME, None, None)
    assert rows[120]["gets"] == 30.0


def test_a_restart_is_seen_by_a_counter_that_cannot_have_wrapped() -> None:
    # Without sequence numbers: 5000 to 200 would be a wrap by 4,294,962,496, more than half the range.
    rows = made([record(1, 0, 5000), record(2, 0, 200)], sequence="")
    assert (rows[120]["unused_because"], rows[120]["restarts"], rows[120]["missing_records"]) == (RESTART, 1.0, None)


def test_a_short_counter_wraps() -> None:
    # 2^32 - 1000 to 250: 1250.
    rows = made([record(1, 10, 2**32 - 1000), record(2, 11, 250)])
    assert (rows[120]["gets"], rows[120]["restarts"]) == (1250.0, 0.0)


def test_a_long_counter_does_not_wrap() -> None:
    rows = made([record(1, 10, 0, 2**32 - 1000), record(2, 11, 5, 250)])
    assert rows[120]["unused_because"] == RESTART


def test_the_width_can_differ_by_row() -> None:
    rows = made([record(1, 10, 2**32 - 1000, bits=64), record(2, 11, 250, bits=64)])
    assert rows[120]["unused_because"] == RESTART


def test_a_missing_record_makes_a_longer_interval_and_is_counted() -> None:
    # Records 11 and 12 are not there: 600 gets in 180 s, not in 60.
    rows = made([record(1, 10, 1000), record(4, 13, 1600)])
    assert (rows[240]["gets"], rows[240]["interval_seconds"], rows[240]["missing_records"]) == (600.0, 180.0, 2.0)


def test_files_in_any_order_give_the_same() -> None:
    history = [record(1, 10, 1000), record(2, 11, 1500), record(3, 12, 1700)]
    assert made(history) == made(history[::-1]) == made([history[1], history[2], history[0]])


def test_a_record_of_the_same_time_is_not_an_interval_of_no_length() -> None:
    rows = made([record(1, 10, 1000), record(2, 11, 1500), record(2, 11, 1500, record_no=121), record(3, 12, 1600)])
    assert {rows[120]["unused_because"], rows[121]["unused_because"]} == {None, SAME_TIME}
    assert rows[180]["gets"] == 100.0


@pytest.mark.parametrize("other", [{"sysplex": "PLEXB"}, {"system": "SYS2"}, {"subsystem": "DB2A"}, {"pool": 1}])
def test_what_is_counted_apart_is_differenced_apart(other: dict[str, Any]) -> None:
    rows = made(
        [
            record(1, 10, 1000),
            record(1.5, 900, 77_000, **other),
            record(2, 11, 1500),
            record(2.5, 901, 78_000, **other),
        ]
    )
    assert (rows[120]["gets"], rows[150]["gets"]) == (500.0, 1000.0)
    assert sum(row["restarts"] for row in rows.values()) == 0


def test_an_entity_that_is_absent_from_a_record_gets_the_longer_interval() -> None:
    rows = made([record(1, 10, 1000), record(1, 10, 5, pool=7, record_no=61), record(2, 11, 1100),
                 record(3, 12, 1200), record(3, 12, 65, pool=7, record_no=181)])  # fmt: skip
    assert (rows[181]["gets"], rows[181]["interval_seconds"]) == (60.0, 120.0)


def test_the_first_record_after_a_known_start_begins_there() -> None:
    # Db2 started at 8:01:30; the record of 8:02 counts 200 gets in 30 s.
    at = START + timedelta(seconds=90)
    rows = made([record(1, 10, 5000), record(2, 1, 200, started=at), record(3, 2, 900)], started="started")
    assert (rows[120]["gets"], rows[120]["interval_seconds"], rows[120]["restarts"]) == (200.0, 30.0, 1.0)
    assert (rows[120]["interval_start"], rows[120]["unused_because"]) == (at, None)
    assert rows[180]["gets"] == 700.0


def test_a_counter_in_doubt_that_falls_says_nothing_and_is_no_restart() -> None:
    rows = made([record(1, 10, 1000, doubt=77), record(2, 11, 1500, doubt=5), record(3, 12, 1600, doubt=9)])
    assert (rows[120]["gets"], rows[120]["doubt"], rows[120]["unused_because"]) == (500.0, None, None)
    assert rows[180]["doubt"] == 4.0


def test_without_witnesses_named_every_counter_is_one() -> None:
    rows = made([record(1, 10, 1000, doubt=77), record(2, 11, 1500, doubt=5)], witnesses=())
    assert rows[120]["unused_because"] == RESTART


def test_a_counter_that_a_release_lacks_stays_unknown() -> None:
    rows = made([record(1, 10, None), record(2, 11, None), record(3, 12, 40)])
    assert [rows[at]["gets"] for at in (120, 180)] == [None, None]
    assert rows[180]["unused_because"] is None


histories = st.lists(
    st.tuples(
        st.sampled_from(["DB1A", "DB2A"]),
        st.integers(0, 40),
        st.integers(1, 6),
        st.sampled_from([0, 1, 5, 1000, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1]) | st.integers(0, 2**32 - 1),
        st.integers(0, 2**50),
        st.sampled_from([0, 7, 2**31 + 5, 2**32 - 1]),
    ),
    max_size=30,
)


@given(histories)
@settings(max_examples=draws(60), deadline=None)
def test_as_the_slow_twin(history: list[tuple[str, int, int, int, int, int]]) -> None:
    rows = [
        record(minute, sequence, gets, long, subsystem=subsystem, record_no=number, doubt=doubt)
        for number, (subsystem, minute, sequence, gets, long, doubt) in enumerate(history)
    ]
    expected = slow_cumulative.intervals(rows, ENTITY, {"gets": 32, "long": 64, "doubt": 32}, {"doubt"})
    for number, row in made(rows).items():
        assert {name: row[name] for name in expected[number]} == expected[number], history[number]


def test_one_window_serves_all_counters() -> None:
    connection = connect()
    add_table(connection, "t", pa.Table.from_pylist([record(1, 10, 1000)], schema=SCHEMA))
    sql = differenced("t", Differences(ENTITY, {"gets": 32, "long": 64}, sequence="sequence"))
    plan = connection.execute(f"EXPLAIN {sql}").fetchall()[0][1]
    assert plan.count("WINDOW") == 1
