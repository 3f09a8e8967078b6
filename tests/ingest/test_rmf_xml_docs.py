"""The column reference in the documentation is what the code declares."""

from __future__ import annotations

import re
from pathlib import Path

from plexlens.ingest.printed.catalogue import catalogue
from plexlens.ingest.printed.reference import written

PAGE = Path(__file__).parent.parent.parent / "docs" / "rmf-xml.md"
SOURCES = Path(__file__).parent.parent.parent / "src" / "plexlens" / "ingest" / "printed" / "xml"
ALL = catalogue().of_source("rmf_xml_")


def test_the_page_ends_with_the_columns_as_declared() -> None:
    page = PAGE.read_text()
    assert written(page, "rmf_xml_") == page


def test_every_reason_of_damage_is_on_the_page() -> None:
    page = PAGE.read_text()
    listed = set(re.findall(r"^\| `([^`]+)` \| (?:info|error|data loss) \|", page, re.MULTILINE))
    noted = {
        reason
        for source in SOURCES.glob("*.py")
        for reason in re.findall(
            r"(?:note|_damage)\(\s*\"([^\"]+)\"", source.read_text()
        ) + re.findall(r"_too_\w+, \"([^\"]+)\"", source.read_text())
    }  # fmt: skip
    assert listed == noted


def test_smf_fields_named_are_fields_of_the_layouts() -> None:
    layouts = PAGE.parent.parent / "layouts"
    known = {
        # A field that repeats, R723TRDB_1 to _14, goes by its name without the number.
        re.sub(r"(_\d+|\[\d+\])$", "", line.split(",")[0].upper())
        for path in layouts.glob("*.csv")
        for line in path.read_text().splitlines()
        if line and not line.startswith("#")
    }
    unknown = {
        field
        for table in ALL
        for column in table.columns
        for field in re.findall(r"\b(?:SMF7\w+|R7\w+)", column.smf)
        if field not in known
    }
    # The interval's length and samples are in the product section, under the record type's own number.
    assert unknown <= {"SMF7xINT", "SMF7xSAM"}
