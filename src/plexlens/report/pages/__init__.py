"""The sections of the report, each a module with a `Page` in ``PAGE``, discovered automatically."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from plexlens.report.blocks.page import Page


def _pages() -> tuple[Page, ...]:
    pages: dict[str, Page] = {}
    for module in sorted(m.name for m in iter_modules(__path__)):
        page: Page = import_module(f"{__name__}.{module}").PAGE
        if page.id in pages:
            raise RuntimeError(f"report page {page.id} is defined twice, the second time in report.pages.{module}")
        pages[page.id] = page
    return tuple(sorted(pages.values(), key=lambda page: (page.order, page.id)))


#: Every page, in the order of the report.
PAGES: tuple[Page, ...] = _pages()

__all__ = ["PAGES"]
