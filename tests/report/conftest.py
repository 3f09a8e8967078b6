"""The hand-made report, built once, and one browser for all pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plexlens.report import Report, build
from plexlens.report.pages import PAGES
from tests.report import browser as chromium
from tests.report import shop


@pytest.fixture(scope="session")
def report() -> Report:
    """The shop's page and the page of what was read."""
    read = next(page for page in PAGES if page.id == "read")
    return build(shop.database(), shop.readings(), pages=(read, shop.PAGE), grains=shop.GRAINS)


@pytest.fixture(scope="session")
def damaged() -> Report:
    """The same over damaged input."""
    read = next(page for page in PAGES if page.id == "read")
    return build(shop.database(), shop.readings(damaged=True), pages=(read, shop.PAGE), grains=shop.GRAINS)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Browser]:
    """Headless Chromium."""
    if reason := chromium.missing():
        pytest.fail(reason, pytrace=False)
    opened = chromium.Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
