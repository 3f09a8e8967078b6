"""Internal throughput rate ratios (ITRR) from release to release, averaged and chained by multiplication.

Pairs of runs that differ in the release alone give a ratio each. Ratios of one transition are averaged over its pairs;
transitions that follow each other are multiplied. Three things make the result uncertain, and all are told: the printed
digits of the ratios, how far the pairs of one transition lie apart, and the standard error that this spread leaves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plexlens.compare.comparison.study_run import StudyReader, find_table
from plexlens.compare.numbers.quantity import Quantity, exact, shown, total
from plexlens.compare.runs.significance import reach
from plexlens.compare.study.model import StudyTable
from plexlens.errors import UsageError

#: Headings that a table of pairs has, and the names that they may bear.
_HEADS = {
    "base": ("From Release", "From"),
    "new": ("To Release", "To"),
    "ratio": ("ITR Ratio", "ITRR"),
    "name": ("Pair", "Pair Number"),
    "symbol": ("Symbol",),
    "where": ("Processor",),
}


@dataclass(frozen=True)
class Pair:
    """Two runs that differ only in the release.

    Attributes
    ----------
    name, where
        Its number, and the processor it was measured on.
    ratio
        ITR of the later release over that of the earlier, with the bounds of the printed digits.
    """

    name: str
    where: str
    ratio: Quantity


@dataclass(frozen=True)
class Transition:
    """Transition from a release to the next measured release: the pairs, and their mean."""

    base: str
    new: str
    symbol: str
    pairs: tuple[Pair, ...]

    @property
    def mean(self) -> Quantity:
        """Mean ratio of the pairs."""
        return total(pair.ratio for pair in self.pairs) / exact(len(self.pairs))

    @property
    def lowest(self) -> float:
        """Smallest ratio of a pair."""
        return min(float(pair.ratio.value) for pair in self.pairs)

    @property
    def highest(self) -> float:
        """Largest ratio of a pair."""
        return max(float(pair.ratio.value) for pair in self.pairs)

    @property
    def derivation(self) -> str:
        """Derivation of the mean: ``R21 = (1.064 + 1.029) / 2 = 1.0465``."""
        ratios = " + ".join(shown(pair.ratio.value, 4) for pair in self.pairs)
        if len(self.pairs) == 1:
            return f"{self.symbol} = {ratios}, pair {self.pairs[0].name}"
        names = ", ".join(pair.name for pair in self.pairs)
        return f"{self.symbol} = ({ratios}) / {len(self.pairs)} = {shown(self.mean.value, 5)}, pairs {names}"


@dataclass(frozen=True)
class Spread:
    """Variation of the pairs within transitions, pooled over all transitions: a relative standard deviation.

    Attributes
    ----------
    relative
        Standard deviation over mean, pooled over transitions with several pairs.
    freedom
        Degrees of freedom: pairs less transitions.
    """

    relative: float
    freedom: int


@dataclass(frozen=True)
class Chain:
    """A path from one release to another.

    Attributes
    ----------
    transitions
        In their order.
    ratio
        Product of the means, with the bounds that the printed digits leave.
    lowest, highest
        Products of the smallest and of the largest ratios of each transition.
    spread
        Relative spread of pairs; None where no transition has several.
    """

    transitions: tuple[Transition, ...]
    ratio: Quantity
    lowest: float
    highest: float
    spread: Spread | None

    @property
    def base(self) -> str:
        """The first release."""
        return self.transitions[0].base

    @property
    def new(self) -> str:
        """The last release."""
        return self.transitions[-1].new

    @property
    def direct(self) -> bool:
        """Whether it was measured in a single step."""
        return len(self.transitions) == 1

    @property
    def arithmetic(self) -> str:
        """The product: ``R21 * R1E = 1.0465 * 1.0446 = 1.0932``."""
        if self.direct:
            return self.transitions[0].derivation
        symbols = " * ".join(transition.symbol for transition in self.transitions)
        means = " * ".join(shown(transition.mean.value, 5) for transition in self.transitions)
        return f"{symbols} = {means} = {shown(self.ratio.value, 5)}"

    @property
    def relative_error(self) -> float | None:
        """Standard error as a fraction of the ratio; errors of the means are taken as independent."""
        if self.spread is None:
            return None
        return self.spread.relative * math.sqrt(math.fsum(1 / len(transition.pairs) for transition in self.transitions))

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % confidence interval by Student's t on the logarithmic scale; None without a spread."""
        error = self.relative_error
        if error is None or self.spread is None:
            return None
        factor = math.exp(reach(self.spread.freedom) * error)
        return float(self.ratio.value) / factor, float(self.ratio.value) * factor


def transitions_of(study: str, table: str, folder: Path | None = None) -> tuple[Transition, ...]:
    """The transitions in a study's table of pairs, in its order.

    Parameters
    ----------
    study, table
        Name of the study, and id of the table. Its rows are pairs, with the releases, the ratio and a symbol; rows
        whose pair is called ``avg`` only name the symbol of the pairs before them.
    folder
        Where studies are; those that come with Plexlens if not given.

    Raises
    ------
    UsageError
        There is no such table, or it has no pairs.
    """
    reader = StudyReader.of(study, folder)
    study_table = find_table(reader.study, table)
    heads = _heads(study_table)
    groups: dict[tuple[str, str], list[tuple[Pair, str]]] = {}
    symbols: dict[tuple[str, str], str] = {}
    for number, row in enumerate(study_table.rows):
        key = (row[heads["base"]], row[heads["new"]])
        symbol = row[heads["symbol"]].strip("() ") if "symbol" in heads else ""
        name = row[heads["name"]] if "name" in heads else str(number + 1)
        if name.lower() in ("avg", "average", "mean"):
            symbols[key] = symbol
            continue
        ratio, _ = reader.number(study_table, number, heads["ratio"])
        if ratio is not None:
            pair = Pair(name, row[heads["where"]] if "where" in heads else "", ratio)
            groups.setdefault(key, []).append((pair, symbol))
    if not groups:
        raise UsageError(
            file="",
            what=f"table {study_table.id} of study {study} has no pair with a ratio",
            remedy="name a table of pairs of runs, with releases and ITR ratios",
        )
    return tuple(
        Transition(base, new, symbols.get((base, new)) or _symbol(pairs, base, new), tuple(pair for pair, _ in pairs))
        for (base, new), pairs in groups.items()
    )


def _symbol(pairs: Sequence[tuple[Pair, str]], base: str, new: str) -> str:
    return next((symbol for _, symbol in pairs if symbol), f"[{base} to {new}]")


def _heads(table: StudyTable) -> Mapping[str, str]:
    heads = {}
    for key, names in _HEADS.items():
        name = next((name for name in names if name in table.columns), None)
        if name is not None:
            heads[key] = name
        elif key in ("base", "new", "ratio"):
            raise UsageError(
                file="",
                what=f"table {table.id} has no column {' or '.join(map(repr, names))}",
                remedy="name a table of pairs of runs, such as vmesa-1992:table-03",
            )
    return heads


def spread_of(transitions: Sequence[Transition]) -> Spread | None:
    """Relative spread of pairs, pooled over the transitions with several pairs."""
    squares, freedom = 0.0, 0
    for transition in transitions:
        mean = float(transition.mean.value)
        squares += math.fsum((float(pair.ratio.value) / mean - 1) ** 2 for pair in transition.pairs)
        freedom += len(transition.pairs) - 1
    return Spread(math.sqrt(squares / freedom), freedom) if freedom else None


def chains(transitions: Sequence[Transition], base: str, new: str) -> tuple[Chain, ...]:
    """Every path from one release to another: those measured in a single step first, then the shortest.

    Raises
    ------
    UsageError
        A release is not among them, or no way leads there.
    """
    releases = list(dict.fromkeys(name for transition in transitions for name in (transition.base, transition.new)))
    for name in (base, new):
        if name not in releases:
            raise UsageError(file="", what=f"there is no release {name!r}", remedy=f"name two of {', '.join(releases)}")
    spread = spread_of(transitions)
    results = [_chain(way, spread) for way in _ways(transitions, base, new, ())]
    if not results:
        there = [name for name in releases if name != base and _ways(transitions, base, name, ())]
        raise UsageError(
            file="",
            what=f"no measured pairs lead from {base} to {new}",
            remedy=f"from {base} they lead to {', '.join(there) or 'nowhere; give the earlier release first'}",
        )
    return tuple(sorted(results, key=lambda path: len(path.transitions)))


def _ways(
    transitions: Sequence[Transition], base: str, new: str, seen: tuple[str, ...]
) -> list[tuple[Transition, ...]]:
    ways: list[tuple[Transition, ...]] = []
    for transition in transitions:
        if transition.base != base or transition.new in seen:
            continue
        if transition.new == new:
            ways.append((transition,))
        else:
            ways += [(transition, *rest) for rest in _ways(transitions, transition.new, new, (*seen, base))]
    return ways


def _chain(way: tuple[Transition, ...], spread: Spread | None) -> Chain:
    ratio = exact(1)
    for transition in way:
        ratio *= transition.mean
    return Chain(
        way,
        ratio,
        math.prod(transition.lowest for transition in way),
        math.prod(transition.highest for transition in way),
        spread,
    )
