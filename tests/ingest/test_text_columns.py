"""Columns of text reports: names that blanks part, lines of a time, and numbers that no table has a column for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plexlens.ingest.inventory import of_file, to_json, to_lines
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.report.blocks.readings import readings_of
from tests.ingest.test_text_db2_accounting import LONG, SHORT
from tests.ingest.text_report_documents import read_text, understood, value
from tests.ingest.text_rmf_documents import WORKLOAD
from tests.metrics.text import inputs_of, rows_of

POOL = """\
DSNB401I  -DB2A BUFFERPOOL NAME BP2, BUFFERPOOL ID 2, USE COUNT 47
DSNB402I  -DB2A BUFFER POOL SIZE = 40000 BUFFERS  AUTOSIZE = NO
DSNB409I  -DB2A INCREMENTAL STATISTICS SINCE 14:57:55 MAR 15, 2023
DSNB411I  -DB2A RANDOM   GETPAGE   = 4912221  SYNC   READ I/O (R) =    18193
             SEQ.   GETPAGE        = 1378500  SYNC   READ   I/O (S) =       12
             PAGES UNDER WATCH     =      17  AUTOSIZE MODE   = NO
DSNB412I  -DB2A SEQUENTIAL   PREFETCH -
             REQUESTS        =    41800   PREFETCH   I/O    =    14473
             PAGES   READ      =   444030
DSN9022I  -DB2A DSNB1CMD '-DB2A DISPLAY BUFFERPOOL' NORMAL COMPLETION
"""

GROUP_POOL = """\
DSNB750I -DB2A DISPLAY FOR GROUP BUFFER POOL GBP1 FOLLOWS
DSNB759I -DB2A NUMBER OF DIRECTORY ENTRIES = 61394
             NUMBER OF DATA PAGES = 11370
DSNB798I -DB2A LAST GROUP BUFFER POOL CHECKPOINT
             17:08:41 OCT 16, 2011
             GBP CHECKPOINT RECOVERY LRSN = ACE09102ABF4
DSNB783I -DB2A CUMULATIVE GROUP DETAIL STATISTICS SINCE 15:35:25 MAR 17, 2022
DSNB784I -DB2A GROUP DETAIL STATISTICS
             READS
               DATA RETURNED                       = 3845
DSNB785I -DB2A DATA NOT RETURNED
               DIRECTORY ENTRY EXISTED             = 27
               DIRECTORY ENTRY CREATED             = 1128
               DIRECTORY ENTRY NOT CREATED         = 0, 0
DSNB786I -DB2A WRITES
               CHANGED PAGES                       = 20909
               CLEAN PAGES                         = 11
DSNB787I -DB2A RECLAIMS
               FOR DIRECTORY ENTRIES               = 18281
             CASTOUTS                              = 16073
DSNB790I -DB2A DISPLAY FOR GROUP BUFFER POOL GBP1 IS COMPLETE
"""

COUPLING = """\
                                C O U P L I N G   F A C I L I T Y   A C T I V I T Y
      z/OS V2R4                SYSPLEX PLEX1               DATE 07/27/2021            INTERVAL 015.00.000
                               CONVERTED TO z/OS V2R4 RMF  TIME 10.00.00              CYCLE 01.000 SECONDS
  POLICY ACTIVATION DATE/TIME 05/04/2021 13.51.22
  COUPLING FACILITY NAME = CF01
  TOTAL SAMPLES(AVG) =   900  (MAX) =   900  (MIN) =   900
   AVERAGE CF UTILIZATION  (% BUSY)      12.5     LOGICAL PROCESSORS:   DEFINED   2    EFFECTIVE   2.0
"""

ACTIVITY = """
SQL DML        AVERAGE     TOTAL    LOCKING           AVERAGE    TOTAL    TOTAL BPOOL ACTIVITY      AVERAGE     TOTAL
----------  ----------  --------    ----------------  --------  -------    ---------------------    --------  --------
SELECT           12.00      2400    TIMEOUTS              0.01        2    BPOOL HIT RATIO (%)         99.00       N/A
INSERT            3.50       700    LOCK REQUEST         40.00     8000    GETPAGES                   512.25    102450
FETCH            45.00      9000    LOCK SUSPENSIONS      0.50      100    SYNCHRONOUS READ             4.25       850

BP2 BPOOL ACTIVITY          AVERAGE     TOTAL
---------------------      --------  --------
GETPAGES                     400.25     80050
SYNCHRONOUS READ               3.25       650
"""


def test_names_that_blanks_part_are_known(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, POOL)
    understood(reading)
    (pool,) = rows["text_db2_pool"]
    assert (pool["getpages_random"], pool["getpages_sequential"]) == (4912221, 1378500)
    assert (pool["sync_reads_random"], pool["sync_reads_sequential"]) == (18193, 12)
    assert (pool["sequential_prefetch_reads"], pool["sequential_prefetch_pages"]) == (14473, 444030)
    assert value(rows, "SEQ. GETPAGE")["number"] == 1378500


def test_numbers_without_a_column_are_counted_and_shown(tmp_path: Path) -> None:
    _, reading = read_text(tmp_path, POOL)
    place = "DSNB411I PAGES UNDER WATCH"
    told = {"note": "number_without_a_column", "section": "db2_display_bufferpool", "field": place, "count": 1}
    assert reading.summary["notes"] == [told]
    path = tmp_path / "pool.txt"
    path.write_text(POOL)
    inventory = of_file(path)
    line = f"  counted: 1 x number without a column: db2_display_bufferpool: {place}"
    assert line in list(to_lines([inventory]))
    assert to_json([inventory])["notes"][0]["count"] == 1
    with Pdb.temporary() as pdb:
        ingest([path], pdb)
        readings = readings_of(pdb.connect())
    (note,) = readings.notes
    assert (note.section, note.field, note.count) == ("db2_display_bufferpool", place, 1)
    (record,) = readings.records
    assert (record.kind, record.system, record.records) == ("text db2_display_bufferpool", "DB2A", 1)


def test_the_time_of_the_last_checkpoint_stands_on_a_line_of_its_own(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, GROUP_POOL)
    understood(reading)
    assert value(rows, "LAST GROUP BUFFER POOL CHECKPOINT")["value"] == "OCT 16, 2011 17:08:41"


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("LAST GROUP BUFFER POOL CHECKPOINT\n             17:23:21 OCT 4, 2002", "OCT 4, 2002 17:23:21"),
        ("LAST GROUP BUFFER POOL CHECKPOINT 17:23:21 OCT 4, 2002", "17:23:21 OCT 4, 2002"),
    ],
    ids=["two lines", "one line"],
)
def test_the_time_of_the_last_checkpoint_is_a_point_in_time(tmp_path: Path, lines: str, shown: str) -> None:
    head = "DSNB750I -DB1A DISPLAY FOR GROUP BUFFER POOL GBP0 FOLLOWS\nDSNB798I -DB1A "
    rest = "\n             GBP CHECKPOINT RECOVERY LRSN = ACD74C01EE30\n             STRUCTURE OWNER = DB1A\n"
    rows, reading = read_text(tmp_path, head + lines + rest)
    understood(reading)
    found = value(rows, "LAST GROUP BUFFER POOL CHECKPOINT")
    # 11,964 days after 1970-01-01: 32 years of 365, 8 leap days, and 276 days of 2002.
    assert (found["value"], found["value_type"]) == (shown, "timestamp")
    assert found["number"] == (32 * 365 + 8 + 276) * 86400 + 17 * 3600 + 23 * 60 + 21


def test_what_failed_in_the_group_is_not_what_failed_in_the_member(tmp_path: Path) -> None:
    failed = "               FAILED DUE TO LACK OF STORAGE       = 8\n"
    group = GROUP_POOL.replace("               CLEAN PAGES                         = 11\n", failed)
    member = """\
DSNB772I -DB2A CUMULATIVE MEMBER DETAIL STATISTICS SINCE 15:35:25 MAR 17, 2022
DSNB777I -DB2A ASYNCHRONOUS WRITES
               CHANGED PAGES                       = 600
             FAILED WRITES DUE TO LACK OF STORAGE  = 2
DSNB764I -DB2A DUPLEXING STATISTICS FOR GBP1-SEC
             WRITES
               FAILED DUE TO LACK OF STORAGE       = 1
DSNB790I"""
    assert failed in group
    with inputs_of(tmp_path, group.replace("DSNB790I", member)) as inputs:
        found = rows_of(inputs, "db2_group_pool")
    one = {name: [row[name] for row in found if row[name] is not None] for name in found[0]}
    assert (one["group_writes_failed"], one["write_failed_no_storage"]) == ([8], [2])
    assert one["secondary_write_failed"] == [1]


def test_reads_and_writes_of_the_group_reach_the_grain(tmp_path: Path) -> None:
    with inputs_of(tmp_path, GROUP_POOL) as inputs:
        (pool,) = rows_of(inputs, "db2_group_pool")
    assert (pool["group_reads_data"], pool["group_writes_changed"], pool["group_writes_clean"]) == (3845, 20909, 11)
    assert pool["castouts"] == 16073
    assert pool["group_read_hit_fraction"] == pytest.approx(3845 / 5000)
    # What the group did is not what this member did.
    assert pool["read_hit_fraction"] is None


def test_the_activation_of_a_policy_is_understood(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, COUPLING)
    understood(reading)
    assert value(rows, "POLICY ACTIVATION DATE/TIME")["value"] == "05/04/2021 13.51.22"
    assert rows["text_rmf_coupling_facility"][0]["busy_percent"] == 12.5


def test_counts_of_the_long_report_reach_accounting(tmp_path: Path) -> None:
    with inputs_of(tmp_path, LONG[: LONG.index("SQL DML ")] + ACTIVITY) as inputs:
        (plan,) = rows_of(inputs, "db2_accounting")
    # 200 occurrences; of the pools the block of all of them counts.
    printed = {
        "selects": 12,
        "inserts": 3.5,
        "fetches": 45,
        "lock_requests": 40,
        "getpages": 512.25,
        "sync_reads": 4.25,
    }
    assert {name: plan[name] for name in printed} == pytest.approx({name: 200 * n for name, n in printed.items()})
    assert plan["getpages_per_sync_read"] == pytest.approx(512.25 / 4.25)


def test_counts_of_the_short_report_reach_accounting(tmp_path: Path) -> None:
    short = SHORT[: SHORT.index(" DSNTIAD")]
    with inputs_of(tmp_path, short) as inputs:
        (plan,) = rows_of(inputs, "db2_accounting")
    printed = {
        **{"selects": 443.2, "inserts": 0.6, "updates": 12.6, "deletes": 3.2, "opens": 505.2, "fetches": 1551.7},
        **{"prepares": 10.4, "getpages": 3318.3, "sync_reads": 0.6, "buffer_updates": 1.2, "lock_suspensions": 0.25},
    }
    assert {name: plan[name] for name in printed} == pytest.approx({name: 10 * n for name, n in printed.items()})


def test_time_not_accounted_needs_class_3(tmp_path: Path) -> None:
    def not_accounted(inputs: Inputs) -> list[object]:
        (plan,) = rows_of(inputs, "db2_accounting")
        assert plan["class2_elapsed_time"] is not None
        return [plan["not_accounted_time"], plan["not_accounted_fraction"]]

    # The short report prints elapsed and CPU times, and no suspensions.
    with inputs_of(tmp_path, SHORT[: SHORT.index(" DSNTIAD")]) as inputs:
        assert not_accounted(inputs) == [None, None]


def test_time_not_accounted_of_a_long_report_needs_class_3(tmp_path: Path) -> None:
    printed = LONG[: LONG.index("SQL DML ")]
    begin = printed.index("AVERAGE       APPL(CL.1)")
    # Class 3 was not started: no block of suspensions beside the times, and no time suspended or not accounted.
    times = "\n".join(line[:38].rstrip() for line in printed[begin:].splitlines())
    times = re.sub(r"(SUSPEND TIME +)0\.000000( +)0\.537000", r"\1     N/P\2     N/P", times)
    times = re.sub(r"(NOT ACCOUNT\. +N/A +)0\.130000", r"\1     N/P", times)

    def found(text: str) -> list[object]:
        with inputs_of(tmp_path, text) as inputs:
            (plan,) = rows_of(inputs, "db2_accounting")
        return [plan[name] for name in ("class2_elapsed_time", "suspended_time", "not_accounted_time")]

    # 0.75 less 0.05 on CPs, 0.033 on zIIPs and 0.537 suspended.
    assert found(printed) == pytest.approx([0.75, 0.537, 0.75 - 0.05 - 0.033 - 0.537])
    assert found(printed[:begin] + times + "\n") == [0.75, None, None]


def test_the_activation_of_a_policy_is_understood_above_classes(tmp_path: Path) -> None:
    activation = "                               POLICY ACTIVATION DATE/TIME 05/04/2021 13.51.22\n"
    at = WORKLOAD.index(" REPORT BY:")
    plain, _ = read_text(tmp_path, WORKLOAD)
    rows, reading = read_text(tmp_path, WORKLOAD[:at] + activation + WORKLOAD[at:])
    understood(reading)
    assert value(rows, "POLICY ACTIVATION DATE/TIME")["value"] == "05/04/2021 13.51.22"
    assert rows["text_rmf_workload_period"] == plain["text_rmf_workload_period"]
