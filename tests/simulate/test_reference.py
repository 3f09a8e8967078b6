"""The reference of keys: every key that the source reads is in it, with the default that a run uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plexlens.simulate import ScenarioFileError, parse_scenario, run_scenario
from tools.scenario_keys import page, tables

ROOT = Path(__file__).parents[2]
CRATE = ROOT / "crates" / "sysplex" / "src"


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "scenario-keys.md").read_text(encoding="utf-8") == page(CRATE)


def _expected(text: str) -> set[str]:
    """Keys that the simulator itself says it knows where it is given one that it does not."""
    with pytest.raises(ScenarioFileError) as caught:
        run_scenario(parse_scenario(text))
    return set(re.findall(r"`(\w+)`", caught.value.what)) - {"what"}


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("Scenario", "what = 1"),
        ("Run", "run = {what = 1}"),
        ("Cec", "cec = [{what = 1}]"),
        ("System", "system = [{what = 1}]"),
        ("CouplingFacility", "coupling_facility = [{what = 1}]"),
        ("Coupling", "coupling = {what = 1}"),
        ("Db2", "db2 = [{what = 1}]"),
        ("Db2Path", "db2 = [{path = {what = 1}}]"),
        ("Member", "db2 = [{member = [{what = 1}]}]"),
        ("LockStructure", "db2 = [{lock = {what = 1}}]"),
        ("Pool", "db2 = [{pool = [{what = 1}]}]"),
        ("GroupPool", "db2 = [{pool = [{group = {what = 1}}]}]"),
        ("PageSet", "db2 = [{page_set = [{what = 1}]}]"),
        ("Region", "region = [{what = 1}]"),
        ("Cics", "cics = {what = 1}"),
        ("Class", "class = [{what = 1}]"),
        ("References", "class = [{references = [{what = 1}]}]"),
        ("Start", "class = [{starts = [{what = 1}]}]"),
        ("Dasd", "dasd = {what = 1}"),
        ("Failure", "failure = [{what = 1}]"),
    ],
)
def test_every_key_has_a_row(table: str, text: str) -> None:
    known = {key.name for one in tables(CRATE) if one.name == table for key in one.keys}
    assert known == _expected(text)


def test_meanings_and_defaults() -> None:
    by_key = {(table.name, key.name): key for table in tables(CRATE) for key in table.keys}
    assert all(key.meaning for key in by_key.values())
    # As defaults.rs has them.
    assert by_key["System", "ziip_wait"].default == "0.0032"
    assert "ZIIPAWMT" in by_key["System", "ziip_wait"].source
    assert by_key["Pool", "vpseqt"].default == "80"
    assert by_key["Coupling", "contention_delay"].default == "0.0003"
    assert by_key["Cics", "routing"].default == '"join_shortest_queue"'
    assert by_key["Class", "regions"].default == ""
    assert by_key["Class", "goal"].default == "none"


def test_the_example_of_the_docs() -> None:
    """It runs, and the message that is shown is the one that it gives."""
    docs = (ROOT / "docs" / "simulate.md").read_text(encoding="utf-8")
    text = docs.split("```toml\n")[1].split("```")[0]
    assert run_scenario(parse_scenario(text).with_run(seconds=10.0)).results["responses"][0]["count"] > 300
    with pytest.raises(ScenarioFileError) as caught:
        run_scenario(parse_scenario(text.replace('page_set = "ACCOUNTS"', 'page_set = "ACCOUNT"'), file="s.toml"))
    assert f"    {caught.value}\n" in docs
