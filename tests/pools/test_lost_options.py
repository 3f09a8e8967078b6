"""Options of `plexlens pools` that would be lost in silence are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.errors import UsageError

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trace") / "t.csv"
    path.write_text("time,pool,object,page\n0,BP1,PAY.TS,7\n25,BP1,PAY.TS,8\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pool", "BP1=1000", "--pool", "bp1=2000"], "--pool is given twice for BP1; give it once"),
        (
            ["--pool", "BP1=1000", "--pool", "BP2=9", "--move", "PAY.TS=BP2", "--move", "PAY.TS=BP1"],
            "--move is given twice for PAY.TS; give it once",
        ),
        (
            ["--pool", "BP1=1000", "--policy", "fifo:BP1", "--policy", "none:BP1"],
            "--policy is given twice for BP1; give it once",
        ),
        (["--most-moves", "5"], "--most-moves limits a recommendation, and none is asked for; give the storage with"),
        (["--new-pools", "0"], "--new-pools limits a recommendation"),
        (["--least-buffers", "50"], "--least-buffers limits a recommendation"),
        (["--delay-weight", "1"], "--delay-weight limits a recommendation"),
        (["--minutes", "5"], "--minutes is the interval of -DISPLAY BUFFERPOOL output, and a trace states its times"),
        (["--budget", "16TiB"], "cannot be simulated; give at most 1,000,000,000 buffers"),
        (["--budget", "99999TiB"], "is more than the pools of a Db2 can have, 16 TB; give less storage"),
    ],
)
def test_what_would_be_lost_in_silence_is_refused(trace: Path, words: list[str], message: str) -> None:
    done = RUNNER.invoke(app, ["pools", str(trace), *words])
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)


def test_a_budget_of_terabytes_is_possible(trace: Path) -> None:
    done = RUNNER.invoke(app, ["pools", str(trace), "--budget", "3TiB"])
    assert done.exit_code == 0, done.exception


def test_a_pool_larger_than_the_simulation_takes_is_refused(trace: Path) -> None:
    done = RUNNER.invoke(app, ["pools", str(trace), "--pool", "BP1=1000000001"])
    assert "VPSIZE 1,000,000,001 cannot be simulated; give at most 1,000,000,000 buffers" in str(done.exception)


def test_settings_without_a_pool_are_not_passed_over_in_silence(trace: Path, tmp_path: Path) -> None:
    settings = tmp_path / "s.toml"
    settings.write_text('[placement]\n"PAY.TS" = "BP2"\n', encoding="utf-8")
    done = RUNNER.invoke(app, ["pools", str(trace), "--settings", str(settings)])
    assert done.exit_code == 0, done.exception
    assert "Curves only: s.toml has no size of a pool." in " ".join(done.output.split())


def test_a_note_of_several_members_as_one_db2_is_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time,member,pool,object,page\n0,DB1A,BP1,PAY.TS,7\n25,DB1B,BP1,PAY.TS,8\n", encoding="utf-8")
    done = RUNNER.invoke(app, ["pools", str(path), "--no-group", "--pool", "BP1=1000"])
    assert done.exit_code == 0, done.exception
    assert "DB1A, DB1B are simulated as one Db2; in fact each member has its own pools" in " ".join(done.output.split())
