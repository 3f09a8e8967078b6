"""Whether the level of a daily series changes: steps, temporary shifts and a trend, tested against noise that persists.

The model of the days is a weekday effect, the changes, and noise of which a share is carried from day to day (an
autoregressive process of order 1). For each place of a step, for each pair of places of a temporary shift (a step and
its opposite: Olshen, Venkatraman, Lucito and Wigler, Biostatistics 5, 2004) and for a trend the change is tested by
generalised least squares, and the smallest probability counts as often as there were places (Bonferroni). The share
that is carried is taken at an upper bound, because a low estimate makes chance look like change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from scipy import special

from plexlens.forecast.daily import WEEK, Values

#: Fewest whole days before a step, after it, and within a temporary shift.
FEWEST_DAYS = 3

#: Shares carried from day to day for which tests are made ready; above the last of them a level wanders.
CARRIED = np.arange(0.0, 0.901, 0.05)

#: Allowance for the bias of the estimate of that share (in days), and for its spread.
BIAS, SPREAD = 6.0, 1.2

#: Shares over which a change that passes is tested again, weighted by the likelihood of each for these days.
SHARES = np.array([*np.arange(0.0, 0.901, 0.05), 0.925, 0.95, 0.965, 0.98, 0.99, 0.995])

#: Power of the likelihood of a share: the change is the best of many, and noise without it seems less persistent.
TEMPERED = 0.85

#: Weight beforehand, next to 1 for all shares, of noise that nearly wanders (the last three shares): a level that does
#: not come back looks like a trend or a shift.
WANDERING = 0.5

#: Most changes of a series.
MOST = 8


class Kind(StrEnum):
    """Kinds of changes of a level."""

    SHIFT = "level shift"
    TEMPORARY = "temporary shift"
    TREND = "trend"


@dataclass(frozen=True)
class Component:
    """A change of the level.

    Attributes
    ----------
    kind
        What it is.
    start, end
        Places among the whole days: the first day of the new level, and the first day after a temporary shift; 0 and
        the number of days of a trend.
    p
        Probability of such a change in noise, for all places together.
    """

    kind: Kind
    start: int
    end: int
    p: float


@dataclass(frozen=True)
class _Ready:
    """The steps of a calendar, free of weekdays and of what is carried over.

    Attributes
    ----------
    basis
        Orthonormal columns that span the weekdays.
    steps, trend
        The changes without what weekdays explain of them.
    weights, trend_weight
        One over the squared size of each step (the first row) and of each temporary shift (a step in each row, its end
        in each column); zero where days are too few or weekdays explain all of it.
    """

    basis: Values
    steps: Values
    trend: Values
    step_weights: Values
    pair_weights: Values
    trend_weight: float


@dataclass
class Calendar:
    """The whole days of a series, and the tests of changes between them.

    Attributes
    ----------
    places
        Number of each whole day, from the first day of the grid.
    weekday
        Weekday of that first day, Monday is 0.
    """

    places: tuple[int, ...]
    weekday: int
    _ready: dict[int, _Ready] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._at = np.array(self.places)
        count = len(self.places)
        self.starts = np.arange(FEWEST_DAYS, count - FEWEST_DAYS + 1)
        weekdays = (self._at + self.weekday) % WEEK
        kinds = np.unique(weekdays)
        self._weekdays = (weekdays[:, None] == kinds[None, :]).astype(float)
        self._steps = (np.arange(count)[:, None] >= self.starts[None, :]).astype(float)
        self._trend = (self._at - self._at.mean()) / max(1, self._at[-1] - self._at[0])
        self._pairs = np.triu(np.ones((len(self.starts), len(self.starts)), dtype=bool), FEWEST_DAYS)
        self._gaps = np.diff(self._at)

    def __len__(self) -> int:
        return len(self.places)

    def without_carried(self, values: Values, share: float) -> Values:
        """Values less what is carried over from the day before, of the same variance on each day."""
        if not share:
            return values
        carried = share**self._gaps
        carried = carried if values.ndim == 1 else carried[:, None]
        later = (values[1:] - carried * values[:-1]) / np.sqrt(1 - carried**2)
        return np.concatenate([values[:1], later])

    def vector(self, component: Component) -> Values:
        """A change of size 1 on each whole day."""
        if component.kind is Kind.TREND:
            trend: Values = self._trend
            return trend
        days = np.arange(len(self.places))
        result: Values = ((days >= component.start) & (days < component.end)).astype(float)
        return result

    def vectors(self, component: Component) -> list[Values]:
        """A known change: its steps, and the days on which it begins and ends, which may have a part of it."""
        if component.kind is Kind.TREND:
            return [self._trend]
        days = np.arange(len(self.places))
        edges = [place for place in (component.start, component.end) if place < len(days)]
        beside = [(days == day).astype(float) for edge in edges for day in (edge - 1, edge)]
        # The level after a temporary shift need not be that before it.
        return [*((days >= edge).astype(float) for edge in edges), *beside]

    def without_weekdays(self, daily: Values, steps: Sequence[int], beside: Sequence[Values]) -> Values:
        """The days less weekdays and other changes, as they are estimated together with steps at these places."""
        days = np.arange(len(self.places))
        basis = np.column_stack([self._weekdays, *beside, *((days >= step).astype(float) for step in steps)])
        sizes = np.linalg.lstsq(basis, daily, rcond=None)[0]
        others = self._weekdays.shape[1] + len(beside)
        result: Values = daily - basis[:, :others] @ sizes[:others]
        return result

    def sizes(self, daily: Values, vectors: Sequence[Values]) -> Values:
        """Sizes of changes, estimated together with the weekdays."""
        result: Values = np.linalg.lstsq(np.column_stack([*vectors, self._weekdays]), daily, rcond=None)[0]
        return result[: len(vectors)]

    def ready(self, index: int, known: Sequence[Component] = ()) -> _Ready:
        """The tests for a share carried over, with known changes in the model.

        Parameters
        ----------
        index
            Place of the share in `CARRIED`.
        known
            Changes that are part of the model.
        """
        if index not in self._ready:
            share = float(CARRIED[index])
            basis, _ = np.linalg.qr(self.without_carried(self._weekdays, share))
            steps = _apart(self.without_carried(self._steps, share), basis)
            trend = _apart(self.without_carried(self._trend, share)[:, None], basis)
            self._ready[index] = self._made(basis, steps, trend[:, 0])
        ready = self._ready[index]
        if not known:
            return ready
        share = float(CARRIED[index])
        of_known = [vector for component in known for vector in self.vectors(component)]
        vectors = self.without_carried(np.stack(of_known, axis=1), share)
        more, triangle = np.linalg.qr(_apart(vectors, ready.basis))
        # A change that the others already explain adds nothing.
        more = more[:, np.abs(np.diag(triangle)) > 1e-8]
        steps = _apart(ready.steps, more)
        trend = _apart(ready.trend[:, None], more)[:, 0]
        free_of = self._made(np.hstack([ready.basis, more]), steps, trend)
        changes = [change for change in known if change.kind is not Kind.TREND]
        edges = [place for change in changes for place in (change.start, change.end)]
        apart = np.all([np.abs(self.starts - edge) >= FEWEST_DAYS for edge in edges], axis=0) if edges else np.True_
        # A change next to a known change is the same change.
        return replace(
            free_of,
            step_weights=free_of.step_weights * apart,
            pair_weights=free_of.pair_weights * np.outer(apart, apart),
        )

    def _made(self, basis: Values, steps: Values, trend: Values) -> _Ready:
        products = steps.T @ steps
        sizes = np.diag(products)
        pairs = np.where(self._pairs, sizes[:, None] + sizes[None, :] - 2 * products, 0.0)
        return _Ready(basis, steps, trend, _inverse(sizes), _inverse(pairs), float(_inverse(trend @ trend)))

    def tries(self, kind: Kind) -> int:
        """Places that a change of a kind is looked for at."""
        return {Kind.SHIFT: len(self.starts), Kind.TEMPORARY: int(self._pairs.sum()), Kind.TREND: 1}[kind]

    def candidates(self, daily: Values, index: int, known: Sequence[Component] = ()) -> list[Component]:
        """The most likely change of each kind, with its probability in noise.

        Parameters
        ----------
        daily
            A value for each whole day.
        index, known
            As `ready` takes them.
        """
        ready = self.ready(index, known)
        values = self.without_carried(daily, float(CARRIED[index]))
        rest = values - ready.basis @ (ready.basis.T @ values)
        total = float(rest @ rest)
        share = float(CARRIED[index])
        free = len(values) - ready.basis.shape[1] - 1
        if free < 1 or not total:
            return []
        # Days that resemble each other tell less of their variance.
        degrees = max(1.0, free * (1 - share) / (1 + share))
        results: list[Component] = []
        count = len(self.places)

        def tested(gain: float, kind: Kind, start: int, end: int, tries: int) -> None:
            left = max(total - gain, 1e-12 * total)
            p = tries * 2 * float(special.stdtr(degrees, -np.sqrt(gain / left * free)))
            results.append(Component(kind, start, end, min(1.0, p)))

        along = ready.steps.T @ values
        if len(self.starts):
            gains = along**2 * ready.step_weights
            best = int(np.argmax(gains))
            tested(float(gains[best]), Kind.SHIFT, int(self.starts[best]), count, len(self.starts))
        if self._pairs.any():
            gains = (along[:, None] - along[None, :]) ** 2 * ready.pair_weights
            best = int(np.argmax(gains))
            first, second = divmod(best, len(self.starts))
            start, end = int(self.starts[first]), int(self.starts[second])
            tested(float(gains.flat[best]), Kind.TEMPORARY, start, end, int(self._pairs.sum()))
        if ready.trend_weight:
            tested(float((ready.trend @ values) ** 2 * ready.trend_weight), Kind.TREND, 0, count, 1)
        return results

    def of_unknown_share(self, daily: Values, component: Component, known: Sequence[Component], tries: float) -> float:
        """Probability of a change in noise whose share carried over is not known.

        The probabilities for each share (exact, by generalised least squares) count by how likely the days make the
        share, other changes and the weekdays estimated (restricted likelihood: Patterson and Thompson, Biometrika 58,
        1971), where all shares are equally likely beforehand but for `WANDERING`.

        Parameters
        ----------
        daily, known
            As `candidates` takes them.
        component
            The change.
        tries
            Places and kinds among which it is the best.
        """
        others = [vector for other in known for vector in self.vectors(other)]
        model = np.column_stack([self._weekdays, *others, self.vector(component)])
        chances, likely = np.ones(len(SHARES)), np.full(len(SHARES), -np.inf)
        for place, share in enumerate(SHARES):
            values = self.without_carried(daily, float(share))
            basis, triangle = np.linalg.qr(self.without_carried(model, float(share)))
            sizes = np.abs(np.diag(triangle))
            kept = sizes > 1e-8
            along = basis.T @ values
            free = len(values) - int(kept.sum())
            rest = float(values @ values - along[kept] @ along[kept])
            if free < 1 or not kept[-1]:
                return 1.0
            if rest <= 1e-12 * float(values @ values):
                return component.p
            chances[place] = 2 * float(special.stdtr(free, -abs(along[-1]) / np.sqrt(rest / free)))
            carried = np.log1p(-(share ** (2 * self._gaps))).sum() if share else 0.0
            likely[place] = -carried / 2 - np.log(sizes[kept]).sum() - free * np.log(rest) / 2
        weights = np.exp(TEMPERED * (likely - likely.max())) * _BEFOREHAND
        return min(1.0, tries * float(chances @ weights) / float(weights.sum()))

    def carried(self, daily: Values, known: Sequence[Component] = ()) -> int:
        """Upper bound of the share of the noise that is carried over, as a place in `CARRIED`.

        Its estimate is of what known changes, the most likely further change and a trend leave.

        Returns
        -------
        int
            The number of shares if the bound is above all of them: the level wanders.
        """
        likely = [component for component in self.candidates(daily, 0, known) if component.kind is not Kind.TREND]
        best = min(likely, key=lambda component: component.p, default=None)
        trend = Component(Kind.TREND, 0, len(self.places), 1.0)
        extra = [trend] if best is None else [best, trend]
        of_known = [vector for component in known for vector in self.vectors(component)]
        basis = np.column_stack([self._weekdays, *of_known, *(self.vector(component) for component in extra)])
        rest = daily - basis @ np.linalg.lstsq(basis, daily, rcond=None)[0]
        total = float(rest @ rest)
        if not total:
            return 0
        next_day = self._gaps == 1
        share = float((rest[1:] * rest[:-1])[next_day].sum() / total) * len(daily) / max(1, int(next_day.sum()))
        count = len(self.places)
        bound = share + BIAS * (1 + share) / count + SPREAD * np.sqrt(max(0.0, 1 - share**2) / count)
        return int(np.searchsorted(CARRIED, bound))


#: Weight of each of `SHARES` beforehand: its width on the scale of shares.
_BEFOREHAND = np.gradient(SHARES)
_BEFOREHAND[-3:] = WANDERING / 3


def _inverse(sizes: Values) -> Values:
    """The inverse of sizes; zero for a size of zero."""
    return np.where(sizes > 1e-8, 1 / np.maximum(sizes, 1e-8), 0.0)


def _apart(vectors: Values, basis: Values) -> Values:
    result: Values = vectors - basis @ (basis.T @ vectors)
    return result


@dataclass(frozen=True)
class Levels:
    """Result of the tests of a daily series.

    Attributes
    ----------
    p
        Probability that noise has a change that is as clear; None where the level wanders, and no test is made.
    carried
        Share of the noise carried over that the test reckons with.
    changes
        The changes in the order in which they were found, each tested with those before it in the model.
    """

    p: float | None
    carried: float
    changes: tuple[Component, ...]


def levels(daily: Values, calendar: Calendar, keep: float) -> Levels:
    """Find the changes of a daily series.

    Parameters
    ----------
    daily
        A value for each whole day of the calendar.
    calendar
        The days.
    keep
        Probability above which no further change is looked for.
    """
    known: list[Component] = []
    whole: float | None = None
    carried = 0.0
    while len(known) < MOST:
        index = calendar.carried(daily, known)
        if index >= len(CARRIED):
            if not known:
                return Levels(None, 1.0, ())
            break
        results = calendar.candidates(daily, index, known)
        if not results:
            whole = 1.0 if whole is None else whole
            break
        # Three kinds are tried.
        best = min(results, key=lambda component: component.p)
        p = min(1.0, len(results) * best.p)
        if p <= keep:
            tries = len(results) * calendar.tries(best.kind)
            p = max(p, calendar.of_unknown_share(daily, best, known, tries))
        if whole is None:
            whole, carried = p, float(CARRIED[index])
        if p > keep:
            break
        known.append(Component(best.kind, best.start, best.end, p))
    parts = [part for component in known for part in _divided(daily, calendar, component, known)]
    return Levels(whole, carried, tuple(parts))


def _divided(daily: Values, calendar: Calendar, component: Component, known: Sequence[Component]) -> list[Component]:
    """A temporary shift as two level shifts where the level does not come back by three quarters."""
    if component.kind is not Kind.TEMPORARY:
        return [component]
    vectors = [
        *calendar.vectors(component),
        *(vector for other in known if other is not component for vector in calendar.vectors(other)),
    ]
    sizes = calendar.sizes(daily, vectors)
    if abs(sizes[0] + sizes[1]) < abs(sizes[0]) / 4:
        return [component]
    count = len(calendar)
    return [replace(component, kind=Kind.SHIFT, start=start, end=count) for start in (component.start, component.end)]
