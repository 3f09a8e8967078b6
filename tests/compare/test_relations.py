"""Relations between cells, rows that several tables print, conventions of a source, and cells that were restored."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from plexlens.compare import StudyError, TableAudit, load_study
from plexlens.compare.analysis.analysis import analyse
from plexlens.compare.audit.audit import audit
from plexlens.compare.audit.relations import keeps
from plexlens.compare.numbers.quantity import printed
from plexlens.compare.page.study import study_report
from plexlens.report.model import Level, Note, PrintedNumber, Table
from tests.compare.audited import audited

STUDY = """\
name = "runs"
title = "Runs"
source = "made up"

[[repeats]]
key = ["run"]

[[relations]]
table = ["first", "second"]
column = "busy"
is = "near"
of = ["system", "user"]
within = "1 %"
reason = "Busy is system and user."

[[relations]]
table = "first"
column = "system"
is = "at most"
of = "busy"
reason = "A part is not above its whole."

[[relations]]
table = "first"
column = "memory"
is = "multiple of"
of = { value = 64 }
reason = "Memory comes in units of 64."

[[tables]]
id = "first"
file = "first.csv"
title = "First"
counts = ["memory"]

[[tables.derived]]
column = "ratio"
formula = "ratio"
arguments = { part = "busy", whole = { column = "busy", row = "base" } }

[[tables.restored]]
from = "system"
where = { run = "B" }
by = "second prints the same run."

[[tables]]
id = "second"
file = "second.csv"
title = "Second"

[[tables.derived]]
column = "ratio"
formula = "ratio"
arguments = { part = "busy", whole = { column = "busy", row = "base" } }
"""
FIRST = "run,busy,system,user,memory,ratio\nA,40.0,10.0,30.1,128,1.00\nB,50.0,15.0,35.0,192,1.25\n"
SECOND = "run,busy,system,user,ratio\nB,50.0,15.0,35.0,1.00\nC,60.0,,40.0,1.20\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, text in (("study.toml", STUDY), ("first.csv", FIRST), ("second.csv", SECOND)):
        (runs / name).write_text(text)
    return tmp_path


def broken(folder: Path) -> list[tuple[str, int, str, str]]:
    return [
        (one.table.id, test.row, test.column, test.kind)
        for one in audit(load_study("runs", folder)).tables
        for test in one.broken
    ]


def put(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / "runs" / name
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))


def test_what_holds_is_counted_and_a_missing_part_leaves_nothing_to_tell(folder: Path) -> None:
    first, second = audit(load_study("runs", folder)).tables
    assert not first.broken and not second.broken
    # Two rows of busy, system and memory.
    assert len(first.tested) == 6
    # busy of B; that of C lacks a part. busy, system and user of B repeat the first table; ratios have another base.
    assert sorted(test.column for test in second.tested) == ["busy", "busy", "system", "user"]


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        # 10.0 + 33.1 is 43.1, 7.5 % off 40.0.
        ("first.csv", "30.1", "33.1", [("first", 1, "busy", "near")]),
        ("first.csv", "128", "120", [("first", 1, "memory", "multiple of")]),
        ("first.csv", "A,40.0,10.0,30.1", "A,40.0,41.0,", [("first", 1, "system", "at most")]),
        ("second.csv", "15.0", "15.3", [("second", 1, "system", "equal")]),
        # Within the rounding of both, nothing is broken.
        ("second.csv", "15.0", "15", []),
    ],
)
def test_what_cannot_be_breaks_its_relation(
    folder: Path, name: str, old: str, new: str, expected: list[tuple[str, int, str, str]]
) -> None:
    put(folder, name, old, new)
    assert broken(folder) == expected


@pytest.mark.parametrize(
    ("kind", "cell", "against", "within", "holds"),
    [
        # 1.25 may be up to 1.255, 1.2 up to 1.25: some pair keeps it.
        ("at most", "1.25", "1.2", "0", True),
        ("at most", "1.26", "1.2", "0", False),
        ("at least", "1.2", "1.25", "0", True),
        ("at least", "1.2", "1.26", "0", False),
        # 5 % of 100 is 5; 100 is at most 100.5, so 105.525, and 106 at least 105.5.
        ("near", "106", "100", "0.05", True),
        ("near", "107", "100", "0.05", False),
        ("near", "-106", "-100", "0.05", True),
        ("near", "-107", "-100", "0.05", False),
    ],
)
def test_a_relation_is_broken_only_where_no_numbers_could_keep_it(
    kind: str, cell: str, against: str, within: str, holds: bool
) -> None:
    one, other = printed(cell), printed(against)
    assert one is not None and other is not None
    assert keeps(kind, one, other, Fraction(within)) is holds


def test_a_convention_is_neither_right_nor_wrong(folder: Path) -> None:
    put(folder, "first.csv", "1.25", "1.30")
    first = audit(load_study("runs", folder)).tables[0]
    assert ([cell.row for cell in first.disagree], first.conventions) == ([2], [])
    known = (
        '[[tables.known]]\ncolumn = "ratio"\nwhere = { run = "B" }\nnote = "From other digits."\nconvention = true\n\n'
    )
    put(folder, "study.toml", '[[tables]]\nid = "second"', known + '[[tables]]\nid = "second"')
    found = audit(load_study("runs", folder))
    first = found.tables[0]
    assert ([cell.row for cell in first.conventions], first.disagree) == ([2], [])
    assert first.agree == len(first.compared) - 1
    notes = [block for block in study_report([found]).sections[2].blocks if isinstance(block, Note)]
    (told,) = [note for note in notes if "From other digits." in " ".join(note.details)]
    assert told.level is not Level.WARNING


def test_restored_cells_are_marked_where_they_stand(folder: Path) -> None:
    report = study_report([audit(load_study("runs", folder))])
    (grid,) = [
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Table) and block.name == "first-printed"
    ]
    assert [[cell.text if isinstance(cell, PrintedNumber) else cell for cell in row] for row in grid.rows] == [
        ["A", "40.0", "10.0", "30.1", "128", "1.00 \u2713"],
        ["B", "50.0", "15.0 \u2020", "35.0 \u2020", "192 \u2020", "1.25 \u2020 \u2713"],
    ]
    assert "second prints the same run." in grid.note


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('is = "near"', 'is = "close"', ("first", "'is'", "'close'", "near")),
        ('within = "1 %"', 'within = "much"', ("relations.within", "'much'", "5 %")),
        ('of = ["system", "user"]', 'of = ["system", "idle"]', ("no column 'idle'",)),
        ('table = ["first", "second"]', 'table = "third"', ("relation 1", "no table 'third'", "first, second")),
        ('key = ["run"]', 'key = ["machine"]', ("repeat 1", "machine")),
        ('from = "system"', 'from = "sys"', ("restored.from", "'sys'")),
    ],
)
def test_a_typo_is_named(folder: Path, old: str, new: str, parts: tuple[str, ...]) -> None:
    put(folder, "study.toml", old, new)
    with pytest.raises(StudyError) as caught:
        load_study("runs", folder)
    assert all(part in str(caught.value) for part in ("study.toml", *parts)), str(caught.value)


def table(name: str, table_id: str) -> TableAudit:
    return next(one for one in audited(name).tables if one.table.id == table_id)


def test_misprints_from_which_nothing_follows_are_found() -> None:
    """Read from the papers: what each of these cells says cannot be."""
    # 0.100 s in Db2 of a response of 0.034 s.
    inserts = {(test.label, test.column) for test in table("sysplex-1996", "table-04a").broken}
    assert ("Secondary Insert", "DB2 ELAPSED Time (sec)") in inserts
    modes = {(test.label, test.column) for test in table("cics-2012", "example-5").broken}
    # 0.893 s of processor time in 0.889 s dispatched, 19.27 in 19.07; 130 TCBs with the time of 160.
    assert modes == {
        ("SL", "Accumulated Time / TCB"), ("SO", "Accumulated Time / TCB"), ("S8", "TCBs Attached Current"),
    }  # fmt: skip
    # 27.501 and 27.580 ms for one run.
    assert [(test.label, test.column) for test in table("vmesa-1992", "table-18").broken] == [
        ("Y34F2644", "Proc. Usage / PBT/CMD")
    ]


FINDING = """
question = "How busy is B?"

[[findings]]
text = "B is {ratio:.2f} times as busy as A, whose memory is {memory:.0f}."

[findings.values]
ratio = { table = "first", column = "ratio", row = { run = "B" }COMPUTED }
memory = { table = "first", column = "memory", row = { run = "A" } }
"""


def test_no_finding_rests_on_a_cell_that_the_audit_rejects(folder: Path) -> None:
    path = folder / "runs" / "analysis.toml"
    path.write_text(FINDING.replace("COMPUTED", ""))
    (finding,) = analyse(audit(load_study("runs", folder))).findings
    assert finding.text == "B is 1.25 times as busy as A, whose memory is 128."
    # The printed ratio is wrong; what follows from the rates is not.
    put(folder, "first.csv", "1.25", "1.35")
    with pytest.raises(StudyError, match=r"analysis.toml.*row 2, 'ratio' of table 'first'.*rejects.*1.35.*computed"):
        analyse(audit(load_study("runs", folder)))
    path.write_text(FINDING.replace("COMPUTED", ", computed = true"))
    (finding,) = analyse(audit(load_study("runs", folder))).findings
    assert finding.text.startswith("B is 1.25 times")
    # Memory of 120 breaks its relation.
    put(folder, "first.csv", "128", "120")
    with pytest.raises(StudyError, match=r"row 1, 'memory' of table 'first'.*multiple of"):
        analyse(audit(load_study("runs", folder)))


def test_a_cell_that_rests_on_a_rejected_one_is_rejected_too_unless_it_is_known_to_be_right(folder: Path) -> None:
    put(folder, "first.csv", "128", "120")
    rule = (
        '[[tables.derived]]\ncolumn = "user"\nformula = "total"\nprinted = false\narguments = { values = "memory" }\n\n'
    )
    put(folder, "study.toml", "[[tables.restored]]", rule.replace("user", "memory twice") + "[[tables.restored]]")
    assert set(audit(load_study("runs", folder)).rejected) == {("first", 0, "memory"), ("first", 0, "memory twice")}
    known = '[[tables.known]]\ncolumn = "memory"\nwhere = { run = "A" }\nnote = "So it was."\nright = true\n\n'
    put(folder, "study.toml", "[[tables.restored]]", known + "[[tables.restored]]")
    assert audit(load_study("runs", folder)).rejected == {}


STEPS = """\
name = "steps"
title = "Steps"
source = "made up"

[[repeats]]
key = ["kind"]
columns = ["packs"]
reason = "Machines of a kind are alike."

[[relations]]
table = "*"
but_tables = "aside"
column = ["size", "count"]
is = "equal"
of = [{ column = "*", row = "previous" }, { value = 10 }]
reason = "It rises by 10."

[[relations]]
table = "main"
column = "size"
is = "equal"
of = { table = "aside", column = "size", row = "same place" }
reason = "Both have the same sizes."

[[relations]]
table = "main"
column = "seconds"
is = "at most"
of = { column = "seconds", row = -1 }
reason = "The last is the longest."

[[relations]]
table = "main"
column = "seconds"
is = "multiple of"
of = { value = "0.5" }
reason = "It is timed in half seconds."

[[tables]]
id = "main"
file = "main.csv"
title = "Main"
note = "Sizes."

[[tables]]
id = "aside"
file = "aside.csv"
title = "Aside"
note = "Sizes again, without their order."
"""
MAIN = "size,seconds,kind,packs\n10,1.0,A,4\n20,1.5,B,2\n30,2.0,A,4\n"
ASIDE = "size\n10\n20\n30\n"


@pytest.mark.parametrize(
    ("main", "aside", "expected"),
    [
        (MAIN, ASIDE, []),
        # The row itself is not 10 more, and neither is the next; the other table has another size at that place.
        (MAIN.replace("20,", "22,"), ASIDE, [(2, "equal"), (3, "equal"), (2, "equal")]),
        # A table that is left out, or has not the columns, is not held against it.
        (MAIN, ASIDE.replace("20", "22"), [(2, "equal")]),
        (MAIN.replace("1.5", "2.5"), ASIDE, [(2, "at most")]),
        # 1.6 is 1.55 to 1.65: no multiple of 0.5 rounds to it, as 2 to 2.
        (MAIN.replace("1.5", "1.6"), ASIDE, [(2, "multiple of")]),
        (MAIN.replace("1.5", "2"), ASIDE, []),
        # Rows of one table with the same key.
        (MAIN.replace("30,2.0,A,4", "30,2.0,A,6"), ASIDE, [(3, "equal")]),
    ],
)
def test_rows_are_held_against_those_before_and_at_the_same_place(
    tmp_path: Path, main: str, aside: str, expected: list[tuple[int, str]]
) -> None:
    folder = tmp_path / "steps"
    folder.mkdir()
    for name, text in (("study.toml", STEPS), ("main.csv", main), ("aside.csv", aside)):
        (folder / name).write_text(text)
    first, second = audit(load_study("steps", tmp_path)).tables
    assert [(test.row, test.kind) for test in first.broken] == expected
    assert not second.tested


def test_a_row_that_a_table_does_not_have_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "steps"
    folder.mkdir()
    (folder / "study.toml").write_text(STEPS.replace("row = -1", "row = 4"))
    (folder / "main.csv").write_text(MAIN)
    (folder / "aside.csv").write_text(ASIDE)
    with pytest.raises(StudyError, match=r"table 'main' has no row 4.*3 rows"):
        audit(load_study("steps", tmp_path))


def test_a_note_that_says_what_the_cells_give_is_held_to_it(folder: Path) -> None:
    put(folder, "first.csv", "1.25", "1.30")
    known = '[[tables.known]]\ncolumn = "ratio"\nwhere = { run = "B" }\nnote = "50 / 40."\ngives = "1.25"\n\n'
    put(folder, "study.toml", '[[tables]]\nid = "second"', known + '[[tables]]\nid = "second"')
    assert len(audit(load_study("runs", folder)).tables[0].disagree) == 1
    # Another misprint in what the wrong cell follows from.
    put(folder, "first.csv", "B,50.0", "B,54.0")
    with pytest.raises(StudyError, match=r"'known.gives'.*'ratio' in row 2.*1.25.*54"):
        audit(load_study("runs", folder))
