"""The rounds of `tools.why_blind` as the page ``docs/why-blind.md``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plexlens.why.answer import NAMED
from tools.why_trials import GOALS

#: What was mended between a round and the one before it.
MENDED = {
    1: "Links, weights and constants are those that the twenty causes of [why-trials.md](why-trials.md) set.",
    2: (
        "Three causes of round 1 were not first. For two of them a link was added before this round:\n"
        "`getpages_per_second` of a pool follows `getpages_per_commit`, and `cpu_per_getpage` follows the time of\n"
        "synchronous requests. The third (a weight) is as it was: a response that grows through all of the second\n"
        "period counts as chance. The first case of this round had been started once before and stopped unseen."
    ),
    3: (
        "Mended before this round, on the pairs of rounds 1 and 2 and on 114 pairs of other seeds (from\n"
        "7,000,000 on): differences are tested by their logarithms too, around a line where a period drifts;\n"
        "parts of a change that is beyond chance are tested one by one, linked metrics together at 5 %; a\n"
        "change of 1 to 10 % probability is named as likely where a change beyond chance leads to it;\n"
        "processors, weights and address spaces count of the systems of the question alone; users who wait\n"
        "send less by the response time law at most. New links lead from response over delays (SMF 72-3) to\n"
        "what a partition is entitled to, and from requests to the coupling facility to the round trip of the\n"
        "paths (R744HLAT). The simulator writes that field from now on, and it counts as an answer for the\n"
        "farther coupling facility, beside the one of before. With all this, the pairs of rounds 1 and 2 had\n"
        "20 and 20 named first, and none falsely. So development has used the kinds and scenarios of this\n"
        "round by now, with other places, sizes and loads: only the draws of this round are new to it."
    ),
}


def page(folder: Path) -> str:
    """The whole page."""
    lines = [
        "# Causes drawn by a seed, and what `plexlens why` says",
        "",
        "Written by `python -m tools.why_blind --page` from `scenarios/why/blind`; do not edit.",
        "",
        "A seed draws kind, scenario, place and size of twenty changes (`tools/why_drawn.py`: 19 kinds, 13",
        "scenarios, none of which development of `why` used before round 1), with new load. Questions and",
        "the answers that count were written down for each kind before a round ran. The question is the",
        "first of its kind, in the order drawn, whose metric moved by a tenth: nobody asks about what did not",
        "move. A change that moves none of them is drawn anew. Each cause has a pair with the same question",
        "in which nothing is planted. Each round ran once, and stands here as it fell.",
        "",
        "Limits: the kinds are those of the trial before, the records are the simulator's, and whoever wrote",
        "the draw had read the links.",
    ]
    for file in sorted(folder.glob("*.jsonl"), key=lambda file: int(file.stem)):
        lines += _round(int(file.stem), [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()])
    return "\n".join(lines) + "\n"


def _round(number: int, results: Sequence[dict[str, Any]]) -> list[str]:
    planted = [result["planted"] for result in results if result["planted"] is not None]
    empty = [result["empty"] for result in results if "empty" in result]
    unmoved = [text for result in results for text in result["unmoved"]]
    false = [each for each in empty if each["judgement"] in NAMED]
    first, three = sum(each["rank"] == 1 for each in planted), sum(0 < each["rank"] <= 3 for each in planted)
    lines = ["", f"## Round {number}", "", MENDED.get(number, "")]
    lines += [
        "",
        "| | result | aim |",
        "|---|---|---|",
        f"| planted cause named first | {first} of {len(planted)} | {GOALS[0]} of 20 |",
        f"| among the first three | {three} of {len(planted)} | {GOALS[1]} of 20 |",
        f"| change named where nothing is planted | {len(false)} of {len(empty)} | at most {GOALS[2]} of 20 |",
        "",
        "| planted | scenario | asked | BASE | NEW | rank | first causes |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_row(each) for each in planted]
    if false:
        lines += ["", "Named where nothing is planted:", ""]
        lines += [f"- {each['asked']} ({each['base']}): {_causes(each)}" for each in false]
    if unmoved:
        lines += ["", "Drawn anew, since nothing moved by a tenth:", "", *(f"- {text}" for text in unmoved)]
    return lines


def _row(each: dict[str, Any]) -> str:
    asked = f"`{each['asked']}`" + (f" where `{each['where']}`" if each["where"] else "")
    rank = str(each["rank"]) if each["rank"] else "not named"
    return (
        f"| {each['told']} | {each['base']} | {asked} | {each['before']:.4g} | {each['after']:.4g} | {rank}"
        f" | {_causes(each)} |"
    )


def _causes(each: dict[str, Any]) -> str:
    if each["judgement"] not in NAMED:
        return "nothing beyond chance"
    return "; ".join(f"`{text}`" for text in each["causes"][:3]) or "none"
