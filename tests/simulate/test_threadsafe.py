"""A threadsafe program in SMF 110-1 and 110-2: what it does on its open TCB, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import rolled_up
from plexlens.simulate import simulate_to_smf
from plexlens.simulate.scenario import parse_scenario
from tests.simulate.conftest import read_back

# Four parts of 5 ms around three calls of 1 ms and a commit of 20 us. Two I/Os in each part: while it waits for them no
# TCB works. Twelve tasks per minute, eight engines: nobody waits for an engine.
SCENARIO = """
[run]
seed = 3
warm_up = 2.0
seconds = 600.0
interval = 60.0
[[cec]]
name = "C1"
engines = 8
[[system]]
name = "SYS1"
cec = "C1"
[[data_set]]
name = "STOCK.KSDS"
volumes = [0]
[[db2]]
group = "DBP0"
member = [{{name = "DBP1", system = "SYS1"}}]
pool = [{{number = 1, size = 500}}]
page_set = [{{name = "ITEMS", pool = 1, pages = 50000}}]
path = {{commit_us = 20.0}}
[[region]]
name = "AOR1"
system = "SYS1"
db2 = "DBP0"
[[class]]
name = "SALE"
rate = 0.2
regions = ["AOR1"]
cpu = 0.020
db2_cpu = 0.003
calls = 3
threadsafe = {threadsafe}
files = [{{data_set = "STOCK.KSDS", ios = 8.0}}]
"""


@pytest.mark.parametrize(("threadsafe", "on_qr", "on_l8"), [("true", 0.005, 0.01802), ("false", 0.020, 0.00302)])
def test_each_tcb_has_what_ran_on_it(tmp_path: Path, threadsafe: str, on_qr: float, on_l8: float) -> None:
    run, _ = simulate_to_smf(
        parse_scenario(SCENARIO.format(threadsafe=threadsafe)), tmp_path / "s.smf", transactions=True
    )
    inputs = read_back(tmp_path / "s.smf", tmp_path / "pdb")
    (task,) = rolled_up(inputs, GRAINS["cics_transaction"], by=("transaction",), time="all")
    count = task["transactions"]
    assert count > 80
    for name, by_hand in {
        "qr_cpu_seconds": on_qr,
        "qr_dispatch_seconds": on_qr,
        "key8_cpu_seconds": on_l8,
        "l8_cpu_seconds": on_l8,
        "key8_dispatch_seconds": on_l8,
        "cpu_seconds": 0.02302,
        "dispatch_seconds": 0.02302,
        "db2_seconds": 0.00302,
    }.items():
        assert task[name] / count == pytest.approx(by_hand, abs=2e-6), name
    # Eight reads of 0.3 ms, or of 1 ms if the cache does not have the record.
    assert 0.0024 < (task["response_seconds"] - task["dispatch_seconds"]) / count < 0.008
    modes = {row["mode"]: row for row in rolled_up(inputs, GRAINS["cics_tcb"], by=("mode",), time="all")}
    # Of all tasks: a few have begun before or end after the ten minutes.
    ended = sum(region["ended"] for one in run.results["intervals"] for region in one["regions"])
    for mode, by_hand in (("QR", on_qr), ("L8", on_l8)):
        for name in ("dispatch_seconds", "cpu_seconds"):
            assert modes[mode][name] == pytest.approx(ended * by_hand, abs=2 * by_hand), (mode, name)


def test_no_tcb_works_longer_than_it_is_dispatched(tmp_path: Path) -> None:
    """Record by record, as written: DSGACT is at most DSGTDT, in intervals shorter than the program's parts."""
    text = SCENARIO.format(threadsafe="true").replace("interval = 60.0", "interval = 1.0")
    text = text.replace("seconds = 600.0", "seconds = 120.0").replace("cpu = 0.020", "cpu = 8.0")
    simulate_to_smf(parse_scenario(text.replace("db2_cpu = 0.003", "db2_cpu = 3.0")), tmp_path / "s.smf")
    inputs = read_back(tmp_path / "s.smf", tmp_path / "pdb")
    found = inputs.connection.sql(
        "select dsgtcbnm, dsgtdt, dsgact from smf110_2_dispatcher_tcb_mode where dsgtcbnm in ('QR', 'L8')"
    ).fetchall()
    assert len(found) == 240
    assert sum(cpu for _, _, cpu in found) > 60
    assert [row for row in found if row[2] > row[1]] == []
