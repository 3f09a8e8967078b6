"""Every RMF report in XML, in tables with its own headings."""

from __future__ import annotations

from collections.abc import Sequence

from plexlens.report.blocks.context import Context
from plexlens.report.blocks.page import Page
from plexlens.report.blocks.printed_reports import of_the_files, printed_reports, tables_of
from plexlens.report.model import Block

#: Reports whose numbers have pages of their own: here they stand last and folded.
_WITH_PAGES = frozenset({"CF", "CPU", "PAGING", "WLMGL", "XCF"})


def _blocks(context: Context) -> Sequence[Block]:
    connection = context.inputs.connection
    first: list[Block] = []
    last: list[Block] = []
    for number, report in enumerate(printed_reports(connection), 1):
        has_page = report.name.partition(" ")[0] in _WITH_PAGES
        (last if has_page else first).extend(tables_of(report, f"rmf_{number}", folded=has_page))
    return [*first, *last, *of_the_files(connection)]


PAGE = Page(
    order=1200,
    id="rmf_reports",
    title="Other RMF reports",
    lead=(
        "Every RMF report read as XML, with its headings and values as printed. Reports whose numbers are also on "
        "other pages come last."
    ),
    blocks=_blocks,
)
