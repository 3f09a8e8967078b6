"""Trial of `plexlens why` on planted causes: a scenario before and after one change, and pairs without a change.

What is planted stands in ``scenarios/why``. Before and after have different seeds. ``python -m tools.why_trials``
writes ``docs/why-trials.md``; ``python -m tools.why_trials develop`` prints the same for the seeds of development.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import tomli

from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import EVERYTHING
from plexlens.pdb import Pdb, ingest
from plexlens.simulate import Scenario, run_scenario, write_smf
from plexlens.why.answer import NAMED, Why, subject, why
from plexlens.why.links import Cause

FOLDER = Path(__file__).resolve().parents[1] / "scenarios" / "why"

#: First seeds of the pairs that development used, and of those that judge.
DEVELOPED, JUDGED = 1000, 5000

#: Hours of the day at which the two runs begin, as seconds; both are three hours long.
BEFORE, AFTER = 21_600.0, 43_200.0
PERIODS = ("2026-01-05T12:00..2026-01-05T15:00", "2026-01-05T06:00..2026-01-05T09:00")

#: Of twenty planted causes, how many are to be named first, and among the first three; false judgements allowed.
GOALS = (17, 19, 1)


@dataclass(frozen=True)
class Planted:
    """A planted cause.

    Attributes
    ----------
    name
        What was changed.
    asked, where
        The question.
    named
        Answers that name it.
    before, after
        The scenario's values.
    """

    name: str
    asked: str
    where: str
    named: tuple[str, ...]
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """An answer as judged: the rank of what was planted (0: not named), and the causes as text."""

    planted: Planted
    rank: int
    judgement: str
    before: float | None
    after: float | None
    causes: tuple[str, ...]


def planted() -> list[Planted]:
    """Everything that is planted, in the order of the file."""
    base = tomli.loads((FOLDER / "base.toml").read_text(encoding="utf-8"))
    entries = tomli.loads((FOLDER / "planted.toml").read_text(encoding="utf-8"))["planted"]
    results = []
    for entry in entries:
        before = deepcopy(base)
        for place, key, value in entry.get("first", []):
            _at(before, place)[key] = value
        after = deepcopy(before)
        for place, key, value in entry.get("set", []):
            _at(after, place)[key] = value
        for place, value in entry.get("add", []):
            _at(after, place).append(value)
        results.append(
            Planted(entry["name"], entry["asked"], entry.get("where", ""), tuple(entry["named"]), before, after)
        )
    return results


def nothing_planted(case: Planted) -> Planted:
    """The same question where both runs are of the scenario before."""
    return Planted(case.name, case.asked, case.where, (), case.before, case.before)


def _at(values: Any, place: str) -> Any:
    for part in place.split("."):
        values = values[int(part)] if part.isdigit() else values[part]
    return values


@contextmanager
def database_of(case: Planted, seed: int) -> Iterator[Path]:
    """A database of both runs; the seed of the second follows that of the first."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, (given, begin) in enumerate(((case.before, BEFORE), (case.after, AFTER))):
            values = deepcopy(given)
            values["run"] |= {"seed": seed + number, "begin": begin}
            files.append(Path(folder) / f"{number}.smf")
            write_smf(run_scenario(Scenario("", values)), files[-1])
        list(ingest(files, Pdb.create(Path(folder) / "pdb")))
        yield Path(folder) / "pdb"


def answered(case: Planted, seed: int, *, findings: bool = False) -> Why:
    """The answer of `plexlens why` to the question of a case."""
    with database_of(case, seed) as path:
        inputs = Inputs(Pdb.open(path).connect())
        return why(
            inputs, case.asked, *PERIODS, name=case.name, where=case.where, selection=EVERYTHING, findings=findings
        )


def cause_text(cause: Cause) -> str:
    """A cause as the judge reads it: its name, and its object."""
    if cause.setting is not None:
        return f"{cause.name} {cause.setting.owner}"
    return cause.name if cause.item is None else f"{cause.name} {subject((), cause.item.names)}"


def is_named(text: str, named: Sequence[str]) -> bool:
    """Whether a cause is one of the answers: the same name, with an object or a pattern of objects behind it."""
    return any(text == name or text.startswith(name + " ") or fnmatchcase(text, name) for name in named)


def judged(case: Planted, seed: int) -> Judged:
    """The rank of what was planted among the causes of an answer."""
    answer = answered(case, seed)
    texts = tuple(cause_text(cause) for cause in answer.causes)
    ranks = [number for number, text in enumerate(texts, 1) if is_named(text, case.named)]
    return Judged(case, min(ranks, default=0), answer.judgement, answer.change.before, answer.change.after, texts)


def trials(first: int, *, tell: Callable[[str], None] = print) -> tuple[list[Judged], list[Judged]]:
    """Every planted cause, and as many pairs in which nothing is planted."""
    cases = planted()
    results: list[Judged] = []
    for number, case in enumerate(cases):
        results.append(judged(case, first + 2 * number))
        tell(f"{results[-1].rank} {case.name} [{results[-1].judgement}]: {', '.join(results[-1].causes[:4])}")
    empty = []
    for number, case in enumerate(cases):
        empty.append(judged(nothing_planted(case), first + 500 + 2 * number))
        if empty[-1].judgement in NAMED:
            tell(f"false: {case.name}: {', '.join(empty[-1].causes[:4])}")
    return results, empty


def main(words: Sequence[str]) -> None:
    """Write the page, or print the trial of the seeds of development."""
    if list(words) == ["develop"]:
        trials(DEVELOPED)
        return
    from tools.why_trials_page import page

    results, empty = trials(JUDGED)
    (FOLDER.parents[1] / "docs" / "why-trials.md").write_text(page(results, empty), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
