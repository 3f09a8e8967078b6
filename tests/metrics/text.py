"""Metrics of a text report: the report in a PDB of its own, a grain evaluated from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest


@contextmanager
def inputs_of(folder: Path, *texts: str) -> Iterator[Inputs]:
    """The raw tables of some reports, each in a file of its own."""
    with Pdb.temporary() as pdb:
        paths = []
        for number, text in enumerate(texts):
            paths.append(folder / f"report{number}.txt")
            paths[-1].write_text(text)
        ingest(paths, pdb)
        yield Inputs(pdb.connect())


def rows_of(inputs: Inputs, grain: str) -> list[dict[str, Any]]:
    """Rows of a grain, every key apart."""
    table = evaluate(inputs, GRAINS[grain])
    assert table is not None, f"no source of {grain}"
    rows: list[dict[str, Any]] = table.rows()
    return rows
