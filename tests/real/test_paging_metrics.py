"""Metrics of a real RMF paging report against numbers read from the report and worked by hand."""

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
def found(shared_data: Path) -> dict[str, Any]:
    """The one interval of the report: half an hour, short of 5 ms."""
    batches: dict[str, list[pa.RecordBatch]] = {}
    for table, batch in rmf_xml.read(shared_data / "rmf" / "paging.xml", source_id="paging"):
        batches.setdefault(table, []).append(batch)
    connection = connect()
    for table, parts in batches.items():
        add_table(connection, table, pa.Table.from_batches(parts))
    (row,) = evaluate(Inputs(connection), GRAINS["paging_storage"]).rows()
    return dict(row)


def test_storage(found: dict[str, Any]) -> None:
    # 8388608 frames of 4 KiB are 32 GiB; of them 7599552 available on average, 7595858 at least, 84762 fixed.
    assert found["storage_bytes"] == 32 * 2**30
    assert found["available_bytes"] == 7599552 * 4096
    assert found["available_fraction"] == pytest.approx(0.9059372)
    assert found["lowest_available_fraction"] == pytest.approx(0.9054968)
    assert found["fixed_fraction"] == pytest.approx(84762 / 8388608)


def test_large_frames(found: dict[str, Any]) -> None:
    # 27647 of 29029 frames of 1 MiB are available; 8 fixed and 163 pageable ones are in use.
    assert found["large_available_fraction"] == pytest.approx(0.9523924)
    assert found["large_bytes"] == 171 * 2**20


def test_rates_are_those_that_the_report_prints(found: dict[str, Any]) -> None:
    assert found["page_moves_per_second"] == pytest.approx(0.85)
    assert found["getmains_per_second"] == pytest.approx(489.06)
    assert found["first_faults_per_second"] == pytest.approx(465.75)
    # No paging at all: the report says zero, so it is zero, not unknown.
    assert found["pages_per_second"] == 0
    assert found["demand_paging_per_second"] == 0


def test_unreferenced_interval_count_and_slots(found: dict[str, Any]) -> None:
    assert found["uic"] == pytest.approx(65535)
    assert found["lowest_uic"] == 65535
    # 10 of 899999 slots hold pages.
    assert found["slots_used_fraction"] == pytest.approx(10 / 899999)
