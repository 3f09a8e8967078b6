"""Coupling facility metrics against values worked by hand."""

from __future__ import annotations

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate, rolled_up
from tests.metrics.raw import inputs, row, rows_of

STRUCTURE = GRAINS["coupling_structure"]
FACILITY = GRAINS["coupling_facility"]


def test_service_time_delay_and_contention() -> None:
    lock = {
        "r744snam": "DSNG_LOCK1",
        "r744styp": 3,
        # 8,000 synchronous requests of 100 µs on average; half took 50, half 150 µs: deviation 50 µs.
        "r744ssrc": 8000.0,
        "r744sstm": 0.8,
        "r744sssq": 4000 * (50e-6**2 + 150e-6**2),
        "r744sarc": 2000.0,
        "r744satm": 2.0,
        "r744ssta": 500.0,
        "r744sqrc": 100.0,
        "r744sqtm": 0.05,
        "r744strc": 20000.0,
        "r744stac": 400.0,
        "r744scn": 300.0,
        "r744sfcn": 100.0,
        "r744sltl": 1000,
        "r744sltm": 250,
    }
    raw = inputs(smf74_4_local_cf=[row(1, r744fnam="CF1")], smf74_4_request=[row(1, seconds=1000, **lock)])
    (found,) = rows_of(evaluate(raw, STRUCTURE))
    assert (found["facility"], found["structure"], found["structure_type"]) == ("CF1", "DSNG_LOCK1", "lock")
    expected = {
        "requests_per_second": 10.0,
        "sync_fraction": 0.8,
        "async_fraction": 0.2,
        "changed_fraction": 0.05,
        "sync_service_time": 100e-6,
        "sync_service_deviation": 50e-6,
        "async_service_time": 1e-3,
        "delayed_fraction": 0.01,
        "delay_of_delayed": 500e-6,
        "delay_of_all": 5e-6,
        "contention_fraction": 0.015,
        "false_contention_fraction": 0.005,
        "real_contention_fraction": 0.01,
        "deferred_fraction": 0.02,
        "sync_processors": 0.0008,
        "service_time_per_second": 0.0028,
        "lock_entries_fraction": 0.25,
    }
    assert {name: found[name] for name in expected} == {n: pytest.approx(v) for n, v in expected.items()}


def test_round_trip_of_paths() -> None:
    # Paths of 113 and 107 µs, a third one not measured. Another facility has one path of 1 µs: (113 + 107 + 1) / 3.
    raw = inputs(
        smf74_4_local_cf=[row(1, r744fnam="CF1"), row(2, r744fnam="CF2")],
        smf74_4_channel_path=[
            *(row(1, number, r744hlat=latency) for number, latency in enumerate((113e-6, 107e-6, 0.0))),
            row(2, r744hlat=1e-6),
        ],
    )
    (whole,) = rolled_up(raw, FACILITY, by=(), time="all")
    assert whole["path_latency"] == pytest.approx(221e-6 / 3)
    by_facility = rolled_up(raw, FACILITY, by=("facility",), time="all")
    assert [each["path_latency"] for each in by_facility] == pytest.approx([110e-6, 1e-6])


def test_no_requests_gives_null() -> None:
    quiet = {"r744snam": "IDLE", "r744ssrc": 0.0, "r744sstm": 0.0, "r744sarc": 0.0, "r744strc": 0.0, "r744scn": 0.0}
    raw = inputs(smf74_4_local_cf=[row(1, r744fnam="CF1")], smf74_4_request=[row(1, **quiet)])
    (found,) = rows_of(evaluate(raw, STRUCTURE))
    assert found["requests_per_second"] == 0.0
    for metric in ("sync_service_time", "sync_service_deviation", "sync_fraction", "contention_fraction"):
        assert found[metric] is None, metric


def two_systems() -> dict:
    """A cache structure used by two systems; each record tells the facility's own counters alike."""
    tables: dict[str, list] = {
        name: []
        for name in (
            "smf74_4_local_cf",
            "smf74_4_request",
            "smf74_4_cache",
            "smf74_4_processor",
            "smf74_4_storage",
        )
    }
    for number, system, requests in ((1, "SYS1", 900.0), (2, "SYS2", 1800.0)):
        at = {"system": system}
        tables["smf74_4_local_cf"].append(row(number, r744fnam="CF1", r744ftor=requests, r744fscl=14, **at))
        # The first structure points at cache section 1, the second at sections 2 and 3.
        tables["smf74_4_request"].append(row(number, 1, r744snam="GBP0", r744styp=4, r744cdsi=1, r744cdne=1, **at))
        tables["smf74_4_request"].append(
            row(
                number,
                2,
                r744snam="GBP1",
                r744styp=4,
                r744cdsi=2,
                r744cdne=2,
                r744ssrc=requests,
                r744sstm=requests * 50e-6,
                r744sdec=5000,
                r744sdel=1000,
                r744ssiz=8192,
                **at,
            )
        )
        tables["smf74_4_cache"] += [
            row(number, 1, r744crhc=7.0, **at),
            row(number, 2, r744crhc=300.0, r744crmd=60.0, r744crmn=40.0, r744cxdr=9.0, r744ccoc=90.0, **at),
            row(number, 3, r744crhc=100.0, r744crmd=0.0, r744crmn=0.0, r744cwh1=450.0, **at),
        ]
        tables["smf74_4_processor"] += [
            row(number, 1, r744pbsy=90.0, r744pwai=810.0, **at),
            row(number, 2, r744pbsy=45.0, r744pwai=405.0, **at),
        ]
        tables["smf74_4_storage"].append(row(number, 1, r744gtsd=1000.0, r744gtsf=250.0, **at))
    return tables


def test_cache_sections_belong_to_their_structure() -> None:
    found = {(r["system"], r["structure"]): r for r in rows_of(evaluate(inputs(**two_systems()), STRUCTURE))}
    one = found["SYS1", "GBP1"]
    # Sections 2 and 3: 400 hits of 500 reads.
    assert one["read_hit_fraction"] == pytest.approx(0.8)
    assert one["reads_per_second"] == pytest.approx(500 / 900)
    assert one["writes_per_second"] == pytest.approx(0.5)
    assert one["castouts_per_second"] == pytest.approx(0.1)
    assert one["reclaim_invalidations_per_second"] == pytest.approx(0.01)
    assert one["directory_to_data_ratio"] == pytest.approx(5.0)
    assert found["SYS1", "GBP0"]["reads_per_second"] == pytest.approx(7 / 900)


def test_what_the_facility_counted_is_taken_once() -> None:
    raw = inputs(**two_systems())
    found = {r["structure"]: r for r in rows_of(evaluate(raw, STRUCTURE, by=("structure",), time="all"))}
    # Requests of two systems add up; reads counted by the facility do not, nor does the size.
    assert found["GBP1"]["requests_per_second"] == pytest.approx(3.0)
    assert found["GBP1"]["reads_per_second"] == pytest.approx(500 / 900)
    assert found["GBP1"]["structure_bytes"] == 8192
    (facility,) = rows_of(evaluate(raw, FACILITY, by=("facility",), time="all"))
    assert facility["requests_per_second"] == pytest.approx(3.0)
    # Busy 135 of 1,350 seconds, whoever tells it; two processors shared with others run 1.5 processors' time.
    assert facility["utilization"] == pytest.approx(0.1)
    assert facility["effective_processors"] == pytest.approx(1.5)
    assert facility["logical_processors"] == 2
    assert facility["storage_fraction"] == pytest.approx(0.75)
    # 135 busy seconds over 2,700 requests of both systems.
    assert facility["cf_time_per_request"] == pytest.approx(0.05)
    # 2,700 x 50 µs over 900 s on 14 + 14 subchannels.
    assert facility["subchannel_utilization"] == pytest.approx(2700 * 50e-6 / (900 * 28))
