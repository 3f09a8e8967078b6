"""Dumps in a bucket against the same dumps on a disk: rows, damage, parts, and what a server can do to them."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plexlens.errors import PlexlensError, SourceChangedError, UnreadableInputError
from plexlens.ingest import smf
from plexlens.ingest.smf_splits import SplitPlan
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.place import files_at, source_at
from tests.storage.conftest import SECRET
from tests.storage.proxy import Fate, Proxy, Request
from tests.storage.test_readers import example, run  # noqa: F401 a fixture

BUCKET = "s3://data"


def put(key: str, content: bytes) -> None:
    from plexlens.pdb.object_store import bucket_of

    bucket_of("data").put(key, content)


@pytest.fixture
def dumps(proxy: Proxy, example: Path, tmp_path: Path) -> Path:  # noqa: F811
    """A folder, and the bucket with the same below ``day``: a dump, one that is cut, one of other records, packed."""
    folder = tmp_path / "day"
    (folder / "deeper").mkdir(parents=True)
    data = example.read_bytes()
    (folder / "a.smf").write_bytes(data)
    (folder / "b 1%.smf").write_bytes(data[:-10])
    (folder / "deeper" / "c[2].smf.gz").write_bytes(gzip.compress(data))
    (folder / "notes.txt").write_text("these are notes\n" * 20)
    for path in folder.rglob("*"):
        if path.is_file():
            put(f"day/{path.relative_to(folder)}", path.read_bytes())
    # What consoles make for a folder.
    put("day/deeper/", b"")
    return folder


def rows(path: Path, split: dict[str, Any] | None = None) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """The rows of all tables, and damage by reason."""
    reading = smf.read(path, source_id="s", threads=1, split=split)
    found: Counter[tuple[str, str]] = Counter()
    for table, batch in reading:
        found.update((table, repr(row)) for row in batch.to_pylist())
    return found, Counter(row.reason for row in reading.damage)


def everything(pdb: Pdb, place: str) -> dict[str, list[str]]:
    """All rows of a database, as text, without times of the ingest; the place of its files is called PLACE."""
    connection = pdb.connect()
    found = {}
    for table, about in pdb.tables().items():
        # Column by column: rows of one file have an order, and files of a table do not.
        gone = [name for name in ("started_at", "finished_at", "path") if name in {one.name for one in about.columns}]
        rows = connection.table(table).to_arrow_table().drop(gone).to_pylist()
        found[table] = sorted(repr(row).replace(place, "PLACE") for row in rows)
    return found


def test_a_folder_of_a_bucket_gives_the_rows_of_the_folder(dumps: Path, tmp_path: Path) -> None:
    there, here = Pdb.create(tmp_path / "there"), Pdb.create(tmp_path / "here")
    outcomes = [(result.file, result.outcome, result.reason) for result in ingest([f"{BUCKET}/day"], there)]
    expected = [(result.file, result.outcome, result.reason) for result in ingest([dumps], here)]
    assert [(file.replace(f"{BUCKET}/day", str(dumps)), *rest) for file, *rest in outcomes] == [
        (file, *rest) for file, *rest in expected
    ]
    assert len(outcomes) == 4
    found = everything(there, f"{BUCKET}/day")
    assert found == everything(here, str(dumps))
    assert len(found["damage"]) == 1
    assert "PLACE/b 1%.smf" in found["damage"][0]
    hashes = {one.sha256 for one in there.ingests}
    assert hashes == {hashlib.sha256(path.read_bytes()).hexdigest() for path in dumps.rglob("*.smf*")}


@pytest.mark.usefixtures("dumps")
def test_places_name_objects_folders_and_patterns() -> None:
    a, b, c, notes = "day/a.smf", "day/b 1%.smf", "day/deeper/c[2].smf.gz", "day/notes.txt"
    for place, expected, named in (
        ("s3://data/day/a.smf", [a], True),
        ("s3a://data/day/a.smf", [a], True),
        ("s3:/data/day/a.smf", [a], True),
        ("s3://data/day", [a, b, c, notes], False),
        ("s3://data/day/", [a, b, c, notes], False),
        ("s3://data/", [a, b, c, notes], False),
        ("s3://data/day/*.smf", [a, b], True),
        ("s3://data/day/[!a]*.smf", [b], True),
        ("s3://data/day/?.smf", [a], True),
        ("s3://data/**/*.smf*", [a, b, c], True),
        ("s3://data/da*/*/*", [c], True),
        # An object with this very name is no pattern.
        ("s3://data/day/deeper/c[2].smf.gz", [c], True),
    ):
        start = f"{place.partition(':')[0]}://data/"
        assert [(str(path), one) for path, one in files_at(place)] == [(start + key, named) for key in expected]
    for place, said in (
        ("s3://data/day/*.none", "no object matches this pattern"),
        ("s3://data/none/", "there is no object below this address"),
        ("s3://", "this is not the address of a dump"),
        ("s3://key:secret@data/day", "credentials or a port do not belong"),
    ):
        with pytest.raises(PlexlensError, match=said):
            files_at(place)


@pytest.mark.usefixtures("proxy")
def test_parts_of_an_object_are_those_of_the_file(example: Path, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "cut.smf"
    path.write_bytes(example.read_bytes()[:-10])
    put("cut.smf", path.read_bytes())
    there = source_at("s3a://data/cut.smf")
    parts = SplitPlan(None, split_bytes=40_000).parts_of(there)
    assert parts == SplitPlan(None, split_bytes=40_000).parts_of(path)
    assert len(parts) > 5
    for part in parts:
        assert rows(there, part) == rows(path, part)
    assert not list(Path(tmp_path).parent.glob("plexlens-part-*"))


@pytest.mark.usefixtures("proxy")
def test_an_object_is_read_once_in_order_with_requests_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from plexlens.pdb import dump_objects
    from plexlens.pdb.object_store import bucket_of

    monkeypatch.setattr(dump_objects, "BLOCK", 1000)
    content = bytes(range(256)) * 40
    put("bytes", content)
    with source_at("s3://data/bytes").open() as stream:
        assert stream.read(7) + stream.read(3) + stream.read(5000) + stream.read() == content
        assert (stream.read(1), stream.tell(), stream.seek(-3, 2)) == (b"", len(content), len(content) - 3)
        assert stream.read(10) == content[-3:]
        stream.seek(4321)
        assert stream.read(2000) == content[4321:6321]
    monkeypatch.undo()
    (tmp_path / "big.smf").write_bytes(content := b"".join(_records()))
    put("big.smf", content)
    bucket = bucket_of("data")
    bucket.bytes = 0
    ingest(["s3://data/big.smf"], Pdb.create(tmp_path / "pdb"))
    # The sample of the first and the last MiB, and the head by which the kind is told, are read on top.
    assert len(content) <= bucket.bytes <= len(content) + (2 << 20) + (64 << 10) + 4


def _records() -> Iterator[bytes]:
    """20 MiB of records that no layout describes."""
    header = bytes.fromhex("00 c8 0000000e 0126060f") + "SYS1".encode("cp037")
    for number in range(700):
        body = header + number.to_bytes(4, "big") + bytes(range(256)) * 117
        yield (len(body) + 4).to_bytes(2, "big") + b"\0\0" + body


def says(place: str) -> str:
    with pytest.raises(PlexlensError) as raised:
        rows(source_at(place))
    text = str(raised.value)
    assert SECRET not in text
    return text


def getting(key: str, fate: Fate, *, after: int = 0) -> Callable[[Request], Fate | None]:
    """A rule for reads of the contents of an object, behind so many."""
    reads = []

    def rule(request: Request) -> Fate | None:
        if request.method != "GET" or request.key != key:
            return None
        reads.append(request)
        return fate if len(reads) > after else None

    return rule


def test_a_server_that_refuses_or_fails_is_named_with_the_address(proxy: Proxy, tmp_path: Path) -> None:
    put("big.smf", b"".join(_records()))
    place = "s3://data/big.smf"
    assert says("s3://data/none.smf") == (
        "s3://data/none.smf: there is no such object; check the address, and AWS_ENDPOINT_URL"
    )
    with proxy.ruled(getting("big.smf", Fate(status=403, code="AccessDenied"))):
        assert says(place) == (
            "s3://data/big.smf: the object cannot be read: the server answers 403 AccessDenied; check that the "
            "credentials in the environment may list and read this path"
        )
    with proxy.ruled(getting("big.smf", Fate(status=503), after=2)):
        assert "s3://data/big.smf: the object cannot be read: the server answers 503 SlowDown, after 3 tries" in says(
            place
        )
    # The transfer ends early, each time.
    with proxy.ruled(getting("big.smf", Fate(cut_to=1000), after=1)):
        assert "s3://data/big.smf: the object cannot be read" in says(place)
    pdb = Pdb.create(tmp_path / "pdb")
    with proxy.ruled(getting("big.smf", Fate(cut_to=1000), after=4)), pytest.raises(UnreadableInputError):
        ingest([place], pdb)
    pdb.refresh()
    assert pdb.ingests == ()
    # Once is made good.
    once = iter([Fate(cut_to=1000)])
    with proxy.ruled(lambda request: next(once, None) if request.method == "GET" else None):
        assert rows(source_at(place))[0].total() == 700


def test_an_object_that_changes_while_it_is_read_is_not_stored(proxy: Proxy, tmp_path: Path) -> None:
    content = b"".join(_records())
    put("big.smf", content)
    pdb = Pdb.create(tmp_path / "pdb")
    changed: list[int] = []

    def rule(request: Request) -> None:
        if request.method == "GET" and request.key == "big.smf" and request.number > 6 and not changed:
            changed.append(request.number)
            put("big.smf", content[:-100_000])

    with proxy.ruled(rule), pytest.raises(SourceChangedError, match=r"s3://data/big\.smf: the object changed"):
        ingest(["s3://data/big.smf"], pdb)
    assert changed
    pdb.refresh()
    assert pdb.ingests == ()


def test_the_command_reads_a_bucket_into_a_database_in_it(dumps: Path) -> None:
    done = run("ingest", f"{BUCKET}/day/*.smf", f"{BUCKET}/none.smf", "--pdb", f"{BUCKET}/x.pdb", "--json")
    assert done.returncode == 3
    answer = json.loads(done.stdout)
    assert [(file["file"], file["outcome"]) for file in answer["files"]] == [
        ("s3://data/day/a.smf", "added"),
        ("s3://data/day/b 1%.smf", "nothing new"),
    ]
    assert [(file["file"], file["what"]) for file in answer["failed"]] == [
        ("s3://data/none.smf", "there is no such object")
    ]
    assert "s3://data/day/b 1%.smf: data is lost at" in done.stderr
    again = run("ingest", str(dumps / "a.smf"), "s3a://data/day/a.smf", "--pdb", f"{BUCKET}/x.pdb")
    assert again.stdout.count("already held") == 2
    rebuilt = run("pdb", "rebuild", f"{BUCKET}/x.pdb", "--json")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert all(source["rebuilt"] for source in json.loads(rebuilt.stdout)["sources"])


def test_without_credentials_or_bucket_the_message_says_so(dumps: Path, tmp_path: Path) -> None:
    del dumps
    pdb = str(tmp_path / "pdb")
    done = run(
        "ingest", f"{BUCKET}/day", "--pdb", pdb, environment={"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}
    )
    assert done.returncode == 3
    assert "there are no credentials; set AWS_ACCESS_KEY_ID" in done.stderr
    done = run("ingest", "s3://nowhere/day/", "--pdb", pdb)
    assert done.returncode == 3
    assert "NoSuchBucket; check the name of the bucket" in done.stderr
    assert not Path(pdb).exists()
