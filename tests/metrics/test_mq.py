"""MQ statistics metrics against values worked by hand; accounting is beside."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import Cut, evaluate
from tests.metrics.raw import START, inputs, row, rows_of


def qm(record_no: int, section_no: int = 1, **fields: Any) -> dict[str, Any]:
    return row(record_no, section_no, **({"subsystem": "QM01"} | fields))


# --- statistics ------------------------------------------------------------------------------------------------------


def test_queue_manager() -> None:
    raw = inputs(
        smf115_2_qmst=[
            qm(
                1,
                qmstopen=90,
                qmstclos=90,
                qmstget=2700,
                qmstput=900,
                qmstput1=450,
                qmstinq=9,
                qmstspp=100,
                qmstsnp=300,
                qmstpbp=100_000,
                qmstnbp=60_000,
            )
        ],
        smf115_2_qist=[qm(1, qistmget=1800, qistmput=1350, qistgetb=30, qistgetd=10, qistdloc=45)],
        smf115_2_qlst=[qm(1, qlstgetl=9000)],
        smf115_2_qtst=[qm(1, qtstptot_1=8, qtstptot_2=1, qtstptot_3=1, qtstetto=0.02, qtstpnos=2)],
    )
    (found,) = rows_of(evaluate(raw, GRAINS["mq_queue_manager"]))
    # 90 + 90 + 2700 + 900 + 450 + 9 in 900 s.
    assert found["calls_per_second"] == pytest.approx(4239 / 900)
    assert found["gets_per_second"] == pytest.approx(3.0)
    assert found["all_puts_per_second"] == pytest.approx(1.5)
    assert found["gets_per_put"] == pytest.approx(2.0)
    assert found["opens_per_put"] == pytest.approx(0.1)
    assert found["persistent_fraction"] == pytest.approx(0.25)
    assert found["mean_put_length"] == pytest.approx(400)
    assert found["put_bytes_per_second"] == pytest.approx(160_000 / 900)
    assert found["message_gets_per_second"] == pytest.approx(2.0)
    assert found["gets_from_pool_fraction"] == pytest.approx(0.75)
    assert found["lock_gets_per_second"] == pytest.approx(10.0)
    assert found["publish_time"] == pytest.approx(0.002)
    assert found["publications_unsubscribed_fraction"] == pytest.approx(0.2)


def test_queue_manager_without_work_gives_null_ratios() -> None:
    raw = inputs(smf115_2_qmst=[qm(1, qmstopen=0, qmstget=0, qmstput=0, qmstput1=0)])
    (found,) = rows_of(evaluate(raw, GRAINS["mq_queue_manager"]))
    assert found["gets_per_second"] == 0.0
    for name in ("gets_per_put", "opens_per_put", "persistent_fraction", "mean_put_length", "publish_time"):
        assert found[name] is None, name


def test_two_queue_managers_two_systems_two_intervals() -> None:
    raw = inputs(
        smf115_2_qmst=[
            qm(1, qmstget=900, qmstput=900, qmstput1=0),
            qm(2, subsystem="QM02", qmstget=1800, qmstput=0, qmstput1=900),
            qm(3, system="SYS2", qmstget=2700, qmstput=0, qmstput1=0),
            qm(4, interval=1, qmstget=0, qmstput=1800, qmstput1=0),
        ]
    )
    (found,) = rows_of(evaluate(raw, GRAINS["mq_queue_manager"], by=("sysplex",), time="all"))
    # 5,400 gets and 3,600 puts of all; two intervals of 900 s, each counted once. Gets per second of each over the
    # time that it covers: QM01 900 in 1,800 s, QM02 1,800 in 900 s, that of SYS2 2,700 in 900 s: 0.5 + 2 + 3.
    assert found["interval_seconds"] == pytest.approx(1800)
    assert found["gets_per_second"] == pytest.approx(5.5)
    assert found["gets_per_put"] == pytest.approx(1.5)


def test_a_row_of_each_queue_manager_need_not_be_cut_where_another_begins() -> None:
    # QM01 from 08:00 to 08:15, QM02 on another system from 08:05 to 08:20.
    late = {"interval_start": START + timedelta(minutes=5), "interval_end": START + timedelta(minutes=20)}
    raw = inputs(smf115_2_qmst=[qm(1, qmstget=900), qm(2, subsystem="QM02", system="SYS2", qmstget=1800, **late)])

    def rows(by: str, cut: Cut) -> list[tuple[str, int, float]]:
        found = rows_of(evaluate(raw, GRAINS["mq_queue_manager"], by=(by,), cut=cut))
        minutes = [(r[by], (r["time"] - START) // timedelta(minutes=1), r["gets_per_second"]) for r in found]
        return sorted(minutes)

    assert rows("queue_manager", Cut.WITHIN) == [("QM01", 0, 1.0), ("QM02", 5, 2.0)]
    # To be stacked, both have the same times: 08:00, 08:05 and 08:15.
    assert rows("queue_manager", Cut.ALIGNED) == [
        ("QM01", 0, 1.0),
        ("QM01", 5, pytest.approx(1.0)),
        ("QM02", 5, pytest.approx(2.0)),
        ("QM02", 15, pytest.approx(2.0)),
    ]
    # A row of both at once is cut in any case: between 08:05 and 08:15 it is of three gets per second.
    together = [("PLEX", 0, 1.0), ("PLEX", 5, pytest.approx(3.0)), ("PLEX", 15, pytest.approx(2.0))]
    assert rows("sysplex", Cut.WITHIN) == rows("sysplex", Cut.ALIGNED) == together


def test_intervals_shorter_than_a_minute_stay_apart() -> None:
    # Twenty-eight and fifty seconds, both starting within the minute 08:00.
    short = [
        qm(1, qmstget=280, interval_end=START + timedelta(seconds=28)),
        qm(2, qmstget=500, interval_start=START + timedelta(seconds=28), interval_end=START + timedelta(seconds=78)),
    ]
    raw = inputs(smf115_2_qmst=short)
    found = rows_of(evaluate(raw, GRAINS["mq_queue_manager"]))
    assert [r["gets_per_second"] for r in found] == pytest.approx([10.0, 10.0])
    (every,) = rows_of(evaluate(raw, GRAINS["mq_queue_manager"], time="all"))
    assert every["interval_seconds"] == pytest.approx(78)
    assert every["gets_per_second"] == pytest.approx(10.0)


_POOL = {
    "qpstnbuf": 1000,
    "qpstcbsl": 100,
    "qpstcbs": 600,
    "qpstgetp": 9000,
    "qpstgetn": 900,
    "qpstrio": 450,
    "qpststw": 3600,
    "qpsttpw": 1200,
    "qpstwio": 300,
    "qpstimw": 12,
    "qpststl": 900,
    "qpstdwt": 2,
    "qpstdmc": 1,
    "qpstsos": 0,
}


def test_buffer_pool() -> None:
    raw = inputs(smf115_2_qpst=[qm(1, qpstpool=3, qpstflags=0xC0000000, **_POOL)])
    (found,) = rows_of(evaluate(raw, GRAINS["mq_buffer_pool"]))
    assert (found["pool"], found["location"], found["page_class"]) == ("3", "above", "fixed")
    assert found["gets_per_second"] == pytest.approx(11.0)
    assert found["reads_per_second"] == pytest.approx(0.5)
    assert found["hit_fraction"] == pytest.approx(0.95)
    assert found["found_fraction"] == pytest.approx(0.9)
    assert found["available_fraction"] == pytest.approx(0.6)
    assert found["lowest_available_fraction"] == pytest.approx(0.1)
    assert found["pages_per_write"] == pytest.approx(4.0)
    assert found["updates_per_page_written"] == pytest.approx(3.0)
    assert found["sync_write_fraction"] == pytest.approx(0.01)
    assert (found["write_threshold_hits"], found["sync_threshold_hits"], found["no_buffer"]) == (2, 1, 0)
    assert found["pool_bytes"] == 1000 * 4096


def test_buffer_pools_of_a_queue_manager_over_two_intervals() -> None:
    second = _POOL | {"qpstnbuf": 3000, "qpstcbsl": 60, "qpstcbs": 2400, "qpstgetp": 1000, "qpstrio": 550}
    later = _POOL | {"qpstcbsl": 1000, "qpstcbs": 1000, "qpstgetp": 0, "qpstrio": 0}
    raw = inputs(
        smf115_2_qpst=[
            qm(1, 1, qpstpool=0, **_POOL),
            qm(1, 2, qpstpool=1, **second),
            qm(2, 1, interval=1, qpstpool=0, **later),
        ]
    )
    (found,) = rows_of(evaluate(raw, GRAINS["mq_buffer_pool"], by=("queue_manager",), time="all"))
    # Gets 9,000 + 1,000 + 0, reads 450 + 550 + 0.
    assert found["hit_fraction"] == pytest.approx(0.9)
    # Pool 0 has 1,000 buffers in force, pool 1, last told of in the first interval, 3,000.
    assert found["buffers"] == pytest.approx(4000)
    assert found["available_fraction"] == pytest.approx(2000 / 2500)
    assert found["lowest_available_fraction"] == pytest.approx(0.02)


def test_unused_buffer_pool() -> None:
    raw = inputs(smf115_2_qpst=[qm(1, qpstpool=9, **dict.fromkeys(_POOL, 0))])
    (found,) = rows_of(evaluate(raw, GRAINS["mq_buffer_pool"]))
    for name in (
        "hit_fraction",
        "found_fraction",
        "available_fraction",
        "lowest_available_fraction",
        "pages_per_write",
    ):
        assert found[name] is None, name


def test_page_set() -> None:
    raw = inputs(
        smf115_201_qis1=[
            qm(
                1,
                qis1psno=4,
                qis1bpno=3,
                qis1topg=10_000,
                qis1unpg=2_500,
                qis1getn=90,
                qis1getp=360,
                qis1gett=0.18,
                qis1dwpn=9,
                qis1dwpp=144,
                qis1dwpt=0.027,
                qis1imwn=0,
                qis1imwt=0.0,
                qis1expn=1,
            )
        ]
    )
    (found,) = rows_of(evaluate(raw, GRAINS["mq_page_set"]))
    assert (found["page_set"], found["pool"]) == ("4", "3")
    assert found["used_fraction"] == pytest.approx(0.75)
    assert found["reads_per_second"] == pytest.approx(0.1)
    assert found["read_time"] == pytest.approx(0.002)
    assert found["pages_per_read"] == pytest.approx(4.0)
    assert found["deferred_write_time"] == pytest.approx(0.003)
    assert found["pages_per_deferred_write"] == pytest.approx(16.0)
    assert found["immediate_write_time"] is None


_LOG = {
    "qjstwrw": 0,
    "qjstwrnw": 8100,
    "qjstwrf": 900,
    "qjstrbuf": 60,
    "qjstract": 30,
    "qjstrarh": 10,
    "qjsttvc": 1,
    "qjstbffl": 9000,
    "qjstllcp": 3,
    "qjstlogw": 3600,
    "qjstciwr": 27_000,
    "qjstwtb": 9,
    "qjstslptu": 225.0,
    "qjstiocount_1_1": 1350,
    "qjstioci_1_1": 1350,
    "qjstiototio_1_1": 2.7,
    "qjstiototsus_1_1": 4.05,
    "qjstiomaxio_1_1": 0.040,
    "qjstiomaxsus_1_1": 0.080,
    "qjstiocount_1_2": 450,
    "qjstioci_1_2": 12_150,
    "qjstiototio_1_2": 4.5,
    "qjstiototsus_1_2": 4.5,
    "qjstiomaxio_1_2": 0.020,
    "qjstiomaxsus_1_2": 0.020,
    "qjstiocount_2_1": 0,
    "qjstiocount_2_2": 0,
}


def test_log() -> None:
    raw = inputs(smf115_1_qjst=[qm(1, **_LOG)])
    (found,) = rows_of(evaluate(raw, GRAINS["mq_log"]))
    assert found["write_requests_per_second"] == pytest.approx(10.0)
    assert found["log_bytes_per_second"] == pytest.approx(10 * 4096)
    assert found["written_bytes_per_second"] == pytest.approx(30 * 4096)
    assert found["intervals_per_write"] == pytest.approx(7.5)
    assert found["writes_per_interval"] == pytest.approx(3.0)
    assert found["buffer_waits_per_second"] == pytest.approx(0.01)
    assert found["writer_busy_fraction"] == pytest.approx(0.75)
    assert found["reads_per_write_request"] == pytest.approx(100 / 9000)
    assert found["archive_read_fraction"] == pytest.approx(0.1)
    assert found["delayed_read_fraction"] == pytest.approx(0.01)
    assert found["checkpoint_gap"] == pytest.approx(300)
    assert found["compression_ratio"] is None
    assert found["zhyperlink_fraction"] is None


def test_log_writes_by_copy_and_kind() -> None:
    raw = inputs(smf115_1_qjst=[qm(1, **_LOG)])
    found = {(r["log_copy"], r["kind"]): r for r in rows_of(evaluate(raw, GRAINS["mq_log_write"]))}
    assert set(found) == {("1", "single"), ("1", "multiple")}
    assert found["1", "single"]["io_time"] == pytest.approx(0.002)
    assert found["1", "single"]["suspend_time"] == pytest.approx(0.003)
    assert found["1", "multiple"]["io_time"] == pytest.approx(0.010)
    assert found["1", "multiple"]["intervals_per_write"] == pytest.approx(27)
    (both,) = rows_of(evaluate(raw, GRAINS["mq_log_write"], by=("queue_manager", "log_copy")))
    # (2.7 + 4.5)/(1350 + 450).
    assert both["io_time"] == pytest.approx(0.004)
    assert both["longest_io_seconds"] == pytest.approx(0.040)
    assert both["writes_per_second"] == pytest.approx(2.0)


def test_storage_manager() -> None:
    raw = inputs(smf115_1_qsst=[qm(1, qsstgetm=1800, qsstexpf=90, qsstexpv=810, qsstrcnz=9, qsstcrit=1)])
    (found,) = rows_of(evaluate(raw, GRAINS["mq_storage"]))
    assert found["getmains_per_second"] == pytest.approx(2.0)
    assert found["expansions_per_second"] == pytest.approx(1.0)
    assert found["failed_fraction"] == pytest.approx(0.005)
    assert found["critically_short"] == 1


def test_structures_shared_data_sets_and_db2() -> None:
    raw = inputs(
        smf115_2_qest_structure=[
            qm(
                1,
                qeststr="APP1",
                qestcsec=900,
                qestcmec=0,
                qestsstc=0.009,
                qestmstc=0.0,
                qestrsec=90,
                qestrmec=0,
                qestsful=1,
            )
        ],
        smf115_2_qesd=[
            qm(1, qesdstr="APP1", qesdsmbd=400, qesdsmbu=100, qesdbfrr=50, qesdbfrs=40, qesdiowr=10, qesdiowt=0.02)
        ],
        smf115_2_q5st=[
            qm(1, listcnt=90, listtcuw=0.18, listscuw=0.09, listtmxw=0.01, listsmxw=0.005, readcnt=0, readtcuw=0.0)
        ],
    )
    (structure,) = rows_of(evaluate(raw, GRAINS["mq_structure"]))
    assert structure["calls_per_second"] == pytest.approx(1.0)
    assert structure["single_time"] == pytest.approx(10e-6)
    assert structure["multiple_time"] is None
    assert structure["redrive_fraction"] == pytest.approx(0.1)
    (shared,) = rows_of(evaluate(raw, GRAINS["mq_shared_data_set"]))
    assert shared["used_fraction"] == pytest.approx(0.25)
    assert shared["reads_saved_fraction"] == pytest.approx(0.8)
    assert shared["write_time"] == pytest.approx(0.002)
    (request,) = rows_of(evaluate(raw, GRAINS["mq_db2"]))
    assert request["request"] == "list"
    assert request["thread_time"] == pytest.approx(0.002)
    assert request["queue_time"] == pytest.approx(0.001)


def test_queue_statistics() -> None:
    raw = inputs(
        smf115_216_qqst=[
            qm(
                1,
                qqstqnam="Q1",
                qqstpsid=4,
                qqstbpid=-1,
                qqstdpth=10,
                qqstdphi=50,
                qqstputs=1800,
                qqstput1=0,
                qqstputb=180_000,
                qqstpt1b=0,
                qqstgets=900,
                qqstexpr=90,
                qqstfptc=450,
                qqstqtst=0.010,
            ),
            qm(
                2,
                interval=1,
                qqstqnam="Q1",
                qqstpsid=4,
                qqstbpid=-1,
                qqstdpth=30,
                qqstdphi=40,
                qqstputs=0,
                qqstput1=0,
                qqstputb=0,
                qqstpt1b=0,
                qqstgets=300,
                qqstexpr=0,
                qqstfptc=0,
                qqstqtst=0.050,
            ),
        ]
    )
    (found,) = rows_of(evaluate(raw, GRAINS["mq_queue_statistics"], time="all"))
    assert (found["page_set"], found["pool"]) == ("4", None)
    assert found["puts_per_second"] == pytest.approx(1.0)
    assert found["mean_put_length"] == pytest.approx(100)
    assert found["fast_put_fraction"] == pytest.approx(0.25)
    assert found["growth_per_second"] == pytest.approx((1800 - 1200 - 90) / 1800)
    # (900 x 10 ms + 300 x 50 ms)/1,200.
    assert found["time_on_queue"] == pytest.approx(0.020)
    assert found["depth"] == pytest.approx(20)
    assert found["highest_depth"] == 50


# --- channels --------------------------------------------------------------------------------------------------------


def test_channel_initiator_and_tasks() -> None:
    dispatcher = {"qctreqn": 900, "qctcptm": 0.9, "qctelt": 0.0, "qcteltm": 4.5, "qctwttm": 895.5, "qctchln": 2}
    raw = inputs(
        smf115_231_qcct=[
            qm(1, qcctjobn="QM01CHIN", qcctnocc=50, qcctmxcc=200, qcctnoac=20, qcctmxac=200, qcctstab=100, qcctslim=400)
        ],
        smf115_231_qct_dsp=[qm(1, 1, qcttskn=11, **dispatcher), qm(1, 2, qcttskn=12, **(dispatcher | {"qctreqn": 0}))],
        smf115_231_qct_ssl=[qm(1, 1, qcttskn=21, qctreqn=9, qctcptm=0.009, qcteltm=0.09, qctlsdu=0.05)],
    )
    (initiator,) = rows_of(evaluate(raw, GRAINS["mq_channel_initiator"]))
    assert initiator["current_fraction"] == pytest.approx(0.25)
    assert initiator["active_fraction"] == pytest.approx(0.1)
    assert initiator["storage_64_fraction"] == pytest.approx(0.25)
    tasks = {(r["task_type"], r["task"]): r for r in rows_of(evaluate(raw, GRAINS["mq_channel_initiator_task"]))}
    assert set(tasks) == {("dispatcher", "11"), ("dispatcher", "12"), ("SSL", "21")}
    first = tasks["dispatcher", "11"]
    assert first["busy_fraction"] == pytest.approx(0.005)
    assert first["cpu_fraction"] == pytest.approx(0.001)
    assert first["wait_fraction"] == pytest.approx(0.995)
    assert first["requests_per_second"] == pytest.approx(1.0)
    assert first["cpu_time"] == pytest.approx(0.001)
    assert first["elapsed_time"] == pytest.approx(0.005)
    assert first["elapsed_per_cpu"] == pytest.approx(5.0)
    assert tasks["dispatcher", "12"]["cpu_time"] is None
    assert tasks["SSL", "21"]["longest_seconds"] == pytest.approx(0.05)
    every = rows_of(evaluate(raw, GRAINS["mq_channel_initiator_task"], by=("task_type",)))
    (dispatchers,) = (r for r in every if r["task_type"] == "dispatcher")
    # As IBM's summary line: the mean over the tasks; 900 requests took 9.0 s.
    assert dispatchers["busy_fraction"] == pytest.approx(0.005)
    assert dispatchers["elapsed_time"] == pytest.approx(0.010)
    assert dispatchers["channels"] == 4


_CHANNEL = {
    "qcstchnm": "TO.QM02",
    "qcstcnnm": "10.0.0.2",
    "qcstrqmn": "QM02",
    "qcstchty": 1,
    "qcststrt": START - timedelta(hours=3),
    "qcstnmsg": 1800,
    "qcstnpmg": 450,
    "qcstbatc": 90,
    "qcstfuba": 9,
    "qcstnbyt": 1_800_000,
    "qcstbyst": 900_000,
    "qcstbyrc": 90_000,
    "qcstcbsz": 50,
    "qcstcpra": 50,
    "qcstntav": 0.002,
    "qcstntmn": 0.001,
    "qcstntmx": 0.009,
    "qcstetav": 0.0,
    "qcstetmn": 0x8FFFFFFF / 1e6,
    "qcstetmx": 0.0,
}


def test_channel() -> None:
    raw = inputs(smf116_10_qcst=[qm(1, **_CHANNEL)])
    (found,) = rows_of(evaluate(raw, GRAINS["mq_channel"]))
    assert (found["channel"], found["channel_type"], found["partner"]) == ("TO.QM02", "sender", "QM02")
    assert found["messages_per_second"] == pytest.approx(2.0)
    assert found["bytes_per_second"] == pytest.approx(1100)
    assert found["mean_length"] == pytest.approx(1000)
    assert found["persistent_fraction"] == pytest.approx(0.25)
    assert found["messages_per_batch"] == pytest.approx(20)
    assert found["batch_fill"] == pytest.approx(0.4)
    assert found["full_batch_fraction"] == pytest.approx(0.1)
    assert found["net_time"] == pytest.approx(0.002)
    assert found["compression_fraction"] == pytest.approx(0.5)
    # Started before the interval and still running: all of it.
    assert found["run_seconds"] == pytest.approx(900)
    assert found["running_channels"] == pytest.approx(1.0)
    # No exit ran: neither a mean nor a shortest time.
    assert found["exit_time"] is None
    assert found["shortest_exit_seconds"] is None
    assert found["shortest_net_seconds"] == pytest.approx(0.001)


def test_channel_instances_weigh_their_batches() -> None:
    other = _CHANNEL | {
        "qcstbatc": 10,
        "qcstnmsg": 200,
        "qcstntav": 0.012,
        "qcststrt": START + timedelta(seconds=300),
        "qcstludt": START + timedelta(seconds=750),
    }
    raw = inputs(smf116_10_qcst=[qm(1, 1, **_CHANNEL), qm(1, 2, **other)])
    (found,) = rows_of(evaluate(raw, GRAINS["mq_channel"]))
    # (90 x 2 ms + 10 x 12 ms)/100.
    assert found["net_time"] == pytest.approx(0.003)
    assert found["messages_per_batch"] == pytest.approx(20)
    assert found["instances"] == 2
    # The second ran 450 of the 900 seconds.
    assert found["running_channels"] == pytest.approx(1.5)
