"""Output of -DISPLAY BUFFERPOOL and -DISPLAY GROUPBUFFERPOOL."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.ingest.text_report_documents import drawn_together, quoted, read_text, tabbed, understood, value

POOL = """\
-DB2A DISPLAY BUFFERPOOL(BP2) DETAIL
DSNB401I  -DB2A BUFFERPOOL NAME BP2, BUFFERPOOL ID 2, USE COUNT 47
DSNB402I  -DB2A BUFFER POOL SIZE = 40000 BUFFERS  AUTOSIZE = NO
             VPSIZE MINIMUM = 0  VPSIZE MAXIMUM = 0
             ALLOCATED       =    40000   TO BE DELETED   =        0
             IN-USE/UPDATED  =      173   OVERFLOW ALLOC  =        0
DSNB431I  -DB2A SIMULATED BUFFER POOL SIZE = 0 BUFFERS -
             ALLOCATED       =        0
             IN-USE          =        0   HIGH IN-USE     =        0
             SEQ-IN-USE      =        0   HIGH SEQ-IN-USE =        0
DSNB406I  -DB2A PGFIX ATTRIBUTE -
             CURRENT = YES
             PENDING = YES
           PAGE STEALING METHOD -
             CURRENT = LRU
             PENDING = LRU
DSNB404I  -DB2A THRESHOLDS -
             VP SEQUENTIAL         = 80   SP SEQUENTIAL          = 0
             DEFERRED WRITE        = 30   VERTICAL DEFERRED WRT  = 5,  0
             PARALLEL SEQUENTIAL   = 50   ASSISTING PARALLEL SEQT= 0
DSNB546I  -DB2A PREFERRED FRAME SIZE 4K
             40000 BUFFERS USING 4K FRAME SIZE ALLOCATED
DSNB409I  -DB2A INCREMENTAL STATISTICS SINCE 14:57:55 MAR 15, 2023
DSNB411I  -DB2A RANDOM GETPAGE   = 4912221  SYNC READ I/O (R) =    18193
             SEQ. GETPAGE        = 1378500  SYNC READ I/O (S) =       12
             DMTH HIT            =       1  PAGE-INS REQUIRED =   460400
             SEQUENTIAL          =     200  VPOOL HITS        =
             RANDOM              =      11  RANDOM            =        7
DSNB412I  -DB2A SEQUENTIAL PREFETCH -
             REQUESTS        =    41800   PREFETCH I/O    =    14473
             PAGES READ      =   444030
DSNB413I  -DB2A LIST PREFETCH -
             REQUESTS        =     9046   PREFETCH I/O    =     2263
             PAGES READ      =     3046
DSNB414I  -DB2A DYNAMIC PREFETCH -
             REQUESTS        =     6680   PREFETCH I/O    =      142
             PAGES READ      =     1333
DSNB415I  -DB2A PREFETCH DISABLED -
             NO BUFFER       =        3   NO READ ENGINE  =        4
DSNB420I  -DB2A SYS PAGE UPDATES =   220425   SYS PAGES WRITTEN =    35169
             ASYNC WRITE I/O =     5084   SYNC WRITE I/O  =        5
             PAGE-INS REQUIRED =     45
DSNB421I  -DB2A DWT HIT         =        2   VERTICAL DWT HIT  =       60
DSNB440I  -DB2A PARALLEL ACTIVITY -
             PARALLEL REQUEST =      25   DEGRADED PARALLEL =        6
DSN9022I  -DB2A DSNB1CMD '-DB2A DISPLAY BUFFERPOOL' NORMAL COMPLETION
"""

# Each number stands once in POOL, so a value in a wrong column cannot pass.
POOL_ROW = {
    "pool_name": "BP2",
    "statistics": "incremental",
    "subsystem": "DB2A",
    "pool_size_buffers": 40000,
    "buffers": 40000,
    "active_buffers": 173,
    "page_fix": "YES",
    "page_steal": "LRU",
    "autosize": "NO",
    "vpseqt_percent": 80,
    "dwqt_percent": 30,
    "vdwqt_percent": 5,
    "vppseqt_percent": 50,
    "getpages_random": 4912221,
    "sync_reads_random": 18193,
    "getpages_sequential": 1378500,
    "sync_reads_sequential": 12,
    "data_manager_threshold": 1,
    "page_ins_read": 460400,
    "sequential_prefetch_requests": 41800,
    "sequential_prefetch_reads": 14473,
    "sequential_prefetch_pages": 444030,
    "list_prefetch_requests": 9046,
    "list_prefetch_reads": 2263,
    "list_prefetch_pages": 3046,
    "dynamic_prefetch_requests": 6680,
    "dynamic_prefetch_reads": 142,
    "dynamic_prefetch_pages": 1333,
    "prefetch_disabled_no_buffer": 3,
    "prefetch_disabled_no_engine": 4,
    "buffer_updates": 220425,
    "pages_written": 35169,
    "async_writes": 5084,
    "sync_writes": 5,
    "page_ins_write": 45,
    "deferred_write_threshold": 2,
    "vertical_write_threshold": 60,
    "parallel_requests": 25,
    "parallel_requests_reduced": 6,
    "getpages": None,
    "hit_ratio_percent": None,
}


LSTATS = """\
DSNB467I  -DB2A STATISTICS FOR TABLE SPACE DSN8D13A.DSN8S13E INSTANCE 3 -
             DATA SET #: 21   USE COUNT: 8
DSNB453I  -DB2A VP CACHED PAGES -
             CURRENT         =      120   MAX             =     2400
             CHANGED         =       13   MAX             =       77
DSNB455I  -DB2A SYNCHRONOUS I/O DELAYS -
             AVERAGE DELAY   =        2
             MAXIMUM DELAY   =       35
             TOTAL PAGES     =      400
           SYNCHRONOUS I/O DELAYS WITH ZHYPERLINK -
             AVERAGE DELAY   =        1
             MAXIMUM DELAY   =        6
             TOTAL PAGES     =      150
DSNB456I  -DB2A ASYNCHRONOUS I/O DELAYS -
             AVERAGE DELAY   =        4
             MAXIMUM DELAY   =       41
             TOTAL PAGES     =      960
             TOTAL I/O COUNT =       30
DSNB467I  -DB2A STATISTICS FOR INDEX SPACE DSN8D13A.XEMP1 -
             DATA SET #: 1   USE COUNT: 9
DSNB455I  -DB2A SYNCHRONOUS I/O DELAYS -
             AVERAGE DELAY   =        7
             MAXIMUM DELAY   =       19
             TOTAL PAGES     =       51
"""

#: POOL with the data sets of LSTATS.
DETAILED = POOL.replace("DSN9022I", LSTATS + "DSN9022I")

# Each number stands once in LSTATS.
DATA_SET_ROWS = [
    {
        "pool_name": "BP2",
        "subsystem": "DB2A",
        "object_type": "table space",
        "database_name": "DSN8D13A",
        "page_set": "DSN8S13E",
        "instance": 3,
        "data_set": 21,
        "use_count": 8,
        "pages_cached": 120,
        "pages_cached_most": 2400,
        "pages_changed": 13,
        "pages_changed_most": 77,
        "sync_delay_average_seconds": 0.002,
        "sync_delay_longest_seconds": 0.035,
        "sync_pages": 400,
        "zhyperlink_delay_average_seconds": 0.001,
        "zhyperlink_delay_longest_seconds": 0.006,
        "zhyperlink_pages": 150,
        "async_delay_average_seconds": 0.004,
        "async_delay_longest_seconds": 0.041,
        "async_pages": 960,
        "async_ios": 30,
    },
    {
        "pool_name": "BP2",
        "object_type": "index space",
        "database_name": "DSN8D13A",
        "page_set": "XEMP1",
        "instance": None,
        "data_set": 1,
        "use_count": 9,
        "pages_cached": None,
        "sync_delay_average_seconds": 0.007,
        "sync_delay_longest_seconds": 0.019,
        "sync_pages": 51,
        "zhyperlink_pages": None,
        "async_ios": None,
    },
]


def one_blank(text: str) -> str:
    """Every gap one blank: what is left of columns in some mail programs."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def logged(text: str) -> str:
    """As the system log holds it."""
    lines = text.splitlines()
    first = "N 4000000 SYSA     2023074 15:01:00.22 STC00123 00000090  "
    return "\n".join((first if re.match(r"DSN|-", line) else "D         123 00000090  ") + line for line in lines)


@pytest.mark.parametrize(
    "spoil",
    [str, one_blank, drawn_together, tabbed, quoted, logged],
    ids=["as printed", "one blank", "drawn together", "tabs", "quoted", "system log"],
)
def test_a_pool_in_whatever_form_it_comes(tmp_path: Path, spoil: object) -> None:
    assert callable(spoil)
    rows, reading = read_text(tmp_path, spoil(POOL))
    understood(reading)
    (row,) = rows["text_db2_pool"]
    assert {column: row[column] for column in POOL_ROW} == POOL_ROW
    assert row["interval_start"] == datetime(2023, 3, 15, 14, 57, 55, tzinfo=UTC)
    assert row["interval_end"] is None


@pytest.mark.parametrize(
    "spoil",
    [str, one_blank, drawn_together, tabbed, quoted, logged],
    ids=["as printed", "one blank", "drawn together", "tabs", "quoted", "system log"],
)
def test_data_sets_in_whatever_form_they_come(tmp_path: Path, spoil: object) -> None:
    assert callable(spoil)
    rows, reading = read_text(tmp_path, spoil(DETAILED))
    understood(reading)
    for row, expected in zip(rows["text_db2_data_set"], DATA_SET_ROWS, strict=True):
        assert {column: row[column] for column in expected} == expected
        assert row["interval_start"] == datetime(2023, 3, 15, 14, 57, 55, tzinfo=UTC)
        assert row["interval_end"] is None
    # The pool's own numbers are the same with the data sets behind them.
    (row,) = rows["text_db2_pool"]
    assert {column: row[column] for column in POOL_ROW} == POOL_ROW


def test_data_sets_count_since_the_last_display_whatever_the_pool_does(tmp_path: Path) -> None:
    """With DETAIL(*) the pool's counts are those since it was allocated; when the last display was, nothing says."""
    cumulative = "DSNB410I  -DB2A CUMULATIVE STATISTICS SINCE 03:00:00 MAR 12, 2023"
    both = DETAILED.replace("DSNB467I", f"{cumulative}\nDSNB467I", 1)
    rows, _ = read_text(tmp_path, both)
    assert {row["interval_start"] for row in rows["text_db2_data_set"]} == {
        datetime(2023, 3, 15, 14, 57, 55, tzinfo=UTC)
    }
    alone = re.sub(r"DSNB409I.*", cumulative, DETAILED)
    rows, _ = read_text(tmp_path, alone)
    assert {row["interval_start"] for row in rows["text_db2_data_set"]} == {None}
    assert rows["text_db2_pool"][0]["interval_start"] == datetime(2023, 3, 12, 3, tzinfo=UTC)
    # Each pool has its own last display.
    other = DETAILED.replace("BP2", "BP3").replace("ID 2", "ID 3")
    rows, _ = read_text(tmp_path, DETAILED + re.sub(r"DSNB409I.*\n", "", other))
    starts = {(row["pool_name"], row["interval_start"] is None) for row in rows["text_db2_data_set"]}
    assert starts == {("BP2", False), ("BP3", True)}


def test_delays_of_a_data_set_that_is_not_named_are_no_row(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, "\n".join(POOL.splitlines()[:-1] + LSTATS.splitlines()[2:18]))
    assert "text_db2_data_set" not in rows
    notes = [note for note in reading.summary["notes"] if note["note"] == "number_without_a_column"]
    assert {note["field"] for note in notes} >= {"DSNB455I AVERAGE DELAY", "DSNB456I TOTAL I/O COUNT"}


def test_the_log_names_the_system(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, logged(POOL))
    assert rows["text_db2_pool"][0]["system"] == "SYSA"
    assert reading.summary["systems"] == ["SYSA"]


def test_counts_of_a_display_are_exact(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, POOL)
    getpages = value(rows, "RANDOM GETPAGE")
    assert (getpages["number"], getpages["low"], getpages["high"]) == (4912221, 4912221, 4912221)
    assert (getpages["block"], getpages["object"]) == ("DSNB411I", "BP2")
    assert value(rows, "REQUESTS", block="DSNB413I")["parent"] == "LIST PREFETCH"
    assert value(rows, "BUFFERS USING 4K FRAME SIZE")["number"] == 40000
    assert value(rows, "VERTICAL DEFERRED WRT (2)")["number"] == 0


def test_every_pool_is_a_report(tmp_path: Path) -> None:
    other = POOL.replace("NAME BP2", "NAME BP8K0").replace("ID 2,", "ID 100,").replace("4912221", "77")
    rows, reading = read_text(tmp_path, POOL + other)
    understood(reading)
    assert [(row["pool_name"], row["getpages_random"], row["record_no"]) for row in rows["text_db2_pool"]] == [
        ("BP2", 4912221, 1), ("BP8K0", 77, 2),
    ]  # fmt: skip
    assert reading.summary["records"] == {"db2_display_bufferpool": 2}


def test_an_excerpt_without_its_beginning(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, POOL[POOL.index("DSNB411I") :])
    understood(reading)
    (row,) = rows["text_db2_pool"]
    assert (row["pool_name"], row["getpages_random"], row["sync_writes"]) == (None, 4912221, 5)


GROUP_POOL = """\
DSNB750I -DB1A DISPLAY FOR GROUP BUFFER POOL GBP29 FOLLOWS
DSNB755I -DB1A DB2 GROUP BUFFER POOL STATUS
             CONNECTED                                 = YES
             CURRENT DIRECTORY TO DATA RATIO           = 5
             PENDING DIRECTORY TO DATA RATIO           = 6
             CURRENT GBPCACHE ATTRIBUTE                = YES
             PENDING GBPCACHE ATTRIBUTE                = YES
DSNB756I -   CLASS CASTOUT THRESHOLD                   = 10%, 0
             GROUP BUFFER POOL CASTOUT THRESHOLD       = 50%
             GROUP BUFFER POOL CHECKPOINT INTERVAL     = 8 MINUTES
             RECOVERY STATUS                           = NORMAL
             AUTOMATIC RECOVERY                        = Y
DSNB757I -   MVS CFRM POLICY STATUS FOR DSNCAT_GBP29   = NORMAL
             MAX SIZE INDICATED IN POLICY              = 61440 KB
             DUPLEX INDICATOR IN POLICY                = ENABLED
             CURRENT DUPLEXING MODE                    = DUPLEX
             ALLOCATED                                 = YES
DSNB758I -     ALLOCATED SIZE                          = 61440 KB
               VOLATILITY STATUS                       = VOLATILE
               REBUILD STATUS                          = DUPLEXED
               CFNAME                                  = CACHE01
               CFLEVEL - OPERATIONAL                   = 17
               CFLEVEL - ACTUAL                        = 24
DSNB759I -     NUMBER OF DIRECTORY ENTRIES             = 61394
               NUMBER OF DATA PAGES                    = 11370
               NUMBER OF CONNECTIONS                   = 3
DSNB798I -     LAST GROUP BUFFER POOL CHECKPOINT 17:08:35 OCT 16, 2022
               GBP CHECKPOINT RECOVERY LRSN            = ACD74C77388C
               STRUCTURE OWNER                         = DB1A
DSNB783I -   CUMULATIVE GROUP DETAIL STATISTICS SINCE 15:35:23 OCT 15, 2022
DSNB784I -   GROUP DETAIL STATISTICS
               READS
                 DATA RETURNED                         = 3845
DSNB785I -       DATA NOT RETURNED
                   DIRECTORY ENTRY EXISTED             = 27
                   DIRECTORY ENTRY CREATED             = 28336
                   DIRECTORY ENTRY NOT CREATED         = 332, 0
DSNB786I -     WRITES
                 CHANGED PAGES                         = 20909
                 CLEAN PAGES                           = 14
                 FAILED DUE TO LACK OF STORAGE         = 8
               CHANGED PAGES SNAPSHOT VALUE            = 974
DSNB787I -     RECLAIMS
                 FOR DIRECTORY ENTRIES                 = 18281
                 FOR DATA ENTRIES                      = 4779
               CASTOUTS                                = 16073
DSNB788I -     CROSS INVALIDATIONS
                 DUE TO DIRECTORY RECLAIMS             = 4489
                 DUE TO WRITES                         = 3624
                 EXPLICIT                              = 2
DSNB762I -   DUPLEXING STATISTICS FOR GBP29-SEC
               WRITES
                 CHANGED PAGES                         = 20908
                 FAILED DUE TO LACK OF STORAGE         = 9
               CHANGED PAGES SNAPSHOT VALUE            = 973
DSNB820I -   AVERAGE RESIDENCY TIME
               FOR DIRECTORY ENTRIES                   = 2500000
               FOR DATA ENTRIES                        = 1250000
DSNB772I -   INCREMENTAL MEMBER DETAIL STATISTICS SINCE 16:00:00 OCT 16, 2022
DSNB773I -   MEMBER DETAIL STATISTICS
               SYNCHRONOUS READS
                 DUE TO BUFFER INVALIDATION
                   DATA RETURNED                       = 101
                   DATA NOT RETURNED                   = 102
DSNB774I -       DUE TO DATA PAGE NOT IN BUFFER POOL
                   DATA RETURNED                       = 103
                   DATA NOT RETURNED                   = 104
DSNB789I -     REGISTER PAGE LIST                      = 105
                 PAGES RETRIEVED                       = 106
DSNB776I -   SYNCHRONOUS WRITES
               CHANGED PAGES                           = 107
               CLEAN PAGES                             = 108
DSNB777I -   ASYNCHRONOUS WRITES
               CHANGED PAGES                           = 109
               CLEAN PAGES                             = 110
             FAILED WRITES DUE TO LACK OF STORAGE      = 111
             WRITE-AROUND PAGES                        = 112
DSNB778I -   CASTOUT THRESHOLDS DETECTED
               FOR CLASSES                             = 113
               FOR GROUP BUFFER POOL                   = 114
             GBP CHECKPOINTS TRIGGERED                 = 115
             PARTICIPATION IN REBUILD                  = 116
DSNB796I -   CASTOUTS
               PAGES CASTOUT                           = 117
               UNLOCK CASTOUT                          = 118
               READ CASTOUT CLASS                      = 119
               READ CASTOUT STATISTICS                 = 120
               READ DIRECTORY INFO                     = 121
DSNB797I -   OTHER INTERACTIONS
               REGISTER PAGE                           = 122
               UNREGISTER PAGE                         = 123
               DELETE NAME                             = 124
               READ STORAGE STATISTICS                 = 125
               EXPLICIT CROSS INVALIDATIONS            = 126
               ASYNCHRONOUS GBP REQUESTS               = 127
DSNB790I -DB1A DISPLAY FOR GROUP BUFFER POOL GBP29 IS COMPLETE
DSN9022I -DB1A DSNB1CMD '-DISPLAY GBPOOL' NORMAL COMPLETION
"""

GROUP_ROW = {
    "pool_name": "GBP29", "statistics": "cumulative", "structure_name": "DSNCAT_GBP29", "cf_name": "CACHE01",
    "directory_to_data_ratio": 5, "class_castout_percent": 10, "pool_castout_percent": 50,
    # 61440 KB of 1024 bytes
    "allocated_bytes": 62914560, "directory_entries": 61394, "data_pages": 11370, "connections": 3,
    "group_reads_data": 3845, "group_reads_entry_existed": 27, "group_reads_entry_created": 28336,
    "group_reads_entry_not_created": 332, "group_writes_changed": 20909, "group_writes_clean": 14,
    "group_writes_failed": 8, "changed_pages_now": 974, "directory_reclaims": 18281, "data_reclaims": 4779,
    "castouts": 16073, "invalidations_directory_reclaim": 4489, "invalidations_writes": 3624,
    "invalidations_explicit": 2, "group_secondary_writes_failed": 9,
    # These are the member's own.
    "write_failed_no_storage": None, "explicit_invalidations": None, "secondary_write_failed": None,
    # printed in microseconds
    "directory_residency_seconds": 2.5, "data_residency_seconds": 1.25,
}  # fmt: skip
MEMBER_ROW = {
    "pool_name": "GBP29", "statistics": "incremental", "reads_invalid_data": 101, "reads_invalid_no_data": 102,
    "reads_absent_data": 103, "reads_absent_no_data": 104, "register_page_lists": 105, "prefetch_pages_retrieved": 106,
    "changed_pages_sync": 107, "clean_pages_sync": 108, "changed_pages_async": 109, "clean_pages_async": 110,
    "write_failed_no_storage": 111, "write_around_pages": 112, "castout_class_threshold": 113,
    "castout_pool_threshold": 114, "checkpoints": 115, "rebuild_participations": 116, "pages_castout": 117,
    "unlock_castout": 118, "read_castout_class": 119, "read_castout_statistics": 120, "read_directory_info": 121,
    "register_page": 122, "unregister_pages": 123, "delete_name": 124, "read_storage_statistics": 125,
    "explicit_invalidations": 126, "async_requests": 127, "group_reads_data": None,
}  # fmt: skip


@pytest.mark.parametrize("spoil", [str, one_blank, quoted], ids=["as printed", "one blank", "quoted"])
def test_a_group_buffer_pool_with_the_group_s_and_the_member_s_counts(tmp_path: Path, spoil: object) -> None:
    assert callable(spoil)
    rows, reading = read_text(tmp_path, spoil(GROUP_POOL))
    understood(reading)
    group, member = rows["text_db2_group_buffer_pool"]
    assert {column: group[column] for column in GROUP_ROW} == GROUP_ROW
    assert {column: member[column] for column in MEMBER_ROW} == MEMBER_ROW
    assert group["subsystem"] == "DB1A"
    assert group["interval_start"] == datetime(2022, 10, 15, 15, 35, 23, tzinfo=UTC)
    assert member["interval_start"] == datetime(2022, 10, 16, 16, tzinfo=UTC)


def test_a_line_that_cannot_be_read_is_told_with_its_number(tmp_path: Path) -> None:
    text = POOL.replace("             PAGES READ      =   444030\n", "             PAGES READ      :   444030  13 7\n")
    rows, reading = read_text(tmp_path, text)
    (row,) = rows["text_db2_pool"]
    assert row["sequential_prefetch_pages"] is None
    (damage,) = [damage for damage in reading.damage if damage.reason == "line not recognised"]
    assert "line 31: 'PAGES READ      :   444030  13 7'" in damage.detail
    assert damage.record_no == 1
