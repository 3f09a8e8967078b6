"""Findings from day to day: states by hand, days by their data, the cache, and the page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from plexlens.serve.findings_by_day import Line, lines_of
from plexlens.serve.history import Day, History
from plexlens.serve.judged import Judged, Seen
from plexlens.serve.workspace import Workspace
from tests.serve.client import ask

#: D[1] is the first of May.
D = [date(2024, 4, 30) + timedelta(days=number) for number in range(32)]


def _seen(rule: str = "a.b", system: str = "SYS1", cost: float | None = None, *, leads: bool = True) -> Seen:
    return Seen(rule, rule, "medium", "cpu_system", (("system", "System", system),), "lpar_busy", "It is.", cost, leads)


def _lines(found: dict[int, Sequence[Seen]], systems: dict[int, str] | None = None) -> dict[str, Line]:
    """Lines by rule and system; a day has SYS1 unless said otherwise, and all rules ran."""
    days, judged = [], {}
    for number, seen in found.items():
        names = frozenset((systems or {}).get(number, "SYS1").split())
        days.append(Day(D[number], names, names, str(number)))
        judged[D[number]] = Judged(tuple(seen), frozenset({"a.b", "c.d"}))
    return {f"{line.latest.rule} {line.latest.value('system')}": line for line in lines_of(days[::-1], judged)}


def test_states_by_hand() -> None:
    a, c = _seen(), _seen("c.d")
    # a.b on days 1, 2, 4; c.d on day 3; the last day is 4.
    lines = _lines({1: [a], 2: [a], 3: [c], 4: [a]})
    assert (lines["a.b SYS1"].state, lines["a.b SYS1"].days) == ("new", (D[1], D[2], D[4]))
    assert lines["a.b SYS1"].could == (D[1], D[2], D[3], D[4])
    assert (lines["c.d SYS1"].state, lines["c.d SYS1"].days) == ("gone", (D[3],))
    assert _lines({1: [a], 3: [a]})["a.b SYS1"].state == "still"
    assert _lines({1: [a]})["a.b SYS1"].state == "new"


def test_a_day_without_data_of_the_system_says_nothing() -> None:
    a = _seen()
    # SYS1 writes on days 1 and 3, SYS2 on all: day 2 does not break the run of SYS1, and day 4 does not end it.
    systems = {1: "SYS1 SYS2", 2: "SYS2", 3: "SYS1 SYS2", 4: "SYS2"}
    lines = _lines({1: [a], 2: [], 3: [a]}, systems)
    assert (lines["a.b SYS1"].state, lines["a.b SYS1"].could) == ("still", (D[1], D[3]))
    assert _lines({1: [a], 2: [], 3: [a], 4: []}, systems)["a.b SYS1"].state == "unknown"


def test_a_rule_that_could_not_run_says_nothing() -> None:
    days = [Day(D[n], frozenset({"SYS1"}), frozenset({"SYS1"}), str(n)) for n in (2, 1)]
    judged = {D[1]: Judged((_seen(),), frozenset({"a.b"})), D[2]: Judged((), frozenset())}
    (line,) = lines_of(days, judged)
    assert line.state == "unknown"


def test_what_another_finding_speaks_for_has_no_line() -> None:
    lines = _lines({1: [_seen(), _seen("c.d", leads=False)], 2: [_seen()]})
    assert list(lines) == ["a.b SYS1"]
    lines = _lines({1: [_seen(), _seen("c.d", leads=False)], 2: [_seen("c.d")]})
    assert lines["c.d SYS1"].days == (D[1], D[2])


def test_costly_ones_come_first() -> None:
    lines = _lines({1: [_seen(), _seen("c.d", cost=9.0), _seen(system="SYS2", cost=10.0)]}, {1: "SYS1 SYS2"})
    assert list(lines) == ["a.b SYS2", "c.d SYS1", "a.b SYS1"]


@pytest.fixture(scope="module")
def history(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> History:
    return History(workspace, tmp_path_factory.mktemp("cache"))


def _local(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_days_are_those_of_local_time(history: History, workspace: Workspace) -> None:
    """Against the extent, which is read from the tables in another way."""
    days = history.days()
    assert days == tuple(sorted(days, key=lambda day: day.date, reverse=True))
    for one in workspace.extent.systems:
        if one.system and one.first and one.last:
            of = [day.date for day in days if one.system in day.systems]
            assert (min(of), max(of)) == (one.first.date(), one.last.date()), one.system


def test_a_judged_day_is_that_of_the_report_and_is_kept(history: History, workspace: Workspace, app: ASGIApp) -> None:
    day = next(one for one in history.days() if one.date == date(2008, 9, 4))
    history.judged([day])
    history.wait(120)
    (judged,) = history.judged([day]).values()
    page = ask(app, "/page/findings?from=2008-09-04&to=2008-09-04").page
    shown = {one.get("id").removeprefix("advice-") for one in page.xpath("//*[contains(@class, 'card advice')]")}
    assert shown
    assert {one.rule for one in judged.findings if one.leads} == shown
    folder = history._folder
    assert folder is not None
    (file,) = folder.glob("*.json")
    # Another server finds it; a damaged file is judged again, and another version's is never read.
    again = History(workspace, folder)
    assert again._held(day) == judged
    file.write_text(file.read_text()[:100])
    assert History(workspace, folder)._held(day) is None


def test_keys_follow_from_sources_rules_and_catalogue(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    from plexlens.serve import history as module

    def key(sources: set[str]) -> str:
        return module._key(D[1], sources)

    first = key({"a", "b"})
    assert key({"b", "a"}) == first
    assert key({"a"}) != first
    assert module._key(D[2], {"a", "b"}) != first
    monkeypatch.setattr(module, "_rules", lambda: "others")
    assert key({"a", "b"}) != first


def test_the_page_while_days_are_judged_and_after(
    history: History, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from plexlens.serve.app import application
    from plexlens.serve.guard import Door

    address = "/findings?from=2008-09-04&to=2008-09-04"
    monkeypatch.setattr("plexlens.serve.findings_page._WAIT", 0.0)
    app = application(workspace, Door(port=8711), tmp_path)
    assert "0 of 1 days are judged" in ask(app, address).words
    monkeypatch.setattr("plexlens.serve.findings_page._WAIT", 120.0)
    answer = ask(app, address)
    assert "days are judged, the latest first" not in answer.words
    rows = answer.page.xpath("//*[@id='table-new']//tbody/tr")
    assert rows
    for row in rows[:3]:
        finding, thing = row.xpath(".//a")[:2]
        assert f'id="{finding.get("href").partition("#")[2]}"' in ask(app, finding.get("href").partition("#")[0]).text
        found = ask(app, thing.get("href"))
        assert found.status == 200
        assert "No row meets the filters" not in found.words


def test_a_process_that_fails_is_told(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.serve.judging.sys.executable", "/bin/false")
    history = History(workspace, None)
    day = history.days()[0]
    history.judged([day])
    history.wait(30)
    assert "ended before its time" in history.judged([day])[day.date].problem


@pytest.mark.parametrize("query", ["from=yesterday", "by=system", "from=2024-01-02&to=2024-01-01", "system=A&where=b"])
def test_wrong_parameters(app: ASGIApp, query: str) -> None:
    assert ask(app, f"/findings?{query}").status == 400


def test_a_system_is_a_name_or_a_pattern(app: ASGIApp) -> None:
    """A system that is not there is refused: an empty page would say that it has no findings."""
    answer = ask(app, "/findings?system=NOPE")
    assert answer.status == 404
    assert "SYS1" in answer.words
    assert ask(app, "/findings?system=SYS*").status == 200
