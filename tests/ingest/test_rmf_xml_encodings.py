"""Encodings: declared, marked, EBCDIC, and declarations that a transfer made wrong."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from plexlens.ingest.printed import xml as rmf_xml
from plexlens.ingest.printed.xml.decode import detect
from tests.ingest.rmf_documents import (
    ddsml,
    part,
    postprocessor,
    read_bytes,
    reasons,
    segment,
    values,
    variable_list,
)

BODY = postprocessor("X", segment("S", part("P", variable_list({"Größe": "äöü", "N": "1.5"}))))


def document(encoding: str) -> str:
    return ddsml(BODY).replace('encoding="UTF-8"', f'encoding="{encoding}"')


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("UTF-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ("ISO-8859-1", "latin-1"),
        ("iso8859-15", "iso8859-15"),
        ("windows-1252", "cp1252"),
        ("UTF-16", "utf-16"),
        ("UTF-16LE", "utf-16-le"),
        ("UTF-16BE", "utf-16-be"),
        ("UTF-32", "utf-32"),
        ("IBM-037", "cp037"),
    ],
)
def test_every_encoding_gives_the_same_rows(tmp_path: Path, declared: str, codec: str) -> None:
    expected, _ = read_bytes(tmp_path, document("UTF-8").encode())
    data = document(declared).encode(codec)
    assert rmf_xml.sniff(data[:4096], "x")
    rows, reading = read_bytes(tmp_path, data)
    assert rows == expected
    assert reading.damage == []
    assert [value["name"] for value in values(rows, "var")] == ["Größe", "N"]


# The characters in which EBCDIC 1047 differs from 037, and their code points, from IBM's code page tables.
CP1047 = {"[": 0xAD, "]": 0xBD, "^": 0x5F, "\u00ac": 0xB0, "\u00dd": 0xBA, "\u00a8": 0xBB, "\n": 0x15}


def as_1047(text: str) -> bytes:
    return b"".join(bytes([CP1047[letter]]) if letter in CP1047 else letter.encode("cp037") for letter in text)


@pytest.mark.parametrize("declared", ["IBM-1047", "ibm1047", "IBM01047", "CP1047", "EBCDIC-CP-1047"])
def test_ebcdic_1047_as_zos_writes_it(tmp_path: Path, declared: str) -> None:
    text = document(declared).replace("äöü", "[^]\u00ac")
    rows, reading = read_bytes(tmp_path, as_1047(text))
    assert values(rows, "var")[0]["value"] == "[^]\u00ac"
    assert values(rows, "var")[0]["line"] == 1 + next(n for n, line in enumerate(text.split("\n")) if "[^]" in line)
    assert reading.damage == []


@pytest.mark.parametrize("declared", ["IBM-1047", "IBM037", "cp500", "UTF-16", "no-such-code", "unicode_escape"])
def test_a_declaration_that_the_bytes_belie(tmp_path: Path, declared: str) -> None:
    expected, _ = read_bytes(tmp_path, document("UTF-8").encode())
    rows, reading = read_bytes(tmp_path, document(declared).encode())
    assert rows == expected
    assert reasons(reading) == [("encoding mislabelled", "info")]
    assert declared in reading.damage[0].detail


def test_ebcdic_under_a_declaration_of_utf_8(tmp_path: Path) -> None:
    rows, reading = read_bytes(tmp_path, document("UTF-8").encode("cp037"))
    assert values(rows, "var")[1]["number"] == 1.5
    assert reasons(reading) == [("encoding mislabelled", "info")]


def test_bytes_that_the_encoding_does_not_have(tmp_path: Path) -> None:
    text = ddsml(BODY).encode().replace("äöü".encode(), b"\xe4\xf6\xfc")
    rows, reading = read_bytes(tmp_path, text)
    assert values(rows, "var")[0]["value"] == "\ufffd\ufffd\ufffd"
    assert values(rows, "var")[1]["number"] == 1.5
    (damage,) = reading.damage
    assert (damage.reason, damage.severity) == ("undecodable bytes", "error")
    line = 1 + text[: text.index(b"\xe4")].count(b"\n")
    assert damage.detail.startswith(f"line {line}: the first of 3 characters")


def test_blank_lines_before_the_declaration(tmp_path: Path) -> None:
    expected, _ = read_bytes(tmp_path, ddsml(BODY).encode())
    rows, reading = read_bytes(tmp_path, b"\n\r\n  " + ddsml(BODY).encode())
    assert [value["value"] for value in values(rows)] == [value["value"] for value in values(expected)]
    assert [value["line"] - 2 for value in values(rows)] == [value["line"] for value in values(expected)]
    assert reading.damage == []


def test_a_character_cut_between_two_pieces_of_the_file(tmp_path: Path) -> None:
    filler = "x" * (65536 - len(ddsml(BODY)[: ddsml(BODY).index("äöü")].encode()) - 1)
    text = ddsml(BODY).replace("<ddsml>", f"<ddsml><!--{filler[:-7]}-->")
    data = text.encode()
    assert data[:65536].endswith("ä".encode()[:1])
    rows, reading = read_bytes(tmp_path, data)
    assert values(rows, "var")[0]["value"] == "äöü"
    assert reading.damage == []


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"<ddsml>", "utf-8"),
        (codecs.BOM_UTF8 + b"<ddsml>", "utf-8-sig"),
        (codecs.BOM_UTF16_LE + "<a>".encode("utf-16-le"), "utf-16"),
        (codecs.BOM_UTF32_LE + "<a>".encode("utf-32-le"), "utf-32"),
        ("<?xml".encode("cp037"), "ebcdic"),
        (b"<?xml version='1.0' encoding='latin1'?>", "iso8859-1"),
        (b"", "utf-8"),
    ],
)
def test_detection(head: bytes, name: str) -> None:
    assert detect(head).name == name
