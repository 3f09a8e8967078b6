"""`plexlens compare` as a user meets it: databases made of the example, studies, predictions, pages, wrong use."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from plexlens.pools.prediction import Activity, Engine, Prediction, State, save
from plexlens.pools.settings import Configuration, PoolSettings
from tests.cli.command import run
from tests.compare.db2_series import write_series
from tests.example_file import write_example

#: Day of the year 2008 in the header of a record: 3 and 4 September.
BEFORE, AFTER = 247, 248


def of_day(data: bytes, day: int) -> bytes:
    """Records of the example dump written on a day of 2008, and the dump's own."""
    found, at = b"", 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 2], "big")
        # Packed date 0cyydddF at offset 10 of the record, descriptor word included.
        date = data[at + 10 : at + 14].hex()
        if date == f"0108{day:03}f":
            found += data[at : at + length]
        at += length
    return found


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two databases: the example's pools before, and after, 60,000 more buffers."""
    folder = tmp_path_factory.mktemp("days")
    write_example(folder / "example.smf")
    data = (folder / "example.smf").read_bytes()
    for name, day in (("before", BEFORE), ("after", AFTER)):
        (folder / f"{name}.smf").write_bytes(of_day(data, day))
        done = run("ingest", f"{name}.smf", "--pdb", f"{name}.pdb", cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


def test_two_databases_of_the_example_say_what_the_study_s_tables_say(days: Path) -> None:
    done = run("compare", "before.pdb", "after.pdb", "--json", cwd=days)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["comparable"] is False
    assert found["verdict"].startswith("The runs are not comparable: the rate of getpages is 9.7 % lower")
    sizes = {one["subject"]: (one["base"], one["new"]) for one in found["environment"] if one["name"] == "Pool size"}
    for pool in ("BP2", "BP9", "BP11"):
        assert sizes[f"Db2 buffer pools: DE34 / {pool}"] == ("20,000 pages", "40,000 pages")
    reads = {
        one["object"]: one for one in found["deltas"] if one["measure"] == "db2_pool.read_ios_per_second"
    }  # fmt: skip
    # As the screens print them, before and after.
    for pool, before, after in (("BP2", 859.45, 737.96), ("BP11", 1226.28, 1027.07), ("BP1", 239.56, 266.15)):
        one = reads[f"DE34 / {pool}"]
        assert (round(one["base"], 2), round(one["new"], 2)) == (before, after)
        assert (one["confidence"], one["unit"]) == (None, "1/s")
    (load,) = found["load"]
    assert load["load"] / load["change"] == pytest.approx(0.84, abs=0.005)
    assert "no confidence interval" in found["method"]


def test_text_reads_as_a_colleague_would_read_it(days: Path) -> None:
    done = run("compare", "before.pdb", "after.pdb", cwd=days)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    titles = ("IN SHORT", "ENVIRONMENT", "COMPARABLE", "AND WHY", "THROUGHPUT", "DEFINITIONS")
    order = [text.index("   ".join(" ".join(word) for word in title.split())) for title in titles]
    assert order == sorted(order)
    assert "The load explains 84 % of the change." in " ".join(text.split())
    assert "20,000 pages" in text and "40,000 pages" in text


def test_dumps_and_times_of_one_dump_give_the_same(days: Path) -> None:
    """The two days out of one dump, the dump read once, against the two databases."""
    apart = json.loads(run("compare", "before.pdb", "after.pdb", "--json", cwd=days).stdout)
    done = run("compare", "example.smf@2008-09-03", "example.smf@2008-09-04", "--json", cwd=days)
    assert done.returncode == 0, done.stderr
    together = json.loads(done.stdout)

    def pools(found: dict[str, Any]) -> list[dict[str, Any]]:
        """What is of single pools; the whole dump tells of its Db2 more than the records of pools do."""
        return [one for one in found["deltas"] if one["measure"].startswith("db2_pool.")]

    assert pools(together) == pools(apart) != []
    assert together["verdict"] == apart["verdict"]


def test_page_of_a_study(tmp_path: Path) -> None:
    done = run("compare", "pools-2014:before", "pools-2014:after", "-o", "c.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    for part in ("They saved 737 I/Os a second.", "NOT BORNE OUT", "501.48", "by everything else"):
        # Long words of headings may break: soft hyphens say where.
        assert part.lower() in page.replace("\u00ad", "").replace("&shy;", "").lower(), part


@pytest.mark.parametrize(
    ("words", "code", "parts"),
    [
        (("pools-2014:before", "sysplex-1996:table-05:B3"), 2, ("are not comparable", "two runs of one study")),
        (("pools-2014:before", "before.pdb"), 2, ("are not comparable",)),
        (("nothing.smf", "pools-2014:before"), 2, ("nothing.smf", "no such file")),
        (("nothing:table", "pools-2014:before"), 2, ("no study 'nothing'", "cics-2012")),
        (("before.pdb", "after.pdb", "--rate-bound", "-1"), 2, ("--rate-bound -1", "percent")),
        (
            ("before.pdb", "before.pdb@1999-01-01"),
            4,
            ("before.pdb@1999-01-01", "nothing matches", "it holds T104", "2008-09-03 17:29"),
        ),
        (("before.pdb", "after.pdb", "-o", "no/c.html"), 2, ("no/c.html", "no folder")),
    ],
)
def test_wrong_use(days: Path, words: tuple[str, ...], code: int, parts: tuple[str, ...]) -> None:
    done = run("compare", *words, cwd=days)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert all(part in done.stderr for part in parts), done.stderr


def test_an_empty_database(days: Path, tmp_path: Path) -> None:
    from plexlens.pdb import Pdb

    Pdb.create(tmp_path / "empty.pdb")
    done = run("compare", str(days / "before.pdb"), "empty.pdb", cwd=tmp_path)
    assert done.returncode == 4
    assert "empty.pdb: it contains no numbers that can be compared" in done.stderr


def predicted(seconds: float = 720.0) -> Prediction:
    """Pool 1 with 1,000 getpages and 10 reads a second, for which 8 are predicted with 2,000 buffers."""

    def state(size: int, reads: float) -> State:
        activity = Activity(
            getpages=1000 * seconds, random_getpages=900 * seconds, updates=20 * seconds, sync_reads=reads * seconds
        )
        return State(
            Configuration({"BP1": PoolSettings("BP1", size)}),
            {"BP1": activity},
            {("BP1", "DB.TS"): activity},
        )

    return Prediction(
        ("before.csv",), seconds, (), state(1000, 10), state(2000, 8), {}, Engine("simulation", error=0.02)
    )


def test_a_prediction_that_held(tmp_path: Path) -> None:
    """Ten percent fewer getpages: 7.2 reads a second are predicted for them; 6.9 to 7.5, 7.2 in the mean, came."""
    save(tmp_path / "p.json", predicted())
    rng = [414, 450, 426, 438, 432, 444, 420, 432, 435, 429, 440, 424]
    assert sum(rng) == 12 * 432
    write_series(tmp_path / "after.smf", [{1: (54_000, reads, 5_400, 1_080, 0)} for reads in rng], size=2000)
    done = run("compare", "p.json", "after.smf", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["change_made"] is True
    assert found["comparable"] is False
    assert "the rate of getpages is 10.0 % lower" in found["verdict"]
    (reads,) = found["reads"]
    assert reads["predicted"] == pytest.approx(8.0) and reads["actual"] == pytest.approx(7.2)
    assert reads["load"] == pytest.approx(-0.8) and reads["rest"] == pytest.approx(0.0, abs=1e-9)
    (intervals,) = [
        table for section in found["sections"] for table in section["tables"] if table["name"] == "intervals"
    ]
    assert intervals["rows"][0]["c4"] == "within"


def test_a_change_that_was_not_made(tmp_path: Path) -> None:
    save(tmp_path / "p.json", predicted())
    write_series(tmp_path / "after.smf", [{1: (60_000, 600, 6_000, 1_200, 0)}] * 6, size=1000)
    done = run("compare", "p.json", "after.smf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "The pools differ from those of the prediction" in text
    assert "BP1: predicted for 2,000 pages, has 1,000 pages" in text
    # 10 came where 8 were predicted, with the getpages they were predicted for.
    assert "an error of +25.0 %" in text


def write_trace(path: Path, objects: int, seconds: int = 60) -> None:
    """Fifty getpages a second of random pages of the first object, and one of each page of each further one."""
    rng = random.Random(5)
    rows = ["time,pool,object,page,function,access"]
    for number in range(50 * seconds):
        rows.append(f"{number * 20_000},BP1,DB.TS,{rng.randrange(3000)},getpage,random")
    rows += [
        f"{seconds * 1_000_000},BP1,DB.NEW{one},{page},getpage,random"
        for one in range(1, objects)
        for page in range(12)
    ]
    path.write_text("\n".join(rows) + "\n")


def test_a_trace_with_27_further_objects_is_another_workload(tmp_path: Path) -> None:
    write_trace(tmp_path / "before.csv", 1)
    write_trace(tmp_path / "after.csv", 28)
    (tmp_path / "pools.toml").write_text("[BP1]\nsize = 1000\n")
    done = run(
        "pools", "before.csv", "--settings", "pools.toml", "--pool", "BP1=2000", "--save", "p.json", "-o", "p.html",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    same = json.loads(run("compare", "p.json", "before.csv", "--json", cwd=tmp_path).stdout)
    assert same["comparable"] is True
    assert same["total"]["rest"] == pytest.approx(0, abs=1e-9)
    assert same["total"]["load"] == pytest.approx(0, abs=1e-9)
    done = run("compare", "p.json", "after.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["comparable"] is False
    # 27 x 12 getpages more than 3,000: 10.8 % more, 9.7 % of all.
    (objects,) = [check for check in found["checks"] if check["id"] == "data sets: objects"]
    assert "27 appeared, with 9.7 % of NEW's getpages" in objects["text"]
    assert "the rate of getpages is 10.8 % higher" in found["verdict"]


@pytest.mark.parametrize(
    ("words", "code", "parts"),
    [
        (("p.json", "pools-2014:before"), 2, ("cannot be compared with a run of a study",)),
        (("pools-2014:before", "p.json"), 2, ("can only be BASE",)),
        (("bad.json", "after.smf"), 3, ("bad.json", "not a prediction")),
        (("timeless.json", "after.smf"), 4, ("had no times",)),
        (("p.json", "other.smf"), 4, ("no pool of the prediction (BP1)", "BP7")),
    ],
)
def test_wrong_use_of_predictions(tmp_path: Path, words: tuple[str, ...], code: int, parts: tuple[str, ...]) -> None:
    save(tmp_path / "p.json", predicted())
    (tmp_path / "bad.json").write_text("{}")
    timeless = predicted()
    save(tmp_path / "timeless.json", Prediction(**{**timeless.__dict__, "seconds": 0.0}))
    write_series(tmp_path / "after.smf", [{1: (60_000, 600, 6_000, 1_200, 0)}] * 2)
    write_series(tmp_path / "other.smf", [{7: (60_000, 600, 6_000, 1_200, 0)}] * 2)
    done = run("compare", *words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert all(part in done.stderr for part in parts), done.stderr
