"""Calibration against values worked by hand, on the database of `tests.capacity.made`."""

from __future__ import annotations

import pytest

from plexlens.capacity import calibrate, measure
from plexlens.capacity.network import base, solved
from plexlens.errors import NothingUsableError, UsageError
from tests.capacity.made import STC, database, ddf, online
from tests.metrics.raw import inputs, row


def system(**how: object):  # type: ignore[no-untyped-def]
    return calibrate(measure(database(**how))).systems[0]  # type: ignore[arg-type]


def test_demands_by_hand() -> None:
    # 2,000 s busy of 4 engines x 1,000 s; 1,800 s are charged to classes: 90 %. ONLINE: 1,000 s / 1,000 / 0.9.
    found = system()
    assert found.engines == pytest.approx(4)
    assert found.busy == pytest.approx(2)
    assert found.capture == pytest.approx(0.9)
    one = found.of("ONLINE.1")
    assert one.rate == pytest.approx(1)
    assert one.general == pytest.approx(1 / 0.9)
    assert one.eligible == 0
    assert one.io_requests == pytest.approx(20)
    assert one.io_service == pytest.approx(0.1)
    assert one.response == pytest.approx(1.5)


def test_zIIP_work_by_hand() -> None:
    # DDF: 600 s of all engines, 200 of them zIIP, so 400 on general engines, 100 of which were eligible.
    one = system().of("DDF.1")
    assert one.general == pytest.approx(300 / 2000 / 0.9)
    assert one.eligible == pytest.approx((200 + 100 / 0.9) / 2000)
    assert one.overflow == pytest.approx((100 / 0.9) / (200 + 100 / 0.9))


def test_work_without_transactions_is_background() -> None:
    found = system()
    stc = found.of("STC.1")
    assert stc.background
    assert stc.response is None
    # ONLINE does 20 I/Os: it takes an engine 21 times, for 1/21 s. Background comes in pieces as long.
    assert found.of("ONLINE.1").visits == pytest.approx(21)
    assert stc.rate == pytest.approx(200 / 0.9 / 1000 * 21)
    assert stc.general == pytest.approx(1 / 21)
    # DDF tells no I/O: (300 / 2,000 + 200 / 2,000 + 100 / 2,000 s, uncaptured time included) x 21.
    assert found.of("DDF.1").visits == pytest.approx((0.4 / 2 / 0.9 + 0.1) * 21)
    assert [found.of(name).priority for name in ("SYSTEM.1", "ONLINE.1", "STC.1", "DDF.1")] == [0, 1, 1, 2]


def test_utilisation_at_the_measured_load_is_the_measured_one() -> None:
    found = system()
    result = solved(found, base(found))
    assert result.busy == pytest.approx(0.5, rel=1e-12)
    assert result.ziip_busy == pytest.approx(0.2, rel=1e-9)


def test_other_delay_without_samples_is_the_rest() -> None:
    found = system()
    one = found.of("ONLINE.1")
    assert one.other_from == "rest"
    # What is left reproduces the response.
    assert solved(found, base(found)).classes["ONLINE.1"].response == pytest.approx(1.5, rel=1e-9)


def test_other_delay_by_samples() -> None:
    # Of 100 samples 60 are of processors and 10 of I/O, 30 of neither: (10 + 30) % of 2 s, less 0.1 s of I/O = 0.7 s.
    samples = {
        "r723ctou": 60, "r723ctot": 40, "r723ccus": 50, "r723ccde": 10, "r723ciou": 10, "r723ciod": 0, "r723ctsa": 100,
    }  # fmt: skip
    one = system(classes={"ONLINE": online(response=2.0, **samples)}, busy=1000.0, ziips=0).of("ONLINE.1")
    assert one.other_from == "samples"
    assert one.other == pytest.approx(0.7)
    assert one.velocity == pytest.approx(0.6)


def test_served_classes_get_the_time_of_those_who_serve() -> None:
    response_only = {**online(), "cpu": 0.0, "r723cadf": 0x40}
    classes = {"CICSTRAN": response_only, "CICSRGN": {**STC, "cpu": 800.0}}
    how = {"classes": classes, "busy": 1000.0, "ziips": 0}
    # Without anything that tells who serves, the transactions have no processor time.
    alone = system(**how).of("CICSTRAN.1")
    assert alone.general == 0
    assert "--serves" in alone.uncertain[0]
    model = calibrate(measure(database(**how)), serves={"CICSRGN": "CICSTRAN"})  # type: ignore[arg-type]
    assert model.systems[0].of("CICSTRAN.1").general == pytest.approx(800 / 1000 / 0.8)
    # SMF 72-3 tells it by samples; record 2 is that of CICSRGN.
    served = [row(2, seconds=1000.0, r723scsn="CICSTRAN", r723scs_=50)]
    recorded = calibrate(measure(database(**how, smf72_3_served=served)))  # type: ignore[arg-type]
    assert recorded.systems[0].of("CICSTRAN.1").general == pytest.approx(1.0)


def test_users_of_a_closed_class() -> None:
    model = calibrate(measure(database()), users={"ONLINE": 10})
    found = model.systems[0]
    result = solved(found, base(found))
    # 10 users, 1 transaction a second, response 1.5 s: they think 8.5 s, and the throughput comes back about so.
    assert result.classes["ONLINE.1"].rate == pytest.approx(1.0, rel=0.05)


def test_nothing_to_calibrate_from() -> None:
    with pytest.raises(NothingUsableError, match="no class periods and no processors"):
        measure(inputs(other=[row(1)]))


def test_class_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"no class 'NOBODY'.*DDF\.1"):
        calibrate(measure(database()), users={"NOBODY": 3})


def test_no_processor_time_in_classes() -> None:
    idle = {"DDF": {**ddf(), "cpu": 0.0, "ziip": 0.0, "on_cp": 0.0}}
    with pytest.raises(NothingUsableError, match="no system has CPU time"):
        calibrate(measure(database(classes=idle)))
