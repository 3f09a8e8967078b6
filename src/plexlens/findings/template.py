"""Sentences and commands of rules: text with places for values.

A place is ``{expression}``: a key or attribute, a fact or metric, or arithmetic over them. A fact or metric is written
in its unit (``{contention_fraction}`` becomes ``2.3 %``). ``{expression:n}`` is a whole number without unit or
thousands, as a command needs it. ``{{`` and ``}}`` are braces.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from plexlens.findings.error import RuleError, wrong
from plexlens.findings.expression import Expression, Name
from plexlens.findings.parser import parse
from plexlens.findings.translation import Scope, number
from plexlens.metrics.definition import Grain
from plexlens.metrics.display import NULL, with_symbol
from plexlens.metrics.unit import Unit

#: Stands in a command where the data does not tell the number, as in IBM's own syntax.
UNKNOWN = "nnn"

_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True)
class Place:
    """A place for a value.

    Attributes
    ----------
    name
        Key or attribute that stands there; empty for a number.
    expression
        The number that stands there; None for a key or attribute.
    unit
        Unit the number is written in.
    whole
        Whether the number is written as a command needs it.
    """

    name: str = ""
    expression: Expression | None = None
    unit: Unit | None = None
    whole: bool = False


@dataclass(frozen=True)
class Template:
    """Text and places, in order; as a text, what it was written as."""

    parts: tuple[str | Place, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def places(self) -> tuple[Place, ...]:
        """The places alone."""
        return tuple(part for part in self.parts if isinstance(part, Place))

    def filled(self, names: Mapping[str, str | None], numbers: Mapping[Expression, float | None]) -> str:
        """The text with the values in their places; a missing one reads as a dash, a missing whole number as nnn."""
        return "".join(part if isinstance(part, str) else _written(part, names, numbers) for part in self.parts)


def _written(place: Place, names: Mapping[str, str | None], numbers: Mapping[Expression, float | None]) -> str:
    if place.expression is None:
        return names.get(place.name) or NULL
    value = numbers.get(place.expression)
    if not place.whole:
        return with_symbol(value, place.unit)
    return str(round(value)) if value is not None and math.isfinite(value) else UNKNOWN


def template(text: str, grain: Grain, names: frozenset[str]) -> Template:
    """A template over the rows of a grain.

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
        A place that is no expression, or names what is not there; a brace without its partner.
    """
    parts: list[str | Place] = []
    end = 0
    for found in _PART.finditer(text):
        parts.append(text[end : found.start()])
        end = found.end()
        if found.group() in ("{{", "}}"):
            parts.append(found.group()[0])
        elif found.group(1) is None:
            raise wrong(f"character {found.start() + 1}: a brace without its partner", "write {{ or }} for a brace")
        else:
            parts.append(_place(found.group(1), grain, names))
    parts.append(text[end:])
    return Template(tuple(part for part in parts if part), text)


def _place(text: str, grain: Grain, names: frozenset[str]) -> Place:
    inner, _, form = text.partition(":")
    inner = inner.strip()
    if form not in ("", "n"):
        raise wrong(
            f"{{{text}}}: a form of {form!r} is not known", "write {x} for x in its unit, {x:n} for a whole number"
        )
    if inner in names:
        return Place(name=inner)
    try:
        expression = number(parse(inner), _scope(grain, names))
    except RuleError as error:
        raise wrong(f"{{{text}}}: {error.what}", error.remedy) from error
    if form == "n":
        return Place(expression=expression, whole=True)
    if not isinstance(expression, Name):
        raise wrong(f"{{{text}}}: arithmetic has no unit to be written in", "write {...:n} for a whole number")
    return Place(expression=expression, unit=grain.column(expression.name).unit)


def _scope(grain: Grain, names: frozenset[str]) -> Scope:
    numbers = Scope.numbers(grain)
    return Scope(f"{numbers.what}, nor one of {', '.join(sorted(names))}", numbers.types)
