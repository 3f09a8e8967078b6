"""RMF workload activity as text."""

# ruff: noqa: E501  (reports are printed wider than code)

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.ingest.printed.catalogue import catalogue
from tests.ingest.text_report_documents import carriage_control, quoted, read_text, tabbed, understood, value
from tests.ingest.text_rmf_documents import CPU, WORKLOAD


def test_a_period_of_a_service_class(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, WORKLOAD)
    understood(reading)
    cics = rows["text_rmf_workload_period"][0]
    expected = {
        "sysplex": "PLEX1", "system": None, "policy": "DAYPOL", "workload": "ONLINE", "class_kind": "service class",
        "class_name": "CICSHI", "period": 1, "importance": 2, "resource_group": "*NONE", "critical": "NONE",
        "description": "CICS HIGH TRANSACTIONS", "transactions_average": 4.75, "ended_transactions": 81234,
        "ended_per_second": 90.26, "swaps": 3, "average_enclaves": 1.5, "multisystem_enclaves": 0.25,
        # under HHH.MM.SS.FFFFFF 53250 is 53250 microseconds
        "response_seconds": 0.05325, "execution_seconds": 0.050125, "queued_seconds": 0.000125,
        "response_deviation_seconds": 1.0275,
        "io_service": 12345, "cpu_service": 3159000, "srb_service": 201000, "total_service": 3372000,
        "service_per_second": 3747, "absorption_rate": 789, "transaction_service_rate": 788,
        "cpu_seconds": 315.9, "srb_seconds": 20.1, "rct_seconds": 0.01, "io_interrupt_seconds": 0.59, "iip_seconds": 65.7,
        "aap_seconds": None, "cp_appl_percent": 28.1, "iip_on_cp_appl_percent": 1.2, "iip_appl_percent": 7.3,
        "promoted_blocked_seconds": 0.1, "promoted_enqueue_seconds": 0.02, "promoted_contention_seconds": 0.003,
        "promoted_lock_seconds": 0.004, "promoted_supervisor_seconds": 0.0,
        # milliseconds
        "io_per_second": 123.4, "io_response_seconds": 0.0005, "io_connect_seconds": 0.0003,
        "io_disconnect_seconds": 0.0001, "io_queue_pending_seconds": 0.0001, "io_ios_queue_seconds": 0.0,
        "storage_average_frames": 2048, "storage_total_frames": 9728, "storage_shared_frames": 12,
        "pagein_single_per_second": 0.1, "pagein_shared_per_second": 0.2, "pagein_hiperspace_per_second": 0.0,
        "transaction_cp_appl_percent": 35.1, "transaction_specialty_on_cp_appl_percent": 1.2,
        "transaction_specialty_appl_percent": 7.3, "mobile_cp_appl_percent": 5.1,
    }  # fmt: skip
    assert {column: cics[column] for column in expected} == expected


def test_derived_totals_are_those_of_the_xml_twin(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, WORKLOAD)
    cics = rows["text_rmf_workload_period"][0]
    assert catalogue().tables["rmf_xml_workload_period"].names() <= cics.keys()
    # 81234 transactions of 53.25 ms; 28.1 % of 900 s is 252.9 s, near the service times less those of the zIIP:
    # 315.9 + 20.1 + 0.01 + 0.59 - 65.7 = 270.9 s, which is not near enough to confirm it.
    assert cics["response_total_seconds"] == pytest.approx(81234 * 0.05325)
    assert cics["cp_seconds"] == pytest.approx(252.9)
    assert cics["iip_engine_seconds"] == pytest.approx(65.7)
    assert cics["iip_on_cp_seconds"] == pytest.approx(10.8)
    assert cics["io_operations"] == pytest.approx(111060)


def test_goals_and_what_was_achieved(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, WORKLOAD)
    cics, batch, nothing = rows["text_rmf_workload_period"]
    assert (cics["goal_type"], cics["goal_response_seconds"], cics["goal_percentile"]) == ("percentile", 0.5, 90)
    assert (cics["actual_response_percent"], cics["actual_velocity"], cics["performance_index"]) == (97.4, 88.1, 0.7)
    assert (batch["goal_type"], batch["goal_velocity"], batch["actual_velocity"]) == ("velocity", 10.0, 45.0)
    assert (batch["performance_index"], batch["importance"], batch["actual_response_percent"]) == (0.2, 5, None)
    # 1.02.500000 is a minute and 2.5 seconds
    assert (batch["response_seconds"], batch["execution_seconds"]) == (62.5, 61.5)
    assert (nothing["class_kind"], nothing["class_name"], nothing["all_zero"]) == ("report class", "RNOTHING", True)
    assert (nothing["ended_transactions"], nothing["cpu_seconds"]) == (0.0, 0.0)
    assert value(rows, "PERF INDX", "SYSA")["number"] == 0.6


def test_the_distribution_of_response_times(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, WORKLOAD)
    buckets = rows["text_rmf_workload_bucket"]
    assert [
        (row["bucket_no"], row["relation"], row["bound_seconds"], row["transactions"], row["transactions_cumulative"])
        for row in buckets
    ] == [(1, "<", 0.25, 70000, 70000), (2, "<=", 0.5, 9122, 79122), (3, ">", 2.0, 2112, 81234)]
    assert [row["transactions_percent"] for row in buckets] == [86.2, 11.2, 2.6]
    assert {row["class_name"] for row in buckets} == {"CICSHI"}


@pytest.mark.parametrize("spoil", [tabbed, quoted, lambda text: carriage_control([text])])
def test_spoiled_pages_give_the_same_rows(tmp_path: Path, spoil: object) -> None:
    assert callable(spoil)
    clean, _ = read_text(tmp_path, WORKLOAD)
    spoiled, reading = read_text(tmp_path, spoil(WORKLOAD))
    understood(reading)
    assert spoiled["text_rmf_workload_period"] == clean["text_rmf_workload_period"]
    assert spoiled["text_rmf_workload_bucket"] == clean["text_rmf_workload_bucket"]


def test_a_page_break_within_a_class_changes_nothing(tmp_path: Path) -> None:
    clean, _ = read_text(tmp_path, WORKLOAD)
    at = WORKLOAD.index(" ----SERVICE----")
    heading = WORKLOAD[: WORKLOAD.index(" -TRANSACTIONS--")]
    broken, reading = read_text(tmp_path, WORKLOAD[:at] + "\f" + heading + WORKLOAD[at:])
    understood(reading)
    assert broken["text_rmf_workload_period"] == clean["text_rmf_workload_period"]


def test_a_missing_group_of_columns_leaves_nulls(tmp_path: Path) -> None:
    lines = WORKLOAD.splitlines()
    at = next(line for line in lines if "----STORAGE" in line).index("----STORAGE")
    rows, _ = read_text(tmp_path, "\n".join(line if "REPORT BY" in line else line[:at] for line in lines))
    cics = rows["text_rmf_workload_period"][0]
    assert (cics["cpu_seconds"], cics["io_per_second"], cics["pagein_single_per_second"]) == (315.9, 123.4, None)


def test_a_page_of_the_sysplex_after_one_of_a_system_is_of_no_system(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, f"{CPU}\f{WORKLOAD}\f{CPU}")
    understood(reading)
    assert {row["system"] for row in rows["text_rmf_workload_period"]} == {None}
    assert {row["sysplex"] for row in rows["text_rmf_workload_period"]} == {"PLEX1"}
    # The processors of a page that names its system alone are of no known sysplex.
    assert {(row["system"], row["sysplex"]) for row in rows["text_rmf_cpu_processor"]} == {("SYSA", None)}
