"""Waits for locks, latches and ENQ (SMF 72-5): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, lines, record, section, tables, text, u8, u16

TOTAL = GRAINS["enqueue_serialization"]
WAITER = GRAINS["enqueue_waiter"]
SCAN = GRAINS["enqueue_scan"]


def u64(value: int) -> bytes:
    return struct.pack(">Q", value)


def waits(at: int, count: int, behind: int, milliseconds: int) -> Fields:
    return {at: u64(count), at + 8: u64(behind), at + 16: u64(milliseconds)}


#: Places of the control section by kind of lock: suspended, behind others, milliseconds.
LOCKS = {
    "CMS lock": 16,
    "CMS ENQ/DEQ lock": 48,
    "CMS latch lock": 80,
    "CMS SMF lock": 112,
    "local lock": 144,
    "CML lock": 176,
}

#: Places of ENQ by scope: requests, suspended, milliseconds.
SCOPES = {"ENQ, STEP": 240, "ENQ, SYSTEM": 288, "ENQ, SYSTEMS": 336}

#: Lock n of the list above: 900 n waits, 90 n behind others, of 10 ms each. 1,800 latch waits of 5 ms. ENQ n of the
#: list above: 9,000 n requests, 900 n waits, of 20 ms each.
CONTROL: Fields = {0: u8(2), 208: u64(1_800), 216: u64(9_000)}
for number, at in enumerate(LOCKS.values(), start=1):
    CONTROL |= waits(at, 900 * number, 90 * number, 9_000 * number)
for number, at in enumerate(SCOPES.values(), start=1):
    CONTROL |= {at: u64(9_000 * number), at + 8: u64(900 * number), at + 16: u64(18_000 * number)}


def who(job: str, number: int, service_class: str = "STCHI") -> Fields:
    """The head of each section: job, period, address space, token, service class."""
    return {
        0: text(job, 8),
        11: u8(1),
        12: u16(number),
        16: bytes(range(8)),
        24: text(service_class, 8),
    }


#: The lists of the record in the order of their triplets, each with its length.
LISTS = {
    "cms": 64,
    "cms_enqueue": 64,
    "cms_latch": 64,
    "cms_smf": 64,
    "local": 88,
    "cml_owner": 88,
    "cml_requestor": 64,
    "latch_creator": 72,
    "latch_requestor": 72,
    "enqueue_step": 80,
    "enqueue_system": 80,
    "enqueue_systems": 80,
    "queue_scan": 104,
}


def delay_record(*, system: str = "SYS1", **lists: list[Fields]) -> bytes:
    assert set(lists) <= set(LISTS)
    filled = (tuple(section(length, each) for each in lists.get(name, ())) for name, length in LISTS.items())
    return record(72, 5, (section(384, CONTROL),), *filled, system=system)


def cms(job: str, kind: int) -> Fields:
    return who(job, kind) | {32: u8(kind)} | waits(40, 900, 450, 1_800)


LOCAL = who("CICSA", 0x51) | waits(40, 1_800, 900, 900) | waits(64, 5, 4, 3)
OWNER = who("DBM1", 0x42) | waits(40, 2_700, 270, 13_500) | waits(64, 8, 7, 6)
REQUESTOR = who("IRLM", 0x43) | waits(40, 3_600, 0, 3_600)
CREATOR = who("GRS", 7) | {32: u8(1), 40: u64(90), 48: u64(180), 56: bytes(15) + u8(9)}
LATCHED = who("OMVS", 8) | {32: u8(2), 40: u64(180), 48: u64(90)}
REQUESTS = who("BATCH1", 0x60, "BATCH") | {32: u8(3), 40: u64(9_000), 48: u64(90), 56: u64(45_000)}
SCANNER = who("MONITOR", 0x70) | {40: u64(1_800), 48: u64(180), 56: u64(90_000), 80: u64(45_000_000)}


def test_the_kinds_of_wait_of_a_system(tmp_path: Path) -> None:
    found = {line["kind"]: line for line in lines(tmp_path, TOTAL, delay_record(), by=("system", "kind"))}
    assert set(found) == {*LOCKS, *SCOPES, "latch"}
    for number, kind in enumerate(LOCKS, start=1):
        assert found[kind]["wait_rate"] == pytest.approx(number)
        assert found[kind]["wait_time"] == pytest.approx(0.01)
        assert found[kind]["waiting"] == pytest.approx(0.01 * number)
        assert found[kind]["behind_fraction"] == pytest.approx(0.1)
        assert found[kind]["request_rate"] is None
    for number, kind in enumerate(SCOPES, start=1):
        assert found[kind]["request_rate"] == pytest.approx(10 * number)
        assert found[kind]["contention_fraction"] == pytest.approx(0.1)
        assert found[kind]["wait_time"] == pytest.approx(0.02)
        assert found[kind]["behind_fraction"] is None
    latch = found["latch"]
    assert (latch["wait_rate"], latch["wait_time"], latch["contention_fraction"]) == (2.0, pytest.approx(0.005), None)


def test_address_spaces_that_wait(tmp_path: Path) -> None:
    whole = delay_record(
        cms=[cms("A", 1)], cms_enqueue=[cms("B", 2)], cms_latch=[cms("C", 3)], cms_smf=[cms("D", 4)],
        local=[LOCAL], cml_owner=[OWNER], cml_requestor=[REQUESTOR], latch_creator=[CREATOR],
        latch_requestor=[LATCHED], enqueue_systems=[REQUESTS],
    )  # fmt: skip
    found = {line["kind"]: line for line in lines(tmp_path, WAITER, whole, by=("kind", "job", "address_space"))}
    jobs = {kind: (line["job"], line["address_space"]) for kind, line in found.items()}
    assert jobs == {
        "CMS lock": ("A", "0001"), "CMS ENQ/DEQ lock": ("B", "0002"), "CMS latch lock": ("C", "0003"),
        "CMS SMF lock": ("D", "0004"), "local lock": ("CICSA", "0051"), "CML lock, owner": ("DBM1", "0042"),
        "CML lock, requestor": ("IRLM", "0043"), "latch, creator of the set": ("GRS", "0007"),
        "latch, requestor": ("OMVS", "0008"), "ENQ, SYSTEMS": ("BATCH1", "0060"),
    }  # fmt: skip
    # Waits per second, and how long each is.
    assert {kind: (line["wait_rate"], line["wait_time"]) for kind, line in found.items()} == {
        **{kind: (1.0, pytest.approx(0.002)) for kind in list(LOCKS)[:4]},
        "local lock": (2.0, pytest.approx(0.0005)), "CML lock, owner": (3.0, pytest.approx(0.005)),
        "CML lock, requestor": (4.0, pytest.approx(0.001)),
        "latch, creator of the set": (0.1, pytest.approx(0.002)), "latch, requestor": (0.2, pytest.approx(0.0005)),
        "ENQ, SYSTEMS": (0.1, pytest.approx(0.5)),
    }  # fmt: skip
    assert found["CMS lock"]["behind_fraction"] == 0.5
    assert found["CML lock, owner"]["behind_fraction"] == pytest.approx(0.1)
    assert found["ENQ, SYSTEMS"]["contention_fraction"] == pytest.approx(0.01)
    assert found["ENQ, SYSTEMS"]["service_class"] == "BATCH"


def test_an_address_space_that_scans_queues(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, SCAN, delay_record(queue_scan=[SCANNER]), by=("system", "job", "address_space"))
    assert (found["job"], found["address_space"], found["service_class"]) == ("MONITOR", "0070", "STCHI")
    assert (found["request_rate"], found["resources_per_request"], found["specific_fraction"]) == (2.0, 50.0, 0.1)
    assert found["executing"] == pytest.approx(0.05)
    assert found["execution_time"] == pytest.approx(0.025)


def test_two_systems_add_up(tmp_path: Path) -> None:
    records = [delay_record(system=name) for name in ("SYS1", "SYS2")]
    found = {line["kind"]: line for line in lines(tmp_path, TOTAL, *records, by=("kind",))}
    assert found["CMS lock"]["wait_rate"] == pytest.approx(2.0)
    assert found["CMS lock"]["wait_time"] == pytest.approx(0.01)


def test_every_section_has_its_rows(tmp_path: Path) -> None:
    whole = delay_record(
        cms=[cms("A", 1), cms("B", 1)], cms_enqueue=[cms("B", 2)], cms_latch=[cms("C", 3)], cms_smf=[cms("D", 4)],
        local=[LOCAL], cml_owner=[OWNER], cml_requestor=[REQUESTOR], latch_creator=[CREATOR],
        latch_requestor=[LATCHED], enqueue_step=[REQUESTS], enqueue_system=[REQUESTS], enqueue_systems=[REQUESTS],
        queue_scan=[SCANNER],
    )  # fmt: skip
    found = tables(tmp_path, whole)
    rows = {name: table.num_rows for name, table in found.items() if name.startswith("smf72_5")}
    assert rows == {
        "smf72_5_control": 1, "smf72_5_cms": 2, "smf72_5_cms_enqueue": 1, "smf72_5_cms_latch": 1, "smf72_5_cms_smf": 1,
        "smf72_5_local": 1, "smf72_5_cml_owner": 1, "smf72_5_cml_requestor": 1, "smf72_5_latch_creator": 1,
        "smf72_5_latch_requestor": 1, "smf72_5_enqueue_step": 1, "smf72_5_enqueue_system": 1,
        "smf72_5_enqueue_systems": 1, "smf72_5_queue_scan": 1,
    }  # fmt: skip
    (local,), (owner,) = (found[f"smf72_5_{name}"].to_pylist() for name in ("local", "cml_owner"))
    # The counts that each of them repeats of the other.
    assert (local["r725lcsu"], local["r725lcal"], local["r725lcti"]) == (5, 4, 0.003)
    assert (owner["r725clsu"], owner["r725clal"], owner["r725clti"]) == (8, 7, 0.006)
    assert found["smf72_5_latch_creator"].to_pylist()[0]["r725lasq"] == bytes(15) + u8(9)
