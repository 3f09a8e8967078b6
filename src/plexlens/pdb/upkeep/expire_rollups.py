"""Expiry of roll-ups: hours, then days, of which only the roll-up is left.

Roll-ups of days whose raw rows are there can be made again at any time, so that to remove them would save nothing for
long. The ages `hour` and `day` of `retention.toml` concern the others: first the rows by interval and hour go, and the
row of the whole day stays; then the day goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from plexlens.pdb import retention
from plexlens.pdb.database import Pdb
from plexlens.pdb.lock import unheard
from plexlens.pdb.retention import Retention
from plexlens.pdb.rollup_store import COVER, DAY, HOUR, INTERVAL, LISTS, RolledDay, RolledFile, RollupStore
from plexlens.pdb.upkeep.expire import Expired, ExpiringDays
from plexlens.pdb.writing import told_of_disk, writing

#: Levels of whole days; all others go with the hours.
_OF_DAYS = (DAY, COVER)


@dataclass(frozen=True)
class ExpiredRollup(ExpiringDays[RolledFile]):
    """Days of a grain's roll-ups that expire.

    Attributes
    ----------
    grain : str
        The grain.
    level : str
        ``hour`` if rows by interval and hour go and the day stays, ``day`` if everything goes.
    """

    grain: str
    level: str


def plan_rollups(pdb: Pdb, policy: Retention, today: date, going: Iterable[Expired] = ()) -> list[ExpiredRollup]:
    """Days of roll-ups that expire.

    Parameters
    ----------
    pdb
        The PDB.
    policy
        How long tables are kept.
    today
        The day from which ages are counted.
    going
        Raw rows that expire before.
    """
    if policy.hour is None and policy.day is None:
        return []
    gone = {file.path for entry in going for file in entry.files}
    there = {
        f"{table}/{file.day}" for table, files in pdb.manifest.files.items() for file in files if file.path not in gone
    }
    horizons = {**pdb.manifest.horizons, **{entry.table: entry.before for entry in going}}
    results = []
    for grain in (name for name in pdb.rollups.grains if name != LISTS):
        alone = {
            day: rolled_day
            for day, rolled_day in pdb.rollups.read(grain).days.items()
            if any(_has_expired(name, rolled_day, horizons) and name not in there for name in rolled_day.made_from)
        }
        whole: dict[str, RolledDay] = {}
        if policy.day is not None:
            before = policy.day.before(today).isoformat()
            whole = {day: rolled_day for day, rolled_day in alone.items() if day < before}
            files = tuple(file for rolled_day in whole.values() for file in rolled_day.files.values())
            results.append(ExpiredRollup(str(policy.day), tuple(whole), files, grain, DAY))
        if policy.hour is not None:
            before = policy.hour.before(today).isoformat()
            # A day that was not merged has its rows by interval alone.
            hours = {
                day: [file for level, file in rolled_day.files.items() if level not in _OF_DAYS]
                for day, rolled_day in alone.items()
                if day < before and day not in whole and DAY in rolled_day.files and INTERVAL in rolled_day.files
            }
            files = tuple(file for listed in hours.values() for file in listed)
            results.append(ExpiredRollup(str(policy.hour), tuple(hours), files, grain, HOUR))
    return [expired_rollup for expired_rollup in results if expired_rollup.days]


def _has_expired(name: str, rolled_day: RolledDay, horizons: dict[str, str]) -> bool:
    """Whether a partition (``TABLE/DAY``) holds records of the day itself and is before the horizon of its table."""
    table, _, day = name.partition("/")
    return day == rolled_day.day and day < horizons.get(table, "")


def expire_rollups(
    pdb: Pdb,
    *,
    today: date | None = None,
    wait: float = 0.0,
    tell: Callable[[str], None] = unheard,
) -> list[ExpiredRollup]:
    """Remove days of roll-ups whose time is over, after the raw rows have expired.

    Files stay for some minutes, for questions that are under way, until a command writes again. An undo does not bring
    them back.

    Parameters
    ----------
    pdb
        The PDB.
    today
        The day from which ages are counted; by default today, UTC.
    wait
        Seconds to wait for a writer.
    tell
        Told, as sentences, whom it waits for.

    Returns
    -------
    list of ExpiredRollup
        What went.

    Raises
    ------
    UnreadableInputError
        `retention.toml` is not as it should be.
    PdbLockedError, PdbWriteError
        The PDB cannot be written.
    """
    policy = retention.read(pdb.path)
    if (policy.hour is None and policy.day is None) or not pdb.rollups.grains:
        return []
    with writing(pdb, wait=wait, tell=tell):
        going = plan_rollups(pdb, policy, today or datetime.now(UTC).date())
        told_of_disk(pdb, lambda: _remove(pdb.rollups, going))
    return going


def _remove(store: RollupStore, going: Sequence[ExpiredRollup]) -> None:
    gone = {(expired_rollup.grain, expired_rollup.level): set(expired_rollup.days) for expired_rollup in going}
    for grain in dict.fromkeys(grain for grain, _ in gone):
        store.clean(grain)
        index = store.read(grain)
        days = dict(index.days)
        for day in gone.get((grain, HOUR), ()):
            kept = {level: file for level, file in days[day].files.items() if level in _OF_DAYS}
            days[day] = replace(days[day], files=kept)
        for day in gone.get((grain, DAY), ()):
            del days[day]
        store.write(grain, replace(index, days=days))
    left = {day for grain in store.grains if grain != LISTS for day in store.read(grain).days}
    lists = store.read(LISTS)
    gone_days = {day for expired_rollup in going for day in expired_rollup.days} - left
    kept_lists = {
        name: rolled_day for name, rolled_day in lists.days.items() if name.partition("~")[2] not in gone_days
    }
    if len(kept_lists) < len(lists.days):
        store.write(LISTS, replace(lists, days=kept_lists))
