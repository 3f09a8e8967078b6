"""A small dump, and the bundle of its report."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.example import write_example
from tests.cli.command import run
from tests.proof.bundles import Files, taken_apart


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the records of types 70 and 74 of the example, ``small.smf``, and their bundle, ``small.zip``."""
    folder = tmp_path_factory.mktemp("proof")
    write_example(folder / "example.smf")
    data, at, records = (folder / "example.smf").read_bytes(), 0, []
    while at < len(data):
        length = int.from_bytes(data[at : at + 2])
        records += [data[at : at + length]] * (data[at + 5] in (70, 74))
        at += length
    (folder / "small.smf").write_bytes(b"".join(records))
    done = run("report", "small.smf", "--bundle", "small.zip", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def files(folder: Path) -> Files:
    """The files of the bundle."""
    return taken_apart(folder / "small.zip")
