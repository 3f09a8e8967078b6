"""Changes: what options may say, and what they do to the tables of a scenario."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import pytest

from plexlens.errors import UsageError
from plexlens.sharing.what_if_changes import Kind, apply_changes, class_rates, parse_change
from plexlens.simulate import Scenario, run_scenario
from tests.sharing.closed_numbers import dependent_sets

ROOT = Path(__file__).parents[2]


@pytest.fixture
def values() -> dict[str, Any]:
    return tomllib.loads((ROOT / "tests" / "simulate" / "two-members.toml").read_text())


@pytest.fixture
def three() -> dict[str, Any]:
    return tomllib.loads((ROOT / "scenarios" / "three-members.toml").read_text())


def changed(values: dict[str, Any], *texts: tuple[str, str]) -> dict[str, Any]:
    return apply_changes(values, [parse_change(Kind(kind), text) for kind, text in texts]).values


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("lock-entries", "two", "give a number above 0, as in --lock-entries 2x"),
        ("lock-entries", "-2x", "above 0"),
        ("lock-entries", "0", "above 0"),
        ("lock-entries", "1e9x", "factor from 0.001 to 1000"),
        ("lock-entries", "2.5", "whole number"),
        ("lock-entries", "nanx", "above 0"),
        ("gbp", "2x", "name the group buffer pool"),
        ("gbp", "GBP1=", "above 0"),
        ("gbp", "GBP1=2km", "write it as in --gbp GBP1=2x"),
        ("ratio", "GBP1=1000", "1 to 255"),
        ("ratio", "10", "name the group buffer pool"),
        ("cf-speed", "99999", "factor from 0.001 to 1000"),
        ("distance", "10", "write it as in --distance 10km"),
        ("distance", "20000km", "at most 1000 km"),
        ("link", "2", "write it as in --link 0.5x"),
        ("engine-speed", "2km", "write it as in --engine-speed 1.5"),
        ("engine-speed", "SYS1=0", "above 0"),
        ("threshold", "30", "write it as in --threshold 30us"),
        ("threshold", "CF1=30us", "write it as in --threshold 30us"),
        ("threshold", "1e6us", "at most 10000 microseconds"),
        ("separate", "", "name a buffer pool"),
        ("separate", "BP1=2x", "name a buffer pool"),
    ],
)
def test_absurd_changes_are_refused(kind: str, text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_change(Kind(kind), text)
    assert f"--{kind} {text!r}" in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("lock-entries", "DSNX=2x", "name one of: DSNG"),
        ("gbp", "GBP7=2x", "name one of: GBP1"),
        ("ratio", "GBP7=7", "name one of: GBP1"),
        ("cf-speed", "CF9=2", "name one of: CF1, CF2"),
        ("distance", "CF9=2km", "name one of: CF1, CF2"),
        ("engine-speed", "SYS9=2", "name one of: SYS1, SYS2"),
        ("separate", "BP9", "name one of: BP1, DB.IX, DB.TS"),
    ],
)
def test_what_is_not_there_is_refused(values: dict[str, Any], kind: str, text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        changed(values, (kind, text))
    assert said in str(refused.value)


def test_a_pool_without_group_buffer_pool_is_not_separated(three: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="BP3 has no group buffer pool"):
        changed(three, ("separate", "BP3"))


def test_sizes_by_hand(values: dict[str, Any]) -> None:
    before = copy.deepcopy(values)
    made = changed(values, ("lock-entries", "2x"), ("gbp", "GBP1=2x"))
    assert values == before
    assert made["db2"][0]["lock"]["entries"] == 8192
    # 3,000 pages and, by default, five times as many directory entries.
    assert made["db2"][0]["pool"][0]["group"]["data_entries"] == 6000
    assert made["db2"][0]["pool"][0]["group"]["directory_entries"] == 30_000
    assert changed(values, ("lock-entries", "DSNG=500"))["db2"][0]["lock"]["entries"] == 500
    # The same storage: 3000 x 4096 + 15000 x 400 = 18,288,000 bytes; a page with ten entries takes 8,096.
    made = changed(values, ("ratio", "GBP1=10"))
    assert made["db2"][0]["pool"][0]["group"]["data_entries"] == 2259
    assert made["db2"][0]["pool"][0]["group"]["directory_entries"] == 22_589


def test_facilities_by_hand(values: dict[str, Any]) -> None:
    made = changed(values, ("cf-speed", "CF1=1.5"), ("distance", "10km"), ("link", "CF2=0.5x"))
    first, second = made["coupling_facility"]
    assert (first["speed"], first["distance_km"], first.get("link")) == (1.5, 10.0, None)
    assert (second.get("speed"), second["distance_km"], second["link"]) == (None, 10.0, 1.5e-6)


def test_machines_by_hand(values: dict[str, Any]) -> None:
    values["cec"][0]["speed"] = 1.5
    made = changed(values, ("engine-speed", "SYS1=2"), ("threshold", "30us"))
    first, second = made["cec"]
    assert (first["speed"], first["ziip_speed"], second.get("speed")) == (3.0, 2.0, None)
    # Links and facilities are not of the machine.
    assert made["coupling_facility"] == values["coupling_facility"]
    assert made["coupling"]["convert_above_us"] == 30.0
    assert changed(values, ("threshold", "0"))["coupling"]["convert_above_us"] == 0.0


def test_separated_members_share_nothing(values: dict[str, Any]) -> None:
    found = apply_changes(values, [parse_change(Kind.SEPARATE, "BP1")])
    group = found.values["db2"][0]
    assert dependent_sets(values, values["db2"][0]) == {"DB.TS", "DB.IX"}
    assert dependent_sets(found.values, group) == set()
    names = {page_set["name"]: page_set["pages"] for page_set in group["page_set"]}
    assert sorted(names) == ["DB.IX@DB1", "DB.IX@DB2", "DB.TS@DB1", "DB.TS@DB2"]
    assert names["DB.TS@DB1"] + names["DB.TS@DB2"] == pytest.approx(10_000, abs=1)
    # Work is divided, not lost, and each part stays on its system; what starts another starts the part beside it.
    whole, parts = class_rates(values), class_rates(found.values)
    for name in ("UPDA", "LATE", "SCAN"):
        of_name = [part for part, label in found.labels.items() if label == name] or [name]
        assert sum(parts[part] for part in of_name) == pytest.approx(whole[name])
    homes = {region["name"]: region["system"] for region in found.values["region"]}
    by_name = {one["name"]: one for one in found.values["class"]}
    for one in found.values["class"]:
        here = {homes[region] for region in one["regions"]}
        assert len(here) == 1
        for start in one.get("starts", []):
            assert {homes[region] for region in by_name[start["class"]]["regions"]} == here
    results = run_scenario(Scenario("", found.values).with_run(seconds=20.0)).results
    used = [pool["member"] for member in results["intervals"][-1]["members"] for pool in member["pools"]]
    assert all(value == 0 for counts in used for name, value in counts.items() if "getpages" not in name)
