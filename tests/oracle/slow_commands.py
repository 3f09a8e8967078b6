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


def last(text: str) -> dict[tuple[str, str], Setting]:
    """The value that each setting has when all lines are done."""
    return {(one.of, one.name): one for one in settings(text)}
