"""Metrics of data sets (SMF 42-6) against values worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate, facts
from plexlens.metrics.inputs import Inputs
from tests.metrics.raw import inputs, row, rows_of

DATA_SET = GRAINS["data_set"]

#: 9,000 I/Os of 1 ms: 0.4 connect, 0.3 disconnect, 0.2 pending (0.05 of it in the control unit's queue), 0.1 else.
IO = {
    "s42dsion": 9000,
    "s42dsrdt": 6000,
    "s42dscnd": 8000,
    "s42dsshts": 7000,
    "s42dswcn": 3000,
    "s42dswhi": 3000,
    "s42dsseq": 1000,
    "s42dshrd": 4000,
    "s42dshwr": 500,
    "s42dsr1u": 0.001,
    "s42dsc1u": 0.0004,
    "s42dsd1u": 0.0003,
    "s42dsp1u": 0.0002,
    "s42dsq1u": 0.00005,
    "s42dsm1u": 0.00001,
    "s42dst1u": 0.00045,
    "s42dsior": 0.000896,
    "s42dsioc": 0.000384,
    "s42dsiop": 0.000128,
    "s42dsiod": 0.000256,
    "s42dsioq": 0.0,
    "s42dsmxr": 0.064,
}


def raw(*data_sets: tuple[dict[str, Any], dict[str, Any]], **tables: list[dict[str, Any]]) -> Inputs:
    return inputs(
        smf42_6_data_set=[one for one, _ in data_sets],
        smf42_6_io=[{k: v for k, v in one.items() if not k.startswith("s42ds")} | io for one, io in data_sets],
        **{
            "smf42_6_job": [
                row(no, utc_offset=None, s42jdjnm=job, s42jdwsc="PRDHI", s42jdwld="ONLINE", s42jdgmo=3433)
                for no, job in ((1, "DB2ADBM1"), (2, "CICSA1"))
            ]
        }
        | tables,
    )


def data_set(
    record_no: int, section_no: int = 1, name: str = "DB2A.DSNDBD.A.B.I0001.A001", **more: Any
) -> dict[str, Any]:
    return row(record_no, section_no, utc_offset=None) | {
        "s42dsn": name,
        "s42dsvol": "PRD001",
        "s42dssc": "SCDB2",
        "s42dstyp": 21,
        "s42dsfl1": 0x02,
        "s42dsdev": 0x8000,
        **more,
    }


def test_one_data_set() -> None:
    (found,) = rows_of(evaluate(raw((data_set(1), IO)), DATA_SET))
    assert (found["job"], found["data_set"], found["volume"]) == ("DB2ADBM1", "DB2A.DSNDBD.A.B.I0001.A001", "PRD001")
    assert (found["device"], found["organization"], found["buffering"]) == ("8000", "linear", "NSR")
    assert (found["storage_class"], found["service_class"]) == ("SCDB2", "PRDHI")
    assert found["io_rate"] == pytest.approx(10.0)
    assert found["response_time"] == pytest.approx(0.001)
    assert found["connect_time"] == pytest.approx(0.0004)
    assert found["disconnect_time"] == pytest.approx(0.0003)
    assert found["pending_time"] == pytest.approx(0.0002)
    assert found["other_time"] == pytest.approx(0.0001)
    assert found["queue_time"] == pytest.approx(0.00005)
    assert found["command_response_time"] == pytest.approx(0.00001)
    assert found["read_disconnect_time"] == pytest.approx(0.00045)
    # 10/s x 1 ms.
    assert found["io_intensity"] == pytest.approx(0.01)
    assert found["read_fraction"] == pytest.approx(2 / 3)
    # 7,000/8,000; reads (7,000 - 3,000)/(8,000 - 3,000); writes all.
    assert found["cache_hit_fraction"] == pytest.approx(0.875)
    assert found["read_hit_fraction"] == pytest.approx(0.8)
    assert found["write_hit_fraction"] == pytest.approx(1.0)
    assert found["sequential_fraction"] == pytest.approx(1 / 9)
    assert found["zhpf_fraction"] == pytest.approx(0.5)
    assert found["longest_response_seconds"] == pytest.approx(0.064)
    assert found["sync_success_fraction"] is None
    assert found["bytes_per_io"] is None


def test_the_coarse_times_where_the_release_has_no_others() -> None:
    coarse = {name: value for name, value in IO.items() if not name.endswith("1u")}
    (found,) = rows_of(evaluate(raw((data_set(1), coarse)), DATA_SET))
    # 7, 3, 2 and 1 units of 128 us.
    assert found["response_time"] == pytest.approx(7 * 0.000128)
    assert found["connect_time"] == pytest.approx(3 * 0.000128)
    assert found["disconnect_time"] == pytest.approx(2 * 0.000128)
    assert found["pending_time"] == pytest.approx(0.000128)
    assert found["other_time"] == pytest.approx(0.000128)
    assert found["command_response_time"] is None


def test_means_are_weighted_by_ios() -> None:
    slow = IO | {"s42dsion": 1000, "s42dsr1u": 0.011}
    tables = raw((data_set(1), IO), (data_set(2), slow))
    (found,) = rows_of(evaluate(tables, DATA_SET, by=("data_set",), time="all"))
    # (9,000 x 1 + 1,000 x 11)/10,000 ms; 10,000 I/Os in 2 x 900 s open.
    assert found["response_time"] == pytest.approx(0.002)
    assert found["io_rate"] == pytest.approx(10_000 / 1800)


def test_sections_belong_to_the_data_set_of_their_number() -> None:
    tables = raw(
        (data_set(1, 1), IO),
        (data_set(1, 2, "DB2A.ARCHLOG"), IO | {"s42dsion": 4}),
        smf42_6_access_method=[row(1, 2, s42amrib=4096 * 3, s42amwib=4096, s42amsrb=3)],
        smf42_6_sync_1=[row(1, 1, s42snrdt=100, s42snros=90, s42snwdt=50, s42snwos=30)],
    )
    found = {r["data_set"]: r for r in rows_of(evaluate(tables, DATA_SET))}
    assert found["DB2A.ARCHLOG"]["bytes_per_io"] == pytest.approx(4096)
    assert found["DB2A.ARCHLOG"]["sync_success_fraction"] is None
    # (90 + 30)/(100 + 50).
    assert found["DB2A.DSNDBD.A.B.I0001.A001"]["sync_success_fraction"] == pytest.approx(0.8)
    assert found["DB2A.DSNDBD.A.B.I0001.A001"]["bytes_per_io"] is None


def test_local_time_comes_from_the_job_header() -> None:
    (found,) = rows_of(facts(raw((data_set(1), IO)), DATA_SET))
    # 3,433 x 1.048576 s: an hour, as near as the unit goes.
    assert found["utc_offset"] == pytest.approx(3599.76, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "form", "expected"), [(16, 0xC0, "GSR"), (17, 0x80, "LSR"), (22, 0x40, "RLS"), (2, 0, None)]
)
def test_buffers_of_vsam_only(kind: int, form: int, expected: str | None) -> None:
    (found,) = rows_of(facts(raw((data_set(1, s42dstyp=kind, s42dsfl1=form), IO)), DATA_SET))
    assert found["buffering"] == expected
