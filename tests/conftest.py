"""Fixtures of the whole test suite."""

from __future__ import annotations

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
SHARED_DATA = REPOSITORY.parent / "shared" / "data"

_REASON = "real data not beside the checkout (../shared/data)"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of files that real systems wrote; the test is skipped where it does not lie beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip(_REASON)
    return SHARED_DATA


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says once how many tests the missing data cost."""
    skipped = sum(_REASON in str(report.longrepr) for report in terminalreporter.stats.get("skipped", []))
    if skipped:
        terminalreporter.write_line(f"{_REASON}: {skipped} tests skipped")
