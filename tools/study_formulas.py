"""The list of formulas in the studies' README, generated from `FORMULAS`: ``python -m tools.study_formulas PATH``.

The README's own text stands before the list's heading and is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from plexlens.compare.formulas.catalogue import FORMULAS, Formula
from plexlens.compare.study.places import studies_path
from plexlens.generated_doc import write_or_check
from plexlens.metrics.reference import cell

README = "README.md"

#: Everything from this heading on is generated.
HEADING = "## All formulas"

_INTRODUCTION = """\
Written by `make docs` from `catalogue/studies`; do not edit. An argument with dots behind it takes a list of
cells, any other exactly one."""


def _line(formula: Formula) -> str:
    arguments = [*formula.singles, *(f"{name}..." for name in formula.lists)]
    cells = (
        f"`{formula.name}`",
        formula.title,
        formula.unit,
        f"`{', '.join(arguments)}`",
        formula.text,
        formula.source,
    )
    return f"| {' | '.join(cell(content) for content in cells)} |"


def formula_list() -> str:
    """The section with all formulas as Markdown, by name."""
    lines = [_line(FORMULAS[name]) for name in sorted(FORMULAS)]
    head = "| formula | title | unit | arguments | result | source |\n| --- | --- | --- | --- | --- | --- |"
    return "\n".join([HEADING, "", _INTRODUCTION, "", head, *lines, ""])


def document(path: Path | None = None) -> str:
    """The whole README: its own text, then the list."""
    text = (path or studies_path() / README).read_text(encoding="utf-8")
    return text.partition(HEADING)[0] + formula_list()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the README with its list, or check that it is up to date; return the exit code."""
    return write_or_check(document, "tools.study_formulas", __doc__ or "", "studies/README.md", arguments)


if __name__ == "__main__":
    sys.exit(main())
