"""Criteria of runs: conditions worked out by hand over made-up load tests and a simulated system."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from random import Random

import pytest

from plexlens.catalogue_path import catalogue_path
from plexlens.errors import UsageError
from plexlens.ingest.load_test import read
from plexlens.load import criteria_named, run_of, validity_of
from plexlens.load.criteria import OF_TEST, Outcome
from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.catalogue.error import CatalogueError
from tests.cli.command import run

SCENARIO = Path(__file__).parent.parent / "simulate" / "two-members.toml"
BEGIN = 1_772_442_000_000


def results(folder: Path, minutes: float, rate: float = 10.0, slower: float = 0.0, spread: int = 10) -> Path:
    """A driver at a constant rate; response is 50 ms give or take, and `slower` ms more in the last third."""
    count = round(minutes * 60 * rate)
    chance = Random(7)
    lines = [
        f"{BEGIN + round(number * 1000 / rate)},"
        f"{chance.randint(50 - spread, 50 + spread) + (slower if number > count * 2 / 3 else 0):.0f},A,true"
        for number in range(count)
    ]
    path = folder / "driver.jtl"
    path.write_text("timeStamp,elapsed,label,success\n" + "\n".join(lines) + "\n")
    return path


def outcomes(path: Path, name: str, warm_up: float) -> dict[str, str]:
    validity = validity_of(criteria_named(name), run_of(read(path), warm_up_seconds=warm_up), None)
    return {answer.criterion.title.split(",")[0]: str(answer.outcome) for answer in validity.answers}


def test_a_test_at_a_constant_rate_is_steady_to_its_end(tmp_path: Path) -> None:
    """Its slices hold a request more or less: half of it was left out for that."""
    for minutes, rate in ((100.0, 10.0), (7.0, 3.3)):
        driven = run_of(read(results(tmp_path, minutes, rate, spread=0)))
        assert driven.start is not None and driven.steady_from is not None and driven.steady_to is not None
        assert driven.steady_from == driven.start
        assert (driven.steady_to - driven.steady_from).total_seconds() == pytest.approx(minutes * 60, abs=1.5 / rate)


@pytest.mark.parametrize(
    ("minutes", "warm_up", "slower", "answers"),
    [
        (76.0, 45.1, 0.0, ("met", "met", "met")),
        (74.0, 45.1, 0.0, ("met", "broken", "met")),
        (76.0, 44.9, 0.0, ("broken", "met", "met")),
        (120.0, 46.0, 5.0, ("met", "met", "broken")),
    ],
)
def test_lengths_and_drift(
    tmp_path: Path, minutes: float, warm_up: float, slower: float, answers: tuple[str, ...]
) -> None:
    """FS7B wants 45 minutes before and 30 minutes of measurement, in which nothing moves."""
    found = outcomes(results(tmp_path, minutes, slower=slower), "fs7b", warm_up * 60)
    assert tuple(list(found.values())[:3]) == answers
    assert set(list(found.values())[3:]) == {"check by hand"}


def test_a_tool_without_a_time_for_each_request_is_not_judged() -> None:
    totals = run_of(read(Path(__file__).with_name("files") / "wrk-4.1.0.txt"))
    validity = validity_of(criteria_named("iob"), totals, None)
    assert len(validity.of(Outcome.NOT_RECORDED)) == 3
    assert not validity.of(Outcome.MET)


def test_without_smf_its_criteria_are_not_recorded(tmp_path: Path) -> None:
    validity = validity_of(criteria_named("cb84"), run_of(read(results(tmp_path, 12.0))), None)
    lacking = validity.of(Outcome.NOT_RECORDED)
    assert [answer.criterion.grain.name for answer in lacking if answer.criterion.grain] == ["cpu_system", "job"]
    assert all("give them with --smf" in answer.detail for answer in lacking)
    assert "SMF 70-1" in lacking[0].detail
    assert "SMF 30" in lacking[1].detail


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="there are no criteria 'fs7'; did you mean fs7b"):
        criteria_named("fs7")


SITE = """title = "Ours"
source = "the site"

[[criterion]]
title = "Busy"
grain = "cpu_system"
by = ["system"]
where = "processor_type = 'CP'"
condition = "mvs_busy >= {busy} %"

[[criterion]]
title = "Jobs"
grain = "job"
condition = "abends = 0"
"""


def test_criteria_of_the_site_over_smf(tmp_path: Path) -> None:
    """A simulated member is between 1 and 99 % busy; it has no jobs, so that none can be judged."""
    done = run("simulate", SCENARIO, "--seconds", "120", "--transactions", "-o", "group.smf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Read once, and once more where `run` is given the dump.
    assert run("ingest", "group.smf", "--pdb", "group.pdb", cwd=tmp_path).returncode == 0
    done = run(
        "sql",
        "group.pdb",
        "select min(epoch_ms(start)) as t from smf110_1_performance",
        "--format",
        "csv",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    begin = float(done.stdout.split()[-1].replace(",", ""))
    lines = [f"{begin - 1000 + number * 100},20,WORK,true" for number in range(1220)]
    (tmp_path / "d.jtl").write_text("timeStamp,elapsed,label,success\n" + "\n".join(lines) + "\n")
    for busy, answer in ((1, "met"), (99, "broken")):
        site = tmp_path / f"site{busy}"
        (site / "criteria").mkdir(parents=True)
        (site / "criteria" / "ours.toml").write_text(SITE.format(busy=busy))
        words = ("run", "d.jtl", "--warm-up", "0", "--criteria", "ours", "--catalogue", site, "--smf")
        done = run(*words, "group.smf" if busy == 1 else "group.pdb", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        first, second = json.loads(done.stdout)["criteria"]["criteria"]
        assert first["outcome"] == answer
        assert first["detail"].count("Busy as z/OS sees it") == 2
        assert second["outcome"] == "not recorded"
        page = run(*words, "group.pdb", cwd=tmp_path).stdout
        assert ("do not compare it with other runs" in " ".join(page.split())) == (answer == "broken")
        done = run(*words, "group.pdb", "--study", "ways", "--label", answer, "-o", "p.txt", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    with (tmp_path / "ways" / "runs.csv").open() as stream:
        found = {row["run"]: row["criteria"] for row in csv.DictReader(stream)}
    assert found == {"met": "ours: none broken, 1 not judged", "broken": "ours: broken (Busy)"}
    for base, new, side in (("met", "broken", "NEW"), ("broken", "met", "BASE"), ("met", "met", "")):
        done = run("compare", f"ways:runs:{base}", f"ways:runs:{new}", cwd=tmp_path)
        said = f"The runs are not comparable: {side} breaks criteria that valid runs meet: ours: broken (Busy)."
        assert (said in " ".join(done.stdout.split())) == bool(side), done.stdout[:2000] + done.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mvs_busy >= {busy} %", "mvs_bussy >= 1 %", "mvs_bussy is not a fact or metric"),
        ("mvs_busy >= {busy} %", "mvs_busy", "condition"),
        ("mvs_busy >= {busy} %", "mvs_busy >= 80", "fraction"),
        ('by = ["system"]', 'by = ["sytem"]', "sytem is not a key or attribute of cpu_system"),
        ('grain = "cpu_system"', 'grain = "cpu_sytem"', "there is no grain 'cpu_sytem'"),
        ('condition = "abends = 0"', "", "none of condition, by_hand is given"),
        ('condition = "abends = 0"', 'by_hand = "look"', "nothing is computed for a check by hand"),
        ('title = "Ours"\n', "", "the key title is missing"),
        ('title = "Jobs"', 'titel = "Jobs"', "there is no such key"),
    ],
)
def test_wrong_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "criteria").mkdir()
    text = SITE.replace(old, new).replace("{busy}", "1")
    assert old not in text or old == new
    (tmp_path / "criteria" / "ours.toml").write_text(text)
    with GRAINS.instead(catalogue_path(), [tmp_path]), pytest.raises(CatalogueError) as raised:
        criteria_named("ours")
    assert message in str(raised.value)
    assert "ours.toml" in str(raised.value)
    assert raised.value.remedy


def test_every_shipped_set_can_be_read_and_names_its_source() -> None:
    names = sorted(document.path.stem for document in GRAINS.catalogue.criteria())
    assert names == ["cb84", "fs7b", "iob"]
    for name in names:
        criteria = criteria_named(name)
        assert criteria.source
        assert any(criterion.condition is not None for criterion in criteria.criteria)
    assert set(OF_TEST) >= {"steady_seconds", "warm_up_seconds"}
