"""What the reader is shown for a fact in a formula: its field, or its title where no field says it."""

from __future__ import annotations

import re

from plexlens.metrics.definition import Fact

_RECORD = re.compile(r"SMF \d+(?:-\d+)?(?: IFCID \d+)? ")
_FIELDS = re.compile(r"[A-Z][A-Z0-9_#@$]*(?: [-+x/] (?:[A-Z][A-Z0-9_#@$]*|\d+))*")


def word_of(fact: Fact) -> str:
    """The field without its record, arithmetic of fields as it stands; else the title in small letters."""
    if fact.name == "interval_seconds":
        return "interval"
    text = _RECORD.sub("", fact.source, count=1)
    if _FIELDS.fullmatch(text):
        return text
    return " ".join(word if any(c.isupper() for c in word[1:]) else word.lower() for word in fact.title.split())
