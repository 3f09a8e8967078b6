"""The frontier of storage: saving against storage for the recommended groups, with its knee."""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.metrics.display import storage_size
from plexlens.metrics.unit import FRACTION, Unit
from plexlens.pools.search.recommendation import Recommendation
from plexlens.report.model import Block, Note
from plexlens.report.model.fields import Definitions, Field, Subject

_STORAGE = Subject("pool_storage", "Storage", "the recommended groups with the best sizes within an amount of storage")

#: Rows of the table.
_ROWS = 12


@dataclass(frozen=True)
class _Row:
    name: str
    saved: float | None
    per_gib: float | None


def storage_blocks(recommendation: Recommendation, seconds: float, definitions: Definitions) -> list[Block]:
    """A table of saving against storage; empty where only one amount of storage is possible."""
    curve = recommendation.storage
    if len(curve.budgets) < 2:
        return []
    now = recommendation.curve_costs[0]
    marked = {curve.knee, len(curve.budgets) - 1, 0}
    step = max((len(curve.budgets) - 1) // (_ROWS - len(marked)), 1)
    shown = sorted({*range(0, len(curve.budgets), step), *marked})
    rows = []
    for before, at in zip([None, *shown], shown, strict=False):
        size, cost = curve.budgets[at], curve.costs[at]
        gained = None if before is None else (curve.costs[before] - cost) / (size - curve.budgets[before]) * (1 << 30)
        marks = [word for word, true in (("knee", at == curve.knee), ("the budget", size == curve.budgets[-1])) if true]
        rows.append(
            _Row(
                storage_size(size) + (f" ({', '.join(marks)})" if marks else ""),
                1 - cost / now if now > 0 else None,
                None if gained is None or seconds <= 0 else gained * 3600 / seconds,
            )
        )
    fields: list[Field[_Row]] = [
        Field(_STORAGE, "storage", "Storage of all pools", lambda row: row.name, key=True),
        Field(
            _STORAGE, "saved", "Saved", lambda row: row.saved, FRACTION,
            "1 - cost / cost of the present pools, both by curves", "Simulated curves of the groups",
            "Curves treat each pool by itself and ignore write thresholds; the steps are simulated.",
        ),
        Field(
            _STORAGE, "per_gib", "Saved by a GiB more", lambda row: row.per_gib, Unit("s/h", "s/h", 1.0, 2),
            "(cost of the row above - cost) / GiB between x 3600 / seconds of the trace",
            "Simulated curves of the groups",
        ),
    ]  # fmt: skip
    table = definitions.table("storage", "Savings by storage", fields, rows, top=len(rows))
    if table is None:
        return []
    note = Note("For the steps and commands of another line, give its storage to --budget.")
    return [table, note]
