"""The format on disk: what a commit costs, and databases of an earlier format."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from plexlens.errors import PdbDamagedError
from plexlens.pdb import Outcome, Pdb, commit, ingest
from plexlens.pdb.commit import Committed
from plexlens.pdb.durable import Disk
from plexlens.pdb.head import FAN_IN
from tests.pdb.fake_source import expected, held, write

COMMITS = FAN_IN**2 + 6


class CountingDisk(Disk):
    """Counts the bytes of text that are written."""

    def __init__(self) -> None:
        super().__init__(sync=False)
        self.written = 0

    def write(self, path: Path, text: str) -> None:
        super().write(path, text)
        self.written += len(text)


def test_a_commit_writes_as_much_after_many_as_after_few(tmp_path: Path, pdb: Pdb) -> None:
    pdb.disk = CountingDisk()
    sizes = []
    for number in range(COMMITS):
        before = pdb.disk.written
        ingest([write(tmp_path / "x.fake", range(number * 10, number * 10 + 5))], pdb)
        sizes.append(pdb.disk.written - before)
    # A commit that joins eight parts writes them again; those that join none write the same as ever.
    early, late = min(sizes[8:16]), min(sizes[-8:])
    assert late < 1.6 * early, (early, late)
    # Eight parts of five commits and so on: 70 = 1 * 64 + 0 * 8 + 6.
    assert [part.level for part in pdb.head.parts] == [2] + [0] * 6
    assert sorted(sizes[-8:])[4] < 2 * sorted(sizes[8:16])[4]
    numbers = [number * 10 + shift for number in range(COMMITS) for shift in range(5)]
    assert held(Pdb.open(pdb.path).connect()) == expected(numbers)


def test_what_no_state_needs_is_removed(tmp_path: Path, pdb: Pdb) -> None:
    pdb.disk = Disk(sync=False)
    for number in range(COMMITS):
        ingest([write(tmp_path / "x.fake", [number])], pdb)
    states = sorted((pdb.path / "snapshots").iterdir())
    assert len(states) <= commit.MOST_SNAPSHOTS + 1
    named = {part.name for part in pdb.head.parts} | {name for one in pdb.head.dropped for name in one.parts}
    assert {path.name for path in (pdb.path / "log").iterdir()} == named
    assert len(named) < 70


def test_a_part_of_the_log_that_was_changed_is_found(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(50))], pdb)
    part = pdb.path / "log" / pdb.head.parts[-1].name
    text = part.read_text()
    for spoilt, said in (
        (text[:-5], "has .* bytes where"),
        (text.replace("fake", "FAKE"), "not those that were written"),
    ):
        part.write_text(spoilt)
        with pytest.raises(PdbDamagedError, match=said) as caught:
            Pdb.open(pdb.path)
        assert caught.value.file == str(part)
    part.unlink()
    with pytest.raises(PdbDamagedError, match=f"part of the log that is missing: .*{part.name}"):
        Pdb.open(pdb.path)


def as_format_1(pdb: Pdb) -> None:
    """Write the manifest of a PDB as format 1 had it, by its description in docs/pdb.md of that time."""
    tables = {
        table: [
            [{"name": one.name, "type": one.type, "metadata": dict(one.metadata)} for one in variant]
            for variant in variants
        ]
        for table, variants in pdb.manifest.variants.items()
    }
    ingests = []
    for one in pdb.ingests:
        names = "id sha256 sample file size kind started_at finished_at rows records span duplicates damage"
        entry = {name: getattr(one, name) for name in names.split()}
        entry["notes"] = [
            {name: getattr(note, name) for name in ("note", "section", "field", "count", "max_bytes", "severity")}
            for note in one.notes
        ]
        entry["files"] = [
            {"path": file.path, "variant": file.variant, "rows": file.rows, "bytes": file.bytes}
            for file in pdb.manifest.files_of(one.id)
        ]
        ingests.append(json.dumps(entry))
    body = '"written_by": "plexlens 0.1.0",\n"tables": {\n'
    body += ",\n".join(f"{json.dumps(table)}: {json.dumps(variants)}" for table, variants in tables.items())
    body += '\n},\n"ingests": [\n' + ",\n".join(ingests) + "\n]}\n"
    head = f'{{"format": "plexlens-pdb", "version": 1, "checksum": "{hashlib.sha256(body.encode()).hexdigest()}",\n'
    for path in (*(pdb.path / "log").iterdir(), *(pdb.path / "snapshots").iterdir()):
        path.unlink()
    for name in ("log", "snapshots"):
        (pdb.path / name).rmdir()
    (pdb.path / "manifest.json").write_text(head + body)
    (pdb.path / "manifest.previous.json").write_text(head + body)


def test_format_1_is_read_and_brought_up_to_date_by_the_first_writer(tmp_path: Path, pdb: Pdb) -> None:
    dumps = [write(tmp_path / f"{number}.fake", range(number * 800, number * 800 + 900)) for number in range(3)]
    ingest(dumps[:2], pdb)
    sources = pdb.ingests
    as_format_1(pdb)
    old = Pdb.open(pdb.path)
    assert old.head.version == 1
    assert [(one.id, one.rows, one.notes) for one in old.ingests] == [(one.id, one.rows, one.notes) for one in sources]
    assert held(old.connect()) == expected(range(1700))
    assert not (pdb.path / "log").exists(), "reading changes nothing"
    results = ingest(dumps, old)
    assert [one.outcome for one in results] == [Outcome.ALREADY_HELD, Outcome.ALREADY_HELD, Outcome.ADDED]
    again = Pdb.open(pdb.path)
    assert again.head.version == 2
    assert held(again.connect()) == expected(range(2500))
    assert not (pdb.path / "manifest.previous.json").exists()
    # Files of format 1 have no hash, those written since have.
    assert {bool(file.sha256) for file in again.manifest.every_file()} == {True, False}


def test_listeners_are_told_of_each_commit(tmp_path: Path, pdb: Pdb, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Committed] = []
    monkeypatch.setattr(commit, "LISTENERS", [lambda where, one: told.append(one)])
    ingest([write(tmp_path / "a.fake", range(1500))], pdb)
    (one,) = told
    assert [source.file for source in one.change.sources] == [str(tmp_path / "a.fake")]
    assert one.before.ingests == ()
    assert one.after is pdb.manifest
    assert one.change.rows_change
    assert pdb.manifest.parts("smf_record") == {
        "2024-03-01": frozenset({pdb.ingests[0].id}),
        "2024-03-02": frozenset({pdb.ingests[0].id}),
    }


def test_the_stamp_differs_after_every_commit(tmp_path: Path, pdb: Pdb) -> None:
    stamps = [pdb.stamp]
    for number in range(3):
        ingest([write(tmp_path / "a.fake", [number])], pdb)
        stamps.append(pdb.stamp)
        os.utime(pdb.path / "lock")
        assert pdb.stamp == stamps[-1]
    assert len(set(stamps)) == 4
