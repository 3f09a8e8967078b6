"""Parts of metrics, and the metrics and settings that move them: the files ``causes/*.toml`` of the catalogue.

A *whole* is a metric with the parts that add up to it. A *cause* is a link from a metric to a metric, setting or
attribute that moves it. Both are data that a reader of the manuals can review; a site's folder adds files of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plexlens.metrics.catalogue.catalogue import Catalogue
from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.catalogue.error import near
from plexlens.metrics.catalogue.table import Entry, Table

#: What follows the name of a part: the number of its events; and the name of a whole: what its parts leave.
EVENTS, REST = "#events", "#rest"

#: Directions of a link.
MOVES = ("with", "against", "either")

#: Kinds of time in a part.
KINDS = ("cpu", "io", "wait", "rest")


@dataclass(frozen=True)
class WholePart:
    """A part of a whole.

    Attributes
    ----------
    metric
        ``grain.metric``.
    kind
        One of `KINDS`.
    title
        What it is called in a sentence.
    each
        Metric of the time of one of its events; empty where events are not counted.
    """

    metric: str
    kind: str
    title: str
    each: str = ""


@dataclass(frozen=True)
class Whole:
    """A metric and the parts that add up to it.

    Attributes
    ----------
    metric
        ``grain.metric``.
    rest, rest_kind
        What the parts leave; empty where they leave nothing.
    scale, scaled, scaled_title
        Metric by which whole and parts are divided, the metric that is the quotient, and its title; empty for none.
    """

    metric: str
    parts: tuple[WholePart, ...]
    rest: str = ""
    rest_kind: str = "rest"
    scale: str = ""
    scaled: str = ""
    scaled_title: str = ""


@dataclass(frozen=True)
class Link:
    """A number that moves another.

    Attributes
    ----------
    of, by
        What is moved, and by what: ``grain.column``, the first also with `EVENTS` or `REST`.
    moves
        One of `MOVES`.
    text
        Why, for the reader.
    proportional
        Whether what is moved changes by no larger factor than what moves it.
    """

    of: str
    by: str
    moves: str
    text: str
    proportional: bool = False


@dataclass(frozen=True)
class Apart:
    """Objects of a metric that are looked at one by one.

    Attributes
    ----------
    by
        Their keys.
    where
        The condition for those that count.
    of_systems
        Whether all objects of the systems on which the question's objects are count, whatever else the question says.
    """

    by: tuple[str, ...]
    where: str = ""
    of_systems: bool = False


@dataclass(frozen=True)
class Causes:
    """Everything that the files say.

    Attributes
    ----------
    wholes, links
        In the order of the files.
    apart
        By ``grain.metric``.
    work
        The work of a metric that is a sum over work, by that metric.
    levels
        Facts that are levels in the records, and settings to a reader.
    adjusted
        Settings that systems adjust themselves.
    """

    wholes: tuple[Whole, ...] = ()
    links: tuple[Link, ...] = ()
    apart: Mapping[str, Apart] = field(default_factory=dict)
    work: Mapping[str, str] = field(default_factory=dict)
    levels: tuple[str, ...] = ()
    adjusted: tuple[str, ...] = ()

    def whole_of(self, metric: str) -> Whole | None:
        """The whole that a metric is, itself or divided by its scale."""
        return next((whole for whole in self.wholes if metric in (whole.metric, whole.scaled)), None)

    def by(self, of: str) -> tuple[Link, ...]:
        """The links that lead on from a number."""
        return tuple(link for link in self.links if link.of == of)


_READ: list[tuple[Catalogue, Causes]] = []


def causes() -> Causes:
    """The wholes and links of the present catalogue, read once.

    Raises
    ------
    CatalogueError
        A file that cannot be used: file, line, key, what is wrong, what is valid.
    """
    catalogue = GRAINS.catalogue
    if not _READ or _READ[0][0] is not catalogue:
        _READ[:] = [(catalogue, _read(catalogue))]
    return _READ[0][1]


def _read(catalogue: Catalogue) -> Causes:
    wholes: list[Whole] = []
    links: list[Link] = []
    apart: dict[str, Apart] = {}
    work: dict[str, str] = {}
    levels: list[str] = []
    adjusted: list[str] = []
    for document in catalogue.causes():
        file = Entry(document.values, document, ()).table("whole", "cause", "apart", "work", "settings")
        wholes += [_whole(table) for table in _tables(file, "whole", _WHOLE)]
        for table in _tables(file, "cause", ("of", "by", "moves", "text", "source", "proportional")):
            links += _links(table)
        for name, entry in _entries(file, "apart"):
            _number(entry, name)
            table = entry.table("by", "where", "of_systems")
            apart[name] = Apart(table.texts("by"), table.text("where"), _flag(table, "of_systems"))
        for name, entry in _entries(file, "work"):
            _number(entry, name)
            work[name] = _number(entry, entry.text())
        if (settings := file.get("settings")) is not None:
            table = settings.table("levels", "adjusted")
            for key, names in (("levels", levels), ("adjusted", adjusted)):
                if (listed := table.get(key)) is not None:
                    names += [_number(listed, name) for name in listed.texts()]
    return Causes(tuple(wholes), tuple(links), apart, work, tuple(levels), tuple(adjusted))


_WHOLE = ("metric", "rest", "rest_kind", "scale", "scaled", "scaled_title", "parts")


def _entries(file: Table, key: str) -> list[tuple[str, Entry]]:
    entry = file.get(key)
    return [] if entry is None else list(entry.table(open_ended=True).entries.items())


def _tables(file: Table, key: str, keys: tuple[str, ...]) -> list[Table]:
    entry = file.get(key)
    return [] if entry is None else [item.table(*keys) for item in _items(entry)]


def _items(entry: Entry) -> list[Entry]:
    if not isinstance(entry.value, list):
        raise entry.wrong("it is not a list of tables", f"write [[{entry.place[-1]}]]")
    return [Entry(value, entry.document, (*entry.place, number)) for number, value in enumerate(entry.value)]


def _whole(table: Table) -> Whole:
    entry = table.need("metric", 'metric = "db2_accounting.class2_elapsed_time"')
    metric = _number(entry, entry.text())
    parts = []
    for item in _items(table.need("parts", 'parts = [{metric = "...", kind = "wait", title = "locks"}]')):
        part = item.table("metric", "kind", "title", "each")
        named = part.need("metric", 'metric = "db2_accounting.lock_latch_time"')
        if named.text().partition(".")[0] != metric.partition(".")[0]:
            raise named.wrong(f"{named.text()} is not of the grain of {metric}", "name metrics of one grain")
        kind = part.need("kind", 'kind = "wait"').one_of(KINDS, "kind of time")
        each = part.get("each")
        parts.append(
            WholePart(
                _number(named, named.text()),
                kind,
                part.need("title", 'title = "locks and latches"').text(),
                "" if each is None else _number(each, each.text()),
            )
        )
    texts = {key: table.text(key) for key in ("rest", "scale", "scaled", "scaled_title")}
    for key in ("scale", "scaled"):
        if (scale := table.get(key)) is not None:
            _number(scale, scale.text())
    kind_of_rest = table.get("rest_kind")
    rest_kind = "rest" if kind_of_rest is None else kind_of_rest.one_of(KINDS, "kind of time")
    return Whole(metric, tuple(parts), rest_kind=rest_kind, **texts)


def _links(table: Table) -> list[Link]:
    named = table.need("by", 'by = "coupling_structure.lock_entries"')
    by = _number(named, named.text(), attributes=True)
    moves = table.need("moves", 'moves = "with"').one_of(MOVES, "direction")
    text = table.need("text", 'text = "why it moves them"').text()
    of = table.need("of", 'of = ["db2_locking.false_contention_fraction"]')
    for name in of.texts():
        _number(of, name.partition("#")[0])
        if "#" in name and "#" + name.partition("#")[2] not in (EVENTS, REST):
            raise of.wrong(f"{name} ends in no {EVENTS} or {REST}", f"write {name.partition('#')[0]}{EVENTS}")
    return [Link(name, by, moves, text, _flag(table, "proportional")) for name in of.texts()]


def _flag(table: Table, key: str) -> bool:
    entry = table.get(key)
    return entry is not None and entry.truth()


def _number(entry: Entry, name: str, *, attributes: bool = False) -> str:
    """The name of a number of a grain, checked."""
    grain, _, column = name.partition(".")
    if grain not in GRAINS:
        raise entry.wrong(f"there is no grain {grain!r}", near(grain, list(GRAINS)))
    of = GRAINS[grain]
    names = [*(fact.name for fact in of.facts), *(metric.name for metric in of.metrics)]
    names += [attribute.name for attribute in of.attributes] if attributes else []
    if column not in names:
        raise entry.wrong(f"{grain} has no {column!r}", near(column, names))
    return name
