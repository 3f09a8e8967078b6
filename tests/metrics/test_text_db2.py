"""Db2 metrics from text reports: statistics reports and displays, worked by hand from what they print."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics.inputs import Inputs
from tests.ingest.test_text_db2_accounting import LONG
from tests.ingest.test_text_db2_display import GROUP_POOL, POOL
from tests.ingest.test_text_studies import GROUP_POOL_PANEL, LOG_AND_SERVICES, POOL_2006, POOL_2009
from tests.ingest.text_report_documents import statistics
from tests.metrics.text import inputs_of, rows_of


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inputs]:
    with inputs_of(tmp_path_factory.mktemp("text"), statistics()) as inputs:
        yield inputs


def only(rows: list[dict[str, Any]], **keys: object) -> dict[str, Any]:
    found = [row for row in rows if all(row[key] == value for key, value in keys.items())]
    assert len(found) == 1, found
    return found[0]


def test_pools(report: Inputs) -> None:
    pool = only(rows_of(report, "db2_pool"), pool="BP2")
    assert (pool["subsystem"], pool["group_name"], pool["db2_version"]) == ("DB2A", "DSNGRP", "V12")
    assert pool["time"] == datetime(2023, 3, 15, 7, tzinfo=UTC)
    assert pool["interval_seconds"] == 900
    assert pool["getpages_per_second"] == pytest.approx(9_876_500 / 900)
    # 80000 buffers of 4 KiB.
    assert pool["pool_bytes"] == 80_000 * 4096
    assert pool["page_fix"] is None


def test_the_other_grains(report: Inputs) -> None:
    assert only(rows_of(report, "db2_locking"))["deadlocks"] == 1
    # 2345.6K requests, 301 of which waited for a lock.
    assert only(rows_of(report, "db2_locking"))["suspension_fraction"] == pytest.approx(301 / 2_345_600)
    assert only(rows_of(report, "db2_log"))["records_created"] == 1_927_600
    subsystem = only(rows_of(report, "db2_subsystem"))
    assert (subsystem["threads_created"], subsystem["commits_phase_2"]) == (1200, 4790)
    # 4790 of two phases and 13 of one.
    assert subsystem["commits_per_second"] == pytest.approx((4790 + 13) / 900)
    database = only(rows_of(report, "db2_address_space"), address_space="DBM1")
    # 2:12.631679 on CPs, 1:02.5 on zIIPs; 1.403656 of the former in TCBs.
    assert database["cp_processors"] == pytest.approx(132.631679 / 900)
    assert database["srb_seconds"] == pytest.approx(130.218449 + 1.009574)
    assert {row["address_space"] for row in rows_of(report, "db2_address_space")} == {"MSTR", "DBM1", "IRLM", "DIST"}
    assert rows_of(report, "db2_group_pool")


def test_displays_have_counts_and_settings_and_no_rates(tmp_path: Path) -> None:
    with inputs_of(tmp_path, POOL, GROUP_POOL) as inputs:
        (pool,) = rows_of(inputs, "db2_pool")
        assert pool["pool"] == "BP2"
        assert pool["getpages"] == pool["getpages_random"] + pool["getpages_sequential"]
        assert pool["getpages_per_second"] is None
        assert pool["hit_fraction"] == pytest.approx(1 - pool["sync_reads"] / pool["getpages"])
        assert pool["page_fix"] == "YES"
        assert 0 < pool["vpseqt"] <= 1
        assert rows_of(inputs, "db2_group_pool")


def test_a_display_of_what_a_statistics_report_tells_is_passed_over(tmp_path: Path) -> None:
    at = datetime(2023, 3, 15, 7, tzinfo=UTC)
    display = POOL.replace("14:57:55", "07:00:10")
    with inputs_of(tmp_path, statistics(), display) as inputs:
        rows = [row for row in rows_of(inputs, "db2_pool") if row["pool"] == "BP2"]
    assert [(row["subsystem"], row["time"], row["interval_seconds"]) for row in rows] == [("DB2A", at, 900)]


def test_reports_of_two_db2s_of_one_system_are_both_counted(tmp_path: Path) -> None:
    """Neither names its system: that their intervals are the same does not make them one."""
    with inputs_of(tmp_path, statistics(), POOL.replace("14:57:55", "07:00:10").replace("DB2A", "DB2B")) as inputs:
        rows = [row for row in rows_of(inputs, "db2_pool") if row["pool"] == "BP2"]
    assert sorted(row["subsystem"] for row in rows) == ["DB2A", "DB2B"]


def test_excerpts_without_heading_stay_apart(tmp_path: Path) -> None:
    with inputs_of(tmp_path, POOL_2006, POOL_2009, LOG_AND_SERVICES) as inputs:
        pools = rows_of(inputs, "db2_pool")
        assert sorted(row["getpages"] for row in pools) == [7_270_900, 447_000_000]
        assert all(row["subsystem"].startswith("unnamed (") for row in pools)
        assert only(rows_of(inputs, "db2_subsystem"))["threads_peak"] == 130
        assert only(rows_of(inputs, "db2_log"))["reads_active_log"] == 109_100_000


def test_a_panel_of_a_group_buffer_pool(tmp_path: Path) -> None:
    with inputs_of(tmp_path, GROUP_POOL_PANEL) as inputs:
        (pool,) = rows_of(inputs, "db2_group_pool")
    # Of 429 reads 53 + 4 found data; 53 were after cross-invalidation.
    assert pool["read_hit_fraction"] == pytest.approx(57 / 429)
    assert pool["invalid_read_fraction"] == pytest.approx(53 / 429)
    assert pool["reads_absent_no_data"] == 347 + 25
    assert pool["other_requests"] == 1231
    assert pool["requests_per_second"] is None, "the panel prints no time"


def test_accounting_by_plan_user_and_package(tmp_path: Path) -> None:
    with inputs_of(tmp_path, LONG) as inputs:
        plan = only(rows_of(inputs, "db2_accounting"), plan="DISTSERV")
        user = only(rows_of(inputs, "db2_accounting_user"), auth="WEBUSER")
        packages = rows_of(inputs, "db2_package")
        assert rows_of(inputs, "db2_accounting_correlation") == [], "the report names none"
    # 200 threads took 1.25 s each, 210 commits are all of theirs.
    assert (plan["occurrences"], plan["commits"], plan["rollbacks"]) == (200, 210, 3)
    assert plan["class1_elapsed_seconds"] == pytest.approx(250)
    assert plan["class1_elapsed_time"] == pytest.approx(1.25)
    assert plan["cpu_per_commit"] == pytest.approx(200 * (0.060 + 0.034) / 210)
    # 0.0025 s of 0.0365 s eligible ran on general processors.
    assert plan["ziip_overflow_fraction"] == pytest.approx(0.0025 / 0.0365)
    assert plan["class3_total_seconds"] == pytest.approx(200 * 0.537)
    assert plan["not_accounted_time"] == pytest.approx(0.750 - 0.083 - 0.537)
    assert user["cpu_seconds"] == plan["cpu_seconds"]
    assert packages
    assert all(row["package"] for row in packages)


def test_a_total_beside_its_parts_is_left_out(tmp_path: Path) -> None:
    total = LONG.replace("PRIMAUTH: WEBUSER  PLANNAME: DISTSERV", "*** GRAND TOTAL ***")
    body = total[total.index("*** GRAND TOTAL") :]
    with inputs_of(tmp_path, LONG + "\n" + body) as inputs:
        assert [row["plan"] for row in rows_of(inputs, "db2_accounting")] == ["DISTSERV"]
    with inputs_of(tmp_path, total) as inputs:
        assert [row["occurrences"] for row in rows_of(inputs, "db2_accounting")] == [200]
