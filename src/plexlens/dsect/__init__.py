"""Conversion of assembler DSECTs to layouts, so that a site can use the mappings of its releases.

The way: `source` (lines) -> `statements` -> `macros` (with `conditions`: what the source generates) -> `assembly`
(with `operands` and `expressions`: places) -> `fields` (with `formats`: rows of a layout) -> `publishing` (files). The
rules are in ``docs/dsect.md``.
"""

from __future__ import annotations

from plexlens.dsect.fault import DsectError
from plexlens.dsect.importing import ImportedSection, ImportResult, Wishes, import_layouts

__all__ = ["DsectError", "ImportResult", "ImportedSection", "Wishes", "import_layouts"]
