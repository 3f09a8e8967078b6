"""Service class periods of WLM's policy intervals (SMF 99-6): records by hand from the offsets of IBM's schema."""

from __future__ import annotations

import datetime
import struct
from datetime import timedelta
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import lines, section, tables, text, u8, u16, u32
from tests.metrics.test_smf_recording import behind_utc, minutes, written

DECISIONS = GRAINS["workload_decision"]

Servers = tuple[tuple[str, int], ...]


def period_section(
    name: str, number: int, *, local: int = 100, plex: int = 100, priority: int = 240, servers: tuple[int, int] = (0, 0)
) -> bytes:
    """A service class period of 92 bytes; indexes in hundredths, the place and the number of its servers' sections."""
    fields = {
        0: text(name, 8), 8: u16(number), 10: u8(3), 12: text(name, 8), 20: u32(40), 24: u16(2), 26: u8(priority),
        27: u8(priority - 1), 28: u16(9), 30: u16(10), 32: u32(24), 36: u32(1_000), 44: u32(local), 48: u32(plex),
        52: u32(servers[0]), 56: u16(12 if servers[0] else 0), 58: u16(servers[1]), 60: u32(5_000), 68: u32(700),
        80: u8(0x40),
    }  # fmt: skip
    return section(92, fields)


def decision_record(
    at: datetime.datetime, *periods: tuple[str, int, dict[str, int]], servers: Servers = (), system: str = "SYS1"
) -> bytes:
    """Header and triplets to 44, product section, the data section with its own triplet, periods, then servers."""
    product = section(32, {0: u16(1), 2: text("03", 2), 4: text("SRM", 8), 12: text("SP7.3.1", 8), 20: text(system, 8)})
    first = 44 + len(product) + 8
    behind = first + 92 * len(periods)
    body = text("SRM", 4) + u16(6) + u32(16) + struct.pack(">IHH", 44, 32, 1) + struct.pack(">IHH", 76, 8, 1)
    body += product + struct.pack(">IHH", first, 92, len(periods))
    for place, (name, number, more) in enumerate(periods):
        of = (behind, len(servers)) if servers and place == 0 else (0, 0)
        body += period_section(name, number, servers=of, **more)
    body += b"".join(text(name, 8) + u32(number) for name, number in servers)
    data = bytearray(written(99, at, body, system=system))
    data[4] = 0x5E  # subtypes are used
    return bytes(data)


def test_periods_and_servers_are_found_by_the_triplets_of_the_data_section(tmp_path: Path) -> None:
    data = decision_record(
        minutes(1), ("$SRMS001", 1, {}), ("ONLINE", 2, {"local": 85, "plex": 120}), servers=(("CICS", 1), ("DDF", 2))
    )
    found = tables(tmp_path, data)
    # The same by hand: the data section is where 36 says, the first period where that section says, the next 92 behind.
    at = struct.unpack_from(">I", data, struct.unpack_from(">I", data, 36)[0])[0] + 92
    assert (data[at : at + 8].decode("cp037"), data[at + 26]) == ("ONLINE  ", 240)
    server, online = found["smf99_6_period"].to_pylist()
    assert (server["smf996_eclass_name"], online["smf996_eclass_name"]) == ("$SRMS001", "ONLINE")
    assert struct.unpack_from(">II", data, at + 44) == (85, 120)
    assert (online["smf996_local_pi"], online["smf996_sysplex_pi"]) == (pytest.approx(0.85), pytest.approx(1.2))
    assert (online["smf996_dp"], online["smf996_iodp"], online["smf996_flags"]) == (240, 239, 0x40)
    assert online["smf996_pspt"] == pytest.approx(1.024)
    servers = [tuple(line.values())[-2:] for line in found["smf99_6_server"].to_pylist()]
    assert servers == [("CICS", 1), ("DDF", 2)]
    (product,) = found["smf99_product"].to_pylist()
    assert (product["smf99pnm"], product["smf99slv"], product["smf99snm"]) == ("SRM", "SP7.3.1", "SYS1")


def test_indexes_and_priorities_of_policy_intervals(tmp_path: Path) -> None:
    # Three policy intervals of ten seconds; the system's own period counts nowhere, and an index of zero is none.
    dump = [
        decision_record(minutes(1), ("ONLINE", 1, {"local": 80, "plex": 90, "priority": 245}), ("$SRMGOOD", 1, {})),
        decision_record(minutes(1) + timedelta(seconds=10), ("ONLINE", 1, {"local": 160, "plex": 0, "priority": 247})),
        decision_record(minutes(1) + timedelta(seconds=20), ("ONLINE", 1, {"local": 0, "plex": 110, "priority": 243})),
    ]
    (found,) = lines(tmp_path, DECISIONS, *dump, by=("system", "class_name", "period"), time="all")
    assert (found["class_name"], found["period"], found["policy_intervals"]) == ("ONLINE", "1", 3)
    assert found["local_performance_index"] == pytest.approx((0.8 + 1.6) / 2)
    assert found["sysplex_performance_index"] == pytest.approx((0.9 + 1.1) / 2)
    assert found["highest_local_index"] == pytest.approx(1.6)
    assert found["missed_fraction"] == 0.5
    assert found["dispatching_priority"] == pytest.approx(245)
    assert (found["lowest_priority"], found["highest_priority"]) == (243, 247)
    assert found["io_priority"] == pytest.approx(244)
    assert found["ready_address_spaces"] == 1.5
    assert (found["service_units"], found["ziip_service_units"], found["importance"]) == (15_000, 2_100, 2)


def test_quarters_of_local_time_are_placed_by_rmf(tmp_path: Path) -> None:
    dump = [behind_utc(5), *(decision_record(minutes(at) - timedelta(hours=5), ("BATCH", 1, {})) for at in (0, 14, 15))]
    found = lines(tmp_path, DECISIONS, *dump, by=("class_name",))
    assert [(line["time"], line["policy_intervals"]) for line in found] == [(START, 2), (minutes(15), 1)]
