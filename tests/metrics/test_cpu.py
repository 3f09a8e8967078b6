"""Processor metrics against values worked by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from tests.metrics.raw import START, inputs, row, rows_of
from tests.metrics.test_workload import CONTROL

PARTITION = GRAINS["cpu_partition"]
SYSTEM = GRAINS["cpu_system"]

#: Logical processors: (partition index, engine kind index, dispatch seconds, effective seconds, weight).
LOGICAL = (
    (1, 1, 450.0, 441.0, 300),
    (1, 1, 450.0, 441.0, 300),
    (1, 2, 90.0, 89.0, 200),
    (2, 1, 180.0, 176.0, 400),
    (3, 1, 9.0, 0.0, 0),
)


def machine(*systems: str, intervals: int = 1, dispatch: tuple[float, ...] = (1.0,)) -> dict[str, list[dict[str, Any]]]:
    """A machine of four general processors and one zIIP with two partitions, told by each of the systems.

    ``dispatch`` scales the dispatch times of each interval.
    """
    tables: dict[str, list[dict[str, Any]]] = {
        "smf70_1_cpu_control": [],
        "smf70_1_partition": [],
        "smf70_1_logical_processor": [],
        "smf70_1_cpu_identification": [],
        "smf70_1_cpu_data": [],
        "rmf_product_section": [],
    }
    number = 0
    for interval in range(intervals):
        scale = dispatch[interval % len(dispatch)]
        for own, system in enumerate(systems, 1):
            number += 1
            at = {"system": system, "interval": interval}
            tables["smf70_1_cpu_control"].append(
                # 16,000,000 / 400 = 40,000 SU a second a processor = 144 MSU.
                row(
                    number,
                    smf70cpa=400,
                    smf70csc="0000012345",
                    smf70cpc_type="8561",
                    smf70dsa=100,
                    smf70mdl="704",
                    **at,
                )
                | {"smf70lac": 120, "smf70wla": 480}
            )
            tables["rmf_product_section"].append(row(number, smf7xptn=own, **at))
            names = (("LP01", 1, "SYS1"), ("LP02", 2, "SYS2"), ("PHYSICAL", 0, ""))
            for index, (name, lpn, stn) in enumerate(names, 1):
                first = next(i for i, one in enumerate(LOGICAL) if one[0] == index)
                tables["smf70_1_partition"].append(
                    row(
                        number,
                        index,
                        smf70lpm=name,
                        smf70lpn=lpn,
                        smf70stn=stn,
                        smf70bds=first,
                        smf70bdn=sum(one[0] == index for one in LOGICAL),
                        **at,
                    )
                )
            for index, (_, kind, total, effective, weight) in enumerate(LOGICAL, 1):
                tables["smf70_1_logical_processor"].append(
                    row(
                        number,
                        index,
                        smf70pdt=total * scale,
                        smf70edt=effective * scale,
                        smf70ont=900.0,
                        smf70bps=weight,
                        smf70cix=kind,
                        smf70nsw=25,
                        smf70nca=10,
                        **at,
                    )
                )
            tables["smf70_1_cpu_identification"] += [
                row(number, 1, smf70cin="CP", smf70ctn=4, **at),
                row(number, 2, smf70cin="IIP", smf70ctn=1, **at),
            ]
            tables["smf70_1_cpu_data"] += [
                row(number, 1, smf70wat=300.0, smf70pat=0.0, smf70typ=0, smf70cnf=1, smf70slh=600, smf70tpi=300, **at),
                row(number, 2, smf70wat=100.0, smf70pat=400.0, smf70typ=0, smf70cnf=1, smf70slh=0, smf70tpi=0, **at),
                row(number, 3, smf70wat=810.0, smf70pat=0.0, smf70typ=2, smf70cnf=1, smf70slh=0, smf70tpi=0, **at),
                # An engine that is offline at the end of the interval counts for nothing.
                row(number, 4, smf70wat=900.0, smf70pat=0.0, smf70typ=0, smf70cnf=0, smf70slh=0, smf70tpi=0, **at),
            ]
    return tables


def partitions(raw: Any, **how: Any) -> dict[tuple[str, str], dict[str, Any]]:
    return {(r["partition"], r["processor_type"]): r for r in rows_of(evaluate(raw, PARTITION, **how))}


def test_partition_busy_and_capacity() -> None:
    found = partitions(inputs(**machine("SYS1")))
    one = found["LP01", "CP"]
    expected = {
        "physical_busy": 900 / 3600,
        "physical_effective": 882 / 3600,
        "management_fraction": 18 / 3600,
        "logical_busy": 900 / 1800,
        "processors_used": 1.0,
        "weight_share": 0.6,
        "entitled_processors": 2.4,
        "capped_fraction": 0.25,
        "limited_fraction": 0.10,
        "msu_used": 144.0,
    }
    assert {name: one[name] for name in expected} == {n: pytest.approx(v) for n, v in expected.items()}
    assert one["machine"] == "8561-0000012345"
    assert found["LP01", "IIP"]["physical_busy"] == pytest.approx(0.1)
    # zIIPs and the hypervisor's own time are not charged.
    assert found["LP01", "IIP"]["msu_used"] is None
    assert found["PHYSICAL", "CP"]["msu_used"] is None


def test_a_machine_told_by_two_systems_counts_once() -> None:
    alone = partitions(inputs(**machine("SYS1")), by=("partition", "processor_type"), time="all")
    both = partitions(inputs(**machine("SYS1", "SYS2")), by=("partition", "processor_type"), time="all")
    assert both.keys() == alone.keys()
    for key, found in both.items():
        assert found["dispatch_seconds"] == alone[key]["dispatch_seconds"]
        assert found["msu_used"] == alone[key]["msu_used"]


def test_machine_busy_is_the_sum_of_its_partitions() -> None:
    raw = inputs(**machine("SYS1", "SYS2"))
    found = {r["processor_type"]: r for r in rows_of(evaluate(raw, PARTITION, by=("machine", "processor_type")))}
    # (900 + 180 + 9) of 4 x 900 seconds.
    assert found["CP"]["physical_busy"] == pytest.approx(1089 / 3600)
    assert found["CP"]["physical_processors"] == 4


def test_rolling_four_hour_mean() -> None:
    """Twenty quarter hours: 16 of them make four hours. The first ten at 144 MSU, then at 72."""
    scales = (1.0,) * 10 + (0.5,) * 10
    raw = inputs(**machine("SYS1", intervals=20, dispatch=scales))
    rolled = sorted(
        (r["time"], r["msu_rolling"])
        for r in rows_of(evaluate(raw, PARTITION))
        if (r["partition"], r["processor_type"]) == ("LP01", "CP")
    )
    for index, (_, value) in enumerate(rolled):
        held = scales[max(0, index - 15) : index + 1]
        assert value == pytest.approx(144 * sum(held) / len(held))


def test_rolling_four_hour_mean_of_unequal_and_missing_intervals() -> None:
    """A mean over time: an interval counts by its length, and only by the part of it that lies in the four hours.

    MSU by dispatch scale: 144 at 1.0. In minutes after the start: 0 to 60 at 144, 60 to 75 at 72, nothing to 120,
    120 to 225 at 36, 225 to 255 at 288, 255 to 285 at 0.
    """
    parts = [(0, 60, 1.0), (60, 15, 0.5), (120, 105, 0.25), (225, 30, 2.0), (255, 30, 0.0)]
    rows: dict[str, list[dict[str, Any]]] = {}
    for start, minutes, scale in parts:
        # A processor is dispatched for half of a quarter of an hour at 1.0.
        for name, records in machine("SYS1", dispatch=(scale * minutes / 15,)).items():
            for record in records:
                begin = START + timedelta(minutes=start)
                times = {"interval_start": begin, "interval_end": begin + timedelta(minutes=minutes)}
                rows.setdefault(name, []).append(record | times | {"record_no": 1000 + start})
    found = {
        (r["time"] - START).total_seconds() / 60: r["msu_rolling"]
        for r in rows_of(evaluate(inputs(**rows), PARTITION))
        if (r["partition"], r["processor_type"]) == ("LP01", "CP")
    }
    assert found == {
        0: pytest.approx(144),
        # (60 x 144 + 15 x 72) / 75
        60: pytest.approx(129.6),
        # (60 x 144 + 15 x 72 + 105 x 36) / 180: the minutes without an interval are not time of no use
        120: pytest.approx(75),
        # Four hours up to minute 255 begin at minute 15: (45 x 144 + 15 x 72 + 105 x 36 + 30 x 288) / 195
        225: pytest.approx(19_980 / 195),
        # From minute 45: (15 x 144 + 15 x 72 + 105 x 36 + 30 x 288 + 0) / 195
        255: pytest.approx(15_660 / 195),
    }


def test_system_busy_and_capture() -> None:
    tables = machine("SYS1")
    # 8,820,000 SU at 20,000 a second = 441 s of 882 s effective dispatch time.
    tables["smf72_3_period"] = [row(9, r723cper=1, r723ccpu=8.82e6)]
    tables["smf72_3_wlm_control"] = [row(9, **CONTROL)]
    found = {r["processor_type"]: r for r in rows_of(evaluate(inputs(**tables), SYSTEM))}
    general = found["CP"]
    # Online 1,800 s, parked 400, waiting 400: busy 1,000 of 1,400.
    assert general["mvs_busy"] == pytest.approx(1000 / 1400)
    assert general["lpar_busy"] == pytest.approx(0.5)
    assert general["parked_fraction"] == pytest.approx(400 / 1800)
    assert general["capture_ratio"] == pytest.approx(0.5)
    assert general["uncaptured_seconds"] == pytest.approx(441)
    assert general["io_interrupts_per_second"] == pytest.approx(1.0)
    assert general["tpi_fraction"] == pytest.approx(1 / 3)
    assert general["rolling_msu_fraction"] == pytest.approx(0.25)
    assert found["IIP"]["mvs_busy"] == pytest.approx(0.1)
    # Capacity in MSU is that of general processors.
    assert found["IIP"]["capacity_msu"] is None


def test_each_system_reads_its_own_partition() -> None:
    found = {
        (r["system"], r["processor_type"]): r for r in rows_of(evaluate(inputs(**machine("SYS1", "SYS2")), SYSTEM))
    }
    assert found["SYS1", "CP"]["dispatch_seconds"] == 900
    assert found["SYS2", "CP"]["dispatch_seconds"] == 180
    assert found["SYS2", "CP"]["partition"] == "LP02"


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"smf70csc": "0000012345", "smf70cpc_type": "8561", "smf70mdl": "704"}, "8561-0000012345"),
        ({"smf70csc": "0000012345", "smf70cpc_type": "", "smf70mdl": "704"}, "0000012345"),
        ({"smf70csc": "", "smf70cpc_type": "", "smf70mdl": "RX3"}, "RX3"),
    ],
)
def test_machine_is_named_by_what_the_record_tells(fields: dict[str, Any], name: str) -> None:
    tables = machine("SYS1")
    tables["smf70_1_cpu_control"] = [tables["smf70_1_cpu_control"][0] | fields]
    assert {r["machine"] for r in rows_of(evaluate(inputs(**tables), PARTITION))} == {name}


def _started(tables: dict[str, list[dict[str, Any]]], after: timedelta, **fields: Any) -> dict[str, list[Any]]:
    """The records, each interval later by that much."""
    return {
        name: [
            one
            | {"interval_start": one["interval_start"] + after, "interval_end": one["interval_end"] + after}
            | fields
            for one in rows
        ]
        for name, rows in tables.items()
    }


def _together(*parts: dict[str, list[dict[str, Any]]]) -> Any:
    """All records, numbered anew."""
    whole: dict[str, list[dict[str, Any]]] = {}
    for number, part in enumerate(parts):
        for name, rows in part.items():
            whole.setdefault(name, []).extend(one | {"record_no": one["record_no"] + 1000 * number} for one in rows)
    return inputs(**whole)


@pytest.mark.parametrize("seconds", [0.4, 3, 29, 31, 200, 450])
def test_a_machine_told_by_systems_that_start_apart_counts_once(seconds: float) -> None:
    """Both tell of 450 s of dispatch in every 900 s, so that any moment counted twice or not at all shows."""
    length = 8 * 900.0
    late = timedelta(seconds=seconds)
    raw = _together(machine("SYS1", intervals=8), _started(machine("SYS2", intervals=8), late))
    (whole,) = [
        r
        for r in rows_of(evaluate(raw, PARTITION, by=("machine", "processor_type"), time="all"))
        if r["processor_type"] == "CP"
    ]
    # The last interval of SYS2 ends later than all of SYS1: what it adds is not told by SYS1. Intervals that have the
    # same name are one.
    covered = length + (0 if seconds < 30 else seconds)
    assert whole["interval_seconds"] == pytest.approx(covered, abs=2)
    assert whole["dispatch_seconds"] == pytest.approx(1089 / 900 * covered, rel=3e-4)
    assert whole["physical_busy"] == pytest.approx(1089 / 3600, rel=3e-4)
    assert whole["msu"] == pytest.approx((900 + 180) / 900 * 144, rel=3e-4)
    assert whole["weight"] == 600 + 400


def test_a_machine_goes_on_where_its_first_system_ends() -> None:
    """SYS1 closes its last interval after 400 s, and SYS2 tells the rest."""
    ended = {
        name: [one | ({"interval_end": one["interval_start"] + timedelta(seconds=400)}) for one in rows]
        for name, rows in machine("SYS1", dispatch=(400 / 900,)).items()
    }
    raw = _together(machine("SYS2", intervals=3), ended)
    for r in rows_of(evaluate(raw, PARTITION, by=("partition", "processor_type"), time="all")):
        if (r["partition"], r["processor_type"]) == ("LP01", "CP"):
            assert r["interval_seconds"] == pytest.approx(2700)
            assert r["dispatch_seconds"] == pytest.approx(2700)
            assert r["msu_used"] == pytest.approx(144)
