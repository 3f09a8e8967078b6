"""DEVICE and CHAN reports in XML: rows by their heads, and the DASD metrics of them against the printed averages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from tests.ingest import rmf_documents as rmf

DEVICE_HEADS = (
    *("T:Storage Group", "T:Device Number", "T:Device Type", "T:Number of Cylinders", "T:Volume Serial Number"),
    *("T:Available PAV Devices", "T:HyperPAV", "T:LCU Number", "N:Device Activity Rate", "N:Average Response Time"),
    *(
        "N:Average IOS Queue Time",
        "N:Average CMR Delay",
        "N:Average Device Busy Delay",
        "N:Average Interrupt Delay Time",
    ),
    *("N:Average Device Pending Time", "N:Average Device Disconnect Time", "N:Average Device Connect Time"),
    *("N:% Device Connect Time", "N:% Device Utilized", "N:% Device Reserved", "N:Average Number Allocated"),
    *("N:% Device Allocated", "T:Message"),
)
DB = ("SGDB", "05012", "33909", "10017", "DB2V01", "3", "H", "000E", "10.500", "1.200", "0.100", "0.050", "0.010")
DB_REST = ("0.020", "0.200", "0.300", "0.600", "0.63", "1.94", "2.0", "7.0", "100.0", "")
IDLE = ("", "1A0FF", "3390", "32760", "XX0001", "1", "", "0011", "0.000", *("0.000",) * 8, *("0.0",) * 5, "")
LOST = ("", "05013", "33909", "10017", "DB2V02", "", "", "000E", *("",) * 14, "*")
SUM = ("", "", "", "", "LCU", "", "", "000E", "10.500", "1.200", *("0.100",) * 7, *("0.0",) * 5, "")

CHAN_HEADS = (
    *("T:Channel Path ID", "T:Type", "T:Generation", "T:Speed", "T:Shared", "T:Status", "N:Util% (LPAR)"),
    *("N:Util% (Total)", "N:Util% (Bus)", "N:Read MB/Sec (LPAR)", "N:Read MB/Sec (Total)", "N:Write MB/Sec (LPAR)"),
    *("N:Write MB/Sec (Total)", "N:FICON Ops Rate", "N:FICON Ops Active", "N:FICON Ops Deferred", "N:zHPF Ops Rate"),
    *("N:zHPF Ops Active", "N:zHPF Ops Deferred"),
)
FICON = ("41", "FC_S", "9", "16G", "Yes", "Online", "4.5", "12.5", "3.0", "1.1", "2.2", "3.3", "4.4")
FICON_REST = ("200.0", "1.5", "0.2", "30.0", "1.2", "0.0")
OFFLINE = ("07", "FC_?", "", "", "", "Offline", *("",) * 13)


def document() -> str:
    general = rmf.part(None, rmf.variable_list({"Total Samples": "1800"}))
    lines = (rmf.row(*DB, *DB_REST), rmf.row(*IDLE), rmf.row(*LOST), rmf.row(*SUM, type="SUM"))
    devices = rmf.part(None, rmf.table(DEVICE_HEADS, *lines))
    channels = rmf.part(None, rmf.table(CHAN_HEADS, rmf.row(*FICON, *FICON_REST), rmf.row(*OFFLINE)))
    sockets = rmf.part(
        None, rmf.table(["T:Channel Path ID", "T:Type", "N:Send Failed (LPAR)"], rmf.row("ED", "IQD", "0"))
    )
    return rmf.ddsml(
        rmf.postprocessor("DEVICE", rmf.segment("Direct Access Device Activity", general, devices), option="DASD"),
        rmf.postprocessor("CHAN", rmf.segment("Details for all Channels", channels), rmf.segment("Sockets", sockets)),
    )


@pytest.fixture(scope="module")
def grains(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    path = tmp_path_factory.mktemp("rmf") / "dasd.xml"
    path.write_text(document())
    with Pdb.temporary() as pdb:
        ingest([path], pdb)
        inputs = Inputs(pdb.connect())
        return {name: evaluate(inputs, GRAINS[name]).rows() for name in ("dasd_device", "channel")}


def test_every_device_is_a_row_and_sums_are_none(tmp_path: Path) -> None:
    rows, reading = rmf.read_text(tmp_path, document())
    assert [row["device_number"] for row in rows["rmf_xml_device"]] == ["05012", "1A0FF", "05013"]
    assert [row["channel"] for row in rows["rmf_xml_channel"]] == ["41", "07"]
    assert rmf.reasons(reading) == []


def test_metrics_of_a_device_are_the_printed_averages(grains: dict[str, list[dict[str, Any]]]) -> None:
    device = next(row for row in grains["dasd_device"] if row["volume"] == "DB2V01")
    assert (device["device"], device["lcu"], device["storage_group"], device["model"]) == (
        "5012",
        "000E",
        "SGDB",
        "33909",
    )
    assert device["ios"] == pytest.approx(10.5 * 1800)
    printed = {
        "response_time": 1.2e-3,
        "ios_queue_time": 0.1e-3,
        "command_response_time": 0.05e-3,
        "device_busy_time": 0.01e-3,
        "interrupt_delay_time": 0.02e-3,
        "pending_time": 0.2e-3,
        "disconnect_time": 0.3e-3,
        "connect_time": 0.6e-3,
        "connect_fraction": 10.5 * 0.6e-3,
        "utilization": 0.0194,
        "reserved_fraction": 0.02,
        "allocated_fraction": 1.0,
        "io_rate": 10.5,
    }
    assert {name: device[name] for name in printed} == pytest.approx(printed)
    assert device["capacity_cylinders"] == 10017
    assert device["exposures"] is None


def test_what_is_not_measured_is_null_and_counted(grains: dict[str, list[dict[str, Any]]]) -> None:
    idle, lost = (next(r for r in grains["dasd_device"] if r["volume"] == name) for name in ("XX0001", "DB2V02"))
    assert (idle["device"], idle["ios"], idle["response_time"], idle["incorrect_devices"]) == ("1A0FF", 0.0, None, 0.0)
    assert (lost["ios"], lost["io_rate"], lost["incorrect_devices"]) == (None, None, 1.0)


def test_metrics_of_a_channel_are_the_printed_ones(grains: dict[str, list[dict[str, Any]]]) -> None:
    channel, offline = sorted(grains["channel"], key=lambda row: row["channel"], reverse=True)
    printed = {
        "utilization": 0.125,
        "partition_utilization": 0.045,
        "bus_utilization": 0.03,
        "ficon_rate": 200.0,
        "ficon_active_operations": 1.5,
        "ficon_defer_rate": 0.2,
        "zhpf_rate": 30.0,
        "zhpf_active_operations": 1.2,
        "zhpf_defer_rate": 0.0,
        "channels": 1.0,
    }
    assert {name: channel[name] for name in printed} == pytest.approx(printed)
    assert (channel["speed"], channel["sharing"], channel["read_bytes_per_second"]) == ("16 Gbit/s", "shared", None)
    assert (offline["channels"], offline["utilization"], offline["incorrect_channels"]) == (0.0, None, 0.0)
