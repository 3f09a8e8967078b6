"""Findings that a receiver did not take: kept, given again in their order, never lost in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plexlens.watch import outbox
from plexlens.watch.outbox import STATE, Outbox


class Receiver:
    """Takes findings, or not."""

    def __init__(self) -> None:
        self.wrong = ""
        self.got: list[int] = []
        self.asked = 0

    def __call__(self, finding: dict[str, Any]) -> str:
        self.asked += 1
        if not self.wrong:
            self.got.append(finding["number"])
        return self.wrong


class Kept:
    """An outbox with a clock that moves only when told."""

    def __init__(self, folder: Path) -> None:
        self.time = 0.0
        self.said: list[str] = []
        self.box = Outbox(folder, self.said.append, lambda: self.time)


def test_what_is_refused_is_given_again_in_order_after_a_restart(tmp_path: Path) -> None:
    first = Kept(tmp_path)
    for number in range(3):
        first.box.add("webhook", {"number": number}, "503")
    again, receiver = Kept(tmp_path), Receiver()
    assert len(again.box) == 3
    assert again.box.waits_for("webhook")
    again.box.give({"webhook": receiver})
    assert receiver.got == [0, 1, 2]
    assert again.said == ["3 findings that waited were taken; 0 still wait"]
    assert len(Kept(tmp_path).box) == 0


def test_a_receiver_that_fails_is_asked_once_a_round_and_more_and_more_rarely(tmp_path: Path) -> None:
    kept, receiver = Kept(tmp_path), Receiver()
    receiver.wrong = "no"
    for number in range(3):
        kept.box.add("webhook", {"number": number}, "503")
    asked_at = []
    for second in range(0, 4000, 10):
        kept.time = float(second)
        before = receiver.asked
        kept.box.give({"webhook": receiver})
        if receiver.asked > before:
            asked_at.append(second)
            assert receiver.asked == before + 1
    # Three failures before: 240 s, then twice as long each time.
    assert asked_at == [240, 720, 1680, 3600]
    receiver.wrong = ""
    kept.box.give({"webhook": receiver}, now=True)
    assert receiver.got == [0, 1, 2]


def test_findings_for_a_receiver_that_is_not_named_any_more_wait(tmp_path: Path) -> None:
    kept, receiver = Kept(tmp_path), Receiver()
    kept.box.add("command", {"number": 1}, "ended with code 1")
    kept.box.add("webhook", {"number": 2}, "503")
    kept.box.give({"webhook": receiver}, now=True)
    assert receiver.got == [2]
    assert len(kept.box) == 1


def test_the_oldest_is_given_up_when_too_many_wait_and_that_is_said(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(outbox, "KEPT", 2)
    kept, receiver = Kept(tmp_path), Receiver()
    for number in range(3):
        kept.box.add("webhook", {"number": number}, "503")
    assert "the oldest one is given up (1 in all)" in kept.said[0]
    kept.box.give({"webhook": receiver}, now=True)
    assert receiver.got == [1, 2]


def test_a_damaged_file_is_put_aside_and_told(tmp_path: Path) -> None:
    (tmp_path / STATE).write_text("[{")
    kept = Kept(tmp_path)
    assert len(kept.box) == 0
    assert "watch-unsent.damaged" in kept.said[0]
    assert (tmp_path / "watch-unsent.damaged").read_text() == "[{"
