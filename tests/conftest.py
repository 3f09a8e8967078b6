"""Fixtures of the whole test suite, and the CPU time of each test."""

from __future__ import annotations

import fcntl
import gc
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.draws import SOAK

if TYPE_CHECKING:
    from tests.report.browser import Browser

# An example that takes long is a busy machine more often than a defect: no test has a deadline per example. Outside of
# the soak, every run draws the same examples: what fails was changed, or a soak finds it.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("soak", deadline=None)
settings.load_profile("soak" if SOAK else "same")

# Python looks for unused cycles each 700 objects, and statements that are parsed are made of many: a tenth of the time
# of the tests.
gc.set_threshold(20_000)

REPOSITORY = Path(__file__).parent.parent

#: CPU seconds of each test in its last run: ``{node id: [setup, call, teardown]}``. ``python -m tools.test_times``
#: lists the slowest, ``make check`` plans with them.
TIMES = REPOSITORY / ".build" / "test-times.json"
SHARED_DATA = REPOSITORY.parent / "shared" / "data"

_REASON = "real data not beside the checkout (../shared/data)"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of files that real systems wrote; the test is skipped where it does not lie beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip(_REASON)
    return SHARED_DATA


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that draw examples, for `make soak`."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("drawn")


def pytest_collection_finish() -> None:
    """Modules stay until the end: no collection has to look at them again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Headless Chromium, one for the pages of all commands."""
    # Imported here: few tests need it.
    from tests.report import browser as chromium

    if reason := chromium.missing():
        pytest.fail(reason, pytrace=False)
    opened = chromium.Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says once how many tests the missing data cost."""
    skipped = sum(_REASON in str(report.longrepr) for report in terminalreporter.stats.get("skipped", []))
    if skipped:
        terminalreporter.write_line(f"{_REASON}: {skipped} tests skipped")


_times: dict[str, list[float]] = {}


def _cpu() -> float:
    """CPU seconds of this process and of its children that have ended: other load on the machine does not count."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@contextmanager
def _timed(item: pytest.Item) -> Iterator[None]:
    begin = _cpu()
    try:
        yield
    finally:
        _times.setdefault(item.nodeid, []).append(round(_cpu() - begin, 2))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """A fixture of the session or of the module counts as setup of the test that needs it first."""
    with _timed(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _timed(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with _timed(item):
        return (yield)


def pytest_sessionfinish() -> None:
    """Adds the times of this run to those of earlier ones; two halves of the suite may end at the same time."""
    if not _times:
        return
    TIMES.parent.mkdir(exist_ok=True)
    with TIMES.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = json.loads(file.read() or "{}")
        file.truncate(0)
        lines = (f"{json.dumps(test)}: {json.dumps(times)}" for test, times in sorted((known | _times).items()))
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
