"""Metrics of address spaces, steps and jobs against values worked by hand."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate, facts
from plexlens.metrics.inputs import Inputs
from tests.metrics.raw import START, inputs, row, rows_of

ADDRESS_SPACE, STEP, JOB = GRAINS["address_space"], GRAINS["job_step"], GRAINS["job"]

#: Local time is two hours ahead of UTC: 10:00 where START is 08:00.
OFFSET = 7200.0
DAY = date(2026, 3, 2)
MIDNIGHT = datetime(2026, 3, 2)

#: 90 s TCB, of it 10 in independent and 5 in dependent enclaves, 4 in preemptable SRBs, 6 eligible for a zIIP; 9 s SRB;
#: 0.5 + 0.1 initiator, 0.2 I/O interrupts, 0.1 region control, 0.1 hiperspace: 100 s. 30 s on a zIIP that is 1.5 times
#: as fast as a general processor.
CPU = {
    "smf30tfl": 0x8000,
    "smf30tf2": 0,
    "smf30t32": 0,
    "smf30t33": 0,
    "smf30cpt": 90.0,
    "smf30cps": 9.0,
    "smf30icu": 0.5,
    "smf30isb": 0.1,
    "smf30iip": 0.2,
    "smf30rct": 0.1,
    "smf30hpt": 0.1,
    "smf30asr": 4.0,
    "smf30enc": 10.0,
    "smf30det": 5.0,
    "smf30_time_on_ziip": 30.0,
    "smf30_time_ziip_on_cp": 6.0,
    "smf30_highest_task_cpu_percent": 70,
}
IO = {
    "smf30tex": 18000,
    "smf30tep": 18000,
    "smf30dcf": 0,
    "smf30tcn": 5.0,
    "smf30ais": 9000,
    "smf30aic": 1.8,
    "smf30aid": 0.9,
    "smf30aiw": 0.45,
}
STORAGE = {"smf30sfl": 0, "smf30pgi": 1800, "smf30eur": 2**25, "smf30hvh": 2**30, "smf30mem": 2**31}
PERFORMANCE = {
    "smf30scn": "STCHI",
    "smf30rcn": "RSTC",
    "smf30wlm": "STC",
    "smf30snf": 1.5,
    "smf30pf2": 0,
    "smf30srv_l": 5_000_000,
    "smf30trs": 1,
}


def record(
    record_no: int,
    subtype: int,
    *,
    job: str = "CICSA1",
    job_id: str = "STC00042",
    start: float = 0,
    seconds: float = 900,
    asid: int = 0x2A,
    cpu: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, dict[str, Any]]:
    """The sections of one record, by table; ``start`` in seconds after START, ``more`` by the field's name."""
    begin = START + timedelta(seconds=start)
    ends = begin + timedelta(seconds=seconds)
    local = (begin - START).total_seconds() + 10 * 3600
    interval = subtype in {2, 3}
    shared = row(record_no) | {
        "interval_start": begin if interval else None,
        "interval_end": ends if interval or subtype == 6 else None,
        "utc_offset": None,
        "sysplex": None,
    }
    tables = {
        "smf30_processor_accounting": CPU | {"smf30ist": local, "smf30idt": DAY} | (cpu or {}),
        "smf30_identification": {
            "smf30jbn": job,
            "smf30jnm": job_id,
            "smf30pgm": "DFHSIP",
            "smf30stm": "CICS",
            "smf30psn": "",
            "smf30stn": 1,
            "smf30asi": asid,
            "smf30cl8": "",
            "smf30cls": "A",
            "smf30rud": "CICSUSR",
            "smf30sit": local,
            "smf30std": DAY,
            "smf30rst": 3600.0,
            "smf30rsd": DAY,
            "smf30ast": local + 2,
            "smf30pps": local + 5,
        },
        "smf30_subsystem": {"smf30typ": subtype, "smf30syp": "PLEX"},
        "smf30_io_activity": dict(IO),
        "smf30_storage": dict(STORAGE),
        "smf30_performance": PERFORMANCE | {"smf30jqt": 1.0, "smf30rqt": 0.0, "smf30hqt": 2.0, "smf30sqt": 30.0},
        "smf30_completion": {"smf30scc": 0, "smf30sti": 0, "smf30arc": 0},
        "smf_record": {
            "record_type": 30,
            "subtype": subtype,
            "ssid": "STC",
            "written_at": MIDNIGHT + timedelta(seconds=local + seconds),
        },
    }
    for field, value in more.items():
        (holder,) = [fields for fields in tables.values() if field in fields]
        holder[field] = value
    return {name: shared | fields for name, fields in tables.items()}


def raw(*records: dict[str, dict[str, Any]]) -> Inputs:
    names = dict.fromkeys(name for one in records for name in one)
    return inputs(**{name: [one[name] for one in records if name in one] for name in names})


def test_an_interval_of_an_address_space() -> None:
    (found,) = rows_of(evaluate(raw(record(1, 2)), ADDRESS_SPACE))
    assert (found["job"], found["job_id"], found["asid"], found["program"]) == ("CICSA1", "STC00042", "002A", "DFHSIP")
    assert (found["work_type"], found["service_class"], found["sysplex"]) == ("STC", "STCHI", "PLEX")
    assert found["cp_seconds"] == pytest.approx(100.0)
    # 30 s on the zIIP count as 45.
    assert found["ziip_seconds"] == pytest.approx(45.0)
    assert found["cpu_seconds"] == pytest.approx(145.0)
    # (45 + 6)/145 and 6/(45 + 6).
    assert found["ziip_eligible_fraction"] == pytest.approx(51 / 145)
    assert found["ziip_overflow_fraction"] == pytest.approx(6 / 51)
    assert found["srb_fraction"] == pytest.approx(0.09)
    assert found["enclave_fraction"] == pytest.approx(0.15)
    assert found["cp_processors"] == pytest.approx(100 / 900)
    assert found["ziip_processors"] == pytest.approx(30 / 900)
    assert found["excp_rate"] == pytest.approx(20.0)
    assert found["dasd_io_rate"] == pytest.approx(10.0)
    # 1.8, 0.9 and 0.45 s over 9,000 I/Os.
    assert found["dasd_connect_time"] == pytest.approx(0.0002)
    assert found["dasd_disconnect_time"] == pytest.approx(0.0001)
    assert found["dasd_pending_time"] == pytest.approx(0.00005)
    assert found["dasd_response_time"] == pytest.approx(0.00035)
    assert found["page_in_rate"] == pytest.approx(2.0)
    assert found["memory_limit_fraction"] == pytest.approx(0.5)
    assert found["highest_task_fraction"] == pytest.approx(0.7)
    assert found["incomplete"] == 0


def test_intervals_and_address_spaces_add_up() -> None:
    tables = raw(
        record(1, 2),
        record(2, 2, start=900, cpu={"smf30cpt": 180.0}),
        record(3, 2, job="CICSA2", job_id="STC00043", asid=0x2B, cpu={"smf30cpt": 0.0, "smf30cps": 0.0}),
    )
    found = {r["job"]: r for r in rows_of(evaluate(tables, ADDRESS_SPACE, by=("job",), time="all"))}
    # 100 + 190 s in half an hour.
    assert found["CICSA1"]["cp_seconds"] == pytest.approx(290.0)
    assert found["CICSA1"]["cp_processors"] == pytest.approx(290 / 1800)
    (system,) = rows_of(evaluate(tables, ADDRESS_SPACE, by=("system",), time="all"))
    # 290 + 1 s in half an hour; two address spaces in one of the intervals, one in the other.
    assert system["cp_seconds"] == pytest.approx(291.0)
    assert system["cp_processors"] == pytest.approx(291 / 1800)
    assert system["address_spaces"] == pytest.approx(1.5)


def test_parts_of_an_interval_stand_in_it() -> None:
    """A region through two intervals, one of them closed 20 s late, and a step from 3 to 18 minutes past the first."""
    tables = raw(
        record(1, 2, seconds=920),
        record(2, 2, start=920, seconds=880),
        record(3, 2, job="BATCH1", job_id="JOB00001", start=180, seconds=720, cpu={"smf30cpt": 40.0}),
        record(4, 3, job="BATCH1", job_id="JOB00001", start=900, seconds=180, cpu={"smf30cpt": 10.0}),
        record(5, 2, job="TSOUSER", job_id="TSU00001", seconds=900),
        record(6, 2, job="TSOUSER", job_id="TSU00001", start=900),
    )
    found = rows_of(facts(tables, ADDRESS_SPACE))
    quarter = timedelta(minutes=15)
    spans = {(r["interval_start"] - START, r["interval_end"] - START) for r in found}
    assert spans == {(timedelta(0), quarter), (quarter, 2 * quarter)}
    assert sorted((r["job"], r["address_space_seconds"]) for r in found if r["job"] != "TSOUSER") == [
        ("BATCH1", 180),
        ("BATCH1", 720),
        ("CICSA1", 880),
        ("CICSA1", 920),
    ]
    by = {(r["job"], r["time"] - START): r for r in rows_of(evaluate(tables, ADDRESS_SPACE, by=("job",)))}
    # 40 + 10 s of TCB and other time, over the whole quarter of an hour.
    assert by["BATCH1", timedelta(0)]["cp_processors"] == pytest.approx(50 / 900)
    assert by["BATCH1", quarter]["cp_processors"] == pytest.approx(20 / 900)
    assert by["BATCH1", quarter]["address_spaces"] == pytest.approx(0.2)


def test_a_system_without_whole_intervals_keeps_those_of_its_records() -> None:
    (found,) = rows_of(facts(raw(record(1, 3, seconds=130)), ADDRESS_SPACE))
    assert (found["interval_start"], found["interval_end"]) == (START, START + timedelta(seconds=130))
    assert found["interval_seconds"] == 130


def test_times_marked_as_invalid_are_not_used() -> None:
    # Flags count only where the first bit says so.
    unused = record(1, 2, cpu={"smf30tfl": 0x2000})
    wrong = record(2, 2, start=900, cpu={"smf30tfl": 0x8000 | 0x2000, "smf30t32": 0x80})
    first, second = sorted(rows_of(facts(raw(unused, wrong), ADDRESS_SPACE)), key=lambda r: r["interval_start"])
    assert first["srb_seconds"] == 9.0
    assert second["srb_seconds"] is None
    assert second["ziip_engine_seconds"] is None and second["ziip_seconds"] is None
    assert second["ziip_on_cp_seconds"] == 6.0


def test_excps_of_four_bytes_only_where_they_are_valid() -> None:
    old = record(1, 2, smf30tex=None)
    wrapped = record(2, 2, start=900, smf30tex=None, smf30dcf=0x20000000)
    incomplete = record(3, 2, start=1800, smf30dcf=0x40000000)
    found = sorted(rows_of(facts(raw(old, wrapped, incomplete), ADDRESS_SPACE)), key=lambda r: r["interval_start"])
    assert [r["excps"] for r in found] == [18000, None, 18000]
    assert [r["incomplete"] for r in found] == [0, 0, 1]


def test_no_memory_limit_is_no_number() -> None:
    (found,) = rows_of(evaluate(raw(record(1, 2, smf30mem=float(0xFFFFFFFF000 * 2**20))), ADDRESS_SPACE))
    assert found["memory_limit_bytes"] is None and found["memory_limit_fraction"] is None


def test_a_normalization_factor_of_zero_is_none() -> None:
    (found,) = rows_of(evaluate(raw(record(1, 2, smf30snf=0.0)), ADDRESS_SPACE))
    assert found["ziip_seconds"] == found["ziip_engine_seconds"] == 30.0


def test_system_address_spaces_are_differences() -> None:
    """100, 160, 220 s since the start; then a new start that has used 7 s."""
    used = [90.0, 150.0, 210.0, 2.0]
    tables = raw(
        *(
            record(n, 6, job="GRS", job_id="", asid=7, start=900 * n, cpu={"smf30cpt": tcb}, smf30tex=1000 * tcb)
            for n, tcb in enumerate(used, 1)
        ),
        # Another address space of that name keeps its own count.
        record(9, 6, job="GRS", job_id="", asid=8, start=900, cpu={"smf30cpt": 1.0}),
    )
    found = sorted(rows_of(facts(tables, ADDRESS_SPACE)), key=lambda r: r["interval_start"])
    assert [r["tcb_seconds"] for r in found] == [60.0, 60.0, 2.0]
    assert [r["excps"] for r in found] == [60000, 60000, 2000]
    # High-water marks are not counts.
    assert {r["user_above_bytes"] for r in found} == {2**25}
    starts = [START + timedelta(seconds=900 * n) for n in (2, 3, 4)]
    assert [r["interval_start"] for r in found] == starts
    assert [r["address_space_seconds"] for r in found] == [900.0] * 3


def test_a_step() -> None:
    # The interval record shows that local time is UTC and two hours.
    tables = raw(record(1, 2), record(2, 4, seconds=400, smf30scc=8, smf30psn="GO"))
    (found,) = rows_of(facts(tables, STEP))
    assert (found["step_number"], found["step"], found["procedure_step"]) == ("1", "CICS", "GO")
    assert found["interval_start"] == START
    assert found["interval_end"] == START + timedelta(seconds=400)
    assert found["utc_offset"] == OFFSET
    assert found["elapsed_seconds"] == pytest.approx(400.0)
    assert found["allocation_seconds"] == pytest.approx(3.0)
    assert (found["completion"], found["job_class"]) == ("RC 0008", "A")
    (rates,) = rows_of(evaluate(tables, STEP))
    assert rates["cp_fraction"] == pytest.approx(100 / 400)
    # 1.8 + 0.9 + 0.45 s of I/O.
    assert rates["dasd_fraction"] == pytest.approx(3.15 / 400)
    assert rates["abend_fraction"] == 0


def test_without_an_interval_record_times_stay_local() -> None:
    (found,) = rows_of(facts(raw(record(1, 4)), STEP))
    assert found["utc_offset"] is None
    assert found["interval_start"] == datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


def test_a_program_that_starts_after_midnight() -> None:
    (found,) = rows_of(facts(raw(record(1, 4, smf30ast=86399.0, smf30pps=3.0)), STEP))
    assert found["allocation_seconds"] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("code", "flags", "text", "counts"),
    [
        (0, 0, "RC 0000", (0, 0, 0)),
        (0x0FFF, 0, "RC 4095", (0, 0, 0)),
        (0x00C4, 0x0200, "S0C4", (1, 0, 0)),
        (0x0B37, 0x0200, "SB37", (1, 0, 0)),
        (0x8064, 0x0200, "U0100", (1, 0, 0)),
        (0x8FFF, 0x0204, "U4095", (1, 0, 0)),
        (0, 0x0004, "abend in an earlier step", (1, 0, 0)),
        (0, 0x0100, "flushed", (0, 1, 0)),
        (0, 0x1000, "cancelled", (0, 0, 1)),
        # EXCP counts may be wrong: nothing of an end.
        (4, 0x0080, "RC 0004", (0, 0, 0)),
    ],
)
def test_how_it_ended(code: int, flags: int, text: str, counts: tuple[int, int, int]) -> None:
    (found,) = rows_of(facts(raw(record(1, 4, smf30scc=code, smf30sti=flags)), STEP))
    assert found["completion"] == text
    assert (found["abends"], found["flushed"], found["cancelled"]) == counts


def test_a_job_counts_once() -> None:
    """Two intervals and two steps of a job that ended, and one interval of a job that runs on."""
    tables = raw(
        record(1, 2, job="BATCH1", job_id="JOB00001"),
        record(2, 3, job="BATCH1", job_id="JOB00001", start=900, seconds=100),
        record(3, 4, job="BATCH1", job_id="JOB00001", seconds=600),
        record(4, 4, job="BATCH1", job_id="JOB00001", start=600, seconds=400),
        record(5, 5, job="BATCH1", job_id="JOB00001", seconds=1000, cpu={"smf30cpt": 190.0}),
        record(6, 2),
        record(7, 2, start=900),
        # The same name and number, read in at another time, is another job.
        record(8, 2, job="BATCH1", job_id="JOB00001", smf30rst=7200.0),
    )
    found = rows_of(facts(tables, JOB))
    by = {(r["job"], r["counted_from"]): r for r in found}
    assert len(found) == 3
    ended = by["BATCH1", "job end"]
    assert ended["tcb_seconds"] == 190.0
    assert ended["elapsed_seconds"] == pytest.approx(1000.0)
    assert (ended["ended"], ended["completion"]) == (1, "RC 0000")
    assert ended["queue_seconds"] == 30.0
    going = by["CICSA1", "intervals"]
    assert going["tcb_seconds"] == 180.0
    assert going["elapsed_seconds"] == pytest.approx(1800.0)
    assert (going["interval_start"], going["interval_end"]) == (START, START + timedelta(seconds=1800))
    # The wait is repeated in each interval and counts once; high-water marks are not added.
    assert going["queue_seconds"] == 30.0
    assert going["user_above_bytes"] == 2**25
    assert (going["ended"], going["completion"], going["abends"]) == (0, None, None)
    assert by["BATCH1", "intervals"]["tcb_seconds"] == 90.0


def test_jobs_rolled_up_by_service_class() -> None:
    tables = raw(
        record(1, 5, job="BATCH1", job_id="JOB00001"),
        record(2, 5, job="BATCH2", job_id="JOB00002", smf30sqt=90.0, smf30scc=0x0222, smf30sti=0x0204),
    )
    (found,) = rows_of(evaluate(tables, JOB, by=("service_class",), time="all"))
    assert found["cp_seconds"] == pytest.approx(200.0)
    # (30 + 90)/2.
    assert found["queue_time"] == pytest.approx(60.0)
    assert (found["jobs"], found["ended"]) == (2, 2)
    assert found["abend_fraction"] == pytest.approx(0.5)
