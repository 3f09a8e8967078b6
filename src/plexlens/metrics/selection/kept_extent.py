"""Systems, times and classes of large raw tables, stored with the roll-ups so that no query reads every row for them.

A partition of a raw table (its rows of a day) has a file for each list. Both follow from the partition's files alone,
and are right as long as these are the same. Lists of partitions that have expired stay as long as a roll-up has the
day, so that it can be selected.
"""

from __future__ import annotations

from collections.abc import Mapping

from plexlens.metrics.moments import nearest, start_of
from plexlens.metrics.selection.raw import class_sources, timed_tables
from plexlens.pdb import Pdb
from plexlens.pdb.engine import Connection, arrow, shown_by
from plexlens.pdb.entries import DataFile
from plexlens.pdb.rollup_store import LISTS, Made, RolledDay, RolledFile, Rollup, RollupStore, digest_of, revisions_of
from plexlens.pdb.views import parquet_path

#: Name under which the lists are kept, and of the lists.
NAME, EXTENT, CLASSES = LISTS, "extent", "classes"

_VERSION = "1"


def extent_select(table: str, start: str, end: str) -> str:
    """The select of the systems, offsets and starts (to the minute) of a raw table; ``table`` as SQL."""
    # A start to the nearest minute, as metrics name intervals; a record with an end alone in the minute of its end.
    begins = f"coalesce({nearest(60, start)}, {start_of('minute', end)})"
    return f'select distinct system, utc_offset, {begins} as "interval" from {table}'


def kept_lists(connection: Connection) -> dict[str, dict[str, list[str]]]:
    """Files with the lists of a raw table, by table and list, for tables whose partitions all have them."""
    pdb = shown_by(connection)
    if pdb is None or pdb.rollups.stamp(NAME) is None:
        return {}
    index, revisions = pdb.rollups.read(NAME), revisions_of(pdb.manifest)
    expired = _expired(pdb, index)
    names: dict[str, dict[str, list[str]]] = {}
    for table in {key.partition("~")[0] for key in index.days}:
        rolled_days = [
            _current(index, table, day, digest_of(files, revisions)) for day, files in _partitions(pdb, table).items()
        ]
        if all(rolled_day is not None for rolled_day in rolled_days):
            for rolled_day in (*rolled_days, *(rolled_day for rolled_day in expired if table in rolled_day.made_from)):
                for name, file in rolled_day.files.items() if rolled_day is not None else ():
                    if file.rows:
                        names.setdefault(table, {}).setdefault(name, []).append(parquet_path(pdb.path / file.path))
    return names


def update_lists(pdb: Pdb, store: RollupStore, least_rows: int, memory: str) -> None:
    """Make the lists of the partitions that changed. Call it with the write lock held."""
    tables = {
        name: _partitions(pdb, name)
        for name, files in pdb.manifest.files.items()
        if sum(file.rows for file in files) >= least_rows
    }
    store.clean(NAME)
    index, revisions = store.read(NAME), revisions_of(pdb.manifest)
    days: dict[str, RolledDay] = {}
    changed = False
    for table, partitions in tables.items():
        for day, files in partitions.items():
            now = digest_of(files, revisions)
            rolled_day = _current(index, table, day, now)
            if rolled_day is None:
                changed = True
                rolled_files = _made(pdb, store, (table, day), files, memory)
                rolled_day = RolledDay(f"{table}~{day}", {table: now}, rolled_files)
            days[rolled_day.day] = rolled_day
    rolled = {day for grain in store.grains if grain != NAME for day in store.read(grain).days}
    days.update(
        (rolled_day.day, rolled_day)
        for rolled_day in _expired(pdb, index)
        if rolled_day.day.partition("~")[2] in rolled
    )
    if changed or days.keys() != index.days.keys():
        store.write(NAME, Rollup(_VERSION, days))


def _expired(pdb: Pdb, index: Rollup) -> list[RolledDay]:
    """Lists of partitions that have expired."""
    there = {f"{table}~{file.day}" for table, files in pdb.manifest.files.items() for file in files}
    horizons = pdb.manifest.horizons
    return [
        day
        for name, day in index.days.items()
        if index.definition == _VERSION
        and name not in there
        and name.partition("~")[2] < horizons.get(name.partition("~")[0], "")
    ]


def _partitions(pdb: Pdb, table: str) -> dict[str, list[DataFile]]:
    data_files: dict[str, list[DataFile]] = {}
    for file in pdb.manifest.files.get(table, ()):
        data_files.setdefault(file.day, []).append(file)
    return data_files


def _current(index: Rollup, table: str, day: str, result: Made) -> RolledDay | None:
    rolled_day = index.days.get(f"{table}~{day}")
    is_same = index.definition == _VERSION and rolled_day is not None and rolled_day.made_from[table] == result
    return rolled_day if is_same else None


def _made(
    pdb: Pdb, store: RollupStore, partition: tuple[str, str], files: list[DataFile], memory: str
) -> Mapping[str, RolledFile]:
    table, day = partition
    wanted = {file.path for file in files}
    connection = pdb.part(lambda file: file.path in wanted).connect(memory_limit=memory)
    selects: dict[str, str] = {}
    for name, start, end in timed_tables(connection):
        if name == f'"{table}"':
            selects[EXTENT] = extent_select(name, start, end)
    columns = next((columns for name, columns in class_sources(connection) if name == table), ())
    if columns:
        selects[CLASSES] = " union ".join(
            f'select distinct "{column}"::varchar as name from "{table}"' for column in columns
        )
    folder = store.fresh_folder(NAME, f"{table}~{day}")
    rolled_files = {name: store.store(folder, name, arrow(connection, select)) for name, select in selects.items()}
    store.disk.sync_folder(folder)
    connection.close()
    return rolled_files
