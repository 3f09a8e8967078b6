"""A twin and its what-ifs, with a simulated group as the real one: what the records alone tell, against the truth."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plexlens.errors import NothingUsableError, UsageError
from plexlens.ingest.page_trace import pool_name
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.sharing.error_bar import moved
from plexlens.sharing.page.what_if import DEFINITIONS, what_if_sections
from plexlens.sharing.twin_calibrate import Twin, check_runs, make_twin
from plexlens.sharing.twin_group import SharingMeasured, pool_number, standard_structure
from plexlens.sharing.twin_measured import measure_sharing
from plexlens.sharing.twin_numbers import Key, of_results
from plexlens.sharing.twin_toml import twin_toml
from plexlens.sharing.what_if import Verdict, WhatIf, what_if
from plexlens.sharing.what_if_changes import Kind, apply_changes, parse_change
from plexlens.sharing.what_if_json import what_if_object
from plexlens.simulate import Scenario, parse_scenario, run_scenario, write_smf
from tests.cli.command import run
from tests.sharing.closed_numbers import Basis, closed_numbers
from tools.what_if_truth import Judged, judge

ROOT = Path(__file__).parents[2]
TWO_MEMBERS = ROOT / "tests" / "simulate" / "two-members.toml"

#: Long enough for group buffer pools to fill, also larger ones.
RUN = {"seed": 5, "warm_up": 60.0, "seconds": 120.0, "interval": 60.0}

#: Changes of the two members whose truth is simulated.
CHANGES = (
    ("lock-entries", "0.02x"),
    ("gbp", "GBP1=2x"),
    ("separate", "BP1"),
    ("distance", "10km"),
    ("cf-speed", "2"),
    ("engine-speed", "2"),
    ("threshold", "9us"),
)


def scenario() -> Scenario:
    return Scenario("", tomllib.loads(TWO_MEMBERS.read_text()) | {"run": RUN})


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("twin") / "two.smf"
    write_smf(run_scenario(scenario()), path)
    return path


@pytest.fixture(scope="module")
def inputs(dump: Path) -> Inputs:
    pdb = Pdb.create(dump.parent / "pdb")
    ingest([dump], pdb)
    return Inputs(pdb.connect())


@pytest.fixture(scope="module")
def measured(inputs: Inputs) -> SharingMeasured:
    return measure_sharing(inputs, "two.smf")


@pytest.fixture(scope="module")
def twin(measured: SharingMeasured) -> Twin:
    # The scenario never converts; nothing in its records tells that.
    return make_twin(measured, threshold=0.0, seeds=(1, 2, 3))


@pytest.fixture(scope="module")
def answers(twin: Twin) -> tuple[WhatIf, ...]:
    return what_if(twin, [parse_change(Kind(kind), text) for kind, text in CHANGES])


@pytest.fixture(scope="module")
def judged(answers: tuple[WhatIf, ...]) -> dict[tuple[str, str], Judged]:
    found = judge(scenario(), answers[:-1], (11, 12, 13))
    return {(one.change, str(one.outcome.key)): one for one in found}


def test_pools_have_numbers_and_names() -> None:
    pairs = {"BP0": 0, "BP7": 7, "BP49": 49, "BP32K": 80, "BP32K9": 89, "BP8K0": 100, "BP16K9": 129}
    assert {name: pool_number(name) for name in pairs} == pairs
    assert {pool_name(number): number for number in pairs.values()} == pairs
    assert standard_structure("DSNG_GBP100") == "DSNG_GBP8K0"
    assert standard_structure("DSNG_GBP8K0") == "DSNG_GBP8K0"
    assert standard_structure("DSNG_LOCK1") == "DSNG_LOCK1"


def test_what_is_measured_adds_up(measured: SharingMeasured) -> None:
    (group,) = measured.groups
    truth = run_scenario(scenario()).results["intervals"]
    for member in group.members:
        used = [one for interval in truth for one in interval["members"] if one["name"] == member.name]
        getpages = sum(pool["local"]["getpages"] for one in used for pool in one["pools"])
        pool = member.pools["BP1"]
        assert pool.random + pool.sequential == pytest.approx(getpages / 120)
        # Classes have all of it: accounting is complete, but for transactions under way at the ends.
        told = sum(work.rate * work.getpages["BP1"] for work in member.work)
        assert told == pytest.approx(getpages / 120, rel=0.01)
        assert member.commits == pytest.approx(sum(one["commits"] for one in used) / 120)


def test_twin_reproduces_what_it_was_not_fitted_to(twin: Twin) -> None:
    off = {str(check.key) for check in twin.checks if check.is_off(0.15)}
    checked = [check for check in twin.checks if not check.calibrated and not check.small]
    assert len(checked) >= 6
    # LATE inserts at one place, and so reads less from disk than its twin, which has the mean of the pool.
    assert off <= {"db2_time LATE", "data_reclaims DSNG_GBP1", "cf_busy CF2"}
    for check in twin.checks:
        if check.calibrated and not check.small:
            # One measured run scatters as each of the twin's three does: half width x sqrt(3) / Student's t of 4.303.
            scatter = check.twin.half_width * math.sqrt(3) / 4.303 * math.sqrt(1 + 1 / 3)
            assert abs(check.error) < 0.12 or abs(check.twin.mean - check.measured) < 3 * scatter, check


def test_twin_finds_the_page_set(twin: Twin) -> None:
    """The table has 10,000 pages of skew 0.8, the index 500 of the same; one update in six is of the index."""
    found = twin.fit.pools["DSNG", "BP1"]
    assert 8_000 < found.pages.shared < 14_000
    assert 0.7 < found.pages.skew < 0.95
    # LATE changes the index on both systems: all of the pool is dependent.
    assert found.dependent == 1.0
    assert found.locked is not None
    # A page of it for each LATE, of which half as many come as of UPDA: 50 of 50 + 100 + 100 x 5.5 x 0.3.
    assert found.locked.updates * found.written == pytest.approx(50 / 315, rel=0.15)
    assert 350 < found.locked.pages < 650
    assert 2.7e-6 < twin.fit.link["CF1"] < 3.3e-6
    assert twin.fit.lock == pytest.approx(2e-6, rel=0.05)


def test_same_records_give_the_same_twin(measured: SharingMeasured, twin: Twin) -> None:
    again = make_twin(measured, threshold=0.0, seeds=(1, 2, 3))
    assert again.values == twin.values
    assert again.runs == twin.runs


@pytest.mark.parametrize(
    ("change", "number", "within"),
    [
        ("--gbp GBP1=2x", "hit DSNG_GBP1", 0.05),
        ("--gbp GBP1=2x", "sync_reads DSNG BP1", 0.15),
        ("--gbp GBP1=2x", "service DSNG_GBP1", 0.03),
        ("--gbp GBP1=2x", "overhead", 0.05),
        ("--gbp GBP1=2x", "db2_time UPDA", 0.10),
        ("--distance 10km", "coupling_cpu", 0.10),
        ("--distance 10km", "service DSNG_LOCK1", 0.01),
        ("--distance 10km", "db2_time UPDA", 0.10),
        ("--lock-entries 0.02x", "contention DSNG_LOCK1", 0.25),
        ("--cf-speed 2", "service DSNG_LOCK1", 0.01),
        ("--cf-speed 2", "overhead", 0.05),
        ("--engine-speed 2", "overhead", 0.05),
        ("--engine-speed 2", "coupling_cpu", 0.10),
        ("--engine-speed 2", "db2_time UPDA", 0.10),
        ("--threshold 9us", "async DSNG_GBP1", 0.01),
        ("--threshold 9us", "coupling_cpu", 0.10),
    ],
)
def test_change_against_the_truth(
    judged: dict[tuple[str, str], Judged], change: str, number: str, within: float
) -> None:
    one = judged[change, number]
    assert abs(one.error) <= within, (one.outcome, one.truth)
    # The truth moves, so that agreement is none by standing still.
    if number != "overhead":
        assert abs(one.truth.mean - one.before.mean) > 0.005 * abs(one.before.mean)


def test_false_contention_against_the_truth(judged: dict[tuple[str, str], Judged]) -> None:
    one = judged["--lock-entries 0.02x", "false_contention DSNG_LOCK1"]
    assert one.truth.mean > 10 * one.before.mean
    assert 0.5 < one.outcome.answer.value / one.truth.mean < 2.0


def test_nothing_is_concluded_on_contention_where_page_locks_are_off(twin: Twin) -> None:
    wrong = [
        replace(check, measured=check.measured * 1.5) if check.key.what == "page_lock_waits" else check
        for check in twin.checks
    ]
    (answer,) = what_if(replace(twin, checks=tuple(wrong)), [parse_change(Kind.LOCK_ENTRIES, "0.02x")])
    for what in ("contention", "false_contention"):
        outcome = answer.of(what, "DSNG_LOCK1")
        assert outcome is not None
        assert outcome.verdict is Verdict.OFF
        assert outcome.off == pytest.approx(1 / 1.5 - 1, abs=0.1)


def test_separation_ends_requests(judged: dict[tuple[str, str], Judged]) -> None:
    for number in ("coupling_cpu", "absent DSNG_GBP1", "invalid DSNG_GBP1"):
        one = judged["--separate BP1", number]
        assert one.truth.mean == 0.0
        assert one.outcome.answer.value == 0.0
    one = judged["--separate BP1", "db2_time UPDA"]
    assert abs(one.error) < 0.12


def test_no_conclusion_where_the_twin_is_off(twin: Twin, answers: tuple[WhatIf, ...]) -> None:
    for answer in answers:
        for one in answer.outcomes:
            check = twin.check(one.key)
            if one.verdict is Verdict.CHANGES:
                assert check is None or not check.is_off(0.15)
            if one.verdict is Verdict.OFF and one.key.what not in ("contention", "false_contention"):
                assert check is not None
                assert check.is_off(0.15)


def test_twin_agrees_with_closed_forms(twin: Twin, answers: tuple[WhatIf, ...]) -> None:
    """Hashing, Pollaczek and Khinchine, light in fibre: the same scenario without a run."""
    times = {one.name: one.work.db2_elapsed for one in twin.classes}
    basis = Basis(times, twin.labels, {}, {})
    before = closed_numbers(twin.values, basis)
    for title, key, within in (
        ("--distance 10km", Key("service", "DSNG_LOCK1"), 0.01),
        ("--distance 10km", Key("coupling_cpu"), 0.10),
        ("--cf-speed 2", Key("service", "DSNG_GBP1"), 0.02),
        ("--cf-speed 2", Key("cf_busy", "CF1"), 0.05),
        ("--threshold 9us", Key("async", "DSNG_GBP1"), 0.01),
        ("--lock-entries 0.02x", Key("false_contention", "DSNG_LOCK1"), 0.35),
    ):
        answer = next(one for one in answers if one.title == title)
        after = closed_numbers(apply_changes(twin.values, answer.changes).values, basis)
        outcome = answer.of(key.what, key.of)
        assert outcome is not None
        measured = {check.key: check.measured for check in twin.checks}
        assert outcome.answer.value == pytest.approx(moved(key, measured, before, after), rel=within), title


def test_distance_scales_with_the_speed_of_engines(twin: Twin) -> None:
    """A kilometre is 10 µs of spin at any speed; host path lengths are half as long on engines twice as fast."""

    def run_with(*changes: tuple[Kind, str]) -> dict[Key, float]:
        made = apply_changes(twin.values, [parse_change(kind, text) for kind, text in changes])
        return of_results(made.values, run_scenario(Scenario("", made.values)).results, twin.labels | made.labels)

    def per_request(numbers: dict[Key, float]) -> float:
        requests = sum(value for key, value in numbers.items() if key.what in ("lock_requests", "pool_requests"))
        contention = numbers[Key("contention", "DSNG_LOCK1")] * numbers[Key("lock_requests", "DSNG_LOCK1")] * 30e-6
        return (numbers[Key("coupling_cpu")] - contention / speed) / requests

    for speed in (1.0, 2.0):
        near = run_with((Kind.ENGINE_SPEED, f"{speed:g}"))
        far = run_with((Kind.ENGINE_SPEED, f"{speed:g}"), (Kind.DISTANCE, "1km"))
        assert per_request(far) - per_request(near) == pytest.approx(10e-6, rel=0.02)
        # Spin is the service time; 2 µs of path besides, divided by the speed.
        counts = [
            near[Key(what, name)] for what, name in (("lock_requests", "DSNG_LOCK1"), ("pool_requests", "DSNG_GBP1"))
        ]
        spin = [near[Key("service", name)] for name in ("DSNG_LOCK1", "DSNG_GBP1")]
        service = sum(count * time for count, time in zip(counts, spin, strict=True)) / sum(counts)
        assert per_request(near) - service == pytest.approx(2e-6 / speed, rel=0.05)
    # Converted, there is no spin: 20 µs of path, or half of them, at any distance.
    for speed in (1.0, 2.0):
        far = run_with((Kind.ENGINE_SPEED, f"{speed:g}"), (Kind.DISTANCE, "10km"), (Kind.THRESHOLD, "40us"))
        assert per_request(far) == pytest.approx(20e-6 / speed, rel=0.02)


def test_all_changes_are_made_together(answers: tuple[WhatIf, ...]) -> None:
    assert [answer.title for answer in answers][-1] == "All together"
    assert len(answers) == len(CHANGES) + 1
    together = answers[-1].of("coupling_cpu")
    assert together is not None
    # Separated, nobody asks: neither distance nor table matter.
    assert together.answer.value == 0.0


def test_scenario_file_gives_the_same_runs(twin: Twin) -> None:
    text = twin_toml(twin)
    read = parse_scenario(text)
    assert set(read.values) == set(twin.values)
    for kind in ("measured:", "fitted:", "assumed:"):
        assert f"# {kind}" in text
    assert max(len(line) for line in text.splitlines()) < 140
    ours = run_scenario(Scenario("", twin.values).with_run(seconds=20.0)).results
    theirs = run_scenario(read.with_run(seconds=20.0)).results
    # Twelve digits of a number that is drawn against: the same to all intents.
    assert theirs["events"] == pytest.approx(ours["events"], rel=0.01)


def test_page_and_json_have_the_numbers(twin: Twin, answers: tuple[WhatIf, ...]) -> None:
    sections = what_if_sections(twin, answers, 0.15)
    assert [section.id for section in sections] == ["what-if", "twin"]
    used = {
        column.definition
        for section in sections
        for block in section.blocks
        for column in getattr(block, "columns", ())
        if column.definition
    }
    assert used <= DEFINITIONS.keys()
    made = json.loads(json.dumps(what_if_object(twin, answers, 0.15), allow_nan=False))
    assert [change["title"] for change in made["changes"]][:2] == ["--lock-entries 0.02x", "--gbp GBP1=2x"]
    assert all(math.isfinite(one["measured"]) for one in made["twin"])


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seeds", "tolerance", "above", "said"),
    [(1, 15.0, None, "confidence interval"), (5, 0.0, None, "percentage"), (5, 15.0, -1.0, "service time")],
)
def test_runs_that_cannot_be(seeds: int, tolerance: float, above: float | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_runs(seeds, tolerance, above)


def test_pool_of_indexes_that_is_not_there(measured: SharingMeasured) -> None:
    with pytest.raises(UsageError, match=r"BP9.*\n?.*BP1"):
        make_twin(measured, index_pools=["BP9"])


def _without(tmp_path: Path, change: Any) -> Inputs:
    values = tomllib.loads(TWO_MEMBERS.read_text())
    change(values)
    write_smf(run_scenario(Scenario("", values).with_run(seconds=20.0)), tmp_path / "one.smf")
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([tmp_path / "one.smf"], pdb)
    return Inputs(pdb.connect())


def test_one_member_is_no_group(tmp_path: Path) -> None:
    def alone(values: dict[str, Any]) -> None:
        values["db2"][0]["member"] = values["db2"][0]["member"][:1]
        for region in values["region"]:
            region.update(system="SYS1")

    with pytest.raises(NothingUsableError, match="two members") as refused:
        measure_sharing(_without(tmp_path, alone), "one.smf")
    assert "DSNG (DB1)" in str(refused.value)


class _Without(Inputs):
    """A database without the tables of a record type."""

    def __init__(self, inputs: Inputs, record: str) -> None:
        super().__init__(inputs.connection)
        self._record = record

    def has(self, *names: str) -> bool:
        return super().has(*names) and not any(name.startswith(self._record) for name in names)


@pytest.mark.parametrize(
    ("record", "what", "how"),
    [
        ("smf74_4", "no coupling facilities", "SMF 74-4"),
        ("smf100", "no Db2 statistics", "SMF 100"),
        ("smf70_1", "no processors", "SMF 70-1"),
    ],
)
def test_records_that_are_missing(inputs: Inputs, record: str, what: str, how: str) -> None:
    with pytest.raises(NothingUsableError, match=what) as refused:
        measure_sharing(_Without(inputs, record), "two.smf")
    assert how in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gbp", "GBP9=2x"], "there is no group buffer pool GBP9"),
        (["--lock-entries", "0x"], "--lock-entries '0x' is not a change"),
        (["--seeds", "1"], "--seeds 1"),
    ],
)
def test_command_says_one_thing(inputs: Inputs, dump: Path, arguments: list[str], said: str) -> None:
    assert inputs.has("smf100_qwhs")
    done = run("sharing", "pdb", *arguments, cwd=dump.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_keys_are_readable() -> None:
    assert str(Key("hit", "DSNG_GBP1")) == "hit DSNG_GBP1"
    assert str(Key("overhead")) == "overhead"
