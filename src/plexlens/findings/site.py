"""A site's decisions about findings: acknowledged findings do not fail a report, suppressed findings are folded.

A file of decisions::

    [[suppress]]
    rule = "db2.pool_page_fix"
    objects = { subsystem = "DB2T", pool = "BP*" }
    until = 2027-03-31
    reason = "test system; storage is given to production first"
    decided_by = "storage meeting of 12 November"

``rule`` is an id or a pattern of ids; ``objects`` patterns by column of the finding (all objects where it is left
out). Nothing is dropped in silence: what is suppressed is listed with its reason, and an entry that has expired or
that met no finding is reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import tomli

from plexlens.findings.error import RuleError
from plexlens.findings.finding import Finding, Suppressed
from plexlens.findings.rule import Rule

#: What a site can decide; an entry of a file is one of these.
KINDS = ("acknowledge", "suppress")

#: Tables of the site's file that are about other things: `plexlens.metrics.selection.read_shifts`.
_OTHERS = frozenset({"shifts"})
_KEYS = ("rule", "objects", "until", "reason", "decided_by")


@dataclass(frozen=True)
class Decision:
    """An entry of a site's file.

    Attributes
    ----------
    kind
        ``acknowledge`` or ``suppress``.
    rule
        Id or pattern of ids.
    objects
        Pattern by column of the finding.
    until
        Last day on which it counts; None for no end.
    place
        File and line, for messages.
    """

    kind: str
    rule: str
    objects: Mapping[str, str]
    until: date | None
    reason: str
    decided_by: str
    place: str

    def meets(self, finding: Finding) -> bool:
        """Whether the decision applies to a finding."""
        names = {part.column: part.value or "" for part in finding.entity}
        return fnmatchcase(finding.rule.id, self.rule) and all(
            column in names and fnmatchcase(names[column], pattern) for column, pattern in self.objects.items()
        )

    def __str__(self) -> str:
        end = f", until {self.until}" if self.until is not None else ""
        who = f" ({self.decided_by})" if self.decided_by else ""
        return f"{self.reason}{who}{end}"


def load_decisions(file: Path, rules: Sequence[Rule]) -> tuple[Decision, ...]:
    """The decisions of a site's file, checked against the rules.

    Raises
    ------
    RuleError
        A file that cannot be read, or an entry that cannot be used: file, line, key, what is wrong, what is valid.
    """
    try:
        text = file.read_text(encoding="utf-8")
        document = tomli.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise RuleError(file=str(file), what=f"the file cannot be read: {why}", remedy="give a text file") from error
    except (tomli.TOMLDecodeError, RecursionError) as error:
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        what = f"the file is not TOML: {str(error).split(' (at ')[0]}"
        raise RuleError(
            file=str(file), line=int(at.group(1)) if at else None, what=what, remedy="correct it there"
        ) from error
    lines: dict[str, list[int]] = {
        kind: [n for n, line in enumerate(text.splitlines(), 1) if re.match(rf"\s*\[\[\s*{kind}\s*\]\]", line)]
        for kind in KINDS
    }
    decisions = []
    for kind, entries in document.items():
        if kind in _OTHERS:
            continue
        if kind not in KINDS or not isinstance(entries, list):
            raise RuleError(file=str(file), what=f"{kind!r} is not allowed here", remedy=_begin())
        for number, values in enumerate(entries):
            line = lines[kind][number] if len(lines[kind]) == len(entries) else None
            if not isinstance(values, dict):
                raise RuleError(file=str(file), line=line, what=f"an entry of {kind} is not a table", remedy=_begin())
            decisions.append(_Entry(file, line, kind, values).decision(rules))
    return tuple(decisions)


def _begin() -> str:
    return f"begin each entry with {' or '.join(f'[[{kind}]]' for kind in KINDS)}"


@dataclass(frozen=True)
class _Entry:
    file: Path
    line: int | None
    kind: str
    values: Mapping[str, Any]

    def wrong(self, key: str, what: str, remedy: str) -> RuleError:
        return RuleError(file=str(self.file), line=self.line, what=f"{self.kind}, {key}: {what}", remedy=remedy)

    def decision(self, rules: Sequence[Rule]) -> Decision:
        for key in self.values:
            if key not in _KEYS:
                raise self.wrong(key, "there is no such key", f"valid are {', '.join(_KEYS)}")
        pattern, reason = self.text("rule"), self.text("reason")
        met = [rule for rule in rules if fnmatchcase(rule.id, pattern)]
        if not met:
            close = get_close_matches(pattern, [rule.id for rule in rules], n=1)
            raise self.wrong(
                "rule",
                f"no rule has the id {pattern}",
                f"did you mean {close[0]}?" if close else "plexlens findings list names the rules",
            )
        objects = self.values.get("objects", {})
        if not isinstance(objects, dict) or not all(isinstance(value, str) for value in objects.values()):
            raise self.wrong("objects", f"it is {objects!r}", 'give patterns by column: { subsystem = "DB2*" }')
        columns = sorted({column for rule in met for column in rule.by})
        for column in objects:
            if column not in columns:
                raise self.wrong(
                    "objects", f"findings of {pattern} have no {column}", f"there are {', '.join(columns)}"
                )
        until = self.values.get("until")
        if until is not None and (not isinstance(until, date) or isinstance(until, datetime)):
            raise self.wrong("until", f"it is {until!r}", "give a date without quotes: until = 2027-03-31")
        place = f"{self.file}, line {self.line}" if self.line is not None else str(self.file)
        return Decision(
            self.kind, pattern, objects, until, reason, self.text("decided_by", needed=False), f"{place} ({pattern})"
        )

    def text(self, key: str, *, needed: bool = True) -> str:
        value = self.values.get(key, "")
        if not isinstance(value, str) or (needed and not value.strip()):
            raise self.wrong(key, "it is missing" if key not in self.values else f"it is {value!r}", "give a text")
        return value.strip()


def decided(
    findings: Sequence[Finding], decisions: Sequence[Decision], today: date
) -> tuple[list[Finding], list[Suppressed], list[str]]:
    """The remaining findings, the suppressed ones, and messages about the decisions themselves."""
    valid = [decision for decision in decisions if decision.until is None or decision.until >= today]
    notes = [
        f"{decision.place}: the decision to {decision.kind} expired on {decision.until} and is ignored."
        for decision in decisions
        if decision not in valid
    ]
    used: set[int] = set()
    stay: list[Finding] = []
    gone: list[Suppressed] = []
    for finding in findings:
        meeting = [number for number, decision in enumerate(valid) if decision.meets(finding)]
        used.update(meeting)
        suppressing = next((valid[n] for n in meeting if valid[n].kind == "suppress"), None)
        if suppressing is not None:
            gone.append(Suppressed(finding, str(suppressing)))
            continue
        reason = next((str(valid[n]) for n in meeting), "")
        stay.append(replace(finding, acknowledged=reason) if reason else finding)
    notes += [
        f"{decision.place}: the decision to {decision.kind} met no finding."
        for n, decision in enumerate(valid)
        if n not in used
    ]
    return stay, gone, notes
