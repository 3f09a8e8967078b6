"""Traces of SMF 102: references, names, delays, losses; from dumps written by hand and from a PDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from plexlens import _core
from plexlens.errors import NothingUsableError, PlexlensError, UnreadableInputError, UsageError
from plexlens.pdb import Pdb, ingest
from plexlens.pools.trace import LostRecordsError, Trace, TraceError, TraceOrderError, open_trace
from tests.pools import traced_records as traced
from tests.pools.traced_records import Page, dump, pages

MICROSECOND = 1_000_000
BEGIN = round(traced.START.timestamp()) * MICROSECOND
NAMED = 260 << 16

Opener = Callable[..., Trace]


def rows(trace: Trace) -> list[dict[str, Any]]:
    return [row for batch in trace.batches() for row in batch.to_pylist()]


def of_dump(folder: Path, *records: bytes, **options: Any) -> Trace:
    return open_trace([dump(folder / "t.smf", *records)], **options)


def of_pdb(folder: Path, *records: bytes, **options: Any) -> Trace:
    pdb = Pdb.create(folder / "pdb")
    ingest([dump(folder / "t.smf", *records)], pdb)
    return open_trace([folder / "pdb"], **options)


@pytest.fixture(params=[of_dump, of_pdb], ids=["dump", "pdb"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Opens records as a dump, and as the PDB that took it."""
    return lambda *records, **options: request.param(tmp_path, *records, **options)


def test_every_field(opened: Opener) -> None:
    trace = opened(
        pages(5, Page(7, psid=2), Page(8, psid=3, function="S", access=""), sequence=1),
        pages(9, Page(2**32 - 1, pool=120, access="S", status="H", partition=4), sequence=2),
        pages(11, Page(9, function="R", access="M"), Page(9, access="L", status="N"), sequence=3, length=16),
    )
    first, second, third, fourth, fifth = rows(trace)
    code = _core.TRACE_FUNCTIONS.index
    assert first == {
        "time": BEGIN + 5,
        "member": 0,
        "pool": 2,
        "object": NAMED | 2,
        "partition": 0,
        "page": 7,
        "function": code("getpage"),
        "access": 0,
        "agent": 0,
        "status": _core.TRACE_STATUSES.index("miss"),
    }
    assert (second["object"], second["function"]) == (NAMED | 3, code("set_write"))
    assert (third["time"], third["pool"], third["page"], third["partition"]) == (BEGIN + 9, 120, 2**32 - 1, 4)
    assert third["access"] == _core.TRACE_ACCESSES.index("sequential")
    assert (fourth["function"], fourth["access"]) == (code("release"), 0)
    assert (fifth["access"], fifth["partition"]) == (_core.TRACE_ACCESSES.index("list"), 0)
    facts = trace.facts
    assert facts.references == {"getpage": 3, "set_write": 1, "release": 1, "read": 0, "prefetch": 0, "commit": 0}
    assert facts.statuses == {"miss": 1, "hit": 1, "no_read": 1}
    assert (facts.seconds, facts.members, facts.lost, facts.notes) == (6e-6, ("DB2A",), 0, [])


def test_unknown_codes_are_counted(opened: Opener) -> None:
    trace = opened(
        pages(1, *[Page(1)] * 4, Page(2, function="X"), Page(3, access="Q"), Page(4, access="D"), Page(5, status="?")),
        pages(2, Page(6, function="R", access="Q", status="?")),
    )
    assert [row["page"] for row in rows(trace)] == [1, 1, 1, 1, 3, 4, 5, 6]
    assert trace.facts.left_out == {"IFCID 198 records with unknown function 'X'": 1}
    notes = "\n".join(trace.facts.notes)
    assert "1 getpages with unknown access 'Q', counted as random" in notes
    assert "1 getpages with access 'D', counted as dynamic" in notes
    assert "1 getpages with unknown page status '?'" in notes
    assert "left out: 1 IFCID 198 records with unknown function 'X'" in notes
    assert [row["access"] for row in rows(trace)][5] == _core.TRACE_ACCESSES.index("dynamic")


def test_a_layout_that_is_not_theirs_is_refused(tmp_path: Path) -> None:
    trace = of_dump(tmp_path, pages(1, Page(1), Page(2, function="\x01"), Page(2, function="\x02")))
    with pytest.raises(TraceError, match="2 of 3 records of IFCID 198 have unknown function codes"):
        rows(trace)


def test_several_subsystems_are_several_members(opened: Opener) -> None:
    records = [
        pages(1, Page(1), subsystem="DB2A"),
        pages(2, Page(2), subsystem="DB2B"),
        pages(3, Page(3), subsystem="DB2A"),
    ]
    trace = opened(*records)
    assert [(row["member"], row["page"]) for row in rows(trace)] == [(0, 1), (1, 2), (0, 3)]
    assert trace.facts.members == ("DB2A", "DB2B")
    assert trace.names.member(1) == "DB2B"
    assert "DB2A, DB2B are assumed to be members of one data-sharing group" in trace.facts.notes[0]
    trace = open_trace(trace.sources, subsystem="DB2B")
    assert [row["page"] for row in rows(trace)] == [2]
    with pytest.raises(NothingUsableError, match="no page references of DB2C"):
        rows(open_trace(trace.sources, subsystem="DB2C"))


def test_read_io_and_its_delays(opened: Opener) -> None:
    trace = opened(
        pages(0, Page(7)),
        traced.read_start(10, "R", 7),
        traced.read_start(15, "R", 8, agent=2, psid=3),
        traced.read_end(1010, 1),
        pages(1011, Page(7)),
        traced.read_start(2000, "R", 9),
        traced.read_end(2015, 1, agent=2, psid=3),
        traced.read_end(5000, 1),
        # Two prefetches under way at once: the first to end is the first that began.
        traced.read_start(6000, "S", 64),
        traced.read_start(6100, "S", 96),
        traced.read_end(6500, 32),
        traced.read_end(7100, 31),
        traced.write_start(8000, 20),
        traced.write_start(8001, 12),
    )
    found = rows(trace)
    code = _core.TRACE_FUNCTIONS.index
    reads = [row for row in found if row["function"] == code("read")]
    assert [(row["time"] - BEGIN, row["page"]) for row in reads] == [(10, 7), (15, 8), (2000, 9)]
    fetched = [row for row in found if row["function"] == code("prefetch")]
    assert [(row["page"], row["access"]) for row in fetched] == [(64, 1), (96, 1)]
    assert [row["time"] for row in found] == sorted(row["time"] for row in found)
    two, three = trace.delays
    assert (two.pool, two.object, two.sync_ios) == (2, NAMED | 2, 2)
    assert (two.sync_seconds, two.sync_longest) == pytest.approx((0.001 + 0.003, 0.003))
    assert two.sync_mean == pytest.approx(0.002)
    assert (two.prefetch_ios, two.prefetch_pages) == (2, 63)
    assert (two.prefetch_seconds, two.prefetch_longest) == pytest.approx((0.0005 + 0.001, 0.001))
    assert (two.write_ios, two.write_pages, two.source) == (2, 32, "IFCID 6 and 7")
    assert (three.object, three.sync_ios, three.sync_longest) == (NAMED | 3, 1, pytest.approx(0.002))


def test_io_that_is_not_whole(opened: Opener) -> None:
    trace = opened(
        pages(0, Page(7)),
        traced.read_end(5, 1),
        traced.read_start(10, "R", 7),
        traced.read_end(20, 1),
        traced.read_start(30, "R", 8),
        traced.read_end(40, 0, failed=8),
        traced.read_start(50, "R", 9),
        traced.read_start(60, "Z", 9, agent=7),
    )
    rows(trace)
    (one,) = trace.delays
    assert (one.sync_ios, one.sync_seconds) == (1, pytest.approx(10e-6))
    notes = "\n".join(trace.facts.notes)
    assert "1 read I/Os that began before the trace" in notes
    assert "2 read I/Os that began but did not end in the trace" in notes
    assert "1 read I/Os that failed" in notes
    assert trace.facts.left_out == {"IFCID 6 records with unknown kind of read 'Z'": 1}


def test_delays_of_data_set_statistics(opened: Opener) -> None:
    trace = opened(
        pages(0, Page(7)),
        traced.data_set(10, 2, "I", sync=(100, 0.0005, 0.02)),
        traced.data_set(20, 2, "I", sync=(300, 0.001, 0.01)),
    )
    rows(trace)
    (one,) = trace.delays
    assert (one.source, one.partition, one.sync_ios) == ("IFCID 199", 1, 400)
    assert (one.sync_seconds, one.sync_longest) == pytest.approx((100 * 0.0005 + 300 * 0.001, 0.02))
    assert trace.names.kind(NAMED | 2) == "index"


def test_names_of_records(opened: Opener) -> None:
    trace = opened(
        traced.name(0, 2, "PAYROLL", "EMPTS"),
        pages(1, Page(7), Page(7, psid=3), Page(7, psid=4, partition=3)),
        traced.name(2, 4, "PAYROLL", "EMPIX"),
    )
    found = {(row["object"], row["partition"]): "" for row in rows(trace)}
    named = {key: trace.names.data_set(*key) for key in found}
    assert list(named.values()) == ["PAYROLL.EMPTS", "260.3", "PAYROLL.EMPIX.3"]


def test_an_object_made_again_is_another(tmp_path: Path) -> None:
    trace = of_dump(
        tmp_path, traced.name(0, 2, "PAYROLL", "EMPTS"), pages(1, Page(7)), traced.name(2, 9, "PAYROLL", "EMPTS")
    )
    rows(trace)
    assert trace.names.data_set(NAMED | 2, 0) == "PAYROLL.EMPTS[260.2]"
    assert trace.names.data_set(NAMED | 9, 5) == "PAYROLL.EMPTS[260.9].5"


def numbered(numbers: Sequence[int], *, each: int = 1) -> list[bytes]:
    return [pages(at, *[Page(at)] * each, sequence=number) for at, number in enumerate(numbers)]


@pytest.mark.parametrize(
    ("numbers", "lost"),
    [
        (range(1, 101), 0),
        ([*range(1, 50), *range(51, 102)], 1),
        # Exchanged neighbours are not loss, nor is a beginning anew, a wrap, or a record that is there twice.
        ([1, 2, 4, 3, 5, 7, 6], 0),
        ([*range(500, 600), *range(1, 100)], 0),
        ([2**32 - 2, 2**32 - 1, 0, 1], 0),
        ([2**32 - 2, 1], 2),
        ([5, 6, 6, 7], 0),
        ([5, 6, 6, 8], 1),
        ([0] * 50, 0),
    ],
)
def test_gaps_of_the_sequence_are_lost_records(opened: Opener, numbers: Sequence[int], lost: int) -> None:
    trace = opened(*numbered(numbers), force=True)
    rows(trace)
    assert trace.facts.lost == lost
    assert trace.facts.lost_share == pytest.approx(lost / (lost + len(numbers)))


def test_lost_records_are_lost_references(tmp_path: Path) -> None:
    """A record of three references, and one in a hundred is missing: three references for each."""
    trace = of_dump(tmp_path, *numbered([n for n in range(1, 301) if n % 100 != 50], each=3))
    rows(trace)
    assert (trace.facts.lost, trace.facts.rows) == (9, 891)
    assert trace.facts.notes == ["9 of 900 references (1.0%) were lost while tracing."]


def test_members_have_their_own_sequences(tmp_path: Path) -> None:
    records = [pages(at, Page(at), sequence=at // 2 + 1, subsystem="DB2A" if at % 2 else "DB2B") for at in range(100)]
    trace = of_dump(tmp_path, *records)
    rows(trace)
    assert trace.facts.lost == 0


def test_two_per_cent_lost_is_a_warning(opened: Opener) -> None:
    trace = opened(*numbered([n for n in range(1, 101) if n not in (30, 31)]))
    assert len(rows(trace)) == 98
    assert trace.facts.notes == [
        "2 of 100 references (2.0%) were lost while tracing: misses are off by about the same percentage."
    ]


def test_twenty_per_cent_lost_is_refused_unless_forced(opened: Opener) -> None:
    records = numbered([n for n in range(1, 101) if not 30 <= n < 50])
    trace = opened(*records)
    with pytest.raises(
        LostRecordsError, match=r"20 of 100 references \(20.0%\) were lost.*; record the trace again with larger"
    ):
        rows(trace)
    forced = open_trace(trace.sources, force=True)
    assert len(rows(forced)) == 80
    assert "20 of 100 references (20.0%) were lost" in forced.facts.notes[0]


def test_a_dump_without_references_says_what_is_in_it(opened: Opener) -> None:
    trace = opened(traced.name(0, 2, "PAYROLL", "EMPTS"), traced.read_end(5, 1), traced.read_end(6, 1))
    with pytest.raises(NothingUsableError) as refused:
        rows(trace)
    text = str(refused.value)
    assert "it has no page references (SMF 102 IFCID 198), but records: 3 of type 102" in text
    assert "2 of IFCID 7, 1 of IFCID 105" in text
    assert "record them with -START TRACE(PERFM) CLASS(30) IFCID(198) DEST(SMF)" in text
    assert refused.value.exit_code == 4


def test_releases_alone_are_no_trace(opened: Opener) -> None:
    with pytest.raises(NothingUsableError, match="the trace has no getpage among 2 references"):
        rows(opened(pages(0, Page(7, function="R"), Page(7, function="S"))))


def test_a_cut_dump_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = dump(tmp_path / "t.smf", *numbered(range(1, 11)))
    path.write_bytes(path.read_bytes()[:-30])
    trace = open_trace([path])
    assert [row["page"] for row in rows(trace)] == list(range(9))
    # A page begins its sentences with a capital letter, which a file name does not get.
    assert trace.facts.notes[0].startswith("damage in t.smf: cut_record, 1 time, first at byte ")


def test_a_dump_with_exchanged_records_is_put_right(tmp_path: Path) -> None:
    order = [0, 1, 3, 2, 4, 6, 5]
    trace = of_dump(tmp_path, *[pages(at * 10, Page(at), sequence=at + 1) for at in order])
    assert [row["page"] for row in rows(trace)] == list(range(7))
    assert trace.facts.notes == ["References out of order of time, sorted: 2."]


def test_dumps_of_members_are_merged(tmp_path: Path) -> None:
    one = dump(tmp_path / "a.smf", *[pages(at, Page(at), subsystem="DB2A") for at in range(0, 10, 2)])
    two = dump(tmp_path / "b.smf", *[pages(at, Page(at), subsystem="DB2B") for at in range(1, 10, 2)])
    trace = open_trace([one, two])
    assert [(row["page"], trace.names.member(row["member"])) for row in rows(trace)] == [
        (at, "DB2B" if at % 2 else "DB2A") for at in range(10)
    ]


def test_pieces_that_overlap_are_told(tmp_path: Path) -> None:
    one, two, three = (
        dump(tmp_path / f"{name}.smf", *[pages(at, Page(at), sequence=at + 1) for at in range(first, first + 10)])
        for name, first in (("a", 0), ("b", 5), ("c", 20))
    )
    trace = open_trace([one, two, three])
    rows(trace)
    assert [note.partition(";")[0] for note in trace.facts.notes] == [
        "a.smf and b.smf hold records of DB2A for the same time"
    ]
    ingest([one, two], Pdb.create(tmp_path / "pdb"))
    assert [row["page"] for row in rows(open_trace([tmp_path / "pdb"]))] == list(range(15))


def test_records_that_are_there_twice_are_told(tmp_path: Path) -> None:
    trace = of_dump(tmp_path, *[pages(at // 2, Page(at // 2), sequence=at // 2 + 1) for at in range(10)])
    assert len(rows(trace)) == 10
    assert trace.facts.notes == ["t.smf: 5 IFCID 198 records that repeat a sequence number."]


def test_names_may_come_in_a_dump_of_their_own(tmp_path: Path) -> None:
    one = dump(tmp_path / "a.smf", traced.name(0, 2, "PAYROLL", "EMPTS"))
    two = dump(tmp_path / "b.smf", pages(1, Page(7)))
    trace = open_trace([one, two])
    assert len(rows(trace)) == 1
    assert trace.names.data_set(NAMED | 2, 0) == "PAYROLL.EMPTS"


def test_a_dump_far_out_of_order_is_refused_and_read_from_a_pdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plexlens.ingest.page_trace.dump._BATCH_BYTES", 1 << 10)
    records = [pages(at, Page(at), sequence=at + 1) for at in [*range(100, 200), *range(100)]]
    path = dump(tmp_path / "t.smf", *records)
    with pytest.raises(TraceOrderError, match=r"references are out of order: .* 0\.000\d+ s later; ingest the dump"):
        rows(open_trace([path]))
    ingest([path], Pdb.create(tmp_path / "pdb"))
    assert [row["page"] for row in rows(open_trace([tmp_path / "pdb"]))] == list(range(200))


def test_a_pdb_stands_alone(tmp_path: Path) -> None:
    Pdb.create(tmp_path / "pdb")
    path = dump(tmp_path / "t.smf", pages(0, Page(1)))
    with pytest.raises(UsageError, match="a PDB cannot be combined with other sources; give it alone"):
        open_trace([path, tmp_path / "pdb"])
    with pytest.raises(NothingUsableError, match="no page references"):
        rows(open_trace([tmp_path / "pdb"]))
    with pytest.raises(UsageError, match="the folder holds no PDB"):
        (tmp_path / "empty").mkdir()
        open_trace([tmp_path / "empty"])
    with pytest.raises(UsageError, match="no trace is given"):
        open_trace([])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PK\x03\x04" + bytes(100), "a ZIP archive is not a page-reference trace; unpack it"),
        (b"<html></html>", "a web page is not a page-reference trace"),
        (b"", "the file is empty"),
        (b"hello\nworld\n", "there is no column named page (columns: hello)"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(PlexlensError) as refused:
        rows(open_trace([path]))
    assert expected in str(refused.value)
    with pytest.raises(UnreadableInputError, match="No such file"):
        open_trace([tmp_path / "none"])
