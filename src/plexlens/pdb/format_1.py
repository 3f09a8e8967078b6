"""Format 1 of a PDB: a manifest in one file. It is read; the first writer brings it to the present format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plexlens.pdb.entries import column_of, ingest_of
from plexlens.pdb.manifest import COLUMNS, FILES, SOURCE, Line, Manifest, damaged

PREVIOUS = "manifest.previous.json"
"""In format 1 the manifest before the last ingest."""


def manifest_of(path: Path, content: bytes) -> Manifest:
    """The manifest in a file of format 1.

    Raises
    ------
    PdbDamagedError
        It has something that cannot be understood.
    """
    try:
        entry = json.loads(content)
        return Manifest(list(_lines(entry)), path.parent)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(path, f"it has an entry that cannot be understood ({type(error).__name__}: {error})") from error


def _lines(content: dict[str, Any]) -> Iterator[Line]:
    for table, variants in content["tables"].items():
        for column in (column for variant in variants for column in variant):
            column_of(column)
        yield COLUMNS, table, json.dumps(variants)
    for entry in content["ingests"]:
        files: dict[str, list[list[Any]]] = {}
        for file in entry.pop("files"):
            _, _, table, _, _ = file["path"].split("/")
            listed = [file["path"], file["variant"], file["rows"], file["bytes"], "", [entry["id"]]]
            files.setdefault(table, []).append(listed)
        yield from ((FILES, table, json.dumps(listed)) for table, listed in files.items())
        ingest_of(entry)
        yield SOURCE, f"{entry['id']} {entry['sha256']} {entry['sample']}", json.dumps(entry)
