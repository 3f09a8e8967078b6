"""Days of raw records: which files have a say in the facts of a day, and whether a roll-up is still of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from plexlens.metrics.definition import Source
from plexlens.metrics.rolled.rule import dated_tables
from plexlens.pdb import Pdb
from plexlens.pdb.entries import DataFile
from plexlens.pdb.rollup_store import INTERVAL, Made, RolledDay, digest_of, revisions_of

#: Days that the records of one file can end on, at most: a file with more has a wrong time in it.
MOST_DAYS = 62

_DAY = timedelta(days=1)

#: First and last day on which records end.
Reach = tuple[str, str]


@dataclass(frozen=True)
class RawDays:
    """The raw files of a source, by the days on which their records end.

    Attributes
    ----------
    files
        Files of the tables that the source dates.
    reach
        First and last day of each, by path.
    revisions
        How often sources were read again.
    wrong
        Why days cannot be told; empty if they can.
    """

    files: tuple[DataFile, ...]
    reach: Mapping[str, Reach]
    revisions: Mapping[str, int]
    wrong: str = ""

    @classmethod
    def of(cls, pdb: Pdb, source: Source, known: Mapping[str, Reach]) -> RawDays:
        """The files of a source; ``known`` is what an index knows of them, other files are looked into."""
        files = tuple(file for table in sorted(dated_tables(source)) for file in pdb.manifest.files.get(table, ()))
        reach: dict[str, Reach] = {}
        for file in files:
            results = known.get(file.path) or reach_of(pdb.path / file.path, source.dated_by)
            if results is None:
                wrong = f"{file.table} of {file.day} has records without a time, or of very different times"
                return cls(files, reach, {}, wrong)
            if results != ("", ""):
                reach[file.path] = results
        return cls(tuple(file for file in files if file.path in reach), reach, revisions_of(pdb.manifest))

    def ending(self) -> list[str]:
        """Every day on which records may end."""
        names: set[str] = set()
        for first, last in set(self.reach.values()):
            names.update(days_between(first, last))
        return sorted(names)

    def near(self, first: str, last: str) -> list[DataFile]:
        """Files with a say in the facts from one day to another: their records end on these days or next to them."""
        low, high = next_to(first, -1), next_to(last, 1)
        return [file for file in self.files if self.reach[file.path][0] <= high and self.reach[file.path][1] >= low]

    def made_from(self, day: str) -> dict[str, Made]:
        """The partitions with a say in the facts of a day."""
        parts: dict[str, list[DataFile]] = {}
        for file in self.near(day, day):
            parts.setdefault(f"{file.table}/{file.day}", []).append(file)
        return {name: digest_of(files, self.revisions) for name, files in sorted(parts.items())}


def is_current(rolled_day: RolledDay, now: Mapping[str, Made], context: str, expired: Container[str] = ()) -> bool:
    """Whether the roll-up of a day is of the raw rows that are there, and of no others but expired ones.

    If raw rows of the day itself have expired, it stands whatever becomes of the days next to it, because it cannot be
    made anew. If raw rows came back (an undo, a rebuild) after its rows by interval had expired, it is made anew.
    """
    if INTERVAL not in rolled_day.files and not is_alone(rolled_day, now):
        return False
    if any(
        name.endswith(f"/{rolled_day.day}") and name not in now and name in expired for name in rolled_day.made_from
    ):
        return True
    if rolled_day.told["context"] != context:
        return False
    return all(rolled_day.made_from.get(name) == result for name, result in now.items()) and all(
        name in now or name in expired for name in rolled_day.made_from
    )


def is_alone(rolled_day: RolledDay, now: Mapping[str, Made]) -> bool:
    """Whether raw rows of the day itself are gone, so that only the roll-up holds them."""
    return any(name.endswith(f"/{rolled_day.day}") and name not in now for name in rolled_day.made_from)


def reach_of(path: Path, dated_by: Sequence[str]) -> Reach | None:
    """First and last day on which the records of a file end, from its statistics; empty texts for a file without rows.

    None where a record has no time, or the days are too far apart to be true.
    """
    # A database without roll-ups is read without it.
    import pyarrow.parquet as pq

    try:
        metadata = pq.ParquetFile(path).metadata
    except (OSError, pa.ArrowException):
        return None
    moments: list[datetime] = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        stated = [
            column.statistics
            for index in range(group.num_columns)
            if (column := group.column(index)).path_in_schema in dated_by
        ]
        known = [entry for entry in stated if entry is not None and entry.has_min_max]
        if not any(entry.has_null_count and entry.null_count == 0 for entry in known):
            return None
        moments += [moment for entry in known for moment in (entry.min, entry.max)]
    if not moments:
        return ("", "")
    first, last = (_day(moment) for moment in (min(map(_utc, moments)), max(map(_utc, moments))))
    return (first, last) if (date.fromisoformat(last) - date.fromisoformat(first)).days < MOST_DAYS else None


def days_between(first: str, last: str) -> Iterable[str]:
    """The days from one to another, both included."""
    day, end = date.fromisoformat(first), date.fromisoformat(last)
    while day <= end:
        yield day.isoformat()
        day += _DAY


def next_to(day: str, by: int) -> str:
    """The day that number of days later."""
    return (date.fromisoformat(day) + by * _DAY).isoformat()


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _day(moment: datetime) -> str:
    return moment.date().isoformat()
