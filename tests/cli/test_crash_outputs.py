"""Killed, or refused by the disk, at any system call that writes an output: the file is the old one or the new one.

`COMMANDS` names every command that writes files. The harness is that of the database (`tests.pdb.crash_server`), which
has its own tests in `tests/pdb`.
"""

from __future__ import annotations

import errno
import io
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from plexlens.pdb import Pdb
from tests.cli import command
from tests.draws import SOAK
from tests.golden.test_pages import TWO_MEMBERS, write_trace
from tests.pdb.crash import Run, crash_server

OLD = b"what was there before\n"

#: Trials of each kind per command; every step in `make soak`.
TRIALS = 10_000 if SOAK else 2

ERRORS = {errno.ENOSPC: "No space left on device", errno.EIO: "Input/output error"}
REMEDIES = {errno.ENOSPC: "free space in ", errno.EIO: " fails: look into the system log"}


@dataclass(frozen=True)
class Output:
    """A command that writes.

    Attributes
    ----------
    words
        The command line; its inputs are in ``../in``.
    files
        The files that it replaces.
    folders
        The folders that it makes; not there beforehand.
    drawn
        Files that differ from run to run, such as a key; they are looked at by length.
    fresh
        What the command answers where some of its files are there already; it writes into a new folder only.
    """

    words: str
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()
    fresh: str = ""


def _forms(words: str, name: str, endings: str) -> dict[str, Output]:
    return {
        f"{name} {ending}": Output(f"{words} -o {name}.{ending}", (f"{name}.{ending}",)) for ending in endings.split()
    }


_CHANGE = "pools ../in/trace.csv --settings ../in/pools.toml --pool BP2=160"
_QUERY = "sql ../in/group.pdb 'select * from cpu_system'"

COMMANDS = {
    **_forms("report ../in/small.pdb", "report", "html txt json csv zip xlsx"),
    **_forms(_QUERY, "query", "txt json csv xlsx parquet"),
    **_forms("export ../in/group.pdb --grain cpu_system", "view", "json xlsx parquet csv"),
    **_forms("plan ../in/group.pdb", "plan", "html"),
    **_forms("sharing ../in/group.pdb", "sharing", "xlsx"),
    **_forms("compare pools-2014:before pools-2014:after", "compare", "html"),
    **_forms("study vmesa-1992", "study", "json"),
    **_forms("trend ../in/group.pdb --metric cpu_system.mvs_busy", "trend", "csv"),
    **_forms("records ../in/small.smf", "records", "csv"),
    **_forms(_CHANGE, "pools", "html"),
    "export folder": Output(
        "export ../in/group.pdb --grain cpu_system --grain workload_period -o views", (), ("views",)
    ),
    "export csv folder": Output("export ../in/group.pdb --grain cpu_system --format csv -o views", (), ("views",)),
    "pools prediction": Output(f"{_CHANGE} --save p.json --simulate-to p.smf", ("p.json", "p.smf")),
    "pools job": Output(f"{_CHANGE} --jcl a.jcl --subsystem DB1A", ("a.jcl",)),
    "pools trace parquet": Output("pools ../in/trace.csv --write-trace t.parquet", ("t.parquet",)),
    "pools trace csv.gz": Output("pools ../in/trace.csv --write-trace t.csv.gz", ("t.csv.gz",)),
    "pools trace arrow": Output("pools ../in/trace.csv --write-trace t.arrow", ("t.arrow",)),
    "example": Output("example -o e.smf", ("e.smf",)),
    "simulate": Output("simulate ../in/two-members.toml --seconds 2 --truth t.json -o s.smf", ("t.json", "s.smf")),
    "run page": Output("run ../in/driver.jtl --warm-up 0 -o run.html", ("run.html",)),
    "run study": Output("run ../in/driver.jtl --smf ../in/group.pdb --warm-up 0 --study ways", (), ("ways",)),
    "anonymise": Output(
        "anonymise ../in/group.smf -o copy.smf --key ../in/key.json --account a.json", ("copy.smf", "a.json")
    ),
    "anonymise key": Output(
        "anonymise ../in/small.smf -o copy.smf --shift -700 --key key.json", (), (), ("copy.smf", "key.json")
    ),
    "anonymise folder": Output(
        "anonymise ../in/group.smf ../in/small.smf -o copies --key ../in/key.json",
        (),
        ("copies",),
        fresh="the folder is not empty; name a new or empty folder",
    ),
    "layouts import": Output("layouts import ../in/SHPREC.asm -o imported", (), ("imported",)),
}

#: What takes seconds per run, and is written as others are.
LONG = (
    "report html", "report txt", "report json", "report csv", "report zip", "report xlsx", "plan html", "sharing xlsx",
    "study json", "run study", "compare html", "records csv", "view json", "view xlsx", "view parquet", "query json",
    "query csv",
)  # fmt: skip


def contents(name: str, content: bytes) -> Any:
    """What is compared: the bytes, or the parts of a workbook without the time at which it was made."""
    if not name.endswith(".xlsx") or content == OLD:
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        return {part: book.read(part) for part in book.namelist() if part != "docProps/core.xml"}


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with crash_server() as ask:
        yield ask


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs of all commands, in a folder beside those in which they run."""
    folder = tmp_path_factory.mktemp("outputs")
    inputs = folder / "in"
    inputs.mkdir()
    shutil.copy(TWO_MEMBERS, inputs / "two-members.toml")
    for words in (
        "simulate two-members.toml --seconds 60 --transactions -o group.smf",
        "simulate two-members.toml --seconds 1 -o small.smf",
        "ingest group.smf --pdb group.pdb",
        "ingest small.smf --pdb small.pdb",
        "anonymise small.smf -o none.smf --key key.json",
    ):
        done = command.run(*shlex.split(words), cwd=inputs)
        assert done.returncode == 0, done.stderr
    write_trace(inputs / "trace.csv")
    (inputs / "pools.toml").write_text("[BP1]\nsize = 100\n[BP2]\nsize = 60\n")
    (inputs / "SHPREC.asm").write_text("SHPREC   DSECT\nSHPNAME  DS    CL8\nSHPREQ   DS    F\n")
    tasks = (
        Pdb.open(inputs / "group.pdb")
        .connect(threads=1)
        .execute("select tran, epoch_ms(start), epoch_ms(stop) from smf110_1_performance where start is not null")
        .fetchall()
    )
    lines = [f"{begin},{end - begin},{name},true" for name, begin, end in sorted(tasks, key=lambda task: task[1])]
    (inputs / "driver.jtl").write_text("timeStamp,elapsed,label,success\n" + "\n".join(lines) + "\n")
    return folder


class Trial:
    """A command in a folder of its own."""

    def __init__(self, scene: Path, output: Output, run: Run) -> None:
        self.output = output
        self.folder = scene / "trial"
        self._run = run
        self.prepare(old=False)
        whole = run(cwd=str(self.folder), words=self.words)
        assert whole["ending"] == "done", whole
        self.names: list[str] = whole["names"]
        self.made = self.held()
        assert set(output.files) | set(output.drawn) <= set(self.made)

    @property
    def words(self) -> list[str]:
        return shlex.split(self.output.words)

    def prepare(self, *, old: bool) -> None:
        """The folder is empty, or holds what the command replaces."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name in self.output.files if old else ():
            (self.folder / name).write_bytes(OLD)

    def held(self) -> dict[str, bytes]:
        """Contents of every file in the folder."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }

    def __call__(self, **how: Any) -> dict[str, Any]:
        return self._run(cwd=str(self.folder), words=self.words, **how)

    def check(self, where: str, *, old: bool, parts: bool) -> bool:
        """Each file is whole: the old one or the new one; return whether all are there and new."""
        held = self.held()
        for name, content in held.items():
            if parts and any(part.startswith(".") for part in Path(name).parts):
                continue
            assert name in self.made, f"{where}: {name} is left"
            if name in self.output.drawn:
                assert len(content) == len(self.made[name]), f"{where}: {name} is not whole"
                continue
            ways = [contents(name, self.made[name]), *([OLD] if old else [])]
            assert contents(name, content) in ways, f"{where}: {name} is not whole"
        if old:
            assert set(self.output.files) <= set(held), f"{where}: what was there before is gone"
        return all(
            name in held and (name in self.output.drawn or contents(name, held[name]) == contents(name, content))
            for name, content in self.made.items()
        )

    def check_again(self, where: str) -> None:
        """The same command gets through, and nothing is left lying about."""
        again = self()
        if self.output.fresh and again["ending"] == "refused":
            assert self.output.fresh in again["told"], where
            self.prepare(old=False)
            again = self()
        assert again["ending"] == "done", f"{where}: {again['told']}"
        assert self.check(where, old=False, parts=False), f"{where}: the next run does not write it"


@pytest.mark.parametrize("name", [name for name in COMMANDS if SOAK or name not in LONG])
def test_an_output_is_whole_or_as_it_was(scene: Path, run: Run, name: str) -> None:
    trial = Trial(scene, COMMANDS[name], run)
    steps = range(1, len(trial.names) + 1)
    each = max(1, len(steps) // TRIALS)
    refused = 0
    trials = steps[each - 1 :: each] if not SOAK else steps
    for step in trials:
        where = f"{name}, killed at {step}, {trial.names[step - 1]}"
        old = step % 2 == 1
        trial.prepare(old=old)
        assert trial(step=step)["ending"] == "killed", where
        trial.check(where, old=old, parts=True)
        if SOAK or step == trials[-1]:
            trial.check_again(where)
        for number in ERRORS if SOAK else [(errno.ENOSPC, errno.EIO)[step // each % 2]]:
            where = f"{name}, {errno.errorcode[number]} at {step}, {trial.names[step - 1]}"
            trial.prepare(old=not old)
            ended = trial(step=step, errno=number)
            assert ended["ending"] in ("refused", "done"), f"{where}: {ended['told']}"
            whole = trial.check(where, old=not old, parts=False)
            assert whole or ended["ending"] == "refused", f"{where}: it is not written, and nobody is told"
            if ended["ending"] == "refused":
                refused += 1
                for word in (ERRORS[number], "cannot be written", REMEDIES[number], str(trial.folder)):
                    assert word in ended["told"], f"{where}: {ended['told']}"
            if SOAK or step == trials[-1]:
                trial.check_again(where)
    assert refused
    print(
        f"{name}: {len(steps) if SOAK else TRIALS} of {len(steps)} system calls; {refused} refusals failed the command"
    )
