"""Judge the forecast on simulated daily series, and write the table of ``docs/forecast.md``.

``python -m tools.forecast_trial`` prints the table. Series have a peak per day with weekdays, noise that lasts from day
to day, and the property of their kind. The forecast sees 16 weeks and is judged on the four that follow. Its constants
were chosen by ``--development``, which has other seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from plexlens.forecast.daily import forecast, last_week, weekday_and_trend

#: Days that the forecast sees, and days on which it is judged.
SEEN, AHEAD = 112, 28

#: Seeds of a kind; development has others.
SEEDS, DEVELOPMENT = range(5000, 5200), range(200)

_WEEKDAYS = np.array([1.0, 1.05, 1.02, 1.03, 1.1, 0.55, 0.45])

Values = NDArray[np.float64]


def _noise(generator: np.random.Generator, deviation: float, carried: float) -> Values:
    """Noise of which a share is carried from day to day."""
    steps = generator.normal(0.0, deviation * np.sqrt(1 - carried**2), SEEN + AHEAD)
    result = np.empty(SEEN + AHEAD)
    level = generator.normal(0.0, deviation)
    for day, step in enumerate(steps):
        level = carried * level + step
        result[day] = level
    return result


def _base(generator: np.random.Generator) -> Values:
    days = np.arange(SEEN + AHEAD)
    weekdays = _WEEKDAYS * generator.normal(1.0, 0.03, 7)
    return generator.uniform(50, 800) * weekdays[days % 7] * (1 + _noise(generator, 0.05, 0.3))


def steady(generator: np.random.Generator) -> Values:
    """Weekdays and noise of 5 %."""
    return _base(generator)


def growth(generator: np.random.Generator) -> Values:
    """Growth of 10 to 40 % over the time."""
    return _base(generator) * (1 + generator.uniform(0.1, 0.4) * np.arange(SEEN + AHEAD) / (SEEN + AHEAD))


def shift(generator: np.random.Generator) -> Values:
    """A rise or fall by 10 to 25 % at a day of the last two to ten weeks seen."""
    values = _base(generator)
    values[SEEN - generator.integers(14, 70) :] *= 1 + generator.choice([-1, 1]) * generator.uniform(0.1, 0.25)
    return values


def odd_days(generator: np.random.Generator) -> Values:
    """A day of twenty is a holiday at half, or a peak of one and a half."""
    values = _base(generator)
    odd = generator.random(len(values)) < 0.05
    values[odd] *= generator.choice([0.5, 1.5], int(odd.sum()))
    return values


def walk(generator: np.random.Generator) -> Values:
    """A level that moves at random by 2 % a day."""
    return _base(generator) * np.exp(np.cumsum(generator.normal(0.0, 0.02, SEEN + AHEAD)))


KINDS: dict[str, Callable[[np.random.Generator], Values]] = {
    "steady": steady, "growth": growth, "shift": shift, "odd days": odd_days, "random walk": walk,
}  # fmt: skip


def _row(name: str, make: Callable[[np.random.Generator], Values], seeds: range) -> str:
    errors: dict[str, list[float]] = {"used": [], "weekday and trend": [], "last week": []}
    chosen = inside = total = 0
    for seed in seeds:
        values = make(np.random.default_rng(seed))
        before, after = values[:SEEN], values[SEEN:]
        made = forecast(before, AHEAD)
        for model, result in (
            ("used", made.values),
            ("weekday and trend", weekday_and_trend(before, AHEAD)),
            ("last week", last_week(before, AHEAD)),
        ):
            errors[model].append(float(np.abs(result - after).mean() / after.mean()))
        chosen += made.is_better
        inside += int(((after >= made.low) & (after <= made.high)).sum())
        total += AHEAD
    means = [float(np.mean(errors[model])) for model in ("last week", "weekday and trend", "used")]
    cells = [f"{mean:.1%}".replace("%", " %") for mean in means]
    return f"| {name} | {' | '.join(cells)} | {chosen / len(seeds):.0%} | {inside / total:.0%} |".replace(
        "%", " %"
    ).replace("  %", " %")


def table(seeds: range) -> str:
    """The table of the trial."""
    head = (
        "| series | last week's value | weekday and trend | used | weekday and trend used | inside the interval |\n"
        "|---|---:|---:|---:|---:|---:|\n"
    )
    return head + "\n".join(_row(name, make, seeds) for name, make in KINDS.items()) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--development", action="store_true", help="the seeds of development")
    print(table(DEVELOPMENT if parser.parse_args().development else SEEDS))
