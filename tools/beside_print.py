"""Tables of printed and simulated numbers for a case study's page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plexlens.simulate.estimates import Estimate

#: Numbers of one run, by name.
Numbers = dict[str, float]


@dataclass(frozen=True)
class Line:
    """A printed number and the corresponding simulated number.

    Attributes
    ----------
    what, unit
        What the number is of, and its name with its unit.
    printed
        The printed number; None where the study prints none.
    simulated
        The simulated number.
    points
        Whether the error is a difference in points, as for percentages.
    """

    what: str
    unit: str
    printed: float | None
    simulated: Estimate
    points: bool = False

    @property
    def error(self) -> str:
        """Relative error; for percentages the difference in points; empty without a printed number."""
        if self.printed is None:
            return ""
        if self.points:
            return f"{self.simulated.mean - self.printed:+.1f} points"
        if not self.printed:
            return f"{self.simulated.mean:+.3g}"
        return f"{(self.simulated.mean / self.printed - 1) * 100:+.1f} %"


def lines_table(lines: Sequence[Line]) -> str:
    """Printed and simulated numbers side by side, as a table of Markdown."""
    rows = ["| | | printed | simulated | error |", "|---|---|---:|---:|---:|"]
    for line in lines:
        printed = "not printed" if line.printed is None else f"{line.printed:.4g}"
        rows.append(f"| {line.what} | {line.unit} | {printed} | {line.simulated} | {line.error} |")
    return "\n".join(rows) + "\n"


def errors_of(lines: Sequence[Line], unit: str) -> str:
    """A clause on the errors of the lines with a unit."""
    errors = [abs(line.simulated.mean / line.printed - 1) * 100 for line in lines if line.unit == unit and line.printed]
    within = sum(error <= 10 for error in errors)
    mean = math.fsum(errors) / len(errors)
    return f"{within} of {len(errors)} within 10 %, mean error {mean:.1f} %, largest {max(errors):.1f} %"
