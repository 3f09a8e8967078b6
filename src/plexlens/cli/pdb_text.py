"""The answers of `plexlens pdb` as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from plexlens.cli.terminal import table_text

if TYPE_CHECKING:
    from plexlens.pdb.retention import Retention
    from plexlens.pdb.upkeep.compact import Compaction
    from plexlens.pdb.upkeep.expire import Expired
    from plexlens.pdb.upkeep.expire_rollups import ExpiredRollup
    from plexlens.pdb.upkeep.rebuild import Rebuilt
    from plexlens.pdb.upkeep.repair import Diagnosis
    from plexlens.pdb.upkeep.status import Status
    from plexlens.pdb.upkeep.undo import State
    from plexlens.pdb.upkeep.verify import Verification

#: Files that are listed one by one before the rest is only counted.
_LISTED = 20


def counted(number: int, noun: str) -> str:
    """A number and its noun: ``1 file``, ``2,000 files``."""
    many = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{number:,} {noun if number == 1 else many}"


def size_text(size: int) -> str:
    """Bytes in the unit that suits them."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size} bytes"


def _some(listed: Sequence[str]) -> Iterator[str]:
    yield from (f"  {one}" for one in listed[:_LISTED])
    if len(listed) > _LISTED:
        yield f"  and {len(listed) - _LISTED:,} more (--json lists all)"


def status_text(path: str, found: Status) -> Iterator[str]:
    """The answer of `status`."""
    files, size = sum(one.files for one in found.tables), sum(one.bytes for one in found.tables)
    rows = sum(one.rows for one in found.tables)
    oldest = min((one.oldest for one in found.tables if one.oldest), default=None)
    newest = max((one.newest for one in found.tables if one.newest), default=None)
    yield f"{path}: {counted(found.sources, 'source')}, {counted(len(found.tables), 'table')}, {counted(rows, 'row')}"
    yield f"  {counted(files, 'file')}, {size_text(size)}" + (f", days {oldest} to {newest}" if oldest else "")
    if found.format == 1:
        yield "  format 1: the next command that writes brings it to the present format"
    elif found.commit:
        yield f"  format {found.format}, commit {found.commit} at {found.at}: {found.what}"
    else:
        yield f"  format {found.format}, nothing was committed yet"
    yield f"  written now by: {found.holder}" if found.holder else "  nobody writes"
    small = found.small
    if small.files:
        yield f"  small files: {small.files:,}, to become {small.into_files:,} with: plexlens pdb compact {path}"
    else:
        yield "  small files: none that a compaction would merge"
    if found.incomplete:
        yield f"  {counted(found.incomplete, 'source')} lost rows: ingest them again, or plexlens pdb rebuild {path}"
    if found.orphans or found.staging:
        left = [counted(len(found.orphans), "file") + " that nothing names"] if found.orphans else []
        left += [counted(len(found.staging), "folder") + " of commands that were killed"] if found.staging else []
        yield f"  lying about: {', '.join(left)}; see plexlens pdb repair {path} --dry-run"
    if found.rollups:
        days = [day for one in found.rollups for day in (one.oldest, one.newest) if day]
        yield (
            f"  roll-ups: {counted(len(found.rollups), 'grain')}, days {min(days)} to {max(days)}, "
            f"{size_text(sum(one.bytes for one in found.rollups))}"
        )
    yield from _retention_lines(path, found)
    kept = f", {counted(found.kept_files, 'replaced file')} ({size_text(found.kept_bytes)})" if found.kept_files else ""
    states = len([one for one in found.states if not one.is_now])
    yield f"  undo: {counted(states, 'earlier state')} kept{kept}"
    if found.tables:
        yield ""
        names = ("table", "rows", "files", "KiB", "days", "oldest", "newest")
        cells = [
            [one.name, one.rows, one.files, round(one.bytes / 1024), one.days, one.oldest or "", one.newest or ""]
            for one in found.tables
        ]
        yield table_text(names, cells).rstrip("\n")


def _retention_lines(path: str, found: Status) -> Iterator[str]:
    policy = found.policy
    if policy is None:
        yield f"  retention: {found.policy_error}"
    elif not policy.is_stated:
        yield "  retention: everything is kept; retention.toml in the database would say otherwise"
    else:
        ages = {"raw tables": policy.raw, **policy.families, "hours": policy.hour, "days": policy.day}
        yield "  retention: " + ", ".join(f"{name} {age or 'for ever'}" for name, age in ages.items())
        if found.expiring:
            files = sum(len(one.files) for one in found.expiring)
            rows, size = sum(one.rows for one in found.expiring), sum(one.bytes for one in found.expiring)
            days = len({day for one in found.expiring for day in one.days})
            yield (
                f"  expired: {counted(days, 'day')} of {counted(len(found.expiring), 'table')}, "
                f"{counted(rows, 'row')}, {counted(files, 'file')}, {size_text(size)}; "
                f"remove them with: plexlens pdb expire {path}"
            )
        if found.expiring_rollups:
            size = sum(one.bytes for one in found.expiring_rollups)
            days = len({day for one in found.expiring_rollups for day in one.days})
            yield f"  expired: roll-ups of {counted(days, 'day')}, {size_text(size)}; the same command removes them"
        if not found.expiring and not found.expiring_rollups:
            yield "  expired: nothing today"


def compacted_text(path: str, done: Compaction, *, dry_run: bool, purged: bool) -> Iterator[str]:
    """The answer of `compact`."""
    if not done.files and not done.left:
        yield f"{path}: there is nothing to merge"
    elif dry_run:
        yield (
            f"{path}: {counted(done.files, 'file')} ({size_text(done.bytes)}) of {counted(done.tables, 'table')} would "
            f"become {counted(done.into_files, 'file')}"
        )
        return
    else:
        of = f"{counted(done.files, 'file')} ({size_text(done.bytes)}) of {counted(done.tables, 'table')}"
        into = f"{counted(done.into_files, 'file')} ({size_text(done.into_bytes)})"
        yield f"{path}: {of} are now {into} with the same {counted(done.rows, 'row')}"
    if done.left:
        yield f"  {counted(done.left, 'file')} were replaced by another command meanwhile; run this command again"
    yield from _kept(path, purged=purged, any_gone=bool(done.files))


def _kept(path: str, *, purged: bool, any_gone: bool) -> Iterator[str]:
    if purged:
        yield "  the files that were kept for an undo are removed"
    elif any_gone:
        yield f"  the old files are kept for an undo (plexlens pdb undo {path}) until their time is over"


def expired_text(
    path: str,
    policy: Retention,
    day: date,
    gone: Sequence[Expired],
    rollups: Sequence[ExpiredRollup],
    *,
    dry_run: bool,
    purged: bool,
) -> Iterator[str]:
    """The answer of `expire`."""
    verb = "would go" if dry_run else "went"
    if not policy.is_stated:
        yield f"{path}: there is no retention.toml, so nothing expires; docs/pdb.md shows how it is written"
    elif not gone and not rollups:
        yield f"{path}: nothing has expired by {day}"
    if gone:
        rows, size = sum(one.rows for one in gone), sum(one.bytes for one in gone)
        yield f"{path}: {counted(rows, 'row')} ({size_text(size)}) of {counted(len(gone), 'table')} {verb}, by {day}"
        yield _gone_text("table", [(one.table, one.age, one) for one in gone])
    if rollups:
        size = sum(one.bytes for one in rollups)
        yield f"{path}: roll-ups of days whose raw rows have expired ({size_text(size)}) {verb}, by {day}"
        yield _gone_text("roll-up", [(f"{one.grain}, by {one.level}", one.age, one) for one in rollups])
    if not dry_run:
        yield from _kept(path, purged=purged, any_gone=bool(gone))


def _gone_text(what: str, gone: Sequence[tuple[str, str, Expired | ExpiredRollup]]) -> str:
    names = (what, "kept", "days", "first", "last", "rows", "KiB")
    cells = [
        [name, age, len(one.days), one.days[0], one.days[-1], one.rows, round(one.bytes / 1024)]
        for name, age, one in gone
    ]
    return table_text(names, cells).rstrip("\n")


def verified_text(path: str, found: Verification) -> Iterator[str]:
    """The answer of `verify`."""
    what = f"{counted(found.files, 'file')}, {counted(found.rows, 'row')}, {size_text(found.bytes)}"
    if not found.problems:
        yield f"{path}: {what}: nothing differs from what was written"
    else:
        yield f"{path}: {what}: {counted(len(found.problems), 'thing')} not as written"
    if found.without_hash:
        yield (
            f"  {counted(found.without_hash, 'file')} of format 1 have no stored hash; they were read to the last page "
            "instead. A compaction gives the files that it writes a hash"
        )
    for one in found.problems:
        yield f"  {one.path}: {one.what}"
        if one.file is not None:
            yield f"    {one.file.table}, {one.file.day}, {counted(one.file.rows, 'row')}"
        for of in one.origins:
            where = f"at hand: {of.at_hand}" if of.at_hand else "not at hand"
            yield f"    from {of.file} (SHA-256 {of.sha256}), {where}"
    if any(one.file for one in found.problems):
        yield f"  next: plexlens pdb repair {path}, then plexlens pdb rebuild {path}, or ingest these sources again"


def diagnosis_text(path: str, found: Diagnosis, *, done: bool) -> Iterator[str]:
    """The answer of `repair`, or what it would do."""
    if found.is_well:
        yield f"{path}: there is nothing to repair"
        return
    yield f"{path}: repaired" if done else f"{path}: a repair would do this"
    if found.manifest:
        yield f"  the manifest gives way to {found.falls_back_to}: {found.manifest}"
        if found.lost:
            yield f"  lost with it: {found.lost}; ingest these sources again"
    if found.staging:
        yield f"  what {counted(len(found.staging), 'command')} that were killed have left is removed:"
        yield from _some(found.staging)
    if found.strays:
        yield f"  parts of the log that no manifest names are removed: {', '.join(found.strays)}"
    if found.orphans:
        yield "  files that nothing names are moved to set-aside:"
        yield from _some(found.orphans)
    broken = [one for one in found.checked.problems if one.file] if found.checked else []
    if broken:
        yield "  entries of files are dropped, and the files, if there, moved to set-aside:"
        yield from _some([f"{one.path}: {one.what} ({one.file.rows:,} rows)" for one in broken if one.file])
        yield "  these sources have lost rows; ingest them again, and they are read whole:"
        yield from _some([f"{one.file} (SHA-256 {one.sha256})" for one in found.sources])
        if any(one.file and one.file.table.endswith("_record") for one in broken):
            yield (
                "  until then, a dump that overlaps with them may bring records twice: the list of the records "
                "that are held is among the lost files"
            )


def rebuilt_text(path: str, done: Sequence[Rebuilt], *, dry_run: bool) -> Iterator[str]:
    """The answer of `rebuild`."""
    if not done:
        yield f"{path}: the database has no source"
    for one in done:
        if one.done:
            rows = sum(one.source.rows.values())
            yield f"{one.source.file}: read again ({rows:,} rows, {one.rows_before:,} before)"
        elif dry_run and not one.reason:
            yield f"{one.source.file}: would be read again"
        else:
            yield f"{one.source.file}: kept as it is: {one.reason}"
    if done and not dry_run:
        count = sum(one.done for one in done)
        yield f"{path}: {count:,} of {counted(len(done), 'source')} read again"


def states_text(states: Sequence[State]) -> Iterator[str]:
    """The states of `undo --list`."""
    names = ("commit", "at (UTC)", "what it did", "")
    cells = [[one.commit, one.at, one.what, "now" if one.is_now else ""] for one in states]
    yield table_text(names, cells).rstrip("\n") if cells else "no state is kept yet"
