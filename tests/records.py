"""SMF records written byte by byte from the rules of the standard header, for tests."""

from __future__ import annotations


def record(record_type: int, system: str, body: bytes, *, hundredths: int = 4_000_000) -> bytes:
    """A record without subtype, written on 2024-03-01 (day 61), with its descriptor word."""
    header = bytes([0x1E, record_type]) + hundredths.to_bytes(4, "big") + bytes([0x01, 0x24, 0x06, 0x1F])
    data = header + system.ljust(4).encode("cp037") + body
    return (len(data) + 4).to_bytes(2, "big") + b"\x00\x00" + data


def dump(*records: bytes) -> bytes:
    """Records one after the other."""
    return b"".join(records)


def records_of(dump: bytes) -> list[bytes]:
    """The records of a dump by their descriptor words."""
    found, at = [], 0
    while at < len(dump):
        length = int.from_bytes(dump[at : at + 2])
        found.append(dump[at : at + length])
        at += length
    return found
