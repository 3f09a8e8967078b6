"""Ordinary least squares, with the statistics needed to reject a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Slope:
    """Increase of the values per unit of a column.

    Attributes
    ----------
    value, error
        The coefficient and its standard error.
    low, high
        Ends of its 95 % confidence interval.
    """

    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """A fitted line.

    Attributes
    ----------
    slopes
        Of each column.
    n
        Rows.
    freedom
        Rows less coefficients.
    r2
        Share of the variance (within groups) that the columns explain.
    """

    slopes: dict[str, Slope]
    n: int
    freedom: int
    r2: float


def least_squares(
    columns: Mapping[str, Sequence[float]], values: Sequence[float], groups: Sequence[str] = ()
) -> Fit | str:
    """Fit values = constant of the group + sum of slope x column.

    Parameters
    ----------
    columns
        At least one, each as long as ``values``.
    values
        What is to be explained.
    groups
        Group of each row; each has a constant of its own. Empty for one group.

    Returns
    -------
    Fit or str
        The fit; or why there is none, in words that end a sentence.
    """
    names = list(columns)
    labels = np.asarray(groups if len(groups) else [""] * len(values))
    members, group = np.unique(labels, return_inverse=True)
    n, freedom = len(values), len(values) - len(members) - len(names)
    if freedom < 1:
        return f"{n} intervals are too few to judge the line"
    x = _within(np.column_stack([np.asarray(columns[name], np.float64) for name in names]), group, len(members))
    y = _within(np.asarray(values, np.float64).reshape(-1, 1), group, len(members))[:, 0]
    scale = np.sqrt((x**2).sum(axis=0))
    still = [name for name, size in zip(names, scale, strict=True) if size == 0]
    if still:
        return f"{' and '.join(still)} did not change from interval to interval"
    x = x / scale
    u, singular, vt = np.linalg.svd(x, full_matrices=False)
    if singular[-1] < 1e-6 * singular[0]:
        return f"{' and '.join(names)} change together, so their costs cannot be separated"
    coefficients = vt.T @ ((u.T @ y) / singular)
    residual = float(((y - x @ coefficients) ** 2).sum())
    variance = residual / freedom
    errors = np.sqrt(variance * ((vt.T / singular) ** 2).sum(axis=1))
    # The quantile of Student's t; scipy.stats has it too, and takes a second to import.
    # Here, since loading it takes longer than most commands do without it.
    from scipy.special import stdtrit

    t = float(stdtrit(freedom, 0.975))
    around = float((y**2).sum())
    return Fit(
        slopes={
            name: Slope(b / s, e / s, (b - t * e) / s, (b + t * e) / s)
            for name, b, e, s in zip(names, coefficients.tolist(), errors.tolist(), scale.tolist(), strict=True)
        },
        n=n,
        freedom=freedom,
        r2=1 - residual / around if around > 0 else 0.0,
    )


def _within(
    table: np.ndarray[tuple[int, int], np.dtype[np.float64]], group: np.ndarray[tuple[int], np.dtype[np.intp]], of: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Each column minus the mean of the row's group."""
    counts = np.bincount(group, minlength=of)
    means = np.column_stack([np.bincount(group, column, of) / counts for column in table.T])
    result: np.ndarray[tuple[int, int], np.dtype[np.float64]] = table - means[group]
    return result
