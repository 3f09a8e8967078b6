"""Explanation of a grain, fact or metric: its formula, fields and roll-up, and the rules and pages that use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from plexlens.errors import UsageError
from plexlens.expression import names_of, parse
from plexlens.findings.rule import Rule
from plexlens.metrics.definition import Fact, Grain, Metric
from plexlens.metrics.reference import roll_up_text, unit_text
from plexlens.report.blocks.page import Page, Shown


@dataclass(frozen=True)
class Explained:
    """A fact or metric of a grain, and its uses.

    Attributes
    ----------
    grain, column
        What it is.
    rules
        Ids of the rules that read it.
    pages
        Titles of the pages of the report that show it.
    """

    grain: Grain
    column: Fact | Metric
    rules: tuple[str, ...]
    pages: tuple[str, ...]

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts in a metric's formula; empty for a fact."""
        if isinstance(self.column, Fact):
            return ()
        read = names_of(self.column.expression)
        return tuple(fact for fact in self.grain.facts if fact.name in read)

    def to_json(self) -> dict[str, Any]:
        """As an object."""
        column = self.column
        texts: dict[str, Any] = {
            "grain": self.grain.name,
            "name": column.name,
            "title": column.title,
            "unit": column.unit.symbol or column.unit.base,
            "base_unit": column.unit.base,
        }
        if isinstance(column, Fact):
            texts |= {"roll_up": roll_up_text(column), "fields": column.source}
        else:
            texts |= {
                "words": column.words,
                "formula": column.formula,
                "terms": _terms(column),
                "facts": {fact.name: fact.source for fact in self.facts},
                "source": column.source,
                "caveat": column.caveat,
            }
        return texts | {"rules": list(self.rules), "pages": list(self.pages)}

    def lines(self) -> Iterator[str]:
        """As text."""
        column = self.column
        yield f"{self.grain.name}.{column.name}: {column.title}"
        for name, text in self._said():
            yield f"  {name:<10} {text}"

    def _said(self) -> Iterator[tuple[str, str]]:
        column = self.column
        if isinstance(column, Fact):
            yield "fields", column.source
            yield "unit", unit_text(column.unit)
            yield "rolled up", roll_up_text(column)
        else:
            yield "words", column.words
            yield "formula", " ".join(column.formula.split())
            for name, text in _terms(column).items():
                yield "where", f"{name} = {text}"
            yield "unit", unit_text(column.unit)
            for fact in self.facts:
                yield "fact", f"{fact.name}: {fact.source} ({unit_text(fact.unit)}; {roll_up_text(fact)})"
            yield "source", column.source
            if column.caveat:
                yield "caveat", column.caveat
        for kind in dict.fromkeys(source.kind for source in self.grain.sources):
            yield "data from", kind
        for rule in self.rules:
            yield "rule", rule
        for page in self.pages:
            yield "page", page


def _terms(metric: Metric) -> dict[str, str]:
    """The terms used in a formula, in the order of their file."""
    terms = metric.vocabulary.terms
    names: set[str] = set()
    waiting = [metric.formula]
    while waiting:
        named = names_of(parse(waiting.pop())) & terms.keys() - names
        names |= named
        waiting += [terms[name] for name in named]
    return {name: " ".join(text.split()) for name, text in terms.items() if name in names}


def explained(
    name: str, grains: Mapping[str, Grain], rules: tuple[Rule, ...], pages: tuple[Page, ...]
) -> tuple[Explained, ...]:
    """Every fact or metric that matches a name: ``coupling_structure.sync_service_time``, or ``sync_service_time``.

    Raises
    ------
    UsageError
        There is none; the message names those that are spelt alike.
    """
    within, _, column = name.rpartition(".")
    results = []
    known: list[str] = []
    for grain in grains.values():
        columns: tuple[Fact | Metric, ...] = (*grain.metrics, *grain.facts)
        for fact in columns:
            known.append(f"{grain.name}.{fact.name}" if within else fact.name)
            if fact.name == column and within in ("", grain.name):
                results.append(Explained(grain, fact, _rules(grain, fact, rules), _pages(grain, fact, pages)))
    if not results:
        valid = [*known, *grains]
        near = list(
            dict.fromkeys(
                [*get_close_matches(name, valid, n=4), *(candidate for candidate in valid if name in candidate)]
            )
        )[:5]
        remedy = f"did you mean {' or '.join(near)}?" if near else "plexlens metrics lists the grains"
        raise UsageError(file="", what=f"there is no grain, metric or fact {name}", remedy=remedy)
    return tuple(results)


def _rules(grain: Grain, column: Fact | Metric, rules: tuple[Rule, ...]) -> tuple[str, ...]:
    return tuple(rule.id for rule in rules if rule.grain == grain.name and column.name in rule.numbers)


def _pages(grain: Grain, column: Fact | Metric, pages: tuple[Page, ...]) -> tuple[str, ...]:
    return tuple(page.title for page in pages if column.name in _shown(page).get(grain.name, ()))


def _shown(page: Page) -> dict[str, set[str]]:
    """Columns shown by the specs of a page, by grain."""
    shown: dict[str, set[str]] = {}
    for table in page.tables:
        columns = {column.column if isinstance(column, Shown) else column for column in table.columns}
        shown.setdefault(table.grain, set()).update(columns, table.profile, (table.order, table.course))
    for chart in page.charts:
        shown.setdefault(chart.grain, set()).update(chart.columns)
    for figure in page.figures:
        shown.setdefault(figure.grain, set()).add(figure.column)
    for heat in page.heat_maps:
        shown.setdefault(heat.grain, set()).add(heat.column)
    return shown


def grain_lines(grain: Grain) -> Iterator[str]:
    """A grain as text: meaning of a row, keys, sources, metrics and facts."""
    yield f"{grain.name}: {grain.title}"
    yield f"  one row    {grain.row}"
    for key in grain.keys:
        yield f"  key        {key.name}: {key.title}"
    for attribute in grain.attributes:
        yield f"  attribute  {attribute.name}: {attribute.title}"
    for source in grain.sources:
        yield f"  data from  {source.kind} ({', '.join((*source.needs, *source.any_of))})"
    for metric in grain.metrics:
        yield f"  metric     {metric.name}: {metric.title}, {unit_text(metric.unit)} = {metric.words}"
    for fact in grain.facts:
        yield f"  fact       {fact.name}: {fact.title}, {unit_text(fact.unit)} ({fact.source})"


def grain_json(grain: Grain) -> dict[str, Any]:
    """A grain as an object."""
    return {
        "grain": grain.name,
        "family": grain.family,
        "title": grain.title,
        "row": grain.row,
        "keys": {key.name: key.title for key in grain.keys},
        "attributes": {attribute.name: attribute.title for attribute in grain.attributes},
        "sources": [{"kind": source.kind, "tables": [*source.needs, *source.any_of]} for source in grain.sources],
        "metrics": {metric.name: metric.words for metric in grain.metrics},
        "facts": {fact.name: fact.source for fact in grain.facts},
    }
