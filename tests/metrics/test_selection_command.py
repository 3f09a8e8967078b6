"""The options of a selection on every command that has them, over the example dump."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.selection import Selection, shift, window
from plexlens.report.blocks.selection import page_selection
from plexlens.report.pages import PAGES
from tests.cli.command import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example's database: T104 has Db2 statistics of two evenings, WAY1 is a system of 2012."""
    path = tmp_path_factory.mktemp("selection")
    assert run("example", "-o", "ex.smf", cwd=path).returncode == 0
    assert run("ingest", "ex.smf", "--pdb", "pdb", cwd=path).returncode == 0
    return path


def test_sql_is_restricted_in_raw_tables_and_metrics(folder: Path) -> None:
    query = "select distinct 'raw' as what, system from smf100_ifcid2_qbst"
    query += " union all select distinct 'metric', system from cpu_system"
    done = run("sql", "pdb", query, "--json", "--system", "T104,SYS1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert {(row["what"], row["system"]) for row in json.loads(done.stdout)} == {("raw", "T104"), ("metric", "SYS1")}


def test_each_section_of_a_report_says_what_is_selected(folder: Path) -> None:
    done = run("report", "pdb", "--json", "--system", "t104", "--from", "2008-09-04", "--class", "*", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["systems"] == ["T104"]
    # One evening at UTC-05:00: from 20:56 on 4 September, local time.
    assert found["span"][0].startswith("2008-09-05T01:56")
    assert found["selection"]["systems"] == ["T104"]
    assert found["selection"]["selected"][-1]["system"] is not None
    for section in found["sections"]:
        assert section["selection"].startswith("from 2008-09-04 00:00"), section["id"]
    by_id = {section["id"]: section["selection"] for section in found["sections"]}
    assert "is not restricted by class" in by_id["coupling"]
    assert "Not restricted by class" not in by_id["workload"] and "not restricted" not in by_id["workload"]
    missing = [one["what"] for section in found["sections"] for one in section["missing"]]
    assert any(what.endswith("in the selection.") for what in missing)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("report", "pdb", "--system", "T105"), 4, r"no system is called 'T105'; did you mean T104"),
        (("report", "pdb", "--from", "2024-01-01"), 4, "nothing matches from 2024-01-01 00:00"),
        (("sql", "pdb", "select 1", "--class", "XYZ"), 4, "no class is called 'XYZ'"),
        (("plan", "pdb", "--system", "T104"), 4, "in the selection (system T104)"),
        (("sharing", "pdb", "--system", "T104"), 4, "in the selection (system T104)"),
        (("compare", "pdb@2008-09-03", "pdb@2008-09-04", "--system", "WAY1"), 4, "nothing matches"),
        (("compare", "vmesa-1992:table-05:Y63F4809", "vmesa-1992:table-05:Y63F4809", "--from", "2024-01-01"), 2,
         "runs of studies have no intervals to select from"),
        (("report", "pdb", "--shift", "prime"), 2, "'prime' is not a shift; write DAYS/HH:MM-HH:MM"),
        (("report", "pdb", "--from", "2008-09-04", "--to", "2008-09-03"), 2, "ends before it starts"),
        (("report", "pdb", "--to", "noon"), 2, "'noon' is not a time; write a date"),
        (("sql", "pdb", "select 1", "--site", "none.toml"), 3, "none.toml"),
    ],
)  # fmt: skip
def test_a_selection_that_cannot_be(folder: Path, words: tuple[str, ...], code: int, message: str) -> None:
    done = run(*words, cwd=folder)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert not (folder / "report.html").exists()


def test_compare_names_the_selection_of_both(folder: Path) -> None:
    done = run("compare", "pdb@2008-09-03", "pdb@2008-09-04", "--system", "T104", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["selection"]
    assert found["BASE"]["times"] == ["2008-09-03 00:00 to 2008-09-04 00:00"]
    assert found["NEW"]["times"] == ["2008-09-04 00:00 to 2008-09-05 00:00"]
    assert found["NEW"]["systems"] == ["T104"]


def test_every_command_has_the_same_options(folder: Path) -> None:
    texts = []
    for command in ("report", "sql", "plan", "sharing", "compare"):
        lines = run(command, "--help", cwd=folder).stdout.splitlines()
        start = next(number for number, line in enumerate(lines) if "--from" in line)
        end = next(
            number for number, line in enumerate(lines) if "--site" in line or "--help" in line if number > start
        )
        texts.append(" ".join(" ".join(lines[start:end]).split()))
        # A command that reads decisions from the site's file has the option elsewhere, with the same words.
        assert "shifts by name ([shifts])" in " ".join(" ".join(lines).split())
    assert len(set(texts)) == 1
    assert all(option in texts[0] for option in ("--to", "--system", "--shift", "--class"))


def test_a_file_of_the_site_has_shifts_beside_decisions(folder: Path) -> None:
    (folder / "site.toml").write_text('[shifts]\nprime = "mon-fri/08:00-17:00"\n')
    words = ("--system", "SYS1", "--shift", "prime", "--site", "site.toml", "--json")
    done = run("report", "pdb", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["selection"]["shifts"] == ["prime (mon-fri/08:00-17:00)"]


def test_pages_of_accounting_say_that_records_count_when_they_were_written() -> None:
    def told(selection: Selection) -> set[str]:
        texts = {page.id: page_selection(page, GRAINS, selection) for page in PAGES}
        return {name for name, text in texts.items() if "at the time it was written" in text}

    accounting = {"db2_accounting", "data_sharing", "cics", "data_sets", "requests", "tcp", "security", "workload"}
    assert told(Selection((window("2008-05-15"),))) == accounting
    assert told(Selection(shifts=(shift("08:00-17:00"),))) == accounting
    assert told(Selection(systems=("SYS1",))) == set()
