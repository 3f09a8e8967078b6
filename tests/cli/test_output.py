"""Where answers go: the ending of -o names the form, in every command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

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
    for ending, begins in (("html", "<!doctype html>"), ("json", "{"), ("csv", None), ("txt", None)):
        file = folder / f"{command}-made.{ending}"
        done = run(*PAGES[command], "-o", file.name, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert f"written: {file.name}" in done.stderr
        assert done.stdout == ""
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
@pytest.mark.parametrize("name", ["answer.md", "answer", "answer.pdf", "answer.parquet"])
def test_an_ending_that_names_no_form_of_the_command_is_refused(folder: Path, command: str, name: str) -> None:
    done = run(*PAGES[command], "-o", name, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"plexlens: {name}: ")
    for ending in (".html", ".txt", ".csv", ".json"):
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


@pytest.mark.parametrize("words", [("example",), ("simulate", "scenario.toml")])
def test_a_dump_is_not_given_the_ending_of_another_form(folder: Path, words: tuple[str, ...]) -> None:
    done = run(*words, "-o", "dump.csv", cwd=folder)
    assert done.returncode == 2
    assert "dump.csv" in done.stderr and ".smf" in done.stderr
    assert not (folder / "dump.csv").exists()
