"""Objects by an extract of the catalog: pool and size, next to the pages that the trace refers to."""

from __future__ import annotations

from plexlens.metrics.unit import FRACTION, MIB, PAGES
from plexlens.pools.members import member_and_pool
from plexlens.pools.settings import pool_page_bytes
from plexlens.pools.work import Work
from plexlens.report.model import Note, Section
from plexlens.report.model.fields import Definitions, Field, Subject

_SUBJECT = Subject("pool_catalog", "Objects by the catalog", "one object, all its partitions together")


def catalog_section(work: Work, definitions: Definitions) -> Section | None:
    """Objects that the catalog has a pool or a size for; None without an extract.

    Parameters
    ----------
    work
        Objects of the trace.
    definitions
        Where the meanings of the columns go.
    """
    names = work.names
    if not names.has_catalog:
        return None
    pages: dict[int, float] = {}
    for part in work.parts.values():
        for (number, _), count in part.distinct_pages.items():
            pages[number] = pages.get(number, 0.0) + count

    def pool_of(number: int) -> str:
        return member_and_pool(names.pool(work.objects[number].home))[1]

    def size_of(number: int) -> float | None:
        size = names.catalog_bytes(number)
        return None if size is None else size / pool_page_bytes(pool_of(number))

    def share_of(number: int) -> float | None:
        size = size_of(number)
        return min(pages.get(number, 0.0) / size, 1.0) if size else None

    known = [number for number in work.objects if names.catalog_pool(number) or names.catalog_bytes(number) is not None]
    known.sort(key=lambda number: (-work.objects[number].total, number))
    fields: list[Field[int]] = [
        Field(_SUBJECT, "object", "Object", work.object_name, key=True),
        Field(_SUBJECT, "pool", "Pool in the trace", pool_of),
        Field(_SUBJECT, "catalog_pool", "Pool in the catalog", lambda number: names.catalog_pool(number) or None),
        Field(
            _SUBJECT, "bytes", "Size", names.catalog_bytes, MIB, "Σ SPACEF of all partitions", "Extract of the catalog"
        ),
        Field(
            _SUBJECT, "size", "Size in pages", size_of, PAGES, "size / page size of its pool", "Extract of the catalog"
        ),
        Field(_SUBJECT, "pages", "Pages referenced", pages.get, PAGES, "", "The trace"),
        Field(_SUBJECT, "share", "Referenced", share_of, FRACTION, "pages referenced / size in pages", "Both"),
    ]
    table = definitions.table("catalog", "Objects by the catalog", fields, known, top=30)
    without = sum(number not in set(known) for number in work.objects)
    if table is None:
        return None
    note = Note(f"{without:,} of {len(work.objects):,} objects of the trace are not in the extract.")
    lead = "How large objects are, and how much of them the trace uses."
    return Section("catalog", "Catalog", (table, note) if without else (table,), lead)
