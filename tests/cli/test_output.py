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

from tests.cli.command import run
from tests.example_file import write_example
from tests.records import dump, record

TRACE = "time,pool,object,page\n" + "".join(f"{i * 10_000},BP1,PAY.TSACC,{i * 7 % 50}\n" for i in range(300))

#: Commands that make a page, on files of the folder.
PAGES = {
    "report": ("report", "day.smf"),
    "plan": ("plan", "pdb"),
    "cost": ("cost", "pdb"),
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
    # A report of few records takes a tenth of the time of one of the example.
    assert run("ingest", "day.smf", "--pdb", "days", cwd=folder).returncode == 0
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
    "ingest": ("ingest", "example.smf", "--pdb", "pdb"),
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


#: What a dump of one SMF 200 of SYS1 and one SMF 201 of SYS2 has: counted by hand.
RECORDS = [["200", "SYS1", "1", "no"], ["201", "SYS2", "1", "no"]]

#: A site's layout of SMF 200: three bytes of text after the standard header.
LAYOUT = """field,offset,length,format,unit,description,since,source,confidence
SMF200TX,18,3,bytes,,text,,our macro,high
"""
MAP = """# identity: standard
layout,triplet,rule,description,source,confidence
smf_header_no_subtype,,header,standard header,IBM docs: Standard SMF record header,high
site200,,header,the text,our macro,high
"""


def test_a_table_of_an_ingest_has_a_row_for_each_file_also_for_those_that_fail(folder: Path) -> None:
    (folder / "notes.txt").write_text("no report\n")
    done = run("ingest", "day.smf", "notes.txt", "--pdb", "new", "--format", "csv", cwd=folder)
    assert done.returncode == 3
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [(Path(row["file"]).name, row["outcome"], row["records"]) for row in rows] == [
        ("day.smf", "added", "2"),
        ("notes.txt", "failed", "0"),
    ]
    assert "the file is text" in rows[1]["reason"]


def test_an_ingest_does_not_replace_its_dump(folder: Path) -> None:
    before = (folder / "day.smf").read_bytes()
    done = run("ingest", "day.smf", "--pdb", "other", "--format", "csv", "-o", "day.smf", cwd=folder)
    assert done.returncode == 2 and "reads the file" in done.stderr
    assert (folder / "day.smf").read_bytes() == before and not (folder / "other").exists()


def test_the_example_comes_with_the_inventory_of_its_dump(folder: Path) -> None:
    done = run("example", "-o", "again.smf", "--format", "csv", cwd=folder)
    assert done.returncode == 0
    assert done.stdout == run("records", "again.smf", "--format", "csv", cwd=folder).stdout
    told = json.loads(run("example", "-o", "again.smf", "--json", cwd=folder).stdout)
    assert told == json.loads(run("records", "again.smf", "--json", cwd=folder).stdout)
    assert run("example", "-o", "again.smf", cwd=folder).stdout == ""


def test_records_are_counted_with_the_layouts_of_the_site(folder: Path) -> None:
    """A record type that only the site describes is counted as decoded with its layouts, and as undecoded without."""
    site = folder / "site"
    (site / "records").mkdir(parents=True)
    (site / "records" / "smf200.csv").write_text(MAP)
    (site / "site200.csv").write_text(LAYOUT)
    answers = [
        list(csv.reader(run("records", "day.smf", *words, "--format", "csv", cwd=folder).stdout.splitlines()))
        for words in ((), ("--layouts", "site"))
    ]
    assert [row[2:] for row in answers[0][1:]] == RECORDS
    assert [row[2:] for row in answers[1][1:]] == [[*RECORDS[0][:3], "yes"], RECORDS[1]]


def test_responses_of_a_simulation_have_the_same_values_in_every_form(folder: Path) -> None:
    scenario = str(Path(__file__).parents[2] / "scenarios" / "capacity.toml")
    words = ("simulate", scenario, "--seconds", "20")
    whole = json.loads(run(*words, "--format", "json", cwd=folder).stdout)["responses"]
    heads, *rows = csv.reader(run(*words, "--format", "csv", cwd=folder).stdout.splitlines())
    assert heads == ["class", "transactions", "response s", "half width s"]
    assert [(row[0], int(row[1]), float(row[2])) for row in rows] == [
        (response["class"], response["count"], pytest.approx(response["mean"], abs=5e-7)) for response in whole
    ]
    assert run(*words, "--format", "xlsx", cwd=folder).returncode == 0
    sheet = list(openpyxl.load_workbook(folder / "simulate.xlsx").active.values)
    assert [list(map(str, row)) for row in sheet] == [heads, *rows]


@pytest.mark.parametrize(
    "words",
    [
        ("records",),
        ("sql", "select 1"),
        ("report", "-o", "told.json"),
        ("export", "--grain", "coupling_structure", "-o", "told.csv"),
        ("sharing",),
    ],
)
def test_options_for_dumps_are_told_to_have_no_effect_on_a_database(folder: Path, words: tuple[str, ...]) -> None:
    (folder / "own").mkdir(exist_ok=True)
    command, *rest = words
    pdb = "days" if command == "report" else "pdb"
    source = (pdb, *rest)
    plain = run(command, *source, cwd=folder)
    assert plain.returncode == 0 and "no effect" not in plain.stderr
    done = run(command, *source, "--layouts", "own", "--codepage", "037", "--leap-seconds", cwd=folder)
    assert done.returncode == 0 and done.stdout == plain.stdout
    told = [line for line in done.stderr.splitlines() if "no effect" in line]
    assert [line.split(": ")[2].split(" has")[0] for line in told] == ["--layouts", "--codepage 037", "--leap-seconds"]
    assert f"plexlens pdb rebuild {pdb} --layouts FOLDER" in told[0] and "plexlens ingest" in told[1]
    assert run(command, *source, "--codepage", "1047", cwd=folder).stderr == plain.stderr
