"""Checked construction of grains from their drafts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from plexlens.expression import Expression, ExpressionError, names_of, parse
from plexlens.expression.types import NUMBER, Scope, check_metric, number, type_of
from plexlens.metrics.catalogue.draft import Draft
from plexlens.metrics.catalogue.error import near
from plexlens.metrics.catalogue.field_words import word_of
from plexlens.metrics.catalogue.sources import source_in
from plexlens.metrics.catalogue.table import Entry, Table
from plexlens.metrics.definition import (
    IDENTITY,
    Attribute,
    Fact,
    Grain,
    Key,
    Metric,
    Rollup,
    Vocabulary,
)
from plexlens.metrics.unit import Unit

_ROLLUPS = {rollup.name.lower(): rollup for rollup in Rollup}


@dataclass(frozen=True)
class Making:
    """Builds grains from drafts.

    Attributes
    ----------
    units
        Units by name.
    """

    units: Mapping[str, Unit]

    def grain(self, draft: Draft, family: str) -> Grain:
        """Build the grain.

        Raises
        ------
        CatalogueError
            A definition that cannot be used: file, line, key, what is valid.
        """
        head = Table(draft.head, Entry(draft.document.values, draft.document, ()))
        keys = tuple(Key(name, entry.text()) for name, entry in draft.keys.items())
        if not keys:
            raise head.whole.wrong(
                "there are no keys", 'add [keys] with the columns that identify a row: structure = "Structure"'
            )
        attributes = tuple(Attribute(name, entry.text()) for name, entry in draft.attributes.items())
        self._apart(draft)
        columns = ("system", "sysplex", *draft.keys, *draft.attributes)
        facts = tuple(self._fact(name, table, columns) for name, table in draft.facts.items())
        if not facts:
            raise head.whole.wrong("there are no facts", "add [facts]")
        vocabulary = Vocabulary(
            {name: entry.text() for name, entry in draft.terms.items()},
            {**{fact.name: word_of(fact) for fact in facts}, **draft.term_words},
        )
        observer = head.get("observer")
        if observer is not None:
            for name in observer.texts():
                if name not in columns:
                    raise observer.wrong(f"{name} is not a key or attribute", near(name, columns))
        if not draft.sources:
            raise head.whole.wrong("there is no source", "add [[source]] with kind, needs, and sql or from")
        return Grain(
            name=draft.name,
            title=head.need("title", 'title = "Coupling facility structures"').text(),
            row=head.need("row", 'row = "one structure in one interval"').text(),
            keys=keys,
            facts=facts,
            metrics=tuple(self._metric(name, table, vocabulary) for name, table in draft.metrics.items()),
            sources=tuple(source_in(table, draft, facts) for table in draft.sources),
            attributes=attributes,
            observer=observer.texts() if observer is not None else (),
            family=family,
        )

    def _apart(self, draft: Draft) -> None:
        """Refuse names with two meanings."""
        seen: dict[str, str] = dict.fromkeys(IDENTITY, "an identity column")
        # A key may bear the name of an identity column (system); it is that column.
        groups: tuple[tuple[str, Mapping[str, Entry | Table]], ...] = (
            ("a key", {name: entry for name, entry in draft.keys.items() if name not in IDENTITY}),
            ("an attribute", draft.attributes),
            ("a fact", draft.facts),
            ("a term", draft.terms),
            ("a metric", draft.metrics),
        )
        for what, named in groups:
            for name, item in named.items():
                if name in seen:
                    entry = item.whole if isinstance(item, Table) else item
                    raise entry.wrong(f"{name} is {seen[name]} already", f"give {what} another name")
                seen[name] = what

    def _unit(self, table: Table) -> Unit:
        entry = table.need("unit", 'unit = "count"')
        return self.units[entry.one_of(self.units, "unit")]

    def _fact(self, name: str, table: Table, columns: Iterable[str]) -> Fact:
        of = table.get("of")
        if of is not None:
            for column in of.texts():
                if column not in columns:
                    raise of.wrong(f"{column} is not an identity column, key or attribute", near(column, columns))
        return Fact(
            name,
            table.need("title", 'title = "Synchronous requests"').text(),
            self._unit(table),
            _ROLLUPS[table.need("rollup", 'rollup = "count"').one_of(_ROLLUPS, "roll-up")],
            table.need("field", 'field = "SMF 74-4 R744SSRC"').text(),
            of.texts() if of is not None else None,
            table.text("computed_from"),
            table.text("word"),
        )

    def _metric(self, name: str, table: Table, vocabulary: Vocabulary) -> Metric:
        return Metric(
            name,
            table.need("title", 'title = "Requests"').text(),
            self._unit(table),
            table.need("formula", 'formula = "requests / interval_seconds"').text(),
            table.need("source", 'source = "where it is defined"').text(),
            table.text("caveat"),
            table.text("words"),
            vocabulary,
        )


def check_formulas(draft: Draft, grain: Grain) -> None:
    """Check that terms and metrics are formulas over the facts with matching units.

    Raises
    ------
    CatalogueError
        One is not.
    """
    scope = _scope(draft, grain)
    for metric in grain.metrics:
        entry = draft.metrics[metric.name].entries["formula"]
        try:
            check_metric(_tree(entry, scope), scope, metric.unit.base)
            _ = metric.expression
        except ExpressionError as error:
            raise entry.wrong(error.what, error.remedy) from error


def _scope(draft: Draft, grain: Grain) -> Scope:
    """The facts and terms of a grain, and the texts of its rows."""
    scope = Scope.of(
        f"a fact or term of {grain.name}",
        {fact.name: fact.unit.base for fact in grain.facts},
        ("system", "sysplex", *draft.keys, *draft.attributes),
    )
    known = Scope(scope.what, {**scope.types, **dict.fromkeys(draft.terms, NUMBER)})
    left = {name: _tree(entry, known) for name, entry in draft.terms.items()}
    types = dict(scope.types)
    while left:
        ready = [name for name, tree in left.items() if not names_of(tree) & left.keys()]
        if not ready:
            name = next(iter(left))
            raise draft.terms[name].wrong(
                f"terms are made of each other: {', '.join(left)}", "let terms name facts, without a circle"
            )
        for name in ready:
            so_far = Scope(scope.what, types)
            try:
                types[name] = type_of(number(left[name], so_far), so_far)
            except ExpressionError as error:
                raise draft.terms[name].wrong(error.what, error.remedy) from error
            del left[name]
    return Scope(scope.what, types)


def _tree(entry: Entry, scope: Scope) -> Expression:
    """The tree of a formula, in which all names are known."""
    try:
        tree = parse(entry.text())
    except ExpressionError as error:
        raise entry.wrong(error.what, error.remedy) from error
    for name in sorted(names_of(tree) - scope.types.keys()):
        raise entry.wrong(f"{name} is not {scope.what}", near(name, scope.types))
    return tree


def check_references(draft: Draft, grain: Grain, facts: Callable[[str], Iterable[str] | None]) -> None:
    """Check that `computed_from` names a fact; ``facts`` returns those of a grain, or None if there is no such grain.

    Raises
    ------
    CatalogueError
        It does not.
    """
    for fact in grain.facts:
        if not fact.computed_from:
            continue
        entry = draft.facts[fact.name].entries["computed_from"]
        named, _, column = fact.computed_from.partition(".")
        there = facts(named)
        if there is None:
            raise entry.wrong(f"there is no grain {named!r}", "write grain.fact: db2_pool.buffers")
        if column not in there:
            raise entry.wrong(f"{named} has no fact {column!r}", near(column, there))
