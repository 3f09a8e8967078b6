"""Writers into object storage: whole or not at all, each record once, however many write and whenever they die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from plexlens.errors import PdbDamagedError, StorageError, UsageError
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.job import Outcome
from plexlens.pdb.objects import ObjectDisk
from plexlens.pdb.upkeep.compact import compact
from plexlens.pdb.upkeep.repair import examine, repair
from plexlens.pdb.upkeep.undo import undo
from plexlens.pdb.upkeep.verify import verify
from tests.pdb.fake_source import expected, held, write
from tests.storage.proxy import Fate, Proxy, Request, Rule
from tests.test_layers import ROOT

ADDRESS = "s3://data/a b/plex1.pdb"

#: An ingest as a process: the dumps that its words name.
WRITER = """
import sys
from datetime import timedelta
from pathlib import Path
from plexlens.ingest import kinds
from plexlens.pdb import Pdb, ingest
from tests.pdb import fake_source
kinds.SOURCES = (fake_source.KIND,)
for path in sys.argv[2:]:
    print(ingest([path], Pdb.open_or_create(sys.argv[1]))[0].outcome.value, flush=True)
"""

pytestmark = pytest.mark.usefixtures("fake")


def writer(*dumps: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, ADDRESS, *map(str, dumps)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def now() -> dict[str, int]:
    return held(Pdb.open(ADDRESS).connect())


def test_what_was_ingested_is_there_by_table_day_and_system(tmp_path: Path, proxy: Proxy) -> None:
    pdb = Pdb.open_or_create(ADDRESS)
    ingest([write(tmp_path / "a.fake", range(900, 1100)), write(tmp_path / "b.fake", range(1000, 1200))], pdb)
    assert held(pdb.connect()) == now() == expected(range(900, 1200))
    places = {path.rpartition("/")[0] for path in (file.path for file in pdb.manifest.every_file())}
    requests = "tables/smf74/smf74_4_request"
    assert places == {
        *(f"{requests}/{day}/SYS1" for day in ("2024-03-01", "2024-03-02")),
        *(f"tables/smf/smf_record/{day}" for day in ("2024-03-01", "2024-03-02")),
    }
    assert ingest([tmp_path / "a.fake"], pdb)[0].outcome is Outcome.ALREADY_HELD
    assert verify(pdb).problems == []


def test_the_same_dump_twice_at_once_is_there_once(tmp_path: Path, proxy: Proxy) -> None:
    dump = write(tmp_path / "a.fake", range(300))
    running = [writer(dump), writer(dump)]
    said = [one.communicate(timeout=120) for one in running]
    assert [one.returncode for one in running] == [0, 0], said
    assert sorted(out.strip() for out, _ in said) == ["added", "already held"]
    assert now() == expected(range(300))


def test_two_writers_of_overlapping_dumps_lose_and_double_nothing(tmp_path: Path, proxy: Proxy) -> None:
    parts = [[range(n * 40, n * 40 + 60) for n in range(first, 12, 2)] for first in (0, 1)]
    running = [writer(*(write(tmp_path / f"{part.start}.fake", part) for part in mine)) for mine in parts]
    for one in running:
        _, err = one.communicate(timeout=240)
        assert one.returncode == 0, err
    assert now() == expected(range(500))
    pdb = Pdb.open(ADDRESS)
    assert len(pdb.ingests) == 12
    assert pdb.head.commit == 12
    assert verify(pdb).problems == []


@pytest.mark.parametrize(("other", "readings"), [(range(2000, 2100), 1), (range(50, 150), 2), (range(100), 1)])
def test_a_writer_that_was_overtaken_reads_again_only_what_came(
    tmp_path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, other: range, readings: int
) -> None:
    """The other's records are of another day; of the same, some of them ours; exactly ours."""
    mine, others = write(tmp_path / "mine.fake", range(100)), write(tmp_path / "others.fake", other)
    replace, overtaken = ObjectDisk.replace, []

    def late(self: ObjectDisk, path: Path, text: str, tag: str) -> str:
        if not overtaken:
            overtaken.append(tag)
            ingest([others], Pdb.open_or_create(ADDRESS))
        return replace(self, path, text, tag)

    monkeypatch.setattr(ObjectDisk, "replace", late)
    told: list[str] = []
    (result,) = ingest([mine], Pdb.open_or_create(ADDRESS), tell=told.append)
    assert overtaken == [""]
    assert now() == expected(range(100), other)
    is_same = other == range(100)
    assert result.outcome is (Outcome.ALREADY_HELD if is_same else Outcome.ADDED)
    assert len(told) == (1 if is_same else readings - 1)
    assert len(Pdb.open(ADDRESS).ingests) == (1 if is_same else 2)


def killing(running: subprocess.Popen[str], number: int) -> Rule:
    """Kill a process when its nth request that writes has come, and been carried out."""
    writes: list[str] = []

    def rule(request: Request) -> Fate | None:
        if request.writes and not request.key.endswith("/conditional-put"):
            writes.append(request.key)
            if len(writes) == number:
                os.kill(running.pid, signal.SIGKILL)
                return Fate(loses_answer=True)
        return None

    return rule


def test_killed_at_each_request_it_holds_all_or_nothing(tmp_path: Path, proxy: Proxy) -> None:
    """`kill -9` at the nth request that writes, for every n: then the ingest is repeated."""
    first, second = write(tmp_path / "a.fake", range(100)), write(tmp_path / "b.fake", range(50, 250))
    ingest([first], Pdb.open_or_create(ADDRESS))
    before, after = expected(range(100)), expected(range(250))
    seen = set()
    for number in range(1, 99):
        running = writer(second)
        with proxy.ruled(killing(running, number)):
            running.communicate(timeout=60)
        there = now()
        assert there in (before, after), number
        seen.add(tuple(there.values()))
        assert verify(Pdb.open(ADDRESS)).problems == []
        if there == after:
            break
    assert running.returncode == -signal.SIGKILL
    assert seen == {tuple(before.values()), tuple(after.values())}
    assert ingest([second], Pdb.open(ADDRESS))[0].outcome is Outcome.ALREADY_HELD
    # Two objects of rows, a part of the log, the manifest.
    assert number == 4


def test_a_commit_whose_answer_is_lost_is_made_once(tmp_path: Path, proxy: Proxy) -> None:
    lost: list[str] = []

    def once(request: Request) -> Fate | None:
        if request.method == "PUT" and request.key.endswith("manifest.json") and not lost:
            lost.append(request.key)
            return Fate(loses_answer=True)
        return None

    with proxy.ruled(once):
        (result,) = ingest([write(tmp_path / "a.fake", range(100))], Pdb.open_or_create(ADDRESS))
    assert lost
    assert result.outcome is Outcome.ADDED
    assert now() == expected(range(100))
    assert Pdb.open(ADDRESS).head.commit == 1


def test_two_tries_that_fail_of_each_request_are_made_good(tmp_path: Path, proxy: Proxy) -> None:
    tried: dict[tuple[str, str], int] = {}

    def twice(request: Request) -> Fate | None:
        of = (request.method, request.path)
        tried[of] = tried.get(of, 0) + 1
        return Fate(status=503) if tried[of] % 3 else None

    with proxy.ruled(twice):
        ingest([write(tmp_path / "a.fake", range(20))], Pdb.open_or_create(ADDRESS))
    assert now() == expected(range(20))


def test_a_server_that_stays_away_is_given_up_and_what_was_there_stays(tmp_path: Path, proxy: Proxy) -> None:
    ingest([write(tmp_path / "a.fake", range(20))], Pdb.open_or_create(ADDRESS))
    with (
        proxy.ruled(lambda request: Fate(status=503) if request.key.endswith(".parquet") else None) as listed,
        pytest.raises(StorageError, match=r"the server answers 503 Service Unavailable, after 3 tries") as raised,
    ):
        ingest([write(tmp_path / "b.fake", range(20, 40))], Pdb.open(ADDRESS))
    assert raised.value.file.startswith(ADDRESS)
    by_key: dict[str, int] = {}
    for request in listed:
        by_key[request.key] = by_key.get(request.key, 0) + request.key.endswith(".parquet")
    assert max(by_key.values()) == 3
    assert now() == expected(range(20))
    ingest([tmp_path / "b.fake"], Pdb.open(ADDRESS))
    assert now() == expected(range(40))


def test_a_server_that_ignores_conditions_is_refused(tmp_path: Path, proxy: Proxy) -> None:
    dump = write(tmp_path / "a.fake", range(20))
    for ignored in ("if-none-match", "if-match"):
        with (
            proxy.ruled(lambda request, ignored=ignored: Fate(without=(ignored,))),
            pytest.raises(UsageError, match="takes a write whose condition does not hold"),
        ):
            ingest([dump], Pdb.open_or_create(ADDRESS))
    assert ingest([dump], Pdb.open_or_create(ADDRESS))[0].outcome is Outcome.ADDED


def test_files_are_merged_while_another_writes_and_a_loss_is_repaired(
    tmp_path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdb = Pdb.open_or_create(ADDRESS)
    for number in range(3):
        ingest([write(tmp_path / f"{number}.fake", range(number * 50, number * 50 + 50))], pdb)
    late = write(tmp_path / "late.fake", range(150, 200))
    replace, overtaken = ObjectDisk.replace, []

    def second(self: ObjectDisk, path: Path, text: str, tag: str) -> str:
        if not overtaken:
            overtaken.append(tag)
            ingest([late], Pdb.open(ADDRESS))
        return replace(self, path, text, tag)

    with monkeypatch.context() as patched:
        patched.setattr(ObjectDisk, "replace", second)
        done = compact(pdb)
    assert (done.files, done.into_files) == (6, 2)
    assert now() == expected(range(200))
    (merged,) = (file for file in pdb.manifest.files["smf74_4_request"] if len(file.sources) == 3)
    assert merged.system == "SYS1"
    assert merged.starts == ("2024-03-01T11:00:00+00:00",) * 2
    (pdb.path / merged.path).unlink()
    with pytest.raises(PdbDamagedError, match="the object is not there"):
        pdb.connect()
    (problem,) = (problem for problem in verify(pdb).problems if problem.file)
    assert {origin.at_hand for origin in problem.origins} == {str(tmp_path / f"{number}.fake") for number in range(3)}
    assert len(repair(pdb.path).sources) == 3
    ingest([tmp_path / f"{number}.fake" for number in range(3)], pdb)
    assert now() == expected(range(200))
    undo(pdb)
    assert now() != expected(range(200))


def test_what_a_dead_writer_left_goes_when_it_is_old_enough(
    tmp_path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdb = Pdb.open_or_create(ADDRESS)
    ingest([write(tmp_path / "a.fake", range(50))], pdb)
    left = pdb.path / "tables/smf/smf_record/2024-03-01/left-1.parquet"
    left.bucket.put(left.key, b"cut")  # type: ignore[attr-defined]
    assert examine(pdb.path).is_well
    monkeypatch.setattr("plexlens.pdb.objects.GRACE", timedelta(0))
    assert examine(pdb.path).orphans == ("tables/smf/smf_record/2024-03-01/left-1.parquet",)
    repair(pdb.path)
    assert not left.exists()
    assert now() == expected(range(50))
