"""Mutated reports: rows and damage, or the one documented error; never anything else, never without end.

`PLEXLENS_FUZZ_SECONDS` and `PLEXLENS_FUZZ_COPIES` say how long `test_copies_for_a_stated_time` goes on (whichever comes
first); without them two seconds. `PLEXLENS_FUZZ_SEED` chooses another run. A failing copy is written to the temporary
folder and named.
"""

from __future__ import annotations

import os
import random
import resource
import tempfile
import time
from pathlib import Path

import pyarrow.compute as pc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plexlens.ingest.printed import text as text_reports
from tests.draws import draws
from tests.ingest.test_text_db2_accounting import LONG, SHORT
from tests.ingest.test_text_db2_display import GROUP_POOL, POOL
from tests.ingest.test_text_studies import GROUP_POOL_PANEL, LOCK_STRUCTURES
from tests.ingest.text_report_documents import carriage_control, quoted, statistics, statistics_pages, tabbed
from tests.ingest.text_rmf_documents import COUPLING, CPU, DFHSTUP, PARTITION, TCB_MODES, WORKLOAD

DOCUMENTS = [
    *(statistics(), LONG, SHORT, POOL, GROUP_POOL, GROUP_POOL_PANEL, LOCK_STRUCTURES),
    *(CPU, PARTITION, WORKLOAD, COUPLING, DFHSTUP, TCB_MODES),
    *(tabbed(WORKLOAD), quoted(LONG), carriage_control(statistics_pages())),
]

_PIECES = [
    *("\n", "\r", "\f", "\t", "\x85", " ", "          ", ">", "> > ", "1", "0", "-", "+", "|", ":", "=", "\x00"),
    *("N/A", "N/C", "****", "----", "9" * 70, "1e400", "-1", "1,2,3", "99.99.99.999", "99:99:99", "K", "17.5M", "%"),
    *("QUANTITY", "BP1 GENERAL", "GROUP BP1", "LOCKING ACTIVITY", "TOTAL", "AVERAGE", "APPL(CL.1)", "#OCCURS"),
    *("DSNB401I -DB2A", "DSNB762I", "REPORT BY: POLICY=P", "WORKLOAD=W", "SERVICE CLASS=C", "PERIOD=999999999999"),
    *("C P U  A C T I V I T Y", "P A R T I T I O N  D A T A  R E P O R T", "INTERVAL 99.59.999", "GOAL:", "<= 1.0 1"),
    *("COUPLING FACILITY NAME = X", "STRUCTURE NAME = Y", "SYNC", "ASYNC 5", "# REQ", "INTERVAL START: 99/99/99"),
    *("INTERVAL START  : 12/31/9999 23:59:59.99", "INTERVAL ELAPSED: 999999:59:59.9", "DATE 01/01/0001 TIME 0.00.00"),
    *("TCB Mode", "Statistics Report", "\u2028", "\ufeff", "é", "\U0001f600", "²", "١٢", "IMAGE PROFILE", "PAGE 1"),
    *("INTERVAL FROM: 12/31/99 23:59:59.99", "TO: 02/30/23 00:00:00.00", "LOCATION: X  ACCOUNTING TRACE - LONG"),
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A report, or two, with pieces cut out, put in, copied elsewhere or written over; lines too."""
    text = draw(st.sampled_from(DOCUMENTS))
    if draw(st.booleans()):
        text += draw(st.sampled_from(["\n", "\f", ""])) + draw(st.sampled_from(DOCUMENTS))
    for _ in range(draw(st.integers(1, 8))):
        at, length = draw(st.integers(0, len(text))), draw(st.integers(0, 60))
        action = draw(st.sampled_from(["cut", "put", "copy", "characters", "end", "drop line", "copy line", "blanks"]))
        if action == "cut":
            text = text[:at] + text[at + length :]
        elif action == "put":
            text = text[:at] + draw(st.sampled_from(_PIECES)) + text[at:]
        elif action == "copy":
            source = draw(st.integers(0, len(text)))
            text = text[:at] + text[source : source + length] + text[at:]
        elif action == "characters":
            text = text[:at] + draw(st.text(max_size=8)) + text[at + length :]
        elif action == "end":
            text = text[:at]
        else:
            lines = text.split("\n")
            row = draw(st.integers(0, len(lines) - 1))
            if action == "drop line":
                del lines[row]
            elif action == "copy line":
                lines.insert(row, lines[draw(st.integers(0, len(lines) - 1))])
            else:
                lines[row] = lines[row].replace("  ", " " * draw(st.integers(0, 5)))
            text = "\n".join(lines)
    return text


@st.composite
def reshuffled(draw: st.DrawFn) -> str:
    """Lines of all reports in any order."""
    pool = draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=3))
    lines = [line for text in pool for line in text.splitlines() if line.strip()]
    return "\n".join(draw(st.lists(st.sampled_from(lines), min_size=1, max_size=40)))


def outcome(data: bytes) -> int | None:
    """Values read; None when the file is refused. Anything but the documented error escapes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutated.txt"
        path.write_bytes(data)
        text_reports.sniff(data[:65536], path.name)
        reading = text_reports.read(path, source_id="fuzz")
        rows = numbers = 0
        try:
            for table, batch in reading:
                batch.validate(full=True)
                if table == "text_report_value":
                    rows += batch.num_rows
                    numbers += batch.num_rows - batch.column("number").null_count
                    within = pc.and_(
                        pc.less_equal(batch.column("low"), batch.column("number")),
                        pc.less_equal(batch.column("number"), batch.column("high")),
                    )
                    assert pc.all(pc.fill_null(within, True)).as_py()
        except text_reports.TextReportError as error:
            assert error.what
            assert error.remedy
            assert str(path) in str(error)
            return None
        summary = reading.summary
        assert (summary["values"], summary["numbers"]) == (rows, numbers)
        for damage in reading.damage:
            assert damage.detail
            assert damage.remedy
        return rows


LIMITS = settings(max_examples=draws(50, 2000), deadline=None, suppress_health_check=list(HealthCheck))


@LIMITS
@given(mutated())
def test_mutated_reports(text: str) -> None:
    outcome(text.encode("utf-8", "surrogatepass"))


@LIMITS
@given(mutated(), st.sampled_from(["cp037", "utf-16", "latin-1"]))
def test_mutated_reports_in_other_encodings(text: str, encoding: str) -> None:
    outcome(text.encode(encoding, "replace"))


@LIMITS
@given(reshuffled())
def test_lines_in_any_order(text: str) -> None:
    outcome(text.encode())


@LIMITS
@given(st.binary(max_size=400))
def test_any_bytes_are_refused(data: bytes) -> None:
    assert outcome(data) is None


@LIMITS
@given(st.text(max_size=400))
def test_any_text_is_refused(text: str) -> None:
    assert outcome(text.encode("utf-8", "surrogatepass")) is None


def test_the_documents_themselves_are_read() -> None:
    for text in DOCUMENTS:
        assert outcome(text.encode())


def test_a_cut_anywhere_keeps_the_values_before_it() -> None:
    """Every value of a line that stands whole before the cut is there, save those that need what follows."""
    text = statistics()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cut.txt"
        path.write_text(text)
        lines = [
            line
            for table, batch in text_reports.read(path, source_id="x")
            if table == "text_report_value"
            for line in batch.column("line").to_pylist()
        ]
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
    for number in range(12, len(starts), 7):
        kept = outcome(text[: starts[number]].encode())
        assert kept == sum(line <= number for line in lines)


# --- for a stated time --------------------------------------------------------------------------------------------

HANG_SECONDS = 20.0
"""Copies are small: one that takes longer than this hangs."""

MEMORY_KIB = 512 << 10
"""Resident memory by which reading copies of a few KiB may grow."""


def damaged(original: bytes, chance: random.Random) -> bytes:
    """A copy hit in one to twenty places: other bytes, cuts, insertions, repeats, blanks lost, lines moved."""
    data = bytearray(original)
    for _ in range(chance.randint(1, 20)):
        if not data:
            break
        at, length = chance.randrange(len(data)), chance.randint(1, 80)
        match chance.randrange(8):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                data[at : at + length] = chance.randbytes(chance.randint(0, 8))
            case 2:
                del data[at:]
            case 3:
                data[at:at] = chance.choice(_PIECES).encode("utf-8")
            case 4:
                source = chance.randrange(len(data))
                data[at:at] = data[source : source + length]
            case 5:
                data[at : at + length] = data[at : at + length].replace(b"  ", b" " * chance.randint(0, 4))
            case 6:
                lines = data.split(b"\n")
                chance.shuffle(lines)
                data = bytearray(b"\n".join(lines))
            case _:
                data[at : at + length] = bytes(reversed(data[at : at + length]))
    return bytes(data)


def test_copies_for_a_stated_time() -> None:
    seconds = float(os.environ.get("PLEXLENS_FUZZ_SECONDS", "2"))
    copies = int(os.environ.get("PLEXLENS_FUZZ_COPIES", "100000"))
    seed = int(os.environ.get("PLEXLENS_FUZZ_SEED", "20140521"))
    chance = random.Random(seed)
    encodings = ("utf-8", "utf-8", "utf-8", "cp037", "utf-16", "latin-1")
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = refused = 0
    while done < copies and time.monotonic() - begin < seconds:
        text = "\f".join(chance.sample(DOCUMENTS, chance.randint(1, 2)))
        copy = damaged(text.encode(chance.choice(encodings), "replace"), chance)
        started = time.monotonic()
        try:
            refused += outcome(copy) is None
        except BaseException:
            kept = Path(tempfile.gettempdir()) / f"plexlens-fuzz-report-{seed}-{done}.txt"
            kept.write_bytes(copy)
            print(f"the copy that fails is {kept}; PLEXLENS_FUZZ_SEED={seed}")
            raise
        assert time.monotonic() - started < HANG_SECONDS, f"copy {done} of seed {seed} hangs"
        done += 1
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MEMORY_KIB, f"{grown} KiB more after {done} copies of seed {seed}"
    print(f"{done} damaged reports in {time.monotonic() - begin:.0f} s, {refused} of them refused, seed {seed}")
    assert done
    assert refused < done
