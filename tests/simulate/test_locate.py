"""Lines of keys in TOML texts; expectations are counted by hand."""

from __future__ import annotations

import tomllib

import pytest

from plexlens.simulate.locate import line_of, lines_of

TEXT = '''# a comment with = and [brackets]
title = "a # no comment"
[run]
seed = 1  # comment
text = """
line = 1
[[no.table]] \\""" still
"""
[[class]]
name = 'A\\'
references = [
    {page_set = "P", getpages = 1.0},
    # [in between]
    {page_set = "Q", access = "random"}, {page_set = "R"},
]
[[class]]
name = "B"
[[class.references]]
page_set = "S"
[[class.references]]
"page_set" = "T"
[class.think]
a.b = 3
points = [[1, 2],
  [3,
   4]]
'''


def test_lines() -> None:
    lines = lines_of(TEXT)
    assert {path: lines[path] for path in EXPECTED} == EXPECTED


EXPECTED = {
    "title": 2,
    "run": 3,
    "run.seed": 4,
    "run.text": 5,
    "class[0]": 9,
    "class[0].name": 10,
    "class[0].references": 11,
    "class[0].references[0].page_set": 12,
    "class[0].references[0].getpages": 12,
    "class[0].references[1]": 14,
    "class[0].references[2].page_set": 14,
    "class[1]": 16,
    "class[1].name": 17,
    "class[1].references[0].page_set": 19,
    "class[1].references[1]": 20,
    "class[1].references[1].page_set": 21,
    "class[1].think": 22,
    "class[1].think.a.b": 23,
    "class[1].think.points[0][1]": 24,
    "class[1].think.points[1]": 25,
    "class[1].think.points[1][1]": 26,
}


def test_every_value_is_found() -> None:
    """The paths are those of the values that a TOML reader gives."""

    def paths(value: object, path: str) -> set[str]:
        if isinstance(value, dict):
            return {path} | {p for key, inner in value.items() for p in paths(inner, f"{path}.{key}" if path else key)}
        if isinstance(value, list):
            return {path} | {p for number, inner in enumerate(value) for p in paths(inner, f"{path}[{number}]")}
        return {path}

    assert set(lines_of(TEXT)) == paths(tomllib.loads(TEXT), "") - {""}


def test_line_ends_of_windows() -> None:
    assert lines_of(TEXT.replace("\n", "\r\n")) == lines_of(TEXT)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("class[0].references[1].pages", 14),
        ("class[1].regions", 16),
        ("class[0].references[0].page_set", 12),
        ("db2", None),
        ("", None),
    ],
)
def test_a_key_that_is_missing_is_looked_for_where_it_belongs(path: str, line: int | None) -> None:
    assert line_of(lines_of(TEXT), path) == line
