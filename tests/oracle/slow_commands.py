"""Commands read back from their text, without the templates that wrote them.

A command is a line; a setting in it is ``NAME(value)`` or ``NAME=value``. What it is about is the object in its first
brackets (``-ALTER BUFFERPOOL(BP1)``), or what ``STRNAME``, ``CLASS`` name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Words whose value names an object, and does not set anything.
NAMING = {
    "BUFFERPOOL",
    "GROUPBUFFERPOOL",
    "BUFFPOOL",
    "STRNAME",
    "CLASS",
    "SMDS",
    "CFSTRUCT",
    "QLOCAL",
    "DB2ENTRY",
    "PSID",
    "TYPE",
    "POLNAME",
}
#: Beginnings of commands that change something.
CHANGING = ("-ALTER", "ALTER", "SETXCF START,ALTER", "SETXCF MODIFY", "CEMT SET", "MODIFY irlmproc,SET", "EDM", "DSN6")
_SETTING = re.compile(r"\b([A-Z][A-Z0-9_]+)(?:=(\w+)|\(([^()]*)\))")


@dataclass(frozen=True)
class Setting:
    """One setting of one object; the value as written."""

    of: str
    name: str
    value: str

    @property
    def number(self) -> float | None:
        """The value where it is one number; of a pair such as ``(5,0)`` nothing."""
        return float(self.value) if re.fullmatch(r"\d+(\.\d+)?", self.value) else None


def settings(text: str) -> list[Setting]:
    """Every setting that the lines of a text change, in order."""
    found = []
    for line in text.splitlines():
        if not line.startswith(CHANGING):
            continue
        pairs = [(name, one or other) for name, one, other in _SETTING.findall(line)]
        of = " ".join(f"{name} {value}" for name, value in pairs if name in NAMING)
        found += [Setting(of, name, value) for name, value in pairs if name not in NAMING]
    return found


#: Words in front of the name of an object, in commands that change something and in those that only display.
OBJECTS = NAMING - {"TYPE", "POLNAME"} | {
    *("DEV", "CHP", "DATABASE", "SPACENAM", "DBNAME", "CFSTATUS", "QSTATUS"),
}
#: A word to be filled in, and one that means all.
_NO_NAME = re.compile(r"[a-z]+|\*|n+|ALL", re.ASCII)


def objects(text: str) -> list[tuple[str, str]]:
    """Every object that the lines of a text name: the word in front of it, and its name.

    Words in lower case (``polname``, ``nnnn``) are to be filled in by whoever enters the command.
    """
    found = []
    for line in text.splitlines():
        if line.startswith(("*", "--", "plexlens ")):
            continue
        for word, one, other in re.findall(r"\b([A-Z][A-Z0-9]+)(?:=([^\s,()]+)|\(([^()]*)\))", line):
            name = (one or other).strip()
            if word in OBJECTS and name and not _NO_NAME.fullmatch(name):
                found.append((word, name))
    return found


def headings(text: str) -> list[str]:
    """Subsystems named in a line of their own, in front of their commands: ``* MQPA``."""
    return [line[2:].strip() for line in text.splitlines() if line.startswith("* ")]


def last(text: str) -> dict[tuple[str, str], Setting]:
    """The value that each setting has when all lines are done."""
    return {(one.of, one.name): one for one in settings(text)}
