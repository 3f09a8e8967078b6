"""CICS statistics as text."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.ingest.text_report_documents import carriage_control, quoted, read_text, tabbed, understood, value
from tests.ingest.text_rmf_documents import DFHSTUP, TCB_MODES


def statistics(rows: dict[str, list[dict[str, object]]]) -> dict[tuple[object, object], object]:
    return {(row["resource"], row["statistic"]): row["number"] for row in rows["text_cics_statistics"]}


MODES = {
    ("QR", "tcbs_attached"): 1, ("QR", "tcbs_attached_peak"): 1, ("QR", "mvs_waits"): 4463,
    # 01:53:49.8661
    ("QR", "mvs_wait_seconds"): 6829.8661, ("QR", "dispatched_seconds"): 4.92424, ("QR", "cpu_seconds"): 2.28346,
    ("QR", "dispatcher_cpu_seconds"): 0.34112, ("QR", "cpu_dispatch_ratio"): 46.3,
    ("RO", "tcbs_attached"): 2, ("RO", "tcbs_attached_peak"): 3, ("RO", "mvs_waits"): 214,
    ("RO", "mvs_wait_seconds"): 6796.47126, ("RO", "dispatched_seconds"): 14.06893, ("RO", "cpu_seconds"): 1.10855,
    ("RO", "dispatcher_cpu_seconds"): 0.00475,
}  # fmt: skip


def test_tcb_modes(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, TCB_MODES)
    understood(reading)
    found = statistics(rows)
    assert {key: found[key] for key in MODES} == MODES
    assert ("RO", "cpu_dispatch_ratio") not in found
    row = rows["text_cics_statistics"][-1]
    assert (row["subsystem"], row["system_name"], row["job_name"], row["cics_version"]) == (
        "IYK2Z1V1", "CJB3", "CI07CJB1", "6.4.0",
    )  # fmt: skip
    assert row["interval_end"] == datetime(2004, 12, 17, 9, 18, 32, tzinfo=UTC)
    assert row["section"] == "Dispatcher TCB Modes"


def test_names_with_rows_of_points(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, TCB_MODES)
    found = statistics(rows)
    assert found[None, "address_space_accumulated_cpu_time"] == 4.55795
    assert found[None, "number_of_cics_tcb_modes"] == 18
    # 5,000ms
    assert found[None, "current_icv_time"] == 5.0
    start = value(rows, "Dispatcher Start Time and Date")
    assert start["value"].startswith("08:48:48.61342")


def test_the_utility_s_heading_names_region_and_interval(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, DFHSTUP)
    understood(reading)
    found = statistics(rows)
    assert found[None, "total_number_of_transactions_user_system"] == 123456
    assert found[None, "current_maxtask_limit"] == 250
    assert found[None, "current_number_of_active_user_tasks"] == 12
    assert found[None, "times_at_maxtask"] == 3
    row = rows["text_cics_statistics"][0]
    assert (row["subsystem"], row["section"]) == ("CICSPRD1", "Transaction Manager Statistics")
    assert (row["interval_start"].isoformat(), row["interval_end"].isoformat()) == (
        "2013-12-13T14:30:00+00:00",
        "2013-12-13T15:00:00+00:00",
    )


@pytest.mark.parametrize(
    "spoil", [tabbed, quoted, lambda text: carriage_control([text])], ids=["tabs", "quoted", "asa"]
)
def test_spoiled_layout(tmp_path: Path, spoil: object) -> None:
    assert callable(spoil)
    rows, reading = read_text(tmp_path, spoil(DFHSTUP))
    understood(reading)
    clean, _ = read_text(tmp_path, DFHSTUP)
    assert rows["text_cics_statistics"] == clean["text_cics_statistics"]


def test_two_regions_are_two_reports(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, DFHSTUP + DFHSTUP.replace("CICSPRD1", "CICSPRD2").replace("123,456", "99"))
    understood(reading)
    totals = [row for row in rows["text_cics_statistics"] if row["statistic"].startswith("total_number")]
    assert [(row["subsystem"], row["number"]) for row in totals] == [("CICSPRD1", 123456), ("CICSPRD2", 99)]
    assert reading.summary["subsystems"] == ["CICSPRD1", "CICSPRD2"]
