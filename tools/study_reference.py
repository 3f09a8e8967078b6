"""The reference of all studies, generated from their audits: ``python -m tools.study_reference PATH``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from plexlens.compare import Audit, Cell, TableAudit, load_study, study_names
from plexlens.compare.analysis.analysis import Analysis, analyse
from plexlens.compare.analysis.curves import CapacityCurve
from plexlens.compare.analysis.redundancy import Cover, counts
from plexlens.compare.analysis.sentences import check_sentence, law_sentence, load_sentence
from plexlens.compare.audit.audit import audit
from plexlens.compare.audit.json_object import RELATION_RULE, RULE, counted
from plexlens.compare.formulas.catalogue import FORMULAS
from plexlens.generated_doc import write_or_check
from plexlens.metrics.reference import cell as text_cell

_HEAD = f"""\
# Studies

Written from the folders in `studies/` by `make docs`; do not edit. `plexlens study NAME` prints the same with every
cell, `-o NAME.html` writes it as a page and `-o NAME.xlsx` as a workbook.

A *computed* cell is one that the study prints and that follows from others it prints; computed columns are named with
the formula, and those in *italics* are worked out although the study does not print them. Derived numbers are stored
nowhere. {RULE} {RELATION_RULE}
"""

_COVER = """\
A misprint shows only where the print says a thing twice. A cell *in an equation* follows from others, has others that
follow from it, stands in another table too, or gives a number of the text: a misprint of it shows unless rounding hides
it. A cell *with limits only* shows one that passes them. Of a cell that stands *alone* (settings, names with digits,
measurements that nothing is worked out from) no audit can tell. How many single-digit misprints are found is in
[misprints.md](misprints.md).
"""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _anchor(found: Audit) -> str:
    return found.study.name


def _columns(table: TableAudit) -> str:
    """The computed columns of a table with their formulas."""
    named: dict[tuple[str, bool], list[str]] = {}
    for derived in table.table.derived:
        columns = named.setdefault((derived.formula.name, derived.printed), [])
        columns += [column for column in derived.columns if column not in columns]
    parts = []
    for (formula, printed), columns in named.items():
        shown = ", ".join(text_cell(column) for column in columns[:6])
        if len(columns) > 6:
            shown += f" and {len(columns) - 6} more"
        parts.append(f"{shown if printed else f'*{shown}*'}: {text_cell(FORMULAS[formula].title.lower())}")
    return "; ".join(parts)


def _place(table: TableAudit, cell: Cell) -> str:
    return f"`{table.table.id}`, row {cell.row} ({text_cell(cell.label)}), {text_cell(cell.column)}"


def study_text(found: Audit, analysis: Analysis) -> str:
    """The section about a study."""
    parts = [
        f'<a id="{_anchor(found)}"></a>\n\n## {text_cell(found.study.title)}: `{found.study.name}`',
        f"{text_cell(found.study.source)}. {len(found.tables)} tables. {counted(found)}",
        _table(
            (
                "table",
                "title",
                "rows",
                "computed columns",
                "computed",
                "agree",
                "disagree",
                "convention",
                "relations",
                "broken",
            ),
            (
                (
                    f"`{table.table.id}`",
                    text_cell(table.table.title),
                    str(len(table.table.rows)),
                    _columns(table) or "none",
                    str(len(table.compared)),
                    str(table.agree),
                    str(len(table.disagree)),
                    str(len(table.conventions)),
                    str(len(table.tested)),
                    str(len(table.broken)),
                )
                for table in found.tables
            ),
        ),
    ]
    wrong = [
        f"- {_place(table, cell)}: {text_cell(cell.arithmetic)}." + (f" {text_cell(cell.note)}" if cell.note else "")
        for table in found.tables
        for cell in table.disagree
    ]
    if wrong:
        parts += ["### Disagreements", "\n".join(wrong)]
    broken = [
        f"- `{table.table.id}`, row {test.row} ({text_cell(test.label)}), {text_cell(test.column)}: "
        f"{text_cell(test.arithmetic)}. {text_cell(test.reason)}" + (f" {text_cell(test.note)}" if test.note else "")
        for table in found.tables
        for test in table.broken
    ]
    if broken:
        parts += ["### Broken relations", "\n".join(broken)]
    own_way = [
        f"- {_place(table, cell)}: {text_cell(cell.arithmetic)}. {text_cell(cell.note)}"
        for table in found.tables
        for cell in table.conventions
    ]
    if own_way:
        parts += ["### By the source's own convention", "\n".join(own_way)]
    open_cells = [
        f"- {_place(table, cell)}: {text_cell(cell.arithmetic)}."
        for table in found.tables
        for cell in table.not_computed
    ]
    if open_cells:
        parts += ["### Not computed", "\n".join(open_cells)]
    parts += _analysis(analysis)
    notes = [f"- `{table.table.id}`: {text_cell(table.table.note)}" for table in found.tables if table.table.note]
    if notes:
        parts += ["### Notes", "\n".join(notes)]
    return "\n\n".join(parts)


def _analysis(found: Analysis) -> list[str]:
    """Curves, leave-out checks, and the text compared with the tables."""
    parts = []
    if found.curves:
        told = [
            law_sentence(curve) if isinstance(curve, CapacityCurve) else load_sentence(curve) for curve in found.curves
        ]
        parts += ["### Curves", "\n".join(f"- {text_cell(sentence)}" for sentence in told)]
    if found.checks:
        told = [f"{check_sentence(check)} {check.method} {check.note}" for check in found.checks]
        parts += ["### Leave-out checks", "\n".join(f"- {text_cell(sentence)}" for sentence in told)]
    if found.claims:
        wrong = [claim for claim in found.claims if not claim.agrees]
        told = [
            f"{claim.text} ({claim.place}): printed {claim.text_number} {claim.unit}; {claim.arithmetic}. {claim.note}"
            for claim in wrong
        ]
        head = f"Of {len(found.claims)} numbers in the text {len(wrong)} are contradicted by the tables"
        listed = "\n".join(f"- {text_cell(sentence)}" for sentence in told)
        parts += ["### The text against the tables", f"{head}:\n\n{listed}" if told else f"{head}."]
    return parts


def document() -> str:
    """The whole reference as Markdown."""
    found = [audit(load_study(name)) for name in study_names()]
    contents = _table(
        ("study", "tables", "rows", "computed cells", "agree", "disagree", "convention", "relations", "broken"),
        (
            (
                f"[{audit.study.name}](#{_anchor(audit)})",
                str(len(audit.tables)),
                str(sum(len(table.table.rows) for table in audit.tables)),
                str(sum(len(table.compared) for table in audit.tables)),
                str(sum(table.agree for table in audit.tables)),
                str(sum(len(table.disagree) for table in audit.tables)),
                str(sum(len(table.conventions) for table in audit.tables)),
                str(sum(len(table.tested) for table in audit.tables)),
                str(sum(len(table.broken) for table in audit.tables)),
            )
            for audit in found
        ),
    )
    analyses = [analyse(audit) for audit in found]
    texts = [study_text(audit, analysis) for audit, analysis in zip(found, analyses, strict=True)]
    covered = [_covered(audit, analysis) for audit, analysis in zip(found, analyses, strict=True)]
    cover = _table(("study", "cells with a number", "in an equation", "with limits only", "alone"), covered)
    return "\n\n".join([f"{_HEAD}\n{contents}", f"{_COVER}\n{cover}", *texts]) + "\n"


def _covered(found: Audit, analysis: Analysis) -> tuple[str, ...]:
    """The row of a study in the table of covers."""
    counted_covers = counts(found, analysis)
    numbers = (counted_covers.total(), *(counted_covers[cover] for cover in Cover))
    return (f"[{found.study.name}](#{_anchor(found)})", *map(str, numbers))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the reference, or check that it is up to date; return the exit code."""
    return write_or_check(document, "tools.study_reference", __doc__ or "", "docs/studies.md", arguments)


if __name__ == "__main__":
    sys.exit(main())
