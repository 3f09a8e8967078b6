"""Builds a checked `Rule` from the keys of a rule file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from plexlens.expression.error import ExpressionError
from plexlens.expression.parser import parse
from plexlens.expression.tree import Expression
from plexlens.expression.types import Kind, Scope, condition, type_of
from plexlens.findings.error import RuleError, wrong
from plexlens.findings.release import RULE_PRODUCTS
from plexlens.findings.rule import Cause, Cost, CostKind, Formula, Reference, Releases, Rule, Severity, Threshold
from plexlens.findings.template import Template, template
from plexlens.metrics.definition import Fact, Grain, Metric

#: Keys of a rule, and of the tables in it; those with a star must be there.
KEYS = (
    "id*",
    "title*",
    "grain*",
    "by*",
    "time",
    "where",
    "condition*",
    "min_share",
    "percentile",
    "severity*",
    "grades",
    "evidence*",
    "worst",
    "sentence*",
    "action*",
    "command",
    "undo",
    "unrecorded",
    "cause",
    "yields_to",
    "cost",
    "source*",
    "releases",
    "disabled",
)
TABLES: dict[str, tuple[str, ...]] = {
    "grades": tuple(str(severity) for severity in Severity),
    "cause": ("name*", "thing*", "order*"),
    "cost": ("seconds*", "kind*", "meaning*"),
    "source": ("document*", "where*", "url", "threshold*"),
    "releases": ("product*", "since", "until"),
}

#: Lengths of time a condition can be judged on.
TIMES = ("interval", "hour", "all")

_Word = TypeVar("_Word", bound=StrEnum)


@dataclass(frozen=True)
class Draft:
    """A rule as written, with the file and line of each of its keys.

    Attributes
    ----------
    places
        File and line by key (``condition``, ``source.url``); of the rule under the empty name.
    origin
        File of a site's that the rule comes from; empty for Plexlens's own.
    """

    id: str
    values: Mapping[str, Any]
    places: Mapping[str, tuple[str, int | None]]
    origin: str = ""


def make(draft: Draft, grains: Mapping[str, Grain]) -> Rule:
    """Build the rule of a draft.

    Raises
    ------
    RuleError
        A key that is missing, not known, or has a value that means nothing; with file, line and valid values.
    """
    return _Maker(draft).rule(grains)


class _Maker:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def fail(self, key: str, what: str, remedy: str) -> NoReturn:
        raise self.placed(key, wrong(what, remedy))

    def placed(self, key: str, error: RuleError | ExpressionError) -> RuleError:
        keys = (key, key.partition(".")[0], "")
        file, line = next((self.draft.places[key] for key in keys if key in self.draft.places), ("", None))
        return RuleError.placed(
            error, file=file, line=line, where=f"rule {self.draft.id}" + (f", {key}" if key else "")
        )

    def checked(self, key: str, function: Callable[[], Any]) -> Any:
        """Result of the call; an error gets the location of the key."""
        try:
            return function()
        except (RuleError, ExpressionError) as error:
            raise self.placed(key, error) from error

    # --- values -------------------------------------------------------------------------------------------------

    def known_keys(self) -> None:
        self._keys("", self.draft.values, KEYS)
        for name, valid in TABLES.items():
            table = self.draft.values.get(name)
            if table is None:
                continue
            if not isinstance(table, dict):
                self.fail(name, f"it is {table!r}, not a table", f"its keys are {', '.join(valid).replace('*', '')}")
            self._keys(f"{name}.", table, valid)

    def _keys(self, before: str, values: Mapping[str, Any], valid: tuple[str, ...]) -> None:
        names = [name.rstrip("*") for name in valid]
        for key in values:
            if key not in names:
                close = get_close_matches(key, names, n=1)
                hint = f"did you mean {close[0]}? " if close else ""
                self.fail(f"{before}{key}", "there is no such key", f"{hint}valid are {', '.join(names)}")
        for name in valid:
            if name.endswith("*") and name[:-1] not in values:
                self.fail(before.rstrip("."), f"{before}{name[:-1]} is missing", "every rule needs it")

    def value(self, key: str) -> Any:
        table, _, name = key.rpartition(".")
        values = self.draft.values.get(table, {}) if table else self.draft.values
        return values.get(name)

    def text(self, key: str, *, needed: bool = True) -> str:
        value = self.value(key)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip()):
            self.fail(key, f"it is {value!r}, not a text", "give a text in quotes")
        return value.strip() if key in ("command", "undo") else " ".join(value.split())

    def word(self, key: str, words: type[_Word]) -> _Word:
        value = self.value(key)
        if value not in list(words):
            self.fail(key, f"it is {value!r}", f"valid are {', '.join(words)}")
        return words(value)

    def names(self, key: str, valid: Mapping[str, Any], what: str) -> tuple[str, ...]:
        value = self.value(key)
        if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
            self.fail(key, f"it is {value!r}, not a list of names", f"name {what}")
        for name in value:
            if name not in valid:
                close = get_close_matches(name, list(valid), n=1)
                hint = f"did you mean {close[0]}? " if close else ""
                self.fail(key, f"{name} is not {what}", f"{hint}there are {', '.join(sorted(valid))}")
        return tuple(dict.fromkeys(value))

    def formula(self, key: str, function: Callable[[Expression], Expression]) -> Formula:
        text = self.text(key)
        return Formula(self.checked(key, lambda: function(parse(text))), text)

    # --- the rule -----------------------------------------------------------------------------------------------

    def rule(self, grains: Mapping[str, Grain]) -> Rule:
        self.known_keys()
        grain_name = self.text("grain")
        if grain_name not in grains:
            close = get_close_matches(grain_name, list(grains), n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            self.fail("grain", f"there is no grain {grain_name}", f"{hint}there are {', '.join(sorted(grains))}")
        grain = grains[grain_name]
        columns: tuple[Fact | Metric, ...] = (*grain.facts, *grain.metrics)
        numbers = {column.name: column for column in columns}
        keys = {"system": 0, "sysplex": 0} | {key.name: 0 for key in grain.keys}
        attributes = {attribute.name: 0 for attribute in grain.attributes}
        by = self.names("by", keys | attributes, f"a key or attribute of {grain.name}")
        severity = self.word("severity", Severity)
        scope = grain.numbers
        time, min_share, percentile = self.times(grain)
        where = self.formula("where", lambda tree: condition(tree, grain.row_names)) if self.value("where") else None
        judged = self.formula("condition", lambda tree: condition(tree, scope))
        if not judged.names:
            self.fail("condition", "it contains no fact or metric", "compare one with something")
        placed = frozenset(by) | attributes.keys()
        return Rule(
            id=self.draft.id,
            title=self.text("title"),
            grain=grain.name,
            by=by,
            time=time,
            where=where,
            condition=judged,
            min_share=min_share,
            percentile=percentile,
            severity=severity,
            grades=self.grades(severity, scope),
            evidence=self.names("evidence", numbers, f"a fact or metric of {grain.name}"),
            lowest=self.lowest(),
            sentence=self.template("sentence", grain, placed),
            action=self.template("action", grain, placed),
            command=self.template("command", grain, placed, needed=False),
            undo=self.undo(grain, placed),
            cost=self.cost(grain, scope),
            source=self.source(),
            releases=self.releases(),
            unrecorded=self.texts("unrecorded"),
            cause=self.cause(grain, placed),
            yields_to=self.texts("yields_to"),
            origin=self.draft.origin,
        )

    def template(self, key: str, grain: Grain, names: frozenset[str], *, needed: bool = True) -> Template:
        text = self.text(key, needed=needed)
        result: Template = self.checked(key, lambda: template(text, grain, names))
        return result

    def undo(self, grain: Grain, names: frozenset[str]) -> Template:
        if self.value("undo") is not None and self.value("command") is None:
            self.fail("undo", "the rule has no command to undo", "give the command too, or leave it out")
        return self.template("undo", grain, names, needed=False)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.value(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
            self.fail(key, f"it is {value!r}, not a list of texts", 'write ["a", "b"], or leave it out')
        return tuple(value)

    def cause(self, grain: Grain, names: frozenset[str]) -> Cause | None:
        if self.value("cause") is None:
            return None
        thing = self.template("cause.thing", grain, names)
        if not thing.names or thing.expressions:
            self.fail("cause.thing", f"it is {thing.text!r}", "name keys or attributes alone, such as {system}")
        order = self.value("cause.order")
        if not isinstance(order, int) or isinstance(order, bool):
            self.fail("cause.order", f"it is {order!r}", "give a whole number; the lowest number is shown")
        return Cause(self.text("cause.name"), thing, order)

    def times(self, grain: Grain) -> tuple[str, float, float | None]:
        time = self.value("time") or "interval"
        if time not in TIMES:
            self.fail("time", f"it is {time!r}", f"valid are {', '.join(TIMES)}")
        if time != "all" and not _regular(grain):
            self.fail("time", f"rows of {grain.name} have no interval in common", 'write time = "all"')
        share, percentile = self.value("min_share"), self.value("percentile")
        for key, value, top in (("min_share", share, 1.0), ("percentile", percentile, 100.0)):
            if value is None:
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 < value <= top:
                self.fail(key, f"it is {value!r}", f"give a number above 0 and at most {top:g}")
            if time == "all":
                self.fail(key, "a rule over all time has no intervals to count", "leave it out, or judge intervals")
        if share is not None and percentile is not None:
            self.fail("percentile", "it cannot be combined with min_share", "give only one of them")
        return time, float(share or 0.0), None if percentile is None else float(percentile)

    def grades(self, base: Severity, scope: Scope) -> tuple[tuple[Severity, Formula], ...]:
        results = []
        for name in self.value("grades") or {}:
            severity = Severity(name)
            if severity.rank <= base.rank:
                self.fail(f"grades.{name}", f"it is not above the rule's own severity, {base}", "grade upwards")
            results.append((severity, self.formula(f"grades.{name}", lambda tree: condition(tree, scope))))
        return tuple(sorted(results, key=lambda tree: tree[0].rank))

    def lowest(self) -> bool:
        value = self.value("worst") or "highest"
        if value not in ("highest", "lowest"):
            self.fail("worst", f"it is {value!r}", "valid are highest, lowest")
        return bool(value == "lowest")

    def cost(self, grain: Grain, scope: Scope) -> Cost | None:
        if self.value("cost") is None:
            return None

        def seconds(expression: Expression) -> Expression:
            result = type_of(expression, scope)
            if result.kind is not Kind.NUMBER or result.base not in ("", "s"):
                raise wrong(
                    f"it is a {result.kind} in {result.base or 'no unit'}", "give seconds, from facts in seconds"
                )
            return expression

        return Cost(self.formula("cost.seconds", seconds), self.word("cost.kind", CostKind), self.text("cost.meaning"))

    def source(self) -> Reference:
        url = self.text("source.url", needed=False)
        if url and not url.startswith(("https://", "http://")):
            self.fail("source.url", f"it is {url!r}", "give an address that begins with https://, or leave it out")
        return Reference(
            self.text("source.document"), self.text("source.where"), url, self.word("source.threshold", Threshold)
        )

    def releases(self) -> Releases | None:
        if self.value("releases") is None:
            return None
        product = self.text("releases.product")
        if product not in RULE_PRODUCTS:
            self.fail(
                "releases.product", f"it is {product!r}", f"the data records the release of {', '.join(RULE_PRODUCTS)}"
            )
        ends = [self.release(f"releases.{end}") for end in ("since", "until")]
        if ends == [None, None]:
            self.fail("releases", "it names no release", "give since, until or both")
        return Releases(product, ends[0], ends[1])

    def release(self, key: str) -> tuple[int, int] | None:
        value = self.value(key)
        if value is None:
            return None
        parts = value.split(".") if isinstance(value, str) else []
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
            self.fail(key, f"it is {value!r}", 'give a version and release in quotes: "2.5"')
        return int(parts[0]), int(parts[1])


def _regular(grain: Grain) -> bool:
    """Whether the rows of a grain share intervals of a known length."""
    return any(fact.name == "interval_seconds" for fact in grain.facts)
