"""Think times of users: distributions with their mean and variance, drawn from a stated generator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Shape of the gamma distribution of a hump: half of its mean is its standard deviation. As in the simulator of
#: systems (`Length::Humps`).
HUMP_SHAPE = 4.0
#: Mean think time of a user who goes on working, in seconds. Chosen: study 003 does not publish it.
SHORT = 14.0
#: Mean think time of a user who stops working for a while. Chosen so that the think times that begin and end within
#: half an hour have the mean of study 003's measurements of half an hour (25.6 s). Those within an hour then have a
#: mean of 27.8 s; the study measured 27.9 to 28.6 s.
LONG = 400.0
#: Mean of the Bactrian distribution in seconds: study 003, CMS intensive migration from VM/ESA 1.0.
BACTRIAN_MEAN = 30.0


class ThinkTime(Protocol):
    """A distribution of think times; seconds."""

    @property
    def mean(self) -> float:
        """Mean in seconds."""
        ...

    @property
    def variance(self) -> float:
        """Variance in seconds squared."""
        ...

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Think times in seconds, shape (count,)."""
        ...


@dataclass(frozen=True)
class Constant:
    """Always the same."""

    mean: float
    variance: float = field(default=0.0, init=False)

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Think times in seconds, shape (count,)."""
        return np.full(count, self.mean)


@dataclass(frozen=True)
class Exponential:
    """Exponential."""

    mean: float

    @property
    def variance(self) -> float:
        """Variance in seconds squared."""
        return self.mean**2

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Think times in seconds, shape (count,)."""
        return generator.exponential(self.mean, count)


@dataclass(frozen=True)
class Bactrian:
    """Two humps, each a gamma distribution of shape 4: users who go on working, and users who stop for a while.

    Study 003 (VM/ESA 1.1, 1992) names the distribution and its mean of 30 s; its figures are not published. The
    defaults have that mean, and the effect of the length of a measurement that the study prints.

    Attributes
    ----------
    short, long
        Mean of each hump in seconds.
    short_share
        Share of think times in the first hump.
    """

    short: float = SHORT
    long: float = LONG
    short_share: float = (LONG - BACTRIAN_MEAN) / (LONG - SHORT)

    @property
    def mean(self) -> float:
        """Mean in seconds."""
        return self.short_share * self.short + (1 - self.short_share) * self.long

    @property
    def variance(self) -> float:
        """Variance in seconds squared."""
        second = self.short_share * self.short**2 + (1 - self.short_share) * self.long**2
        return second * (1 + 1 / HUMP_SHAPE) - self.mean**2

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Think times in seconds, shape (count,)."""
        humps = np.where(generator.random(count) < self.short_share, self.short, self.long)
        return generator.gamma(HUMP_SHAPE, humps / HUMP_SHAPE)


@dataclass(frozen=True)
class Empirical:
    """Measured values, each drawn as often as it occurs among them."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean in seconds."""
        return float(np.mean(self.values))

    @property
    def variance(self) -> float:
        """Variance in seconds squared."""
        return float(np.var(self.values))

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Think times in seconds, shape (count,)."""
        return generator.choice(np.asarray(self.values, float), count)


def stream(seed: int, *numbers: int) -> np.random.Generator:
    """A generator of its own for a user or a purpose: the same seed and numbers give the same draws."""
    return np.random.default_rng([seed, *numbers])


@dataclass
class Draws:
    """Think times one by one, drawn a hundred at a time."""

    distribution: ThinkTime
    generator: np.random.Generator
    _left: Sequence[float] = ()
    _place: int = 0

    def next(self) -> float:
        """The next think time in seconds."""
        if self._place >= len(self._left):
            self._left, self._place = self.distribution.draw(self.generator, 100).tolist(), 0
        self._place += 1
        return self._left[self._place - 1]
