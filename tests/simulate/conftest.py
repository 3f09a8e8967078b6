"""A group of two members at work, run and written once for all tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.simulate import Simulated, read_scenario, run_scenario, write_smf

HERE = Path(__file__).parent
TWO_MEMBERS = HERE / "two-members.toml"


@dataclass(frozen=True)
class Measured:
    """A run, its dump, and the database that it was read into."""

    run: Simulated
    dump: Path
    inputs: Inputs


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    folder = tmp_path_factory.mktemp("simulate")
    run = run_scenario(read_scenario(TWO_MEMBERS))
    write_smf(run, folder / "two.smf")
    return Measured(run, folder / "two.smf", read_back(folder / "two.smf", folder / "pdb"))


def read_back(dump: Path, folder: Path) -> Inputs:
    """What the metrics find in a dump."""
    pdb = Pdb.create(folder)
    ingest([dump], pdb)
    return Inputs(pdb.connect())
