"""``plexlens metrics``, and a site's own grains in every command that takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plexlens.errors import UsageError
from plexlens.findings import load_rules
from plexlens.metrics import GRAINS
from plexlens.report.explained import explained
from plexlens.report.pages import PAGES
from tests.cli.command import run
from tests.metrics.test_catalogue_errors import GOOD


@pytest.fixture(autouse=True)
def _catalogue_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command loads is gone after the test."""
    monkeypatch.setattr(GRAINS, "_catalogue", None)


def test_every_grain_is_listed(tmp_path: Path) -> None:
    lines = run("metrics", cwd=tmp_path).stdout.splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(GRAINS)
    listed = json.loads(run("metrics", "--json", cwd=tmp_path).stdout)["grains"]
    assert sum(len(grain["metrics"]) for grain in listed) == sum(len(grain.metrics) for grain in GRAINS.values())


def test_a_metric_is_explained(tmp_path: Path) -> None:
    lines = run("metrics", "coupling_structure.sync_service_time", cwd=tmp_path).stdout.splitlines()
    assert lines[0] == "coupling_structure.sync_service_time: Synchronous service time"
    assert "  words      R744SSTM / R744SSRC" in lines
    assert "  formula    sync_seconds / sync_requests" in lines
    assert "  fact       sync_seconds: SMF 74-4 R744SSTM (s; sum, sum)" in lines
    assert "  rule       coupling.synchronous_cost" in lines
    assert "  page       Coupling facilities" in lines


def test_a_name_alone_means_all_that_bear_it(tmp_path: Path) -> None:
    found = json.loads(run("metrics", "utilization", "--json", cwd=tmp_path).stdout)["metrics"]
    assert {one["grain"] for one in found} == {
        grain.name for grain in GRAINS.values() if "utilization" in [m.name for m in grain.metrics]
    }
    (fact,) = json.loads(run("metrics", "db2_pool.getpages", "--json", cwd=tmp_path).stdout)["metrics"]
    assert (fact["fields"], fact["roll_up"]) == ("SMF 100 IFCID 2 QBSTGET", "sum, sum")


def test_terms_are_said_with_the_formula(tmp_path: Path) -> None:
    shown = run("metrics", "db2_pool.read_ios_per_second", cwd=tmp_path).stdout
    assert "where      read_ios = total(sync_reads, prefetch_ios)" in shown
    assert "where      prefetch_ios = total(sequential_prefetch_reads, " in shown


def test_rules_and_pages_are_those_that_name_the_metric() -> None:
    (one,) = explained("db2_pool.getpages_per_second", GRAINS, load_rules(), PAGES)
    rules = {rule.id for rule in load_rules() if rule.grain == "db2_pool" and "getpages_per_second" in rule.numbers}
    assert set(one.rules) == rules
    for name in ("db2_pool.nothing", "getpags_per_second"):
        with pytest.raises(UsageError, match=r"there is no grain, metric or fact"):
            explained(name, GRAINS, (), ())


def test_a_name_that_is_not_known_is_refused(tmp_path: Path) -> None:
    done = run("metrics", "coupling_structure.sync_servce_time", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean coupling_structure.sync_service_time" in done.stderr


def test_a_site_explains_its_own(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "queue.toml").write_text(GOOD, encoding="utf-8")
    shown = run("metrics", "shop_queue", "--catalogue", "own", cwd=tmp_path).stdout
    assert "metric     rate: Requests, /s (1/s) = SHPREQ / interval" in shown
    assert run("metrics", "shop_queue", cwd=tmp_path).returncode == 2


def test_a_wrong_catalogue_ends_every_command(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "queue.toml").write_text(GOOD.replace('"count"', '"counts"', 1), encoding="utf-8")
    for words in (
        ("metrics",),
        ("report", "day.smf"),
        ("sql", "pdb", "show tables"),
        ("compare", "a.pdb", "b.pdb"),
        ("sharing", "day.smf"),
        ("plan", "day.smf"),
        ("pools", "trace.smf"),
        ("findings", "list"),
    ):
        done = run(*words, "--catalogue", "own", cwd=tmp_path)
        assert done.returncode == 2, words
        assert "queue.toml: line 14: facts.requests.unit: there is no unit 'counts'; did you mean count?" in done.stderr
    assert run("metrics", "--catalogue", "none", cwd=tmp_path).returncode == 2
