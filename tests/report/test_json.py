"""The numbers as JSON: base units, nulls, definitions."""

import json

import pytest

from plexlens.report import Report, to_json


@pytest.fixture(scope="module")
def found(damaged: Report) -> dict:
    # Strict JSON: no NaN, nothing that needs a default.
    return json.loads(json.dumps(to_json(damaged), allow_nan=False))


def _section(found: dict, name: str) -> dict:
    return next(section for section in found["sections"] if section["id"] == name)


def test_rows_are_objects_in_base_units(found: dict) -> None:
    table = _section(found, "shop")["tables"][0]
    assert table["rows"][0] == {
        "queue": "Q1",
        "requests": 2100.0,
        "rate": 1.75,
        "service_time": pytest.approx(0.0015),
        "busy": pytest.approx(0.002625),
    }
    assert table["rows"][1]["service_time"] is None
    units = {column["name"]: (column["unit"], column["definition"]) for column in table["columns"]}
    assert units["service_time"] == ("s", "shop_queue.service_time")
    assert units["queue"] == (None, None)


def test_definitions_explain_every_column(found: dict) -> None:
    named = {
        column["definition"]
        for section in found["sections"]
        for table in section["tables"]
        for column in table["columns"]
        if column["definition"]
    }
    assert named
    assert named <= set(found["definitions"])
    assert found["definitions"]["shop_queue.service_time"] == {
        "title": "Service time",
        "grain": "Queues",
        "row": "one queue of one system in one interval",
        "unit": "s",
        "shown_in": "µs",
        "formula": "service / requests",
        "rollup": None,
        "source": "the manual, page 2",
        "caveat": "A mean; the worst is far above it.",
    }


def test_times_are_utc(found: dict) -> None:
    assert found["span"] == ["2026-03-09T10:00:00Z", "2026-03-09T10:20:00Z"]
    assert found["utc_offset"] == -18000.0
    chart = _section(found, "timeline")["charts"][0]
    assert chart["times"] == ["2026-03-09T10:00:00Z", "2026-03-09T10:10:00Z"]
    assert chart["ends"][-1] == "2026-03-09T10:20:00Z"
    assert chart["series"][0] == {"name": "Q1", "mean": 1.75, "values": [1.5, 2.0]}


def test_figures_damage_and_gaps_are_there(found: dict) -> None:
    figure = _section(found, "summary")["figures"][0]
    assert (figure["name"], figure["value"], figure["unit"]) == ("shop_rate", pytest.approx(1.85), "1/s")
    assert [alert["level"] for alert in found["alerts"]] == ["loss", "loss"]
    assert _section(found, "shop")["missing"][0]["ways"] == [
        {"kind": "SMF 251", "how": "Switch the tills' records on."}
    ]
