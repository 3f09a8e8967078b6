"""Where answers go: the ending of -o names the form, in every command."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest

from plexlens.example import write_example
from tests.cli.command import run
from tests.records import dump, record

TRACE = "time,pool,object,page\n" + "".join(f"{i * 10_000},BP1,PAY.TSACC,{i * 7 % 50}\n" for i in range(300))

#: Commands that make a page, on files of the folder.
PAGES = {
    "report": ("report", "day.smf"),
    "plan": ("plan", "pdb"),
    "sharing": ("sharing", "pdb"),
    "compare": ("compare", "pools-2014:before", "pools-2014:after"),
    "ways-in": ("ways-in", "--rate", "2000"),
    "pools": ("pools", "trace.csv", "--pool", "BP1=30"),
    "study": ("study", "zxml-2008"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example's database and a trace."""
    folder = tmp_path_factory.mktemp("output")
    write_example(folder / "example.smf")
    assert run("ingest", "example.smf", "--pdb", "pdb", cwd=folder).returncode == 0
    (folder / "day.smf").write_bytes(dump(record(200, "SYS1", b"one"), record(201, "SYS2", b"two")))
    (folder / "trace.csv").write_text(TRACE)
    return folder


@pytest.mark.parametrize("command", PAGES)
def test_the_ending_names_the_form(folder: Path, command: str) -> None:
    for ending, begins in (
        ("html", "<!doctype html>"), ("json", "{"), ("csv", None), ("txt", None), ("xlsx", None), ("zip", None)
    ):  # fmt: skip
        file = folder / f"{command}-made.{ending}"
        done = run(*PAGES[command], "-o", file.name, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert f"written: {file.name}" in done.stderr
        assert done.stdout == ""
        if ending == "xlsx":
            assert len(openpyxl.load_workbook(file).sheetnames) > 1
            continue
        if ending == "zip":
            archive = zipfile.ZipFile(file)
            listed = [row["file"] for row in csv.DictReader(io.StringIO(archive.read("contents.csv").decode()))]
            assert listed and sorted([*listed, "contents.csv", "columns.csv"]) == sorted(archive.namelist())
            continue
        text = file.read_text(encoding="utf-8")
        assert begins is None or text.lower().startswith(begins)
        if ending == "json":
            json.loads(text)
        if ending == "csv":
            head, *rows = csv.reader(text.splitlines())
            assert rows and {len(row) for row in rows} == {len(head)}
        if ending == "txt":
            assert not text.startswith(("<", "{"))


@pytest.mark.parametrize("command", PAGES)
@pytest.mark.parametrize("name", ["answer.doc", "answer", "answer.pdf", "answer.parquet"])
def test_an_ending_that_names_no_form_of_the_command_is_refused(folder: Path, command: str, name: str) -> None:
    done = run(*PAGES[command], "-o", name, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"plexlens: {name}: ")
    for ending in (".html", ".txt", ".csv", ".json", ".zip", ".xlsx"):
        assert ending in done.stderr
    assert not (folder / name).exists()


def test_json_goes_to_standard_output_and_the_file_keeps_its_form(folder: Path) -> None:
    done = run("compare", "pools-2014:before", "pools-2014:after", "--json", "-o", "both.html", cwd=folder)
    assert done.returncode == 0
    assert json.loads(done.stdout)
    assert (folder / "both.html").read_text().startswith("<!DOCTYPE html>")


def test_format_and_ending_that_contradict_each_other_are_refused(folder: Path) -> None:
    done = run("plan", "pdb", "-o", "plan.csv", "--format", "html", cwd=folder)
    assert done.returncode == 2
    assert "--format html" in done.stderr
    assert not (folder / "plan.csv").exists()


def test_a_stated_format_allows_any_other_ending(folder: Path) -> None:
    done = run("ways-in", "--rate", "2000", "--format", "text", "-o", "WAYS.REPORT", cwd=folder)
    assert done.returncode == 0
    assert "WAYS INTO CICS" in (folder / "WAYS.REPORT").read_text().upper().replace("  ", " ")


def test_a_page_without_a_file_is_named_after_the_command(folder: Path) -> None:
    done = run("ways-in", "--rate", "2000", "--format", "html", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert (folder / "ways-in.html").is_file()


def test_a_hyphen_is_standard_output_in_every_form(folder: Path) -> None:
    done = run("ways-in", "--rate", "2000", "--format", "html", "-o", "-", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("<!DOCTYPE html>")


def test_two_answers_do_not_share_standard_output(folder: Path) -> None:
    done = run("ways-in", "--rate", "2000", "--json", "--format", "csv", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json and --format csv" in done.stderr


@pytest.mark.parametrize("command", PAGES)
@pytest.mark.parametrize(
    ("name", "says"), [(".", "it is a folder"), ("absent/x.html", "no folder absent"), ("pdb/x.html", "database")]
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    folder: Path, command: str, name: str, says: str
) -> None:
    done = run(*PAGES[command], "-o", name, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_a_file_that_exists_is_replaced(folder: Path) -> None:
    (folder / "old.txt").write_text("old")
    assert run("ways-in", "--rate", "2000", "-o", "old.txt", cwd=folder).returncode == 0
    assert (folder / "old.txt").read_text()[:3] != "old"


@pytest.mark.parametrize(
    "words",
    [
        ("pools", "trace.csv", "-o", "trace.csv"),
        ("pools", "trace.csv", "--pool", "BP1=30", "--write-trace", "trace.csv"),
        ("pools", "./trace.csv", "-o", "trace.csv"),
    ],
)
def test_a_file_that_the_command_reads_is_not_replaced(folder: Path, words: tuple[str, ...]) -> None:
    done = run(*words, cwd=folder)
    assert done.returncode == 2
    assert "reads the file" in done.stderr
    assert (folder / "trace.csv").read_text() == TRACE


def test_two_outputs_do_not_share_a_file(folder: Path) -> None:
    done = run("pools", "trace.csv", "--pool", "BP1=30", "--save", "same.json", "-o", "same.json", cwd=folder)
    assert done.returncode == 2
    assert "-o and --save name the same file" in done.stderr
    assert not (folder / "same.json").exists()


def test_a_device_is_written_to_and_stays_one(folder: Path) -> None:
    done = run("ways-in", "--rate", "2000", "--format", "text", "-o", "/dev/null", cwd=folder)
    assert done.returncode == 0
    assert Path("/dev/null").is_char_device()


#: Commands whose answer is one table.
TABLES = {
    "sql": ("sql", "pdb", "select structure, sync_requests from coupling_structure order by structure"),
    "records": ("records", "day.smf"),
    "metrics": ("metrics",),
    "findings": ("findings", "list"),
    "layouts": ("layouts", "list"),
    "section": ("layouts", "show", "smf74_4_request"),
}


@pytest.mark.parametrize("command", TABLES)
def test_a_table_has_the_same_rows_in_every_form(folder: Path, command: str) -> None:
    for ending in ("csv", "xlsx", "parquet"):
        done = run(*TABLES[command], "-o", f"{command}.{ending}", cwd=folder)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    heads, *rows = csv.reader((folder / f"{command}.csv").read_text().splitlines())
    sheet = list(openpyxl.load_workbook(folder / f"{command}.xlsx").active.values)
    assert list(sheet[0]) == heads
    table = pq.read_table(folder / f"{command}.parquet")
    assert table.column_names == heads
    assert len(rows) == len(sheet) - 1 == table.num_rows > 0
    for row, cells, values in zip(rows, sheet[1:], table.to_pylist(), strict=True):
        assert row[0] == str(cells[0]) == str(values[heads[0]])
    printed = run(*TABLES[command], "--format", "csv", cwd=folder)
    assert printed.stdout == (folder / f"{command}.csv").read_text()


def test_a_dump_and_the_database_made_of_it_give_sql_the_same_rows(folder: Path) -> None:
    query = "select structure, sync_service_time from coupling_structure order by all"
    answers = [run("sql", source, query, "--json", cwd=folder) for source in ("pdb", "example.smf")]
    assert json.loads(answers[0].stdout) == json.loads(answers[1].stdout) != []


@pytest.mark.parametrize("words", [("example",), ("simulate", "scenario.toml")])
def test_a_dump_is_not_given_the_ending_of_another_form(folder: Path, words: tuple[str, ...]) -> None:
    done = run(*words, "-o", "dump.csv", cwd=folder)
    assert done.returncode == 2
    assert "dump.csv" in done.stderr and ".smf" in done.stderr
    assert not (folder / "dump.csv").exists()
