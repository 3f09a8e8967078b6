"""Twins of SMF sections from reports that the real files do not hold: SCPER, SMT, structures, paths.

The values are made up, the sums beside them worked by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plexlens.ingest.printed.catalogue import catalogue
from tests.ingest.rmf_documents import (
    ddsml,
    heads,
    monitor3,
    part,
    postprocessor,
    read_text,
    row,
    segment,
    table,
    variable_list,
)


def only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = rows
    return found


def check(row: dict[str, Any], **expected: object) -> None:
    for column, value in expected.items():
        shown = pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
        assert row[column] == shown, column


# --- workload -----------------------------------------------------------------------------------------------------

SERVICE_CLASS = {"Policy": "POL1", "Workload": "ONLINE", "Service Class": "CICSHI", "Resource Group": "*NONE"}
TRANSACTIONS = part("Transactions", variable_list({"Average": "2.50", "MPL": "2.00", "Ended": "1000"}))
TIMES = part(
    "Transaction Time (HHH.MM.SS.FFFFFF)",
    variable_list({"Actual": "000.00.00.250000", "Execution": "000.00.00.200000", "Standard Deviation": "000.00.00.5"}),
)


def workload(*parts: str, name: str = "Service Class CICSHI", **more: str) -> str:
    return segment(name, part(None, variable_list(SERVICE_CLASS | more)), *parts)


def goal_table(*lines: str) -> str:
    return part(
        "Goals/Actuals Summary",
        table(
            [
                "N:Period",
                "M:Importance",
                "M:Performance Index",
                "N:# of Transactions",
                "T:Response Time Goal",
                "M:Response Time Actual",
                "N:Execution Velocity % Goal",
                "M:Execution Velocity % Actual",
            ],
            *lines,
        ),
    )


def test_goals_of_every_kind(tmp_path: Path) -> None:
    goals = goal_table(
        row("1", "1", "0.5", "900", "00.00.00.500 90%", "97.5", "", "61.0", refno="1"),
        row("2", "2", "1.2", "80", "000.00.02.000 AVG", "000.00.02.400000", "", "40.0", refno="2"),
        row("3", "3", "0.8", "15", "", "", "40", "50.0", refno="3"),
        row("4", "DISCRETIONARY", "", "5", "", "", "", "10.0", refno="4"),
        row("5", "SYSTEM", "", "0", "SYSTEM", "", "", "N/A", refno="5"),
        row("", "", "", "1000", "", "", "", "", refno="6", type="SUM"),
    )
    document = ddsml(postprocessor("WLMGL", workload(TRANSACTIONS, goals), system=None, option="WGPER"))
    rows, _ = read_text(tmp_path, document)
    whole, first, second, third, fourth, fifth = rows["rmf_xml_workload_period"]
    check(whole, period=None, ended_transactions=1000.0, goal_type=None)
    check(
        first,
        period=1,
        goal_type="percentile",
        goal_response_seconds=0.5,
        goal_percentile=90.0,
        actual_response_percent=97.5,
        actual_response_seconds=None,
        performance_index=0.5,
        goal_transactions=900.0,
        importance=1,
        class_name="CICSHI",
        policy="POL1",
        workload="ONLINE",
    )
    check(second, goal_type="average", goal_response_seconds=2.0, goal_percentile=None, actual_response_seconds=2.4)
    check(third, goal_type="velocity", goal_velocity=40.0, actual_velocity=50.0, goal_response_seconds=None)
    check(fourth, goal_type="discretionary", importance=None, actual_velocity=10.0)
    check(fifth, goal_type="system", importance=None, actual_velocity=None)


def test_a_report_of_periods_gives_all_in_one_row(tmp_path: Path) -> None:
    goals = goal_table(row("2", "3", "0.8", "15", "", "", "40", "50.0", refno="1"))
    document = ddsml(
        postprocessor(
            "WLMGL",
            workload(TRANSACTIONS, TIMES, goals, Period="2"),
            workload(TRANSACTIONS, name="Service Class CICSHI Period 3", **{"Velocity Goal": "30", "Importance": "4"}),
            option="SCPER",
        )
    )
    rows, _ = read_text(tmp_path, document)
    second, third = rows["rmf_xml_workload_period"]
    check(second, period=2, ended_transactions=1000.0, performance_index=0.8, goal_velocity=40.0, system="SYS1")
    check(third, period=3, class_name="CICSHI", goal_velocity=30.0, importance=4, goal_type="velocity")


def test_report_classes_and_the_policy(tmp_path: Path) -> None:
    document = ddsml(
        postprocessor(
            "WLMGL",
            segment("Policy Activation", part(None, variable_list({"Date": "03/20/2020", "Time": "15.26.19"}))),
            segment("Report Class RCICS", part(None, variable_list({"Report Class": "RCICS"})), TRANSACTIONS),
            segment("Policy POL1", part(None, variable_list({"Policy": "POL1"})), TRANSACTIONS),
        )
    )
    rows, _ = read_text(tmp_path, document)
    shown = [(found["class_kind"], found["class_name"]) for found in rows["rmf_xml_workload_period"]]
    assert shown == [("report class", "RCICS"), ("policy", "POL1")]


def test_totals_from_averages(tmp_path: Path) -> None:
    document = ddsml(postprocessor("WLMGL", workload(TRANSACTIONS, TIMES)))
    found = only(read_text(tmp_path, document)[0]["rmf_xml_workload_period"])
    check(
        found,
        response_total_seconds=250.0,
        execution_total_seconds=200.0,
        # "000.00.00.5" is not a form that RMF prints: text, so no deviation and no sum of squares.
        response_deviation_seconds=None,
        response_square_seconds=None,
        active_seconds=4500.0,
        resident_seconds=3600.0,
    )


@pytest.mark.parametrize(
    ("service", "percent", "cp", "ziip"),
    [
        # Specialty engines at CP speed: 100 + 10 - 60 = 50 s are 2.78 % of 1,800 s.
        ({"CPU": "100.000", "SRB": "10.000", "zIIP": "60.000"}, {"CP": "2.78", "zIIP": "3.33"}, 50.0, 60.0),
        # The same under the older names.
        ({"CPU": "100.000", "SRB": "10.000", "IIP": "60.000"}, {"CP": "2.78", "IIP": "3.33"}, 50.0, 60.0),
        # zIIPs twice as fast as CPs: 60 s of them stand for 120 s of CP; the percentage decides.
        ({"CPU": "160.000", "SRB": "10.000", "zIIP": "60.000"}, {"CP": "2.78", "zIIP": "3.33"}, 50.04, 60.0),
        ({"CPU": "160.000", "SRB": "10.000", "zIIP": "120.000"}, {"CP": "2.78", "zIIP": "3.33"}, 50.0, 59.94),
        ({"CPU": "5.000", "zIIP": "N/A"}, {"CP": "0.28", "zIIP": "N/A"}, 5.0, None),
    ],
)
def test_processor_times_with_and_without_specialty_engines(
    tmp_path: Path, service: dict[str, str], percent: dict[str, str], cp: float, ziip: float | None
) -> None:
    parts = part("Service Time", variable_list(service)), part("Application Time %", variable_list(percent))
    document = ddsml(postprocessor("WLMGL", workload(*parts)))
    found = only(read_text(tmp_path, document)[0]["rmf_xml_workload_period"])
    check(found, cp_seconds=cp, iip_engine_seconds=ziip)


def test_response_time_distribution(tmp_path: Path) -> None:
    distribution = part(
        "Response Time Distribution",
        table(
            [
                "T:Time (HH.MM.SS.FFFFFF)",
                "S:Number of Transactions: Cum Total",
                "S:Number of Transactions: In Bucket",
                "N:Percent: Cum Total",
                "N:Percent: In Bucket",
            ],
            row("< 00.00.00.250000", "600", "600", "60.0", "60.0", refno="1"),
            row("<= 00.00.00.500000", "900", "300", "90.0", "30.0", refno="2"),
            row("> 00.00.02.000000", "1000", "100", "100", "10.0", refno="3"),
        ),
    )
    document = ddsml(postprocessor("WLMGL", workload(distribution, Period="1")))
    rows, _ = read_text(tmp_path, document)
    first, second, third = rows["rmf_xml_workload_bucket"]
    check(
        first,
        bucket_no=1,
        relation="<",
        bound_seconds=0.25,
        transactions=600.0,
        transactions_cumulative=600.0,
        transactions_percent=60.0,
        transactions_cumulative_percent=60.0,
        class_name="CICSHI",
        period=1,
        interval_seconds=1800.0,
    )
    check(second, relation="<=", bound_seconds=0.5, transactions=300.0, transactions_cumulative=900.0)
    check(third, bucket_no=3, relation=">", bound_seconds=2.0, transactions_percent=10.0)


# --- cpu ----------------------------------------------------------------------------------------------------------


def test_processors_parked_threaded_and_numbered_in_hexadecimal(tmp_path: Path) -> None:
    columns = [
        "T:CPU Number",
        "T:Thread ID",
        "T:CPU Type",
        "N:Time% Online",
        "M:Time% LPAR Busy",
        "M:Time% MVS Busy",
        "M:Time% Parked",
        "M:MT% Prod",
        "M:MT% Util",
        "M:I/O Interrupts Rate",
        "M:I/O Interrupts% via TPI",
    ]
    lines = [
        row("A", "0", "IIP", "50.00", "40.00", "20.00", "25.00", "90.00", "60.00", "10.00", "5.00", refno="1"),
        row("10", "1", "IIP", "100.00", "", "-----", "100.00", "", "", "", "", refno="2"),
        row("TOTAL/AVERAGE", "", "IIP", "", "40.00", "20.00", "", "", "", "10.00", "5.00", refno="3", type="SUM"),
    ]
    document = ddsml(postprocessor("CPU", segment("CPU Activity", part(None, table(columns, *lines)))))
    first, second = read_text(tmp_path, document)[0]["rmf_xml_cpu_processor"]
    check(
        first,
        cpu_number=10,
        thread=0,
        cpu_type="IIP",
        mt_productivity_percent=90.0,
        mt_utilization_percent=60.0,
        # 900 s online, a quarter of it parked; of the 675 s left a fifth busy.
        online_seconds=900.0,
        parked_seconds=225.0,
        mvs_busy_seconds=135.0,
        wait_seconds=540.0,
        dispatch_seconds=360.0,
        io_interrupts=18000.0,
        tpi_interrupts=900.0,
    )
    check(
        second,
        cpu_number=16,
        thread=1,
        parked_seconds=1800.0,
        mvs_busy_seconds=0.0,
        wait_seconds=0.0,
        dispatch_seconds=None,
        io_interrupts=None,
    )


def test_dedicated_partitions(tmp_path: Path) -> None:
    columns = ["T:Partition Name", "T:Partition Weight", "T:PROC Type", "T:Effective Dispatch Time"]
    columns.append("T:Total Dispatch Time")
    lines = row("PROD", "DED", "CP", "00.10.00.000", "00.10.00.500", refno="1")
    document = ddsml(postprocessor("CPU", segment("Partition Data Report", part("x", table(columns, lines)))))
    found = only(read_text(tmp_path, document)[0]["rmf_xml_cpu_partition"])
    check(found, is_dedicated=True, weight=None, effective_dispatch_seconds=600.0, management_seconds=0.5)


# --- coupling -----------------------------------------------------------------------------------------------------


def test_facilities_with_storage(tmp_path: Path) -> None:
    document = ddsml(
        postprocessor(
            "CF",
            segment(
                "Usage Summary for Coupling Facility CF01",
                part(
                    "Coupling Facility",
                    variable_list({"Type": "3906", "Level": "24", "Avg CF Utilization %Busy": "20"}),
                ),
                part("Logical Processors", variable_list({"Defined": "2", "Effective": "1.5", "Shared": "1"})),
            ),
            system=None,
        )
    )
    found = only(read_text(tmp_path, document)[0]["rmf_xml_coupling_facility"])
    # 1.5 processors for 1,800 s, a fifth of it busy.
    check(
        found,
        cf_name="CF01",
        cf_type="3906",
        cf_level="24",
        processors_shared=1.0,
        processor_seconds=2700.0,
        busy_seconds=540.0,
    )


def test_structures_of_the_usage_summary(tmp_path: Path) -> None:
    columns = [
        "T:Structure Type",
        "T:Structure Name",
        "T:Structure Status",
        "S:Alloc Size",
        "N:% of CF Stor",
        "S:# Req",
        "N:% of All Req",
        "N:% of CF Util",
        "N:Avg Req/Sec",
        "S:List/Dir Entries Tot",
        "S:List/Dir Entries Cur",
        "S:Data Elements Tot",
        "S:Data Elements Cur",
        "S:Lock Entries Tot",
        "S:Lock Entries Cur",
        "S:Dir Rec",
        "S:Dir Rec XI's",
    ]
    line = row("CACHE", "GBP1", "ACTIVE", "64M", "3.1", "126K", "51.0", "40.0", "70.0", "20K", "5K", "10K", "2K", "N/A",
               "N/A", "12", "3", refno="1")  # fmt: skip
    body = part("Structure Summary", table(columns, line))
    document = ddsml(postprocessor("CF", segment("Usage Summary for Coupling Facility CF01", body), system=None))
    found = only(read_text(tmp_path, document)[0]["rmf_xml_coupling_structure"])
    check(
        found,
        system=None,
        cf_name="CF01",
        structure_name="GBP1",
        structure_type="CACHE",
        status="ACTIVE",
        size_bytes=64.0 * 1048576,
        size_percent=3.1,
        requests=126000.0,
        requests_percent=51.0,
        cf_busy_percent=40.0,
        requests_per_second=70.0,
        entries=20000.0,
        entries_used=5000.0,
        elements=10000.0,
        elements_used=2000.0,
        lock_entries=None,
        directory_reclaims=12.0,
        directory_reclaim_invalidations=3.0,
    )


def test_structure_activity_with_a_line_for_each_kind_of_request(tmp_path: Path) -> None:
    columns = [
        "T:System Name",
        "T:Request Type",
        "S:# Req",
        "N:% of All",
        "N:Serv Time Avg",
        "N:Serv Time Std_Dev",
        "T:Delay Reason",
        "S:# Del Req",
        "N:% Del Req",
        "N:Avg Time /Del",
        "S:Req Deferred",
        "S:Cont",
        "S:False Cont",
    ]
    lines = [
        row("SYSA", "SYNC", "1000", "80.0", "10.0", "5.0", "", "", "", "", "40", "30", "10", refno="1"),
        row("", "ASYNC", "200", "16.0", "100.0", "20.0", "NO SCH", "50", "4.0", "30.0", "", "", "", refno="2"),
        row("", "CHNGD", "50", "4.0", "", "", "DUMP", "0", "0.0", "0.0", "", "", "", refno="3"),
        row("SYSB", "SYNC", "7", "100", "2.0", "0.0", "", "", "", "", "", "", "", refno="4"),
        row("TOTAL", "SYNC", "1007", "", "", "", "", "", "", "", "", "", "", refno="5"),
    ]
    body = part("Structure Name = LOCK1", variable_list({"Type": "LOCK"}), table(columns, *lines))
    document = ddsml(postprocessor("CF", segment("Structure Activity for Coupling Facility CF01", body), system=None))
    first, second = read_text(tmp_path, document)[0]["rmf_xml_coupling_structure"]
    check(
        first,
        system="SYSA",
        cf_name="CF01",
        structure_name="LOCK1",
        structure_type="LOCK",
        requests=1200.0,
        sync_requests=1000.0,
        sync_percent=80.0,
        sync_service_seconds=10e-6,
        sync_deviation_seconds=5e-6,
        sync_total_seconds=0.01,
        # 1000 * (10^2 + 5^2) us^2
        sync_square_seconds=125000e-12,
        async_requests=200.0,
        async_service_seconds=100e-6,
        async_total_seconds=0.02,
        changed_requests=50.0,
        changed_percent=4.0,
        delayed_no_subchannel_requests=50.0,
        delayed_no_subchannel_percent=4.0,
        delayed_no_subchannel_seconds=30e-6,
        delayed_no_subchannel_total_seconds=1500e-6,
        delayed_dump_requests=0.0,
        deferred_requests=40.0,
        contended_requests=30.0,
        false_contended_requests=10.0,
    )
    check(second, system="SYSB", sync_requests=7.0, async_requests=None, requests=7.0, delayed_dump_requests=None)


def test_structure_activity_with_a_column_for_each_kind_of_request(tmp_path: Path) -> None:
    columns = [
        "T:System",
        "S:SYNC # Req",
        "N:SYNC % of All",
        "N:SYNC Serv Time Avg",
        "N:SYNC Serv Time Std_Dev",
        "S:ASYNC # Req",
        "N:ASYNC % of All",
        "N:ASYNC Serv Time Avg",
        "N:ASYNC Serv Time Std_Dev",
        "S:CHNGD # Req",
        "N:CHNGD % of All",
        "S:NO SCH # Req",
        "N:NO SCH % of Req",
        "N:NO SCH Avg Time /Del",
    ]
    line = row(
        "SYSA", "10", "50.0", "4.0", "3.0", "10", "50.0", "8.0", "6.0", "2", "10.0", "5", "25.0", "100.0", refno="1"
    )
    body = part("Structure Name = LIST1", table(columns, line))
    document = ddsml(postprocessor("CF", segment("Structure Activity for Coupling Facility CF01", body), system=None))
    found = only(read_text(tmp_path, document)[0]["rmf_xml_coupling_structure"])
    check(
        found,
        structure_name="LIST1",
        sync_requests=10.0,
        sync_percent=50.0,
        sync_service_seconds=4e-6,
        sync_deviation_seconds=3e-6,
        sync_square_seconds=250e-12,
        async_requests=10.0,
        async_service_seconds=8e-6,
        async_deviation_seconds=6e-6,
        changed_requests=2.0,
        changed_percent=10.0,
        delayed_no_subchannel_requests=5.0,
        delayed_no_subchannel_percent=25.0,
        delayed_no_subchannel_seconds=100e-6,
        requests=20.0,
    )


# --- xcf ----------------------------------------------------------------------------------------------------------


def test_xcf_usage_and_paths(tmp_path: Path) -> None:
    usage = part(
        "Outbound from System SYS1",
        table(
            ["T:To System", "T:Transport Class", "N:Buffer Length", "S:Requests Out", "N:% Small", "N:% Fit", "N:% Big",
             "N:% Over", "S:All Paths Unavail", "S:Requests Rejected"],
            row("SYS2", "DEFAULT", "956", "14K", "10.0", "85.0", "5.0", "1.0", "3", "2", refno="1"),
        ),
    )  # fmt: skip
    paths = part(
        "Outbound from System SYS1",
        table(
            ["T:To System", "T:Device/Structure", "T:Transport Class", "S:Requests Out", "N:Avg Q Length", "S:Avail",
             "S:Busy", "S:Restarts"],
            row("SYS2", "IXCPLEX1", "DEFAULT", "9000", "0.25", "8990", "10", "1", refno="1"),
        ),
    )  # fmt: skip
    inbound = part(
        "Inbound to System SYS1",
        table(
            ["T:From System", "T:Device/Structure", "S:Requests In", "S:Buffers Unavail", "N:I/O Transfer Time"],
            row("SYS2", "IXCPLEX1", "8000", "4", "1.5", refno="1"),
        ),
    )
    document = ddsml(
        postprocessor("XCF", segment("XCF Usage by System", usage), segment("XCF Path Statistics", paths, inbound))
    )
    rows, _ = read_text(tmp_path, document)
    check(
        only(rows["rmf_xml_xcf_system"]),
        direction="outbound",
        remote_system="SYS2",
        transport_class="DEFAULT",
        buffer_length=956.0,
        requests=14000.0,
        small_percent=10.0,
        fit_percent=85.0,
        big_percent=5.0,
        over_percent=1.0,
        paths_unavailable=3.0,
        requests_rejected=2.0,
    )
    out, into = rows["rmf_xml_xcf_path"]
    check(
        out,
        direction="outbound",
        path="IXCPLEX1",
        requests=9000.0,
        average_queue_length=0.25,
        path_available=8990.0,
        path_busy=10.0,
        restarts=1.0,
    )
    check(into, direction="inbound", remote_system="SYS2", requests=8000.0, buffers_unavailable=4.0)
    check(into, transfer_seconds=0.0015)


# --- all ----------------------------------------------------------------------------------------------------------


def test_monitor3_reports_have_no_twins(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, ddsml(monitor3("CPU", heads("T:Partition Name") + row("X"))))
    assert set(rows) == {"rmf_xml_value"}
    assert reading.damage == []


def test_twin_rows_are_numbered_in_their_record(tmp_path: Path) -> None:
    document = ddsml(postprocessor("WLMGL", workload(TRANSACTIONS), workload(TRANSACTIONS)))
    rows, _ = read_text(tmp_path, document + document)
    shown = [(found["record_no"], found["section_no"]) for found in rows["rmf_xml_workload_period"]]
    assert shown == [(1, 1), (1, 2), (2, 1), (2, 2)]


@pytest.mark.parametrize("twin", catalogue().of_source("rmf_xml_")[1:], ids=lambda twin: twin.name)
def test_columns_are_described_once(twin) -> None:  # type: ignore[no-untyped-def]
    schema = twin.schema()
    assert len(set(schema.names)) == len(schema.names)
    for column in schema:
        assert column.metadata[b"description"]
        if str(column.type) == "double":
            assert not column.name.endswith("_seconds") or column.metadata[b"unit"].startswith((b"seconds", b"frame"))
            assert not column.name.endswith("_percent") or column.metadata[b"unit"].startswith(b"percent")
            assert not column.name.endswith("_bytes") or column.metadata[b"unit"] == b"bytes"
