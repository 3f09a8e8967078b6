"""Printed form of a fact in a formula: its field, or its title if no field name is suitable."""

from __future__ import annotations

import re

from plexlens.metrics.definition import Fact

_RECORD = re.compile(r"SMF \d+(?:-\d+)?(?: and \d+(?:-\d+)?)*(?: IFCID \d+)? ")
_FIELDS = re.compile(r"[A-Z][A-Z0-9_#@$]*(?: [-+x/] (?:[A-Z][A-Z0-9_#@$]*|\d+))*")

#: What may follow a field: that it is the time of a clock, what stands for it elsewhere, when it is null.
_AFTER = re.compile(r"(?:, time|(?:, else [A-Z][A-Z0-9_]*)+| \(or .*\)|; .*)$")


def word_of(fact: Fact) -> str:
    """The field without its record, or the arithmetic of several fields unchanged; else the title in lower case."""
    if fact.word:
        return fact.word
    if fact.name == "interval_seconds":
        return "interval"
    text = _AFTER.sub("", _RECORD.sub("", fact.source, count=1))
    if _FIELDS.fullmatch(text):
        return text
    return " ".join(word if any(c.isupper() for c in word[1:]) else word.lower() for word in fact.title.split())
