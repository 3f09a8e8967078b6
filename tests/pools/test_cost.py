"""Prices of I/O: fits against another solver and against a published table, refusals, and means that Db2 recorded."""

from __future__ import annotations

import csv
import random
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from plexlens.pools.cost import (
    ASYNC_IO,
    LEAST_INTERVALS,
    SYNC_READ,
    Assumption,
    IoCost,
    Origin,
    default_cost,
    fit_async,
    fit_sync,
    fitted_cost,
    measured_delays,
    per_day,
)
from plexlens.pools.regression import Fit, least_squares
from tests.conftest import REPOSITORY
from tests.metrics.raw import inputs, row
from tests.metrics.test_db2_accounting import THREAD, correlation, db2
from tests.metrics.test_db2_data_set import data_set

STUDY = REPOSITORY / "studies" / "pools-2014"


def _table(name: str) -> list[dict[str, str]]:
    with (STUDY / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_stated_prices_give_the_published_cost_of_every_object() -> None:
    # Elapsed time of the measurement: 44:16 minutes (totals.csv).
    seconds = 44 * 60 + 16
    for object_ in _table("object_io_cost.csv"):
        ios = float(object_["Total I/O"])
        assert default_cost().cpu_seconds(ios, 0) == pytest.approx(float(object_["CPU Sec Cost"]), abs=6e-4)
        day = per_day(float(object_["IO Elap Sec"]), seconds)
        assert day == pytest.approx(float(object_["24Hrs IO Delay"]), rel=5e-4)


def test_the_stated_delay_is_that_of_the_published_object() -> None:
    # XGEN048Z: 701,022 synchronous reads, 1,402.044 s.
    (found,) = [one for one in _table("object_io_cost.csv") if one["Object Name"].endswith("XGEN048Z")]
    assert default_cost().sync_delay.value * 701022 == pytest.approx(float(found["IO Elap Sec"]))


def test_a_line_by_hand() -> None:
    # x 1, 2, 3, 4 and y 2, 3, 5, 6: means 2.5 and 4; Sxy = 7, Sxx = 5, Syy = 10.
    fit = least_squares({"x": [1, 2, 3, 4]}, [2, 3, 5, 6])
    assert isinstance(fit, Fit)
    slope = fit.slopes["x"]
    assert slope.value == pytest.approx(1.4)
    assert fit.r2 == pytest.approx(0.98)
    # Residual sum of squares 10 - 1.4 x 7 = 0.2 over 2 degrees of freedom; standard error sqrt(0.1 / 5).
    assert slope.error == pytest.approx(0.02**0.5)
    # Student's t at 97.5 % with 2 degrees of freedom is 4.3027.
    assert slope.low == pytest.approx(1.4 - 4.3027 * 0.02**0.5, abs=1e-4)


def test_constants_of_groups_do_not_disturb_the_slope() -> None:
    x = [1.0, 2, 3, 4, 1, 2, 3, 4]
    y = [one * 2 + (100 if place > 3 else 0) for place, one in enumerate(x)]
    fit = least_squares({"x": x}, y, ["A"] * 4 + ["B"] * 4)
    assert isinstance(fit, Fit)
    assert fit.slopes["x"].value == pytest.approx(2)
    assert (fit.n, fit.freedom) == (8, 5)


def test_several_columns_as_another_solver_has_them() -> None:
    generator = np.random.default_rng(7)
    x = generator.normal(size=(40, 3)) * [1, 1e6, 1e-3]
    y = x @ [3, 2e-6, 500] + generator.normal(size=40)
    fit = least_squares({name: x[:, at].tolist() for at, name in enumerate("abc")}, y.tolist())
    assert isinstance(fit, Fit)
    # The normal equations, solved without scaling.
    design = np.column_stack([np.ones(40), x])
    solved = np.linalg.solve(design.T @ design, design.T @ y)
    assert [fit.slopes[name].value for name in "abc"] == pytest.approx(solved[1:].tolist(), rel=1e-6)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"x": [1.0, 1, 1, 1]}, "did not change"),
        ({"x": [1.0, 2, 3, 4], "z": [2.0, 4, 6, 8]}, "cannot be separated"),
        ({"x": [1.0, 2, 3, 4], "z": [1.0, 0, 6, 8], "w": [4.0, 0, 6, 1]}, "too few to judge"),
    ],
)
def test_what_has_no_line(columns: dict[str, list[float]], told: str) -> None:
    fit = least_squares(columns, [1, 2, 3, 4])
    assert isinstance(fit, str)
    assert told in fit


def _intervals(slope: float, *, n: int = 30, noise: float = 0.5) -> list[dict[str, Any]]:
    generator = random.Random(3)
    made = []
    for _ in range(n):
        ios = generator.uniform(20_000, 400_000)
        cpu = 2.0 + slope * ios + generator.gauss(0, noise)
        made.append({"subsystem": "DB1A", "cpu_seconds": cpu, "async_ios": ios})
    return made


def test_a_price_is_found_again() -> None:
    fitted = fit_async(_intervals(28e-6))
    assert isinstance(fitted, Assumption)
    assert fitted.origin is Origin.FITTED
    assert fitted.low is not None
    assert fitted.high is not None
    assert fitted.low < 28e-6 < fitted.high
    assert fitted.value == pytest.approx(28e-6, rel=0.1)
    assert "30 intervals" in fitted.source
    assert "r² 0." in fitted.source


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "no interval has"),
        (_intervals(28e-6, n=LEAST_INTERVALS - 1), "only 11 intervals"),
        ([one | {"async_ios": None} for one in _intervals(28e-6)], "no interval has"),
        (_intervals(-28e-6), "the slope is negative"),
        (_intervals(28e-6, noise=4.0), "explains too little"),
        (_intervals(900e-6), "is outside"),
        ([one | {"async_ios": 5.0} for one in _intervals(28e-6)], "did not change"),
    ],
)
def test_what_is_refused_says_why(rows: list[dict[str, Any]], told: str) -> None:
    fitted = fit_async(rows)
    assert isinstance(fitted, str)
    assert told in fitted
    assert ASYNC_IO.title in fitted


def test_reads_are_told_from_the_work_that_brings_them() -> None:
    """Class 2 CPU is 4 us a getpage and 30 us a read: over reads alone the slope would be far higher."""
    generator = random.Random(5)
    rows = []
    for _ in range(40):
        getpages = generator.uniform(1e6, 9e6)
        reads = getpages * generator.uniform(0.05, 0.1)
        cpu = 4e-6 * getpages + 30e-6 * reads + generator.gauss(0, 0.05)
        rows.append({"subsystem": "DB1A", "cpu_seconds": cpu, "sync_reads": reads, "getpages": getpages})
    fitted = fit_sync(rows)
    assert isinstance(fitted, Assumption)
    assert fitted.value == pytest.approx(30e-6, rel=0.05)
    alone = least_squares({"reads": [one["sync_reads"] for one in rows]}, [one["cpu_seconds"] for one in rows])
    assert isinstance(alone, Fit)
    assert alone.slopes["reads"].value > 60e-6


def test_the_published_days_before_and_after_page_fixing() -> None:
    """DBM1's SRB time of twelve days over prefetch I/Os: least squares by the textbook formula."""
    days = [one for one in _table("page_fix.csv") if one["dbm1_cpu_seconds"]]
    rows = [
        {
            "subsystem": "DB2P",
            "cpu_seconds": float(one["dbm1_cpu_seconds"]),
            "async_ios": float(one["prefetch_read_ios"].replace(",", "")),
        }
        for one in days
    ]
    assert len(rows) == LEAST_INTERVALS
    fitted = fit_async(rows)
    assert isinstance(fitted, Assumption)
    x = [one["async_ios"] for one in rows]
    y = [one["cpu_seconds"] for one in rows]
    mean_x, mean_y = sum(x) / 12, sum(y) / 12
    by_hand = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)
    assert fitted.value == pytest.approx(by_hand)
    # Days differ by prefetch alone; the price is below the table's CPU seconds by all I/Os, 26 to 36 us.
    assert 10e-6 < fitted.value < 26e-6


def test_statistics_records_give_a_price() -> None:
    """Records a minute apart: DBM1's SRBs take 1 s a minute, and 25 us an I/O, half of it on zIIPs."""
    generator = random.Random(11)
    srb, iip, dynamic, writes = 100.0, 50.0, 1000, 500
    qwsa, qbst, headers, sharing = [], [], [], []
    for number in range(1, 22):
        at = row(number, interval=number, seconds=60, subsystem="DB1A", interval_start=None)
        qwsa.append(at | {"qwsaproc": "DBM1", "qwsasrbt": srb, "qwsapsrb": 0.0, "qwsapsrb_ziip": iip, "qwsaejst": 1.0})
        qbst.append(at | {"qbstpid": 2, "qbstdio": dynamic, "qbstwio": writes, "qbstpio": 7, "qbstlio": 0})
        qwsa.append(at | {"qwsaproc": "MSTR", "qwsasrbt": 7.0 * number, "qwsaejst": 1.0, "section_no": 2})
        headers.append(row(number, interval=number, seconds=60, subsystem="DB1A", qwhsiseq=number, qwhsrn=0xC1))
        sharing.append(row(number, subsystem="DB1A", qwhamemn="DB1A", qwhadsgn="DBGRP"))
        more, written = generator.randrange(10_000, 200_000), generator.randrange(1000, 9000)
        dynamic, writes = dynamic + more, writes + written
        srb, iip = srb + 1.0 + 12.5e-6 * (more + written), iip + 12.5e-6 * (more + written)
    tables = inputs(
        smf100_ifcid1_qwsa=qwsa, smf100_ifcid2_qbst=qbst, smf100_qwhs=headers, smf100_qwha=sharing
    )  # fmt: skip
    cost = fitted_cost(tables)
    assert cost.async_io.origin is Origin.FITTED
    assert cost.async_io.value == pytest.approx(25e-6, rel=1e-3)
    assert "20 intervals" in cost.async_io.source
    assert cost.sync_read == SYNC_READ
    assert [note for note in cost.notes if SYNC_READ.title in note]
    # 1,000 reads at the stated 33 us and 1,000 prefetches at 25 us.
    assert cost.cpu_seconds(1000, 1000) == pytest.approx(0.058, rel=1e-3)
    assert cost.cpu_seconds(1000, 1000, page_fixed=True) == pytest.approx(0.058 * 0.92, rel=1e-3)
    assert fitted_cost(tables, subsystem="DB2B").async_io == ASYNC_IO


def test_delays_come_from_accounting_before_busy_data_sets() -> None:
    # 199: 1000 x 2 ms + 3000 x 1 ms over 4000 I/Os; prefetch 200 x 4 ms.
    rows = [data_set(0, 1), data_set(0, 2, qw0199ob=3, qw0199sr=3000, qw0199sa=0.001)]
    found = measured_delays(inputs(smf102_ifcid199=rows))
    assert found["sync_delay"].value == pytest.approx(0.00125)
    assert found["async_delay"].value == pytest.approx(0.004)
    # Accounting: 0.3 s for 60 waits for database I/O; log writes are none of them.
    told = measured_delays(
        inputs(smf102_ifcid199=rows, smf101_ifcid3_qwac=[db2(1, **THREAD)], smf101_qwhc=[correlation(1)])
    )
    assert told["sync_delay"].value == pytest.approx(0.005)
    assert "60 class 3" in told["sync_delay"].source
    assert told["async_delay"].value == pytest.approx(0.004)


def test_an_empty_database_has_the_stated_prices() -> None:
    cost = fitted_cost(inputs())
    assert cost.assumptions == IoCost().assumptions
    assert len(cost.notes) == 2


def test_prices_are_told_with_their_origin() -> None:
    assert str(SYNC_READ).startswith("CPU of a synchronous read I/O: 33.0 µs, stated: DB2 Buffer Pool Tuning (2014)")
    told = default_cost().to_json()
    assert told["sync_read"]["value"] == 33e-6
    assert told["sync_read"]["origin"] == "stated"
    assert per_day(1.0, 0.0) is None
    assert timedelta(seconds=per_day(1.0, 86400.0) or 0) == timedelta(seconds=1)
