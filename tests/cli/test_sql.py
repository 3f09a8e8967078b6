"""`plexlens sql`: what a query may be, and how its values are shown."""

from __future__ import annotations

import csv
import json
import time
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.command import run
from tests.records import dump, record


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of three records."""
    folder = tmp_path_factory.mktemp("sql")
    (folder / "day.smf").write_bytes(
        dump(record(200, "SYS1", b"one"), record(200, "SYS2", b"two"), record(201, "SYS1", b"three"))
    )
    assert run("ingest", "day.smf", "--pdb", "pdb", cwd=folder).returncode == 0
    return folder


#: Two bytes that are not text in UTF-8, and a list and a structure that hold binary data.
BINARY = "select from_hex('00FFE2') token, [from_hex('C1')] tokens, {'id': from_hex('D2')} part"


def test_binary_columns_are_hexadecimal_in_every_form(folder: Path) -> None:
    table = run("sql", "pdb", BINARY, cwd=folder).stdout.splitlines()
    assert table[2].split(maxsplit=1) == ["00FFE2", '["C1"]  {"id": "D2"}']
    (row,) = json.loads(run("sql", "pdb", BINARY, "--json", cwd=folder).stdout)
    assert row == {"token": "00FFE2", "tokens": ["C1"], "part": {"id": "D2"}}
    assert run("sql", "pdb", BINARY, "-o", "rows.csv", cwd=folder).returncode == 0
    assert list(csv.reader((folder / "rows.csv").read_text().splitlines())) == [
        ["token", "tokens", "part"],
        ["00FFE2", '["C1"]', '{"id": "D2"}'],
    ]


def test_json_has_only_json_values(folder: Path) -> None:
    """NaN is not valid JSON, and a sum of whole numbers is a number, not a text."""
    query = "select 'nan'::double n, 'inf'::double i, sum(record_type) s, 1.25::decimal(5,2) d from smf_record"
    text = run("sql", "pdb", query, "--json", cwd=folder).stdout
    (row,) = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not valid JSON"))
    assert row == {"n": None, "i": None, "s": 200 + 200 + 201, "d": 1.25}


@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "txt"])
def test_rows_are_written_in_the_form_that_the_ending_names(folder: Path, ending: str) -> None:
    file = folder / f"counts.{ending}"
    query = "select record_type, count(*)::int n from smf_record group by 1 order by 1"
    done = run("sql", "pdb", query, "-o", file.name, cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    if ending == "csv":
        assert list(csv.reader(file.read_text().splitlines())) == [["record_type", "n"], ["200", "2"], ["201", "1"]]
    elif ending == "json":
        assert json.loads(file.read_text()) == [{"record_type": 200, "n": 2}, {"record_type": 201, "n": 1}]
    elif ending == "parquet":
        assert pq.read_table(file).to_pydict() == {"record_type": [200, 201], "n": [2, 1]}
    else:
        assert [line.split() for line in file.read_text().splitlines()[2:]] == [["200", "2"], ["201", "1"]]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "the query is empty"),
        (" ; -- nothing", "the query is empty"),
        (
            "select 1; select 2",
            '2 statements, and the command runs a single query: "select 1" comes first, then "select 2"',
        ),
        ("create table x (a int)", "CREATE"),
        ("copy (select 1) to 'x.csv'", "COPY"),
        ("drop view smf_record", "DROP"),
        ("selec 1", 'syntax error at or near "selec"'),
        ("select\n1,\n2 from nosuch", "nosuch does not exist! Did you mean"),
    ],
)
def test_what_is_not_one_query_is_refused(folder: Path, query: str, says: str) -> None:
    done = run("sql", "pdb", query, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (folder / "x.csv").exists()


def test_a_pivot_is_one_query(folder: Path) -> None:
    pivot = "pivot smf_record on record_type using count(*) group by system order by system"
    rows = json.loads(run("sql", "pdb", pivot, "--json", cwd=folder).stdout)
    assert rows == [{"system": "SYS1", "200": 1, "201": 1}, {"system": "SYS2", "200": 1, "201": 0}]


def test_the_engine_chooses_the_order_of_joins(folder: Path) -> None:
    """Pages of small databases go without; a query that names tables in an unlucky order would multiply two of them."""
    tables = "range(20000) a(i), range(20000) b(j), range(20000) c(k)"
    query = f"select count(*) n from {tables} where a.i = c.k and b.j = c.k // 2"
    assert "CROSS_PRODUCT" not in run("sql", "pdb", f"explain {query}", cwd=folder).stdout
    assert json.loads(run("sql", "pdb", query, "--json", cwd=folder).stdout) == [{"n": 20_000}]


def test_columns_of_one_name_do_not_replace_each_other(folder: Path) -> None:
    query = "select 1 a, 2 a"
    assert run("sql", "pdb", query, cwd=folder).stdout.splitlines()[2].split() == ["1", "2"]
    done = run("sql", "pdb", query, "--json", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "several columns of the query are named a" in done.stderr


_SITE = """
# Records by system.
grain = "my_records"
title = "Records"
row = "one"
[keys]
kind = "Type"
[facts]
records = {title = "Records", unit = "count", rollup = "count", field = "one each"}
[[source]]
kind = "SMF"
needs = ["smf_record"]
from = "smf_record"
[source.columns]
kind = "COLUMN"
records = "1"
"""


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ("recordtype", 'column "recordtype" not found in FROM clause!; did you mean record_type?'),
        ("record_type +", "syntax error at or near"),
        ("pool_name(1, 2, 3)", "pool_name takes"),
    ],
)
@pytest.mark.parametrize("words", [("select * from my_records",), ("--explain", "my_records")])
def test_sql_of_a_site_that_cannot_be_read_is_said_with_its_place(
    folder: Path, words: tuple[str, ...], column: str, says: str
) -> None:
    (folder / "site").mkdir(exist_ok=True)
    (folder / "site" / "mine.toml").write_text(_SITE.replace("COLUMN", column), encoding="utf-8")
    done = run("sql", "pdb", *words, "--catalogue", "site", cwd=folder)
    assert done.returncode == 2
    assert "mine.toml: line 10: source.1: its SQL is not valid: " in done.stderr
    assert says in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("select 1", "--dialect", "spark"), "--dialect needs --explain"),
        (("select 1", "--explain", "mq_log"), "--explain prints only SQL"),
        (("--explain", "mq_log", "-o", "rows.csv"), "--explain prints only SQL"),
        (("--explain", "mq_log", "--json"), "--explain prints only SQL"),
    ],
)
def test_options_that_do_not_go_together_are_refused(folder: Path, words: tuple[str, ...], says: str) -> None:
    done = run("sql", "pdb", *words, cwd=folder)
    assert done.returncode == 2
    assert says in done.stderr


#: Ways to a file outside of the database; a server on the network would be another.
OUTSIDE = (
    "select * from read_csv('secret.csv')",
    "select * from read_text('secret.csv')",
    "select * from 'secret.csv'",
    "select * from glob('*')",
    "select * from read_parquet('http://127.0.0.1:9/a.parquet')",
    "with a as (select content from read_blob('secret.csv')) select * from a",
)


@pytest.mark.parametrize("query", OUTSIDE)
def test_a_query_reads_no_file_outside_of_the_database(folder: Path, query: str) -> None:
    (folder / "secret.csv").write_text("word\nxyzzy\n")
    done = run("sql", "pdb", query, cwd=folder)
    assert done.returncode == 2
    assert "xyzzy" not in done.stdout + done.stderr
    assert "the query" in done.stderr


def test_a_query_reads_files_where_it_may(folder: Path) -> None:
    (folder / "secret.csv").write_text("word\nxyzzy\n")
    done = run("sql", "pdb", "select word from read_csv('secret.csv')", "--allow-files", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "xyzzy" in done.stdout
    assert "warning: --allow-files" in done.stderr


def test_dumps_are_read_where_files_are_not(folder: Path) -> None:
    done = run("sql", "day.smf", "select count(*) as n from smf_record", "--json", cwd=folder)
    assert json.loads(done.stdout) == [{"n": 3}]


#: A text that colours a terminal and turns a line around, and texts that a spreadsheet would compute.
HARMFUL = "select chr(27) || '[31m' || chr(8238) || 'x' as a, '=1+1' as b, '-2' as c, '@SUM(A1)' as d, -3 as e"


def test_texts_do_not_act_on_a_terminal(folder: Path) -> None:
    assert run("sql", "pdb", HARMFUL, cwd=folder).stdout.splitlines()[2].split()[0] == "\ufffd[31m\ufffdx"


def test_texts_are_no_formulas_in_a_sheet(folder: Path) -> None:
    assert run("sql", "pdb", HARMFUL, "-o", "harm.csv", cwd=folder).returncode == 0
    (row,) = list(csv.reader((folder / "harm.csv").read_text(encoding="utf-8").splitlines()))[1:]
    assert row == ["\ufffd[31m\ufffdx", "'=1+1", "-2", "'@SUM(A1)", "-3"]
    assert run("sql", "pdb", HARMFUL, "-o", "harm.xlsx", cwd=folder).returncode == 0
    with zipfile.ZipFile(folder / "harm.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        texts = book.read("xl/sharedStrings.xml").decode()
    assert "<f>" not in sheet
    assert "=1+1" in texts
    assert "_x001B_" not in texts
    assert "\ufffd[31m\ufffdx" in texts


def test_a_file_name_does_not_act_on_a_terminal(folder: Path) -> None:
    name = "red\x1b[31m.smf"
    (folder / name).write_bytes((folder / "day.smf").read_bytes())
    assert "\x1b" not in run("records", name, cwd=folder).stdout
    (folder / name).write_bytes(b"")
    failed = run("records", name, cwd=folder)
    assert failed.returncode == 4
    assert "red\ufffd[31m.smf" in failed.stderr
    (folder / name).unlink()


#: Rows without end, for any practical purpose.
ENDLESS = "select count(*) from range(10000000000) a, range(1000) b where hash(a.range + b.range) % 7 = 0"


def test_a_query_that_takes_too_long_is_stopped(folder: Path) -> None:
    began = time.monotonic()
    done = run("sql", "pdb", ENDLESS, "--time-limit", "0.5", cwd=folder)
    assert done.returncode == 2
    assert "pdb: the query took more than 0.5 s and was stopped; ask for a shorter time" in done.stderr
    assert "raise --time-limit (0 for none)" in done.stderr
    assert time.monotonic() - began < 20


def test_a_query_that_needs_too_much_memory_is_refused(folder: Path) -> None:
    rows = "select range, repeat('x', 100) from range(10000000)"
    done = run("sql", "pdb", rows, "--memory", "64MiB", cwd=folder)
    assert done.returncode == 2
    assert "the rows of the answer take more than the 0.0625 GiB of memory that it may use" in done.stderr
    state = "select list(range) from range(100000000)"
    done = run("sql", "pdb", state, "--memory", "64MiB", cwd=folder)
    assert done.returncode == 2
    assert "the query needs more than the 0.0625 GiB of memory that it may use; ask for fewer rows" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--memory", "much"), "much"), (("--memory", "0"), "less than the engine needs"), (("--time-limit", "-1"), "-1")],
)
def test_a_limit_that_is_none_is_refused(words: tuple[str, str], said: str, folder: Path) -> None:
    done = run("sql", "pdb", "select 1", *words, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
