"""Exports of metric views, read by other programs: DuckDB, openpyxl, the csv module, pyarrow."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow.parquet as pq
import pytest

from tests.cli.command import run
from tests.example_file import write_example


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example's database."""
    folder = tmp_path_factory.mktemp("export")
    write_example(folder / "example.smf")
    assert run("ingest", "example.smf", "--pdb", "pdb", cwd=folder).returncode == 0
    return folder


def export(folder: Path, *words: str) -> None:
    done = run("export", "pdb", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "written: " in done.stderr


def sql(folder: Path, query: str) -> Any:
    done = run("sql", "pdb", query, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_folder_has_a_file_for_each_grain_with_data_and_the_columns_of_all(folder: Path) -> None:
    export(folder, "-o", "views")
    files = {file.stem: file for file in (folder / "views").iterdir()}
    assert {"coupling_structure", "cpu_system", "db2_pool", "columns"} <= files.keys()
    assert "mq_queue" not in files
    query = f"select r.*  from '{files['coupling_structure']}' r order by system, structure, time"
    rows = duckdb.connect().execute(query).to_arrow_table().to_pylist()
    # Oracle: the fields of the records.
    raw = sql(folder, "select count(*) n, sum(r744ssrc) requests from smf74_4_request")
    assert len(rows) == raw[0]["n"]
    assert sum(row["sync_requests"] for row in rows) == raw[0]["requests"]
    columns = pq.read_table(files["columns"]).to_pylist()
    for name in files.keys() - {"columns"}:
        described = [row["column"] for row in columns if row["grain"] == name]
        assert described == pq.read_schema(files[name]).names


def test_parquet_has_the_units_in_its_fields(folder: Path) -> None:
    export(folder, "--grain", "coupling_structure", "-o", "one.parquet")
    schema = pq.read_schema(folder / "one.parquet")
    told = schema.field("sync_service_time").metadata
    assert (told[b"unit"], told[b"shown_in"].decode(), told[b"formula"]) == (b"s", "µs", b"R744SSTM / R744SSRC")
    assert schema.field("structure_type").metadata[b"title"] == b"Type"
    assert schema.metadata[b"grain"] == b"coupling_structure"


def test_every_form_holds_the_same_rows(folder: Path) -> None:
    words = ("--grain", "cpu_system", "--metric", "mvs_busy,interval_seconds")
    for name in ("rows.csv", "rows.json", "rows.parquet", "rows.xlsx"):
        export(folder, *words, "-o", name)
    parquet = pq.read_table(folder / "rows.parquet").to_pylist()
    assert len(parquet) == 8
    # The records hold the times; SMF70INT is the length.
    lengths = sql(folder, "select distinct epoch(interval_end - interval_start) s from smf70_1_cpu_control")
    assert {round(row["interval_seconds"]) for row in parquet} == {round(row["s"]) for row in lengths}
    as_json = json.loads((folder / "rows.json").read_text())["grains"]["cpu_system"]
    assert [row["mvs_busy"] for row in as_json["rows"]] == [row["mvs_busy"] for row in parquet]
    assert as_json["rows"][0]["time"] == parquet[0]["time"].strftime("%Y-%m-%dT%H:%M:%SZ")
    assert {column["column"]: column.get("unit") for column in as_json["columns"]}["mvs_busy"] == "fraction"
    as_csv = list(csv.DictReader(io.StringIO((folder / "rows.csv").read_text())))
    assert [float(row["mvs_busy"]) for row in as_csv] == [row["mvs_busy"] for row in parquet]
    sheets = openpyxl.load_workbook(folder / "rows.xlsx")
    assert sheets.sheetnames == ["cpu_system", "Columns"]
    heads, *rows = sheets["cpu_system"].iter_rows(values_only=True)
    place = heads.index("mvs_busy")
    assert [row[place] for row in rows] == pytest.approx([row["mvs_busy"] for row in parquet], rel=1e-14)


def test_the_whole_time_is_one_row_for_each_entity(folder: Path) -> None:
    """Oracle: of XML1's two intervals the busy time over the time online, from the records."""
    done = run("export", "pdb", "--grain", "cpu_system", "--every", "whole", "--system", "XML1", "--json", cwd=folder)
    view = json.loads(done.stdout)
    assert view["selection"]["systems"] == ["XML1"]
    rows = view["grains"]["cpu_system"]["rows"]
    assert [row["processor_type"] for row in rows] == ["CP", "IIP"]
    assert "time" not in rows[0]
    facts = sql(
        folder,
        "select processor_type, sum(interval_seconds) s, sum(io_interrupts) i from cpu_system where system = 'XML1'"
        " group by 1 order by 1",
    )
    assert [row["interval_seconds"] for row in rows] == pytest.approx([fact["s"] for fact in facts])
    assert [row["io_interrupts"] for row in rows] == [fact["i"] for fact in facts]


def test_conditions_and_times(folder: Path) -> None:
    words = ("--where", "structure like '%GBP1'", "--every", "day", "--grain", "coupling_structure")
    view = json.loads(run("export", "pdb", *words, "--json", cwd=folder).stdout)["grains"]["coupling_structure"]
    assert {row["structure"][-4:] for row in view["rows"]} == {"GBP1"}
    assert {row["time"] for row in view["rows"]} == {"1996-05-29T00:00:00Z"}


def test_a_named_metric_leaves_out_grains_without_it(folder: Path) -> None:
    view = json.loads(run("export", "pdb", "--metric", "mvs_busy", "--json", cwd=folder).stdout)["grains"]
    assert list(view) == ["cpu_system"]


#: Wrong uses, the exit code, and a word of the message.
WRONG = {
    "nothing named": ((), 2, "-o FOLDER"),
    "several in one": (("-o", "all.csv"), 2, "a single grain"),
    "a page": (("-o", "all.html"), 2, "does not write .html"),
    "two forms": (("-o", "a.csv", "--format", "json"), 2, "another form"),
    "two places": (("-o", "a.csv", "--json"), 2, "standard output"),
    "no such grain": (("--grain", "cpu_sistem", "-o", "v"), 2, "did you mean cpu_system"),
    "no such metric": (("--grain", "cpu_system", "--metric", "busy", "-o", "v"), 2, "mvs_busy"),
    "no data of it": (("--grain", "job", "-o", "v"), 4, "SMF 30"),
    "no grain has it": (("--metric", "nonsense", "-o", "v"), 4, "no grain with data"),
    "nothing selected": (("-o", "v", "--from", "2030-01-01"), 4, "nothing matches"),
    "a condition": (("-o", "v", "--grain", "cpu_system", "--where", "nonsense = 1"), 2, "nonsense"),
    "into the database": (("-o", "pdb/views"), 2, "holds only its own files"),
    "over the database": (("-o", "pdb"), 2, "holds only its own files"),
    "over a file": (("-o", "example.smf"), 2, "a folder is needed"),
    "no folder": (("-o", "no/views"), 2, "no folder"),
    "not writable": (("-o", "/proc/views"), 2, "cannot be written"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_use_says_what_to_do(folder: Path, what: str) -> None:
    words, code, said = WRONG[what]
    done = run("export", "pdb", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "defect" not in done.stderr
    assert not (folder / "v").exists()


def test_what_is_not_a_database_is_refused(folder: Path) -> None:
    (folder / "notes.txt").write_text("no dump")
    done = run("export", "notes.txt", "-o", "v", cwd=folder)
    assert done.returncode == 3
    assert "notes.txt" in done.stderr
