"""Definitions and columns shared by the parts of the data sharing report."""

from __future__ import annotations

from plexlens.metrics import GRAINS
from plexlens.metrics.page_numbers import page_numbers
from plexlens.metrics.unit import Unit
from plexlens.report.model import Column, ColumnKind, Definition
from plexlens.report.model.page_definitions import definitions_of

#: Numbers that the page works out.
SHARING = page_numbers("sharing")

DEFINITIONS = definitions_of(SHARING)
SPUN = "coupling_structure.sync_processors"


def definitions() -> dict[str, Definition]:
    """Definitions of the numbers on a page: its own, and the metric that it shows."""
    grain_name, name = SPUN.split(".")
    grain = GRAINS[grain_name]
    metric = grain.metric(name)
    spun = Definition(
        SPUN, grain.title, grain.row, metric.title, metric.unit, metric.words, metric.source, metric.caveat
    )
    return DEFINITIONS | {SPUN: spun}


def number(
    name: str, definition: str, title: str = "", *, group: str = "", bar: bool = False, unit: Unit | None = None
) -> Column:
    """A column of numbers defined in `DEFINITIONS`, in its unit unless another is given."""
    entry = SHARING[definition]
    return Column(
        name,
        title or entry.title,
        ColumnKind.NUMBER,
        unit or entry.unit,
        entry.id,
        group=group,
        bar=bar,
    )
