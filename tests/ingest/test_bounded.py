"""Files that expand, repeat or nest without end: each is read or refused in bounded time, with a reason."""

from __future__ import annotations

import gzip
import json
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from plexlens.errors import PlexlensError
from plexlens.ingest import compression, smf
from plexlens.ingest.compression import FREE_BYTES, MOST_TIMES, compression_of, open_expanded
from plexlens.ingest.kinds import SOURCES, recognise
from plexlens.ingest.printed.text.lines import read_lines
from plexlens.ingest.source import ReadOptions
from plexlens.pdb import Pdb
from tests.cli.command import run

REPORT = """
-DISPLAY BUFFERPOOL(BP2) DETAIL
DSNB401I - BUFFERPOOL NAME BP2, BUFFERPOOL ID 2, USE COUNT 20
DSN9022I - DSNB1CMD '-DISPLAY BUFFERPOOL' NORMAL COMPLETION
"""


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("bounded") / "example.smf"
    assert run("example", "-o", path, cwd=path.parent).returncode == 0
    return path.read_bytes()


def zstd(path: Path, head: bytes, block: bytes, blocks: int) -> Path:
    with pa.CompressedOutputStream(pa.OSFile(str(path), "w"), "zstd") as stream:
        stream.write(head)
        for _ in range(blocks):
            stream.write(block)
    return path


def records(path: Path) -> dict[str, object]:
    answer = run("records", path, "--json", cwd=path.parent)
    assert answer.returncode == 0, answer.stderr
    made: dict[str, object] = json.loads(answer.stdout)
    return made


def test_a_dump_that_expands_without_end_is_read_up_to_the_limit(dump: bytes, tmp_path: Path) -> None:
    # 300 MiB of zeros in some KB: more than the 256 MiB that any file may have, and more than 1,000 times its size.
    packed = zstd(tmp_path / "zeros.smf.zst", dump, bytes(1 << 20), 300)
    assert len(dump) + (300 << 20) > FREE_BYTES
    assert packed.stat().st_size * MOST_TIMES < 300 << 20
    found = records(packed)
    plain = tmp_path / "plain.smf"
    plain.write_bytes(dump)
    assert found["records"] == records(plain)["records"]
    (limit,) = [row for row in found["damage"] if row["reason"] == "expansion_limit"]  # type: ignore[union-attr,attr-defined]
    assert "more than 1000 times as many" in limit["detail"]
    assert "expand it" in limit["remedy"]


def test_a_dump_within_the_limit_is_read_whole(dump: bytes, tmp_path: Path) -> None:
    packed = zstd(tmp_path / "many.smf.zst", b"", dump, 3)
    found = records(packed)
    assert not [row for row in found["damage"] if row["reason"] == "expansion_limit"]  # type: ignore[union-attr,attr-defined]
    # Three copies of the dump: what stands more than once is counted once, but for the dump's header and trailer.
    assert found["records"]["2"] == found["records"]["3"] == 3  # type: ignore[index]


@pytest.mark.parametrize("text", [REPORT, "<?xml version='1.0'?><ddsml><report><metric id='CPU'/></report>"])
def test_text_and_xml_that_expand_without_end_end_at_the_limit(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "FREE_BYTES", 1 << 20)
    packed = zstd(tmp_path / "endless.zst", text.encode(), b" " * (1 << 20), 40)
    kind = recognise(packed)
    assert kind.name in ("text_reports", "rmf_xml")
    reading = kind.read(packed, ReadOptions("id", lambda day: []))  # type: ignore[arg-type,return-value]
    try:
        for _ in reading:
            pass
    except PlexlensError as error:
        # A single text of a report has a limit of its own, which may come first.
        assert "times as many" in str(error) or "is longer than" in str(error)
    else:
        assert any("times as many" in row.detail for row in reading.damage), reading.damage


def test_expanded_bytes_are_those_of_the_file(dump: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dump.gz"
    path.write_bytes(gzip.compress(dump))
    stream, raw = open_expanded(path)
    with raw, stream:
        assert b"".join(iter(lambda: stream.read(1000), b"")) == dump


def test_a_frame_that_zstandard_passes_over_may_come_first(dump: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dump.zst"
    packed = pa.compress(dump, "zstd", asbytes=True)
    path.write_bytes(b"\x5a\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note" + packed)
    plain = tmp_path / "dump.smf"
    plain.write_bytes(dump)
    assert records(path)["records"] == records(plain)["records"]
    assert compression_of(path.read_bytes()[:4]) == "zstd"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (gzip.compress(gzip.compress(b"\x00\x12" * 100)), "a gzip file in a compressed file"),
        (gzip.compress(pa.compress(b"\x00\x12" * 100, "zstd", asbytes=True)), "a Zstandard file in a compressed file"),
        ("Dear all,\r\nthe dump follows".encode("utf-16"), "UTF-16 text that begins 'Dear all,'"),
    ],
)
def test_what_is_packed_twice_or_is_no_report_is_named(content: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "odd"
    path.write_bytes(content)
    with pytest.raises(PlexlensError, match=what):
        recognise(path)


def test_each_kind_takes_decompressed_heads_alone(dump: bytes) -> None:
    assert not any(kind.sniff(gzip.compress(dump), "dump") for kind in SOURCES)


def test_blank_lines_within_a_quotation_are_not_held_without_end() -> None:
    lines = read_lines(chain(["> one\n"], repeat("\n" * 1000, 100), ["> two\n"]), lambda reason, number: None)
    assert [line.text for line in lines] == ["> one", "> two"]


def test_a_range_of_bad_segments_is_a_few_rows_with_a_count(dump: bytes, tmp_path: Path) -> None:
    # First segments of five bytes that no segment follows: 100,000 spanned records without an end.
    path = tmp_path / "segments.smf"
    path.write_bytes(dump + b"\x00\x05\x01\x00A" * 100_000)
    reading = smf.read(path, source_id="")
    for _ in reading:
        pass
    counted = reading.summary["damage"]["unfinished_spanned_record"]
    rows = [row for row in reading.damage if row.reason == "unfinished_spanned_record"]
    assert counted > 99_000
    assert len(rows) <= 9
    assert f"the same in the next {counted - 8} records" in rows[7].detail


def test_bytes_add_up(dump: bytes, tmp_path: Path) -> None:
    # A record of type 200, which no layout describes, and the dump's first 1,000 bytes again.
    counted = bytes.fromhex("001e00001ec8004c4b400124061fe2e8e2f1") + bytes(12)
    path = tmp_path / "odd.smf"
    path.write_bytes(dump[:1000] + b"\xff" * 77 + dump[1000:] + counted + counted + bytes(50))
    reading = smf.read(path, source_id="", seen=lambda day: np.array([], dtype=np.uint64))
    for _ in reading:
        pass
    summary = reading.summary
    parts = ("decoded_bytes", "counted_bytes", "duplicate_bytes", "block_bytes", "damaged_bytes", "padding_bytes")
    assert sum(summary[part] for part in parts) == summary["bytes"] == len(dump) + 127 + 60
    # The second record of type 200 came before; records of types 2 and 3 have no layout.
    assert (summary["duplicate_bytes"], summary["padding_bytes"]) == (30, 50)
    assert summary["counted_bytes"] == 30 + 2 * 18
    assert summary["damaged_bytes"] >= 77
    (line,) = [line for line in run("records", path, cwd=tmp_path).stdout.splitlines() if " bytes = " in line]
    assert "66 in records without a layout + 30 in records that came before" in line
    assert line.endswith("damaged + 50 of padding after it")


def test_the_limit_of_expansion_has_an_option(dump: bytes, tmp_path: Path) -> None:
    packed = zstd(tmp_path / "zeros.smf.zst", dump, bytes(1 << 20), 300)
    done = run("records", packed, "--max-expansion", "100000", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert [row["reason"] for row in found["damage"]] == ["zero_padding"]
    assert found["files"][0]["account"]["padding"] == 300 << 20
    done = run("records", packed, "--max-expanded", "2MB", "--json", cwd=tmp_path)
    (limit,) = [row for row in json.loads(done.stdout)["damage"] if row["reason"] == "expansion_limit"]
    assert limit["detail"].endswith("more than 2000000")
    assert "--max-expansion or --max-expanded" in limit["remedy"]


@pytest.mark.parametrize("size", ["0", "-1", "much"])
def test_a_limit_that_is_none_is_refused(size: str, dump: bytes, tmp_path: Path) -> None:
    (tmp_path / "dump.gz").write_bytes(gzip.compress(dump))
    done = run("records", "dump.gz", "--max-expanded", size, cwd=tmp_path)
    assert done.returncode == 2
    assert "give it as 4GiB" in done.stderr


def test_a_source_is_read_again_with_the_limit_that_it_was_read_with(dump: bytes, tmp_path: Path) -> None:
    packed = zstd(tmp_path / "zeros.smf.zst", dump, bytes(1 << 20), 300)
    assert run("ingest", packed, "--pdb", "pdb", "--max-expansion", "100000", cwd=tmp_path).returncode == 0
    (ingest,) = Pdb.open(tmp_path / "pdb").ingests
    assert ingest.options["max_expansion"] == 100_000
    assert run("pdb", "rebuild", "pdb", cwd=tmp_path).returncode == 0
    (ingest,) = Pdb.open(tmp_path / "pdb").ingests
    assert (ingest.revision, dict(ingest.damage)) == (1, {"zero_padding": 1})


def test_text_has_the_same_option(tmp_path: Path) -> None:
    packed = zstd(tmp_path / "long.zst", REPORT.encode(), b" " * (1 << 20), 3)
    done = run("records", packed, "--max-expanded", "1MiB", "--json", cwd=tmp_path)
    (limit,) = [row for row in json.loads(done.stdout)["damage"] if "1,048,576" in row["detail"]]
    assert limit["severity"] == "data loss"
    assert "more than 1,048,576; if the file is genuine, raise --max-expansion or --max-expanded" in limit["detail"]


def spanned(dump: bytes, size: int) -> list[list[bytes]]:
    """The records of a dump as lists of segments of at most so many bytes of data."""
    made, at = [], 0
    while at < len(dump):
        end = at + int.from_bytes(dump[at : at + 2], "big")
        parts = [dump[start : min(start + size, end)] for start in range(at + 4, end, size)]
        codes = [0] if len(parts) == 1 else [1, *[3] * (len(parts) - 2), 2]
        made.append(
            [
                (len(part) + 4).to_bytes(2, "big") + bytes([code, 0]) + part
                for part, code in zip(parts, codes, strict=True)
            ]
        )
        at = end
    return made


def rows_by_record(path: Path) -> dict[int, list[tuple[str, object]]]:
    rows: dict[int, list[tuple[str, object]]] = {}
    for table, batch in smf.read(path, source_id=""):
        if table != smf.INVENTORY:
            for row in batch.to_pylist():
                rows.setdefault(row["record_no"], []).append((table, row))
    return rows


@pytest.mark.parametrize("size", [300, 400, 1000])
def test_a_record_without_a_segment_in_its_middle_gives_no_rows(size: int, dump: bytes, tmp_path: Path) -> None:
    records = spanned(dump, size)
    # Every third of those that have one; a dictionary's records are not of these, as others need them.
    with_middle = [number for number, segments in enumerate(records, start=1) if len(segments) > 2]
    without = {number for number in with_middle[::3] if records[number - 1][0][5] != 110}
    assert len(without) > 3
    lost = [
        segments[:1] + segments[2:] if number in without else segments for number, segments in enumerate(records, 1)
    ]
    for name, segments in (("whole.smf", records), ("lost.smf", lost)):
        (tmp_path / name).write_bytes(b"".join(part for record in segments for part in record))
    whole, left = rows_by_record(tmp_path / "whole.smf"), rows_by_record(tmp_path / "lost.smf")
    assert left == {number: rows for number, rows in whole.items() if number not in without}
    reading = smf.read(tmp_path / "lost.smf", source_id="")
    for _ in reading:
        pass
    # Some differ in that segment alone: the first of those stands for the others.
    first = {b"".join(lost[number - 1]): number for number in sorted(without, reverse=True)}
    assert {row.record_no for row in reading.damage if row.reason == "segments_missing"} == set(first.values())
    summary = reading.summary
    assert summary["damage"] == {"segments_missing": len(first)}
    assert summary["incomplete_bytes"] == sum(map(len, first))
    assert summary["duplicate_bytes"] == sum(len(part) for number in without for part in lost[number - 1]) - sum(
        map(len, first)
    )
    parts = ("incomplete_bytes", "decoded_bytes", "counted_bytes", "duplicate_bytes")
    assert sum(summary[part] for part in parts) == summary["bytes"]
    answer = run("records", "lost.smf", cwd=tmp_path).stdout
    assert f"{summary['incomplete_bytes']:,} in spanned records without some of their segments" in answer


def test_bytes_after_the_last_whole_record_are_damage_or_padding(dump: bytes, tmp_path: Path) -> None:
    begin = int.from_bytes(dump[:2], "big")
    (tmp_path / "odd.smf").write_bytes(dump[:begin] + b"\xff" * 33 + dump[begin:] + b"\xee" * 77 + bytes(5000))
    found = records(tmp_path / "odd.smf")
    account = found["files"][0]["account"]  # type: ignore[index]
    assert (account["damaged"], account["damaged_at_end"], account["padding"]) == (33, 77, 5000)
    (line,) = [line for line in run("records", "odd.smf", cwd=tmp_path).stdout.splitlines() if " bytes = " in line]
    assert line.endswith("33 damaged + 77 damaged after the last whole record + 5,000 of padding after it")
    # The last record is cut in its middle: its bytes are behind the last whole one.
    (tmp_path / "cut.smf").write_bytes(dump[:-10])
    account = records(tmp_path / "cut.smf")["files"][0]["account"]  # type: ignore[index]
    last = spanned(dump, 1 << 20)[-1][0]
    assert (account["damaged"], account["damaged_at_end"], account["padding"]) == (0, len(last) - 10, 0)


def test_results_of_a_load_test_expand_as_far_as_the_option_says(tmp_path: Path) -> None:
    path = tmp_path / "results.jtl.gz"
    rows = "".join(f"{1_700_000_000_000 + 1000 * second},12,home,200,true\n" for second in range(90_000))
    path.write_bytes(gzip.compress(f"timeStamp,elapsed,label,responseCode,success\n{rows}".encode()))
    answer = run("run", path, "--max-expanded", "1MiB", cwd=tmp_path)
    assert answer.returncode != 0
    assert "more than 1,048,576; if the file is genuine, raise --max-expansion or --max-expanded" in answer.stderr
    assert run("run", path, "--max-expanded", "1GiB", cwd=tmp_path).returncode == 0


def test_a_report_that_expands_without_end_is_not_anonymised(tmp_path: Path) -> None:
    packed = zstd(tmp_path / "endless.xml.zst", b'<?xml version="1.0"?><ddsml>', b" " * (1 << 20), 300)
    answer = run("anonymise", packed, "-o", tmp_path / "copy.xml", cwd=tmp_path)
    assert answer.returncode != 0
    assert "more than 1,000 times as many; if the file is genuine, expand it with zstd -d" in answer.stderr
    assert "--max-expan" not in answer.stderr
    assert not (tmp_path / "copy.xml").exists()


def test_a_summary_beyond_the_limit_is_not_called_unknown(tmp_path: Path) -> None:
    path = tmp_path / "wrk.txt.gz"
    path.write_bytes(gzip.compress(b"Running 30s test @ http://x/\n" + b" " * 5000))
    answer = run("run", path, "--max-expanded", "1KiB", cwd=tmp_path)
    assert answer.returncode != 0
    assert "raise --max-expansion or --max-expanded" in answer.stderr
