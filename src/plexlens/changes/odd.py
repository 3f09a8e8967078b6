"""Hours and days that are odd: far beyond what the series itself does otherwise.

The residuals of a series above a threshold fall into episodes. The size of the highest ones is compared with that of
the others: if tails fall at least as fast as an exponential, the excesses of the highest c of k episodes over the one
below them are independent exponentials whose mean the spacings of the others tell (Renyi, Acta Math. Acad. Sci. Hung.
4, 1953), so that the chance of an excess x is (1 + x / (m s))^-m for m spacings of mean s. What is odd is judged by the
series' own episodes: noise that lasts makes long ones, and these are then not odd.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plexlens.changes.profile import Places
from plexlens.forecast.daily import Values

#: Share of the intervals that is looked at, and the fewest and most of them.
SHARE, FEWEST, MOST = 0.01, 40, 200

#: Share of the episodes that may be odd: the others tell what is usual.
MAY_BE_ODD = 5

#: Fewest episodes that tell what is usual.
FEWEST_USUAL = 8

#: Least mean of a spacing as a share of the threshold: values that are rounded have none.
LEAST_SPACING = 0.05

#: Power of a day's distance that is taken for exponential: means of a day are nearly normal, whose square would be.
DAY_POWER = 1.5

#: Spacings up to this are of equal episodes; largest share of them: few events do not describe larger episodes.
SAME, MOST_SAME = 1e-6, 0.5

#: Tails are too heavy where this factor is between the distance that 1 % exceed and the one that 10 % exceed. The
#: factor is 1.57 for normal tails and 2.0 for exponential ones; a profile of few weeks makes it larger.
HEAVY, HEAVY_OF_FEW_WEEKS = 1.85, 2.1

#: Weeks that are few for that.
FEW_WEEKS = 8

#: Factor up to which tails are taken for exponential, of many and of few weeks, and how much heavier they are per unit
#: of the factor above it. Student's t with 8 degrees of freedom (shape 1 / 8) has a factor of 1.80, with 5 of 1.96.
LIGHT, LIGHT_OF_FEW_WEEKS, SHAPE = 1.70, 1.90, 1.0

#: Intervals below the threshold that do not end an episode.
BRIDGED = 1


@dataclass(frozen=True)
class Odd:
    """An episode.

    Attributes
    ----------
    start, end
        Its first interval, and the first one after it.
    peak
        Interval that is farthest from what is usual.
    p
        Probability that the highest episode of a series is that high.
    """

    start: int
    end: int
    peak: int
    p: float


def beyond(sizes: Values, least: float = 0.0, shape: float = 0.0) -> tuple[Places, Values]:
    """Probability of each of the highest sizes, given the others.

    Parameters
    ----------
    sizes
        What lies above a threshold, of each episode.
    least
        Least mean of a spacing.
    shape
        Shape of the tail: 0 for an exponential one. A Pareto tail of this shape is turned to an exponential one, of the
        scale that it has where the highest begin (Pickands, Annals of Statistics 3, 1975).

    Returns
    -------
    Places, Values
        Places of the highest, the highest first, and for each the probability that the highest of as many is that high
        (Bonferroni). Empty where too few episodes tell what is usual, or most of them are equal.
    """
    count = len(sizes)
    highest = max(1, count // MAY_BE_ODD)
    usual = count - highest
    if usual < FEWEST_USUAL:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    order = np.argsort(sizes)
    ordered = sizes[order]
    # A spacing of which n episodes lie above is of the mean s / n.
    spacings = np.diff(ordered[:usual]) * np.arange(count - 1, highest, -1)
    if (spacings <= SAME).mean() > MOST_SAME:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    mean = max(float(spacings.mean()), least)
    excess = ordered[usual:] - ordered[usual - 1]
    if shape > 0 and mean > 0:
        mean += shape * float(ordered[usual - 1])
        excess = np.log1p(shape * excess / mean) * mean / shape
    chances = (1 + excess / ((usual - 1) * mean)) ** -float(usual - 1)
    return order[usual:][::-1], np.minimum(1.0, highest * chances[::-1])


def is_heavy(scores: Values, weeks: float) -> bool:
    """Whether tails fall more slowly than an exponential, so that large episodes are usual.

    Parameters
    ----------
    scores
        As `odd_episodes` takes them.
    weeks
        Length of the series.
    """
    return tail(scores) > (HEAVY if weeks >= FEW_WEEKS else HEAVY_OF_FEW_WEEKS)


def tail(scores: Values) -> float:
    """Distance that 1 % exceed over the one that 10 % exceed; 0 where nothing is known or deviates."""
    distances = np.abs(scores[np.isfinite(scores)])
    if not len(distances):
        return 0.0
    tenth, hundredth = np.quantile(distances, [0.9, 0.99])
    return float(hundredth / tenth) if tenth else (np.inf if hundredth else 0.0)


def shape_of(scores: Values, weeks: float) -> float:
    """Shape of the Pareto tail that is as heavy as the tails; 0 for exponential and lighter ones.

    Parameters
    ----------
    scores, weeks
        As `is_heavy` takes them.
    """
    return SHAPE * max(0.0, tail(scores) - (LIGHT if weeks >= FEW_WEEKS else LIGHT_OF_FEW_WEEKS))


def odd_episodes(scores: Values, shape: float = 0.0) -> tuple[float, list[Odd]]:
    """The odd episodes of a series.

    Parameters
    ----------
    scores
        Residuals over their spread, in the order of time; not a number where nothing is known.
    shape
        Shape of their tails, as `shape_of` gives it.

    Returns
    -------
    float, list of Odd
        Probability of the oddest episode in noise, over highs and lows, peaks and areas; and the episodes with theirs,
        the least probable first.
    """
    known = int(np.isfinite(scores).sum())
    wanted = min(MOST, max(FEWEST, int(known * SHARE)))
    results: dict[tuple[int, int], Odd] = {}
    for sign in (1.0, -1.0):
        for odd in _of_sign(np.nan_to_num(sign * scores, nan=-np.inf), wanted, shape):
            place = odd.start, odd.end
            if place not in results or odd.p < results[place].p:
                results[place] = odd
    # Highs and lows, and for each its peak and its area.
    episodes = [Odd(odd.start, odd.end, odd.peak, min(1.0, 4 * odd.p)) for odd in results.values()]
    episodes.sort(key=lambda odd: odd.p)
    return (episodes[0].p if episodes else 1.0), episodes


def _of_sign(scores: Values, wanted: int, shape: float) -> list[Odd]:
    if len(scores) <= wanted:
        return []
    threshold = float(np.partition(scores, len(scores) - wanted - 1)[len(scores) - wanted - 1])
    if not np.isfinite(threshold) or threshold <= 0:
        threshold = 0.0
    places = np.flatnonzero(scores > threshold)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > 1 + BRIDGED) + 1
    begins = np.concatenate([[0], breaks])
    ends = np.concatenate([breaks, [len(places)]])
    excess = scores[places] - threshold
    peaks = np.maximum.reduceat(excess, begins)
    # The area of an episode grows with the square of its height.
    areas = np.sqrt(np.add.reduceat(excess, begins))
    chances: dict[int, float] = {}
    for sizes, least in ((peaks, threshold), (areas, np.sqrt(threshold))):
        for episode, p in zip(*beyond(sizes, LEAST_SPACING * least, shape), strict=True):
            chances[int(episode)] = min(float(p), chances.get(int(episode), 1.0))
    results = []
    for episode, p in chances.items():
        inside = places[begins[episode] : ends[episode]]
        peak = int(inside[np.argmax(scores[inside])])
        results.append(Odd(int(inside[0]), int(inside[-1]) + 1, peak, p))
    return results


def odd_days(scores: Values) -> tuple[float, list[Odd]]:
    """The odd days of a series of days, up or down, as `odd_episodes` gives them.

    Parameters
    ----------
    scores
        Each whole day's distance from the days around it, over its spread.
    """
    size = np.nan_to_num(np.abs(scores)) ** DAY_POWER
    count = max(1, len(size) // 4)
    threshold = float(np.partition(size, len(size) - count - 1)[len(size) - count - 1])
    places = np.flatnonzero(size > threshold)
    days, chances = beyond(size[places] - threshold, LEAST_SPACING * threshold)
    results = [
        Odd(int(places[day]), int(places[day]) + 1, int(places[day]), float(p))
        for day, p in zip(days, chances, strict=True)
    ]
    return (results[0].p if results else 1.0), results
