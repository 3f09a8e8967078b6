"""Paging metrics against values worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from tests.metrics.raw import inputs, row, rows_of

STORAGE = GRAINS["paging_storage"]
DATA_SET = GRAINS["paging_data_set"]

#: 900 seconds, 1,000,000 frames.
_PAGING: dict[str, Any] = {
    "smf71pin": 900,
    "smf71pot": 1800,
    "smf71blp": 450,
    "smf71blk": 90,
    "smf71sin": 0,
    "smf71sot": 0,
    "smf71vin": 0,
    "smf71vot": 0,
    "smf71hin": 90,
    "smf71hot": 0,
    "smf71pmv": 9000,
    "smf71tfc": 990_000,
    "smf71fin": 10_000,
    "smf71avf": 250_001,
    "smf71lvf": 250_000.5,
    "smf71cam": 200_000.0,
    "smf71mnf": 200_001,
    "smf71avx": 100_000,
    "smf71uac": 1500,
    "smf71ulc": 1200,
    "smf71tsc": 500_000,
    "smf71avm": 40_000,
    "smf71avv": 10_000,
    "smf71avu": 450_000,
    "smf71grn": 45_000,
    "smf711rn": 90_000,
}


def test_one_system() -> None:
    (found,) = rows_of(evaluate(inputs(smf71_1_paging=[row(1, **_PAGING)]), STORAGE))
    assert found["page_faults_per_second"] == pytest.approx(1.0)
    assert found["demand_paging_per_second"] == pytest.approx(3.0)
    # (900 + 1800 + 450 + 90)/900.
    assert found["pages_per_second"] == pytest.approx(3.6)
    assert found["page_ins_per_second"] == pytest.approx(1.6)
    assert found["page_outs_per_second"] == pytest.approx(2.0)
    assert found["pages_per_block"] == pytest.approx(5.0)
    assert found["page_moves_per_second"] == pytest.approx(10.0)
    assert found["uic"] == pytest.approx(1500)
    assert found["lowest_uic"] == 1200
    assert found["storage_bytes"] == pytest.approx(4_096_000_000)
    # The long form of the average is taken where there is one.
    assert found["available_frames"] == pytest.approx(250_000.5)
    assert found["available_fraction"] == pytest.approx(0.2500005)
    assert found["lowest_available_fraction"] == pytest.approx(0.2)
    assert found["fixed_fraction"] == pytest.approx(0.1)
    assert found["slots_used_fraction"] == pytest.approx(0.1)
    assert found["getmains_per_second"] == pytest.approx(50)
    assert found["first_faults_per_second"] == pytest.approx(100)
    assert found["scm_used_fraction"] is None
    assert found["giant_used_fraction"] is None


def test_sysplex_over_two_intervals() -> None:
    second = row(2, **(_PAGING | {"smf71pin": 1800, "smf71uac": 500, "smf71cam": 100_000.0})) | {"system": "SYS2"}
    later = row(3, interval=1, **(_PAGING | {"smf71pin": 0, "smf71lvf": 750_000.0, "smf71uac": 65535}))
    tables = inputs(smf71_1_paging=[row(1, **_PAGING), second, later])
    (found,) = rows_of(evaluate(tables, STORAGE, by=("sysplex",), time="all"))
    # SYS1 has 900 + 0 page-ins in 1,800 s, SYS2 1,800 in 900 s: 0.5 + 2 per second.
    assert found["page_faults_per_second"] == pytest.approx(2.5)
    # SYS1 has 250,000.5 and 750,000 frames available, mean 500,000.25; SYS2 250,000.5; each has 1,000,000 frames.
    assert found["available_frames"] == pytest.approx(500_000.25 + 250_000.5)
    assert found["frames"] == pytest.approx(2_000_000)
    assert found["available_fraction"] == pytest.approx(750_000.75 / 2_000_000)
    assert found["lowest_available_fraction"] == pytest.approx(0.1)
    # Each system's interval counts alike.
    assert found["uic"] == pytest.approx((1500 + 500 + 65535) / 3)


def test_no_paging_and_no_slots() -> None:
    nothing = dict.fromkeys(_PAGING, 0)
    (found,) = rows_of(evaluate(inputs(smf71_1_paging=[row(1, **nothing)]), STORAGE))
    assert found["demand_paging_per_second"] == 0.0
    for name in ("pages_per_block", "available_fraction", "fixed_fraction", "slots_used_fraction"):
        assert found[name] is None, name


def test_large_frames_and_storage_class_memory() -> None:
    large = _PAGING | {
        "smf71l8a": 4000.0,
        "smf71l9a": 1000.0,
        "smf71lra": 2048.0,
        "smf71pla": 512.0,
        "smf71gua": 3.0,
        "smf71gaa": 1.0,
        "smf71tsa": 1_000_000.0,
        "smf71usa": 250_000.0,
        "smf71pis": 1800.0,
        "smf71pos": 900.0,
        "smf71pi1": 90.0,
        "smf71po1": 10.0,
    }
    (found,) = rows_of(evaluate(inputs(smf71_1_paging=[row(1, **large)]), STORAGE))
    assert found["large_available_fraction"] == pytest.approx(0.25)
    assert found["large_bytes"] == pytest.approx(2.5 * 1024**3)
    assert found["giant_used_fraction"] == pytest.approx(0.75)
    assert found["scm_used_fraction"] == pytest.approx(0.25)
    assert found["scm_pages_per_second"] == pytest.approx(2800 / 900)


def test_report_in_xml_fills_the_same_facts() -> None:
    report = row(
        1,
        seconds=1800,
        interval_seconds=1800.0,
        nonvio_pageins=900.0,
        nonvio_pageouts=0.0,
        page_moves=1530.0,
        page_movement_percent=0.5,
        total_frames_avg=8_388_608.0,
        available_frames_avg=7_599_552.0,
        available_frames_min=7_595_858.0,
        fixed_frames_avg=84_762.0,
        uic_avg=65535.0,
        uic_min=65535.0,
        slots_avg=899_999.0,
        nonvio_slots_avg=10.0,
        vio_slots_avg=0.0,
        frames_1m_fixed_avg=8.0,
        frames_1m_pageable_avg=163.0,
        frames_1m_available_avg=27_647.0,
        frames_1m_avg=29_029.0,
    )
    (found,) = rows_of(evaluate(inputs(rmf_xml_paging=[report]), STORAGE))
    assert found["page_faults_per_second"] == pytest.approx(0.5)
    assert found["page_moves_per_second"] == pytest.approx(0.85)
    assert found["page_move_seconds"] == pytest.approx(9.0)
    # 32 GiB.
    assert found["storage_bytes"] == pytest.approx(32 * 1024**3)
    assert found["available_fraction"] == pytest.approx(0.905937, abs=1e-6)
    assert found["lowest_available_fraction"] == pytest.approx(7_595_858 / 8_388_608)
    assert found["uic"] == pytest.approx(65535)
    assert found["slots_used_fraction"] == pytest.approx(10 / 899_999)
    assert found["large_bytes"] == pytest.approx(171 * 1024**2)


def test_dump_comes_before_report_of_the_same_interval() -> None:
    report = row(1, interval_seconds=900.0, nonvio_pageins=9.0, nonvio_pageouts=0.0)
    later = row(2, interval=1, interval_seconds=900.0, nonvio_pageins=1800.0, nonvio_pageouts=0.0)
    tables = inputs(smf71_1_paging=[row(1, **_PAGING)], rmf_xml_paging=[report, later])
    found = {r["time"]: r["page_faults_per_second"] for r in rows_of(evaluate(tables, STORAGE))}
    assert sorted(found.values()) == pytest.approx([1.0, 2.0])


def data_set(record_no: int, name: str, **fields: Any) -> dict[str, Any]:
    return row(record_no, smf75dsn=name, smf75pst=0x10, smf75fl2=0, smf75vol="PAG001", **fields)


_LOCAL = {
    "smf75sla": 500_000,
    "smf75avu": 100_000,
    "smf75mxu": 120_000,
    "smf75bds": 0,
    "smf75use": 90,
    "smf75sio": 1800,
    "smf75pgx": 9000,
}


def test_page_data_sets() -> None:
    tables = inputs(
        smf75_1_page_data_set=[
            data_set(1, "PAGE.LOCAL1", **_LOCAL),
            data_set(2, "PAGE.LOCAL2", **(_LOCAL | {"smf75use": 0, "smf75sio": 0, "smf75pgx": 0})),
        ],
        rmf_product_section=[row(1, smf7xsam=900), row(2, smf7xsam=900)],
    )
    found = {r["data_set"]: r for r in rows_of(evaluate(tables, DATA_SET))}
    first, second = found["PAGE.LOCAL1"], found["PAGE.LOCAL2"]
    assert (first["space_type"], first["volume"]) == ("local", "PAG001")
    assert first["used_fraction"] == pytest.approx(0.2)
    assert first["in_use_fraction"] == pytest.approx(0.1)
    assert first["io_rate"] == pytest.approx(2.0)
    assert first["pages_per_second"] == pytest.approx(10.0)
    assert first["pages_per_io"] == pytest.approx(5.0)
    # In use 90 of 900 seconds for 9,000 pages.
    assert first["page_transfer_time"] == pytest.approx(0.010)
    assert (second["pages_per_io"], second["page_transfer_time"]) == (None, None)
    (both,) = rows_of(evaluate(tables, DATA_SET, by=("system",)))
    assert both["slots"] == 1_000_000
    assert both["used_fraction"] == pytest.approx(0.2)
    assert both["in_use_fraction"] == pytest.approx(0.05)
    assert both["page_transfer_time"] == pytest.approx(0.010)


def test_storage_class_memory_has_no_data_set_name() -> None:
    scm = data_set(1, "", **_LOCAL) | {"smf75pst": 0, "smf75fl2": 0x08}
    tables = inputs(smf75_1_page_data_set=[scm], rmf_product_section=[row(1, smf7xsam=900)])
    (found,) = rows_of(evaluate(tables, DATA_SET))
    assert (found["data_set"], found["space_type"]) == ("SCM", "SCM")
