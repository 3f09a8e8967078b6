"""Metrics of real MQ dumps against numbers worked by hand from the slow decode of tests/oracle.

Numbers that stand in the tests were read from the slow decode and divided by hand; where a dump has many rows, plain
Python arithmetic on the rows of the slow decode takes the place of the hand.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens.ingest import smf
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect
from tests.oracle import slow_mq
from tests.oracle.slow_forms import Row


def read(path: Path) -> Inputs:
    """A dump as the performance database would hold it."""
    batches: dict[str, list[pa.RecordBatch]] = {}
    for table, batch in smf.read(path, source_id=path.name, codepage="037"):
        batches.setdefault(table, []).append(batch)
    connection = connect()
    for table, parts in batches.items():
        add_table(connection, table, pa.Table.from_batches(parts))
    return Inputs(connection)


@pytest.fixture(scope="module")
def statistics(shared_data: Path) -> Inputs:
    return read(shared_data / "mq" / "TEST115.dat")


@pytest.fixture(scope="module")
def accounting(shared_data: Path) -> Inputs:
    return read(shared_data / "mq" / "TEST116.dat")


@pytest.fixture(scope="module")
def channels(shared_data: Path) -> Inputs:
    return read(shared_data / "mq" / "TESTCHL.dat")


@pytest.fixture(scope="module")
def slow_channels(shared_data: Path) -> dict[str, list[Row]]:
    return slow_mq.tables(shared_data / "mq" / "TESTCHL.dat")


def computed(raw: Inputs, grain: str, **how: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = evaluate(raw, GRAINS[grain], **how).rows()
    return rows


def seconds(row: Row) -> float:
    start, end = row["interval_start"], row["interval_end"]
    assert isinstance(start, datetime)
    assert isinstance(end, datetime)
    return (end - start) / timedelta(seconds=1)


# --- TEST115: one queue manager, one interval of 1792.884543 s -------------------------------------------------------


def test_queue_manager(statistics: Inputs, shared_data: Path) -> None:
    (slow,) = slow_mq.tables(shared_data / "mq" / "TEST115.dat")["smf115_2_qmst"]
    assert seconds(slow) == pytest.approx(1792.884543)
    assert (slow["qmstget"], slow["qmstput"], slow["qmstput1"], slow["qmstopen"]) == (1185931, 474421, 147, 124746)
    (found,) = computed(statistics, "mq_queue_manager")
    assert (found["system"], found["queue_manager"]) == ("H019", "MQPC")
    # 1185931 / 1792.884543; 474568 / 1792.884543; 1185931 / 474568.
    assert found["gets_per_second"] == pytest.approx(661.46535)
    assert found["all_puts_per_second"] == pytest.approx(264.69524)
    assert found["gets_per_put"] == pytest.approx(2.4989696)
    # A record of that release has no lengths: not zero, unknown.
    assert found["mean_put_length"] is None


def test_buffer_pools(statistics: Inputs, shared_data: Path) -> None:
    slow = slow_mq.tables(shared_data / "mq" / "TEST115.dat")["smf115_2_qpst"]
    found = {row["pool"]: row for row in computed(statistics, "mq_buffer_pool")}
    assert len(found) == len(slow) == 7
    # Pool 1: of 100000 buffers never fewer than 42308 were free; 1771124 + 328513 gets, no read; 111053 pages in 6993
    # writes; 1736279 updates.
    first = found["1"]
    assert first["lowest_available_fraction"] == pytest.approx(0.42308)
    assert first["gets_per_second"] == pytest.approx(2099637 / 1792.884543)
    assert first["hit_fraction"] == 1.0
    assert first["pages_per_write"] == pytest.approx(15.880595)
    assert first["updates_per_page_written"] == pytest.approx(15.634688)
    assert first["pool_bytes"] == 100000 * 4096
    for pool in slow:
        mine = found[str(pool["qpstpool"])]
        gets = pool["qpstgetp"] + pool["qpstgetn"]
        expected = None if gets == 0 else 1 - pool["qpstrio"] / gets
        assert mine["hit_fraction"] == expected, pool["qpstpool"]


def test_log(statistics: Inputs) -> None:
    (found,) = computed(statistics, "mq_log")
    # 66641 control intervals of 4096 bytes; idle 1626.63343 of 1792.884543 s; 11 checkpoints.
    assert found["log_bytes_per_second"] == pytest.approx(66641 * 4096 / 1792.884543)
    assert found["writer_busy_fraction"] == pytest.approx(0.0927283)
    assert found["checkpoint_gap"] == pytest.approx(162.9895)
    # 297392 intervals in 254680 writes.
    assert found["intervals_per_write"] == pytest.approx(1.1677085)


def test_log_writes(statistics: Inputs) -> None:
    found = {(r["log_copy"], r["kind"]): r for r in computed(statistics, "mq_log_write")}
    # Two copies, writes of one and of many control intervals. 127.583654 s / 119883; 10.567464 s / 7457.
    assert set(found) == {(copy, kind) for copy in "12" for kind in ("single", "multiple")}
    assert found["1", "single"]["io_time"] == pytest.approx(0.00106423, rel=1e-5)
    assert found["2", "multiple"]["io_time"] == pytest.approx(0.00141712, rel=1e-5)
    assert found["2", "multiple"]["intervals_per_write"] == pytest.approx(28813 / 7457)
    # The writes of the four rows are the writes that the log counts as a whole: 2 x (119883 + 7457).
    assert sum(row["writes"] for row in found.values()) == 254680
    assert computed(statistics, "mq_log")[0]["write_ios"] == 254680


def test_structures(statistics: Inputs) -> None:
    found = {row["structure"]: row for row in computed(statistics, "mq_structure")}
    # 1.0289154 s / 7059 calls = 145.8 microseconds; 9926 calls / 1792.884543 s.
    assert found["NONPERSIST1"]["single_time"] == pytest.approx(1.457594e-4, rel=1e-5)
    assert found["NONPERSIST1"]["calls_per_second"] == pytest.approx(5.536330)
    # Six multiple calls, no single one.
    assert found["PERSIST1"]["single_time"] is None


# --- TEST116: one IMS transaction ------------------------------------------------------------------------------------


def test_task(accounting: Inputs) -> None:
    (found,) = computed(accounting, "mq_task")
    assert (found["queue_manager"], found["application_type"], found["program"]) == (
        "MQPC",
        "IMS dependent region",
        "BC1UDOC",
    )
    assert found["calls"] == 9
    # One commit of 1.2184 ms.
    assert found["commit_elapsed_time"] == pytest.approx(0.0012184, abs=1e-7)
    assert found["commits"] == 1


def test_queues_of_a_task(accounting: Inputs) -> None:
    found = {row["opened_as"]: row for row in computed(accounting, "mq_queue")}
    # Two alias queues, each with one message to the cluster's transmission queue: 354 and 713 bytes.
    assert {name: row["mean_put_length"] for name, row in found.items()} == {
        "ENT.LGR.AUDITTLG.OUTPUT": 354.0,
        "ENT.LGR.FBE.OUTPUT": 713.0,
    }
    together = computed(accounting, "mq_queue", by=("queue",), time="all")
    assert [(row["queue"], row["mean_put_length"]) for row in together] == [("SYSTEM.CLUSTER.TRANSMIT.QUEUE", 533.5)]


def test_calls_of_a_task(accounting: Inputs, shared_data: Path) -> None:
    """Elapsed time of the calls to queues and beside queues is that of the task."""
    calls = computed(accounting, "mq_call", by=("queue_manager",), time="all")
    tasks = computed(accounting, "mq_task", by=("queue_manager",), time="all")
    assert calls[0]["calls"] == tasks[0]["calls"] == 9
    assert calls[0]["elapsed_seconds"] == pytest.approx(tasks[0]["elapsed_seconds"])
    slow = slow_mq.tables(shared_data / "mq" / "TEST116.dat")
    (task,) = slow["smf116_1_wtas"]
    elapsed = task["wtascmet"] + task["wtaspret"] + task["wtasotet"]
    elapsed += sum(q["openet"] + q["closeet"] + q["putet"] for q in slow["smf116_1_wq"])
    assert tasks[0]["elapsed_seconds"] == pytest.approx(elapsed)


# --- TESTCHL: a channel initiator and its client channels, sixteen intervals -----------------------------------------


def test_statistics_are_those_of_the_interval(channels: Inputs, slow_channels: dict[str, list[Row]]) -> None:
    """Rolled up, rates are sums over the sum of the intervals; had the counts run on, none could be lower."""
    slow = sorted(slow_channels["smf115_2_qmst"], key=lambda row: row["interval_start"])
    (found,) = computed(channels, "mq_queue_manager", by=("queue_manager",), time="all")
    assert found["intervals"] == len(slow) == 16
    assert found["interval_seconds"] == pytest.approx(sum(map(seconds, slow)))
    assert found["gets"] == sum(row["qmstget"] for row in slow) == 344
    assert found["gets_per_second"] == pytest.approx(344 / 956.302187)
    gets = [row["qmstget"] for row in slow]
    assert any(later < earlier for earlier, later in pairwise(gets))


def test_channel_initiator_tasks(channels: Inputs, slow_channels: dict[str, list[Row]]) -> None:
    found = {r["task_type"]: r for r in computed(channels, "mq_channel_initiator_task", by=("task_type",), time="all")}
    assert set(found) == {"dispatcher", "adapter", "DNS"}
    for kind, table, tasks in (("dispatcher", "dsp", 5), ("adapter", "adp", 8), ("DNS", "dns", 1)):
        slow = slow_channels[f"smf115_231_qct_{table}"]
        mine = found[kind]
        requests = sum(row["qctreqn"] for row in slow)
        busy = sum(row["qcteltm"] for row in slow)
        # Tasks of a kind, sixteen intervals each; a task's seconds are its interval.
        assert len(slow) == 16 * tasks
        assert mine["requests"] == requests, kind
        assert mine["busy_fraction"] == pytest.approx(busy / sum(map(seconds, slow))), kind
        if requests == 0:
            assert mine["elapsed_time"] is None, kind
            continue
        assert mine["elapsed_time"] == pytest.approx(busy / requests), kind
        assert mine["cpu_time"] == pytest.approx(sum(row["qctcptm"] for row in slow) / requests), kind


def test_channel(channels: Inputs, slow_channels: dict[str, list[Row]]) -> None:
    slow = [row for row in slow_channels["smf116_10_qcst"] if row["qcstchnm"] == "ELKINSC.TEST.SVRCONN"]
    rolled = computed(channels, "mq_channel", by=("channel",), time="all")
    (found,) = [row for row in rolled if row["channel"] == "ELKINSC.TEST.SVRCONN"]
    lengths = {row["interval_start"]: seconds(row) for row in slow}
    moved = sum(row["qcstbyst"] + row["qcstbyrc"] for row in slow)
    assert found["channel_type"] == "server connection"
    assert found["messages"] == sum(row["qcstnmsg"] for row in slow)
    assert found["bytes_per_second"] == pytest.approx(moved / sum(lengths.values()))
    # A client channel has neither batches nor network time, and no exit ran: nothing measured is not zero.
    assert found["messages_per_batch"] is None
    assert found["net_time"] is None
    assert found["exit_time"] is None
    assert found["shortest_exit_seconds"] is None


def test_a_channel_counts_from_the_start_of_the_interval(channels: Inputs) -> None:
    """One instance, started at 22:07:35.84, has 102 calls in its first interval and 3 in the next."""
    started = datetime.fromisoformat("2016-02-27T22:07:35+00:00")
    table = channels.connection.table("smf116_10_qcst").to_arrow_table().to_pylist()
    instance = [
        (row["interval_end"], row["qcstnmsg"])
        for row in table
        if row["qcststrt"] is not None and abs(row["qcststrt"] - started) < timedelta(seconds=1)
    ]
    assert [calls for _, calls in sorted(instance)] == [102, 3]


def test_time_on_queue(channels: Inputs, slow_channels: dict[str, list[Row]]) -> None:
    slow = [row for row in slow_channels["smf116_1_wq"] if row["basename"] == "ELKINSC.CLIENT.TEST"]
    # The first client that got messages: 1352.2311104 s for 100 of them.
    assert next((row["totlatnt"], row["getdval"]) for row in slow if row["getn"]) == (pytest.approx(1352.2311104), 100)
    (found,) = computed(channels, "mq_queue", by=("queue",), time="all", where="queue = 'ELKINSC.CLIENT.TEST'")
    got = sum(row["getdval"] for row in slow)
    assert found["time_on_queue"] == pytest.approx(sum(row["totlatnt"] for row in slow) / got)
    assert found["get_elapsed_time"] == pytest.approx(
        sum(row["getet"] for row in slow) / sum(row["getn"] for row in slow)
    )
    assert found["longest_queue_seconds"] == pytest.approx(max(row["maxlatnt"] for row in slow))
