"""The output of every command as it was last reviewed (`tests.golden.reviewed` says what that is worth).

``commands.toml`` lists the commands. They run on the example dump, a simulated group of two members, a trace of page
references and a damaged dump; all are made here by the program's own writers with fixed seeds.
"""

from __future__ import annotations

import json
import shlex
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plexlens import __version__
from plexlens.cli.every import app
from tests.cli.command import Done, run
from tests.example_file import write_example
from tests.golden.reviewed import check_json, check_no_other, check_text

HERE = Path(__file__).parent
FOLDER = HERE / "pages"
TWO_MEMBERS = HERE.parent / "simulate" / "two-members.toml"
COMMANDS: dict[str, dict[str, str]] = tomllib.loads((HERE / "commands.toml").read_text(encoding="utf-8"))

#: Definitions of metrics are docs/metrics.md, which `make lint` compares with the catalogue.
_DEFINED_ELSEWHERE = ("report", "report-damaged")


def write_trace(path: Path) -> None:
    """Nine seconds of one Db2: a skewed table in BP1, a ring of 90 pages and a small table in BP2.

    Pages follow from multiplications, not from a generator of random numbers, whose stream may change.
    """
    references = [("BP1", "PAY.TSEMP", at * at * 7919 % 400 * (at * 31 % 101) // 101) for at in range(4000)]
    references += [("BP2", "PAY.TSRING", at % 90) for at in range(1800)]
    references += [("BP2", "PAY.TSCODE", at * 7919 % 50 * (at % 7) // 7) for at in range(1500)]
    order = sorted(range(len(references)), key=lambda at: at * 104_729 % len(references))
    lines = [f"{time * 1_234},{','.join(map(str, references[at]))}" for time, at in enumerate(order)]
    path.write_text("time,pool,object,page\n" + "\n".join(lines) + "\n", encoding="utf-8")


def _damaged(path: Path) -> None:
    """The first part of the example: the descriptor word of its twentieth record is broken, and it ends in a record."""
    write_example(path)
    dump, at = bytearray(path.read_bytes()[:40_001]), 0
    for _ in range(19):
        at += int.from_bytes(dump[at : at + 2])
    dump[at : at + 4] = b"\xff" * 4
    path.write_bytes(bytes(dump))


def _arrived(path: Path) -> None:
    """A folder in which a dump has arrived."""
    path.mkdir()
    _run(path.parent, *shlex.split(f"simulate two-members.toml --seconds 20 -o {path.name}/group.smf"))


def _made_by(command: str) -> Callable[[Path], Any]:
    """What makes a file: a command that names it as its output."""
    return lambda path: _run(path.parent, *shlex.split(command), making=path.name)


_CHANGE = "pools trace.csv --settings pools.toml --pool BP2=160 --move PAY.TSCODE=BP1"

_PRICES = """\
currency = "EUR"
[[product]]
name = "z/OS"
base = 100
step = [{up_to = 5, price = 40.0}, {price = 20.0}]
[tailored_fit]
baseline_msu_hours = 1000000
price = 1.5
"""

#: How each file is made, when a command names it first.
_MAKERS: dict[str, Callable[[Path], Any]] = {
    "example.smf": write_example,
    "example.pdb": _made_by("ingest example.smf --pdb example.pdb"),
    "damaged.smf": _damaged,
    "arrived": _arrived,
    "two-members.toml": lambda path: shutil.copy(TWO_MEMBERS, path),
    "group.smf": _made_by("simulate two-members.toml --seconds 20 -o group.smf"),
    "trace.smf": _made_by("simulate two-members.toml --seconds 5 --page-trace -o trace.smf"),
    "trace.csv": write_trace,
    "jmeter.csv": lambda path: shutil.copy(HERE.parent / "load" / "files" / "jmeter-5.6.3.csv", path),
    "prices.toml": lambda path: path.write_text(_PRICES, encoding="utf-8"),
    "pools.toml": lambda path: path.write_text("[BP1]\nsize = 100\n[BP2]\nsize = 60\n", encoding="utf-8"),
    "prediction.json": _made_by(f"{_CHANGE} --save prediction.json -o change.txt"),
    "after.smf": _made_by(f"{_CHANGE} --simulate-to after.smf -o change.txt"),
    "SHPREC.asm": lambda path: path.write_text(
        "SHPREC   DSECT\n"
        "SHPNAME  DS    CL8                 QUEUE\n"
        "SHPREQ   DS    F                   REQUESTS\n"
        "SHPSRV   DS    D                   SERVICE TIME\n",
        encoding="utf-8",
    ),
}


def _run(folder: Path, *words: str, making: str = "") -> Done:
    """Run a command, after the files that it names are made."""
    for name in (word.partition("@")[0] for word in words):
        if name in _MAKERS and name != making and not (folder / name).exists():
            _MAKERS[name](folder / name)
    done = run(*words, cwd=folder)
    assert done.returncode == 0, f"plexlens {shlex.join(words)}: exit code {done.returncode}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands run."""
    return tmp_path_factory.mktemp("golden")


def _text(text: str) -> str:
    """Without the release, which would change every file."""
    return text.replace(f"Plexlens {__version__}", "Plexlens")


def _json(text: str, name: str) -> Any:
    value = json.loads(_text(text))
    if name in _DEFINED_ELSEWHERE:
        value["definitions"] = list(value["definitions"])
    return value


@pytest.mark.parametrize("name", COMMANDS["pages"])
def test_page(folder: Path, name: str) -> None:
    words = shlex.split(COMMANDS["pages"][name])
    done = _run(folder, *words, "--json", "-o", f"{name}.txt")
    # Both are looked at before either can fail: they are renewed together.
    differences = []
    for check, kind, value in (
        (check_text, "txt", _text((folder / f"{name}.txt").read_text(encoding="utf-8"))),
        (check_json, "json", _json(done.stdout, name)),
    ):
        try:
            check(FOLDER / f"{name}.{kind}", value)
        except AssertionError as error:
            differences.append(str(error))
    assert not differences, "\n\n".join(differences)


@pytest.mark.parametrize("name", COMMANDS["studies"])
def test_study(folder: Path, name: str) -> None:
    words = shlex.split(COMMANDS["studies"][name])
    check_json(FOLDER / f"{name}.json", _json(_run(folder, *words, "--json").stdout, name))


@pytest.mark.parametrize("name", COMMANDS["answers"])
def test_answer(folder: Path, name: str) -> None:
    words = shlex.split(COMMANDS["answers"][name])
    check_text(FOLDER / f"{name}.txt", _text(_run(folder, *words).stdout))
    check_json(FOLDER / f"{name}.json", _json(_run(folder, *words, "--json").stdout, name))


@pytest.mark.parametrize("name", COMMANDS["texts"])
def test_text(folder: Path, name: str) -> None:
    check_text(FOLDER / f"{name}.txt", _text(_run(folder, *shlex.split(COMMANDS["texts"][name])).stdout))


def test_every_golden_has_a_command() -> None:
    endings = {"pages": ("txt", "json"), "studies": ("json",), "answers": ("txt", "json"), "texts": ("txt",)}
    check_no_other(
        FOLDER, {f"{name}.{kind}" for group, kinds in endings.items() for name in COMMANDS[group] for kind in kinds}
    )


def test_every_command_has_a_golden() -> None:
    """A new command takes a line in commands.toml."""
    # The output of pdb has times, bytes and paths of the machine: tests/cli/test_pdb.py checks it. Names that reveal
    # translates depend on a random key, and verify compares two copies: tests/hand_over checks them. The example is
    # shorter than the weeks that forecast needs: tests/forecast checks it. Samples are of the machine: tests/sampling.
    # The example has no monitor data of z/VM: tests/ingest/test_monwrite.py.
    without_output = {
        "drive", "lab", "sample", "example", "anonymise", "reveal", "verify", "serve", "pdb", "forecast", "changes",
        "monwrite",
    }  # fmt: skip
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    groups = {group.name for group in app.registered_groups}
    kept = {line.split()[0] for lines in COMMANDS.values() for line in lines.values()}
    assert (commands | groups) - without_output - kept == set()
