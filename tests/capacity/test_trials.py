"""Plans on held-out scenarios: the arithmetic of the trial, and one scenario whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plexlens.capacity import Change, calibrate, make_plan, measure
from plexlens.capacity.page.report import plan_report
from plexlens.capacity.predict import saturation
from plexlens.capacity.simulated import changed
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.report import render_text
from plexlens.simulate import Scenario, read_scenario, run_scenario, simulate_to_smf, write_smf
from plexlens.simulate.estimates import Estimate
from tools.trials import (
    LOADS,
    SECONDS,
    Answer,
    Error,
    Trial,
    Truth,
    _crossing,
    _response,
    again_of,
    errors,
    planned,
    summary,
)
from tools.trials_page import page

ROOT = Path(__file__).parents[2]


def test_crossing_of_a_known_curve() -> None:
    # M/M/1 of 1 ms 40 % busy reaches 5 ms at 0.4 x = 0.8.
    assert _crossing(lambda load: 1 / (1 - 0.4 * load) / 5 if load < 2.4 else 100.0) == pytest.approx(2.0, rel=0.02)
    # Met until the run is saturated: the search ends at the load at which it is, not near the last one that was tried.
    assert _crossing(lambda load: 0.64 if load < 2.75 else 20.0 + load) == pytest.approx(2.75, abs=0.02)
    assert _crossing(lambda load: 0.1 * load) is None
    assert _crossing(lambda load: 2.0 * load) == 0.0


def made(planned_response: float | None, breaks: float) -> Trial:
    truth = Truth(
        {load: {"SALE": Estimate(0.010 * load, 0.001)} for load in LOADS},
        {1.3: "", 1.6: "", 2.0: "AOR1"},
        {"SALE": 1.5},
    )
    answer = Answer({load: {"SALE": planned_response} for load in LOADS}, {"SALE": breaks})
    return Trial(
        "made", "Made up.", "", ("SALE",), {"SALE": 0.015}, truth, answer, answer, answer, (2.0, "QR TCB AOR1")
    )


def test_errors_by_hand() -> None:
    # 13 ms simulated, 14.3 planned: 10 %. 16 ms simulated: -10.6 %. At load 2 the simulation is saturated: no error.
    found = errors([made(0.0143, 1.8)], "plan")
    assert [one.value for one in found] == [pytest.approx(0.1), pytest.approx(-0.10625), pytest.approx(0.2)]
    assert summary(found) == pytest.approx(((0.1 + 0.10625) / 2, 0.10625, 0.2, 0.2))
    # What is called saturated at loads that are carried is all wrong.
    assert summary(errors([made(None, 1.5)], "plan"))[:2] == (1.0, 1.0)


def test_page_lists_what_is_outside_the_aim() -> None:
    text = page([made(None, 1.8)])
    assert "- made, SALE, response at load 1.3: called saturated" in text
    assert "- made, SALE, breaking load: +20.0%" in text
    assert "| SALE | 2 | saturated (AOR1) | saturated | saturated | saturated |" in text
    # 12 ms planned, 16 ms simulated with five seeds, 13 with sixty: -25 and -7.7 %.
    again = {(1.6, "SALE"): Estimate(0.013, 0.001)}
    text = page([replace(made(0.012, 1.5), again=again)])
    more = "with 60 further seeds 13 ± 1 ms are simulated, the error is -7.7%"
    assert f"- made, SALE, response at load 1.6: -25.0%; {more}" in text


def test_errors_outside_the_aim_are_simulated_again(one_region: Scenario) -> None:
    # Two seeds of twenty seconds each: the mean of both, with the width that two runs give.
    short = Scenario(one_region.file, one_region.values | {"run": one_region.values["run"] | {"seconds": 20.0}}, {})
    outside = [Error("qr-tcb", "SALE", 1.3, 0.5), Error("qr-tcb", "SALE", 0.0, 0.5)]
    again = again_of(short, outside, seeds=(7, 8))
    assert list(again) == [(1.3, "SALE")]
    both = [
        _response(run_scenario(changed(short, Change(scale=1.3)).with_run(seed=seed, seconds=SECONDS)), "SALE")
        for seed in (7, 8)
    ]
    assert again[1.3, "SALE"].mean == pytest.approx(sum(both) / 2)


@pytest.mark.parametrize(
    ("folder", "document", "least"), [("", "plan-trials.md", 12), ("later", "plan-trials-later.md", 3)]
)
def test_the_document_has_every_scenario(folder: str, document: str, least: int) -> None:
    names = sorted(path.stem for path in (ROOT / "scenarios" / "held-out" / folder).glob("*.toml"))
    assert len(names) >= least
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == ["All scenarios", *names]


@pytest.fixture(scope="module")
def one_region() -> Scenario:
    read = read_scenario(ROOT / "scenarios" / "held-out" / "qr-tcb.toml")
    run = read.values["run"] | {"warm_up": 10.0, "seconds": 120.0, "interval": 20.0}
    return Scenario(read.file, read.values | {"run": run}, read.lines)


def test_one_qr_tcb_is_seen_in_records_of_transactions(one_region: Scenario, tmp_path: Path) -> None:
    """Eight engines are 11 % busy, the QR TCB of the one region half: it is full at twice the load, not at nine."""
    dump = tmp_path / "one.smf"
    simulate_to_smf(one_region, dump, transactions=True)
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([dump], pdb)
    measured = measure(Inputs(pdb.connect()), "one")
    model, plan, limit = planned(measured, {})
    assert limit is not None
    # 90 x 4 ms + 60 x 2.2 ms: 49 % busy, but for chance.
    assert limit[0] == pytest.approx(1 / 0.492, rel=0.06)
    assert limit[1] == "QR TCB AOR1"
    simulated = 1.65
    assert plan.breaks["SALE"] == pytest.approx(simulated, rel=0.10)
    # More engines do not make it wider.
    wider = saturation(model, model.systems[0], Change(engines="16"))
    assert wider is not None
    assert wider[0] == pytest.approx(limit[0], rel=0.01)


def test_one_qr_tcb_that_no_record_tells_of_is_named(one_region: Scenario, tmp_path: Path) -> None:
    """Without SMF 110 nothing is concluded beyond the load at which a QR TCB that did all the work would be full."""
    dump = tmp_path / "one.smf"
    write_smf(run_scenario(one_region), dump)
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([dump], pdb)
    inputs = Inputs(pdb.connect())
    if inputs.has("smf110_2_dispatcher_tcb_mode"):
        _, _, limit = planned(measure(inputs, "one"), {})
        assert limit == (pytest.approx(1 / 0.492, rel=0.06), "QR TCB AOR1")
        return
    measured = measure(inputs, "one")
    model = calibrate(measured, serves={"CICSRGN": "*"})
    plan = make_plan("one", measured, model, Change())
    assert [one.load for one in plan.outlooks[0].breakings] == [None, None]
    assert [one.beyond for one in plan.outlooks[0].breakings] == pytest.approx([1 / 0.492] * 2, rel=0.06)
    assert any("QR TCB" in note and "SMF 110" in note for note in model.notes)
    text = " ".join(render_text(plan_report(plan)).split())
    assert "unknown beyond (SMF 110 is missing)" in text
