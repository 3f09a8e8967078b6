"""Pages over the example: what they hold is what the report and the raw tables hold."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from starlette.types import ASGIApp

from plexlens.errors import NothingUsableError
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb
from plexlens.report import render_html
from plexlens.report.blocks.readings import readings_of
from plexlens.report.build import build
from plexlens.report.pages import PAGES
from plexlens.serve.workspace import BusyError, Workspace
from tests.serve.client import ask


def _systems(pdb: Path) -> set[str]:
    """Straight from the Parquet files."""
    rows = duckdb.sql(
        f"select distinct system from read_parquet('{pdb}/tables/*/smf_record/**/*.parquet', union_by_name=true)"
        " where record_type not in (2, 3)"
    ).fetchall()
    return {name for (name,) in rows if name}


def test_the_first_page_lists_what_the_database_holds(app: ASGIApp, pdb: Path) -> None:
    page = ask(app, "/").page
    listed = {row.text_content() for row in page.xpath("//*[@id='table-systems']//tbody//th")}
    assert listed == _systems(pdb)
    counts = duckdb.sql(
        "select record_type || coalesce('-' || subtype, ''), count(*)"
        f" from read_parquet('{pdb}/tables/*/smf_record/**/*.parquet', union_by_name=true) group by all"
    ).fetchall()
    told: dict[str, int] = {}
    for row in page.xpath("//*[@id='table-read_records']//tbody//tr"):
        cells = [cell.text_content() for cell in row]
        told[cells[0].removeprefix("SMF ")] = told.get(cells[0].removeprefix("SMF "), 0) + int(
            cells[2].replace(",", "")
        )
    assert told == dict(counts)


def test_every_page_of_the_report_is_a_page(app: ASGIApp) -> None:
    for one in PAGES:
        answer = ask(app, f"/page/{one.id}")
        assert answer.status == 200
        assert answer.page.findtext(".//h1") == one.title
        # Findings and what was read have no intervals of their own, and the database has many.
        assert one.grains or "No interval was read" not in answer.words


def test_a_page_has_the_tables_of_the_report(app: ASGIApp, pdb: Path) -> None:
    from lxml import html

    connection = Pdb.open(pdb).connect()
    whole = html.fromstring(render_html(build(Inputs(connection), readings_of(connection))))
    page = ask(app, "/page/coupling").page
    names = [one.get("id") for one in page.xpath("//section[@id='coupling']//*[starts-with(@id, 'table-')]")]
    assert "table-coupling_structures" in names
    for name in names:
        (ours,), (theirs,) = (one.xpath(f"//*[@id='{name}']//tbody") for one in (page, whole))
        assert ours.text_content() == theirs.text_content()


def test_a_selection_restricts_the_page_and_stays_in_its_links(app: ASGIApp) -> None:
    answer = ask(app, "/page/cpu?system=SYS2&from=1996-05-29")
    assert answer.status == 200
    assert "Selection: from 1996-05-29 00:00" in answer.words
    assert "SYS2" in answer.words
    assert "SYS1" not in answer.page.xpath("//section[@id='cpu']")[0].text_content()
    links = answer.page.xpath("//nav//a/@href")
    assert "/page/coupling?system=SYS2&from=1996-05-29" in links


def test_the_offset_of_a_time_may_be_written_with_a_plus_sign(app: ASGIApp) -> None:
    answer = ask(app, "/page/cpu?from=2008-05-15T17:00+00:00")
    assert answer.status == 200
    assert "Selection: from 2008-05-15 17:00 UTC" in answer.words


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("/page/nope", 404, "the report has no page 'nope'"),
        ("/nope", 404, "there is no page at this address"),
        ("/static/nope.js", 404, "There is no such file"),
        ("/page/cpu?form=2008", 400, "did you mean from?"),
        ("/page/cpu?from=yesterday", 400, "'yesterday' is not a time"),
        ("/page/cpu?from=2008-09-04&to=2008-09-03", 400, "ends before it starts"),
        ("/page/cpu?from=2008&from=2009", 400, "it is given twice"),
        ("/page/cpu?from=9999-12-31&to=9999-12-31", 404, "nothing matches"),
        ("/page/cpu?system=NOPE", 404, "no system is called 'NOPE'"),
        ("/page/cpu?shift=25:00-26:00", 400, "is not a time of day"),
        ("/page/cpu?class=%00", 400, "it has control characters"),
        ("/page/cpu?class=" + "x" * 201, 400, "it has 201 characters"),
        ("/page/cpu?" + "&".join(["system=SYS1"] * 61), 400, "61 parameters"),
    ],
)
def test_a_wrong_address_is_told_with_what_to_do(app: ASGIApp, address: str, status: int, said: str) -> None:
    answer = ask(app, address)
    assert answer.status == status
    told = answer.text if address.startswith("/static") else answer.words
    assert said.lower() in told.lower()
    assert "Traceback" not in answer.text


def test_the_report_is_a_file(app: ASGIApp) -> None:
    answer = ask(app, "/report.html?system=SYS1")
    assert answer.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "Selection: system SYS1" in answer.words


def test_a_defect_is_told_without_its_insides(
    app: ASGIApp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("plexlens.serve.report_pages.build", broken)
    answer = ask(app, "/page/dasd?system=SYS1")
    assert answer.status == 500
    assert "defect of Plexlens (RuntimeError)" in answer.text
    assert "secret" not in answer.text
    assert "secret" in capsys.readouterr().err


def test_what_is_ingested_later_is_shown(tmp_path: Path) -> None:
    from plexlens.example import write_example
    from plexlens.pdb import ingest
    from plexlens.serve.app import application
    from plexlens.serve.guard import Door

    database = Pdb.create(tmp_path / "pdb")
    app = application(Workspace(tmp_path / "pdb", "512MiB"), Door())
    assert "SYS1" not in ask(app, "/").words
    write_example(tmp_path / "example.smf")
    list(ingest([tmp_path / "example.smf"], database))
    assert "SYS1" in ask(app, "/").words


def test_a_question_that_takes_too_long_is_ended(pdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.serve.workspace.LONGEST", 0.3)
    workspace = Workspace(pdb, "512MiB")
    with pytest.raises(BusyError, match="takes longer than"), workspace.session() as session:
        session.inputs.connection.execute(
            "select count(*) from range(1000000) a, range(1000000) b where a.range < b.range"
        )
    with workspace.session() as session:
        assert session.inputs.connection.execute("select 1").fetchone() == (1,)


def test_a_question_over_its_memory_is_ended(pdb: Path) -> None:
    workspace = Workspace(pdb, "64MiB")
    with pytest.raises(BusyError, match="needs more memory than 64"), workspace.session() as session:
        session.inputs.connection.execute("select list(range) from range(50000000)").fetchall()


def test_sessions_are_few_and_hold_their_own_selection(pdb: Path) -> None:
    from plexlens.metrics.selection import selected
    from plexlens.serve.workspace import SESSIONS

    workspace = Workspace(pdb, "512MiB")
    for hour in range(SESSIONS + 4):
        with workspace.session(selected(since=f"1996-05-29T0{hour % 10}:00")) as session:
            assert session.inputs.selection.windows[0].start.hour == hour % 10
    assert len(workspace._sessions) == SESSIONS
    with pytest.raises(NothingUsableError), workspace.session(selected(systems=["NOPE"])):
        pass
