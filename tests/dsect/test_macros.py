"""Macros and conditional assembly; the generated statements are judged by the places they give."""

from __future__ import annotations

import pytest

from plexlens.dsect import DsectError
from tests.dsect.sources import assembly_of, continued, fields_of, places_of, section_of


def test_a_library_member_is_expanded_with_its_defaults() -> None:
    # Lines of another language before MACRO and behind MEND are what such members hold.
    text = """
    *  PROCEDURE TEXT;   /*
             MACRO
    &LABEL   MAPPING &DSECT=YES,&EXTRA=NO
    .*  a macro comment
             AIF   ('&DSECT' EQ 'NO').PLAIN
    REC      DSECT
             AGO   .FIELDS
    .PLAIN   ANOP
    REC      DS    0F
    .FIELDS  ANOP
    A        DS    F
             AIF   ('&EXTRA' NE 'YES').DONE
    B        DS    F
    .DONE    MEND
     DECLARE 1 REC BASED(P),
      2 A FIXED;
    """
    assert places_of(text) == {"A": (0, 4)}
    notes = " ".join(assembly_of(text).notes)
    assert "macro MAPPING (line 4) was expanded with its defaults" in notes
    assert "from line 16 on, not read: 2" in notes


def test_a_call_in_the_file_gives_the_operands() -> None:
    text = """
             MACRO
             MAPPING &DSECT=YES,&EXTRA=NO
    REC      DSECT
    A        DS    F
             AIF   ('&EXTRA' NE 'YES').DONE
    B        DS    F
    .DONE    ANOP
             MEND
             MAPPING EXTRA=YES
    """
    assert places_of(text) == {"A": (0, 4), "B": (4, 4)}


def test_loops_arithmetic_and_substitution() -> None:
    # I runs 1, 2, 3; the fields are A01 to A03 of length 2, 4, 6; a dot ends a variable; a SETA has no leading zeros.
    text = """
             MACRO
             MANY  &COUNT=3
             LCLA  &I
             LCLC  &N(10)
    &SIZE    SETA  K'&COUNT
    REC      DSECT
    .NEXT    AIF   (&I GE &COUNT).END
    &I       SETA  &I+1
    &N(&I)   SETC  'A'.'00&I'(K'&I+1,2)
    &N(&I)   DS    CL(&I.*2)
             AGO   .NEXT
    .END     ANOP
    N&COUNT.X DS   XL(&SIZE)
             MEND
    """
    assert places_of(text) == {"A01": (0, 2), "A02": (2, 4), "A03": (6, 6), "N3X": (12, 1)}


def test_positional_operands_sublists_and_syslist() -> None:
    # FIRST=X1; LIST has 3 entries of which the second is 5 long; SYSLIST(3) is 7 long; N'&SYSLIST is 3.
    text = """
             MACRO
    &NAME    MAP   &FIRST,&LIST
    &N(1)    SETA  N'&LIST,N'&SYSLIST,K'&SYSLIST(2)
    &NAME    DSECT
    &FIRST   DS    XL(&N(1))
    F2       DS    XL(&LIST(2))
    F3       DS    XL(&SYSLIST(3))
    F4       DS    XL(&N(2))
    F5       DS    XL(&N(3))
             MEND
    REC      MAP   X1,(4,5,6),7
    """
    assert places_of(text, "REC") == {"X1": (0, 3), "F2": (3, 5), "F3": (8, 7), "F4": (15, 3), "F5": (18, 7)}


def test_inner_macros_globals_and_system_variables() -> None:
    text = """
             MACRO
             INNER &L
             GBLA  &TOTAL
    &TOTAL   SETA  &TOTAL+&L
    I&SYSNDX DS    XL&L
    &SYSECT.&SYSNDX EQU *-&SYSECT
             MEND
             MACRO
             OUTER
             GBLA  &TOTAL
    REC      DSECT
             INNER 2
             INNER 3
    SUM      DS    XL&TOTAL
    LAST     DS    XL(REC0003)
             MEND
    """
    # OUTER is the first call, so the inner ones are 0002 and 0003; SUM is 5 long; REC0003 is the length behind both, 5.
    assert places_of(text) == {"I0002": (0, 2), "I0003": (2, 3), "SUM": (5, 5), "LAST": (10, 5)}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1 EQ 1", True),
        ("1 LT 2 AND 2 LT 1", False),
        ("1 LT 2 OR 2 LT 1", True),
        ("NOT 1 EQ 1", False),
        ("NOT (1 EQ 2)", True),
        ("1 AND NOT 0", True),
        ("1 XOR 1", False),
        ("'A' EQ 'A'", True),
        ("'AB' LT 'B'", False),  # the shorter one is less
        ("'B' LT 'AB'", True),
        ("'A' LT '1'", True),  # letters before digits in EBCDIC
        ("'ABCD'(2,2) EQ 'BC'", True),
        ("'ABCD'(3,*) EQ 'CD'", True),
        ("'&P'(1,1) EQ '('", True),
        ("T'&NONE EQ 'O'", True),
        ("T'&NUM EQ 'N'", True),
        ("T'&NUM NE 'O'", True),
        ("N'&P EQ 2", True),
        ("&NUM+1 EQ 8", True),
        ("&NUM/2 EQ 3", True),
        ("(&NUM GE 7) AND (&NUM LE 7)", True),
        ("(2)'AB' EQ 'ABAB'", True),
        ("('ABC' INDEX 'C') EQ 3", True),
        ("('ABC' FIND 'XB') EQ 2", True),
        ("(UPPER 'ab') EQ 'AB'", True),
        ("X'0F' EQ 15", True),
        ("SEVEN EQ 7", True),
        ("D'SEVEN", True),
        ("D'EIGHT", False),
        ("'it''s' EQ 'it''s'", True),
        ("-1 LT 0", True),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    text = f"""
             MACRO
             MAP   &P=(A,B),&NONE=,&NUM=7
             AIF   ({condition}).YES
    REC      DSECT
    NO       DS    X
             MEXIT
    .YES     ANOP
    REC      DSECT
    YES      DS    X
             MEND
    SEVEN    EQU   7
             MAP
    """
    assert list(places_of(text, "REC")) == ["YES" if holds else "NO"]


def test_computed_branch_and_several_conditions() -> None:
    text = """
             MACRO
             MAP   &N
    REC&N    DSECT
             AGO   (&N).ONE,.TWO
    OTHER&N  DS    X
             MEXIT
    .ONE     ANOP
    ONE      DS    X
             MEXIT
    .TWO     ANOP
    TWO      DS    X
             MEND
             MAP   1
             MAP   2
             MAP   3
    """
    assert [list(places_of(text, f"REC{n}")) for n in (1, 2, 3)] == [["ONE"], ["TWO"], ["OTHER3"]]


def test_conditional_assembly_in_open_code() -> None:
    text = """
    &OLD     SETB  (0)
    REC      DSECT
             AIF   (&OLD).SKIP
    A        DS    F
    .SKIP    ANOP
    B        DS    H
    """
    assert places_of(text) == {"A": (0, 4), "B": (4, 2)}


def test_the_prototype_may_be_continued_with_remarks() -> None:
    prototype = continued("         MAP   &A=1,                 first", "&B=2", "")
    text = f"         MACRO\n{prototype}\nREC      DSECT\nF        DS    XL(&A+&B)\n         MEND\n"
    assert places_of(text) == {"F": (0, 3)}


def test_a_remark_that_a_substitution_makes_is_a_remark() -> None:
    text = """
             MACRO
             MAP   &T='F  remark of the value'
             LCLC  &X
    &X       SETC  '&T'(2,K'&T-2)
    REC      DSECT
    A        DS    &X
             MEND
    """
    assert fields_of(text)["A"].description == "remark of the value"


@pytest.mark.parametrize(
    ("body", "line", "what"),
    [
        ("         SOMEMAC A", 4, "SOMEMAC is not an assembler instruction"),
        ("         COPY  MEMBER", 4, "member MEMBER is not available"),
        (".A       AGO   .A", 4, "does not end"),
        ("         AGO   .B", 4, ".B is not defined"),
        ("         AIF   ('A' EQ 1).B", 4, "is not a number"),
        ("         AIF   'A' EQ 'A'", 4, "no condition in parentheses"),
        ("         AIF   (A2B('X') EQ 1).B", 4, "cannot be parsed"),
        ("&X       SETA  'ABC'", 4, "is not a number"),
        ("X        SETA  1", 4, "cannot be set"),
        ("&P       SETA  1", 4, "cannot be set"),
        ("&X       SETC  (5000)'A'", 4, "a text of 5000 times 1 characters"),
        ("&X(0)    SETA  1", 4, "subscript 0"),
        ("F        DS    &UNKNOWN", 4, "&UNKNOWN is not defined"),
        ("F        DS    &(X)", 4, "is not a variable symbol"),
        ("         MNOTE 8,'wrong operand'", 4, "the macro refuses: wrong operand"),
        ("         MAP   Q=1", 4, "has no operand Q="),
        ("         MAP", 4, "call each other more than"),
        ("&X       SETA  2147483647+1", 4, "outside 32 bits"),
        ("         AIF   (L'REC EQ 1).B", 4, "attribute L'REC"),
        ("         MACRO\n         IN\n         MEND", 4, "MACRO is not supported within a macro"),
    ],
)
def test_what_cannot_be_followed_is_named(body: str, line: int, what: str) -> None:
    text = f"         MACRO\n         MAP   &P=1\nREC      DSECT\n{body}\nLAST     DS    F\n         MEND\n"
    with pytest.raises(DsectError) as caught:
        section_of(text)
    assert (caught.value.line, what in caught.value.what) == (line, True), caught.value
    assert "in macro MAP, called in line" in caught.value.what


@pytest.mark.parametrize(
    "text", ["         MACRO", "         MACRO\n         MAP\nREC      DSECT", "         MACRO\n         MEND"]
)
def test_an_open_definition(text: str) -> None:
    with pytest.raises(DsectError, match="macro definition is not complete"):
        section_of(f"*\n{text}\n")


def test_more_branches_than_usual_need_actr() -> None:
    text = """
             MACRO
             MAP   &TIMES
             ACTR  9000
    .NEXT    ANOP
    &I       SETA  &I+1
             AIF   (&I LT &TIMES).NEXT
    REC      DSECT
    A        DS    XL(&I)
             MEND
             MAP   5000
    """
    assert places_of(text, "REC") == {"A": (0, 5000)}
    with pytest.raises(DsectError, match="does not end"):
        section_of(text.replace("ACTR  9000", "ANOP"))


def test_a_fault_of_open_code_is_its_sections_alone() -> None:
    text = (
        "REC      DSECT\nA        DS    F\nCODE     CSECT\n         MVC   A,&UNDEF\nX        DS    C,".ljust(99) + "X"
    )
    assert places_of(text, "REC") == {"A": (0, 4)}
    assert assembly_of(text).sections[1].fault is not None


def test_mend_without_macro() -> None:
    with pytest.raises(DsectError, match="MEND without MACRO"):
        section_of("REC      DSECT\nA        DS    F\n         MEND\n")


def test_a_mild_mnote_is_passed_on() -> None:
    text = (
        "         MACRO\n         MAP\n         MNOTE 4,'old form'\nREC      DSECT\nF        DS    F\n         MEND\n"
    )
    assert any("old form" in note for note in assembly_of(text).notes)
