"""Meaning of the headings in studies' tables: title, unit, group, and which direction is better.

``headings.csv`` holds those that mean the same in any study; a study adds its own, or overrides
them, in ``[[headings]]`` of its ``study.toml``.

A heading is looked up as printed, then without what a table adds to it: a part of the table before `` / ``, and the
letter of the tool that measured it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from plexlens.compare.runs.run import Better, Group, Measure
from plexlens.metrics.unit import Unit

#: Tools by the letter behind a heading of the VM/ESA report.
TOOLS = {
    "T": "measured by TPNS, which plays the users",
    "V": "measured by VMPRF, from the VM monitor",
    "H": "measured by the hardware monitor",
    "Q": "measured by QUERY FILEPOOL STATUS, in the file pool servers",
    "": "measured by RTM, within the system",
}

#: Symbols and decimals of units that are shown otherwise than by their own text with three.
_SYMBOLS = {"ratio": "", "1/s": "/s"}
_DIGITS = {"1/s": 2, "%": 1, "commands/s": 2, "pages/s": 1, "µs": 1}

_TOOL = re.compile(r"(?P<name>.*?) ?\((?P<tool>[TVHQ])\)\Z")
_DIAGNOSE = re.compile(r"DIAG (?P<code>[0-9A-F]{2,3})/CMD\Z")
_SERVERS = re.compile(r"machines?|servers?|SFS|VTAM|VSCS", re.IGNORECASE)


@dataclass(frozen=True)
class Heading:
    """Meaning of a heading.

    Attributes
    ----------
    role
        Empty for a measured number; ``environment`` for a setting, ``work`` for a rate that has to be alike, ``count``
        for a number that only means something with the length of the run, ``component`` for the use of a processor by
        one kind of address space, ``headline`` for the number that says most of its group.
    """

    title: str
    unit: str
    group: Group
    better: Better
    role: str
    known: bool = True


#: Meanings by heading.
Headings = Mapping[str, Heading]

#: The headings of a study that adds none.
NONE: Headings = MappingProxyType({})

#: What a heading may be for: see `Heading`.
ROLES = ("", "environment", "work", "count", "component", "headline")


@cache
def _general() -> Headings:
    with Path(__file__).with_name("headings.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["heading"]: Heading(
                row["title"],
                row["unit"],
                Group[row["group"]] if row["group"] in Group.__members__ else Group.OTHER,
                Better(row["better"]),
                row["role"],
            )
            for row in csv.DictReader(file)
        }


def heading(own: Headings, text: str) -> Heading:
    """Meaning of a heading; an unknown heading is a measured number in the unit as printed.

    Parameters
    ----------
    own
        What the study itself says about its headings; it goes before what they mean in any study.
    text
        The heading as printed.
    """
    whole = _found(own, text)
    if whole is not None:
        return whole
    part, _, last = text.rpartition(" / ")
    name, tool = _without_tool(last)
    known = _found(own, last) or _found(own, name)
    code = _DIAGNOSE.match(name)
    if known is None and code is not None:
        known = Heading(
            f"DIAGNOSE X'{code['code']}' instructions of a command", "instructions", Group.PRIVILEGED, Better.LOWER, ""
        )
    if known is None:
        return Heading(text, "", Group.OTHER, Better.NEITHER, "", known=False)
    server = bool(part) and _SERVERS.search(part) is not None
    title = known.title + (f", {part}" if server else "") + (f" ({TOOLS[tool].split(',', 1)[0]})" if tool else "")
    return Heading(title, known.unit, Group.SERVERS if server else known.group, known.better, known.role)


def _found(own: Headings, text: str) -> Heading | None:
    """The entry of a study, or else the general entry."""
    return own.get(text) or _general().get(text)


def tool_of(text: str) -> str:
    """The letter of the tool that measured a column of the VM/ESA report; empty if there is none."""
    return _without_tool(text)[1]


def _without_tool(text: str) -> tuple[str, str]:
    match = _TOOL.match(text)
    return (match["name"], match["tool"]) if match else (text, "")


def measure_of(own: Headings, text: str, name: str, *, kind: str, row: str, formula: str, source: str) -> Measure:
    """A heading as a measure.

    Parameters
    ----------
    own, text, name
        The study's own headings, the heading, and the id under which it is compared with others.
    kind, row, formula, source
        As `Measure` has them.
    """
    known = heading(own, text)
    symbol = known.unit or "study's unit"
    unit = Unit(_SYMBOLS.get(symbol, symbol), symbol, 1.0, _DIGITS.get(symbol, 3))
    return Measure(
        name, known.title, unit, known.group, known.better, kind, row, formula, source,
        headline=known.role == "headline",
    )  # fmt: skip


def common_name(own: Headings, text: str) -> str:
    """The id of a heading: the same for headings with the same meaning, such as ``RI/O/Sec`` and ``RIQ/Sec``."""
    known = heading(own, text)
    return f"{known.title} [{known.unit}]" if known.known else text
