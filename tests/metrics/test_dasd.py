"""DASD metrics against values worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from tests.metrics.raw import inputs, row, rows_of

DEVICE = GRAINS["dasd_device"]

#: Online, DASD record, 900 samples in 900 seconds.
_ONLINE = {"smf74cnf": 0x01, "smf74lcu": 0x2A, "smf74scs": 0, "smf74cnx": 0, "smf74psm": 0, "smf74nux": 0}


def device(record_no: int, section_no: int, number: int, volume: str, **fields: Any) -> dict[str, Any]:
    return row(record_no, section_no, smf74num=number, smf74ser=volume, **(_ONLINE | fields))


def raw(*devices: dict[str, Any], device_class: int = 0x20, environment: int = 0x30) -> Inputs:
    records = {r["record_no"]: r for r in devices}
    identity = ("system", "sysplex", "interval_start", "interval_end", "source_id", "record_no")
    shared = [{name: r[name] for name in identity} for r in records.values()]
    return inputs(
        smf74_1_device=list(devices),
        rmf_product_section=[s | {"section_no": 1, "smf7xsam": 900} for s in shared],
        smf74_1_device_control=[
            s | {"section_no": 1, "smf74sub": device_class, "smf74enf": environment} for s in shared
        ],
    )


#: 9,000 I/Os of 1.0 ms: 0.1 IOSQ, 0.2 pending, 0.3 disconnect, 0.4 connect.
_BUSY = {
    "smf74ssc": 9000,
    "smf74mec": 9000,
    "smf74cnn": 3.6,
    "smf74dis": 2.7,
    "smf74pen": 1.8,
    "smf74dvb": 0.09,
    "smf74cmr": 0.45,
    "smf74idt": 0.18,
    "smf74cuq": 0.0,
    "smf74ios": 0.9,
    "smf74que": 5,
    "smf74utl": 9,
    "smf74rsv": 45,
    "smf74alc": 900,
    "smf74nrd": 0,
    "smf74mtp": 0,
}


def test_one_device() -> None:
    (found,) = rows_of(evaluate(raw(device(1, 1, 0x12F, "VOL001", **_BUSY)), DEVICE))
    assert (found["device"], found["volume"], found["lcu"]) == ("012F", "VOL001", "002A")
    assert found["io_rate"] == pytest.approx(10.0)
    assert found["ios_queue_time"] == pytest.approx(0.0001)
    assert found["pending_time"] == pytest.approx(0.0002)
    assert found["disconnect_time"] == pytest.approx(0.0003)
    assert found["connect_time"] == pytest.approx(0.0004)
    assert found["response_time"] == pytest.approx(0.001)
    assert found["command_response_time"] == pytest.approx(0.00005)
    assert found["device_busy_time"] == pytest.approx(0.00001)
    assert found["interrupt_delay_time"] == pytest.approx(0.00002)
    # 10/s x 1 ms = 10 ms each second.
    assert found["io_intensity"] == pytest.approx(0.010)
    # (3.6 + 2.7)/900 + 9/900 samples.
    assert found["utilization"] == pytest.approx(0.007 + 0.01)
    assert found["connect_fraction"] == pytest.approx(0.004)
    assert found["reserved_fraction"] == pytest.approx(0.05)
    assert found["allocated_fraction"] == pytest.approx(1.0)
    assert found["not_ready_fraction"] == 0.0


def test_queue_time_from_samples_where_ios_did_not_time_it() -> None:
    before = {name: value for name, value in _BUSY.items() if name != "smf74ios"}
    (found,) = rows_of(evaluate(raw(device(1, 1, 1, "VOL001", **before)), DEVICE))
    # 5 requests in 900 samples = 0.00556 queued on average; at 10/s each waits 0.556 ms.
    assert found["queued_requests"] == pytest.approx(5 / 900)
    assert found["ios_queue_time"] == pytest.approx(5 / 900 / 10)
    assert found["response_time"] == pytest.approx(5 / 900 / 10 + 0.0009)


def test_idle_device_has_rates_but_no_times() -> None:
    idle = dict.fromkeys(_BUSY, 0) | {"smf74sqr": 0.0, "smf74sqw": 0.0}
    (found,) = rows_of(evaluate(raw(device(1, 1, 1, "VOL001", **idle)), DEVICE))
    assert found["io_rate"] == 0.0
    assert found["utilization"] == 0.0
    for name in ("response_time", "ios_queue_time", "pending_time", "connect_time", "io_intensity", "sync_read_time"):
        assert found[name] is None, name


def test_control_unit_is_the_sum_of_times_over_the_sum_of_ios() -> None:
    # Device A: 9,000 I/Os of 1.0 ms. Device B, same LCU: 1,000 I/Os of 6.0 ms, of which 1 ms queued.
    slow = _BUSY | {
        "smf74ssc": 1000,
        "smf74mec": 1000,
        "smf74cnn": 2.0,
        "smf74dis": 2.5,
        "smf74pen": 0.5,
        "smf74ios": 1.0,
        "smf74utl": 0,
    }
    tables = raw(device(1, 1, 1, "VOL001", **_BUSY), device(1, 2, 2, "VOL002", **slow))
    (found,) = rows_of(evaluate(tables, DEVICE, by=("system", "lcu")))
    # (9,000 x 1.0 + 1,000 x 6.0)/10,000 = 1.5 ms, not the mean of 1.0 and 6.0.
    assert found["response_time"] == pytest.approx(0.0015)
    assert found["io_rate"] == pytest.approx(10000 / 900)
    assert found["devices"] == 2
    # Mean of the two devices: ((3.6 + 2.7 + 9) + (2.0 + 2.5))/(2 x 900).
    assert found["utilization"] == pytest.approx((15.3 + 4.5) / 1800)


def test_two_systems_and_two_intervals() -> None:
    other = device(2, 1, 1, "VOL001", **(_BUSY | {"smf74ssc": 18000, "smf74mec": 18000})) | {"system": "SYS2"}
    later = device(3, 1, 1, "VOL001", **(_BUSY | {"smf74cnn": 7.2})) | row(3, 1, interval=1)
    tables = raw(device(1, 1, 1, "VOL001", **_BUSY), other, later)
    (found,) = rows_of(evaluate(tables, DEVICE, by=("volume",), time="all"))
    # I/Os 9,000 + 18,000 + 9,000; the two intervals cover 1,800 s.
    assert found["ios"] == 36000
    assert found["interval_seconds"] == pytest.approx(1800)
    # SYS1 does 18,000 in its 1,800 s, SYS2 18,000 in its 900 s: 10 + 20 per second.
    assert found["io_rate"] == pytest.approx(30.0)
    # Queue 2.7, pending 5.4, disconnect 8.1, connect 3.6 + 3.6 + 7.2.
    assert found["response_time"] == pytest.approx((2.7 + 5.4 + 8.1 + 14.4) / 36000)


def test_times_marked_as_incorrect_are_not_used() -> None:
    wrong = device(1, 2, 2, "VOL002", **_BUSY) | {"smf74cnf": 0x01 | 0x20}
    tables = raw(device(1, 1, 1, "VOL001", **_BUSY), wrong)
    (found,) = rows_of(evaluate(tables, DEVICE, by=("system",)))
    assert found["incorrect_devices"] == 1
    assert found["ios"] == 9000
    assert found["response_time"] == pytest.approx(0.001)


def test_facilities_that_the_channel_subsystem_lacks_give_null() -> None:
    (found,) = rows_of(evaluate(raw(device(1, 1, 1, "VOL001", **_BUSY), environment=0), DEVICE))
    assert found["command_response_time"] is None
    assert found["interrupt_delay_time"] is None
    assert found["pending_time"] == pytest.approx(0.0002)


def test_tape_is_left_out() -> None:
    assert rows_of(evaluate(raw(device(1, 1, 1, "TAPE01", **_BUSY), device_class=0x80), DEVICE)) == []


@pytest.mark.parametrize(
    ("flags", "aliases", "samples", "exposures"),
    [
        (0, 0, 0, 1.0),
        # Static PAV: base and three aliases.
        (0x20, 4, 0, 4.0),
        # HyperPAV base: 1,800 aliases bound in 900 samples, beside the base.
        (0x22, 1800, 900, 3.0),
    ],
)
def test_utilization_per_exposure(flags: int, aliases: int, samples: int, exposures: float) -> None:
    pav = _BUSY | {"smf74cnx": flags, "smf74nux": aliases, "smf74psm": samples}
    (found,) = rows_of(evaluate(raw(device(1, 1, 1, "VOL001", **pav)), DEVICE))
    assert found["exposures"] == pytest.approx(exposures)
    assert found["exposure_utilization"] == pytest.approx(0.007 / exposures)


def test_device_number_names_the_subchannel_set() -> None:
    tables = raw(device(1, 1, 0xF0A2, "VOL001", **_BUSY) | {"smf74scs": 1})
    assert [r["device"] for r in rows_of(evaluate(tables, DEVICE))] == ["1F0A2"]


def test_synchronous_io() -> None:
    zhyperlink = _BUSY | {
        "smf74sqr": 8100.0,
        "smf74sqw": 900.0,
        "smf74spr": 0.162,
        "smf74spw": 0.027,
        "smf74sbr": 8100.0 * 4096,
        "smf74sbw": 900.0 * 4096,
        "smf74slbr": 100.0,
        "smf74scmr": 900.0,
    }
    (found,) = rows_of(evaluate(raw(device(1, 1, 1, "VOL001", **zhyperlink)), DEVICE))
    assert found["sync_io_rate"] == pytest.approx(10.0)
    assert found["sync_read_time"] == pytest.approx(20e-6)
    assert found["sync_write_time"] == pytest.approx(30e-6)
    assert found["sync_success_fraction"] == pytest.approx(0.9)
    assert found["sync_bytes_per_second"] == pytest.approx(40960)
