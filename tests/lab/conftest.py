"""Locust where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


@pytest.fixture
def locust() -> None:
    if find_spec("locust") is None:
        pytest.skip("`make load-test` installs Locust")
