"""The reference of all metrics, generated from their definitions: ``python -m plexlens.metrics.reference PATH``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from plexlens.generated_doc import write_or_check
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric
from plexlens.metrics.unit import Unit

_HEAD = """\
# Metrics

Written from the definitions in `catalogue/` by `make docs`; do not edit.

A *grain* defines what a row represents. Its *facts* are additive columns in base units, taken from the fields named
with them. A *metric* is an expression over facts: facts are rolled up first, and the formula is applied to the sums,
never to averages of averages. A ratio with a zero denominator is null. A metric of a share of a whole (unit `%
(fraction, at most 100 %)`) is null above 101 %.

- **unit**: the display unit; in brackets the base unit of the stored value, if it differs.
- **rolled up**: how a fact is combined across entities, and over time; *of* names the columns that own the number if
  several rows report the same number.
- **sources**: sources of the facts, in order of preference; if two hold the same system and time, the first counts. All
  of a source's tables are needed.
- Every grain has the columns `system`, `sysplex`, `interval_start`, `interval_end`, `interval` (which names the same
  interval alike for all systems) and `source_kind` in addition to its keys.
- Names in formulas are SMF fields as IBM names them, or facts of the grain.
"""


def anchor(grain: Grain, column: Fact | Metric) -> str:
    """The anchor of a fact or metric in the reference."""
    return f"{grain.name}-{column.name}"


def unit_text(unit: Unit) -> str:
    """The display unit, with the base unit if it differs; never empty."""
    if not unit.symbol or unit.symbol == unit.base:
        return unit.base
    bounded = "" if unit.ceiling is None else f", at most {unit.ceiling * unit.factor:.0f} {unit.symbol}"
    return f"{unit.symbol} ({unit.base}{bounded})"


def cell(text: str) -> str:
    """Text as a cell of a Markdown table: on a single line, with Markdown and HTML characters escaped."""
    for character in "\\|*<[]":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def roll_up_text(fact: Fact) -> str:
    """Roll-up rule of a fact across entities and over time, and the owner of the number."""
    rule = f"{fact.rollup.across}, {fact.rollup.over}"
    return rule if fact.of is None else f"{rule}; of {' and '.join(fact.of) or 'the observer'}"


def _named(columns: Iterable[Key | Attribute]) -> str:
    return "; ".join(f"`{column.name}` ({column.title})" for column in columns)


def _name(grain: Grain, column: Fact | Metric) -> str:
    return f'<a id="{anchor(grain, column)}"></a>`{column.name}`'


def grain_text(grain: Grain) -> str:
    """The section about a grain."""
    described = [
        f"- one row: {grain.row}",
        f"- keys: {_named(grain.keys)}",
        *([f"- attributes: {_named(grain.attributes)}"] if grain.attributes else []),
        *(
            f"- source: {source.kind} ({', '.join(f'`{name}`' for name in needed)})"
            for source in grain.sources
            for needed in source.alternatives
        ),
    ]
    metrics = _table(
        ("metric", "title", "unit", "formula", "source", "caveat"),
        (
            (
                _name(grain, metric),
                cell(metric.title),
                cell(unit_text(metric.unit)),
                cell(metric.words),
                cell(metric.source),
                cell(metric.caveat),
            )
            for metric in grain.metrics
        ),
    )
    facts = _table(
        ("fact", "title", "unit", "rolled up", "fields"),
        (
            (
                _name(grain, fact),
                cell(fact.title),
                cell(unit_text(fact.unit)),
                roll_up_text(fact),
                cell(fact.source),
            )
            for fact in grain.facts
        ),
    )
    heading = f'<a id="{grain.name}"></a>\n\n### {grain.title}: `{grain.name}`'
    tables = [metrics, facts] if grain.metrics else [facts]
    return "\n\n".join([heading, "\n".join(described), *tables])


def document() -> str:
    """The whole reference as Markdown."""
    contents = []
    sections = []
    for family in GRAINS.families.values():
        grains = [GRAINS[name] for name in family.grains]
        contents.append(f"- {family.name}: " + ", ".join(f"[{grain.title}](#{grain.name})" for grain in grains))
        sections.append(f"## {family.name}\n\n{family.about}")
        sections.extend(grain_text(grain) for grain in grains)
    return "\n\n".join([_HEAD + "\n" + "\n".join(contents), *sections]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the reference, or check that it is up to date; return the exit code."""
    return write_or_check(document, "plexlens.metrics.reference", __doc__ or "", "docs/metrics.md", arguments)


if __name__ == "__main__":
    sys.exit(main())
