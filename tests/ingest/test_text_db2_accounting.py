"""Db2 accounting reports: times, suspensions, highlights, packages; long, short and trace."""

# ruff: noqa: E501  (reports are printed wider than code)

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingest.text_report_documents import carriage_control, db2_heading, read_text, tabbed, understood, value

LONG = (
    db2_heading("1-1", "ACCOUNTING REPORT - LONG")
    + """
PRIMAUTH: WEBUSER  PLANNAME: DISTSERV

ELAPSED TIME DISTRIBUTION                                           CLASS 2 TIME DISTRIBUTION
----------------------------------------------------------------    ----------------------------------------------------------------
APPL   |====================> 40%                                   CPU    |====> 8%
DB2    |=====> 10%                                                  SECPU  |=> 2%
SUSP   |=========================> 50%                              NOTACC |
                                                                    SUSP   |=============================================> 90%

AVERAGE       APPL(CL.1)  DB2 (CL.2)  IFI (CL.5)    CLASS 3 SUSPENSIONS   AVERAGE TIME  AV.EVENT    HIGHLIGHTS
------------  ----------  ----------  ----------    --------------------  ------------  --------    --------------------------
ELAPSED TIME    1.250000    0.750000         N/P    LOCK/LATCH(DB2+IRLM)      0.011000      1.50    #OCCURRENCES    :      200
 NONNESTED      1.200000    0.710000         N/A     IRLM LOCK+LATCH          0.010000      1.00    #ALLIEDS        :        0
 STORED PROC    0.050000    0.040000         N/A     DB2 LATCH                0.001000      0.50    #ALLIEDS DISTRIB:        0
 UDF            0.000000    0.000000         N/A    SYNCHRON. I/O             0.300000     60.25    #DBATS          :      200
 TRIGGER        0.000000    0.000000         N/A     DATABASE I/O             0.280000     58.25    #DBATS DISTRIB. :        0
                                                     LOG WRITE I/O            0.020000      2.00    #NO PROGRAM DATA:        0
CP CPU TIME     0.060000    0.050000         N/P    OTHER READ I/O            0.150000      7.00    #NORMAL TERMINAT:      200
 AGENT          0.059000    0.049000         N/A    OTHER WRTE I/O            0.000000      0.00    #DDFRRSAF ROLLUP:        0
  NONNESTED     0.055000    0.045000         N/P    SER.TASK SWTCH            0.031000      3.10    #ABNORMAL TERMIN:        0
  STORED PRC    0.004000    0.004000         N/A     UPDATE COMMIT            0.026000      1.00    #CP/X PARALLEL. :        0
  UDF           0.000000    0.000000         N/A     OPEN/CLOSE               0.005000      2.10    #IO PARALLELISM :        0
  TRIGGER       0.000000    0.000000         N/A     SYSLGRNG REC             0.000000      0.00    #PCA RUP COUNT  :      N/A
 PAR.TASKS      0.001000    0.001000         N/A     EXT/DEL/DEF              0.000000      0.00    #RUP AUTONOM. PR:        0
                                                     OTHER SERVICE            0.000000      0.00    #AUTONOMOUS PR  :        0
SECP CPU        0.002500         N/A         N/A    ARC.LOG(QUIES)            0.000000      0.00    #INCREMENT. BIND:        0
                                                    LOG READ                  0.000000      0.00    #COMMITS        :      210
SE CPU TIME     0.034000    0.033000         N/A    DRAIN LOCK                0.000000      0.00    #ROLLBACKS      :        3
 NONNESTED      0.034000    0.033000         N/A    CLAIM RELEASE             0.000000      0.00    #SVPT REQUESTS  :        0
 STORED PROC    0.000000    0.000000         N/A    PAGE LATCH                0.002000      0.05    #SVPT RELEASE   :        0
 UDF            0.000000    0.000000         N/A    NOTIFY MSGS               0.000000      0.00    #SVPT ROLLBACK  :        0
 TRIGGER        0.000000    0.000000         N/A    GLOBAL CONTENTION         0.040000      4.00    MAX SQL CASC LVL:        1
                                                    COMMIT PH1 WRITE I/O      0.000000      0.00    UPDATE/COMMIT   :     1.25
 PAR.TASKS      0.000000    0.000000         N/A    ASYNCH CF REQUESTS        0.003000      0.20    SYNCH I/O AVG.  : 0.004979
                                                    TCP/IP LOB XML            0.000000      0.00
SUSPEND TIME    0.000000    0.537000         N/A    TOTAL CLASS 3             0.537000     76.10
 AGENT               N/A    0.537000         N/A
 PAR.TASKS           N/A    0.000000         N/A

NOT ACCOUNT.         N/A    0.130000         N/A
DB2 ENT/EXIT         N/A      512.50         N/A

GLOBAL       CONTENTION       L-LOCKS  AVERAGE TIME  AV.EVENT    GLOBAL       CONTENTION       P-LOCKS  AVERAGE TIME  AV.EVENT
-------------------------------------  ------------  --------    -------------------------------------  ------------  --------
L-LOCKS                                    0.025000      2.50    P-LOCKS                                    0.015000      1.50
 PARENT (DB,TS,TAB,PART)                   0.024000      2.25     PAGESET/PARTITION                         0.015000      1.50

SQL DML    AVERAGE     TOTAL    SQL DCL              TOTAL    LOCKING                AVERAGE     TOTAL
--------  --------  --------    ---------------   --------    --------------------  --------  --------
SELECT       12.00      2400    LOCK TABLE               0    TIMEOUTS                  0.01         2
INSERT        3.50       700    GRANT                    1    DEADLOCKS                 0.00         0

DSNREX01                  VALUE             DSNREX01            TIMES    DSNREX01              TIME  AVG.EVENT  TIME/EVENT
------------------  ------------------     ------------------  ------------    ------------------  ------------  ---------  ------------
TYPE                PACKAGE                ELAPSED TIME - CL7      0.700000    LOCK/LATCH              0.010000       1.40      0.007143
LOCATION            DSNLOC1                CP CPU TIME             0.047000     IRLM LOCK+LATCH        0.009000       0.90      0.010000
COLLECTION ID       WEBCOLL                 AGENT                  0.047000    SYNCHRONOUS I/O         0.290000      60.00      0.004833
PROGRAM NAME        DSNREX01                PAR.TASKS              0.000000    TOTAL CL8 SUSPENS.      0.500000      75.00      0.006667
OCCURRENCES                  190           SE CPU TIME             0.031000
"""
)


def test_times_of_class_1_and_2(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, LONG)
    understood(reading)
    plan, package = rows["text_db2_accounting"]
    assert (plan["level"], plan["is_average"], plan["primary_auth"], plan["plan_name"]) == (
        "plan", True, "WEBUSER", "DISTSERV",
    )  # fmt: skip
    assert (plan["member"], plan["group_name"], plan["location"]) == ("DB2A", "DSNGRP", "DSNLOC1")
    expected = {
        "class1_elapsed_seconds": 1.25,
        "class2_elapsed_seconds": 0.75,
        "class1_elapsed_nonnested_seconds": 1.2,
        "class1_elapsed_stored_proc_seconds": 0.05,
        "class2_elapsed_stored_proc_seconds": 0.04,
        "class1_cp_cpu_seconds": 0.06,
        "class2_cp_cpu_seconds": 0.05,
        "class2_cp_cpu_nonnested_seconds": 0.045,
        "class1_cp_cpu_stored_proc_seconds": 0.004,
        "class1_cp_cpu_parallel_seconds": 0.001,
        "class1_se_cpu_seconds": 0.034,
        "class2_se_cpu_seconds": 0.033,
        "class1_se_cpu_parallel_seconds": 0.0,
        "class1_secp_cpu_seconds": 0.0025,
        "class2_secp_cpu_seconds": None,
        "class2_suspended_seconds": 0.537,
        "class2_not_accounted_seconds": 0.13,
        "class2_entries": 512.5,
    }
    assert {column: plan[column] for column in expected} == expected
    assert package["level"] == "package"


def test_suspensions_by_cause_add_up_to_the_total_printed(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, LONG)
    plan = rows["text_db2_accounting"][0]
    # Those that are not parts of another one.
    causes = (
        "lock_latch", "sync_io", "other_read_io", "other_write_io", "service_task", "archive_log_quiesce",
        "archive_log_read", "drain_lock", "claim_release", "page_latch", "notify", "global_contention",
        "commit_phase_1_write", "async_cf", "lob_xml",
    )  # fmt: skip
    assert sum(plan[f"class3_{cause}_seconds"] for cause in causes) == pytest.approx(plan["class3_total_seconds"])
    assert sum(plan[f"class3_{cause}_events"] for cause in causes) == pytest.approx(plan["class3_total_events"])
    assert plan["class3_log_write_io_seconds"] == 0.02
    assert plan["class3_update_commit_events"] == 1.0
    assert plan["class3_total_seconds"] == plan["class2_suspended_seconds"]


def test_highlights(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, LONG)
    plan = rows["text_db2_accounting"][0]
    assert (plan["occurrences"], plan["dbats"], plan["commits"], plan["rollbacks"]) == (200, 200, 210, 3)
    assert plan["updates_per_commit"] == 1.25
    assert plan["synchronous_io_average_seconds"] == 0.004979
    assert value(rows, "#PCA RUP COUNT")["value_type"] == "not applicable"


def test_packages_have_a_row_each(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, LONG)
    package = rows["text_db2_accounting"][1]
    assert (package["package_name"], package["collection"], package["plan_name"]) == ("DSNREX01", "WEBCOLL", "DISTSERV")
    assert (package["occurrences"], package["class2_elapsed_seconds"], package["class2_cp_cpu_seconds"]) == (
        190,
        0.7,
        0.047,
    )
    assert (package["class2_se_cpu_seconds"], package["class3_lock_latch_seconds"]) == (0.031, 0.01)
    assert (package["class3_sync_io_events"], package["class3_total_seconds"]) == (60.0, 0.5)


def test_names_are_told_apart_by_what_they_stand_under(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, LONG)
    agent = value(rows, "AGENT", "DB2 (CL.2)", parent="CP CPU TIME")
    assert agent["number"] == 0.049
    assert value(rows, "AGENT", "DB2 (CL.2)", parent="SUSPEND TIME")["number"] == 0.537
    assert value(rows, "AGENT", "APPL(CL.1)", parent="SUSPEND TIME")["value_type"] == "not applicable"
    assert value(rows, "DATABASE I/O", "AVERAGE TIME")["parent"] == "SYNCHRON. I/O"
    entries = value(rows, "DB2 ENT/EXIT", "DB2 (CL.2)")
    assert (entries["number"], entries["number_unit"]) == (512.5, None)


def test_blocks_with_other_heads_are_read_too(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, LONG)
    assert value(rows, "SELECT", "TOTAL", block="SQL DML")["number"] == 2400
    assert value(rows, "INSERT", "AVERAGE", block="SQL DML")["number"] == 3.5
    assert value(rows, "GRANT", "TOTAL", block="SQL DCL")["number"] == 1
    assert value(rows, "TIMEOUTS", "TOTAL", block="LOCKING")["number"] == 2
    assert value(rows, "PAGESET/PARTITION", "AVERAGE TIME")["number"] == 0.015
    assert value(rows, "SUSP", block="ELAPSED TIME DISTRIBUTION")["number"] == 50
    assert value(rows, "SUSP", block="CLASS 2 TIME DISTRIBUTION")["number"] == 90


@pytest.mark.parametrize("spoil", [tabbed, lambda text: carriage_control([text])], ids=["tabs", "carriage control"])
def test_spoiled_layout_gives_the_same_rows(tmp_path: Path, spoil: object) -> None:
    clean, _ = read_text(tmp_path, LONG)
    assert callable(spoil)
    spoiled, reading = read_text(tmp_path, spoil(LONG))
    understood(reading)
    assert spoiled["text_db2_accounting"] == clean["text_db2_accounting"]


def test_each_group_of_identifiers_has_a_row(tmp_path: Path) -> None:
    second = LONG[LONG.index("PRIMAUTH:") :].replace("DISTSERV", "BATCH01").replace("0.750000", "0.800000")
    rows, reading = read_text(tmp_path, LONG + "\n" + second)
    understood(reading)
    assert [(row["plan_name"], row["level"], row["class2_elapsed_seconds"]) for row in rows["text_db2_accounting"]] == [
        ("DISTSERV", "plan", 0.75),
        ("DISTSERV", "package", 0.7),
        ("BATCH01", "plan", 0.8),
        ("BATCH01", "package", 0.7),
    ]
    assert reading.summary["records"] == {"db2_accounting": 1}


def test_a_page_break_within_the_times_block_changes_nothing(tmp_path: Path) -> None:
    clean, _ = read_text(tmp_path, LONG)
    at = LONG.index("SECP CPU")
    at = LONG.rindex("\n", 0, at) + 1
    heading = db2_heading("1-2", "ACCOUNTING REPORT - LONG") + "\nPRIMAUTH: WEBUSER  PLANNAME: DISTSERV\n\n"
    broken, reading = read_text(tmp_path, LONG[:at] + "\f" + heading + LONG[at:])
    understood(reading)
    assert broken["text_db2_accounting"] == clean["text_db2_accounting"]
    pages = {row["page_no"] for row in broken["text_report_value"]}
    assert pages == {1, 2}


TRACE = (
    db2_heading("1-1", "ACCOUNTING TRACE - LONG")
    + """
---- IDENTIFICATION --------------------------------------------------------------------------------------------------------------
ACCT TSTAMP: 03/15/23 07:03:01.98      PLANNAME: BATCH01       WLM SCL: 'BLANK'             CICS NET: N/A
BEGIN TIME : 03/15/23 07:01:00.00      PROD TYP: N/P                                        CICS LUN: N/A
END TIME   : 03/15/23 07:03:01.98      PROD VER: N/P           LUW NET: NETA                CICS INS: N/A
REQUESTER  : DSNLOC1                   CORRNAME: JOBPAY01      LUW LUN: DB2A
MAINPACK   : PAYMAIN                   CORRNMBR: 'BLANK'       LUW INS: D85A10B3F1B2        ENDUSER : 'BLANK'
PRIMAUTH   : PAYROLL                   CONNTYPE: TSO           LUW SEQ:     5               TRANSACT: 'BLANK'
ORIGAUTH   : PAYROLL                   CONNECT : BATCH                                      WSNAME  : 'BLANK'

TIMES/EVENTS  APPL(CL.1)  DB2 (CL.2)  IFI (CL.5)    CLASS 3 SUSPENSIONS   ELAPSED TIME    EVENTS    HIGHLIGHTS
------------  ----------  ----------  ----------    --------------------  ------------  --------    --------------------------
ELAPSED TIME  2:01.98000  1:51.00000         N/P    LOCK/LATCH(DB2+IRLM)      0.500000        12    THREAD TYPE     : ALLIED
CP CPU TIME    31.250000   30.000000         N/P    SYNCHRON. I/O         1:10.000000     21000    TERM.CONDITION  : NORMAL
SE CPU TIME     0.000000    0.000000         N/A    TOTAL CLASS 3         1:10.500000     21012    COMMITS         :       17
"""
)


def test_a_trace_gives_what_each_thread_took(tmp_path: Path) -> None:
    second = TRACE[TRACE.index("---- IDENT") :].replace("PAYMAIN", "PAYOTHER").replace("31.250000", "32.500000")
    rows, reading = read_text(tmp_path, TRACE + "\n" + second)
    understood(reading)
    first, other = rows["text_db2_accounting"]
    assert (first["is_average"], first["main_package"], first["correlation_name"], first["connection"]) == (
        False, "PAYMAIN", "JOBPAY01", "BATCH",
    )  # fmt: skip
    assert (first["plan_name"], first["primary_auth"], first["connection_type"]) == ("BATCH01", "PAYROLL", "TSO")
    # 2:01.98 is two minutes and 1.98 seconds.
    assert (first["class1_elapsed_seconds"], first["class2_elapsed_seconds"]) == (121.98, 111.0)
    assert (first["class3_sync_io_seconds"], first["class3_sync_io_events"], first["commits"]) == (70.0, 21000, 17)
    assert (other["main_package"], other["class1_cp_cpu_seconds"]) == ("PAYOTHER", 32.5)
    elapsed = value(rows, "ELAPSED TIME", "APPL(CL.1)", line=18)
    assert (elapsed["value_type"], elapsed["low"], elapsed["high"]) == ("duration", 121.979995, 121.980005)


SHORT = (
    db2_heading("1-1", "ACCOUNTING REPORT - SHORT")
    + """
                                    #OCCURS #COMMIT INSERTS   OPENS PREPARE CLASS2 EL.TIME                BUF.UPDT LOCK SUS
PRIMAUTH                            #DISTRS SELECTS UPDATES  CLOSES         CLASS1 EL.TIME CLASS2 CPUTIME SYN.READ #LOCKOUT
 PLANNAME                           #ROLLBK FETCHES  MERGES DELETES         CLASS1 CPUTIME GETPAGES       TOT.PREF
---------------------------------- ------- ------- ------- ------- ------- -------------- -------------- -------- --------
SYSOPR                                   10     655    0.60  505.20   10.40       0.060370                    1.20     0.25
 DSNTEP2                                  0  443.20   12.60  505.20           5:40.386999       0.052687     0.60        0
                                          1 1551.70    0.00    3.20              0.115894        3318.30   168.50
 DSNTIAD                                  2       3    0.00    0.00    0.00            N/P                     N/P     0.00
                                          0    0.00    0.00    0.00           8:13.695925            N/P      N/P        0
                                          0    0.00    0.00    0.00              0.002014            N/P      N/P
"""
)


def test_the_short_report_has_three_lines_for_each_group(tmp_path: Path) -> None:
    # The identifiers stand on the lines below each other; DSNTEP2's are SYSOPR's own second line.
    text = SHORT.replace(" DSNTIAD          ", "SYSADM            ", 1).replace(
        "                                          0    0.00    0.00    0.00           8:13",
        " DSNTIAD                                  0    0.00    0.00    0.00           8:13",
    )
    rows, reading = read_text(tmp_path, text)
    understood(reading)
    first, second = rows["text_db2_accounting"]
    assert (first["primary_auth"], first["plan_name"]) == ("SYSOPR", "DSNTEP2")
    assert (first["occurrences"], first["commits"], first["rollbacks"]) == (10, 655, 1)
    # 5:40.386999 is 340.386999 s.
    assert (first["class1_elapsed_seconds"], first["class2_elapsed_seconds"]) == (340.386999, 0.06037)
    assert (first["class1_cp_cpu_seconds"], first["class2_cp_cpu_seconds"]) == (0.115894, 0.052687)
    assert (second["primary_auth"], second["plan_name"], second["class2_elapsed_seconds"]) == (
        "SYSADM",
        "DSNTIAD",
        None,
    )
    assert value(rows, "SYN.READ", value="0.60")["object"] == "PRIMAUTH=SYSOPR PLANNAME=DSNTEP2"
