"""The page of a grain: its numbers are those of the command line, its records those of the dump."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from starlette.datastructures import QueryParams
from starlette.types import ASGIApp

from plexlens.errors import UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, resolve
from plexlens.report.blocks.readings import Readings
from plexlens.serve.grain_page import earlier_of, shown_of, with_earlier
from plexlens.serve.look import Look
from plexlens.serve.workspace import Session, Workspace
from tests.cli.command import run
from tests.metrics.raw import inputs as raw_inputs
from tests.metrics.raw import row as raw_row
from tests.serve.client import Answer, ask


def _rows(answer: Answer, table: str = "rows") -> dict[str, dict[str, str]]:
    """The rows of a table by their first cell, each by the titles of columns; a number as its ``data-v`` has it."""
    (found,) = answer.page.xpath(f"//*[@id='table-{table}']//table")
    titles = [head.xpath("string(.//button)").replace("\xad", "") for head in found.xpath(".//thead/tr[last()]/th")]
    rows = {}
    for row in found.xpath(".//tbody/tr"):
        cells = [cell.get("data-v") or cell.text_content().replace(",", "") for cell in row]
        rows[cells[0]] = dict(zip(titles, cells, strict=True))
    return rows


@pytest.mark.parametrize(
    "query",
    [
        "by=structure&metric=rate",
        "by=structure&metric=rate&where=facility=CF1&where=structure=A%26B%3D%C3%A4&from=1996-05-28&to=1996-05-29&shift=08:00-17:00",
    ],
)
@pytest.mark.parametrize("keys", [("structure",), ("facility", "structure"), ("system", "structure")])
def test_addresses_of_all_rows_are_those_of_each(query: str, keys: tuple[str, ...]) -> None:
    grain = GRAINS["coupling_structure"]
    names = [metric.name for metric in grain.metrics]
    look = Look.of("coupling_structure", QueryParams(query.replace("metric=rate", f"metric={names[0]}")))
    within = look.addresses_within(keys)
    for values in product((None, "", "A&B=\u00e4", "CF1"), repeat=len(keys)):
        row = tuple(zip(keys, values, strict=True))
        assert [within(row, name) for name in names] == [
            replace(look.within(row), metric=name).address() for name in names
        ]


def _asked(pdb: Path, query: str, *options: str) -> list[dict[str, object]]:
    done = run("sql", pdb, query, "--json", *options, cwd=pdb.parent)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def test_a_split_by_a_key_is_the_view_of_that_key(app: ASGIApp, pdb: Path) -> None:
    """Each structure has one row per system and interval in the view; requests add up over them."""
    rows = _rows(ask(app, "/grain/coupling_structure?by=structure&metric=sync_requests&where=system%3DSYS1"))
    expected = _asked(
        pdb,
        "select structure, sum(sync_requests) n from coupling_structure where system = 'SYS1' group by all",
    )
    assert len(expected) > 3
    assert {name: float(row["Synchronous requests"]) for name, row in rows.items()} == {
        str(row["structure"]): row["n"] for row in expected
    }


def test_a_mean_is_weighted_and_not_a_mean_of_means(app: ASGIApp, pdb: Path) -> None:
    rows = _rows(ask(app, "/grain/coupling_structure?by=structure&metric=sync_service_time&where=system%3DSYS1"))
    expected = _asked(
        pdb,
        "select structure, sum(sync_service_time * sync_requests) / sum(sync_requests) * 1e6 as t"
        " from coupling_structure where system = 'SYS1' group by all having sum(sync_requests) > 0",
    )
    for row in expected:
        told = float(rows[str(row["structure"])]["Synchronous service time"]) * 1e6
        assert math.isclose(told, float(str(row["t"])), rel_tol=1e-6)


def test_a_row_leads_one_key_deeper_and_at_last_to_itself(app: ASGIApp) -> None:
    answer = ask(app, "/grain/coupling_structure?by=system")
    seen = []
    for _ in range(4):
        link = answer.page.xpath("//*[@id='table-rows']//tbody//a[contains(@class, 'lead')]/@href")[0]
        answer = ask(app, link)
        assert answer.status == 200
        seen.append(link.partition("?")[2])
    assert [part.count("where=") for part in seen] == [1, 2, 3, 3]
    assert len(answer.page.xpath("//ul[@class='chips']/li")) == 3


def test_a_chip_takes_its_filter_away(app: ASGIApp) -> None:
    answer = ask(app, "/grain/coupling_structure?by=structure&where=system%3DSYS1&where=structure%3DDSNDB2B_LOCK1")
    (first, _) = answer.page.xpath("//ul[@class='chips']//a/@href")
    assert "SYS1" not in first
    assert "DSNDB2B_LOCK1" in first


def test_every_grain_with_data_has_a_page_and_records(app: ASGIApp, workspace: Workspace) -> None:
    with workspace.session() as session:
        names = [grain.name for grain in GRAINS.values() if available(session.inputs, grain)]
    assert len(names) > 10
    for name in names:
        answer = ask(app, f"/grain/{name}")
        assert answer.status in (200, 404), (name, answer.words[:200])
        assert "defect" not in answer.words
        assert ask(app, f"/records/{name}").status == 200


def test_each_number_can_be_chosen(app: ASGIApp) -> None:
    page = ask(app, "/grain/coupling_structure").page
    for name in page.xpath("//select[@name='metric']//option/@value"):
        answer = ask(app, f"/grain/coupling_structure?metric={name}&by=structure")
        assert answer.status == 200
        assert answer.page.xpath("//option[@selected]/@value") == [name]


def test_the_definition_of_the_number_is_its_own(app: ASGIApp) -> None:
    metric = GRAINS["coupling_structure"].column("sync_service_time")
    text = ask(app, "/grain/coupling_structure?metric=sync_service_time").words
    assert metric.words in text
    assert metric.source in text
    assert metric.caveat in text


def test_the_records_are_those_of_the_dump(app: ASGIApp, pdb: Path) -> None:
    """The bytes at the printed offset begin with the record's length and its type."""
    answer = ask(app, "/records/coupling_structure?where=system%3DSYS1&where=structure%3DDSNDB2B_LOCK1")
    assert "Only rows with system SYS1, structure DSNDB2B_LOCK1." in answer.words
    data = (pdb.parent / "example.smf").read_bytes()
    (found,) = answer.page.xpath("//*[@id='table-records']//table")
    titles = [head.xpath("string(.//button)").replace("\xad", "") for head in found.xpath(".//thead/tr[last()]/th")]
    places = [titles.index(name) for name in ("File", "Byte offset", "Length")]
    rows = found.xpath(".//tbody/tr")
    assert rows
    for row in rows:
        cells = [cell.get("data-v") or cell.text_content().replace(",", "") for cell in row]
        file, offset, length = (cells[place] for place in places)
        assert Path(file).name == "example.smf"
        at = int(float(offset))
        assert int.from_bytes(data[at : at + 2]) == int(float(length))
        assert data[at + 5] == 74


def test_records_are_paged(app: ASGIApp, pdb: Path) -> None:
    (count,) = _asked(pdb, "select count(*) n from smf74_4_request")
    first = ask(app, "/records/coupling_structure?table=smf74_4_request")
    assert f"{count['n']:,} rows" in first.words
    pages = -(-int(str(count["n"])) // 50)
    answers = [ask(app, f"/records/coupling_structure?table=smf74_4_request&page={n + 1}") for n in range(pages)]
    assert sum(len(one.page.xpath("//tbody/tr")) for one in answers) == count["n"]
    assert ask(app, f"/records/coupling_structure?table=smf74_4_request&page={pages + 1}").status == 400


def test_earlier_times_are_of_a_stretch_of_time_that_ends() -> None:
    window = QueryParams(urlencode({"from": "1996-05-29T13:00", "to": "1996-05-29T14:00"}))
    earlier = Look.of("coupling_structure", window).earlier(7)
    assert earlier is not None
    assert (earlier.windows[0].start, earlier.windows[0].end) == (
        datetime(1996, 5, 22, 13),
        datetime(1996, 5, 22, 14),
    )
    two_days = Look.of("coupling_structure", QueryParams(urlencode({"from": "1996-05-28", "to": "1996-05-29"})))
    assert two_days.earlier(1) is None
    assert two_days.earlier(7) is not None
    assert Look.of("coupling_structure", QueryParams("from=1996-05-29")).earlier(1) is None


class _Hours:
    """A database in memory of one class at 13:00 of several days: the day of the month as transactions per second."""

    path = Path("hours")

    def __init__(self, days: Sequence[int]) -> None:
        periods, control = [], []
        for number, day in enumerate(days, 1):
            start = datetime(2024, 5, day, 13, tzinfo=UTC)
            base = raw_row(
                number, system="SYS1", interval_start=start, interval_end=start + timedelta(hours=1), utc_offset=0.0
            )
            periods.append(base | {"r723cper": 1, "r723crcp": 3600.0 * day, "r723ctet": 1.0})
            control.append(base | {"r723mcnm": "ONLINE", "r723mwnm": "WORK", "r723mscf": 0})
        self.connection = raw_inputs(smf72_3_period=periods, smf72_3_wlm_control=control).connection

    @contextmanager
    def session(self, selection: Selection) -> Iterator[Session]:
        yield Session(Inputs(self.connection, resolve(selection, self.connection, "hours")), Readings())


@pytest.mark.parametrize(
    ("days", "earlier"),
    [((8, 15, 14), (14, 8)), ((15, 14), (14, None)), ((15, 8), (None, 8)), ((15, 13), (None, None))],
)
def test_the_same_hour_of_the_day_and_the_week_before(
    days: tuple[int, ...], earlier: tuple[int | None, int | None]
) -> None:
    look = Look.of(
        "workload_period",
        QueryParams("from=2024-05-15T13:00&to=2024-05-15T14:00&by=class_name&metric=transactions_per_second"),
    )
    hours: Any = _Hours(days)
    with hours.session(look.selection) as session:
        table = shown_of(session, look, "hours").table
    table = with_earlier(earlier_of(hours, look), look, table)
    assert table is not None
    names = [column.name for column in table.columns]
    (cells,) = table.rows
    assert cells[names.index("transactions_per_second")] == pytest.approx(15)
    assert [cells[names.index(name)] if name in names else None for name in ("day_before", "week_before")] == [
        None if value is None else pytest.approx(value) for value in earlier
    ]
    together = ["transactions_per_second", *(name for name in ("day_before", "week_before") if name in names)]
    start = names.index("transactions_per_second")
    assert names[start : start + len(together)] == together


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("by=nope", "has no key 'nope'"),
        ("by=system,sysplex,structure,facility,structure_type", "names 5 keys"),
        ("metric=nope", "there is no 'nope'"),
        ("where=nope%3D1", "there is no key 'nope'"),
        ("where=%3D", "there is no key ''"),
        ("split=system", "no parameter 'split'"),
        ("table=x", "no parameter 'table'"),
    ],
)
def test_wrong_parameters(app: ASGIApp, query: str, said: str) -> None:
    answer = ask(app, f"/grain/coupling_structure?{query}")
    assert answer.status == 400
    assert said in answer.words


@pytest.mark.parametrize("page", ["0", "-1", "x", "1e3", "99999999999", "1.5", "%D9%A3"])
def test_wrong_pages(app: ASGIApp, page: str) -> None:
    assert ask(app, f"/records/coupling_structure?page={page}").status == 400


def test_what_no_row_has(app: ASGIApp) -> None:
    answer = ask(app, f"/grain/coupling_structure?where={quote('structure=NOPE')}")
    assert answer.status == 200
    assert "No row meets the filters" in answer.words


def test_a_grain_that_does_not_exist(app: ASGIApp) -> None:
    assert ask(app, "/grain/nope").status == 404
    with pytest.raises(UsageError):
        Look.of("coupling_structure", QueryParams("by=nope"))
