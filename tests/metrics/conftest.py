"""The example in a database, for tests of every grain that it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from tests.example_file import write_example


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inputs]:
    folder: Path = tmp_path_factory.mktemp("example")
    write_example(folder / "example.smf")
    with Pdb.temporary() as pdb:
        ingest([folder / "example.smf"], pdb)
        yield Inputs(pdb.connect())
