"""Every number of real RMF XML is on the page; the oracle is a walk of the document with lxml."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.report.test_printed_reports import cells_of, numbers_of, report_of


def test_every_number_of_each_file_is_on_the_page(shared_data: Path) -> None:
    paths = sorted((shared_data / "rmf").glob("*.xml"))
    assert paths
    for path in paths:
        assert numbers_of(path) - cells_of(report_of(path)) == Counter(), path.name


def test_every_number_of_all_files_together_is_on_the_page(shared_data: Path) -> None:
    numbers: Counter[str] = Counter()
    paths = sorted((shared_data / "rmf").glob("*.xml"))
    for path in paths:
        numbers += numbers_of(path)
    assert numbers - cells_of(report_of(*paths)) == Counter()
