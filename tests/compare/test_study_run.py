"""Runs of studies compared: what the studies themselves say, arithmetic straight from their files, wrong use."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from plexlens.compare import studies_path
from plexlens.compare.comparison.address import address
from plexlens.compare.comparison.comparison import Comparison, compare
from plexlens.compare.comparison.study_run import StudyAddress, study_run
from plexlens.compare.runs.deltas import Delta, Judgement
from plexlens.compare.runs.headings import NONE, common_name, heading
from plexlens.compare.runs.run import Better, Group, Run
from plexlens.compare.study.model import StudyError
from plexlens.errors import UsageError
from tests.compare.audited import audited


def run_of(text: str) -> Run:
    found = address(text)
    assert isinstance(found, StudyAddress)
    return study_run(found)


def compared(base: str, new: str) -> Comparison:
    return compare(run_of(base), run_of(new))


def number(made: Comparison, study: str, column: str, thing: str = "") -> Delta:
    wanted = common_name(audited(study).study.headings, column), thing
    (found,) = [one for one in made.deltas if (one.measure.id, one.object_name) == wanted]
    return found


@pytest.fixture(scope="module")
def release() -> Comparison:
    """VM/ESA 1.0 and 1.1 on the 9021-720 with 35 % SFS (table 5)."""
    return compared("vmesa-1992:table-05:Y63F4809", "vmesa-1992:table-05:Y64F480X")


@pytest.fixture(scope="module")
def pools() -> Comparison:
    return compared("pools-2014:before", "pools-2014:after")


def test_what_the_report_says_of_its_releases(release: Comparison) -> None:
    """6.6 % more ITR; internal response down 0.071 s (22.5 %); external down by 31.9 %."""
    assert release.comparability.comparable
    throughput = number(release, "vmesa-1992", "Throughput / ITR (H)")
    assert throughput.change == pytest.approx(0.066, abs=5e-4)
    assert throughput.judgement is Judgement.BETTER
    internal = number(release, "vmesa-1992", "Response Time / TOT INT ADJ")
    assert internal.difference == pytest.approx(-0.071, abs=5e-4)
    assert internal.change == pytest.approx(-0.225, abs=5e-4)
    external = number(release, "vmesa-1992", "Response Time / AVG LAST (T)")
    assert external.change == pytest.approx(-0.319, abs=5e-4)
    assert [(one.name, one.base, one.new) for one in release.environments.differences] == [
        ("Release", "ESA 1.0", "ESA 1.1")
    ]


def test_internal_response_explains_thirty_percent(release: Comparison) -> None:
    """The report: about 30 % of the decrease in external response time is the decrease in internal response time."""
    external = next(one for one in release.explanations if one.title.startswith("External response time"))
    share = {part.title: part.share for part in external.parts}
    assert share["time within the system (internal response time)"] == pytest.approx(0.30, abs=0.005)
    assert sum(part.change for part in external.parts) == pytest.approx(external.change)
    assert "30 % of the change" in external.text


def test_almost_all_of_the_processor_time_is_the_control_program_s(release: Comparison) -> None:
    """CP/CMD (H) 13.365 to 11.427 ms of PBT/CMD (H) 31.726 to 29.755: 1.938 of 1.971."""
    cpu = next(one for one in release.explanations if "hardware monitor" in one.title)
    first = cpu.parts[0]
    assert first.title == "the control program (CP)"
    assert first.change == pytest.approx(11.427 - 13.365)
    assert first.share == pytest.approx(1.938 / 1.971, abs=2e-3)


def test_numbers_stand_in_the_groups_of_the_report(release: Comparison) -> None:
    groups = [one.measure.group for one in release.deltas]
    assert groups == sorted(groups, key=list(Group).index)
    assert {
        Group.RESPONSE, Group.THROUGHPUT, Group.PROCESSOR, Group.UTILISATION, Group.STORAGE, Group.PAGING, Group.IO,
        Group.PRIVILEGED, Group.SERVERS,
    } <= set(groups)  # fmt: skip
    assert all(one.measure.unit.base for one in release.deltas)


def test_a_single_run_of_each_has_no_interval(release: Comparison) -> None:
    assert all(one.interval is None for one in release.deltas)
    assert "no confidence interval" in release.method


def slow_pools() -> tuple[dict[str, tuple[float, float]], dict[str, tuple[float, float]]]:
    """Getpages and all I/Os a second of each pool before and after, straight from the files."""
    found = []
    for name, label, read, seconds in (
        ("pools_before", "Pool", "RI/O/Sec", 44 * 60 + 16), ("pools_after", "Pool (A)", "RIQ/Sec", 49 * 60 + 41)
    ):  # fmt: skip
        with (studies_path() / "pools-2014" / f"{name}.csv").open(newline="") as file:
            found.append(
                {
                    row[label]: (
                        int(row["Get Pages"]) / seconds,
                        float(row[read].replace(",", "")) + int(row["Write I/Os"]) / seconds,
                    )
                    for row in csv.DictReader(file)
                }
            )
    return found[0], found[1]


def test_pools_before_and_after_are_not_comparable(pools: Comparison) -> None:
    """165,948,647 getpages in 2656 s and 168,129,351 in 2981 s: 9.7 % fewer a second."""
    assert not pools.comparability.comparable
    (rate,) = [check for check in pools.comparability.checks if check.title == "Rate of getpages"]
    assert rate.measured == pytest.approx(168_129_351 / 2981 / (165_948_647 / 2656) - 1, rel=1e-6)
    (objects,) = [check for check in pools.comparability.checks if check.title == "Pools with getpages"]
    assert objects.details == ("vanished: BP8K0, 0.00 getpages per second",)


def test_the_load_explains_most_of_the_saving(pools: Comparison) -> None:
    before, after = slow_pools()
    load = sum((after.get(pool, (0, 0))[0] - work) * ios / work for pool, (work, ios) in before.items())
    change = sum(ios for _, ios in after.values()) - sum(ios for _, ios in before.values())
    found = next(one for one in pools.loads if one.title == "Read and write I/Os")
    # The screens print rates of writes with two decimals, the counts give more.
    assert found.change == pytest.approx(change, abs=0.1)
    assert found.load == pytest.approx(load, abs=0.1)
    assert found.load / found.change == pytest.approx(0.882, abs=5e-4)


def test_claims_of_the_study_about_its_pools(pools: Comparison) -> None:
    assert pools.pair is not None
    found = {claim.text: claim for claim in pools.pair.claims}
    saved = found["They saved 737 I/Os a second."]
    assert not saved.agrees and saved.computed is not None
    assert float(saved.computed.value) == pytest.approx(4330.39 - 3828.91)
    assert not found["They saved more than 700 I/Os a second."].agrees
    assert found["At 40,000 buffers 737 I/Os a second came, where 720 were predicted."].agrees
    assert found["60,000 buffers were added."].agrees
    assert all(claim.agrees or claim.note for claim in pools.pair.claims)


def test_predictions_of_the_study_at_the_load_that_came(pools: Comparison) -> None:
    before, after = slow_pools()
    assert pools.pair is not None
    found = {check.object_name: check for _, _, check in pools.pair.predictions}
    for pool, predicted, came in (("BP2", 720, 737.96), ("BP11", 1165, 1027.07)):
        rescaled = predicted * after[pool][0] / before[pool][0]
        assert found[pool].rescaled == pytest.approx(rescaled, rel=1e-6)
        assert found[pool].rest == pytest.approx(came - rescaled, rel=1e-5)


def test_cost_of_data_sharing() -> None:
    """Table 6: with data sharing ITR 192,457.48, without 214,775.82: 89.61 % are left."""
    made = compared("sysplex-1996:table-06:B2", "sysplex-1996:table-06:B1")
    found = number(made, "sysplex-1996", "ITR")
    assert found.ratio == pytest.approx(0.8961, abs=1e-4)
    assert found.judgement is Judgement.WORSE
    assert found.ratio_low is not None and found.ratio_high is not None
    assert found.ratio_low < 192_457.48 / 214_775.82 < found.ratio_high


def test_cpu_of_a_transaction_by_address_space() -> None:
    """Tables 16 and 18: CICS 3.58 % of a processor at 329.65/s are 0.1086 ms, 5.62 % at 329.89/s are 0.1704 ms."""
    made = compared("cics-2012:table-16:329.65", "cics-2012:table-18:329.89")
    assert made.comparability.comparable
    (total,) = [one for one in made.explanations if one.title == "Processor time of a transaction"]
    parts = {part.title: part.change for part in total.parts}
    assert parts["CICS on general processors"] == pytest.approx(56.2 / 329.89 - 35.8 / 329.65)
    assert sum(parts.values()) == pytest.approx(total.change, abs=1e-3)


def test_rows_as_repeats_are_compared_by_welch() -> None:
    """Page fixing: two days before, two after. Base 3244/91,066,400 and 3443/98,631,004 s a read; see the study."""
    made = compared("pools-2014:page-fix:28-Apr-08,29-Apr-08", "pools-2014:page-fix:9-Jun-08,10-Jun-08")
    found = number(made, "pools-2014", "cpu_seconds_per_io")
    assert found.base is not None and found.base.estimate is not None
    assert found.base.value == pytest.approx((3244 / 91_066_400 + 3443 / 98_631_004) / 2, rel=1e-6)
    assert found.base.estimate.count == 2
    assert found.interval is not None
    assert "Welch" in made.method


@pytest.mark.parametrize(
    "text", ["vmesa-1992:table-04:Y63R5866", "pools-2014:before", "cics-2012:table-04", "zxml-2008:values"]
)
def test_a_run_against_itself(text: str) -> None:
    made = compared(text, text)
    assert {one.judgement for one in made.deltas} <= {Judgement.SAME}
    assert made.comparability.comparable or not made.comparability.tested
    assert made.environments.differences == ()


def test_every_table_of_every_study_can_be_a_run() -> None:
    """Every table with numbers can be read as a run, whatever it holds."""
    from plexlens.compare.comparison.study_run import StudyReader
    from plexlens.compare.study.places import study_names

    for name in study_names():
        if name == "example":
            continue
        reader = StudyReader.of(name)
        for table in reader.study.tables:
            found = reader.run(StudyAddress(name, table))
            assert all(reading.low is not None for reading in found.readings.values())


@pytest.mark.parametrize(
    ("text", "title", "unit", "group", "better"),
    [
        ("Proc. Usage / PBT/CMD (H)", "Processor time of a command", "ms", Group.PROCESSOR, Better.LOWER),
        ("VTAM Machines / WKSET (V)", "Working set of a virtual machine, VTAM", "pages", Group.SERVERS, Better.LOWER),
        ("PRIVOPs / DIAG 214/CMD", "DIAGNOSE X'214'", "instructions", Group.PRIVILEGED, Better.LOWER),
        ("Throughput / ITR (H)", "Internal throughput rate", "commands/s", Group.THROUGHPUT, Better.HIGHER),
    ],
)
def test_headings(text: str, title: str, unit: str, group: Group, better: Better) -> None:
    found = heading(audited("vmesa-1992").study.headings, text)
    assert found.title.startswith(title)
    assert (found.unit, found.group, found.better) == (unit, group, better)


def test_headings_that_mean_the_same_are_compared() -> None:
    assert common_name(NONE, "RI/O/Sec") == common_name(NONE, "RIQ/Sec")


def test_a_heading_that_is_not_known_is_told_as_printed() -> None:
    assert not heading(NONE, "Something new").known


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing:table:1", r"there is no study 'nothing'; name one of cics-2012"),
        ("pools-2014", r"several tables, and none is named"),
        ("pools-2014:lakes", r"no table 'lakes'; name one of pools-before"),
        ("pools-2014:pools", r"several tables 'pools'; name one of pools-before, pools-after, pools-threshold"),
        ("pools-2014:before:BP99", r"no row 'BP99'; name one of 'BP0', 'BP1'"),
        ("no/such/file", r"no such file or folder"),
    ],
)
def test_wrong_addresses(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run_of(text)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(studies_path() / "pools-2014", tmp_path / "studies" / "pools-2014")
    return tmp_path / "studies"


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('table = "pools-before"', 'table = "pools-befor"', ("run 1", "'pools-befor'", "pools-before")),
        ("whole = {", "hole = {", ("run 1", "'hole'", "whole")),
        ('object = "BP2"', 'object = "BP99"', ("pair 1, prediction 1", "'BP99'")),
        ('predicted = "720"', 'predicted = "many"', ("pair 1, prediction 1", "many")),
        ('claims = "analysis-before-after.toml"', 'claims = "none.toml"', ("pair 1, claims", "none.toml")),
        ('new = "pools-after"', 'new = "pools-later"', ("pair 1", "'pools-later'", "pools-after")),
    ],
)  # fmt: skip
def test_a_typo_in_compare_toml_is_named(copy: Path, old: str, new: str, parts: tuple[str, ...]) -> None:
    path = copy / "pools-2014" / "compare.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(StudyError) as caught:
        runs = [study_run(StudyAddress("pools-2014", table), copy) for table in ("pools-before", "pools-after")]
        compare(*runs, studies=copy)
    assert all(part in str(caught.value) for part in ("compare.toml", *parts)), str(caught.value)
