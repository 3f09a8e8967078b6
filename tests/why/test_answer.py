"""`plexlens why` on simulated pairs: a short form of the trial, the parts against plain SQL, and wrong use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import plexlens as px
from tests.cli.command import run
from tests.example_file import write_example
from tools.why_trials import (
    DEVELOPED,
    PERIODS,
    Judged,
    database_of,
    nothing_planted,
    planted,
)
from tools.why_trials_page import page

CASES = {case.name: case for case in planted()}
NEW, BASE = PERIODS


@pytest.fixture(scope="module")
def pair() -> Iterator[Path]:
    """A database of a morning, and of an afternoon with a sixteenth of the lock table."""
    with database_of(CASES["lock table cut to a sixteenth"], DEVELOPED) as path:
        yield path


def _asked(path: Path, metric: str, *more: str) -> dict[str, object]:
    done = run(
        "why",
        path,
        "--metric",
        metric,
        "--at",
        NEW,
        "--against",
        BASE,
        "--no-findings",
        "--json",
        *more,
        cwd=path.parent,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_planted_cause_comes_first(pair: Path) -> None:
    answer = _asked(pair, "db2_accounting.class2_elapsed_per_commit", "--where", "plan = 'ORDER'")
    assert answer["judgement"] == "changed"
    causes = answer["causes"]
    assert isinstance(causes, list)
    assert causes[0]["name"] == "coupling_structure.lock_entries"
    # The scenario: 1,024 entries, then 64.
    assert (causes[0]["before"], causes[0]["after"]) == (1024.0, 64.0)
    assert [(each["name"], each["before"], each["after"]) for each in answer["settings"]] == [  # type: ignore[attr-defined]
        ("coupling_structure.lock_entries", 1024.0, 64.0)
    ]


def test_nothing_planted_names_nothing() -> None:
    case = nothing_planted(CASES["less lock avoidance"])
    with database_of(case, DEVELOPED + 700) as path:
        answer = _asked(path, case.asked)
    assert (answer["judgement"], answer["causes"], answer["settings"]) == ("chance", [], [])


def test_parts_by_plan_against_sql(pair: Path) -> None:
    """The same sums by plain SQL over the view, and the midpoint rule worked with them."""
    answer = _asked(pair, "db2_accounting.getpages_per_commit")
    query = (
        "select plan, interval >= '2026-01-05 12:00:00+00'::timestamptz as is_new, sum(getpages) as up,"
        " sum(commits) as down"
        " from db2_accounting where interval < '2026-01-05 08:50:00+00'::timestamptz or"
        " (interval >= '2026-01-05 12:00:00+00'::timestamptz and interval < '2026-01-05 14:50:00+00'::timestamptz)"
        " group by all"
    )
    with px.open(pair) as database:
        rows = database.sql(query).arrow().to_pylist()
    up = {(row["plan"], row["is_new"]): row["up"] for row in rows}
    down = {(row["plan"], row["is_new"]): row["down"] for row in rows}
    plans = sorted({row["plan"] for row in rows})
    total = [sum(down[plan, new] for plan in plans) for new in (False, True)]
    whole = [sum(up[plan, new] for plan in plans) / total[new] for new in (False, True)]
    tables = {tuple(table["keys"]): table["objects"] for table in answer["where_it_changed"]}  # type: ignore[attr-defined]
    objects = {each["object"]: each for each in tables["plan",]}
    assert sorted(objects) == plans
    for plan in plans:
        r = [up[plan, new] / down[plan, new] for new in (False, True)]
        s = [down[plan, new] / total[new] for new in (False, True)]
        assert objects[plan]["intensity"] == pytest.approx((r[1] - r[0]) * (s[0] + s[1]) / 2, abs=1e-9)
        middle = (r[0] + r[1]) / 2 - sum(whole) / 2
        assert objects[plan]["mix"] == pytest.approx((s[1] - s[0]) * middle, abs=1e-9)
    parts = sum(each["change"]["value"] for each in objects.values())
    assert parts == pytest.approx(whole[1] - whole[0], abs=1e-9)


def test_parts_of_elapsed_time_add_up(pair: Path) -> None:
    answer = _asked(pair, "db2_accounting.class2_elapsed_per_commit")
    parts = answer["parts"]
    assert isinstance(parts, list)
    whole = answer["after"] - answer["before"]  # type: ignore[operator]
    assert sum(part["change"]["value"] for part in parts) == pytest.approx(whole)
    assert sum(part["share"] for part in parts) == pytest.approx(1.0)
    for part in parts:
        if part["by_events"] is not None:
            assert part["by_events"] + part["by_time_of_event"] == pytest.approx(part["change"]["value"])


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("why") / "example.smf"
    write_example(path)
    return path


def test_single_intervals_cannot_be_judged(example: Path) -> None:
    """The pools of the 2014 study, each period one interval: the sizes that changed are those that the study gives."""
    done = run(
        "why", example, "--metric", "db2_pool.read_ios_per_second", "--at", "2008-09-04", "--against", "2008-09-03",
        "--no-findings", "--json", cwd=example.parent,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert answer["judgement"] == "unknown"
    assert {(each["name"], each["before"], each["after"]) for each in answer["causes"]} == {
        ("db2_pool.buffers", 20_000.0, 40_000.0)
    }
    assert {each["object"].rpartition(" / ")[2] for each in answer["causes"]} == {"BP2", "BP9", "BP11"}


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--metric", "db2_pool", "--at", "2008-09-04"], "GRAIN.NAME", 2),
        (["--metric", "db2_pool.nothing", "--at", "2008-09-04"], "no metric or fact 'nothing'", 2),
        (["--metric", "db2_pool.page_fix", "--at", "2008-09-04"], "is a name, not a number", 2),
        (["--metric", "db2_pool.hit_fraction", "--at", "yesterday"], "yesterday", 2),
        (["--metric", "db2_pool.hit_fraction", "--at", "2008-09-04.."], "open at one end", 2),
        (["--metric", "db2_pool.hit_fraction", "--at", "2031-01-01"], "2031-01-01", 4),
        (["--metric", "mq_log.log_bytes_per_second", "--at", "2008-09-04"], "mq_log", 4),
        (["--metric", "db2_pool.hit_fraction", "--at", "2008-09-04", "--where", "pool ="], "pool =", 2),
        (["--metric", "db2_pool.hit_fraction", "--at", "2008-09-04", "--where", "pool = 'BP77'"], "no value", 4),
    ],
)
def test_wrong_use_is_explained(example: Path, words: list[str], said: str, code: int) -> None:
    done = run("why", example, *words, cwd=example.parent)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_page_of_the_trial_counts_ranks() -> None:
    case = CASES["less lock avoidance"]
    results = [Judged(case, rank, "changed", 1.0, 2.0, ("a", "b")) for rank in (1, 2, 0, 1)]
    empty = [Judged(case, 0, "chance", 1.0, 1.0, ()), Judged(case, 0, "changed", 1.0, 1.0, ("c",))]
    text = page(results, empty)
    assert "| planted cause named first | 2 of 4 |" in text
    assert "| among the first three | 3 of 4 |" in text
    assert "| cause named where nothing is planted | 1 of 2 |" in text
