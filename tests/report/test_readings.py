"""What a database says about its sources, against rows written here."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from plexlens.errors import UnreadableInputError
from plexlens.ingest.source import Damage, Severity, damage_batch
from plexlens.pdb import IngestResult, Outcome, Pdb
from plexlens.pdb.engine import Connection, add_table
from plexlens.report.blocks.readings import DAMAGE_ROWS, FileRead, Readings, RecordCount, State, readings_of


@pytest.fixture
def connection(tmp_path):
    made = Pdb.create(tmp_path / "pdb").connect()
    made.execute(
        "insert into source (source_id, file, kind, size, span_start, span_end, records, duplicates, started_at) values"
        " ('s1', 'day1.smf', 'smf', 3145728, '2026-03-09T05:00:00', '2026-03-09T05:20:00', 5, 1, '2026-03-10'),"
        " ('s2', 'cf.xml', 'rmf_xml', 100, null, null, 1, 0, '2026-03-11')"
    )
    made.execute(
        "create table smf_record (record_type usmallint, subtype usmallint, system varchar, written_at timestamp,"
        " decoded boolean)"
    )
    made.execute(
        "insert into smf_record values (74, 4, 'SYSA', '2026-03-09 05:00', true),"
        " (74, 4, 'SYSA', '2026-03-09 05:10', true), (99, null, 'SYSA', '2026-03-09 05:01', false),"
        " (2, null, 'DUMPER', null, false)"
    )
    made.execute("create table smf74_4_request (system varchar, utc_offset double)")
    made.execute(
        "insert into smf74_4_request values ('SYSA', -18000), ('SYSA', -18000), ('SYSB', 3600), ('SYSC', null)"
    )
    return made


def _with_damage(connection: Connection, rows: list[Damage]) -> None:
    batch = damage_batch(rows)
    add_table(connection, "damage", pa.Table.from_batches([batch]))


def test_files_and_records(connection) -> None:
    found = readings_of(connection)
    assert found.files == (
        FileRead("day1.smf", "SMF", 3145728, 5, 1, "2026-03-09 05:00:00", "2026-03-09 05:20:00"),
        FileRead("cf.xml", "RMF XML", 100, 1, 0, None, None),
    )
    assert found.records == (
        RecordCount("SMF 2", "DUMPER", 1, 0, None, None),
        RecordCount("SMF 74-4", "SYSA", 2, 2, "2026-03-09 05:00:00", "2026-03-09 05:10:00"),
        RecordCount("SMF 99", "SYSA", 1, 0, "2026-03-09 05:01:00", "2026-03-09 05:01:00"),
    )
    assert (found.size, found.duplicates) == (3145828, 1)
    # The system that wrote the dump's own marks is not one that was measured.
    assert found.systems == ("SYSA",)


def test_offsets_of_every_table(connection) -> None:
    assert readings_of(connection).offsets == (-18000.0, 3600.0)


def test_files_without_a_row_are_named_too(connection) -> None:
    found = readings_of(
        connection,
        results=[
            IngestResult("notes.txt", Outcome.SKIPPED, reason="not a known source"),
            IngestResult("again.smf", Outcome.ALREADY_HELD),
        ],
        failures=[UnreadableInputError(file="bad.smf", what="no records", remedy="send it again")],
    )
    assert [(one.file, one.state) for one in found.files[2:]] == [
        ("notes.txt", State.SKIPPED),
        ("again.smf", State.HELD),
        ("bad.smf", State.FAILED),
    ]
    assert found.files[-1].reason == "no records; send it again"


def test_damage_is_counted_whole_and_listed_up_to_a_limit(connection) -> None:
    rows = [Damage("s1", "day1.smf", n, 10 * n, "cut", Severity.INFO, "x", "y") for n in range(1, DAMAGE_ROWS + 20)]
    rows.append(Damage("s1", "day1.smf", 9999, 1, "lost", Severity.DATA_LOSS, "x", "y"))
    _with_damage(connection, rows)
    found = readings_of(connection)
    assert len(found.damage) == DAMAGE_ROWS
    # The gravest first, wherever it lies in the file.
    assert found.damage[0] == rows[-1]
    assert found.damage_counts == {("cut", Severity.INFO): DAMAGE_ROWS + 19, ("lost", Severity.DATA_LOSS): 1}
    assert found.severe(Severity.DATA_LOSS) == 1


def test_what_was_only_counted_counts_as_damage_when_values_were_lost(connection) -> None:
    columns = {row[0] for row in connection.execute("describe note").fetchall()}
    assert "severity" in columns
    connection.execute(
        "insert into note (source_id, file, note, section, field, severity, count) values"
        " ('s1', 'day1.smf', 'bad_number', 'smf70_1', 'smf70wat', 'error', 3),"
        " ('s1', 'day1.smf', 'section_longer', 'smf70_1', null, 'info', 7),"
        " ('s2', 'day2.smf', 'section_longer', 'smf70_1', null, 'info', 2)"
    )
    found = readings_of(connection)
    assert [(one.note, one.field, one.count, one.severity) for one in found.notes] == [
        ("section_longer", None, 9, Severity.INFO),
        ("bad_number", "smf70wat", 3, Severity.ERROR),
    ]
    assert found.damage_counts == {("bad number", Severity.ERROR): 3}


def test_an_empty_database_has_nothing(tmp_path) -> None:
    assert readings_of(Pdb.create(tmp_path / "pdb").connect()) == Readings()


def test_times_are_as_recorded(connection) -> None:
    assert datetime.fromisoformat(readings_of(connection).files[0].start).replace(tzinfo=UTC).hour == 5
