"""Crypto cards and ICSF services (SMF 70-2): records by hand from IBM's mapping and C header, values by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import f8, lines, record, section, tables, u8, u32

CARD = GRAINS["crypto_card"]
SERVICE = GRAINS["crypto_service"]

EACH = ("system", "card", "scope", "function")


def cca(index: int, *, scope: int = 1, mask: int = 0xC0, kind: int = 14) -> bytes:
    """90,000 operations in 45,000,000 units of 2 microseconds (90 s), 9 of them key generations."""
    fields = {0: u8(index), 1: u8(kind), 2: u8(mask), 8: f8(0.000002), 16: f8(45_000_000), 24: f8(90_000), 40: f8(9)}
    return section(52, fields | {48: u8(scope), 49: u8(7)})


def accelerator(index: int, engines: int = 2, mask: int = 0xFC) -> bytes:
    """Two of five engines used. 2048-bit ME: 600 and 300 operations, 200,000 and 100,000 units of 10 microseconds."""
    fields = {0: u8(index), 1: u8(14), 2: u8(mask), 4: u32(engines), 8: f8(0.00001), 368: u8(1), 369: u8(7)}
    for engine, share in ((0, 2), (1, 1)):
        at = 16 + 64 * engine
        fields |= {at + 16: f8(100_000 * share), at + 24: f8(300 * share)}
        fields |= {at + 48: f8(9_000_000), at + 56: f8(90_000)}
    # 4096-bit CRT, of the whole card: 100 operations in 1 s.
    return section(370, fields | {352: f8(100_000), 360: f8(100)})


def pkcs11(index: int) -> bytes:
    """Fast asymmetric: 450 operations in 9 s; asymmetric key generation is marked as not valid."""
    fields = {0: u8(index), 1: u8(13), 2: u8(0b0111_1000 | 0x80), 8: f8(0.001), 32: f8(9000), 40: f8(450), 88: f8(77)}
    return section(98, fields | {2: u8(0b1111_0000), 96: u8(0)})


#: Calls, bytes and operations of triple DES encipher; SHA-256 calls; AES encipher; ECC signatures; FPE.
SERVICES = {
    24: f8(900), 32: f8(900 * 4096), 40: f8(1800), 184: f8(450), 192: f8(450 * 64), 200: f8(450), 236: f8(90),
    244: f8(90 * 1024), 252: f8(180), 332: f8(9), 428: f8(5),
}  # fmt: skip


def icsf(level: int, length: int = 604) -> bytes:
    return section(length, SERVICES | {232: u32(level)})


def crypto_record(*sections: tuple[bytes, ...], **more: Any) -> bytes:
    four = [*sections, (), (), (), ()][:4]
    return record(70, 2, *four, **more)


def test_a_coprocessor(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, CARD, crypto_record((cca(3),)), by=EACH)
    assert (found["card"], found["scope"], found["function"]) == ("CEX8C 3", "this system", "all operations")
    assert (found["card_type"], found["domain"]) == ("CEX8C", "7")
    assert found["operation_rate"] == 100
    # 45,000,000 x 2 us = 90 s, of 900, for 90,000 operations.
    assert found["execution_time"] == pytest.approx(0.001)
    assert found["utilization"] == pytest.approx(0.1)
    assert found["key_generation_rate"] == pytest.approx(0.01)


def test_an_accelerator_has_its_engines_together(tmp_path: Path) -> None:
    dump = crypto_record((), (accelerator(0), accelerator(1)))
    found = {(line["card"], line["function"]): line for line in lines(tmp_path, CARD, dump, by=EACH)}
    assert len(found) == 12
    two = found["CEX8A 1", "2048-bit RSA, ME format"]
    # 900 operations in 300,000 x 10 us = 3 s, of 2 engines for 900 s.
    assert (two["operations"], two["execution_seconds"]) == (900, pytest.approx(3))
    assert two["operation_rate"] == 1
    assert two["execution_time"] == pytest.approx(3 / 900)
    assert two["utilization"] == pytest.approx(3 / 1800)
    four = found["CEX8A 0", "4096-bit RSA, CRT format"]
    assert (four["operations"], four["execution_seconds"]) == (100, pytest.approx(1))
    assert found["CEX8A 0", "1024-bit RSA, ME format"]["operations"] == 0


def test_functions_of_a_card_add_up_to_its_utilization(tmp_path: Path) -> None:
    (card,) = lines(tmp_path, CARD, crypto_record((), (accelerator(0),)), by=("system", "card", "scope"))
    # 3 s, 180,000 operations in 180 s, and 1 s: 184 of 2 x 900 s.
    assert card["execution_seconds"] == pytest.approx(184)
    assert card["utilization"] == pytest.approx(184 / 1800)


def test_pkcs11_and_values_marked_as_not_valid(tmp_path: Path) -> None:
    dump = crypto_record((cca(0, mask=0x40),), (), (), (pkcs11(5),))
    found = {(line["card"], line["function"]): line for line in lines(tmp_path, CARD, dump, by=EACH)}
    fast = found["CEX7P 5", "fast asymmetric"]
    assert (fast["operation_rate"], fast["execution_time"]) == (0.5, pytest.approx(0.02))
    assert fast["scope"] == "machine"
    assert found["CEX7P 5", "asymmetric key generation"]["operations"] is None
    # The mask says that the time of all operations is not valid, and key generations are.
    both = found["CEX8C 0", "all operations"]
    assert (both["operations"], both["utilization"], both["key_generations"]) == (None, None, 9)


def test_records_without_the_mask_and_without_a_scope(tmp_path: Path) -> None:
    """Before record level 97 the mask of coprocessors is zero and says nothing; before z/OS 2.3 there is no scope."""
    (found,) = lines(tmp_path, CARD, crypto_record((cca(1, mask=0)[:48],), level=80), by=EACH)
    assert (found["scope"], found["operations"], found["key_generations"]) == ("not recorded", 90_000, 9)


def test_a_card_type_that_is_not_known_keeps_its_number(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, CARD, crypto_record((cca(1, kind=15),)), by=EACH)
    assert found["card"] == "CEX? type 15 C 1"


def test_services(tmp_path: Path) -> None:
    every = lines(tmp_path, SERVICE, crypto_record((), (), (icsf(23),)), by=("service",))
    found = {line["service"]: line for line in every}
    assert len(found) == 27
    triple = found["encipher, triple DES"]
    assert (triple["call_rate"], triple["bytes_per_call"], triple["operations_per_call"]) == (1, 4096, 2)
    assert triple["bytes_per_second"] == 4096
    assert found["hash, SHA-224 and SHA-256"]["call_rate"] == 0.5
    assert (found["encipher, AES"]["bytes_per_call"], found["encipher, AES"]["operations_per_call"]) == (1024, 2)
    signature = found["generate signature, ECC"]
    assert (signature["call_rate"], signature["bytes_per_call"]) == (0.01, None)


@pytest.mark.parametrize(("level", "services"), [(11, 11), (13, 13), (17, 17), (19, 19), (22, 22), (23, 27)])
def test_services_of_a_data_level(tmp_path: Path, level: int, services: int) -> None:
    """11 always; above 11 AES (2), 13 signatures (4), 17 AES MAC (2), 19 FPE (3), 22 FFX and QSA (5)."""
    dump = crypto_record((), (), (icsf(level),))
    assert len(lines(tmp_path, SERVICE, dump, by=("service",))) == services


def test_the_array_of_engines_as_a_table(tmp_path: Path) -> None:
    engines = tables(tmp_path, crypto_record((), (accelerator(0), accelerator(1))))["smf70_2_accelerator_engine"]
    assert engines["section_no"].to_pylist() == [1, 2, 6, 7]
    assert engines["r7022mec"].to_pylist() == [600, 300, 600, 300]
