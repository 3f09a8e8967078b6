"""Blind trial of `plexlens why`: twenty causes drawn by a seed, and twenty pairs of unchanged scenarios.

``python -m tools.why_blind ROUND`` runs a round and adds each answer to ``.build/why-blind-ROUND.jsonl`` as it falls; a
round that stopped goes on where it was. ``python -m tools.why_blind --page`` writes ``docs/why-blind.md`` of the
rounds in ``scenarios/why/blind``, where finished rounds are kept. The question is the first of the kind's, in the
order drawn, whose metric moved by a tenth: nobody asks about what did not move. A change that moves none is drawn anew
and counted. Nothing of the answer has a part in that.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from plexlens.errors import PlexlensError
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import EVERYTHING
from plexlens.pdb import Pdb
from plexlens.why.answer import NAMED, Why, why
from tools.why_drawn import Drawn, drawn, kinds
from tools.why_trials import PERIODS, Planted, cause_text, database_of, is_named

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "scenarios" / "why" / "blind"

#: Seeds of round n begin at n times this; planted causes of a round; how far a metric has to move to be asked about.
SEEDS, COUNT, MOVED = 100_000, 20, 0.1

#: Most times that a change which moves nothing is drawn anew.
DRAWS = 6


def _case(given: Drawn, question: tuple[str, str], *, planted: bool = True) -> Planted:
    after = given.after if planted else given.before
    return Planted(given.kind, *question, given.named, given.before, after)


def _asked(path: Path, question: tuple[str, str], name: str) -> Why:
    inputs = Inputs(Pdb.open(path).connect())
    return why(inputs, question[0], *PERIODS, name=name, where=question[1], selection=EVERYTHING, findings=False)


def _told(given: Drawn, question: tuple[str, str], answer: Why) -> dict[str, Any]:
    texts = [cause_text(cause) for cause in answer.causes]
    ranks = [number for number, text in enumerate(texts, 1) if is_named(text, given.named)]
    return {
        "kind": given.kind, "base": given.base, "told": given.told, "asked": question[0], "where": question[1],
        "before": answer.change.before, "after": answer.change.after, "judgement": answer.judgement,
        "rank": min(ranks, default=0), "causes": texts[:8], "named": given.named,
    }  # fmt: skip


def _moved(answer: Why) -> bool:
    before, after = answer.change.before, answer.change.after
    if not before or not after:
        return before != after
    return abs(math.log(after / before)) >= MOVED


def planted_answer(given: Drawn, seed: int) -> dict[str, Any] | None:
    """The answer to the first question whose metric moved; None where none did."""
    with database_of(_case(given, given.questions[0]), seed) as path:
        for question in given.questions:
            try:
                answer = _asked(path, question, given.kind)
            except PlexlensError:
                # There is no such data: nobody sees a change of it.
                continue
            if _moved(answer):
                return _told(given, question, answer)
    return None


def empty_answer(given: Drawn, question: tuple[str, str], seed: int) -> dict[str, Any]:
    """The answer to the same question where nothing changed."""
    with database_of(_case(given, question, planted=False), seed) as path:
        return _told(given, question, _asked(path, question, given.kind))


def round_of(number: int) -> Iterator[tuple[int, Any]]:
    """Seed and kind of each planted cause of a round."""
    first = number * SEEDS
    return ((first + 1000 * place, kind) for place, kind in enumerate(kinds(Random(first), COUNT)))


def run(number: int, file: Path) -> None:
    """Run what a round has not run yet."""
    file.parent.mkdir(parents=True, exist_ok=True)
    done = {json.loads(line)["seed"] for line in file.read_text().splitlines()} if file.exists() else set()
    for seed, kind in round_of(number):
        if seed in done:
            continue
        unmoved = []
        for draw in range(DRAWS):
            given = drawn(Random(seed + draw), kind)
            answer = planted_answer(given, seed + 10 * draw)
            if answer is not None:
                break
            unmoved.append(f"{given.told} ({given.base})")
        result: dict[str, Any] = {"seed": seed, "unmoved": unmoved, "planted": answer}
        if answer is not None:
            result["empty"] = empty_answer(given, (answer["asked"], answer["where"]), seed + 500)
        with file.open("a") as out:
            out.write(json.dumps(result) + "\n")
        rank, told = (answer["rank"], answer["told"]) if answer else ("-", given.told)
        causes = answer["causes"][:4] if answer else unmoved
        is_false = answer is not None and result["empty"]["judgement"] in NAMED
        print(rank, told, given.base, causes, "FALSE" if is_false else "", flush=True)


def main() -> None:
    """Run a round, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("round", type=int, nargs="?")
    parser.add_argument("--page", action="store_true", help="write docs/why-blind.md")
    words = parser.parse_args()
    if words.round is not None:
        run(words.round, ROOT / ".build" / f"why-blind-{words.round}.jsonl")
    if words.page:
        from tools.why_blind_page import page

        (ROOT / "docs" / "why-blind.md").write_text(page(KEPT), encoding="utf-8")


if __name__ == "__main__":
    main()
