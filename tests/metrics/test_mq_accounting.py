"""MQ accounting metrics against values worked by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from tests.metrics.raw import START, inputs, row, rows_of


def qm(record_no: int, section_no: int = 1, **fields: Any) -> dict[str, Any]:
    return row(record_no, section_no, **({"subsystem": "QM01"} | fields))


_WHEN = {"interval_start": None, "interval_end": None}


def ebcdic(text: str) -> bytes:
    return text.encode("cp037")


def accounting_tables(queues: list[dict[str, Any]], **task: Any) -> Any:
    wtas = {
        "wtasints": START,
        "wtasinte": START + timedelta(seconds=10),
        "wtasstrt": START - timedelta(hours=1),
        "wtascmn": 2,
        "wtascmet": 0.006,
        "wtascmct": 0.0002,
        "wtasban": 0,
        "wtasbaet": 0.0,
        "wtasbact": 0.0,
        "wtasotn": 1,
        "wtasotet": 0.001,
        "wtasotct": 0.0001,
        "wtasjcn": 2,
        "wtasjcet": 0.005,
        "wtasjwn": 2,
        "wtasjwet": 0.005,
        "wtasjwb": 8192,
        "wtassuse": 0.0055,
        "wtaslwet_1": 0.0004,
        "wtaslwet_19": 0.0006,
        "wtaslwn_1": 1,
        "wtaslwn_19": 4,
    } | task
    return inputs(
        smf115_qwhs=[
            qm(1, qwhsstck=START + timedelta(seconds=10), **_WHEN),
            qm(2, qwhsstck=START + timedelta(seconds=10), **_WHEN),
        ],
        smf116_1_wtid=[
            qm(
                number,
                wtidatyp=1,
                wtidccn="CICSA",
                wtidopid="USER1",
                wtidchl="",
                wtidchlc="",
                wtidcori=bytes(4) + ebcdic("PAY1") + bytes(4),
                **_WHEN,
            )
            for number in (1, 2)
        ],
        smf116_1_wtas=[qm(1, **wtas, **_WHEN)],
        smf116_1_wq=queues,
    )


#: 90 of 100 gets found a message of 200 bytes, 60 of them destructively after 0.5 s each; 40 puts of 1,000 bytes.
_QUEUE = {
    "basename": "REQUEST",
    "objname": "ALIAS",
    "qtype": 3,
    "qsgdisp": 0,
    "nps": 4,
    "nbuffpool": 3,
    "openn": 1,
    "openet": 0.0002,
    "openct": 0.0001,
    "opensun": 0,
    "opensuet": 0.0,
    "getn": 100,
    "getet": 0.5,
    "getct": 0.002,
    "getsusn": 10,
    "getsuset": 0.3,
    "getpsn": 5,
    "getpset": 0.01,
    "getjcn": 0,
    "getjcet": 0.0,
    "putn": 40,
    "putet": 0.02,
    "putct": 0.0008,
    "putjcn": 20,
    "putjcet": 0.012,
    "putjwn": 20,
    "putjwet": 0.012,
    "put1n": 0,
    "put1et": 0.0,
    "put1ct": 0.0,
    "validput": 40,
    "validget": 90,
    "getdval": 60,
    "geterr": 10,
    "putbytes": 40_000,
    "getbytes": 18_000,
    "putpmsg": 10,
    "put1pmsg": 0,
    "putpwg": 4,
    "put1pwg": 0,
    "totlatnt": 30.0,
    "maxlatnt": 2.0,
    "minlatnt": 0.1,
    "getmaxms": 300,
    "getminms": 100,
    "putmaxms": 1000,
    "putminms": 1000,
    "maxqdpth": 7,
    "getsmsg": 50,
}


def test_queue_as_used() -> None:
    raw = accounting_tables([qm(1, **_QUEUE, **_WHEN)])
    (found,) = rows_of(evaluate(raw, GRAINS["mq_queue"]))
    assert (found["queue"], found["opened_as"], found["queue_type"]) == ("REQUEST", "ALIAS", "alias")
    assert (found["connection"], found["application_type"], found["program"]) == ("CICSA", "CICS", "PAY1")
    assert (found["page_set"], found["pool"]) == ("4", "3")
    assert found["get_elapsed_time"] == pytest.approx(0.005)
    assert found["get_cpu_time"] == pytest.approx(20e-6)
    assert found["put_elapsed_time"] == pytest.approx(0.0005)
    assert found["put_cpu_time"] == pytest.approx(20e-6)
    assert found["put1_elapsed_time"] is None
    assert found["valid_get_fraction"] == pytest.approx(0.9)
    assert found["mean_put_length"] == pytest.approx(1000)
    assert found["mean_get_length"] == pytest.approx(200)
    assert found["persistent_put_fraction"] == pytest.approx(0.25)
    assert found["waiting_getter_fraction"] == pytest.approx(0.1)
    assert found["time_on_queue"] == pytest.approx(0.5)
    assert found["messages_skipped_per_get"] == pytest.approx(0.5)
    # CPU of open, gets and puts: 0.1 + 2.0 + 0.8 ms, over 40 + 90 messages.
    assert found["cpu_per_message"] == pytest.approx(0.0029 / 130)
    assert found["suspend_seconds"] == pytest.approx(0.3)
    assert found["forced_log_seconds"] == pytest.approx(0.012)


def test_queue_of_a_group_lies_in_a_structure() -> None:
    shared = _QUEUE | {"qsgdisp": 2, "cfstrucname": "APP1"}
    (found,) = rows_of(evaluate(accounting_tables([qm(1, **shared, **_WHEN)]), GRAINS["mq_queue"]))
    assert (found["structure"], found["page_set"], found["pool"]) == ("APP1", None, None)


def test_queue_without_messages_has_no_shortest() -> None:
    empty = _QUEUE | {"getdval": 0, "minlatnt": 0.0, "getminms": 0x0FFFFFFF, "putminms": 0x0FFFFFFF, "validget": 0}
    (found,) = rows_of(evaluate(accounting_tables([qm(1, **empty, **_WHEN)]), GRAINS["mq_queue"]))
    for name in (
        "shortest_get_bytes",
        "shortest_put_bytes",
        "shortest_queue_seconds",
        "mean_get_length",
        "time_on_queue",
    ):
        assert found[name] is None, name


def test_calls_by_kind() -> None:
    # The second record continues the first: it has queues, and no task block.
    more = {"basename": "REPLY", "objname": "REPLY", "qtype": 1, "putn": 60, "putet": 0.06, "putct": 0.0012}
    raw = accounting_tables([qm(1, **_QUEUE, **_WHEN), qm(2, **more, **_WHEN)])
    found = {(r["queue"], r["call"]): r for r in rows_of(evaluate(raw, GRAINS["mq_call"], time="all"))}
    assert set(found) == {
        ("REQUEST", "MQOPEN"),
        ("REQUEST", "MQGET"),
        ("REQUEST", "MQPUT"),
        ("REPLY", "MQPUT"),
        (None, "commit"),
        (None, "other"),
    }
    get, put = found["REQUEST", "MQGET"], found["REQUEST", "MQPUT"]
    assert get["elapsed_time"] == pytest.approx(0.005)
    assert get["cpu_fraction"] == pytest.approx(0.004)
    assert get["suspend_time"] == pytest.approx(0.003)
    assert get["page_set_time"] == pytest.approx(0.0001)
    assert get["time_per_page_set_read"] == pytest.approx(0.002)
    assert get["time_per_forced_log_write"] is None
    assert put["forced_log_time"] == pytest.approx(0.0003)
    assert put["time_per_forced_log_write"] == pytest.approx(0.0006)
    assert found[None, "commit"]["elapsed_time"] == pytest.approx(0.003)
    assert found[None, "commit"]["cpu_time"] == pytest.approx(0.0001)
    (every,) = (
        r
        for r in rows_of(evaluate(raw, GRAINS["mq_call"], by=("connection", "call"), time="all"))
        if r["call"] == "MQPUT"
    )
    # (0.02 + 0.06)/(40 + 60).
    assert every["elapsed_time"] == pytest.approx(0.0008)


def test_task_adds_its_queues() -> None:
    more = {"basename": "REPLY", "objname": "REPLY", "qtype": 1, "putn": 60, "putet": 0.06, "putct": 0.0012}
    raw = accounting_tables([qm(1, **_QUEUE, **_WHEN), qm(2, **more, **_WHEN)])
    (found,) = rows_of(evaluate(raw, GRAINS["mq_task"], time="all"))
    # Calls: 2 commits, 1 other, 1 open, 100 gets, 40 puts; 60 puts of the continuation.
    assert found["calls"] == 204
    assert found["cpu_seconds"] == pytest.approx(0.0002 + 0.0001 + 0.0001 + 0.002 + 0.0008 + 0.0012)
    assert found["elapsed_seconds"] == pytest.approx(0.006 + 0.001 + 0.0002 + 0.5 + 0.02 + 0.06)
    assert found["cpu_time"] == pytest.approx(0.0044 / 204)
    assert found["tasks"] == 1
    assert found["task_seconds"] == pytest.approx(10)
    assert found["commit_elapsed_time"] == pytest.approx(0.003)
    assert found["forced_log_time"] == pytest.approx(0.0025)
    assert found["log_length"] == pytest.approx(4096)
    assert found["latch_waits"] == 5
    assert found["latch_time"] == pytest.approx(0.0002)
    assert found["backout_elapsed_time"] is None
    assert found["db2_time"] is None


@pytest.mark.parametrize(
    ("kind", "correlation", "program"),
    [
        (1, bytes(4) + ebcdic("PAY1") + bytes(4), "PAY1"),
        (2, ebcdic("JOB00001    "), "JOB00001"),
        (4, ebcdic("0236PSBNAME "), "PSBNAME"),
        (7, ebcdic("RRSJOB      "), "RRSJOB"),
        (6, ebcdic("            "), None),
        # No name where a byte is not a character.
        (2, bytes((0xD1, 0x00)) + ebcdic("B       ") + bytes(2), None),
    ],
)
def test_program_behind_a_connection(kind: int, correlation: bytes, program: str | None) -> None:
    raw = inputs(
        smf115_qwhs=[qm(1, qwhsstck=START, **_WHEN)],
        smf116_1_wtid=[qm(1, wtidatyp=kind, wtidccn="C", wtidopid="U", wtidcori=correlation, **_WHEN)],
        smf116_1_wtas=[qm(1, wtasints=START, wtasinte=START, wtascmn=1, wtascmet=0.1, wtascmct=0.1, **_WHEN)],
    )
    (found,) = rows_of(evaluate(raw, GRAINS["mq_task"]))
    assert found["program"] == program


def test_class_1_accounting() -> None:
    raw = inputs(
        smf116_0_qmac=[
            qm(1, qmaccput=0.004, qmacputa=60, qmacputb=10, qmacputc=0, qmacputd=0, qmacgeta=30, qmacgetb=0, **_WHEN)
        ],
        smf116_qwhc=[
            qm(1, qwhcatyp=2, qwhccn="BATCH", qwhcopid="USER1", qwhccv=ebcdic("JOBA        "), **_WHEN),
        ],
        smf116_0_qwac=[
            qm(
                1,
                qwacbsc=START,
                qwacesc=START + timedelta(hours=2),
                qwacbjst=1.0,
                qwacejst=1.01,
                qwacbsrb=0.1,
                qwacesrb=0.1,
                qwaccomm=7,
                **_WHEN,
            )
        ],
    )
    (found,) = rows_of(evaluate(raw, GRAINS["mq_thread"]))
    assert (found["connection"], found["application_type"], found["program"]) == ("BATCH", "batch or TSO", "JOBA")
    assert found["cpu_per_message"] == pytest.approx(40e-6)
    assert found["messages_per_thread"] == 100
    assert found["mq_cpu_fraction"] == pytest.approx(0.4)
    assert found["thread_seconds"] == pytest.approx(7200)
    assert found["commits"] == 7
