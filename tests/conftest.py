"""Fixtures of the whole test suite."""

from __future__ import annotations

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
SHARED_DATA = REPOSITORY.parent / "shared" / "data"

_skipped = pytest.StashKey[int]()


@pytest.fixture
def shared_data(request: pytest.FixtureRequest) -> Path:
    """The folder of files that real systems wrote; the test is skipped where it does not lie beside the checkout."""
    if not SHARED_DATA.is_dir():
        stash = request.config.stash
        stash[_skipped] = stash.get(_skipped, 0) + 1
        pytest.skip("real data not beside the checkout (../shared/data)")
    return SHARED_DATA


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says once how many tests the missing data cost."""
    skipped = config.stash.get(_skipped, 0)
    if skipped:
        terminalreporter.write_line(f"real data not beside the checkout (../shared/data): {skipped} tests skipped")
