"""The hand-made report, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from plexlens.report import Report, render_html
from plexlens.report.build import build
from plexlens.report.pages import PAGES
from tests.report import shop
from tests.report.made_up import made_up


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
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of made-up facts for every grain there is."""
    inputs, grains = made_up(GRAINS, steps=12, entities=48)
    report = build(inputs, shop.readings(damaged=True), grains=grains)
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    return path
