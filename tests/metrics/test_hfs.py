"""HFS (SMF 74-6): records by hand from IBM's mapping, values by hand and as BMC prints them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import Fields, f8, lines, record, section, tables, text, u8, u16, u32

HFS = GRAINS["omvs_hfs"]
POOL_OF_HFS = GRAINS["omvs_hfs_pool"]
FILE_SYSTEMS = GRAINS["omvs_file_system"]

MIB = 1024 * 1024

#: 512 MiB allowed and 128 MiB in use, 16 MiB asked for and 8 MiB fixed; 9,000 lookups found and 1,000 not; 450 first
#: pages found and 50 read.
GLOBAL = {
    0: u32(512), 4: u32(32_768), 8: u32(16), 12: u32(2_048), 16: f8(9_000), 24: f8(1_000), 32: f8(450), 40: f8(50),
}  # fmt: skip

#: Buffers of four pages in one data space: 64 MiB, 4 MiB of them fixed; 270 I/Os with a fixed buffer and 90 without.
POOL = {0: u16(4), 2: u16(1), 4: u32(16_384), 8: u32(1_024), 16: f8(270), 24: f8(90)}

#: 100 MiB, 1 MiB of them directory, 20 MiB in buffers; 900 sequential I/Os and 2,700 random; 99 of 100 lookups found, 3
#: of 4 first pages; index pages: 600 and 300 found, 60 and 40 not; 5 splits.
FILE_SYSTEM = {
    0: text("OMVS.PROD.HFS", 44), 44: u8(13), 45: u8(0), 48: bytes(range(8)), 64: u32(25_600), 68: u32(512),
    72: u32(256), 76: u32(5_120), 80: f8(900), 88: f8(2_700), 96: f8(99), 104: f8(1), 112: f8(3), 120: f8(1),
    128: f8(2), 136: f8(5), 144: f8(4), 152: f8(600), 160: f8(60), 168: f8(300), 176: f8(40), 184: u32(7),
}  # fmt: skip


def hfs_record(
    fields: Fields, pools: tuple[Fields, ...] = (), file_systems: tuple[Fields, ...] = (), *, quarter: int = 0
) -> bytes:
    """A record of the quarter of an hour with this number: the global section, buffer pools and file systems."""
    return record(
        74,
        6,
        (section(68, fields),),
        tuple(section(32, pool) for pool in pools),
        tuple(section(192, file_system) for file_system in file_systems),
        starts=START + quarter * timedelta(minutes=15),
    )


def floating(data: bytes) -> float:
    """IBM hexadecimal floating point, worked out digit by digit."""
    return int.from_bytes(data[1:8], "big") / 2**56 * 16.0 ** ((data[0] & 0x7F) - 64)


def whole(data: bytes, at: int, length: int = 4) -> int:
    return int.from_bytes(data[at : at + length], "big")


def test_a_record_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = hfs_record(GLOBAL | {48: u32(1), 60: u32(4)}, (POOL, POOL | {0: u16(64)}), (FILE_SYSTEM,))
    found = tables(tmp_path, data)
    (every,) = found["smf74_6_global"].to_pylist()
    part = data[whole(data, 36) :]
    assert (every["r746gmxv"], every["r746gmnf"]) == (whole(part, 0) * MIB, whole(part, 8) * MIB)
    assert (every["r746gusv"], every["r746gusf"]) == (whole(part, 4) * 4096, whole(part, 12) * 4096)
    names = ("r746gmc", "r746gmnc", "r746g1c", "r746g1nc")
    assert [every[name] for name in names] == [floating(part[16 + 8 * n :]) for n in range(4)]
    assert (every["r746glrc"], every["r746gsrs"], every["r746gsfl"]) == (whole(part, 48), whole(part, 60), part[64])
    assert whole(data, 48, 2) == 32
    for number, row in enumerate(found["smf74_6_buffer"].to_pylist()):
        part = data[whole(data, 44) + 32 * number :]
        assert (row["r746gsb"], row["r746gnds"]) == (whole(part, 0, 2), whole(part, 2, 2))
        assert (row["r746gsbp"], row["r746gsbf"]) == (whole(part, 4) * 4096, whole(part, 8) * 4096)
        assert (row["r746gbf"], row["r746gbnf"]) == (floating(part[16:]), floating(part[24:]))
    (row,) = found["smf74_6_file_system"].to_pylist()
    part = data[whole(data, 52) :]
    assert (row["r746fsnm"], row["r746fsnl"], row["r746fctm"]) == ("OMVS.PROD.HFS", part[44], part[48:56])
    pages = ("r746fsf", "r746fpf", "r746fpd", "r746fpc")
    assert [row[name] for name in pages] == [whole(part, 64 + 4 * n) * 4096 for n in range(4)]
    counts = ["fsfi", "frfi", "fmc", "fmnc", "f1c", "f1nc", "fint", "fis", "fij", "firh", "firm", "fiwh", "fiwm"]
    assert [row[f"r746{name}"] for name in counts] == [floating(part[80 + 8 * n :]) for n in range(13)]
    assert row["r746fsrc"] == whole(part, 184)


def test_counts_are_those_that_bmc_prints(tmp_path: Path) -> None:
    """The sample of BMC's HFS Statistics Report: six records of an hour and a half, 2,011 MB, 6.250 in use.

    5,768 lookups found and 10 not are 1.068 per second and 99.8 %; the first page that was asked for was found.
    """
    counts = [(961, 2), (961, 2), (961, 2), (961, 2), (962, 1), (962, 1)]
    assert [sum(column) for column in zip(*counts, strict=True)] == [5_768, 10]
    fields = {0: u32(2_011), 4: u32(1_600)}
    records = [
        hfs_record(fields | {16: f8(hits), 24: f8(misses), 32: f8(1 if n == 3 else 0)}, quarter=n)
        for n, (hits, misses) in enumerate(counts)
    ]
    (found,) = lines(tmp_path, HFS, *records, by=("system",), time="all")
    assert (found["limit_bytes"], found["virtual_bytes"]) == (2_011 * MIB, 6.25 * MIB)
    assert (round(found["metadata_rate"], 3), round(found["metadata_hit_fraction"], 3)) == (1.068, 0.998)
    assert (found["metadata_hits"], found["metadata_misses"], found["first_page_hit_fraction"]) == (5_768, 10, 1)


def test_storage_and_caches(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, HFS, hfs_record(GLOBAL), by=("system",))
    assert (found["virtual_bytes"], found["virtual_fraction"]) == (128 * MIB, 0.25)
    assert (found["fixed_minimum_bytes"], found["fixed_bytes"]) == (16 * MIB, 8 * MIB)
    # 9,000 of 10,000, 9,000 in 900 s; 450 of 500.
    assert (found["metadata_hit_fraction"], found["metadata_rate"]) == (pytest.approx(0.9), pytest.approx(10))
    assert (found["first_page_hit_fraction"], found["first_page_rate"]) == (pytest.approx(0.9), pytest.approx(0.5))


@pytest.mark.parametrize(
    ("flags", "limit", "virtual", "hits"),
    [
        (0b1000_0000, None, None, None),
        (0b0100_0000, None, 128 * MIB, 9_000),
        (0b0010_0000, 512 * MIB, None, None),
        (0b0001_0000, 512 * MIB, 128 * MIB, None),
    ],
)
def test_data_that_are_not_there(
    tmp_path: Path, flags: int, limit: int | None, virtual: int | None, hits: int | None
) -> None:
    (found,) = lines(tmp_path, HFS, hfs_record(GLOBAL | {64: u8(flags)}), by=("system",))
    assert (found["limit_bytes"], found["virtual_bytes"], found["metadata_hits"]) == (limit, virtual, hits)


def test_buffer_pools(tmp_path: Path) -> None:
    other = POOL | {0: u16(1), 16: f8(0), 24: f8(9)}
    found = lines(tmp_path, POOL_OF_HFS, hfs_record(GLOBAL, (POOL, other)), by=("system", "buffer_pages"))
    pools = {line["buffer_pages"]: line for line in found}
    assert set(pools) == {"1", "4"}
    assert (pools["4"]["pool_bytes"], pools["4"]["fixed_bytes"], pools["4"]["data_spaces"]) == (64 * MIB, 4 * MIB, 1)
    # 360 I/Os in 900 s, 270 of them with a fixed buffer.
    assert (pools["4"]["io_rate"], pools["4"]["fixed_fraction"]) == (pytest.approx(0.4), 0.75)
    assert pools["1"]["fixed_fraction"] == 0


def test_buffer_pools_without_their_counts(tmp_path: Path) -> None:
    none = hfs_record(GLOBAL | {64: u8(0b0010_0000)}, (POOL,))
    assert lines(tmp_path, POOL_OF_HFS, none, by=("buffer_pages",)) == []
    (part,) = lines(tmp_path, POOL_OF_HFS, hfs_record(GLOBAL | {64: u8(0b0001_0000)}, (POOL,)), by=("buffer_pages",))
    assert (part["pool_bytes"], part["fixed_ios"], part["io_rate"]) == (64 * MIB, None, None)


def test_file_systems(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, FILE_SYSTEMS, hfs_record(GLOBAL, (), (FILE_SYSTEM,)), by=("system", "file_system"))
    assert (found["file_system"], found["size_bytes"], found["cached_bytes"]) == (
        "OMVS.PROD.HFS",
        100 * MIB,
        20 * MIB,
    )
    # 3,600 I/Os in 900 s, 900 of them sequential; 900 of 1,000 index pages.
    assert (found["io_rate"], found["sequential_fraction"]) == (pytest.approx(4), 0.25)
    assert (found["metadata_hit_fraction"], found["first_page_hit_fraction"]) == (pytest.approx(0.99), 0.75)
    assert (found["index_hit_fraction"], found["index_splits"]) == (pytest.approx(0.9), 5)


def test_a_file_system_that_was_mounted_anew(tmp_path: Path) -> None:
    mounted = FILE_SYSTEM | {45: u8(0b0110_0000)}
    absent = FILE_SYSTEM | {0: text("OMVS.NONE.HFS", 44), 45: u8(0b1000_0000)}
    (found,) = lines(tmp_path, FILE_SYSTEMS, hfs_record(GLOBAL, (), (mounted, absent)), by=("file_system",))
    assert (found["file_system"], found["size_bytes"], found["io_rate"]) == ("OMVS.PROD.HFS", 100 * MIB, None)
