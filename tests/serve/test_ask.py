"""Questions in SQL: answers, files, and limits, each with its message."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import openpyxl
import pyarrow.parquet as pq
import pytest
from starlette.types import ASGIApp

from plexlens.serve.app import application
from plexlens.serve.guard import Door
from plexlens.serve.workspace import Workspace
from tests.serve.client import Answer, ask
from tests.serve.in_this_process import questions_in_this_process


def post(app: ASGIApp, query: str, **fields: str) -> Answer:
    """What the form sends."""
    body = urlencode({"query": query} | fields).encode()
    headers = [
        ("host", "127.0.0.1:8711"),
        ("origin", "http://127.0.0.1:8711"),
        ("content-type", "application/x-www-form-urlencoded"),
        ("content-length", str(len(body))),
    ]
    return ask(app, "/ask", method="POST", headers=headers, body=body)


@pytest.fixture
def here() -> Iterator[None]:
    """For tests of what is done with an answer: tests of limits, and one of each kind of page, start the process."""
    with questions_in_this_process():
        yield


#: Two rows whose cells a form may spoil: a number with decimals, a null, a text with a comma and a quote.
_TWO = "select 1 as n, 0.5::double as x, 'a, \"b\"' as t union all select 2, null, 'c' order by n"


def test_an_answer_stands_under_its_query(app: ASGIApp) -> None:
    answer = post(app, _TWO)
    assert answer.status == 200
    rows = [
        [cell.text_content().strip() for cell in row] for row in answer.page.xpath("//*[@id='table-answer']//tbody/tr")
    ]
    assert [row[0] for row in rows] == ["1", "2"]
    assert rows[0][2] == 'a, "b"'
    assert answer.page.xpath("//textarea")[0].text == _TWO


_EXPECTED = [{"n": 1, "x": 0.5, "t": 'a, "b"'}, {"n": 2, "x": None, "t": "c"}]


def test_a_file_holds_the_answer(small_app: ASGIApp) -> None:
    assert json.loads(post(small_app, _TWO, form="json").text) == _EXPECTED


@pytest.mark.usefixtures("here")
def test_other_files_hold_the_answer(small_app: ASGIApp) -> None:
    answer = post(small_app, _TWO, form="csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="answer.csv"'
    assert list(csv.reader(io.StringIO(answer.text)))[1:] == [["1", "0.5", 'a, "b"'], ["2", "", "c"]]
    assert pq.read_table(io.BytesIO(post(small_app, _TWO, form="parquet").body)).to_pylist() == _EXPECTED
    sheet = openpyxl.load_workbook(io.BytesIO(post(small_app, _TWO, form="xlsx").body)).active
    assert [tuple(row) for row in sheet.iter_rows(values_only=True)] == [
        ("n", "x", "t"), (1, 0.5, 'a, "b"'), (2, None, "c"),
    ]  # fmt: skip


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("select count(*) from smf_record", "190"),
        ("show tables", ""),
        ("describe coupling_structure", ""),
        ("from smf_record select 7 limit 1;", "7"),
        ("select 7 -- the last line is a comment", "7"),
        ("with a as (select 7 x) select x from a", "7"),
        ("explain select 7", ""),
        ("select structure from coupling_structure order by structure limit 1", ""),
    ],
)
def test_what_can_be_asked(app: ASGIApp, query: str, first: str) -> None:
    answer = post(app, query)
    assert answer.status == 200, answer.words
    cells = answer.page.xpath("//*[@id='table-answer']//tbody/tr[1]/*[1]")
    assert cells
    assert not first or cells[0].text_content().strip() == first


@pytest.mark.usefixtures("here")
def test_the_page_has_a_thousand_rows_and_says_so(small_app: ASGIApp) -> None:
    answer = post(small_app, "select range from range(5000)")
    assert len(answer.page.xpath("//*[@id='table-answer']//tbody/tr")) == 1000
    assert "The first 1,000 rows" in answer.words
    assert "The first 1,000 rows" not in post(small_app, "select range from range(1000)").words


@pytest.mark.usefixtures("here")
def test_a_file_has_a_hundred_thousand_rows_or_is_refused(small_app: ASGIApp) -> None:
    assert post(small_app, "select range from range(100000)", form="csv").text.count("\n") == 100_001
    answer = post(small_app, "select range from range(100001)", form="csv")
    assert answer.status == 400
    assert "more than 100,000 rows" in answer.words


def test_a_query_that_runs_on_is_ended(small_app: ASGIApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.serve.asked.LONGEST", 1.0)
    answer = post(small_app, "select count(*) from range(1000000) a, range(1000000) b where a.range < b.range")
    assert answer.status == 503
    assert "takes longer than 1 seconds" in answer.words


def test_the_time_of_a_question_is_an_option_of_the_server(small_pdb: Path) -> None:
    app = application(Workspace(small_pdb, "512MiB", seconds=2.0), Door(port=8711))
    answer = post(app, "select count(*) from range(1000000) a, range(1000000) b where a.range < b.range")
    assert answer.status == 503
    assert "takes longer than 2 seconds" in answer.words
    assert "--time-limit" in answer.words


@pytest.mark.parametrize(
    "query",
    [
        "select length(repeat('x', 2000000000))",
        "select list(a.range) from range(100000000) a",
        "select string_agg(repeat('x', 10000), '') from range(1000000)",
    ],
)
def test_a_query_that_fills_memory_is_ended(small_app: ASGIApp, query: str) -> None:
    answer = post(small_app, query)
    assert answer.status == 503
    assert "needs more memory" in answer.words
    # The server goes on.
    with questions_in_this_process():
        assert post(small_app, "select 7").status == 200


@pytest.mark.usefixtures("here")
def test_an_answer_of_few_large_rows_is_refused(small_app: ASGIApp) -> None:
    answer = post(small_app, "select repeat('x', 1000000) from range(100)", form="csv")
    assert answer.status == 400
    assert "more than 64 MiB" in answer.words


def test_a_link_fills_the_form_and_runs_nothing(app: ASGIApp) -> None:
    answer = ask(app, "/ask?query=select+7")
    assert answer.page.xpath("//textarea")[0].text == "select 7"
    assert not answer.page.xpath("//*[@id='table-answer']")
    assert ask(app, "/ask?run=1").status == 400


@pytest.mark.usefixtures("here")
def test_two_columns_of_one_name(small_app: ASGIApp) -> None:
    assert post(small_app, "select 1 as a, 2 as a").status == 200
    assert post(small_app, "select 1 as a, 2 as a", form="json").status in (200, 400)


def test_wrong_forms(small_app: ASGIApp) -> None:
    assert post(small_app, "select 1", form="exe").status == 400
    assert post(small_app, "select 1", other="x").status == 400
    assert post(small_app, "x" * 20_001).status == 400
    assert post(small_app, "").status == 400
