"""Db2 statistics reports: every block, side by side, in each of the ways in which they arrive."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.text_report_documents import (
    CPU,
    GROUP_POOL,
    HIGHLIGHTS,
    LOCKING,
    LOG,
    POOL_GENERAL,
    POOL_READ,
    POOL_WRITE,
    SERVICES,
    SHARING,
    Rows,
    carriage_control,
    db2_heading,
    drawn_together,
    fixed_records,
    form_feeds,
    quoted,
    read_bytes,
    read_text,
    shifted,
    side_by_side,
    statistics,
    statistics_pages,
    tabbed,
    understood,
    value,
    wrapped,
)

IDENTITY = {
    "subsystem": "DB2A",
    "location": "DSNLOC1",
    "group_name": "DSNGRP",
    "member": "DB2A",
    "db2_version": "V12",
    "report": "db2_statistics",
    "statistics": "interval",
    "interval_seconds": 900.0,
}

TWINS: dict[str, dict[str, Any]] = {
    "text_db2_pool": {
        "pool_name": "BP2",
        "getpages": 9_876_500,
        "getpages_sequential": 876_400,
        "getpages_random": 9_000_100,
        "sync_reads": 160_200,
        "sync_reads_sequential": 1201,
        "sync_reads_random": 159_000,
        "sequential_prefetch_requests": 4100,
        "sequential_prefetch_reads": 4000,
        "sequential_prefetch_pages": 128_000,
        "list_prefetch_requests": 310,
        "list_prefetch_reads": 0,
        "list_prefetch_pages": 0,
        "dynamic_prefetch_requests": 29_000,
        "dynamic_prefetch_reads": 28_750,
        "dynamic_prefetch_pages": 872_300,
        "prefetch_disabled_no_buffer": 7,
        "prefetch_disabled_no_engine": 8,
        "page_ins_read": 90,
        "buffer_updates": 1_234_500,
        "pages_written": 456_700,
        "sync_writes": 12,
        "async_writes": 45_670,
        "deferred_write_threshold": 3,
        "vertical_write_threshold": 415,
        "data_manager_threshold": 0,
        "write_engine_unavailable": 1,
        "page_ins_write": 11,
        "active_buffers": 311.5,
        "unavailable_buffer": 0,
        "data_set_opens": 44,
        "buffers": 80_000,
        "prefetch_streams_peak": 21,
        "prefetch_halved": 5,
        "prefetch_quartered": 6,
        "hit_ratio_percent": 88.25,
    },
    "text_db2_group_buffer_pool": {
        "pool_name": "GBP2",
        "dependent_getpages": 651_400,
        "reads_invalid_data": 1091,
        "reads_invalid_no_data": 133,
        "reads_absent_data": 1062,
        "reads_absent_no_data": 14_515,
        "changed_pages_sync": 7011,
        "pages_castout": 3033.5,
        "castout_class_threshold": 21,
        "castout_pool_threshold": 2,
        "write_failed_no_storage": 0,
    },
    "text_db2_locking": {
        "suspensions": 411,
        "suspensions_lock": 301,
        "suspensions_latch": 100,
        "suspensions_other": 10,
        "timeouts": 4,
        "deadlocks": 1,
        "lock_requests": 2_345_600,
        "unlock_requests": 512_300,
        "escalations_shared": 0,
        "drain_requests": 17,
        "drain_requests_failed": 2,
        "global_contention_percent": 0.19,
        "false_contention_percent": 0.04,
        "plock_lock_requests": 107_400,
        "xes_lock_requests": 1_478_800,
        "suspends_irlm": 3236,
        "suspends_xes": 334,
        "suspends_false": 863,
        "page_set_plock_negotiations": 23,
    },
    "text_db2_log": {
        "reads_output_buffer": 96,
        "reads_active_log": 32,
        "reads_output_buffer_percent": 75,
        "reads_active_log_percent": 25,
        "output_buffer_unavailable": 2,
        "records_created": 1_927_600,
        "control_intervals_created": 86_100,
        "write_requests": 55_400,
        "control_intervals_written": 200_400,
        "megabytes_per_second": 0.37,
    },
}

# 2:10.218449 is 130.218449 s.
SPACES = {
    "MSTR": (12.120789, 0.037248, 0.027924, 12.185961, 0.0, 0.002539),
    "DBM1": (1.403656, 130.218449, 1.009574, 132.631679, 62.5, 0.027632),
    "IRLM": (0.000043, 0.0, 5.22494, 5.224983, 0.0, 0.001089),
    "DIST": (0.005795, 1.122965, 0.007127, 1.135887, 0.75, 0.000237),
    "TOTAL": (13.530283, 131.378662, 6.269565, 151.17851, 63.25, 0.031496),
}
_PLACE = {
    *("system", "sysplex", "interval_start", "interval_end", "utc_offset", "source_id", "record_no", "section_no"),
    *IDENTITY,
}


def own_values(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None and name not in _PLACE}


def printed_values(rows: Rows) -> Counter[tuple[Any, ...]]:
    names = ("report", "member", "block", "object", "parent", "name", "column_head", "value", "number", "low", "high")
    return Counter(tuple(row[name] for name in names) for row in rows["text_report_value"])


SPOILED: dict[str, bytes] = {
    "form feeds": form_feeds(statistics_pages()).encode(),
    "carriage control": carriage_control(statistics_pages()).encode(),
    "quoted in mail": quoted(statistics()).encode(),
    "quoted twice": quoted(statistics(), ">> ").encode(),
    "tabs": tabbed(statistics()).encode(),
    "two blanks between columns": drawn_together(statistics()).encode(),
    "values three columns to the right": shifted(statistics()).encode(),
    "values eight columns to the right": shifted(statistics(), 8).encode(),
    "wrapped at 80 columns": wrapped(statistics(), 80).encode(),
    "fixed EBCDIC records": fixed_records(statistics_pages()),
    "fixed EBCDIC records of 137": fixed_records(statistics_pages(), 137),
    "EBCDIC with new lines": statistics().replace("\n", "\x85").encode("cp037"),
    "UTF-16": statistics().encode("utf-16"),
    "byte order mark": ("\ufeff" + statistics()).encode(),
    "carriage returns": statistics().replace("\n", "\r\n").encode(),
}


def test_every_block_fills_its_table(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, statistics())
    understood(reading)
    for table, expected in TWINS.items():
        assert len(rows[table]) == 1, table
        assert own_values(rows[table][0]) == expected
        assert {name: rows[table][0][name] for name in IDENTITY} == IDENTITY
        assert str(rows[table][0]["interval_start"]).startswith("2023-03-15 07:00:00")
        assert str(rows[table][0]["interval_end"]).startswith("2023-03-15 07:15:00")
        assert rows[table][0]["utc_offset"] is None
    columns = (
        *("tcb_seconds", "preemptable_srb_seconds", "nonpreemptable_srb_seconds", "cp_seconds", "iip_srb_seconds"),
        "cp_seconds_per_commit",
    )
    spaces = rows["text_db2_address_space_cpu"]
    assert {row["address_space"]: tuple(row[name] for name in columns) for row in spaces} == SPACES
    # The report's own sum: CP time is TCB, preemptable and nonpreemptable SRB time.
    for row in spaces:
        assert row["cp_seconds"] == pytest.approx(sum(row[name] for name in columns[:3]), abs=2e-6)


def test_every_value_that_is_printed_is_a_row(tmp_path: Path) -> None:
    """What stands in the text below the headings is there once, word by word."""
    rows, reading = read_text(tmp_path, statistics())
    printed: Counter[tuple[str, str]] = Counter()
    # The blocks were made with names of 28 columns, of 31 for CPU times.
    for block in (*(SERVICES, LOG, LOCKING, SHARING, POOL_GENERAL, POOL_READ, POOL_WRITE, GROUP_POOL), CPU):
        width = 31 if block is CPU else 28
        for line in block.strip().splitlines()[2:]:
            printed.update((line[:width].strip(), word) for word in line[width:].split())
    read = Counter((row["name"], row["value"]) for row in rows["text_report_value"] if row["column_head"])
    assert read == printed
    assert sum(printed.values()) + 9 == reading.summary["values"] == len(rows["text_report_value"])


@pytest.mark.parametrize("spoiled", SPOILED.values(), ids=SPOILED)
def test_spoiled_layouts_give_the_same(tmp_path: Path, spoiled: bytes) -> None:
    plain, _ = read_text(tmp_path, statistics())
    rows, reading = read_bytes(tmp_path, spoiled)
    understood(reading)
    assert printed_values(rows) == printed_values(plain)
    for table in (*TWINS, "text_db2_address_space_cpu"):
        assert rows[table] == plain[table], table


@pytest.mark.parametrize("cut", [3, 8, 14, 20])
def test_a_page_break_in_the_middle_of_blocks(tmp_path: Path, cut: int) -> None:
    """The heading comes again between two lines of a block, and its column heads do not."""
    plain, _ = read_text(tmp_path, statistics())
    first, second, third = statistics_pages()
    lines = second.splitlines()
    at = next(number for number, line in enumerate(lines) if "GENERAL" in line) + cut
    broken = "\n".join([*lines[:at], "\f" + db2_heading("1-9"), *lines[at:]])
    rows, reading = read_text(tmp_path, f"{first}\n{broken}\n{third}")
    understood(reading)
    assert printed_values(rows) == printed_values(plain)
    assert rows["text_db2_pool"] == plain["text_db2_pool"]
    pages = [row["page_no"] for row in rows["text_report_value"]]
    assert pages == sorted(pages)
    assert set(pages) == {1, 2}


def test_precision_is_that_of_the_print(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, statistics())
    created = value(rows, "LOG RECORDS CREATED", "QUANTITY")
    assert (created["number"], created["low"], created["high"]) == (1_927_600, 1_927_550, 1_927_650)
    assert (created["number_scale"], created["decimals"]) == (1000, 1)
    writes = value(rows, "ASYNCHRONOUS WRITES", "QUANTITY")
    assert (writes["value"], writes["number"], writes["low"], writes["high"]) == ("45.670K", 45670, 45669.5, 45670.5)
    commits = value(rows, "DATABASE SERVICES ADDRESS SPACE", "PREEMPT SRB")
    assert (commits["low"], commits["high"], commits["number_unit"]) == (130.2184485, 130.2184495, "seconds")
    opens = value(rows, "SYNCHRONOUS WRITES", "/COMMIT")
    assert (opens["number"], opens["low"], opens["high"]) == (0, 0, 0.005)
    absent = value(rows, "LOG RATE FOR 1 LOG (MB)", "QUANTITY")
    assert (absent["value"], absent["value_type"], absent["number"]) == ("N/A", "not applicable", None)


def test_values_know_where_they_stand(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, statistics())
    line = next(n for n, text in enumerate(statistics().splitlines(), 1) if text.startswith("TIMEOUTS"))
    timeouts = value(rows, "TIMEOUTS", "QUANTITY")
    assert (timeouts["line"], timeouts["block"], timeouts["record_no"]) == (line, "LOCKING ACTIVITY", 1)
    beside = value(rows, "PSET/PART P-LCK NEGOTIATION", "QUANTITY")
    assert beside["block"] == "DATA SHARING LOCKING"
    assert value(rows, "TOTAL COMMITS")["number"] == 4800
    assert value(rows, "GETPAGE REQUEST", "QUANTITY")["object"] == "BP2"


def test_intervals_of_one_report_are_told_apart(tmp_path: Path) -> None:
    """A report over a day has a page heading for the day, and an interval in each block of highlights."""
    highlights = HIGHLIGHTS.replace("07:15:00.00", "07:30:00.00").replace("07:00:00.00", "07:15:00.00")
    later = statistics().replace(HIGHLIGHTS, highlights).replace("4100.00     4.56", "4200.00     4.67")
    body = later[later.index("---- HIGHLIGHTS") :]
    rows, reading = read_text(tmp_path, statistics() + "\n" + body)
    understood(reading)
    first, second = rows["text_db2_pool"]
    assert (first["record_no"], second["record_no"]) == (1, 2)
    assert (first["sequential_prefetch_requests"], second["sequential_prefetch_requests"]) == (4100, 4200)
    assert str(second["interval_start"])[11:16] == "07:15"
    assert (second["member"], reading.summary["reports"]) == ("DB2A", 2)


def test_blocks_that_contradict_each_other_are_of_two_intervals(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, LOCKING + "\n" + LOCKING.replace("411.00     0.46", "511.00     0.57"))
    understood(reading)
    assert [(row["record_no"], row["suspensions"]) for row in rows["text_db2_locking"]] == [(1, 411), (2, 511)]
    assert [row["lock_requests"] for row in rows["text_db2_locking"]] == [2_345_600, 2_345_600]


def test_members_of_a_group_are_told_apart_by_their_headings(tmp_path: Path) -> None:
    other = statistics().replace("DB2A", "DB2B")
    rows, _ = read_text(tmp_path, statistics() + "\f" + other)
    assert [row["member"] for row in rows["text_db2_pool"]] == ["DB2A", "DB2B"]
    assert {row["subsystem"] for row in rows["text_report_value"]} == {"DB2A", "DB2B"}


def test_blocks_may_be_missing(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, db2_heading("1-1") + "\n" + POOL_READ)
    understood(reading)
    assert set(rows) == {"text_report_value", "text_db2_pool"}
    pool = rows["text_db2_pool"][0]
    assert (pool["getpages"], pool["buffer_updates"]) == (9_876_500, None)


def test_three_blocks_side_by_side(tmp_path: Path) -> None:
    text = side_by_side(side_by_side(SERVICES, LOCKING, 68), POOL_WRITE.replace("BP2", "BP7"), 136)
    rows, reading = read_text(tmp_path, text)
    understood(reading)
    assert rows["text_db2_pool"][0]["buffer_updates"] == 1_234_500
    assert rows["text_db2_pool"][0]["pool_name"] == "BP7"
    assert own_values(rows["text_db2_locking"][0])["drain_requests_failed"] == 2
    assert value(rows, "IDENTIFY", "QUANTITY")["number"] == 61


def test_pools_of_one_interval(tmp_path: Path) -> None:
    blocks = "\n".join(POOL_WRITE.replace("BP2   ", name.ljust(6)) for name in ("BP0", "BP8K", "TOTAL"))
    rows, reading = read_text(tmp_path, blocks)
    understood(reading)
    assert [row["pool_name"] for row in rows["text_db2_pool"]] == ["BP0", "BP8K", "TOTAL"]
    assert {row["record_no"] for row in rows["text_db2_pool"]} == {1}


def test_cpu_times_alone(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, CPU)
    understood(reading)
    assert [row["address_space"] for row in rows["text_db2_address_space_cpu"]] == list(SPACES)


def test_reports_of_other_kinds_are_passed_over_and_told_of(tmp_path: Path) -> None:
    foreign = db2_heading("1-1", "IO ACTIVITY REPORT") + "\nBUFFER POOL   TOTALS  AET\nBP0   123  0.004\n"
    rows, reading = read_text(tmp_path, statistics() + "\f" + foreign + "\f" + statistics())
    assert reading.summary["lines"]["passed over"] == 2
    (damage,) = [damage for damage in reading.damage if damage.reason != "interval computed"]
    assert (damage.reason, damage.severity) == ("report not read", "info")
    assert "IO ACTIVITY REPORT" in damage.detail
    assert not any(row["value"] == "123" for row in rows["text_report_value"])
    assert len(rows["text_db2_pool"]) == 2


def test_a_line_that_is_not_understood_is_told_of(tmp_path: Path) -> None:
    lines = GROUP_POOL.strip().splitlines()
    strange = "ABC   17  DEF   23.5  XYZ   9  9  9  9"
    rows, reading = read_text(tmp_path, "\n".join([*lines[:5], strange, *lines[5:]]))
    (damage,) = [damage for damage in reading.damage if damage.reason != "interval computed"]
    assert (damage.reason, damage.severity, damage.record_no) == ("line not recognised", "error", 1)
    assert "line 6" in damage.detail
    assert strange in damage.detail
    assert reading.summary["lines"]["not understood"] == 1
    assert reading.summary["damage"] == {"line not recognised": 1, "interval computed": 1}
    # The lines around it are read.
    assert own_values(rows["text_db2_group_buffer_pool"][0]) == TWINS["text_db2_group_buffer_pool"]
    assert not any(row["line"] == 6 for row in rows["text_report_value"])


RATES_ALONE = """
INTERVAL START  : 03/15/23 07:00:00.00
INTERVAL END    : 03/15/23 07:15:00.00

BP3   READ OPERATIONS          /SECOND  /THREAD
---------------------------  ---------  -------
BPOOL HIT RATIO (%)              87.50
GETPAGE REQUEST                2424.49     1.25
SYNCHRONOUS READS                 0.38     0.00
"""


def test_counts_printed_as_rates_alone_are_turned_back(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, RATES_ALONE)
    (pool,) = rows["text_db2_pool"]
    # 2424.49 and 0.38 a second for 900 s, each known to 0.005 a second, so to 4.5.
    assert pool["getpages"] == pytest.approx(2_182_041)
    assert pool["sync_reads"] == pytest.approx(342)
    assert pool["hit_ratio_percent"] is None, "a share is not a count"
    (told,) = [damage for damage in reading.damage if damage.reason == "counts computed from rates"]
    assert told.severity == "info"
    assert "BP3 GETPAGE REQUEST 2424.49/s is 2182041 ± 5" in told.detail
    assert "BP3 SYNCHRONOUS READS 0.38/s is 342 ± 5" in told.detail


def test_rates_without_a_length_stay_rates(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, RATES_ALONE.split("\n\n", 1)[1])
    assert [row["getpages"] for row in rows["text_db2_pool"]] == [None]
    assert value(rows, "GETPAGE REQUEST", "/SECOND")["number"] == 2424.49
