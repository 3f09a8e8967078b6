"""`plexlens pools` as users meet it: what it prints and writes, and what it says of wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.errors import PlexlensError
from plexlens.pools.prediction import load
from plexlens.pools.settings import PoolSettings
from tests.pools.made_trace import lru_misses, mixed, zipf


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Ten seconds: a table of 400 pages in BP1, a ring of 90 pages and a small table in BP2."""
    random = np.random.default_rng(8)
    objects, pages = mixed(
        9,
        {1: zipf(random, 400, 0.7, 4000).tolist(), 2: list(range(90)) * 20, 3: zipf(random, 50, 0.5, 1500).tolist()},
    )
    names = {1: ("BP1", "PAY.TSEMP"), 2: ("BP2", "PAY.TSRING"), 3: ("BP2", "PAY.TSCODE")}
    step = 10_000_000 // len(pages)
    rows = [
        f"{at * step},{names[number][0]},{names[number][1]},{page}"
        for at, (number, page) in enumerate(zip(objects, pages, strict=True))
    ]
    path = tmp_path / "trace.csv"
    path.write_text("time,pool,object,page\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "pools.toml"
    path.write_text("[BP1]\nsize = 100\n[BP2]\nsize = 60\n")
    return path


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["pools", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_change_is_predicted_written_and_undone(trace: Path, settings: Path, tmp_path: Path) -> None:
    saved = tmp_path / "prediction.json"
    text = run(trace, "--settings", settings, "--pool", "BP2=160", "--move", "pay.tscode=BP1", "--save", saved)
    lines = [line.strip() for line in text.splitlines()]
    assert "-ALTER BUFFERPOOL(BP2) VPSIZE(160)" in lines
    assert "ALTER TABLESPACE PAY.TSCODE BUFFERPOOL BP1;" in lines
    assert lines.index("-ALTER BUFFERPOOL(BP2) VPSIZE(60)") > lines.index("To undo it:")
    prediction = load(saved)
    assert prediction.before.configuration.pools["BP2"] == PoolSettings.of("BP2", 60)
    assert prediction.after.configuration.placement == {"PAY.TSCODE": "BP1"}
    # Alone in 160 buffers the ring is read once, and prefetch may read a quantity of 8 pages or two past its end.
    assert 90 <= prediction.after.data_sets["BP2", "PAY.TSRING"].pages_read <= 90 + 16
    assert prediction.before.data_sets["BP2", "PAY.TSRING"].pages_read > 200
    assert prediction.before.data_sets["BP2", "PAY.TSRING"].getpages == 1800
    assert prediction.seconds == pytest.approx(10, rel=0.01)


def test_simulated_reads_of_a_random_table_are_those_of_a_slow_pool(
    trace: Path, settings: Path, tmp_path: Path
) -> None:
    """Random access of a table alone in its pool: LRU, whatever else Db2 does, but for dynamic prefetch."""
    saved = tmp_path / "prediction.json"
    run(trace, "--settings", settings, "--pool", "BP1=200", "--save", saved)
    pages = [line.split(",")[3] for line in trace.read_text().splitlines()[1:] if ",BP1," in line]
    for state, size in ((load(saved).before, 100), (load(saved).after, 200)):
        activity = state.pools["BP1"]
        assert activity.sync_reads == pytest.approx(lru_misses(pages, size), rel=0.02)


def test_a_recommendation_keeps_its_budget_and_says_why(trace: Path, settings: Path, tmp_path: Path) -> None:
    saved, report = tmp_path / "prediction.json", tmp_path / "report.html"
    options = ("--settings", settings, "--budget", "1MiB", "--least-buffers", "20")
    made = json.loads(run(trace, *options, "--json", "--save", saved, "-o", report))
    steps = made["recommendation"]["steps"]
    assert any(step["worth"] for step in steps)
    assert all(step["why"] for step in steps)
    after = load(saved).after
    assert after.configuration.bytes <= 1 << 20
    assert after.total.read_ios < load(saved).before.total.read_ios
    assert made["prediction"]["after"]["settings"].keys() >= {"BP1", "BP2"}
    assert "<html" in report.read_text()
    text = run(trace, *options)
    for told in (
        "What to do:",
        "To undo it:",
        "C O S T   A S S U M P T I O N S",
        "-ALTER BUFFERPOOL(BP2) VPSIZE(",
    ):
        assert told in text


def test_without_sizes_equal_parts_are_assumed_and_nothing_is_put_back(trace: Path) -> None:
    made = json.loads(run(trace, "--budget", "1MiB", "--least-buffers", "20", "--json"))["prediction"]
    assert any("The present size of BP1, BP2 is not known" in note for note in made["notes"])
    assert [line for line in made["commands"] if line.startswith("-ALTER")]
    assert not [line for line in made["reverse"] if line.startswith("-ALTER")]


def test_a_simulation_is_written_as_smf(trace: Path, settings: Path, tmp_path: Path) -> None:
    dump = tmp_path / "simulated.smf"
    run(trace, "--settings", settings, "--policy", "fifo:BP1", "--simulate-to", dump)
    assert dump.stat().st_size > 0


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--pool", "BP7=100"], "BP7: the trace has no such pool"),
        (["--pool", "BP99=100"], "Db2 has no buffer pool 'BP99'"),
        (["--move", "PAY.NOBODY=BP1"], "the trace has no object 'PAY.NOBODY'; give one of PAY.TSCODE"),
        (["--move", "PAY.TSEMP=BP8K1"], "whose size is not known"),
        (["--move", "PAY.TSEMP=BP8K1", "--pool", "BP8K1=100"], "pages of 4096 and 8192 bytes"),
        (["--policy", "mru:BP1"], "--policy mru:BP1 is not valid"),
        (["--pgfix", "BP5"], "the size of BP5 is not known"),
        (["--budget", "lots"], "'lots' is not a storage size"),
        (["--budget", "8KiB"], "is below the minimum"),
        (["--sizes", "10,x"], "is not a list of numbers"),
        (["--sizes", "0"], "a pool of 0 pages is not possible"),
        (["--sample", "2"], "sampling rate of 2"),
    ],
)
def test_wrong_use_is_named_and_nothing_is_written(
    trace: Path, settings: Path, tmp_path: Path, options: list[str], what: str
) -> None:
    files = [tmp_path / name for name in ("prediction.json", "report.html", "dump.smf")]
    arguments = ["pools", str(trace), "--settings", str(settings), *options]
    for option, path in zip(("--save", "-o", "--simulate-to"), files, strict=True):
        arguments += [option, str(path)]
    with pytest.raises(PlexlensError) as raised:
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert what in str(raised.value)
    assert raised.value.exit_code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pools.toml", "trace.csv"]


def test_files_of_a_prediction_need_sizes(trace: Path, tmp_path: Path) -> None:
    with pytest.raises(PlexlensError, match="the pool sizes are not known"):
        CliRunner().invoke(app, ["pools", str(trace), "--save", str(tmp_path / "p.json")], catch_exceptions=False)
    with pytest.raises(PlexlensError, match="there is no folder"):
        CliRunner().invoke(
            app, ["pools", str(trace), "--save", str(tmp_path / "no" / "p.json")], catch_exceptions=False
        )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("pool,page\n", "no references"),
        ("time,pool,page,function\n1,BP1,1,read\n", "the trace has no getpage among 1 references"),
        ("pool,page,colour\nBP1,1,2\n", "unknown columns: colour"),
    ],
)
def test_traces_without_use_are_refused(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    for options in (["--json"], ["--budget", "1GiB"]):
        with pytest.raises(PlexlensError) as raised:
            CliRunner().invoke(app, ["pools", str(path), *options], catch_exceptions=False)
        assert what in str(raised.value)


def test_one_page_is_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("pool,page\nBP1,1\n")
    made = json.loads(run(path, "--sizes", "1,100", "--json"))
    assert made["pools"]["BP1"]["curve"] == [{"pages": 1, "read_misses": 1}, {"pages": 100, "read_misses": 1}]
    # All of it fits, so nothing is to be gained but the upkeep of an order of use.
    options = ("--pool", "BP1=1000", "--budget", "8MiB")
    commands = json.loads(run(path, *options, "--json"))["prediction"]["commands"]
    assert [line for line in commands if line.startswith("-ALTER")] == ["-ALTER BUFFERPOOL(BP1) PGSTEAL(NONE)"]
    assert "-ALTER BUFFERPOOL(BP1) PGSTEAL(NONE)" in run(path, *options)


def test_curves_are_written_in_every_form_without_sizes(trace: Path, tmp_path: Path) -> None:
    """What the terminal shows can be kept, though no prediction is possible."""
    for ending in ("html", "txt", "csv", "zip", "xlsx", "json"):
        run(trace, "-o", tmp_path / f"curves.{ending}")
        assert (tmp_path / f"curves.{ending}").stat().st_size > 0
    assert (tmp_path / "curves.txt").read_text() == run(trace)
    assert json.loads((tmp_path / "curves.json").read_text()) == json.loads(run(trace, "--json"))
