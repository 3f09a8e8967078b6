"""The formulas by which derived columns of studies are worked out: one place, each with unit, text and source.

A formula is a function of quantities (`plexlens.compare.quantity`), so the bounds that the printed digits leave go
through it with the numbers. Arguments are single quantities, or lists where their name stands in ``lists``. A family is
a module of this package with its formulas in ``FORMULAS``; it is found by being there.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from plexlens.compare.formulas.formula import Argument, Formula

__all__ = ["FORMULAS", "Argument", "Formula"]


def _of_all_families() -> Iterator[Formula]:
    for module in pkgutil.iter_modules(__path__):
        yield from getattr(importlib.import_module(f"{__name__}.{module.name}"), "FORMULAS", ())


def _by_name() -> dict[str, Formula]:
    named: dict[str, Formula] = {}
    for formula in _of_all_families():
        if formula.name in named:
            raise ValueError(f"two formulas are named {formula.name}")
        named[formula.name] = formula
    return named


#: Every formula by name.
FORMULAS: dict[str, Formula] = _by_name()
