"""The kinds of report that are read as text, and the prefixes of their table names."""

from __future__ import annotations

PREFIX = "text_"
VALUE = "text_report_value"

KINDS = {
    "db2_statistics": "Db2 statistics",
    "db2_accounting": "Db2 accounting",
    "db2_display_bufferpool": "-DISPLAY BUFFERPOOL",
    "db2_display_groupbufferpool": "-DISPLAY GROUPBUFFERPOOL",
    "rmf_cpu": "RMF CPU activity and partition data",
    "rmf_workload": "RMF workload activity",
    "rmf_coupling_facility": "RMF coupling facility activity",
    "cics_statistics": "CICS interval statistics",
}
"""Kinds of report, as the column ``report`` and as messages call them."""


def known_kinds() -> str:
    """The kinds of report in words, for messages."""
    titles = list(KINDS.values())
    return ", ".join(titles[:-1]) + " or " + titles[-1]
