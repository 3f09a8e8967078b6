"""Hashes in the files of an inventory of records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plexlens.pdb.place import is_object


def hashes_in(paths: Iterable[Path]) -> npt.NDArray[np.uint64]:
    """The hashes in several files, ascending."""
    return np.unique(np.concatenate([np.empty(0, np.uint64), *map(hashes_of, paths)]))


def hashes_of(path: Path, without: str | None = None) -> npt.NDArray[np.uint64]:
    """The hashes in a file, apart from those of a source."""
    # A command that only reads a database needs no hashes.
    import pyarrow.parquet as pq

    stored = pq.ParquetFile(path.open("rb") if is_object(path) else path)
    if without is None:
        read = stored.read(["hash"])
    else:
        # Few ingests leave out a source, and this import takes longer than some commands.
        import pyarrow.compute as pc

        read = stored.read(["hash", "source_id"])
        read = read.filter(pc.not_equal(read.column("source_id"), without))
    hashes: npt.NDArray[np.uint64] = read.column("hash").to_numpy()
    return hashes
