"""Goals and predictions of a reader's own: answered by hand, refused where no curve answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plexlens.compare.analysis.analysis import Analysis, analyse
from plexlens.compare.analysis.asked import asked_of, check_asked
from plexlens.compare.analysis.curves import CapacityCurve, LoadCurve
from plexlens.errors import UsageError
from tests.cli.command import run
from tests.compare.audited import analysed, audited


@pytest.fixture(scope="module")
def declared() -> Analysis:
    return analysed("vmesa-1992")


@pytest.fixture(scope="module")
def asked() -> Analysis:
    wish = asked_of(["storage-response=0.6"], ["capacity-9021=12,4"])
    return analyse(audited("vmesa-1992"), wish)


def test_a_goal_of_ones_own(asked: Analysis, declared: Analysis) -> None:
    """Responses over rising storage: 63.2, 9.8, 6.8, 0.804, 0.700, 0.502 seconds; only the last is below 0.6."""
    (curve,) = [one for one in asked.curves if one.id == "storage-response"]
    assert isinstance(curve, LoadCurve) and curve.met is not None and curve.met.place is not None
    assert curve.points[curve.met.place][1] == 512 + 2048
    assert asked.findings == declared.findings


def test_predictions_of_ones_own(asked: Analysis) -> None:
    (curve,) = [one for one in asked.curves if one.id == "capacity-9021"]
    assert isinstance(curve, CapacityCurve)
    assert [n for n, _, _ in curve.predicted] == [4, 12]


@pytest.mark.parametrize("given", ["storage-response", "=1", "storage-response=fast", "storage-response=0", "x=nan"])
def test_goals_that_are_none(given: str) -> None:
    with pytest.raises(UsageError, match="--goal"):
        asked_of([given], [])


@pytest.mark.parametrize("given", ["capacity-9021", "capacity-9021=", "capacity-9021=2,x", "capacity-9021=1e9"])
def test_predictions_that_are_none(given: str) -> None:
    with pytest.raises(UsageError, match="--predict"):
        asked_of([], [given])


@pytest.mark.parametrize(
    ("goals", "predictions", "told"),
    [
        (["storage=1"], [], "storage-response"),
        # A goal is not a question for a capacity curve, nor a number of processors for one over storage.
        (["capacity-9021=1"], [], "no such curve"),
        ([], ["storage-response=4"], "capacity-9121"),
    ],
)
def test_what_no_curve_answers(goals: list[str], predictions: list[str], told: str, declared: Analysis) -> None:
    with pytest.raises(UsageError, match=told):
        check_asked(asked_of(goals, predictions), [declared])


def test_command(tmp_path: Path) -> None:
    words = ("study", "vmesa-1992", "--goal", "storage-response=2", "--json")
    answer = json.loads(run(*words, cwd=tmp_path).stdout)
    (curve,) = [one for one in answer["curves"] if one["id"] == "storage-response"]
    assert (curve["goal"], curve["least_that_meets"]["x"]) == (2, 1344)
    refused = run("study", "zxml-2008", "--goal", "x=1", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
