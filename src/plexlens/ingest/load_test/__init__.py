"""Result files of load-test tools, as a table of requests.

``layouts/load_test`` says which forms there are and where each column of a request stands in them. Tools that keep no
line per request (Locust, wrk) give totals instead, as they print them.
"""

from __future__ import annotations

from plexlens.ingest.load_test.reading import LoadTest, read, read_repeats
from plexlens.ingest.load_test.request import SCHEMA
from plexlens.ingest.load_test.summary import ALL, CoursePoint, Total

__all__ = ["ALL", "SCHEMA", "CoursePoint", "LoadTest", "Total", "read", "read_repeats"]
