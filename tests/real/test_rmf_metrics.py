"""Metrics computed from one field of a real RMF report against other fields that the same report prints.

RMF prints both the parts and the result: dispatch times and percentages, service times and APPL%, using and delay
samples and the velocity, goal and achievement and the performance index. The metrics take the parts; RMF's own results
are the oracle, to the digits it prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens.ingest.printed import xml as rmf_xml
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect


@pytest.fixture(scope="module")
def raw(shared_data: Path) -> Inputs:
    batches: dict[str, list[pa.RecordBatch]] = {}
    for name in ("cpu", "wlmgl", "cf"):
        for table, batch in rmf_xml.read(shared_data / "rmf" / f"{name}.xml", source_id=name):
            batches.setdefault(table, []).append(batch)
    connection = connect()
    for table, parts in batches.items():
        add_table(connection, table, pa.Table.from_batches(parts))
    return Inputs(connection)


def printed(raw: Inputs, table: str) -> list[dict[str, Any]]:
    return raw.connection.table(table).to_arrow_table().to_pylist()


def computed(raw: Inputs, grain: str) -> list[dict[str, Any]]:
    return evaluate(raw, GRAINS[grain]).rows()


def test_partition_percentages(raw: Inputs) -> None:
    found = {(r["partition"], r["processor_type"]): r for r in computed(raw, "cpu_partition")}
    checked = 0
    for row in printed(raw, "rmf_xml_cpu_partition"):
        mine = found[row["partition_name"], row["processor_type"]]
        for metric, column in (
            ("physical_busy", "physical_total_percent"),
            ("physical_effective", "physical_effective_percent"),
            ("logical_busy", "logical_total_percent"),
            ("logical_effective", "logical_effective_percent"),
        ):
            if row[column] is None or mine[metric] is None:
                continue
            # Printed to 0.01 %, from times printed to the millisecond.
            assert mine[metric] * 100 == pytest.approx(row[column], abs=0.0051), (row["partition_name"], metric)
            checked += 1
    assert checked > 20


def test_system_busy(raw: Inputs) -> None:
    (mine,) = computed(raw, "cpu_system")
    rows = printed(raw, "rmf_xml_cpu_processor")
    # The report's average over processors that were online all the time is the plain mean.
    assert mine["mvs_busy"] * 100 == pytest.approx(sum(r["mvs_busy_percent"] for r in rows) / len(rows), abs=0.0051)
    assert mine["lpar_busy"] * 100 == pytest.approx(sum(r["lpar_busy_percent"] for r in rows) / len(rows), abs=0.0051)


def test_appl_percent(raw: Inputs) -> None:
    """General processor time from service times is APPL% CP; the work of a class stands in one row."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in computed(raw, "workload_period"):
        if row["cp_processors"] is not None:
            found.setdefault((row["class_kind"], row["class_name"]), []).append(row)
    checked = 0
    for row in printed(raw, "rmf_xml_workload_period"):
        if row["class_kind"] == "workload" or row["period"] is not None or row["cp_appl_percent"] is None:
            continue
        (mine,) = found[row["class_kind"], row["class_name"]]
        # Five service times printed to the millisecond, a percentage to 0.01 of a half hour: 0.18 s.
        assert mine["cp_processors"] * 100 == pytest.approx(row["cp_appl_percent"], abs=0.0055), row["class_name"]
        checked += 1
    assert checked > 5


def test_performance_index(raw: Inputs) -> None:
    found = {(r["class_kind"], r["class_name"], r["period"]): r for r in computed(raw, "workload_period")}
    checked = 0
    for row in printed(raw, "rmf_xml_workload_period"):
        if row["performance_index"] is None:
            continue
        mine = found[row["class_kind"], row["class_name"], str(row["period"])]
        # Printed to a tenth, from a velocity printed to a tenth of a percent.
        assert mine["performance_index"] == pytest.approx(row["performance_index"], abs=0.051)
        assert mine["velocity"] * 100 == pytest.approx(row["actual_velocity"])
        checked += 1
    assert checked == 3


def test_periods_without_using_or_delay_have_no_index(raw: Inputs) -> None:
    found = {(r["class_name"], r["period"]): r for r in computed(raw, "workload_period")}
    assert found["STCMED", "1"]["performance_index"] is None


def test_facility_utilization(raw: Inputs) -> None:
    found = {r["facility"]: r["utilization"] for r in computed(raw, "coupling_facility")}
    # The file prints 65.2 and 65.4 % busy of 0.000 effective logical processors: a share of nothing.
    assert found == {"ICF7": None, "ICF8": None}
