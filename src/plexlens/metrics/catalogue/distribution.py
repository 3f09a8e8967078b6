"""Distributions of a grain: counts of values within bounds, and percentiles made of them.

A table ``[distribution.NAME]`` of a file stands for a fact per bound, a fact that counts all values (unless it names
one that the grain has), and a metric per percentile. Counts add up, so that the percentile of any hour, region or
sysplex follows from them. The SQL of a source has ``{NAME_within}`` where it selects the counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from plexlens.expression import ExpressionError, Number, parse
from plexlens.expression.percentile import widest_step
from plexlens.expression.text import digits_of, text_of
from plexlens.metrics.catalogue.document import text_of_file
from plexlens.metrics.catalogue.draft import Draft
from plexlens.metrics.catalogue.table import Entry, Table

#: Percentiles of each distribution.
PERCENTILES = (50, 90, 95, 99)


@dataclass(frozen=True)
class Distribution:
    """A distribution as written.

    Attributes
    ----------
    name
        What the names of its facts and metrics begin with.
    table
        Its table in the file.
    bounds
        Its bounds, which rise.
    """

    name: str
    table: Table
    bounds: tuple[Number, ...]

    @classmethod
    def of(cls, name: str, table: Table) -> Distribution:
        """The distribution of a table.

        Raises
        ------
        CatalogueError
            There are fewer than two bounds, or they do not rise from above 0.
        """
        return cls(name, table, bounds_in(table.need("bounds", 'bounds = "online_times"')))

    @property
    def counted(self) -> str:
        """Name of the fact that counts all values: the one that the table names, else one of the distribution."""
        return self.table.text("counted") or f"{self.name}_counted"

    def within(self, bound: Number) -> str:
        """Name of the fact that counts the values up to a bound."""
        return f"{self.name}_within_{text_of(bound).replace(' ', '').replace('.', '_').lower()}"

    @property
    def selected(self) -> str:
        """SQL of the counts, as items of a select that groups the rows with the values."""
        value = self.table.need("value", 'value = "response_seconds"').text()
        where = self.table.text("where")
        further = f" and ({where})" if where else ""
        items = []
        if "counted" not in self.table:
            items.append(f"count(*) filter (not isnan({value}){further})::double as {self.counted}")
        for bound in self.bounds:
            limit = f"{digits_of(bound.in_base)}::double"
            items.append(f"count(*) filter ({value} <= {limit}{further})::double as {self.within(bound)}")
        return ",\n".join(items)

    def facts(self) -> dict[str, dict[str, Any]]:
        """Its facts, as a file would declare them."""
        title = self.table.need("title", 'title = "Response time"').text()
        field = self.table.need("field", 'field = "SMF 110-1 STOP - START"').text()
        counts = {} if "counted" in self.table else {self.counted: "all"}
        counts |= {self.within(bound): f"within {text_of(bound)}" for bound in self.bounds}
        return {
            name: {"title": f"{title}: {which}", "unit": "count", "rollup": "count", "field": f"{field}, {which}"}
            for name, which in counts.items()
        }

    def metrics(self) -> dict[str, dict[str, Any]]:
        """Its percentiles, as a file would declare them."""
        title = self.table.need("title", 'title = "Response time"').text()
        pairs = ", ".join(f"{text_of(bound)}, {self.within(bound)}" for bound in self.bounds)
        step = widest_step([bound.in_base for bound in self.bounds])
        first, last = text_of(self.bounds[0]), text_of(self.bounds[-1])
        own = self.table.text("caveat")
        caveat = (
            "Interpolated between counts: the exact value lies between the same two bounds, which are at most a factor "
            f"of {step:.3g} apart. Below {first} it is no more exact than that; above {last} there is none."
        )
        return {
            f"{self.name}_p{percent}": {
                "title": f"{title}, {percent}th percentile",
                "unit": self.table.need("unit", 'unit = "milliseconds"').text(),
                "formula": f"percentile({percent} %, {self.counted}, {self.table.text('longest') or 'null'}, {pairs})",
                "source": self.table.need("source", 'source = "where it is defined"').text(),
                "caveat": f"{own} {caveat}".strip(),
            }
            for percent in PERCENTILES
        }


def bounds_in(entry: Entry) -> tuple[Number, ...]:
    """The bounds of a list of texts.

    Raises
    ------
    CatalogueError
        There are fewer than two, or they do not rise from above 0.
    """
    bounds: list[Number] = []
    for text in entry.texts():
        try:
            bound = parse(text)
        except ExpressionError as error:
            raise entry.wrong(f"{text!r}: {error.what}", "write a number with its unit: 1.4 s") from error
        if not isinstance(bound, Number):
            raise entry.wrong(f"{text!r} is not a number", "write a number with its unit: 1.4 s")
        if bound.in_base <= (bounds[-1].in_base if bounds else 0.0):
            raise entry.wrong(f"{text} does not exceed what is before it", "let bounds rise from above 0")
        bounds.append(bound)
    if len(bounds) < 2:
        raise entry.wrong("there are fewer than two bounds", 'write bounds = ["1 ms", "2 ms"]')
    return tuple(bounds)


def with_named_bounds(draft: Draft, lists: Mapping[str, Entry]) -> Draft:
    """The draft with lists of bounds in place of their names.

    Raises
    ------
    CatalogueError
        There is no list of a name.
    """
    tables = dict(draft.distributions)
    for name, table in tables.items():
        entry = table.get("bounds")
        if entry is not None and isinstance(entry.value, str):
            named = lists[entry.one_of(lists, "list of bounds")]
            tables[name] = replace(table, entries={**table.entries, "bounds": named})
    return replace(draft, distributions=tables)


def with_distributions(draft: Draft) -> Draft:
    """The draft with the facts and metrics of its distributions; those that it declares itself have the last word.

    Raises
    ------
    CatalogueError
        A distribution that cannot be used.
    """
    facts: dict[str, Table] = {}
    metrics: dict[str, Table] = {}
    for name, table in draft.distributions.items():
        distribution = Distribution.of(name, table)
        facts |= _tables(distribution.facts(), table)
        metrics |= _tables(distribution.metrics(), table)
    merged = draft.over(replace(draft, facts=facts, metrics=metrics))
    return replace(
        draft,
        facts={name: merged.facts[name] for name in (*draft.facts, *facts)},
        metrics={name: merged.metrics[name] for name in (*draft.metrics, *metrics)},
    )


def check_distributions(draft: Draft) -> None:
    """Check that the SQL of a source selects the counts of each distribution.

    Raises
    ------
    CatalogueError
        None does: the counts would be null.
    """
    files = {entry.document.path.parent / entry.text() for entry in _sql_files(draft)}
    texts = [text_of_file(file) for file in sorted(files)]
    for name, table in draft.distributions.items():
        if not any(f"{{{name}_within}}" in text for text in texts):
            raise table.whole.wrong(
                "no source selects its counts", f"write {{{name}_within}}, in the SQL of a source, where it groups rows"
            )


def _sql_files(draft: Draft) -> list[Entry]:
    return [table.entries["sql"] for table in draft.sources if "sql" in table]


def _tables(values: Mapping[str, Mapping[str, Any]], written: Table) -> dict[str, Table]:
    """Declarations, which stand where the distribution does."""
    document, place = written.whole.document, written.whole.place
    return {
        name: Table({key: Entry(value, document, place) for key, value in keys.items()}, Entry(keys, document, place))
        for name, keys in values.items()
    }
