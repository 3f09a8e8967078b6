"""Effect of each term of the cost of data sharing: B1 with B2, simulated without the term or with more of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plexlens.example.printed import Study
from plexlens.simulate.estimates import Estimate, estimates
from plexlens.simulate.scenario import Scenario
from tools.case_1996.comparisons import LESS_MANAGEMENT, compared
from tools.case_1996.measured import runs
from tools.case_1996.variants import changed, run_b1, without_sysplex


@dataclass(frozen=True)
class Term:
    """A change of the scenario.

    Attributes
    ----------
    what
        What is changed, as the table says it.
    values
        New values, by a path of the scenario whose ``*`` is every entry.
    source
        Where the new value comes from.
    """

    what: str
    values: Mapping[str, Any]
    source: str


TERMS = (
    Term(
        "contention settled at no cost, instead of 340 µs",
        {"coupling.contention_host_us": 0.0},
        "the other bound: table 7's IRLM allows 340 µs at most",
    ),
    Term(
        "no path length of a request besides its wait, instead of 56 µs",
        {"coupling.sync_host_us": 0.0},
        "the other bound: requests cost the wait alone",
    ),
    Term(
        "109 µs of path length for each request, instead of 56",
        {"coupling.sync_host_us": 109.0},
        "IBM's CICS path lengths for one more request, 4.0 to 5.5 thousand instructions by kind: their median of "
        "5.0, at 19.4 MIPS, less the wait",
    ),
    Term(
        "134 µs of path length for each request, instead of 56",
        {"coupling.sync_host_us": 134.0},
        "the same: the longest of 5.5 thousand instructions",
    ),
    Term(
        "caches that the image refills for 172 µs after each request, instead of none",
        {"system.*.request_refill_us": 172.0},
        "5 % of application time (table 8) over the requests of A3; application time of single classes does not follow",
    ),
    Term(
        "caches that take 20 µs to refill after each dispatch, instead of none",
        {"system.*.dispatch_refill_us": 20.0},
        "no source: the same; B2 has it too",
    ),
    Term(
        "uncaptured time of 10 % of all other, instead of none",
        {"system.*.uncaptured": 0.1},
        "no source; B2 has it too",
    ),
    Term(
        "every getpage of a dependent page set 20 µs longer, instead of 2",
        {"db2.*.path.dependent_us": 20.0},
        "no source: an order of magnitude more",
    ),
)


def with_term(scenario: Scenario, term: Term) -> Scenario:
    """The scenario with a term's values."""
    values = copy.deepcopy(scenario.values)
    for path, value in term.values.items():
        _set(values, path.split("."), value)
    return changed(scenario, values)


def _set(at: Any, path: Sequence[str], value: Any) -> None:
    head, *rest = path
    if head == "*":
        for entry in at:
            _set(entry, rest, value)
    elif rest:
        _set(at.setdefault(head, {}), rest, value)
    else:
        at[head] = value


def efficiency_with(scenario: Scenario, study: Study, term: Term, seeds: Sequence[int]) -> Mapping[str, Estimate]:
    """Coupling efficiency and increase of B1 over B2 with a term."""
    sharing = run_b1(with_term(scenario, term), study)
    pairs = zip(runs(sharing, seeds), runs(without_sysplex(sharing), seeds), strict=True)
    return estimates([compared(first, other, LESS_MANAGEMENT) for first, other in pairs])


def terms_table(scenario: Scenario, study: Study, seeds: Sequence[int], printed: float) -> str:
    """Coupling efficiency with each term, as a Markdown table; the first row is the unchanged scenario."""
    rows = ["| term | coupling efficiency, % | increase in CPU, % | source |", "|---|---:|---:|---|"]
    for term in (Term("the scenario as it is", {}, ""), *TERMS):
        both = efficiency_with(scenario, study, term, seeds)
        rows.append(f"| {term.what} | {both['efficiency']} | {both['increase']} | {term.source} |")
    rows.append(f"| printed, table 6 | {printed} | | |")
    return "\n".join(rows) + "\n"
