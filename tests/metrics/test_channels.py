"""Metrics of channel paths (SMF 73) against values worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate, facts
from plexlens.metrics.inputs import Inputs
from tests.metrics.raw import inputs, row, rows_of

CHANNEL = GRAINS["channel"]

#: FICON, 900 s: 900,000 of 3,000 x 900 work units: a third; 270,000 of them this partition's. The bus 180,000 of
#: 1,000 x 900 cycles. Data units of 4,096 bytes: 225,000 read, 112,500 of them here; 45,000 written, 22,500 here.
GROUP_2 = {
    "smf73mbc": 1000.0,
    "smf73mcu": 3000.0,
    "smf73mwu": 1000.0,
    "smf73mru": 1000.0,
    "smf73us": 4096.0,
    "smf73tbc": 180_000.0,
    "smf73tuc": 900_000.0,
    "smf73puc": 270_000.0,
    "smf73twu": 45_000.0,
    "smf73pwu": 22_500.0,
    "smf73tru": 225_000.0,
    "smf73pru": 112_500.0,
}
#: 9,000 FICON operations, 18,000 added up; 90,000 zHPF, 270,000 added up, 90 deferred.
EXTENDED = {
    "smf73eoc": 9000,
    "smf73eod": 0,
    "smf73eos": 18_000,
    "smf73etc": 90_000,
    "smf73etd": 90,
    "smf73ets": 270_000,
}


def channel(section_no: int, path: int, **more: Any) -> dict[str, Any]:
    return row(1, section_no) | {
        "smf73pid": path,
        "smf73fg2": 0x01,
        "smf73fg3": 0x03,
        "smf73fg4": 0x02,
        "smf73fg5": 0xF8,
        "smf73bsy": 0,
        "smf73pby": 0.0,
        "smf73pti": 900.0,
        "smf73cmg": 2,
        "smf73acr": "FC_S",
        "smf73gen": 15,
        "smf73spd": 160,
        "smf73msc": 0,
        **more,
    }


def raw(*channels: dict[str, Any], control: dict[str, Any] | None = None, **tables: list[dict[str, Any]]) -> Inputs:
    whole = {"smf73smp": 0, "smf73cfl": 0x08, "smf73css": 2, "smf73cmi": 2} | (control or {})
    return inputs(smf73_1_channel=list(channels), smf73_1_control=[row(1, **whole)], **tables)


def test_a_ficon_channel() -> None:
    tables = raw(
        channel(0x51, 0x50),
        smf73_1_group2=[row(1, 0x51, **GROUP_2)],
        smf73_1_extended=[row(1, 1, smf73ecp=0x50, **EXTENDED)],
    )
    (found,) = rows_of(evaluate(tables, CHANNEL))
    assert (found["channel"], found["channel_type"], found["speed"]) == ("50", "FC_S", "16 Gbit/s")
    assert (found["sharing"], found["channel_subsystem"], found["generation"]) == ("shared", "2", "15")
    assert found["utilization"] == pytest.approx(1 / 3)
    assert found["partition_utilization"] == pytest.approx(0.1)
    assert found["bus_utilization"] == pytest.approx(0.2)
    assert found["read_link_fraction"] == pytest.approx(0.25)
    assert found["write_link_fraction"] == pytest.approx(0.05)
    # 225,000 x 4,096 bytes in 900 s: 250 units each second.
    assert found["read_bytes_per_second"] == pytest.approx(250 * 4096)
    assert found["partition_read_bytes_per_second"] == pytest.approx(125 * 4096)
    assert found["write_bytes_per_second"] == pytest.approx(50 * 4096)
    assert found["partition_write_bytes_per_second"] == pytest.approx(25 * 4096)
    assert found["ficon_rate"] == pytest.approx(10.0)
    assert found["ficon_active_operations"] == pytest.approx(2.0)
    assert found["ficon_defer_rate"] == 0
    assert found["zhpf_rate"] == pytest.approx(100.0)
    assert found["zhpf_active_operations"] == pytest.approx(3.0)
    assert found["zhpf_defer_rate"] == pytest.approx(0.1)
    assert found["zhpf_fraction"] == pytest.approx(90 / 99)
    assert found["message_rate"] is None


def test_a_timed_channel() -> None:
    timed = channel(1, 0x00, smf73cmg=1, smf73acr="OSD", smf73fg3=0x02)
    (found,) = rows_of(evaluate(raw(timed, smf73_1_group1=[row(1, 1, smf73tut=450.0, smf73put=90.0)]), CHANNEL))
    assert found["utilization"] == pytest.approx(0.5)
    assert found["partition_utilization"] == pytest.approx(0.1)
    assert found["sharing"] == "this partition"
    assert found["read_bytes_per_second"] is None


def test_hipersockets_send_messages() -> None:
    group = {
        "smf73pdu": 256.0,
        "smf73tdu": 1024.0,
        "smf73pum": 1.0,
        "smf73tum": 10.0,
        "smf73pms": 900.0,
        "smf73tms": 1800.0,
        "smf73pus": 9.0,
        "smf73pub": 0.0,
        "smf73tub": 45.0,
        "smf73pds": 3600.0,
        "smf73tds": 36_000.0,
    }
    (found,) = rows_of(
        evaluate(raw(channel(1, 0xF0, smf73cmg=3, smf73acr="IQD"), smf73_1_group3=[row(1, 1, **group)]), CHANNEL)
    )
    # 1,800 units of 10 messages; 36,000 units of 1,024 bytes in 18,000 messages.
    assert found["message_rate"] == pytest.approx(20.0)
    assert found["message_length"] == pytest.approx(2048)
    assert found["send_failure_rate"] == pytest.approx(0.01)
    assert found["receive_failure_rate"] == pytest.approx(0.05)
    assert found["utilization"] is None


def test_without_the_facility_busy_time_is_sampled() -> None:
    tables = raw(channel(1, 1, smf73bsy=225, smf73cmg=0), control={"smf73cmi": 0, "smf73smp": 900})
    (found,) = rows_of(evaluate(tables, CHANNEL))
    assert found["utilization"] == pytest.approx(0.25)
    assert found["partition_utilization"] is None


def test_compatibility_mode_times_the_partition() -> None:
    (found,) = rows_of(evaluate(raw(channel(1, 1, smf73pby=90.0, smf73cmg=0), control={"smf73cmi": 1}), CHANNEL))
    assert found["partition_utilization"] == pytest.approx(0.1)
    assert found["utilization"] is None


def test_paths_that_are_not_there_are_left_out() -> None:
    dummy = dict.fromkeys(channel(2, 2), 0) | row(1, 2) | {"smf73pid": 2, "smf73acr": ""}
    tables = raw(channel(1, 1), dummy, smf73_1_group2=[row(1, 1, **GROUP_2)])
    assert [r["channel"] for r in rows_of(facts(tables, CHANNEL))] == ["01"]


def test_a_channel_varied_in_the_interval_has_no_times() -> None:
    varied = channel(1, 1, smf73fg2=0x03)
    (found,) = rows_of(evaluate(raw(varied, smf73_1_group2=[row(1, 1, **GROUP_2)]), CHANNEL))
    assert found["incorrect_channels"] == 1
    assert found["utilization"] is None and found["read_bytes_per_second"] is None


def test_a_word_marked_as_invalid_is_not_used() -> None:
    # Words 1, 3, 4, 5 valid: the most work units are not known.
    tables = raw(channel(1, 1, smf73fg5=0xB8), smf73_1_group2=[row(1, 1, **GROUP_2)])
    (found,) = rows_of(evaluate(tables, CHANNEL))
    assert found["utilization"] is None
    assert found["bus_utilization"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("speed", "power", "expected"), [(160, 0, "16 Gbit/s"), (32, 9, "32 Gbit/s"), (0, 0, None), (10, 0, "1 Gbit/s")]
)
def test_speed(speed: int, power: int, expected: str | None) -> None:
    (found,) = rows_of(facts(raw(channel(1, 1, smf73spd=speed, smf73msc=power)), CHANNEL))
    assert found["speed"] == expected


def test_two_channels_have_a_mean_utilization() -> None:
    idle = GROUP_2 | {"smf73tuc": 0.0}
    tables = raw(channel(1, 1), channel(2, 2), smf73_1_group2=[row(1, 1, **GROUP_2), row(1, 2, **idle)])
    (found,) = rows_of(evaluate(tables, CHANNEL, by=("system", "channel_type")))
    assert found["utilization"] == pytest.approx(1 / 6)
    assert found["channels"] == 2
    # The interval counts once for both: 500 units read each second.
    assert found["read_bytes_per_second"] == pytest.approx(500 * 4096)
