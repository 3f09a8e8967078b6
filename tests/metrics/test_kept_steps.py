"""Steps that read no rows are kept, and give what they gave within their statement."""

from __future__ import annotations

from plexlens.metrics.engine_table import drop_made
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.kept_steps import kept_steps
from plexlens.pdb.engine import connect

STEPS = {
    "every": "select range as interval, range % 3 as who from range(30)",
    "measured": "select range as interval from range(5)",
    "alike": "select interval from every where who = 1",
    "own": "select interval from measured join every using (interval)",
    "shares": "select count(*) as rows from alike, own",
    "numbers": "select max(interval) as greatest from alike",
}


def test_steps_that_read_no_rows_are_kept() -> None:
    inputs = Inputs(connect())
    kept = kept_steps(inputs, STEPS)
    assert list(kept) == ["every", "alike", "numbers"]
    for name, text in kept.items():
        listed = ", ".join(f"{step} as ({sql})" for step, sql in STEPS.items())
        within = inputs.connection.execute(f"with {listed} from {name} order by all").fetchall()
        assert inputs.connection.execute(f"from ({text}) order by all").fetchall() == within
    # The next question reads the same tables.
    assert kept_steps(inputs, STEPS) == kept
    assert len(inputs.made) == 3


def test_another_step_before_is_another_table() -> None:
    inputs = Inputs(connect())
    first = kept_steps(inputs, STEPS)
    second = kept_steps(inputs, STEPS | {"every": "select 1 as interval, 1 as who"})
    assert first.keys() == second.keys()
    assert all(first[name] != second[name] for name in first)
    assert inputs.connection.execute(second["numbers"]).fetchall() == [(1,)]


def test_what_was_dropped_is_made_anew() -> None:
    inputs = Inputs(connect())
    first = kept_steps(inputs, STEPS)
    drop_made(inputs, 0)
    second = kept_steps(inputs, STEPS)
    assert all(first[name] != second[name] for name in first)
    assert inputs.connection.execute(second["numbers"]).fetchall() == [(28,)]
