"""Steps of a roll-up that read the intervals of the observers and no rows, kept for the questions that follow.

A page asks for the time that regions cover together once for its table, once for its course and once for its whole,
and the next page asks again. It is the same time for as long as the same part of the data is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.source_sql import names_in

#: The step that reads the rows that count. Each step that reads it depends on them, and so on.
ROWS = "measured"

#: Gives other selects for some steps of a statement, which it gets in their order, by name.
Keep: TypeAlias = Callable[[Mapping[str, str]], Mapping[str, str]]


def kept_steps(inputs: Inputs, steps: Mapping[str, str]) -> dict[str, str]:
    """Selects from temporary tables with the results of steps, for those steps that do not depend on the rows.

    Parameters
    ----------
    inputs
        The raw tables.
    steps
        The steps of a statement, in their order, by name.
    """
    kept: dict[str, str] = {}
    others = set(steps)
    for name, sql in steps.items():
        if name == ROWS or not others.isdisjoint(names_in(sql)):
            continue
        before = ", ".join(f"{step} as not materialized ({text})" for step, text in kept.items())
        whole = f"with {before} {sql}" if before else sql
        if (whole, "step") not in inputs.kept:
            table = fresh_name(f"rolled_{name}")
            inputs.made.append(("table", table))
            inputs.connection.execute(f"create temp table {table} as {whole}")
            inputs.kept[whole, "step"] = table
        kept[name] = f"select * from {inputs.kept[whole, 'step']}"
        others.remove(name)
    return kept
