"""From a row to its parts: which cells lead where, and what the filter of the table below is told."""

from dataclasses import replace

import lxml.html

from plexlens.metrics.unit import COUNT
from plexlens.report import Report, render_html
from plexlens.report.model import Column, ColumnKind, Section, Table
from plexlens.report.writers.drill import Drills


def _table(name: str, keys: tuple[str, ...], rows: tuple[tuple[str | None, ...], ...], drill: str = "") -> Table:
    columns = (
        *(Column(key, key, ColumnKind.TEXT, key=True) for key in keys),
        Column("n", "N", ColumnKind.NUMBER, COUNT),
    )
    return Table(name, name, columns, tuple((*row, 1) for row in rows), drill=drill)


MEMBERS = _table("members", ("group", "member"), (("G", "DB1"), ("G", None)), drill="pools")
POOLS = _table("pools", ("member", "pool"), (("DB1", "BP1"), ("DB1", "BP10")), drill="objects")


def test_the_keys_both_tables_have_lead_on() -> None:
    drills = Drills.of((MEMBERS, POOLS))
    way = drills.ways["members"]
    # Of group and member only the member is a key of the pools.
    assert (way.table, way.keys) == ("pools", (1,))
    assert way.find(MEMBERS.rows[0]) == '"DB1"'
    assert way.find(MEMBERS.rows[1]) == ""
    assert drills.reaches("pools")
    assert not drills.reaches("members")


def test_a_table_that_is_not_there_is_no_way() -> None:
    assert "pools" not in Drills.of((MEMBERS, POOLS)).ways
    strangers = _table("strangers", ("colour",), (("red",),))
    assert not Drills.of((replace(MEMBERS, drill="strangers"), strangers)).ways


def test_the_page_has_links_and_a_filter_below(report: Report) -> None:
    page = lxml.html.document_fromstring(
        render_html(replace(report, sections=(Section("db", "Db", (MEMBERS, POOLS)),)))
    )
    links = page.xpath("//a[@class='drill']")
    assert [(link.get("href"), link.get("data-find"), link.text_content()) for link in links] == [
        ("#table-pools", '"DB1"', "DB1")
    ]
    # Two rows alone would have no filter.
    assert page.xpath("//*[@id='table-pools']//input[contains(@class, 'filter')]")
    assert not page.xpath("//*[@id='table-members']//input[contains(@class, 'filter')]")
