"""Random mappings against a naive location counter, and damaged sources: nothing but the documented error."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plexlens.dsect.fields import Choices, layout_of
from plexlens.dsect.importing import read_sections
from plexlens.dsect.publishing import layout_text
from plexlens.dsect.source import Source, read_source
from plexlens.errors import PlexlensError
from tests.draws import draws
from tests.dsect.sources import FILE, places_of

# Length and boundary of types, written down once more.
FIXED = {"H": (2, 2), "F": (4, 4), "FD": (8, 8), "A": (4, 4), "AD": (8, 8), "Y": (2, 2), "D": (8, 8), "E": (4, 4)}
FREE = ["C", "X", "B", "P", "Z", "F", "H", "A", "D"]

declared = st.one_of(
    st.tuples(st.integers(0, 3), st.sampled_from(sorted(FIXED)), st.just(0)),
    st.tuples(st.integers(0, 3), st.sampled_from(FREE), st.integers(1, 9)),
)


@given(st.lists(st.tuples(declared, st.booleans(), st.sampled_from(["", "back", "end"])), min_size=1, max_size=25))
def test_places_are_those_of_a_naive_counter(statements: list[tuple[tuple[int, str, int], bool, str]]) -> None:
    at = highest = 0
    starts = [0]
    lines = ["REC      DSECT"]
    expected: dict[str, tuple[int, int]] = {}
    for number, ((factor, kind, explicit), is_named, move) in enumerate(statements):
        if move == "back":
            target = starts[len(starts) // 2]
            lines.append(f"         ORG   REC+{target}")
            at = target
        elif move == "end":
            lines.append("         ORG   ,")
            at = highest
        length, boundary = (explicit, 1) if explicit else FIXED[kind]
        while at % boundary:
            at += 1
        starts.append(at)
        name = f"F{number}" if is_named and factor else ""
        lines.append(f"{name:<8} DS    {factor}{kind}{f'L{explicit}' if explicit else ''}")
        for element in range(factor):
            if name:
                expected[f"{name}_{element + 1}" if factor > 1 else name] = (at, length)
            at += length
        highest = max(highest, at)
    assert (places_of("\n".join(lines)) if expected else {}) == expected


SEED = """\
         MACRO
&NAME    MAP   &DSECT=YES,&LIST=(1,2)
         LCLA  &I
         AIF   ('&DSECT' EQ 'NO').PLAIN
REC      DSECT
.PLAIN   ANOP
&I       SETA  &I+&LIST(1)
A        DS    CL(L'B+2)            REMARK
B        DS    XL(C'A'-X'C0'),F     'QUOTED'
FLAG     DS    X
F1       EQU   X'80'
BITS     DS    BL.3,BL.5
         ORG   A+(*-REC)/2
C        DC    2F'1,2',A(B,C),P'12.3'
         ORG   ,
LEN      EQU   *-REC,4,C'A'
D        DS    0CL8                                                    X
               AND MORE
         MEND
TWO      MAP   DSECT=YES
OTHER    DSECT
X        DS    (SIZE)D
SIZE     EQU   3
         END
"""
PARTS = [
    *"'()*+-/,.&=L0189 X\n\t$#@_",
    "DS",
    "EQU",
    "ORG",
    "'80'",
    "(((",
    "&&",
    "L'",
    "T'&",
    "AIF",
    ".X",
    "*-",
    "99999999999",
]


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """The seed with pieces put in, taken out, doubled and swapped."""
    text = SEED
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.sampled_from(["", *PARTS, text[start:end] * 2])) + text[end:]
    return text


def read_all(source: Source) -> None:
    """Everything short of writing; only the documented error may come out."""
    try:
        for section in read_sections(source).sections:
            if section.fault:
                assert section.fault.what
                assert section.fault.remedy
                assert section.fault.line
                continue
            layout = layout_of(section, Choices(FILE))
            layout_text(layout.fields)
            for one in layout.fields:
                assert one.length >= 1
                assert 0 <= one.offset <= one.end <= section.length
            columns = [one.name.lower() for one in layout.fields]
            assert len(set(columns)) == len(columns)
    except PlexlensError as error:
        assert error.what
        assert error.remedy
        assert error.file == FILE


@settings(max_examples=draws(1500), deadline=None)
@given(damaged())
def test_a_damaged_source_gives_the_documented_error_or_a_sound_layout(text: str) -> None:
    read_all(Source(FILE, FILE, tuple(text.split("\n")), ()))


@settings(max_examples=draws(300), deadline=None)
@given(st.lists(st.text(alphabet=st.characters(codec="latin-1"), max_size=90), max_size=30))
def test_any_lines(lines: list[str]) -> None:
    read_all(Source(FILE, FILE, tuple(lines), ()))


@settings(max_examples=draws(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(st.binary(max_size=400), st.just(SEED.encode("cp037")), st.just(SEED.encode("utf-16"))),
    st.binary(max_size=9),
)
def test_any_bytes(tmp_path: Path, data: bytes, more: bytes) -> None:
    path = tmp_path / FILE
    path.write_bytes(data + more)
    try:
        source = read_source(path)
    except PlexlensError as error:
        assert error.file == str(path)
        assert error.remedy
    else:
        read_all(Source(FILE, FILE, source.lines, ()))
