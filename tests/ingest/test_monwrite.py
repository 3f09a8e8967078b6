"""z/VM monitor data: files written by hand from IBM's pages MWTBK, MRRECHDR and the description of monreader."""

from __future__ import annotations

import gzip
import json
import random
import struct
import tracemalloc
from collections import Counter
from pathlib import Path

from plexlens.errors import NothingUsableError, PlexlensError
from plexlens.ingest.monwrite import form_of, read_account
from tests.cli.command import run
from tests.records import dump, record

FRAME = 4096
#: 2024-01-01 00:00 UTC: 45,290 days after 1900, in microseconds, with the microsecond at bit 51 of the clock.
NEW_YEAR = 45_290 * 86_400 * 1_000_000 << 12
MINUTE = 60_000_000 << 12


def monitor_record(domain: int, number: int, length: int = 20, clock: int = NEW_YEAR) -> bytes:
    """MRRECHDR: length, zeros, domain, reserved, record, clock, reserved; then the record's own bytes."""
    return struct.pack(">HHBBHQ4x", length, 0, domain, 0, number, clock) + b"\xab" * (length - 20)


def frames(*contents: bytes) -> bytes:
    return b"".join(content.ljust(FRAME, b"\0") for content in contents)


def control_record(*elements: tuple[int, int, int]) -> bytes:
    """MWTBK: a message (path, flags, type 9, id, class, first and last address of the control area), then elements."""
    area = 0x900000
    message = struct.pack(">HBBIIII", 3, 0, 9, 17, 0, area, area + 12 * len(elements) - 1).ljust(40, b"\0")
    parts = [struct.pack(">BBBBII", kind, 0x88, 0, 0, start, end) for kind, start, end in elements]
    return (message + b"".join(parts)).ljust(FRAME, b"\0")


SAMPLE_FRAMES = frames(
    # 20 + 508 + 508 + 20 bytes; the rest of the frame, 3040 bytes, follows the end of frame.
    monitor_record(0, 4) + monitor_record(4, 3, 508) * 2 + monitor_record(1, 13),
    # 508 bytes; the element ends with them.
    monitor_record(4, 3, 508, NEW_YEAR + MINUTE),
)
EVENT_FRAME = frames(monitor_record(1, 3, 24)[:20] + b"\0\0\1\5" + monitor_record(77, 1, 40))
FILE = (
    control_record((0xE2, 0x10000, 0x10000 + FRAME + 508 - 1), (0xC5, 0x40000, 0x40000 + 64 - 1))
    + SAMPLE_FRAMES
    + EVENT_FRAME
)


def accounted(path: Path) -> tuple[Counter[tuple[int, int, str]], int]:
    account = read_account(path, path.read_bytes())
    total = account.control_bytes + account.record_bytes + account.fill_bytes + account.skipped.total()
    return Counter({key: tally.records for key, tally in account.tallies.items()}), total


def test_a_file_of_two_elements_by_hand(tmp_path: Path) -> None:
    (tmp_path / "day.monwrite").write_bytes(FILE)
    done = run("monwrite", "day.monwrite", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)["files"][0]
    assert values["form"] == "MONWRITE"
    assert values["bytes"] == {
        "control": 4096,
        "records": 20 + 3 * 508 + 20 + 24 + 40,
        "rests_of_frames": 3040 + (4096 - 508) + (4096 - 64),
        "skipped": 0,
    }
    rows = {(row["domain"], row["record"]): row for row in values["by_record"]}
    assert {key: row["records"] for key, row in rows.items()} == {
        (0, 4): 1,
        (1, 3): 1,
        (1, 13): 1,
        (4, 3): 3,
        (77, 1): 1,
    }
    assert (rows[4, 3]["name"], rows[4, 3]["kind"], rows[1, 3]["kind"]) == ("USEACT", "sample", "event")
    assert (rows[4, 3]["first"], rows[4, 3]["last"]) == ("2024-01-01T00:00:00Z", "2024-01-01T00:01:00Z")
    assert (rows[4, 3]["fields"], rows[77, 1]["fields"]) == ("no layout", "domain not known")
    # MTRSUS_LOSTRCCT, four bytes at 20: X'00000105'.
    assert (values["suspensions"], values["lost_event_records"]) == (1, 261)
    text = run("monwrite", "day.monwrite", cwd=tmp_path).stdout
    assert "D4R3" in text
    assert "User Activity Data" in text
    assert "event records lost: 261" in text


def test_the_same_data_as_a_stream_of_monreader(tmp_path: Path) -> None:
    """The elements are those of the control record, and the bytes those from start to end address, without padding."""
    stream = FILE[40:52] + SAMPLE_FRAMES[: FRAME + 508] + FILE[52:64] + EVENT_FRAME[:64]
    for name, content in (("stream", stream), ("file", FILE)):
        (tmp_path / name).write_bytes(content)
    counts, total = accounted(tmp_path / "stream")
    assert (counts, total) == (accounted(tmp_path / "file")[0], len(stream))
    assert form_of(stream) == "monreader"
    (tmp_path / "stream.gz").write_bytes(gzip.compress(stream))
    values = json.loads(run("monwrite", "stream.gz", "--json", cwd=tmp_path).stdout)["files"][0]
    assert (values["form"], values["records"]) == ("monreader", 7)


def test_an_element_that_begins_within_a_frame(tmp_path: Path) -> None:
    """Its end of frame is that of the address: 4096 - 100 - 20 bytes after the record."""
    content = control_record((0xC5, 0x10064, 0x11013)) + frames(
        b"\1" * 100 + monitor_record(1, 13), monitor_record(4, 2)
    )
    (tmp_path / "file").write_bytes(content)
    account = read_account(tmp_path / "file", content)
    assert {key: tally.records for key, tally in account.tallies.items()} == {(1, 13, "event"): 1, (4, 2, "event"): 1}
    assert account.fill_bytes == 100 + (4096 - 100 - 20) + (4096 - 20)
    stream = content[40:52] + content[FRAME + 100 : 2 * FRAME + 20]
    (tmp_path / "stream").write_bytes(stream)
    assert accounted(tmp_path / "stream") == (accounted(tmp_path / "file")[0], len(stream))


def test_files_written_at_random_give_back_their_records(tmp_path: Path) -> None:
    draw = random.Random(3)
    for case in range(40):
        content, written = b"", Counter[tuple[int, int, str]]()
        for _ in range(draw.randint(1, 3)):
            elements, data = [], b""
            for _ in range(draw.randint(1, 4)):
                kind, address, pages = draw.choice((0xE2, 0xC5)), draw.randrange(16, 4096) * FRAME, []
                for _ in range(draw.randint(1, 3)):
                    page = b""
                    for _ in range(draw.randint(1, 6)):
                        key = draw.randint(0, 12), draw.randint(20, 300)
                        page += monitor_record(*key, draw.randint(20, 600))
                        written[*key, "sample" if kind == 0xE2 else "event"] += 1
                    pages.append(page)
                elements.append((kind, address, address + (len(pages) - 1) * FRAME + len(pages[-1]) - 1))
                data += frames(*pages)
            content += control_record(*elements) + data
        (tmp_path / "file").write_bytes(content)
        assert accounted(tmp_path / "file") == (written, len(content)), case


def test_a_file_cut_anywhere_has_every_byte_accounted_for(tmp_path: Path) -> None:
    whole = accounted_records = 7
    for size in range(64, len(FILE), 61):
        (tmp_path / "cut").write_bytes(FILE[:size])
        try:
            counts, total = accounted(tmp_path / "cut")
        except NothingUsableError:
            assert size < FRAME + 20
            continue
        assert total == size
        values = read_account(tmp_path / "cut", FILE[:size]).missing_bytes
        present = [max(0, min(size - start, length)) for start, length in ((4096, 4604), (12288, 64))]
        assert values == 4604 + 64 - sum(present)
        assert counts.total() <= whole
        accounted_records = counts.total()
    assert accounted_records == whole  # The last cuts are in the rest of the last frame.


def test_cuts_and_damage_say_what_and_where(tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(FILE[: FRAME + 300])
    text = run("monwrite", "cut", cwd=tmp_path).stdout
    # Addresses name 4096 + 508 and 64 bytes of data; 300 of them are there.
    assert f"missing {4096 + 508 + 64 - 300:,} bytes: the file ends before the data" in text
    assert "skipped 280 bytes: the file ends within a record (first at byte 4,116); transfer the file again" in text
    damaged = FILE[: FRAME + 20] + b"\xff" * 10 + FILE[FRAME + 30 :]
    (tmp_path / "damaged").write_bytes(damaged)
    values = json.loads(run("monwrite", "damaged", "--json", cwd=tmp_path).stdout)["files"][0]
    assert values["skipped"] == [
        {"reason": "no record header, to the end of the frame", "bytes": 4076, "first_offset": 4116}
    ]
    assert sum(values["bytes"].values()) == len(damaged)
    (tmp_path / "between").write_bytes(FILE + b"\xff" * FRAME + FILE)
    values = json.loads(run("monwrite", "between", "--json", cwd=tmp_path).stdout)["files"][0]
    assert values["records"] == 14
    assert values["skipped"] == [
        {"reason": "no control record where one is due", "bytes": 4096, "first_offset": len(FILE)}
    ]


def test_a_dump_is_no_monitor_data_and_monitor_data_no_dump(tmp_path: Path) -> None:
    (tmp_path / "day.smf").write_bytes(dump(record(30, "SYS1", b"\0" * 200)))
    (tmp_path / "day.monwrite").write_bytes(FILE)
    refused = run("monwrite", "day.smf", cwd=tmp_path)
    assert refused.returncode == 3
    assert "day.smf: the file begins with neither a MONWRITE control record nor" in refused.stderr
    assert "plexlens records" in refused.stderr
    for command in (("records", "day.monwrite"), ("anonymise", "day.monwrite", "-o", "other.monwrite")):
        refused = run(*command, cwd=tmp_path)
        assert refused.returncode in (2, 3)
        assert "z/VM monitor data" in refused.stderr
        assert "day.monwrite" in refused.stderr
    assert run("monwrite", "no-such-file", cwd=tmp_path).returncode == 3


def test_control_information_without_records_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(control_record((0xE2, 0x10000, 0x10FFF)) + b"\0" * FRAME)
    refused = run("monwrite", "empty", cwd=tmp_path)
    assert refused.returncode == 4
    assert "no record; check that the transfer is complete" in refused.stderr


def test_bytes_changed_at_random_end_in_an_account_or_an_error_of_ours(tmp_path: Path) -> None:
    draw = random.Random(5)
    for _ in range(200):
        content = bytearray(FILE)
        for _ in range(draw.randint(1, 20)):
            content[draw.choice((draw.randrange(64), draw.randrange(len(content))))] = draw.randrange(256)
        (tmp_path / "file").write_bytes(content)
        try:
            _, total = accounted(tmp_path / "file")
        except PlexlensError:
            continue
        assert total == len(content)


def test_a_large_element_is_read_in_parts(tmp_path: Path) -> None:
    """16 MiB that begin 100 bytes into a frame: two records a frame, memory for a few parts of 1 MiB."""
    count, begin = 4096, 100
    pair = monitor_record(4, 3, 508) + monitor_record(0, 4)
    first = b"\0" * begin + pair.ljust(FRAME - begin, b"\0")
    data = first + frames(*[pair] * (count - 1))
    element = (0xE2, 0x10000 + begin, 0x10000 + count * FRAME - 1)
    head = struct.pack(">BBBBII", element[0], 0x88, 0, 0, *element[1:])
    files = {"day.monwrite": control_record(element) + data, "day.reader": head + data[begin:]}
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        tracemalloc.start()
        account = read_account(path, content[: 2 * FRAME])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert {key: tally.records for key, tally in account.tallies.items()} == {
            (4, 3, "sample"): count,
            (0, 4, "sample"): count,
        }
        total = account.control_bytes + account.record_bytes + account.fill_bytes
        assert (total, account.missing_bytes, account.skipped.total()) == (len(content), 0, 0)
        assert peak < 6 << 20
    cut = tmp_path / "cut.monwrite"
    cut.write_bytes(files["day.monwrite"][: FRAME + 3 * FRAME + 200])
    account = read_account(cut, files["day.monwrite"][: 2 * FRAME])
    assert account.records == 6
    # The fourth frame has 200 of its bytes, within its first record.
    assert dict(account.skipped) == {"the file ends within a record": 200}
    assert account.missing_bytes == count * FRAME - 3 * FRAME - 200
