"""The reference of all rules, generated from them: ``python -m plexlens.findings.reference PATH``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import tomli

from plexlens.expression import FUNCTIONS, LIST_FUNCTIONS
from plexlens.findings.making import KEYS, TABLES
from plexlens.findings.reading import load_rules
from plexlens.findings.rule import Rule, Threshold
from plexlens.generated_doc import write_or_check
from plexlens.metrics import GRAINS
from plexlens.metrics.reference import anchor, cell


def _functions() -> str:
    partitions = [text.partition(": ") for name, text in FUNCTIONS.items() if name not in LIST_FUNCTIONS]
    return "\n".join(f"- `{call}`: {meaning}" for call, _, meaning in partitions)


_HEAD = f"""\
# Findings

Written from the rules in `src/plexlens/findings/rules` by `make docs`; do not edit.

A *rule* reads a grain of the [metrics](metrics.md), rolls it up to the rule's objects, and evaluates each object's
intervals. If its condition holds it gives a finding: the object, the numbers, the intervals, the remedy. A rule whose
input is not in the data is listed as not checked, with the missing input.

- **judged**: the length of the intervals on which the condition is evaluated, and the share of intervals in which it
  must hold.
- **numbers**: whether the source states them, or only explains the effect and the level was chosen here.
- **cost**: seconds lost in the intervals in which the condition holds, divided by the hours that the data covers: those
  of the object's intervals, or, if rows have no common intervals (accounting), from the first to the last. Each rule
  states what its estimate counts; several rules may count the same time from different sides.
- a command changes a setting from the value in force at the end of the data, and is followed by the command that
  restores that value. If the records do not hold the value in force, there is no such command, and the finding names
  the value to note first. `nnn` stands for a number that you choose.
- **one cause, one finding**: rules that detect the same cause from different sides, and systems that detect the same
  cause, give a single finding. The rule with the lowest order is shown, with the others as evidence. The cost is that
  of the rule that covers most of it, and is not added up over rules.
- **yields to**: a rule gives no command if one of these rules fires for the same object, because the command would make
  that problem worse.
- an object whose only row has no time, as in an excerpt of a printed report, is evaluated as a single interval. An
  object with several such rows is left out, because they may be of different times.

Findings are grouped by rule, in this order: rules with critical findings; then by the total cost of the rule's
findings, if it is at least 36 seconds per hour (1 % of a processor, or of a user's time); then by severity.

## Rules of your own

`plexlens report --rules DIR` reads further rules from the `.toml` files of a folder. A rule with the id of one below
changes it: only the keys that differ are given, or `disabled = true`. `plexlens findings list --rules DIR` checks them.

```toml
[[rule]]
id = "paging.demand"
condition = "page_faults_per_second > 5"

[[rule]]
id = "paging.low_uic"
disabled = true
```

## What your site has decided

`plexlens report --site FILE` reads decisions about findings:

```toml
[[suppress]]
rule = "db2.pool_page_fix"
objects = {{ subsystem = "DB2T", pool = "BP*" }}
until = 2027-03-31
reason = "test system"
decided_by = "storage meeting"

[[acknowledge]]
rule = "paging.*"
reason = "storage is ordered"
```

`rule` is an id or a pattern, `objects` patterns by column; `objects`, `until` and `decided_by` may be left out. A
suppressed finding is listed folded, with the reason. An acknowledged one stays where it is, and does not count for
`--fail-on`. A decision that has expired or meets no finding is reported.

## How a rule is written

Conditions compare facts and metrics with `< <= > >= = !=`, join with `and or not`, and compute with `+ - * /`. A number
that meets a fraction, a time or a size has a unit: `5 %`, `200 us`, `3 ms`, `1 s`, `10 min`, `256 bytes`, `4 KiB`,
`1 MiB`. `where` picks rows by keys, attributes and facts: `structure_type in ('list', 'lock')`. `null` is not a value.
Functions:

{_functions()}

In a sentence, an action or a command, `{{name}}` is a key, an attribute, or a number in its unit, and
`{{1.5 * buffers:n}}` a whole number (`:up` and `:down` round it up and down),
`{{read_ios_per_second|read I/Os}}` a rate and what it counts ("1,350 read I/Os per second"). A clause in `[[...]]` is
left out where one of its values is missing, `[[when buffers > 1000: ...]]` unless the condition holds,
`[[since Db2 12.1: ...]]` unless the release is known and late enough. The keys of a rule,
with a star where they are needed:

- {", ".join(f"`{key}`" for key in KEYS)}
{chr(10).join(f"- of `{name}`: {', '.join(f'`{key}`' for key in keys)}" for name, keys in TABLES.items())}"""


def _judged(rule: Rule) -> str:
    if rule.time == "all":
        return "the whole time"
    if rule.percentile is not None:
        return f"each {rule.time}; numbers are percentile {rule.percentile:g} of an object's"
    return f"each {rule.time}; " + (f"must hold in {rule.min_share:.0%} of them" if rule.min_share else "one is enough")


def _columns(rule: Rule) -> str:
    grain = GRAINS[rule.grain]
    return ", ".join(f"[`{name}`](metrics.md#{anchor(grain, grain.column(name))})" for name in rule.evidence)


def rule_text(rule: Rule) -> str:
    """The section about one rule."""
    source = rule.source
    document = f"[{cell(source.document)}]({source.url})" if source.url else cell(source.document)
    numbers = "stated by the source" if source.threshold is Threshold.STATED else "chosen here"
    lines = [
        f"- fires when: `{rule.condition.text}`",
        *([f"- of: `{rule.where.text}`"] if rule.where is not None else []),
        f"- reads: [{cell(GRAINS[rule.grain].title)}](metrics.md#{rule.grain}), by {', '.join(rule.by)}",
        f"- judged: {_judged(rule)}",
        f"- severity: {rule.severity}"
        + "".join(f"; {severity} when `{formula.text}`" for severity, formula in rule.grades),
        f"- evidence: {_columns(rule)}",
        *([f"- cost: {rule.cost.kind}, `{rule.cost.seconds.text}`: {cell(rule.cost.meaning)}"] if rule.cost else []),
        *([f"- cause: {rule.cause.name} of `{rule.cause.thing}`, order {rule.cause.order}"] if rule.cause else []),
        *([f"- yields to: {', '.join(f'[{name}](#{name})' for name in rule.yields_to)}"] if rule.yields_to else []),
        *([f"- note before the change: {', '.join(rule.unrecorded)}"] if rule.unrecorded else []),
        *([f"- releases: {rule.releases}"] if rule.releases is not None else []),
        f"- source: {document}: {cell(source.where)}; numbers {numbers}",
    ]
    parts = [
        f'<a id="{rule.id}"></a>\n\n### {rule.title}: `{rule.id}`',
        cell(str(rule.sentence)),
        f"**What to do:** {cell(str(rule.action))}",
    ]
    if rule.command.parts:
        parts.append(f"```\n{rule.command}\n```")
    if rule.undo.parts:
        parts.append(f"To undo it:\n\n```\n{rule.undo}\n```")
    return "\n\n".join([*parts, "\n".join(lines)])


def rule_lines(rule: Rule) -> list[str]:
    """A rule in plain text, a line per item."""
    grain = GRAINS[rule.grain]
    numbers = "stated by the source" if rule.source.threshold is Threshold.STATED else "chosen by Plexlens"
    needs = " or ".join(
        f"{source.kind} ({', '.join(needed)})" for source in grain.sources for needed in source.alternatives
    )
    pairs = [
        ("rule", rule.id),
        ("title", rule.title),
        ("reads", f"{grain.title} ({rule.grain}), by {', '.join(rule.by)}"),
        ("needs", needs),
        ("of", rule.where.text if rule.where is not None else ""),
        ("fires when", rule.condition.text),
        ("judged", _judged(rule)),
        ("severity", str(rule.severity)),
        *((str(severity), formula.text) for severity, formula in rule.grades),
        ("thresholds", numbers),
        ("evidence", ", ".join(rule.evidence)),
        ("sentence", str(rule.sentence)),
        ("action", str(rule.action)),
        ("command", str(rule.command)),
        ("undo", str(rule.undo)),
        ("note first", ", ".join(rule.unrecorded)),
        ("cause", f"{rule.cause.name} of {rule.cause.thing}, order {rule.cause.order}" if rule.cause else ""),
        ("yields to", ", ".join(rule.yields_to)),
        ("cost", f"{rule.cost.kind}, {rule.cost.seconds.text}: {rule.cost.meaning}" if rule.cost else ""),
        ("releases", str(rule.releases) if rule.releases is not None else "all"),
        ("source", f"{rule.source.document}. {rule.source.where}"),
        ("", rule.source.url),
        ("changed in", rule.origin),
    ]
    lines = []
    for name, text in pairs:
        for n, line in enumerate(text.splitlines()):
            lines.append(f"{name if n == 0 else '':<12}{line}".rstrip())
    return lines


def left_out() -> tuple[tuple[str, str], ...]:
    """Rules of thumb that Plexlens leaves out, and why."""
    text = (Path(__file__).parent / "left_out.toml").read_text(encoding="utf-8")
    return tuple((entry["what"], entry["why"]) for entry in tomli.loads(text)["left_out"])


def rule_json(rule: Rule) -> dict[str, Any]:
    """A rule with only JSON types, unevaluated."""
    grain = GRAINS[rule.grain]
    return {
        "id": rule.id,
        "title": rule.title,
        "grain": rule.grain,
        "needs": [
            {"kind": source.kind, "tables": list(needed)} for source in grain.sources for needed in source.alternatives
        ],
        "by": list(rule.by),
        "time": rule.time,
        "where": rule.where.text if rule.where is not None else None,
        "condition": rule.condition.text,
        "min_share": rule.min_share or None,
        "percentile": rule.percentile,
        "severity": str(rule.severity),
        "grades": {str(severity): formula.text for severity, formula in rule.grades},
        "evidence": list(rule.evidence),
        "sentence": str(rule.sentence),
        "action": str(rule.action),
        "command": str(rule.command) or None,
        "undo": str(rule.undo) or None,
        "unrecorded": list(rule.unrecorded),
        "cause": {"name": rule.cause.name, "thing": str(rule.cause.thing), "order": rule.cause.order}
        if rule.cause is not None
        else None,
        "yields_to": list(rule.yields_to),
        "cost": {"seconds": rule.cost.seconds.text, "kind": str(rule.cost.kind), "meaning": rule.cost.meaning}
        if rule.cost is not None
        else None,
        "source": {
            "document": rule.source.document,
            "where": rule.source.where,
            "url": rule.source.url or None,
            "threshold": str(rule.source.threshold),
        },
        "releases": str(rule.releases) if rule.releases is not None else None,
        "origin": rule.origin or None,
    }


def document() -> str:
    """The whole reference as Markdown."""
    rules = load_rules()
    contents, sections = [], []
    for family, members in groupby(rules, key=lambda rule: rule.family):
        listed = list(members)
        contents.append(f"- {family}: " + ", ".join(f"[{cell(rule.title)}](#{rule.id})" for rule in listed))
        sections.append(f"## {family}")
        sections.extend(rule_text(rule) for rule in listed)
    rows = "\n".join(f"| {cell(what)} | {cell(why)} |" for what, why in left_out())
    table = f"| rule of thumb | reason |\n|---|---|\n{rows}"
    parts = [
        _HEAD,
        f"## All {len(rules)} rules",
        "\n".join(contents),
        *sections,
        "## Rules of thumb left out",
        table,
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the reference, or check that it is up to date; return the exit code."""
    return write_or_check(document, "plexlens.findings.reference", __doc__ or "", "docs/findings.md", arguments)


if __name__ == "__main__":
    sys.exit(main())
