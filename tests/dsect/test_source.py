"""Text and EBCDIC sources; the EBCDIC forms are made here by Python's own code page."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.dsect import DsectError
from plexlens.dsect.source import MOST_BYTES, read_source
from plexlens.errors import EmptyInputError, UsageError

LINES = ["REC      DSECT", "A        DS    F                  first [remark]", "B        DS    CL8"]
CARDS = "".join(line.ljust(72) + f"{number:08}" for number, line in enumerate(LINES, 1))


def written(folder: Path, data: bytes) -> Path:
    path = folder / "made.asm"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_text(tmp_path: Path, end: str) -> None:
    source = read_source(written(tmp_path, end.join(LINES).encode()))
    assert list(source.lines) == LINES
    assert source.notes == ()
    assert source.name == "made.asm"


def test_text_with_byte_order_mark_or_as_utf16(tmp_path: Path) -> None:
    assert list(read_source(written(tmp_path, "\n".join(LINES).encode("utf-8-sig"))).lines) == LINES
    source = read_source(written(tmp_path, "\n".join(LINES).encode("utf-16")))
    assert list(source.lines) == LINES
    assert "UTF-16" in source.notes[0]


def test_latin1_and_tabs(tmp_path: Path) -> None:
    source = read_source(written(tmp_path, "REC\tDSECT\nA\tDS\tF\tgröße\n".encode("latin-1")))
    assert source.lines[1] == "A       DS      F       größe"
    assert len(source.notes) == 2


def test_card_images_of_text(tmp_path: Path) -> None:
    source = read_source(written(tmp_path, CARDS.encode()))
    assert [line[:72].rstrip() for line in source.lines] == LINES


@pytest.mark.parametrize(("codepage", "brackets"), [("037", b"\xba\xbb"), ("1047", b"\xad\xbd")])
def test_ebcdic_card_images(tmp_path: Path, codepage: str, brackets: bytes) -> None:
    # Brackets are X'BA' and X'BB' in 037, X'AD' and X'BD' in 1047.
    data = CARDS.encode("cp037").replace(b"\xba", brackets[:1]).replace(b"\xbb", brackets[1:])
    source = read_source(written(tmp_path, data), codepage)
    assert [line[:72].rstrip() for line in source.lines] == LINES
    assert f"EBCDIC as card images of 80 bytes; it was converted from code page {codepage}" in source.notes[0]


@pytest.mark.parametrize("end", [b"\x15", b"\x25", b"\x0d\x25"])
def test_ebcdic_with_line_ends(tmp_path: Path, end: bytes) -> None:
    data = end.join(line.encode("cp037") for line in LINES)
    source = read_source(written(tmp_path, data), "037")
    assert list(source.lines) == LINES
    assert "EBCDIC with line ends" in source.notes[0]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "empty"),
        (b"   ", "empty"),
        (bytes(range(256)) * 8, "neither text nor EBCDIC"),
        (b"\x00" * 70 + b"\x01\x02" * 50, "neither text nor EBCDIC"),
        (CARDS.encode("cp037")[:-7], "not a multiple of 80"),
        (CARDS.encode()[:-7], "not a multiple of 80"),
        (b"\xff\xfe\x00\xd8\x00\xd8", "neither text nor EBCDIC"),
    ],
)
def test_no_source(tmp_path: Path, data: bytes, what: str) -> None:
    with pytest.raises(EmptyInputError if what == "empty" else DsectError, match=what) as caught:
        read_source(written(tmp_path, data))
    assert caught.value.file.endswith("made.asm")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.asm", tmp_path):
        with pytest.raises(DsectError, match="cannot be read"):
            read_source(path)


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.asm"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(DsectError, match="larger than 32 MiB"):
        read_source(path)


def test_no_such_code_page(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="037 or 1047"):
        read_source(written(tmp_path, b"A DS F\n"), "500")
