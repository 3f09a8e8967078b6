"""The state of the page of a grain: its number, its split, its filters, and the selected part of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from plexlens.errors import NothingUsableError
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain
from plexlens.metrics.selection import Selection, Window
from plexlens.pdb.engine import literal, quoted
from plexlens.report.blocks.page import Shown, TableSpec
from plexlens.report.pages import PAGES
from plexlens.serve.address import REPEATED, SELECTING, check, chosen, selecting, selection_of, wrong
from plexlens.serve.shell import address
from plexlens.serve.times import moment_text

#: Keys by which rows can be kept apart at once.
MOST_KEYS = 4

#: Numbers in a row where no page of the report has a table of the grain.
USUAL = 8

#: Conditions of blocks of the report, by the name of the block: its grain, title and SQL.
PARTS = {spec.name: (spec.grain, spec.title, spec.where) for page in PAGES for spec in page.specs if spec.where}

Filter = tuple[str, str | None]


@dataclass(frozen=True)
class Look:
    """A question to a grain, as an address holds it.

    Attributes
    ----------
    grain
        The grain.
    by
        Keys and attributes that rows keep apart.
    metric
        The metric or fact that is drawn, and by which rows are ordered.
    filters
        Keys and attributes, and the value that each must have; None for rows without a value.
    selection
        The part of the data, not resolved.
    selecting
        The parameters of the selection.
    part
        Name of a block of the report under whose condition the numbers are; empty for none.
    """

    grain: Grain
    by: tuple[str, ...]
    metric: str
    filters: tuple[Filter, ...]
    selection: Selection
    selecting: tuple[tuple[str, str], ...]
    part: str = ""

    @classmethod
    def of(cls, name: str, params: QueryParams, further: tuple[str, ...] = ()) -> Look:
        """The state in an address.

        Parameters
        ----------
        name
            The grain.
        params
            Of the address.
        further
            Names of parameters that the page has in addition.

        Raises
        ------
        NothingUsableError
            There is no such grain.
        UsageError
            A parameter is wrong.
        """
        if name not in GRAINS:
            raise NothingUsableError(file="", what=f"there is no grain {name[:60]!r}", remedy="start from the overview")
        check(params, (*SELECTING, "by", "metric", "where", "part", *further), lists=(*REPEATED, "where"))
        grain = GRAINS[name]
        keys = keys_of(grain)
        filters = tuple(dict.fromkeys(_filter(text, keys) for text in params.getlist("where") if text))
        by = tuple(dict.fromkeys(part for part in params.get("by", "").split(",") if part))
        for key in by:
            if key not in keys:
                raise wrong("by", f"{name} has no key {key[:60]!r}", f"name some of {', '.join(keys)}")
        if len(by) > MOST_KEYS:
            raise wrong("by", f"it names {len(by)} keys", f"name at most {MOST_KEYS}")
        metric = chosen(params, "metric", numbers_of(grain), _first_number(grain))
        part = chosen(params, "part", [part for part, (of, _, _) in PARTS.items() if of == name], "")
        result = cls(grain, by, metric, filters, selection_of(params), tuple(selecting(params)), part)
        return result if by else replace(result, by=result.next_keys()[:1] or _last_key(grain))

    @property
    def where(self) -> str | None:
        """SQL of the filters as a condition on facts."""
        conditions = [
            f"{quoted(key)} is null" if value is None else f"{quoted(key)}::varchar = {literal(value)}"
            for key, value in self.filters
        ]
        if self.part:
            conditions.append(f"({PARTS[self.part][2]})")
        return " and ".join(conditions) or None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The parameters of its address."""
        filters = [("where", key if value is None else f"{key}={value}") for key, value in self.filters]
        part = [("part", self.part)] if self.part else []
        return [("by", ",".join(self.by)), ("metric", self.metric), *filters, *part, *self.selecting]

    def address(self, path: str = "/grain") -> str:
        """Its address."""
        return address(f"{path}/{self.grain.name}", self.pairs)

    def addresses_within(self, keys: Sequence[str]) -> Callable[[tuple[Filter, ...], str], str]:
        """The address of the page about the parts of a row, for one of its numbers: `within` for each row of a table.

        The row names a value for each of the keys. All that rows have in common is encoded once.
        """
        deeper = self.within(tuple((key, None) for key in keys))
        pairs = self.pairs
        place = [name for name, _ in pairs].index("metric")
        own = [pair for pair in pairs[place + 1 :] if pair[0] == "where"]
        before = address(f"/grain/{self.grain.name}", [("by", ",".join(deeper.by))])
        first, last = urlencode(own), urlencode(pairs[place + 1 + len(own) :])

        @cache
        def encoded(row: tuple[Filter, ...]) -> str:
            names = [(key, value) for key, value in dict.fromkeys(row) if (key, value) not in self.filters]
            return urlencode([("where", key if value is None else f"{key}={value}") for key, value in names])

        return lambda row, metric: "&".join(filter(None, (before, _chosen(metric), first, encoded(row), last)))

    def next_keys(self) -> tuple[str, ...]:
        """Keys by which its rows can be split further: the system, then the keys of the grain."""
        taken = {*(key for key, _ in self.filters), *self.by}
        return tuple(key for key in ("system", *(key.name for key in self.grain.keys)) if key not in taken)

    def within(self, row: tuple[Filter, ...]) -> Look:
        """The page about the parts of a row; if it has none, of the row alone."""
        filters = tuple(dict.fromkeys((*self.filters, *row)))
        deeper = replace(self, filters=filters, by=())
        return replace(deeper, by=deeper.next_keys()[:1] or self.by)

    def without(self, dropped: Filter) -> Look:
        """The page without a filter."""
        return replace(self, filters=tuple(entry for entry in self.filters if entry != dropped))

    def at(self, selection: Selection) -> Look:
        """The page of another stretch of time."""
        window = selection.windows[0]
        bounds = [("from", window.start), ("to", window.end)]
        kept = [pair for pair in self.selecting if pair[0] not in ("from", "to")]
        times = [(name, moment_text(moment)) for name, moment in bounds if moment is not None]
        return replace(self, selection=selection, selecting=(*times, *kept))

    def earlier(self, days: int) -> Selection | None:
        """The same hours of an earlier day; None unless the selection is a stretch of time of at most a week."""
        if len(self.selection.windows) != 1:
            return None
        start, end = self.selection.windows[0].start, self.selection.windows[0].end
        if start is None or end is None or (start.tzinfo is None) != (end.tzinfo is None):
            return None
        back = timedelta(days=days)
        if not timedelta() < end - start <= back:
            return None
        try:
            return replace(self.selection, windows=(Window(start - back, end - back),))
        except OverflowError:
            return None

    @property
    def spec(self) -> TableSpec | None:
        """The first table of the report that shows the grain."""
        return next((table for page in PAGES for table in page.tables if table.grain == self.grain.name), None)

    def columns(self) -> tuple[Shown, ...]:
        """The numbers of a row: the chosen one first, then those that the report shows."""
        chosen_one = Shown(self.metric, bar=True)
        if self.spec is None:
            others = [Shown(metric.name) for metric in self.grain.metrics[:USUAL]]
        else:
            others = [column if isinstance(column, Shown) else Shown(column) for column in self.spec.columns]
        names = {key.name for key in self.grain.keys}
        kept = [Shown(entry.column) for entry in others if entry.column != self.metric and entry.column not in names]
        return (chosen_one, *kept[:USUAL])


@cache
def _chosen(metric: str) -> str:
    """The parameter that chooses a number of the catalogue: a table names each in all of its rows."""
    return urlencode([("metric", metric)])


def keys_of(grain: Grain) -> tuple[str, ...]:
    """The columns by which rows of a grain can be kept apart and filtered."""
    named = (*(key.name for key in grain.keys), *(attribute.name for attribute in grain.attributes))
    return tuple(dict.fromkeys(("system", "sysplex", *named)))


def numbers_of(grain: Grain) -> list[str]:
    """The metrics and facts of a grain."""
    return [*(metric.name for metric in grain.metrics), *(fact.name for fact in grain.facts)]


def _last_key(grain: Grain) -> tuple[str, ...]:
    """The key that stands in a row where all are filtered."""
    return (grain.keys[-1].name,) if grain.keys else ("system",)


def _first_number(grain: Grain) -> str:
    """The number by which the report orders a grain's rows, or else its first one."""
    numbers = numbers_of(grain)
    orders = [table.order for page in PAGES for table in page.tables if table.grain == grain.name]
    return next((name for name in orders if name in numbers), numbers[0])


def _filter(text: str, keys: tuple[str, ...]) -> Filter:
    key, equals, value = text.partition("=")
    if key not in keys:
        raise wrong("where", f"there is no key {key[:60]!r}", f"write KEY=VALUE with one of {', '.join(keys)}")
    return key, value if equals else None
