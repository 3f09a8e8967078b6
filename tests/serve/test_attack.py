"""Attacks, each with its outcome: scripts in names, SQL in parameters, paths, statements that do more than read."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from random import Random
from urllib.parse import quote, quote_plus, urlencode

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from starlette.types import ASGIApp

from plexlens.pdb import Pdb, ingest
from plexlens.serve.app import application
from plexlens.serve.guard import Door
from plexlens.serve.workspace import Workspace
from tests.example_file import write_example
from tests.metrics import accounting_dumps
from tests.serve.client import Answer, ask
from tests.serve.in_this_process import questions_in_this_process
from tests.serve.test_ask import post

#: Names of a structure and a system as long as those that they replace in the dump.
STRUCTURE, SYSTEM = "<img src=x o='\">", "<b>'"

#: What a parameter may hold.
POISONS = (
    "<script>alert(1)</script>", "\"><svg onload=alert(1)>", "' or 1=1 --", "'; drop table smf_record; --", "\\", "%00",
    "../../etc/passwd", "/etc/passwd", "{{7*7}}", "${7*7}", "\u202e", "\U0001d54f" * 50, "1e999", "NaN", "-1",
    "'||(select 1)||'",
    "union select * from read_text('/etc/passwd')", "javascript:alert(1)", "\ud800", "x" * 5000, "=cmd|' /C calc'!A0",
)  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> ASGIApp:
    """A database whose dump names a structure and a system in HTML."""
    folder = tmp_path_factory.mktemp("hostile")
    write_example(folder / "example.smf")
    data = (folder / "example.smf").read_bytes()
    before = data
    for old, new in (("DSNDB2B_LOCK1".ljust(16), STRUCTURE), ("SYS1", SYSTEM)):
        assert len(old) == len(new)
        data = data.replace(old.encode("cp037"), new.encode("cp037"))
    assert data != before
    dump = folder / "<script>alert(1)<" / "h.smf"
    dump.parent.mkdir()
    dump.write_bytes(data)
    list(ingest([dump], Pdb.create(folder / "pdb")))
    return application(Workspace(folder / "pdb", "512MiB"), Door(port=8711))


def is_harmless(answer: Answer) -> bool:
    """Whether a page has no script but the server's files, and no handler or link that is one."""
    if not answer.headers.get("content-type", "").startswith("text/html"):
        return True
    page = answer.page
    scripts = page.xpath("//script[not(@type='application/json')]")
    own = all((one.get("src") or "").startswith("/static/") and not (one.text or "") for one in scripts)
    handlers = page.xpath("//@*[starts-with(name(), 'on')]")
    links = [one for one in page.xpath("//@href | //@src | //@action") if ":" in one.partition("?")[0]]
    strange = page.xpath("//svg[not(*)] | //img | //b[not(ancestor::ul[@class='chips']) and not(ancestor::div)]")
    return own and not handlers and not strange and all(one in ("data:,",) or one.startswith("http") for one in links)


def test_metrics_with_such_names_are_read_by_a_parser(tmp_path: Path) -> None:
    names = [('S"}', "A{B}=\\"), ("#EOF", "# EOF"), ("\\\\n,", '{}",x="y'), ("S1", "LAST\\")]
    tasks = accounting_dumps.tasks(Random(1), [0], 20)
    used = [replace(task, system=names[n % 4][0], region=names[n % 4][1]) for n, task in enumerate(tasks)]
    ingest([accounting_dumps.write_dump(tmp_path / "a.smf", used)], Pdb.create(tmp_path / "pdb"))
    app = application(Workspace(tmp_path / "pdb", "512MiB"), Door(port=8711))
    read = {one.name: one for one in text_string_to_metric_families(ask(app, "/metrics").text)}
    samples = read["plexlens_cics_transaction_transactions_per_second"].samples
    assert {(one.labels["system"], one.labels["applid"]) for one in samples} == set(names)


def test_names_are_shown_as_they_are_and_never_as_html(hostile: ASGIApp) -> None:
    answer = ask(hostile, "/grain/coupling_structure?by=system,structure")
    assert STRUCTURE in answer.page.text_content()
    assert SYSTEM in answer.page.text_content()
    assert is_harmless(answer)
    named = quote_plus(STRUCTURE)
    link = next(one for one in answer.page.xpath("//a[@class='lead']/@href") if named in one)
    deeper = ask(hostile, link)
    assert deeper.status == 200
    chips = [chip.text_content() for chip in deeper.page.xpath("//ul[@class='chips']//b")]
    assert STRUCTURE in chips
    assert "No row meets" not in deeper.words
    assert is_harmless(deeper)


@pytest.mark.parametrize(
    "address",
    [
        "/", "/page/coupling", "/page/findings", "/page/read", "/page/cpu", "/ask",
        "/grain/coupling_structure?by=structure", "/records/coupling_structure",
        f"/records/coupling_structure?{urlencode({'where': f'structure={STRUCTURE}'})}",
        f"/grain/coupling_structure?{urlencode({'by': 'structure', 'where': f'system={SYSTEM}'})}",
    ],
)  # fmt: skip
def test_no_page_runs_a_name(hostile: ASGIApp, address: str) -> None:
    answer = ask(hostile, address)
    assert answer.status == 200
    assert "<script>alert" not in answer.text
    assert "<img" not in answer.text
    assert "<b>'" not in answer.text
    assert is_harmless(answer)


def test_a_name_in_an_answer_in_sql_is_text(hostile: ASGIApp, small_app: ASGIApp) -> None:
    answer = post(small_app, "select '<script>alert(1)</script>' as \"<script>alert(2)</script>\"")
    assert answer.status == 200
    assert "<script>alert" not in answer.text
    assert is_harmless(answer)
    answer = post(hostile, "select '<script>alert(1)</script>' from nowhere_<script>")
    assert answer.status == 400
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("poison", POISONS, ids=range(len(POISONS)))
def test_every_parameter_takes_poison(app: ASGIApp, poison: str) -> None:
    """Refused or found nowhere: never a defect, a script, or a row that another value would not give."""
    value = quote(poison, safe="", errors="surrogatepass")
    names = ("by", "metric", "from", "to", "system", "shift", "class", "where", "page", "table", "token", value)
    for path in ("/grain/coupling_structure", "/records/coupling_structure", "/page/cpu", "/", "/ask"):
        for name in names:
            answer = ask(app, f"{path}?{name}={value}")
            # The overview hands a selection on without a look at the database.
            handed_on = path == "/" and name in ("system", "class") and answer.status == 200
            assert answer.status in (400, 404, 414) or handed_on, (path, name, answer.status)
            assert is_harmless(answer)
            assert "root:" not in answer.text
    answer = ask(app, f"/grain/coupling_structure?where=structure%3D{value}")
    assert answer.status in (200, 400)
    if answer.status == 200:
        assert "No row meets the filters" in answer.words
    assert is_harmless(answer)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/%2e%2e/etc/passwd", "/static//etc/passwd",
        "/static/serve.css/../../app.py", "/static/htmx.LICENSE.txt", "/static/", "/../../etc/passwd", "//etc/passwd",
        "/report.html/../../etc/passwd", "/page/..%2f..%2fetc%2fpasswd", "/grain/..%2f..%2fmanifest.json/rows.csv",
        "/grain/coupling_structure/rows..%2f..%2fx", "/page/cpu/tables.html", "/manifest.json", "/tables", "/%00",
        "/static/serve.css%00.txt", "/static/\\..\\app.py", "/records/..", "/.env",
    ],
)  # fmt: skip
def test_no_path_reaches_a_file(app: ASGIApp, path: str) -> None:
    answer = ask(app, path)
    assert answer.status == 404
    assert "root:" not in answer.text
    assert "import" not in answer.text


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("drop table smf_record", "is a statement of type DROP"),
        ("delete from smf_record", "is a statement of type DELETE"),
        ("insert into smf_record select * from smf_record", "is a statement of type INSERT"),
        ("update smf_record set system = 'X'", "is a statement of type UPDATE"),
        ("create table x as select 1", "is a statement of type CREATE"),
        ("create macro f() as 1", "is a statement of type CREATE"),
        ("copy smf_record to '{folder}/stolen.csv'", "is a statement of type COPY"),
        ("copy smf_record from '/etc/passwd'", "is a statement of type COPY"),
        ("export database '{folder}'", "is a statement of type"),
        ("attach '{folder}/stolen.db' as stolen", "is a statement of type ATTACH"),
        ("install httpfs", "is a statement of type LOAD"),
        ("load httpfs", "is a statement of type LOAD"),
        ("pragma database_list", "is a pragma"),
        ("/* */ -- \n PRAGMA show_tables", "is a pragma"),
        ("pragma enable_profiling", "is a statement of type PRAGMA"),
        ("set memory_limit = '100GB'", "is a statement of type SET"),
        ("reset memory_limit", "is a statement of type"),
        ("call pragma_version()", "is a statement of type"),
        ("use memory", "is a statement of type"),
        ("prepare p as select 1", "is a statement of type PREPARE"),
        ("begin", "is a statement of type TRANSACTION"),
        ("select 1; drop table smf_record", "there are 2 statements"),
        ("select 1) ; drop table smf_record; select (1", "the query failed"),
        ("select 1) union all (select 2", "the query failed"),
        ("select * from read_text('/etc/passwd')", "read_text reads files"),
        ("select * from READ_TEXT('/etc/passwd')", "read_text reads files"),
        ("select (select content from read_blob('/etc/passwd'))", "read_blob reads files"),
        ("with a as (from read_csv('/etc/passwd')) select * from a", "read_csv reads files"),
        ("select * from '/etc/passwd'", "reads files"),
        ("select * from 'x.parquet'", "reads files"),
        ("select * from glob('/*')", "glob reads files"),
        ("select * from query('select * from read_text(''/etc/passwd'')')", "query reads files"),
        ("select * from query_table('/etc/passwd')", "query_table reads files"),
        ("select * from read_parquet('http://192.0.2.1/x.parquet')", "read_parquet reads files"),
        ("explain analyze select * from read_text('/etc/passwd')", ""),
        ("select getenv('HOME')", "getenv does not exist"),
        ("select getvariable('x') from sniff_csv('/etc/passwd')", "sniff_csv reads files"),
        ("select * from duckdb_secrets()", "the query failed"),
        ("select * from sql_auto_complete(''); --", ""),
        ("select", "the query failed"),
        ("'", "the query failed"),
        ("/*", "the query failed"),
        (";", "the query is empty"),
        ("\x00", ""),
        ("(" * 5000, ""),
    ],
)
def test_a_statement_that_does_more_than_read_is_refused(
    small_app: ASGIApp, small_pdb: Path, tmp_path: Path, statement: str, said: str
) -> None:
    before = sorted((path, path.stat().st_size) for path in small_pdb.rglob("*"))
    # A process of its own where more than a check may answer; one statement of those that a check refuses has it too.
    own = said in ("", "the query failed", "is a statement of type DROP", "getenv does not exist")
    with nullcontext() if own else questions_in_this_process():
        answer = post(small_app, statement.replace("{folder}", str(tmp_path)))
    assert answer.status in (400, 503), answer.words
    assert said.lower() in answer.words.lower()
    assert "root:" not in answer.text
    assert "defect" not in answer.words
    assert list(tmp_path.iterdir()) == []
    assert sorted((path, path.stat().st_size) for path in small_pdb.rglob("*")) == before


def test_the_engine_itself_refuses_what_the_check_would_miss(small_pdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check of functions, in this process: files outside the database, settings, and writing stay shut."""
    from plexlens.serve import asked

    monkeypatch.setattr(asked, "_check_sources", lambda *_: None)
    monkeypatch.setattr(asked, "_bound", lambda *_: None)
    for source in ("read_text('/etc/passwd')", "'/etc/passwd'", "glob('/etc/*')"):
        with pytest.raises(Exception, match=r"disabled|[Pp]ermission|does not exist"):
            asked._answer(small_pdb, f"select * from {source}", 10, 512 << 20, 30.0)


def test_the_token_is_not_in_the_environment_of_a_question(app: ASGIApp, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    seen = {}

    def run(*words: object, **how: object) -> object:
        seen.update(how)
        raise subprocess.TimeoutExpired("x", 1)

    monkeypatch.setenv("PLEXLENS_SERVE_TOKEN", "a-token-of-one's-own")
    monkeypatch.setattr("plexlens.serve.asked.subprocess.run", run)
    assert post(app, "select 1").status == 503
    assert "PLEXLENS_SERVE_TOKEN" not in json.dumps(seen["env"])
