"""Which class's I/O goes to which volume, which tasks wait for open TCBs, and other waits: worked by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from plexlens.capacity.accounts import Account, Records, RegionUse, Waited, accounts
from plexlens.capacity.measured import added
from plexlens.capacity.open_tcbs import of_region, of_waits_alone
from plexlens.capacity.queues import commits, without_queue
from plexlens.capacity.resources import Device, JobUse, TcbPool
from plexlens.capacity.seen import Queues, Seen
from plexlens.capacity.volumes import VolumeLines

#: In 1,000 s: A has 1,000 I/Os of 2 ms, B 3,000 of 2 ms.
A = Device("000A", 1, 0.002, 1000.0, 2.0, 1.0, 1000.0)
B = Device("000B", 1, 0.006, 3000.0, 6.0, 0.3, 1000.0)


def facts(**values: float) -> dict[str, Any]:
    return added([{"transactions": 100.0, "elapsed_seconds": 10.0} | values])


def account(**values: Any) -> Account:
    return Account("SMF", 1.0, None, None, None, 0.0, **values)


def lines(
    of: Mapping[str, Mapping[str, Account]], classes: Mapping[str, dict[str, Any]], *uses: JobUse, **more: Any
) -> Queues:
    ended = {name: one["transactions"] for name, one in classes.items() if one["transactions"]}
    made = Queues()
    seen = Seen("SYS1", 1000.0, classes, ended, of)
    VolumeLines(made, seen, (A, B), uses, more.get("servers", {})).add(more.get("own_io", set()))
    return made


def shares(made: Queues, device: str) -> dict[str, float]:
    return dict(made.lines[f"volume {device}"].shares)


def test_jobs_of_a_class_are_its_io() -> None:
    """No other record has it: 500 I/Os of 100 transactions, all on A; 1.0 s of service and 0.8 s of waiting."""
    made = lines({}, {"X.1": facts()}, JobUse("JX", "X", "000A", 500.0, 1.0, 0.8))
    (wait,) = made.waits["X.1"]
    assert (wait.requests, wait.seconds, dict(wait.lines)) == (5.0, 0.008, {"volume 000A": 1.0})
    assert made.io_service["X.1"] == pytest.approx(0.010)
    assert (shares(made, "000A"), shares(made, "000B")) == ({"X.1": 0.5}, {})


def test_charged_io_goes_where_the_jobs_have_their_data_sets() -> None:
    """SMF 72-3 has how much, SMF 42-6 where; of Y nothing tells where: a quarter is on A, as of all I/Os."""
    classes = {"X.1": facts(dasd_requests=800.0, dasd_wait_seconds=2.0), "Y.1": facts(dasd_requests=400.0)}
    made = lines({}, classes, JobUse("JX", "X", "000B", 800.0, 1.6, 2.0))
    assert dict(made.waits["X.1"][0].lines) == {"volume 000B": 1.0}
    assert dict(made.waits["Y.1"][0].lines) == {"volume 000A": 0.25, "volume 000B": 0.75}
    assert made.waits["X.1"][0].seconds == pytest.approx(0.02)
    assert shares(made, "000A") == {"Y.1": pytest.approx(100 / 1000)}
    assert shares(made, "000B") == {"X.1": pytest.approx(800 / 3000), "Y.1": pytest.approx(300 / 3000)}


def test_each_db2_has_its_own_data_sets() -> None:
    """DB1A reads 1,000 times for X on A alone, DB2A 600 times for Y on B; prefetch of DB2A, 900 more, is Y's too."""
    of = {
        "SMF 101": {
            "X": account(members={"DB1A": Waited(5.0, 1000.0)}),
            "Y": account(members={"DB2A": Waited(1.5, 600.0)}),
        }
    }
    uses = (JobUse("DB1ADBM1", "STC", "000A", 1000.0, 2.0, 1.0), JobUse("DB2ADBM1", "STC", "000B", 1500.0, 3.0, 0.1))
    made = lines(of, {"X.1": facts(), "Y.1": facts()}, *uses)
    # 10 reads a transaction, 2 ms each: 50 ms less 20 ms of service.
    assert (made.waits["X.1"][0].seconds, made.io_service["X.1"]) == pytest.approx((0.030, 0.020))
    assert dict(made.waits["Y.1"][0].lines) == {"volume 000B": 1.0}
    assert shares(made, "000A") == {"X.1": 1.0}
    assert shares(made, "000B") == {"Y.1": pytest.approx(0.5)}


def test_data_sets_that_are_not_all_that_a_job_uses() -> None:
    """SMF 42-6 has 400 of 1,000 I/Os, on A: the other 60 % are spread alike, a quarter on A."""
    of = {"SMF 101": {"X": account(members={"DB1A": Waited(5.0, 1000.0)})}}
    made = lines(of, {"X.1": facts()}, JobUse("DB1ADBM1", "STC", "000A", 400.0, 0.8, 0.1))
    assert dict(made.waits["X.1"][0].lines) == {
        "volume 000A": pytest.approx(0.4 + 0.6 * 0.25), "volume 000B": pytest.approx(0.6 * 0.75)
    }  # fmt: skip


def test_files_are_those_of_the_regions_that_a_class_runs_in() -> None:
    of = {
        "SMF 110-1": {
            "X": account(waits={"files R1": Waited(1.0, 200.0)}), "Y": account(waits={"files R2": Waited(1.0, 100.0)})
        }
    }  # fmt: skip
    uses = (JobUse("R1", "CICS", "000A", 200.0, 0.4, 0.6), JobUse("R2", "CICS", "000B", 100.0, 0.2, 0.8))
    made = lines(of, {"X.1": facts(), "Y.1": facts()}, *uses, servers={"X": {"CICS"}, "Y": {"CICS"}})
    assert shares(made, "000A") == {"X.1": pytest.approx(0.2)}
    assert shares(made, "000B") == {"Y.1": pytest.approx(100 / 3000)}
    # 2 I/Os a transaction of 2 ms; it waited 10 ms for both.
    assert made.waits["X.1"][0].seconds == pytest.approx(0.006)


def test_io_of_work_without_transactions_grows_with_that_work() -> None:
    classes = {"X.1": facts(), "BATCH.1": added([{"transactions": 0.0, "cp_seconds": 5.0}])}
    made = lines({}, classes, JobUse("JOB1", "BATCH", "000A", 250.0, 0.5, 0.1))
    assert shares(made, "000A") == {"BATCH.1": 0.25}
    assert not made.waits


def test_open_tcbs_by_their_limit() -> None:
    """100 tasks have one for 8 s of 1,000 in all; three of them: 0.27 % busy. They waited 0.5 s."""
    use = RegionUse(1.0, 0.0, {}, {}, Waited(0.0, 0.0), 100.0, {"X": 8.0}, Waited(0.5, 300.0))
    seen = Seen("SYS1", 10.0, {"X.1": facts()}, {"X.1": 100.0}, {})
    line = of_region("AOR1", use, TcbPool("AOR1", 3, 3.0, 100.0, 0.5, 40.0, 10.0), seen)
    assert line is not None
    assert (line.text, line.servers) == ("open TCBs AOR1", 3)
    assert (line.busy, line.service) == pytest.approx((0.8 / 3, 0.08))
    assert dict(line.shares) == {"X.1": 1.0}
    # Without waits, and far from the limit, it is no queue.
    idle = RegionUse(1.0, 0.0, {}, {}, Waited(0.0, 0.0), 100.0, {"X": 8.0}, Waited(0.0, 300.0))
    assert of_region("AOR1", idle, TcbPool("AOR1", 1032, 3.0, 100.0, 0.0, 0.0, 10.0), seen) is None


def test_open_tcbs_of_which_only_the_waits_are_known() -> None:
    """One TCB, 50 tasks a second that wait 10 ms: b^2 / (50 (1 - b)) = 0.010 has the root b = 0.5."""
    made = Queues()
    seen = Seen("SYS1", 1000.0, {"X.1": facts(transactions=50_000.0)}, {"X.1": 50_000.0}, {})
    of_waits_alone(made, TcbPool("AOR1", 1, 1.0, 50_000.0, 500.0, 20_000.0, 1000.0), seen, {"X.1"})
    line = made.lines["open TCBs AOR1"]
    assert line.busy == pytest.approx(0.5)
    assert line.wait(1.0) == pytest.approx(0.010)
    assert line.wait(1.5) == pytest.approx(0.010 * 0.75 / 0.25)
    assert made.waits["X.1"][0].seconds == pytest.approx(0.010)


def test_waits_that_no_queue_explains() -> None:
    """Latches, 2 s of 100 transactions, and service tasks of Db2 that write no page, 1 s: each is a wait of its own."""
    waits = {kind: Waited(0.0, 0.0) for kind in ("I/O", "log", "locks", "contention", "coupling")}
    db2 = account(waits=waits | {"commit": Waited(1.0, 0.0)}, unqueued={"Db2 latches": Waited(2.0, 0.0)})
    made = Queues()
    seen = Seen("SYS1", 1000.0, {"X.1": facts()}, {"X.1": 100.0}, {"SMF 101": {"X": db2}})
    without_queue(made, seen)
    commits(made, seen, {}, {})
    assert [(one.kind, dict(one.lines), one.seconds) for one in made.waits["X.1"]] == [
        ("Db2 latches", {}, 0.02), ("service tasks of Db2", {}, 0.01)
    ]  # fmt: skip


def test_accounting_names_waits_without_a_queue() -> None:
    """Class 3 of two records of a class: page latches and claims are waits of their own, 0 is none, I/O has a queue."""
    row = {"system": "SYS1", "service_class": "X", "subsystem": "DB1A", "qwacejst": 1.0}
    rows = (
        row | {"qwacawtp": 2.0, "qwacawlh": 0.0, "qwacawti": 4.0, "qwacarne": 8.0},
        row | {"qwacawtp": 1.0, "qwaxawcl": 0.5, "qwaxocse": 0.25, "qwaxdsse": 0.5},
    )
    of_class = accounts(Records(accounting=rows))["SMF 101"]["SYS1", "X"]
    assert {kind: waited.seconds for kind, waited in of_class.unqueued.items()} == {
        "page latches": 3.0, "claims": 0.5, "service tasks of Db2": 0.75
    }  # fmt: skip
    assert of_class.waits["I/O"] == Waited(4.0, 8.0)


def test_contention_is_of_all_l_locks_and_page_p_locks_are_a_wait_of_their_own() -> None:
    """Class 3: parent, child and other L-locks wait 1, 2 and 4 s, page P-locks 8 s, page set P-locks 16 s."""
    row = {
        "system": "SYS1", "service_class": "X", "subsystem": "DB1A", "qwacejst": 1.0,
        "qwacawtj": 1.0, "qwacawtk": 2.0, "qwacawtm": 4.0, "qwacarnj": 1.0, "qwacarnk": 5.0, "qwacarnm": 10.0,
        "qwacawto": 8.0, "qwacarno": 20.0, "qwacawtn": 16.0,
    }  # fmt: skip
    of_class = accounts(Records(accounting=(row,)))["SMF 101"]["SYS1", "X"]
    assert of_class.waits["contention"] == Waited(7.0, 16.0)
    assert of_class.waits["page P-locks"] == Waited(8.0, 20.0)
    assert {kind: waited.seconds for kind, waited in of_class.unqueued.items()} == {
        "global contention: page set P-locks": 16.0
    }  # fmt: skip


def test_monitoring_names_waits_without_a_queue() -> None:
    """SMF 110-1: waits at MXT are not waits for the QR TCB, though DSPDELAY contains them."""
    row = {
        "system": "SYS1", "service_class": "X", "subsystem": "AOR1", "usrcput_seconds": 1.0, "qrdispt_count": 9.0,
        "dspdelay_seconds": 3.0, "mxtdelay_seconds": 2.0, "maxotdly_seconds": 0.5, "db2reqct": 6.0,
        "tsiowtt_seconds": 0.25, "tsshwait_seconds": 0.5,
    }  # fmt: skip
    of_class = accounts(Records(monitoring=(row,)))["SMF 110-1"]["SYS1", "X"]
    assert {kind: waited.seconds for kind, waited in of_class.unqueued.items()} == {
        "MXT": 2.0, "temporary storage": 0.75
    }  # fmt: skip
    assert of_class.waits["QR TCB AOR1"] == Waited(1.0, 9.0)
    assert of_class.waits["open TCBs AOR1"] == Waited(0.5, 6.0)
