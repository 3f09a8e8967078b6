"""The inventory of a database is that of the files in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plexlens.ingest import inventory
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.inventory import of_database
from tests.example_file import write_example


def both(sources: list[Path], tmp_path: Path) -> tuple[Any, Any]:
    """The inventory of files, and of a database with them, without what it does not keep: framing, sums of bytes."""
    pdb = Pdb.open_or_create(tmp_path / "pdb")
    ingest(sources, pdb)
    answers = [inventory.to_json(one) for one in (list(inventory.of_files(sources)), of_database(pdb))]
    for answer in answers:
        for file in answer["files"]:
            del file["form"]
            file.pop("account", None)
    return answers[0], answers[1]


def test_a_dump(tmp_path: Path) -> None:
    write_example(tmp_path / "example.smf")
    file, database = both([tmp_path / "example.smf"], tmp_path)
    assert file == database
    assert file["records"]


def test_real_dumps_and_reports(tmp_path: Path, shared_data: Path) -> None:
    """Damage, values that cannot be and what was counted are the same too."""
    file, database = both([shared_data / "mq", shared_data / "rmf"], tmp_path)
    assert file["damage"] and file["implausible"]
    assert file == database


def test_a_record_that_is_held_already_is_a_duplicate(tmp_path: Path) -> None:
    write_example(tmp_path / "example.smf")
    whole = (tmp_path / "example.smf").read_bytes()
    (tmp_path / "again.smf").write_bytes(whole + whole)
    pdb = Pdb.open_or_create(tmp_path / "pdb")
    ingest([tmp_path / "example.smf", tmp_path / "again.smf"], pdb)
    first, second = of_database(pdb)
    # Header and trailer of the dump program (types 2 and 3) are records of each dump.
    measured = sum(count for (name, _), count in first.records.items() if name not in ("2", "3"))
    assert second.duplicates == 2 * measured
    assert not {name for name, _ in second.records} - {"2", "3"}
