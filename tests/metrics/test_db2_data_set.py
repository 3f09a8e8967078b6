"""Db2 data set metrics against values worked by hand, and against the objects of the 2014 study."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate, facts
from tests.ingest.test_text_db2_display import DETAILED
from tests.metrics.raw import START, inputs, row, rows_of
from tests.metrics.text import inputs_of

DATA_SET = GRAINS["db2_data_set"]


def at(seconds: float, record_no: int, section_no: int = 1, **fields: Any) -> dict[str, Any]:
    """A raw row of Db2 DB2A whose record was written so many seconds after the start."""
    common = {"subsystem": "DB2A", "interval_start": None, "interval_end": START + timedelta(seconds=seconds)}
    return row(record_no, section_no, **(common | fields))


def data_set(seconds: float, record_no: int, section_no: int = 1, **fields: Any) -> dict[str, Any]:
    held = {
        "qw0199db": 260,
        "qw0199ob": 2,
        "qw0199bp": 2,
        "qw0199dn": 1,
        "qw0199ty": "T",
        "qw0199sr": 1000,
        "qw0199sa": 0.002,
        "qw0199sm": 0.5,
        "qw0199ar": 100,
        "qw0199ap": 3200,
        "qw0199aa": 0.004,
        "qw0199am": 0.1,
        "qw0199vc": 5000,
        "qw0199vd": 40,
    }
    return at(seconds, record_no, section_no, **(held | fields))


def test_an_interval_reaches_to_the_record_before() -> None:
    """Records of 10:00, 10:10 and 10:15; those of one interval are written within moments of each other."""
    tables = inputs(
        smf102_ifcid199=[
            data_set(0, 1),
            data_set(600, 2),
            data_set(600.2, 3, qw0199ob=3, qw0199sr=3000, qw0199sa=0.001),
            data_set(900, 4),
        ],
    )
    found = {(r["time"], r["page_set"]): r for r in rows_of(evaluate(tables, DATA_SET))}
    minutes = {key: r["interval_seconds"] / 60 for key, r in found.items()}
    # The first is taken to cover as much as the second: from 9:50.
    assert minutes == {
        (START - timedelta(minutes=10), "2"): 10,
        (START, "2"): 10,
        (START, "3"): 10,
        (START + timedelta(minutes=10), "2"): 5,
    }
    assert found[START, "3"]["sync_ios_per_second"] == pytest.approx(5.0)
    assert found[START + timedelta(minutes=10), "2"]["sync_ios_per_second"] == pytest.approx(1000 / 300)


def test_a_single_record_tells_no_rate() -> None:
    (found,) = rows_of(evaluate(inputs(smf102_ifcid199=[data_set(0, 1)]), DATA_SET))
    assert found["sync_ios"] == 1000
    assert found["sync_delay"] == pytest.approx(0.002)
    assert (found["sync_ios_per_second"], found["sync_delay_per_day"]) == (None, None)


def test_values_of_an_interval() -> None:
    tables = inputs(smf102_ifcid199=[data_set(0, 1, qw0199ob=3), data_set(600, 2)])
    (found,) = rows_of(evaluate(tables, DATA_SET, where="page_set = '2'"))
    expected = {
        "sync_ios_per_second": 1000 / 600,
        "async_ios_per_second": 100 / 600,
        "ios_per_second": 1100 / 600,
        "sync_delay": 0.002,
        "async_delay": 0.004,
        "pages_per_async_io": 32,
        "sync_delay_seconds": 2.0,
        "sync_delay_longest_seconds": 0.5,
        "sync_delay_per_day": 2.0 * 86400 / 600,
        "pages_cached": 5000,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert (found["pool"], found["kind"]) == ("BP2", "table space")


def test_averages_are_weighted() -> None:
    tables = inputs(
        smf102_ifcid199=[
            data_set(0, 1, qw0199ob=3),
            data_set(600, 2, 1, qw0199sr=1000, qw0199sa=0.001, qw0199sm=0.2),
            data_set(600, 2, 2, qw0199dn=2, qw0199sr=3000, qw0199sa=0.005, qw0199sm=0.9),
        ]
    )
    (found,) = rows_of(evaluate(tables, DATA_SET, by=["page_set"], where="page_set = '2'"))
    assert found["sync_delay"] == pytest.approx(0.004)  # (1 + 15) s / 4000
    assert found["sync_delay_longest_seconds"] == 0.9
    assert found["sync_ios_per_second"] == pytest.approx(4000 / 600)


def test_names_come_from_the_last_record_that_tells_them() -> None:
    named = {"qw0105db": 260, "qw0105ob": 2, "qw0105dn": "OLDDB", "qw0105tn": "OLDTS"}
    opened = {"qw0107db": 260, "qw0107ob": 2, "qw0107dn": "PAYDB", "qw0107tn": "PAYTS"}
    tables = inputs(
        smf102_ifcid199=[data_set(600, 3), data_set(600, 3, 2, qw0199ob=9)],
        smf102_ifcid105=[at(0, 1, **named)],
        smf102_ifcid107=[at(10, 2, **opened)],
    )
    found = {(r["database"], r["page_set"]) for r in rows_of(evaluate(tables, DATA_SET))}
    assert found == {("PAYDB", "PAYTS"), ("260", "9")}


def test_names_of_another_db2_are_not_used() -> None:
    tables = inputs(
        smf102_ifcid199=[data_set(600, 3)],
        smf102_ifcid105=[at(0, 1, subsystem="DB2B", qw0105db=260, qw0105ob=2, qw0105dn="X", qw0105tn="Y")],
    )
    (found,) = rows_of(evaluate(tables, DATA_SET))
    assert (found["database"], found["page_set"]) == ("260", "2")


#: Objects of the 2014 study: synchronous reads, milliseconds of one, and what it prints for them in 00:44:16:
#: I/O rate a second, elapsed seconds of I/O, and these over 24 hours.
STUDY = {
    "XGEN048Z": (701022, 2, 263.94, 1402.044, 45608.66),
    "XGEN048B": (650072, 1, None, 650.072, 21146.92),
    "XGEN076B": (606420, 2, None, 1212.84, 39453.831),
    "XGEN076D": (538562, 1, None, 538.562, 17519.487),
}


def test_objects_of_the_2014_study() -> None:
    elapsed = 44 * 60 + 16
    objects = [
        data_set(elapsed, 2, number, qw0199ob=number, qw0199sr=reads, qw0199sa=delay / 1000, qw0199ar=0)
        for number, (reads, delay, *_) in enumerate(STUDY.values(), 1)
    ]
    tables = inputs(
        smf102_ifcid199=[data_set(0, 1, qw0199ob=99), *objects],
        smf102_ifcid105=[
            at(0, 3, number, qw0105db=260, qw0105ob=number, qw0105dn="DESSTST", qw0105tn=name)
            for number, name in enumerate(STUDY, 1)
        ],
    )
    found = {r["page_set"]: r for r in rows_of(evaluate(tables, DATA_SET))}
    for name, (_, _, rate, seconds, day) in STUDY.items():
        assert round(found[name]["sync_delay_seconds"], 3) == seconds, name
        assert found[name]["sync_delay_per_day"] == pytest.approx(day, abs=0.005), name
        if rate is not None:
            assert round(found[name]["ios_per_second"], 2) == rate, name


def test_data_sets_that_a_display_prints(tmp_path: Path) -> None:
    """Counts and delays of -DISPLAY BUFFERPOOL LSTATS; when the display was is not printed, so there are no rates."""
    with inputs_of(tmp_path, DETAILED) as tables:
        space, index = sorted(
            facts(tables, DATA_SET).select(*(fact.name for fact in DATA_SET.facts), "page_set", "pool", "kind").rows(),
            key=lambda entry: entry["page_set"],
        )
        (rolled,) = [r for r in evaluate(tables, DATA_SET, time="all").rows() if r["page_set"] == "DSN8S13E"]
    assert (space["pool"], space["kind"], index["kind"]) == ("BP2", "table space", "index space")
    assert (space["sync_ios"], space["async_ios"], space["async_pages"]) == (400, 30, 960)
    assert space["sync_delay_seconds"] == pytest.approx(400 * 0.002)
    assert space["async_delay_seconds"] == pytest.approx(30 * 0.004)
    assert (space["pages_cached"], space["pages_changed"]) == (120, 13)
    assert (index["sync_ios"], index["async_ios"], index["sync_delay_longest_seconds"]) == (51, None, 0.019)
    assert rolled["sync_delay"] == pytest.approx(0.002)
    assert rolled["pages_per_async_io"] == 32
    assert rolled["ios_per_second"] is None
