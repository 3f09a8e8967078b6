"""Detection rate of misprints: the share of randomly changed digits that the audit of a study detects.

``python -m tools.misprints PATH`` writes the table of all studies. A change is found where a cell disagrees, a
relation breaks, a number of the text is contradicted or a note no longer holds, that was not so before. A cell by which
another names its row is not found by its name: who copies the misprint copies it there too.
"""

from __future__ import annotations

import dataclasses
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

from plexlens.compare import Study, StudyError, load_study, study_names
from plexlens.compare.analysis.analysis import analyse, analysis_files
from plexlens.compare.analysis.claims import Claim, read_claim
from plexlens.compare.analysis.entries import Entry
from plexlens.compare.analysis.redundancy import Cover, covers
from plexlens.compare.analysis.values import Numbers
from plexlens.compare.audit.audit import Audit, audit, audit_table
from plexlens.compare.audit.recomputation import Recomputation
from plexlens.compare.numbers.quantity import printed
from plexlens.compare.study.model import Derived, Place, Relation
from plexlens.compare.study.toml import TomlReader

#: How many cells are changed at most, drawn at random.
MOST = 2000
#: The least change that is counted as more than rounding, as a share of the number.
CLEAR = Fraction(1, 100)


@dataclasses.dataclass(frozen=True)
class Misprint:
    """A changed cell, the checks that the study allows for it, and whether the change is detected."""

    place: Place
    before: str
    after: str
    cover: Cover
    found: bool

    @property
    def clear(self) -> bool:
        """Whether the number changes by more than `CLEAR`, or is no longer a number."""
        try:
            was, now = printed(self.before), printed(self.after)
        except ValueError:
            return True
        if was is None or now is None:
            return True
        return abs(now.value - was.value) >= CLEAR * abs(was.value)


def readers(study: Study) -> dict[str, set[str]]:
    """For each table, the tables whose audit may read it, including itself."""
    found = {name: {name} for name in study.tables}
    for table in study.tables.values():
        rules: list[Derived | Relation] = [*table.derived, *table.relations]
        for rule in rules:
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
    """The defects in some tables of a study."""
    run = Recomputation(study)
    found: set[tuple[str, ...]] = set()
    for name in tables:
        table_audit = audit_table(run, study.tables[name])
        found |= {(name, str(cell.row), cell.column) for cell in table_audit.compared if not cell.agrees}
        found |= {
            (name, str(test.row), test.column, test.kind, test.reason) for test in table_audit.tested if not test.holds
        }
    return found


def changed(study: Study, place: Place, text: str) -> Study:
    """The study with another text in a cell."""
    name, number, column = place
    table = study.tables[name]
    rows = list(table.rows)
    rows[number] = {**rows[number], column: text}
    return dataclasses.replace(study, tables={**study.tables, name: dataclasses.replace(table, rows=tuple(rows))})


def misprint(text: str, chance: random.Random) -> str:
    """The text with a digit changed."""
    place = chance.choice([place for place, sign in enumerate(text) if sign.isdigit()])
    return text[:place] + chance.choice([digit for digit in "0123456789" if digit != text[place]]) + text[place + 1 :]


def claims(found: Audit) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The declarations about numbers in the text, with their file."""
    for path in analysis_files(found):
        for content in TomlReader(path).toml(path).get("claims", ()):
            yield path.name, content


def read(found: Audit, name: str, content: Mapping[str, object]) -> Claim | None:
    """A claim; None if it depends on a curve or a check."""
    try:
        return read_claim(Entry(dict(content), "claim", Numbers(found, name)))
    except StudyError:
        return None


def misprints(name: str, most: int, seed: int = 1) -> list[Misprint]:
    """Cells of a study, each with a changed digit."""
    study = load_study(name)
    found = audit(study)
    covered = covers(found, analyse(found))
    reading = readers(study)
    before = wrong(study, set(study.tables))
    of_cell: dict[Place, list[tuple[str, Mapping[str, object]]]] = defaultdict(list)
    for file, content in claims(found):
        claim = read(found, file, content)
        if claim is not None and claim.agrees:
            for place in claim.places:
                of_cell[place].append((file, content))

    def is_found(place: Place, text: str) -> bool:
        other = changed(study, place, text)
        try:
            if wrong(other, reading[place[0]]) - before:
                return True
        except StudyError as error:
            if "have these cells" not in str(error):
                return True
        audited = Audit(other, ())
        told = [read(audited, file, content) for file, content in of_cell[place]]
        return any(claim is not None and not claim.agrees for claim in told)

    chance = random.Random(seed)
    places = list(covered)
    made = []
    for place in chance.sample(places, min(most, len(places))):
        text = study.tables[place[0]].rows[place[1]][place[2]]
        other = misprint(text, chance)
        made.append(Misprint(place, text, other, covered[place], is_found(place, other)))
    return made


def share(made: list[Misprint]) -> str:
    """Number detected, and the total."""
    if not made:
        return "none"
    found = sum(misprint.found for misprint in made)
    return f"{found} of {len(made)} ({100 * found / len(made):.0f} %)"


def row(name: str, made: list[Misprint]) -> str:
    """The row of a study."""
    by = {cover: [misprint for misprint in made if misprint.cover is cover] for cover in Cover}
    clear = [misprint for misprint in by[Cover.EQUATION] if misprint.clear]
    checked = [misprint for misprint in made if misprint.cover is not Cover.NONE]
    parts = (
        name, share(made), str(len(by[Cover.NONE])), share(checked), share(by[Cover.LIMIT]), share(by[Cover.EQUATION]),
        share(clear),
    )  # fmt: skip
    return f"| {' | '.join(parts)} |"


HEAD = f"""\
# Misprints that the audit finds

Written by `python -m tools.misprints docs/misprints.md`. In each study at most {MOST:,} cells that print a number
are drawn at random, and a digit of each is changed, a single cell at a time; *found* counts the changes that cause
a new contradiction in the audit, the text or a note. Some changes cannot be found: a change in a cell *alone*, to
which nothing else in the study is related (settings, names with digits, measurements without derived numbers); a
change within the *limits* of a cell that has only limits; and a change that rounding hides in an *equation*. The
last column leaves out changes of less than {100 * CLEAR} % of the number, most of which rounding hides.

Equations are exact: cells computed from others, sums, the same cell in another table, numbers in the text. Limits
are of two kinds. Some must hold: for example, a part cannot exceed its whole. Others follow from the rest of a
table: for example, runs of the same work in a table differ by at most 20 %; these detect only a wrong leading
digit.

| study | found, of all | alone | found, of cells not alone | of those with limits only | of those in an equation | \
of those, changes of {100 * CLEAR} % or more |
| --- | --- | --- | --- | --- | --- | --- |
"""


def main(path: str) -> None:
    """Write the table."""
    rows = []
    for name in study_names():
        made = misprints(name, MOST)
        rows.append(row(name, made))
        print(rows[-1], flush=True)
        missed = Counter(
            (misprint.place[0], misprint.place[2])
            for misprint in made
            if misprint.cover is Cover.EQUATION and not misprint.found
        )
        print("  missed most:", missed.most_common(5), flush=True)
    Path(path).write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
