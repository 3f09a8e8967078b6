"""`plexlens pdb`: each verb as a user runs it, with and without --json, and used wrongly."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from plexlens.ingest import kinds
from plexlens.metrics.rolled.making import update
from plexlens.pdb import Pdb, ingest
from tests.cli.command import Done, run
from tests.metrics import accounting_dumps
from tests.pdb import fake_source
from tests.pdb.fake_source import expected, held, write


@pytest.fixture(autouse=True)
def _fake_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "SOURCES", (fake_source.KIND, *kinds.SOURCES))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the database `p` of three dumps of 300 records each."""
    ingest([write(tmp_path / f"{n}.fake", range(n * 300, n * 300 + 300)) for n in range(3)], Pdb.create(tmp_path / "p"))
    yield tmp_path


def upkeep(folder: Path, *words: str, code: int = 0) -> Done:
    done = run("pdb", *words, cwd=folder)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def values(folder: Path, *words: str, code: int = 0) -> dict:  # type: ignore[type-arg]
    found = json.loads(upkeep(folder, *words, "--json", code=code).stdout)
    assert isinstance(found, dict)
    return found


def test_status_compact_and_undo(folder: Path) -> None:
    found = values(folder, "status", "p")
    # 900 records of one day; of three in a row one has 1 request, one 2, one 3.
    assert (found["rows"], found["files"], found["sources"]) == (900 + 1800, 6, 3)
    assert found["small_files"] == {"files": 6, "would_become": 2}
    assert (found["lock"], found["orphans"], found["retention"]) == (None, [], None)
    assert "p: 3 sources, 2 tables, 2,700 rows\n" in upkeep(folder, "status", "p").stdout

    assert "6 files" in upkeep(folder, "compact", "p", "--dry-run").stdout
    assert Pdb.open(folder / "p").head.commit == 3
    done = values(folder, "compact", "p")
    assert (done["files"], done["into_files"], done["rows"]) == (6, 2, 2700)
    assert "there is nothing to merge" in upkeep(folder, "compact", "p").stdout
    assert held(Pdb.open(folder / "p").connect()) == expected(range(900))

    assert [one["commit"] for one in values(folder, "undo", "p", "--list")["states"]] == [0, 1, 2, 3, 4]
    assert "would bring back the state after commit 3" in upkeep(folder, "undo", "p", "--dry-run").stdout
    assert "is as it was after commit 3 (ingest 2.fake); it was compact" in upkeep(folder, "undo", "p").stdout
    assert values(folder, "undo", "p")["state"]["commit"] == 2
    assert "give one of these with --to" in upkeep(folder, "undo", "p", "--to", "99", code=2).stderr


def test_expire_says_what_went(folder: Path) -> None:
    assert "there is no retention.toml, so nothing expires" in upkeep(folder, "expire", "p").stdout
    (folder / "p" / "retention.toml").write_text('raw = "14 days"\n')
    assert "nothing has expired by 2024-03-15" in upkeep(folder, "expire", "p", "--as-of", "2024-03-15").stdout
    would = values(folder, "expire", "p", "--as-of", "2024-03-16", "--dry-run")
    assert [(one["table"], one["rows"], one["first"]) for one in would["tables"]] == [
        ("smf74_4_request", 1800, "2024-03-01")
    ]
    assert held(Pdb.open(folder / "p").connect()) == expected(range(900))
    done = upkeep(folder, "expire", "p", "--as-of", "2024-03-16", "--purge").stdout
    assert "1,800 rows" in done
    assert len(list((folder / "p" / "tables").rglob("*.parquet"))) == 3
    assert "not a date; give it as year, month and day" in upkeep(folder, "expire", "p", "--as-of", "x", code=2).stderr
    (folder / "p" / "retention.toml").write_text("raw = 3\n")
    assert "retention.toml: raw = 3 is not a time" in upkeep(folder, "expire", "p", code=3).stderr
    assert "raw = 3 is not a time" in upkeep(folder, "status", "p").stdout


def test_roll_ups_are_counted_and_expire(folder: Path) -> None:
    pdb = Pdb.create(folder / "r")
    dump = accounting_dumps.write_dump(folder / "a.smf", accounting_dumps.tasks(Random(1), [0, 1], 20))
    ingest([dump], pdb)
    update(pdb, least_rows=1)
    assert "roll-ups: 1 grain, days 2026-03-02 to 2026-03-03" in upkeep(folder, "status", "r").stdout
    (folder / "r" / "retention.toml").write_text('raw = "1 day"\nhour = "2 days"\nday = "3 days"\n')
    command = ("expire", "r", "--as-of", "2026-03-05")
    would = values(folder, *command, "--dry-run")["rollups"]
    assert [(one["grain"], one["level"], one["first"], one["last"]) for one in would] == [
        ("cics_transaction", "hour", "2026-03-02", "2026-03-02")
    ]
    assert "roll-ups of 1 day" in upkeep(folder, "status", "r", "--as-of", "2026-03-05").stdout
    assert "roll-ups of days whose raw rows have expired" in upkeep(folder, *command).stdout
    assert values(folder, *command)["rollups"] == []
    # At first by its hours, then altogether.
    (gone,) = values(folder, "expire", "r", "--as-of", "2026-03-06")["rollups"][:1]
    assert (gone["level"], gone["days"], gone["first"]) == ("day", 1, "2026-03-02")


def test_damage_is_found_repaired_and_read_again(folder: Path) -> None:
    assert "nothing differs from what was written" in upkeep(folder, "verify", "p").stdout
    assert "there is nothing to repair" in upkeep(folder, "repair", "p").stdout
    pdb = Pdb.open(folder / "p")
    file = pdb.manifest.files["smf74_4_request"][1]
    (pdb.path / file.path).unlink()
    said = upkeep(folder, "verify", "p", code=3).stdout
    assert f"{file.path}: it is missing" in said
    assert f"1.fake (SHA-256 {pdb.ingests[1].sha256}), at hand: {folder / '1.fake'}" in said
    # A question to the database leads there.
    assert "plexlens pdb verify" in run("sql", "p", "show tables", cwd=folder).stderr
    (problem,) = values(folder, "verify", "p", code=3)["problems"]
    assert (problem["table"], problem["rows"]) == ("smf74_4_request", 600)
    refused = upkeep(folder, "repair", "p", code=2)
    assert "run the command again with --yes" in refused.stderr
    assert "1.fake" in refused.stderr
    assert values(folder, "repair", "p", "--dry-run")["repaired"] is False
    assert [one["path"] for one in values(folder, "repair", "p", "--yes")["files"]] == [file.path]
    assert "1 source lost rows" in upkeep(folder, "status", "p").stdout
    assert "3 of 3 sources read again" in upkeep(folder, "rebuild", "p").stdout
    assert held(Pdb.open(folder / "p").connect()) == expected(range(900))


def test_rebuild_lists_what_is_not_at_hand(folder: Path) -> None:
    shutil.move(folder / "0.fake", folder / "moved.fake")
    found = values(folder, "rebuild", "p", "--dry-run")["sources"]
    assert [one["reason"] for one in found] == ["its file is not at hand", None, None]
    assert "0.fake: kept as it is: its file is not at hand" in upkeep(folder, "rebuild", "p").stdout
    assert "read again (900 rows, 900 before)" in upkeep(folder, "rebuild", "p", "moved.fake").stdout
    assert "holds no source with these contents" in upkeep(folder, "rebuild", "p", "p/lock", code=2).stderr
    assert "No such file" in upkeep(folder, "rebuild", "p", "nowhere", code=3).stderr


@pytest.mark.parametrize("verb", ["status", "compact", "expire", "verify", "repair", "rebuild", "undo"])
def test_what_is_no_database_is_named(folder: Path, verb: str) -> None:
    for path in ("nowhere", "0.fake", "."):
        said = upkeep(folder, verb, path, code=2).stderr
        assert "PDB" in said or "folder" in said
    assert upkeep(folder, verb, code=2).stderr
    assert upkeep(folder, verb, "p", "--no-such-option", code=2).stderr


@pytest.mark.parametrize("verb", ["compact", "undo", "rebuild"])
def test_a_database_that_is_written_says_who_writes(folder: Path, verb: str) -> None:
    from plexlens.pdb.lock import LOCK, writer_lock

    with writer_lock(folder / "p" / LOCK, pdb=folder / "p"):
        said = upkeep(folder, verb, "p", "--wait", "0", code=2).stderr
        assert "is writing into this PDB" in said
        assert "--wait SECONDS" in said
        assert "written now by: process" in upkeep(folder, "status", "p").stdout
        assert values(folder, "status", "p")["lock"]["process"] > 0
