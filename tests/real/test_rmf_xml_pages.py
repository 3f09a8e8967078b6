"""Every number of real RMF XML is on the page; the oracle is a walk of the document with lxml.

Further public files are checked where the environment names a folder of them, PLEXLENS_RMF_XML: the samples of the
repositories salisbuk7897/RMF-Static and zowe/zebra are such files.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from plexlens.errors import PlexlensError
from plexlens.ingest.printed import xml as rmf_xml
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


@pytest.mark.skipif("PLEXLENS_RMF_XML" not in os.environ, reason="PLEXLENS_RMF_XML names no folder of RMF XML")
def test_every_number_of_further_public_files_is_on_the_page() -> None:
    paths = sorted(Path(os.environ["PLEXLENS_RMF_XML"]).rglob("*.xml"))
    read = 0
    for path in paths:
        if not rmf_xml.sniff(path.read_bytes()[:65536], path.name):
            continue
        try:
            page = cells_of(report_of(path))
        except PlexlensError as error:
            # Some are only the server's answer that there is no report.
            assert "there is no report in the file" in str(error), path.name
            continue
        assert numbers_of(path) - page == Counter(), path.name
        read += 1
    assert read
