"""Samples of service class periods (SMF 99-2): records by hand from the offsets of IBM's schema, values by hand."""

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

SAMPLES = GRAINS["workload_sample"]

#: Where IBM's schema has the samples of a period section.
PLACES = {
    "pidle": 104, "pothr": 108, "pcpuu": 112, "pcpud": 116, "pauxp": 120, "pauxc": 124, "pvio": 128, "phss": 132,
    "phsc": 136, "paswp": 140, "pmpld": 144, "pcapd": 148, "pxmo": 152, "pauxs": 184, "piou": 188, "piod": 192,
    "pbpd": 272, "psupu": 352, "psupd": 356, "psuponcp": 360,
}  # fmt: skip

Delays = tuple[tuple[str, int], ...]


def sample_record(
    at: datetime.datetime,
    name: str,
    *periods: dict[str, int],
    internal: str | None = None,
    delays: Delays = (),
    length: int = 600,
    system: str = "SYS1",
) -> bytes:
    """Triplets to 44, product and data section (24 bytes), the class, its periods, and where the first waits."""
    product = section(32, {0: u16(1), 2: text("03", 2), 4: text("SRM", 8), 12: text("SP7.3.1", 8), 20: text(system, 8)})
    of_class = 44 + len(product) + 24
    first = of_class + 20
    behind = first + length * len(periods)
    body = text("SRM", 4) + u16(2) + u32(16) + struct.pack(">IHH", 44, 32, 1) + struct.pack(">IHH", 76, 24, 1)
    body += product + struct.pack(">IHH", of_class, 20, 1) + struct.pack(">IHH", first, length, len(periods)) + bytes(8)
    body += text(name, 8) + text("RGROUP", 8) + u16(len(periods)) + u16(7)
    for number, samples in enumerate(periods, 1):
        fields = {
            0: text(internal or name, 8), 8: u16(number), 10: u8(3), 12: u32(40), 16: u16(2), 18: u8(240),
            64: u32(150), 68: u32(90), 201: u8(0x40), 232: text("RGROUP", 8), 282: u16(6),
        }  # fmt: skip
        if delays and number == 1:
            fields |= {156: u32(behind), 160: u16(12), 162: u16(len(delays))}
        fields |= {PLACES[sample]: u32(count) for sample, count in samples.items()}
        body += section(600, fields)[:length]
    body += b"".join(text(job, 8) + u32(count) for job, count in delays)
    data = bytearray(written(99, at, body, system=system))
    data[4] = 0x5E  # subtypes are used
    return bytes(data)


def test_a_class_and_its_periods_are_read_as_by_hand(tmp_path: Path) -> None:
    first = {name: 1_000 + number for number, name in enumerate(PLACES)}
    second = {name: 2_000 + number for number, name in enumerate(PLACES)}
    data = sample_record(minutes(1), "ONLINE", first, second, delays=(("DB2A", 12), ("CATALOG", 3)))
    # By hand: the data section is where 36 says, the periods where its second triplet says.
    (at,) = struct.unpack_from(">I", data, 36)
    (begin, length, count) = struct.unpack_from(">IHH", data, at + 8)
    assert (length, count) == (600, 2)
    found = tables(tmp_path, data)
    for number, period in enumerate(found["smf99_2_period"].to_pylist()):
        start = begin + number * length
        assert data[start : start + 6].decode("cp037") == "ONLINE" == period["smf99_pcnm"]
        said = {name: struct.unpack_from(">I", data, start + place)[0] for name, place in PLACES.items()}
        assert {name: period[f"smf99_{name}"] for name in PLACES} == said
        assert (period["smf99_plpi"], period["smf99_pspi"]) == (pytest.approx(1.5), pytest.approx(0.9))
        assert (period["smf99_flags"], period["smf99_num_samp_hist_rows_used"]) == (0x40, 6)
    (of_class,) = found["smf99_2_class"].to_pylist()
    assert (of_class["smf99_cnam"], of_class["smf99_cgrn"], of_class["smf99_cnump"]) == ("ONLINE", "RGROUP", 2)
    waits = [(line["smf99_xmem_jobn"], line["smf99_xmem_samps"]) for line in found["smf99_2_cross_memory"].to_pylist()]
    assert waits == [("DB2A", 12), ("CATALOG", 3)]


def test_shares_of_using_and_delay(tmp_path: Path) -> None:
    dump = [
        sample_record(
            minutes(1), "ONLINE", {"pcpuu": 30, "pcpud": 20, "piou": 10, "piod": 5, "pidle": 900, "pothr": 70}
        ),
        sample_record(
            minutes(2),
            "ONLINE",
            {"pcpuu": 10, "pcpud": 40, "pcapd": 15, "psupu": 20, "psupd": 10, "pauxp": 1, "pauxc": 2, "pauxs": 3,
             "pvio": 4, "phss": 5, "phsc": 6, "paswp": 7, "pmpld": 12, "psuponcp": 99},
        ),
        # The system's own class counts nowhere; a discretionary period has the name of its class.
        sample_record(minutes(3), "$SRMGOOD", {"pcpuu": 500}),
        sample_record(minutes(3), "BATCH", {}, {"pcpuu": 1, "pcpud": 3}, internal="$SRMDI01"),
    ]  # fmt: skip
    found = lines(tmp_path, SAMPLES, *dump, by=("class_name", "period"), time="all")
    by_period = {(line["class_name"], line["period"]): line for line in found}
    assert set(by_period) == {("ONLINE", "1"), ("BATCH", "1"), ("BATCH", "2")}
    one = by_period["ONLINE", "1"]
    # Using 30 + 10 and 10 + 20, delay 20 + 5 and 40 + 15 + 10 + 40 of storage: 200 in all.
    assert one["policy_intervals"] == 2
    assert one["using_fraction"] == pytest.approx(70 / 200)
    assert one["processor_delay_fraction"] == pytest.approx(60 / 200)
    assert one["capping_delay_fraction"] == pytest.approx(15 / 200)
    assert one["ziip_delay_fraction"] == pytest.approx(10 / 200)
    assert one["io_delay_fraction"] == pytest.approx(5 / 200)
    assert one["storage_delay_fraction"] == pytest.approx(40 / 200)
    assert (one["paging_delay"], one["hiperspace_delay"]) == (6, 15)
    assert (one["idle_samples"], one["other_samples"]) == (900, 70)
    assert by_period["BATCH", "2"]["processor_delay_fraction"] == 0.75
    assert by_period["BATCH", "1"]["using_fraction"] is None


def test_a_period_of_an_older_release_has_no_ziip(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, SAMPLES, sample_record(START, "TSO", {"pcpuu": 1, "pcpud": 1}, length=288), time="all")
    assert (found["ziip_using"], found["processor_delay_fraction"]) == (None, 0.5)


def test_quarters_of_local_time_are_placed_by_rmf(tmp_path: Path) -> None:
    one = {"pcpuu": 1}
    dump = [behind_utc(5), *(sample_record(minutes(at) - timedelta(hours=5), "BATCH", one) for at in (0, 14, 15))]
    found = lines(tmp_path, SAMPLES, *dump, by=("class_name",))
    assert [(line["time"], line["policy_intervals"]) for line in found] == [(START, 2), (minutes(15), 1)]
