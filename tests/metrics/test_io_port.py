"""Ports of FICON directors (SMF 74-7): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, f8, lines, record, section, tables, text, u8, u16

PORT = GRAINS["io_port"]

#: A channel path: 900,000 frames with 45,000,000 words received, 400,000 with 5,000,000 transmitted, which waited
#: 800,000 times 2.5 us, and 3 errors. Its statistics were returned.
PATH = {
    0: u8(0x0C), 1: u8(0x10), 2: u8(0b0010_0000), 3: u8(0b0011_0000), 4: u16(0x00E8), 10: u8(0b1000_1000),
    16: f8(800_000), 24: f8(45_000_000), 32: f8(5_000_000), 40: f8(900_000), 48: f8(400_000), 56: f8(3),
}  # fmt: skip

#: Control unit 8200, which sent as many words in 300,000 frames.
UNIT = PATH | {0: u8(0x0D), 1: u8(0x11), 2: u8(0b1000_0000), 4: u16(0x8200), 16: f8(0), 40: f8(300_000), 56: f8(0)}


def director_record(
    *ports: Fields, connectors: tuple[Fields, ...] = (), system: str = "SYS1", number: int = 0x61
) -> bytes:
    """A FICON director: I/O configuration, the switch, ports of 104 bytes and connectors of eight."""
    configuration = {0: u8(0b0010_0000), 2: u16(2), 4: text("SYS1.IODF03", 44), 48: text("03", 2)}
    configuration |= {50: text("03/01/2026", 10), 60: text("16.21.34", 8)}
    return record(
        74,
        7,
        (section(68, configuration),),
        (section(40, {0: u16(0x0105), 2: u8(number), 36: u16(256), 38: u16(32)}),),
        tuple(section(104, fields) for fields in ports),
        tuple(section(8, fields) for fields in connectors),
        system=system,
    )


def floating(data: bytes) -> float:
    """IBM hexadecimal floating point, worked out digit by digit."""
    return int.from_bytes(data[1:8], "big") / 2**56 * 16.0 ** ((data[0] & 0x7F) - 64)


def test_a_record_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    connector = {0: u8(0x0D), 1: u8(0x11), 2: u8(0b0100_0000), 4: u16(0x8300), 6: u8(1)}
    data = director_record(PATH, UNIT, connectors=(connector,))
    found = tables(tmp_path, data)
    at, length, count = struct.unpack_from(">IHH", data, 52)
    assert (length, count) == (104, 2)
    for number, row in enumerate(found["smf74_7_port"].to_pylist()):
        port = data[at + number * length :][:length]
        assert (row["r747pnum"], row["r747padr"], row["r747pcu"]) == (
            port[0],
            port[1],
            int.from_bytes(port[4:6], "big"),
        )
        names = ("r747pfpt", "r747pnwr", "r747pnwt", "r747pnfr", "r747pnft", "r747pner")
        assert [row[name] for name in names] == [floating(port[16 + 8 * place :]) for place in range(6)]
    (switch,) = found["smf74_7_switch"].to_pylist()
    assert (switch["r747sdev"], switch["r747slsn"], switch["r747snsp"], switch["r747snip"]) == (0x105, 0x61, 256, 32)
    (configuration,) = found["smf74_7_global"].to_pylist()
    assert (configuration["r747ginm"], configuration["r747gict"]) == ("SYS1.IODF03", "16.21.34")
    (further,) = found["smf74_7_connector"].to_pylist()
    assert (further["r747cadr"], further["r747ccu"], further["r747ccun"]) == (0x11, 0x8300, 1)


def test_ports(tmp_path: Path) -> None:
    by = ("switch", "port")
    path, unit = sorted(lines(tmp_path, PORT, director_record(PATH, UNIT), by=by), key=lambda line: line["port"])
    assert (path["switch"], path["port"], path["switch_device"]) == ("61", "10", "0105")
    assert (path["connection"], path["connected_to"]) == ("channel path", "E8")
    assert (unit["connection"], unit["connected_to"]) == ("control unit", "8200")
    # 800,000 x 2.5 us are 2 s, of 400,000 frames; 180 MB in 900,000 frames, 20 MB in 400,000.
    assert path["frame_pacing"] == pytest.approx(5e-6)
    assert (path["received_frame_size"], path["transmitted_frame_size"]) == (pytest.approx(200), pytest.approx(50))
    assert path["received_bytes_per_second"] == pytest.approx(180_000_000 / 900)
    assert path["transmitted_bytes_per_second"] == pytest.approx(20_000_000 / 900)
    assert (path["port_errors"], unit["port_errors"], unit["frame_pacing"]) == (3, 0, 0)
    (both,) = lines(tmp_path, PORT, director_record(PATH, UNIT), by=("switch",))
    assert both["received_frame_size"] == pytest.approx(360_000_000 / 1_200_000)


def test_records_of_two_systems_count_once(tmp_path: Path) -> None:
    dump = (director_record(PATH), director_record(PATH, system="SYS2"), director_record(PATH, number=0x62))
    found = {line["switch"]: line["frames_received"] for line in lines(tmp_path, PORT, *dump, by=("switch",))}
    assert found == {"61": 900_000, "62": 900_000}


@pytest.mark.parametrize("flags", [{10: u8(0b1000_0000)}, {3: u8(0b0011_0001)}])
def test_a_port_without_statistics(tmp_path: Path, flags: Fields) -> None:
    (found,) = lines(tmp_path, PORT, director_record(PATH | flags), by=("port",))
    assert (found["frames_received"], found["frame_pacing"], found["port_errors"]) == (None, None, None)


def test_a_connector_that_is_not_known(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, PORT, director_record(PATH | {3: u8(0b0111_0000)}), by=("port",))
    assert (found["connection"], found["connected_to"]) == ("channel path", None)
