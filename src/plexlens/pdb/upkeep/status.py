"""Status of a PDB: contents, leftovers, and pending upkeep."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any

from plexlens.errors import PlexlensError
from plexlens.pdb import retention
from plexlens.pdb.commit import stale_staging
from plexlens.pdb.database import Pdb
from plexlens.pdb.lock import LOCK, Holder, holder_of
from plexlens.pdb.partition import UNDATED
from plexlens.pdb.retention import Retention
from plexlens.pdb.rollup_store import LISTS
from plexlens.pdb.upkeep import compact, expire
from plexlens.pdb.upkeep.compact import Compaction
from plexlens.pdb.upkeep.expire import Expired
from plexlens.pdb.upkeep.expire_rollups import ExpiredRollup, plan_rollups
from plexlens.pdb.upkeep.repair import orphans
from plexlens.pdb.upkeep.undo import State, states


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    name : str
        The table.
    rows, files, bytes, days : int
        What it has.
    oldest, newest : str or None
        Its first and last day.
    """

    name: str
    rows: int
    files: int
    bytes: int
    days: int
    oldest: str | None
    newest: str | None


@dataclass(frozen=True)
class Rolled:
    """Roll-ups of a grain.

    Attributes
    ----------
    grain : str
        The grain.
    days, bytes : int
        What it has.
    oldest, newest : str or None
        First and last day.
    """

    grain: str
    days: int
    bytes: int
    oldest: str | None
    newest: str | None


@dataclass(frozen=True)
class Status:
    """Facts about a PDB that are known without reading its files.

    Attributes
    ----------
    format, commit : int
        Version of the format; number of the last commit.
    at, what : str
        When the last commit was, and what it did.
    tables : list of Table
        Tables with files.
    sources, incomplete : int
        Sources; those of them that lost rows.
    small : Compaction
        What a compaction would do.
    orphans, staging : list of str
        Files that no manifest names; folders that writers which did not complete have left.
    holder : Holder or None
        Who writes now.
    states : list of State
        What an undo can bring back.
    kept_files, kept_bytes : int
        Files that are kept for an undo.
    policy : Retention or None
        How long tables are kept; None if that cannot be read.
    policy_error : str
        Why it cannot.
    expiring : list of Expired
        What an expiry would remove today.
    rollups : list of Rolled
        Roll-ups, by grain.
    expiring_rollups : list of ExpiredRollup
        What an expiry would remove of them.
    """

    format: int
    commit: int
    at: str
    what: str
    tables: list[Table]
    sources: int
    incomplete: int
    small: Compaction
    orphans: list[str]
    staging: list[str]
    holder: Holder | None
    states: list[State]
    kept_files: int
    kept_bytes: int
    policy: Retention | None
    policy_error: str
    expiring: list[Expired]
    rollups: list[Rolled]
    expiring_rollups: list[ExpiredRollup]

    def to_json(self, path: str) -> dict[str, Any]:
        """Plain values."""
        dated = [table for table in self.tables if table.oldest]
        policy = self.policy
        return {
            "pdb": path,
            "format": self.format,
            "commit": {"number": self.commit, "at": self.at or None, "what": self.what},
            "rows": sum(table.rows for table in self.tables),
            "files": sum(table.files for table in self.tables),
            "bytes": sum(table.bytes for table in self.tables),
            "oldest": min((table.oldest for table in dated if table.oldest), default=None),
            "newest": max((table.newest for table in dated if table.newest), default=None),
            "sources": self.sources,
            "incomplete_sources": self.incomplete,
            "tables": [asdict(table) for table in self.tables],
            "small_files": {"files": self.small.files, "would_become": self.small.into_files},
            "orphans": self.orphans,
            "staging": self.staging,
            "lock": asdict(self.holder) if self.holder else None,
            "undo": {
                "states": [asdict(state) for state in self.states],
                "files": self.kept_files,
                "bytes": self.kept_bytes,
            },
            "retention": None if policy is None or not policy.is_stated else policy_json(policy),
            "retention_error": self.policy_error or None,
            "would_expire": [expired_json(entry) for entry in self.expiring],
            "rollups": [asdict(rollup) for rollup in self.rollups],
            "rollups_would_expire": [expired_rollup_json(expiring_rollup) for expiring_rollup in self.expiring_rollups],
        }


def policy_json(policy: Retention) -> dict[str, Any]:
    """A retention as plain values."""
    ages = {"raw": policy.raw, "hour": policy.hour, "day": policy.day}
    return {
        **{key: str(age) if age else retention.FOREVER for key, age in ages.items()},
        "families": {name: str(age) if age else retention.FOREVER for name, age in policy.families.items()},
        "undo": str(policy.keep) if policy.keep else "24 hours",
    }


def expired_json(entry: Expired) -> dict[str, Any]:
    """Days of a table that expire, as plain values."""
    return {
        "table": entry.table,
        "kept": entry.age,
        "days": len(entry.days),
        "first": entry.days[0] if entry.days else None,
        "last": entry.days[-1] if entry.days else None,
        "files": len(entry.files),
        "rows": entry.rows,
        "bytes": entry.bytes,
    }


def expired_rollup_json(expired_rollup: ExpiredRollup) -> dict[str, Any]:
    """Days of a grain's roll-ups that expire, as plain values."""
    return {
        "grain": expired_rollup.grain,
        "level": expired_rollup.level,
        "kept": expired_rollup.age,
        "days": len(expired_rollup.days),
        "first": expired_rollup.days[0],
        "last": expired_rollup.days[-1],
        "rows": expired_rollup.rows,
        "bytes": expired_rollup.bytes,
    }


def _rollups(pdb: Pdb) -> list[Rolled]:
    rollups = []
    for grain in pdb.rollups.grains:
        days = pdb.rollups.read(grain).days
        if days and grain != LISTS:
            size = sum(file.bytes for rolled_day in days.values() for file in rolled_day.files.values())
            rollups.append(Rolled(grain, len(days), size, min(days), max(days)))
    return rollups


def status_of(pdb: Pdb, today: date | None = None) -> Status:
    """The status of a PDB; nothing is changed."""
    tables = []
    for name, files in pdb.manifest.files.items():
        days = sorted({file.day for file in files} - {UNDATED})
        rows, size = sum(file.rows for file in files), sum(file.bytes for file in files)
        count = len({file.day for file in files})
        tables.append(Table(name, rows, len(files), size, count, days[0] if days else None, days[-1] if days else None))
    policy, wrong = None, ""
    try:
        policy = retention.read(pdb.path)
    except PlexlensError as error:
        wrong = str(error)
    today = today or datetime.now(UTC).date()
    planned = expire.plan(pdb.manifest, policy, today) if policy else []
    return Status(
        format=pdb.head.version,
        commit=pdb.head.commit,
        at=pdb.head.at,
        what=pdb.head.what,
        tables=sorted(tables, key=lambda table: table.name),
        sources=len(pdb.ingests),
        incomplete=sum(ingest.incomplete for ingest in pdb.ingests),
        small=compact.planned(compact.plan(pdb.manifest)),
        orphans=orphans(pdb),
        staging=[path.name for path in stale_staging(pdb)],
        holder=holder_of(pdb.path / LOCK) if pdb.disk.shared else None,
        states=states(pdb),
        kept_files=sum(entry.files for entry in pdb.head.dropped if entry.listing),
        kept_bytes=sum(entry.bytes for entry in pdb.head.dropped if entry.listing),
        policy=policy,
        policy_error=wrong,
        expiring=[entry for entry in planned if entry.files],
        rollups=_rollups(pdb),
        expiring_rollups=plan_rollups(pdb, policy, today, planned) if policy else [],
    )
