"""Hours of a Distributed Data Server in a minute, with all its bad days: each interval exactly once.

``python -m tests.watch.replay`` does a whole day; ``docs/watch.md`` has its table.
"""

from __future__ import annotations

from pathlib import Path

from tests.watch.replay import Plan, replay


def test_each_interval_exactly_once(tmp_path: Path) -> None:
    """Expected are the intervals of the stand-in, less those that it was told to have lost; values are its own."""
    plan = Plan(
        1.0,
        60.0,
        faulty=0.05,
        kills=(0.5,),
        away=((0.2, 0.3),),
        refused=(0.1,),
        change=0.65,
        lost=((0.35, 0.4),),
        lost_by_one=((0.7, 0.75),),
    )
    done = replay(plan, tmp_path)
    told = "\n".join(done.said)
    assert (done.lost, done.doubled, done.wrong_values) == (0, 0, 0), told
    assert sum(done.expected.values()) > 120
    assert done.starts == 2
    assert done.faults["401"] == 1
    assert "Traceback" not in told
