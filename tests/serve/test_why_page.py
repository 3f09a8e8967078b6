"""The page of why: its numbers are those of the command, its address holds everything, its errors say what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from tests.cli.command import run
from tests.serve.client import ask

#: The last day of `tests.serve.two_weeks`, on which payments wait for each other from 14:10 on.
PAGE = "/why/cpu_system?metric=processors_used&by=system&where=system%3DSYSA&from=2026-01-18&to=2026-01-18"


def test_the_page_says_what_the_command_says(
    two_weeks_app: ASGIApp, two_weeks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An answer takes ten seconds of processor time: on a busy machine that is more than the server allows.
    monkeypatch.setattr("plexlens.serve.workspace.LONGEST", 600.0)
    words = ["--metric", "cpu_system.processors_used", "--at", "2026-01-18", "--where", "system = 'SYSA'"]
    done = run("why", two_weeks, *words, "--no-findings", "--json", cwd=two_weeks.parent)
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout)
    answer = ask(two_weeks_app, PAGE)
    assert answer.status == 200
    assert f"NEW: {expected['new']}. BASE: {expected['base']}." in answer.words
    links = answer.page.xpath("//*[@id='answer']//a[starts-with(@href, '/grain/')]")
    texts = [link.text_content().strip() for link in links]
    assert texts[:2] == [f"{expected['before']:.2f}", f"{expected['after']:.2f}"]


def test_without_a_time_the_page_asks_for_it(two_weeks_app: ASGIApp) -> None:
    answer = ask(two_weeks_app, "/why/cpu_system?metric=processors_used")
    assert answer.status == 200
    assert "Select a time with a beginning and an end." in answer.words


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        (f"{PAGE}&against=nonsense", 400, "Parameter against: 'nonsense' is not a time."),
        (f"{PAGE}&against=1999-01-01", 404, "Nothing matches 1999-01-01"),
        ("/why/nothing", 404, "There is no grain 'nothing'."),
    ],
)
def test_what_is_wrong_is_said(two_weeks_app: ASGIApp, address: str, status: int, said: str) -> None:
    answer = ask(two_weeks_app, address)
    assert answer.status == status
    assert said in answer.words
