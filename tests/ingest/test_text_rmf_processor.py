"""RMF CPU activity and partition data as text."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from plexlens.ingest.printed.catalogue import catalogue
from tests.ingest.text_report_documents import carriage_control, quoted, read_text, tabbed, understood, value
from tests.ingest.text_rmf_documents import CPU, PARTITION


def test_logical_processors_with_times_from_their_percentages(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, CPU)
    understood(reading)
    zero, one, ten, iip = rows["text_rmf_cpu_processor"]
    assert [row["cpu_number"] for row in (zero, one, ten, iip)] == [0, 1, 10, 12]
    assert [row["cpu_type"] for row in (zero, one, ten, iip)] == ["CP", "CP", "CP", "IIP"]
    assert [row["priority"] for row in (zero, one, ten, iip)] == ["HIGH", "MED", "LOW", "HIGH"]
    assert (zero["system"], zero["interval_seconds"]) == ("SYSA", 900.0)
    assert zero["interval_start"] == datetime(2021, 7, 27, 10, tzinfo=UTC)
    assert zero["interval_end"] == datetime(2021, 7, 27, 10, 15, tzinfo=UTC)
    # 87.46 % of 900 s; 1250.4 interrupts a second for 900 s, an eighth of them found by TPI
    assert zero["dispatch_seconds"] == pytest.approx(787.14)
    assert (zero["io_interrupts"], zero["tpi_interrupts"]) == (pytest.approx(1125360), pytest.approx(140670))
    # online half of 900 s, 40 % of that parked; busy a fifth of the rest, 270 s
    assert (ten["online_seconds"], ten["parked_seconds"], ten["mvs_busy_seconds"]) == (450.0, 180.0, 54.0)
    assert ten["wait_seconds"] == 216.0
    assert (iip["lpar_busy_percent"], iip["io_interrupts_per_second"]) == (33.3, None)


def test_columns_are_those_of_the_xml_twin(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, CPU + PARTITION)
    assert catalogue().tables["rmf_xml_cpu_processor"].names() <= rows["text_rmf_cpu_processor"][0].keys()
    assert catalogue().tables["rmf_xml_cpu_partition"].names() <= rows["text_rmf_cpu_partition"][0].keys()


def test_work_units_and_the_machine(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, CPU)
    assert value(rows, "CPC CAPACITY")["number"] == 4126
    assert value(rows, "MODEL")["value"] == "716"
    assert value(rows, "IN READY", "AVG")["number"] == 5.2
    assert value(rows, "IN READY", "MAX")["number"] == 29
    assert value(rows, "<= N")["number"] == 95.1
    assert value(rows, "> N+150")["number"] == 0.0
    assert value(rows, "MVS BUSY %", object="TOTAL", value="56.57")["number"] == 56.57


def test_partitions_by_processor_type(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, PARTITION)
    understood(reading)
    found = {(row["partition_name"], row["processor_type"]): row for row in rows["text_rmf_cpu_partition"]}
    assert list(found) == [("SYSA", "CP"), ("SYSB", "CP"), ("PHYSICAL", "CP"), ("SYSA", "IIP"), ("PHYSICAL", "IIP")]
    first = found["SYSA", "CP"]
    expected = {
        "system": "SYSA", "status": "Active", "weight": 500, "is_dedicated": False, "defined_msu": 0, "actual_msu": 410,
        "capping_defined": "N N N", "wlm_capping_percent": 0.0, "logical_processors": 3.5,
        # 25 min 10.5 s and 25 min 14.6 s
        "effective_dispatch_seconds": 1510.5, "dispatch_seconds": 1514.6, "logical_effective_percent": 47.95,
        "logical_total_percent": 48.08, "management_percent": 0.03, "physical_effective_percent": 10.49,
        "physical_total_percent": 10.52, "is_physical": False, "interval_seconds": 900.0,
    }  # fmt: skip
    assert {column: first[column] for column in expected} == expected
    assert first["management_seconds"] == pytest.approx(4.1)
    assert (found["SYSB", "CP"]["capping_defined"], found["SYSB", "CP"]["wlm_capping_percent"]) == ("N N Y", 2.5)
    physical = found["PHYSICAL", "CP"]
    assert (physical["is_physical"], physical["dispatch_seconds"], physical["management_seconds"]) == (
        True,
        12.345,
        12.345,
    )
    assert (physical["management_percent"], physical["physical_total_percent"]) == (0.09, 0.09)
    assert (found["SYSA", "IIP"]["is_dedicated"], found["SYSA", "IIP"]["weight"]) == (True, None)
    assert value(rows, "IMAGE CAPACITY")["number"] == 900
    assert value(rows, "DISPATCH", object="TOTAL", value="00.43.29.945")["number"] == 2609.945


@pytest.mark.parametrize("spoil", [tabbed, quoted, lambda text: carriage_control([text])])
def test_spoiled_pages_give_the_same_rows(tmp_path: Path, spoil: object) -> None:
    assert callable(spoil)
    clean, _ = read_text(tmp_path, CPU + PARTITION)
    spoiled, reading = read_text(tmp_path, spoil(CPU + PARTITION))
    understood(reading)
    for table in ("text_rmf_cpu_processor", "text_rmf_cpu_partition"):
        assert spoiled[table] == clean[table]


def test_two_intervals_are_two_reports(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, CPU + CPU.replace("10.00.00", "10.15.00"))
    understood(reading)
    assert reading.summary["records"] == {"rmf_cpu": 2}
    starts = {row["interval_start"].isoformat() for row in rows["text_rmf_cpu_processor"]}
    assert starts == {"2021-07-27T10:00:00+00:00", "2021-07-27T10:15:00+00:00"}
    assert reading.summary["span"] == ["2021-07-27T10:00:00", "2021-07-27T10:30:00"]


@pytest.mark.parametrize(
    ("printed", "seconds"),
    [
        ("15.00.000", 900.0),
        ("29.59.996", 1799.996),
        ("002.00.000", 120.0),
        ("000.15.00", 900.0),
        ("29:59.996", 1799.996),
    ],
)
def test_forms_of_the_interval(tmp_path: Path, printed: str, seconds: float) -> None:
    rows, _ = read_text(tmp_path, CPU.replace("15.00.000", printed))
    assert rows["text_rmf_cpu_processor"][0]["interval_seconds"] == seconds


def test_a_report_of_several_intervals_has_start_and_end(tmp_path: Path) -> None:
    text = CPU.replace("DATE 07/27/2021", "START 07/27/2021-10.00.00").replace(
        "TIME 10.00.00", "END 07/27/2021-12.00.00"
    )
    rows, reading = read_text(tmp_path, text.replace("15.00.000", "000.15.00"))
    understood(reading)
    row = rows["text_rmf_cpu_processor"][0]
    assert (row["interval_start"].hour, row["interval_end"].hour) == (10, 12)


def test_a_report_that_is_not_read_is_passed_over_and_told(tmp_path: Path) -> None:
    device = CPU.replace("C P U  A C T I V I T Y", "D I R E C T  A C C E S S  D E V I C E  A C T I V I T Y")
    rows, reading = read_text(tmp_path, CPU + device + PARTITION)
    (damage,) = reading.damage
    assert (damage.reason, damage.severity) == ("report not read", "info")
    assert "DIRECT ACCESS DEVICE ACTIVITY" in damage.detail
    assert len(rows["text_rmf_cpu_processor"]) == 4
    assert len(rows["text_rmf_cpu_partition"]) == 5
