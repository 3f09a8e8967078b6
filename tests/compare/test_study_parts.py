"""Studies of several files: parts, templates, base rows, and digits that stand for something else."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from plexlens.compare import LeftOut, StudyError, load_study
from plexlens.compare.audit.audit import audit
from plexlens.compare.audit.json_object import to_object
from plexlens.compare.numbers.quantity import Quantity, printed, rounded
from plexlens.compare.page.study import study_report
from plexlens.report.model import Note

STUDY = """\
name = "runs"
title = "Runs"
source = "made up"

[[templates]]
name = "run"
padded = ["busy"]
binary = ["pages"]

[[templates.derived]]
column = "ratio"
formula = "ratio"
arguments = { part = "rate", whole = { column = "rate", row = "base" } }

[[templates.derived]]
column = "idle"
formula = "difference"
arguments = { whole = { value = 100 }, parts = "busy" }
printed = false

[[templates.derived]]
column = "pages a user"
formula = "ratio"
arguments = { part = "pages", whole = "users" }

[[templates.derived]]
column = "pages a user"
formula = "ratio"
arguments = { part = "pages", whole = "people" }

[[tables]]
id = "first"
file = "first.csv"
title = "First"
transpose = "item"
template = "run"
"""
PART = """\
[[tables]]
id = "second"
file = "second.csv"
title = "Second"
template = ["run"]
base = { run = "C" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    (runs / "parts").mkdir(parents=True)
    (runs / "study.toml").write_text(STUDY)
    (runs / "parts" / "2_second.toml").write_text(PART)
    # 105K pages of 5860 users are 104.5 x 1024 to 105.5 x 1024 over 5860: 18.26 to 18.44
    (runs / "first.csv").write_text(
        "item,A,B\nrate,4.00,6.00\nratio,1.0,1.5\nbusy,90.00,89.50\n"
        "pages,105K,9376\nusers,5860,280\npages a user,18.3,33.5\n"
    )
    (runs / "second.csv").write_text("run,rate,ratio,pages,pages a user\nC,2.0,1.00,10K,1\nD,3.0,1.50,10K,1\n")
    return tmp_path


def test_parts_continue_the_study(folder: Path) -> None:
    study = load_study("runs", folder)
    assert list(study.tables) == ["first", "second"]
    assert [row["column"] for row in study.tables["first"].rows] == ["A", "B"]


def test_a_template_derives_what_each_table_has(folder: Path) -> None:
    first, second = audit(load_study("runs", folder)).tables
    cells = {(cell.label, cell.column): cell for cell in first.cells}
    assert set(cells) == {(run, column) for run in "AB" for column in ("ratio", "idle", "pages a user")}
    assert first.agree == 4 and first.table.left_out == ()
    assert {(cell.label, cell.agrees) for cell in second.cells} == {("C", True), ("D", True)}
    assert second.table.left_out == (LeftOut("run", "pages a user", ("users",)),)


def test_what_is_left_out_is_told(folder: Path) -> None:
    second = audit(load_study("runs", folder))
    assert to_object(second)["tables"][1]["left_out"] == [
        {"column": "pages a user", "missing": ["users"], "template": "run"}
    ]
    notes = [block.text for part in study_report([second]).sections for block in part.blocks if isinstance(block, Note)]
    assert "pages a user is not computed: the table prints no users." in notes


def test_a_template_may_use_what_another_works_out(folder: Path) -> None:
    path = folder / "runs" / "study.toml"
    busy = '[[templates]]\nname = "whole"\n[[templates.derived]]\ncolumn = "busy"\nformula = "difference"\n'
    busy += 'arguments = { whole = { value = 100 }, parts = { column = "idle", computed = true } }\n\n[[tables]]'
    path.write_text(path.read_text().replace("[[tables]]", busy).replace('"run"\n', '["run", "whole"]\n'))
    path.write_text(path.read_text().replace('name = ["run", "whole"]', 'name = "run"'))
    first = audit(load_study("runs", folder)).tables[0]
    assert [cell.agrees for cell in first.cells if cell.column == "busy"] == [True, True]


def test_the_base_is_the_first_row_unless_another_is_named(folder: Path) -> None:
    path = folder / "runs" / "parts" / "2_second.toml"
    path.write_text(PART.replace('run = "C"', 'run = "D"'))
    second = audit(load_study("runs", folder)).tables[1]
    assert next(cell.arithmetic for cell in second.disagree).startswith("2 / 3 = ")


def test_a_rule_of_the_table_goes_before_that_of_the_template(folder: Path) -> None:
    own = '\n[[tables.derived]]\ncolumn = "ratio"\nformula = "total"\narguments = { values = "rate" }\n'
    (folder / "runs" / "parts" / "2_second.toml").write_text(PART + own)
    second = audit(load_study("runs", folder)).tables[1]
    assert {cell.formula for cell in second.cells} == {"total"}


def test_what_is_not_printed_needs_no_inputs(folder: Path) -> None:
    """Busy of B is not printed: its idle share is not a cell; a printed cell without inputs says so."""
    path = folder / "runs" / "first.csv"
    path.write_text(path.read_text().replace("90.00,89.50", "90.00,na").replace("5860,280", "5860,"))
    first = audit(load_study("runs", folder)).tables[0]
    assert [cell.label for cell in first.cells if cell.column == "idle"] == ["A"]
    assert [(cell.label, cell.column) for cell in first.not_computed] == [("B", "pages a user")]


def test_zeros_that_pad_and_k_of_1024(folder: Path) -> None:
    first = audit(load_study("runs", folder)).tables[0]
    idle = {cell.label: cell.computed for cell in first.cells if cell.column == "idle"}
    assert idle["A"] is not None and (idle["A"].low, idle["A"].high) == (Fraction("9.5"), Fraction("10.5"))
    assert idle["B"] is not None and (idle["B"].low, idle["B"].high) == (Fraction("10.495"), Fraction("10.505"))
    pages = printed("105K", binary=True)
    assert pages is not None and (pages.value, pages.low) == (105 * 1024, 104 * 1024 + 512)


def test_digits_lost_at_the_edge_of_a_page(folder: Path) -> None:
    """3.1 / 2.0 lies between 1.488 and 1.615: a rounded 1.4 (1.35 to 1.45) cannot be it, a cut one can."""
    path = folder / "runs" / "parts" / "2_second.toml"
    table = folder / "runs" / "second.csv"
    table.write_text(table.read_text().replace("3.0,1.50", "3.1,1.5"))
    assert [cell.label for cell in audit(load_study("runs", folder)).tables[1].disagree] == []
    table.write_text(table.read_text().replace("3.1,1.5", "3.1,1.4"))
    assert [cell.label for cell in audit(load_study("runs", folder)).tables[1].disagree] == ["D"]
    path.write_text(PART + '\n[[tables.cut]]\ncolumn = "ratio"\nwhere = { run = "D" }\n')
    assert audit(load_study("runs", folder)).tables[1].disagree == []


def test_a_number_known_as_its_digits_show_it() -> None:
    """339.98 to 340.02 is shown as 340, and so is all from 339.5 to 340.5."""
    found = rounded(Quantity(Fraction(340), Fraction("339.98"), Fraction("340.02")), 0)
    assert (found.low, found.value, found.high) == (Fraction("339.5"), 340, Fraction("340.5"))


@pytest.mark.parametrize(
    ("name", "old", "new", "parts"),
    [
        (
            "parts/2_second.toml",
            '["run"]',
            '["walk"]',
            ("2_second.toml", "'second'", "no template 'walk'"),
        ),
        ("parts/2_second.toml", "[[tables]]", 'name = "x"\n[[tables]]', ("2_second.toml", "'name'", "no such key")),
        ("parts/2_second.toml", '"second"', '"first"', ("2_second.toml", "'first'", "two tables have it")),
        ("parts/2_second.toml", "base = { run", "base = { ran", ("2_second.toml", "'base'", "no column 'ran'")),
        ("parts/2_second.toml", "[[tables]]", "[[tables]", ("2_second.toml", "not valid TOML")),
        ("study.toml", 'formula = "difference"', 'formula = "less"', ("study.toml", "no formula 'less'")),
        ("study.toml", 'column = "idle"', 'column = "*"', ("study.toml", "template 'run'", "name them")),
        ("study.toml", "printed = false", "print = false", ("study.toml", "template 'run'", "derived.print")),
    ],
)
def test_what_is_wrong_is_named_with_its_file(
    folder: Path, name: str, old: str, new: str, parts: tuple[str, ...]
) -> None:
    path = folder / "runs" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(StudyError) as caught:
        load_study("runs", folder)
    assert all(part in str(caught.value) for part in parts), str(caught.value)
