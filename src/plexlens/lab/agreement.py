"""Agreement of two accounts of CPU time per request, over repeated runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plexlens.lab.measure import DRIVER, SERVER, Lab, Measured
from plexlens.lab.study_folder import priced, write_study

#: Share by which the two accounts may differ.
ALIKE = 0.03


@dataclass(frozen=True)
class Agreement:
    """Both accounts of a process on a way, a number per repeat; seconds of CPU per request.

    Attributes
    ----------
    part
        ``server`` or ``driver``.
    rates
        Requests per second.
    by_ways_in
        Sampled from outside, by the arithmetic of ways-in.
    own
        By the process itself.
    by_group
        By its control group; empty where there is none.
    """

    way: str
    part: str
    rates: tuple[float, ...]
    responses: tuple[float, ...]
    by_ways_in: tuple[float, ...]
    own: tuple[float, ...]
    by_group: tuple[float, ...]

    @property
    def difference(self) -> float:
        """Mean by ways-in over the mean by the process's own account, less 1."""
        return float(np.mean(self.by_ways_in) / np.mean(self.own) - 1)

    @property
    def largest(self) -> float:
        """Largest difference of a single run, without its sign."""
        return max(abs(sampled / own - 1) for sampled, own in zip(self.by_ways_in, self.own, strict=True))

    @property
    def variation(self) -> float | None:
        """Coefficient of variation of CPU time per request over the repeats; None for a single run."""
        values = np.asarray(self.by_ways_in)
        return None if len(values) < 2 else float(values.std(ddof=1) / values.mean())

    @property
    def of_group(self) -> float | None:
        """Mean by the control group over the mean by the process's own account, less 1."""
        return float(np.mean(self.by_group) / np.mean(self.own) - 1) if self.by_group else None

    @property
    def agrees(self) -> bool:
        """Whether the means agree within `ALIKE`."""
        return abs(self.difference) <= ALIKE


def agreements(lab: Lab, folder: Path) -> list[Agreement]:
    """Both accounts of each way at each of its rates.

    Parameters
    ----------
    lab
        The runs.
    folder
        Gets a study for each repeat: ``repeat-1`` and so on.
    """
    lines_of: dict[tuple[str, int, str], list[tuple[float, float, float, float, float | None]]] = {}
    for repeat in sorted({run.repeat for run in lab.runs}):
        runs = [run for run in lab.runs if run.repeat == repeat]
        result = write_study(folder / f"repeat-{repeat}", runs)
        for run in runs:
            for level, window in enumerate(run.windows):
                price = priced(result, run, window)
                for name, sampled, part in (
                    (SERVER, price.server, window.server),
                    (DRIVER, price.driver, window.driver),
                ):
                    line = (window.rate, window.response, sampled, part.own, part.group)
                    lines_of.setdefault((run.way.id, level, name), []).append(line)
    return [_agreement(way, part, lines) for (way, _, part), lines in lines_of.items()]


def _agreement(way: str, part: str, lines: Sequence[tuple[float, float, float, float, float | None]]) -> Agreement:
    rates, responses, sampled, own, groups = zip(*lines, strict=True)
    known = () if any(value is None for value in groups) else groups
    return Agreement(way, part, rates, responses, sampled, own, known)


__all__ = ["ALIKE", "Agreement", "Measured", "agreements"]
