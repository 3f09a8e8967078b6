"""Virtual storage (SMF 78-2): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, f4, f8, lines, record, section, tables, text, u8, u16, u32

AREA = GRAINS["virtual_area"]
KEY = GRAINS["virtual_csa_key"]
PRIVATE = GRAINS["virtual_private"]

KIB = 1024
MIB = 1024 * KIB

#: Samples of common storage in the interval: the number of samples of the product section.
SAMPLES = 90


def half(at: int, least: int, mean: int, most: int, samples: int = SAMPLES) -> Fields:
    """Twenty bytes: least, its time, most, its time, sum over the samples."""
    return {at: u32(least), at + 8: u32(most), at + 16: f4(mean * samples)}


#: CSA of 3 MiB at 20, ECSA of 300 MiB at 28, SQA of 2 MiB at 92, ESQA of 64 MiB at 100; allocated CSA from 184 on, SQA
#: from 144; free from 584 and 704; largest free blocks from 624 and 744; SQA in CSA from 824.
COMMON = {
    20: u32(3 * MIB), 28: u32(300 * MIB), 92: u32(2 * MIB), 100: u32(64 * MIB),
    **half(144, 1 * MIB, 2 * MIB, 3 * MIB), **half(164, 32 * MIB, 40 * MIB, 48 * MIB),
    **half(184, 512 * KIB, 768 * KIB, 1536 * KIB), **half(204, 60 * MIB, 75 * MIB, 90 * MIB),
    **half(584, 1200 * KIB, 2000 * KIB, 2500 * KIB), **half(604, 210 * MIB, 225 * MIB, 240 * MIB),
    **half(624, 800 * KIB, 900 * KIB, 1000 * KIB), **half(644, 100 * MIB, 110 * MIB, 120 * MIB),
    **half(704, 0, 64 * KIB, 128 * KIB), **half(724, 16 * MIB, 24 * MIB, 32 * MIB),
    **half(744, 0, 32 * KIB, 64 * KIB), **half(764, 8 * MIB, 9 * MIB, 10 * MIB),
    **half(824, 0, 512 * KIB, 1024 * KIB), **half(844, 0, 0, 0),
    # Key 0, then key 6; keys 8 to 15; the first of them has CSA in subpools 227 and 241, and all keys have in 227.
    **half(224, 400 * KIB, 450 * KIB, 500 * KIB), **half(244, 30 * MIB, 31 * MIB, 32 * MIB),
    **half(224 + 6 * 40, 100 * KIB, 110 * KIB, 120 * KIB), **half(244 + 6 * 40, 20 * MIB, 20 * MIB, 20 * MIB),
    **half(224 + 8 * 40, 0, 8 * KIB, 16 * KIB), **half(244 + 8 * 40, 0, 0, 4 * KIB),
    **half(864, 300 * KIB, 300 * KIB, 300 * KIB), **half(864 + 9 * 20, 310 * KIB, 310 * KIB, 310 * KIB),
    **half(1464, 100 * KIB, 150 * KIB, 200 * KIB), **half(1064 + 8 * 20, 0, 1 * KIB, 2 * KIB),
    **half(1264 + 6 * 20, 4 * KIB, 5 * KIB, 6 * KIB),
    **half(1664, 7 * KIB, 8 * KIB, 9 * KIB), 1716: u32(0xE2A1_B3C4), 1736: u32(5 * MIB),
}  # fmt: skip

#: DB2MSTR was sampled ten times: it had 2 of 8 MiB below 16 MiB, 400 to 800 of 1,600 MiB above, 1,024 of 4,096 MiB
#: above 2 GiB.
JOB = {
    0: text("DB2MSTR", 8), 8: u32(360_000), 12: bytes.fromhex("0126061F"), 20: text("IEFPROC", 8),
    28: text("DSNYASCP", 8),
    36: u16(0b1000_1000_0000_0000), 40: u32(10), 44: u32(0), 56: u32(8 * MIB), 60: u32(1600 * MIB),
    **half(152, 1 * MIB, 1 * MIB, 1 * MIB, 10), **half(172, 20 * MIB, 30 * MIB, 40 * MIB, 10),
    **half(312, 2 * MIB, 2 * MIB, 2 * MIB, 10), **half(332, 400 * MIB, 500 * MIB, 800 * MIB, 10),
    392: f8(1024 * MIB), 408: f8(1024 * MIB), 424: f8(10 * 1024 * MIB), 432: f8(2048 * MIB),
    536: f8(6), 552: f8(6), 568: f8(60), 736: u32(0), 740: u32(4096), 864: f8(2), 880: f8(3),
}  # fmt: skip


def virtual_record(*jobs: Fields, common: Fields = COMMON, length: int = 1740, system: str = "SYS1") -> bytes:
    """Common storage and private areas; the number of samples is at 24 of the product section."""
    common = {at: value for at, value in common.items() if at + len(value) <= length}
    data = bytearray(record(78, 2, (section(length, common),), tuple(section(944, job) for job in jobs), system=system))
    product = int.from_bytes(data[28:32], "big")
    data[product + 24 : product + 28] = u32(SAMPLES)
    return bytes(data)


def short(data: bytes) -> float:
    """IBM hexadecimal floating point of four bytes, worked out digit by digit."""
    return int.from_bytes(data[1:4], "big") / 2**24 * 16.0 ** ((data[0] & 0x7F) - 64)


def long(data: bytes) -> float:
    return int.from_bytes(data[1:8], "big") / 2**56 * 16.0 ** ((data[0] & 0x7F) - 64)


def test_common_storage_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = virtual_record()
    (common,) = tables(tmp_path, data)["smf78_2_common"].to_pylist()
    at = int.from_bytes(data[36:40], "big")
    words = {
        "r782cs": 20, "r782ecs": 28, "r782ss": 92, "r782ess": 100, "r782sqau_vsdbmin": 144, "r782sqau_vsdamax": 172,
        "r782csau_vsdbmax": 192, "r782csau_vsdamin": 204, "r782csaf_vsdbmin": 584, "r782cslf_vsdamin": 644,
        "r782csal_vsdbmin": 664, "r782sqaf_vsdbmax": 712, "r782sqlf_vsdbmax": 752, "r782sqal_vsdamax": 812,
        "r782sqex_vsdbmax": 832, "r782226_vsdbmax": 1672, "r782245_vsdbxtme": 1716, "r782erucs": 1736,
    }  # fmt: skip
    assert {name: common[name] for name in words} == {
        name: int.from_bytes(data[at + offset :][:4], "big") for name, offset in words.items()
    }
    floats = {"r782sqau_vsdbtotl": 160, "r782csau_vsdatotl": 220, "r782csaf_vsdbtotl": 600, "r782sqex_vsdbtotl": 840}
    assert {name: common[name] for name in floats} == {
        name: short(data[at + offset :]) for name, offset in floats.items()
    }


def test_keys_and_subpools_are_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = virtual_record()
    found = tables(tmp_path, data)
    at = int.from_bytes(data[36:40], "big")
    for table, start, length, count in (("smf78_2_csa_key", 224, 40, 9), ("smf78_2_csa_subpool", 864, 20, 40)):
        there = {n: data[at + start + n * length :][:length] for n in range(count)}
        there = {n + 1: element for n, element in there.items() if any(element)}
        rows = {row["section_no"]: row for row in found[table].to_pylist()}
        assert set(rows) == set(there)
        prefix = "r782csak" if length == 40 else "r782spk"
        for number, element in there.items():
            row = rows[number]
            assert row[f"{prefix}_vsdbmin"] == int.from_bytes(element[:4], "big")
            assert row[f"{prefix}_vsdbmax"] == int.from_bytes(element[8:12], "big")
            assert row[f"{prefix}_vsdbtotl"] == short(element[16:])
            if length == 40:
                assert row["r782csak_vsdamax"] == int.from_bytes(element[28:32], "big")
                assert row["r782csak_vsdatotl"] == short(element[36:])


def test_a_private_area_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = virtual_record(JOB, {**JOB, 0: text("CICSA", 8)})
    rows = tables(tmp_path, data)["smf78_2_private"].to_pylist()
    assert [row["r782jobn"] for row in rows] == ["DB2MSTR", "CICSA"]
    at = int.from_bytes(data[44:48], "big")
    words = {"r782samp": 40, "r782gmlb": 56, "r782gmla": 60, "r782lsal_vsdamax": 180, "r782usal_vsdbmin": 312}
    assert {name: rows[0][name] for name in words} == {
        name: int.from_bytes(data[at + offset :][:4], "big") for name, offset in words.items()
    }
    longs = {"r782toby_vsdgmin": 392, "r782toby_vsdgtotl": 424, "r782toby_vsdghwm": 432, "r782tomo_vsdctotl": 568}
    longs |= {"r782gfmo_vsdcmin": 864, "r782gfmo_vsdcmax": 880}
    assert {name: rows[0][name] for name in longs} == {
        name: long(data[at + offset :]) for name, offset in longs.items()
    }
    assert rows[0]["r782lsal_vsdatotl"] == short(data[at + 188 :])
    assert (rows[0]["r782meml"], rows[0]["r782step"], rows[0]["r782pgmn"]) == (4096 * MIB, "IEFPROC", "DSNYASCP")


def test_common_areas(tmp_path: Path) -> None:
    found = {line["area"]: line for line in lines(tmp_path, AREA, virtual_record(), by=("area",))}
    csa, sqa = found["CSA"], found["SQA"]
    assert (csa["size_bytes"], csa["allocated_bytes"]) == (3 * MIB, pytest.approx(768 * KIB))
    assert (csa["most_allocated_bytes"], csa["least_free_bytes"], csa["least_block_bytes"]) == (
        1536 * KIB,
        1200 * KIB,
        800 * KIB,
    )
    # 768 KiB and 1,536 KiB of 3,072 KiB.
    assert (csa["allocated_percentage"], csa["most_allocated_percentage"]) == (pytest.approx(0.25), pytest.approx(0.5))
    assert csa["most_expanded_bytes"] is None
    # SQA of 2 MiB had 3 at most, and was in CSA with 1 MiB.
    assert (sqa["most_allocated_percentage"], sqa["most_expanded_bytes"]) == (pytest.approx(1.5), MIB)
    assert (found["ECSA"]["allocated_percentage"], found["ECSA"]["least_block_bytes"]) == (
        pytest.approx(0.25),
        100 * MIB,
    )
    assert (found["ESQA"]["most_allocated_percentage"], found["ESQA"]["least_free_bytes"]) == (0.75, 16 * MIB)
    assert len(found) == 4


def test_a_restricted_csa_leaves_no_size_to_compare_with(tmp_path: Path) -> None:
    data = virtual_record(common=COMMON | {32: u8(0b1000_0000)})
    found = {line["area"]: line for line in lines(tmp_path, AREA, data, by=("area",))}
    assert (found["CSA"]["size_bytes"], found["ECSA"]["most_allocated_percentage"]) == (None, None)
    assert (found["CSA"]["most_allocated_bytes"], found["SQA"]["size_bytes"]) == (1536 * KIB, 2 * MIB)


def test_a_mean_outside_its_extremes_is_left_out(tmp_path: Path) -> None:
    data = virtual_record(common=COMMON | {200: f4(2000 * KIB * SAMPLES)})
    found = {line["area"]: line for line in lines(tmp_path, AREA, data, by=("area",))}
    assert (found["CSA"]["allocated_bytes"], found["CSA"]["most_allocated_bytes"]) == (None, 1536 * KIB)


def test_an_older_record_has_no_restricted_csa(tmp_path: Path) -> None:
    found = {line["area"]: line for line in lines(tmp_path, AREA, virtual_record(length=1724), by=("area",))}
    assert found["CSA"]["size_bytes"] == 3 * MIB


def test_keys_of_csa(tmp_path: Path) -> None:
    found = {line["storage_key"]: line for line in lines(tmp_path, KEY, virtual_record(), by=("storage_key",))}
    assert set(found) == {"0", "6", "8 to 15"}
    zero = found["0"]
    assert (zero["below_bytes"], zero["above_bytes"]) == (pytest.approx(450 * KIB), pytest.approx(31 * MIB))
    assert zero["allocated_bytes"] == pytest.approx(450 * KIB + 31 * MIB)
    assert (zero["most_below_bytes"], zero["most_above_bytes"]) == (500 * KIB, 32 * MIB)
    # The tenth element of subpool 227 is the sum of its keys, and gives no row.
    assert (zero["most_227_bytes"], zero["most_228_bytes"], zero["most_241_bytes"]) == (300 * KIB, None, 200 * KIB)
    assert (found["8 to 15"]["most_228_bytes"], found["6"]["most_231_bytes"]) == (2 * KIB, 6 * KIB)
    assert found["8 to 15"]["most_above_bytes"] == 4 * KIB


def test_private_areas(tmp_path: Path) -> None:
    found = {line["part"]: line for line in lines(tmp_path, PRIVATE, virtual_record(JOB), by=("job", "part"))}
    below, above, high = found["below 16 MiB"], found["above 16 MiB"], found["above 2 GiB"]
    assert (below["limit_bytes"], below["user_bytes"], below["most_used_fraction"]) == (8 * MIB, 2 * MIB, 0.25)
    assert (above["user_bytes"], above["most_user_bytes"]) == (pytest.approx(500 * MIB), 800 * MIB)
    assert (above["system_bytes"], above["most_system_bytes"]) == (pytest.approx(30 * MIB), 40 * MIB)
    assert above["most_used_fraction"] == 0.5
    assert (high["limit_bytes"], high["user_bytes"], high["most_used_fraction"]) == (4096 * MIB, 1024 * MIB, 0.25)
    assert (high["system_bytes"], high["program"], high["samples"]) == (None, "DSNYASCP", 10)


def test_data_that_are_not_valid_are_left_out(tmp_path: Path) -> None:
    assert lines(tmp_path, PRIVATE, virtual_record(JOB | {36: u16(0b1001_0000_0000_0000)}), by=("job",)) == []


def test_systems(tmp_path: Path) -> None:
    found = lines(tmp_path, AREA, virtual_record(), virtual_record(system="SYS2"), by=("system", "area"))
    assert sorted((line["system"], line["area"]) for line in found)[:2] == [("SYS1", "CSA"), ("SYS1", "ECSA")]
    assert len(found) == 8
