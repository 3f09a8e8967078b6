"""What a field is read as: type, EQU, remark, hint and known layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plexlens.dsect.fields import Choices, Known
from plexlens.dsect.formats import Hint, read_hints
from plexlens.errors import UsageError
from tests.dsect.sources import FILE, fields_of, layout_for


def read_as(declared: str, **choices: Any) -> str:
    """Format and unit of one field, with its confidence."""
    one = fields_of(f"REC      DSECT\nFIELD    DS    {declared}\n", choices=Choices(FILE, **choices))["FIELD"]
    return f"{one.format} {one.unit} {one.confidence}".replace("  ", " ")


@pytest.mark.parametrize(
    ("declared", "unsigned", "signed"),
    [
        ("F", "u32", "i32"),
        ("H", "u16", "i16"),
        ("FD", "u64", "i64"),
        ("FL8", "u64", "i64"),
        ("FL1", "u8", "u8"),
        ("FL3", "bytes", "bytes"),
        ("HL4", "u32", "i32"),
        ("A", "u32", "u32"),
        ("AD", "u64", "u64"),
        ("AL2", "u16", "u16"),
        ("AL3", "bytes", "bytes"),
        ("Y", "u16", "u16"),
        ("V", "u32", "u32"),
        ("S", "bytes", "bytes"),
        ("C", "ebcdic", "ebcdic"),
        ("CL300", "ebcdic", "ebcdic"),
        ("CE", "ebcdic", "ebcdic"),
        ("CAL4", "bytes", "bytes"),
        ("CUL4", "bytes", "bytes"),
        ("GL4", "bytes", "bytes"),
        ("ZL4", "ebcdic", "ebcdic"),
        ("X", "u8", "u8"),
        ("XL2", "bytes", "bytes"),
        ("XL4", "bytes", "bytes"),
        ("XL8", "bytes", "bytes"),
        ("B", "bits", "bits"),
        ("BL2", "bits", "bits"),
        ("BL3", "bytes", "bytes"),
        ("PL4", "packed", "packed"),
        ("PL10", "bytes", "bytes"),
        ("E", "f32_hex", "f32_hex"),
        ("EH", "f32_hex", "f32_hex"),
        ("EB", "bytes", "bytes"),
        ("D", "bytes", "bytes"),
        ("DH", "f64_hex", "f64_hex"),
        ("DB", "f64_bfp", "f64_bfp"),
        ("DD", "bytes", "bytes"),
        ("L", "bytes", "bytes"),
        ("BL.3", "bits", "bits"),
    ],
)
def test_types(declared: str, unsigned: str, signed: str) -> None:
    assert read_as(declared) == f"{unsigned} high"
    assert read_as(declared, signed=True) == f"{signed} high"


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("XL8   BEGINNING STORE CLOCK VALUE", "stck low"),
        ("CL8   END TIME IN STCK FORMAT", "stck low"),
        ("D     TIME STAMP OF THE BUFFER", "stck low"),
        ("XL8   ACCUMULATED ELAPSED TIME, STCK", "cpu_stck low"),
        ("XL8   TCB TIME AT THE END", "cpu_stck low"),
        ("XL8   A TOKEN", "bytes high"),
        ("XL16  STORE CLOCK EXTENDED", "bytes high"),
        ("XL7   STORE CLOCK", "bytes high"),
        ("F     WAIT TIME IN MICROSECONDS", "u32 us low"),
        ("F     IN 128-MICROSECOND UNITS", "u32 128us low"),
        ("FD    CPU TIME IN MILLISECONDS", "u64 ms low"),
        ("F     IN HUNDREDTHS OF A SECOND", "u32 0.01s low"),
        ("H     INTERVAL IN SECONDS", "u16 s low"),
        ("F     SIZE IN KILOBYTES", "u32 KiB low"),
        ("F     COUNT OF SECOND CHANCES", "u32 high"),
        ("PL4   DATE 0CYYDDDF", "smf_date low"),
        ("PL4   TIME 0HHMMSSF", "packed 0hhmmssF low"),
        ("PL4   A NUMBER", "packed high"),
        ("F     HUNDREDTHS OF SECONDS SINCE MIDNIGHT", "tod_hundredths 0.01s low"),
        ("CL4   STORE CLOCK", "ebcdic high"),
    ],
)
def test_remarks_set_format_and_unit_alone(declared: str, expected: str) -> None:
    assert read_as(declared) == expected


def test_masks_behind_a_byte_are_its_description() -> None:
    text = """
    REC      DSECT
    FLAGS    DS    X                  state
    ONE      EQU   X'80'              first bit
    TWO      EQU   B'01000000'
    LOW      EQU   X'01'
    BOTH     EQU   X'C0'
    CODE     DS    X                  kind
    KIND1    EQU   1                  the one
    KIND3    EQU   3
    CODEX    DS    X
    KINDA    EQU   X'05'
    KINDB    EQU   X'07'
    LETTER   DS    CL1
    YES      EQU   C'Y'
    WIDE     DS    XL2
    W1       EQU   X'8000'
    W2       EQU   X'0001'
    NARROW   DS    XL2
    N1       EQU   X'80'
    ALL      DS    BL1
    ALLSUM   EQU   X'F0'
    WORD     DS    BL4
    WORD1    EQU   X'80000000'
    PLAIN    DS    X
    LEN      EQU   *-REC
             DS    X
    NOT      EQU   X'80'
    """
    read = {name: (one.format, one.description) for name, one in fields_of(text).items()}
    assert read == {
        "FLAGS": ("bits", "state; bits: 0 ONE first bit, 1 TWO, 7 LOW, 0-1 BOTH"),
        "CODE": ("u8", "kind; values: 1 KIND1 the one, 3 KIND3"),
        "CODEX": ("u8", "DS X; values: X'05' KINDA, X'07' KINDB"),
        "LETTER": ("ebcdic", "DS CL1; values: C'Y' YES"),
        "WIDE": ("bits", "DS XL2; bits: 0 W1, 15 W2"),
        "NARROW": ("bytes", "DS XL2; values: X'80' N1"),
        "ALL": ("bits", "DS BL1; bits: 0-3 ALLSUM"),
        "WORD": ("bits", "DS BL4; bits: 0 WORD1"),
        "PLAIN": ("u8", "DS X"),
    }


def test_redefinitions_groups_and_other_names_are_noted_in_order() -> None:
    text = """
    REC      DSECT
    DATE     DS    0CL8               the date
    YEAR     DS    CL4
    DAY      DS    CL4
    MIXED    DS    0CL5
    NUMBER   DS    FL4
    LETTER   DS    CL1
             ORG   YEAR
    HALVES   DS    2XL2
             ORG   DAY
    AGAIN    DS    0CL2
    AGAIN1   DS    C
    AGAIN2   DS    C
             ORG   ,
    FLAT     DS    0CL300
    REST     DS    CL300
    TAIL     DS    0CL4
    SHORT    DS    CL2
    NEWNAME  EQU   DAY
    """
    layout = layout_for(text)
    assert [(one.name, one.offset, one.format, one.description) for one in layout.fields] == [
        ("DATE", 0, "ebcdic", "the date; group of the following fields"),
        ("YEAR", 0, "ebcdic", "DS CL4"),
        ("DAY", 4, "ebcdic", "DS CL4; also NEWNAME"),
        ("MIXED", 8, "bytes", "DS 0CL5; group of the following fields"),
        ("NUMBER", 8, "u32", "DS FL4"),
        ("LETTER", 12, "ebcdic", "DS CL1"),
        ("HALVES_1", 0, "bytes", "DS 2XL2; element 1 of 2; redefines YEAR"),
        ("HALVES_2", 2, "bytes", "DS 2XL2; element 2 of 2; redefines YEAR"),
        ("AGAIN", 4, "ebcdic", "DS 0CL2; group of the following fields; redefines DAY"),
        ("AGAIN1", 4, "ebcdic", "DS C; redefines DAY"),
        ("AGAIN2", 5, "ebcdic", "DS C; redefines DAY"),
        ("REST", 13, "ebcdic", "DS CL300"),
        ("SHORT", 313, "ebcdic", "DS CL2"),
    ]
    assert [(one.name, one.reason.split(";")[0]) for one in layout.skipped] == [
        ("FLAT", "a group of 300 bytes"),
        ("TAIL", "the 4 bytes of the group end after the section"),
    ]


def test_what_is_skipped_or_renamed_is_told() -> None:
    text = """
    REC      DSECT
             DS    XL3
    #COUNT   DS    X
    SYSTEM   DS    CL4
    A_1      DS    X
    A        DS    2X'00'
    MANY     DS    300FL2
    BIG      DS    CL32700
    """
    layout = layout_for(text)
    # 3 unnamed; 1+4+1+2+600 bytes of fields end at 611; BIG ends at 33311, behind 32756.
    assert [one.name for one in layout.fields] == ["X_#COUNT", "X_SYSTEM", "A_1", "A__1", "A_2", "MANY"]
    assert layout.fields[-1].format == "bytes"
    assert "array of 300 elements" in layout.fields[-1].description
    assert layout.length == 33_311
    assert [(one.name, one.line) for one in layout.skipped] == [("BIG", 9)]
    assert len(layout.notes) == 3


def test_source_names_file_section_and_line() -> None:
    one = fields_of("REC      DSECT\n\nA        DS    F\n")["A"]
    assert one.source == "made.asm: DSECT REC, line 3"


def test_hints_come_first() -> None:
    hints = {"FIELD": Hint("u64", "us", 2)}
    assert read_as("XL8   BEGINNING STORE CLOCK VALUE", hints=hints, hints_file="site.csv") == "u64 us high"
    wrong = Choices(FILE, hints={"FIELD": Hint("u32", "", 5)}, hints_file="site.csv")
    layout = layout_for("REC      DSECT\nFIELD    DS    XL8\n", choices=wrong)
    assert layout.fields[0].format == "bytes"
    assert "line 5" in layout.notes[0]
    array = Choices(FILE, hints={"F": Hint("i32", "", 2), "F_2": Hint("bits", "", 3)}, hints_file="site.csv")
    fields = fields_of("REC      DSECT\nF        DS    3F\n", choices=array)
    assert [fields[f"F_{n}"].format for n in (1, 2, 3)] == ["i32", "bits", "i32"]


def known(form: str, length: int, *, unit: str = "", confidence: str = "medium", name: str = "FIELD") -> Known:
    row = {
        "field": name,
        "offset": 0,
        "length": length,
        "format": form,
        "recorded_unit": unit,
        "confidence": confidence,
    }
    return Known([row | {"description": "as known", "since": "9.1"}])


@pytest.mark.parametrize(
    ("declared", "layout", "expected"),
    [
        ("XL8", known("cpu_stck", 8), "cpu_stck medium"),
        ("XL8", known("stck", 8, confidence="high"), "stck high"),
        ("XL8", known("stck", 8, confidence="low"), "stck medium"),
        ("F", known("u32", 4, confidence="low"), "u32 high"),
        ("F", known("u32", 4, unit="us"), "u32 us medium"),
        ("F", known("i32", 4), "i32 medium"),
        ("XL8", known("stck", 4), "bytes high"),  # another length
        ("PL4", known("u32", 4), "packed high"),  # contradicts the type
        ("CL4", known("u32", 4), "u32 medium"),
        ("XL8  TIME STAMP", known("cpu_stck", 8), "cpu_stck medium"),
    ],
)
def test_the_known_layout_tells_what_the_type_leaves_open(declared: str, layout: Known, expected: str) -> None:
    assert read_as(declared, known=layout) == expected


def test_known_names_stand_for_record_types() -> None:
    choices = Choices(FILE, known=known("smf_date", 4, name="SMFxDTE"))
    one = fields_of("REC      DSECT\nSMF30DTE DS    PL4\n", choices=choices)["SMF30DTE"]
    assert (one.format, one.description, one.since) == ("smf_date", "as known", "9.1")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("field,format\nA,u8\n", 1, "heading"),
        ("field,format,unit\nA,u9,\n", 2, "no format 'u9'"),
        ("field,format,unit\nA,u8,\na,u8,\n", 3, "stands twice"),
        ("field,format,unit\n,u8,\n", 2, "a row needs"),
        ("field,format,unit\nA,u8,,x\n", 2, "a row needs"),
        ('field,format,unit\nA,"u8\n', None, "not valid CSV"),
        ("", 1, "heading"),
    ],
)
def test_wrong_hints(tmp_path: Path, text: str, line: int | None, what: str) -> None:
    path = tmp_path / "hints.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=what) as caught:
        read_hints(path)
    assert caught.value.line == line


def test_hints_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_hints(tmp_path / "none.csv")
    (tmp_path / "bad.csv").write_bytes(b"field,format,unit\n\xff\xfe,u8,\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_hints(tmp_path / "bad.csv")
