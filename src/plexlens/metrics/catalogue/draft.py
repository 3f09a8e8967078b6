"""A grain as declared in files, the parts of a site overriding the shipped parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plexlens.metrics.catalogue.document import Document
from plexlens.metrics.catalogue.table import Entry, Table

#: Keys of a file.
KEYS = (
    "grain",
    "title",
    "row",
    "observer",
    "like",
    "keys",
    "attributes",
    "facts",
    "terms",
    "source",
    "metric",
    "distribution",
)

_HEAD = ("title", "row", "observer", "like")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Draft:
    """The declarations of a grain: each part by name, in the order of first occurrence."""

    name: str
    document: Document
    head: Mapping[str, Entry] = field(default_factory=dict)
    keys: Mapping[str, Entry] = field(default_factory=dict)
    attributes: Mapping[str, Entry] = field(default_factory=dict)
    facts: Mapping[str, Table] = field(default_factory=dict)
    terms: Mapping[str, Entry] = field(default_factory=dict)
    term_words: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Table] = field(default_factory=dict)
    distributions: Mapping[str, Table] = field(default_factory=dict)
    sources: Sequence[Table] = ()

    @property
    def shipped(self) -> bool:
        """Whether all of it is shipped with Plexlens."""
        return self.document.shipped

    def over(self, other: Draft) -> Draft:
        """The draft on top of another: it overrides parts that both declare, and adds new parts at the end.

        A fact or metric that both name keeps those of its keys that the first does not give. A source takes the place
        of those of the same kind.
        """
        kinds = {table.text("kind") for table in self.sources}
        sources = [table for table in other.sources if table.text("kind") not in kinds]
        if kinds & {table.text("kind") for table in other.sources}:
            first = next(n for n, table in enumerate(other.sources) if table.text("kind") in kinds)
            sources[first:first] = self.sources
        else:
            sources += self.sources
        return replace(
            self,
            head={**other.head, **self.head},
            keys={**other.keys, **self.keys},
            attributes={**other.attributes, **self.attributes},
            facts=_merged(other.facts, self.facts),
            terms={**other.terms, **self.terms},
            term_words={**{n: w for n, w in other.term_words.items() if n not in self.terms}, **self.term_words},
            metrics=_merged(other.metrics, self.metrics),
            distributions=_merged(other.distributions, self.distributions),
            sources=tuple(sources),
        )

    def like(self, other: Draft) -> Draft:
        """The draft with attributes, facts, terms, metrics and distributions of another.

        Title, row, keys and sources are its own.
        """
        return self.over(replace(other, head={}, keys={}, sources=()))


def _merged(before: Mapping[str, Table], after: Mapping[str, Table]) -> dict[str, Table]:
    tables = dict(before)
    for name, table in after.items():
        old = before.get(name)
        if old is None:
            tables[name] = table
            continue
        merged = table.over(old)
        if "formula" in table and "words" not in table:
            # Words that were given for another formula.
            merged = replace(merged, entries={k: v for k, v in merged.entries.items() if k != "words"})
        tables[name] = merged
    return tables


def draft_of(document: Document, name: str) -> Draft:
    """The draft of a file.

    Raises
    ------
    CatalogueError
        An unknown key, or a value of another type; an invalid name.
    """
    top = Entry(document.values, document, ()).table(*KEYS)

    def named(key: str, *keys: str) -> dict[str, Table]:
        return {n: entry.table(*keys) for n, entry in _named(top, key).items()}

    terms, term_words = {}, {}
    for term, entry in _named(top, "terms").items():
        terms[term] = entry
        if isinstance(entry.value, dict):
            table = entry.table("formula", "word")
            terms[term] = table.need("formula", 'formula = "sync_requests + async_requests"')
            term_words[term] = table.need("word", 'word = "requests"').text()
    sources = []
    if (listed := top.get("source")) is not None:
        if not isinstance(listed.value, list):
            raise listed.wrong("it is not a list of tables", "begin each source with [[source]]")
        for number, value in enumerate(listed.value):
            sources.append(Entry(value, document, ("source", number)).table(*SOURCE_KEYS))
    return Draft(
        name,
        document,
        {key: top.entries[key] for key in _HEAD if key in top},
        _named(top, "keys"),
        _named(top, "attributes"),
        named("facts", *FACT_KEYS),
        terms,
        term_words,
        named("metric", *METRIC_KEYS),
        named("distribution", *DISTRIBUTION_KEYS),
        tuple(sources),
    )


FACT_KEYS = ("title", "unit", "rollup", "field", "of", "computed_from", "word")
METRIC_KEYS = ("title", "unit", "formula", "source", "caveat", "words")
DISTRIBUTION_KEYS = ("title", "unit", "field", "source", "caveat", "value", "where", "counted", "longest", "bounds")
SOURCE_KEYS = (
    "kind",
    "needs",
    "any_of",
    "dated_by",
    "sql",
    "from",
    "tables",
    "values",
    "fields",
    "columns",
    "differences",
)


def _named(top: Table, key: str) -> dict[str, Entry]:
    """Values by name of a table of the file."""
    result = top.get(key)
    if result is None:
        return {}
    entries = result.table(open_ended=True).entries
    for name, entry in entries.items():
        if not _NAME.fullmatch(name):
            raise entry.wrong(
                f"{name!r} is not a name", "begin with a small letter; small letters, digits and _ follow"
            )
    return dict(entries)
