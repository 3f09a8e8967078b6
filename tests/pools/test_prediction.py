"""A saved prediction reads back as it was; what is none is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plexlens.errors import UnreadableInputError, UsageError
from plexlens.pools.prediction import Activity, Engine, Prediction, State, load, save
from plexlens.pools.settings import Configuration, PoolSettings

BEFORE = State(
    Configuration({"BP2": PoolSettings.of("BP2", 20_000, vpseqt=40)}),
    {"BP2": Activity(getpages=1000, sync_reads=100, prefetch_reads=5, pages_read=260, cpu_seconds=0.003465)},
    {("BP2", "PAY.TS1"): Activity(getpages=600, sync_reads=100), ("BP2", "PAY.TS2.3"): Activity(getpages=400)},
)
AFTER = State(
    Configuration({"BP2": PoolSettings.of("BP2", 40_000, pgfix=True)}, {"PAY.TS1": "BP2"}),
    {"BP2": Activity(getpages=1000, sync_reads=60)},
    {("BP2", "PAY.TS1"): Activity(getpages=600, sync_reads=60)},
)
PREDICTION = Prediction(
    ("day1.smf",),
    60.0,
    ("DB2A",),
    BEFORE,
    AFTER,
    {"sync_read": {"value": 33e-6}},
    Engine("policy simulation", 0.5, 0.01, "one per cent"),
    ("-ALTER BUFFERPOOL(BP2) VPSIZE(40000)",),
    ("-ALTER BUFFERPOOL(BP2) VPSIZE(20000)",),
    ("a note",),
)


def test_it_reads_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "prediction.json"
    save(path, PREDICTION)
    assert load(path) == PREDICTION
    assert [one.name for one in tmp_path.iterdir()] == ["prediction.json"]


def test_amounts_by_time() -> None:
    assert PREDICTION.per_second(120.0) == 2.0
    assert PREDICTION.per_hour(1.0) == 60.0
    assert PREDICTION.before.total.ios == 105
    assert (BEFORE.pools["BP2"] + AFTER.pools["BP2"]).sync_reads == 160


def test_a_trace_without_times_has_no_rates() -> None:
    untimed = Prediction((), 0.0, (), BEFORE, AFTER, {}, Engine("curves"))
    assert untimed.per_second(1.0) is None
    assert untimed.per_hour(1.0) is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "it is not valid JSON"),
        ("[]", "it is not a prediction"),
        ('{"pools": {}}', "it is not a prediction"),
        ('{"plexlens_prediction": 2}', "it has format version 2, and this Plexlens reads versions up to 1"),
        ('{"plexlens_prediction": 1}', "the prediction in it is damaged: KeyError 'sources'"),
    ],
)
def test_what_is_no_prediction(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "prediction.json"
    path.write_text(text)
    with pytest.raises(UnreadableInputError) as raised:
        load(path)
    assert what in str(raised.value)


def test_impossible_settings_in_it_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "prediction.json"
    save(path, PREDICTION)
    held = json.loads(path.read_text())
    held["before"]["settings"]["BP2"]["vpseqt"] = 400
    path.write_text(json.dumps(held))
    with pytest.raises(UnreadableInputError, match="damaged: UsageError"):
        load(path)


def test_nothing_is_left_where_it_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "taken"
    folder.mkdir()
    with pytest.raises(UsageError, match="it cannot be written"):
        save(folder, PREDICTION)
    assert [one.name for one in tmp_path.iterdir()] == ["taken"]
