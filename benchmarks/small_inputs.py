"""Fixed cost of commands: the example, two small databases, a metric view, ``--help``.

Each is the whole command in a process of its own, measured by the processor time it takes, user and system. Another
commit is compared with this commit: its checkout does the same in the same run, in turns, with databases that it made.

A machine that others use, too, changes its speed from hour to hour. So each turn does a fixed piece of work as well
(`benchmarks.yardstick`), and each figure is also told as a multiple of the time that it took in the same turns.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import yardstick
from benchmarks.measure import Run, command

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = ROOT / "scenarios" / "three-members.toml"

#: Seeds of the two runs that are compared, and simulated seconds of each.
SEEDS = (1, 2)
SECONDS = 60

#: A metric view, and the raw table that has a row for each of its rows.
VIEW = "coupling_structure"
RECORDED = "smf74_4_request"
QUERY = f"select system, facility, structure, interval_start, sync_service_time from {VIEW} order by all"

#: Objects of the example, one of each kind of record it is made of.
IN_EXAMPLE = ("DSNDB2B_LOCK1", "CPLEX1", "T104", "WAY1")


@dataclass(frozen=True)
class Checkout:
    """A commit to be measured: the code of a folder under a Python.

    Attributes
    ----------
    folder
        The checkout; its compiled core lies in ``src/plexlens``.
    python
        The Python that has what this commit depends on.
    """

    folder: Path
    python: Path = field(default_factory=lambda: Path(sys.executable))

    def run(self, *words: str | Path, output: Path | None = None) -> Run:
        """Run the command line of this commit."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        # An installed package keeps its byte code; without it a fifth of a second goes into compiling.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        return command(self.python, "-m", "plexlens.cli", *words, environment=environment, output=output)

    def commit(self) -> str:
        """The commit in a line, without its path."""

        def git(*words: str) -> str:
            done = subprocess.run(["git", "-C", str(self.folder), *words], capture_output=True, text=True, check=False)
            return done.stdout.strip()

        changed = " with changes not committed" if git("status", "--porcelain", "--untracked-files=no") else ""
        return (git("log", "-1", "--format=%h (%s)") or "a folder without git") + changed

    def check(self) -> None:
        """Refuse a folder that cannot run.

        Raises
        ------
        SystemExit
            The folder is not a checkout, its core is not compiled, or its Python lacks what it imports.
        """
        package = self.folder / "src" / "plexlens"
        if not any(package.glob("_core*.so")):
            raise SystemExit(
                f"{package}: there is no compiled core here; give a checkout in which maturin develop has run, or copy "
                "the core of this one there if no crate differs"
            )
        try:
            self.run("--help")
        except RuntimeError as error:
            raise SystemExit(
                f"{self.folder}: the commit does not run under {self.python}: {error}; name the Python that has what "
                "it depends on with --beside-python"
            ) from error


@dataclass
class Inputs:
    """Inputs of every commit, and the databases that each commit made from them."""

    folder: Path
    example: Path
    dumps: tuple[Path, ...]

    @classmethod
    def make(cls, folder: Path, here: Checkout) -> Inputs:
        """The dumps, by this commit."""
        example = folder / "example.smf"
        here.run("example", "-o", example)
        dumps = tuple(folder / f"group-{seed}.smf" for seed in SEEDS)
        for seed, path in zip(SEEDS, dumps, strict=True):
            here.run("simulate", SCENARIO, "--seed", str(seed), "--seconds", str(SECONDS), "-o", path)
        return cls(folder, example, dumps)

    def databases(self, name: str, checkout: Checkout) -> list[Path]:
        """A database of each dump, the example last, created by the commit that will read it."""
        made = []
        for dump in (*self.dumps, self.example):
            made.append(self.folder / f"{name}-{dump.stem}.pdb")
            checkout.run("ingest", dump, "--pdb", made[-1])
        return made


@dataclass(frozen=True)
class Measured:
    """A line of the result: the best runs of this commit, of the commit compared with it, and of the yardstick."""

    what: str
    bound: float
    here: Run
    beside: Run | None
    yardstick: Run

    @property
    def held(self) -> bool:
        """Whether this commit is within the bound."""
        return self.here.cpu_seconds <= self.bound

    @property
    def yardsticks(self) -> float:
        """The time of this commit as a multiple of the yardstick's."""
        return self.here.cpu_seconds / self.yardstick.cpu_seconds


def _turns(runs: int, each: Mapping[str, Callable[[], Run]]) -> dict[str, Run]:
    """The best of several runs of each; they take turns, so that a disturbance affects all of them."""
    made: dict[str, list[Run]] = {name: [] for name in each}
    for _ in range(runs):
        for name, once in each.items():
            made[name].append(once())
    return {name: min(found, key=lambda run: run.cpu_seconds) for name, found in made.items()}


def _yardstick(answer: Path) -> Run:
    run = command(sys.executable, yardstick.__file__, output=answer)
    if json.loads(answer.read_text(encoding="utf-8")) != yardstick.expected():
        raise SystemExit("wrong answer: the yardstick's work did not give what follows from its size")
    return run


def report(checkout: Checkout, dump: Path, page: Path, names: Sequence[str]) -> Run:
    """From a dump to the finished page, which must name these objects of the dump."""
    run = checkout.run("report", dump, "-o", page)
    text = page.read_text(encoding="utf-8")
    for name in names:
        if name not in text:
            raise SystemExit(f"wrong answer: the report of {dump.name} does not name {name}")
    return run


def _compare(checkout: Checkout, base: Path, new: Path, page: Path) -> Run:
    run = checkout.run("compare", base, new, "-o", page)
    answer = json.loads(page.read_text(encoding="utf-8"))
    if str(base) not in answer["base"]["name"] or str(new) not in answer["new"]["name"]:
        raise SystemExit("wrong answer: the comparison is not of the two databases")
    return run


def _rows(checkout: Checkout, pdb: Path, query: str, answer: Path) -> tuple[Run, list[dict[str, Any]]]:
    run = checkout.run("sql", pdb, query, "-o", answer)
    return run, json.loads(answer.read_text(encoding="utf-8"))


def _sql(checkout: Checkout, pdb: Path, answer: Path, expected: int) -> Run:
    run, rows = _rows(checkout, pdb, QUERY, answer)
    if len(rows) != expected or not any(row["sync_service_time"] for row in rows):
        raise SystemExit(f"wrong answer: {len(rows)} rows of {VIEW}, recorded were {expected}")
    return run


def _help_of(words: tuple[str, ...], text: Path, _: str, checkout: Checkout) -> Run:
    run = checkout.run(*words, "--help", output=text)
    if "Usage:" not in text.read_text(encoding="utf-8"):
        raise SystemExit(f"wrong answer: {' '.join(words)} --help shows no usage")
    return run


def _commands(checkout: Checkout, text: Path) -> list[tuple[str, ...]]:
    """Every command of a commit, the unnamed command first."""
    checkout.run("--help", output=text)
    listed = text.read_text(encoding="utf-8").partition("Commands")[2]
    return [(), *((name,) for name in re.findall(r"^\W{1,4}([a-z][a-z-]+) {2,}", listed, re.MULTILINE))]


def figures(folder: Path, runs: int, beside: Checkout | None) -> list[Measured]:
    """Measure all; every answer is checked.

    Parameters
    ----------
    folder
        Where dumps, databases and pages are put.
    runs
        Runs of each measurement; the best counts.
    beside
        The other commit.
    """
    checkouts = {"here": Checkout(ROOT)} | ({} if beside is None else {"beside": beside})
    for checkout in checkouts.values():
        checkout.check()
    inputs = Inputs.make(folder, checkouts["here"])
    pdbs = {name: inputs.databases(name, checkout) for name, checkout in checkouts.items()}
    page, answer, text = folder / "page.html", folder / "answer.json", folder / "help.txt"
    _, counted = _rows(checkouts["here"], pdbs["here"][-1], f"select count(*) as rows from {RECORDED}", answer)
    expected = counted[0]["rows"]

    def line(what: str, bound: float, once: Callable[[str, Checkout], Run]) -> Measured:
        each = {name: lambda n=name, c=checkout: once(n, c) for name, checkout in checkouts.items()}
        best = _turns(runs, each | {"yardstick": lambda: _yardstick(answer)})
        return Measured(what, bound, best["here"], best.get("beside"), best["yardstick"])

    size = inputs.example.stat().st_size / 1000
    lines = [
        line(
            f"report of the example, {size:,.0f} KB, dump to page",
            3.0,
            lambda _, c: report(c, inputs.example, page, IN_EXAMPLE),
        ),
        line(
            "comparison of two small databases",
            1.5,
            lambda name, c: _compare(c, pdbs[name][0], pdbs[name][1], answer),
        ),
        line(
            f"sql of one metric view, {VIEW} of the example",
            0.6,
            lambda name, c: _sql(c, pdbs[name][-1], answer, expected),
        ),
    ]
    shared = [name for name in _commands(checkouts["here"], text) if beside is None or name in _commands(beside, text)]
    helps = [line(f"plexlens {' '.join((*words, '--help'))}", 0.25, partial(_help_of, words, text)) for words in shared]
    return [*lines, helps[0], max(helps[1:], key=lambda measured: measured.here.cpu_seconds)]


def table(found: list[Measured]) -> list[str]:
    """The lines as a table."""

    def cell(run: Run | None) -> str:
        return (
            "" if run is None else f"{run.cpu_seconds:.2f} s ({run.seconds:.2f} s, {run.peak_bytes / 1024**2:,.0f} MiB)"
        )

    rows = [
        f"| {measured.what} | {cell(measured.here)} | {cell(measured.beside)} | "
        f"{measured.yardstick.cpu_seconds:.2f} s, {measured.yardsticks:.2f} | {measured.bound:g} s | "
        f"{'yes' if measured.held else 'no'} |"
        for measured in found
    ]
    return [
        "| what | this commit | beside it | yardstick, this commit in yardsticks | bound | held |",
        "|---|---|---|---|---|---|",
        *rows,
    ]


__all__ = ["ROOT", "Checkout", "figures", "report", "table"]
