"""Help, its examples, and shell completion."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from plexlens.cli.every import app
from plexlens.cli.examples import commands_of, examples
from plexlens.compare import study_names
from plexlens.findings import load_rules
from tests.cli.command import run

NAMES = [name for name, _ in commands_of(app)]


def test_every_command_has_examples_and_no_other_has() -> None:
    assert set(examples()) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_commands_that_can_be_parsed(name: str) -> None:
    """Every option of an example exists and takes its value; the command itself is not run."""
    command = typer.main.get_command(app)
    for arguments in examples()[name].values():
        words = [*name.split(), *shlex.split(arguments)]
        current, context = command, None
        while hasattr(current, "commands"):
            context = current.make_context("plexlens", words[:1], parent=context, resilient_parsing=True)
            current, words = current.commands[words[0]], words[1:]
        current.make_context(name, words, parent=context)


@pytest.mark.parametrize("name", NAMES)
def test_help_ends_with_the_examples(name: str, tmp_path: Path) -> None:
    shown = run(*name.split(), "--help", cwd=tmp_path).stdout
    assert shown.index("Examples:") > shown.index("--help")
    for arguments in examples()[name].values():
        assert f"plexlens {name} {arguments}\n" in shown


def complete(*words: str) -> list[str]:
    """What bash offers for the last word."""
    line = " ".join(["plexlens", *words])
    environment = os.environ | {
        "_PLEXLENS_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words)),
    }
    code = "import sys; sys.argv[0] = 'plexlens'; from plexlens.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("rep",), ["report"]),
        (("study", "vmesa"), [name for name in study_names() if name.startswith("vmesa")]),
        (("compare", "zxml"), [f"{name}:" for name in study_names() if name.startswith("zxml")]),
        (("layouts", "show", "smf74_4_req"), ["smf74_4_request"]),
        (("findings", "show", "db2.pool_read"), ["db2.pool_read_rate"]),
        (("metrics", "db2_po"), ["db2_pool", "db2_pool_simulation"]),
        (("metrics", "coupling_structure.sync_service_t"), ["coupling_structure.sync_service_time"]),
        (("report", "--format", "h"), ["html"]),
    ],
)
def test_names_are_completed(words: tuple[str, ...], expected: list[str]) -> None:
    assert complete(*words) == expected


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_takes_the_completion_that_the_program_prints() -> None:
    """The script goes into a real bash, which then calls the function that it has for plexlens."""
    program = Path(sys.executable).with_name("plexlens")
    script = """
        eval "$(_PLEXLENS_COMPLETE=source_bash plexlens)"
        [[ $(complete -p plexlens) == *"-F _plexlens_completion plexlens" ]] || exit 1
        for line in "plexlens rep" "plexlens report --fo" "plexlens pdb "; do
            COMP_WORDS=($line) COMP_CWORD=2 COMPREPLY=()
            [[ $line == "plexlens rep" ]] && COMP_CWORD=1
            _plexlens_completion plexlens
            echo "${COMPREPLY[@]}"
        done
    """
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    command = ["bash", "--noprofile", "--norc", "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, third = done.stdout.splitlines()
    assert (first, second) == ("report", "--format")
    assert {"status", "compact", "expire", "verify", "repair", "rebuild", "undo"} <= set(third.split())


def test_rules_are_completed() -> None:
    from plexlens.cli.completion import rules

    every = [rule.id for rule in load_rules(())]
    assert rules("") == sorted(every)
    assert rules("coupling.") == sorted(name for name in every if name.startswith("coupling."))


#: Commands that take measured data, and those of them that take no database: they write into one, or serve one.
DATA = ("compare", "export", "plan", "records", "report", "sharing", "sql")
NO_DATABASE = ("ingest",)
KINDS = ("SMF dump", "(plain, gzip or zstd)", "RMF XML file", "printed report", "Db2, RMF or CICS as text", "folder")


@pytest.mark.parametrize("name", (*DATA, *NO_DATABASE))
def test_commands_say_alike_that_they_take_dumps_reports_and_databases(name: str, tmp_path: Path) -> None:
    shown = " ".join(run(name, "--help", cwd=tmp_path).stdout.split())
    arguments = shown[shown.index("Arguments:") : shown.index("Options:")]
    assert [kind for kind in KINDS if kind not in arguments] == []
    assert ("performance database" in arguments) is (name in DATA)
    for option in ("--layouts FOLDER", "--codepage", "--leap-seconds", "--format"):
        assert option in shown, option


@pytest.mark.parametrize("words", [("layouts", "list"), ("findings", "list", "--help"), ("ways-in", "--help")])
def test_a_command_loads_its_own_module_alone(words: tuple[str, ...]) -> None:
    code = "import sys; from plexlens.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, timeout=60)
    modules = {info.callback.__module__ for _, info in commands_of(app) if info.callback is not None}
    assert modules & set(done.stderr.split()) == {f"plexlens.cli.{words[0].replace('-', '_')}"}


def test_help_has_the_order_of_all_commands_after_one_was_loaded(tmp_path: Path) -> None:
    code = """
import sys
from plexlens.cli import main
for words in (["verify", "--help"], ["--help"]):
    sys.argv = ["plexlens", *words]
    try: main()
    except SystemExit: pass
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.endswith(run("--help", cwd=tmp_path).stdout)
