"""Defects that users met, each once: texts that confuse stay away."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.command import run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def minute(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a simulated minute, whose accounting is rolled into a quarter of an hour."""
    folder = tmp_path_factory.mktemp("minute")
    assert run("simulate", ROOT / "tests/simulate/two-members.toml", "-o", "minute.smf", cwd=folder).returncode == 0
    done = run("report", "minute.smf", "--format", "text", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_accounting_of_a_minute_does_not_make_the_data_sparse(minute: str) -> None:
    # A heading said that the data covers 2 of 15 min.
    assert "Db2 accounting" in minute
    assert not re.search(r"covers \S+ \S* ?of the", minute)


def test_no_share_of_getpages_is_above_all_of_them(minute: str) -> None:
    # A finding said that 498 % of its getpages read a page.
    shares = [float(share) for share in re.findall(r"([\d.]+) % of (?:its|the) getpages", minute)]
    assert all(share <= 100 for share in shares), shares
    assert "read a page" not in minute


def test_the_prefetch_threshold_is_not_named_by_letters_alone(minute: str) -> None:
    # SPTH: letters of the manuals that no page explained.
    assert not re.search(r"\bSPTH\b", minute)


def test_help_of_the_example_speaks_of_what_it_writes() -> None:
    text = run("example", "--help", cwd=ROOT).stdout
    assert "two studies" not in text
    assert "numbers of published studies" in text


@pytest.mark.parametrize("command", ["report", "records", "sql", "pools", "sharing", "plan", "export", "compare"])
def test_no_command_asks_for_a_dump_where_a_database_will_do(command: str) -> None:
    usage = run(command, "--help", cwd=ROOT).stdout.splitlines()[0]
    assert "DUMP" not in usage


@pytest.mark.parametrize(
    ("name", "named"),
    [("smf74_4", "smf74_4_cache"), ("smf74_4_reqest", "name smf74_4_request,"), ("zzz", "see plexlens layouts list")],
)
def test_a_section_that_does_not_exist_is_answered_with_similar_ones(name: str, named: str) -> None:
    # It said: similar: no similar name.
    done = run("layouts", "show", name, cwd=ROOT)
    assert done.returncode == 2
    assert f"there is no section '{name}'" in done.stderr and named in done.stderr
