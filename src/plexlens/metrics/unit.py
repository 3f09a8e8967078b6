"""Units of facts and metrics: base units internally, converted once at display; defined in ``catalogue/units.toml``.

A metric is computed in its base unit (seconds, bytes, counts, fractions). ``shown_in`` names the unit in which people
read it (microseconds for a coupling facility request, percent for a fraction); only `Unit.factor` converts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli

from plexlens.catalogue_path import catalogue_path


@dataclass(frozen=True)
class Unit:
    """A unit of measurement.

    Parameters
    ----------
    symbol
        What is printed after the number; empty for plain counts and ratios.
    base
        Symbol of the base unit in which values of this unit are kept.
    factor
        A value in this unit = a value in the base unit x ``factor``.
    digits
        Decimals a report shows.
    ceiling
        The most that a value can be, in the base unit: 1 for a share of a whole; None where nothing bounds it.
    """

    symbol: str
    base: str
    factor: float = 1.0
    digits: int = 2
    ceiling: float | None = None


def unit_of(written: dict[str, Any]) -> Unit:
    """A unit from its entry in a file of units: `symbol`, `base`, `times` or `parts`, `digits`, `ceiling`."""
    factor = float(written["times"]) if "times" in written else 1.0 / float(written.get("parts", 1.0))
    ceiling = written.get("ceiling")
    return Unit(
        str(written["symbol"]),
        str(written["base"]),
        factor,
        int(written["digits"]),
        None if ceiling is None else float(ceiling),
    )


def _units(file: Path) -> dict[str, Unit]:
    return {name: unit_of(written) for name, written in tomli.loads(file.read_text(encoding="utf-8")).items()}


#: Every unit by the name that definitions call it.
UNITS: dict[str, Unit] = _units(catalogue_path() / "units.toml")

SECONDS = UNITS["seconds"]
MILLISECONDS = UNITS["milliseconds"]
MICROSECONDS = UNITS["microseconds"]
BYTES = UNITS["bytes"]
KIB = UNITS["kib"]
MIB = UNITS["mib"]
GIB = UNITS["gib"]
COUNT = UNITS["count"]
MEAN_COUNT = UNITS["mean_count"]
PER_SECOND = UNITS["per_second"]
#: A share of a whole.
FRACTION = UNITS["fraction"]
#: An amount as a percentage of another that does not bound it: events per request, several processors relative to one
#: processor.
PERCENTAGE = UNITS["percentage"]
RATIO = UNITS["ratio"]
PROCESSORS = UNITS["processors"]
MSU = UNITS["msu"]
FRAMES = UNITS["frames"]
PAGES = UNITS["pages"]
TEXT = UNITS["text"]
