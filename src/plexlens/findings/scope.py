"""Names available to the expressions of a rule: those of a grain's rolled-up rows, and those of its original rows."""

from __future__ import annotations

from plexlens.expression.types import Scope
from plexlens.metrics.definition import Grain


def numbers_of(grain: Grain) -> Scope:
    """Facts and metrics of a grain: the names available in rolled-up rows."""
    return grain.numbers


def rows_of(grain: Grain) -> Scope:
    """Keys, attributes and facts of a grain: the names available before roll-up."""
    named = (
        "system",
        "sysplex",
        *(key.name for key in grain.keys),
        *(attribute.name for attribute in grain.attributes),
    )
    bases = {fact.name: fact.unit.base for fact in grain.facts}
    return Scope.of(f"a key, attribute or fact of {grain.name}", bases, named)
