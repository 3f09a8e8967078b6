"""The table of exit codes, each row by commands; what a cut dump and a failed ingest say and leave."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.example_file import write_example

TABLE = Path(__file__).parents[2] / "docs" / "exit-codes.md"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("codes")
    write_example(folder / "example.smf")
    whole = (folder / "example.smf").read_bytes()
    (folder / "cut.smf").write_bytes(whole[:230_000])
    (folder / "none").write_bytes(b"")
    (folder / "text.txt").write_text("hello\n")
    (folder / "empty.toml").write_text("")
    (folder / "empty.asm").write_text("")
    (folder / "folder").mkdir()
    (folder / "folder" / "notes.txt").write_text("hello\n")
    assert run("ingest", "example.smf", "--pdb", "pdb", cwd=folder).returncode == 0
    return folder


CASES = [
    (0, "records example.smf"),
    (0, "records cut.smf"),
    (2, "records"),
    (2, "sql text.txt select"),
    (2, "sql pdb drop"),
    (2, "simulate empty.toml -o out.smf"),
    (2, "findings show nothing.such"),
    (3, "records missing.smf"),
    (3, "ingest text.txt --pdb new"),
    (3, "simulate missing.toml -o out.smf"),
    (3, "layouts import missing.asm -o made"),
    (4, "ingest none --pdb new"),
    (4, "ingest folder --pdb new"),
    (4, "layouts import empty.asm -o made"),
    (3, "ingest none text.txt --pdb new"),
]


@pytest.mark.parametrize(("code", "words"), CASES, ids=[words for _, words in CASES])
def test_a_command_ends_with_the_code_of_the_table(code: int, words: str, files: Path) -> None:
    done = run(*words.split(), cwd=files)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert not (files / "new").exists(), "a database that nothing went into is left"


def test_the_table_has_every_code() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", TABLE.read_text(), re.MULTILINE)}
    assert codes == {0, 1, 2, 3, 4, 70, 130}
    assert {code for code, _ in CASES} <= codes


def test_an_empty_folder_that_was_there_stays(files: Path) -> None:
    (files / "mine").mkdir()
    assert run("ingest", "text.txt", "--pdb", "mine", cwd=files).returncode == 3
    assert list((files / "mine").iterdir()) == []


def test_a_database_that_holds_something_stays_when_a_later_ingest_fails(files: Path) -> None:
    before = (files / "pdb" / "manifest.json").read_bytes()
    assert run("ingest", "text.txt", "--pdb", "pdb", cwd=files).returncode == 3
    assert (files / "pdb" / "manifest.json").read_bytes() == before


def test_a_cut_dump_is_named_on_the_terminal(files: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.smf").write_bytes((files / "cut.smf").read_bytes())
    done = run("ingest", "cut.smf", "--pdb", "pdb", cwd=tmp_path)
    assert done.returncode == 0
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("plexlens: "))
    assert re.match(
        r"plexlens: cut\.smf: data is lost at record \d+, byte \d+: .*bytes needed.*transfer it again", line
    )
    whole = run("ingest", str(files / "example.smf"), "--pdb", "whole", cwd=tmp_path)
    assert "data is lost" not in whole.stderr


@pytest.mark.parametrize(
    "words", ["sample -o x.csv --seconds nan", "lab --seconds nan", "ways-in --rate 9 --engines inf"]
)
def test_a_number_that_is_none_is_wrong_use(words: str, tmp_path: Path) -> None:
    """Not a number is neither below nor above a bound, so that bounds do not refuse it."""
    done = run(*words.split(), cwd=tmp_path)
    assert (done.returncode, "is not a number" in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []
