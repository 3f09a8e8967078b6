"""The cells of a study's table: a CSV file as lines, transposed if its columns are runs, and rows by heading."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from plexlens.compare.study.model import TURNED, StudyError


def read_lines(path: Path) -> list[list[str]]:
    """The lines of a CSV file, headings first, with a cell for each heading.

    Raises
    ------
    StudyError
        There are no headings, or a line has more or fewer cells than they are.
    OSError, UnicodeDecodeError
        The file cannot be read.
    """
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    if not lines or not lines[0]:
        raise StudyError(file=str(path), line=1, what="there are no headings", remedy="write them in line 1")
    for number, line in enumerate(lines, 1):
        if len(line) != len(lines[0]):
            raise StudyError(
                file=str(path),
                line=number,
                what=f"there are {len(line)} cells for {len(lines[0])} headings",
                remedy="write one cell per heading, blank where nothing is printed",
            )
    return lines


def turned(lines: Sequence[Sequence[str]], labels: Sequence[str]) -> list[list[str]]:
    """Transposed lines: each former heading becomes a row; the ``labels`` are joined to headings."""
    at = [lines[0].index(label) for label in labels]
    heads = [TURNED]
    seen: Counter[str] = Counter()
    for line in lines[1:]:
        name = " / ".join(line[place] for place in at)
        seen[name] += 1
        heads.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    kept = [place for place in range(len(lines[0])) if place not in at]
    return [heads, *([lines[0][place], *(line[place] for line in lines[1:])] for place in kept)]


def as_rows(path: Path, lines: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Headings, and the cells of each row by heading.

    Raises
    ------
    StudyError
        Two columns have the same heading.
    """
    heads = tuple(lines[0])
    if len(set(heads)) != len(heads):
        twice = next(head for head in heads if heads.count(head) > 1)
        raise StudyError(file=str(path), line=1, what=f"heading {twice!r} occurs twice", remedy="distinguish them")
    return heads, [dict(zip(heads, line, strict=True)) for line in lines[1:]]
