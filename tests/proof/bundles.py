"""Bundles taken apart and put together again, for tests: with hashes renewed, as a forger would."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Files = dict[str, bytes]


def taken_apart(path: Path) -> Files:
    """The files of a bundle by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def put_together(path: Path, files: Files) -> Path:
    """Files as a ZIP file, as they are."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def manifest_of(files: Files) -> dict[str, Any]:
    """The manifest of a bundle."""
    content: dict[str, Any] = json.loads(files["manifest.json"])
    return content


def with_manifest(files: Files, change: Callable[[dict[str, Any]], object]) -> Files:
    """The files with a changed manifest."""
    content = manifest_of(files)
    change(content)
    return files | {"manifest.json": json.dumps(content).encode()}


def forged(files: Files, **_: object) -> Files:
    """The files with lengths and hashes in the manifest that are those of the files."""

    def renew(content: dict[str, Any]) -> None:
        content["files"] = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()
            if name != "manifest.json"
        }

    return with_manifest(files, renew)


def with_value(files: Files, table: str, column: str, row: int, change: Callable[[Any], Any]) -> Files:
    """The files with one value of a table changed, and the hash renewed."""
    name = f"records/{table}.parquet"
    held = pq.read_table(io.BytesIO(files[name]))
    values = held.column(column).to_pylist()
    values[row] = change(values[row])
    place = held.schema.get_field_index(column)
    out = io.BytesIO()
    pq.write_table(
        held.set_column(place, held.schema.field(place), pa.array(values, held.schema.field(place).type)), out
    )
    return forged(files | {name: out.getvalue()})
