"""Sources of the scenario's numbers: a table next to the scenario, refused if incomplete."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from plexlens.errors import PlexlensError
from plexlens.simulate.scenario import Scenario

#: Kinds of sources, from the strongest to the weakest.
KINDS = {
    "printed": "a number that the study prints",
    "computed": "arithmetic on numbers that the study or IBM prints",
    "fitted": "set so that the named run, as simulated, agrees",
    "assumed": "no source",
}


class SourcesError(PlexlensError):
    """The table of sources does not match its scenario."""


@dataclass(frozen=True)
class Source:
    """A row of the table: keys as a pattern, the kind of source, its run, and the source."""

    key: str
    kind: str
    run: str
    source: str


def read_sources(scenario: Scenario) -> list[Source]:
    """The table next to a scenario, ``NAME.sources.csv``.

    Raises
    ------
    SourcesError
        It is missing, a number of the scenario has no row or several, a row has no number, or a kind is unknown.
    """
    path = Path(scenario.file).with_suffix(".sources.csv")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            sources = [Source(**row) for row in csv.DictReader(file)]
    except OSError as error:
        what = f"the table of sources cannot be read ({error.strerror})"
        raise SourcesError(file=str(path), what=what, remedy="write one, a row for each number") from error
    for source in sources:
        if source.kind not in KINDS:
            what = f"{source.key}: there is no kind {source.kind}"
            raise SourcesError(file=str(path), what=what, remedy=f"write one of {', '.join(KINDS)}")
    used = set()
    for key, _ in numbers(scenario.values):
        matching = [source for source in sources if fnmatchcase(key, source.key)]
        if len(matching) != 1:
            what = f"{key} has {len(matching)} rows"
            raise SourcesError(file=str(path), what=what, remedy="give each number of the scenario one row")
        used.add(matching[0])
    idle = [source.key for source in sources if source not in used]
    if idle:
        what = f"the scenario has no number for {', '.join(idle)}"
        raise SourcesError(file=str(path), what=what, remedy="take these rows out")
    return sources


def numbers(value: Any, key: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a scenario with its key; list entries are identified by name, or by position."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from numbers(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            names = ("name", "group", "number", "page_set", "class")
            own = next((inner[name] for name in names if isinstance(inner, Mapping) and name in inner), place)
            yield from numbers(inner, f"{key}.{own}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, float(value)


def sources_table(scenario: Scenario) -> str:
    """The table as Markdown, strongest sources first, with the number of scenario values per row."""
    sources = read_sources(scenario)
    keys = [key for key, _ in numbers(scenario.values)]
    rows = ["| numbers | how many | kind | run | source |", "|---|---:|---|---|---|"]
    for kind in KINDS:
        for source in sources:
            if source.kind == kind:
                count = sum(fnmatchcase(key, source.key) for key in keys)
                rows.append(f"| `{source.key}` | {count} | {kind} | {source.run} | {source.source} |")
    return "\n".join(rows) + "\n"
