"""Several systems in one database, their devices, goals of each kind, and who pays for whose transactions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from plexlens.capacity import Change, Model, calibrate, make_plan, measure
from plexlens.capacity.predict import at, breaking, run_at, saturation
from plexlens.capacity.resources import Resources, devices
from plexlens.capacity.waiting import Load, waiting
from tests.capacity.made import STC, database, online, raw_tables, several
from tests.metrics.raw import row


def one_class(load: float, cpu: float, **fields: Any) -> dict[str, Any]:
    """ONLINE with so much CPU time a transaction, nothing else in its response."""
    busy = load * cpu
    return {"ONLINE": {**online(load, response=cpu / (1 - busy)), "cpu": 1000.0 * cpu, "r723cict": 0.0,
                       "r723circ": 0.0, **fields}}  # fmt: skip


def two() -> Model:
    """SYS1: 1 transaction a second of 0.5 s on one engine. SYS2: 0.5 a second of 0.25 s, on a machine twice as fast."""
    first = raw_tables(1.0, engines=1, ziips=0, busy=500.0, classes=one_class(1.0, 0.5))
    second = raw_tables(
        0.5, system="SYS2", first=1000, engines=1, ziips=0, busy=250.0, classes=one_class(0.5, 0.25)
    )  # fmt: skip
    return calibrate(measure(several(first, second)))


def test_each_system_has_its_own_demands() -> None:
    model = two()
    assert [one.name for one in model.systems] == ["SYS1", "SYS2"]
    first, second = (one.of("ONLINE.1") for one in model.systems)
    assert (first.rate, first.general) == pytest.approx((1.0, 0.5))
    assert (second.rate, second.general) == pytest.approx((0.5, 0.25))
    # M/M/1 of each: 0.5 / (1 - 0.5 x), 0.25 / (1 - 0.125 x).
    for load in (0.5, 1.0, 1.6):
        found = [at(model, system, Change(), load).classes["ONLINE.1"].response for system in model.systems]
        assert found == pytest.approx([0.5 / (1 - 0.5 * load), 0.25 / (1 - 0.125 * load)])


def test_a_member_more_takes_its_share_of_every_system() -> None:
    model = two()
    # Two members become three: each keeps two thirds of its transactions.
    change = Change(scale=1.5, members=1)
    for system in model.systems:
        assert at(model, system, change) == at(model, system, Change())
    assert saturation(model, model.systems[0], Change(members=1))[0] == pytest.approx(2.0 * 1.5, rel=1e-5)  # type: ignore[index]
    # What sharing costs is on every transaction: 0.5 x 1.1.
    dear = at(model, model.systems[0], Change(scale=1.5, members=1, member_cost=0.1))
    assert dear.classes["ONLINE.1"].response == pytest.approx(0.55 / 0.45)


def test_background_of_a_member_stays_with_it() -> None:
    # STC uses 200 of 500 s; half the transactions leave with a second member, STC does not.
    classes = one_class(1.0, 0.3) | {"STC": STC}
    model = calibrate(measure(database(classes=classes, engines=1, ziips=0, busy=500.0)))
    (system,) = model.systems
    assert at(model, system, Change(members=1)).busy == pytest.approx(0.2 + 0.3 / 2)
    # At twice the load it grows as the transactions do, unless told otherwise.
    assert at(model, system, Change(scale=2.0, members=1)).busy == pytest.approx(0.4 + 0.3)
    assert at(model, system, Change(scale=2.0, members=1, fixed_background=True)).busy == pytest.approx(0.2 + 0.3)


def test_engines_of_each_system() -> None:
    model = two()
    found = [at(model, system, Change(engines="+1")) for system in model.systems]
    # M/M/2: s / (1 - rho^2), rho 0.25 and 0.0625.
    assert [one.classes["ONLINE.1"].response for one in found] == pytest.approx(
        [0.5 / (1 - 0.25**2), 0.25 / (1 - 0.0625**2)]
    )
    plan = make_plan(
        "two", measure(several(raw_tables(1.0), raw_tables(1.0, system="SYS2", first=1000))), model, Change()
    )
    assert {one.system for one in plan.curves} == {"SYS1", "SYS2"}


def test_how_often_engines_are_taken_where_nothing_tells() -> None:
    # 0.5 s is more than twenty times 1 ms: a twentieth of it each time. 4 ms is four times 1 ms.
    for cpu, visits in ((0.5, 20), (0.004, 4)):
        busy = 1000 * cpu
        classes = one_class(1.0, cpu)
        model = calibrate(measure(database(classes=classes, engines=1, ziips=0, busy=busy)))
        assert model.systems[0].of("ONLINE.1").visits == pytest.approx(visits)


def device(record: int, number: int, system: str = "SYS1", **fields: Any) -> dict[str, list[dict[str, Any]]]:
    """A volume with one UCB, online for 1,000 s."""
    shared: dict[str, Any] = {"seconds": 1000.0, "system": system}
    about = {
        "smf74num": number,
        "smf74ser": f"VOL{number:03}",
        "smf74cnf": 1,
        "smf74cnx": 0,
        "smf74psm": 0,
        "smf74nux": 0,
    }
    return {
        "smf74_1_device": [row(record, number, **shared, **about, **fields)],
        "smf74_1_device_control": [row(record, **shared, smf74sub=0x20, smf74enf=0x30)],
        "rmf_product_section": [row(record, **shared, smf7xsam=1000)],
    }


def test_devices_by_hand() -> None:
    # 10,000 I/Os of 20 ms connect and 10 ms disconnect: 30 % busy; 5 ms pending and 5 ms in IOS queue: 100 s.
    # The other: 10,000 of 10 ms, 10 % busy, 300 s in queues. So their weights are 1/4 and 3/4.
    busy = {"smf74ssc": 10_000, "smf74mec": 10_000, "smf74que": 0}
    one = device(501, 1, smf74cnn=200.0, smf74dis=100.0, smf74pen=50.0, smf74ios=50.0, **busy)
    other = device(502, 2, smf74cnn=100.0, smf74dis=0.0, smf74pen=100.0, smf74ios=200.0, **busy)
    measured = measure(several(raw_tables(1.0), one, other))
    assert [(one.name, one.servers, one.busy, one.ios, one.waited) for one in devices(measured.resources)] == [
        ("0001", 1, pytest.approx(0.3), pytest.approx(10_000), pytest.approx(100.0)),
        ("0002", 1, pytest.approx(0.1), pytest.approx(10_000), pytest.approx(300.0)),
    ]
    model = calibrate(measured)
    (system,) = model.systems
    first, second = (system.lines[f"volume {name}"] for name in ("0001", "0002"))
    # M/M/1 with 30 ms: 0.3 x 30 / 0.7 = 12.857 ms each, 128.57 s in all; 20 waits of 30 / 0.7 ms on both sides.
    assert first.factor == pytest.approx((100 + 0.857143) / (128.5714 + 0.857143), rel=1e-5)
    assert first.wait(2.0) == pytest.approx(first.factor * 0.6 * 0.030 / 0.4)
    # The other waits 27 times as long as M/M/1 with 10 ms says: 0.1 x 10 / 0.9.
    assert second.wait(1.0) == pytest.approx(0.030, rel=0.02)
    assert (first.used(2.0), second.used(2.0)) == (pytest.approx(0.6), pytest.approx(0.2))
    assert not any("74-1" in note for note in model.notes)


def test_use_of_a_shared_device_adds_up() -> None:
    busy = {"smf74ssc": 10_000, "smf74mec": 10_000, "smf74que": 0, "smf74dis": 0.0, "smf74ios": 0.0}
    one = device(501, 1, smf74cnn=200.0, smf74pen=50.0, **busy)
    other = device(1501, 1, "SYS2", smf74cnn=300.0, smf74pen=30.0, **busy)
    measured = measure(several(raw_tables(1.0), raw_tables(1.0, system="SYS2", first=1000), one, other))
    (found,) = devices(measured.resources)
    assert (found.name, found.busy, found.ios, found.waited) == (
        "0001",
        pytest.approx(0.5),
        20_000,
        pytest.approx(80.0),
    )


def test_an_average_goal_breaks_where_the_run_says_too() -> None:
    # Goal 3 s of M/M/1 with 0.5 s: 5/3 by the formula. Runs below it keep the goal, runs above do not.
    model = calibrate(measure(database(classes=one_class(1.0, 0.5), engines=1, ziips=0, busy=500.0)))
    (system,) = model.systems
    load = breaking(model, system, Change(), "ONLINE.1", 2.0).load
    assert load == pytest.approx(5 / 3, rel=1e-4)
    below, above = (run_at(model, system, Change(), load * share).classes["ONLINE.1"] for share in (0.95, 1.05))
    assert below.index is not None
    assert above.index is not None
    assert below.index < 1 < above.index


def test_a_percentile_goal_by_hand() -> None:
    # 90 % within 3 s. 700 of 1,000 end within half of it, 200 between 70 and 80 %: 90 % within 2.4 s, which is 2.4
    # times the mean of 1 s. It breaks at a mean of 3 / 2.4 = 1.25 s: 0.5 / (1 - 0.5 x) = 1.25 at x = 1.2.
    bounds = (50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 200, 400, 0)
    counts = (700, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0)
    entries = [
        row(1, number, seconds=1000.0, **{f"r723trdb_{n}": value for n, value in enumerate(values, 1)})
        for number, values in enumerate((bounds, counts), 1)
    ]
    how = {"r723crgf": 0x80, "r723cval": 3, "r723cpct": 90, "r723crtx": 1}
    classes = one_class(1.0, 0.5, **how)
    measured = measure(
        database(classes=classes, engines=1, ziips=0, busy=500.0, smf72_3_response_distribution=entries)
    )  # fmt: skip
    model = calibrate(measured)
    (system,) = model.systems
    goal = system.of("ONLINE.1").goal
    assert not goal.estimated
    assert goal.quantile == pytest.approx(2.4)
    assert breaking(model, system, Change(), "ONLINE.1", 2.0).load == pytest.approx(1.2, rel=1e-4)
    # Without the distribution, exponential: 90 % end within ln 10 = 2.3026 times the mean.
    model = calibrate(measure(database(classes=classes, engines=1, ziips=0, busy=500.0)))
    assert model.systems[0].of("ONLINE.1").goal.estimated
    expected = (1 - 0.5 * 2.302585 / 3) / 0.5
    assert breaking(model, model.systems[0], Change(), "ONLINE.1", 2.0).load == pytest.approx(expected, rel=1e-4)


def test_time_of_regions_by_accounting() -> None:
    """800 s of regions: PAY has 100 s and 20 s of zIIP in Db2, QRY 300 s: a quarter and three quarters."""
    bare = {**online(), "cpu": 0.0, "r723cadf": 0x40, "r723circ": 0.0, "r723cict": 0.0}
    classes = {"PAY": bare, "QRY": bare, "CICSRGN": {**STC, "cpu": 800.0, "ziip": 100.0}}
    zero = datetime(1900, 1, 1, tzinfo=UTC)

    shared = {"seconds": 1000.0, "qwacbsc": zero, "qwacesc": zero, "qwacbjst": 0.0, "qwaccomm": 1000}
    rows = [
        row(801, **shared, qwacwlme="PAY", qwacejst=100.0, qwaccls1_ziip=20.0, qwacziip_eligible=0.0, qwacarne=1000),
        row(802, **shared, qwacwlme="QRY", qwacejst=300.0, qwaccls1_ziip=0.0, qwacziip_eligible=0.0, qwacarne=9000),
    ]
    made = database(classes=classes, busy=700.0, smf101_ifcid3_qwac=rows)
    model = calibrate(measure(made), serves={"CICSRGN": "*"})
    pay, query = (model.systems[0].of(f"{name}.1") for name in ("PAY", "QRY"))
    # 700 s of general engines, as many as they were busy.
    assert (pay.general, query.general) == pytest.approx((700 / 4 / 1000, 700 * 3 / 4 / 1000))
    # zIIPs were busy 200 s by SMF 70-1, 100 of them charged.
    assert (pay.eligible, query.eligible) == pytest.approx((0.2, 0.0))
    assert (pay.visits, query.visits) == pytest.approx((2, 10))
    assert any("SMF 101" in note for note in model.notes)


def test_time_of_regions_without_records_of_transactions() -> None:
    bare = {**online(), "cpu": 0.0, "r723cadf": 0x40, "r723circ": 0.0}
    classes = {"PAY": bare, "QRY": online(0.25) | {"cpu": 0.0, "r723cadf": 0x40}, "CICSRGN": {**STC, "cpu": 500.0}}
    model = calibrate(measure(database(classes=classes, busy=500.0, ziips=0)), serves={"CICSRGN": "PAY,QRY"})
    # 1,000 and 250 transactions: all alike, 0.4 s each.
    assert [model.systems[0].of(f"{name}.1").general for name in ("PAY", "QRY")] == pytest.approx([0.4, 0.4])
    assert any("assuming that all used the same" in note for note in model.notes)


def test_a_commit_waits_for_the_pages_that_it_writes_to_the_facility() -> None:
    """1,000 commits wait 0.8 s in all, and write 3,000 pages; the facility has one engine, and requests spin for it."""
    zero = datetime(1900, 1, 1, tzinfo=UTC)
    shared = {"seconds": 1000.0}
    spent = {"qwacejst": 100.0, "qwacbjst": 0.0, "qwaccls1_ziip": 0.0, "qwacziip_eligible": 0.0, "qwacbsc": zero}
    rows = [row(801, **shared, qwacwlme="PAY", qwacesc=zero, qwacasc=900.0, qwacawte=0.8, qwaccomm=1000, **spent)]
    pools = [row(801, section, **shared, qbgasw=count) for section, count in ((1, 1000), (2, 2000))]
    made = database(
        classes={"PAY": online()}, busy=1000.0, smf101_ifcid3_qwac=rows, smf101_ifcid3_qbga=pools
    )  # fmt: skip
    measured = measure(made)
    # 4,000 requests per second of 100 us each: 40 % busy. 20 us on the way and 33.3 us of waiting for constant
    # services (Pollaczek and Khinchine: 0.4 x 100 / (2 x 0.6)), whose mean square is 0.4 x 100^2 / (3 x 0.6) larger
    # than the square of their mean by the formula of Takacs: 33.3^2 + 2,222 us^2.
    count, mean = 4e6, 153.333e-6
    variance = (100e-6 / 3) ** 2 + 0.4 * (100e-6) ** 2 / (3 * 0.6)
    facility = {"time": measured.intervals[0], "system": "SYS1", "facility": "CF1"}
    sums = {"sync_requests": count, "sync_seconds": count * mean, "async_requests": 0.0, "async_seconds": 0.0}
    using = {"interval_seconds": 1000.0, "busy_seconds": 400.0, "effective_seconds": 1000.0, "queued_seconds": 0.0}
    squares = {"sync_squares": count * (mean**2 + variance)}
    resources = Resources(
        facilities=({**facility, **sums, **using, "subchannels": None},), structures=({**facility, **sums, **squares},)
    )
    (system,) = calibrate(replace(measured, resources=resources)).systems
    line = system.lines["coupling facility CF1"]
    # No more requests at the facility than engines that spin: four general ones, and a zIIP.
    assert line.most == 5
    assert 2 * line.factor - 1 == pytest.approx(0.0, abs=0.01)
    commit = next(one for one in system.of("PAY.1").waits if one.kind == "commit")
    assert (commit.requests, commit.seconds) == pytest.approx((3.0, 0.0008))
    assert commit.lines == {"coupling facility CF1": 1.0}
    # At 90 % busy each of the three waits longer.
    longer = (line.wait(2.25) or 0.0) - (line.wait(1.0) or 0.0)
    assert longer > 100e-6
    alone = replace(system, classes=(replace(system.of("PAY.1"), waits=(commit,), other=0.0),))
    found = waiting(alone, Load({"PAY.1": 2.25}, 2.25, 1.0, {}, {}), {}, is_closed=False)
    assert found.seconds["PAY.1"] == pytest.approx(0.0008 + 3 * longer)
