"""Growth of throughput with processors: the Universal Scalability Law, its errors, and its extrapolation.

The law (N. J. Gunther, "Guerrilla Capacity Planning", 2007, chapter 4) is

    X(N) = one * N / (1 + serial * (N - 1) + coherency * N * (N - 1))

``one`` is the throughput of one processor, ``serial`` the share of the work that only one processor at a time can do,
``coherency`` the cost of each processor's agreeing with each other one. Without the coherency term it is Amdahl's law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: What a parameter is called in results.
PARAMETERS = ("one", "serial", "coherency")

#: Share of further measurements that an interval is to hold.
LEVEL = 0.95

#: A term below this counts as zero: the fit lies on its bound.
_ZERO = 1e-9


@dataclass(frozen=True)
class Scalability:
    """A fitted scalability law.

    Attributes
    ----------
    one, serial, coherency
        Throughput of one processor (unit of the data), and the terms of the law (both zero or more).
    terms
        The parameters that were fitted; the others are zero.
    at_bound
        Those of them that the data would have below zero: they were held at zero.
    errors
        Standard error of each fitted parameter that is not at its bound; None where no degree of freedom is left.
    processors, throughput
        The points fitted.
    residuals
        Measured over fitted, less one: relative.
    freedom
        Degrees of freedom: points less fitted parameters, those at a bound counted as fitted.
    """

    one: float
    serial: float
    coherency: float
    terms: tuple[str, ...]
    at_bound: tuple[str, ...]
    errors: dict[str, float | None]
    processors: tuple[float, ...]
    throughput: tuple[float, ...]
    residuals: tuple[float, ...]
    freedom: int
    _covariance: tuple[tuple[float, ...], ...] = ()

    def at(self, processors: float) -> float:
        """Throughput by the law."""
        return processors * math.exp(
            math.log(self.one)
            - math.log(1 + self.serial * (processors - 1) + self.coherency * processors * (processors - 1))
        )

    def interval(self, processors: float, level: float = LEVEL) -> tuple[float, float] | None:
        """Prediction interval for a further measurement, by the delta method on the logarithm of throughput.

        The variance of the residuals is added to that of the law, and Student's t taken for the degrees of freedom
        left. A parameter at its bound counts as known, which makes the interval too narrow where the law is wrong.

        Returns
        -------
        tuple or None
            Lower and upper end; None where no degree of freedom is left to estimate it from.
        """
        if self.freedom < 1:
            return None
        free = [name for name in self.terms if name not in self.at_bound]
        slope = np.array([_slope(name, processors, self.serial, self.coherency) for name in free])
        variance = math.fsum(residual**2 for residual in map(math.log1p, self.residuals)) / self.freedom
        spread = variance + float(slope @ np.array(self._covariance) @ slope)
        # Here, since loading it takes longer than most commands do without it.
        from scipy.special import stdtrit

        width = float(stdtrit(self.freedom, 0.5 + level / 2)) * math.sqrt(spread)
        middle = self.at(processors)
        return middle * math.exp(-width), middle * math.exp(width)

    @property
    def peak(self) -> float | None:
        """Processors beyond which throughput falls; None if the law has no such point."""
        if self.coherency <= 0 or self.serial >= 1:
            return None
        return math.sqrt((1 - self.serial) / self.coherency)

    @property
    def ceiling(self) -> float | None:
        """Throughput that more processors approach but never reach, if only the serial term limits it."""
        return self.one / self.serial if self.coherency <= 0 < self.serial else None


def _slope(name: str, processors: float, serial: float, coherency: float) -> float:
    """Derivative of the law's logarithm with respect to the logarithm of ``one``, or to a term."""
    if name == "one":
        return 1.0
    below = 1 + serial * (processors - 1) + coherency * processors * (processors - 1)
    part = processors - 1
    return -part / below if name == "serial" else -part * processors / below


def terms_for(points: int) -> tuple[str, ...]:
    """The parameters to fit to this number of points: as many as leave a degree of freedom.

    Chosen by the number of points alone and before any fit: three points give throughput of one and the serial term,
    four or more the coherency term too. With two points nothing is left over, and the law goes through both.
    """
    return PARAMETERS if points >= 4 else PARAMETERS[:2]


def fit_scalability(
    processors: Sequence[float], throughput: Sequence[float], terms: tuple[str, ...] | None = None
) -> Scalability:
    """Fit the law by least squares of relative residuals, with non-negative terms.

    Parameters
    ----------
    processors, throughput
        The measured points; all above zero, at least two different numbers of processors.
    terms
        The parameters to fit, ``("one", "serial")`` or all three; by `terms_for` if not given.

    Raises
    ------
    ValueError
        Fewer points than parameters, a number not above zero, or one number of processors only.
    """
    if len(processors) != len(throughput):
        raise ValueError(f"{len(processors)} numbers of processors for {len(throughput)} throughputs")
    if any(processor <= 0 or not math.isfinite(processor) for processor in (*processors, *throughput)):
        raise ValueError("processors and throughput have to be above zero")
    terms = terms_for(len(set(processors))) if terms is None else terms
    if len(set(processors)) < len(terms):
        raise ValueError(f"{len(set(processors))} points cannot fit {len(terms)} parameters: {', '.join(terms)}")
    count = np.asarray(processors, dtype=float)
    size = float(np.exp(np.mean(np.log(np.asarray(throughput, dtype=float)))))
    wanted = np.log(np.asarray(throughput, dtype=float) / size)

    def model(values: Any) -> Any:
        coherency = values[2] if len(values) > 2 else 0.0
        return values[0] + np.log(count) - np.log1p(values[1] * (count - 1) + coherency * count * (count - 1))

    start = [float(wanted[0] - math.log(count[0])), 0.01, 0.001][: len(terms)]
    low = [-np.inf, 0.0, 0.0][: len(terms)]
    from scipy.optimize import least_squares

    result = least_squares(
        lambda values: model(values) - wanted,
        start,
        bounds=(low, [np.inf] * len(terms)),
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    values = [float(value) for value in result.x]
    at_bound = tuple(name for name, value in zip(terms[1:], values[1:], strict=True) if value < _ZERO)
    serial, coherency = (0.0 if value < _ZERO else value for value in (*values[1:], 0.0)[:2])
    law = Scalability(
        math.exp(values[0]) * size,
        serial,
        coherency,
        terms,
        at_bound,
        {},
        tuple(map(float, processors)),
        tuple(map(float, throughput)),
        (),
        len(processors) - len(terms),
    )
    residuals = tuple(measured / law.at(n) - 1 for n, measured in zip(processors, throughput, strict=True))
    free = [name for name in terms if name not in at_bound]
    slopes = np.array([[_slope(name, n, serial, coherency) for name in free] for n in processors])
    errors: dict[str, float | None] = dict.fromkeys(free)
    covariance: tuple[tuple[float, ...], ...] = ()
    if law.freedom > 0:
        variance = math.fsum(residual**2 for residual in map(math.log1p, residuals)) / law.freedom
        matrix = variance * np.linalg.inv(slopes.T @ slopes)
        covariance = tuple(tuple(float(value) for value in row) for row in matrix)
        errors = {name: math.sqrt(covariance[at][at]) for at, name in enumerate(free)}
        errors["one"] = (errors["one"] or 0.0) * law.one
    return Scalability(
        law.one, serial, coherency, terms, at_bound, errors, law.processors, law.throughput, residuals, law.freedom,
        covariance,
    )  # fmt: skip
