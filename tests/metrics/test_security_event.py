"""RACF events (SMF 80): records by hand from the published offsets, read by a decode that knows nothing of layouts."""

from __future__ import annotations

import datetime
import struct
from datetime import timedelta
from pathlib import Path
from typing import Any

from plexlens.metrics import GRAINS
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import lines, tables, text, u8, u16, u32
from tests.metrics.test_smf_recording import behind_utc, minutes, written

EVENTS = GRAINS["security_event"]

#: Flags of SMF80DES: violation, user not defined, warning.
VIOLATION, UNDEFINED, WARNING = 0x8000, 0x4000, 0x1000

Relocate = tuple[int, bytes]


def event_record(
    at: datetime.datetime,
    event: int,
    qualifier: int,
    *,
    flags: int = 0,
    user: str = "USER1",
    relocate: tuple[Relocate, ...] = (),
    extended: tuple[Relocate, ...] = (),
    system: str = "SYS1",
) -> bytes:
    """An event with its relocate sections behind 98 bytes; places count from the flag byte at 4."""
    short = b"".join(u8(kind) + u8(len(data)) + data for kind, data in relocate)
    long = b"".join(u16(kind) + u16(len(data)) + data for kind, data in extended)
    fixed = u16(flags) + u8(event) + u8(qualifier) + text(user, 8) + text("GROUP1", 8)
    fixed += u16(98 - 4) + u16(len(relocate)) + bytes([0x80, 0x04, 0, 0]) + text("TERM0001", 8) + text("JOB1", 8)
    fixed += u32(360_000) + bytes.fromhex(f"01{at:%y%j}F") + text("EXIT", 8) + bytes([0, 0]) + text("77E0", 4)
    fixed += text("", 8) + u16(98 + len(short) - 4) + u16(len(extended)) + bytes(2)
    assert len(fixed) == 98 - 18
    return written(80, at, fixed + short + long, system=system)


def slow(data: bytes) -> dict[str, Any]:
    """What a record says: one byte after the other, by the published offsets alone."""

    def number(at: int, width: int) -> int:
        return int.from_bytes(data[at : at + width], "big")

    found: dict[str, Any] = {"event": data[20], "qualifier": data[21], "user": data[22:30].decode("cp037").rstrip()}
    for name, place, count, width in (("short", 38, 40, 1), ("long", 92, 94, 2)):
        at = number(place, 2) + 4
        found[name] = []
        for _ in range(number(count, 2)):
            kind, length = number(at, width), number(at + width, width)
            found[name].append((kind, data[at + 2 * width : at + 2 * width + length]))
            at += 2 * width + length
    return found


def resource(name: str, of: str = "DATASET") -> tuple[Relocate, ...]:
    """Resource, access asked for, access allowed, class."""
    return ((1, text(name, len(name))), (3, u8(2)), (4, u8(0)), (17, text(of, 8)))


REFUSED = event_record(minutes(1), 2, 1, flags=VIOLATION, relocate=resource("SYS1.PARMLIB"))


def test_a_record_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = event_record(
        minutes(1), 2, 1, flags=VIOLATION, relocate=resource("SYS1.PARMLIB"), extended=((441, b"AB"), (444, b""))
    )
    said = slow(data)
    found = tables(tmp_path, data)
    (event,) = found["smf80_event"].to_pylist()
    assert (event["smf80evt"], event["smf80evq"], event["smf80usr"]) == (said["event"], said["qualifier"], said["user"])
    assert (event["smf80trm"], event["smf80jbn"], event["smf80vrm"]) == ("TERM0001", "JOB1", "77E0")
    assert (event["smf80rst"], event["smf80rsd"], event["smf80sec"]) == (3_600, minutes(1).date(), "")
    short = [(line["smf80dtp"], line["smf80dln"]) for line in found["smf80_relocate"].to_pylist()]
    assert short == [(kind, len(data)) for kind, data in said["short"]] == [(1, 12), (3, 1), (4, 1), (17, 8)]
    long = [(line["smf80tp2"], line["smf80dl2"]) for line in found["smf80_extended"].to_pylist()]
    assert long == [(kind, len(data)) for kind, data in said["long"]] == [(441, 2), (444, 0)]
    (of_class,) = found["smf80_class"].to_pylist()
    assert (of_class["section_no"], of_class["smf80dta"]) == (4, "DATASET")


def test_a_record_of_an_older_release_ends_before_later_fields(tmp_path: Path) -> None:
    # 78 bytes, then one relocate section: neither version nor extended sections.
    body = REFUSED[4:78][:34] + u16(78 - 4) + u16(1) + REFUSED[42:78] + u8(17) + u8(3) + text("APF", 3)
    data = struct.pack(">HH", len(body) + 4, 0) + body
    found = tables(tmp_path, data)
    (event,) = found["smf80_event"].to_pylist()
    assert (event["smf80uid"], event["smf80vrm"], event["smf80ct2"]) == ("EXIT", None, None)
    assert [line["smf80dta"] for line in found["smf80_class"].to_pylist()] == ["APF"]


def test_events_by_kind_qualifier_and_class(tmp_path: Path) -> None:
    dump = [
        REFUSED,
        event_record(minutes(2), 2, 1, flags=VIOLATION, relocate=resource("SYS1.LINKLIB")),
        event_record(minutes(3), 2, 3, flags=WARNING, relocate=resource("BPX.SUPERUSER", "FACILITY")),
        event_record(minutes(4), 1, 1, flags=VIOLATION | UNDEFINED),
        event_record(minutes(20), 1, 6, flags=VIOLATION),
        event_record(minutes(21), 10, 0),
        event_record(minutes(22), 13, 0),
        event_record(minutes(22), 28, 0),
    ]
    by = ("security_event", "event_qualifier", "resource_class")
    found = {tuple(line[key] for key in by): line for line in lines(tmp_path, EVENTS, *dump, by=by, time="all")}
    assert {key: (line["events"], line["violations"], line["warnings"]) for key, line in found.items()} == {
        ("resource access", "1", "DATASET"): (2, 2, 0),
        ("resource access", "3", "FACILITY"): (1, 0, 1),
        ("job or logon", "1", None): (1, 1, 0),
        ("job or logon", "6", None): (1, 1, 0),
        ("ADDUSER", "0", None): (1, 0, 0),
        ("command 13", "0", None): (1, 0, 0),
        ("event 28", "0", None): (1, 0, 0),
    }
    (total,) = lines(tmp_path, EVENTS, *dump, by=(), time="all")
    assert (total["events"], total["logons_refused"], total["accesses_refused"]) == (8, 2, 2)
    assert (total["undefined_users"], total["relocate_sections"]) == (1, 12)
    assert total["violation_fraction"] == 0.5


def test_quarters_of_local_time_are_placed_by_rmf(tmp_path: Path) -> None:
    dump = [behind_utc(5), *(event_record(minutes(at) - timedelta(hours=5), 1, 1) for at in (0, 14, 15))]
    found = lines(tmp_path, EVENTS, *dump, by=())
    assert [(line["time"], line["events"]) for line in found] == [(START, 2), (minutes(15), 1)]
