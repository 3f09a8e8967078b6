"""Application of a template to a table: the rules whose columns the table has, and the printed columns left out.

Rules stand in order of preference. A printed column is worked out by the first rule whose inputs are all there; one
for which no rule has them is left out and named with what is missing. Columns that the table does not print ask for
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from plexlens.compare.study.model import SAME, LeftOut


def applied(
    template: str, rules: Sequence[Mapping[str, Any]], heads: Sequence[str], own: Iterable[str]
) -> tuple[list[dict[str, Any]], list[LeftOut]]:
    """The rules of a template that apply to a table.

    Parameters
    ----------
    template
        Its name.
    rules
        Its rules as TOML states them.
    heads
        Headings that the table prints.
    own
        Columns that other rules of the table work out, printed or not.

    Returns
    -------
    list of dict
        Rules, each for the columns that it works out in this table.
    list of LeftOut
        Printed columns that some rule of the template works out, and none here.
    """
    done = set(own)
    # Other rules may work out columns that the table does not print.
    there = set(heads) | done
    rules_here: list[dict[str, Any]] = []
    lacking: dict[str, tuple[str, ...]] = {}
    for rule in rules:
        printed = rule.get("printed") is not False
        given = rule.get("column")
        wanted = [given] if isinstance(given, str) else list(given or ())
        columns = [column for column in wanted if column not in done and (not printed or column in there)]
        if not columns:
            continue
        missing = tuple(dict.fromkeys(column for column in _inputs(rule) if column not in there))
        if missing:
            if printed:
                lacking.update((column, missing) for column in columns if column not in lacking)
            continue
        rules_here.append({**rule, "column": columns})
        done.update(columns)
        there.update(columns)
    left_out = [LeftOut(template, column, missing) for column, missing in lacking.items() if column not in done]
    return rules_here, left_out


def related(rules: Sequence[Mapping[str, Any]], there: Iterable[str]) -> list[dict[str, Any]]:
    """The relations of a template whose columns a table has.

    Parameters
    ----------
    rules
        Its relations as TOML states them.
    there
        Columns that the table prints, or that are worked out in it.
    """
    columns_there = set(there)
    results = []
    for rule in rules:
        given = rule.get("column")
        wanted = [given] if isinstance(given, str) else list(given or ())
        columns = [column for column in wanted if column in columns_there]
        if columns and columns_there.issuperset(_inputs(rule)):
            results.append({**rule, "column": columns})
    return results


def _inputs(rule: Mapping[str, Any]) -> Iterator[str]:
    """Columns of the table itself that a rule reads; columns of other tables are checked when the rule is read."""
    for key in ("where", "but"):
        yield from _keys(rule.get(key))
    arguments = rule.get("arguments")
    values = list(arguments.values()) if isinstance(arguments, Mapping) else []
    for value in [*values, rule.get("of", [])]:
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                yield from () if part == SAME else (part,)
            elif isinstance(part, Mapping) and "table" not in part and "value" not in part:
                column = part.get("column")
                yield from (column,) if isinstance(column, str) and column != SAME else ()
                for key in ("row", "rows", "but"):
                    yield from _keys(part.get(key))


def _keys(match: Any) -> Iterator[str]:
    if isinstance(match, Mapping):
        yield from match
