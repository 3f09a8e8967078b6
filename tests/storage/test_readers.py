"""Readers of object storage: the commands as users run them, what they read, and what they say when it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.golden.reviewed import differences_of
from tests.storage.conftest import SECRET
from tests.storage.proxy import Fate, Proxy
from tests.test_layers import ROOT

ADDRESS = "s3://data/plex1.pdb"
COUNT = "select count(*) as n from smf74_4_request"


def run(*words: str, environment: dict[str, str | None] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command; it never ends in a traceback, and never says a secret."""
    merged = {**os.environ, **(environment or {})}
    done = subprocess.run(
        [sys.executable, "-m", "plexlens.cli", *words],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=ROOT,
        check=False,
        env={name: value for name, value in merged.items() if value is not None},
    )
    for text in (done.stdout, done.stderr):
        assert "Traceback" not in text, text
        assert SECRET not in text
        assert "AKIAKEYTHATNOMESSAGEHAS" not in text
    return done


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("example") / "example.smf"
    assert run("example", "-o", str(path)).returncode == 0
    return path


@pytest.fixture
def there(proxy: Proxy, example: Path) -> Proxy:
    from plexlens.pdb import Pdb, ingest

    ingest([example], Pdb.open_or_create(ADDRESS))
    return proxy


def rows(*words: str) -> list[dict[str, object]]:
    done = run("sql", *words, "--json")
    assert done.returncode == 0, done.stderr
    listed: list[dict[str, object]] = json.loads(done.stdout)
    return listed


def test_a_report_and_a_query_say_what_they_say_of_the_same_database_on_a_disk(
    there: Proxy, example: Path, tmp_path: Path
) -> None:
    folder = str(tmp_path / "plex1.pdb")
    assert run("ingest", str(example), "--pdb", folder).returncode == 0
    query = "select system, structure, requests_per_second from coupling_structure order by all"
    assert rows(ADDRESS, query) == rows(folder, query) != []
    for place, name in ((ADDRESS, "there.json"), (folder, "here.json")):
        done = run("report", place, "-o", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
    # Sums of floats differ in their last digits by the order in which threads read.
    there_json, here_json = (json.loads((tmp_path / name).read_text()) for name in ("there.json", "here.json"))
    assert differences_of(there_json, here_json) == []


@pytest.mark.parametrize(
    ("where", "days", "systems"),
    [
        ("system = 'SYS2'", {"1996-05-29"}, {"SYS2"}),
        ("interval_start >= timestamptz '2012-03-01 00:00:00+00'", set(), set()),
        ("interval_start < timestamptz '2000-01-01 00:00:00+00'", {"1996-05-29"}, {"SYS1", "SYS2"}),
        ("system in ('SYS1', 'XML1') and interval_start is not null", {"1996-05-29"}, {"SYS1"}),
    ],
)
def test_a_query_reads_only_objects_of_its_days_and_systems(
    there: Proxy, where: str, days: set[str], systems: set[str]
) -> None:
    everything = rows(ADDRESS, "select system, interval_start from smf74_4_request")
    matching = [row for row in everything if row["system"] in systems]
    with there.ruled(lambda request: None) as listed:
        (row,) = rows(ADDRESS, f"{COUNT} where {where}")
    assert row["n"] == len(matching)
    read = {tuple(key.split("/smf74_4_request/")[1].split("/")[:2]) for key in there.read(listed)}
    assert read == {(day, system) for day in days for system in systems}


def test_a_lost_object_is_named_with_what_brings_it_back(there: Proxy, example: Path) -> None:
    from plexlens.pdb import Pdb

    (before,) = rows(ADDRESS, COUNT)
    pdb = Pdb.open(ADDRESS)
    lost = pdb.manifest.files["smf74_4_request"][0]
    (pdb.path / lost.path).unlink()
    for command in (("sql", ADDRESS, COUNT), ("report", ADDRESS, "-o", str(example.with_suffix(".txt")))):
        done = run(*command)
        assert done.returncode == 3
        assert f"{ADDRESS}/{lost.path}: the object is not there" in done.stderr
        assert f"plexlens pdb verify {ADDRESS}" in done.stderr
    done = run("pdb", "verify", ADDRESS)
    assert done.returncode == 3
    assert lost.path in done.stdout
    assert str(example) in done.stdout
    assert run("pdb", "repair", ADDRESS, "--yes").returncode == 0
    (left,) = rows(ADDRESS, COUNT)
    assert left["n"] == int(str(before["n"])) - lost.rows
    assert run("ingest", str(example), "--pdb", ADDRESS).returncode == 0
    assert rows(ADDRESS, COUNT) == [before]
    assert run("pdb", "verify", ADDRESS).returncode == 0


def test_a_server_that_fails_in_the_middle_of_a_query_is_named(there: Proxy) -> None:
    with there.ruled(lambda request: Fate(status=500) if request.key.endswith(".parquet") else None):
        done = run("sql", ADDRESS, COUNT)
    assert done.returncode == 3
    assert "the server answers 500" in done.stderr
    assert ADDRESS in done.stderr


def test_a_slow_server_is_waited_for_a_stated_time(there: Proxy) -> None:
    began = time.monotonic()
    with there.ruled(lambda request: Fate(delay=5.0)):
        done = run("sql", ADDRESS, COUNT, environment={"PLEXLENS_S3_TIMEOUT": "1", "PLEXLENS_S3_TRIES": "2"})
    assert done.returncode == 3
    assert "the server does not answer in 2 tries of at most 1 s; check AWS_ENDPOINT_URL" in done.stderr
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("address", "environment", "said"),
    [
        ("s3://nosuchbucket/x.pdb", {}, "NoSuchBucket"),
        ("s3://data/other.pdb", {}, "there is no PDB"),
        ("s3://data", {}, "this is not the address of a database; give bucket and path"),
        ("s3://key:secret@data/x.pdb", {}, "credentials or a port do not belong in the address"),
        (ADDRESS, {"PLEXLENS_S3_TIMEOUT": "soon"}, "'soon' is not a number above 0"),
        (ADDRESS, {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "the server does not answer"),
    ],
)
def test_a_wrong_address_or_environment_is_explained(
    there: Proxy, address: str, environment: dict[str, str], said: str
) -> None:
    done = run("sql", address, COUNT, environment=environment)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert "secret" not in done.stderr


def test_a_query_reads_the_objects_of_its_database_alone(there: Proxy, example: Path) -> None:
    from plexlens.pdb import Pdb, ingest

    other = Pdb.open_or_create("s3://data/other.pdb")
    ingest([example], other)
    path = other.path / other.manifest.files["smf_record"][0].path
    for place in (str(path), str(example), "/etc/passwd"):
        done = run("sql", ADDRESS, f"select * from read_blob('{place}')")
        assert done.returncode == 2, done.stdout


def test_nothing_of_object_storage_is_loaded_for_a_database_on_a_disk(tmp_path: Path) -> None:
    code = (
        "import sys; from plexlens.pdb import Pdb; Pdb.create(sys.argv[1]).connect();"
        "print(sorted({'obstore', 'fsspec', 'plexlens.pdb.objects', 'plexlens.pdb.object_store'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.pdb")], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[]\n"
