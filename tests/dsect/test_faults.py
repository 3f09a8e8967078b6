"""Every fault says file, line, statement, what, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.dsect import DsectError, Wishes, import_layouts
from plexlens.errors import NothingUsableError, PlexlensError
from tests.dsect.sources import FILE, assembly_of, continued, section_of


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("B        DS    ", "no operand"),
        ("B        DS    W", "is not a data type"),
        ("B        DS    5", "no data type"),
        ("B        DS    CL", "there is no length after L"),
        ("B        DS    CL0", "length 0"),
        ("B        DS    (0-1)F", "duplication factor -1"),
        ("B        DS    CL(8", "not closed"),
        ("B        DS    F'1", "cannot be parsed"),
        ("B        DS    A'1'", "cannot be parsed"),
        ("B        DS    X''", "value is empty"),
        ("B        DS    F,,H", "no data type"),
        ("B        DS    XL(3+)", "not an expression"),
        ("B        DS    XL(A*2)", "multiplies or divides an address"),
        ("B        DS    XL(99999999999)", "too large"),
        ("B        DS    XL(65536*65536)", "outside 32 bits"),
        ("B        DS    2147483647F", "outside 32 bits"),
        ("B        DS    XL(X'GG')", "not a valid hexadecimal term"),
        ("B        DS    XL(C'ABCDE')", "holds 5 characters"),
        ("B        DS    XL(NOWHERE)", "symbol NOWHERE is not defined"),
        ("B        DC    F", "has no value"),
        ("A        DS    F", "defined a second time (first in line 2)"),
        ("1B       DS    F", "cannot be a symbol"),
        ("         ORG   5", "is a number"),
        ("         ORG   A-1", "before the section's start"),
        ("         ORG   *,3", "boundary 3"),
        ("         ORG   A,,,4", "more than three operands"),
        ("         CNOP  1,5", "CNOP takes"),
        ("B        EQU   ", "EQU needs"),
        ("B        EQU   1,70000", "length attribute 70000"),
        ("B        LOCTR", "LOCTR within a DSECT"),
        ("         COPY  MEMBER", "member MEMBER is not available"),
        ("         OTHERMAC A,B", "OTHERMAC is not an assembler instruction"),
        ("         MVC   A,B", "MVC is not an assembler instruction"),
        ("B", "a name alone"),
        ("         ICTL  2,72,17", "columns other than"),
        ("REC      CSECT", "of another kind"),
        ("B        DS    &VAR", "&VAR is not defined"),
        ("         AIF   (1 EQ 1).GONE", ".GONE is not defined"),
    ],
)
def test_a_wrong_statement_is_named(statement: str, what: str) -> None:
    text = f"REC      DSECT\nA        DS    F\n{statement}\n"
    with pytest.raises(DsectError) as caught:
        section_of(text)
    error = caught.value
    assert error.line == 3
    assert error.statement == statement.strip()
    assert what in error.what
    assert error.remedy
    assert str(error) == f"{FILE}: line 3: `{statement.strip()}`: {error.what}; {error.remedy}"


def test_too_many_parentheses() -> None:
    text = continued("B        DS    XL(" + "(" * 53, "(" * 7 + "1" + ")" * 48, ")" * 13)
    with pytest.raises(DsectError, match="nest more than 50 deep"):
        section_of(f"REC      DSECT\n{text}\n")


def test_noalign_is_refused() -> None:
    with pytest.raises(DsectError, match="NOALIGN"):
        section_of("*PROCESS NOALIGN,OBJECT\nREC      DSECT\nA        DS    F\n", "")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("A        DS    CL8,".ljust(71) + "X", 2, "but there is none"),
        ("A        DS    CL8,".ljust(71) + "X\nB        DS    F", 2, "text before column 16"),
    ],
)
def test_wrong_continuation(text: str, line: int, what: str) -> None:
    with pytest.raises(DsectError) as caught:
        section_of("REC      DSECT\n" + text)
    assert (caught.value.line, what in caught.value.what) == (line, True)


def test_a_wrong_section_leaves_the_others_usable() -> None:
    text = """
    GOOD     DSECT
    A        DS    F
    BAD      DSECT
    B        DS    F
             SOMEMAC
    C        DS    F
    FINE     DSECT
    D        DS    F
    """
    assembly = assembly_of(text)
    faults = {one.name: one.fault and one.fault.line for one in assembly.sections}
    assert faults == {"GOOD": None, "BAD": 6, "FINE": None}


def test_a_wrong_section_stops_the_import_and_another_can_be_chosen(tmp_path: Path) -> None:
    file = tmp_path / "two.asm"
    file.write_text("GOOD     DSECT\nA        DS    F\nBAD      DSECT\n         SOMEMAC\n")
    out = tmp_path / "out"
    with pytest.raises(DsectError, match=r"SOMEMAC.*--csect: GOOD"):
        import_layouts(file, out)
    assert not out.exists()
    import_layouts(file, out, Wishes(dsect="good"))
    assert [path.name for path in out.iterdir()] == ["good.csv"]


def test_a_call_of_a_macro_that_is_elsewhere_is_named(tmp_path: Path) -> None:
    file = tmp_path / "call.asm"
    file.write_text("         PRINT GEN\n         SOMEMAP DSECT=YES\n         END\n")
    with pytest.raises(NothingUsableError) as caught:
        import_layouts(file, tmp_path / "out")
    assert "SOMEMAP in line 2" in caught.value.what
    assert "not a call of it" in caught.value.remedy
    assert caught.value.exit_code == 4


def test_code_outside_dsects_is_not_in_the_way(tmp_path: Path) -> None:
    file = tmp_path / "program.asm"
    file.write_text(
        "PROG     CSECT\n         USING *,15\nHERE     L     1,NOWHERE\nBADLEN   DS    CL(NOWHERE)\n"
        "N        EQU   NOWHERE\nREC      DSECT\nA        DS    F\n"
    )
    result = import_layouts(file, tmp_path / "out")
    assert [one.dsect for one in result.sections] == ["REC"]
    assert any("L (line 3)" in note for note in result.notes)
    assert any("N in line 5 (NOWHERE)" in note for note in result.notes)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("* nothing but a comment\n", "defines no fields"),
        ("REC      DSECT\n         DS    F\n", "defines no fields"),
        ("REC      DSECT\nA        DS    CL40000\n", "no field that a layout can hold"),
    ],
)
def test_a_source_without_fields(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "empty.asm"
    file.write_text(text)
    with pytest.raises(NothingUsableError, match=what):
        import_layouts(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_too_many_fields(tmp_path: Path) -> None:
    file = tmp_path / "many.asm"
    file.write_text("REC      DSECT\n" + "".join(f"A{n:<7} DS    200XL1\n" for n in range(30)))
    with pytest.raises(PlexlensError, match="more than 4096 fields"):
        import_layouts(file, tmp_path / "out")
