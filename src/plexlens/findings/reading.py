"""Rules from TOML files: the shipped rules, overridden and extended by a site's own.

A file holds ``[[rule]]`` tables. A folder of a site's may add rules, and change those that are there by their id: it
then gives only the keys that differ, or ``disabled = true``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomli

from plexlens.findings.error import RuleError
from plexlens.findings.making import TABLES, Draft, make
from plexlens.findings.rule import Rule
from plexlens.metrics.definition import Grain

#: The folder of the rules that come with Plexlens.
SHIPPED = Path(__file__).parent / "rules"

_LIST = "plexlens findings list names the rules"

_ID = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class _Entry:
    """A ``[[rule]]`` entry of a file."""

    file: str
    values: Mapping[str, Any]
    lines: Mapping[str, int]

    @property
    def id(self) -> str:
        return str(self.values["id"])

    def line(self, *keys: str) -> int | None:
        """Line of the first of these keys that is present, else of the rule."""
        return next((self.lines[key] for key in (*keys, "") if key in self.lines), None)


def load_rules(
    folders: Iterable[Path] = (), *, grains: Mapping[str, Grain] | None = None, shipped: Path = SHIPPED
) -> tuple[Rule, ...]:
    """The shipped rules, changed and extended by the rules of further folders.

    Parameters
    ----------
    folders
        A site's folders of ``*.toml``, in order: a later one has the last word.
    grains
        What rules can read; all of `plexlens.metrics.GRAINS` by default.
    shipped
        The folder of the rules that come with Plexlens, or a copy of it.

    Returns
    -------
    tuple of Rule
        By family and id.

    Raises
    ------
    RuleError
        A file that cannot be read or a rule that cannot be used: file, line, key, what is wrong, what is valid.
    """
    if grains is None:
        from plexlens.metrics import GRAINS

        grains = GRAINS
    drafts: dict[str, Draft] = {}
    known: set[str] = set()
    for folder in (shipped, *folders):
        _add(drafts, _entries(folder), shipped=folder == shipped)
        known |= drafts.keys()
    rules = [make(draft, grains) for draft in drafts.values()]
    for rule in rules:
        for other in rule.yields_to:
            if other not in known:
                raise _of_draft(drafts[rule.id], "yields_to", f"there is no rule {other}", _near(other, known, _LIST))
    return tuple(sorted(rules, key=lambda rule: rule.id))


def _add(drafts: dict[str, Draft], entries: Sequence[_Entry], *, shipped: bool) -> None:
    """Apply the rules of a folder on top of the earlier ones."""
    seen: dict[str, _Entry] = {}
    for entry in entries:
        if entry.id in seen:
            other = seen[entry.id]
            raise RuleError(
                file=entry.file,
                line=entry.line("id"),
                what=f"rule {entry.id} is defined twice; the first definition is in {other.file}, line "
                f"{other.line('id')}",
                remedy="change one of the ids, or remove one rule",
            )
        seen[entry.id] = entry
        before = drafts.get(entry.id)
        disabled = entry.values.get("disabled", False)
        if not isinstance(disabled, bool):
            raise RuleError(
                file=entry.file,
                line=entry.line("disabled"),
                what=f"rule {entry.id}, disabled: {disabled!r} is not true or false",
                remedy="write disabled = true, or leave it out",
            )
        if disabled:
            if before is None:
                raise RuleError(
                    file=entry.file,
                    line=entry.line("id"),
                    what=f"rule {entry.id} is disabled, but no rule has this id",
                    remedy=_near(entry.id, drafts, _LIST),
                )
            del drafts[entry.id]
            continue
        merged = dict(before.values) if before is not None else {}
        places = dict(before.places) if before is not None else {}
        for key, value in entry.values.items():
            if key == "disabled":
                continue
            nested = key in TABLES and isinstance(value, dict) and isinstance(merged.get(key), dict)
            merged[key] = {**merged[key], **value} if nested else value
            for inner in (key, *(f"{key}.{name}" for name in (value if isinstance(value, dict) else ()))):
                places[inner] = (entry.file, entry.line(inner, key))
        places[""] = (entry.file, entry.line())
        origin = "" if shipped else entry.file
        drafts[entry.id] = Draft(entry.id, merged, places, origin)


def _of_draft(draft: Draft, key: str, what: str, remedy: str) -> RuleError:
    file, line = draft.places.get(key, draft.places.get("", ("", None)))
    return RuleError(file=file, line=line, what=f"rule {draft.id}, {key}: {what}", remedy=remedy)


def _near(word: str, valid: Iterable[str], otherwise: str) -> str:
    close = get_close_matches(word, list(valid), n=1)
    return f"did you mean {close[0]}?" if close else otherwise


def _entries(folder: Path) -> list[_Entry]:
    """Every rule of a folder."""
    if not folder.is_dir():
        raise RuleError(file=str(folder), what="there is no such folder", remedy="name a folder of .toml files")
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise RuleError(file=str(folder), what="the folder holds no .toml file", remedy="name a folder of rule files")
    return [entry for file in files for entry in _entries_of(file)]


def _entries_of(file: Path) -> list[_Entry]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise RuleError(file=str(file), what=f"the file cannot be read: {why}", remedy="give a text file") from error
    try:
        document = tomli.loads(text)
    except (tomli.TOMLDecodeError, RecursionError) as error:
        match = re.search(r"\(at line (\d+), column \d+\)", str(error))
        raise RuleError(
            file=str(file),
            line=int(match.group(1)) if match else None,
            what=f"the file is not TOML: {str(error).split(' (at ')[0]}",
            remedy="correct it there",
        ) from error
    for key in document:
        if key != "rule":
            raise RuleError(
                file=str(file), what=f"{key!r} is not allowed here", remedy="a rule file contains only [[rule]] tables"
            )
    rules = document.get("rule", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise RuleError(file=str(file), what="'rule' is not a list of tables", remedy="begin each rule with [[rule]]")
    lines = _lines(text, len(rules))
    entries = []
    for number, (values, places) in enumerate(zip(rules, lines, strict=True), 1):
        name = values.get("id")
        if not isinstance(name, str) or not _ID.fullmatch(name):
            raise RuleError(
                file=str(file),
                line=places.get("id", places.get("")),
                what=f"rule {number} has the id {name!r}" if name is not None else f"rule {number} has no id",
                remedy="an id is family.name in small letters, digits and _: coupling.facility_busy",
            )
        entries.append(_Entry(str(file), values, places))
    return entries


def _lines(text: str, count: int) -> list[dict[str, int]]:
    """Line number of each key of each rule, and of the rule itself under an empty name.

    A scan for lines that begin as keys do: TOML's own reader keeps no places. Where it finds another number of rules
    than there are (a text of several lines that looks like TOML), no line is told rather than a wrong one.
    """
    counts: list[dict[str, int]] = []
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if re.fullmatch(r"\[\[\s*rule\s*\]\](\s*#.*)?", stripped):
            counts.append({"": number})
            table = ""
        elif counts and (inner := re.match(r"\[\s*rule\s*\.\s*(\w+)\s*\]", stripped)):
            table = f"{inner.group(1)}."
            counts[-1].setdefault(inner.group(1), number)
        elif counts and (key := re.match(r"(\w+)\s*=", stripped)):
            counts[-1].setdefault(table + key.group(1), number)
    return counts if len(counts) == count else [{} for _ in range(count)]
