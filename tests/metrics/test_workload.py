"""Workload metrics against values worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from tests.metrics.raw import inputs, row, rows_of

PERIOD = GRAINS["workload_period"]

#: Coefficients of one, and 16,000,000 / 800 = 20,000 service units a second.
CONTROL = {
    "r723mscf": 0,
    "r723mcpu": 1.0,
    "r723msrb": 1.0,
    "r723madj": 800,
    "r723nffi": 1.0,
    "r723nffs": 1.0,
    "r723mwnm": "ONLINE",
    "r723mcnm": "CICSHI",
    "r723mcde": "orders",
    "r723mnsp": "POLICY1",
}

MAP = {f"r723trdb_{n}": b for n, b in enumerate((50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 200, 400, 0), 1)}


def buckets(*counts: int) -> dict[str, int]:
    return {f"r723trdb_{n}": c for n, c in enumerate(counts, 1)}


def one(control: dict[str, Any] | None = None, distribution: list[dict[str, Any]] | None = None, **fields: Any) -> dict:
    """The single row that one period of 900 seconds gives."""
    tables = {
        "smf72_3_period": [row(1, r723cper=1, **fields)],
        "smf72_3_wlm_control": [row(1, **CONTROL | (control or {}))],
    }
    if distribution:
        tables["smf72_3_response_distribution"] = [
            row(1, number, **entry) for number, entry in enumerate(distribution, 1)
        ]
    (found,) = rows_of(evaluate(inputs(**tables), PERIOD))
    return found


def test_cpu_seconds_from_service_units() -> None:
    # TCB 1,000,000 / 20,000 = 50 s; SRB 200,000 / 20,000 = 10 s; RCT + IIT + HST = 1 + 2 + 3 s.
    found = one(r723ccpu=1e6, r723csrb=2e5, r723crct=1.0, r723ciit=2.0, r723chst=3.0)
    assert found["tcb_seconds"] == pytest.approx(50)
    assert found["srb_seconds"] == pytest.approx(10)
    assert found["cpu_seconds"] == pytest.approx(66)
    assert found["cp_seconds"] == pytest.approx(66)
    assert found["cp_processors"] == pytest.approx(66 / 900)


def test_coefficients_are_taken_out() -> None:
    # A CPU coefficient of 10 means ten service units a unit of work: 1,000,000 / 10 / 20,000 = 5 s.
    found = one({"r723mcpu": 10.0, "r723msrb": 5.0}, r723ccpu=1e6, r723csrb=2e5)
    assert found["tcb_seconds"] == pytest.approx(5)
    assert found["srb_seconds"] == pytest.approx(2)


def test_ziip_on_slow_general_processors() -> None:
    # zIIPs 1.5 times as fast as the general processors: 200,000 SU = 10 s of zIIP, worth 15 s of general processor.
    # All engines 50 s, so 35 s on general processors, 5 s of which could have run on a zIIP.
    found = one({"r723nffs": 1.5}, r723ccpu=1e6, r723csup=2e5, r723csuc=1e5, r723crcp=100)
    assert found["ziip_engine_seconds"] == pytest.approx(10)
    assert found["ziip_seconds"] == pytest.approx(15)
    assert found["cp_seconds"] == pytest.approx(35)
    assert found["ziip_eligible_fraction"] == pytest.approx(20 / 50)
    assert found["ziip_redirected_fraction"] == pytest.approx(15 / 20)
    assert found["ziip_overflow_fraction"] == pytest.approx(5 / 20)
    assert found["ziip_processors"] == pytest.approx(10 / 900)
    assert found["cpu_per_transaction"] == pytest.approx(0.5)
    assert found["cp_per_transaction"] == pytest.approx(0.35)
    assert found["specialty_per_transaction"] == pytest.approx(0.15)


def test_response_time_and_its_deviation() -> None:
    # Two transactions of 0.2 s and 0.4 s: mean 0.3, deviation 0.1, sum of squares 0.2.
    found = one(r723crcp=2, r723ctet=0.6, r723cets=0.2, r723cxet=0.5)
    assert found["response_time"] == pytest.approx(0.3)
    assert found["response_deviation"] == pytest.approx(0.1)
    assert found["execution_time"] == pytest.approx(0.25)
    assert found["transactions_per_second"] == pytest.approx(2 / 900)


def test_finer_time_is_preferred() -> None:
    found = one(r723crcp=2, r723ctet=0.6, r723ctetx=0.61)
    assert found["response_time"] == pytest.approx(0.305)


@pytest.mark.parametrize(
    ("counts", "percentile", "index"),
    [
        # 90 of 100 end within half the goal: the first bucket already holds the percentile.
        ((90, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 90, 0.5),
        # 89 within the goal, 3 more within 110 %: the goal of 90 % is met only at 1.1 times the goal.
        ((50, 10, 10, 10, 5, 4, 3, 3, 2, 1, 1, 1, 0, 0), 90, 1.1),
        # Half of the transactions took more than four times the goal: the open bucket.
        ((50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50), 90, 4.0),
        ((50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 0), 90, 4.0),
        ((50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0), 90, 2.0),
    ],
)
def test_percentile_index(counts: tuple[int, ...], percentile: int, index: float) -> None:
    goal = {"r723crgf": 0x80, "r723crtf": 0x80, "r723cval": 500, "r723cpct": percentile}
    found = one(None, [MAP, buckets(*counts)], r723crtx=1, r723crcp=sum(counts), **goal)
    assert found["goal"] == "percentile"
    assert found["goal_seconds"] == pytest.approx(0.5)
    assert found["performance_index"] == pytest.approx(index)


def test_percentile_index_of_the_second_period() -> None:
    """Each period has its own buckets: the second one reads the entry its index names, not the first."""
    goal = {"r723crgf": 0x80, "r723crtf": 0x40, "r723cval": 1, "r723cpct": 80, "r723crcp": 100}
    first = buckets(100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    second = buckets(0, 0, 0, 0, 0, 70, 5, 5, 20, 0, 0, 0, 0, 0)
    found = rows_of(
        evaluate(
            inputs(
                smf72_3_period=[
                    row(1, 1, r723cper=1, r723crtx=1, **goal),
                    row(1, 2, r723cper=2, r723crtx=2, **goal),
                ],
                smf72_3_wlm_control=[row(1, **CONTROL)],
                smf72_3_response_distribution=[row(1, 1, **MAP), row(1, 2, **first), row(1, 3, **second)],
            ),
            PERIOD,
        )
    )
    index = {r["period"]: r["performance_index"] for r in found}
    # Second period: 70 % within the goal, 75 % at 1.1, 80 % at 1.2.
    assert index == {"1": pytest.approx(0.5), "2": pytest.approx(1.2)}


def test_index_of_average_and_velocity_goals() -> None:
    average = one(r723crgf=0x40, r723crtf=0x80, r723cval=200, r723cpct=0, r723crcp=10, r723ctet=3.0)
    # 0.3 s against 0.2 s.
    assert average["performance_index"] == pytest.approx(1.5)
    velocity = one(r723crgf=0x20, r723cval=40, r723ctou=20, r723ctot=60)
    # 20 / (20 + 60) = 25 %; the goal was 40 %.
    assert velocity["velocity"] == pytest.approx(0.25)
    assert velocity["performance_index"] == pytest.approx(1.6)
    assert velocity["goal_seconds"] is None


def test_discretionary_work_has_no_index() -> None:
    found = one(r723crgf=0x10, r723crcp=10, r723ctet=3.0, r723ctou=5, r723ctot=5)
    assert found["goal"] == "discretionary"
    assert found["performance_index"] is None


def test_nothing_ended_gives_null_not_zero() -> None:
    found = one(r723ccpu=1e6, r723crcp=0, r723ctet=0.0, r723csup=0.0, r723csuc=0.0)
    for metric in ("response_time", "cpu_per_transaction", "ziip_redirected_fraction", "ziip_overflow_fraction"):
        assert found[metric] is None


def test_report_class_is_told_apart() -> None:
    assert one({"r723mscf": 0x80})["class_kind"] == "report class"
    assert one({"r723mscf": 0x10})["class_kind"] == "service class"


def test_roll_up_is_the_formula_on_the_sums() -> None:
    """Two intervals of 300 and 600 s on two systems: rates over 900 s, ratios of sums, not means of ratios."""
    periods, controls = [], []
    for number, (system, start, seconds, ended, elapsed) in enumerate(
        [("SYS1", 0, 300, 10, 1.0), ("SYS1", 1, 300, 90, 18.0), ("SYS2", 0, 300, 100, 50.0), ("SYS2", 1, 300, 0, 0.0)],
        1,
    ):
        at = {"system": system, "interval": start, "seconds": seconds}
        periods.append(row(number, r723cper=1, r723crcp=ended, r723ctet=elapsed, **at))
        controls.append(row(number, **CONTROL, **at))
    raw = inputs(smf72_3_period=periods, smf72_3_wlm_control=controls)
    (every,) = rows_of(evaluate(raw, PERIOD, by=("class_name",), time="all"))
    # 200 transactions in 600 s on both systems together; 69 s of elapsed time.
    assert every["transactions_per_second"] == pytest.approx(200 / 600)
    assert every["response_time"] == pytest.approx(69 / 200)
    assert every["intervals"] == 2
    by_system = {r["system"]: r for r in rows_of(evaluate(raw, PERIOD, by=("system",), time="all"))}
    assert by_system["SYS1"]["response_time"] == pytest.approx(19 / 100)
    assert by_system["SYS2"]["transactions_per_second"] == pytest.approx(100 / 600)


def test_data_a_period_does_not_record_is_null() -> None:
    """R723CADF of a CICS class: response time data only, the resource fields being zero."""
    found = one(r723cadf=0x40, r723ccpu=0.0, r723crcp=100, r723ctet=20.0, r723ctou=0, r723ctot=0)
    assert found["response_time"] == pytest.approx(0.2)
    assert found["cp_seconds"] is None
    assert found["cpu_per_transaction"] is None
    assert found["velocity"] is None
    whole = one(r723cadf=0xE0, r723ccpu=0.0, r723crcp=100, r723ctet=20.0)
    assert whole["cpu_seconds"] == 0.0
