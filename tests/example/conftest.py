"""The example dump, written once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.example import write_example


@pytest.fixture(scope="session")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("example") / "example.smf"
    write_example(path)
    return path
