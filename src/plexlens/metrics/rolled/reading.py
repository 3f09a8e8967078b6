"""The roll-ups of a grain that are of the raw rows that are there, for the part of the database that is selected."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from plexlens.errors import UnreadableInputError
from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.definition import Grain, Source
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.rolled.context import context_of
from plexlens.metrics.rolled.days import RawDays, days_between, is_alone, is_current
from plexlens.metrics.rolled.rule import definition, fits, reason, rolled_source
from plexlens.metrics.selection.quarter import quarter_functions
from plexlens.metrics.selection.selection import Selection
from plexlens.metrics.source_rows import source_select
from plexlens.pdb import Pdb
from plexlens.pdb.engine import quoted, shown_by
from plexlens.pdb.rollup_store import COVER, DAY, INTERVAL, Made, RolledDay, Rollup
from plexlens.pdb.views import parquet_path

#: Days whose facts are taken from raw rows while the others come from roll-ups; if there are more, all of them are.
MOST_RAW_DAYS = 4

#: Farther than this from a bound nothing is on its other side: offsets from UTC are of hours.
_FAR = timedelta(days=1)


@dataclass(frozen=True)
class Rolled:
    """The roll-ups of a grain that answer for the selected part of a database.

    Attributes
    ----------
    grain, source
        The grain with all of its facts, and where these come from.
    pdb
        The database in the state that the connection shows.
    days
        The days whose roll-ups are up to date.
    missing
        The other days, whose facts come from raw rows.
    alone
        Days whose raw rows have expired: only the roll-up holds them.
    whole
        Those of them whose rows by interval and hour have expired too.
    raw
        The raw files.
    """

    grain: Grain
    source: Source
    pdb: Pdb
    days: tuple[RolledDay, ...]
    missing: tuple[str, ...]
    alone: tuple[str, ...]
    whole: tuple[str, ...]
    raw: RawDays

    def stored(self, level: str, columns: Sequence[str], *, fine: bool = False) -> str:
        """The select of the rows of a level; rows by interval for days that were not merged.

        Days that have no such rows any more are left out, and with ``fine`` all days without rows by interval.
        """
        # Rows of an earlier definition may lack columns of now.
        groups: dict[frozenset[str], list[str]] = {}
        for day in self.days:
            file = day.files.get(level) or (day.files.get(INTERVAL) if level != COVER else None)
            if file is not None and file.rows and (day.has_hours or not fine):
                lacking = frozenset(columns) & self._lacking(day)
                groups.setdefault(lacking, []).append(parquet_path(self.pdb.path / file.path))
        selects = [
            f"select {self._listed(columns, lacking)} from "
            f"read_parquet([{', '.join(paths)}], hive_partitioning=false, union_by_name=false)"
            for lacking, paths in groups.items()
        ]
        if not selects:
            day = self.days[0]
            files = [day.files[COVER]] if level == COVER else [day.files.get(text) for text in (INTERVAL, DAY)]
            first = next(parquet_path(self.pdb.path / file.path) for file in files if file is not None)
            listed = self._listed(columns, frozenset(columns) & self._lacking(day))
            return f"select {listed} from read_parquet({first}, hive_partitioning=false) where false"
        return "\nunion all\n".join(selects)

    def rows(self, level: str) -> int:
        """Number of rows of a level, of all days that have a roll-up."""
        files = (day.files.get(level) or day.files.get(INTERVAL) for day in self.days)
        return sum(file.rows for file in files if file is not None)

    def _lacking(self, day: RolledDay) -> frozenset[str]:
        """Facts and attributes that the rows of a day do not have."""
        if "shape" not in day.told:
            return frozenset()
        names = {*(fact.name for fact in self.grain.facts), *(attribute.name for attribute in self.grain.attributes)}
        return frozenset(names.difference(day.told["shape"]["facts"], day.told["shape"]["attributes"]))

    def _listed(self, columns: Sequence[str], lacking: Container[str]) -> str:
        facts = {fact.name for fact in self.grain.facts}
        return ", ".join(
            f"null::{'double' if name in facts else 'varchar'} as {quoted(name)}" if name in lacking else quoted(name)
            for name in columns
        )

    @property
    def offsets(self) -> frozenset[float]:
        """Local time minus UTC, in seconds, for all rows."""
        return frozenset(offset for day in self.days for offset in day.told["offsets"])


def rolled_of(inputs: Inputs, grain: Grain) -> Rolled | None:
    """The roll-ups of a grain, or None where its facts come from raw rows: found once for a selection."""
    key = ("rolled", grain.name)
    if key not in inputs.kept:
        inputs.kept[key] = _found(inputs, grain)
    result: Rolled | None = inputs.kept[key]
    return result if result is not None and _is_part(grain, result.grain) else None


def _is_part(grain: Grain, whole: Grain) -> bool:
    """Whether all of the facts are of the grain as the catalogue has it."""
    return (
        set(grain.facts) <= set(whole.facts)
        and set(grain.attributes) <= set(whole.attributes)
        and grain.keys == whole.keys
        and grain.observers == whole.observers
    )


def _found(inputs: Inputs, grain: Grain) -> Rolled | None:
    pdb = shown_by(inputs.connection) if inputs.reads_rollups else None
    if pdb is None or grain.name not in GRAINS or pdb.rollups.stamp(grain.name) is None:
        return None
    whole = GRAINS[grain.name]
    source = None if reason(whole) else rolled_source(inputs, whole)
    index = pdb.rollups.read(grain.name)
    ragged = _ragged(inputs.selection)
    if source is None or ragged is None:
        return None
    is_earlier = index.definition != definition(whole, source)
    if is_earlier and not _has_days_alone(pdb, index):
        return None
    raw = RawDays.of(pdb, source, {} if is_earlier else index.reach)
    if raw.wrong:
        return None
    if is_earlier:
        index = replace(index, days=earlier(index, whole, raw))
    context = context_of(inputs, source, source_select(inputs, whole, source))
    return _of_days(Rolled(whole, source, pdb, (), (), (), (), raw), index, inputs.selection, ragged, context)


def _has_days_alone(pdb: Pdb, index: Rollup) -> bool:
    """Whether a partition that a day was made from, and that has its records, is no longer in the database."""
    there = {f"{table}/{file.day}" for table, files in pdb.manifest.files.items() for file in files}
    return any(
        name.endswith(f"/{rolled_day.day}") and name not in there
        for rolled_day in index.days.values()
        for name in rolled_day.made_from
    )


def earlier(index: Rollup, grain: Grain, raw: RawDays) -> dict[str, RolledDay]:
    """Days of an index of another definition that nothing can be made from any more, and whose rows fit the grain."""
    results = {}
    for day, rolled_day in index.days.items():
        result = rolled_day.told.get("shape", index.shape)
        if is_alone(rolled_day, raw.made_from(day)) and fits(result, grain):
            results[day] = replace(rolled_day, told={**rolled_day.told, "shape": result})
    return results


def _of_days(
    result: Rolled, index: Rollup, selection: Selection, ragged: Container[str], context: str
) -> Rolled | None:
    """The days of an index that can be used; None if too few can."""
    current, missing, alone, by_day = [], [], [], []
    raw, expired, store = result.raw, expired_in(result.pdb, index.days.values()), result.pdb.rollups
    for day in _wanted(selection, sorted({*raw.ending(), *index.days})):
        now, rolled_day = raw.made_from(day), index.days.get(day)
        if rolled_day is not None and not store.is_whole(rolled_day):
            _refuse_lost(result, rolled_day, now)
            rolled_day = None
        if rolled_day is None or not is_current(rolled_day, now, context, expired):
            # A day next to one with records has none of its own.
            missing += [day] if any(first <= day <= last for first, last in raw.reach.values()) else []
        elif is_alone(rolled_day, now):
            alone.append(day)
            by_day += [] if rolled_day.has_hours else [day]
            current.append(rolled_day)
        elif day in ragged:
            missing.append(day)
        else:
            current.append(rolled_day)
    if not current or (len(missing) > MOST_RAW_DAYS and not alone):
        return None
    return replace(result, days=tuple(current), missing=tuple(missing), alone=tuple(alone), whole=tuple(by_day))


def _refuse_lost(result: Rolled, rolled_day: RolledDay, now: Mapping[str, Made]) -> None:
    """Raise if a day of which files are missing cannot be answered from raw rows either."""
    if is_alone(rolled_day, now):
        folder = (result.pdb.path / next(iter(rolled_day.files.values())).path).parent
        raise UnreadableInputError(
            file=str(folder),
            what=f"files of the roll-up of {result.grain.name} of {rolled_day.day} are missing or cut, and its "
            "raw rows have "
            "expired",
            remedy=f"restore them from a backup, or remove {folder.parent}: answers are then without expired days",
        )


def expired_in(pdb: Pdb, days: Iterable[RolledDay]) -> frozenset[str]:
    """Partitions (``TABLE/DAY``) that days were made from and whose raw rows have expired; roll-ups of them stand."""
    named = {name for day in days for name in day.made_from}
    horizons = pdb.manifest.horizons
    return frozenset(name for name in named if name.partition("/")[2] < horizons.get(name.partition("/")[0], ""))


def _wanted(selection: Selection, days: Sequence[str]) -> list[str]:
    """The days that can have a selected row."""
    first, last = "", "9999-12-31"
    for window in selection.windows:
        low, high = window.around(_FAR)
        first = max(first, low.date().isoformat() if low is not None else "")
        last = min(last, high.date().isoformat() if high is not None else last)
    return [day for day in days if first <= day <= last]


def _ragged(selection: Selection) -> frozenset[str] | None:
    """Days (UTC) on which a bound may part a quarter of an hour, whose rows are then two; None if any day may be."""
    if not quarter_functions(selection):
        return frozenset()
    if not quarter_functions(replace(selection, shifts=())):
        return None
    names: set[str] = set()
    for window in selection.windows:
        for bound in (window.start, window.end):
            if bound is not None and bound.timestamp() % 900:
                names.update(_days_around(bound))
    return frozenset(names)


def _days_around(bound: datetime) -> Iterable[str]:
    if bound.tzinfo is not None:
        return [bound.astimezone(UTC).date().isoformat()]
    # Local time of each system: its offset from UTC is less than a day.
    day = bound.date()
    return days_between((day - _FAR).isoformat(), (day + _FAR).isoformat())
