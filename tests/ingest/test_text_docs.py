"""The page on text reports is what the code declares."""

from __future__ import annotations

import re
from pathlib import Path

from plexlens.ingest.printed.catalogue import catalogue
from plexlens.ingest.printed.reference import written
from plexlens.ingest.printed.text_kinds import KINDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "text-reports.md"
SOURCES = ROOT / "src" / "plexlens" / "ingest" / "printed" / "text"
ALL = catalogue().of_source("text_")


def test_the_page_ends_with_the_columns_as_declared() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert written(page, "text_") == page


def test_every_reason_of_damage_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([^`]+)` \| (?:info|error|data loss) \|", page, re.MULTILINE))
    noted = {
        reason
        for source in SOURCES.glob("*.py")
        # What the lines note of their form (carriage control, mail quoting) is not damage.
        for reason in re.findall(r"\.note\(\s*\"([^\"]+)\"", source.read_text(encoding="utf-8"))
    }
    assert listed - {"line too long"} == noted


def test_every_kind_of_report_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"`{kind}`" in page for kind in KINDS)


def test_smf_fields_named_are_fields_of_the_layouts() -> None:
    known = {
        re.sub(r"(_\d+|\[\d+\])$", "", line.split(",")[0].upper())
        for path in (ROOT / "layouts").glob("*.csv")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    }
    unknown = {
        field
        for table in ALL
        for column in table.columns
        for field in re.findall(r"\b(?:SMF7\w+|R7\w+|Q[A-Z0-9_]{5,})", column.smf)
        if field not in known
    }
    # The interval's length is in the product section, under the record type's own number.
    assert unknown <= {"SMF7xINT"}
