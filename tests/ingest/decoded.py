"""A dump through the decoder, for comparison with the slow decodes of `tests.oracle`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.layouts_path import layouts_path

Tables = Mapping[str, Sequence[Mapping[str, Any]]]


def decoded(path: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    """Rows of all tables, and the summary."""
    reader = _core.SmfReader(path, _core.Catalogue([layouts_path()]), source_id="s", codepage="037")
    rows: dict[str, list[dict[str, Any]]] = {}
    for batch in reader:
        for table, records in batch.tables.items():
            rows.setdefault(table, []).extend(pa.table(records).to_pylist())
    return rows, reader.summary()


def compared(ours: Tables, expected: Tables) -> tuple[int, list[str]]:
    """Number of expected values, and those that differ; a row is known by its record and its section."""
    count, differences = 0, []
    for table, rows in expected.items():
        mine = {(row["record_no"], row["section_no"]): row for row in ours[table]}
        for row in rows:
            other = mine[row["record_no"], row["section_no"]]
            for column, value in row.items():
                count += 1
                if not _same(other[column], value):
                    differences.append(f"{table}.{column}: {other[column]!r}, slow decode {value!r}")
    return count, differences


def _same(ours: Any, theirs: Any) -> bool:
    """Equal; numbers with a unit to the last bits of a double, as it may be applied in one step or in two."""
    if isinstance(ours, float) and isinstance(theirs, (int, float)):
        return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=0.0)
    return bool(ours == theirs)
