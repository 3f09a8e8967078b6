"""`tools.trials` as tables.

``python -m tools.trials_page`` writes ``docs/plan-trials.md`` of ``scenarios/held-out``; ``python -m tools.trials_page
later`` writes ``docs/plan-trials-later.md`` of ``scenarios/held-out/later``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tools.trials import GOALS, LOADS, MORE_SEEDS, SECONDS, SEEDS, Answer, Error, Trial, errors, summary, trial

#: Methods by their attribute of a trial.
METHODS = (("plan", "plexlens plan"), ("queue", "M/M/c"), ("ratio", "capacity ratio"))


def page(trials: Sequence[Trial], *, later: bool = False) -> str:
    """The whole page: of the first scenarios, or of those that were added later."""
    parts = [
        _head_later(trials) if later else _head(trials),
        _totals(trials),
        _outside(trials),
        *(_scenario(case) for case in trials),
    ]
    return "\n\n".join(parts) + "\n"


def _head(trials: Sequence[Trial]) -> str:
    return f"""# Plans tried on held-out scenarios

Written by `python -m tools.trials_page`; do not edit.

Each of the {len(trials)} scenarios in `scenarios/held-out` saturates something else. They were written before a plan
was made of any of them. The simulator runs each at its own load and writes SMF, transaction by transaction;
`plexlens plan` reads that and nothing else (`--serves CICSRGN=*`, and `--users` where terminals are closed). The same
scenario is then simulated for {SECONDS:g} s at {", ".join(f"{load:g}" for load in LOADS)} times the load
with {len(SEEDS)} other seeds, and at further loads until a goal breaks.

Two estimates stand beside the plan. *M/M/c* multiplies the measured response by how much longer a customer of M/M/c
stays, c being the general engines. *Capacity ratio* leaves the response as it is until the general engines are full, as
ratios of processor capacity do.

Errors are planned less simulated, over simulated. Responses count at loads at which the simulation is not saturated. A
method that calls such a load saturated is counted as 100 % off; so is one that names no breaking load. The measured run
has chance in it too: it is one seed of 240 s, whose rates are up to a few per cent from those of the scenario.

These are not blind trials. Rates, goals, the speed of the facility and the time of the log were set after a look at
utilisations. After errors were seen, five mechanisms of plan were changed: waits for engines are at least half of
the formula's, spinning for a coupling facility does not hold QR TCBs, another resource is named as full, a facility
with one engine has at most one synchronous request per engine of its senders, and the wait for commit (QWACAWTE) is
that of pages written to group buffer pools. The search for the simulated breaking load, too, was changed. New
scenarios are the next test."""


def _head_later(trials: Sequence[Trial]) -> str:
    return f"""# Plans tried on scenarios that were added later

Written by `python -m tools.trials_page later`; do not edit. The first scenarios are in
[plan-trials.md](plan-trials.md), which also says how errors are counted, and what the two other estimates are.

The {len(trials)} scenarios in `scenarios/held-out/later` were written before a plan was made of any of them. Rates and
goals were set after a look at utilisations. They need what `plan` had not modelled: a limit of open TCBs, data sets of
jobs on a few volumes (SMF 42-6), members that are unlike each other, with processor times that vary much.

The plans of `open-tcbs` and `uneven-members` are the first that were made. For `data-sets` the first plan was wrong by
50 % in the response of SALE at the measured load, and drew no conclusion for it: what regions waited for files was
divided among classes by the number of their I/Os. It is now what SMF 110-1 records of each class. A second defect was
found there: intervals of data sets shorter than a minute were named by the minute, and one in eight was lost."""


def _totals(trials: Sequence[Trial]) -> str:
    rows = [
        "## All scenarios",
        "",
        "| | responses: median | worst | breaking loads: median | worst |",
        "|---|---|---|---|---|",
    ]
    for method, title in METHODS:
        sizes = summary(errors(trials, method))
        rows.append(f"| {title} | " + " | ".join(f"{size:.1%}" for size in sizes) + " |")
    rows.append(f"| aim | {GOALS[0]:.0%} | {GOALS[1]:.0%} | | {GOALS[2]:.0%} |")
    return "\n".join(rows)


def _outside(trials: Sequence[Trial]) -> str:
    """Cases in which the plan misses its targets, and in which it states that it cannot predict."""
    found = errors(trials, "plan")
    missed = [error for error in found if not error.said and error.is_outside]
    rows = [f"Outside the aim are {len(missed)} of {len(found)} errors of the plan:", ""]
    rows += [
        f"- {error.trial}, {error.name}, {_where(error)}: {_size(error.value)}{_again(trials, error)}"
        for error in missed
    ] or ["- none"]
    said = list(dict.fromkeys((error.trial, error.name, error.said) for error in found if error.said))
    rows += ["", "The plan says that the data cannot tell:", ""]
    rows += [f"- {name}, {class_name}: {text}" for name, class_name, text in said] or ["- nowhere"]
    return "\n".join(rows)


def _again(trials: Sequence[Trial], error: Error) -> str:
    """The error against runs with further seeds, where there are such runs."""
    case = next(case for case in trials if case.name == error.trial)
    more, value = case.again.get((error.load, error.name)), case.plan.responses.get(error.load, {}).get(error.name)
    if more is None or value is None:
        return ""
    simulated = f"{more.mean * 1e3:.0f} ± {more.half_width * 1e3:.0f} ms"
    return (
        f"; with {len(MORE_SEEDS)} further seeds {simulated} are simulated, the error is {value / more.mean - 1:+.1%}"
    )


def _where(error: Error) -> str:
    return f"response at load {error.load:g}" if error.load else "breaking load"


def _size(value: float | None) -> str:
    return "called saturated" if value is None else f"{value:+.1%}"


def _scenario(case: Trial) -> str:
    rows = [f"## {case.name}", "", case.about]
    if case.told:
        rows[-1] += f" Planned with {case.told}."
    if case.limit:
        rows += ["", f"The plan: full at {case.limit[0]:.2f} times the load ({case.limit[1]})."]
    heads = ["class", "load", "simulated, ms", *(f"{title}, ms" for _, title in METHODS)]
    rows += ["", "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name in case.classes:
        for load in LOADS:
            found, full = case.truth.responses[load][name], case.truth.saturated[load]
            simulated = f"{found.mean * 1e3:.2f} ± {found.half_width * 1e3:.2f}"
            if full:
                simulated = f"saturated ({full})"
            cells = [_response(getattr(case, method), name, load, found.mean, full=bool(full)) for method, _ in METHODS]
            rows.append(f"| {name} | {load:g} | {simulated} | " + " | ".join(cells) + " |")
        broken = case.truth.breaks[name]
        text = "above 3" if broken is None else f"{broken:.2f}"
        cells = [_break(getattr(case, method), name, broken) for method, _ in METHODS]
        rows.append(
            f"| {name} | goal of {case.goals[name] * 1e3:g} ms breaks at load | {text} | " + " | ".join(cells) + " |"
        )
    return "\n".join(rows)


def _response(answer: Answer, name: str, load: float, true: float, *, full: bool) -> str:
    value = answer.responses[load].get(name)
    if value is None:
        return "saturated"
    return f"{value * 1e3:.2f}" + ("" if full else f" ({value / true - 1:+.1%})")


def _break(answer: Answer, name: str, broken: float | None) -> str:
    value = answer.breaks.get(name)
    if value is None:
        return "none"
    return f"{value:.2f}" + (f" ({value / broken - 1:+.1%})" if broken else "")


def main() -> None:
    """Run all trials of a folder and write its page."""
    root = Path(__file__).parents[1]
    later = sys.argv[1:] == ["later"]
    folder, document = ("later", "plan-trials-later.md") if later else ("", "plan-trials.md")
    paths = sorted((root / "scenarios" / "held-out" / folder).glob("*.toml"))
    trials = []
    for path in paths:
        sys.stderr.write(f"{path.stem}\n")
        trials.append(trial(path))
    (root / "docs" / document).write_text(page(trials, later=later), encoding="utf-8")


if __name__ == "__main__":
    main()
