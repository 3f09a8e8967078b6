"""Offsets and lengths, each worked by hand from the rules of the HLASM Language Reference."""

from __future__ import annotations

import pytest

from plexlens.dsect import DsectError
from tests.dsect.sources import assembly_of, continued, layout_for, places_of, section_of


def test_types_align_to_their_boundaries() -> None:
    # 0; up to 4; 8; up to 16; 24; up to 32; 40 up to 48 (quadword), ends at 64.
    text = """
    REC      DSECT
    ONEC     DS    C
    FULL     DS    F
    HALF     DS    H
    DOUB     DS    D
    ONEX     DS    X
    LONG     DS    FD
    QUAD     DS    LQ
    LAST     DS    AD
    """
    assert places_of(text) == {
        "ONEC": (0, 1),
        "FULL": (4, 4),
        "HALF": (8, 2),
        "DOUB": (16, 8),
        "ONEX": (24, 1),
        "LONG": (32, 8),
        "QUAD": (48, 16),
        "LAST": (64, 8),
    }


@pytest.mark.parametrize(
    ("operand", "place"),
    [
        ("C", (1, 1)),
        ("CL8", (1, 8)),
        ("X", (1, 1)),
        ("XL3", (1, 3)),
        ("B", (1, 1)),
        ("H", (2, 2)),
        ("HL2", (1, 2)),
        ("F", (4, 4)),
        ("FL4", (1, 4)),
        ("FL3", (1, 3)),
        ("FD", (8, 8)),
        ("FDL8", (1, 8)),
        ("A", (4, 4)),
        ("AL3", (1, 3)),
        ("AD", (8, 8)),
        ("Y", (2, 2)),
        ("YL1", (1, 1)),
        ("S", (2, 2)),
        ("SY", (2, 3)),
        ("V", (4, 4)),
        ("VD", (8, 8)),
        ("Q", (4, 4)),
        ("QY", (2, 3)),
        ("J", (4, 4)),
        ("R", (4, 4)),
        ("E", (4, 4)),
        ("EB", (4, 4)),
        ("EH", (4, 4)),
        ("D", (8, 8)),
        ("DB", (8, 8)),
        ("DH", (8, 8)),
        ("DL8", (1, 8)),
        ("L", (8, 16)),
        ("LB", (8, 16)),
        ("LD", (8, 16)),
        ("LQ", (16, 16)),
        ("LL16", (1, 16)),
        ("P", (1, 1)),
        ("PL5", (1, 5)),
        ("Z", (1, 1)),
        ("ZL4", (1, 4)),
        ("CU", (1, 2)),
        ("G", (1, 2)),
        ("GL4", (1, 4)),
        ("CEL6", (1, 6)),
    ],
)
def test_place_behind_one_byte(operand: str, place: tuple[int, int]) -> None:
    text = f"REC      DSECT\nPAD      DS    X\nFIELD    DS    {operand}\n"
    assert places_of(text)["FIELD"] == place


@pytest.mark.parametrize(
    ("operand", "length"),
    [
        ("C'ABCDE'", 5),
        ("C'IT''S'", 4),
        ("C'A&&B'", 3),
        ("C'A,B'", 3),
        ("CU'AB'", 4),
        ("X'ABC'", 2),
        ("X'12 34'", 2),
        ("B'101'", 1),
        ("B'101010101'", 2),
        ("P'1'", 1),
        ("P'12'", 2),
        ("P'-123'", 2),
        ("P'1.234'", 3),
        ("Z'-123'", 3),
        ("CL8'AB'", 8),
        ("F'1E3'", 4),
    ],
)
def test_implied_length_of_a_value(operand: str, length: int) -> None:
    assert places_of(f"REC      DSECT\nFIELD    DC    {operand}  remark\n") == {"FIELD": (0, length)}


def test_zero_duplication_aligns_and_takes_nothing() -> None:
    # X at 0; 0F aligns to 4 and the label takes nothing; 0D to 8 and AFTER with it; 0FL4 says a length: no alignment.
    text = """
    REC      DSECT
    PAD      DS    X
    LABEL    DS    0F
    ONE      DS    X
             DS    0D
    AFTER    DS    X
    GROUP    DS    0FL4
    PART1    DS    XL2
    PART2    DS    XL2
    """
    assert places_of(text) == {
        "PAD": (0, 1),
        "ONE": (4, 1),
        "AFTER": (8, 1),
        "GROUP": (9, 4),
        "PART1": (9, 2),
        "PART2": (11, 2),
    }


def test_the_end_is_where_the_highest_location_is() -> None:
    section = section_of("REC      DSECT\nA        DS    X\n         DS    0D\n")
    assert section.length == 8


def test_org_back_forward_and_blank() -> None:
    # AREA 0..16; back to 0: LEFT 0..8, RIGHT 8..12; blank ORG goes to 16; NEXT 16; forward to 32; LAST 32.
    text = """
    REC      DSECT
    AREA     DS    CL16
             ORG   AREA
    LEFT     DS    D
    RIGHT    DS    F
             ORG   ,
    NEXT     DS    H
             ORG   REC+32
    LAST     DS    X
             ORG   NEXT+1
    INNER    DS    X
             ORG
    REALLAST DS    X
    """
    assert places_of(text) == {
        "AREA": (0, 16),
        "LEFT": (0, 8),
        "RIGHT": (8, 4),
        "NEXT": (16, 2),
        "LAST": (32, 1),
        "INNER": (17, 1),
        "REALLAST": (33, 1),
    }


def test_org_with_boundary_and_offset() -> None:
    # 5 bytes; ORG *,8 goes to 8; ORG *,8,-2 from 9 goes to 16-2.
    text = """
    REC      DSECT
    A        DS    XL5
             ORG   *,8
    B        DS    X
             ORG   *,8,-2
    C        DS    X
    """
    assert places_of(text) == {"A": (0, 5), "B": (8, 1), "C": (14, 1)}


def test_org_blank_with_boundary_starts_from_the_highest() -> None:
    text = "REC      DSECT\nA        DS    XL9\n         ORG   A\n         ORG   ,4\nB        DS    X\n"
    assert places_of(text)["B"] == (12, 1)


def test_the_name_of_org_is_the_old_location() -> None:
    # HERE is 6, so the EQU is 6 and the length 6.
    text = """
    REC      DSECT
    A        DS    CL6
    HERE     ORG   A
    B        DS    XL(HERE-REC)
    """
    assert places_of(text)["B"] == (0, 6)


def test_lengths_and_factors_are_expressions() -> None:
    # SIZE = 2*3+4 = 10; COUNT = 10/4 = 2 (the fraction drops); F at 12 and 16; NAME is 4+2 bytes.
    text = """
    SIZE     EQU   2*3+4
    COUNT    EQU   SIZE/4
    REC      DSECT
    TEXT     DS    CL(SIZE)
    NUMBER   DS    (COUNT)F
    NAME     DS    CL(L'NUMBER+2)
    MASK     DS    XL(C'A'-X'C0')
    """
    assert places_of(text) == {
        "TEXT": (0, 10),
        "NUMBER_1": (12, 4),
        "NUMBER_2": (16, 4),
        "NAME": (20, 6),
        "MASK": (26, 1),  # C'A' is X'C1' in EBCDIC
    }


def test_length_of_a_stretch_and_its_use() -> None:
    # PARTLEN = 7; the copy takes 7 bytes; the filler up to 32 takes 32-14 = 18.
    text = """
    REC      DSECT
    PART     DS    XL3
             DS    XL4
    PARTLEN  EQU   *-PART
    COPY1    DS    XL(PARTLEN)
             DS    XL(32-(*-REC))
    LAST     DS    X
    """
    assert places_of(text) == {"PART": (0, 3), "COPY1": (7, 7), "LAST": (32, 1)}


def test_forward_references_are_resolved() -> None:
    # TOTAL is defined last through a chain; L'LATER is 6; the field behind moves accordingly.
    text = """
    REC      DSECT
    A        DS    XL(TOTAL)
    B        DS    XL(L'LATER)
    C        DS    F
    LATER    DS    CL6
    TOTAL    EQU   HALF*2
    HALF     EQU   QUARTER+1
    QUARTER  EQU   1
    """
    assert places_of(text) == {"A": (0, 4), "B": (4, 6), "C": (12, 4), "LATER": (16, 6)}


@pytest.mark.parametrize(
    "lines",
    [
        ["A        DS    XL(L'A)"],
        ["A        DS    XL(B-REC)", "B        DS    X"],
        ["A        DS    XL(N)", "N        EQU   M", "M        EQU   N"],
        ["         ORG   REC+(LAST-REC)", "A        DS    X", "LAST     DS    X"],
    ],
    ids=["own length", "own end", "circle of EQU", "ORG to what follows"],
)
def test_what_depends_on_itself_is_an_error(lines: list[str]) -> None:
    with pytest.raises(DsectError, match="break the circle") as caught:
        section_of("\n".join(["REC      DSECT", *lines]))
    assert caught.value.line == 2
    assert caught.value.statement == lines[0].strip()


def test_equ_takes_the_length_of_its_leftmost_term_or_its_second_operand() -> None:
    # L'X1 = L'A = 8; L'X2 = 3; L'X3 = 1 (a number); L'X4 = 1 (the location counter); L'X5 = L'A = 8.
    text = """
    REC      DSECT
    A        DS    CL8
    X1       EQU   A+2
    X2       EQU   A+2,3,C'C'
    X3       EQU   40
    X4       EQU   *
    X5       EQU   A+(X2-REC)
    F1       DS    CL(L'X1)
    F2       DS    CL(L'X2)
    F3       DS    CL(L'X3)
    F4       DS    CL(L'X4)
    F5       DS    CL(L'X5)
    """
    places = places_of(text)
    assert [places[name][1] for name in ("F1", "F2", "F3", "F4", "F5")] == [8, 3, 1, 1, 8]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2+3*4", 14),
        ("(2+3)*4", 20),
        ("7/2", 3),
        ("7/0+1", 1),
        ("10-2-3", 5),
        ("-3+10", 7),
        ("--3", 3),
        ("2*-3+10", 4),
        ("(0-7)/2+10", 7),  # toward zero: -3
        ("X'1F'", 31),
        ("B'101'", 5),
        ("C'0'-C'9'+12", 3),  # X'F0'-X'F9' = -9
        ("((((4))))", 4),
        ("X'FFFFFFFF'+5", 4),  # 32 bits are a signed number: -1
    ],
)
def test_expressions(expression: str, value: int) -> None:
    assert places_of(f"REC      DSECT\nA        DS    XL({expression})\n") == {"A": (0, value)}


def test_several_operands_of_one_statement() -> None:
    # The name is the first's; F at 4 after alignment, H at 8, CL3 at 10.
    text = "REC      DSECT\nP        DS    X\nMIX      DS    F,H,CL3   three\nL        DS    XL(L'MIX)\n"
    assert places_of(text) == {
        "P": (0, 1),
        "MIX": (4, 4),
        "MIX_OP2": (8, 2),
        "MIX_OP3": (10, 3),
        "L": (13, 4),
    }


def test_arrays_and_several_values() -> None:
    text = """
    REC      DSECT
    ARR      DS    3H
    VALS     DC    F'1,2'
    TWICE    DC    2AL1(1,2)
    STR      DS    20C
    HEX      DS    5X
    PAIR     DS    2XL3
    ODD      DC    X'11,2222'
    """
    assert places_of(text) == {
        **{f"ARR_{n}": (2 * n - 2, 2) for n in (1, 2, 3)},
        **{"VALS_1": (8, 4), "VALS_2": (12, 4)},
        **{f"TWICE_{n}": (15 + n, 1) for n in (1, 2, 3, 4)},
        **{"STR": (20, 20), "HEX": (40, 5), "PAIR_1": (45, 3), "PAIR_2": (48, 3)},
        **{"ODD_1": (51, 1), "ODD_2": (52, 2)},
    }


def test_bit_lengths_share_bytes_within_a_statement() -> None:
    # 3+5 bits fill a byte; 12 bits take two bytes; each statement begins a byte; a byte type in between ends the bits.
    text = """
    REC      DSECT
    FLAGS    DS    BL.3,BL.5
    TWELVE   DS    XL.12
    MORE     DS    FL.4,FL.4,FL.4
    SPLIT    DS    BL.1,X,BL.2
    FOUR     DS    4BL.2
    END1     DS    X
    """
    fields = layout_for(text).fields
    assert [(one.name, one.offset, one.length) for one in fields] == [
        ("FLAGS", 0, 1),
        ("TWELVE", 1, 2),
        ("MORE", 3, 2),
        ("SPLIT", 5, 1),
        ("SPLIT_OP2", 6, 1),
        ("SPLIT_OP3", 7, 1),
        ("FOUR", 8, 1),
        ("END1", 9, 1),
    ]
    assert "bits 0-2, 3-7" in fields[0].description
    assert "bits 0-11" in fields[1].description
    assert "bits 0-3, 4-7, 8-11" in fields[2].description


def test_a_boundary_does_not_apply_to_bit_lengths() -> None:
    assert places_of("REC      DSECT\nA        DS    X\nB        DS    FL.4\n")["B"] == (1, 1)


def test_dsects_are_resumed_and_end_each_other() -> None:
    text = """
    ONE      DSECT
    A        DS    F
    TWO      DSECT
    B        DS    H
    CODE     CSECT
             LR    1,2
    C        DS    F
    ONE      DSECT
    D        DS    H
    TWO      DSECT
    E        DS    F
             END
    F        DS    F
    """
    assert places_of(text, "ONE") == {"A": (0, 4), "D": (4, 2)}
    assert places_of(text, "TWO") == {"B": (0, 2), "E": (4, 4)}
    assembly = assembly_of(text)
    assert assembly.unexpanded == {"LR": 7}
    assert [(one.name, one.is_dummy) for one in assembly.sections] == [("ONE", True), ("TWO", True), ("CODE", False)]
    assert "END" in assembly.notes[0]


def test_a_resumed_dsect_goes_on_where_it_was_not_at_its_end() -> None:
    # ORG back to 2, another section in between: the location counter is still 2.
    text = """
    ONE      DSECT
    A        DS    CL8
             ORG   A+2
    TWO      DSECT
    B        DS    X
    ONE      DSECT
    C        DS    X
    """
    assert places_of(text, "ONE") == {"A": (0, 8), "C": (2, 1)}


def test_symbols_of_another_section_are_numbers_only_in_pairs() -> None:
    text = """
    ONE      DSECT
    A        DS    CL6
    AEND     DS    0C
    TWO      DSECT
    B        DS    XL(AEND-A)
    """
    assert places_of(text, "TWO") == {"B": (0, 6)}
    with pytest.raises(DsectError, match="is an address where a number is needed"):
        section_of("ONE      DSECT\nA        DS    X\nTWO      DSECT\nB        DS    XL(A)\n", "TWO")
    with pytest.raises(DsectError, match="of different sections"):
        section_of(
            "ONE      DSECT\nA        DS    X\nTWO      DSECT\nB        DS    X\nC        DS    XL(B-A)\n", "TWO"
        )


def test_continuation_in_every_form() -> None:
    first = continued(
        "LONGONE  DS    CL4,                    remark of the first", "F,                 of the second", "H"
    )
    filled = continued("A        DC    C'" + "x" * 54, "yy',X'00'  remark")
    remark = continued("B        DS    F              a remark that is", "continued here")
    text = "\n".join(["REC      DSECT", first, filled, remark, "C        DS    X"])
    # CL4 at 0, F at 4, H at 8; the text has 54+2 characters from 10 on, then X at 66; F at 68.
    assert places_of(text) == {
        "LONGONE": (0, 4),
        "LONGONE_OP2": (4, 4),
        "LONGONE_OP3": (8, 2),
        "A": (10, 56),
        "A_OP2": (66, 1),
        "B": (68, 4),
        "C": (72, 1),
    }
    described = {one.name: one.description for one in layout_for(text).fields}
    assert described["B"] == "a remark that is continued here"
    assert described["LONGONE"].startswith("remark of the first of the second")


def test_sequence_numbers_and_comments_are_ignored() -> None:
    text = "\n".join(
        [
            "* a comment".ljust(72) + "00000100",
            "REC      DSECT".ljust(72) + "00000200",
            ".* a macro comment".ljust(72) + "00000300",
            "".ljust(72) + "00000350",
            "A        DS    F".ljust(72) + "00000400",
            "".ljust(40),
            "         TITLE 'B        DS    F'",
            "         SPACE 2",
            "C        DS    F".ljust(72) + "00000500",
        ]
    )
    assert places_of(text) == {"A": (0, 4), "C": (4, 4)}


def test_lower_case_is_the_same() -> None:
    assert places_of("rec      dsect\nab       ds    xl(l'cd)\ncd       ds    cl3\n") == {"AB": (0, 3), "CD": (3, 3)}


def test_a_continued_comment_takes_the_next_comment_with_it() -> None:
    box = "*" * 72
    text = f"REC      DSECT\n{box}\n* inside\nA        DS    F\n"
    assert places_of(text) == {"A": (0, 4)}
    with pytest.raises(DsectError, match="column 72") as caught:
        section_of(f"REC      DSECT\n{box}\nA        DS    F\n")
    assert caught.value.line == 2


def test_cnop_moves_to_its_place() -> None:
    # From 5: byte 2 of a fullword is 6; from 7: byte 0 of a doubleword is 8.
    text = """
    REC      DSECT
    A        DS    XL5
             CNOP  2,4
    B        DS    X
             CNOP  0,8
    C        DS    X
    """
    assert places_of(text) == {"A": (0, 5), "B": (6, 1), "C": (8, 1)}


def test_statements_without_a_dsect_are_the_unnamed_section() -> None:
    assert places_of("A        DS    F\nB        DS    H\n", "") == {"A": (0, 4), "B": (4, 2)}


def test_a_program_type_and_modifiers_are_read_over() -> None:
    text = "REC      DSECT\nA        DS    FP(5)L2S3E-2\nB        DS    HS(4)\n"
    assert places_of(text) == {"A": (0, 2), "B": (2, 2)}
