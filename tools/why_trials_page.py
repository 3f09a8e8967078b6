"""`tools.why_trials` as the page ``docs/why-trials.md``."""

from __future__ import annotations

from collections.abc import Sequence

from plexlens.why.answer import NAMED
from tools.why_trials import DEVELOPED, GOALS, JUDGED, Judged


def page(results: Sequence[Judged], empty: Sequence[Judged]) -> str:
    """The whole page."""
    first = sum(result.rank == 1 for result in results)
    three = sum(0 < result.rank <= 3 for result in results)
    false = [result for result in empty if result.judgement in NAMED]
    lines = [
        "# Causes planted, and what `plexlens why` says",
        "",
        "Written by `python -m tools.why_trials`; do not edit.",
        "",
        f"`scenarios/why` has a sysplex of two members and {len(results)} changes of it. The simulator runs each",
        "before and after the change, with two seeds, twelve intervals each; `plexlens why` reads the SMF records of",
        "both. It gets the metric and the condition of the question, and the two periods, and nothing of the scenario.",
        "An answer counts where it names what was changed, by a name that `scenarios/why/planted.toml` lists. Where a",
        "change has no name in the records, as with the speed of a log, that is the first number that it moves.",
        "",
        f"The seeds begin at {JUDGED}. Questions, sizes of the changes, links and weights were set with seeds from",
        f"{DEVELOPED} on. These are not blind trials: whoever planted the causes wrote the links.",
        "[Causes drawn by a seed](why-blind.md) are.",
        "",
        "| | result | aim |",
        "|---|---|---|",
        f"| planted cause named first | {first} of {len(results)} | {GOALS[0]} |",
        f"| among the first three | {three} of {len(results)} | {GOALS[1]} |",
        f"| cause named where nothing is planted | {len(false)} of {len(empty)} | at most {GOALS[2]} |",
        "",
        "| planted | asked | BASE | NEW | rank | first causes |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_row(result) for result in results]
    lines += ["", "## Nothing planted", ""]
    lines.append("The same questions, both periods of the scenario before the change, other seeds.")
    lines.append("")
    if false:
        lines += [f"- {result.planted.name}: {_causes(result)}" for result in false]
    else:
        lines.append("No cause is named in any pair.")
    return "\n".join(lines) + "\n"


def _row(result: Judged) -> str:
    case = result.planted
    asked = f"`{case.asked}`" + (f" where `{case.where}`" if case.where else "")
    rank = str(result.rank) if result.rank else "not named"
    return (
        f"| {case.name} | {asked} | {_number(result.before)} | {_number(result.after)} | {rank} | {_causes(result)} |"
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _causes(result: Judged) -> str:
    if result.judgement not in NAMED:
        return "nothing beyond chance"
    return "; ".join(f"`{text}`" for text in result.causes[:3]) or "none"
