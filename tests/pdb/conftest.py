from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.ingest import kinds
from plexlens.pdb import Pdb
from tests.pdb import fake_source


@pytest.fixture(autouse=True)
def _fake_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "SOURCES", (fake_source.KIND, *kinds.SOURCES))


@pytest.fixture
def pdb(tmp_path: Path) -> Pdb:
    return Pdb.create(tmp_path / "plex.pdb")
