"""Studies worked out again: some cells by hand, known misprints, planted ones, and files that say what cannot be."""

from __future__ import annotations

import csv
import json
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from plexlens.compare import Audit, StudyError, TableAudit, load_study, studies_path, study_names
from plexlens.compare.audit.audit import audit
from plexlens.compare.formulas.catalogue import FORMULAS
from plexlens.compare.numbers.quantity import exact
from plexlens.errors import UsageError
from tests.cli.command import run
from tests.compare.audited import audited

STUDIES = ["cics-2012", "pools-2014", "sysplex-1996", "zxml-2008"]


@pytest.fixture(scope="module")
def audits() -> dict[str, Audit]:
    return {name: audited(name) for name in STUDIES}


def table(found: Audit, table_id: str) -> TableAudit:
    return next(one for one in found.tables if one.table.id == table_id)


def computed(found: Audit, table_id: str, row: int, column: str) -> float:
    (cell,) = [one for one in table(found, table_id).cells if (one.row, one.column) == (row, column)]
    assert cell.computed is not None
    return float(cell.computed.value)


def test_all_studies_are_there_and_every_table_is_in_its_study() -> None:
    assert set(STUDIES) <= set(study_names())
    for name in STUDIES:
        files = {path.name for path in (studies_path() / name).glob("*.csv")}
        assert {one.path.name for one in load_study(name).tables.values()} == files


@pytest.mark.parametrize("name", STUDIES)
def test_a_table_without_derived_columns_says_why(name: str, audits: dict[str, Audit]) -> None:
    assert all(one.cells or one.table.note for one in audits[name].tables)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        # (20.27 + 11.35 + 2.93 + 0.83) / 100 / 624.72 s
        (("cics-2012", "table-04", 1, "TOTAL ms CPU per transaction"), 35.38 / 100 / 624.72 * 1000),
        # zAAP not counted: 3.58 + 2.14 + 4.21
        (("cics-2012", "table-16", 1, "ms CPU per transaction excluding zAAP"), 9.93 / 100 / 329.65 * 1000),
        # interval 3077678 / 10160.81 s, 144.943 + 99.908 s of CPU
        (("cics-2012", "example-1", 1, "APPL % / CP"), 244.851 / (3077678 / 10160.81) * 100),
        (("pools-2014", "pools-before", 3, "WIO/Sec"), 328759 / 2656),
        (("pools-2014", "object-io-cost", 1, "24Hrs IO Delay"), 1451.072 * 86400 / 2656),
        (("pools-2014", "negative-hit-ratio", 1, "System Hit Ratio"), (405898 - 572517) / 405898 * 100),
        (("sysplex-1996", "table-05", 1, "ITR"), 15234 / 0.2035),
        (("sysplex-1996", "table-05", 3, "Increased * CPU Time"), (82914.713 / 74859.951 - 1) * 100),
        (("sysplex-1996", "figure-2", 1, "Read Operations / Read Hit Percentage ="), 57 / 429 * 100),
        (("zxml-2008", "percentages", 2, "zIIP eligible"), 147.09 / 235.32 * 100),
    ],
)  # fmt: skip
def test_cells_by_hand(audits: dict[str, Audit], place: tuple[str, str, int, str], expected: float) -> None:
    study, where, row, column = place
    assert computed(audits[study], where, row, column) == pytest.approx(expected, rel=1e-12)


def test_every_cics_time_agrees_with_a_slow_sum(audits: dict[str, Audit]) -> None:
    """All cells, straight from the files: columns of a percentage on any processor but that inside another one."""
    seen = 0
    for one in audits["cics-2012"].tables:
        with one.table.path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        for number, row in enumerate(rows, 1):
            for column in row:
                if not column.lower().startswith("total ms"):
                    continue
                percent = sum(
                    Decimal(cell)
                    for head, cell in row.items()
                    if head.endswith("%") and "AAPCP" not in head and cell != "NA"
                )
                slow = float(percent * 10 / Decimal(row["ETR"]))
                assert computed(audits["cics-2012"], one.table.id, number, column) == pytest.approx(slow, rel=1e-12)
                seen += 1
    assert seen == 103


@pytest.mark.parametrize(
    ("place", "parts"),
    [
        (("pools-2014", "pools-before", 9, "I/O"), ("965.14", "2,656", "102,622", "2668043")),
        (("pools-2014", "totals", 1, "Total Read/Write I/O"), ("11,503,517", "11,501,517")),
        (("pools-2014", "totals", 1, "Total Updates"), ("42,377,912", "42,377,892")),
        (("pools-2014", "totals", 2, "Total Read/Write I/O"), ("11,414,001", "11,413,991")),
        (("pools-2014", "totals", 3, "Total Get Pages"), ("136,565,014", "136,564,014")),
        (("pools-2014", "statistics-bp1-paging", 3, "PAGE-INS REQUIRED FOR READ"), ("1,270", "0.40")),
        (("cics-2012", "table-10", 5, "TOTAL ms CPU per transaction"), ("97.99 + 7.49", "787.34", "1.548")),
        (("zxml-2008", "values", 2, "Transactions per second"), ("1,773.96", "2016")),
    ],
)
def test_what_is_wrong_in_print_is_flagged(
    audits: dict[str, Audit], place: tuple[str, str, int, str], parts: tuple[str, ...]
) -> None:
    study, where, row, column = place
    found = [cell for cell in table(audits[study], where).disagree if (cell.row, cell.column) == (row, column)]
    assert len(found) == 1
    assert all(part in found[0].arithmetic for part in parts), found[0].arithmetic


def test_rounding_is_no_disagreement(audits: dict[str, Audit]) -> None:
    """14456 / 17.43 % is 82,937.5, printed 82914.713: 17.43 may be 17.4348."""
    table_5 = table(audits["sysplex-1996"], "table-05")
    (cell,) = [one for one in table_5.cells if (one.row, one.column) == (2, "ITR")]
    assert cell.agrees
    assert cell.difference is not None and float(cell.difference) == pytest.approx(82937.5 - 82914.713, abs=0.1)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder of studies with one that may be spoilt."""
    shutil.copytree(studies_path() / "cics-2012", tmp_path / "studies" / "cics-2012")
    return tmp_path / "studies"


def spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1))


def test_a_mistyped_cell_is_found(copy: Path) -> None:
    spoil(copy / "cics-2012" / "table_42.csv", "21.18", "21.81")
    found = table(audit(load_study("cics-2012", copy)), "table-42").disagree
    assert [(cell.row, cell.column) for cell in found] == [(3, "TOTAL ms CPU per transaction")]
    assert "21.81 + 6.27" in found[0].arithmetic


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('"CICS GCPU%", "NET', '"CICS CPU%", "NET', ("table 'table-01'", "cpu_percent", "'CICS CPU%'", "'CICS GCPU%'")),
        ('"cpu_ms_per_transaction"', '"cpu_ms"', ("table 'table-01'", "derived.formula", "cpu_ms_per_transaction")),
        ("rate =", "rat =", ("table 'table-01'", "derived.arguments.rat", "cpu_percent")),
        ("cut = true", 'cut = "yes"', ("table 'table-01'", "derived.cut", "true or false")),
        ("[[tables.derived]]", "[[tables.derive]]", ("table 'table-01'", "'derive'", "derived")),
        ('file = "table_01.csv"', 'file = "table_1.csv"', ("table 'table-01'", "'file'", "table_1.csv")),
        ('id = "table-03"', 'id = "table-01"', ("table 'table-01'", "'id'", "two tables")),
        ('where = { ETR = "787.34" }', 'where = { ETR = "331.05" }', ("table 'table-10'", "'known'", "take the note")),
        ("[[tables]]", "[[tables]", ("not valid TOML", "line")),
    ],
)  # fmt: skip
def test_a_typo_is_named_with_file_table_and_key(copy: Path, old: str, new: str, parts: tuple[str, ...]) -> None:
    spoil(copy / "cics-2012" / "study.toml", old, new)
    with pytest.raises(StudyError) as caught:
        audit(load_study("cics-2012", copy))
    assert all(part in str(caught.value) for part in ("study.toml", *parts)), str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("19.04,", "19.o4,", ("table_01.csv", "row 2", "'CICS GCPU%'", "19.o4")),
        ("19.04,", "", ("table_01.csv", "line 3", "5 cells", "6 headings")),
    ],
)
def test_a_damaged_table_is_named(copy: Path, old: str, new: str, parts: tuple[str, ...]) -> None:
    spoil(copy / "cics-2012" / "table_01.csv", old, new)
    with pytest.raises(StudyError) as caught:
        audit(load_study("cics-2012", copy))
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_unknown_study_names_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"cics-2013.*cics-2012"):
        load_study("cics-2013")


def test_formulas_say_what_they_are() -> None:
    for name, formula in FORMULAS.items():
        assert name == formula.name
        assert formula.title and formula.text and formula.source
        assert formula.worked(dict.fromkeys(formula.arguments, ("1",)))
        one = {argument: [exact(1)] if argument in formula.lists else exact(1) for argument in formula.arguments}
        assert formula(one).low == formula(one).high


def test_json_is_as_designed(tmp_path: Path) -> None:
    done = run("study", "pools-2014", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for one in found["tables"]:
        assert {"id", "title", "rows", "computed", "agree", "disagree"} <= set(one)
        assert one["agree"] + len(one["disagree"]) == one["computed"]
        for wrong in one["disagree"]:
            assert {"row", "column", "printed", "computed", "arithmetic"} <= set(wrong)
    before = next(one for one in found["tables"] if one["id"] == "pools-before")
    assert [(wrong["row"], wrong["column"], wrong["printed"]) for wrong in before["disagree"]] == [
        (9, "I/O", "2668043")
    ]


def test_command_line_used_rightly(tmp_path: Path) -> None:
    shown = run("study", "cics-2012", cwd=tmp_path)
    assert shown.returncode == 0
    assert "cannot be what its inputs give" in shown.stdout
    for name, part in (("a.html", "<!doctype html>"), ("a.txt", "table-42"), ("a.csv", "study,table,row")):
        done = run("study", "--all", "-o", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
        assert part in (tmp_path / name).read_text().lower()
    assert len(json.loads(run("study", "--all", "--json", cwd=tmp_path).stdout)["studies"]) >= 4


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["study"], "no study is named"),
        (["study", "cics-2012", "--all"], "both"),
        (["study", "cics"], "there is no study 'cics'"),
        (["study", "cics-2012", "-o", "a.pdf"], ".pdf"),
        (["study", "cics-2012", "-o", "none/a.html"], "no folder"),
    ],
)
def test_command_line_used_wrongly(tmp_path: Path, words: list[str], part: str) -> None:
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert part in done.stderr
    assert done.stdout == ""
