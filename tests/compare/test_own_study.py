"""A user's own study: the folder that studies/README.md writes, its headings, a constant factor, shared templates."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from plexlens.compare import StudyError, load_study, studies_path
from plexlens.compare.audit.audit import audit
from plexlens.compare.formulas.catalogue import FORMULAS
from plexlens.errors import UsageError
from plexlens.metrics import GRAINS
from tests.cli.command import run
from tools.study_formulas import README, document, formula_list

TEMPLATE = """
[[templates]]
name = "cost"

[[templates.derived]]
column = "CPU ms per transaction"
formula = "ratio"
arguments = { part = { column = "busy %", times = 10 }, whole = "ETR" }
"""


IO_TABLE = """
[[tables]]
id = "io"
file = "io.csv"
title = "I/O"

[[tables.derived]]
column = "I/O"
formula = "io_per_transaction"
arguments = { transactions = "ETR", ios = ["reads", "writes"] }
"""


def indented(text: str) -> list[str]:
    """The indented blocks of a Markdown text, without their indent."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)
    return ["\n".join(line[4:] for line in block.strip("\n").split("\n")) + "\n" for block in blocks]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The two files that the README shows, in a folder of another name than the study's."""
    _, runs, study, _ = indented((studies_path() / README).read_text(encoding="utf-8"))
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "runs.csv").write_text(runs)
    (folder / "study.toml").write_text(study)
    return folder


def test_a_folder_is_a_study(own: Path) -> None:
    done = run("study", "own", "--json", cwd=own.parent)
    assert done.returncode == 0, done.stderr
    (table,) = json.loads(done.stdout)["tables"]
    assert (table["computed"], table["agree"]) == (4, 4)
    assert run("study", "own/study.toml", "--json", cwd=own.parent).stdout == done.stdout


def test_a_study_uses_a_formula_of_its_own(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula that the README shows, in a folder of definitions: (3 + 7) / 4."""
    monkeypatch.setattr(GRAINS, "_catalogue", None)
    *_, formula = indented((studies_path() / README).read_text(encoding="utf-8"))
    site = own.parent / "site" / "studies"
    site.mkdir(parents=True)
    (site / "mine.toml").write_text(formula)
    (own / "io.csv").write_text("run,ETR,reads,writes,I/O\nbefore,4,3,7,2.5\n")
    with (own / "study.toml").open("a") as study:
        study.write(IO_TABLE)
    done = run("study", "own", "--json", "--catalogue", str(site.parent), cwd=own.parent)
    assert done.returncode == 0, done.stderr
    *_, table = json.loads(done.stdout)["tables"]
    (cell,) = table["cells"]
    assert cell["arithmetic"].startswith("(3 + 7) / 4 = 2.5")
    GRAINS.load()
    refused = run("study", "own", cwd=own.parent)
    assert refused.returncode == 3
    assert "there is no formula 'io_per_transaction'" in refused.stderr


def test_two_runs_of_a_folder_are_compared_the_right_way_round(own: Path) -> None:
    done = run("compare", "own:runs:before", "./own:runs:after", "--json", cwd=own.parent)
    assert done.returncode == 0, done.stderr
    told = {one["title"]: one for one in json.loads(done.stdout)["deltas"]}
    # 455.0 x 100 / 60.1 against 412.5 x 100 / 61.3
    itr = told["Internal throughput rate"]
    assert itr["ratio"] == pytest.approx((455.0 / 60.1) / (412.5 / 61.3))
    assert itr["says"] == "better"
    # The rate of work is a condition of the comparison, neither good nor bad.
    assert told["External throughput rate, transactions"]["says"] == "higher"
    assert told["Processor time of a transaction"]["says"] == "better"


def test_a_misprinted_number_is_not_told_as_printed(own: Path) -> None:
    """The ITR of the second run with two digits exchanged: 45,500 / 60.1 = 757.07 is compared, and 775.1 nowhere."""
    table = own / "runs.csv"
    table.write_text(table.read_text().replace("757.1", "775.1"))
    done = run("compare", "own:runs:before", "own:runs:after", cwd=own.parent)
    assert done.returncode == 0, done.stderr
    line = next(one for one in done.stdout.splitlines() if "Internal throughput rate .." in one)
    assert "757.072 study's unit" in line
    assert "as printed" not in line
    # The reader of the table is told why.
    said = " ".join(done.stdout.split())
    assert "the computed number is compared: ITR of after: 455 x 100 / 60.1 = 757.0715" in said
    assert "printed 775.1" in said


def test_a_heading_of_a_bundled_study_means_nothing_to_another() -> None:
    """ITR of the 1996 study counts the transactions of a run; that of any other study does not."""
    from plexlens.compare.runs.headings import NONE, heading

    assert heading(load_study("sysplex-1996").headings, "ITR").unit == "transactions"
    assert heading(NONE, "ITR").unit == ""
    assert heading(NONE, "ITR").better == "higher"
    assert not heading(NONE, "TOTAL").known


def test_templates_beside_a_study_and_those_of_plexlens_are_shared(own: Path) -> None:
    text = (own / "study.toml").read_text()
    start = text.index("# Percent of an engine")
    rest = text[text.index("# Meaning of a heading") :]
    shared = text[:start].replace('title = "Runs"', 'title = "Runs"\ntemplate = "cost"') + rest
    (own / "study.toml").write_text(shared)
    with pytest.raises(StudyError, match=r"there is no template 'cost'.*interactive-run"):
        load_study(str(own))
    (own.parent / "templates").mkdir()
    (own.parent / "templates" / "cost.toml").write_text(TEMPLATE)
    (table,) = audit(load_study(str(own))).tables
    # 61.3 % x 10 / 412.5
    cell = next(cell for cell in table.cells if cell.column == "CPU ms per transaction")
    assert cell.computed is not None
    assert float(cell.computed.value) == pytest.approx(613 / 412.5)
    assert cell.agrees


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("times = 10", 'times = "ten"', ("derived.arguments.part.times", "'ten'", "1/3600")),
        ('better = "lower"', 'better = "less"', ("heading 'CPU ms per transaction'", "'better'", "higher, lower")),
        ('group = "PROCESSOR"', 'group = "CPU"', ("'group'", "'CPU'", "PROCESSOR")),
        ('unit = "ms"', 'units = "ms"', ("'units'", "there is no such key")),
        ('name = "tuning-2026"', 'name = "my tuning"', ("'name'", "'my tuning'", "letters, digits")),
    ],
)
def test_what_cannot_be_is_named(own: Path, old: str, new: str, parts: tuple[str, ...]) -> None:
    path = own / "study.toml"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    with pytest.raises(StudyError) as caught:
        load_study(str(own))
    assert all(part in str(caught.value) for part in ("study.toml", *parts)), str(caught.value)


def test_a_folder_without_a_study_and_a_study_named_twice_are_refused(own: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"no study.toml.*README"):
        load_study(str(tmp_path / "empty"))
    done = run("study", "own", "./own", cwd=tmp_path)
    assert done.returncode == 2
    assert "two studies are named 'tuning-2026'" in done.stderr


def test_the_readme_lists_every_formula_with_its_arguments() -> None:
    assert document() == (studies_path() / README).read_text(encoding="utf-8"), "run make docs"
    lines = [line for line in formula_list().splitlines() if line.startswith("| `")]
    assert [line.split("`")[1] for line in lines] == sorted(FORMULAS)
    assert all(name in line for line in lines for name in FORMULAS[line.split("`")[1]].arguments)
