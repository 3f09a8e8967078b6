"""Writes the column lists at the end of ``docs/rmf-xml.md`` and ``docs/text-reports.md`` from the catalogue.

``python -m plexlens.ingest.printed.reference`` writes both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from plexlens.ingest.printed.catalogue import TYPES, TableSpec, catalogue

PAGES = {"docs/rmf-xml.md": "rmf_xml_", "docs/text-reports.md": "text_"}
"""Pages and how the tables begin that they list."""


def markdown(tables: Iterable[TableSpec]) -> Iterator[str]:
    """Lines of the column list of the tables."""
    for table in tables:
        yield from (f"### `{table.name}`", "", f"One row: {table.grain}.", "")
        yield from ("| column | type | unit | meaning | SMF field |", "|---|---|---|---|---|")
        for column in table.columns:
            smf = f"`{column.smf}`" if column.smf else ""
            meaning = column.description + (" (derived)" if column.formula is not None else "")
            yield f"| `{column.name}` | {TYPES[column.kind]} | {column.unit} | {meaning} | {smf} |"
        yield ""


def written(page: str, prefix: str) -> str:
    """A page with its column list regenerated from the catalogue."""
    tables = catalogue().of_source(prefix)
    return page[: page.index(f"### `{tables[0].name}`")] + "\n".join(markdown(tables)).rstrip() + "\n"


if __name__ == "__main__":
    for name, beginning in PAGES.items():
        Path(name).write_text(written(Path(name).read_text(encoding="utf-8"), beginning), encoding="utf-8")
