"""A database of the example, and the application over it."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.types import ASGIApp

from plexlens.pdb import Pdb, ingest
from plexlens.serve.app import application
from plexlens.serve.guard import Door
from plexlens.serve.workspace import Workspace
from tests.example_file import write_example
from tests.records import dump, record
from tests.serve.two_weeks import write_two_weeks


@pytest.fixture(scope="session")
def pdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's dump in a database."""
    folder = tmp_path_factory.mktemp("serve")
    write_example(folder / "example.smf")
    list(ingest([folder / "example.smf"], Pdb.create(folder / "pdb")))
    return folder / "pdb"


@pytest.fixture(scope="session")
def workspace(pdb: Path) -> Workspace:
    return Workspace(pdb, "512MiB")


@pytest.fixture(scope="session")
def two_weeks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example and two weeks of a simulated sysplex; see `tests.serve.two_weeks`."""
    return write_two_weeks(tmp_path_factory.mktemp("two-weeks"))


@pytest.fixture(scope="session")
def two_weeks_app(two_weeks: Path, tmp_path_factory: pytest.TempPathFactory) -> ASGIApp:
    """The application over two weeks."""
    return application(Workspace(two_weeks, "512MiB"), Door(port=8711), tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def app(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> ASGIApp:
    """The application as it is on the machine's own address."""
    return application(workspace, Door(port=8711), tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def small_pdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of one record without a layout: no metric has a view in it, which takes a second for all of them."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.smf").write_bytes(dump(record(200, "SYS1", b"one")))
    list(ingest([folder / "small.smf"], Pdb.create(folder / "pdb")))
    return folder / "pdb"


@pytest.fixture(scope="session")
def small_app(small_pdb: Path, tmp_path_factory: pytest.TempPathFactory) -> ASGIApp:
    """The application over the small database."""
    return application(Workspace(small_pdb, "512MiB"), Door(port=8711), tmp_path_factory.mktemp("cache"))
