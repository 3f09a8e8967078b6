from __future__ import annotations

from pathlib import Path

import pytest

from plexlens import ingest
from plexlens.pdb import Pdb
from tests.pdb import fake_source


@pytest.fixture(autouse=True)
def _fake_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "SOURCES", (fake_source.KIND, *ingest.SOURCES))


@pytest.fixture
def pdb(tmp_path: Path) -> Pdb:
    return Pdb.create(tmp_path / "plex.pdb")
