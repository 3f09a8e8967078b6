"""From bytes to numbers: records of SMF 30 and 73 typed by hand, through the decoder, to metrics worked by hand."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.layouts_path import layouts_path
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate, facts
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect
from tests.metrics.raw import rows_of
from tests.oracle import jobs_by_hand
from tests.oracle.jobs_by_hand import AT, LENGTH, Noise, name


class Zeros(Noise):
    """Bytes of zero wherever nothing is given."""

    def section(self, fields: list[Any], length: int, **given: bytes) -> bytes:
        section = bytearray(length)
        for field in fields:
            if field.name in given:
                section[field.offset : field.offset + field.length] = given[field.name]
            elif field.form == "text":
                section[field.offset : field.offset + field.length] = name("", field.length)
        return bytes(section)


def number(value: int, length: int = 4) -> bytes:
    return value.to_bytes(length, "big")


def hexadecimal(value: float) -> bytes:
    """A positive whole number below 2**24 as a short hexadecimal floating point number."""
    return bytes([0x46]) + number(int(value), 3)


def patched(record: bytes, triplet: int, *places: tuple[int, bytes]) -> bytes:
    """The record with bytes of the section behind a triplet replaced."""
    data = bytearray(record)
    start = struct.unpack_from(">I", data, triplet)[0]
    for offset, value in places:
        data[start + offset : start + offset + len(value)] = value
    return bytes(data)


def address_space(subtype: int) -> bytes:
    """A record of an address space that has used 45.00 s TCB, 5.00 s SRB, 8.00 s of a zIIP at factor 384/256.

    2.00 s of the TCB time were eligible for a zIIP. 4,000 EXCPs, 1,000 DASD I/Os with 1,000 units of 128 us connected.
    """
    record = jobs_by_hand.smf30(Zeros(0), subtype)
    record = patched(record, 32, (0, name("CICSA1", 8)), (32, name("STC00042", 8)), (184, number(0x2A, 2)))
    record = patched(record, 40, (64, number(4000, 8)), (44, number(1000)), (32, number(1000)))
    record = patched(
        record, 56, (4, number(4500)), (8, number(500)), (116, number(800)), (128, number(200)),
        # The interval began at 09:00 local time, 08:00 UTC.
        (36, number(9 * 360_000)), (40, jobs_by_hand.packed_day(AT)),
    )  # fmt: skip
    return patched(record, 80, (44, name("CICSHI", 8)), (136, number(384, 2)))


def step(code: int, flags: int) -> bytes:
    """A step from 09:05:00 to the record's 09:15:00 local time."""
    record = address_space(4)
    record = patched(
        record, 32, (40, number(2, 2)), (56, number(9 * 360_000 + 30_000)), (60, jobs_by_hand.packed_day(AT))
    )
    return patched(record, 48, (0, number(code, 2)), (2, number(flags, 2)))


def channel() -> bytes:
    """A FICON channel: 300,000 of 1,000 work units a second in 300 s; 4,096-byte units, 75,000 read."""
    record = jobs_by_hand.smf73(Zeros(0), [2], 1)
    # 300 s are 292,969 units of 1,024 us, to a unit.
    groups = {0: 500, 4: 1000, 8: 1000, 12: 1000, 16: 4096, 24: 150_000, 28: 30_000, 40: 75_000, 44: 15_000}
    places = [(24 + at, hexadecimal(value)) for at, value in groups.items()]
    record = patched(
        record, 44, (0, b"\x51"), (1, b"\x01"), (2, b"\x03"), (12, number(292_969)), (17, name("FC_S", 5)),
        (22, b"\x02"), (23, b"\xf8"), *places,
    )  # fmt: skip
    return patched(record, 52, (0, b"\x51"), (20, number(3000)), (28, number(9000, 8)))


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    path: Path = tmp_path_factory.mktemp("metrics") / "jobs.smf"
    path.write_bytes(b"".join([address_space(2), step(0x00C4, 0x0200), step(4, 0), channel()]))
    connection = connect()
    batches: dict[str, list[pa.RecordBatch]] = {}
    reader = _core.SmfReader(path, _core.Catalogue([layouts_path()]), source_id="s", codepage="037")
    for batch in reader:
        for table, rows in batch.tables.items():
            batches.setdefault(table, []).append(rows)
    assert not reader.summary()["damage"]
    for table, parts in batches.items():
        add_table(connection, table, pa.Table.from_batches(parts))
    return Inputs(connection)


def test_an_address_space(raw: Inputs) -> None:
    (found,) = rows_of(evaluate(raw, GRAINS["address_space"]))
    assert (found["job"], found["asid"], found["service_class"], found["work_type"]) == (
        "CICSA1", "002A", "CICSHI", "STC",
    )  # fmt: skip
    assert found["cp_seconds"] == pytest.approx(50.0)
    assert found["ziip_seconds"] == pytest.approx(12.0)
    assert found["cpu_seconds"] == pytest.approx(62.0)
    # 2 of 12 + 2.
    assert found["ziip_overflow_fraction"] == pytest.approx(1 / 7)
    assert found["cp_processors"] == pytest.approx(50 / 900)
    assert found["excp_rate"] == pytest.approx(4000 / 900)
    assert found["dasd_connect_time"] == pytest.approx(0.000128)


def test_steps(raw: Inputs) -> None:
    found = rows_of(facts(raw, GRAINS["job_step"]))
    assert {row["completion"] for row in found} == {"S0C4", "RC 0004"}
    for row in found:
        # Local time is an hour ahead: the interval record shows it.
        assert row["interval_end"] == AT
        assert row["interval_start"] == AT - LENGTH + LENGTH / 3
        assert row["elapsed_seconds"] == pytest.approx(600.0)
        assert row["step_number"] == "2"
    assert sum(row["abends"] for row in found) == 1


def test_a_job_that_runs_on_is_counted_from_its_intervals(raw: Inputs) -> None:
    (found,) = rows_of(facts(raw, GRAINS["job"]))
    assert (found["job"], found["counted_from"]) == ("CICSA1", "intervals")
    assert found["tcb_seconds"] == pytest.approx(45.0)
    assert found["elapsed_seconds"] == pytest.approx(900.0)


def test_a_channel(raw: Inputs) -> None:
    (found,) = rows_of(evaluate(raw, GRAINS["channel"]))
    assert (found["channel"], found["channel_type"]) == ("51", "FC_S")
    # 150 s of work in 300; 30 s for this partition.
    assert found["utilization"] == pytest.approx(0.5, rel=1e-5)
    assert found["partition_utilization"] == pytest.approx(0.1, rel=1e-5)
    # 75,000 units of 4,096 bytes in the interval of 900 s.
    assert found["read_bytes_per_second"] == pytest.approx(75_000 * 4096 / 900)
    assert found["zhpf_rate"] == pytest.approx(3000 / 900)
    assert found["zhpf_active_operations"] == pytest.approx(3.0)
