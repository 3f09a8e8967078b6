"""z/OS UNIX (SMF 74-3): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, f4, lines, record, section, tables, u16, u32

KERNEL = GRAINS["omvs_kernel"]
LIMITS = GRAINS["omvs_resource"]

#: Samples of the interval: what is added up in a record is of as many cycles.
SAMPLES = 900

#: 9,000,000 calls; 3, 2 and 1 forks refused; 180 processes on average of 500, 20 users of 50; two message queues of 20,
#: five refused; 100 MiB of a shared library region of 256; 1,000 queued signals allowed and four refused.
BUSY = {
    0: u32(900), 4: u32(1), 12: f4(9_000_000), 16: u32(900), 20: u32(40_000), 36: f4(3), 48: f4(2), 60: f4(1),
    72: u16(500), 74: u16(50), 76: u16(25), 80: f4(180 * SAMPLES), 84: u16(150), 86: u16(400), 88: f4(20 * SAMPLES),
    92: u16(19), 94: u16(21), 96: u32(20), 112: f4(2 * SAMPLES), 116: u32(2), 120: u32(2), 160: f4(5),
    264: u32(256), 268: f4(100 * SAMPLES), 272: u32(90), 276: u32(128), 280: f4(0), 292: u32(1_000), 296: f4(4),
}  # fmt: skip


def kernel_record(fields: Fields = BUSY, *, length: int = 308, samples: int = SAMPLES, system: str = "SYS1") -> bytes:
    """A record of the kernel; the number of samples is at 24 of the product section."""
    kept = {at: value for at, value in fields.items() if at + len(value) <= length}
    data = bytearray(record(74, 3, (section(length, kept),), system=system))
    product = int.from_bytes(data[28:32], "big")
    data[product + 24 : product + 28] = u32(samples)
    return bytes(data)


def floating(data: bytes) -> float:
    """IBM hexadecimal floating point of four bytes, worked out digit by digit."""
    return int.from_bytes(data[1:4], "big") / 2**24 * 16.0 ** ((data[0] & 0x7F) - 64)


def test_a_record_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = kernel_record()
    (found,) = tables(tmp_path, data)["smf74_3_kernel"].to_pylist()
    at = int.from_bytes(data[36:40], "big")
    floats = {"r743sysc": 12, "r743opr": 36, "r743curp": 80, "r743cmsg": 112, "r743omsg": 160, "r743oqds": 296}
    assert {name: found[name] for name in floats} == {
        name: floating(data[at + offset :]) for name, offset in floats.items()
    }
    halves = {"r743maxp": 72, "r743maxu": 74, "r743mxpu": 76, "r743cpmn": 84, "r743cpmx": 86, "r743cumx": 94}
    assert {name: found[name] for name in halves} == {
        name: int.from_bytes(data[at + offset :][:2], "big") for name, offset in halves.items()
    }
    words = {"r743scmx": 20, "r743mmsg": 96, "r743cmmx": 120, "r743clmx": 276, "r743mqds": 292}
    assert {name: found[name] for name in words} == {
        name: int.from_bytes(data[at + offset :][:4], "big") for name, offset in words.items()
    }
    assert found["r743mslr"] == 256 * 2**20


def test_limits(tmp_path: Path) -> None:
    found = {line["limited"]: line for line in lines(tmp_path, LIMITS, kernel_record(), by=("limited",))}
    processes = found["processes"]
    assert (processes["in_use"], processes["most_in_use"], processes["allowed"]) == (180, 400, 500)
    assert (processes["refusals"], processes["used_fraction"]) == (3, pytest.approx(0.8))
    assert (found["users"]["in_use"], found["users"]["used_fraction"]) == (20, pytest.approx(21 / 50))
    assert (found["processes of a user"]["allowed"], found["processes of a user"]["refusals"]) == (25, 1)
    assert found["processes of a user"]["most_in_use"] is None
    assert (found["message queues"]["in_use"], found["message queues"]["refusals"]) == (2, 5)
    library = found["shared library MiB"]
    assert (library["in_use"], library["most_in_use"], library["allowed"]) == (100, 128, 256)
    assert (found["queued signals of a process"]["allowed"], found["queued signals of a process"]["refusals"]) == (
        1_000,
        4,
    )
    assert len(found) == 11


def test_a_mean_outside_its_extremes_is_left_out(tmp_path: Path) -> None:
    found = {line["limited"]: line for line in lines(tmp_path, LIMITS, kernel_record(samples=90), by=("limited",))}
    assert found["processes"]["in_use"] is None
    assert found["processes"]["most_in_use"] == 400


def test_an_older_record_ends_before_later_limits(tmp_path: Path) -> None:
    found = {line["limited"]: line for line in lines(tmp_path, LIMITS, kernel_record(length=264), by=("limited",))}
    assert found["processes"]["most_in_use"] == 400
    assert found["queued signals of a process"]["allowed"] is None


def test_system_calls(tmp_path: Path) -> None:
    dump = (kernel_record(), kernel_record(system="SYS2"))
    found = lines(tmp_path, KERNEL, *dump, by=("system",))
    assert [(line["system"], line["system_call_rate"], line["failed_forks"]) for line in found] == [
        ("SYS1", pytest.approx(10_000), 6),
        ("SYS2", pytest.approx(10_000), 6),
    ]
