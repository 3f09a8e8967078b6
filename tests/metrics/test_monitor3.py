"""Monitor III reports as they come from a Distributed Data Server, as metrics: expected values are worked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from tests.ingest.rmf_documents import ddsml, heads, monitor3, row
from tests.metrics.raw import rows_of as evaluated

CAPTION = {
    "CPCHPNAM": "LP1", "CPCHMOD": "8562", "CPCHMDL": "Z02", "CPCHCPU": "00000000000ABCDE", "CPCHCMSU": "400",
    "CPCHIMSU": "300", "CPCHLMSU": "60", "CPCHCAP": "5.0", "CPCHCPNO": "4", "CPCHIFAN": "0", "CPCHSUPN": "2",
}  # fmt: skip
HEADS = (
    "T:CPCPPNAM", "N:CPCPDMSU", "N:CPCPAMSU", "N:CPCPLPNO", "N:CPCPLEFU", "N:CPCPLTOU", "N:CPCPPLMU", "N:CPCPPEFU",
    "N:CPCPPTOU", "T:CPCPIND", "N:CPCPDEDP", "N:CPCPWGHT", "N:CPCPCSMB",
)  # fmt: skip
ROWS = (
    ("*CP", "", "", "5.0", "", "", "0.5", "41.0", "42.0", "CS", "0", "400", ""),
    ("LP1", "100", "80", "3.0", "40.0", "41.0", "0.5", "30.0", "30.8", "CP", "0", "300", "8192"),
    ("LP2", "0", "30", "2.0", "20.0", "21.0", "0.2", "10.0", "10.5", "CP", "0", "100", "4096"),
    ("PHYSICAL", "", "", "", "", "", "0.7", "", "0.7", "CY", "", "", "0"),
    ("",) * 13,
    ("*IIP", "", "", "1.0", "", "", "0.0", "25.0", "25.0", "IS", "0", "10", ""),
    ("LP1", "", "", "1.0", "50.0", "50.0", "0.0", "25.0", "25.0", "IP", "0", "10", ""),
)


def caption(named: dict[str, str]) -> str:
    inside = "".join(f"<var><name>{name}</name><value>{value}</value></var>" for name, value in named.items())
    return f"<caption>{inside}</caption>"


def cpc(label: str = ",SYS1,MVS_IMAGE", own: str = "LP1") -> str:
    rows = "".join(row(*cells) for cells in ROWS)
    return monitor3("CPC", caption(CAPTION | {"CPCHPNAM": own}) + rows + heads(*HEADS), label=label)


def sysinfo() -> str:
    return monitor3(
        "SYSINFO",
        caption({"SYSPRVVC": "3.0", "SYSPKCVC": "1.0", "SYSLCPVC": "75", "SYSPRTVC": "1.0", "SYSMUIVC": "60"}),
    )


def rows_of(tmp_path: Path, grain: str, *reports: str) -> list[dict[str, Any]]:
    path = tmp_path / "answer.xml"
    path.write_text(ddsml(*reports))
    pdb = Pdb.open_or_create(tmp_path / "pdb")
    ingest([path], pdb)
    with pdb.connect() as connection:
        return evaluated(evaluate(Inputs(connection), GRAINS[grain]))


def test_partitions_of_a_cpc_report(tmp_path: Path) -> None:
    found = {(one["partition"], one["processor_type"]): one for one in rows_of(tmp_path, "cpu_partition", cpc())}
    # The lines of sums and the empty line between kinds of processor are no partitions.
    assert set(found) == {("LP1", "CP"), ("LP2", "CP"), ("PHYSICAL", "CP"), ("LP1", "IIP")}
    first = found["LP1", "CP"]
    # 3 logical processors x 100 s x 41 % = 123 s of 4 physical x 100 s.
    assert first["dispatch_seconds"] == pytest.approx(123.0)
    assert first["physical_busy"] == pytest.approx(0.3075)
    assert first["logical_effective"] == pytest.approx(0.40)
    assert first["weight_share"] == pytest.approx(0.75)
    assert first["entitled_processors"] == pytest.approx(3.0)
    assert first["capped_fraction"] == pytest.approx(0.05)
    assert (first["msu_used"], first["defined_msu"], first["storage_bytes"]) == (80.0, 100.0, 8192 * 1024**2)
    assert (first["machine"], first["model"]) == ("8562-00000000000ABCDE", "Z02")
    # The report says how long WLM capped only of the partition that it comes from; 0 is no limit.
    assert (found["LP2", "CP"]["capped_fraction"], found["LP2", "CP"]["defined_msu"]) == (None, None)
    # 0.7 % of 4 x 100 s.
    assert found["PHYSICAL", "CP"]["dispatch_seconds"] == pytest.approx(2.8)
    # 1 x 100 s x 50 % of 2 x 100 s.
    assert found["LP1", "IIP"]["physical_busy"] == pytest.approx(0.25)
    assert found["LP1", "IIP"]["msu_used"] is None


def test_the_partitions_of_a_machine_are_taken_from_one_of_its_systems(tmp_path: Path) -> None:
    found = rows_of(tmp_path, "cpu_partition", cpc(), cpc(",SYS2,MVS_IMAGE", own="LP2"))
    assert len(found) == 4


def test_a_dedicated_partition_has_no_share_by_weight(tmp_path: Path) -> None:
    ded = ("LP3", "0", "10", "1.0", "9.0", "9.0", "0.0", "2.0", "2.0", "CP", "1", "999", "")
    body = caption(CAPTION) + "".join(row(*cells) for cells in (*ROWS[:3], ded)) + heads(*HEADS)
    shares = {
        one["partition"]: one["weight_share"] for one in rows_of(tmp_path, "cpu_partition", monitor3("CPC", body))
    }
    assert shares == {"LP1": 0.75, "LP2": 0.25, "LP3": 0.0}


def test_processors_of_a_system_from_cpc_and_sysinfo(tmp_path: Path) -> None:
    found = {one["processor_type"]: one for one in rows_of(tmp_path, "cpu_system", cpc(), sysinfo())}
    general = found["CP"]
    assert general["system"] == "SYS1"
    assert general["lpar_busy"] == pytest.approx(0.41)
    # 3 online, 1 parked: 75 % of two.
    assert general["mvs_busy"] == pytest.approx(0.75)
    assert general["parked_fraction"] == pytest.approx(1 / 3)
    assert general["rolling_msu_fraction"] == pytest.approx(0.2)
    assert found["IIP"]["mvs_busy"] == pytest.approx(0.6)
    assert found["IIP"]["lpar_busy"] == pytest.approx(0.5)


def test_processors_of_a_system_without_sysinfo(tmp_path: Path) -> None:
    general = next(one for one in rows_of(tmp_path, "cpu_system", cpc()) if one["processor_type"] == "CP")
    assert general["lpar_busy"] == pytest.approx(0.41)
    assert general["mvs_busy"] is None


def test_channels(tmp_path: Path) -> None:
    columns = (
        "T:CHACPIVC", "T:CHACPTVC", "T:CHACSIVC", "T:CHACPUVC", "T:CHACTUVC", "N:CHACTBVC", "N:CHACPRVC", "N:CHACTRVC",
        "N:CHACFRTE", "N:CHACFACT", "N:CHACXRTE", "N:CHACXACT",
    )  # fmt: skip
    body = (
        row("10", "FC", "Y", "2.0", "12.5", "1.0", "9000", "31000", "30", "2", "10", "1")
        + row("FC", "ICP", "N", "----", "----", *[""] * 7)
        + heads(*columns)
    )
    found = {one["channel"]: one for one in rows_of(tmp_path, "channel", monitor3("CHANNEL", body))}
    ficon = found["10"]
    assert (ficon["busy_seconds"], ficon["partition_busy_seconds"]) == (pytest.approx(12.5), pytest.approx(2.0))
    # 31,000 B/s for 100 s; 30 operations a second, two active at a start.
    assert (ficon["read_bytes"], ficon["partition_read_bytes"]) == (3_100_000.0, 900_000.0)
    assert (ficon["ficon_operations"], ficon["ficon_active"]) == (3000.0, 6000.0)
    assert (ficon["zhpf_operations"], ficon["sharing"]) == (1000.0, "shared")
    # A line of hyphens is no measurement.
    assert (found["FC"]["busy_seconds"], found["FC"]["incorrect_channels"]) == (None, 1)


def test_devices_count_once_however_many_jobs_wait_for_them(tmp_path: Path) -> None:
    columns = (
        "T:DVRPVOLU", "T:DVRPDVN5", "T:DVRPIDEN", "T:DVRPLCUN", "N:DVRACTRT", "N:DVRRPTHP", "N:DVRIQTHP", "N:DVRPCONN",
        "N:DVRPDISC", "N:DVRPPEND", "T:DVRPJOBN", "N:DVRPSDEL",
    )  # fmt: skip
    device = ("VOL001", "0A0B1", "33909", "0051", "50.0", "4.0", "1.0", "10.0", "2.0", "3.0")
    body = row(*device, "JOBA", "5") + row(*device, "JOBB", "7") + heads(*columns)
    (found,) = rows_of(tmp_path, "dasd_device", monitor3("DEVR", body))
    assert (found["device"], found["volume"], found["ios"]) == ("A0B1", "VOL001", 5000.0)
    # (10 % + 2 % + 3 %) x 100 s / 5,000 I/Os = 3 ms, and 1 ms in the queue.
    assert found["response_time"] == pytest.approx(0.004)
    assert found["io_rate"] == pytest.approx(50.0)


def test_values_of_reports_without_metrics_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "answer.xml"
    path.write_text(ddsml(monitor3("DELAY", row("JOBA", "7") + heads("T:JDELDAN", "N:JDELDEL"))))
    pdb = Pdb.open_or_create(tmp_path / "pdb")
    ingest([path], pdb)
    with pdb.connect() as connection:
        kept = connection.execute(
            "select value from rmf_xml_value where report = 'DELAY' and column_head = 'JDELDEL'"
        ).fetchall()
    assert kept == [("7",)]
