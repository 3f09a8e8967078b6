"""Roll-ups brought up to date: the days on which raw rows changed are made anew, and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from plexlens.errors import PdbLockedError, PlexlensError
from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.definition import Grain, Source
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.facts import from_sources, keep, on_days, parts_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.rolled.context import context_of
from plexlens.metrics.rolled.days import RawDays, is_alone, is_current, next_to
from plexlens.metrics.rolled.merging import (
    LEVELS,
    columns_of_facts,
    cover,
    is_mergeable,
    merged,
    summed,
    summed_levels,
    told_of,
)
from plexlens.metrics.rolled.reading import earlier, expired_in
from plexlens.metrics.rolled.rule import dated_tables, definition, reason, rolled_source, shape
from plexlens.metrics.selection.kept_extent import update_lists
from plexlens.metrics.source_rows import source_select
from plexlens.pdb import Pdb
from plexlens.pdb.engine import Connection, arrow, quoted
from plexlens.pdb.lock import LOCK, writer_lock
from plexlens.pdb.rollup_store import COVER, DAY, INTERVAL, RolledDay, RolledFile, Rollup, RollupStore

#: Rows in the first raw table of a grain from which on it is rolled up: fewer are answered from as they are.
LEAST_ROWS = 500_000

#: Days made at once from the raw rows of these days and those next to them, and parts of the entities that are added up
#: one after the other, each by a pass of its own. The first that fits in memory serves for all days that follow.
_PASSES = ((3, 1), (1, 4), (1, 16), (1, 64))

#: Rows that are added up over keys are kept up to this share of the rows by interval.
MOST_SUMMED = 0.5

#: What the engine may use while it makes roll-ups.
_MEMORY = "2GiB"


@dataclass(frozen=True)
class Updated:
    """Result of an update for a grain.

    Attributes
    ----------
    grain
        Its name.
    days
        Days that were made anew.
    why_not
        Why it has none; empty if it has.
    lost
        What can no longer be answered, as a sentence; empty if nothing.
    """

    grain: str
    days: tuple[str, ...] = ()
    why_not: str = ""
    lost: str = ""


def update(pdb: Pdb, *, least_rows: int = LEAST_ROWS, tell: Callable[[str], None] = lambda _: None) -> list[Updated]:
    """Bring the roll-ups of a database up to date with its tables and the catalogue.

    Parameters
    ----------
    pdb
        The database. Another process must not be writing into it.
    least_rows
        Rows in the first raw table of a grain from which on it is rolled up.
    tell
        Told what is made.

    Returns
    -------
    list of Updated
        One for each grain that is rolled up by rule and has raw rows enough.

    Raises
    ------
    PdbLockedError
        Another process is writing into the database.
    OSError
        A file could not be written. The tables are whole, and answers come from them.
    duckdb.OutOfMemoryException
        Grains, which the message names, do not fit in memory in the smallest parts. The others are up to date.
    """
    if not pdb.disk.shared:
        # Nothing would keep two writers of an index apart.
        return []
    with writer_lock(pdb.path / LOCK, pdb=pdb.path):
        pdb.refresh()
        store = pdb.rollups
        most = max((sum(file.rows for file in files) for files in pdb.manifest.files.values()), default=0)
        if most < least_rows and not store.grains:
            # Small databases are most of them: for these the catalogue is not read.
            return []
        # What was rolled up once stays so, whatever is left of its raw rows.
        names = [
            name for name in GRAINS if not reason(GRAINS[name]) and _is_large(pdb, GRAINS[name], store, least_rows)
        ]
        update_lists(pdb, store, least_rows, _MEMORY)
        if not names:
            return []
        whole = pdb.connect(memory_limit=_MEMORY)
        inputs = Inputs(whole, reads_rollups=False)
        done: list[Updated] = []
        failed: list[str] = []
        for name in names:
            try:
                done.append(_updated(pdb, inputs, GRAINS[name], store, tell))
            except duckdb.OutOfMemoryException as error:
                # The other grains may fit, and their questions should not wait for this one.
                failed.append(f"{name} does not fit in {_MEMORY}: {error}")
        if failed:
            raise duckdb.OutOfMemoryException("; ".join(failed))
        return done


def _is_large(pdb: Pdb, grain: Grain, store: RollupStore, least_rows: int) -> bool:
    needs = {source.needs[0] for source in grain.sources if source.dated_by and source.needs}
    rows = max((sum(file.rows for file in pdb.manifest.files.get(name, [])) for name in needs), default=0)
    return rows > 0 and (rows >= least_rows or store.stamp(grain.name) is not None)


def _updated(pdb: Pdb, inputs: Inputs, grain: Grain, store: RollupStore, tell: Callable[[str], None]) -> Updated:
    source = rolled_source(inputs, grain)
    if source is None:
        return Updated(grain.name, why_not="it has several sources in this database")
    lost = ""
    if store.is_damaged(grain.name):
        lost = _set_aside(store, grain, "cannot be read: their index is damaged")
    store.clean(grain.name)
    said, index = definition(grain, source), store.read(grain.name)
    raw = RawDays.of(pdb, source, index.reach)
    if raw.wrong:
        return Updated(grain.name, why_not=raw.wrong, lost=lost)
    if index.definition != said:
        raw = RawDays.of(pdb, source, {})
        kept = earlier(index, grain, raw)
        alone = [day for day, rolled_day in index.days.items() if is_alone(rolled_day, raw.made_from(day))]
        if len(kept) < len(alone):
            lost = _set_aside(store, grain, "are of an earlier definition, which does not fit the present one")
            kept = {}
        index = Rollup(said, kept, raw.reach, shape(grain))
    context = context_of(inputs, source, source_select(inputs, grain, source))
    expired = expired_in(pdb, index.days.values())
    wanted = []
    for day in raw.ending():
        rolled_day = index.days.get(day)
        if (
            rolled_day is None
            or not store.is_whole(rolled_day)
            or not is_current(rolled_day, raw.made_from(day), context, expired)
            or _lacks_levels(rolled_day, grain, is_alone(rolled_day, raw.made_from(day)))
        ):
            wanted.append(day)
    days = dict(index.days)
    gone = [day for day in days if day not in raw.ending() and not _has_expired(days[day], expired)]
    for day in gone:
        del days[day]
    pending, smaller = list(wanted), iter(_PASSES)
    days_at_once, parts = next(smaller)
    while pending:
        run = next(_runs(pending, days_at_once))
        said_parts = f", in {parts} parts" if parts > 1 else ""
        tell(f"rolling up {grain.name}, {run[0]}" + (f" to {run[-1]}" if len(run) > 1 else "") + said_parts)
        part = pdb.part(_reader(source, {file.path for file in raw.near(run[0], run[-1])}))
        try:
            levels = _levels(part, grain, store, run, parts)
        except duckdb.OutOfMemoryException:
            if (days_at_once, parts) == _PASSES[-1]:
                raise
            days_at_once, parts = next(smaller)
            continue
        days |= {
            day: RolledDay(day, raw.made_from(day), files, {**texts, "context": context})
            for day, (files, texts) in levels.items()
        }
        # Each pass is kept: what is killed later goes on from here.
        store.write(grain.name, Rollup(said, dict(sorted(days.items())), raw.reach, shape(grain)))
        pending = pending[len(run) :]
    if gone or (not wanted and raw.reach.items() != index.reach.items()):
        store.write(grain.name, Rollup(said, dict(sorted(days.items())), raw.reach, shape(grain)))
    return Updated(grain.name, tuple(wanted), lost=lost)


def _set_aside(store: RollupStore, grain: Grain, why: str) -> str:
    """Move roll-ups that cannot be used out of the way; return what that means, as a sentence."""
    place = store.set_aside(grain.name)
    return (
        f"the roll-ups of {grain.name} {why}. They are made anew from the raw rows; days whose raw rows have expired "
        f"are no longer answered. The old ones are in {place}"
    )


def _lacks_levels(rolled_day: RolledDay, grain: Grain, is_last: bool) -> bool:
    """Whether a day was made before there were all of today's levels, and can be made anew."""
    return not is_last and DAY in rolled_day.files and rolled_day.told.get("summed") != list(summed_levels(grain))


def _has_expired(rolled_day: RolledDay, expired: frozenset[str]) -> bool:
    return any(name in expired for name in rolled_day.made_from)


def _reader(source: Source, paths: set[str]) -> Callable[..., bool]:
    tables = dated_tables(source)
    return lambda file: file.path in paths or file.table not in tables


def _runs(days: Sequence[str], most: int) -> Iterator[list[str]]:
    """The days in stretches that follow each other, each of at most ``most`` days."""
    run: list[str] = []
    for day in days:
        if run and (next_to(run[-1], 1) != day or len(run) == most):
            yield run
            run = []
        run.append(day)
    if run:
        yield run


def _levels(
    part: Pdb, grain: Grain, store: RollupStore, run: Sequence[str], parts: int
) -> dict[str, tuple[dict[str, RolledFile], dict[str, Any]]]:
    """The facts of some days at every level, by one pass over the raw rows for each part of the entities.

    Raises
    ------
    duckdb.OutOfMemoryException
        A part does not fit in memory; files of earlier days of the run are left to the next cleaning.
    """
    connection = part.connect(memory_limit=_MEMORY)
    try:
        rows = from_sources(Inputs(connection, reads_rollups=False), grain)
        if rows is None:
            return {}
        conditions = [on_days(run)] if parts == 1 else [f"{on_days(run)} and {text}" for text in parts_of(grain, parts)]
        tables = [keep(rows.where(text), grain, fresh_name("rolled")).source for text in conditions]
        table = tables[0]
        if len(tables) > 1:
            table = fresh_name("rolled")
            union = " union all ".join(f"select * from {name}" for name in tables)
            connection.execute(f"create temp view {table} as {union}")
        return {day: _stored(connection, table, grain, day, store) for day in run}
    finally:
        connection.close()


def _stored(
    connection: Connection, table: str, grain: Grain, day: str, store: RollupStore
) -> tuple[dict[str, RolledFile], dict[str, Any]]:
    """The facts of a day at every level, on disk, and further facts about them for the index."""
    own = f"{table}_of_day"
    order = ", ".join([*(quoted(key.name) for key in grain.keys), "interval"])
    listed = ", ".join(map(quoted, columns_of_facts(grain)))
    connection.execute(
        f"create or replace temp table {own} as select {listed} from {table} where {on_days([day])} order by {order}"
    )
    folder = store.fresh_folder(grain.name, day)
    selects = {INTERVAL: f"select * from {own}", COVER: cover(own, grain)}
    if is_mergeable(connection, own, grain):
        for level, seconds in LEVELS.items():
            selects[level] = f"select * from ({merged(own, grain, seconds)}) order by {order}"
    files = {level: store.store(folder, level, arrow(connection, select)) for level, select in selects.items()}
    if DAY in files:
        for level, kept in summed_levels(grain).items():
            rows = arrow(connection, summed(own, grain, kept))
            # Where they are hardly fewer than all rows, to read them saves nothing.
            if rows.num_rows <= MOST_SUMMED * files[INTERVAL].rows:
                files[level] = store.store(folder, level, rows)
    store.disk.sync_folder(folder)
    texts = told_of(connection, own, grain)
    connection.execute(f"drop table {own}")
    return files, texts


def bring_up_to_date(pdb: Pdb) -> str:
    """Bring the roll-ups up to date after an ingest; return why it was not possible, as a sentence, or nothing.

    What went wrong costs time alone: the tables are whole, and answers come from them.
    """
    try:
        lost = [done.lost for done in update(pdb) if done.lost]
    except PdbLockedError:
        # Whoever writes now brings them up to date at the end.
        return ""
    except (PlexlensError, OSError, duckdb.Error) as error:
        said = str(error).partition("\n")[0]
        return f"{pdb.path}: roll-ups are not up to date, so that answers take longer: {said}"
    return "; ".join(f"{pdb.path}: {said}" for said in lost)
