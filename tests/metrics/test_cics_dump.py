"""CICS from the bytes of a dump to the metrics: the figures of the 2012 study, and tasks counted by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.ingest import smf
from plexlens.layouts_path import layout_folders
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect
from tests.metrics.raw import rows_of

#: One minute of the measurement at 10,160.81 transactions a second: tables 1 and 3 of the study.
START = datetime(2011, 11, 7, 14, 0, tzinfo=UTC)
MINUTE = timedelta(seconds=60)
TRANSACTIONS = 609_649
SPACES = {"CICS3270": ("DFHSIP", 0.8084), "NET": ("ISTINM01", 0.4376), "XCFAS": ("IXCINJST", 0.1921)}


def identity(**more: Any) -> dict[str, Any]:
    return {
        "system": "SYS1",
        "interval_start": START,
        "interval_end": START + MINUTE,
        "utc_offset": timedelta(hours=-5),
    } | more


def records(catalogue: _core.Catalogue) -> list[bytes]:
    region = identity(subsystem="CICS3270")
    found = [
        _core.encode_record(
            catalogue,
            "smf110_2",
            region,
            {
                "smf110_2_dispatcher": pa.record_batch({"dsgasize": [18], "dsgpsize": [4]}),
                "smf110_2_dispatcher_tcb_mode": pa.record_batch(
                    {"dsgtcbnm": ["QR"], "dsgsysw": [0], "dsgtwt": [0.0], "dsgtdt": [60.982635], "dsgact": [34.217026]}
                ),
                "smf110_2_transaction_manager": pa.record_batch({"xmgnum": [TRANSACTIONS]}),
            },
        )
    ]
    for job, (program, share) in SPACES.items():
        sections = {
            "smf30_subsystem": pa.record_batch({"smf30typ": [2]}),
            "smf30_identification": pa.record_batch(
                {
                    "smf30jbn": [job],
                    "smf30pgm": [program],
                    "smf30iss": pa.array([START], pa.timestamp("us", "UTC")),
                    "smf30iet": pa.array([START + MINUTE], pa.timestamp("us", "UTC")),
                }
            ),
            # Hundredths of a second: 48.50, 26.26 and 11.53 s.
            "smf30_processor_accounting": pa.record_batch({"smf30cpt": [round(share * 60, 2)]}),
        }
        found.append(_core.encode_record(catalogue, "smf30", identity(ssid="STC", subtype=2), sections))
    return found


def monitoring(catalogue: _core.Catalogue) -> list[bytes]:
    """Three tasks, the last of them still in its conversation; the dictionary comes after the first."""
    dictionary = _core.standard_dictionary(catalogue)
    region = identity(subsystem="CICS3270")

    def tasks(kinds: list[str], lasted: list[float], cpu: list[float]) -> bytes:
        table = pa.table(
            {
                "tran": ["ECHO"] * len(kinds),
                "rtype": kinds,
                "start": pa.array([START] * len(kinds), pa.timestamp("us", "UTC")),
                "stop": pa.array([START + timedelta(seconds=one) for one in lasted], pa.timestamp("us", "UTC")),
                "usrcput_seconds": cpu,
                "fciowtt_seconds": [0.002] * len(kinds),
                "fciowtt_count": [3] * len(kinds),
                "db2reqct": [4] * len(kinds),
            }
        )
        (batch,) = table.to_batches()
        return _core.encode_record(
            catalogue, "smf110_1_class3", region, {"smf110_1_performance": batch}, dictionary=dictionary
        )

    return [
        tasks(["T"], [0.010], [0.001]),
        _core.encode_record(catalogue, "smf110_1_class1", region, {"smf110_1_dictionary": dictionary}),
        tasks(["T", "C"], [0.016, 20.0], [0.003, 0.004]),
    ]


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    catalogue = _core.Catalogue(layout_folders())
    path: Path = tmp_path_factory.mktemp("cics") / "a.smf"
    path.write_bytes(b"".join([*records(catalogue), *monitoring(catalogue)]))
    batches: dict[str, list[pa.RecordBatch]] = {}
    for table, batch in smf.read(path, source_id="s"):
        batches.setdefault(table, []).append(batch)
    connection = connect()
    for table, parts in batches.items():
        add_table(connection, table, pa.Table.from_batches(parts))
    return Inputs(connection)


def test_the_qr_tcb(raw: Inputs) -> None:
    (qr,) = rows_of(evaluate(raw, GRAINS["cics_tcb"]))
    assert (qr["applid"], qr["mode"]) == ("CICS3270", "QR")
    assert qr["dispatch_seconds"] == pytest.approx(60.982635)
    assert qr["cpu_seconds"] == pytest.approx(34.217026)
    assert qr["cpu_dispatch_ratio"] == pytest.approx(0.561094, abs=1e-6)


def test_the_rate(raw: Inputs) -> None:
    (region,) = rows_of(evaluate(raw, GRAINS["cics_region"]))
    assert region["transactions_per_second"] == pytest.approx(10160.81, abs=0.01)
    assert region["qr_cpu_fraction"] == pytest.approx(34.217026 / 60)


def test_the_cost(raw: Inputs) -> None:
    spaces = {r["job"]: r for r in rows_of(evaluate(raw, GRAINS["cics_cost"]))}
    assert {job: round(100 * r["cp_fraction"]) for job, r in spaces.items()} == {"CICS3270": 81, "NET": 44, "XCFAS": 19}
    (whole,) = rows_of(evaluate(raw, GRAINS["cics_cost"], by=["system"]))
    # Printed 0.141, cut from 0.1415.
    assert 1000 * whole["cpu_time"] == pytest.approx(0.1415, abs=0.0001)


def test_tasks(raw: Inputs) -> None:
    (echo,) = rows_of(evaluate(raw, GRAINS["cics_transaction"]))
    assert echo["transactions"] == 2
    assert echo["records"] == 3
    # 0.010 + 0.016 + 20 s of response and 0.008 s of CPU time for two tasks that ended.
    assert echo["response_time"] == pytest.approx(10.013)
    assert echo["cpu_time"] == pytest.approx(0.004)
    assert echo["longest_response"] == pytest.approx(20.0)
    assert echo["file_io_wait_time"] == pytest.approx(0.003)
    assert echo["file_io_waits"] == 9
    assert echo["db2_requests_per_task"] == pytest.approx(6)
