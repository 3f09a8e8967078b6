"""EXCPs of non-VSAM data sets (SMF 14, 15): records by hand, counts worked out by hand and by a plain loop."""

from __future__ import annotations

import datetime
import random
import struct
from datetime import timedelta
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.ingest.test_smf_data_set_use import day, device, hundredths, use_record
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import lines, section, text, u16
from tests.metrics.test_smf_recording import behind_utc, loss_record, minutes, written

USE = GRAINS["dasd_data_set_use"]

BY = ("job", "dd", "data_set")


def step_end(at: datetime.datetime, read_in: datetime.datetime, *, job: str = "JOB1") -> bytes:
    """SMF 30-4 with its identification section alone: job, and when the reader recognized it."""
    identification = section(76, {0: text(job, 8), 40: u16(1), 64: hundredths(read_in), 68: day(read_in)})
    triplets = bytes(8) + struct.pack(">IHH", 104, len(identification), 1)
    body = text("JES2", 4) + u16(4) + triplets + bytes(104 - 24 - len(triplets)) + identification
    data = bytearray(written(30, at, body))
    data[4] = 0x5E  # subtypes are used
    return bytes(data)


def test_counts_of_a_step_are_taken_since_the_close_before(tmp_path: Path) -> None:
    # Closed three times in a step, as 14, 15 and 14: the device counts 100, 250 and 260. Another DD has its own count.
    dump = [
        loss_record(minutes(0)),
        use_record(14, device(1, "VOL001", 100), at=minutes(2), read_in=minutes(1), opened=minutes(1)),
        use_record(15, device(1, "VOL001", 250), at=minutes(3), read_in=minutes(1), opened=minutes(2.5)),
        use_record(14, device(1, "VOL001", 260), at=minutes(4), read_in=minutes(1), opened=minutes(3.5)),
        use_record(14, device(1, "VOL001", 70), at=minutes(4), read_in=minutes(1), dd="SYSUT2"),
    ]
    found = {line["dd"]: line for line in lines(tmp_path, USE, *dump, by=BY, time="all")}
    assert (found["SYSUT1"]["excps"], found["SYSUT2"]["excps"]) == (100 + 150 + 10, 70)
    assert (found["SYSUT1"]["records"], found["SYSUT1"]["open_seconds"]) == (3, 60 + 30 + 30)
    assert found["SYSUT1"]["excps_per_close"] == pytest.approx(260 / 3)
    assert (found["SYSUT1"]["most_tracks"], found["SYSUT1"]["most_extents"]) == (150, 3)
    assert (found["SYSUT1"]["block_bytes"], found["SYSUT1"]["uncertain_excps"]) == (27_920, None)
    ways = lines(tmp_path, USE, *dump, by=("access",), time="all")
    assert {line["access"]: line["excps"] for line in ways} == {"read": 100 + 10 + 70, "written": 150}


def test_a_new_step_counts_from_zero(tmp_path: Path) -> None:
    # 100 in the first step; 40 in the second, which is less; 90 in the third, of which SMF 30-4 alone tells.
    closes = [
        use_record(14, device(1, "VOL001", excps), at=minutes(at), read_in=minutes(1))
        for at, excps in ((2, 100), (4, 40), (6, 90))
    ]
    (found,) = lines(tmp_path, USE, loss_record(minutes(0)), *closes, by=BY, time="all")
    assert found["excps"] == 100 + 40 + 50
    ends = [step_end(minutes(at), minutes(1)) for at in (2, 4)]
    (found,) = lines(tmp_path, USE, loss_record(minutes(0)), *closes, *ends, by=BY, time="all")
    assert found["excps"] == 100 + 40 + 90
    others = [step_end(minutes(4), minutes(0.5)), step_end(minutes(4), minutes(1), job="JOB2")]
    (found,) = lines(tmp_path, USE, loss_record(minutes(0)), *closes, *others, by=BY, time="all")
    assert found["excps"] == 100 + 40 + 50


def test_what_may_be_from_before_the_data_is_apart(tmp_path: Path) -> None:
    # The job began an hour before the first record of its system, which has 900 EXCPs: of these nothing is known.
    closes = [use_record(14, device(1, "VOL001", excps), at=minutes(at)) for at, excps in ((2, 900), (3, 950), (9, 20))]
    (found,) = lines(tmp_path, USE, *closes, by=BY, time="all")
    assert (found["excps"], found["uncertain_excps"]) == (50 + 20, 900)
    assert (found["records"], found["counted_records"], found["excps_per_close"]) == (3, 2, 35)
    # The step before ended in the data: the next one of the same job is known whole.
    later = [step_end(minutes(1), minutes(-60)), *closes[:2]]
    (found,) = lines(tmp_path, USE, *later, by=BY, time="all")
    assert (found["excps"], found["uncertain_excps"]) == (950, None)


def test_devices_count_apart_and_a_close_once(tmp_path: Path) -> None:
    dump = [
        loss_record(minutes(0)),
        use_record(15, device(1, "VOL001", 10), device(2, "VOL002", 30), at=minutes(2), read_in=minutes(1)),
        use_record(15, device(2, "VOL002", 35), device(1, "VOL001", 16), at=minutes(3), read_in=minutes(1)),
        use_record(15, at=minutes(4), read_in=minutes(1), data_set="NO.DEVICE", dcb=12),
    ]
    volumes = {
        (line["data_set"], line["volume"]): line["excps"]
        for line in lines(tmp_path, USE, *dump, by=("data_set", "volume"), time="all")
    }
    assert volumes == {("PROD.MASTER", "VOL001"): 16, ("PROD.MASTER", "VOL002"): 35, ("NO.DEVICE", "VOL001"): None}
    (whole,) = lines(tmp_path, USE, *dump, by=(), time="all")
    assert (whole["records"], whole["counted_records"], whole["excps"]) == (3, 2, 51)


def test_quarters_of_local_time_are_placed_by_rmf(tmp_path: Path) -> None:
    dump = [behind_utc(5)]
    for at in (0, 14, 15):
        local = minutes(at) - timedelta(hours=5)
        dump.append(use_record(14, device(1, "VOL001", 10), at=local, read_in=local, dd=f"DD{at}"))
    found = lines(tmp_path, USE, *dump, by=())
    assert [(line["time"], line["records"]) for line in found] == [(START, 2), (minutes(15), 1)]


def test_random_closes_against_a_plain_loop(tmp_path: Path) -> None:
    """Steps of jobs that close their DDs at random, with SMF 30-4: what the loop counted is what the grain says."""
    dice = random.Random(14)
    dump, wanted = [loss_record(minutes(0))], {}
    for number in range(12):
        job, read_in, at = f"JOB{number}", minutes(number / 10), 2.0
        for _ in range(dice.randint(1, 3)):
            counts = dict.fromkeys(("IN", "OUT"), 0)
            for _ in range(dice.randint(1, 5)):
                dd, at = dice.choice(("IN", "OUT")), at + dice.randint(1, 200) / 100
                new = dice.choice((0, dice.randint(1, 500)))
                counts[dd] += new
                wanted[job, dd] = wanted.get((job, dd), 0) + new
                kind = 14 if dd == "IN" else 15
                one = device(1, "VOL001", counts[dd])
                dump.append(use_record(kind, one, at=minutes(at), job=job, read_in=read_in, dd=dd))
            dump.append(step_end(minutes(at), read_in, job=job))
    dice.shuffle(dump)
    found = lines(tmp_path, USE, *dump, by=("job", "dd"), time="all")
    assert {(line["job"], line["dd"]): line["excps"] for line in found} == wanted
