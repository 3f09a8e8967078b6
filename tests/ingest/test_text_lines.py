"""From bytes to printed lines: encodings, records, pages, carriage control, mail quoting, log prefixes."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from plexlens.ingest.printed.text import TextReportError
from plexlens.ingest.printed.text.decode import TextStream, encoding_of, fixed_length
from plexlens.ingest.printed.text.lines import Line, has_carriage_control, read_lines, without_log_prefix
from tests.ingest.text_report_documents import LOCKING, read_bytes, read_text, statistics, understood


def lines(text: str, pieces: int | None = None) -> tuple[list[Line], list[str]]:
    """Lines of a text, given as a whole or in pieces of so many characters, and what was noted."""
    noted: list[str] = []
    size = pieces or max(len(text), 1)
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    return list(read_lines(cut, lambda reason, line: noted.append(reason))), noted


def texts(text: str) -> list[str]:
    return [line.text for line in lines(text)[0]]


def pages(text: str) -> list[int]:
    return [line.page for line in lines(text)[0]]


# --- lines --------------------------------------------------------------------------------------------------------


def test_line_ends_of_every_kind() -> None:
    assert texts("a\nb\r\nc\rd\x85e") == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_pieces_cut_anywhere_give_the_same(size: int) -> None:
    text = "one\r\ntwo\r\n\r\n> three\n> four\n> five\n\fsix\rseven\n"
    assert lines(text, size) == lines(text)


def test_numbers_are_those_of_the_file() -> None:
    found, _ = lines("\n\na\n\nb")
    assert [(line.number, line.text) for line in found] == [(3, "a"), (5, "b")]


def test_marks_that_mail_and_word_processors_put_in() -> None:
    assert texts("A\u00a0B\u200b  C\x00D") == ["A B  CD"]
    assert texts("<b>CP CPU TIME</b>\t<b>0.5</b>") == ["CP CPU TIME\t0.5"]
    # Comparisons are not tags.
    assert texts("<  00.00.00.500   17") == ["<  00.00.00.500   17"]


def test_lines_without_end_are_cut_and_told_of() -> None:
    found, noted = lines("A" * 10_000 + "\nB\n")
    assert noted == ["line too long"]
    assert [len(line.text) for line in found] == [4096, 1]
    _, noted = lines("A" * 10_000 + "\nB\n", 100)
    assert noted == ["line too long"]


# --- pages --------------------------------------------------------------------------------------------------------


def test_form_feeds_begin_pages() -> None:
    assert pages("a\n\fb\nc\n\f\nd") == [1, 2, 2, 3]
    assert pages("\fa\nb") == [1, 1], "the first page has begun already"


def test_carriage_control_is_taken_off() -> None:
    text = "1HEADING ONE\n  first\n0 second\n- third\n1HEADING TWO\n  fourth\n  fifth\n"
    found, noted = lines(text)
    assert noted == ["carriage control"]
    assert [line.text for line in found] == [
        *("HEADING ONE", " first", " second", " third", "HEADING TWO", " fourth", " fifth")
    ]
    assert [line.page for line in found] == [1, 1, 1, 1, 2, 2, 2]


def test_overprinting_is_put_together() -> None:
    text = "1HEADING\n  TOTAL      5\n+ _____\n  A   1\n+      2\n  X  9\n+ YY\n  LAST\n"
    found, _ = lines(text)
    # Underscores go, characters in other places join, the same place twice is two lines.
    assert [line.text for line in found] == ["HEADING", " TOTAL      5", " A   12", " X  9", " YY", " LAST"]


@pytest.mark.parametrize(
    "sample",
    [
        ["1 2 3", "  4 5", "  6 7"],
        [" a", " b", " c"],
        ["1HEADING", "xline", " b", " c"],
        ["10.5 0.2", "11.5 0.3", "12.5 0.4", " "],
    ],
    ids=["numbers in the first column", "no page at all", "another character", "only numbers"],
)
def test_what_is_no_carriage_control(sample: list[str]) -> None:
    assert not has_carriage_control(sample)


# --- mail and log -------------------------------------------------------------------------------------------------


def test_quoting_of_three_lines_and_more_is_taken_off() -> None:
    assert texts("Hello\n> a\n> b\n\n>\n> c\n> d\nBye") == ["Hello", "a", "b", "c", "d", "Bye"]
    assert texts(">> a\n>> b\n>> c\n") == ["a", "b", "c"]
    assert texts("> > a\n> > b\n> > c\n") == ["a", "b", "c"]


def test_a_lone_mark_belongs_to_its_line() -> None:
    """The last bucket of a response time distribution begins so."""
    text = "<= 00.00.02.000   10\n>  00.00.02.000    1\nend"
    assert texts(text) == text.splitlines()


def test_log_prefixes() -> None:
    first = "N 4000000 SYSA     23074 09:15:01.22 STC01234 00000090  DSNB401I  -DB2A BUFFERPOOL NAME BP1"
    assert without_log_prefix(first) == ("DSNB401I  -DB2A BUFFERPOOL NAME BP1", "SYSA")
    assert without_log_prefix("D                                         123 00000090   BUFFERPOOL ID 1") == (
        " BUFFERPOOL ID 1",
        None,
    )
    assert without_log_prefix("09.15.01 STC01234  DSNB401I  -DB2A") == ("DSNB401I  -DB2A", None)
    assert without_log_prefix("DSNB401I  -DB2A") == ("DSNB401I  -DB2A", None)


# --- bytes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\xef\xbb\xbfabc", "utf-8-sig"),
        ("abc".encode("utf-16"), "utf-16"),
        ("abcdefgh".encode("utf-16-le"), "utf-16-le"),
        ("abcdefgh".encode("utf-16-be"), "utf-16-be"),
        ("NAME   QUANTITY  17.5\x85".encode("cp037"), "ebcdic"),
        (b"NAME   QUANTITY  17.5\n", "utf-8"),
        ("Größe".encode(), "utf-8"),
        (b"Gr\xf6\xdfe \xb5s", "cp1252"),
        (b"", "utf-8"),
        # A character cut off at the end of the head is not a reason for another encoding.
        ("µ".encode()[:1], "utf-8"),
    ],
)
def test_encodings(data: bytes, name: str) -> None:
    assert encoding_of(data) == name


def test_records_without_line_ends() -> None:
    record = ["1HEADING".ljust(133), " A  1".ljust(133), "0B  2".ljust(133)]
    assert fixed_length("".join(record)) == 133
    assert fixed_length("\n".join(record)) is None
    assert fixed_length("x" * 399) is None
    assert fixed_length("".join(record)[:200]) is None


def test_a_compressed_file_that_breaks_off_is_read_so_far(tmp_path: Path) -> None:
    # Enough to come in several pieces, and random enough not to vanish in the compression.
    chance = random.Random(1)
    body = "".join(f"{LOCKING}\n{chance.randbytes(1900).hex()}\n" for _ in range(400))
    whole = gzip.compress(body.encode())
    rows, reading = read_bytes(tmp_path, whole[: len(whole) - len(whole) // 4])
    assert rows["text_db2_locking"]
    assert reading.summary["damage"]["compression broken"] == 1
    broken = next(damage for damage in reading.damage if damage.reason == "compression broken")
    assert broken.severity == "data loss"
    with pytest.raises(TextReportError, match="cannot be read or expanded"):
        read_bytes(tmp_path, whole[:20])


@pytest.mark.parametrize("compress", ["gzip", "zstd"])
def test_compressed_files(tmp_path: Path, compress: str) -> None:
    import pyarrow as pa

    data = statistics().encode()
    plain, _ = read_bytes(tmp_path, data)
    packed = pa.compress(data, codec=compress, asbytes=True)
    rows, reading = read_bytes(tmp_path, packed)
    understood(reading)
    assert rows == plain
    assert reading.position == len(packed)


def test_a_report_in_a_line_too_long_is_data_loss(tmp_path: Path) -> None:
    _, reading = read_text(tmp_path, LOCKING + "\n" + "X" * 5000 + "\n")
    (damage,) = [damage for damage in reading.damage if damage.reason == "line too long"]
    assert damage.severity == "data loss"
    line = len((LOCKING + "\n").splitlines()) + 1
    assert f"line {line} " in damage.detail


def test_the_stream_tells_how_far_it_is(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_bytes(statistics().encode())
    stream = TextStream(path)
    assert stream.position == 0
    text = "".join(stream.pieces())
    assert (text, stream.position, stream.encoding) == (statistics(), path.stat().st_size, "utf-8")


def test_bytes_that_the_encoding_does_not_have_are_told_of(tmp_path: Path) -> None:
    data = (LOCKING * 800).encode()
    # Far behind the part that tells the encoding.
    _, reading = read_bytes(tmp_path, data[:-40] + b"\xff\xfe" + data[-40:])
    (damage,) = [damage for damage in reading.damage if damage.reason == "undecodable bytes"]
    assert damage.severity == "error"
    assert "2 places" in damage.detail
