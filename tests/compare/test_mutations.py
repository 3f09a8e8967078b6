"""How many misprints the audit finds: single digits of printed cells changed at random, cell by cell.

A change is found where a cell disagrees, or a relation breaks, that did not before. Cells are drawn from all that print
a number, settings and lists of hardware among them, of which much stands once and for itself.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator

import pytest

from plexlens.compare import Study, StudyError, load_study, study_names
from plexlens.compare.audit import Recomputation
from plexlens.compare.study import StudyTable

#: Changes for each study, and the share of them that is found at least: below the rate of a larger sample by two
#: standard errors of a sample of this size.
CHANGES = 60
FOUND = {"cics-2012": 0.45, "pools-2014": 0.42, "sysplex-1996": 0.50, "vmesa-1992": 0.58, "zxml-2008": 0.56}


def readers(study: Study) -> dict[str, set[str]]:
    """For each table the tables whose audit may read it, itself among them."""
    found = {name: {name} for name in study.tables}
    for table in study.tables.values():
        for rule in (*table.derived, *table.relations):
            for references in rule.arguments.values():
                for reference in references:
                    if reference.table:
                        found[reference.table].add(table.id)
        for repeat in study.repeats:
            if set(repeat.keys) <= set(table.columns):
                rows = {tuple(row[key] for key in repeat.keys) for row in table.rows}
                for other in study.tables.values():
                    if set(repeat.keys) <= set(other.columns) and any(
                        tuple(row[key] for key in repeat.keys) in rows for row in other.rows
                    ):
                        found[table.id].add(other.id)
    return found


def wrong(study: Study, tables: set[str]) -> set[tuple[str, ...]]:
    """What is wrong in some tables of a study."""
    run = Recomputation(study)
    found: set[tuple[str, ...]] = set()
    for name in tables:
        one = run.table(study.tables[name])
        found |= {(name, str(cell.row), cell.column) for cell in one.compared if not cell.agrees}
        found |= {(name, str(test.row), test.column, test.kind, test.reason) for test in one.tested if not test.holds}
    return found


def cells(study: Study) -> Iterator[tuple[StudyTable, int, str]]:
    """Every cell that prints a number."""
    run = Recomputation(study)
    for table in study.tables.values():
        for number in range(len(table.rows)):
            for column in table.columns:
                try:
                    quantity = run.number(table, number, column)
                except StudyError:
                    continue
                if quantity is not None:
                    yield table, number, column


def changed(study: Study, table: StudyTable, number: int, column: str, text: str) -> Study:
    rows = list(table.rows)
    rows[number] = {**rows[number], column: text}
    return dataclasses.replace(study, tables={**study.tables, table.id: dataclasses.replace(table, rows=tuple(rows))})


def misprint(text: str, chance: random.Random) -> str:
    """The text with one digit changed."""
    place = chance.choice([place for place, sign in enumerate(text) if sign.isdigit()])
    return text[:place] + chance.choice([digit for digit in "0123456789" if digit != text[place]]) + text[place + 1 :]


def rate(name: str, changes: int, seed: int = 1) -> tuple[int, int]:
    """How many changes are found, of how many."""
    study = load_study(name)
    reading = readers(study)
    before = wrong(study, set(study.tables))
    chance = random.Random(seed)
    there = list(cells(study))
    found = 0
    drawn = chance.sample(there, min(changes, len(there)))
    for table, number, column in drawn:
        other = changed(study, table, number, column, misprint(table.rows[number][column], chance))
        try:
            found += bool(wrong(other, reading[table.id]) - before)
        except StudyError:
            # A cell that another names is gone, or a note explains what is no longer so.
            found += 1
    return found, len(drawn)


@pytest.mark.parametrize("name", study_names())
def test_most_misprints_are_found(name: str) -> None:
    found, drawn = rate(name, CHANGES)
    print(f"{name}: {found} of {drawn} single-digit changes are found")
    assert found >= FOUND[name] * drawn
