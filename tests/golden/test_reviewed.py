"""Comparing with a golden: a difference is found and its place named; renewing writes what is compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden.reviewed import SWITCH, check_json, check_no_other, check_text, differences_of, thinned, written

PAGE = {
    "title": "Pools",
    "sections": [{"id": "pools", "rows": [{"pool": "BP1", "reads": 12.5}, {"pool": "BP2", "reads": None}]}],
}


def _with(value: Any) -> Any:
    changed = json.loads(json.dumps(PAGE))
    changed["sections"][0]["rows"][0]["reads"] = value
    return changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (_with(12.5001), "sections[0](pools).rows[0].reads: 12.5 -> 12.5001"),
        (_with(None), "sections[0](pools).rows[0].reads: 12.5 -> null"),
        (_with("12.5"), 'sections[0](pools).rows[0].reads: 12.5 -> "12.5"'),
        (_with(True), "sections[0](pools).rows[0].reads: 12.5 -> true"),
        ({"title": "Pools"}, "sections"),
        (PAGE | {"note": 1}, "note: new: 1"),
        (PAGE | {"sections": [*PAGE["sections"], {}]}, "sections: 1 -> 2 elements"),
        ({"sections": PAGE["sections"], "title": "Pools"}, "order of keys"),
    ],
)
def test_a_difference_is_found_and_its_place_named(changed: Any, message: str) -> None:
    (found,) = differences_of(PAGE, changed)
    assert message in found


def test_the_order_of_additions_is_no_difference() -> None:
    assert differences_of(PAGE, _with(12.5 * (1 + 1e-12))) == []
    assert differences_of({"count": 3}, {"count": 3.0}) == []


@pytest.mark.parametrize("place", [0, 20, 49])
def test_a_number_anywhere_in_a_long_list_is_noticed(place: int) -> None:
    rows = [{"pages": number, "misses": 1000 / (number + 1)} for number in range(50)]
    golden = thinned(rows)
    assert len(golden) == 5
    assert golden[3]["elements"] == 50
    rows[place]["misses"] *= 1.00001
    found = differences_of(golden, thinned(rows))
    assert any(line.startswith("[3].digests.misses: ") for line in found)
    assert not any("pages" in line for line in found)
    rows[place]["misses"] /= 1.00001
    assert differences_of(golden, thinned(rows)) == []


def test_two_values_of_a_long_list_that_change_places_are_noticed() -> None:
    values = [float(number) for number in range(50)]
    golden = thinned(values)
    values[20], values[30] = values[30], values[20]
    assert len(differences_of(golden, thinned(values))) == 1


def test_what_is_written_is_read_back() -> None:
    for value in (PAGE, thinned([float(number) / 7 for number in range(30)]), [], {}, [[1] * 200], "text"):
        assert json.loads(written(value)) == value
    assert max(map(len, written([[number / 7 for number in range(200)]]).splitlines())) <= 120


def test_a_golden_is_renewed_on_request_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH, raising=False)
    text, page = tmp_path / "page.txt", tmp_path / "page.json"
    for check, path, value in ((check_text, text, "a\nb\n"), (check_json, page, PAGE)):
        with pytest.raises(AssertionError, match=SWITCH):
            check(path, value)  # type: ignore[operator]
        assert not path.exists()
    monkeypatch.setenv(SWITCH, "1")
    check_text(text, "a\nb  \n")
    check_json(page, PAGE)
    monkeypatch.delenv(SWITCH)
    check_text(text, "a\nb\n")
    check_json(page, PAGE)
    with pytest.raises(AssertionError, match=r"line 2: - b\nline 2: \+ c"):
        check_text(text, "a\nc\n")
    with pytest.raises(AssertionError, match=r"reads: 12\.5 -> 13"):
        check_json(page, _with(13))


def test_a_golden_that_nothing_compares_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH, raising=False)
    (tmp_path / "old.txt").touch()
    check_no_other(tmp_path, {"old.txt"})
    with pytest.raises(AssertionError, match=r"old\.txt"):
        check_no_other(tmp_path, {"new.txt"})
