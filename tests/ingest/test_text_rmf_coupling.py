"""RMF coupling facility activity as text."""

# ruff: noqa: E501  (reports are printed wider than code)

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.ingest.printed.catalogue import catalogue
from tests.ingest.text_report_documents import (
    carriage_control,
    drawn_together,
    quoted,
    read_text,
    tabbed,
    understood,
    value,
)
from tests.ingest.text_rmf_documents import COUPLING, rmf_heading


def structures(rows: dict[str, list[dict[str, object]]]) -> dict[tuple[object, object], dict[str, object]]:
    return {(row["structure_name"], row["system"]): row for row in rows["text_rmf_coupling_structure"]}


def test_the_facility(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, COUPLING)
    understood(reading)
    (facility,) = rows["text_rmf_coupling_facility"]
    expected = {
        "sysplex": "PLEX1", "cf_name": "CF01", "samples_average": 900, "samples_max": 901, "samples_min": 899,
        "cf_type": "8561", "cf_model": "T01", "cf_level": "24", "dynamic_dispatch": "THIN", "busy_percent": 12.4,
        "processors_defined": 2, "processors_effective": 1.5, "processors_shared": 1, "average_weight": 50,
        "storage_bytes": 16 * 1024**3, "storage_free_bytes": 14 * 1024**3,
        # 1.5 processors for 900 s, 12.4 % of them
        "processor_seconds": 1350.0, "busy_seconds": pytest.approx(167.4),
    }  # fmt: skip
    assert {column: facility[column] for column in expected} == expected
    assert catalogue().tables["rmf_xml_coupling_facility"].names() <= facility.keys()


def test_the_usage_summary(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, COUPLING)
    found = structures(rows)
    sca, lock, cache = (found[name, None] for name in ("DSNGRP_SCA", "DSNGRP_LOCK1", "DSNGRP_GBP2"))
    assert (sca["structure_type"], sca["size_bytes"], sca["requests"]) == ("LIST", 64 * 1024**2, 1200)
    assert (sca["size_percent"], sca["requests_percent"], sca["cf_busy_percent"]) == (0.4, 0.1, 0.2)
    assert (sca["requests_per_second"], sca["entries"], sca["elements"]) == (1.33, 21000, 42000)
    assert (sca["entries_used"], sca["elements_used"], sca["lock_entries"]) == (5112, 9120, None)
    assert (lock["structure_type"], lock["lock_entries"], lock["lock_entries_used"]) == ("LOCK", 134e6, 15123)
    assert (cache["status"], cache["directory_reclaims"], cache["directory_reclaim_invalidations"]) == (
        "ACTIVE PRIM",
        77,
        12,
    )
    # 134M was rounded to a million: it stands for 133.5 to 134.5 million.
    printed = value(rows, "LOCK ENTRIES TOT", value="134M")
    assert (printed["low"], printed["high"], printed["number_scale"]) == (133.5e6, 134.5e6, 1e6)
    assert value(rows, "# REQ", object="STRUCTURE TOTALS")["number"] == 1317743


def test_a_lock_structure_as_each_system_saw_it(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, COUPLING)
    found = structures(rows)
    one, two = found["DSNGRP_LOCK1", "SYSA"], found["DSNGRP_LOCK1", "SYSB"]
    expected = {
        "cf_name": "CF01", "structure_type": "LOCK", "status": "ACTIVE", "requests": 500000, "requests_per_second": 555.6,
        "sync_requests": 480000, "sync_percent": 48.7, "sync_service_seconds": 6.1e-6, "sync_deviation_seconds": 2.5e-6,
        "async_requests": 20000, "async_service_seconds": 80e-6, "changed_requests": 15, "suppressed_requests": 0,
        "delayed_no_subchannel_requests": 40, "delayed_no_subchannel_percent": 0.1,
        "delayed_no_subchannel_seconds": 25e-6, "delayed_peer_wait_requests": 0, "delayed_peer_completion_requests": 0,
        "lock_requests": 505000, "deferred_requests": 900, "contended_requests": 850, "false_contended_requests": 212,
        # 480000 requests of 6.1 microseconds, 20000 of 80, 40 delayed by 25
        "sync_total_seconds": 2.928, "async_total_seconds": 1.6, "delayed_no_subchannel_total_seconds": 0.001,
    }  # fmt: skip
    for column, wanted in expected.items():
        assert one[column] == (wanted if isinstance(wanted, str) else pytest.approx(wanted, rel=1e-12)), column
    assert one["sync_square_seconds"] == pytest.approx(480000 * (6.1e-6**2 + 2.5e-6**2))
    assert (two["requests"], two["sync_requests"], two["false_contended_requests"]) == (486543, 486543, 30)
    assert catalogue().tables["rmf_xml_coupling_structure"].names() <= one.keys()


def test_totals_are_values_and_no_rows(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, COUPLING)
    assert not [row for row in rows["text_rmf_coupling_structure"] if row["system"] == "TOTAL"]
    assert value(rows, "READS", object="DSNGRP_GBP2 TOTAL")["number"] == 120345
    assert value(rows, "XI'S", object="DSNGRP_GBP2 TOTAL")["number"] == 22000
    assert structures(rows)["DSNGRP_GBP2", "SYSA"]["async_service_seconds"] == pytest.approx(110e-6)


@pytest.mark.parametrize(
    "spoil",
    [tabbed, quoted, drawn_together, lambda text: carriage_control([text])],
    ids=["tabs", "quoted", "drawn", "asa"],
)
def test_spoiled_pages_give_the_same_rows(tmp_path: Path, spoil: object) -> None:
    assert callable(spoil)
    clean, _ = read_text(tmp_path, COUPLING)
    spoiled, reading = read_text(tmp_path, spoil(COUPLING))
    understood(reading)
    for table in ("text_rmf_coupling_facility", "text_rmf_coupling_structure"):
        assert spoiled[table] == clean[table]


def test_a_page_break_within_a_structure_changes_nothing(tmp_path: Path) -> None:
    clean, _ = read_text(tmp_path, COUPLING)
    at = COUPLING.index("  SYSB      486543")
    heading = rmf_heading("COUPLING FACILITY ACTIVITY", sysplex="PLEX1") + "\n  COUPLING FACILITY NAME = CF01\n"
    again = "  STRUCTURE NAME = DSNGRP_LOCK1     TYPE = LOCK   STATUS = ACTIVE\n"
    broken, reading = read_text(tmp_path, COUPLING[:at] + "\f" + heading + again + COUPLING[at:])
    understood(reading)
    assert broken["text_rmf_coupling_structure"] == clean["text_rmf_coupling_structure"]
    assert reading.summary["reports"] == 1


def test_subchannel_activity_is_in_the_values(tmp_path: Path) -> None:
    text = rmf_heading("COUPLING FACILITY ACTIVITY", sysplex="PLEX1") + """
  COUPLING FACILITY NAME = CF01
                                              SUBCHANNEL  ACTIVITY

            # REQ                        ----------- REQUESTS -----------   -------------- DELAYED REQUESTS --------------
  SYSTEM    TOTAL   -- CF LINKS --  PTH          #   -SERVICE TIME(MIC)-              #   % OF  ------ AVG TIME(MIC) ------
  NAME     AVG/SEC  TYPE  GEN  USE  BUSY        REQ     AVG    STD_DEV               REQ   REQ    /DEL  STD_DEV   /ALL

  SYSA     1234567  CIB     8    8     0  SYNC  1200K    7.1      3.0   LIST/CACHE    55   0.0   120.0     30.0    0.1
            1371.7  SUBCH  56   56        ASYNC   34K   99.5     60.0   LOCK           5   0.0    20.0      9.0    0.0
                                          CHANGED  45  INCLUDED IN ASYNC TOTAL        60   0.0
                                          UNSUCC    0    0.0      0.0
"""  # fmt: skip
    rows, reading = read_text(tmp_path, text)
    understood(reading)
    assert value(rows, "SYNC", "# REQ")["number"] == 1200000
    assert value(rows, "ASYNC", "AVG")["number"] == 99.5
    assert value(rows, "SYNC", "DELAYED # REQ", parent="LIST/CACHE")["number"] == 55
    assert value(rows, "SYNC", "# REQ")["object"] == "SYSA"
