"""Man pages against the commands themselves, and as groff prints them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer

from plexlens.cli.every import app
from plexlens.cli.examples import commands_of, examples
from tools.man_pages import main, pages

GROUPS = {inner.name for inner in app.registered_groups}
COMMANDS = [name for name, _ in commands_of(app)]
needs_groff = pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")


@pytest.fixture(scope="module")
def every() -> dict[str, str]:
    return pages()


def printed(page: str) -> str:
    """A page as groff prints it in lines of any length; a warning of groff fails the test."""
    command = ["groff", "-man", "-ww", "-Tascii", "-P-cbou", "-rLL=2000n", "-rLT=2000n"]
    done = subprocess.run(command, input=page, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_command_and_group_has_a_page_and_nothing_else_has(every: dict[str, str]) -> None:
    names = {"plexlens", *(f"plexlens-{name.replace(' ', '-')}" for name in {*COMMANDS, *GROUPS})}
    assert set(every) == {f"{name}.1" for name in names}


@needs_groff
@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_prints_its_options_with_help_and_its_examples_as_they_are_typed(
    name: str, every: dict[str, str]
) -> None:
    text = printed(every[f"plexlens-{name.replace(' ', '-')}.1"])
    words = {" ".join(line.split()) for line in text.splitlines()}
    command: Any = typer.main.get_command(app)
    for word in name.split():
        command = command.commands[word]
    for parameter in command.params:
        for option in parameter.opts if parameter.param_type_name == "option" else ():
            assert option in text
        if not parameter.hidden:
            assert any(" ".join(parameter.help.split()) in line for line in words), parameter.name
    for arguments in examples()[name].values():
        assert " ".join(f"plexlens {name} {arguments}".split()) in words


@needs_groff
def test_the_pages_of_groups_print_what_is_below_them(every: dict[str, str]) -> None:
    first = printed(every["plexlens.1"])
    for name in {name.split()[0] for name in COMMANDS}:
        assert f"plexlens-{name}(1)" in first
    pdb = printed(every["plexlens-pdb.1"])
    assert "plexlens-pdb-compact(1)" in pdb
    assert "Merge the small files of each day of each table." in pdb


@needs_groff
def test_what_roff_takes_for_a_request_or_an_escape_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = ".so is no request. C:\\new \"quoted\" 'single' ~home ^top `tick` a-b"
    odd = typer.Typer(name="plexlens", rich_markup_mode=None)

    @odd.callback()
    def _program() -> None:
        """The program."""

    @odd.command(help=text)
    def report() -> None:
        pass

    monkeypatch.setattr("tools.man_pages.app", odd)
    assert text in printed(pages()["plexlens-report.1"])


def test_the_page_of_a_command_that_is_no_more_goes(tmp_path: Path) -> None:
    folder = tmp_path / "man1"
    assert main([str(folder)]) == 0
    (folder / "plexlens-gone.1").write_text("old", encoding="utf-8")
    (folder / "other.1").write_text("not ours", encoding="utf-8")
    assert main([str(folder)]) == 0
    assert sorted(one.name for one in folder.iterdir()) == sorted([*pages(), "other.1"])
