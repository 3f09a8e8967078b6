"""Accounting numbers that studies print, from records that carry them: a dump made byte by byte, decoded, measured."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.layouts_path import layout_folders
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect
from tests.metrics.raw import inputs, row, rows_of
from tests.oracle import slow_db2_accounting as slow
from tests.oracle.slow_forms import UTC, Row

ACCOUNTING = GRAINS["db2_accounting"]
PERIOD = GRAINS["workload_period"]

BUILT = datetime.datetime(2008, 3, 3, 10, 0, tzinfo=UTC)

#: Study of 2008, case 1-2: milliseconds of a transaction in the accounting report and in the table of results.
CASE_2 = {
    "class1_elapsed_time": 19.216,
    "class1_cp_time": 0.575,
    "class1_se_time": 0.750,
    "secp_time": 0.078,
    "class2_elapsed_time": 17.801,
    "class2_cp_time": 0.536,
    "class2_se_time": 0.701,
    "suspended_time": 16.399,
}
#: Case 1-1 has no accounting report, only the table of results.
CASE_1 = {"class1_elapsed_time": 19.669, "class1_cp_time": 0.75, "class1_se_time": 0.738, "suspended_time": 16.737}


def thread(times: dict[str, float], factor: float, number: int) -> bytes:
    """A thread whose times are ``factor`` times those of the study; it inserts and commits once."""
    seconds = {name: factor * value / 1000 for name, value in times.items()}
    begin = BUILT + datetime.timedelta(seconds=number)
    waits = seconds["suspended_time"]
    qwac: Row = {
        "qwacbsc": begin,
        "qwacesc": begin + datetime.timedelta(seconds=seconds["class1_elapsed_time"]),
        "qwacbjst": 2.5,
        "qwacejst": 2.5 + seconds["class1_cp_time"],
        "qwaccls1_ziip": seconds["class1_se_time"],
        "qwacziip_eligible": seconds.get("secp_time", 0.0),
        "qwacasc": seconds.get("class2_elapsed_time", 0.0),
        "qwacajst": seconds.get("class2_cp_time", 0.0),
        "qwaccls2_ziip": seconds.get("class2_se_time", 0.0),
        "qwaccomm": 1,
        # The study prints no causes: a log write for each commit, the rest other waits.
        "qwacawlg": 0.25 * waits,
        "qwacarlg": 1,
        "qwacawtr": 0.75 * waits,
        "qwacarnr": 1,
    }
    correlation: Row = {
        "qwhcplan": "DISTSERV",
        "qwhccn": "SERVER",
        "qwhcatyp": 8,
        "qwhccv": "insert2",
        "qwhcaid": "TPOX",
    }
    return slow.record(
        101,
        3,
        begin + datetime.timedelta(seconds=1),
        {1: [slow.section(slow.QWAC, qwac)]},
        headers={"qwhc": correlation},
        release=0x91,
        number=number,
    )


def measured(path: Path, *records: bytes) -> dict[str, Any]:
    """The accounting row of a dump of these records."""
    path.write_bytes(b"".join(records))
    connection = connect()
    tables: dict[str, list[pa.RecordBatch]] = {}
    for batch in _core.SmfReader(path, _core.Catalogue(layout_folders()), source_id="s"):
        for name, rows in batch.tables.items():
            tables.setdefault(name, []).append(rows)
    for name, batches in tables.items():
        add_table(connection, name, pa.Table.from_batches(batches))
    (found,) = rows_of(evaluate(Inputs(connection), ACCOUNTING, time="all"))
    return found


def test_case_2_of_the_2008_study(tmp_path: Path) -> None:
    """Three threads that took half, once and one and a half times the average that the report prints."""
    found = measured(tmp_path / "case2.smf", *(thread(CASE_2, factor, n) for n, factor in enumerate((0.5, 1.0, 1.5))))
    assert (found["occurrences"], found["plan"], found["connection_type"]) == (3, "DISTSERV", "DRDA")
    printed = {name: round(1000 * found[name], 3) for name in CASE_2}
    assert printed == CASE_2
    # (.000750 + .000078) / (.000575 + .000750), and .000750 / (.000575 + .000750), in percent as printed.
    assert round(100 * found["ziip_eligible_fraction"], 1) == 62.5
    assert round(100 * found["ziip_share"], 1) == 56.6
    # "DB2 total CPU time (ms) per transaction": a commit after every insert.
    assert round(1000 * found["cpu_per_commit"], 3) == 1.325
    # 17.801 - 0.536 - 0.701 - 16.399
    assert round(1000 * found["not_accounted_time"], 3) == 0.165
    assert found["inconsistent"] == 0


def test_case_1_of_the_2008_study(tmp_path: Path) -> None:
    found = measured(tmp_path / "case1.smf", *(thread(CASE_1, 1.0, number) for number in range(4)))
    assert {name: round(1000 * found[name], 3) for name in CASE_1} == CASE_1
    assert round(1000 * found["cpu_per_commit"], 3) == 1.488
    assert f"{100 * found['ziip_share']:.2f}" == "49.60"


def test_accounting_agrees_with_rmf(tmp_path: Path) -> None:
    """What Db2 counts of its threads and what RMF counts of their service class tell the same of zIIPs.

    RMF prints for case 1-2 service times of 1153.804 s CPU and 651.003 s IIP, and 14.32 % IIPCP beside 132.77 % IIP:
    70.215 s. With 20,000 service units a second (adjustment 800, coefficient 1) those are the units below.
    """
    accounted = measured(tmp_path / "case2.smf", thread(CASE_2, 1.0, 0))
    control = {"r723mscf": 0, "r723mcpu": 1.0, "r723msrb": 1.0, "r723madj": 800, "r723nffi": 1.0, "r723nffs": 1.0}
    period = {
        "r723ccpu": 1153.804 * 20_000,
        "r723csup": 651.003 * 20_000,
        "r723csuc": 651.003 * 14.32 / 132.77 * 20_000,
    }
    service_class = inputs(smf72_3_period=[row(1, r723cper=1, **period)], smf72_3_wlm_control=[row(1, **control)])
    (rmf,) = rows_of(evaluate(service_class, PERIOD))
    # The study prints 56.4 % and 62.5 % from RMF beside 56.6 % and 62.5 % from accounting.
    assert round(100 * rmf["ziip_share"], 1) == 56.4
    assert round(100 * rmf["ziip_eligible_fraction"], 1) == 62.5
    for name in ("ziip_share", "ziip_eligible_fraction", "ziip_overflow_fraction"):
        assert accounted[name] == pytest.approx(rmf[name], abs=0.005), name


def test_io_wait_of_the_2014_study(tmp_path: Path) -> None:
    """A transaction of 0.1 s waits 0.08 s for I/O, 80 %; of another 96 % of the time is waiting."""
    begin = BUILT
    qwac: Row = {
        "qwacbsc": begin,
        "qwacesc": begin + datetime.timedelta(seconds=0.1),
        "qwacasc": 0.1,
        "qwacawti": 0.08,
        "qwacarne": 20,
        "qwacawlg": 0.0,
        "qwacawtj": 0.016,
        "qwacarnj": 2,
    }
    found = measured(tmp_path / "wait.smf", slow.record(101, 3, begin, {1: [slow.section(slow.QWAC, qwac)]}))
    assert round(100 * found["io_wait_fraction"]) == 80
    assert round(100 * found["suspended_fraction"]) == 96
    assert round(1000 * found["database_io_event_time"]) == 4
