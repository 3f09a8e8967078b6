"""Objects and their devices: a made-up database in which two objects of like I/O count differ twofold, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plexlens.metrics.inputs import Inputs
from plexlens.pools.objects import Io
from plexlens.pools.responses import (
    Timed,
    contrasts,
    responses_of,
    timed_objects,
    timed_responses,
)
from tests.metrics.raw import inputs, row
from tests.metrics.test_data_sets import IO
from tests.metrics.test_db2_data_set import data_set as of_199

#: An I/O of 1 ms: 0.5 connect, 0.2 disconnect, 0.2 pending, 0.1 rest; 96 % of 6,000 reads hit.
FAST = IO | {
    "s42dsr1u": 0.001, "s42dsc1u": 0.0005, "s42dsd1u": 0.0002, "s42dsp1u": 0.0002, "s42dscnd": 9000, "s42dswcn": 3000,
    "s42dswhi": 3000, "s42dsshts": 8760, "s42dst1u": 0.0002,
}  # fmt: skip
#: An I/O of 2 ms: 0.9 ms more of it disconnected, since only 60 % of the reads hit.
SLOW = FAST | {"s42dsr1u": 0.002, "s42dsc1u": 0.0006, "s42dsd1u": 0.0011, "s42dsshts": 6600, "s42dst1u": 0.0016}


def database(*objects: tuple[str, str, dict[str, Any]], **tables: list[dict[str, Any]]) -> Inputs:
    """Data sets (name, volume, I/O) of SMF 42-6."""
    sets, ios = [], []
    for at, (name, volume, io) in enumerate(objects, 1):
        one = row(at) | {"s42dsn": name, "s42dsvol": volume, "s42dssc": "DB2", "s42dstyp": 21, "s42dsfl1": 0}
        sets.append(one | {"s42dsdev": 0x8000})
        ios.append(row(at) | io)
    return inputs(smf42_6_data_set=sets, smf42_6_io=ios, **tables)


def pair(**tables: list[dict[str, Any]]) -> Inputs:
    return database(
        ("DB2P.DSNDBD.PAYDB.PAYTS.I0001.A001", "VOL001", SLOW),
        ("DB2P.DSNDBD.PAYDB.PAYIX.J0001.A001", "VOL002", FAST | {"s42dsion": 9500}),
        ("DB2P.DSNDBD.CUSDB.CUSTTS.I0001.A001", "VOL001", FAST | {"s42dsion": 100}),
        ("PROD.PAYROLL.MASTER", "VOL001", SLOW),
        **tables,
    )


def test_objects_are_found_by_the_names_of_their_data_sets() -> None:
    found = responses_of(pair())
    assert [(one.name, one.catalog, one.volumes) for one in found] == [
        ("PAYDB.PAYTS", "DB2P", ("VOL001",)),
        ("PAYDB.PAYIX", "DB2P", ("VOL002",)),
        ("CUSDB.CUSTTS", "DB2P", ("VOL001",)),
    ]
    # 9,000 x 2 ms.
    assert found[0].get("response_seconds") == pytest.approx(18.0)
    assert found[0].get("response_time") == pytest.approx(0.002)
    assert found[0].get("read_hit_fraction") == pytest.approx(0.6)
    assert found[0].device_response is None


def test_twice_the_delay_is_explained_by_cache_misses() -> None:
    """9,000 and 9,500 I/Os, 2 ms and 1 ms: of the 1.0 ms more 0.9 is disconnect time, read hit ratio 60 and 96 %."""
    (found,) = contrasts(timed_responses(responses_of(pair())))
    assert (found.slow.name, found.fast.name) == ("PAYDB.PAYTS", "PAYDB.PAYIX")
    assert found.ratio == pytest.approx(2.0)
    assert (found.because, found.share) == ("disconnect_time", pytest.approx(0.9))
    assert "9,000 I/Os and 9,500" in found.why
    assert "2.0 times the delay" in found.why
    assert "90% of the difference is disconnect time (1.100 ms against 0.200 ms)" in found.why
    assert "read hit ratio 60.0 % and 96.0 %" in found.why
    assert "miss the cache" in found.why


def test_partitions_and_volumes_of_an_object_add_up() -> None:
    found = responses_of(
        database(
            ("DB2P.DSNDBD.A.T.I0001.A001", "VOL001", FAST | {"s42dsion": 1000}),
            ("DB2P.DSNDBC.A.T.I0001.A002", "VOL002", SLOW | {"s42dsion": 3000}),
            ("DB2Q.DSNDBD.A.T.I0001.A001", "VOL003", FAST | {"s42dsion": 10}),
        )
    )
    assert [(one.name, one.catalog, one.volumes) for one in found] == [
        ("A.T", "DB2P", ("VOL002", "VOL001")),
        ("A.T", "DB2Q", ("VOL003",)),
    ]
    # (1000 x 1 ms + 3000 x 2 ms) / 4000.
    assert found[0].get("response_time") == pytest.approx(0.00175)


def test_volumes_and_db2_stand_beside() -> None:
    device = row(1) | {
        "smf74num": 0x8000, "smf74ser": "VOL001", "smf74ssc": 1000, "smf74mec": 1000, "smf74pen": 0.2, "smf74dis": 1.0,
        "smf74cnn": 0.5, "smf74ios": 0.1, "smf74sub": 0x20, "smf74cnf": 0x01,
    }  # fmt: skip
    (found,) = responses_of(
        database(
            ("DB2A.DSNDBD.PAYDB.PAYTS.I0001.A001", "VOL001", SLOW),
            smf102_ifcid199=[of_199(0, 1), of_199(600, 2)],
            smf102_ifcid105=[
                row(1, subsystem="DB2A", qw0105db=260, qw0105ob=2, qw0105dn="PAYDB", qw0105tn="PAYTS"),
            ],
            smf74_1_device=[device],
            rmf_product_section=[row(1, smf74int=900.0, smf74sam=900)],
        )
    )
    # IOS queue 0.1 ms, and (0.2 + 1.0 + 0.5) s over 1,000 I/Os.
    assert found.device_disconnect == pytest.approx(0.001)
    assert found.device_response == pytest.approx(0.0018)
    assert found.db2_delay == pytest.approx(0.002)


BASE = Timed("A", 1000, 0.001, {"connect_time": 0.0005, "disconnect_time": 0.0002, "pending_time": 0.0002,
             "other_time": 0.0001}, 0.96)  # fmt: skip


@pytest.mark.parametrize(
    ("part", "hits", "told"),
    [
        ("disconnect_time", 0.5, "miss the cache"),
        ("disconnect_time", 0.96, "not because of cache misses"),
        ("disconnect_time", None, "not certain without hit counts"),
        ("pending_time", 0.96, "another system"),
        ("connect_time", 0.96, "more data per I/O"),
        ("other_time", 0.96, "too few aliases"),
    ],
)
def test_each_part_has_its_own_explanation(part: str, hits: float | None, told: str) -> None:
    parts = dict(BASE.parts) | {part: BASE.parts[part] + 0.001}
    (found,) = contrasts([BASE, replace(BASE, name="B", seconds=0.002, parts=parts, read_hits=hits)])
    assert (found.slow.name, found.because, found.share) == ("B", part, pytest.approx(1.0))
    assert told in found.why


@pytest.mark.parametrize(
    ("ios", "seconds", "pairs"),
    [(1000, 0.002, 1), (1100, 0.002, 1), (1120, 0.002, 0), (900, 0.002, 1), (1000, 0.0014, 0), (1000, 0.0015, 1)],
)
def test_what_is_alike_and_what_is_apart(ios: float, seconds: float, pairs: int) -> None:
    """Within 10 % of the larger count, from 1.5 times the delay on."""
    assert len(contrasts([BASE, replace(BASE, name="B", ios=ios, seconds=seconds)])) == pairs


def test_the_published_pair_without_devices() -> None:
    """XGEN048Z and XGEN048B: 701,022 reads of 2 ms against 650,072 of 1 ms; Db2's own times do not say why."""
    ios = [
        Io("BP9", "XGEN048Z", sync_reads=701022, sync_delay=0.002),
        Io("BP9", "XGEN048B", sync_reads=650072, sync_delay=0.001),
        Io("BP9", "XGEN048C", sync_reads=725536),
    ]
    (found,) = contrasts(timed_objects(ios))
    assert (found.slow.name, found.fast.name, found.ratio) == ("BP9 XGEN048Z", "BP9 XGEN048B", 2.0)
    assert found.because == ""
    assert "collect SMF 42-6" in found.why


def test_without_records_there_is_nothing() -> None:
    assert responses_of(inputs()) == []
    assert contrasts([]) == []
    assert contrasts([BASE]) == []
    assert contrasts([BASE, replace(BASE, name="B", seconds=0.0)]) == []
