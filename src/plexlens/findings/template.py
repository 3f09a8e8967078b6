"""Messages and commands of rules: text with placeholders, and clauses that may be omitted.

A place is ``{expression}``: a key or attribute, a fact or metric, or arithmetic over them. A fact or metric is written
in its unit (``{contention_fraction}`` becomes ``2.3 %``). ``{expression:n}`` is a whole number without unit or
thousands, as a command needs it; ``:up`` and ``:down`` round it up or down, so that a small setting still changes.
``{read_ios_per_second|read I/Os}`` is a rate and what it counts: ``1,350 read I/Os per second``.
``{structure:last}`` is the part of a name behind its last underscore. ``{{`` and ``}}`` are braces.

A clause stands between ``[[`` and ``]]``. It is left out where one of its values is missing.
``[[when CONDITION: ...]]`` is left out unless the condition holds, ``[[since Db2 12.1: ...]]`` unless the release is
known and late enough.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from plexlens.expression.error import ExpressionError
from plexlens.expression.parser import parse
from plexlens.expression.tree import Expression, Name, names_of
from plexlens.expression.types import TEXT, Scope, condition, number
from plexlens.findings.error import wrong
from plexlens.findings.release import ATTRIBUTES, PRODUCTS, Level, level_of
from plexlens.metrics.definition import Grain
from plexlens.metrics.display import shown, with_symbol
from plexlens.metrics.unit import Unit

_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_CLAUSE = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_HEAD = re.compile(r"(when|since)\s+([^:]+):[ \t]?", re.DOTALL)

#: Forms of a whole number, and how each rounds. What floating point adds to an exact product is not rounded up.
_WHOLE: dict[str, Callable[[float], int]] = {
    "n": round,
    "up": lambda value: math.ceil(value - 1e-9 * abs(value)),
    "down": lambda value: math.floor(value + 1e-9 * abs(value)),
}

#: Symbol of units that say how often something happens.
_RATE = "/s"

#: Stands for a missing value until what surrounds it is left out.
_MISSING = "\0"


@dataclass(frozen=True)
class Place:
    """A placeholder for a value.

    Attributes
    ----------
    name
        Key or attribute that stands there; empty for a number.
    expression
        The number that stands there; None for a key or attribute.
    unit
        Unit the number is written in.
    form
        ``n``, ``up`` or ``down`` for a whole number, ``last`` for a part of a name; else empty.
    noun
        What a rate counts; empty for everything else.
    """

    name: str = ""
    expression: Expression | None = None
    unit: Unit | None = None
    form: str = ""
    noun: str = ""


@dataclass(frozen=True)
class Clause:
    """Text and placeholders that are written together or not at all.

    Attributes
    ----------
    when
        Condition under which it is written; None for none.
    since
        Product and first release that it is for; None for all.
    """

    parts: tuple[str | Place, ...]
    when: Expression | None = None
    since: tuple[str, Level] | None = None


@dataclass(frozen=True)
class Filling:
    """Values known for an object.

    Attributes
    ----------
    names
        Keys and attributes.
    numbers
        Value of each expression; of a condition 1 or 0.
    releases
        Release by product, if known.
    """

    names: Mapping[str, str | None]
    numbers: Mapping[Expression, float | None]
    releases: Mapping[str, Level]


@dataclass(frozen=True)
class Template:
    """Text, placeholders and clauses, in order; as a string, the original text.

    Attributes
    ----------
    names
        Keys and attributes that filling it in takes.
    """

    parts: tuple[str | Place | Clause, ...] = ()
    text: str = ""
    names: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.text

    @property
    def places(self) -> tuple[Place, ...]:
        """The placeholders, including those in clauses."""
        inner = (part.parts if isinstance(part, Clause) else (part,) for part in self.parts)
        return tuple(part for parts in inner for part in parts if isinstance(part, Place))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Every number and condition needed to fill in the text."""
        wanted = [place.expression for place in self.places if place.expression is not None]
        wanted += [part.when for part in self.parts if isinstance(part, Clause) and part.when is not None]
        return tuple(dict.fromkeys(wanted))

    def sentences(self, values: Filling, otherwise: str, *, is_grouped: bool = False) -> str:
        """The text as prose.

        A sentence that lacks a value is left out; where it is the first, ``otherwise`` stands in its place, so that
        what follows still has a subject. With ``is_grouped``, whole numbers have commas between thousands, unlike those
        that a reader is to type.
        """
        kept = []
        text = _tidy(self._filled(values, is_grouped=is_grouped)[0])
        for place, sentence in enumerate(re.split(r"(?<=\.)\s+(?=[A-Z0-9\0])", text)):
            if _MISSING not in sentence:
                kept.append(sentence)
            elif place == 0:
                kept.append(otherwise)
        return " ".join(part for part in kept if part)

    def commands(self, values: Filling) -> tuple[str, tuple[Place, ...]]:
        """The text as lines of commands, and the placeholders whose values are missing.

        A line that lacks a value is left out, since a command without its number is invalid.
        """
        text, missing = self._filled(values)
        lines = [re.sub(r" {2,}", " ", line).strip() for line in text.splitlines()]
        return "\n".join(line for line in lines if line and _MISSING not in line), missing

    def key(self, values: Filling) -> str:
        """The text as an object's name; empty if the data lacks it.

        Parts stand between slashes. The last one has to be known; an unknown one before it (records that name no
        system) stays empty.
        """
        parts = ["" if _MISSING in part else part for part in self._filled(values)[0].split("/")]
        return "/".join(parts) if parts[-1] else ""

    def _filled(self, values: Filling, *, is_grouped: bool = False) -> tuple[str, tuple[Place, ...]]:
        parts: list[str] = []
        missing: list[Place] = []
        for part in self.parts:
            if not isinstance(part, Clause):
                parts.append(_written(part, values, is_grouped=is_grouped))
                missing += [part] if isinstance(part, Place) and parts[-1] == _MISSING else []
            elif _applies(part, values):
                written = [_written(inner, values, is_grouped=is_grouped) for inner in part.parts]
                lacking = [
                    p for p, t in zip(part.parts, written, strict=True) if isinstance(p, Place) and t == _MISSING
                ]
                missing += lacking
                parts += [] if lacking else written
        return "".join(parts), tuple(missing)


def _applies(clause: Clause, values: Filling) -> bool:
    if clause.when is not None and not values.numbers.get(clause.when):
        return False
    if clause.since is None:
        return True
    product, first = clause.since
    return product in values.releases and values.releases[product] >= first


def _written(part: str | Place, values: Filling, *, is_grouped: bool) -> str:
    if isinstance(part, str):
        return part
    if part.expression is None:
        name = values.names.get(part.name) or _MISSING
        return name.rpartition("_")[2] if part.form == "last" else name
    value = values.numbers.get(part.expression)
    if value is None or not math.isfinite(value):
        return _MISSING
    if part.unit is not None and part.unit.symbol == _RATE:
        return " ".join(word for word in (_of_three_digits(value, part.unit), part.noun, "per second") if word)
    if part.form:
        whole = _WHOLE[part.form](value)
        return f"{whole:,}" if is_grouped else str(whole)
    return with_symbol(value, part.unit)


def _of_three_digits(value: float, unit: Unit | None) -> str:
    """A number in its unit with at least three digits and no superfluous decimals: 1,350, 13.5, 1.35."""
    if unit is None:
        return shown(value, unit)
    size = abs(value) * unit.factor
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else unit.digits
    return shown(value, replace(unit, digits=min(digits, unit.digits)))


def _tidy(text: str) -> str:
    """The text without the blanks left by omitted clauses."""
    return re.sub(r"\s+([,.;:])", r"\1", re.sub(r"\s+", " ", text)).strip()


def template(text: str, grain: Grain, names: frozenset[str]) -> Template:
    """Parse a template over the rows of a grain.

    Parameters
    ----------
    text
        As it stands in the rule.
    grain
        What the rule reads.
    names
        Keys and attributes that a place may name.

    Raises
    ------
    RuleError
        A place that is not an expression, or names what is not there; a brace or bracket without its partner.
    """
    parts: list[str | Place | Clause] = []
    end = 0
    for match in _CLAUSE.finditer(text):
        parts += _parts(text[end : match.start()], grain, names)
        parts.append(_clause(match.group(1), grain, names))
        end = match.end()
    parts += _parts(text[end:], grain, names)
    return Template(tuple(parts), text, _names(parts, names))


def _names(parts: Iterable[str | Place | Clause], names: frozenset[str]) -> frozenset[str]:
    """The keys and attributes in placeholders, in conditions and in release texts."""
    taken: set[str] = set()
    for part in parts:
        if isinstance(part, Place):
            taken.add(part.name)
        elif isinstance(part, Clause):
            taken.update(inner.name for inner in part.parts if isinstance(inner, Place))
            taken.update(names_of(part.when) & names if part.when is not None else ())
            taken.update(column for product, column in ATTRIBUTES.items() if part.since and part.since[0] == product)
    return frozenset(taken - {""})


def _parts(text: str, grain: Grain, names: frozenset[str]) -> list[str | Place]:
    for mark in ("[[", "]]"):
        if mark in text:
            raise wrong(f"{mark} is not paired", "write [[...]] for a clause; clauses do not nest")
    parts: list[str | Place] = []
    end = 0
    for match in _PART.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        if match.group() in ("{{", "}}"):
            parts.append(match.group()[0])
        elif match.group(1) is None:
            raise wrong(f"character {match.start() + 1}: an unpaired brace", "write {{ or }} for a brace")
        else:
            parts.append(_place(match.group(1), grain, names))
    parts.append(text[end:])
    return [part for part in parts if part]


def _clause(text: str, grain: Grain, names: frozenset[str]) -> Clause:
    head = _HEAD.match(text)
    if head is None:
        return Clause(tuple(_parts(text, grain, names)))
    parts = tuple(_parts(text[head.end() :], grain, names))
    if head.group(1) == "since":
        return Clause(parts, since=_since(head.group(2).strip(), grain))
    try:
        when = condition(parse(head.group(2)), _conditions(grain, names))
    except ExpressionError as error:
        raise wrong(f"[[when {head.group(2)}: {error.what}", error.remedy) from error
    return Clause(parts, when=when)


def _since(text: str, grain: Grain) -> tuple[str, Level]:
    product, _, release = text.rpartition(" ")
    level = level_of(release)
    if level is None or product not in PRODUCTS:
        raise wrong(
            f"[[since {text}: no product and release",
            f"write one of {', '.join(PRODUCTS)} and a release: [[since Db2 12.1: ...]]",
        )
    needed = ATTRIBUTES.get(product)
    if needed and all(attribute.name != needed for attribute in grain.attributes):
        raise wrong(f"[[since {text}: {grain.name} does not record the release of {product}", "leave the clause out")
    return product, level


def _place(text: str, grain: Grain, names: frozenset[str]) -> Place:
    inner, _, noun = text.partition("|")
    inner, _, form = inner.partition(":")
    inner, noun = inner.strip(), noun.strip()
    if form not in ("", "last", *_WHOLE):
        raise wrong(
            f"{{{text}}}: {form!r} is not a known form",
            "write {x} for x in its unit, {x:n}, {x:up} or {x:down} for a whole number",
        )
    if inner in names:
        return Place(name=inner, form=form)
    try:
        expression = number(parse(inner), _scope(grain, names))
    except ExpressionError as error:
        raise wrong(f"{{{text}}}: {error.what}", error.remedy) from error
    if form in _WHOLE:
        return Place(expression=expression, form=form)
    if not isinstance(expression, Name):
        raise wrong(f"{{{text}}}: a calculated value has no unit", "write {...:n} for a whole number")
    unit = grain.column(expression.name).unit
    if noun and (unit is None or unit.symbol != _RATE):
        raise wrong(f"{{{text}}}: {inner} is not a rate per second", "write {x} followed by the counted noun")
    return Place(expression=expression, unit=unit, noun=noun)


def _scope(grain: Grain, names: Iterable[str]) -> Scope:
    numbers = grain.numbers
    return Scope(f"{numbers.what}, nor one of {', '.join(sorted(names))}", numbers.types)


def _conditions(grain: Grain, names: frozenset[str]) -> Scope:
    scope = _scope(grain, names)
    return Scope(scope.what, {**scope.types, **dict.fromkeys(names, TEXT)})
