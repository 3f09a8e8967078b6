"""Expiry: whole days of tables go when their time is over.

Sources stay known: a dump whose rows have expired is not read again. The first day that a table still takes is
remembered (`plexlens.pdb.Manifest.horizons`): another dump does not bring its older days back. The inventory by which
records are kept once goes last, when no other table has rows of the day or of the two before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Generic, Protocol, TypeVar

from plexlens.ingest import kinds, plausible
from plexlens.pdb import retention
from plexlens.pdb.commit import commit
from plexlens.pdb.database import Pdb
from plexlens.pdb.entries import DataFile
from plexlens.pdb.lock import unheard
from plexlens.pdb.manifest import Change, Manifest
from plexlens.pdb.partition import UNDATED, family_of
from plexlens.pdb.retention import Retention
from plexlens.pdb.writing import told_of_disk, writing

#: A record is written up to a day after its interval began, and its day is local where that of the interval is UTC.
_LATER = timedelta(days=2)

_ABOUT_SOURCES = frozenset({"damage", plausible.TABLE})


class _Sized(Protocol):
    """A file with a known size."""

    @property
    def rows(self) -> int: ...

    @property
    def bytes(self) -> int: ...


_File = TypeVar("_File", bound=_Sized)


@dataclass(frozen=True)
class ExpiringDays(Generic[_File]):
    """Days that expire, of a table or of a roll-up.

    Attributes
    ----------
    age : str
        The time for which they are kept, as in the policy.
    days : tuple of str
        The days that are removed.
    files : tuple
        Their files.
    """

    age: str
    days: tuple[str, ...]
    files: tuple[_File, ...]

    @property
    def rows(self) -> int:
        """Rows that are removed."""
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        """Bytes of the files that are removed."""
        return sum(file.bytes for file in self.files)


@dataclass(frozen=True)
class Expired(ExpiringDays[DataFile]):
    """Days of a table that expire.

    Attributes
    ----------
    table : str
        The table.
    before : str
        The first day that stays.
    """

    table: str
    before: str


def inventories() -> frozenset[str]:
    """The tables by which records and reports are kept once."""
    return frozenset(
        {"smf_record", *(source_kind.once.inventory for source_kind in kinds.SOURCES if source_kind.once is not None)}
    )


def plan(manifest: Manifest, policy: Retention, today: date) -> list[Expired]:
    """Days of each table that expire; a table with an age is listed even if none of its days does."""
    results = []
    horizons = dict(manifest.horizons)
    once = inventories()
    # Also of tables without files: they have expired altogether, or come back.
    for table in manifest.variants:
        age = policy.of_family(family_of(table))
        if age is not None and table not in once:
            before = max(horizons.get(table, ""), age.before(today).isoformat())
            horizons[table] = before
            results.append(_of_table(manifest, table, str(age), before))
    others = [horizons.get(table, "") for table in manifest.variants if table not in once | _ABOUT_SOURCES]
    least = min(others, default="")
    for table in sorted(once & set(manifest.variants)):
        age = policy.of_family(family_of(table))
        if age is not None and least:
            last = (date.fromisoformat(least) - _LATER).isoformat()
            before = max(horizons.get(table, ""), min(age.before(today).isoformat(), last))
            results.append(_of_table(manifest, table, f"{age}, after all other tables", before))
    return results


def _of_table(manifest: Manifest, table: str, age: str, before: str) -> Expired:
    files = tuple(file for file in manifest.files.get(table, ()) if file.day != UNDATED and file.day < before)
    return Expired(age, tuple(sorted({file.day for file in files})), files, table, before)


def expire(
    pdb: Pdb,
    *,
    today: date | None = None,
    wait: float = 0.0,
    tell: Callable[[str], None] = unheard,
) -> list[Expired]:
    """Remove the days of tables whose time is over.

    Parameters
    ----------
    pdb
        The PDB; it shows the result afterwards.
    today
        The day from which ages are counted; by default today, UTC.
    wait
        Seconds to wait for a writer.
    tell
        Told, as sentences, whom it waits for.

    Returns
    -------
    list of Expired
        What went, by table.

    Raises
    ------
    UnreadableInputError
        `retention.toml` is not as it should be.
    PdbLockedError, PdbWriteError
        The PDB cannot be written.
    """
    policy = retention.read(pdb.path)
    with writing(pdb, wait=wait, tell=tell):
        every = plan(pdb.manifest, policy, today or datetime.now(UTC).date())
        going = [entry for entry in every if entry.files]
        if going:
            files = tuple(file for entry in going for file in entry.files)
            days = len({file.day for file in files})
            change = Change(
                f"expire {days:,} days of {len(going):,} tables",
                gone=files,
                # Also of tables that have no such day: a later dump would bring it.
                horizons={entry.table: entry.before for entry in every},
            )
            told_of_disk(pdb, lambda: commit(pdb, change, fold=True, keep=pdb.keep))
    return going


def purge(pdb: Pdb, *, wait: float = 0.0, tell: Callable[[str], None] = unheard) -> None:
    """Remove now the files that are kept for an undo.

    Raises
    ------
    PdbLockedError, PdbWriteError
        The PDB cannot be written.
    """
    with writing(pdb, wait=wait, tell=tell):
        change = Change("remove files that were kept for an undo", rows_change=False)
        told_of_disk(pdb, lambda: commit(pdb, change, keep=timedelta(0)))
        for grain in pdb.rollups.grains:
            pdb.rollups.clean(grain, older_than=0.0)
