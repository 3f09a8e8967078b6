"""Chained ITR ratios as a report: the ratio, its derivation and its error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plexlens import __version__
from plexlens.compare.comparison.chain import Chain, Transition
from plexlens.metrics.display import NULL, percent
from plexlens.metrics.unit import RATIO
from plexlens.report.model import Figure, KeyFigures, Note, Report, Section, Table
from plexlens.report.model import text_column as _text
from plexlens.report.writers.json_object import to_json

_METHOD = (
    "A ratio above 1 means more capacity: NEW completes this multiple of BASE's transactions in the same processor "
    "time.",
    "The ratio of a transition is the mean over its pairs of runs; the ratios of successive transitions are "
    "multiplied. This assumes that the ratio of a transition does not depend on earlier releases.",
    "The digits column shows the range that rounding of the printed digits allows; the pairs column uses the smallest "
    "and the largest ratio of each transition. For the 95 % interval, the error of a single pair is the spread of "
    "pairs about their mean, pooled over all transitions with several pairs; it is divided by the square root of the "
    "number of pairs of a transition, and the squares of the relative errors are added. Pairs differ in processor and "
    "storage, so the interval shows how much the mean of other such environments may differ, not how exactly a run "
    "was measured.",
)


def chain_report(chains: Sequence[Chain], source: str) -> Report:
    """The report of the paths from one release to another.

    Parameters
    ----------
    chains
        At least one chain, the preferred one first.
    source
        The table that the pairs are from.
    """
    first = chains[0]
    return Report(
        title=f"{first.new} against {first.base}: processor capacity",
        sections=(_short(first), _ways(chains), _transitions(chains), _method()),
        generator=f"Plexlens {__version__}",
        kind="Chained ITR ratios",
        subject=source,
    )  # fmt: skip


def chain_json(chains: Sequence[Chain], source: str) -> dict[str, Any]:
    """The chains as plain values."""
    return {
        "base": chains[0].base,
        "new": chains[0].new,
        "source": source,
        "chains": [
            {
                "itrr": float(chain.ratio.value),
                "digits": [float(chain.ratio.low), float(chain.ratio.high)],
                "pairs": [chain.lowest, chain.highest],
                "interval": list(chain.interval) if chain.interval is not None else None,
                "arithmetic": chain.arithmetic,
                "transitions": [
                    {"from": step.base, "to": step.new, "symbol": step.symbol, "itrr": float(step.mean.value),
                     "pairs": [{"pair": pair.name, "where": pair.where, "itrr": float(pair.ratio.value)}
                               for pair in step.pairs]}
                    for step in chain.transitions
                ],
            }
            for chain in chains
        ],
        **to_json(chain_report(chains, source)),
    }  # fmt: skip


def _bounds(low: float, high: float) -> str:
    return f"{low:.3f} to {high:.3f}"


def _interval(chain: Chain) -> str:
    return NULL if chain.interval is None else _bounds(*chain.interval)


def _short(chain: Chain) -> Section:
    change = percent(float(chain.ratio.value) - 1, signed=True)
    figure = Figure("itrr", "ITR ratio", float(chain.ratio.value), RATIO, detail=f"95 % interval {_interval(chain)}")
    text = (
        f"From {chain.base} to {chain.new} the internal throughput rate, transactions per second of processor time, "
        f"changes by {change}: {chain.arithmetic}."
    )
    return Section("short", "In short", (KeyFigures("itrr", (figure,)), Note(text)))


def _ways(chains: Sequence[Chain]) -> Section:
    columns = (
        _text("way", "Way", key=True), _text("arithmetic", "Derivation"), _text("ratio", "ITR ratio"),
        _text("digits", "By printed digits"), _text("pairs", "Smallest to largest pairs"),
        _text("interval", "95 % interval"),
    )  # fmt: skip
    rows = tuple(
        (" to ".join([chain.base, *(step.new for step in chain.transitions)]), chain.arithmetic,
         f"{float(chain.ratio.value):.3f}", _bounds(float(chain.ratio.low), float(chain.ratio.high)),
         _bounds(chain.lowest, chain.highest), _interval(chain))
        for chain in chains
    )  # fmt: skip
    table = Table("ways", "Paths between the two releases", columns, rows, top=len(rows))
    lead = "A path measured in a single step comes first." if len(chains) > 1 else ""
    return Section("ways", "Derivation", (table,), lead)


def _method() -> Section:
    return Section("method", "Method", tuple(Note(text) for text in _METHOD))


def _transitions(chains: Sequence[Chain]) -> Section:
    steps: dict[str, Transition] = {step.symbol: step for chain in chains for step in chain.transitions}
    columns = (
        _text("symbol", "Symbol", key=True), _text("base", "From"), _text("new", "To"), _text("pair", "Pair"),
        _text("where", "Processor"), _text("ratio", "ITR ratio"), _text("mean", "Mean"),
    )  # fmt: skip
    rows = tuple(
        (step.symbol, step.base, step.new, pair.name, pair.where, f"{float(pair.ratio.value):.3f}",
         f"{float(step.mean.value):.4f}")
        for step in steps.values()
        for pair in step.pairs
    )  # fmt: skip
    table = Table("pairs", "Pairs of runs that differ only in the release", columns, rows, top=len(rows))
    return Section("pairs", "What was measured", (table,))
