"""Goals under caps, predicted from a simulated day without one, against the same load simulated under them."""

from __future__ import annotations

import pytest

from tools import goals_trial


def test_caps_that_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    # A seed that neither development nor the table of docs/cost.md used; a hard cap, and one that online work fits in.
    monkeypatch.setattr(goals_trial, "LIMITS", (90, 135))
    tried = {(each.limit, each.predicted.name): each for each in goals_trial.trial(7900)}
    hard, soft = tried[90, "ONLINE.1"], tried[135, "ONLINE.1"]
    for online in (hard, soft):
        assert online.predicted.response is not None
        assert online.predicted.response / online.response == pytest.approx(1, abs=0.3)
    # The goal is missed under the hard cap and met under the other, as predicted and as simulated.
    assert hard.predicted.is_missed
    assert hard.index > 1
    assert soft.predicted.verdict.startswith("meets its goal")
    assert soft.index < 1
    # Work that does not fit waits for as long as the cap lasts: in an hour for many times its goal of 0.08 s.
    for limit in (90, 135):
        inquiry = tried[limit, "INQUIRY.1"]
        assert inquiry.predicted.verdict.startswith("held back")
        assert inquiry.predicted.is_missed
        assert inquiry.index > 100
