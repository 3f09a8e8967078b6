"""RMF metrics from text reports, worked by hand from what the report prints."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics.inputs import Inputs
from tests.ingest.text_rmf_documents import COUPLING, CPU, PARTITION, WORKLOAD
from tests.metrics.text import inputs_of, rows_of


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inputs]:
    with inputs_of(tmp_path_factory.mktemp("text"), CPU + "\f" + PARTITION, WORKLOAD, COUPLING) as inputs:
        yield inputs


def only(rows: list[dict[str, Any]], **keys: object) -> dict[str, Any]:
    found = [row for row in rows if all(row[key] == value for key, value in keys.items())]
    assert len(found) == 1, found
    return found[0]


def test_class_periods(inputs: Inputs) -> None:
    period = only(rows_of(inputs, "workload_period"), class_name="CICSHI", period="1")
    assert period["time"] == datetime(2021, 7, 27, 10, tzinfo=UTC)
    # 81234 ended in 900 s; printed 90.26.
    assert period["transactions_per_second"] == pytest.approx(81234 / 900)
    assert period["response_time"] == pytest.approx(0.053250)
    assert period["response_deviation"] == pytest.approx(1.0275)
    assert period["active_transactions"] == pytest.approx(4.75)
    # 315.900 + 20.100 + 0.010 + 0.590 s of all engines, 65.700 of them on zIIPs.
    assert period["cpu_per_transaction"] == pytest.approx(336.600 / 81234)
    assert period["cp_per_transaction"] == pytest.approx(270.900 / 81234)
    assert period["velocity"] == pytest.approx(0.881)
    assert only(rows_of(inputs, "workload_period"), class_name="BATLOW")["goal"] == "velocity"


def test_structures_by_system_with_the_size_of_the_usage_summary(inputs: Inputs) -> None:
    rows = rows_of(inputs, "coupling_structure")
    lock = only(rows, structure="DSNGRP_LOCK1", system="SYSB")
    assert lock["requests_per_second"] == pytest.approx(486543 / 900)
    assert lock["sync_service_time"] == pytest.approx(7e-6)
    assert lock["sync_service_deviation"] == pytest.approx(3e-6)
    # 90 of 486543 met contention, 30 of them false.
    assert lock["contention_requests"] == 90
    assert lock["structure_bytes"] == 1 << 30
    # The list structure is in the usage summary alone: 1200 requests, of which kind is not told.
    sca = only(rows, structure="DSNGRP_SCA")
    assert sca["requests_per_second"] == pytest.approx(1200 / 900)
    assert sca["sync_per_second"] is None
    assert sca["sync_fraction"] is None
    assert not [row for row in rows if row["system"] is None and row["structure"] == "DSNGRP_LOCK1"]


def test_facilities(inputs: Inputs) -> None:
    facility = only(rows_of(inputs, "coupling_facility"), facility="CF01")
    assert facility["utilization"] == pytest.approx(0.124)
    assert facility["effective_processors"] == pytest.approx(1.5)
    assert facility["storage_fraction"] == pytest.approx(2 / 16)


def test_processors_and_partitions(inputs: Inputs) -> None:
    general = only(rows_of(inputs, "cpu_system"), processor_type="CP", system="SYSA")
    # Online 900 + 900 + 450 s; dispatched 787.14 + 540 + 45 s of them.
    assert general["engines"] == pytest.approx(2.5)
    assert general["dispatch_seconds"] == pytest.approx(787.14 + 540 + 45)
    assert general["io_interrupts_per_second"] == pytest.approx(2050.4)
    own = only(rows_of(inputs, "cpu_partition"), partition="SYSA", processor_type="CP")
    assert own["system"] == "SYSA"
    assert own["machine"] == "8561-000000000002C2D7"
    assert own["msu_used"] == 410
    # 25 min 14.6 s of 16 processors in 900 s: printed 10.52.
    assert own["physical_busy"] == pytest.approx(1514.6 / (16 * 900))
    assert own["weight"] == 500
    assert own["machine_weight"] == 800


def test_excerpts_without_names_stay_apart(tmp_path: Path) -> None:
    first = "  SERVICE TIME  ---APPL %---\n  CPU  10.000  CP     10.00\n  SRB   0.000  AAPCP   0.00\n"
    sentence = "And this is what the second of our regions used in the same time, as far as we know.\n"
    second = first.replace("10.000", "30.000").replace("10.00\n", "30.00\n")
    with inputs_of(tmp_path, first + sentence + second, first.replace("10.0", "20.0")) as inputs:
        rows = rows_of(inputs, "workload_period")
    assert sorted(row["cpu_seconds"] for row in rows) == [10, 20, 30]
    assert all(row["class_name"].startswith("unnamed (") for row in rows)
    # 10 s at 10 % of an engine take 100 s.
    assert all(row["interval_seconds"] == pytest.approx(100, abs=0.01) for row in rows)
